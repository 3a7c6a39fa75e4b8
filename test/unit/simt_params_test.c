/* A launch's parameters in one buffer: they lie there as PTX has them, but for a kernel that aligns one of them more than a
   chip's parameters are, which the emulated driver refuses: there the machine code decides. */
#include "simt/driver.h"
#include "expect.h"

#define HEAD ".version 8.0\n.target sm_75\n.address_size 64\n"

static const char numbers[] =
    HEAD ".visible .entry k(.param .u8 a,.param .u64 .ptr .global .align 16 p,.param .u16 b,.param .u32 c)\n{\n"
         ".reg .b32 %r<4>;\n.reg .b64 %d<3>;\n"
         "ld.param.u64 %d1,[p];\ncvta.to.global.u64 %d2,%d1;\nld.param.u8 %r1,[a];\nld.param.u16 %r2,[b];\nld.param.u32 %r3,[c];\n"
         "st.global.u32 [%d2],%r1;\nst.global.u32 [%d2+4],%r2;\nst.global.u32 [%d2+8],%r3;\nret;\n}\n";
static const char aligned[] = HEAD ".visible .entry k(.param .u32 a,.param .align 64 .b8 m[128])\n{\nret;\n}\n";

static CuFunction function_of(const char *ptx)
{
    CuModule module;
    CuFunction f = NULL;
    EXPECT_INT(DRIVER(cuModuleLoadDataEx)(&module, ptx, 0, NULL, NULL), CU_OK);
    EXPECT_INT(DRIVER(cuModuleGetFunction)(&f, module, "k"), CU_OK);
    return f;
}

static CuResult launch(CuFunction f, void **params, void **buffer)
{
    CuResult result = DRIVER(cuLaunchKernel)(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, buffer);
    EXPECT_INT(DRIVER(cuCtxSynchronize)(), CU_OK);
    return result;
}

static CuResult launch_buffer(CuFunction f, void *bytes, size_t size)
{
    void *buffer[] = {CU_LAUNCH_BUFFER, bytes, CU_LAUNCH_BUFFER_SIZE, &size, CU_LAUNCH_END};
    return launch(f, NULL, buffer);
}

static void as_in_ptx(void)
{
    struct { uint8_t a; uint64_t p; uint16_t b; uint32_t c; } given = {200, 0, 60000, 4000000000u};
    uint32_t got[3];
    CuPointer memory;
    CuFunction f = function_of(numbers);
    EXPECT_INT(DRIVER(cuMemAlloc_v2)(&memory, sizeof got), CU_OK);
    given.p = memory;
    EXPECT_INT(launch_buffer(f, &given, sizeof given), CU_OK);
    EXPECT_INT(DRIVER(cuMemcpyDtoH_v2)(got, memory, sizeof got), CU_OK);
    EXPECT(got[0] == 200 && got[1] == 60000 && got[2] == 4000000000u);
    EXPECT(launch_buffer(f, &given, sizeof given - 1) != CU_OK);
}

static void not_where_a_chip_decides(void)
{
    enum { NOT_SUPPORTED = 801 }; /* CUDA_ERROR_NOT_SUPPORTED */
    _Alignas(64) unsigned char bytes[64 + 128] = {0};
    CuFunction f = function_of(aligned);
    EXPECT_INT(launch_buffer(f, bytes, sizeof bytes), NOT_SUPPORTED);
    EXPECT_INT(launch(f, (void *[]){bytes, bytes + 64}, NULL), CU_OK);
}

int main(void)
{
    CuContext context;
    EXPECT_INT(DRIVER(cuInit)(0), CU_OK);
    EXPECT_INT(DRIVER(cuDevicePrimaryCtxRetain)(&context, 0), CU_OK);
    EXPECT_INT(DRIVER(cuCtxPushCurrent_v2)(context), CU_OK);
    RUN(as_in_ptx);
    RUN(not_where_a_chip_decides);
    EXPECT_INT(DRIVER(cuDevicePrimaryCtxRelease_v2)(0), CU_OK);
    return expect_done();
}
