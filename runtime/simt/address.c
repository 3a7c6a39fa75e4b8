/* Addresses of one space as addresses of another, and which space a generic address is of. */
#include "decode.h"

/* Generic addresses of global memory are its addresses; those of others lie in their windows. A
   source may be a variable, or one and an offset. a: from generic addresses. */
SimtStep exec_cvta(Warp *w, const SimtInsn *in, LaneMask m)
{
    const uint64_t window = in->space == SPACE_GLOBAL || in->space == SPACE_CONST
                                ? 0
                                : SIMT_WINDOW(in->space);
    SIMT_EACH_LANE(lane, m) {
        const uint64_t x = simt_read(w, in->s[0], lane);
        const bool null = in->a && !window;
        if (in->a && !null && x >> 56 != in->space)
            return simt_fault(w, in, lane, SIMT_ILLEGAL_ADDRESS,
                              "the generic address 0x%llx is not of that space",
                              (unsigned long long)x);
        simt_write(w, in->d[0], lane, in->a ? x - window : x + window);
    }
    return STEP_NEXT;
}

SimtStep exec_isspacep(Warp *w, const SimtInsn *in, LaneMask m)
{
    LaneMask yes = 0;
    SIMT_EACH_LANE(lane, m) {
        const uint64_t window = simt_read(w, in->s[0], lane) >> 56;
        if (window == (in->space == SPACE_GLOBAL ? 0 : in->space)) yes |= 1u << lane;
    }
    simt_write_lanes(w, in->d[0], &yes, m);
    return STEP_NEXT;
}

/* A cluster is one program: rank 0, whose shared memory is its own. (Its rank is a constant.) */
SimtStep exec_mapa(Warp *w, const SimtInsn *in, LaneMask m)
{
    SIMT_EACH_LANE(lane, m) {
        const uint64_t rank = simt_read(w, in->s[1], lane);
        if (rank)
            return simt_fault(w, in, lane, SIMT_ILLEGAL_ADDRESS,
                              "the program %llu of a cluster of 1", (unsigned long long)rank);
        simt_write(w, in->d[0], lane, simt_read(w, in->s[0], lane));
    }
    return STEP_NEXT;
}
