/* The textual form, written. Values and layouts are numbered in a first walk, in the order in which
   the second one prints the definitions of values: results of an op before the arguments of its
   regions, outer before inner. */
#include "ir/print.h"

#include "base/vec.h"
#include "ir/ir.h"
#include "ir/machine.h"

typedef struct Printer {
    Buf *out;
    const Func *fn;
    uint32_t *number; /* by value id */
    uint32_t count;
    VEC(const Layout *) layouts; /* in the order of their names, #0 first */
    Map names;                   /* Layout to its place there plus 1 */
    bool is_alone; /* one op, whose layouts stand in full */
    IrNote note;
    void *user;
} Printer;

static void number_value(Printer *p, const Value *v)
{
    p->number[v->id] = p->count++;
    const Layout *l = v->type->layout;
    if (!l || map_has(&p->names, (uint64_t)(uintptr_t)l)) return;
    vec_push(p->out->arena, &p->layouts, l);
    map_set_number(&p->names, l, p->layouts.len - 1);
}

static void number_region(Printer *p, const Region *r)
{
    for (const Op *op = r->first; op; op = op->next) {
        for (int i = 0; i < op->nresults; i++) number_value(p, op->results[i]);
        for (int i = 0; i < op->nregions; i++) {
            for (int k = 0; k < op->regions[i]->nargs; k++)
                number_value(p, op->regions[i]->args[k]);
            number_region(p, op->regions[i]);
        }
    }
}

static Printer printer_of(Buf *out, const Func *fn)
{
    Printer p = {.out = out, .fn = fn, .number = arena_array(out->arena, uint32_t, fn->nvalues)};
    map_init(&p.names, out->arena);
    number_region(&p, fn->body);
    return p;
}

static void print_value(Printer *p, const Value *v)
{
    if (v->region && !v->region->parent) buf_printf(p->out, "%%%s", p->fn->params[v->index].name);
    else buf_printf(p->out, "%%%u", p->number[v->id]);
}

static void print_string(Buf *out, const char *s)
{
    buf_putc(out, '"');
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\') buf_printf(out, "\\%c", c);
        else if (c == '\n') buf_puts(out, "\\n");
        else if (c < 32 || c == 127) buf_printf(out, "\\x%02x", c);
        else buf_putc(out, (char)c);
    }
    buf_putc(out, '"');
}

static void print_attr(Buf *out, const Attr *a)
{
    buf_printf(out, "%s = ", tkc_attr_name(a->key));
    switch (tkc_attr_kind(a->key)) {
    case AK_NONE: break;
    case AK_INT: buf_printf(out, "%lld", (long long)a->i); break;
    case AK_STR: print_string(out, a->s); break;
    case AK_INTS:
        buf_putc(out, '[');
        for (int i = 0; i < a->count; i++)
            buf_printf(out, "%s%lld", i ? ", " : "", (long long)a->v[i]);
        buf_putc(out, ']');
        break;
    }
}

static bool is_constant(const Op *op)
{
    return op->kind == OP_CONST;
}

/* All but the value of a constant, which stands where operands do. */
static void print_attrs(Buf *out, const Op *op)
{
    const char *before = " {";
    for (int i = 0; i < op->nattrs; i++) {
        if (is_constant(op) && op->attrs[i].key == ATTR_VALUE) continue;
        buf_puts(out, before);
        print_attr(out, &op->attrs[i]);
        before = ", ";
    }
    if (*before == ',') buf_putc(out, '}');
}

static void print_operands(Printer *p, const Op *op)
{
    if (is_constant(op)) {
        buf_putc(p->out, ' ');
        ir_print_number(p->out, op->results[0]->type->dtype,
                        (uint64_t)tkc_op_int(op, ATTR_VALUE, 0));
    }
    for (int i = 0; i < op->nargs; i++) {
        buf_puts(p->out, i ? ", " : " ");
        print_value(p, op->args[i].value);
    }
}

static void print_results(Printer *p, const Op *op)
{
    for (int i = 0; i < op->nresults; i++) {
        if (i) buf_puts(p->out, ", ");
        print_value(p, op->results[i]);
    }
    if (op->nresults) buf_puts(p->out, " = ");
}

static void print_layout_name(Buf *out, const Layout *l, void *user)
{
    const Printer *p = user;
    buf_printf(out, "#%d", map_number(&p->names, l));
}

static void print_type(Printer *p, const Type *ty)
{
    if (p->is_alone) type_print(p->out, ty);
    else type_print_with(p->out, ty, print_layout_name, p);
}

static void print_types(Printer *p, const Op *op)
{
    for (int i = 0; i < op->nresults; i++) {
        buf_puts(p->out, i ? ", " : " : ");
        print_type(p, op->results[i]->type);
    }
}

static void print_note(Printer *p, const Value *v)
{
    if (p->note) p->note(p->out, v, p->user);
}

static void indent(Printer *p, int depth)
{
    for (int i = 0; i < depth; i++) buf_puts(p->out, "  ");
}

static void print_ops(Printer *p, const Region *r, int depth);

