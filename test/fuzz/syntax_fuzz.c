/* The front end against any text: it must come back, with a tree that prints.
   As a program it mutates texts of its own and the files given: syntax_fuzz [-n COUNT | -seconds S] [-first N] [-show] [FILE...]; cases.h
   says how. With -DTKC_LIBFUZZER it is an entry for clang's -fsanitize=fuzzer. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/unwind.h"
#include "syntax/ast.h"
#include "syntax/token.h"
#include "cases.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse_skipped(Arena *a, Interner *names, AstFile *file)
{
    for (int i = 0; i < file->body.len; i++) {
        Diags dx;
        diags_init(&dx, a);
        Ast *n = file->body.data[i];
        if (n->kind == AST_SKIPPED) syntax_parse_skipped(a, names, &dx, file, n);
    }
}

static void exercise(Arena *a, const char *text, size_t len)
{
    Diags dx, more;
    diags_init(&dx, a);
    diags_init(&more, a);
    Interner *names = intern_new(a);
    const Source *source = source_new(a, "fuzz.tk", text, len);
    AstFile *file = syntax_parse(a, names, &dx, source);
    check(file->ok == (dx.nerrors == 0), "ok does not agree with the diagnostics");
    Buf out = buf_make(a);
    tokens_print(&out, file);
    ast_print(&out, file);
    parse_skipped(a, names, file);
    AstList list = {0};
    bool ok = parse_tokens(a, names, &more, file, 0, file->tokens->len - 1, &list);
    check(!ok || more.nerrors == 0, "a failed parse says it is complete");
    AstFile all = *file;
    all.body = list;
    ast_print(&out, &all);
    Ast *expr = syntax_parse_expr(a, names, &more, source);
    AstList one = {.data = &expr, .len = expr != NULL, .cap = 1};
    all.body = one;
    ast_print(&out, &all);
    diags_sort(&dx);
    for (const Diag *d = dx.first; d; d = d->next) diag_draw(&out, d, false);
    for (const Diag *d = more.first; d; d = d->next) diag_draw(&out, d, false);
}

/* Internal errors abort, so that they are found. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena a;
    UnwindFrame frame;
    arena_init(&a);
    unwind_push(&frame);
    if (setjmp(frame.env) == 0) {
        exercise(&a, (const char *)data, size);
    } else {
        fprintf(stderr, "internal error: %s\n%.*s\n", frame.message, (int)size, (const char *)data);
        abort();
    }
    unwind_pop(&frame);
    arena_fini(&a);
    return 0;
}

#ifndef TKC_LIBFUZZER

static const char *const seeds[] = {
    "import triton\nimport triton.language as tl\nX: tl.constexpr = 4\n\n@triton.jit\ndef k(x_ptr, n, B: tl.constexpr, *, z=None):\n"
    "    \"\"\"doc\"\"\"\n    pid = tl.program_id(0)\n    offs = pid * B + tl.arange(0, B)\n    if pid < 3 <= n and not (a or b):\n"
    "        return\n    elif x:\n        pass\n    else:\n        y = 1\n    for i in tl.range(0, 10, num_stages=2):\n"
    "        x += -i ** 2\n    while n > 0:\n        n -= 1; m = n\n    tl.store(x_ptr + offs[:, None], a if b else c, mask=offs < n)\n",
    "@jit\ndef f(a, /, b: int = 3, *args, c, **kw) -> int:\n    x = f\"{a!r:>{w}}{b = }\" 'c' rf'\\d{x}' f'''{\n y}'''\n    z = {1: 2, **m}, {1, 2}, [*q], (i for i in j if k)\n"
    "    with (a as b, c as d): pass\n    try:\n        raise E from e\n    except (A, B) as e:\n        del x[0], y.z\n    finally:\n        assert a, b\n    return lambda *a, k=1: (yield a)\n",
    "if X:\n    from . import a as b, c\nelse:\n    import d.e\ntry:\n    import f\nexcept ImportError:\n    f = None\nwith g: pass\nclass C(B, metaclass=M):\n    @triton.jit\n"
    "    def m(self):\n        match x:\n            case 1: pass\n        type Y = int\nfor i in range(3): print(i)\nprint('host', 0xFF, 1e-3j, b'\\x00')\nx = y = z[1:2, ::3, ...]\n",
    "@triton.jit\ndef bad(x, y:\n    if x = 3:\n        y = (1, [2, 3)\n    else\n        z = 'abc\n    return \t1 +\n\ndef g(:\n  @triton.jit\n  def h(): f(a b)\n",
};

static const char *const pieces[] = {
    "(", ")", "[", "]", "{", "}", "f\"", "\"", "'", "'''", "\"\"\"", ":", ",", "=", "==", ":=", "\n", "\n    ", "\n\t", "\\\n", "\r\n",
    " if ", " else ", " for ", " in ", " not ", "lambda ", "def f():", "@triton.jit\n", "class C:", "async ", "await ", "yield ",
    "match x:\n  case 1:\n", "type X = ", "*", "**", "->", ".", "...", "0x", "1_0", "1e", "\xC3\xA9", "\xFF", "#", "!", "!r", ";", "    ",
    "with (a as b):", "try:", "except:", "finally:", "import ", "from ", "global ", "return ", "pass", "break", "x", "1", "\f", "\xEF\xBB\xBF",
};

enum { MAX_TEXT = 4096, MAX_SEEDS = 1024 };

/* Replaces `cut` bytes at a random place by a piece of text. */
static size_t splice(char *text, size_t len, size_t cut, const char *piece, size_t n)
{
    size_t at = draw((uint32_t)len + 1);
    if (cut > len - at) cut = len - at;
    if (len - cut + n > MAX_TEXT) return len;
    memmove(text + at + n, text + at + cut, len - at - cut);
    memcpy(text + at, piece, n);
    return len - cut + n;
}

