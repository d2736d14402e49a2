/* text.c: text from outside, made harmless for where it goes.
 *
 * A walk cuts the text into pieces, one for each character; a style says what a piece looks like
 * for a destination; a sink takes them while there is room. text.h says what the escapes are. */
#include <vitals/text.h>

#include "util/base.h"
#include "util/utf8.h"

#include <string.h>

enum { LABEL_MAX = 128 };

static const char REPLACEMENT[] = "\xEF\xBF\xBD";
static const char ELLIPSIS[] = "\xE2\x80\xA6";
static const char HEX[] = "0123456789abcdef";

/* The form of one character of the text; it is never cut. */
struct text_piece {
    char bytes[12]; /* the longest is a JSON pair of surrogates */
    unsigned char size;
    unsigned char columns;
};

static struct text_piece piece_of(const char *bytes, size_t size, int columns)
{
    struct text_piece piece = {.size = (unsigned char)size, .columns = (unsigned char)columns};
    memcpy(piece.bytes, bytes, size);
    return piece;
}

static struct text_piece piece_ascii(const char *bytes, size_t size)
{
    return piece_of(bytes, size, (int)size);
}

static struct text_piece piece_replacement(uint32_t character UNUSED)
{
    return piece_of(REPLACEMENT, 3, 1);
}

/* "\n" and its like; size 0 where the control has no such name. */
static struct text_piece piece_named(const char *controls, const char *names, uint32_t character)
{
    bool ascii = character != 0 && character < 0x80; /* strchr looks at the low byte alone */
    const char *found = ascii ? strchr(controls, (int)character) : NULL;
    if (found == NULL)
        return (struct text_piece){.size = 0};
    return piece_ascii((const char[]){'\\', names[found - controls]}, 2);
}

static struct text_piece escape_byte(uint32_t byte)
{
    return piece_ascii((const char[]){'\\', 'x', HEX[byte >> 4 & 15], HEX[byte & 15]}, 4);
}

static struct text_piece escape_character(uint32_t character)
{
    if (character < 0x80) {
        struct text_piece named = piece_named("\n\t\r\x1b", "ntre", character);
        return named.size != 0 ? named : escape_byte(character);
    }
    char text[10] = "\\u{";
    size_t size = 3;
    int shift = 20;
    while (character >> shift == 0)
        shift -= 4;
    for (; shift >= 0; shift -= 4)
        text[size++] = HEX[character >> shift & 15];
    text[size++] = '}';
    return piece_ascii(text, size);
}

static size_t json_unit(char *out, uint32_t unit)
{
    const char text[] = {
        '\\', 'u', HEX[unit >> 12 & 15], HEX[unit >> 8 & 15], HEX[unit >> 4 & 15], HEX[unit & 15]};
    memcpy(out, text, sizeof text);
    return sizeof text;
}

static struct text_piece escape_json(uint32_t character)
{
    struct text_piece named = piece_named("\n\t\r\b\f\"\\", "ntrbf\"\\", character);
    if (named.size != 0)
        return named;
    char text[12];
    size_t size = 0;
    if (character >= 0x10000) {
        size = json_unit(text, 0xD800 + ((character - 0x10000) >> 10));
        character = 0xDC00 + ((character - 0x10000) & 0x3FF);
    }
    size += json_unit(text + size, character);
    return piece_ascii(text, size);
}

static struct text_piece escape_label(uint32_t character)
{
    struct text_piece named = piece_named("\n\"\\", "n\"\\", character);
    return named.size != 0 ? named : piece_replacement(character);
}

/* Two quotes for one. */
static struct text_piece escape_csv(uint32_t character)
{
    return character == '"' ? piece_ascii("\"\"", 2) : escape_character(character);
}

struct style {
    struct text_piece (*escape)(uint32_t character);
    struct text_piece (*broken)(uint32_t byte);
    const char *specials; /* printable ASCII that does not stand as it is */
    bool byte_by_byte;    /* each broken byte for itself, so that it can be read back */
    bool reversible;      /* our own escapes: the rule for the backslash, marks need a base */
    bool ascii;
};

