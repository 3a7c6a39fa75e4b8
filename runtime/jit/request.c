/* The linker's build id stands for the compiler and the library of kernels inside it. */
#define _GNU_SOURCE
#include "disk.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "sha256.h"

/* ---- which build ---- */

typedef struct BuildId { uintptr_t code; const unsigned char *id; size_t len; } BuildId;

/* A note is a header, a name and its bytes, each to 4 bytes. */
static void read_notes(BuildId *b, const char *at, size_t size)
{
    ElfW(Nhdr) note;
    const char *end = at + size;
    while ((size_t)(end - at) >= sizeof note) {
        memcpy(&note, at, sizeof note);
        const char *name = at + sizeof note, *id = name + (note.n_namesz + 3) / 4 * 4;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !memcmp(name, "GNU", 4)) {
            b->id = (const unsigned char *)id;
            b->len = note.n_descsz;
        }
        at = id + (note.n_descsz + 3) / 4 * 4;
    }
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    BuildId *b = arg;
    bool ours = false;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        ours |= p->p_type == PT_LOAD && b->code - (info->dlpi_addr + p->p_vaddr) < p->p_memsz;
    }
    for (int i = 0; ours && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_NOTE)
            read_notes(b, (const char *)(info->dlpi_addr + p->p_vaddr), p->p_memsz);
    }
    return ours;
}

static bool put_build(Bytes *out)
{
    BuildId b = {.code = (uintptr_t)(void (*)(void))request_write};
    dl_iterate_phdr(look_at_object, &b);
    bytes_put(out, "%s\nbuild ", tkc_version_long());
    for (size_t i = 0; i < b.len; i++) bytes_put(out, "%02x", b.id[i]);
    bytes_add(out, "\n", 1);
    return b.len > 0;
}

/* ---- what is asked for ---- */

static void put_text(void *user, const char *what, const char *text, size_t len)
{
    bytes_put(user, "%s %zu ", what, len);
    bytes_add(user, text, len);
    bytes_add(user, "\n", 1);
}

static void put_option(Bytes *out, const char *what, const char *text)
{
    if (text) put_text(out, what, text, strlen(text));
}

/* Of the source's text its hash. */
static void put_source(void *user, const char *what, const char *text, size_t len)
{
    char hash[SHA256_TEXT];
    if (strcmp(what, "source")) {
        put_text(user, what, text, len);
        return;
    }
    sha256_text(hash, text, len);
    put_text(user, what, hash, sizeof hash - 1);
}

_Static_assert(sizeof(TkcOptions) == 184, "a new option: does it belong below?");

bool request_write(Bytes *out, const TkcDevice *dev, const TkcSource *source, const TkcOptions *o)
{
    const bool is_known = put_build(out);
    bytes_put(out, "driver %s %d\n", dev->ops->kind, dev->driver);
    tkc_source_describe(source, put_source, out);
    put_option(out, "kernel", o->kernel);
    put_option(out, "arch", o->arch);
    put_option(out, "symbol", o->symbol);
    put_option(out, "signature", o->signature);
    put_option(out, "passes", o->passes);
    put_option(out, "warnings", o->warnings);
    for (size_t i = 0; i < o->ndefines; i++) {
        put_option(out, "define", o->defines[i].name);
        put_option(out, "value", o->defines[i].value);
    }
    for (size_t i = 0; i < o->narguments; i++) {
        put_option(out, "argument", o->arguments[i].name);
        put_option(out, "value", o->arguments[i].value);
    }
    bytes_put(out, "options %d %d %d %d %d\nbudgets %lld %lld %lld %lld %lld\n", o->num_warps,
              o->num_stages, o->no_fp_contract, o->debug, o->line_info, (long long)o->max_steps,
              (long long)o->max_ops, (long long)o->max_nesting, (long long)o->max_depth,
              (long long)o->max_length);
    if (o->no_asserts || o->sanitize_overflow)
        bytes_put(out, "asserts %d %d\n", o->no_asserts, o->sanitize_overflow);
    if (o->max_registers) bytes_put(out, "registers %d\n", o->max_registers);
    return is_known;
}
