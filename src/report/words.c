/* words.c: see words.h. */
#include "report/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/sample.h"

static uint64_t as_count(double value)
{
    return value < 0                    ? 0
           : value > 9007199254740992.0 ? UINT64_C(9007199254740992)
                                        : (uint64_t)value;
}

/* Each is rounded in its own unit. */
char *words_seconds(double seconds, char out[static WORDS])
{
    uint64_t whole = as_count(seconds + 0.5), minutes = as_count(seconds / 60 + 0.5);
    if (seconds < 0.9995)
        (void)snprintf(out, WORDS, "%.3f s", seconds);
    else if (seconds < 59.95)
        (void)snprintf(out, WORDS, "%.1f s", seconds);
    else if (whole < 3600)
        (void)snprintf(out, WORDS, "%" PRIu64 " min %" PRIu64 " s", whole / 60, whole % 60);
    else
        (void)snprintf(out, WORDS, "%" PRIu64 " h %" PRIu64 " min", minutes / 60, minutes % 60);
    return out;
}

/* Six digits that tell something, without an exponent where people would not write one. */
static void plain_number(double value, char out[static WORDS])
{
    double size = fabs(value);
    if (value == floor(value) && size < 1e15)
        (void)snprintf(out, WORDS, "%.0f", value);
    else if (size >= 1e-3 && size < 1e6)
        (void)snprintf(out, WORDS, "%.3f", value);
    else
        (void)snprintf(out, WORDS, "%.6g", value);
}

char *words_value(const struct account_view *view, const char *name, const char *unit, double value,
                  char out[static WORDS])
{
    char number[WORDS], human[VITALS_HUMAN];
    bool bytes = strcmp(unit, "bytes") == 0, seconds = strcmp(unit, "seconds") == 0;
    bool gpu = strncmp(name, "gpu_", 4) == 0 || strncmp(name, "device_", 7) == 0;
    const char *wanted = bytes     ? (gpu ? view->gpu_memory_unit : view->memory_unit)
                         : seconds ? view->time_unit
                                   : NULL;
    double converted, percent = value * 100;
    if (wanted != NULL && vitals_usage_convert(value, unit, wanted, &converted) == 0) {
        plain_number(converted, number);
        (void)snprintf(out, WORDS, "%.40s %s", number, wanted);
    } else if (bytes) {
        (void)vitals_human_bytes(as_count(value), human);
        size_t digits = strspn(human, "0123456789.");
        (void)snprintf(out, WORDS, "%.*s%s%s", (int)digits, human, view->spaced ? " " : "",
                       human + digits);
    } else if (seconds) {
        (void)words_seconds(value, out);
    } else if (strcmp(unit, "ratio") == 0) {
        (void)snprintf(out, WORDS, percent != 0 && fabs(percent) < 9.95 ? "%.1f %%" : "%.0f %%",
                       percent);
    } else if (strcmp(unit, "cores") == 0) {
        (void)snprintf(out, WORDS, "%.2f cores", value);
    } else if (strcmp(unit, "joules") == 0) {
        /* From a watt-hour on energy is shown as a meter does. */
        if (value < 3600)
            (void)snprintf(out, WORDS, value < 10 ? "%.2f J" : "%.0f J", value);
        else if (value < 3.6e6)
            (void)snprintf(out, WORDS, "%.1f Wh", value / 3600);
        else
            (void)snprintf(out, WORDS, "%.2f kWh", value / 3.6e6);
    } else if (strcmp(unit, "watts") == 0) {
        (void)snprintf(out, WORDS, "%.0f W", value);
    } else if (strcmp(unit, "celsius") == 0) {
        (void)snprintf(out, WORDS, "%.0f C", value);
    } else {
        plain_number(value, out);
    }
    return out;
}

bool account_units(const struct account_view *view, char *out, size_t capacity)
{
    static const char memory[] = "bytes, kilobytes, megabytes, gigabytes, terabytes, kibibytes, "
                                 "mebibytes, gibibytes or tebibytes";
    static const char times[] = "seconds, minutes, hours or days";
    const struct {
        const char *option, *unit, *from, *names;
    } UNITS[] = {
        {"--memory-unit", view->memory_unit, "bytes", memory},
        {"--gpu-memory-unit", view->gpu_memory_unit, "bytes", memory},
        {"--time-unit", view->time_unit, "seconds", times},
    };
    for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
        double ignored;
        char safe[64];
        const char *unit = UNITS[i].unit;
        if (unit == NULL ||
            (unit[0] != '\0' && vitals_usage_convert(1, UNITS[i].from, unit, &ignored) == 0))
            continue;
        (void)vitals_text_format(vitals_text_of(unit), VITALS_TEXT_ASCII, safe, sizeof safe);
        (void)snprintf(out, capacity, "%s: \"%s\" is no unit; it is %s", UNITS[i].option, safe,
                       UNITS[i].names);
        return false;
    }
    return true;
}

