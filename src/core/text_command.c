/* text_command.c: a command line as a person would have typed it.
 *
 * Only quotes; what is dangerous to print is the business of text.c. */
#include <vitals/text.h>

#include "core/base.h"
#include "core/utf8.h"

#include <string.h>

struct line {
    char *out;
    size_t room; /* without the NUL */
    size_t needed;
};

static void line_put(struct line *line, const char *bytes, size_t size)
{
    if (line->needed < line->room && size != 0)
        memcpy(line->out + line->needed, bytes, size_min(size, line->room - line->needed));
    line->needed += size;
}

/* No shell gives a meaning to these, wherever they stand in a word. */
static bool is_plain(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || (unsigned char)byte >= 0x80 ||
           (byte != '\0' && strchr("_@%+:,./-=", byte) != NULL);
}

/* `FOO=bar` is a word, but as the first one an assignment. */
static bool needs_quotes(vitals_text word, bool first)
{
    if (word.size == 0 || (first && memchr(word.bytes, '=', word.size) != NULL))
        return true;
    for (size_t i = 0; i < word.size; i++)
        if (!is_plain(word.bytes[i]))
            return true;
    return false;
}

static void line_word(struct line *line, vitals_text word, bool first)
{
    if (!needs_quotes(word, first)) {
        line_put(line, word.bytes, word.size);
        return;
    }
    line_put(line, "'", 1);
    for (size_t i = 0; i < word.size; i++) {
        if (word.bytes[i] == '\'')
            line_put(line, "'\\''", 4);
        else
            line_put(line, word.bytes + i, 1);
    }
    line_put(line, "'", 1);
}

static bool starts_with(vitals_text text, const char *prefix)
{
    size_t size = strlen(prefix);
    return text.size >= size && memcmp(text.bytes, prefix, size) == 0;
}

static bool holds(vitals_text text, const char *part)
{
    return memmem(text.bytes, text.size, part, strlen(part)) != NULL;
}

/* "sshd: root@pts/0", "nginx: worker process", "/opt/browser/browser --type=renderer": words for
 * people, written over the arguments as one, and often filled up with NULs. A program started
 * without arguments from a path that holds blanks looks alike; it is told by its having none of
 * these marks. */
static bool is_title(vitals_text arguments, vitals_text *title)
{
    const char *end = memchr(arguments.bytes, '\0', arguments.size);
    *title = arguments;
    if (end != NULL)
        title->size = (size_t)(end - arguments.bytes);
    size_t padding = arguments.size - title->size;
    for (size_t i = 0; i < padding; i++)
        if (end[i] != '\0')
            return false;
    bool blank = holds(*title, " ");
    bool padded = padding > 1;
    if (title->size == 0 || (padded && !blank))
        return false; /* a command with empty arguments */
    bool path = starts_with(*title, "/") || starts_with(*title, "./") || starts_with(*title, "../");
    return !path || padded || holds(*title, ": ") || holds(*title, " -");
}

/* Where a cut left the beginning of a character, takes it away. */
static size_t whole_characters(const char *bytes, size_t size)
{
    size_t back = 1;
    while (back <= 3 && back <= size && ((unsigned char)bytes[size - back] & 0xC0) == 0x80)
        back++;
    if (back > size || (unsigned char)bytes[size - back] < 0xC0)
        return size;
    size_t taken;
    const char *lead = bytes + size - back;
    bool broken = utf8_decode(lead, bytes + size, &taken) == UTF8_BROKEN;
    return broken && taken == back ? size - back : size;
}

size_t vitals_text_command(vitals_text arguments, char *out, size_t capacity)
{
    struct line line = {.out = out, .room = capacity != 0 ? capacity - 1 : 0};
    vitals_text title;
    if (arguments.size != 0 && is_title(arguments, &title)) {
        line_put(&line, title.bytes, title.size);
    } else {
        for (size_t at = 0; at < arguments.size;) {
            const char *from = arguments.bytes + at;
            const char *end = memchr(from, '\0', arguments.size - at);
            size_t size = end != NULL ? (size_t)(end - from) : arguments.size - at;
            if (at != 0)
                line_put(&line, " ", 1);
            line_word(&line, (vitals_text){from, size}, at == 0);
            at += size + 1;
        }
    }
    if (capacity != 0) {
        bool cut = line.needed > line.room;
        out[cut ? whole_characters(out, line.room) : line.needed] = '\0';
    }
    return line.needed;
}
