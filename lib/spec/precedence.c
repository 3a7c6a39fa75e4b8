/* In: a comparison that was executed, and the values it compared. Out: a warning where '&', '|' or
   '^' has taken an operand that was meant for the comparison, and the text with brackets.

   These bind tighter than comparisons, unlike C's '&&': `mask & i < n` compares mask & i with n.
   What gives it away is an int1 that meets a number; `flags & 4 == 0` means what it says. A chain
   around such an operand, `i < m & j < n`, is an error (expr.c). */
#include "spec/advice.h"

#include <string.h>

/* In brackets: ranges of expressions are without those around them. */
static bool is_bracketed(Span at)
{
    const char *text = at.source->text;
    uint32_t before = at.begin, after = at.end;
    while (before > 0 && strchr(" \t\n", text[before - 1])) before--;
    while (text[after] && strchr(" \t\n", text[after])) after++;
    return before > 0 && text[before - 1] == '(' && text[after] == ')';
}

static bool is_joined(const Ast *e)
{
    return e->kind == AST_BINARY && e->span.source && !is_bracketed(e->span) &&
           (e->binary.op == AOP_AND || e->binary.op == AOP_OR || e->binary.op == AOP_XOR);
}

static bool has_line_end(Span at)
{
    return memchr(at.source->text + at.begin, '\n', (size_t)(at.end - at.begin)) != NULL;
}

/* Text of a source without the blanks around it. */
static const char *trimmed(Spec *sp, Span at)
{
    const char *text = at.source->text;
    while (at.begin < at.end && text[at.begin] == ' ') at.begin++;
    while (at.begin < at.end && text[at.end - 1] == ' ') at.end--;
    return span_text(sp->arena, at);
}

/* o < n & o > m compares n & o with both sides, as C does not, and is never what was meant; Triton
   has no chains of comparisons. */
bool precedence_refuse(Spec *sp, const Ast *e)
{
    int i = 0, last = e->compare.rest.len - 1;
    while (i < last && !is_joined(e->compare.rest.data[i])) i++;
    if (i >= last) return false;
    const Ast *link = e->compare.rest.data[i];
    Span left = e->span, right = e->span, op = link->binary.op_span;
    left.end = op.begin, right.begin = op.end;
    spec_error(sp, link->span,
               "'%s' binds more tightly than '%s': both sides are compared with the result of this",
               ast_op_text(link->binary.op), ast_op_text(e->compare.ops.data[i].op));
    spec_note(sp, SPAN_NONE, "put each comparison in parentheses");
    if (last == 1 && !has_line_end(e->span))
        spec_fixit(sp, e->span, "(%s) %s (%s)", trimmed(sp, left), ast_op_text(link->binary.op),
                   trimmed(sp, right));
    return true;
}

/* The number was an int1 before it met a wider one. */
static bool was_truth(const Value *v)
{
    for (const Op *op = v->def; op; op = op->args[0].value->def) {
        bool is_cast = op->kind == OP_CAST;
        if (!is_cast && op->kind != OP_BROADCAST && op->kind != OP_SPLAT) return false;
        if (is_cast && type_is_bool(op->args[0].value->type)) return true;
    }
    return false;
}

bool precedence_is_mixed(const Ast *operand, SpecValue v)
{
    if (!is_joined(operand) || v.kind != SV_VALUE || type_is_bool(v.v->type)) return false;
    const Op *op = v.v->def;
    return op && (op->kind == OP_AND || op->kind == OP_OR || op->kind == OP_XOR) &&
           (was_truth(op->args[0].value) || was_truth(op->args[1].value));
}

/* ---- the text that was meant ---- */

typedef struct Cuts { Span *data; int len, cap; } Cuts;

/* Where the operators stand that would part the comparisons, in order. The chain may be long on the
   left; on the right its depth is that of precedences. */
static void find_cuts(Spec *sp, const Ast *e, Cuts *out)
{
    struct { const Ast **data; int len, cap; } spine = {0};
    for (; is_joined(e); e = e->binary.left) vec_push(sp->arena, &spine, e);
    for (int i = spine.len - 1; i >= 0; i--) {
        vec_push(sp->arena, out, spine.data[i]->binary.op_span);
        find_cuts(sp, spine.data[i]->binary.right, out);
    }
}

static bool compares_within(const Ast *compare, uint32_t begin, uint32_t end)
{
    for (int i = 0; i < compare->compare.rest.len; i++) {
        Span op = compare->compare.ops.data[i].span;
        if (begin <= op.begin && op.end <= end) return true;
    }
    return false;
}

/* A piece between two cuts, in brackets if it compares. */
static void add_piece(Spec *sp, Buf *out, const Ast *compare, uint32_t begin, uint32_t end)
{
    bool compares = compares_within(compare, begin, end);
    buf_printf(out, compares ? "(%s)" : "%s",
               trimmed(sp, (Span){compare->span.source, begin, end}));
}

static const char *bracketed_text(Spec *sp, const Ast *compare, const Cuts *cuts)
{
    Buf out = buf_make(sp->arena);
    Span at = compare->span;
    uint32_t begin = at.begin;
    for (int i = 0; i < cuts->len; i++) {
        Span op = cuts->data[i];
        add_piece(sp, &out, compare, begin, op.begin);
        buf_printf(&out, " %s ", span_text(sp->arena, op));
        begin = op.end;
    }
    add_piece(sp, &out, compare, begin, at.end);
    return buf_text(&out);
}

void precedence_warn(Spec *sp, const Ast *compare)
{
    Cuts cuts = {0};
    const AstList *rest = &compare->compare.rest;
    Span at = compare->span;
    find_cuts(sp, compare->compare.first, &cuts);
    for (int i = 0; i < rest->len; i++) find_cuts(sp, rest->data[i], &cuts);
    Span op = cuts.data[0]; /* of the operand that mixes them */
    Diag *d = diag_warning(sp->dx, DIAG_PRECEDENCE, at,
                           "'%s' binds tighter than '%s': its operands are not the comparisons",
                           span_text(sp->arena, op), ast_op_text(compare->compare.ops.data[0].op));
    diag_note(sp->dx, d, SPAN_NONE, "write brackets around each comparison");
    if (!has_line_end(at)) diag_fixit(sp->dx, d, at, "%s", bracketed_text(sp, compare, &cuts));
}
