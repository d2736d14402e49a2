/* ps_cells.c: the values of `vitals ps` as text: for people, and as fields of CSV. */
#include "command/processes/ps_columns.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CELL = 256 };

/* Replaces what stood in `out`. Printable ASCII without the backslash, with which our escapes
 * begin, stands as it is in any form for people: nearly every text, which is then only copied. */
static const char *put_text(struct buffer *out, vitals_text text, vitals_text_form form)
{
    unsigned char odd = form == VITALS_TEXT_CSV;
    for (size_t i = 0; i < text.size;
         i++) { // without an early exit, so that the compiler vectorizes it
        unsigned char byte = (unsigned char)text.bytes[i];
        odd |= (unsigned char)(byte < ' ') | (unsigned char)(byte > '~') |
               (unsigned char)(byte == '\\');
    }
    out->size = 0;
    if (odd)
        text_safe(out, text, form);
    else
        buffer_append(out, text.bytes, text.size);
    return out->failed ? "" : out->bytes;
}

/* Arguments as a shell reads them. */
static const char *put_arguments(struct buffer *out, vitals_text arguments, vitals_text_form form)
{
    struct buffer joined = {0};
    for (size_t room = arguments.size; buffer_reserve(&joined, room) != NULL;) {
        room = vitals_text_command(arguments, joined.bytes, joined.capacity);
        if (room < joined.capacity)
            break;
    }
    out->failed |= joined.failed;
    const char *text = put_text(out, vitals_text_of(joined.failed ? "" : joined.bytes), form);
    buffer_done(&joined);
    return text;
}

/* A number with no decimal or one, as printf rounds it, but ten times as fast: a list of a thousand
 * processes holds several thousand. printf writes values that are negative, huge, or so close to
 * half a unit that multiplying could round them the other way. */
static void put_decimal(double number, bool decimal, char out[static CELL])
{
    double scaled = decimal ? number * 10 : number;
    double whole = floor(scaled), rest = scaled - whole;
    if (signbit(number) || !(scaled < 1e12) || fabs(rest - 0.5) < 1e-3) {
        snprintf(out, CELL, "%.*f", (int)decimal, number);
        return;
    }
    uint64_t left = (uint64_t)whole + (rest > 0.5);
    char digits[24];
    size_t at = sizeof digits;
    digits[--at] = '\0';
    for (size_t place = 0; left > 0 || place < 1 + 2 * (size_t)decimal; place++) {
        bool point = decimal && place == 1;
        digits[--at] = point ? '.' : (char)('0' + left % 10);
        left = point ? left : left / 10;
    }
    memcpy(out, digits + at, sizeof digits - at);
}

/* The local time of a moment, kept for the next call: many processes start in the same second. */
struct local {
    bool known;
    time_t moment;
    struct tm time;
};

static bool local_of(struct local *local, time_t moment)
{
    if (!local->known || local->moment != moment) {
        local->known = localtime_r(&moment, &local->time) != NULL;
        local->moment = moment;
    }
    return local->known;
}

/* A time since boot in the reader's time zone; as ps(1): the hour of today, the day of this year,
 * the year. */
static void put_start(const struct ps_view *view, double seconds, bool whole, char out[static CELL])
{
    static struct local start, now;
    double age = (double)vitals_snapshot_boottime_ns(view->now) / 1e9 - seconds;
    double realtime = (double)vitals_snapshot_realtime_ns(view->now) / 1e9;
    double moment = floor(realtime - age);
    size_t size = 0;
    if (fabs(moment) < 1e11 && local_of(&start, (time_t)moment) &&
        local_of(&now, (time_t)realtime)) {
        if (whole)
            size = strftime(out, CELL, "%a %b %e %H:%M:%S %Y", &start.time);
        else if (start.time.tm_year != now.time.tm_year)
            size = strftime(out, CELL, "%Y", &start.time);
        else if (start.time.tm_yday != now.time.tm_yday)
            size = strftime(out, CELL, "%b%d", &start.time);
        else
            size = strftime(out, CELL, "%H:%M", &start.time);
    }
    if (size == 0)
        snprintf(out, CELL, "N/A");
}

