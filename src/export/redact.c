/* redact.c: see redact.h. Examines words one by one; a word that no rule matches is unchanged. */
#include "export/redact.h"

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

static bool is_hexadecimal(char byte)
{
    return is_digit(byte) || (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');
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

static char lowered(char byte)
{
    return is_upper(byte) ? (char)(byte - 'A' + 'a') : byte;
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
        while (same < size && lowered(text.bytes[i + same]) == word[same])
            same++;
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

static bool is_program(size_t i, vitals_text program)
{
    return program.size == strlen(SHORT_OPTIONS[i].program) &&
           starts_with(program, SHORT_OPTIONS[i].program);
}

static bool is_known(vitals_text program)
{
    size_t i = 0;
    while (i < sizeof SHORT_OPTIONS / sizeof SHORT_OPTIONS[0] && !is_program(i, program))
        i++;
    return i < sizeof SHORT_OPTIONS / sizeof SHORT_OPTIONS[0];
}

/* Returns the size of the option in a word, up to its value or the word's end; 0 if it is another
 * one. A letter may follow others, as in -sSu. */
static size_t size_of_option(const char *option, vitals_text word)
{
    size_t size = strlen(option);
    if (size > 2) {
        bool begins = starts_with(word, option);
        return begins && word.size == size                             ? size
               : begins && word.size > size && word.bytes[size] == '=' ? size + 1
                                                                       : 0;
    }
    for (size_t i = 1; word.size > 1 && word.bytes[0] == '-' && i < word.size; i++) {
        if (word.bytes[i] == option[1])
            return i + 1;
        if (!is_letter(word.bytes[i]))
            break;
    }
    return 0;
}

static size_t option_size(vitals_text program, vitals_text word)
{
    size_t size = 0;
    for (size_t i = 0; i < sizeof SHORT_OPTIONS / sizeof SHORT_OPTIONS[0] && size == 0; i++) {
        if (is_program(i, program))
            size = size_of_option(SHORT_OPTIONS[i].option, word);
    }
    return size;
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

/* Returns whether it mixes letters of both cases and digits, as a name does not. */
static bool is_mixed(vitals_text run)
{
    enum { LEAST = 20, CHANGES = 6 };
    unsigned classes = 0;
    size_t changes = 0, length = 0;
    for (size_t i = 0; i < run.size; i++) {
        unsigned class = class_of(run.bytes[i]);
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

static bool is_long_hexadecimal(vitals_text run)
{
    enum { LEAST = 32 };
    size_t length = 0;
    for (size_t i = 0; i < run.size; i++) {
        length = is_hexadecimal(run.bytes[i]) ? length + 1 : 0;
        if (length >= LEAST)
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
    return is_mixed(part(text, 0, size)) || is_long_hexadecimal(part(text, 0, size)) ? size : 0;
}

/* ---- rule: the login of a URL ---- */

/* Returns the size of the part between :// and the last @, if the text begins with it: a password
 * may contain anything. Without a colon, or with a slash before the @, it is a path. */
static size_t user_size(vitals_text text)
{
    size_t size = 0;
    bool path = false, may = false;
    for (size_t i = 0; i < text.size && !is_blank(text.bytes[i]); i++) {
        char byte = text.bytes[i];
        path |= byte == '/' || byte == '?' || byte == '#';
        may |= !path && (byte == ':' || byte == '@');
        if (may && byte == '@')
            size = i;
    }
    return size;
}

/* ---- a word and its parts ---- */

/* Returns the size of a value: up to the next name of a query, or of a list of cookies. */
static size_t value_size(vitals_text text)
{
    size_t size = 0;
    while (size < text.size && text.bytes[size] != '&' && text.bytes[size] != ';')
        size++;
    return size;
}

static bool is_separator(char byte)
{
    return byte == '=' || byte == ':';
}

/* Returns how many bytes are hidden at a position of a word; `before` is the byte before it. */
static size_t hidden_size(vitals_text rest, vitals_text before)
{
    static const char SCHEME[] = "://";
    size_t name = before.size;
    if (before.size >= sizeof SCHEME - 1 && memcmp(before.bytes + before.size - 3, SCHEME, 3) == 0)
        return user_size(rest);
    if (name > 0 && is_separator(before.bytes[name - 1])) {
        name -= name > 1 && is_quote(before.bytes[name - 2]) ? 2u : 1u;
        size_t end = name;
        while (name > 0 && is_of_name(before.bytes[name - 1]))
            name--;
        if (names_a_secret(part(before, name, end - name)))
            return value_size(rest);
    }
    bool begins = before.size == 0 || !is_of_token(before.bytes[before.size - 1]) ||
                  before.bytes[before.size - 1] == '=';
    return begins ? token_size(rest) : 0;
}

static void redact_inside(struct text *text, vitals_text word)
{
    for (size_t i = 0; i < word.size;) {
        size_t size = hidden_size(part(word, i, word.size - i), part(word, 0, i));
        if (size > 0)
            text_string(text, HIDDEN);
        else
            text_byte(text, word.bytes[i]);
        i += size > 0 ? size : 1;
    }
}

/* Returns the size of the part before a value that is hidden as a whole, as in `--password=X`,
 * `TOKEN=X`, `Authorization: X`; 0 for any other word. */
static size_t assigned_size(vitals_text word)
{
    size_t size = 0;
    while (size < word.size && is_of_name(word.bytes[size]))
        size++;
    bool assigns = size > 0 && size + 1 < word.size && is_separator(word.bytes[size]);
    return assigns && names_a_secret(part(word, 0, size)) ? size + 1 : 0;
}

/* ---- words ---- */

/* How words are separated: by NUL, as the kernel's; by blanks outside of quotes, as in text and
 * scripts, which become one space here. */
struct division {
    char between;
    unsigned depth; /* nesting: lines inside words */
};

enum { DEPTH_MOST = 3 };

/* A backslash at the end of a line counts as a blank, too. */
static bool divides(vitals_text line, size_t at, char between)
{
    char byte = line.bytes[at];
    if (between == '\0')
        return byte == '\0';
    return is_blank(byte) || (byte == '\\' && at + 1 < line.size && line.bytes[at + 1] == '\n');
}

static size_t word_size(vitals_text line, size_t from, char between)
{
    char quote = '\0';
    size_t to = from;
    for (; to < line.size && (quote != '\0' || !divides(line, to, between)); to++) {
        char byte = line.bytes[to];
        if (between == '\0')
            continue;
        if (byte == '\\' && quote != '\'' && to + 1 < line.size)
            to++;
        else if (quote == '\0' && is_quote(byte))
            quote = byte;
        else if (byte == quote)
            quote = '\0';
    }
    return to - from;
}

/* Returns the text between the quotes, if a word of text is quoted. */
static bool is_quoted(vitals_text word, char between)
{
    return between != '\0' && word.size >= 2 && is_quote(word.bytes[0]) &&
           word.bytes[word.size - 1] == word.bytes[0];
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

/* Returns whether the next word is a secret, because of this one. */
static bool hides_next(vitals_text program, vitals_text word)
{
    if ((word.size > 0 && option_size(program, word) == word.size) || is_word(word, "bearer") ||
        is_word(word, "basic"))
        return true;
    bool is_option = word.size > 1 && word.bytes[0] == '-' &&
                     memchr(word.bytes, '=', word.size) == NULL && !has_blank(word);
    bool is_name = word.size > 1 && is_separator(word.bytes[word.size - 1]);
    return (is_option || is_name) && names_a_secret(word);
}

static void redact_words(struct text *text, vitals_text line, struct division division);

/* Redacts a word; it may contain a command line, as the one after sh -c. */
static void redact_word(struct text *text, vitals_text word, unsigned depth)
{
    size_t assigned = assigned_size(word);
    if (assigned > 0) {
        text_append(text, word.bytes, assigned);
        text_string(text, HIDDEN);
    } else if (depth < DEPTH_MOST && has_blank(word)) {
        redact_words(text, word, (struct division){' ', depth + 1});
    } else {
        redact_inside(text, word);
    }
}

static void put_word(struct text *text, vitals_text program, vitals_text word,
                     struct division division)
{
    bool quoted = is_quoted(word, division.between);
    vitals_text inside = quoted ? part(word, 1, word.size - 2) : word;
    size_t option = option_size(program, inside);
    if (quoted)
        text_byte(text, word.bytes[0]);
    if (option > 0 && option < inside.size) {
        text_append(text, inside.bytes, option);
        text_string(text, HIDDEN);
    } else {
        redact_word(text, inside, division.depth);
    }
    if (quoted)
        text_byte(text, word.bytes[0]);
}

static void redact_words(struct text *text, vitals_text line, struct division division)
{
    vitals_text program = {"", 0};
    bool hide = false;
    for (size_t at = 0; at < line.size;) {
        vitals_text word = part(line, at, word_size(line, at, division.between));
        bool is_option = word.size > 0 && word.bytes[0] == '-';
        if (is_known(program_of(word))) /* also after sudo, timeout, docker exec … */
            program = program_of(word);
        bool hidden = hide && !is_option && word.size > 0;
        if (hidden)
            text_string(text, HIDDEN);
        else
            put_word(text, program, word, division);
        hide = hidden ? is_word(word, "bearer") || is_word(word, "basic")
                      : hides_next(program, word) || (hide && word.size == 0);
        at += word.size;
        if (at < line.size)
            text_byte(text, line.bytes[at++]);
    }
}

void redact_line(struct text *text, vitals_text line, enum redact_form form)
{
    while (line.size > 0 && line.bytes[line.size - 1] == '\0')
        line.size--;
    bool divided = line.size > 0 && memchr(line.bytes, '\0', line.size) != NULL;
    struct division division = {divided ? '\0' : ' ', 0};
    switch (form) {
    case REDACT_OFF: break;
    case REDACT_ARGV0: text_append(text, line.bytes, word_size(line, 0, division.between)); break;
    case REDACT_REDACTED: redact_words(text, line, division); break;
    case REDACT_FULL: text_append(text, line.bytes, line.size); break;
    }
}
