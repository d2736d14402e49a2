/* text_command.c: a command line as a person would have typed it, and as it may be pasted.
 *
 * The first form only quotes; what is dangerous to print is the business of text.c. The strict one
 * holds nothing that is. Pure. */
#include <vitals/text.h>

#include "util/base.h"
#include "util/utf8.h"

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

/* `FOO=bar` is a word, but as the first one an assignment; zsh looks `=name` up in PATH; and sh,
 * bash, ksh or zsh read some words as grammar where a command begins. Those with a byte that is not
 * plain are quoted anyway. */
static bool means_more(vitals_text word, bool first)
{
    static const char *const RESERVED[] = {
        "case",      "coproc", "do",     "done",    "elif",     "else",  "end",
        "esac",      "fi",     "for",    "foreach", "function", "if",    "in",
        "nocorrect", "repeat", "select", "then",    "time",     "until", "while",
    };
    bool more = word.size == 0 || word.bytes[0] == '=' ||
                (first && memchr(word.bytes, '=', word.size) != NULL);
    for (size_t i = 0; first && !more && i < ARRAY_COUNT(RESERVED); i++)
        more = word.size == strlen(RESERVED[i]) && memcmp(word.bytes, RESERVED[i], word.size) == 0;
    return more;
}

static void line_word(struct shell_line *line, vitals_text word, bool first)
{
    bool plain = !means_more(word, first);
    for (size_t i = 0; plain && i < word.size; i++)
        plain = is_plain(word.bytes[i]);
    if (plain) {
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

static void line_strict_word(struct shell_line *line, vitals_text word, bool first)
{
    static const char HEX[] = "0123456789abcdef";
    bool plain = !means_more(word, first);
    for (size_t i = 0; plain && i < word.size; i++)
        plain = is_plain(word.bytes[i]) && (unsigned char)word.bytes[i] < 0x80;
    if (plain || word.size == 0) {
        line_put(line, plain ? word.bytes : "''", plain ? word.size : 2);
        return;
    }

    enum quoting now = BARE;
    const char *end = word.bytes + word.size;
    bool based = false; /* a mark would stand on a character before it */
    size_t size;
    for (const char *at = word.bytes; at < end; at += size) {
        uint32_t character = utf8_decode(at, end, &size);
        if (character == '\'') {
            line_quoting(line, &now, BARE);
            line_put(line, "\\'", 2);
            based = false; /* on a quote of ours */
            continue;
        }
        /* Characters that are not safe on a terminal become escapes. */
        int width = character == UTF8_BROKEN ? WIDTH_HIDDEN : width_of(character);
        based = width != WIDTH_HIDDEN && (width != 0 || based);
        line_quoting(line, &now, based ? SINGLE : ESCAPES);
        if (based) {
            line_put(line, at, size);
            continue;
        }
        /* Between $' and ' nothing but these stands: no letter behind \xHH can be read as one digit
         * more. */
        for (size_t i = 0; i < size; i++) {
            unsigned value = (unsigned char)at[i];
            if (value == '\n' || value == '\t')
                line_put(line, value == '\n' ? "\\n" : "\\t", 2);
            else
                line_put(line, (const char[]){'\\', 'x', HEX[value >> 4], HEX[value & 15]}, 4);
        }
    }
    line_quoting(line, &now, BARE);
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
    size_t size = line->needed, taken;
    if (capacity == 0)
        return line->needed;
    if (size > line->room) {
        /* Where the cut left the beginning of a character, it goes too. */
        size_t back = 1;
        const char *end = line->out + (size = line->room);
        while (back <= 3 && back <= size && ((unsigned char)end[-(ptrdiff_t)back] & 0xC0) == 0x80)
            back++;
        const char *lead = back <= size ? end - back : end;
        if (back <= size && (unsigned char)*lead >= 0xC0 &&
            utf8_decode(lead, end, &taken) == UTF8_BROKEN && taken == back)
            size -= back;
    }
    line->out[size] = '\0';
    return line->needed;
}

size_t vitals_text_command(vitals_text arguments, char *out, size_t capacity)
{
    struct shell_line line = line_over(out, capacity);
    vitals_text title = arguments;
    const char *end = arguments.size > 0 ? memchr(arguments.bytes, '\0', arguments.size) : NULL;
    if (end != NULL)
        title.size = (size_t)(end - arguments.bytes);
    size_t padding = arguments.size - title.size;
    bool is_title = title.size > 0;
    for (size_t i = 0; i < padding; i++)
        is_title = is_title && end[i] == '\0';

    /* "sshd: root@pts/0", "nginx: worker process", "/opt/browser/browser --type=renderer": words
     * for people, written over the arguments as one, and often filled up with NULs. A program
     * started without arguments from a path that holds blanks looks alike; it is told by its having
     * none of these marks. A command with empty arguments has NULs behind it too. */
    if (is_title && padding > 1)
        is_title = holds(title, " ");
    else if (is_title)
        is_title = !(starts_with(title, "/") || starts_with(title, "./") ||
                     starts_with(title, "../")) ||
                   holds(title, ": ") || holds(title, " -");
    if (is_title)
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
