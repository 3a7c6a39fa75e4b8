/* Any bytes as a .npy file, any text as a selection: npy_fuzz, with the options of cases.h.
   A file is refused with a reason and nothing left behind, or becomes an array that is whole, that a
   file and back is the same, and that agrees with itself. A selection is refused with a reason, or its
   elements are the array's. */
#include <unistd.h>

#include "array.h"
#include "cases.h"
#include "tkc/edge.h"

enum { MOST = 4096 };

typedef struct Bytes { unsigned char data[MOST]; size_t len; } Bytes;

/* Allocations that cannot be are for the code under test to refuse. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:max_allocation_size_mb=64";
}

static const char *const headers[] = {
    "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }",
    "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (2, 3)}",
    "{'descr': '|b1', 'fortran_order': False, 'shape': (7,), }",
    "{'descr': '<i8', 'fortran_order': True, 'shape': (5,), }",
    "{'descr': '|V2', 'fortran_order': False, 'shape': (2, 2, 2), }",
    "{'descr': '>f4', 'fortran_order': False, 'shape': (3,), }",
    "{'descr': [('a', '<f4'), ('b', '<i4')], 'fortran_order': False, 'shape': (3,), }",
    "{'descr': '<U3', 'fortran_order': False, 'shape': (), }",
    "{'descr': '|O', 'fortran_order': False, 'shape': (3L,), }",
    "{'shape': (4611686018427387904, 4), 'fortran_order': False, 'descr': '<f2'}",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (1,0,1,2,1,1,1,1), }",
    "{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999,), }",
};
static const char *const pieces[] = {
    "descr", "'", "\"", "(", ")", ",", "-1", "0", "0x10", "9223372036854775807", "1e3", "None",
    "'<f4'", "'|i1'", "<f2", ">u1", "=f4", "|V1", "[", "]", "{", "}", ":", "shape", "True", "False",
    "fortran_order", "\n", "  ", "\\", "\x93NUMPY", "\1\0", "(((", "2,", "L", "+3",
};
static const char *const selections[] = {
    "", "[0:4,::2]", "[-1]", "[...,0]", "[::-1]", "[5:1:-2,...]", "[1:2:9223372036854775807]",
    "[-9223372036854775808:]", "[ 1 , 2 ]", "[]", "[0,0,0,0,0,0,0,0]", "[::0]",
};

static void put(Bytes *b, const void *data, size_t n)
{
    if (n > MOST - b->len)
        n = MOST - b->len;
    memcpy(b->data + b->len, data, n);
    b->len += n;
}

/* A whole file around a header. */
static void make_file(Bytes *b)
{
    const char *text = ONE_OF(headers);
    size_t len = strlen(text), padded = (10 + len + 64) / 64 * 64 - 10;
    unsigned char head[12] = "\x93NUMPY\1";
    bool is_long = draw(4) == 0;
    head[6] = (unsigned char)(is_long ? 2 + draw(2) : 1);
    head[8] = (unsigned char)(padded & 255);
    head[9] = (unsigned char)(padded >> 8);
    b->len = 0;
    put(b, head, is_long ? 12 : 10);
    put(b, text, len);
    for (; len < padded; len++)
        put(b, len + 1 == padded ? "\n" : " ", 1);
    for (uint32_t i = draw(100); i > 0; i--)
        put(b, &(unsigned char){(unsigned char)draw(256)}, 1);
}

static void splice(unsigned char *data, size_t *len, size_t cut, const char *piece, size_t n)
{
    size_t at = draw((uint32_t)(*len + 1));
    if (cut > *len - at)
        cut = *len - at;
    if (*len - cut + n > MOST)
        return;
    memmove(data + at + n, data + at + cut, *len - at - cut);
    memcpy(data + at, piece, n);
    *len += n - cut;
}

static void mutate(unsigned char *data, size_t *len)
{
    const char *piece = ONE_OF(pieces);
    switch (draw(5)) {
    case 0: splice(data, len, 1 + draw(30), "", 0); break;
    case 1: splice(data, len, draw(4), piece, strlen(piece)); break;
    case 2:
        if (*len)
            data[draw((uint32_t)*len)] = (unsigned char)draw(256);
        break;
    case 3:
        if (*len)
            data[draw((uint32_t)*len)] ^= (unsigned char)(1 << draw(8));
        break;
    default: *len = draw((uint32_t)(*len + 1)); break;
    }
}

