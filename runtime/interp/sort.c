/* sort, along the last dim. An element becomes a key that orders as an unsigned number does;
   different elements have different keys, so any way of sorting gives the same bits. Keys are
   sorted digit by digit from the lowest, each pass keeping the order of the one before. A NaN is
   the last, in both directions. */
#include <math.h>
#include <string.h>

#include "interp.h"
#include "tkc/vector.h"

typedef enum Order { ORDER_UNSIGNED, ORDER_SIGNED, ORDER_FLOAT } Order;

/* What the elements of one sort are. */
typedef struct Form {
    Order order;
    uint64_t infinity; /* FLOAT: larger magnitudes are NaN */
    uint64_t nan;
    bool descending;
} Form;

static Form form_of(DType dt, bool descending)
{
    const DTypeInfo *info = tkc_dtype_info(dt);
    Form f = {ORDER_UNSIGNED, 0, 0, descending};
    if (info->kind == DK_INT) f.order = ORDER_SIGNED;
    if (info->kind != DK_FLOAT) return f;
    f.order = ORDER_FLOAT;
    f.nan = tkc_bits_from_double(dt, (double)NAN);
    f.infinity = ((1ull << info->exp_bits) - 1) << info->man_bits;
    if (dt == DT_F8E4) f.infinity = f.nan - 1; /* its largest number: it has no infinity */
    return f;
}

enum { FEW = 24, MANY = 1024, SMALL_DIGIT = 8, LARGE_DIGIT = 11, MOST_PASSES = 8 };

/* For keys of type T; S is the signed type. `room` is for n keys; the sorted keys are in the one or
   the other. */
#define SORT(BITS, T, S)                                                                           \
    static inline T key_##BITS(Form f, T x)                                                        \
    {                                                                                              \
        const T sign = (T)((T)1 << (BITS - 1));                                                    \
        T negative = (T)((S)x >> (BITS - 1)), magnitude = x & (T)~sign;                            \
        T key = f.order == ORDER_UNSIGNED ? x                                                      \
                : f.order == ORDER_SIGNED ? x ^ sign                                               \
                                          : x ^ (negative | sign);                                 \
        key = f.descending ? (T)~key : key;                                                        \
        return f.order == ORDER_FLOAT && magnitude > (T)f.infinity ? (T) ~(T)0 : key;              \
    }                                                                                              \
    static inline T element_##BITS(Form f, T key)                                                  \
    {                                                                                              \
        const T sign = (T)((T)1 << (BITS - 1));                                                    \
        key = f.descending ? (T)~key : key;                                                        \
        T negative = (T) ~(T)((S)key >> (BITS - 1));                                               \
        return f.order == ORDER_UNSIGNED ? key                                                     \
               : f.order == ORDER_SIGNED ? key ^ sign                                              \
                                         : key ^ (negative | sign);                                \
    }                                                                                              \
    static void insert_##BITS(T *keys, int64_t n)                                                  \
    {                                                                                              \
        for (int64_t i = 1; i < n; i++) {                                                          \
            T key = keys[i];                                                                       \
            int64_t k = i;                                                                         \
            for (; k > 0 && keys[k - 1] > key; k--) keys[k] = keys[k - 1];                         \
            keys[k] = key;                                                                         \
        }                                                                                          \
    }                                                                                              \
    static T *radix_##BITS(T *keys, T *room, int64_t n, int digit)                                 \
    {                                                                                              \
        uint32_t at[MOST_PASSES][1 << LARGE_DIGIT], mask = (1u << digit) - 1;                      \
        int passes = (BITS + digit - 1) / digit;                                                   \
        for (int p = 0; p < passes; p++) memset(at[p], 0, ((size_t)mask + 1) * sizeof **at);       \
        for (int64_t i = 0; i < n; i++)                                                            \
            for (int p = 0; p < passes; p++) at[p][keys[i] >> (p * digit) & mask]++;               \
        for (int p = 0; p < passes; p++) {                                                         \
            uint32_t before = 0;                                                                   \
            if (at[p][keys[0] >> (p * digit) & mask] == n) continue; /* all alike */               \
            for (uint32_t d = 0; d <= mask; d++) {                                                 \
                uint32_t count = at[p][d];                                                         \
                at[p][d] = before;                                                                 \
                before += count;                                                                   \
            }                                                                                      \
            for (int64_t i = 0; i < n; i++)                                                        \
                room[at[p][keys[i] >> (p * digit) & mask]++] = keys[i];                            \
            T *swap = keys;                                                                        \
            keys = room;                                                                           \
            room = swap;                                                                           \
        }                                                                                          \
        return keys;                                                                               \
    }                                                                                              \
    VECTOR static int64_t read_##BITS(Form f, T *restrict keys, const T *restrict x, int64_t n)    \
    {                                                                                              \
        int64_t nans = 0;                                                                          \
        for (int64_t i = 0; i < n; i++) keys[i] = key_##BITS(f, x[i]);                             \
        for (int64_t i = 0; i < n; i++) nans += (T)(x[i] & ~((T)1 << (BITS - 1))) > (T)f.infinity; \
        return f.order == ORDER_FLOAT ? nans : 0;                                                  \
    }                                                                                              \
    VECTOR static void write_##BITS(Form f, T *restrict out, const T *restrict keys, int64_t n)    \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) out[i] = element_##BITS(f, keys[i]);                       \
    }                                                                                              \
    static void sort_##BITS(Form f, void *out_, const void *x, int64_t n, void *room_)             \
    {                                                                                              \
        T *keys = room_, *room = keys + n, *out = out_;                                            \
        int64_t nans = read_##BITS(f, keys, x, n);                                                 \
        if (n <= FEW) insert_##BITS(keys, n);                                                      \
        else                                                                                       \
            keys = radix_##BITS(keys, room, n, n < MANY || BITS < 32 ? SMALL_DIGIT : LARGE_DIGIT); \
        write_##BITS(f, out, keys, n - nans);                                                      \
        for (int64_t i = n - nans; i < n; i++) out[i] = (T)f.nan;                                  \
    }
SORT(8, uint8_t, int8_t)
SORT(16, uint16_t, int16_t)
SORT(32, uint32_t, int32_t)
SORT(64, uint64_t, int64_t)

static void run_sort(Frame *f, const Insn *in)
{
    static void (*const sorts[])(Form, void *, const void *, int64_t, void *) = {
        [1] = sort_8, [2] = sort_16, [4] = sort_32, [8] = sort_64};
    const Slot *s = in->args[0];
    const Type *t = op_arg(in->op, 0)->type;
    Form form = form_of(s->dtype, tkc_op_int(in->op, ATTR_DESCENDING, 0));
    int64_t n = t->shape[t->rank - 1], bytes = n * s->size;
    const int64_t kept = tkc_op_int(in->op, ATTR_KEEP, n) * s->size;
    char *room = interp_scratch(f, (size_t)(4 * bytes)), *out = slot_data(f, in->results[0]);
    if (!room) return;
    char *row = room + 2 * bytes;
    const char *x = s->uniform ? row + bytes : slot_data(f, s);
    if (s->uniform) slot_expand(f, s, row + bytes, n);
    for (int64_t i = 0; i < s->count; i += n, out += kept, x += s->uniform ? 0 : bytes) {
        sorts[s->size](form, row, x, n, room);
        memcpy(out, row, (size_t)kept);
    }
}

InsnFn sort_fn(Insn *in)
{
    return in->args[0]->dtype != DT_NONE ? run_sort : NULL;
}
