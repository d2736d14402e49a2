/* label.c: text from outside as a label: what may not be printed is replaced.
 *
 * Replaced and not escaped: an escape cannot be told from a label that looks like one, so a label
 * that is read back from JSON and made safe again would change.
 * Thread rule: pure but for the arena. */
#include "model/snapshot.h"

#include "util/utf8.h"
#include "util/width.h"

#include <string.h>

static const char REPLACEMENT[] = "\xEF\xBF\xBD";
static const char ELLIPSIS[] = "\xE2\x80\xA6";

enum { MARK_SIZE = 3 };
_Static_assert(sizeof REPLACEMENT == MARK_SIZE + 1 && sizeof ELLIPSIS == MARK_SIZE + 1, "UTF-8");

/* Takes one character; returns what stands for it, of *size bytes. */
static const char *next_piece(const char **at, const char *end, bool first, size_t *size)
{
    const char *from = *at;
    if (*from >= ' ' && *from <= '~') {
        *size = 1;
        *at += 1;
        return from;
    }
    uint32_t character = utf8_decode(from, end, size);
    *at += *size;
    int width = character == UTF8_BROKEN ? WIDTH_HIDDEN : width_of(character);
    if (width != WIDTH_HIDDEN && !(width == 0 && first))
        return from;
    *size = MARK_SIZE;
    return REPLACEMENT;
}

char *label_copy(struct arena *arena, vitals_text text, size_t *size)
{
    char label[LABEL_MAX];
    const char *at = text.size != 0 ? text.bytes : "";
    const char *end = at + text.size;
    size_t used = 0;
    size_t fits = 0; /* bytes that leave room for an ellipsis */
    while (at < end) {
        size_t piece_size;
        const char *piece = next_piece(&at, end, used == 0, &piece_size);
        if (piece_size > LABEL_MAX - used) {
            memcpy(label + fits, ELLIPSIS, MARK_SIZE);
            used = fits + MARK_SIZE;
            break;
        }
        memcpy(label + used, piece, piece_size);
        used += piece_size;
        if (used <= LABEL_MAX - MARK_SIZE)
            fits = used;
    }
    *size = used;
    return arena_copy(arena, label, used);
}
