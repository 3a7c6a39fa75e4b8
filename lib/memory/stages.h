/* Stages of a loop that loads ahead, and the room for its rings. */
#pragma once

#include "memory/stream.h"

/* Of one turn's copies. */
int64_t stages_bytes(const Streams *s);
/* Bytes for rings that are made before `loop`, the streams' own or one around it: beside all other
   buffers that live at the same time. */
int64_t stages_room(const Streams *s, const Op *loop);
/* How many turns' copies there is room for, beside what else its products read, if two of them fit so. */
int stages_fit(const Streams *s, const Op *loop);
/* As many as are wanted and fit. Below 2: nothing can come ahead. */
int stages_of(const Streams *s, const Op *loop);
/* Of a ring; no more than the loop has turns. */
int stages_copies(const Op *loop, int stages);
