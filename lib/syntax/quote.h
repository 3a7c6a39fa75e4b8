/* Text with its unprintable bytes made visible. */
#ifndef TKC_SYNTAX_QUOTE_H
#define TKC_SYNTAX_QUOTE_H

#include "base/buf.h"

/* \n, \t, \r, \\ and \xNN for what is not printable; UTF-8 passes. */
void quote_plain(Buf *out, const char *s, size_t n);
/* The same in double quotes, which are escaped, too. */
void quote_string(Buf *out, const char *s, size_t n);
/* The same for bytes, which are no UTF-8. */
void quote_bytes(Buf *out, const char *s, size_t n);

#endif