static void print_region(Printer *p, const Region *r, int depth)
{
    for (int i = 0; i < r->nargs; i++) {
        buf_puts(p->out, i ? ", " : " (");
        print_value(p, r->args[i]);
        buf_puts(p->out, ": ");
        print_type(p, r->args[i]->type);
    }
    buf_puts(p->out, r->nargs ? ") {" : " {");
    for (int i = 0; i < r->nargs; i++) print_note(p, r->args[i]);
    buf_putc(p->out, '\n');
    print_ops(p, r, depth + 1);
    indent(p, depth);
    buf_putc(p->out, '}');
}

static void print_op(Printer *p, const Op *op, int depth)
{
    indent(p, depth);
    print_results(p, op);
    buf_puts(p->out, tkc_op_info(op->kind)->name);
    print_operands(p, op);
    for (int i = 0; i < op->nregions; i++) {
        if (i) buf_puts(p->out, op->kind == OP_WHILE ? " do" : " else");
        print_region(p, op->regions[i], depth);
    }
    print_attrs(p->out, op);
    print_types(p, op);
    for (int i = 0; i < op->nresults; i++) print_note(p, op->results[i]);
    buf_putc(p->out, '\n');
}

static void print_ops(Printer *p, const Region *r, int depth)
{
    for (const Op *op = r->first; op; op = op->next) print_op(p, op, depth);
}

/* One number of a declared extent or stride: a constant, or the parameter that holds it. */
static void print_dims(Printer *p, const char *name, int rank, const int64_t *known,
                       const int *param)
{
    buf_printf(p->out, "%s = [", name);
    for (int i = 0; i < rank; i++) {
        if (i) buf_puts(p->out, ", ");
        if (param[i] >= 0) buf_printf(p->out, "%%%s", p->fn->params[param[i]].name);
        else buf_printf(p->out, "%lld", (long long)known[i]);
    }
    buf_putc(p->out, ']');
}

static void print_param(Printer *p, const Param *param)
{
    buf_printf(p->out, "%%%s: ", param->name);
    type_print(p->out, param->type);
    if (param->divisibility == 1 && !param->rank) return;
    buf_puts(p->out, " {");
    if (param->divisibility != 1)
        buf_printf(p->out, "divisibility = %lld", (long long)param->divisibility);
    if (param->rank) {
        if (param->divisibility != 1) buf_puts(p->out, ", ");
        print_dims(p, "extent", param->rank, param->extent, param->extent_param);
        buf_puts(p->out, ", ");
        print_dims(p, "stride", param->rank, param->stride, param->stride_param);
    }
    buf_putc(p->out, '}');
}

static void print_header(Printer *p)
{
    const Func *fn = p->fn;
    buf_printf(p->out, "func @%s(", fn->name);
    for (int i = 0; i < fn->nparams; i++) {
        if (i) buf_puts(p->out, ", ");
        print_param(p, &fn->params[i]);
    }
    buf_puts(p->out, ") attributes {");
    if (fn->machine) buf_printf(p->out, "target = \"%s\", ", fn->machine->name);
    buf_printf(p->out, "num_warps = %d, num_stages = %d", fn->num_warps, fn->num_stages);
    if (fn->max_registers) buf_printf(p->out, ", max_registers = %d", fn->max_registers);
    if (!fn->fp_contract) buf_puts(p->out, ", fp_contract = 0");
    if (fn->debug) buf_puts(p->out, ", debug = 1");
    if (fn->level == LEVEL_MEMORY) buf_puts(p->out, ", level = \"memory\"");
    buf_puts(p->out, "} {\n");
}

static void print_layouts(Printer *p)
{
    for (int i = 0; i < p->layouts.len; i++) {
        buf_printf(p->out, "#%d = ", i);
        layout_print(p->out, p->layouts.data[i]);
        buf_putc(p->out, '\n');
    }
}

static void print_param_notes(Printer *p)
{
    for (int i = 0; p->note && i < p->fn->body->nargs; i++) {
        size_t before = p->out->len;
        indent(p, 1);
        buf_printf(p->out, "// %%%s", p->fn->params[i].name);
        size_t named = p->out->len;
        print_note(p, p->fn->body->args[i]);
        if (p->out->len == named) p->out->data[p->out->len = before] = 0;
        else buf_putc(p->out, '\n');
    }
}

void ir_print_noted(Buf *out, const Func *fn, IrNote note, void *user)
{
    Printer p = printer_of(out, fn);
    p.note = note;
    p.user = user;
    print_layouts(&p);
    print_header(&p);
    print_param_notes(&p);
    print_ops(&p, fn->body, 1);
    buf_puts(out, "}\n");
}

void ir_print(Buf *out, const Func *fn)
{
    ir_print_noted(out, fn, NULL, NULL);
}

void ir_print_op(Buf *out, const Op *op)
{
    const Func *fn = op->region ? op->region->func : NULL;
    if (!fn) {
        buf_printf(out, "%s", tkc_op_info(op->kind)->name);
        return;
    }
    Printer p = printer_of(out, fn);
    p.is_alone = true;
    print_results(&p, op);
    buf_puts(out, tkc_op_info(op->kind)->name);
    print_operands(&p, op);
    for (int i = 0; i < op->nregions; i++) buf_puts(out, " { … }");
    print_attrs(out, op);
    print_types(&p, op);
}