static const struct style STYLES[] = {
    [VITALS_TEXT_TERMINAL] = {escape_character, escape_byte, "", true, true, false},
    [VITALS_TEXT_ASCII] = {escape_character, escape_byte, "", true, true, true},
    [VITALS_TEXT_JSON] = {escape_json, piece_replacement, "\"\\", false, false, false},
    [VITALS_TEXT_CSV] = {escape_csv, escape_byte, "\"", true, true, false},
    [VITALS_TEXT_LABEL] = {escape_label, piece_replacement, "\"\\", false, false, false},
};

_Static_assert(ARRAY_COUNT(STYLES) == VITALS_TEXT_LABEL + 1, "one style for each form");

/* A form that is none is written as the most careful one. */
static const struct style *style_of(vitals_text_form form)
{
    unsigned index = (unsigned)form;
    return index == 0 || index >= ARRAY_COUNT(STYLES) ? &STYLES[VITALS_TEXT_ASCII] : &STYLES[index];
}

/* A walk over the text, piece by piece. */
struct text_scan {
    const char *at;
    const char *end;
    const struct style *style;
    bool based; /* a mark here would stand on a character of the text */
};

/* Most of all text: a run of printable ASCII that every form leaves alone, apart from its specials.
 * Returns how many there are at the start. */
static size_t plain_run(const char *at, const char *end)
{
    const char *from = at;
    while (at < end && *at >= ' ' && *at <= '~' && *at != '"' && *at != '\\')
        at++;
    return (size_t)(at - from);
}

/* The next piece; not to be asked at the end. */
static struct text_piece scan_next(struct text_scan *scan)
{
    const struct style *style = scan->style;
    const char *at = scan->at;
    size_t size;
    if (*at == '\\' && style->reversible) {
        /* A lone backslash is doubled where the byte behind would make it read as an escape. */
        bool doubled = false;
        scan->at++;
        scan->based = true;
        if (scan->at < scan->end) {
            uint32_t next = utf8_decode(scan->at, scan->end, &size);
            if (next == UTF8_BROKEN || width_of(next) == WIDTH_HIDDEN)
                doubled = true;
            else
                doubled = next < 0x80 ? strchr("ntrexu\\", (int)next) != NULL : style->ascii;
        }
        return piece_ascii("\\\\", doubled ? 2 : 1);
    }
    uint32_t character = utf8_decode(at, scan->end, &size);
    bool based = scan->based;
    scan->based = false;
    if (character == UTF8_BROKEN) {
        scan->at += style->byte_by_byte ? 1 : size;
        return style->broken((unsigned char)*at);
    }
    scan->at += size;
    int width = width_of(character);
    bool special = character < 0x80 && character != 0 &&
                   strchr(style->specials, (int)character) != NULL;
    bool adrift = width == 0 && !based && style->reversible;
    if (width == WIDTH_HIDDEN || special || adrift || (style->ascii && character >= 0x80))
        return style->escape(character);
    scan->based = true;
    return piece_of(at, size, width);
}

/* Where pieces go: at most `room` bytes and `columns` columns; once cut, for good. */
struct sink {
    char *out;
    size_t room;
    size_t columns;
    size_t written;
    size_t used; /* columns */
    size_t needed;
    bool cut;
};

static void sink_put(struct sink *sink, const char *bytes, size_t size, size_t columns)
{
    sink->needed += size;
    if (size > sink->room - sink->written || columns > sink->columns - sink->used)
        sink->cut = true;
    if (sink->cut)
        return;
    memcpy(sink->out + sink->written, bytes, size);
    sink->written += size;
    sink->used += columns;
}

static struct text_scan scan_over(vitals_text text, const struct style *style)
{
    const char *bytes = text.size != 0 ? text.bytes : "";
    return (struct text_scan){.at = bytes, .end = bytes + text.size, .style = style};
}

