/* print and assert: what programs say to people. Lines look as Triton's on a GPU:

       pid (0, 0, 0) idx ( 3, 12) x: 1.500000
*/
#include <string.h>

#include "interp.h"
#include "tkc/text.h"

/* ---- text of an element ---- */

static void element_text(char *text, size_t size, const Slot *s, const void *p, bool hex)
{
    uint64_t bits = 0;
    memcpy(&bits, p, s->size);
    int unused = 64 - 8 * s->size;
    if (s->dtype == DT_NONE || hex)
        snprintf(text, size, "0x%0*llx", 2 * s->size, (unsigned long long)bits);
    else if (tkc_dtype_info(s->dtype)->kind == DK_FLOAT)
        snprintf(text, size, "%f", tkc_bits_to_double(s->dtype, bits));
    else if (tkc_dtype_info(s->dtype)->kind == DK_INT)
        snprintf(text, size, "%lld", (long long)(bits << unused) >> unused);
    else snprintf(text, size, "%llu", (unsigned long long)bits);
}

static int digits(int64_t n)
{
    int d = 1;
    for (; n >= 10; n /= 10) d++;
    return d;
}

/* "(r, c)" of element i, numbers as wide as the largest of their dim; "()" for a scalar. */
static void index_text(char *text, size_t size, const Type *t, int64_t i)
{
    int64_t at[TKC_MAX_RANK];
    for (int d = t->rank - 1; d >= 0; d--) {
        at[d] = i % t->shape[d];
        i /= t->shape[d];
    }
    Text to = {text, size, 0};
    text_put(&to, "(");
    for (int d = 0; d < t->rank; d++)
        text_put(&to, "%s%*lld", d ? ", " : "", digits(t->shape[d] - 1), (long long)at[d]);
    text_put(&to, ")");
}

/* ---- print ---- */

/* Ends in ": " and, where there is one, starts with a blank, as Triton sees to. */
static void prefix_text(char *text, size_t size, const char *format)
{
    size_t n = strlen(format);
    while (n && format[n - 1] == ' ') n--;
    if (n && format[n - 1] == ':') n--;
    snprintf(text, size, "%s%.*s: ", !n || format[0] == ' ' ? "" : " ", (int)n, format);
}

static void print_operand(Frame *f, const Insn *in, int k, const char *pid, const char *prefix)
{
    const Type *t = op_arg(in->op, k)->type;
    const Slot *s = in->args[k];
    bool hex = tkc_op_int(in->op, ATTR_HEX, 0);
    char index[160], value[400], operand[32] = "", line[1024];
    if (in->nargs > 1) snprintf(operand, sizeof operand, "(operand %d) ", k);
    for (int64_t i = 0; i < s->count; i++) {
        index_text(index, sizeof index, t, i);
        element_text(value, sizeof value, s, slot_at(f, s, i), hex);
        snprintf(line, sizeof line, "%s idx %s%.300s%s%s", pid, index, prefix, operand, value);
        device_print(f->launch->dev, line);
    }
}

void insn_print(Frame *f, const Insn *in)
{
    const char *format = tkc_op_str(in->op, ATTR_FORMAT, "");
    char pid[100], prefix[320], line[512];
    snprintf(pid, sizeof pid, "pid (%lld, %lld, %lld)", (long long)f->pid[0], (long long)f->pid[1],
             (long long)f->pid[2]);
    prefix_text(prefix, sizeof prefix, format);
    for (int k = 0; k < in->nargs; k++) print_operand(f, in, k, pid, prefix);
    if (in->nargs) return;
    snprintf(line, sizeof line, "%s%s%.320s", pid, format[0] == ' ' ? "" : " ", format);
    device_print(f->launch->dev, line);
}

/* ---- assert ---- */

/* Whether a load that has a mask is among what the value is computed from, nearby. */
static bool has_masked_load(const Value *v, int depth)
{
    const Op *op = v->def;
    if (!op || !depth) return false;
    if (op->kind == OP_LOAD) return op->nargs > 1;
    for (int i = 0; i < op->nargs; i++)
        if (has_masked_load(op_arg(op, i), depth - 1)) return true;
    return false;
}

void insn_assert(Frame *f, const Insn *in)
{
    const Slot *cond = in->args[0];
    const Type *t = op_arg(in->op, 0)->type;
    const char *message = tkc_op_str(in->op, ATTR_MESSAGE, "");
    for (int64_t i = 0; i < cond->count; i++) {
        if (*slot_at(f, cond, i) || (in->nargs > 1 && !*slot_at(f, in->args[1], i))) continue;
        char index[160] = "";
        if (t->rank) index_text(index, sizeof index, t, i);
        interp_fail(f, in, "device-side assert failed%s%s%s%s", *message ? ": " : "", message,
                    t->rank ? ", at element " : "", index);
        if (in->nargs == 1 && has_masked_load(op_arg(in->op, 0), 6))
            interp_note(f, NULL, "lanes that a load has left out count, too; mask= of "
                                 "tl.device_assert leaves them out here");
        return;
    }
}
