/* In: a diagnostic. Out: one line that any reader of JSON takes. Texts may quote any bytes of the
   input: what is no UTF-8 becomes U+FFFD, controls are escaped. */
#include "report.h"

static void put_text(FILE *out, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    fputc('"', out);
    for (size_t len; *s; s += len ? len : 1) {
        len = utf8_length(s);
        if (len == 0) fputs("\\ufffd", out);
        else if (*s == '"' || *s == '\\') fprintf(out, "\\%c", *s);
        else if (*s == '\n') fputs("\\n", out);
        else if (*s < 0x20 || *s == 0x7f) fprintf(out, "\\u%04x", *s);
        else fwrite(s, 1, len, out);
    }
    fputc('"', out);
}

static void put_member(FILE *out, const char *name, const char *text)
{
    fprintf(out, ",\"%s\":", name);
    put_text(out, text);
}

static void put_place(FILE *out, const char *file, int line, int column, int end_line,
                      int end_column)
{
    put_text(out, file);
    fprintf(out, ",\"line\":%d,\"column\":%d,\"end_line\":%d,\"end_column\":%d", line, column,
            end_line, end_column);
}

static void put_fixits(FILE *out, const TkcFixit *f)
{
    fputs(",\"fixits\":[", out);
    for (const char *comma = ""; f; f = f->next, comma = ",") {
        fprintf(out, "%s{\"file\":", comma);
        put_place(out, f->file, f->line, f->column, f->end_line, f->end_column);
        put_member(out, "text", f->text);
        fputc('}', out);
    }
    fputc(']', out);
}

static void put_settings(FILE *out, const TkcSetting *s)
{
    fputs(",\"settings\":[", out);
    for (const char *comma = ""; s; s = s->next, comma = ",") {
        fprintf(out, "%s{\"option\":", comma);
        put_text(out, s->option);
        if (s->value) put_member(out, "value", s->value);
        fputc('}', out);
    }
    fputc(']', out);
}

/* What a diagnostic and a note have; the object stays open. */
static void put_common(FILE *out, const TkcDiagnostic *d)
{
    static const char *const names[] = {[TKC_NOTE] = "note",
                                        [TKC_REMARK] = "remark",
                                        [TKC_WARNING] = "warning",
                                        [TKC_SEVERITY_ERROR] = "error"};
    fprintf(out, "{\"severity\":\"%s\"", names[d->severity]);
    put_member(out, "id", d->id);
    put_member(out, "text", d->text);
    if (d->file) {
        fputs(",\"file\":", out);
        put_place(out, d->file, d->line, d->column, d->end_line, d->end_column);
    }
    put_fixits(out, d->fixits);
}

void json_print(FILE *out, const TkcDiagnostic *d, const char *flags, double ms)
{
    put_common(out, d);
    put_settings(out, d->settings);
    if (*flags) put_member(out, "flags", flags);
    if (ms >= 0) fprintf(out, ",\"milliseconds\":%.3f", ms);
    fputs(",\"notes\":[", out);
    const char *comma = "";
    for (const TkcDiagnostic *n = d->notes; n; n = n->next, comma = ",") {
        fputs(comma, out);
        put_common(out, n);
        fputc('}', out);
    }
    fputc(']', out);
    put_member(out, "rendered", d->rendered);
    fputs("}\n", out);
}
