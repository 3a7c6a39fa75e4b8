/* What parameters may be, by how the kernel and the functions it calls use them: where an address
   begins is a pointer; what an address counts with, and what is compared with that, is an integer;
   what meets loaded numbers is a float. Such uses mark names, and assignments carry marks to what a
   name is made of, until nothing changes. Where no use tells, the name may. */
#include "spec/advice.h"

#include <string.h>

#include "spec/kernel.h"
#include "spec/module.h"
#include "spec/walk.h"

/* Of names: what they are. INTEGERS is what is loaded through a pointer, FLAG a condition as it is. */
enum { POINTER = 1, INTEGERS = 2, INTEGER = 4, FLOAT = 8, CALLED = 16, FLAG = 32, DTYPE = 64, TEXT = 128 };
/* Of names and calls: made of a program's number or a range, of what is loaded; or it is one. */
enum { COUNTED = 256, LOADED = 512, DESCRIPTOR = 1024 };
/* Of calls, and of their first argument or what stands before .to: an address begins at it, it is
   given on. COUNTS: all arguments are integers. */
enum { ADDRESSES = 2048, HANDS_ON = 4096, COUNTS = 8192 };

struct Usage {
    const SpecModule *module;
    const Ast *def; /* what is gone through: the kernel, or a function it calls */
    Map *marks;     /* by name and function */
    int depth;
    bool changed;
};

static uint64_t key_of(const Usage *u, Str name)
{
    const void *both[] = {name, u->def};
    return hash_bytes(both, sizeof both, 0);
}

static int marks_by_name(const Usage *u, Str name)
{
    return (int)(uintptr_t)map_get(u->marks, key_of(u, name));
}

static int marks_of(const Usage *u, const Ast *n)
{
    static const struct { const char *names; int marks; } calls[] = {
        {"load atomic_add atomic_max atomic_min atomic_cas atomic_xchg", LOADED | ADDRESSES},
        {"store", ADDRESSES},
        {"atomic_and atomic_or atomic_xor", ADDRESSES | INTEGERS},
        {"make_block_ptr make_tensor_descriptor", ADDRESSES | HANDS_ON | COUNTS},
        {"load_tensor_descriptor store_tensor_descriptor", DESCRIPTOR},
        {"_experimental_descriptor_load _experimental_descriptor_store", DESCRIPTOR},
        {"multiple_of max_contiguous cast to", HANDS_ON},
        {"advance", HANDS_ON | COUNTS},
        {"arange program_id", COUNTED | COUNTS},
        {"range static_range cdiv", COUNTS},
        {"rand randn randint rand4x randn4x randint4x", LOADED | COUNTS},
        {"argmax argmin dot", LOADED}, /* whatever they are of: nothing is learnt of that */
    };
    if (n->kind == AST_NAME) return marks_by_name(u, n->name.id);
    for (size_t i = 0; n->kind == AST_CALL && i < sizeof calls / sizeof *calls; i++)
        if (text_has_word(calls[i].names, kernel_last_name(n))) return calls[i].marks;
    return 0;
}

static void mark(Usage *u, const Ast *e, int bits)
{
    const int old = e && e->kind == AST_NAME ? marks_of(u, e) : bits;
    if ((old | bits) == old) return;
    map_set(u->marks, key_of(u, e->name.id), (void *)(uintptr_t)(old | bits));
    u->changed = true;
}

static const Ast *first_of(const Ast *call)
{
    const Ast *callee = call->call.callee;
    if (callee->kind == AST_ATTRIBUTE && !strcmp(callee->attribute.name, "to")) return callee->attribute.value;
    return call->call.args.len ? call->call.args.data[0] : NULL;
}

/* Marks what the address begins at; whether there is such a name. */
static bool mark_base(Usage *u, const Ast *e, int bits)
{
    switch (e ? e->kind : AST_NONE) {
    case AST_NAME: return !(marks_of(u, e) & COUNTED) && (mark(u, e, bits), true);
    case AST_IFEXP: return mark_base(u, e->ifexp.then, bits) | mark_base(u, e->ifexp.orelse, bits);
    case AST_BINARY:
        return (e->binary.op == AOP_ADD || e->binary.op == AOP_SUB) &&
               (mark_base(u, e->binary.left, bits) || mark_base(u, e->binary.right, bits));
    case AST_SUBSCRIPT: return mark_base(u, e->subscript.value, bits);
    case AST_CALL: return marks_of(u, e) & HANDS_ON && mark_base(u, first_of(e), bits);
    default: return false;
    }
}

