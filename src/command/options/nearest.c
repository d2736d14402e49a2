/* nearest.c: which word was meant. */
#include <string.h>

#include "command/options/option.h"

enum { WORD_MAX = 40 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Insertions, deletions, replacements and swaps of neighbours. Longer words count as far away. */
size_t word_distance(const char *a, const char *b)
{
    size_t rows = strlen(a), columns = strlen(b);
    if (rows > WORD_MAX || columns > WORD_MAX)
        return WORD_MAX;
    size_t at[WORD_MAX + 1][WORD_MAX + 1];
    for (size_t i = 0; i <= rows; i++)
        at[i][0] = i;
    for (size_t j = 0; j <= columns; j++)
        at[0][j] = j;
    for (size_t i = 1; i <= rows; i++) {
        for (size_t j = 1; j <= columns; j++) {
            size_t best = least(at[i - 1][j], at[i][j - 1]) + 1;
            best = least(best, at[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = least(best, at[i - 2][j - 2] + 1);
            at[i][j] = best;
        }
    }
    return at[rows][columns];
}

/* A third of the letters may be wrong, and one always; an unfinished word is near to its whole. */
void nearest_begin(struct nearest *nearest, const char *wanted)
{
    size_t size = strlen(wanted);
    *nearest = (struct nearest){.wanted = wanted, .distance = size / 3 + 2};
    if (size < 2)
        nearest->distance = 1;
}

void nearest_offer(struct nearest *nearest, const char *word)
{
    size_t size = strlen(nearest->wanted);
    size_t distance = word_distance(nearest->wanted, word);
    if (size >= 3 && strncmp(nearest->wanted, word, size) == 0)
        distance = 1;
    if (distance < nearest->distance) {
        nearest->distance = distance;
        nearest->word = word;
    }
}
