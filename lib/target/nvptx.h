/* NVIDIA GPUs, through PTX. */
#ifndef TKC_TARGET_NVPTX_H
#define TKC_TARGET_NVPTX_H

#include "lower/target.h"

extern const Target nvptx_target;

#endif
