/* Masks that a loop uses and none of its turns changes. */
#pragma once

#include "lower/lower.h"

typedef struct Masks Masks;

/* At the beginning of a turn: those that would take predicates which the turn needs are compared
   again in it. Behind the loop they are what they were. */
Masks *lower_masks_again(Lower *L, Region *loop);
void lower_masks_restore(Lower *L, const Masks *m);
