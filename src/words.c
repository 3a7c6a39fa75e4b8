#include "options.h"

#include <string.h>

/* The blank behind a word, or NULL. */
static char *find_blank(char *p)
{
    char quote = 0;
    int depth = 0;
    for (; *p && (*p != ' ' || quote || depth > 0); p++) {
        if (quote) quote = *p == quote ? 0 : quote;
        else if (*p == '"' || *p == '\'') quote = *p;
        else depth += (strchr("([{<", *p) != NULL) - (strchr(")]}>", *p) != NULL);
    }
    return *p ? p : NULL;
}

/* Takes off the quotes around a whole word. */
static char *unquote(char *word)
{
    size_t n = strlen(word);
    if (n < 2 || (word[0] != '"' && word[0] != '\'') || strchr(word + 1, word[0]) != word + n - 1)
        return word;
    word[n - 1] = 0;
    return word + 1;
}

char *words_next(char **text)
{
    char *word = *text ? *text + strspn(*text, " ") : NULL;
    if (!word || !*word) return NULL;
    char *end = find_blank(word);
    if (end) *end = 0;
    *text = end ? end + 1 : NULL;
    return unquote(word);
}
