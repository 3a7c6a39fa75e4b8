/* The cpu device: host memory, the interpreter. Programs may touch what tkc_alloc gave, and what a
   launch's arguments vouch for by their size. Launches and changes of memory take turns. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "debug/debug.h"
#include "jit/manifest.h"

struct DeviceKernel {
    Interp *interp;
    const Manifest *manifest;
};

/* ---- the device ---- */

static TkcStatus cpu_open(TkcDevice *dev, int ordinal, void *context)
{
    (void)ordinal, (void)context;
    dev->state = memory_new();
    strcpy(dev->name, "interpreter of the block IR");
    strcpy(dev->arch, "cpu");
    return dev->state ? TKC_OK : tkc_no_memory(dev->cx);
}

static void cpu_close(TkcDevice *dev)
{
    const MemMap *map = dev->state;
    for (int i = 0; i < map->n; i++) shadow_free(map->ranges[i].shadow);
    memory_free(dev->state);
    debugger_free(dev->debugger);
}

/* ---- memory ---- */

/* False: no memory. */
static bool watch(TkcDevice *dev, uint64_t begin, size_t bytes)
{
    Shadow *shadow = dev->unchecked || !bytes ? NULL : shadow_new(begin, begin + bytes, false);
    mem_watch(dev->state, begin, shadow);
    return shadow || dev->unchecked || !bytes;
}

