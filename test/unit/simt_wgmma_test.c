/* wgmma.mma_async against products of plain matrices. Operands are written to shared memory by this
   file's own account of the layouts: a tile of 8 lines, each one span of the swizzle wide, whose
   16-byte pieces change places from line to line. */
#include <stdlib.h>

#include "simt/wgmma.h"
#include "tkc/edge.h"

#include "expect.h"

enum { SHARED = 1 << 18, MOST_N = 256, MOST_K = 256, ROWS = 64, SLACK = 48 };

/* ---- elements: small whole numbers in every type ---- */

static uint32_t code_of(MatrixType type, int v)
{
    static const DType dtypes[MATRIX_TYPE_COUNT] = {
        [MATRIX_F16] = DT_F16, [MATRIX_BF16] = DT_BF16, [MATRIX_TF32] = DT_F32,
        [MATRIX_F32] = DT_F32, [MATRIX_E4M3] = DT_F8E4, [MATRIX_E5M2] = DT_F8E5};
    if (dtypes[type]) return (uint32_t)tkc_bits_from_double(dtypes[type], v);
    return (uint32_t)v & (uint32_t)((UINT64_C(1) << simt_matrix_type_bits(type)) - 1);
}

static int random_of(MatrixType type)
{
    if (type == MATRIX_B1) return rand() % 2;
    if (type == MATRIX_U8) return rand() % 256;
    return type == MATRIX_S8 ? rand() % 256 - 128 : rand() % 7 - 3;
}

static void put_element(uint8_t *bytes, int bits, int index, uint32_t code)
{
    if (bits == 1) bytes[index / 8] |= (uint8_t)(code << index % 8);
    else memcpy(bytes + index * bits / 8, &code, (size_t)bits / 8);
}

/* ---- an operand in shared memory ---- */

typedef struct Operand {
    MatrixType type;
    int extent, k; /* 64 rows of a, n columns of b */
    bool mn_major;
    int span; /* 0: no swizzle */
    uint32_t start, leading, stride;
    int tile_k; /* k-major with a swizzle: this far along k in the tile's line */
    int v[MOST_N][MOST_K];
} Operand;

/* A line's piece p, of 16 bytes, in a swizzled tile that begins at a multiple of 8 spans: 128-byte
   lines move it by their number; in narrower spans, 2 or 4 lines share 128 bytes and the move. */
static uint32_t piece_place(int span, int line, int piece)
{
    const int pieces = span / 16, lines_in_128 = 128 / span;
    return (uint32_t)(line * span + (piece ^ (line / lines_in_128 % pieces)) * 16);
}

static uint32_t k_major_place(const Operand *o, int row, int byte)
{
    const uint32_t tile = o->start + (uint32_t)(row / 8) * o->stride;
    if (!o->span)
        return tile + (uint32_t)(row % 8 * 16 + byte % 16) + (uint32_t)(byte / 16) * o->leading;
    byte += o->tile_k;
    return tile + piece_place(o->span, row % 8, byte / 16) + (uint32_t)(byte % 16);
}

/* Lines are places along k, eight a tile; the pieces of a line are eight rows each. */
static uint32_t mn_major_place(const Operand *o, int row, int k)
{
    const uint32_t within = (uint32_t)(row % 8 * 2);
    if (!o->span)
        return o->start + (uint32_t)(row / 8) * o->stride + (uint32_t)(k / 8) * o->leading +
               (uint32_t)(k % 8 * 16) + within;
    const int rows = o->span / 2;
    return o->start + (uint32_t)(row / rows) * o->leading + (uint32_t)(k / 8) * o->stride +
           piece_place(o->span, k % 8, row % rows / 8) + within;
}

static void write_operand(Operand *o, uint8_t *shared)
{
    const int bits = simt_matrix_type_bits(o->type);
    for (int row = 0; row < o->extent; row++)
        for (int k = 0; k < o->k; k++) {
            o->v[row][k] = random_of(o->type);
            const uint32_t at =
                o->mn_major ? mn_major_place(o, row, k) : k_major_place(o, row, k * bits / 8);
            put_element(shared + at, bits, bits == 1 ? k % 8 : 0, code_of(o->type, o->v[row][k]));
        }
}

/* In a matrix that begins in the middle of a line, the descriptor's address does too. */
static uint64_t descriptor_of(const Operand *o)
{
    const uint64_t modes[] = {0, 3, 2, 0, 1}, start = o->start + (o->span ? o->tile_k : 0);
    return start >> 4 | (uint64_t)(o->leading >> 4) << 16 | (uint64_t)(o->stride >> 4) << 32 |
           modes[o->span / 32] << 62;
}

