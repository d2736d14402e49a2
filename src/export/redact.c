/* redact.c: see redact.h. Examines words one by one; a word that no rule matches is unchanged. */
#include "export/redact.h"

#include <jansson.h>
#include <string.h>

static const char *const FORMS[] = {"off", "argv0", "redacted", "full"};

int redact_form_of(const char *word)
{
    for (int i = 0; i < (int)(sizeof FORMS / sizeof FORMS[0]); i++) {
        if (strcmp(FORMS[i], word) == 0)
            return i;
    }
    return -1;
}

static const char HIDDEN[] = "***";

/* ---- characters and words, without a locale ---- */

static bool is_upper(char byte)
{
    return byte >= 'A' && byte <= 'Z';
}

static bool is_lower(char byte)
{
    return byte >= 'a' && byte <= 'z';
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_letter(char byte)
{
    return is_upper(byte) || is_lower(byte);
}

/* Returns whether it can be part of the name of an option or of a variable. */
static bool is_of_name(char byte)
{
    return is_letter(byte) || is_digit(byte) || byte == '_' || byte == '-' || byte == '.';
}

/* Returns whether it can be part of a token; not the slash of base64, which paths have too. */
static bool is_of_token(char byte)
{
    return is_letter(byte) || is_digit(byte) || byte == '_' || byte == '-' || byte == '+' ||
           byte == '=';
}

static bool is_quote(char byte)
{
    return byte == '\'' || byte == '"';
}

static bool is_blank(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static vitals_text part(vitals_text text, size_t from, size_t size)
{
    return (vitals_text){text.bytes + from, size};
}

static bool starts_with(vitals_text text, const char *word)
{
    size_t size = strlen(word);
    return text.size >= size && memcmp(text.bytes, word, size) == 0;
}

static bool has_blank(vitals_text text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (is_blank(text.bytes[i]))
            return true;
    }
    return false;
}

/* Returns whether the word occurs in the text, in either case. */
static bool holds(vitals_text text, const char *word)
{
    size_t size = strlen(word);
    for (size_t i = 0; i + size <= text.size; i++) {
        size_t same = 0;
        for (; same < size; same++) {
            char byte = text.bytes[i + same];
            if ((is_upper(byte) ? (char)(byte - 'A' + 'a') : byte) != word[same])
                break;
        }
        if (same == size)
            return true;
    }
    return false;
}

/* ---- rule: a name that announces a secret ---- */

static bool names_a_secret(vitals_text name)
{
    static const char *const WORDS[] = {"pass", "pwd",  "secret",     "token",
                                        "key",  "auth", "credential", "cookie"};
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        if (holds(name, WORDS[i]))
            return true;
    }
    return false;
}

/* Options whose name does not say that their value is secret, by program. A single letter may have
 * its value in the same word. */
static const struct {
    const char *program, *option;
} SHORT_OPTIONS[] = {
    {"curl", "-u"},       {"curl", "--user"},  {"wget", "--user"}, {"mysql", "-p"},
    {"mariadb", "-p"},    {"mysqldump", "-p"}, {"sshpass", "-p"},  {"redis-cli", "-a"},
    {"ldapsearch", "-w"}, {"mongo", "-p"},     {"mongosh", "-p"},  {"smbclient", "-U"},
};

/* Returns the size of a program's option in a word, up to its value or the word's end; 0 if it is
 * another one. A letter may follow others, as in -sSu. `*known`: the program has such options. */
static size_t option_size(vitals_text program, vitals_text word, bool *known)
{
    size_t found = 0;
    *known = false;
    for (size_t i = 0; i < sizeof SHORT_OPTIONS / sizeof SHORT_OPTIONS[0] && found == 0; i++) {
        const char *option = SHORT_OPTIONS[i].option;
        size_t size = strlen(option);
        if (program.size != strlen(SHORT_OPTIONS[i].program) ||
            !starts_with(program, SHORT_OPTIONS[i].program))
            continue;
        *known = true;
        if (size > 2 && starts_with(word, option))
            found = word.size == size ? size : word.bytes[size] == '=' ? size + 1 : 0;
        for (size_t at = 1; size == 2 && word.size > at && word.bytes[0] == '-' && found == 0;
             at++) {
            if (word.bytes[at] == option[1])
                found = at + 1;
            else if (!is_letter(word.bytes[at]))
                break;
        }
    }
    return found;
}

