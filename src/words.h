/* Words of a text that options are written in: a line of -batch, a -line, an -entry. */
#ifndef TKC_SRC_WORDS_H
#define TKC_SRC_WORDS_H

/* The next one, cut off in place, and *text moved behind it; NULL when there is none. A blank within
   quotes or brackets is part of a word; quotes around a whole word are not. */
char *words_next(char **text);

#endif
