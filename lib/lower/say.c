/* What programs say to people: a line for each element that is printed, and the end of the launch
   where an assertion does not hold. Of the threads that hold an element one prints it. Lines look
   as the cpu device's do; their order is the threads'. */
#include <string.h>

#include "lower/lower.h"

enum { MOST_NUMBERS = 3 + TKC_MAX_RANK + 1 };

/* A line: the format, and the numbers that go into it. */
typedef struct Line {
    Buf format;
    LLVMValueRef numbers[MOST_NUMBERS];
    int n;
} Line;

static void put_text(Buf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '%') buf_putc(out, '%');
        buf_putc(out, text[i]);
    }
}

static void put_number(Line *line, LLVMValueRef x)
{
    line->numbers[line->n++] = x;
}

/* ---- where ---- */

static void put_program(Lower *L, Line *line)
{
    buf_puts(&line->format, "pid (%lld, %lld, %lld)");
    for (int axis = 0; axis < 3; axis++)
        put_number(line, lower_recast(L, target_program_id(L, axis), L->i64));
}

static int digits(int32_t n)
{
    int d = 1;
    for (; n >= 10; n /= 10) d++;
    return d;
}

/* Coordinates, as wide as the largest of their dim; "()" for a scalar. */
static void put_index(Lower *L, Line *line, const Type *ty, uint32_t reg)
{
    buf_puts(&line->format, " idx (");
    for (int d = 0; d < ty->rank; d++) {
        buf_printf(&line->format, "%s%%%dlld", d ? ", " : "", digits(ty->shape[d] - 1));
        Reg coord = lower_coord(L, ty->layout, d, reg);
        LLVMValueRef x = LLVMBuildAdd(L->b, coord.v, lower_i32(L, coord.imm), "");
        put_number(line, lower_recast(L, x, L->i64));
    }
    buf_putc(&line->format, ')');
}

/* ---- what ---- */

static void put_value(Lower *L, Line *line, const Type *ty, LLVMValueRef x, bool hex)
{
    const DType dt = type_dtype(ty);
    if (type_is_pointer(ty) || hex) {
        buf_printf(&line->format, "0x%%0%dllx", 2 * type_bytes(ty));
        put_number(line, lower_recast(L, x, L->i64));
    } else if (type_is_float(ty)) {
        buf_puts(&line->format, "%f");
        put_number(line, LLVMBuildFPExt(L->b, lower_to_f32(L, dt, x), L->f64, ""));
    } else {
        const bool is_signed = dtype_info(dt)->kind == DK_INT;
        buf_puts(&line->format, is_signed ? "%lld" : "%llu");
        put_number(line, LLVMBuildIntCast2(L->b, x, L->i64, is_signed, ""));
    }
}

/* Starts with a blank, unless it is empty, and, before a value, ends in ": ", as Triton sees to. */
static void put_prefix(Buf *out, const char *prefix, bool before_value)
{
    size_t n = strlen(prefix);
    while (before_value && n && prefix[n - 1] == ' ') n--;
    if (before_value && n && prefix[n - 1] == ':') n--;
    if (n && prefix[0] != ' ') buf_putc(out, ' ');
    put_text(out, prefix, n);
    if (before_value) buf_puts(out, ": ");
}

/* ---- lines ---- */

static void write_line(Lower *L, Line *line)
{
    buf_putc(&line->format, '\n');
    target_print(L, buf_text(&line->format), line->n, line->numbers);
}

/* Code that follows is executed where pred is true (NULL: everywhere), until `end` is placed. */
static LLVMBasicBlockRef begin_if(Lower *L, LLVMValueRef pred, const char *name)
{
    LLVMBasicBlockRef inside = lower_block(L, name), end = lower_block(L, "");
    if (pred) LLVMBuildCondBr(L->b, pred, inside, end);
    else LLVMBuildBr(L->b, inside);
    lower_place(L, inside);
    return end;
}

static void end_if(Lower *L, LLVMBasicBlockRef end)
{
    LLVMBuildBr(L->b, end);
    lower_place(L, end);
}

static void print_element(Lower *L, const Op *op, int operand, uint32_t reg)
{
    const Value *v = op_arg(op, operand);
    LLVMValueRef valid = lower_valid(L, v->type, reg);
    if (lower_is_false(valid)) return;
    LLVMBasicBlockRef end = begin_if(L, lower_and(L, valid, lower_canonical(L, v->type)), "print");
    Line line = {.format = buf_make(L->arena)};
    put_program(L, &line);
    put_index(L, &line, v->type, reg);
    put_prefix(&line.format, tkc_op_str(op, ATTR_FORMAT, ""), true);
    if (op->nargs > 1) buf_printf(&line.format, "(operand %d) ", operand);
    put_value(L, &line, v->type, lower_reg(L, v, (int)reg), tkc_op_int(op, ATTR_HEX, 0));
    write_line(L, &line);
    end_if(L, end);
}

static void print_prefix(Lower *L, const Op *op)
{
    LLVMBasicBlockRef end = begin_if(L, lower_thread_is_zero(L, UINT32_MAX, UINT32_MAX), "print");
    Line line = {.format = buf_make(L->arena)};
    put_program(L, &line);
    put_prefix(&line.format, tkc_op_str(op, ATTR_FORMAT, ""), false);
    write_line(L, &line);
    end_if(L, end);
}

void lower_print(Lower *L, const Op *op)
{
    if (!op->nargs) print_prefix(L, op);
    for (int i = 0; i < op->nargs; i++) {
        const Type *ty = op_arg(op, i)->type;
        for (uint32_t reg = 0; reg < (uint32_t)lower_nregs(ty); reg++)
            if (!(reg & lower_free_registers(ty))) print_element(L, op, i, reg);
    }
}

/* ---- assertions ---- */

/* With debugging on, a thread with a false condition ends the launch. */
void lower_assert(Lower *L, const Op *op)
{
    const Value *cond = op_arg(op, 0), *mask = op->nargs > 1 ? op_arg(op, 1) : NULL;
    LLVMValueRef fails = NULL;
    if (!L->fn->debug) return;
    for (int r = 0; r < lower_nregs(cond->type); r++) {
        LLVMValueRef bad = LLVMBuildNot(L->b, lower_reg(L, cond, r), "");
        if (mask) bad = lower_and(L, bad, lower_reg(L, mask, r));
        bad = lower_and(L, bad, lower_valid(L, cond->type, (uint32_t)r));
        fails = fails ? LLVMBuildOr(L->b, fails, bad, "") : bad;
    }
    LLVMBasicBlockRef end = begin_if(L, lower_and(L, fails, L->combines), "assert");
    target_fail(L, tkc_op_str(op, ATTR_MESSAGE, ""), op->loc);
    end_if(L, end);
}
