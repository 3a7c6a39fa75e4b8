/* ldmatrix and stmatrix against the manual's figure, and against what mma.sync expects of them. */
#include "simt/matrix.h"
#include "simt/matrix.h"

#include "expect.h"

enum { MATRICES = 4, ROWS = 32 };

/* Element `column` of row r of matrix i is 64 i + 8 r + column. */
static void set_up(uint16_t memory[ROWS][8], uint8_t *rows[ROWS])
{
    for (int r = 0; r < ROWS; r++) {
        rows[r] = (uint8_t *)memory[r];
        for (int column = 0; column < 8; column++) memory[r][column] = (uint16_t)(8 * r + column);
    }
}

static void loads(void)
{
    uint16_t memory[ROWS][8];
    uint8_t *rows[ROWS];
    set_up(memory, rows);
    for (int count = 1; count <= MATRICES; count *= 2)
        for (int lane = 0; lane < 32; lane++) {
            uint32_t plain[MATRICES][32] = {{0}}, transposed[MATRICES][32] = {{0}};
            simt_move_matrices(plain[0], rows, count, false, false);
            simt_move_matrices(transposed[0], rows, count, true, false);
            const unsigned row = (unsigned)lane / 4, pair = (unsigned)lane % 4 * 2;
            for (unsigned i = 0; i < MATRICES; i++) {
                const unsigned first = 64 * i + 8 * row + pair, other = 64 * i + 8 * pair + row;
                const bool there = i < (unsigned)count;
                EXPECT_INT(plain[i][lane], there ? first | (first + 1) << 16 : 0);
                EXPECT_INT(transposed[i][lane], there ? other | (other + 8) << 16 : 0);
            }
        }
}

static void stores_back(void)
{
    for (int transposed = 0; transposed < 2; transposed++) {
        uint16_t memory[ROWS][8], before[ROWS][8];
        uint8_t *rows[ROWS];
        uint32_t registers[MATRICES][32];
        set_up(memory, rows);
        memcpy(before, memory, sizeof memory);
        simt_move_matrices(registers[0], rows, MATRICES, transposed, false);
        memset(memory, 0, sizeof memory);
        simt_move_matrices(registers[0], rows, 2, transposed, true);
        EXPECT(memcmp(memory, before, 2 * 8 * 16) == 0);
        EXPECT_INT(memory[16][0] | memory[ROWS - 1][7], 0);
        simt_move_matrices(registers[0], rows, MATRICES, transposed, true);
        EXPECT(memcmp(memory, before, sizeof memory) == 0);
    }
}

/* fp16 codes of 1, 2, 4 …: exact, and each row and column different. */
static uint16_t code(int row, int column)
{
    return (uint16_t)(0x3c00 + ((row + 3 * column) % 16 << 6));
}

static double value(uint16_t h)
{
    uint32_t word = h;
    double v;
    simt_matrix_decode(MATRIX_F16, &word, &v, 1);
    return v;
}

/* A 16 x 16 tile, rows in memory: its quarters in the order a of m16n8k16 has them; read
   transposed, the first eight columns are b. */
static void feeds_mma(void)
{
    uint16_t tile[16][16];
    uint8_t *a_rows[ROWS], *b_rows[ROWS];
    uint32_t ra[MATRICES][32], rb[MATRICES][32];
    double a[16][16], b[16][8];
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 16; column++) tile[row][column] = code(row, column);
    for (int lane = 0; lane < ROWS; lane++) {
        a_rows[lane] = (uint8_t *)&tile[lane % 16][lane / 16 * 8];
        b_rows[lane] = (uint8_t *)&tile[lane % 16][0];
    }
    simt_move_matrices(ra[0], a_rows, 4, false, false);
    simt_move_matrices(rb[0], b_rows, 2, true, false);
    const Fragment fa = simt_fragment_a(MATRIX_F16, 16, 16),
                   fb = simt_fragment_b(MATRIX_F16, 16, 8);
    simt_fragment_load(&fa, ra, a[0]);
    simt_fragment_load(&fb, rb, b[0]);
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 16; column++) {
            EXPECT(a[row][column] == value(tile[row][column]));
            EXPECT(column >= 8 || b[row][column] == value(tile[row][column]));
        }
}

int main(void)
{
    RUN(loads);
    RUN(stores_back);
    RUN(feeds_mma);
    return expect_done();
}
