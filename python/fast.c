/* The short way of a launch from Python: a kernel object whose `kernel[grid](…)` compares its
   arguments with those of launches that went well before, and makes the same one with new addresses
   and numbers. Whatever it has not seen goes to the object's `_run`, in Python. CPython's stable
   interface alone, so that one file serves every version from 3.8 on; libtkc is reached through the
   address of tkc_launch, so that it is linked to nothing. */
#define Py_LIMITED_API 0x03080000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { MAX_PARAMS = 128, MAX_OPTIONS = 8, ARG_BYTES = 32, VALUE_AT = 16, MAX_GRID = 3, MAX_DESCRIPTORS = 16, MAX_RANK = 5 };

/* Of DLPack, version 1 (dlpack.h), what is asked here: a type of tensors offers a table by which one
 * of them is looked at, and the stream of its work found, without an object of Python's made. */
enum { DL_MAJOR = 1 };
typedef struct DlTensor {
    char *data;
    int32_t device_type, device, ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} DlTensor;
typedef struct DlExchange {
    uint32_t major, minor;
    const struct DlExchange *older;
    void *allocate, *own, *wrap;
    int (*look)(PyObject *tensor, DlTensor *out);
    int (*stream_of)(int32_t device_type, int32_t device, void **out);
} DlExchange;

/* TkcDescriptor (tkc/runtime.h). */
typedef struct Descriptor {
    uint64_t base;
    size_t bytes;
    int rank;
    int64_t shape[MAX_RANK], strides[MAX_RANK];
} Descriptor;

typedef int (*LaunchFn)(void *jit, const int64_t grid[3], void *stream, const void *args,
                        size_t nargs);
typedef int (*PrepareFn)(void *jit, const void *args, size_t nargs, void *info);
static PyTypeObject *plan_type, *bound_type;
static PyObject *s_dtype, *s_device, *s_data_ptr, *s_run, *s_newest, *s_base, *s_shape, *s_strides, *s_block_shape, *s_padding, *s_best_config;

/* ---- what is remembered of a launch ---- */

/* kind 'T': a tensor of this type and element type on this device; 'D': a descriptor of this type of such a tensor, with this shape
   of blocks and padding; 'I', 'F', 'B': a number of this type, whose value varies; 'C': this value, for which a grid is told `meaning`.
   at: the argument's place among those of tkc_launch. dl: how tensors of the type are looked at, like: what is seen then; NULL: by their attributes.
   newest: of the newest launch, whose argument has its address. */
typedef struct Slot {
    char kind;
    PyObject *type, *want, *meaning, *device, *tensor_type, *block_shape, *padding;
    int at, nth_descriptor;
    Descriptor newest;
    const DlExchange *dl;
    DlTensor like;
} Slot;

/* watched: (dictionary, name, value, …) that the launch depends on. options: a dictionary, as they were given. packed: the
 * arguments of the newest launch. config: what the door's best_config becomes; None: that stays. */
typedef struct Plan {
    PyObject_HEAD PyObject *kernel, *watched, *ordinal, *stream_of, *options, *config;
    LaunchFn launch;
    PrepareFn prepare;
    void *handle;
    int nslots;
    size_t nargs;
    Slot *slots;
    char *packed;
} Plan;

static int plan_traverse(PyObject *self, visitproc visit, void *arg)
{
    Plan *p = (Plan *)self;
    Py_VISIT(p->kernel);
    Py_VISIT(p->watched);
    Py_VISIT(p->stream_of);
    Py_VISIT(p->options);
    Py_VISIT(p->config);
    for (int i = 0; i < p->nslots; i++) {
        Py_VISIT(p->slots[i].want);
        Py_VISIT(p->slots[i].meaning);
        Py_VISIT(p->slots[i].device);
    }
    return 0;
}

static int plan_clear(PyObject *self)
{
    Plan *p = (Plan *)self;
    Py_CLEAR(p->kernel);
    Py_CLEAR(p->watched);
    Py_CLEAR(p->ordinal);
    Py_CLEAR(p->stream_of);
    Py_CLEAR(p->options);
    Py_CLEAR(p->config);
    for (int i = 0; i < p->nslots; i++) {
        Py_CLEAR(p->slots[i].type);
        Py_CLEAR(p->slots[i].want);
        Py_CLEAR(p->slots[i].meaning);
        Py_CLEAR(p->slots[i].device);
        Py_CLEAR(p->slots[i].tensor_type);
        Py_CLEAR(p->slots[i].block_shape);
        Py_CLEAR(p->slots[i].padding);
    }
    return 0;
}

