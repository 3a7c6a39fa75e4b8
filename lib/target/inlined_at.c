/* LLVM 22 writes a place in inlined code as its innermost line and leaves the calls to a comment:

       .loc 2 33 9    // <tkc>/math.tk:33:9 @[ k.tk:5:4 ]

   PTX can say the calls, too (the ISA's .loc, from version 7.2 on), and names each function by a
   label of the section .debug_str:

       .loc 1 5 4
       .loc 2 33 9, function_name $L__info_string0, inlined_at 1 5 4

   The place that inlined_at names must have had a .loc before. One place can be reached through
   several calls; the newest .loc of it counts, so it is written again when another call is meant.

   The text's version is raised here and not for LLVM, which spells some instructions by it.

   The comment is compared with those of the places the code is marked with, never taken apart. A
   place that LLVM made itself, of two that it merged, is none of them and stays as it is. */
#include "target/nvptx.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"
#include "lower/lines.h"

typedef VEC(Str) Names;

typedef struct Chains {
    Arena *arena;
    Buf out;
    Interner *names;
    Map places;      /* the interned text of a place with its calls: Loc */
    Map newest;      /* place_key: the Loc that was written last */
    Names files;     /* number 1 is the first */
    Names functions; /* label 0 is the first */
    bool has_calls;
} Chains;

/* As LLVM's comment has it. */
static void put_place(Buf *out, Arena *a, const Loc *loc)
{
    buf_printf(out, "%s:%d", lines_file(a, loc), loc->line);
    if (lines_column(loc)) buf_printf(out, ":%u", lines_column(loc));
    if (!loc->caller) return;
    buf_puts(out, " @[ ");
    put_place(out, a, loc->caller);
    buf_puts(out, " ]");
}

static void add_place(Chains *c, const Loc *loc)
{
    Buf text = buf_make(c->arena);
    c->has_calls |= loc->caller != NULL;
    put_place(&text, c->arena, loc);
    map_set_ptr(&c->places, intern(c->names, buf_text(&text), text.len), (void *)loc);
}

/* The index of a name; one that is not there is added. */
static int index_of(Chains *c, Names *names, const char *text)
{
    Str name = intern_cstr(c->names, text);
    for (int i = 0; i < names->len; i++) {
        if (names->data[i] == name) return i;
    }
    vec_push(c->arena, names, name);
    return names->len - 1;
}

static int file_number(Chains *c, const Loc *loc)
{
    return index_of(c, &c->files, lines_file(c->arena, loc)) + 1;
}

static uint64_t place_key(Chains *c, const Loc *loc)
{
    return (uint64_t)file_number(c, loc) << 47 | (uint64_t)loc->line << 16 | lines_column(loc);
}

static void put_numbers(Chains *c, const Loc *loc)
{
    buf_printf(&c->out, "%d %d %u", file_number(c, loc), loc->line, lines_column(loc));
}

/* Without the end of its line; the calls first, from the outermost on, where they are not the
   newest of their place. */
static void put_loc(Chains *c, const Loc *loc)
{
    const Loc *call = loc->caller;
    if (call && map_get(&c->newest, place_key(c, call)) != call) {
        put_loc(c, call);
        buf_putc(&c->out, '\n');
    }
    buf_puts(&c->out, "\t.loc\t");
    put_numbers(c, loc);
    if (call) {
        buf_printf(&c->out, ", function_name $L__info_string%d, inlined_at ",
                   index_of(c, &c->functions, loc->function ? loc->function : ""));
        put_numbers(c, call);
    }
    map_set(&c->newest, place_key(c, loc), (void *)loc);
}

static bool begins(const char *line, const char *directive)
{
    return !strncmp(line, directive, strlen(directive));
}

static void put_version(Chains *c, const char *line, size_t len)
{
    enum { MAJOR = 7, MINOR = 2 };
    int major = MAJOR, minor = MINOR;
    const bool is_read = sscanf(line, ".version %d.%d", &major, &minor) == 2;
    const bool is_old = is_read && (major < MAJOR || (major == MAJOR && minor < MINOR));
    if (c->has_calls && is_old) buf_printf(&c->out, ".version %d.%d", MAJOR, MINOR);
    else buf_put(&c->out, line, len);
}

static void put_place_line(Chains *c, const char *line, size_t len)
{
    const char *mark = memmem(line, len, "// ", 3);
    const char *text = mark ? mark + 3 : NULL;
    const Loc *loc =
        text ? map_get_ptr(&c->places, intern(c->names, text, len - (size_t)(text - line))) : NULL;
    if (loc) {
        put_loc(c, loc);
        buf_puts(&c->out, "\t// ");
        buf_put(&c->out, text, len - (size_t)(text - line));
    } else {
        buf_put(&c->out, line, len);
    }
}

/* One line of LLVM's, without its end. */
static void put_line(Chains *c, const char *line, size_t len)
{
    if (begins(line, ".version ")) put_version(c, line, len);
    else if (begins(line, "\t.loc\t")) put_place_line(c, line, len);
    else buf_put(&c->out, line, len);
    buf_putc(&c->out, '\n');
}

/* LLVM's files keep their numbers: `\t.file\t2 "k.tk"`, in order, at the end of the text. */
static void read_files(Chains *c, const char *ptx)
{
    const char mark[] = "\n\t.file\t";
    for (const char *p = ptx; (p = strstr(p, mark)); p++) {
        const char *name = strchr(p, '"') + 1;
        vec_push(c->arena, &c->files, intern(c->names, name, strcspn(name, "\"")));
    }
}

static void put_new_files(Chains *c, int given)
{
    for (int i = given; i < c->files.len; i++)
        buf_printf(&c->out, "\t.file\t%d \"%s\"\n", i + 1, c->files.data[i]);
}

static void put_functions(Chains *c)
{
    if (!c->functions.len) return;
    buf_puts(&c->out, "\t.section\t.debug_str\n\t{\n");
    for (int i = 0; i < c->functions.len; i++) {
        buf_printf(&c->out, "$L__info_string%d:\n.b8 ", i);
        for (const char *s = c->functions.data[i]; *s; s++)
            buf_printf(&c->out, "%d,", (unsigned char)*s);
        buf_puts(&c->out, "0\n");
    }
    buf_puts(&c->out, "\t}\n");
}

const char *inlined_at_add(Arena *a, const char *ptx, size_t *len, int n, const Loc *const *locs)
{
    Chains chains = {.arena = a, .out = buf_make(a), .names = intern_new(a)}, *c = &chains;
    map_init(&c->places, a);
    map_init(&c->newest, a);
    for (int i = 0; i < n; i++) add_place(c, locs[i]);
    read_files(c, ptx);
    const int given = c->files.len;
    for (const char *p = ptx, *end; *p; p = end + 1) {
        end = strchrnul(p, '\n');
        put_line(c, p, (size_t)(end - p));
        if (!*end) break;
    }
    put_new_files(c, given);
    put_functions(c);
    *len = c->out.len;
    return buf_text(&c->out);
}
