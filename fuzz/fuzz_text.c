/* Any bytes through every form of text.h: bounded, one line, nothing that a terminal obeys, JSON
 * and labels in valid UTF-8, and the sizes and columns that were told. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <vitals/text.h>

#include "util/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* Valid UTF-8 without anything hidden: what every form promises. Returns the columns. */
static size_t require_harmless(const char *bytes, size_t size, bool ascii)
{
    size_t columns = 0;
    for (const char *at = bytes; at < bytes + size;) {
        size_t taken;
        uint32_t character = utf8_decode(at, bytes + size, &taken);
        require(character != UTF8_BROKEN);
        require(width_of(character) != WIDTH_HIDDEN);
        require(!ascii || character < 0x80);
        columns += (size_t)width_of(character);
        at += taken;
    }
    return columns;
}

/* Every quote and backslash inside a JSON string belongs to an escape. */
static void require_json(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        require(bytes[i] != '"');
        if (bytes[i] != '\\')
            continue;
        require(++i < size && memchr("\"\\bfnrtu", bytes[i], 8) != NULL);
        if (bytes[i] == 'u')
            require(i + 4 < size && strspn(bytes + i + 1, "0123456789abcdef") >= 4);
    }
}

/* A quote inside a field stands twice, and a field with a comma has quotes around it. */
static void require_csv(const char *bytes, size_t size)
{
    bool quoted = size != 0 && bytes[0] == '"';
    require(!quoted || (size >= 2 && bytes[size - 1] == '"'));
    if (!quoted)
        require(memchr(bytes, ',', size) == NULL && memchr(bytes, '"', size) == NULL);
    for (size_t i = 1; quoted && i + 1 < size; i++)
        if (bytes[i] == '"')
            require(bytes[++i] == '"' && i + 1 < size);
}

static void check_form(vitals_text text, vitals_text_form form, size_t capacity)
{
    char *out = malloc(capacity + 1);
    require(out != NULL);
    size_t needed = vitals_text_format(text, form, out, capacity);
    size_t written = capacity != 0 ? strlen(out) : 0;
    require(capacity == 0 || written < capacity);
    require(needed >= capacity || written == needed);
    size_t columns = require_harmless(out, written, form == VITALS_TEXT_ASCII);
    bool own = form == VITALS_TEXT_TERMINAL || form == VITALS_TEXT_ASCII;
    if (own && needed < capacity)
        require(vitals_text_columns(text, form) == columns);
    if (form == VITALS_TEXT_JSON)
        require_json(out, written);
    if (form == VITALS_TEXT_CSV)
        require_csv(out, written);
    if (form == VITALS_TEXT_LABEL)
        require(needed <= 128);

    size_t limit = capacity % 40;
    size_t used;
    require(vitals_text_fit(text, form, limit, out, capacity, &used) == needed);
    written = capacity != 0 ? strlen(out) : 0;
    columns = require_harmless(out, written, form == VITALS_TEXT_ASCII);
    require(used <= limit && (!own || used == columns));
    free(out);
}

/* What stands behind a backslash between $' and '; *at goes to its last byte. */
static char escaped(const char **at)
{
    static const char digits[] = "0123456789abcdef";
    if (**at == 'n' || **at == 't')
        return **at == 'n' ? '\n' : '\t';
    require(**at == 'x');
    const char *high = memchr(digits, (*at)[1], 16);
    const char *low = high != NULL ? memchr(digits, (*at)[2], 16) : NULL;
    require(low != NULL);
    *at += 2;
    return (char)(16 * (high - digits) + (low - digits));
}

/* What a shell makes of one word of a strict line, which ends at a blank or at the end: the bytes
 * go to *out, and what is returned stands behind it. */
static const char *unquoted(const char *at, char **out)
{
    char quoting = '\0';
    for (; *at != '\0' && (quoting != '\0' || *at != ' '); at++) {
        if (quoting == '\0' && *at == '\\') {
            require(*++at == '\'');
            *(*out)++ = '\'';
        } else if (quoting == '\0' && *at == '$') {
            require(*++at == '\'');
            quoting = '$';
        } else if (*at == '\'') {
            quoting = quoting == '\0' ? '\'' : '\0';
        } else if (quoting == '$') {
            require(*at++ == '\\'); // nothing but escapes
            *(*out)++ = escaped(&at);
        } else {
            require(quoting != '\0' || (*at < 0x7F && strchr("*?[]~#&|;<>(){}!`\"", *at) == NULL));
            *(*out)++ = *at;
        }
    }
    require(quoting == '\0');
    return at;
}

/* Harmless as it stands, and the words are the arguments again. */
static void check_strict(vitals_text text, size_t needed)
{
    char *line = malloc(needed + 1), *back = malloc(needed + 2), *out = back;
    require(line != NULL && back != NULL);
    require(vitals_text_command_strict(text, line, needed + 1) == needed);
    require(strlen(line) == needed);
    require_harmless(line, needed, false);
    if (text.size != 0) {
        for (const char *at = line;; at++) {
            at = unquoted(at, &out);
            *out++ = '\0';
            if (*at == '\0')
                break;
        }
    }
    size_t size = (size_t)(out - back);
    bool ended = text.size == 0 || text.bytes[text.size - 1] == '\0';
    require(size == text.size + !ended);
    require(text.size == 0 || memcmp(back, text.bytes, text.size) == 0);
    free(line);
    free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    size_t small = (size_t)data[0] | (size_t)data[1] << 8;
    vitals_text text = {(const char *)data + 2, size - 2};
    for (int form = VITALS_TEXT_TERMINAL; form <= VITALS_TEXT_LABEL; form++) {
        check_form(text, (vitals_text_form)form, small % 300);
        check_form(text, (vitals_text_form)form, size * 12 + 8);
    }

    size_t room = size * 4 + 8;
    char *line = malloc(room);
    require(line != NULL);
    size_t needed = vitals_text_command(text, line, room);
    require(needed < room && strlen(line) == needed);
    require(vitals_text_command(text, line, small % 64) == needed);

    needed = vitals_text_command_strict(text, line, room);
    require(vitals_text_command_strict(text, line, small % 64) == needed);
    free(line);
    check_strict(text, needed);
    return 0;
}