/* ---- rule: a word that looks like a token ---- */

static bool has_known_prefix(vitals_text run)
{
    static const char *const PREFIXES[] = {
        "sk-",     "ghp_", "gho_",  "ghu_",  "ghs_",  "ghr_",  "github_pat_", "glpat-",
        "AKIA",    "ASIA", "hf_",   "eyJ",   "AIza",  "ya29.", "npm_",        "pypi-",
        "dop_v1_", "dapi", "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xapp-",
    };
    enum { LEAST = 12 };
    for (size_t i = 0; run.size >= LEAST && i < sizeof PREFIXES / sizeof PREFIXES[0]; i++) {
        if (starts_with(run, PREFIXES[i]))
            return true;
    }
    return false;
}

static unsigned class_of(char byte)
{
    return is_upper(byte) ? 1u : is_lower(byte) ? 2u : is_digit(byte) ? 4u : 0u;
}

/* Returns whether it mixes letters of both cases and digits, as a name does not, or is a long
 * hexadecimal number. */
static bool looks_random(vitals_text run)
{
    enum { LEAST = 20, CHANGES = 6, HEXADECIMAL_LEAST = 32 };
    unsigned classes = 0;
    size_t changes = 0, length = 0, hexadecimal = 0;
    for (size_t i = 0; i < run.size; i++) {
        char byte = run.bytes[i];
        unsigned class = class_of(byte);
        bool is_hexadecimal = is_digit(byte) || (byte >= 'a' && byte <= 'f') ||
                              (byte >= 'A' && byte <= 'F');
        hexadecimal = is_hexadecimal ? hexadecimal + 1 : 0;
        if (hexadecimal >= HEXADECIMAL_LEAST)
            return true;
        if (class == 0) {
            classes = 0;
            changes = length = 0;
            continue;
        }
        changes += length > 0 && class != class_of(run.bytes[i - 1]);
        classes |= class;
        if (++length >= LEAST && classes == 7u && changes >= CHANGES)
            return true;
    }
    return false;
}

/* Returns the size of a token at the begin of the text: the run of its characters, and further
 * parts if it has the parts of a JWT. */
static size_t token_size(vitals_text text)
{
    size_t size = 0, whole;
    while (size < text.size && is_of_token(text.bytes[size]))
        size++;
    for (whole = size; whole < text.size; whole++) {
        if (!is_of_token(text.bytes[whole]) && text.bytes[whole] != '.' && text.bytes[whole] != '/')
            break;
    }
    if (has_known_prefix(part(text, 0, whole)))
        return whole;
    return looks_random(part(text, 0, size)) ? size : 0;
}

/* ---- a word and its parts ---- */

static bool is_separator(char byte)
{
    return byte == '=' || byte == ':';
}

/* Returns how many bytes are hidden at a position of a word; `before` is the byte before it. */
static size_t hidden_size(vitals_text rest, vitals_text before)
{
    size_t name = before.size, size = 0;

    /* The login of a URL: the part between :// and the last @, since a password may contain
     * anything. Without a colon, or with a slash before the @, it is a path. */
    if (name >= 3 && memcmp(before.bytes + name - 3, "://", 3) == 0) {
        bool path = false, may = false;
        for (size_t i = 0; i < rest.size && !is_blank(rest.bytes[i]); i++) {
            char byte = rest.bytes[i];
            path |= byte == '/' || byte == '?' || byte == '#';
            may |= !path && (byte == ':' || byte == '@');
            if (may && byte == '@')
                size = i;
        }
        return size;
    }

    /* A value after a name that announces a secret: up to the next name of a query, or of a list
     * of cookies. */
    if (name > 0 && is_separator(before.bytes[name - 1])) {
        name -= name > 1 && is_quote(before.bytes[name - 2]) ? 2u : 1u;
        size_t end = name;
        while (name > 0 && is_of_name(before.bytes[name - 1]))
            name--;
        if (names_a_secret(part(before, name, end - name))) {
            while (size < rest.size && rest.bytes[size] != '&' && rest.bytes[size] != ';')
                size++;
            return size;
        }
    }

    bool begins = before.size == 0 || !is_of_token(before.bytes[before.size - 1]) ||
                  before.bytes[before.size - 1] == '=';
    return begins ? token_size(rest) : 0;
}

