/* Writing and reading go through the same table in the same order. */
#include "manifest.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "sha256.h"
#include "tkc/runtime.h"

enum { FORMAT = 4, MOST_RECORDS = 1 << 16 };

/* The manifest's own lines, then its lists. */
typedef enum Record { OF_Manifest, OF_ManifestParam, OF_TkcTensorMap, OF_TkcDefine, OF_ManifestFile, RECORDS } Record;
static const struct { size_t size, count, data; } lists[RECORDS] = {
    [OF_ManifestParam] = {sizeof(ManifestParam), offsetof(Manifest, nparams), offsetof(Manifest, params)},
    [OF_TkcTensorMap] = {sizeof(TkcTensorMap), offsetof(Manifest, nmaps), offsetof(Manifest, maps)},
    [OF_TkcDefine] = {sizeof(TkcDefine), offsetof(Manifest, nvalues), offsetof(Manifest, values)},
    [OF_ManifestFile] = {sizeof(ManifestFile), offsetof(Manifest, nfiles), offsetof(Manifest, files)},
};

typedef enum FieldKind { INT, TEXT } FieldKind;
static const struct Field { Record record; const char *line; FieldKind kind; size_t at; } fields[] = {
#define FIELD(record, line, kind, member) {OF_##record, line, kind, offsetof(record, member)},
#include "manifest.def"
#undef FIELD
};
enum { FIELDS = sizeof fields / sizeof *fields };

static bool same_line(size_t i, size_t j)
{
    return j < FIELDS && fields[i].record == fields[j].record && !strcmp(fields[i].line, fields[j].line);
}

static int64_t *count_of(Manifest *m, Record r)
{
    return (int64_t *)((char *)m + lists[r].count);
}

static void **data_of(Manifest *m, Record r)
{
    return (void **)((char *)m + lists[r].data);
}

/* Calls f for each field of each record in the order of the text; false when it did. */
static bool each_field(Manifest *m, bool (*begin)(Manifest *m, Record r),
                       bool (*f)(size_t field, void *value, void *user), void *user)
{
    for (Record r = OF_Manifest; r < RECORDS; r++) {
        if (r && begin && !begin(m, r)) return false;
        for (int64_t i = 0; i < (r ? *count_of(m, r) : 1); i++) {
            char *base = r ? (char *)*data_of(m, r) + (size_t)i * lists[r].size : (char *)m;
            for (size_t at = 0; at < FIELDS; at++)
                if (fields[at].record == r && !f(at, base + fields[at].at, user)) return false;
        }
    }
    return true;
}

/* ---- writing ---- */

/* What would end a word is %XX. */
static void put_text(Bytes *out, const char *text, bool is_last)
{
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        bytes_put(out, c < ' ' || c == '%' || (c == ' ' && !is_last) ? "%%%02X" : "%c", c);
    }
}

static bool write_field(size_t i, void *value, void *user)
{
    Bytes *out = user;
    const bool is_last = !same_line(i, i + 1);
    if (!i || !same_line(i, i - 1)) bytes_put(out, "%s", fields[i].line);
    bytes_add(out, " ", 1);
    if (fields[i].kind == INT) bytes_put(out, "%lld", (long long)*(int64_t *)value);
    else put_text(out, *(const char **)value, is_last);
    if (is_last) bytes_add(out, "\n", 1);
    return !out->no_memory;
}

static const char *const parts[] = {[PART_WHOLE] = "whole", [PART_ITEM] = "item",
                                    [PART_SHAPE] = "shape", [PART_STRIDE] = "stride"};

/* "x", or of a descriptor "x.shape0", "x.stride0", of a tuple "x.0". */
static bool find_source(ManifestParam *p)
{
    const char *dot = p->name + strcspn(p->name, ".");
    p->argument = strndup(p->name, (size_t)(dot - p->name));
    p->part = parts[!*dot                         ? PART_WHOLE
                    : !strncmp(dot, ".shape", 6)  ? PART_SHAPE
                    : !strncmp(dot, ".stride", 7) ? PART_STRIDE
                                                  : PART_ITEM];
    p->dim = *dot ? p->name[strlen(p->name) - 1] - '0' : 0;
    return p->argument != NULL;
}

