/* ps_cells.c: the values of `vitals ps` as text: for people, and as fields of CSV. */
#include "command/processes/ps_columns.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CELL = 256, CSV_DIGITS = 15 };

void ps_text_done(struct ps_text *text)
{
    free(text->bytes);
    *text = (struct ps_text){0};
}

static bool reserve(struct ps_text *text, size_t needed)
{
    if (needed <= text->capacity)
        return true;
    size_t larger = needed * 2 < CELL ? CELL : needed * 2;
    char *moved = realloc(text->bytes, larger);
    if (moved == NULL)
        return false;
    text->bytes = moved;
    text->capacity = larger;
    return true;
}

bool ps_text_format(struct ps_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text->bytes, text->capacity, format, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size < text->capacity)
        return size >= 0;
    if (!reserve(text, (size_t)size + 1))
        return false;
    va_start(arguments, format);
    (void)vsnprintf(text->bytes, text->capacity, format, arguments);
    va_end(arguments);
    return true;
}

static vitals_text text_of(const char *string)
{
    return (vitals_text){string, strlen(string)};
}

/* What stands as it is in any form for people: printable ASCII without the backslash, with which
 * our escapes begin. That is nearly every text, and no character of it has to be looked at alone.
 */
static bool is_simple(vitals_text text)
{
    unsigned char odd = 0; // no way out of the loop, so that many bytes are looked at at once
    for (size_t i = 0; i < text.size; i++) {
        unsigned char byte = (unsigned char)text.bytes[i];
        odd |= (unsigned char)(byte < ' ') | (unsigned char)(byte > '~') |
               (unsigned char)(byte == '\\');
    }
    return odd == 0;
}

static const char *put_text(struct ps_text *out, vitals_text text, vitals_text_form form)
{
    if (!reserve(out, text.size + 1))
        return NULL;
    if (form != VITALS_TEXT_CSV && is_simple(text)) {
        memcpy(out->bytes, text.bytes, text.size);
        out->bytes[text.size] = '\0';
        return out->bytes;
    }
    size_t size = vitals_text_format(text, form, out->bytes, out->capacity);
    if (size < out->capacity)
        return out->bytes;
    if (!reserve(out, size + 1))
        return NULL;
    (void)vitals_text_format(text, form, out->bytes, out->capacity);
    return out->bytes;
}

/* --- Numbers ------------------------------------------------------------------------------------
 */

char *ps_bytes(uint64_t bytes, char *out)
{
    vitals_human_bytes(bytes, out);
    char *unit = strstr(out, "iB");
    if (unit != NULL)
        *unit = '\0';
    return out;
}

/* A number with no decimal or one, as printf rounds it, but ten times as fast: a list of a thousand
 * processes holds several thousand. False where it has to be printf: what is negative, huge, or so
 * near to half that a multiplication may take it over. */
static bool print_near(double number, bool decimal, char out[static CELL])
{
    double scaled = decimal ? number * 10 : number;
    if (signbit(number) || !(scaled < 1e12))
        return false;
    double whole = floor(scaled), rest = scaled - whole;
    if (fabs(rest - 0.5) < 1e-3)
        return false;
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
    return true;
}

static void put_decimal(double number, bool decimal, char out[static CELL])
{
    if (!print_near(number, decimal, out))
        snprintf(out, CELL, "%.*f", (int)decimal, number);
}

/* A moment as the time zone has it, kept: many processes began in the same second, and all are
 * compared with the same now. */
struct local {
    bool known;
    time_t moment;
    struct tm time;
};

static bool local_of(struct local *local, time_t moment, struct tm *out)
{
    if (!local->known || local->moment != moment) {
        local->known = localtime_r(&moment, &local->time) != NULL;
        local->moment = moment;
    }
    *out = local->time;
    return local->known;
}

/* A time since boot, as local time of the reader. */
static bool local_time(const struct ps_view *view, double start_seconds, struct tm *start,
                       struct tm *now)
{
    double age = (double)vitals_snapshot_boottime_ns(view->now) / 1e9 - start_seconds;
    double realtime = (double)vitals_snapshot_realtime_ns(view->now) / 1e9;
    double moment = floor(realtime - age);
    if (!(fabs(moment) < 1e11))
        return false;
    static struct local then, here;
    return local_of(&then, (time_t)moment, start) && local_of(&here, (time_t)realtime, now);
}

/* As ps(1): the hour of today, the day of this year, the year. */
static void put_start(const struct ps_view *view, double seconds, bool whole, char out[static CELL])
{
    struct tm start, now;
    size_t size = 0;
    if (!local_time(view, seconds, &start, &now))
        ;
    else if (whole)
        size = strftime(out, CELL, "%a %b %e %H:%M:%S %Y", &start);
    else if (start.tm_year != now.tm_year)
        size = strftime(out, CELL, "%Y", &start);
    else if (start.tm_yday != now.tm_yday)
        size = strftime(out, CELL, "%b%d", &start);
    else
        size = strftime(out, CELL, "%H:%M", &start);
    if (size == 0)
        snprintf(out, CELL, "N/A");
}

