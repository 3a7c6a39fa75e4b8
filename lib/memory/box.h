/* Boxes of matrices that TMA copies. */
#pragma once

#include "analysis/axis.h"
#include "ir/tile.h"

/* No more rows than a box has, and neither these nor columns that a buffer would have more of; and rows
   that begin at multiples of 16 bytes: what begins elsewhere is an illegal instruction to an H200. */
bool box_is_one(AxisFacts *facts, const Tile *t);
