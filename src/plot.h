/* Curves as an SVG file, as Triton's perf_report draws them. */
#ifndef TKC_SRC_PLOT_H
#define TKC_SRC_PLOT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

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

#endif
