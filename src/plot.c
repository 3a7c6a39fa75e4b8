#include "bench.h"

#include <math.h>
#include <stddef.h>

enum { WIDTH = 720, HEIGHT = 480, LEFT = 80, RIGHT = 700, TOP = 50, BOTTOM = 420, COLORS = 8 };
static const char *const colors[COLORS] = {"#1f77b4", "#2ca02c", "#d62728", "#9467bd",
                                           "#ff7f0e", "#17becf", "#8c564b", "#7f7f7f"};

/* Where values are drawn. */
typedef struct Scale {
    double x_from, x_to, y_to; /* x: logarithms, when is_log */
    bool is_log;
} Scale;

/* 1, 2 or 5 times a power of ten, of which about `n` make the range. */
static double tick_step(double range, int n)
{
    const double raw = range / n, ten = pow(10, floor(log10(raw)));
    return raw <= ten ? ten : raw <= 2 * ten ? 2 * ten : raw <= 5 * ten ? 5 * ten : 10 * ten;
}

static Scale scale_of(const Plot *p)
{
    int64_t least = p->x[0], most = p->x[0];
    double top = 0;
    for (int i = 1; i < p->npoints; i++) {
        least = p->x[i] < least ? p->x[i] : least;
        most = p->x[i] > most ? p->x[i] : most;
    }
    for (int i = 0; i < p->npoints * p->ncurves; i++) top = fmax(top, p->points[i].high);
    Scale s = {.is_log = least > 0 && most / least >= 16};
    s.x_from = s.is_log ? log2((double)least) : (double)least;
    s.x_to = s.is_log ? log2((double)most) : (double)most;
    if (s.x_to <= s.x_from) s.x_from -= 1, s.x_to += 1;
    const double step = tick_step(top > 0 ? top : 1, 6);
    s.y_to = ceil((top > 0 ? top : 1) / step) * step;
    return s;
}

static double x_of(const Scale *s, double x)
{
    const double at = s->is_log ? log2(x) : x;
    return LEFT + (RIGHT - LEFT) * (at - s->x_from) / (s->x_to - s->x_from);
}

static double y_of(const Scale *s, double y)
{
    return BOTTOM - (BOTTOM - TOP) * y / s->y_to;
}

static void put_text(FILE *out, const char *text)
{
    for (; *text; text++)
        if (*text == '&') fputs("&amp;", out);
        else if (*text == '<') fputs("&lt;", out);
        else if ((unsigned char)*text >= ' ') fputc(*text, out);
}

static void put_label(FILE *out, double x, double y, const char *more, const char *text)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y, more);
    put_text(out, text);
    fputs("</text>\n", out);
}

/* ---- axes ---- */

static void put_x_tick(FILE *out, const Scale *s, double value)
{
    const double x = x_of(s, value), power = log2(value);
    fprintf(out,
            "<path class=\"grid\" d=\"M%.1f %dV%d\"/><path class=\"axis\" d=\"M%.1f %dv5\"/>\n", x,
            BOTTOM, TOP, x, BOTTOM);
    fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">", x, BOTTOM + 20);
    if (s->is_log && power == floor(power) && power >= 10)
        fprintf(out, "2<tspan dy=\"-5\" font-size=\"9\">%.0f</tspan></text>\n", power);
    else fprintf(out, "%.6g</text>\n", value);
}

static void put_axes(FILE *out, const Plot *p, const Scale *s)
{
    enum { TICKS = 10 };
    const double y_step = tick_step(s->y_to, 6);
    for (int i = 0; i * y_step <= s->y_to * 1.001; i++) {
        char text[32];
        const double y = y_of(s, i * y_step);
        fprintf(
            out,
            "<path class=\"grid\" d=\"M%d %.1fH%d\"/><path class=\"axis\" d=\"M%d %.1fh-5\"/>\n",
            LEFT, y, RIGHT, LEFT, y);
        snprintf(text, sizeof text, "%.6g", i * y_step);
        put_label(out, LEFT - 9, y + 4, " text-anchor=\"end\"", text);
    }
    if (s->is_log) {
        const double every = ceil((s->x_to - s->x_from) / TICKS);
        for (double at = ceil(s->x_from); at <= s->x_to; at += every) put_x_tick(out, s, exp2(at));
    } else {
        const double step = tick_step(s->x_to - s->x_from, TICKS);
        for (double at = ceil(s->x_from / step) * step; at <= s->x_to; at += step)
            put_x_tick(out, s, at);
    }
    fprintf(out, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP, BOTTOM, RIGHT);
    put_label(out, (LEFT + RIGHT) / 2.0, 28, " text-anchor=\"middle\" font-size=\"15\"", p->title);
    put_label(out, (LEFT + RIGHT) / 2.0, BOTTOM + 45, " text-anchor=\"middle\"", p->x_name);
    fprintf(out, "<g transform=\"translate(20 %d) rotate(-90)\">", (TOP + BOTTOM) / 2);
    put_label(out, 0, 0, " text-anchor=\"middle\"", p->y_name);
    fputs("</g>\n", out);
}

/* ---- curves ---- */

static void put_curve(FILE *out, const Plot *p, const Scale *s, int curve)
{
    const PlotPoint *at = p->points + (ptrdiff_t)curve * p->npoints;
    const char *color = colors[curve % COLORS];
    fprintf(out, "<polygon fill=\"%s\" opacity=\"0.15\" points=\"", color);
    for (int i = 0; i < p->npoints; i++)
        fprintf(out, "%.1f,%.1f ", x_of(s, (double)p->x[i]), y_of(s, at[i].high));
    for (int i = p->npoints - 1; i >= 0; i--)
        fprintf(out, "%.1f,%.1f ", x_of(s, (double)p->x[i]), y_of(s, at[i].low));
    fprintf(out, "\"/>\n<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", color);
    for (int i = 0; i < p->npoints; i++)
        fprintf(out, "%.1f,%.1f ", x_of(s, (double)p->x[i]), y_of(s, at[i].value));
    fputs("\"/>\n", out);
    for (int i = 0; i < p->npoints; i++)
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"%s\" stroke=\"none\"/>\n",
                x_of(s, (double)p->x[i]), y_of(s, at[i].value), color);
    const double y = TOP + 16 + 18 * curve;
    fprintf(out, "<path d=\"M%d %.1fh24\" stroke=\"%s\" stroke-width=\"2\"/>\n", LEFT + 12, y,
            color);
    put_label(out, LEFT + 42, y + 4, "", p->labels[curve]);
}

void plot_write(FILE *out, const Plot *p)
{
    const Scale s = scale_of(p);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
            "%d\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n"
            "<style>.axis{fill:none;stroke:#333} .grid{stroke:#ddd}</style>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT);
    put_axes(out, p, &s);
    for (int i = 0; i < p->ncurves; i++) put_curve(out, p, &s, i);
    fputs("</svg>\n", out);
}
