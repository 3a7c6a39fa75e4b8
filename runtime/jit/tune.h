/* Results of tuning as text, a line each, so that people can read, compare and commit them:

       add | NVIDIA H200 | x=*fp32 n=98432:i32 | BLOCK=1024 num_warps=4 | 0.0123 ms */
#pragma once

#include "tkc/edge.h"

/* The first that is within 1 % of the fastest of n, of which those that cannot run take INFINITY; n:
   none can. So what is chosen does not depend on which of equals was measured when. */
size_t tune_pick(const double *ms, size_t n);
/* Which of n configurations the file has for the kernel, device and key that `head` is ("add |
   NVIDIA H200 | x=*fp32"); -1: none. */
int tune_file_find(const char *path, const char *head, const char *const *configs, size_t n);
/* Puts the line in the place of those with its head, or at the end; false, with *why: it cannot be
   written, and the file is as it was. */
bool tune_file_put(const char *path, const char *head, const char *config, double ms,
                   const char **why);