/* ---- the product ---- */

typedef struct Case {
    WgmmaSpec spec;
    int a_span, b_span;
} Case;

static Operand a, b;
static uint8_t shared[SHARED];
static int reads;

static void count_read(void *user, uint32_t at, uint32_t size)
{
    (void)at;
    reads += user == &reads && size == 16;
}

/* Tiles one after the other, with some slack between them where there is no swizzle. */
static void lay_out(Operand *o, MatrixType type, int extent, int k, bool mn_major, int span,
                    uint32_t start)
{
    const uint32_t tile = span ? 8 * (uint32_t)span : 256;
    const bool inner = span && !mn_major;
    memset(o, 0, sizeof *o);
    o->type = type, o->extent = extent, o->k = k, o->mn_major = mn_major, o->span = span;
    o->start = start;
    o->tile_k = inner ? span - 32 : 0;
    if (mn_major && span) o->stride = tile, o->leading = 3 * tile;
    else if (mn_major) o->stride = 256 + SLACK, o->leading = 128;
    else o->stride = tile + (span ? 0 : SLACK), o->leading = span ? 16 : 128;
}

static void fill_a_registers(uint32_t registers[WGMMA_WARPS][WGMMA_A_REGISTERS][SIMT_LANES])
{
    const int bits = simt_matrix_type_bits(a.type), per = 32 / bits;
    memset(registers, 0, sizeof(uint32_t[WGMMA_WARPS][WGMMA_A_REGISTERS][SIMT_LANES]));
    for (int row = 0; row < ROWS; row++)
        for (int k = 0; k < a.k; k++) {
            const int lane = row % 8 * 4 + k / per % 4, reg = row / 8 % 2 + k / per / 4 * 2;
            a.v[row][k] = random_of(a.type);
            registers[row / 16][reg][lane] |= code_of(a.type, a.v[row][k]) << k % per * bits;
        }
}

static int product_at(const WgmmaSpec *s, int row, int column)
{
    int sum = 0;
    for (int l = 0; l < s->k; l++) sum += a.v[row][l] * b.v[column][l];
    return s->a_negated != s->b_negated ? -sum : sum;
}

static uint32_t d_code(const WgmmaSpec *s, const uint32_t *d, int row, int column)
{
    const int lane = row % 8 * 4 + column % 8 / 2;
    const int i = column / 8 * 4 + row / 8 % 2 * 2 + column % 2;
    if (s->d != MATRIX_F16) return d[i * SIMT_LANES + lane];
    return d[i / 2 * SIMT_LANES + lane] >> i % 2 * 16 & 0xffff;
}

static int wrong_elements(const WgmmaSpec *s, uint32_t (*d)[128 * SIMT_LANES], int times)
{
    int wrong = 0;
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < s->n; column++)
            wrong += d_code(s, d[row / 16], row, column) !=
                     code_of(s->d, times * product_at(s, row, column));
    return wrong;
}

/* What four warps give, one after the other. */
typedef uint32_t (*Ra)[WGMMA_A_REGISTERS][SIMT_LANES];
typedef uint32_t (*Rd)[128 * SIMT_LANES];
static bool multiply(const WgmmaForm *form, WgmmaCall *call, Ra ra, Rd rd, WgmmaFault *fault)
{
    bool done = true;
    for (int warp = 0; warp < WGMMA_WARPS && done; warp++) {
        call->warp = warp;
        call->a_registers = ra[warp][0];
        call->d = rd[warp];
        done = simt_wgmma(form, call, fault);
    }
    return done;
}

static WgmmaCall new_call(void)
{
    return (WgmmaCall){.a = descriptor_of(&a),
                       .b = descriptor_of(&b),
                       .shared = {shared, SHARED, count_read, &reads}};
}

static void multiplies(const Case *c)
{
    static uint32_t ra[WGMMA_WARPS][WGMMA_A_REGISTERS][SIMT_LANES],
        rd[WGMMA_WARPS][128 * SIMT_LANES];
    const WgmmaSpec *s = &c->spec;
    WgmmaForm form;
    WgmmaCall call;
    WgmmaFault fault;
    memset(shared, 0, sizeof shared);
    memset(rd, 0xff, sizeof rd);
    lay_out(&a, s->a, ROWS, s->k, s->a_transposed, c->a_span, 2048);
    lay_out(&b, s->b, s->n, s->k, s->b_transposed, c->b_span, SHARED / 2);
    if (s->a_in_registers) fill_a_registers(ra);
    else write_operand(&a, shared);
    write_operand(&b, shared);
    call = new_call();
    reads = 0;
    EXPECT(simt_wgmma_form(&form, s));
    EXPECT_INT(form.d_registers, s->d == MATRIX_F16 ? s->n / 4 : s->n / 2);
    EXPECT(multiply(&form, &call, ra, rd, &fault));
    EXPECT_INT(reads, (s->a_in_registers ? 0 : 128) + WGMMA_WARPS * s->n * 2);
    EXPECT_INT(wrong_elements(s, rd, 1), 0);
    call.accumulate = true;
    EXPECT(multiply(&form, &call, ra, rd, &fault));
    EXPECT_INT(wrong_elements(s, rd, 2), 0);
}