/* What is counted with is made of integers. */
static bool visit_count(const Ast *n, void *user)
{
    Usage *u = user;
    const bool is_loaded = n->kind == AST_CALL && marks_of(u, n) & LOADED;
    mark(u, n, INTEGER);
    if (is_loaded) mark_base(u, first_of(n), INTEGERS);
    if (n->kind == AST_IFEXP) {
        walk_ast(n->ifexp.then, visit_count, u);
        walk_ast(n->ifexp.orelse, visit_count, u);
    }
    return !is_loaded && n->kind != AST_COMPARE && n->kind != AST_IFEXP;
}

typedef struct Made { const Usage *u; int bits; } Made;

static bool is_made(const Ast *n, void *user)
{
    const Made *m = user;
    return marks_of(m->u, n) & m->bits;
}

static bool is_made_of(const Usage *u, const Ast *e, int bits)
{
    return walk_any(e, is_made, &(Made){u, bits});
}

/* From a name of these marks to what it is made of. A step begins no address: p += step. */
static void carry(Usage *u, int is, const Ast *value, bool is_step)
{
    if (is & POINTER && !is_step) mark_base(u, value, is & (POINTER | INTEGERS));
    if (is & (POINTER | INTEGER)) walk_ast(value, visit_count, u);
}

static void visit_assign(Usage *u, const Ast *target, const Ast *value, bool is_step)
{
    if (!value) return;
    const bool pairs = target->kind == AST_TUPLE && value->kind == AST_TUPLE;
    for (int i = 0; pairs && i < target->list.len && i < value->list.len; i++)
        visit_assign(u, target->list.data[i], value->list.data[i], is_step);
    if (target->kind != AST_NAME) return;
    carry(u, marks_of(u, target), value, is_step);
    if (is_made_of(u, value, LOADED)) mark(u, target, LOADED);
    else if (!is_step && !mark_base(u, value, 0) && is_made_of(u, value, COUNTED))
        mark(u, target, COUNTED | INTEGER);
}

static bool visit(const Ast *n, void *user);

/* f(x, n) of the file's own f uses x and n as f does its parameters. */
static void visit_helper(Usage *u, const Ast *call)
{
    enum { MAX_DEPTH = 3 };
    const Global *g = map_get_ptr(&u->module->globals, call->call.callee->name.id);
    if (!g || g->kind != GLOBAL_NODE || g->node->kind != AST_DEF || u->depth == MAX_DEPTH) return;
    const AstList *params = &g->node->def.params;
    Usage f = {u->module, g->node, u->marks, u->depth + 1, false};
    walk_list(&g->node->def.body, visit, &f);
    u->changed |= f.changed;
    for (int i = 0; i < call->call.args.len; i++) {
        const Ast *arg = call->call.args.data[i],
                  *given = arg->kind == AST_KEYWORD ? arg->keyword.value : arg;
        const Str by_place = i < params->len ? params->data[i]->param.name : NULL,
                  name = given == arg ? by_place : arg->keyword.name;
        const int is = name ? marks_by_name(&f, name) : 0;
        carry(u, is, given, false);
        mark(u, given, is & ~(POINTER | INTEGERS | COUNTED | LOADED));
    }
}

static void visit_call(Usage *u, const Ast *n)
{
    const int is = marks_of(u, n);
    if (is & ADDRESSES) carry(u, POINTER | (is & INTEGERS), first_of(n), false);
    for (int i = 0; is & COUNTS && i < n->call.args.len; i++) walk_ast(n->call.args.data[i], visit_count, u);
    if (!strcmp(kernel_last_name(n), "to") && n->call.args.len) mark(u, n->call.args.data[0], DTYPE);
    mark(u, first_of(n), is & DESCRIPTOR);
    mark(u, n->call.callee, CALLED);
    if (n->call.callee->kind == AST_NAME) visit_helper(u, n);
}

