/* VECTOR: before a function whose loop is compiled for the vector units of newer x86 processors
   too; which of the two runs is settled when the program starts. Both give the same bits: products
   and sums are never contracted. Elsewhere, and under sanitizers, which cannot have functions
   chosen so early, nothing. */
#ifndef TKC_VECTOR_H
#define TKC_VECTOR_H

#include <stdlib.h> /* for __GLIBC__ */

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) &&       \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if __GNUC__ >= 12 && defined(NDEBUG)
#define VECTOR __attribute__((target_clones("arch=x86-64-v3", "default")))
#endif
#endif
#ifndef VECTOR
#define VECTOR
#endif

#endif
