/* device_words.c: see device_words.h. */
#include "monitor/screens/device_words.h"

#include <stdio.h>
#include <string.h>

static void bytes_words(double number, bool plain, char *out)
{
    (void)plain;
    (void)vitals_human_bytes(number > 0 && number < 1e18 ? (uint64_t)number : 0, out);
}

static void rate_words(double number, bool plain, char *out)
{
    (void)plain;
    (void)cell_rate(true, number, out);
}

static void ratio_words(double number, bool plain, char *out)
{
    (void)plain;
    (void)snprintf(out, WORDS, number > 0 && number < 0.0995 ? "%.1f%%" : "%.0f%%", number * 100);
}

static void seconds_words(double number, bool plain, char *out)
{
    (void)plain;
    if (number < 60)
        (void)snprintf(out, WORDS, "%.1f s", number);
    else
        (void)vitals_human_duration(number < 1e12 ? number : 1e12, out);
}

static void celsius_words(double number, bool plain, char *out)
{
    (void)snprintf(out, WORDS, plain ? "%.0fC" : "%.0f°C", number);
}

static void watts_words(double number, bool plain, char *out)
{
    (void)plain;
    (void)snprintf(out, WORDS, number > 0 && number < 10 ? "%.1f W" : "%.0f W", number);
}

static void joules_words(double number, bool plain, char *out)
{
    const double KWH = 3600000;
    (void)plain;
    if (number < KWH / 1000)
        (void)snprintf(out, WORDS, "%.0f J", number);
    else
        (void)snprintf(out, WORDS, number < KWH ? "%.1f Wh" : "%.1f kWh",
                       number / (number < KWH ? KWH / 1000 : KWH));
}

static void hertz_words(double number, bool plain, char *out)
{
    (void)plain;
    (void)snprintf(out, WORDS, "%.0f MHz", number / 1e6);
}

static void volts_words(double number, bool plain, char *out)
{
    (void)plain;
    (void)snprintf(out, WORDS, "%.3f V", number);
}

static void rpm_words(double number, bool plain, char *out)
{
    (void)plain;
    (void)snprintf(out, WORDS, "%.0f rpm", number);
}

/* How a unit is written. */
static const struct {
    const char *unit;
    void (*words)(double number, bool plain, char *out);
} UNITS[] = {
    {"bytes", bytes_words},     {"bytes_per_second", rate_words}, {"ratio", ratio_words},
    {"seconds", seconds_words}, {"celsius", celsius_words},       {"watts", watts_words},
    {"joules", joules_words},   {"hertz", hertz_words},           {"volts", volts_words},
    {"rpm", rpm_words},
};

char *unit_words(vitals_metric metric, double number, bool ascii, char out[static WORDS])
{
    const char *unit = vitals_metric_unit(metric);
    for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
        if (strcmp(UNITS[i].unit, unit) == 0) {
            UNITS[i].words(number, ascii, out);
            return out;
        }
    }
    (void)snprintf(out, WORDS, "%.0f", number);
    return out;
}
