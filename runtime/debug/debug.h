/* -trace and -break: what a device is asked to watch, and how a prepared function does it.

   A function for debugging keeps every value: none shares memory, none is hoisted. Each instruction
   is then run by debug_step, which remembers the newest value of each name. A name belongs to one
   call of one function: the chain of calls that inlined it. */
#pragma once

#include "interp/interp.h"
#include "tkc/expr.h"
#include "tkc/text.h"

typedef struct DebugPoint {
    bool is_trace;
    char *text;       /* owned: what was asked for */
    const char *name; /* traces */
    int line;         /* breaks */
    const char *cond; /* NULL: always */
    struct DebugPoint *next;
} DebugPoint;

struct Debugger {
    DebugPoint *points;
    TkcStopAction (*stop)(TkcStop *stop, void *user);
    void *user;
};

/* A name in one call. */
typedef struct DebugName {
    const char *name;
    const Loc *call; /* that inlined it; NULL: the kernel's own */
} DebugName;

struct DebugInfo {
    const Debugger *debugger;
    const Func *fn;
    DebugName *names;
    int nnames;
    int *name_of; /* by value id; -1: none */
};

struct DebugFrame {
    const Value **now;    /* by name: its newest value, or NULL */
    TkcStopAction action; /* what the last stop asked for */
    const Loc *stopped;   /* where that was */
};

/* NULL: no memory, or names and lines that are not there, reported. */
DebugInfo *debug_info_new(TkcContext *cx, const Func *fn, const Debugger *debugger);
void debug_info_free(DebugInfo *info);
bool debug_frame_open(Frame *f); /* false: no memory */
void debug_frame_close(Frame *f);
void debug_frame_reset(Frame *f); /* a program begins */
/* Runs the instruction (`inner`), watching. */
void debug_step(Frame *f, const Insn *in);
void debugger_free(Debugger *d);

/* ---- places: place.c ---- */
/* The innermost place that is not in the embedded library. */
const Loc *place_of(const Loc *loc);
bool place_same_call(const Loc *a, const Loc *b);
/* The level of the op's place that is this line of the kernel's file, or NULL. */
const Loc *place_on_line(const Func *fn, const Op *op, int line);
int place_depth(const Loc *loc); /* calls, the kernel's own included */
/* The op's place, seen from at most so many calls deep, when the op is the first there, else NULL. */
const Loc *place_begun(const Op *op, int depth);
/* The least line from `line` on that has code; 0: none. */
int place_next_line(const Func *fn, int line);

/* ---- text of values: text.c ---- */
/* As numpy prints it; of more than eight along a dim the first and last three. rows: each row on a
   line of its own. */
void text_value(Text *t, const Frame *f, const Value *v, bool rows);
/* Element i as a number. False: a pointer. */
bool value_number(const Frame *f, const Value *v, int64_t i, ExprNumber *out);
