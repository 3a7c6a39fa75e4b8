/* What the parts of -bench share. */
#pragma once

#include "options.h"

/* ---- sweep.c: a name that stands for one number after the other, -sweep N=2^10..2^26 ---- */
enum { SWEEP_MOST = 256 };
typedef struct Sweep {
    char name[64];
    int n;
    int64_t values[SWEEP_MOST];
} Sweep;

/* "N=2^10..2^26", "N=128..4096+128", "N=1,5,2^7". False: the text is none, said. */
bool sweep_read(Sweep *s, const char *text);
/* Where values of arguments and of -D are expressions of the name, and extents of arrays, the numbers
   that they are for value i. False: one of them has none, said. */
bool sweep_apply(const Sweep *s, int i, Options *o);

/* ---- plot.c: curves as an SVG file, as Triton's perf_report draws them ---- */
/* A value and the band around it. */
typedef struct PlotPoint { double value, low, high; } PlotPoint;
typedef struct Plot {
    const char *title, *x_name, *y_name;
    int npoints, ncurves;
    const int64_t *x;            /* ascending or not; each at least 1 where they go over a wide range */
    const char *const *labels;   /* of the curves */
    const PlotPoint *points;     /* those of a curve one after the other */
} Plot;
void plot_write(FILE *out, const Plot *p);
