/* cell_text.c: see cell_text.h. */
#include "view/cell_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "view/canvas.h"

const vitals_row *row_next(const vitals_snapshot *snapshot, vitals_table entity,
                           const vitals_row *previous)
{
    return snapshot != NULL ? vitals_snapshot_next(snapshot, entity, previous) : NULL;
}

char *cell_not_available(char *out)
{
    memcpy(out, "N/A", 4);
    return out;
}

bool cell_value(const vitals_row *row, vitals_metric metric, double *out)
{
    return vitals_row_number(row, metric, out) > 0;
}

bool cell_fresh(const vitals_row *row, vitals_metric metric, double *out)
{
    return cell_value(row, metric, out) && vitals_row_availability(row, metric) != VITALS_STALE;
}

static char *scaled(const vitals_row *row, vitals_metric metric, double factor, const char *unit,
                    char *out)
{
    double number;
    if (!cell_value(row, metric, &number))
        return cell_not_available(out);
    (void)snprintf(out, WORDS, "%.0f%s", number * factor, unit);
    return out;
}

char *cell_share(const vitals_row *row, vitals_metric metric, char *out)
{
    return scaled(row, metric, 100, "", out);
}

char *cell_percent(const vitals_row *row, vitals_metric metric, char *out)
{
    return scaled(row, metric, 100, "%", out);
}

char *cell_bytes(const vitals_row *row, vitals_metric metric, char *out)
{
    uint64_t bytes;
    if (vitals_row_u64(row, metric, &bytes) <= 0)
        return cell_not_available(out);
    return vitals_human_bytes(bytes, out);
}

char *cell_number(const vitals_row *row, vitals_metric metric, const char *unit, char *out)
{
    return scaled(row, metric, 1, unit, out);
}

char *cell_on_off(const vitals_row *row, vitals_metric metric, char *out)
{
    double on;
    if (!cell_value(row, metric, &on))
        return cell_not_available(out);
    (void)snprintf(out, WORDS, "%s", on != 0 ? "On" : "Off");
    return out;
}

char *cell_safe(vitals_text text, bool ascii, char *out, size_t capacity)
{
    (void)vitals_text_format(text, ascii ? VITALS_TEXT_ASCII : VITALS_TEXT_TERMINAL, out, capacity);
    return out;
}

char *cell_text(const vitals_row *row, vitals_metric metric, bool ascii, char *out, size_t capacity)
{
    vitals_text text;
    if (vitals_row_text(row, metric, &text) <= 0)
        return cell_not_available(out);
    return cell_safe(text, ascii, out, capacity);
}

char cell_state(const char *word)
{
    static const struct {
        const char *name;
        char letter;
    } STATES[] = {{"running", 'R'}, {"sleeping", 'S'},     {"disk_sleep", 'D'},
                  {"stopped", 'T'}, {"tracing_stop", 't'}, {"zombie", 'Z'},
                  {"dead", 'X'},    {"idle", 'I'},         {"parked", 'P'}};
    for (size_t i = 0; i < sizeof STATES / sizeof STATES[0]; i++) {
        if (strcmp(STATES[i].name, word) == 0)
            return STATES[i].letter;
    }
    return '?';
}

const char *cell_stranger(vitals_availability reason)
{
    return reason == VITALS_OUTSIDE  ? "(not in this pid namespace, or gone)"
           : reason == VITALS_GONE   ? "(has ended)"
           : reason == VITALS_DENIED ? "(no permission)"
                                     : "(not known)";
}

char *cell_command(const vitals_row *process, bool ascii, char out[static WORDS_COMMAND])
{
    vitals_availability reason = vitals_row_availability(process, VITALS_PROCESS_NAME);
    if (reason > 0 || vitals_row_availability(process, VITALS_PROCESS_COMMAND_LINE) > 0) {
        (void)vitals_row_command(process, ascii ? VITALS_TEXT_ASCII : VITALS_TEXT_TERMINAL, out,
                                 WORDS_COMMAND);
        return out;
    }
    bool told = reason == VITALS_DENIED || reason == VITALS_GONE;
    (void)snprintf(out, WORDS_COMMAND, "%s", told ? cell_stranger(reason) : "N/A");
    return out;
}