static bool describe_param(ManifestParam *p, const TkcArtifact *a, int i)
{
    *p = (ManifestParam){.name = tkc_artifact_param_name(a, i),
                         .type = tkc_artifact_param_type(a, i),
                         .is = tkc_type_of(tkc_artifact_param_type(a, i)),
                         .divisibility = tkc_artifact_param_divisibility(a, i)};
    const bool is_pointer = *p->type == '*';
    p->kind = is_pointer ? "pointer" : "number";
    p->element = tkc_dtype_info(p->is.dtype);
    p->bytes = is_pointer ? 8 : p->element->bytes;
    return find_source(p);
}

static bool describe_lists(Manifest *m, const TkcArtifact *a)
{
    bool ok = true;
    for (int i = 0; ok && i < m->nparams; i++) ok = describe_param(&m->params[i], a, i);
    for (int i = 0; i < m->nmaps; i++) tkc_artifact_tensor_map(a, i, &m->maps[i]);
    for (int i = 0; i < m->nvalues; i++) m->values[i] = *tkc_artifact_value(a, i);
    for (int i = 0; ok && i < m->nfiles; i++) {
        const TkcFile *file = tkc_artifact_file(a, i);
        char hash[SHA256_TEXT] = "absent";
        if (file->text) sha256_text(hash, file->text, file->len);
        m->files[i] = (ManifestFile){strdup(hash), file->path};
        ok = m->files[i].hash != NULL;
    }
    return ok;
}

static Manifest describe(const TkcArtifact *a)
{
    int nconfigs;
    Manifest m = {.format = FORMAT,
                  .version = tkc_version_long(),
                  .kernel = tkc_artifact_kernel(a),
                  .target = tkc_artifact_arch(a),
                  .threads = tkc_artifact_num_warps(a) * 32,
                  .warps = tkc_artifact_num_warps(a),
                  .stages = tkc_artifact_num_stages(a),
                  .shared = tkc_artifact_shared_bytes(a),
                  .config = tkc_artifact_config(a, &nconfigs),
                  .nparams = tkc_artifact_param_count(a)};
    m.nconfigs = nconfigs;
    TkcTensorMap map;
    while (tkc_artifact_tensor_map(a, (int)m.nmaps, &map)) m.nmaps++;
    while (tkc_artifact_value(a, (int)m.nvalues)) m.nvalues++;
    while (tkc_artifact_file(a, (int)m.nfiles)) m.nfiles++;
    return m;
}

static bool take_list(Manifest *m, Record r)
{
    const int64_t n = *count_of(m, r);
    return n >= 0 && n <= MOST_RECORDS &&
           (*data_of(m, r) = calloc((size_t)n + 1, lists[r].size)) != NULL;
}

char *manifest_write(const TkcArtifact *a, size_t *len)
{
    Bytes out = {0};
    Manifest m = describe(a);
    bool ok = true;
    for (Record r = OF_ManifestParam; ok && r < RECORDS; r++) ok = take_list(&m, r);
    ok = ok && describe_lists(&m, a) && each_field(&m, NULL, write_field, &out);
    for (int i = 0; m.params && i < m.nparams; i++) free((char *)m.params[i].argument);
    for (int i = 0; m.files && i < m.nfiles; i++) free((char *)m.files[i].hash);
    manifest_fini(&m);
    *len = out.len;
    if (ok) return out.data;
    free(out.data);
    return NULL;
}

/* ---- reading ---- */

typedef struct Cursor { char *at, *end; } Cursor;

static int hex(char c)
{
    const char *digit = c ? strchr("0123456789ABCDEF", c) : NULL;
    return digit ? (int)(digit - "0123456789ABCDEF") : -1;
}

static bool unescape(char *text)
{
    char *to = text;
    for (; *text; text++) {
        if (*text != '%') {
            *to++ = *text;
            continue;
        }
        const int high = hex(text[1]), low = high < 0 ? -1 : hex(text[2]);
        if (low < 0) return false;
        *to++ = (char)(high << 4 | low);
        text += 2;
    }
    *to = 0;
    return true;
}