/* x beside y, of what is compared or computed. */
static void visit_beside(Usage *u, const Ast *n, const Ast *x, const Ast *y)
{
    const int op = n->kind == AST_BINARY ? (int)n->binary.op : AOP_NONE;
    const bool is_whole = op == AOP_MOD || op == AOP_FLOORDIV || op == AOP_SHL || op == AOP_SHR ||
                          ((op == AOP_AND || op == AOP_OR || op == AOP_XOR) && y->kind == AST_INT),
               is_loaded = !(marks_of(u, y) & INTEGER) && is_made_of(u, y, LOADED);
    if (is_whole || (n->kind == AST_COMPARE && !is_loaded && is_made_of(u, y, INTEGER | COUNTED)))
        walk_ast(x, visit_count, u);
    mark(u, x, is_loaded ? FLOAT : y->kind == AST_STRING ? TEXT : 0);
}

static bool visit(const Ast *n, void *user)
{
    Usage *u = user;
    const Ast *left, *right;
    Str name;
    switch (n->kind) {
    case AST_CALL: visit_call(u, n); break;
    case AST_KEYWORD:
        name = n->keyword.name ? n->keyword.name : "";
        mark(u, n->keyword.value, strstr(name, "dtype") ? DTYPE : strstr(name, "precision") ? TEXT : 0);
        break;
    case AST_ATTRIBUTE:
        name = n->attribute.name;
        if (!strcmp(name, "block_shape") || builtin_find(NS_DESC, name))
            mark(u, n->attribute.value, DESCRIPTOR);
        break;
    case AST_COMPARE: case AST_BINARY:
        left = n->kind == AST_BINARY ? n->binary.left : n->compare.first;
        right = n->kind == AST_BINARY ? n->binary.right : n->compare.rest.data[0];
        visit_beside(u, n, left, right);
        visit_beside(u, n, right, left);
        break;
    case AST_BOOLOP: mark(u, n->binary.left, FLAG), mark(u, n->binary.right, FLAG); break;
    case AST_UNARY: mark(u, n->unary.operand, n->unary.op == AOP_NOT ? FLAG : 0); break;
    case AST_IFEXP: mark(u, n->ifexp.cond, FLAG); break;
    case AST_IF: case AST_WHILE: mark(u, n->branch.cond, FLAG); break;
    case AST_FOR: mark(u, n->loop.target, marks_of(u, n->loop.iter) & COUNTS ? INTEGER | COUNTED : 0); break;
    case AST_ASSIGN:
        for (int i = 0; i < n->assign.targets.len; i++)
            visit_assign(u, n->assign.targets.data[i], n->assign.value, false);
        break;
    case AST_ANNASSIGN: visit_assign(u, n->annassign.target, n->annassign.value, false); break;
    case AST_AUGASSIGN: visit_assign(u, n->binary.left, n->binary.right, true); break;
    default: break;
    }
    return true;
}

const Usage *guess_usage(Arena *a, const SpecFunc *kernel)
{
    enum { MAX_TURNS = 8 };
    Usage *u = arena_new(a, Usage);
    *u = (Usage){kernel->module, kernel->def, arena_new(a, Map), 0, true};
    map_init(u->marks, a);
    for (int i = 0; u->changed && i < MAX_TURNS; i++) {
        u->changed = false;
        walk_list(&kernel->def->def.body, visit, u);
    }
    return u;
}

const char *guess_type(const Usage *u, Str name)
{
    const int is = marks_by_name(u, name);
    if (is & DESCRIPTOR) return "tensordesc<fp16[64, 64]>";
    if (is & POINTER || strstr(name, "ptr") || strstr(name, "Ptr")) return is & INTEGERS ? "*i32" : "*fp32";
    if (is & INTEGER || (!is && text_has_word("n m N M K T stride size len num seed", name))) return "i32";
    return is & FLOAT || text_has_word("eps scale alpha beta lr", name) ? "fp32" : "?";
}

const char *guess_value(const Usage *u, Str name)
{
    const int is = marks_by_name(u, name);
    if (is & (CALLED | DTYPE | TEXT)) return is & CALLED ? "function" : is & DTYPE ? "dtype" : "text";
    return is & FLAG && !(is & INTEGER) ? "bool" : "int";
}