static void free_object(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static void plan_free(PyObject *self)
{
    Plan *p = (Plan *)self;
    PyObject_GC_UnTrack(self);
    plan_clear(self);
    PyMem_Free(p->slots);
    PyMem_Free(p->packed);
    free_object(self);
}

static PyObject *plan_packed(PyObject *self, PyObject *unused)
{
    (void)unused;
    Plan *p = (Plan *)self;
    return PyBytes_FromStringAndSize(p->packed, (Py_ssize_t)(p->nargs * ARG_BYTES));
}

static PyMethodDef plan_methods[] = {{"packed", plan_packed, METH_NOARGS, NULL}, {0}};
static PyType_Slot plan_slots[] = {{Py_tp_dealloc, plan_free},
                                   {Py_tp_traverse, plan_traverse},
                                   {Py_tp_clear, plan_clear},
                                   {Py_tp_methods, plan_methods},
                                   {0}};
static PyType_Spec plan_spec = {"tkc._fast.Plan", sizeof(Plan), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, plan_slots};

/* ---- a kernel ---- */

/* names: of its parameters, interned; defaults: as many, MISSING where there is none. plans: the
 * newest hit first. */
typedef struct Door {
    PyObject_HEAD PyObject *names, *defaults, *missing, *plans;
} Door;

static int door_traverse(PyObject *self, visitproc visit, void *arg)
{
    Door *d = (Door *)self;
    Py_VISIT(d->defaults);
    Py_VISIT(d->plans);
    return 0;
}

static int door_clear(PyObject *self)
{
    Door *d = (Door *)self;
    Py_CLEAR(d->names);
    Py_CLEAR(d->defaults);
    Py_CLEAR(d->missing);
    Py_CLEAR(d->plans);
    return 0;
}

static void door_free(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    door_clear(self);
    free_object(self);
}

/* What was asked of a tensor: its attributes, or its data, once a look said so. base: a descriptor's tensor. */
typedef struct Probe {
    PyObject *base, *dtype, *device;
    bool is_seen;
    DlTensor seen;
} Probe;

/* One launch: its arguments by parameter and its options (borrowed), and what was asked of tensors so far. */
typedef struct Call {
    PyObject *values[MAX_PARAMS], *option_names[MAX_OPTIONS], *options[MAX_OPTIONS];
    Probe probes[MAX_PARAMS];
    int n, noptions;
} Call;

/* The arguments of a call: nargs by position, then those of these names (a tuple or NULL). Borrowed. */
typedef struct Given {
    PyObject *const *values;
    Py_ssize_t nargs;
    PyObject *names;
} Given;

static bool same_text(PyObject *a, PyObject *b)
{
    return a == b || PyUnicode_Compare(a, b) == 0;
}

static int find_name(const Door *d, int n, PyObject *key)
{
    for (int i = 0; i < n; i++)
        if (PyTuple_GetItem(d->names, i) == key) return i;
    for (int i = 0; i < n; i++)
        if (same_text(PyTuple_GetItem(d->names, i), key)) return i;
    return -1;
}

/* An option that is None is as if it was not given. */
static bool add_option(Call *c, PyObject *name, PyObject *value)
{
    if (value == Py_None) return true;
    if (c->noptions == MAX_OPTIONS) return false;
    c->option_names[c->noptions] = name;
    c->options[c->noptions++] = value;
    return true;
}

/* False: the arguments are not what the parameters want; Python says which. */
static bool bind(const Door *d, const Given *g, Call *c)
{
    c->n = (int)PyTuple_Size(d->names);
    if (g->nargs > c->n) return false;
    for (int i = 0; i < c->n; i++) c->values[i] = i < g->nargs ? g->values[i] : NULL;
    c->noptions = 0;
    for (Py_ssize_t k = 0, nnames = g->names ? PyTuple_Size(g->names) : 0; k < nnames; k++) {
        PyObject *key = PyTuple_GetItem(g->names, k), *value = g->values[g->nargs + k];
        int i = find_name(d, c->n, key);
        if (i >= 0 && c->values[i]) return false;
        if (i >= 0) c->values[i] = value;
        else if (!add_option(c, key, value)) return false;
    }
    for (int i = 0; i < c->n; i++) {
        if (c->values[i]) continue;
        c->values[i] = PyTuple_GetItem(d->defaults, i);
        if (c->values[i] == d->missing) return false;
    }
    for (int i = 0; i < c->n; i++) {
        c->probes[i].base = c->probes[i].dtype = c->probes[i].device = NULL;
        c->probes[i].is_seen = false;
    }
    return true;
}

static void unbind(Call *c)
{
    for (int i = 0; i < c->n; i++) {
        Py_XDECREF(c->probes[i].base);
        Py_XDECREF(c->probes[i].dtype);
        Py_XDECREF(c->probes[i].device);
    }
}

/* Of floats the bits: 0.0 is not -0.0. */
static bool same_float(PyObject *a, PyObject *b)
{
    const double x = PyFloat_AsDouble(a), y = PyFloat_AsDouble(b);
    return !memcmp(&x, &y, sizeof x);
}

static bool same_value(PyObject *a, PyObject *b)
{
    if (a == b || Py_TYPE(a) != Py_TYPE(b)) return a == b;
    return PyFloat_CheckExact(a) ? same_float(a, b) : PyObject_RichCompareBool(a, b, Py_EQ) == 1;
}

static bool ask_tensor(PyObject *v, Probe *p)
{
    p->device = PyObject_GetAttr(v, s_device);
    p->dtype = p->device ? PyObject_GetAttr(v, s_dtype) : NULL;
    if (!p->dtype) Py_CLEAR(p->device);
    return p->dtype;
}

static bool looks_like(const DlTensor *a, const DlTensor *b)
{
    return a->code == b->code && a->bits == b->bits && a->lanes == b->lanes &&
           a->device_type == b->device_type && a->device == b->device;
}

static bool is_tensor_like(const Slot *s, PyObject *v, Probe *p)
{
    if (s->dl) {
        p->is_seen = p->is_seen || s->dl->look(v, &p->seen) == 0;
        return p->is_seen && looks_like(&p->seen, &s->like);
    }
    return (p->dtype || ask_tensor(v, p)) && same_value(p->dtype, s->want) && same_value(p->device, s->device);
}

static bool has_value(PyObject *of, PyObject *name, PyObject *want)
{
    PyObject *value = PyObject_GetAttr(of, name);
    const bool has = value && same_value(value, want);
    Py_XDECREF(value);
    return has;
}

static bool is_descriptor_like(const Slot *s, PyObject *v, Probe *p)
{
    if (!p->base) p->base = PyObject_GetAttr(v, s_base);
    return p->base && (PyObject *)Py_TYPE(p->base) == s->tensor_type && is_tensor_like(s, p->base, p) &&
           has_value(v, s_block_shape, s->block_shape) && has_value(v, s_padding, s->padding);
}

static bool has_options(const Plan *p, const Call *c)
{
    if (PyDict_Size(p->options) != c->noptions) return false;
    for (int i = 0; i < c->noptions; i++) {
        PyObject *want = PyDict_GetItemWithError(p->options, c->option_names[i]);
        if (!want || !same_value(want, c->options[i])) return false;
    }
    return true;
}

static bool matches(const Plan *p, Call *c)
{
    if (!has_options(p, c)) return false;
    for (int i = 0; i < p->nslots; i++) {
        const Slot *s = &p->slots[i];
        PyObject *v = c->values[i];
        if ((PyObject *)Py_TYPE(v) != s->type) return false;
        if (s->kind == 'C' && !same_value(v, s->want)) return false;
        if (s->kind == 'T' && !is_tensor_like(s, v, &c->probes[i])) return false;
        if (s->kind == 'D' && !is_descriptor_like(s, v, &c->probes[i])) return false;
    }
    return true;
}

static bool is_current(const Plan *p)
{
    Py_ssize_t n = PyTuple_Size(p->watched);
    for (Py_ssize_t i = 0; i + 2 < n; i += 3)
        if (PyDict_GetItemWithError(PyTuple_GetItem(p->watched, i),
                                    PyTuple_GetItem(p->watched, i + 1)) !=
            PyTuple_GetItem(p->watched, i + 2))
            return false;
    return true;
}

/* The plan for a call, a new reference; NULL: there is none. */
static Plan *find_plan(Door *d, Call *c)
{
    for (Py_ssize_t i = 0; i < PyList_Size(d->plans); i++) {
        PyObject *p = PyList_GetItem(d->plans, i);
        Py_INCREF(p); /* other threads may change the list while Python runs */
        if (matches((Plan *)p, c) && is_current((Plan *)p)) {
            if (i > 0 && PyList_SetSlice(d->plans, i, i + 1, NULL) == 0)
                PyList_Insert(d->plans, 0, p);
            return (Plan *)p;
        }
        Py_DECREF(p);
        if (PyErr_Occurred()) return NULL;
    }
    return NULL;
}

static bool read_grid(PyObject *grid, int64_t out[3])
{
    if (!PyTuple_CheckExact(grid) || PyTuple_Size(grid) < 1 || PyTuple_Size(grid) > MAX_GRID)
        return false;
    out[0] = out[1] = out[2] = 1;
    for (int i = 0; i < PyTuple_Size(grid); i++) {
        PyObject *n = PyTuple_GetItem(grid, i);
        if (!PyLong_CheckExact(n)) return false;
        out[i] = PyLong_AsLongLong(n);
        if (out[i] <= 0) return false;
    }
    return true;
}

static uint64_t address_of(const Slot *s, PyObject *tensor, const Probe *seen)
{
    if (s->dl) return (uint64_t)(uintptr_t)seen->seen.data + seen->seen.byte_offset;
    PyObject *address = PyObject_CallMethodObjArgs(tensor, s_data_ptr, NULL);
    const uint64_t at = address ? PyLong_AsUnsignedLongLong(address) : 0;
    Py_XDECREF(address);
    return at;
}

/* False: they are not `rank` numbers, or Python raised. */
static bool read_numbers(PyObject *of, PyObject *name, int rank, int64_t *out)
{
    PyObject *numbers = PyObject_GetAttr(of, name), *one;
    bool fine = numbers && PySequence_Size(numbers) == rank;
    for (int i = 0; fine && i < rank; i++) {
        one = PySequence_GetItem(numbers, i);
        out[i] = one ? PyLong_AsLongLong(one) : -1;
        fine = one && !PyErr_Occurred();
        Py_XDECREF(one);
    }
    Py_XDECREF(numbers);
    return fine;
}

static bool write_descriptor(const Slot *s, PyObject *v, const Probe *seen, Descriptor *out)
{
    *out = s->newest;
    out->base = address_of(s, seen->base, seen);
    return !PyErr_Occurred() && read_numbers(v, s_shape, out->rank, out->shape) && read_numbers(v, s_strides, out->rank, out->strides);
}

static bool write_value(const Slot *s, PyObject *v, const Probe *seen, Descriptor *descriptors, char *arg)
{
    int64_t bits;
    if (s->kind == 'D') {
        Descriptor *const d = descriptors + s->nth_descriptor;
        if (!write_descriptor(s, v, seen, d)) return false;
        memcpy(arg + VALUE_AT, &d, sizeof d);
        return true;
    }
    if (s->kind == 'F') {
        double number = PyFloat_AsDouble(v);
        memcpy(&bits, &number, sizeof bits);
    } else {
        bits = s->kind == 'T' ? (int64_t)address_of(s, v, seen) : PyLong_AsLongLong(v);
    }
    if (bits == -1 && PyErr_Occurred()) return false;
    memcpy(arg + VALUE_AT, &bits, sizeof bits);
    return true;
}

static bool current_stream(const Plan *p, void **out)
{
    for (int i = 0; i < p->nslots; i++) {
        const Slot *s = &p->slots[i];
        if (s->dl) return s->dl->stream_of(s->like.device_type, s->like.device, out) == 0;
    }
    PyObject *stream = PyObject_CallFunctionObjArgs(p->stream_of, p->ordinal, NULL);
    if (!stream) return false;
    *out = stream == Py_None ? NULL : PyLong_AsVoidPtr(stream);
    Py_DECREF(stream);
    return !PyErr_Occurred();
}

/* The arguments of a launch, as tkc_launch has them. */
typedef struct Args {
    char bytes[MAX_PARAMS * ARG_BYTES];
    Descriptor descriptors[MAX_DESCRIPTORS];
} Args;

static bool pack(const Plan *p, const Call *c, Args *args)
{
    memcpy(args->bytes, p->packed, p->nargs * ARG_BYTES);
    for (int i = 0; i < p->nslots; i++)
        if (p->slots[i].kind != 'C' &&
            !write_value(&p->slots[i], c->values[i], &c->probes[i], args->descriptors,
                         args->bytes + p->slots[i].at * ARG_BYTES))
            return false;
    return true;
}

/* A descriptor argument of the plan's. */
static void keep_descriptor(Plan *p, Slot *s, const Descriptor *d)
{
    const Descriptor *at = &s->newest;
    s->newest = *d;
    memcpy(p->packed + s->at * ARG_BYTES + VALUE_AT, &at, sizeof at);
}

/* The kernel, a new reference, whose newest arguments these are now. */
static PyObject *kernel_with(Door *d, Plan *p, const Args *args)
{
    memcpy(p->packed, args->bytes, p->nargs * ARG_BYTES);
    for (int i = 0; i < p->nslots; i++)
        if (p->slots[i].kind == 'D') keep_descriptor(p, &p->slots[i], &args->descriptors[p->slots[i].nth_descriptor]);
    if (PyObject_SetAttr(p->kernel, s_newest, (PyObject *)p)) return NULL;
    if (p->config != Py_None && PyObject_SetAttr((PyObject *)d, s_best_config, p->config)) return NULL;
    Py_INCREF(p->kernel);
    return p->kernel;
}

/* A new reference to the kernel, once it was launched or compiled; NULL: the general way has to be gone. */
static PyObject *kernel_after(int status, Door *d, Plan *p, const Args *args)
{
    if (!status) return kernel_with(d, p, args);
    Py_XDECREF(PyObject_CallMethod(p->kernel, "forget", NULL)); /* once more from Python, which says what is wrong */
    return NULL;
}

/* A new reference to the kernel; NULL: the general way has to be gone. */
static PyObject *launch(Door *d, Plan *p, Call *c, PyObject *grid)
{
    int64_t extents[3];
    Args args;
    void *stream;
    if (!read_grid(grid, extents) || !pack(p, c, &args) || !current_stream(p, &stream)) return NULL;
    PyThreadState *state = PyEval_SaveThread();
    int status = p->launch(p->handle, extents, stream, args.bytes, p->nargs);
    PyEval_RestoreThread(state);
    return kernel_after(status, d, p, &args);
}

/* As launch, but the kernel is only compiled. */
static PyObject *prepare(Door *d, Plan *p, Call *c)
{
    Args args;
    if (!pack(p, c, &args)) return NULL;
    PyThreadState *state = PyEval_SaveThread();
    int status = p->prepare(p->handle, args.bytes, p->nargs, NULL);
    PyEval_RestoreThread(state);
    return kernel_after(status, d, p, &args);
}

/* What a grid that is a function says; NULL: it raised. */
static PyObject *call_grid(const Door *d, const Plan *p, const Call *c, PyObject *grid)
{
    PyObject *meta = PyDict_New(), *made = NULL;
    for (int i = 0; meta && i < c->n; i++)
        if (PyDict_SetItem(meta, PyTuple_GetItem(d->names, i), p->slots[i].kind == 'C' ? p->slots[i].meaning : c->values[i])) goto end;
    if (meta) made = PyObject_CallFunctionObjArgs(grid, meta, NULL);
end:
    Py_XDECREF(meta);
    return made;
}

static PyObject *hold(PyObject *o)
{
    Py_INCREF(o);
    return o;
}

static PyObject *named_of(const Given *g)
{
    PyObject *named = PyDict_New();
    for (Py_ssize_t i = 0; named && g->names && i < PyTuple_Size(g->names); i++)
        if (PyDict_SetItem(named, PyTuple_GetItem(g->names, i), g->values[g->nargs + i])) Py_CLEAR(named);
    return named;
}

static PyObject *run_general(Door *d, PyObject *grid, const Given *g)
{
    PyObject *run = PyObject_GetAttr((PyObject *)d, s_run), *args = PyTuple_New(g->nargs + 1), *named = named_of(g), *made = NULL;
    if (run && args && named) {
        PyTuple_SetItem(args, 0, hold(grid));
        for (Py_ssize_t i = 0; i < g->nargs; i++) PyTuple_SetItem(args, i + 1, hold(g->values[i]));
        made = PyObject_Call(run, args, named);
    }
    Py_XDECREF(run);
    Py_XDECREF(args);
    Py_XDECREF(named);
    return made;
}

static PyObject *door_launch(Door *d, PyObject *grid, const Given *g)
{
    Call c;
    PyObject *made = NULL;
    Py_INCREF(grid);
    if (d->plans && PyList_Size(d->plans) && bind(d, g, &c)) {
        Plan *p = find_plan(d, &c);
        if (p && !PyTuple_CheckExact(grid) && PyCallable_Check(grid)) {
            PyObject *said = call_grid(d, p, &c, grid);
            Py_DECREF(grid);
            grid = said;
        }
        if (p && grid) made = launch(d, p, &c, grid);
        Py_XDECREF(p);
        unbind(&c);
        if (!grid) return NULL;
        if (!made) PyErr_Clear();
    }
    if (!made) made = run_general(d, grid, g);
    Py_DECREF(grid);
    return made;
}

/* The arguments of a call as Given has them, in room for all of them; false: Python raised. names: the caller's to release. */
static bool spread(PyObject *args, PyObject *kwargs, PyObject **room, Given *out)
{
    PyObject *key, *value;
    Py_ssize_t at = 0, n = PyTuple_Size(args), nnames = 0;
    for (Py_ssize_t i = 0; i < n; i++) room[i] = PyTuple_GetItem(args, i);
    *out = (Given){room, n, kwargs ? PyTuple_New(PyDict_Size(kwargs)) : NULL};
    while (out->names && PyDict_Next(kwargs, &at, &key, &value)) {
        PyTuple_SetItem(out->names, nnames, hold(key));
        room[n + nnames++] = value;
    }
    return !kwargs || out->names;
}

static PyObject **room_for(PyObject *args, PyObject *kwargs)
{
    const Py_ssize_t n = PyTuple_Size(args) + (kwargs ? PyDict_Size(kwargs) : 0);
    PyObject **room = PyMem_Malloc(((size_t)n + 1) * sizeof *room);
    if (!room) PyErr_NoMemory();
    return room;
}

/* _prepared(args, kwargs): the kernel, compiled for these arguments, of such a launch that went well before; None: there was none. */
static PyObject *door_prepared(PyObject *self, PyObject *of)
{
    Door *d = (Door *)self;
    PyObject *args, *kwargs, *made = NULL, **room;
    Call c;
    Given g = {0};
    if (!PyArg_ParseTuple(of, "O!O!", &PyTuple_Type, &args, &PyDict_Type, &kwargs) || !(room = room_for(args, kwargs))) return NULL;
    if (spread(args, kwargs, room, &g) && d->plans && PyList_Size(d->plans) && bind(d, &g, &c)) {
        Plan *p = find_plan(d, &c);
        if (p) made = prepare(d, p, &c);
        Py_XDECREF(p);
        unbind(&c);
    }
    Py_XDECREF(g.names);
    PyMem_Free(room);
    if (made) return made;
    PyErr_Clear();
    Py_RETURN_NONE;
}

/* _begin(names, defaults, missing) */
static PyObject *door_begin(PyObject *self, PyObject *args)
{
    Door *d = (Door *)self;
    PyObject *names, *defaults, *missing;
    if (!PyArg_ParseTuple(args, "O!O!O", &PyTuple_Type, &names, &PyTuple_Type, &defaults, &missing))
        return NULL;
    if (PyTuple_Size(names) > MAX_PARAMS) Py_RETURN_NONE;
    door_clear(self);
    Py_INCREF(names);
    Py_INCREF(defaults);
    Py_INCREF(missing);
    d->names = names, d->defaults = defaults, d->missing = missing;
    d->plans = PyList_New(0);
    Py_XINCREF(d->plans);
    return d->plans;
}

/* Of the type's tables the one this file knows; NULL: there is none, or it cannot look. The type
 * keeps it. */
static const DlExchange *exchange_of(PyObject *type)
{
    PyObject *capsule = PyObject_GetAttrString(type, "__dlpack_c_exchange_api__");
    const DlExchange *dl = capsule ? PyCapsule_GetPointer(capsule, "dlpack_exchange_api") : NULL;
    Py_XDECREF(capsule);
    PyErr_Clear();
    while (dl && dl->major > DL_MAJOR) dl = dl->older;
    return dl && dl->major == DL_MAJOR && dl->look && dl->stream_of ? dl : NULL;
}

/* (block_shape, padding, its tensor) of a descriptor; its newest struct is where the packed arguments have its address. */
static bool read_descriptor(PyObject *from, Plan *p, Slot *s, PyObject **tensor)
{
    const Descriptor *d;
    PyObject *block_shape, *padding;
    if (!PyArg_ParseTuple(from, "OOO", &block_shape, &padding, tensor)) return false;
    s->block_shape = hold(block_shape), s->padding = hold(padding);
    s->tensor_type = hold((PyObject *)Py_TYPE(*tensor));
    memcpy(&d, p->packed + s->at * ARG_BYTES + VALUE_AT, sizeof d);
    keep_descriptor(p, s, d);
    s->newest.bytes = 0; /* how much memory is behind it varies */
    return true;
}

/* (kind, type, dtype or constant, device, the argument's place, an argument, or a constant's meaning, or what read_descriptor reads) */
static bool read_slot(PyObject *from, Plan *p, Slot *s)
{
    int kind;
    PyObject *type, *want, *device, *example;
    if (!PyArg_ParseTuple(from, "COOOiO", &kind, &type, &want, &device, &s->at, &example)) return false;
    s->type = hold(type), s->want = hold(want), s->device = hold(device);
    for (const Slot *o = p->slots; o < s; o++) s->nth_descriptor += o->kind == 'D';
    s->kind = (char)kind;
    if (kind == 'C') s->meaning = hold(example);
    if (kind == 'D' && !read_descriptor(example, p, s, &example)) return false;
    s->dl = kind == 'T' || kind == 'D' ? exchange_of((PyObject *)Py_TYPE(example)) : NULL;
    if (s->dl && s->dl->look(example, &s->like)) {
        PyErr_Clear();
        s->dl = NULL;
    }
    return true;
}

/* plan(launch, prepare, handle, packed, slots, kernel, watched, ordinal, stream_of, options, config) */
static PyObject *make_plan(PyObject *module, PyObject *args)
{
    (void)module;
    unsigned long long launch_at, prepare_at, handle;
    const char *packed;
    Py_ssize_t bytes;
    PyObject *slots, *kernel, *watched, *ordinal, *stream_of, *options, *config;
    if (!PyArg_ParseTuple(args, "KKKy#O!OO!OOO!O", &launch_at, &prepare_at, &handle, &packed, &bytes,
                          &PyTuple_Type, &slots, &kernel, &PyTuple_Type, &watched, &ordinal,
                          &stream_of, &PyDict_Type, &options, &config))
        return NULL;
    Plan *p = PyObject_GC_New(Plan, plan_type);
    if (!p) return NULL;
    memset((char *)p + sizeof(PyObject), 0, sizeof *p - sizeof(PyObject));
    PyObject *const kept[] = {kernel, watched, ordinal, stream_of, options, config};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) Py_INCREF(kept[i]);
    p->kernel = kernel, p->watched = watched, p->ordinal = ordinal, p->stream_of = stream_of, p->options = options, p->config = config;
    p->launch = (LaunchFn)(uintptr_t)launch_at;
    p->prepare = (PrepareFn)(uintptr_t)prepare_at;
    p->handle = (void *)(uintptr_t)handle;
    p->nargs = (size_t)bytes / ARG_BYTES;
    p->packed = PyMem_Malloc((size_t)bytes + 1);
    p->slots = PyMem_Calloc((size_t)PyTuple_Size(slots) + 1, sizeof *p->slots);
    bool fine = p->packed && p->slots;
    if (fine) memcpy(p->packed, packed, (size_t)bytes);
    for (Py_ssize_t i = 0; fine && i < PyTuple_Size(slots); i++) {
        fine = read_slot(PyTuple_GetItem(slots, i), p, &p->slots[i]);
        p->nslots++;
    }
    PyObject_GC_Track((PyObject *)p);
    if (fine) return (PyObject *)p;
    Py_DECREF(p);
    return PyErr_Occurred() ? NULL : PyErr_NoMemory();
}

