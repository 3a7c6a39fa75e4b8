/* What -check-memory knows of memory: for each element whether anything wrote it, and which
   programs of the launch under way have written and read it.

   An access is noted as a record: program and instruction in one number, so that the lesser of two
   records is the one of the lower program. Of all writers of an element the two least are kept, and
   of all readers; that is enough to find, whatever order programs ran in, the least pair of
   programs that disagree. Writers that all write the same bytes do not disagree: for that a store
   is made here, where it can be compared with what is there. Elements are kept by pages: a page all
   of whose elements are alike has one cell; the others have a cell for each element. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 0: nobody. 1: before this launch. Else a program's. */
typedef uint64_t Record;
enum { RECORD_BEFORE = 1, RECORD_INSN_BITS = 20 };

static inline Record record_make(int64_t program, uint32_t insn)
{
    const uint32_t mask = (1u << RECORD_INSN_BITS) - 1;
    return ((uint64_t)program + 1) << RECORD_INSN_BITS | (insn & mask);
}
static inline int64_t record_program(Record r) { return (int64_t)(r >> RECORD_INSN_BITS) - 1; }
static inline uint32_t record_insn(Record r)
{
    return (uint32_t)r & ((1u << RECORD_INSN_BITS) - 1);
}

/* Two programs at one element; low < high; at least one of them writes. low 0: none found. */
typedef struct Race {
    Record low, high;
    bool low_writes, high_writes;
    uint64_t address;
} Race;

/* Who looks for races in one launch. */
typedef struct Watch {
    /* Whether two programs are known to be in order: no race then. May be NULL. */
    bool (*ordered)(const void *user, int64_t a, int64_t b);
    const void *user;
    Race *race; /* the least so far; the watcher's own, not shared with other threads */
} Watch;

typedef struct Shadow Shadow;
/* For [begin, end); `written`: all of it. NULL: no memory. */
Shadow *shadow_new(uint64_t begin, uint64_t end, bool written);
void shadow_free(Shadow *s);
/* The host has written [begin, end). False: no memory. */
bool shadow_fill(Shadow *s, uint64_t begin, uint64_t end);
/* Before a launch. `stored`: the kernel may write this memory; else readers need not be kept. */
void shadow_begin_launch(Shadow *s, bool stored);

typedef enum ShadowResult { SHADOW_FINE, SHADOW_UNWRITTEN, SHADOW_NO_MEMORY } ShadowResult;
/* What is done to elements. PEEK: only whether they are written is asked, as atomics and volatile
   loads do not race; SETTLE: they are written, and in order, as by an atomic store or the host;
   WRITE: shadow_store's. */
typedef enum Deed { DEED_PEEK, DEED_READ, DEED_WRITE, DEED_SETTLE } Deed;
/* To n elements of `size` bytes from address on. UNWRITTEN: *at is the first. */
ShadowResult shadow_touch(Shadow *s, Deed deed, const Watch *w, Record who, uint64_t address,
                          int64_t n, int64_t size, uint64_t *at);
/* Stores n elements, whose address is a multiple of their size: data has them one after the other, or, with `same`,
   one for all. */
ShadowResult shadow_store(Shadow *s, const Watch *w, Record who, uint64_t address, int64_t n,
                          int64_t size, const void *data, bool same);

/* The number of n elements of `size` bytes, a power of two, from address on of which a byte is not
   written; elements (of each whether it is one) may be NULL. Not during a launch. */
size_t shadow_unwritten(const Shadow *s, uint64_t address, size_t n, size_t size, bool *elements);

/* Keeps the lesser of two races. */
void race_merge(Race *into, const Race *r);
