/* The loops for x86 processors with AVX2, FMA and F16C. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("arch=x86-64-v3")
#define SIMT_LOOPS simt_loops_wide
#include "loops_rows.h"
#else
const LoopRow simt_loops_wide[] = {{0}};
#endif
