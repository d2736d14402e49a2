/* text_command.c: a command line as a person would have typed it, and as it may be pasted.
 *
 * The first form only quotes; what is dangerous to print is the business of text.c. The strict one
 * holds nothing that is. Pure. */
#include <vitals/text.h>

#include "util/base.h"
#include "util/utf8.h"
#include "util/width.h"

#include <string.h>

struct shell_line {
    char *out;
    size_t room; /* without the NUL */
    size_t needed;
};

static void line_put(struct shell_line *line, const char *bytes, size_t size)
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

/* Words that sh, bash, ksh or zsh read as grammar where a command begins. Those with a byte that is
 * not plain are quoted anyway. */
static bool is_reserved(vitals_text word)
{
    static const char *const WORDS[] = {
        "case",      "coproc", "do",     "done",    "elif",     "else",  "end",
        "esac",      "fi",     "for",    "foreach", "function", "if",    "in",
        "nocorrect", "repeat", "select", "then",    "time",     "until", "while",
    };
    for (size_t i = 0; i < ARRAY_COUNT(WORDS); i++)
        if (word.size == strlen(WORDS[i]) && memcmp(word.bytes, WORDS[i], word.size) == 0)
            return true;
    return false;
}

/* `FOO=bar` is a word, but as the first one an assignment; zsh looks `=name` up in PATH. */
static bool means_more(vitals_text word, bool first)
{
    if (word.size == 0 || word.bytes[0] == '=')
        return true;
    return first && (memchr(word.bytes, '=', word.size) != NULL || is_reserved(word));
}

static bool needs_quotes(vitals_text word, bool first)
{
    if (means_more(word, first))
        return true;
    for (size_t i = 0; i < word.size; i++)
        if (!is_plain(word.bytes[i]))
            return true;
    return false;
}

static void line_word(struct shell_line *line, vitals_text word, bool first)
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

/* ---- the strict form ---- */

/* How the bytes that are written stand. */
enum quoting { BARE, SINGLE, ESCAPES };

static void line_quoting(struct shell_line *line, enum quoting *now, enum quoting wanted)
{
    if (*now == wanted)
        return;
    if (*now != BARE)
        line_put(line, "'", 1);
    if (wanted != BARE)
        line_put(line, wanted == SINGLE ? "'" : "$'", wanted == SINGLE ? 1 : 2);
    *now = wanted;
}

/* Between $' and ' nothing but these stands: no letter behind \xHH can be read as one digit more.
 */
static void line_escape(struct shell_line *line, char byte)
{
    static const char HEX[] = "0123456789abcdef";
    unsigned value = (unsigned char)byte;
    if (byte == '\n' || byte == '\t')
        line_put(line, byte == '\n' ? "\\n" : "\\t", 2);
    else
        line_put(line, (const char[]){'\\', 'x', HEX[value >> 4], HEX[value & 15]}, 4);
}

/* Whether the character may stand on a terminal as it is; `based`: behind another one that does. */
static bool stands(uint32_t character, bool based)
{
    if (character == UTF8_BROKEN)
        return false;
    int width = width_of(character);
    return width != WIDTH_HIDDEN && (width != 0 || based);
}

static void line_quoted(struct shell_line *line, vitals_text word)
{
    enum quoting now = BARE;
    const char *end = word.bytes + word.size;
    bool based = false;
    size_t size;
    for (const char *at = word.bytes; at < end; at += size) {
        uint32_t character = utf8_decode(at, end, &size);
        based = stands(character, based);
        if (character == '\'') {
            line_quoting(line, &now, BARE);
            line_put(line, "\\'", 2);
            based = false; // a mark would stand on a quote of ours
            continue;
        }
        line_quoting(line, &now, based ? SINGLE : ESCAPES);
        for (size_t i = 0; i < size; i++) {
            if (based)
                line_put(line, at + i, 1);
            else
                line_escape(line, at[i]);
        }
    }
    line_quoting(line, &now, BARE);
    if (word.size == 0)
        line_put(line, "''", 2);
}

static void line_strict_word(struct shell_line *line, vitals_text word, bool first)
{
    bool plain = !means_more(word, first);
    for (size_t i = 0; plain && i < word.size; i++)
        plain = is_plain(word.bytes[i]) && (unsigned char)word.bytes[i] < 0x80;
    if (plain)
        line_put(line, word.bytes, word.size);
    else
        line_quoted(line, word);
}

/* ---- lines ---- */

static void line_words(struct shell_line *line, vitals_text arguments,
                       void (*put)(struct shell_line *line, vitals_text word, bool first))
{
    for (size_t at = 0; at < arguments.size;) {
        const char *from = arguments.bytes + at;
        const char *end = memchr(from, '\0', arguments.size - at);
        size_t size = end != NULL ? (size_t)(end - from) : arguments.size - at;
        if (at != 0)
            line_put(line, " ", 1);
        put(line, (vitals_text){from, size}, at == 0);
        at += size + 1;
    }
}

static struct shell_line line_over(char *out, size_t capacity)
{
    return (struct shell_line){.out = out, .room = capacity != 0 ? capacity - 1 : 0};
}

static size_t line_end(const struct shell_line *line, size_t capacity)
{
    if (capacity != 0) {
        bool cut = line->needed > line->room;
        line->out[cut ? whole_characters(line->out, line->room) : line->needed] = '\0';
    }
    return line->needed;
}

size_t vitals_text_command(vitals_text arguments, char *out, size_t capacity)
{
    struct shell_line line = line_over(out, capacity);
    vitals_text title;
    if (arguments.size != 0 && is_title(arguments, &title))
        line_put(&line, title.bytes, title.size);
    else
        line_words(&line, arguments, line_word);
    return line_end(&line, capacity);
}

size_t vitals_text_command_strict(vitals_text arguments, char *out, size_t capacity)
{
    struct shell_line line = line_over(out, capacity);
    line_words(&line, arguments, line_strict_word);
    return line_end(&line, capacity);
}