static void require(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void select_part(const Array *a, FILE *sink)
{
    char text[MOST + 1], why[256] = "";
    const char *seed = ONE_OF(selections);
    size_t len = strlen(seed);
    memcpy(text, seed, len);
    for (uint32_t i = draw(3); i > 0; i--)
        mutate((unsigned char *)text, &len);
    text[len] = 0;
    View v;
    if (!array_view(a, text, &v, why, sizeof why)) {
        require(*why, "a selection is refused without a reason");
        return;
    }
    int64_t least = v.offset, most = v.offset, count = 1;
    for (int d = 0; d < v.rank; d++) {
        int64_t way = (v.shape[d] - 1) * v.stride[d];
        least += way < 0 ? way : 0;
        most += way > 0 ? way : 0;
        count *= v.shape[d];
    }
    require(!count || (least >= 0 && most < a->count), "a selection leaves the array");
    if (count < 1000)
        array_print(sink, a, &v, draw(2));
}

/* What was written comes back; what is the same agrees. */
static void use(const Array *a, const char *path)
{
    char why[256];
    Array again;
    Difference d;
    bool is_named = a->dtype != DT_BF16 && a->dtype != DT_F8E4 && a->dtype != DT_F8E5;
    require(array_save(a, path, why, sizeof why), "an array cannot be written");
    require(array_load(&again, path, is_named ? DT_NONE : a->dtype, why, sizeof why),
            "what was written cannot be read");
    require(again.count == a->count && again.rank == a->rank && again.bytes == a->bytes &&
                !memcmp(again.data, a->data, a->bytes),
            "what was written is not what is read");
    require(array_compare(a, &again, (Tolerance){0, 0}, &d) && !d.count,
            "an array does not agree with itself");
    array_free(&again);
}

/* In memory: disks are slow. */
static int input;
static char input_path[40];

static void write_file(const Bytes *b)
{
    require(ftruncate(input, 0) == 0 && pwrite(input, b->data, b->len, 0) == (ssize_t)b->len,
            "the file cannot be written");
}

/* Whether it was taken for an array. */
static bool exercise(const Bytes *b, const char *path, FILE *sink)
{
    static const DType types[] = {DT_NONE, DT_NONE, DT_BF16, DT_F8E4, DT_F32, DT_I1};
    char why[256] = "";
    Array a = {0};
    write_file(b);
    if (!array_load(&a, input_path, ONE_OF(types), why, sizeof why)) {
        require(*why, "a file is refused without a reason");
        return false;
    }
    int64_t count = 1;
    for (int d = 0; d < a.rank; d++)
        count *= a.shape[d];
    require(count == a.count && a.bytes == (size_t)count * tkc_dtype_info(a.dtype)->bytes &&
                a.bytes <= b->len,
            "an array is larger than its file");
    for (int64_t i = 0; a.dtype == DT_I1 && i < a.count; i++)
        require(array_bits(&a, i) <= 1, "a bool is neither False nor True");
    for (int i = 0; i < 4; i++)
        select_part(&a, sink);
    use(&a, path);
    array_free(&a);
    return true;
}

/* ---- cases ---- */

enum { COUNT_ARRAYS = COUNT_FIRST_OWN };
static char path[64];
static FILE *sink;

static void make_case(int number, Bytes *b)
{
    begin_case(number);
    make_file(b);
    for (uint32_t i = draw(6); i > 0; i--)
        mutate(b->data, &b->len);
}

static void run_case(int number)
{
    Bytes b;
    make_case(number, &b);
    counts[COUNT_ARRAYS] += exercise(&b, path, sink);
}

static void show_case(int number)
{
    Bytes b;
    make_case(number, &b);
    fprintf(stderr, "case %d, %zu bytes:\n", number, b.len);
    for (size_t i = 0; i < b.len; i++)
        fprintf(stderr, "%02x%s", b.data[i], i % 32 == 31 || i + 1 == b.len ? "\n" : "");
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/npy_fuzz-XXXXXX";
    Cases cases = {.count = 3000, .run = run_case, .show = show_case};
    for (int i = 1; i < argc; i++)
        if (!read_case_option(&cases, argc, argv, &i))
            return 2;
    sink = fopen("/dev/null", "w");
    if (!sink || !mkdtemp(folder))
        return 2;
    snprintf(path, sizeof path, "%s/x.npy", folder);
    input = memfd_create("x.npy", 0);
    snprintf(input_path, sizeof input_path, "/proc/self/fd/%d", input);
    bool ok = run_cases(&cases);
    fclose(sink);
    remove(path);
    rmdir(folder);
    if (!ok || cases.only_show)
        return ok ? 0 : 2;
    printf("%d files, %d of them arrays, %d failures\n", counts[COUNT_DONE], counts[COUNT_ARRAYS],
           counts[COUNT_FAILED]);
    return counts[COUNT_FAILED] != 0 || counts[COUNT_ARRAYS] == 0;
}