size_t cell_program(char *command)
{
    static const char *const INTERPRETERS[] = {"python", "node", "perl", "ruby",
                                               "java",   "bash", "sh "};
    size_t begin = 0, end = 0;
    for (int word = 0; word < 3; word++) {
        char *at = command + begin, *slash = NULL;
        end = begin + strcspn(at, " ");
        if (at[0] == '\0' || at[0] == '[' || at[0] == '\'')
            break;
        for (char *each = at; each < command + end; each++)
            slash = *each == '/' && each[1] != '\0' && each + 1 < command + end ? each : slash;
        if (slash != NULL && at[0] != '-') {
            memmove(at, slash + 1, strlen(slash + 1) + 1);
            end -= (size_t)(slash + 1 - at);
        }
        bool goes_on = false;
        for (size_t i = 0; word == 0 && i < sizeof INTERPRETERS / sizeof INTERPRETERS[0]; i++)
            goes_on = goes_on || strncmp(command, INTERPRETERS[i], strlen(INTERPRETERS[i])) == 0;
        goes_on = goes_on || (word == 1 && strncmp(command + begin, "-m ", 3) == 0);
        if (!goes_on || command[end] == '\0' ||
            (word == 0 && command[end + 1] == '-' && strncmp(command + end, " -m ", 4) != 0))
            break;
        begin = end + 1;
    }
    return end;
}

bool cell_time(const vitals_snapshot *snapshot, char out[static WORDS])
{
    time_t seconds = (time_t)(vitals_snapshot_realtime_ns(snapshot) / 1000000000u);
    struct tm parts;
    return localtime_r(&seconds, &parts) != NULL &&
           strftime(out, WORDS, "%a %b %d %H:%M:%S %Y", &parts) > 0;
}

char *cell_rate(bool known, double bytes_per_second, char *out)
{
    char bytes[VITALS_HUMAN];
    if (!known)
        return cell_not_available(out);
    uint64_t whole = bytes_per_second <= 0     ? 0
                     : bytes_per_second < 1e18 ? (uint64_t)bytes_per_second
                                               : (uint64_t)1e18;
    (void)snprintf(out, WORDS, "%s/s", vitals_human_bytes(whole, bytes));
    return out;
}

bool cell_ratio(const vitals_row *row, vitals_metric part, vitals_metric whole, double *out)
{
    double a, b;
    if (!cell_value(row, part, &a) || !cell_value(row, whole, &b) || b <= 0)
        return false;
    *out = a / b;
    return true;
}

bool cell_busy(const vitals_row *row, const vitals_snapshot *older, vitals_metric busy,
               vitals_metric total, double *out)
{
    double a, b;
    if (vitals_row_growth(row, older, busy, &a, NULL) <= 0 ||
        vitals_row_growth(row, older, total, &b, NULL) <= 0 || b <= 0)
        return false;
    *out = a / b;
    return true;
}

void cell_add(char *text, size_t capacity, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text + used, capacity - used, format, arguments);
    va_end(arguments);
}

void cell_cut(char *text, int columns, const char *mark)
{
    if (canvas_columns(text) <= columns)
        return;
    int used = 0, wide;
    size_t at = 0;
    for (size_t size; (size = canvas_next(text + at, &wide)) > 0 && used + wide < columns;) {
        used += wide;
        at += size;
    }
    memcpy(text + at, mark, strlen(mark) + 1); /* what is cut off was at least as long */
}

char *cell_device(const vitals_row *gpu, bool ascii, int columns, char *out, size_t capacity)
{
    static const char MAKER[] = "NVIDIA ";
    char name[256];
    const char *start = cell_text(gpu, VITALS_GPU_NAME, ascii, name, sizeof name);
    if (strncmp(start, MAKER, sizeof MAKER - 1) == 0)
        start += sizeof MAKER - 1;
    int wide = canvas_columns(start), part;
    bool cut = wide > columns;
    while (cut && wide > columns - 2 && wide > 0) {
        size_t size = canvas_next(start, &part);
        start += size;
        wide -= part;
    }
    (void)snprintf(out, capacity, "%s%s", cut ? ".." : "", start);
    return out;
}

bool cell_hold(const char *text, const char *part)
{
    return strcasestr(text, part) != NULL;
}
