/* The tensor maps of a launch, made of its arguments (tkc/edge.h). What they ask for of alignment
   the launch has checked already. */
#include "cuda_device.h"
#include "jit/manifest.h"
#include "tkc/text.h"

enum { ALIGN = 16 };

static int64_t number_of(const TkcNumber *n, const Manifest *of, const LaunchPack *pack)
{
    uint64_t x = (uint64_t)n->value;
    for (int i = 0; i < TKC_FACTORS && n->param[i] >= 0; i++) x *= manifest_value(&of->params[n->param[i]], pack->values);
    return n->bits == 32 ? (int32_t)x : (int64_t)x;
}

/* Of a matrix without an element the kernel reads nothing: the map is of some other. */
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

/* In the driver's order: the inner dim first. */
typedef struct Tensor {
    uint64_t dim[TKC_DESCRIPTOR_RANK], step[TKC_DESCRIPTOR_RANK]; /* elements; bytes, of dim 1 and on */
    bool is_empty;
} Tensor;

static TkcStatus refuse_extents(TkcDevice *dev, const char *name, const int64_t *extent,
                                int64_t rank)
{
    char shape[32 * TKC_DESCRIPTOR_RANK];
    Text t = {shape, sizeof shape, 0};
    for (int64_t d = rank - 1; d >= 0; d--)
        text_put(&t, "%lld%s", (long long)extent[d], d ? ", " : "");
    return tkc_refuse(dev->cx, TKC_ERROR,
                      "argument '%s': by TMA the kernel has a tensor of shape [%s] of it; extents "
                      "must be at most 2^31 - 16",
                      name, shape);
}

static TkcStatus read_extents(TkcDevice *dev, const TkcTensorMap *m, const Manifest *of,
                              const LaunchPack *pack, Tensor *t)
{
    int64_t n[TKC_DESCRIPTOR_RANK];
    bool fits = true;
    for (int64_t d = 0; d < m->rank; d++) {
        n[d] = number_of(&m->extent[d], of, pack);
        t->dim[d] = extent(n[d]);
        t->is_empty |= n[d] < 1;
        fits &= n[d] <= TKC_MAP_EXTENTS;
    }
    return fits ? TKC_OK : refuse_extents(dev, of->params[m->base].name, n, m->rank);
}

static TkcStatus read_strides(TkcDevice *dev, const TkcTensorMap *m, const Manifest *of,
                              const LaunchPack *pack, Tensor *t)
{
    static const char *const dims[] = {"rows", "matrices"};
    for (int64_t d = 0; d < m->rank - 1; d++) {
        const int64_t stride = number_of(&m->stride[d], of, pack);
        t->step[d] = t->is_empty ? ALIGN : (uint64_t)(stride * m->bytes);
        if (t->is_empty) continue;
        if (stride < 0 || stride >= TKC_MAP_STRIDES / m->bytes || stride * m->bytes % ALIGN)
            return tkc_refuse(dev->cx, TKC_ERROR,
                              "argument '%s': by TMA the kernel has a tensor of it whose %s are "
                              "%lld elements apart; they must be 0 to 2^40 - 1 bytes apart, and "
                              "a multiple of 16",
                              of->params[m->base].name, dims[d > 0], (long long)stride);
    }
    return TKC_OK;
}

static TkcStatus encode(TkcDevice *dev, const TkcTensorMap *m, const Manifest *of,
                        const LaunchPack *pack, CuTensorMap *out)
{
    static const uint32_t each[TKC_DESCRIPTOR_RANK] = {1, 1, 1, 1, 1};
    const uint32_t box[TKC_DESCRIPTOR_RANK] = {(uint32_t)m->box_columns, (uint32_t)m->box_rows, 1, 1, 1};
    const uint64_t given = manifest_value(&of->params[m->base], pack->values);
    Cuda *c = dev->state;
    Tensor t = {0};
    TkcStatus status = read_extents(dev, m, of, pack, &t);
    if (status == TKC_OK) status = read_strides(dev, m, of, pack, &t);
    if (status != TKC_OK) return status;
    return CALL(c, dev, TensorMapEncodeTiled, (struct TensorMap *)out, type_of(m->bytes),
                (uint32_t)m->rank, (void *)(uintptr_t)(given ? given : ALIGN), t.dim, t.step, box, each,
                CU_TENSOR_INTERLEAVE_NONE, swizzle_of(m->swizzle), CU_TENSOR_PROMOTION_128B,
                CU_TENSOR_FILL_ZEROS);
}

TkcStatus cuda_tensor_maps(TkcDevice *dev, const DeviceKernel *k, const LaunchPack *pack,
                           CuTensorMap *out)
{
    TkcStatus status = TKC_OK;
    for (int i = 0; i < k->manifest->nmaps && status == TKC_OK; i++)
        status = encode(dev, &k->manifest->maps[i], k->manifest, pack, &out[i]);
    return status;
}