/* ---- kernel[grid] ---- */

/* Called by vector where that is in the stable interface, from Python 3.12 on: keywords need no dictionary. */
enum { VECTORCALL_FROM = 0x030c0000 };
#define HAS_VECTORCALL (1UL << 11) /* Py_TPFLAGS_HAVE_VECTORCALL */
#define VECTORCALL_OFFSET (~(SIZE_MAX >> 1)) /* PY_VECTORCALL_ARGUMENTS_OFFSET */
typedef PyObject *(*VectorCall)(PyObject *self, PyObject *const *args, size_t nargs, PyObject *names);

typedef struct Bound {
    PyObject_HEAD VectorCall vectorcall;
    Door *door;
    PyObject *grid;
} Bound;

static PyObject *bound_vectorcall(PyObject *self, PyObject *const *args, size_t nargs, PyObject *names)
{
    const Bound *b = (Bound *)self;
    return door_launch(b->door, b->grid, &(Given){args, (Py_ssize_t)(nargs & ~VECTORCALL_OFFSET), names});
}

static PyObject *bound_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    const Bound *b = (Bound *)self;
    PyObject **room = room_for(args, kwargs), *made = NULL;
    Given g = {0};
    if (room && spread(args, kwargs, room, &g)) made = door_launch(b->door, b->grid, &g);
    Py_XDECREF(g.names);
    PyMem_Free(room);
    return made;
}