static size_t mutate(char *text, size_t len)
{
    char copy[64];
    const char *piece = pieces[draw(sizeof pieces / sizeof *pieces)];
    switch (draw(6)) {
    case 0: return splice(text, len, 1, "", 0);
    case 1: return splice(text, len, draw(40), "", 0);
    case 2: return splice(text, len, draw(3), piece, strlen(piece));
    case 3:
        if (len <= sizeof copy) return len;
        memcpy(copy, text + draw((uint32_t)(len - sizeof copy)), sizeof copy);
        return splice(text, len, 0, copy, draw(sizeof copy));
    case 4:
        if (len > 0) text[draw((uint32_t)len)] = (char)draw(256);
        return len;
    default: return splice(text, len, 0, piece, strlen(piece));
    }
}

/* Deep nesting of every kind that has some, which random edits do not reach. */
static void nest(const char *open, const char *core, const char *close, int n)
{
    size_t a = strlen(open), b = strlen(core), c = strlen(close), head = strlen("@jit\ndef f():\n x = ");
    char *text = malloc(head + (a + c) * (size_t)n + b + 2), *p = text;
    check(text, "no memory");
    memcpy(p, "@jit\ndef f():\n x = ", head);
    p += head;
    for (int i = 0; i < n; i++, p += a) memcpy(p, open, a);
    memcpy(p, core, b);
    p += b;
    for (int i = 0; i < n; i++, p += c) memcpy(p, close, c);
    *p++ = '\n';
    LLVMFuzzerTestOneInput((const uint8_t *)text, (size_t)(p - text));
    free(text);
}

static void nest_all(void)
{
    static const char *const forms[][3] = {
        {"(", "a", ")"}, {"f(", "a", ")"}, {"a[", "0", "]"}, {"{", "a", "}"}, {"not ", "a", ""}, {"-", "a", ""}, {"lambda: ", "a", ""},
        {"a if b else ", "c", ""}, {"a ** ", "b", ""}, {"a + ", "b", ""}, {"a < ", "b", ""}, {"a and ", "b", ""}, {"", "a", ".b"},
        {"", "a", "[0]"}, {"f'{", "a", "}'"}, {"await ", "a", ""}, {"a = ", "b", ""}, {"[x for x in ", "a", "]"}, {"", "'a'", " 'b'"},
        {"", "a", "\n if a: pass\n elif b: pass"}, {"", "a", "\n else: pass"}, {"", "a", "\n@jit"}, {"a: ", "b", ""}, {"", "a", "("}, {"", "f'", "{a:"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (int n = 150; n <= 15000; n *= 100) nest(forms[i][0], forms[i][1], forms[i][2], n);
}

static const char *texts[MAX_SEEDS];
static int ntexts;

static size_t make_text(int number, char *text)
{
    begin_case(number);
    const char *seed = texts[draw((uint32_t)ntexts)];
    size_t len = strlen(seed), from = len > MAX_TEXT / 2 ? draw((uint32_t)(len - MAX_TEXT / 2)) : 0;
    len = len - from > MAX_TEXT / 2 ? MAX_TEXT / 2 : len - from;
    memcpy(text, seed + from, len);
    for (uint32_t edits = 1 + draw(12); edits > 0; edits--) len = mutate(text, len);
    return len;
}

static void run_text(int number)
{
    char text[MAX_TEXT];
    LLVMFuzzerTestOneInput((const uint8_t *)text, make_text(number, text));
}

static void show_text(int number)
{
    char text[MAX_TEXT];
    fprintf(stderr, "%.*s\n", (int)make_text(number, text), text);
}

int main(int argc, char **argv)
{
    Cases cases = {.count = 2000, .run = run_text, .show = show_text};
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) texts[ntexts++] = seeds[i];
    for (int i = 1; i < argc; i++) {
        size_t len;
        if (!read_case_option(&cases, argc, argv, &i) && ntexts < MAX_SEEDS)
            texts[ntexts++] = read_file(argv[i], 1 << 20, &len);
    }
    if (!run_cases(&cases)) return 2;
    if (cases.only_show) return 0;
    nest_all();
    printf("%d texts, %d failures\n", counts[COUNT_DONE], counts[COUNT_FAILED]);
    return counts[COUNT_FAILED] != 0;
}

#endif