/* Large pages, whose first touches cost less, where there is room for some; advice only. */
static void advise(uint64_t p, size_t bytes)
{
    enum { LARGE = 1 << 22, PAGE = 1 << 12 };
    const uintptr_t at = (p + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    if (p && bytes >= LARGE) madvise((void *)at, bytes - PAGE, MADV_HUGEPAGE);
}

static TkcStatus cpu_alloc(TkcDevice *dev, size_t bytes, TkcPtr *out)
{
    const uint64_t begin = *out = memory_alloc(dev->state, bytes);
    advise(begin, bytes);
    if (!begin || !watch(dev, begin, bytes)) {
        *out = 0;
        if (begin) memory_release(dev->state, begin, &bytes);
        return tkc_refuse(dev->cx, TKC_NO_MEMORY, "no memory for %zu bytes", bytes);
    }
    return TKC_OK;
}

static TkcStatus cpu_free(TkcDevice *dev, TkcPtr ptr)
{
    const MemRange *r = mem_find(dev->state, ptr, ptr + 1);
    Shadow *shadow = r ? r->shadow : NULL;
    size_t bytes;
    if (!memory_release(dev->state, ptr, &bytes))
        return tkc_refuse(dev->cx, TKC_MISUSE,
                          "0x%llx is not an address that tkc_alloc gave and that is not freed",
                          (unsigned long long)ptr);
    shadow_free(shadow);
    return TKC_OK;
}

/* What begins inside an allocation and ends outside: most often a size in elements. */
static void report_overrun(TkcDevice *dev, const MemRange *r, TkcPtr at, size_t bytes)
{
    unsigned long long size = r->end - r->begin, skip = at - r->begin;
    tkc_report_begin(dev->cx);
    if (skip)
        tkc_report(dev->cx, TKC_SEVERITY_ERROR, NULL,
                   "a copy of %zu bytes from byte %llu of an allocation of %llu bytes", bytes, skip,
                   size);
    else
        tkc_report(dev->cx, TKC_SEVERITY_ERROR, NULL,
                   "a copy of %zu bytes, but the allocation has %llu bytes", bytes, size);
    tkc_report_note(dev->cx, NULL, "tkc_alloc takes a number of bytes, not of elements");
    tkc_report_end(dev->cx);
}

static TkcStatus check_copy(TkcDevice *dev, TkcPtr at, size_t bytes)
{
    if (at + bytes >= at && mem_find(dev->state, at, at + bytes)) return TKC_OK;
    const MemRange *r = at < UINT64_MAX ? mem_find(dev->state, at, at + 1) : NULL;
    if (!r)
        return tkc_refuse(dev->cx, TKC_MISUSE,
                          "a copy of %zu bytes at 0x%llx is outside the device's memory", bytes,
                          (unsigned long long)at);
    report_overrun(dev, r, at, bytes);
    return TKC_MISUSE;
}

static TkcStatus cpu_copy_in(TkcDevice *dev, TkcPtr to, const void *from, size_t bytes)
{
    TkcStatus status = check_copy(dev, to, bytes);
    if (status != TKC_OK) return status;
    memcpy((void *)(uintptr_t)to, from, bytes);
    Shadow *shadow = dev->unchecked ? NULL : mem_find(dev->state, to, to + bytes)->shadow;
    bool done = !shadow || shadow_fill(shadow, to, to + bytes);
    return done ? TKC_OK : tkc_no_memory(dev->cx);
}

static TkcStatus cpu_copy_out(TkcDevice *dev, void *to, TkcPtr from, size_t bytes)
{
    TkcStatus status = check_copy(dev, from, bytes);
    if (status == TKC_OK) memcpy(to, (const void *)(uintptr_t)from, bytes);
    return status;
}

static TkcStatus cpu_unwritten(TkcDevice *dev, TkcPtr at, size_t size, size_t n, bool *elements,
                               size_t *count)
{
    TkcStatus status = check_copy(dev, at, size * n);
    if (status != TKC_OK) return status;
    const Shadow *shadow = mem_find(dev->state, at, at + size * n)->shadow;
    if (shadow) *count = shadow_unwritten(shadow, at, n, size, elements);
    return TKC_OK;
}

static TkcStatus cpu_synchronize(TkcDevice *dev, void *stream)
{
    (void)dev, (void)stream;
    return TKC_OK;
}

/* ---- kernels ---- */

static TkcStatus cpu_load(TkcDevice *dev, const DeviceCode *code, DeviceKernel **out)
{
    DeviceKernel *k = calloc(1, sizeof *k);
    if (!k) return tkc_no_memory(dev->cx);
    TkcStatus status;
    k->manifest = code->manifest;
    k->interp = interp_prepare(dev->cx, code->func, dev->debugger, &status);
    if (!k->interp) {
        free(k);
        return status;
    }
    *out = k;
    return TKC_OK;
}

static void cpu_unload(TkcDevice *dev, DeviceKernel *k)
{
    (void)dev;
    if (!k) return;
    interp_free(k->interp);
    free(k);
}

/* The system knows the page; whether it may be written it does not tell. */
static bool is_mapped(uint64_t address)
{
    unsigned char in_core;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return mincore((void *)(uintptr_t)(address / page * page), 1, &in_core) == 0;
}

/* A size vouches for memory of the host's: not for what was freed, nor for what is none at its
   ends. */
static const char *find_fault(TkcDevice *dev, uint64_t address, size_t bytes)
{
    bool held;
    const uint64_t last = address + bytes - 1;
    const char *fault = memory_fault(dev->state, address, bytes, &held);
    if (held || fault) return fault;
    return bytes && (last < address || !is_mapped(address) || !is_mapped(last)) ? "there is no memory where it points to"
                                                                                : NULL;
}

static TkcStatus cpu_launch(TkcDevice *dev, DeviceKernel *k, const int64_t grid[3], void *stream,
                            const LaunchPack *pack)
{
    (void)stream;
    const int n = (int)k->manifest->nparams;
    LaunchArg *args = calloc((size_t)n + 1, sizeof *args);
    if (!args) return tkc_no_memory(dev->cx);
    for (int i = 0; i < n; i++) {
        const ManifestParam *p = &k->manifest->params[i];
        args[i] = (LaunchArg){manifest_value(p, pack->values), p->is.stars ? pack->bytes[i] : 0};
    }
    TkcStatus status = device_check_pointers(dev, k->manifest, pack, find_fault);
    if (status == TKC_OK) status = interp_launch(dev, k->interp, dev->state, grid, args);
    free(args);
    return status;
}

static void cpu_facts(TkcDevice *dev, TkcDeviceInfo *out)
{
    const int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    out->units = dev->threads ? dev->threads : cores;
    out->unit_programs = 1;
    out->memory_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
}

static void cpu_info(TkcDevice *dev, const DeviceKernel *k, TkcKernelInfo *out)
{
    TkcDeviceInfo facts = {.size = sizeof facts};
    (void)k;
    cpu_facts(dev, &facts);
    out->registers = out->spill_bytes = out->max_threads = -1;
    out->unit_programs = facts.unit_programs;
    out->programs = facts.units;
}

const DeviceOps device_cpu = {
    .kind = "cpu",
    .takes_turns = true,
    .computes = true,
    .emit = TKC_EMIT_IR,
    .passes = "desc,fold,cse,licm,dce",
    .max_grid = {INT32_MAX, 65535, 65535},
    .open = cpu_open,
    .close = cpu_close,
    .alloc = cpu_alloc,
    .free = cpu_free,
    .copy_in = cpu_copy_in,
    .copy_out = cpu_copy_out,
    .unwritten = cpu_unwritten,
    .synchronize = cpu_synchronize,
    .load = cpu_load,
    .unload = cpu_unload,
    .launch = cpu_launch,
    .info = cpu_info,
    .facts = cpu_facts,
};
