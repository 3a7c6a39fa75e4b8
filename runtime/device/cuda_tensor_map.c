/* The tensor maps of a launch, made of its arguments (tkc/edge.h). What they ask for of alignment
   the launch has checked already. */
#include "cuda_device.h"
#include "jit/manifest.h"

enum { ALIGN = 16 };
#define MOST_EXTENT (INT64_C(1) << 32)
#define MOST_STRIDE (INT64_C(1) << 40) /* bytes */

static int64_t number_of(const TkcNumber *n, const Manifest *of, const LaunchPack *pack)
{
    uint64_t x = (uint64_t)n->value;
    for (int i = 0; i < TKC_FACTORS && n->param[i] >= 0; i++) x *= manifest_value(&of->params[n->param[i]], pack->values);
    return n->bits == 32 ? (int32_t)x : (int64_t)x;
}

/* Of a matrix without rows or columns the kernel reads nothing: the map is of some other. */
static uint64_t extent(int64_t n)
{
    return n < 1 ? 1 : (uint64_t)n;
}

static CuTensorType type_of(int64_t bytes)
{
    return bytes == 1   ? CU_TENSOR_UINT8
           : bytes == 2 ? CU_TENSOR_UINT16
           : bytes == 4 ? CU_TENSOR_UINT32
                        : CU_TENSOR_UINT64;
}

static CuTensorSwizzle swizzle_of(int64_t bytes)
{
    return CU_TENSOR_SWIZZLE_32B + (bytes > 32) + (bytes > 64);
}

static TkcStatus encode(TkcDevice *dev, const TkcTensorMap *m, const Manifest *of,
                        const LaunchPack *pack, CuTensorMap *out)
{
    Cuda *c = dev->state;
    const int64_t rows = number_of(&m->rows, of, pack), columns = number_of(&m->columns, of, pack),
                  stride = number_of(&m->stride, of, pack);
    const bool is_empty = rows < 1 || columns < 1;
    const char *name = of->params[m->base].name;
    const uint64_t given = manifest_value(&of->params[m->base], pack->values), base = given ? given : ALIGN;
    if (rows > MOST_EXTENT || columns > MOST_EXTENT)
        return tkc_refuse(dev->cx, TKC_ERROR,
                          "argument '%s': the kernel makes a descriptor of shape [%lld, %lld] of "
                          "it; extents must be at most 2^32",
                          name, (long long)rows, (long long)columns);
    if (!is_empty && (stride < 0 || stride >= MOST_STRIDE / m->bytes))
        return tkc_refuse(dev->cx, TKC_ERROR,
                          "argument '%s': the kernel makes a descriptor of it whose rows are %lld "
                          "elements apart; they must be less than 2^40 bytes apart",
                          name, (long long)stride);
    const uint64_t dim[] = {extent(columns), extent(rows)},
                   step[] = {is_empty ? ALIGN : (uint64_t)(stride * m->bytes)};
    const uint32_t box[] = {(uint32_t)m->box_columns, (uint32_t)m->box_rows}, each[] = {1, 1};
    return CALL(c, dev, TensorMapEncodeTiled, (struct TensorMap *)out, type_of(m->bytes), 2,
                (void *)(uintptr_t)base, dim, step, box, each, CU_TENSOR_INTERLEAVE_NONE,
                swizzle_of(m->swizzle), CU_TENSOR_PROMOTION_128B, CU_TENSOR_FILL_ZEROS);
}

TkcStatus cuda_tensor_maps(TkcDevice *dev, const DeviceKernel *k, const LaunchPack *pack,
                           CuTensorMap *out)
{
    TkcStatus status = TKC_OK;
    for (int i = 0; i < k->manifest->nmaps && status == TKC_OK; i++)
        status = encode(dev, &k->manifest->maps[i], k->manifest, pack, &out[i]);
    return status;
}
