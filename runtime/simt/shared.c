/* The order of what threads do with shared memory. */
#include "shared.h"

bool shared_touch(Warp *w, const SimtInsn *in, LaneMask m, const uint32_t *offset, uint32_t bytes,
                  SimtTouch touch)
{
    (void)w, (void)in, (void)m, (void)offset, (void)bytes, (void)touch;
    return true;
}

void shared_warp_sync(Warp *w, LaneMask m)
{
    (void)w, (void)m;
}

void shared_arrive(Warp *w, int barrier)
{
    (void)w, (void)barrier;
}

void shared_leave(Warp *w, int barrier)
{
    (void)w, (void)barrier;
}

void shared_proxy_fence(Warp *w, LaneMask m)
{
    (void)w, (void)m;
}
