/* Tensor descriptors as arguments of a launch. */
#ifndef TKC_RUNTIME_DESCRIPTOR_H
#define TKC_RUNTIME_DESCRIPTOR_H

#include "jit/launch.h"

/* Whether one can be passed for the parameter, and its type and rank; once for each key. */
TkcStatus descriptor_check(const TkcJit *jit, const OpenParam *p, const TkcArg *arg);
/* The type's text to compile for. */
const char *descriptor_type(const OpenParam *p, const TkcArg *arg);
/* One of the parameters that the compiled kernel takes for a descriptor. Base, shape and strides
   are checked with the pointer, which comes first. */
TkcStatus descriptor_pack(const TkcJit *jit, const ManifestParam *p, const TkcArg *arg,
                          LaunchArg *out);

#endif
