/* Header, key, manifest, PTX. Nothing of the bytes is believed before their checksum is right. */
#include "entry.h"

#include <stdlib.h>
#include <string.h>

#include "sha256.h"

/* A new format has a new last byte. */
static const char magic[8] = {'t', 'k', 'c', 'a', 'c', 'h', 'e', '3'};

enum { KEY, MANIFEST, PTX, SECTIONS };
typedef struct Header {
    char magic[sizeof magic];
    uint8_t sum[SHA256_BYTES];  /* of all that follows */
    uint64_t len[SECTIONS];     /* bytes of each, and a NUL after it */
} Header;
enum { SUMMED = offsetof(Header, len) };

void entry_make(Bytes *out, const Bytes *key, const TkcArtifact *artifact, const char *ptx, size_t len)
{
    Header h = {.len = {[KEY] = key->len, [PTX] = len}};
    char *manifest = manifest_write(artifact, &h.len[MANIFEST]);
    const void *const sections[SECTIONS] = {key->len ? key->data : "", manifest, ptx};
    memcpy(h.magic, magic, sizeof magic);
    out->no_memory |= key->no_memory || !manifest;
    bytes_add(out, &h, sizeof h);
    for (int i = 0; i < SECTIONS && !out->no_memory; i++) {
        bytes_add(out, sections[i], h.len[i]);
        bytes_add(out, "", 1);
    }
    if (!out->no_memory)
        sha256((uint8_t *)out->data + offsetof(Header, sum), out->data + SUMMED, out->len - SUMMED);
    free(manifest);
}

static Outcome check(const char *bytes, size_t len)
{
    Header h;
    uint8_t sum[SHA256_BYTES];
    if (len < sizeof h || memcmp(bytes, magic, sizeof magic - 1)) return DAMAGED;
    memcpy(&h, bytes, sizeof h);
    if (h.magic[sizeof magic - 1] != magic[sizeof magic - 1]) return OTHER_VERSION;
    size_t left = len - sizeof h;
    for (int i = 0; i < SECTIONS; i++) {
        if (left < 1 || h.len[i] > left - 1) return DAMAGED;
        left -= h.len[i] + 1;
    }
    sha256(sum, bytes + SUMMED, len - SUMMED);
    return left || memcmp(sum, h.sum, sizeof sum) ? DAMAGED : HIT;
}

/* Where each section is, of bytes that are whole. */
static Header find_sections(const char *bytes, const char *at[SECTIONS])
{
    Header h;
    memcpy(&h, bytes, sizeof h);
    bytes += sizeof h;
    for (int i = 0; i < SECTIONS; i++) {
        at[i] = bytes;
        bytes += h.len[i] + 1;
    }
    return h;
}

Outcome entry_open(Entry *e, char *bytes, size_t len, const Bytes *key)
{
    const char *at[SECTIONS];
    *e = (Entry){.bytes = bytes, .len = len};
    Outcome fault = check(bytes, len);
    if (fault == HIT) {
        const Header h = find_sections(bytes, at);
        if (key && (key->len != h.len[KEY] || memcmp(key->data, at[KEY], key->len))) fault = OTHER_KEY;
        e->ptx = at[PTX];
        e->text = malloc(h.len[MANIFEST] + 1);
        if (e->text) memcpy(e->text, at[MANIFEST], h.len[MANIFEST] + 1);
        if (!fault && !(e->text && manifest_read(&e->manifest, e->text, h.len[MANIFEST]))) fault = DAMAGED;
    }
    if (fault) entry_fini(e);
    return fault;
}

void entry_fini(Entry *e)
{
    manifest_fini(&e->manifest);
    free(e->text);
    free(e->bytes);
    *e = (Entry){0};
}