static void layouts(void)
{
    static const int spans[] = {0, 32, 64, 128};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int transposed = 0; transposed < 4; transposed++) {
                Case c = {
                    .spec = {.n = 128, .k = 16, .d = MATRIX_F32, .a = MATRIX_F16, .b = MATRIX_F16}};
                c.spec.a_transposed = transposed & 1;
                c.spec.b_transposed = transposed >> 1;
                c.a_span = spans[i], c.b_span = spans[j];
                multiplies(&c);
            }
}

static void types(void)
{
    static const WgmmaSpec specs[] = {
        {.n = 256, .k = 16, .d = MATRIX_F16, .a = MATRIX_F16, .b = MATRIX_F16},
        {.n = 8, .k = 16, .d = MATRIX_F32, .a = MATRIX_BF16, .b = MATRIX_BF16, .b_negated = true},
        {.n = 24, .k = 8, .d = MATRIX_F32, .a = MATRIX_TF32, .b = MATRIX_TF32},
        {.n = 40, .k = 32, .d = MATRIX_F32, .a = MATRIX_E4M3, .b = MATRIX_E5M2},
        {.n = 32, .k = 32, .d = MATRIX_F16, .a = MATRIX_E5M2, .b = MATRIX_E4M3, .a_negated = true},
        {.n = 48, .k = 32, .d = MATRIX_S32, .a = MATRIX_S8, .b = MATRIX_U8},
        {.n = 64, .k = 32, .d = MATRIX_S32, .a = MATRIX_U8, .b = MATRIX_S8, .satfinite = true},
        {.n = 256,
         .k = 256,
         .d = MATRIX_S32,
         .a = MATRIX_B1,
         .b = MATRIX_B1,
         .bits = MATRIX_BITS_AND},
    };
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        for (int in_registers = 0; in_registers < 2; in_registers++) {
            Case c = {specs[i], 128, 64};
            c.spec.a_in_registers = in_registers;
            multiplies(&c);
            c.a_span = c.b_span = 0;
            multiplies(&c);
        }
}

/* A pattern that begins at the third line of 128 bytes: every address, and the swizzle with it, is
   moved by 384 bytes. */
static void base_offset(void)
{
    enum { MOVED = 384 };
    static double plain[8 * 16], moved[8 * 16];
    uint32_t fault;
    lay_out(&b, MATRIX_F16, 8, 16, false, 128, 1024);
    memset(shared, 0, sizeof shared);
    write_operand(&b, shared);
    SharedBytes bytes = {shared, SHARED, NULL, NULL};
    SharedMatrix m = simt_shared_matrix(descriptor_of(&b), false);
    EXPECT(simt_shared_matrix_load(&m, &bytes, MATRIX_F16, 0, plain, 16, 1, &fault));
    memmove(shared + 1024 + MOVED, shared + 1024, 1024);
    b.start += MOVED;
    m = simt_shared_matrix(descriptor_of(&b) | UINT64_C(3) << 49, false);
    EXPECT(simt_shared_matrix_load(&m, &bytes, MATRIX_F16, 0, moved, 16, 1, &fault));
    EXPECT(memcmp(plain, moved, sizeof plain) == 0);
    EXPECT(plain[0] == b.v[0][0] && plain[7 * 16 + 15] == b.v[7][15]);
}

