/* What an assembler of PTX says of a text, brought back to the kernel. */
#ifndef TKC_PTX_LOG_H
#define TKC_PTX_LOG_H

#include <stdbool.h>
#include <stddef.h>

/* FILE:LINE:COL of the inline assembly that the first complaint of the log is about, from the
   comment that the compiler puts before it. False: it is about none. */
bool ptx_log_place(char *place, size_t size, const char *log, const char *ptx);

#endif