/* ---- words ---- */

/* How words are separated: by NUL, as the kernel's; by blanks outside of quotes, as in text and
 * scripts, which become one space here. */
struct division {
    char between;
    unsigned depth; /* nesting: lines inside words */
};

enum { DEPTH_MOST = 3 };

static size_t word_size(vitals_text line, size_t from, char between)
{
    char quote = '\0';
    size_t to = from;
    for (; to < line.size; to++) {
        char byte = line.bytes[to];
        if (between == '\0' && byte == '\0')
            break;
        if (between == '\0')
            continue;
        /* A backslash at the end of a line counts as a blank, too. */
        if (quote == '\0' &&
            (is_blank(byte) || (byte == '\\' && to + 1 < line.size && line.bytes[to + 1] == '\n')))
            break;
        if (byte == '\\' && quote != '\'' && to + 1 < line.size)
            to++;
        else if (quote == '\0' && is_quote(byte))
            quote = byte;
        else if (byte == quote)
            quote = '\0';
    }
    return to - from;
}

static vitals_text program_of(vitals_text word)
{
    size_t from = word.size;
    while (from > 0 && word.bytes[from - 1] != '/')
        from--;
    return part(word, from, word.size - from);
}

static bool is_word(vitals_text word, const char *of)
{
    return word.size == strlen(of) && holds(word, of);
}

static void redact_words(struct buffer *text, vitals_text line, struct division division);

/* Redacts a word; it may contain a command line, as the one after sh -c. */
static void redact_word(struct buffer *text, vitals_text word, unsigned depth)
{
    /* The part before a value that is hidden as a whole, as in `--password=X`, `TOKEN=X`,
     * `Authorization: X`. */
    size_t name = 0;
    while (name < word.size && is_of_name(word.bytes[name]))
        name++;
    if (name > 0 && name + 1 < word.size && is_separator(word.bytes[name]) &&
        names_a_secret(part(word, 0, name))) {
        buffer_append(text, word.bytes, name + 1);
        buffer_string(text, HIDDEN);
        return;
    }
    if (depth < DEPTH_MOST && has_blank(word)) {
        redact_words(text, word, (struct division){' ', depth + 1});
        return;
    }
    for (size_t i = 0; i < word.size;) {
        size_t size = hidden_size(part(word, i, word.size - i), part(word, 0, i));
        if (size > 0)
            buffer_string(text, HIDDEN);
        else
            buffer_byte(text, word.bytes[i]);
        i += size > 0 ? size : 1;
    }
}

static void redact_words(struct buffer *text, vitals_text line, struct division division)
{
    vitals_text program = {"", 0};
    bool hide = false, known;
    for (size_t at = 0; at < line.size;) {
        vitals_text word = part(line, at, word_size(line, at, division.between));
        bool is_option = word.size > 0 && word.bytes[0] == '-';
        (void)option_size(program_of(word), word, &known);
        if (known) /* also after sudo, timeout, docker exec … */
            program = program_of(word);
        bool scheme = is_word(word, "bearer") || is_word(word, "basic");

        if (hide && !is_option && word.size > 0) {
            buffer_string(text, HIDDEN);
            hide = scheme;
        } else {
            /* A word of text may be quoted. */
            bool quoted = division.between != '\0' && word.size >= 2 && is_quote(word.bytes[0]) &&
                          word.bytes[word.size - 1] == word.bytes[0];
            vitals_text inside = quoted ? part(word, 1, word.size - 2) : word;
            size_t option = option_size(program, inside, &known);
            if (quoted)
                buffer_byte(text, word.bytes[0]);
            if (option > 0 && option < inside.size) {
                buffer_append(text, inside.bytes, option);
                buffer_string(text, HIDDEN);
            } else {
                redact_word(text, inside, division.depth);
            }
            if (quoted)
                buffer_byte(text, word.bytes[0]);

            /* Whether the next word is a secret, because of this one. */
            bool announces = word.size > 1 &&
                             (is_separator(word.bytes[word.size - 1]) ||
                              (is_option && memchr(word.bytes, '=', word.size) == NULL &&
                               !has_blank(word)));
            hide = (hide && word.size == 0) || scheme ||
                   (word.size > 0 && option_size(program, word, &known) == word.size) ||
                   (announces && names_a_secret(word));
        }
        at += word.size;
        if (at < line.size)
            buffer_byte(text, line.bytes[at++]);
    }
}