static void outside(void)
{
    static uint32_t ra[WGMMA_WARPS][WGMMA_A_REGISTERS][SIMT_LANES],
        rd[WGMMA_WARPS][128 * SIMT_LANES];
    WgmmaSpec s = {.n = 16, .k = 16, .d = MATRIX_F32, .a = MATRIX_F16, .b = MATRIX_F16};
    WgmmaForm form;
    WgmmaCall call;
    WgmmaFault fault;
    lay_out(&a, s.a, ROWS, s.k, false, 128, 0);
    lay_out(&b, s.b, s.n, s.k, false, 128, 8192);
    a.tile_k = b.tile_k = 0;
    call = new_call();
    EXPECT(simt_wgmma_form(&form, &s));
    call.shared.size = 8192 + 2048;
    EXPECT(multiply(&form, &call, ra, rd, &fault));
    call.shared.size -= 16; /* the last line's first piece has become its last */
    EXPECT(!multiply(&form, &call, ra, rd, &fault));
    EXPECT_INT(fault.operand, 'b');
    EXPECT_INT(fault.address, 8192 + 2048 - 16);
    call.shared.size = 8192 + 1024;
    EXPECT(!multiply(&form, &call, ra, rd, &fault));
    EXPECT_INT(fault.operand, 'b');
    EXPECT_INT(fault.address, 8192 + 1024);
    call.shared.size = 1024;
    EXPECT(!multiply(&form, &call, ra, rd, &fault));
    EXPECT_INT(fault.operand, 'a');
    EXPECT_INT(fault.address, 1024);
}

static uint64_t random_bits(void)
{
    return (uint64_t)rand() << 42 ^ (uint64_t)rand() << 21 ^ (uint64_t)rand();
}

/* No descriptor leads to a read outside of what is given. */
static void any_descriptor(void)
{
    static uint32_t ra[WGMMA_WARPS][WGMMA_A_REGISTERS][SIMT_LANES],
        rd[WGMMA_WARPS][128 * SIMT_LANES];
    enum { BYTES = 1 << 16 };
    uint8_t *bytes = calloc(1, BYTES); /* of its own, so that sanitizers see its end */
    int inside = 0;
    for (int i = 0; i < 3000; i++) {
        WgmmaSpec s = {.n = 16, .k = 16, .d = MATRIX_F32, .a = MATRIX_F16, .b = MATRIX_F16};
        WgmmaForm form;
        WgmmaCall call;
        WgmmaFault fault = {0};
        s.a_transposed = i & 1, s.b_transposed = i >> 1 & 1;
        EXPECT(simt_wgmma_form(&form, &s));
        call = new_call();
        call.a = random_bits() & (i % 3 ? UINT64_C(0xc00e007f007f0fff) : UINT64_MAX);
        call.b = random_bits() & (i % 3 ? UINT64_C(0xc00e007f007f0fff) : UINT64_MAX);
        call.shared = (SharedBytes){bytes, BYTES, NULL, NULL};
        const bool done = multiply(&form, &call, ra, rd, &fault);
        inside += done;
        EXPECT(done || fault.address + 16 > BYTES);
    }
    EXPECT(inside > 100 && inside < 2900);
    free(bytes);
}

/* As many as ptxas takes. */
static int count_forms(WgmmaSpec s)
{
    int count = 0;
    for (int n = 1; n <= 264; n++)
        for (int options = 0; options < 192; options++) {
            WgmmaForm form;
            s.n = n;
            s.a_in_registers = options & 1;
            s.a_transposed = options >> 1 & 1;
            s.b_transposed = options >> 2 & 1;
            s.satfinite = options >> 3 & 1;
            s.a_negated = options >> 4 & 1;
            s.b_negated = options >> 5 & 1;
            s.bits = (MatrixBits)(options >> 6);
            count += simt_wgmma_form(&form, &s);
        }
    return count;
}

static void every_form(void)
{
    int count = 0;
    for (int d = 1; d < MATRIX_TYPE_COUNT; d++)
        for (int x = 1; x < MATRIX_TYPE_COUNT; x++)
            for (int y = 1; y < MATRIX_TYPE_COUNT; y++)
                for (int k = 4; k <= 256; k *= 2)
                    if (simt_matrix_type_bits((MatrixType)x) * k == 256 && k != 64)
                        count += count_forms((WgmmaSpec){
                            .k = k, .d = (MatrixType)d, .a = (MatrixType)x, .b = (MatrixType)y});
    /* fp16 twice and bf16: 6 transposed ways; tf32, fp8 8 times: 2; each with 4 signs; int8 4
       times: with satfinite and registers 4; bits: 2 */
    EXPECT_INT(count, 32 * 4 * (3 * 6 + 9 * 2) + 18 * (4 * 4 + 2));
    WgmmaForm form;
    EXPECT(!simt_wgmma_form(
        &form, &(WgmmaSpec){.n = 8, .k = 8, .d = MATRIX_F32, .a = MATRIX_F16, .b = MATRIX_F16}));
}

int main(void)
{
    RUN(layouts);
    RUN(types);
    RUN(base_offset);
    RUN(outside);
    RUN(any_descriptor);
    RUN(every_form);
    return expect_done();
}