static void put_number(const struct ps_column *column, const struct ps_view *view, double number,
                       char out[static CELL])
{
    switch (column->show) {
    case SHOW_BYTES:
        if (view->bytes)
            put_decimal(number, false, out);
        else
            (void)ps_bytes(number > 0 ? (uint64_t)number : 0, out);
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

/* --- Colors -------------------------------------------------------------------------------------
 */

static enum color color_of(const struct ps_column *column, const struct ps_value *value)
{
    if (value->availability <= 0)
        return COLOR_DIM;
    /* Heavy, by the thresholds that the report has for shares. */
    if (column->show == SHOW_PERCENT)
        return value->number >= 0.8 ? COLOR_RED : value->number >= 0.1 ? COLOR_YELLOW : COLOR_PLAIN;
    if (column->show != SHOW_TEXT || !value->is_text)
        return COLOR_PLAIN;
    bool is_letter = strcmp(column->key, "stat") == 0 || strcmp(column->key, "state_letter") == 0;
    /* Colors states that need attention, and running processes. */
    if (is_letter && value->text.size > 0) {
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
    return COLOR_PLAIN;
}

/* --- Cells --------------------------------------------------------------------------------------
 */

static bool is_zombie(const vitals_row *row)
{
    vitals_text state;
    return vitals_row_text(row, VITALS_PROCESS_STATE, &state) > 0 && state.size == 6 &&
           memcmp(state.bytes, "zombie", 6) == 0;
}

/* Arguments as a shell reads them, not yet safe. false: out of memory. */
static bool join_arguments(vitals_text arguments, struct ps_text *out)
{
    if (!reserve(out, arguments.size + 1))
        return false;
    size_t size = vitals_text_command(arguments, out->bytes, out->capacity);
    if (size < out->capacity)
        return true;
    if (!reserve(out, size + 1))
        return false;
    (void)vitals_text_command(arguments, out->bytes, out->capacity);
    return true;
}

/* [name], and <defunct> of a zombie. */
static const char *put_name(const vitals_row *row, vitals_text_form form, struct ps_text *out)
{
    vitals_text name;
    char safe[CELL];
    if (vitals_row_text(row, VITALS_PROCESS_NAME, &name) <= 0 || !reserve(out, CELL + 16))
        return NULL;
    (void)vitals_text_format(name, form, safe, sizeof safe);
    snprintf(out->bytes, out->capacity, "[%s]%s", safe, is_zombie(row) ? " <defunct>" : "");
    return out->bytes;
}

const char *ps_command(const vitals_row *row, bool ascii, struct ps_text *out, enum color *color)
{
    vitals_text_form form = ascii ? VITALS_TEXT_ASCII : VITALS_TEXT_TERMINAL;
    vitals_text arguments;
    *color = COLOR_PLAIN;
    if (vitals_row_text(row, VITALS_PROCESS_COMMAND_LINE, &arguments) > 0 && arguments.size > 0) {
        struct ps_text joined = {0};
        bool there = join_arguments(arguments, &joined);
        const char *text = there ? put_text(out, text_of(joined.bytes), form) : NULL;
        ps_text_done(&joined);
        return text;
    }
    *color = COLOR_DIM;
    const char *name = put_name(row, form, out);
    return name != NULL ? name : put_text(out, text_of("N/A"), form);
}

const char *ps_column_cell(const struct ps_column *column, const struct ps_view *view,
                           const vitals_row *row, struct ps_text *out, enum color *color)
{
    bool ascii = view->ascii;
    vitals_text_form form = ascii ? VITALS_TEXT_ASCII : VITALS_TEXT_TERMINAL;
    struct ps_value value;
    if (column->show == SHOW_COMMAND)
        return ps_command(row, ascii, out, color);
    ps_column_value(column, view, row, &value);
    *color = color_of(column, &value);
    if (value.availability <= 0)
        return put_text(out, text_of("N/A"), form);
    if (value.is_text)
        return put_text(out, value.text.size > 0 ? value.text : text_of("-"), form);
    if (!reserve(out, CELL))
        return NULL;
    put_number(column, view, value.number, out->bytes);
    return out->bytes;
}

const char *ps_column_field(const struct ps_column *column, const struct ps_view *view,
                            const vitals_row *row, struct ps_text *out)
{
    struct ps_value value;
    ps_column_exact(column, view, row, &value);
    if (value.availability <= 0)
        return put_text(out, text_of(""), VITALS_TEXT_TERMINAL);
    if (value.is_text && column->show == SHOW_COMMAND) {
        struct ps_text joined = {0};
        bool there = join_arguments(value.text, &joined);
        const char *text = there ? put_text(out, text_of(joined.bytes), VITALS_TEXT_CSV) : NULL;
        ps_text_done(&joined);
        return text;
    }
    if (value.is_text)
        return put_text(out, value.text, VITALS_TEXT_CSV);
    if (!reserve(out, CELL))
        return NULL;
    bool whole = value.number == floor(value.number) && fabs(value.number) < 1e16;
    snprintf(out->bytes, CELL, whole ? "%.0f" : "%.15g", value.number);
    return out->bytes;
}
