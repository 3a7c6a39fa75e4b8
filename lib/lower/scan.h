/* What scan.c and carry.c share: the scan of what a warp holds of an axis. */
#pragma once

#include "lower/combine.h"

typedef struct Scan {
    Combine by;
    const Layout *layout;
    LayoutAxis axis;
    bool reverse;
    int stretch;     /* the lowest bits of the axis, as many as registers hold; elements that agree
                        in all others are a stretch, of one thread */
    Partial *parts;  /* by register: its stretch up to it */
    Partial *before; /* by register that a stretch begins with: what comes before that; x NULL:
                        nothing yet. Where a stretch is one element: parts */
    Partial *last;   /* likewise: the stretch's last part, with what comes before; x NULL: not known */
    Partial *ends;   /* by register that a segment of several lanes begins with: what its last lane
                        has, in its first; x NULL: not fetched */
} Scan;

/* Without parts. */
Scan scan_of(Lower *L, Combine by, const Layout *layout);
/* What the scan has found whose segments the carry takes, and changes: they have no other. */
Scan *scan_of_carry(Lower *L, const Op *carry);
/* True where a padded element may meet a real one. */
bool scan_meets_padding(const Scan *s);
/* Parts become scans of segments of 2^end elements. */
void scan_segments_of(Lower *L, Scan *s, int end);
/* The register is the first of those that hold its segment of 2^bit elements in its thread. */
bool scan_begins(const Scan *s, uint32_t reg, int bit);
/* So much more comes before the registers of that segment. */
void scan_put_before(Lower *L, Scan *s, Partial before, uint32_t reg, int bit);
/* Of the op: its first results, the parts with what comes before them. */
void scan_set_results(Lower *L, const Scan *s);
