/* In: a diagnostic. Out: one line that any reader of JSON takes. Texts may quote any bytes of the
   input: what is no UTF-8 becomes U+FFFD, controls are escaped. */
#include "json.h"

#include <string.h>

/* Length of the character at s, 0 when the bytes are not valid UTF-8 (surrogates and overlong forms
   are not). The text ends in a NUL, which continues nothing. */
static int utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80)
        return 1;
    int len = s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : s[0] < 0xF5 ? 4 : 0;
    unsigned least = s[0] == 0xE0 ? 0xA0 : s[0] == 0xF0 ? 0x90 : 0x80;
    unsigned most = s[0] == 0xED ? 0x9F : s[0] == 0xF4 ? 0x8F : 0xBF;
    for (int i = 1; i < len; i++) {
        if (s[i] < least || s[i] > most)
            return 0;
        least = 0x80, most = 0xBF;
    }
    return len;
}

static void put_text(FILE *out, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    fputc('"', out);
    for (int len; *s; s += len ? len : 1) {
        len = utf8_length(s);
        if (len == 0)
            fputs("\\ufffd", out);
        else if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if (*s == '\n')
            fputs("\\n", out);
        else if (*s < 0x20 || *s == 0x7f)
            fprintf(out, "\\u%04x", *s);
        else
            fwrite(s, 1, (size_t)len, out);
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
        if (s->value)
            put_member(out, "value", s->value);
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
    if (*flags)
        put_member(out, "flags", flags);
    if (ms >= 0)
        fprintf(out, ",\"milliseconds\":%.3f", ms);
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