/* The next word, which ends so; NULL: there is none. */
static char *take_word(Cursor *c, char ends)
{
    char *word = c->at, *end = memchr(word, ends, (size_t)(c->end - word));
    if (!end) return NULL;
    *end = 0;
    c->at = end + 1;
    return word;
}

static bool read_field(size_t i, void *value, void *user)
{
    Cursor *c = user;
    if (!i || !same_line(i, i - 1)) {
        const char *line = take_word(c, ' ');
        if (!line || strcmp(line, fields[i].line)) return false;
    }
    char *word = take_word(c, same_line(i, i + 1) ? ' ' : '\n'), *end;
    if (!word) return false;
    if (fields[i].kind == TEXT) {
        *(const char **)value = word;
        return unescape(word);
    }
    *(int64_t *)value = strtoll(word, &end, 10);
    return end > word && !*end;
}

static bool understand(ManifestParam *p)
{
    p->source = PART_WHOLE;
    while (p->source < PART_STRIDE && strcmp(p->part, parts[p->source])) p->source++;
    if (strcmp(p->part, parts[p->source]) || tkc_read_type(p->type, strlen(p->type), &p->is))
        return false;
    p->element = tkc_dtype_info(p->is.dtype);
    return p->dim >= 0 && p->dim < TKC_DESCRIPTOR_RANK && p->bytes == (p->is.stars ? 8 : p->element->bytes);
}

/* Each is aligned to its own size, a power of two. */
static void place_params(Manifest *m)
{
    for (int i = 0; i < m->nparams; i++) {
        const size_t bytes = (size_t)m->params[i].bytes;
        m->params[i].at = (m->param_bytes + bytes - 1) & ~(bytes - 1);
        m->param_bytes = m->params[i].at + bytes;
    }
}

uint64_t manifest_value(const ManifestParam *p, const unsigned char *values)
{
    uint64_t bits = 0;
    memcpy(&bits, values + p->at, (size_t)p->bytes);
    const int unused = 64 - 8 * (int)p->bytes;
    return !p->is.stars && p->element->kind == DK_INT ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits;
}

static bool is_param(const Manifest *m, int64_t i)
{
    return i >= 0 && i < m->nparams;
}

static bool is_number(const Manifest *m, const TkcNumber *n)
{
    for (int i = 0; i < TKC_FACTORS; i++)
        if (n->param[i] != -1 && (!is_param(m, n->param[i]) || m->params[n->param[i]].is.stars))
            return false;
    return true;
}

/* What they are made of is there. */
static bool is_sound(const Manifest *m, const TkcTensorMap *map)
{
    if (map->rank < 2 || map->rank > TKC_DESCRIPTOR_RANK) return false;
    for (int d = 0; d < map->rank; d++)
        if (!is_number(m, &map->extent[d]) || (d && !is_number(m, &map->stride[d - 1])))
            return false;
    return is_param(m, map->base) && m->params[map->base].is.stars;
}

bool manifest_read(Manifest *m, char *text, size_t len)
{
    Cursor c = {text, text + len};
    *m = (Manifest){0};
    bool ok = each_field(m, take_list, read_field, &c) && c.at == c.end && m->format == FORMAT;
    for (int i = 0; ok && i < m->nparams; i++) ok = understand(&m->params[i]);
    for (int i = 0; ok && i < m->nmaps; i++) ok = is_sound(m, &m->maps[i]);
    if (ok) place_params(m);
    else manifest_fini(m);
    return ok;
}

void manifest_fini(Manifest *m)
{
    for (Record r = OF_ManifestParam; r < RECORDS; r++) free(*data_of(m, r));
    *m = (Manifest){0};
}

/* ---- for users ---- */

const char *tkc_artifact_manifest(TkcArtifact *a)
{
    size_t len;
    char **slot = tkc_artifact_arch(a) ? tkc_artifact_manifest_slot(a) : NULL;
    if (slot && !*slot) *slot = manifest_write(a, &len);
    return slot ? *slot : NULL;
}