static int bound_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((Bound *)self)->door);
    Py_VISIT(((Bound *)self)->grid);
    return 0;
}

static void bound_free(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    Py_XDECREF(((Bound *)self)->door);
    Py_XDECREF(((Bound *)self)->grid);
    free_object(self);
}

static PyMemberDef bound_members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(Bound, vectorcall), READONLY, NULL}, {0}};
static PyType_Slot bound_slots[] = {{Py_tp_dealloc, bound_free},
                                    {Py_tp_traverse, bound_traverse},
                                    {Py_tp_call, bound_call},
                                    {Py_tp_members, bound_members},
                                    {0}};
static PyType_Spec bound_spec = {"tkc._fast.Bound", sizeof(Bound), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, bound_slots};

static PyObject *door_bind(PyObject *self, PyObject *grid)
{
    Bound *b = PyObject_GC_New(Bound, bound_type);
    if (!b) return NULL;
    Py_INCREF(self);
    Py_INCREF(grid);
    b->vectorcall = bound_vectorcall;
    b->door = (Door *)self;
    b->grid = grid;
    PyObject_GC_Track((PyObject *)b);
    return (PyObject *)b;
}

static PyMethodDef door_methods[] = {
    {"_begin", door_begin, METH_VARARGS, NULL}, {"_prepared", door_prepared, METH_VARARGS, NULL}, {0}};