static void put_number(const struct ps_column *column, const struct ps_view *view, double number,
                       char out[static CELL])
{
    char *unit = NULL;
    switch (column->show) {
    case SHOW_BYTES:
        if (view->bytes)
            put_decimal(number, false, out);
        else
            unit = strstr(vitals_human_bytes(number > 0 ? (uint64_t)number : 0, out), "iB");
        if (unit != NULL) /* "28.45M" */
            *unit = '\0';
        return;
    case SHOW_PERCENT: put_decimal(number * 100, true, out); return;
    case SHOW_DURATION: (void)vitals_human_duration(number, out); return;
    case SHOW_SECONDS: put_decimal(floor(number), false, out); return;
    case SHOW_START: put_start(view, number, false, out); return;
    case SHOW_DATE: put_start(view, number, true, out); return;
    case SHOW_REAL: snprintf(out, CELL, "%.3g", number); return;
    case SHOW_OCTAL: snprintf(out, CELL, "%04o", (unsigned)number); return;
    case SHOW_COUNT:
    case SHOW_TEXT:
    case SHOW_COMMAND: put_decimal(number, false, out); return;
    }
}

static enum color color_of(const struct ps_column *column, const struct ps_value *value)
{
    if (value->availability <= 0)
        return COLOR_DIM;
    /* Heavy, by the thresholds that the report has for shares. */
    if (column->show == SHOW_PERCENT)
        return value->number >= 0.8 ? COLOR_RED : value->number >= 0.1 ? COLOR_YELLOW : COLOR_PLAIN;
    bool is_letter = strcmp(column->key, "stat") == 0 || strcmp(column->key, "state_letter") == 0;
    if (column->show != SHOW_TEXT || !value->is_text || !is_letter || value->text.size == 0)
        return COLOR_PLAIN;
    switch (value->text.bytes[0]) {
    case 'R': return COLOR_GREEN;
    case 'D': return COLOR_RED;
    case 'Z':
    case 'X': return COLOR_MAGENTA;
    case 'T':
    case 't': return COLOR_YELLOW;
    default: return COLOR_PLAIN;
    }
}

const char *ps_command(const vitals_row *row, bool ascii, struct buffer *out, enum color *color)
{
    vitals_text_form form = ascii ? VITALS_TEXT_ASCII : VITALS_TEXT_TERMINAL;
    vitals_text arguments, name;
    *color = COLOR_PLAIN;
    if (vitals_row_text(row, VITALS_PROCESS_COMMAND_LINE, &arguments) > 0 && arguments.size > 0)
        return put_arguments(out, arguments, form);
    *color = COLOR_DIM;
    if (vitals_row_text(row, VITALS_PROCESS_NAME, &name) <= 0)
        return put_text(out, vitals_text_of("N/A"), form);

    char safe[CELL], cell[CELL + 16];
    bool zombie = command_text_is(row, VITALS_PROCESS_STATE, "zombie");
    (void)vitals_text_format(name, form, safe, sizeof safe);
    snprintf(cell, sizeof cell, "[%s]%s", safe, zombie ? " <defunct>" : "");
    out->size = 0;
    buffer_string(out, cell);
    return out->failed ? "" : out->bytes;
}

const char *ps_column_cell(const struct ps_column *column, const struct ps_view *view,
                           const vitals_row *row, struct buffer *out, enum color *color)
{
    vitals_text_form form = view->ascii ? VITALS_TEXT_ASCII : VITALS_TEXT_TERMINAL;
    struct ps_value value;
    char cell[CELL];
    if (column->show == SHOW_COMMAND)
        return ps_command(row, view->ascii, out, color);
    ps_column_value(column, view, row, &value);
    *color = color_of(column, &value);
    if (value.availability <= 0)
        return put_text(out, vitals_text_of("N/A"), form);
    if (value.is_text)
        return put_text(out, value.text.size > 0 ? value.text : vitals_text_of("-"), form);
    put_number(column, view, value.number, cell);
    return put_text(out, vitals_text_of(cell), form);
}

const char *ps_column_field(const struct ps_column *column, const struct ps_view *view,
                            const vitals_row *row, struct buffer *out)
{
    struct ps_value value;
    char cell[CELL];
    ps_column_exact(column, view, row, &value);
    if (value.availability <= 0)
        return put_text(out, vitals_text_of(""), VITALS_TEXT_TERMINAL);
    if (value.is_text && column->show == SHOW_COMMAND)
        return put_arguments(out, value.text, VITALS_TEXT_CSV);
    if (value.is_text)
        return put_text(out, value.text, VITALS_TEXT_CSV);
    bool whole = value.number == floor(value.number) && fabs(value.number) < 1e16;
    snprintf(cell, sizeof cell, whole ? "%.0f" : "%.15g", value.number);
    return put_text(out, vitals_text_of(cell), VITALS_TEXT_TERMINAL);
}