void redact_line(struct buffer *text, vitals_text line, enum redact_form form)
{
    while (line.size > 0 && line.bytes[line.size - 1] == '\0')
        line.size--;
    bool divided = line.size > 0 && memchr(line.bytes, '\0', line.size) != NULL;
    struct division division = {divided ? '\0' : ' ', 0};
    switch (form) {
    case REDACT_OFF: break;
    case REDACT_ARGV0: buffer_append(text, line.bytes, word_size(line, 0, division.between)); break;
    case REDACT_REDACTED: redact_words(text, line, division); break;
    case REDACT_FULL: buffer_append(text, line.bytes, line.size); break;
    }
}

void redact_arguments(struct buffer *text, const json_t *arguments, enum redact_form form)
{
    struct buffer words = {.bytes = NULL}, line = {.bytes = NULL};
    for (size_t i = 0; i < json_array_size(arguments) && form != REDACT_OFF; i++) {
        const char *argument = json_string_value(json_array_get(arguments, i));
        if (argument != NULL)
            buffer_append(&words, argument, strlen(argument) + 1);
    }
    vitals_text bytes = {words.bytes, words.size};
    size_t size = words.size > 0 ? vitals_text_command(bytes, NULL, 0) : 0;
    char *place = size > 0 && !words.failed ? buffer_reserve(&line, size) : NULL;
    if (place != NULL) {
        (void)vitals_text_command(bytes, place, size + 1);
        redact_line(text, (vitals_text){place, size}, form);
    }
    buffer_done(&words);
    buffer_done(&line);
}

/* ---- the document of a sample ---- */

/* The text before each command line's value. A name cannot contain it, because quotes inside a
 * string are escaped. */
static const char MEMBER[] = "\"command_line\":\"";
enum { MEMBER_SIZE = sizeof MEMBER - 1, LINE_MAX_BYTES = 64 * 1024 };

void command_lines_write(struct buffer *text, const char *json, size_t size, enum redact_form form)
{
    const char *from = json, *end = json + size, *found;
    char line[LINE_MAX_BYTES];
    while (form != REDACT_FULL &&
           (found = memmem(from, (size_t)(end - from), MEMBER, MEMBER_SIZE)) != NULL) {
        const char *string = found + MEMBER_SIZE - 1, *quote = string + 1;
        for (; quote < end && *quote != '"'; quote++)
            quote += *quote == '\\';
        if (quote >= end)
            break;
        buffer_append(text, from, (size_t)(string - from));
        from = quote + 1;

        /* The string is replaced; one that cannot be decoded or is longer than a page shows becomes
         * empty. */
        struct buffer redacted = {.bytes = NULL};
        json_t *value = json_loadb(string, (size_t)(from - string),
                                   JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, NULL);
        vitals_text arguments = {json_string_value(value), json_string_length(value)};
        size_t whole = sizeof line;
        if (arguments.bytes != NULL && arguments.size > 0)
            whole = vitals_text_command(arguments, line, sizeof line);
        if (whole < sizeof line)
            redact_line(&redacted, (vitals_text){line, whole}, form);
        buffer_byte(text, '"');
        if (redacted.size > 0) {
            text_safe(text, (vitals_text){redacted.bytes, redacted.size}, VITALS_TEXT_JSON);
            buffer_string(text, "\\u0000");
        }
        buffer_byte(text, '"');
        text->failed |= redacted.failed;
        buffer_done(&redacted);
        json_decref(value);
    }
    buffer_append(text, from, (size_t)(end - from));
}