static PyType_Slot door_slots[] = {{Py_tp_dealloc, door_free},    {Py_tp_traverse, door_traverse},
                                   {Py_tp_clear, door_clear},     {Py_mp_subscript, door_bind},
                                   {Py_tp_methods, door_methods}, {0}};
static PyType_Spec door_spec = {"tkc._fast.Door", sizeof(Door), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                                door_slots};

static bool make_names(void)
{
    struct {
        PyObject **at;
        const char *text;
    } const names[] = {{&s_dtype, "dtype"},
                       {&s_device, "device"},
                       {&s_data_ptr, "data_ptr"},
                       {&s_run, "_run"},
                       {&s_newest, "newest"},
                       {&s_base, "base"},
                       {&s_shape, "shape"},
                       {&s_strides, "strides"},
                       {&s_block_shape, "block_shape"},
                       {&s_padding, "padding"},
                       {&s_best_config, "best_config"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!(*names[i].at = PyUnicode_InternFromString(names[i].text))) return false;
    return true;
}

static PyMethodDef functions[] = {{"plan", make_plan, METH_VARARGS, NULL}, {0}};
static PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_fast", NULL, -1, functions, NULL, NULL, NULL, NULL};

static bool has_vectorcall(void)
{
    PyObject *version = PySys_GetObject("hexversion"); /* borrowed */
    return version && PyLong_AsLong(version) >= VECTORCALL_FROM;
}

PyMODINIT_FUNC PyInit__fast(void)
{
    if (has_vectorcall()) bound_spec.flags |= HAS_VECTORCALL;
    PyObject *m = PyModule_Create(&module), *door = PyType_FromSpec(&door_spec);
    plan_type = (PyTypeObject *)PyType_FromSpec(&plan_spec);
    bound_type = (PyTypeObject *)PyType_FromSpec(&bound_spec);
    if (!m || !door || !plan_type || !bound_type || !make_names() ||
        PyModule_AddObject(m, "Door", door))
        return NULL;
    return m;
}
