/* The targets' facts, from machines.def. */
#include "ir/machine.h"

#include <string.h>

static const Machine machines[] = {
#define MACHINE(name_, sm_, specific_, smem_, cp_async_, tma_, redux_, bf16_, fp8_, \
                ptx_) \
    {.name = name_, .sm = sm_, .arch_specific = specific_, .max_smem = smem_, \
     .cp_async = cp_async_, .tma = tma_, .redux = redux_, .bf16_arith = bf16_, .fp8_mma = fp8_, \
     .min_ptx = ptx_},
#include "ir/machines.def"
#undef MACHINE
};

enum { MACHINES = sizeof machines / sizeof *machines };

const Machine *machine_find(const char *name)
{
    for (int i = 0; i < MACHINES; i++)
        if (strcmp(machines[i].name, name) == 0) return &machines[i];
    return NULL;
}

int machine_programs(const Machine *m, int64_t bytes)
{
    return (int)((m->max_smem + MACHINE_RESERVED) / (bytes + MACHINE_RESERVED));
}

/* The number of a name, without a dot: "90a" of "sm_90a" and of "9.0a". */
static void read_number(const char *name, char *out, size_t size)
{
    size_t n = 0;
    for (name += strcspn(name, "0123456789"); *name && n + 1 < size; name++)
        if (*name != '.') out[n++] = *name;
    out[n] = 0;
}

const char *machine_nearest(const char *name)
{
    char number[16];
    read_number(name, number, sizeof number);
    for (int i = 0; i < MACHINES; i++)
        if (strcmp(machines[i].name + strlen("sm_"), number) == 0) return machines[i].name;
    return NULL;
}

void machine_list(Buf *out)
{
    for (int i = 0; i < MACHINES; i++) buf_printf(out, "%s%s", i ? ", " : "", machines[i].name);
}
