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

char *label_copy(struct arena *arena, vitals_text text, size_t *size)
{
    char label[LABEL_MAX];
    const char *at = text.size != 0 ? text.bytes : "";
    const char *end = at + text.size;
    size_t used = 0, taken;
    size_t fits = 0; /* bytes that leave room for an ellipsis */
    for (; at < end; at += taken) {
        bool plain = *at >= ' ' && *at <= '~';
        uint32_t character = plain ? (uint32_t)*at : utf8_decode(at, end, &taken);
        if (plain)
            taken = 1;
        int width = plain ? 1 : character == UTF8_BROKEN ? WIDTH_HIDDEN : width_of(character);
        bool stands = width != WIDTH_HIDDEN && !(width == 0 && used == 0);
        size_t piece_size = stands ? taken : MARK_SIZE;
        if (piece_size > LABEL_MAX - used) {
            memcpy(label + fits, ELLIPSIS, MARK_SIZE);
            used = fits + MARK_SIZE;
            break;
        }
        memcpy(label + used, stands ? at : REPLACEMENT, piece_size);
        used += piece_size;
        if (used <= LABEL_MAX - MARK_SIZE)
            fits = used;
    }
    *size = used;
    return arena_copy(arena, label, used);
}
