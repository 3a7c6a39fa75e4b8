/* Instructions that lanes of a warp execute together: those that the mask of members names, or all. A
   lane that is not there yet is waited for. */
#include <string.h>

#include "atomic.h"
#include "decode.h"
#include "warp.h"

/* The members that the lanes of m name; told when they name different ones, or not themselves. */
static bool read_members(Warp *w, const SimtInsn *in, SimtOperand o, LaneMask m, LaneMask *named)
{
    *named = (LaneMask)simt_read(w, o, simt_first(m));
    SIMT_EACH_LANE(lane, m) {
        const LaneMask mine = (LaneMask)simt_read(w, o, lane);
        if (mine == *named && (mine >> lane & 1)) continue;
        return simt_refuse(w, in, lane, SIMT_LAUNCH_FAILED,
                           mine == *named
                               ? "the mask of members, 0x%08x, does not name the lane itself"
                               : "lanes name different members, 0x%08x and others",
                           mine);
    }
    return true;
}

SimtStep exec_members(Warp *w, const SimtInsn *in, LaneMask m)
{
    LaneMask named;
    if (!read_members(w, in, in->s[in->ns - 1], m, &named)) return STEP_FAULT;
    m = warp_gather(w, in, m, named);
    return m ? in->members(w, in, m) : STEP_MOVED;
}

/* ---- all lanes, for what is done with matrices: what the chips do with fewer is not defined ---- */

SimtStep exec_whole(Warp *w, const SimtInsn *in, LaneMask m)
{
    if (m != SIMT_ALL_LANES) m = warp_gather(w, in, m, SIMT_ALL_LANES);
    if (m == SIMT_ALL_LANES) return in->whole(w, in);
    if (!m) return STEP_MOVED;
    return simt_fault(w, in, -1, SIMT_LAUNCH_FAILED,
                      "all 32 lanes of a warp execute this together, but only 0x%08x are there", m);
}

void whole_warp_read(const Warp *w, const SimtOperand *s, int n, int bits, void *out)
{
    const size_t size = (size_t)bits / 8 * SIMT_LANES;
    for (int i = 0; i < n; i++) memcpy((uint8_t *)out + i * size, simt_lanes(w, s[i]), size);
}

void whole_warp_write(Warp *w, const SimtOperand *d, int n, int bits, const void *from)
{
    const size_t size = (size_t)bits / 8 * SIMT_LANES;
    for (int i = 0; i < n; i++)
        simt_write_lanes(w, d[i], (const uint8_t *)from + i * size, SIMT_ALL_LANES);
}

/* ---- shfl ---- */

/* The lane that is read; *inside: it lies in the segment. */
static int shuffle_source(int mode, int lane, uint32_t b, uint32_t c, bool *inside)
{
    const int segment = c >> 8 & 31, by = b & 31, clamp = c & 31;
    const int least = lane & segment, most = least | (clamp & ~segment);
    int j = lane;
    switch (mode) {
    case SHFL_UP: j = lane - by; break;
    case SHFL_DOWN: j = lane + by; break;
    case SHFL_BFLY: j = lane ^ by; break;
    case SHFL_IDX: j = least | (by & ~segment); break;
    }
    *inside = mode == SHFL_UP ? j >= most : j <= most;
    return *inside ? j : lane;
}

/* What a lane that does not take part would give is anybody's guess. */
SimtStep exec_shfl(Warp *w, const SimtInsn *in, LaneMask m)
{
    uint32_t out[SIMT_LANES];
    LaneMask pred = 0;
    const LaneMask named = (LaneMask)simt_read(w, in->s[3], simt_first(m));
    SIMT_EACH_LANE(lane, m) {
        bool inside;
        const int j = shuffle_source(in->a, lane, (uint32_t)simt_read(w, in->s[1], lane),
                                     (uint32_t)simt_read(w, in->s[2], lane), &inside);
        if (named >> j & w->began & ~m >> j & 1)
            return simt_fault(w, in, lane, SIMT_LAUNCH_FAILED,
                              "it reads lane %d, which the instruction names and which has ended "
                              "without coming to it: 0x%08x are here of 0x%08x", j, m, named);
        out[lane] = m >> j & 1 ? (uint32_t)simt_read(w, in->s[0], j)
                               : (uint32_t)simt_random(&w->block->random);
        pred |= (LaneMask)inside << lane;
    }
    simt_write_lanes(w, in->d[0], out, m);
    simt_write_lanes(w, in->d[1], &pred, m);
    return STEP_NEXT;
}

/* ---- vote, activemask, elect ---- */

SimtStep exec_vote(Warp *w, const SimtInsn *in, LaneMask m)
{
    const LaneMask yes = simt_mask(w, in->s[0]) & m;
    const bool results[] = {yes == m, yes != 0, yes == m || !yes, false};
    if (in->a == VOTE_BALLOT) {
        SIMT_EACH_LANE(lane, m) simt_write(w, in->d[0], lane, yes);
    } else {
        const LaneMask all = results[in->a] ? m : 0;
        simt_write_lanes(w, in->d[0], &all, m);
    }
    return STEP_NEXT;
}

SimtStep exec_activemask(Warp *w, const SimtInsn *in, LaneMask m)
{
    SIMT_EACH_LANE(lane, m) simt_write(w, in->d[0], lane, m);
    return STEP_NEXT;
}

/* The leader may be any member; here it is the first. */
SimtStep exec_elect(Warp *w, const SimtInsn *in, LaneMask m)
{
    const LaneMask leader = m & (0 - m);
    SIMT_EACH_LANE(lane, m) simt_write(w, in->d[0], lane, (uint64_t)simt_first(m));
    simt_write_lanes(w, in->d[1], &leader, m);
    return STEP_NEXT;
}

/* ---- match ---- */

SimtStep exec_match(Warp *w, const SimtInsn *in, LaneMask m)
{
    LaneMask pred = 0;
    SIMT_EACH_LANE(lane, m) {
        LaneMask same = 0;
        const uint64_t mine = simt_read(w, in->s[0], lane);
        SIMT_EACH_LANE(other, m)
            if (simt_read(w, in->s[0], other) == mine) same |= 1u << other;
        const bool all = same == m;
        if (in->a && all) pred |= 1u << lane;
        simt_write(w, in->d[0], lane, !in->a || all ? same : 0);
    }
    if (in->a) simt_write_lanes(w, in->d[1], &pred, m);
    return STEP_NEXT;
}

/* ---- redux ---- */

SimtStep exec_redux(Warp *w, const SimtInsn *in, LaneMask m)
{
    uint32_t x = (uint32_t)simt_read(w, in->s[0], simt_first(m));
    SIMT_EACH_LANE(lane, m & (m - 1)) x = (uint32_t)atom_combine((AtomOp)in->a, in->form, x, simt_read(w, in->s[0], lane), 0);
    SIMT_EACH_LANE(lane, m) simt_write(w, in->d[0], lane, x);
    return STEP_NEXT;
}