/* ---- figures ---- */

double words_number(const vitals_figure *figure, vitals_availability *availability)
{
    double value = 0;
    *availability = figure != NULL ? vitals_figure_value(figure, &value) : VITALS_NOT_REQUESTED;
    return *availability > 0 ? value : 0;
}

vitals_availability words_availability(const vitals_figure *figure)
{
    vitals_availability state;
    (void)words_number(figure, &state);
    return state;
}

const char *words_quality(vitals_availability availability)
{
    return availability == VITALS_HAVE          ? "exact"
           : availability == VITALS_SAMPLED     ? "sampled"
           : availability == VITALS_LOWER_BOUND ? "at least"
           : availability == VITALS_UPPER_BOUND ? "at most"
           : availability == VITALS_ESTIMATE    ? "estimate"
           : availability == VITALS_STALE       ? "stale"
                                                : "not available";
}

char *words_how(const vitals_figure *figure, char out[static WORDS])
{
    out[0] = '\0';
    if (figure == NULL)
        return out;
    vitals_availability state = words_availability(figure);
    const char *source = vitals_figure_source(figure);
    if (state <= 0)
        (void)snprintf(out, WORDS, "%s",
                       source[0] != '\0' ? source : vitals_availability_help(state));
    else if (strncmp(source, words_quality(state), strlen(words_quality(state))) == 0)
        (void)snprintf(out, WORDS, "%s", source); // "sampled, every 1 s" says it already
    else
        (void)snprintf(out, WORDS, "%s%s%s", words_quality(state), source[0] != '\0' ? ", " : "",
                       source);
    return out;
}

const vitals_figure *words_find(const vitals_account *account, const char *measure,
                                const char *statistic, const char *subject)
{
    char name[COLUMN_WORDS];
    const char *unit = vitals_measure_unit(vitals_measure_find(measure));
    statistic_name(measure, unit != NULL ? unit : "", statistic, name);
    return vitals_account_find(account, name, subject);
}

bool words_are(vitals_text text, const char *word)
{
    return text.size == strlen(word) && memcmp(text.bytes, word, text.size) == 0;
}

double words_attribute_number(const vitals_account *account, const char *name)
{
    char digits[32] = "";
    vitals_text text = vitals_account_attribute(account, name);
    if (text.size > 0 && text.size < sizeof digits)
        memcpy(digits, text.bytes, text.size);
    double value = strtod(digits, NULL);
    return isfinite(value) && value > 0 ? value : 0;
}

bool words_is_device(const char *subject)
{
    return subject[0] != '\0' && strcmp(subject, "root") != 0 &&
           strcmp(subject, "descendants") != 0 && strcmp(subject, "system") != 0;
}

double words_waited(const vitals_account *account, const char *pressure, const char *subject)
{
    vitals_availability has_wall, has_wait;
    double wall = words_number(vitals_account_find(account, "wall_seconds", ""), &has_wall);
    double wait = words_number(vitals_account_find(account, pressure, subject), &has_wait);
    return has_wall > 0 && has_wait > 0 && wall > 0 ? fmin(wait / wall, 1) : 0;
}

bool words_is_machine(const vitals_account *account)
{
    bool machine = false;
    for (const vitals_figure *figure = NULL;
         (figure = vitals_account_next(account, figure)) != NULL;) {
        const char *name = vitals_figure_name(figure), *subject = vitals_figure_subject(figure);
        bool tells = strncmp(name, "cpu_", 4) == 0 || strncmp(name, "memory_", 7) == 0;
        if (tells && subject[0] == '\0')
            return false;
        machine = machine || (tells && strcmp(subject, "system") == 0);
    }
    return machine;
}

char *words_figure(const struct account_view *view, const vitals_figure *figure,
                   char out[static WORDS])
{
    vitals_availability state;
    double value = words_number(figure, &state);
    if (state <= 0) {
        (void)snprintf(out, WORDS, "N/A");
        return out;
    }
    return words_value(view, vitals_figure_name(figure), vitals_figure_unit(figure), value, out);
}
