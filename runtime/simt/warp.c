/* A warp runs the group of lanes with the lowest address among those that can run, one instruction
   after the other, until its address reaches that of another group: then they are one. Lanes that
   wait keep the address they wait at.

   While a group runs, its lanes are at w->at, and pc[] holds the addresses of all others; without
   a group, w->active is 0 and pc[] holds those of all. */
#include "warp.h"

/* ---- groups ---- */

static LaneMask waiting(const Warp *w)
{
    return w->gathered | w->barred;
}

/* The group to run next, from pc[] of all lanes. */
static void regroup(Warp *w)
{
    const LaneMask ready = w->live & ~waiting(w);
    uint32_t lowest = UINT32_MAX, next = UINT32_MAX;
    LaneMask group = 0;
    SIMT_EACH_LANE(lane, ready) {
        const uint32_t at = w->pc[lane];
        if (at < lowest) {
            next = lowest;
            lowest = at;
            group = 0;
        }
        if (at == lowest) group |= 1u << lane;
        else if (at < next) next = at;
    }
    w->active = group;
    w->at = lowest;
    w->other = next;
    w->diverged = group != w->live;
}

void warp_move(Warp *w, LaneMask lanes, uint32_t at)
{
    SIMT_EACH_LANE(lane, lanes) w->pc[lane] = at;
}

/* Lanes that waited for one that has ended look again. */
void warp_end(Warp *w, LaneMask lanes)
{
    w->active = 0;
    w->live &= ~lanes;
    w->gathered = 0;
    w->block->live -= (uint32_t)__builtin_popcount(lanes);
    w->block->progress = true;
    w->block->changes++;
    if (!w->live) block_check_barriers(w->block);
}

/* ---- waiting ---- */

/* Lanes that wait at the same instruction; a barrier of the warp may be any one of its kind. */
static LaneMask companions(const Warp *w, const SimtInsn *in)
{
    LaneMask found = 0;
    SIMT_EACH_LANE(lane, w->gathered) {
        const SimtInsn *there = &w->func->insns[w->pc[lane]];
        if (there == in || (in->exec == exec_warp_barrier && there->exec == exec_warp_barrier))
            found |= 1u << lane;
    }
    return found;
}

LaneMask warp_gather(Warp *w, const SimtInsn *in, LaneMask m, LaneMask named)
{
    const LaneMask others = w->gathered ? companions(w, in) : 0, all = m | others;
    if (!(named & w->live & ~all)) {
        w->gathered &= ~others;
        SIMT_EACH_LANE(lane, others) w->pc[lane]++;
        w->active |= others & ~w->active;
        w->joined = others;
        return all;
    }
    warp_move(w, w->active & ~m, w->at + 1);
    warp_move(w, m, w->at);
    w->gathered |= m;
    w->active = 0;
    return 0;
}

void warp_bar(Warp *w, LaneMask m, int barrier)
{
    warp_move(w, w->active & ~m, w->at + 1);
    warp_move(w, m, w->at);
    SIMT_EACH_LANE(lane, m) w->barrier[lane] = (uint8_t)barrier;
    w->barred |= m;
    w->active = 0;
}

void warp_unbar(Warp *w, LaneMask lanes)
{
    if (w->active) warp_move(w, w->active, w->at);
    w->active = 0;
    w->barred &= ~lanes;
    SIMT_EACH_LANE(lane, lanes) w->pc[lane]++;
}

/* ---- running ---- */

static inline LaneMask guarded_lanes(const Warp *w, const SimtInsn *in)
{
    const LaneMask p = *(const LaneMask *)(w->regs + in->guard.at);
    return w->active & (in->guard_not ? ~p : p);
}

/* A register of inline assembly is written before it is read: the compiler's own may hold anything
   where it does not matter. */
static bool check_written(Warp *w, const SimtInsn *in, LaneMask m)
{
    LaneMask missing = in->guarded ? w->active & ~w->written[in->guard.reg] : 0;
    for (int i = 0; i < in->ns; i++)
        if (in->s[i].bits && !in->s[i].number) missing |= m & ~w->written[in->s[i].reg];
    if (!missing) return true;
    return simt_refuse(w, in, simt_first(missing), SIMT_LAUNCH_FAILED,
                       "it reads a register that nothing has written");
}

/* Lanes that came from another instruction of the kind go on behind their own. */
static void part_joined(Warp *w)
{
    const LaneMask others = w->joined;
    w->joined = 0;
    warp_move(w, w->active & ~others, w->at + 1);
    regroup(w);
}

static inline bool step(Warp *w, SimtStep how)
{
    switch (how) {
    case STEP_NEXT:
    case STEP_YIELD:
        if (w->joined) {
            part_joined(w);
            break;
        }
        w->at++;
        if (w->at >= w->other) {
            warp_move(w, w->active, w->at);
            regroup(w);
        }
        break;
    case STEP_JUMPED: break;
    case STEP_MOVED: regroup(w); break;
    case STEP_FAULT: return false;
    }
    return true;
}

uint64_t warp_run(Warp *w, uint64_t budget)
{
    uint64_t done = 0;
    if (!w->active) regroup(w);
    while (w->active && done < budget) {
        const SimtInsn *in = &w->func->insns[w->at];
        const LaneMask m = in->guarded ? guarded_lanes(w, in) : w->active;
        if (in->inner && !check_written(w, in, m)) return UINT64_MAX;
        if (w->in_flight && m && !warp_group_allows(w, in)) return UINT64_MAX;
        const SimtStep how = m ? in->exec(w, in, m) : STEP_NEXT;
        done++;
        w->clock++;
        if (!step(w, how)) return UINT64_MAX;
        if (how == STEP_YIELD) break;
    }
    return done;
}
