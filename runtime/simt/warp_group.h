/* wgmma: products of a warp group that run on while the warp does something else. */
#ifndef TKC_SIMT_WARP_GROUP_H
#define TKC_SIMT_WARP_GROUP_H

#include "machine.h"

/* While w->in_flight: whether the instruction leaves alone what products in flight own. False: the
   fault is told. */
bool warp_group_allows(Warp *w, const SimtInsn *in);
void warp_group_reset(Warp *w); /* nothing is in flight */
void warp_group_free(Warp *w);

#endif
