/* The same as first_result.c with the driver alone, from a cubin: first_bare K.cubin THREADS SHARED */
#include <stdint.h>

#include "driver.h"
#include "first_result.h"

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *bytes = calloc(1, 1 << 24);
    if (!f || !bytes || !fread(bytes, 1, (1 << 24) - 1, f)) exit(1);
    fclose(f);
    return bytes;
}

int main(int argc, char **argv)
{
    CuDevice device;
    CuContext context;
    CuModule module;
    CuFunction function;
    CuPointer x, y;
    int32_t stride = STRIDE, width = WIDTH;
    static float in[ROWS * STRIDE], out[ROWS * STRIDE];
    const double start = now_ms();
    if (argc != 4) return 2;
    driver_open();
    DRIVER_MUST(Init, 0);
    DRIVER_MUST(DeviceGet, &device, 0);
    const double driver = now_ms();
    DRIVER_MUST(DevicePrimaryCtxRetain, &context, device);
    DRIVER_MUST(CtxPushCurrent, context);
    DRIVER_MUST(MemAlloc, &x, sizeof in);
    DRIVER_MUST(MemAlloc, &y, sizeof out);
    DRIVER_MUST(MemcpyHtoD, x, in, sizeof in);
    const double ready = now_ms();
    DRIVER_MUST(ModuleLoadDataEx, &module, read_file(argv[1]), 0, NULL, NULL);
    DRIVER_MUST(ModuleGetFunction, &function, module, "softmax_masked");
    const double loaded = now_ms();
    void *params[] = {&y, &x, &stride, &stride, &width};
    DRIVER_MUST(LaunchKernel, function, ROWS, 1, 1, (unsigned)atoi(argv[2]), 1, 1, (unsigned)atoi(argv[3]), NULL, params, NULL);
    DRIVER_MUST(MemcpyDtoH, out, y, sizeof out);
    is_right(out);
    printf("driver %.1f, context %.1f, kernel %.1f, run %.1f\n", driver - start, ready - driver, loaded - ready, now_ms() - loaded);
    return 0;
}
