/* How floats round, and what becomes of subnormals, is the caller's to choose, but not for us: what is
   folded, converted and computed has to be the same whoever calls. Setting all of it takes longer
   than a launch's arguments; where it is as it has to be, as almost always, only flags are put back. */
#ifndef TKC_FLOAT_ENV_H
#define TKC_FLOAT_ENV_H

#include <fenv.h>
#include <stdbool.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

typedef struct FloatEnv {
    bool is_set;
    unsigned control; /* the caller's, flags included; where nothing is set */
    fenv_t callers;
} FloatEnv;

static inline void float_env_enter(FloatEnv *e)
{
#if defined(__SSE2__)
    enum { FLAGS = 0x3f, USUAL = 0x1f80 }; /* of MXCSR: to nearest, no traps, subnormals are kept */
    e->control = _mm_getcsr();
    e->is_set = (e->control & ~(unsigned)FLAGS) != USUAL;
    if (!e->is_set) return;
#else
    e->is_set = true;
#endif
    fegetenv(&e->callers);
    fesetenv(FE_DFL_ENV);
}

static inline void float_env_leave(const FloatEnv *e)
{
    if (e->is_set) fesetenv(&e->callers);
#if defined(__SSE2__)
    else if (_mm_getcsr() != e->control) _mm_setcsr(e->control);
#endif
}

#endif
