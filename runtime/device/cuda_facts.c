/* What the driver tells of a device, a kernel and a stream. What it does not tell stays 0, or -1.
 */
#include "cuda_device.h"

enum { UNITS = 16 }; /* CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT */

void cuda_facts(TkcDevice *dev, TkcDeviceInfo *out)
{
    enum {
        CLOCK = 13,
        BUS_CLOCK = 36,
        BUS_BITS = 37,
        CACHE = 38,
        UNIT_THREADS = 39,
        UNIT_SHARED = 81,
        UNIT_REGISTERS = 82,
        UNIT_PROGRAMS = 106
    };
    const struct {
        int attribute, *to;
    } rows[] = {
        {UNITS, &out->units},
        {CLOCK, &out->clock_khz},
        {BUS_CLOCK, &out->memory_clock_khz},
        {BUS_BITS, &out->memory_bus_bits},
        {CACHE, &out->cache_bytes},
        {UNIT_THREADS, &out->unit_threads},
        {UNIT_SHARED, &out->unit_shared_bytes},
        {UNIT_REGISTERS, &out->unit_registers},
        {UNIT_PROGRAMS, &out->unit_programs},
    };
    Cuda *c = dev->state;
    size_t bytes = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (c->api.DeviceGetAttribute(rows[i].to, rows[i].attribute, c->device) != CU_OK)
            *rows[i].to = 0;
    out->shared_bytes = c->max_shared;
    if (c->api.DeviceTotalMem(&bytes, c->device) == CU_OK) out->memory_bytes = (int64_t)bytes;
}

void cuda_info(TkcDevice *dev, const DeviceKernel *k, TkcKernelInfo *out)
{
    Cuda *c = dev->state;
    int units;
    bool pushed;
    out->registers = k->registers;
    out->spill_bytes = k->spill_bytes;
    out->max_threads = out->unit_programs = out->programs = -1;
    if (cuda_enter(dev, c, &pushed) != TKC_OK) return;
    if (c->api.FuncGetAttribute(&out->max_threads, CU_FUNC_MAX_THREADS, k->function) != CU_OK)
        out->max_threads = -1;
    if (c->api.Occupancy(&out->unit_programs, k->function, (int)k->threads, k->shared) != CU_OK)
        out->unit_programs = -1;
    else if (c->api.DeviceGetAttribute(&units, UNITS, c->device) == CU_OK) /* at once; the clocks take the driver a millisecond */
        out->programs = out->unit_programs * units;
    cuda_leave(c, pushed);
}

/* The driver refuses to tell of a default stream while another one is captured: then nothing may be
   compiled either. */
bool cuda_captures(TkcDevice *dev, void *stream)
{
    Cuda *c = dev->state;
    CuCaptureStatus status = 0;
    bool pushed;
    int code = CU_OK;
    if (cuda_enter_quietly(dev, &pushed)) {
        code = c->api.StreamIsCapturing(stream, &status);
        cuda_leave(c, pushed);
    }
    return code == CU_CAPTURE_IMPLICIT || (code == CU_OK && status);
}
