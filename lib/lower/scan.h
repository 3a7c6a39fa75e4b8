/* What scan.c and carry.c share: the scan of what a warp holds of an axis. */
#pragma once

#include "lower/combine.h"

typedef struct Scan {
    Combine by;
    const Layout *layout;
    LayoutAxis axis;
    bool reverse;
    Partial *parts; /* by register */
    Partial *ends;  /* by register that a segment of several lanes begins with: what its last lane
                       has,  in its first; x NULL: not fetched */
} Scan;

/* Without parts. */
Scan scan_of(Lower *L, Combine by, const Layout *layout);
/* True where a padded element may meet a real one. */
bool scan_meets_padding(const Scan *s);
/* Parts become scans of segments of 2^end elements. */
void scan_segments_of(Lower *L, Scan *s, int end);
/* The register is the first of those that hold its segment of 2^bit elements in its thread. */
bool scan_begins(const Scan *s, uint32_t reg, int bit);
/* Combines what comes before them into the registers of that segment. */
void scan_combine_before(Lower *L, Scan *s, Partial before, uint32_t reg, int bit);
