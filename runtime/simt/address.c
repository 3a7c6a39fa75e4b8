/* Addresses of one space as addresses of another, and which space a generic address is of. */
#include "decode.h"
#include "warp.h"

/* Generic addresses of global memory are its addresses; those of others lie in their windows. */
static SimtStep exec_cvta(Warp *w, const SimtInsn *in, LaneMask m)
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

/* A source may be a variable, or one and an offset. */
void decode_cvta(Decoder *dc, SimtInsn *in)
{
    in->a = op_take(dc, "to");
    in->space = dc_space(dc);
    const PtxType *t = op_type(dc);
    if (t != dc_type("u64") || in->space == SPACE_GENERIC) op_refuse(dc);
    dc_form(dc, in, exec_cvta, ">* <*", t);
}

static SimtStep exec_isspacep(Warp *w, const SimtInsn *in, LaneMask m)
{
    LaneMask yes = 0;
    SIMT_EACH_LANE(lane, m) {
        const uint64_t window = simt_read(w, in->s[0], lane) >> 56;
        if (window == (in->space == SPACE_GLOBAL ? 0 : in->space)) yes |= 1u << lane;
    }
    simt_write_lanes(w, in->d[0], &yes, m);
    return STEP_NEXT;
}

void decode_isspacep(Decoder *dc, SimtInsn *in)
{
    in->space = dc_space(dc);
    if (in->space == SPACE_GENERIC) op_refuse(dc);
    dc_form(dc, in, exec_isspacep, ">pred <u64", NULL);
}

/* A cluster is one program: rank 0, whose shared memory is its own. */
static SimtStep exec_mapa(Warp *w, const SimtInsn *in, LaneMask m)
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

void decode_mapa(Decoder *dc, SimtInsn *in)
{
    dc_space(dc);
    const PtxType *t = op_type(dc);
    if (t != dc_type("u32") && t != dc_type("u64")) op_refuse(dc);
    dc_form(dc, in, exec_mapa, ">* <* <u32", t);
}

static SimtStep exec_rank(Warp *w, const SimtInsn *in, LaneMask m)
{
    SIMT_EACH_LANE(lane, m) simt_write(w, in->d[0], lane, 0);
    return STEP_NEXT;
}

void decode_getctarank(Decoder *dc, SimtInsn *in)
{
    dc_space(dc);
    const PtxType *t = op_type(dc);
    if (t != dc_type("u32") && t != dc_type("u64")) op_refuse(dc);
    dc_form(dc, in, exec_rank, ">u32 <*", t);
}
