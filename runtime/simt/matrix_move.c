/* ldmatrix, stmatrix, movmatrix: 8 x 8 matrices of 16-bit elements to and from the registers of a
   warp. The first 8, 16 or 32 lanes give the addresses of rows, 16 bytes in shared memory each. */
#include "decode.h"
#include "warp.h"

/* Generic addresses lead to shared memory, or are wrong; they become offsets. */
static bool in_shared(Warp *w, const SimtInsn *in, LaneMask m, uint64_t *address)
{
    SIMT_EACH_LANE(lane, m) {
        if (address[lane] >> 56 != SPACE_SHARED)
            return simt_refuse(w, in, lane, SIMT_ILLEGAL_ADDRESS,
                               "the generic address 0x%llx does not lead to shared memory",
                               (unsigned long long)address[lane]);
        address[lane] = ptx_low(address[lane], 56);
    }
    return true;
}

/* The rows of all matrices, row[8 i + r]; false: told. What they are to hold makes no race where
   they hold it. */
static bool reach_rows(Warp *w, const SimtInsn *in, uint8_t (*written)[LDMATRIX_ROW_BYTES],
                       uint8_t **row)
{
    uint64_t address[SIMT_LANES];
    const int rows = in->count * LDMATRIX_ROWS;
    const LaneMask m = rows == SIMT_LANES ? SIMT_ALL_LANES : (1u << rows) - 1;
    LaneMask silent = 0;
    if (!warp_addresses(w, in, m, in->s[0], in->offset[0], address) ||
        (in->space == SPACE_GENERIC && !in_shared(w, in, m, address)))
        return false;
    for (int i = 0; written && i < rows; i++)
        silent |= (LaneMask)warp_holds(w, SPACE_SHARED, address[i], written[i], LDMATRIX_ROW_BYTES)
                  << i;
    return warp_reach(w, in, silent, SPACE_SHARED, address, LDMATRIX_ROW_BYTES, TOUCH_SAME, row) &&
           warp_reach(w, in, m & ~silent, SPACE_SHARED, address, LDMATRIX_ROW_BYTES,
                      written ? TOUCH_WRITE : TOUCH_READ, row);
}

static SimtStep whole_ldmatrix(Warp *w, const SimtInsn *in)
{
    uint8_t *row[SIMT_LANES] = {0};
    uint32_t registers[LDMATRIX_MOST * SIMT_LANES];
    if (!reach_rows(w, in, NULL, row)) return STEP_FAULT;
    simt_move_matrices(registers, row, in->count, in->a, false);
    whole_warp_write(w, in->d, in->count, 32, registers);
    return STEP_NEXT;
}

static SimtStep whole_stmatrix(Warp *w, const SimtInsn *in)
{
    uint8_t written[SIMT_LANES][LDMATRIX_ROW_BYTES], *from[SIMT_LANES], *row[SIMT_LANES] = {0};
    uint32_t registers[LDMATRIX_MOST * SIMT_LANES];
    for (int i = 0; i < SIMT_LANES; i++) from[i] = written[i];
    whole_warp_read(w, in->s + 1, in->count, 32, registers);
    simt_move_matrices(registers, from, in->count, in->a, true);
    if (!reach_rows(w, in, written, row)) return STEP_FAULT;
    for (int i = 0; i < in->count * LDMATRIX_ROWS; i++)
        memcpy(row[i], written[i], LDMATRIX_ROW_BYTES);
    w->block->progress = true;
    w->block->changes++;
    return STEP_NEXT;
}

static SimtStep whole_movmatrix(Warp *w, const SimtInsn *in)
{
    uint8_t matrix[LDMATRIX_ROWS][LDMATRIX_ROW_BYTES], *row[LDMATRIX_ROWS];
    uint32_t registers[SIMT_LANES];
    for (int i = 0; i < LDMATRIX_ROWS; i++) row[i] = matrix[i];
    whole_warp_read(w, in->s, 1, 32, registers);
    simt_move_matrices(registers, row, 1, false, true);
    simt_move_matrices(registers, row, 1, true, false);
    whole_warp_write(w, in->d, 1, 32, registers);
    return STEP_NEXT;
}

/* ---- decoding ---- */

static const struct Move {
    const char *name;
    SimtWhole *whole;
    int chip;
    const char *form;
} kinds[] = {{"ldmatrix", whole_ldmatrix, 75, ">{b32} ["},
             {"stmatrix", whole_stmatrix, 90, "[ <{b32}"},
             {"movmatrix", whole_movmatrix, 75, ">b32 <b32"}};

void decode_matrix_move(Decoder *dc, SimtInsn *in)
{
    const struct Move *kind = kinds;
    while (!ptx_part_is(&dc->ps.parts, 0, kind->name, strlen(kind->name))) kind++;
    const bool moves = kind->whole == whole_movmatrix;
    dc_aligned(dc);
    const int count = op_choose(dc, "x1 x2 x4");
    in->a = op_take(dc, "trans");
    in->space = dc_space(dc);
    in->count = (uint8_t)(1 << (count < 0 ? 0 : count));
    if (!op_take(dc, "m8n8") || op_type(dc) != ptx_type("b16")) op_refuse(dc);
    op_done(dc);
    if (in->space != SPACE_GENERIC && (in->space != SPACE_SHARED || moves)) op_refuse(dc);
    if ((count < 0) != moves || (moves && !in->a)) op_refuse(dc);
    dc_needs_chip(dc, kind->chip);
    in->whole = kind->whole;
    dc_form(dc, in, exec_whole, kind->form, NULL);
}
