/* What a kernel is asked for by, in full, as text: equal texts give the same code as long as the files
   that imports read are the same. */
#ifndef TKC_RUNTIME_REQUEST_H
#define TKC_RUNTIME_REQUEST_H

#include "bytes.h"
#include "device/device.h"

/* False when nothing tells this build of the library from others, so that its kernels cannot be
   kept. */
bool request_write(Bytes *out, const TkcDevice *dev, const TkcSource *source, const TkcOptions *o);

#endif