static void sink_text(struct sink *sink, vitals_text text, const struct style *style)
{
    struct text_scan scan = scan_over(text, style);
    while (scan.at < scan.end) {
        size_t run = plain_run(scan.at, scan.end);
        if (run != 0) {
            /* It may be cut anywhere. */
            size_t fits = size_min(sink->room - sink->written, sink->columns - sink->used);
            size_t first = sink->cut ? 0 : size_min(run, fits);
            if (first != 0)
                sink_put(sink, scan.at, first, first);
            sink->cut |= first < run;
            sink->needed += run - first;
            scan.at += run;
            scan.based = true;
        } else if (*scan.at == '\0' && style->escape == escape_json) {
            /* As scan_next has it, at once: each argument of a command line ends so. */
            sink_put(sink, "\\u0000", 6, 6);
            scan.at++;
            scan.based = false;
        } else {
            struct text_piece piece = scan_next(&scan);
            sink_put(sink, piece.bytes, piece.size, piece.columns);
        }
    }
}

/* At most LABEL_MAX bytes; an ellipsis says that it was cut. */
static void sink_label(struct sink *sink, vitals_text text)
{
    struct text_scan scan = scan_over(text, &STYLES[VITALS_TEXT_LABEL]);
    size_t size = 0, part = 0;
    while (scan.at < scan.end && size <= LABEL_MAX) {
        size += scan_next(&scan).size;
        if (size <= LABEL_MAX - (sizeof ELLIPSIS - 1))
            part = (size_t)(scan.at - text.bytes);
    }
    bool cut = size > LABEL_MAX;
    sink_text(sink, (vitals_text){text.bytes, cut ? part : text.size}, scan.style);
    if (cut)
        sink_put(sink, ELLIPSIS, sizeof ELLIPSIS - 1, 1);
}

/* RFC 4180. A field that is cut keeps its closing quote. */
static void sink_csv(struct sink *sink, vitals_text text)
{
    /* Also where a blank at an end would be lost to some readers, and where nothing at all would
     * read as a value that is missing. */
    bool quoted = text.size == 0 || memchr(text.bytes, ',', text.size) != NULL ||
                  memchr(text.bytes, '"', text.size) != NULL || text.bytes[0] == ' ' ||
                  text.bytes[text.size - 1] == ' ';
    bool pair = sink->room >= 2 && sink->columns >= 2; /* half a pair would break the row */
    if (quoted) {
        sink->cut = !pair;
        sink_put(sink, "\"", 1, 1);
        sink->room -= pair;
        sink->columns -= pair;
    }
    sink_text(sink, text, &STYLES[VITALS_TEXT_CSV]);
    if (quoted) {
        sink->room += pair;
        sink->columns += pair;
        sink->cut = !pair;
        sink_put(sink, "\"", 1, 1);
    }
}

static size_t sink_finish(struct sink *sink, vitals_text text, vitals_text_form form,
                          size_t capacity)
{
    sink->room = capacity != 0 ? capacity - 1 : 0;
    if (form == VITALS_TEXT_CSV)
        sink_csv(sink, text);
    else if (form == VITALS_TEXT_LABEL)
        sink_label(sink, text);
    else
        sink_text(sink, text, style_of(form));
    if (capacity != 0)
        sink->out[sink->written] = '\0';
    return sink->needed;
}

vitals_text vitals_text_of(const char *string)
{
    return (vitals_text){string != NULL ? string : "", string != NULL ? strlen(string) : 0};
}

size_t vitals_text_format(vitals_text text, vitals_text_form form, char *out, size_t capacity)
{
    struct sink sink = {.out = out, .columns = SIZE_MAX};
    return sink_finish(&sink, text, form, capacity);
}

size_t vitals_text_columns(vitals_text text, vitals_text_form form)
{
    struct text_scan scan = scan_over(text, style_of(form));
    size_t columns = 0;
    while (scan.at < scan.end) {
        size_t run = plain_run(scan.at, scan.end);
        scan.at += run;
        scan.based = scan.based || run != 0;
        columns += run;
        if (run == 0)
            columns += scan_next(&scan).columns;
    }
    return columns;
}

size_t vitals_text_fit(vitals_text text, vitals_text_form form, size_t columns, char *out,
                       size_t capacity, size_t *used)
{
    struct sink sink = {.out = out, .columns = columns};
    size_t needed = sink_finish(&sink, text, form, capacity);
    if (used != NULL)
        *used = sink.used;
    return needed;
}
