/* metric_format.c: a number of a metric as a person reads it, by its unit.
 *
 * Thread rule: pure. */
#include "model/catalogue.h"

#include "util/base.h"
#include "util/number.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The form of values below an amount: times `scale`, with so many decimals. */
struct unit_scale {
    const char *unit;
    double below, scale;
    int decimals;
    const char *words;
};

/* For each unit the first row whose bound is above the value; the last has no bound. */
static const struct unit_scale SCALES[] = {
    {"ratio", DBL_MIN, 100, 0, " %"},
    {"ratio", 0.0995, 100, 1, " %"},
    {"ratio", (double)INFINITY, 100, 0, " %"},
    {"seconds", 10, 1, 3, " s"},
    {"seconds", 60, 1, 1, " s"},
    {"joules", 3600, 1, 0, " J"},
    {"joules", 3600e3, 1 / 3600.0, 1, " Wh"},
    {"joules", 360e6, 1 / 3600e3, 2, " kWh"},
    {"joules", (double)INFINITY, 1 / 3600e3, 0, " kWh"},
    {"watts", DBL_MIN, 1, 0, " W"},
    {"watts", 10, 1, 1, " W"},
    {"watts", (double)INFINITY, 1, 0, " W"},
    {"hertz", (double)INFINITY, 1e-6, 0, " MHz"},
    {"volts", (double)INFINITY, 1, 3, " V"},
    {"rpm", (double)INFINITY, 1, 0, " rpm"},
    {"celsius", (double)INFINITY, 1, 0, " "},
};

/* As printf has it, but with a point in any locale. */
static size_t put_fixed(char *out, double value, int decimals)
{
    if (fabs(value) >= 1e15)
        return number_print_f64(out, value);
    int size = snprintf(out, VITALS_HUMAN, "%.*f", decimals, value);
    size_t digits = size > 0 ? (size_t)size : 0, whole = strspn(out, "-0123456789");
    if (decimals == 0 || whole >= digits)
        return whole;
    out[whole] = '.'; /* the locale's own may take several bytes */
    memmove(out + whole + 1, out + digits - decimals, (size_t)decimals + 1);
    return whole + 1 + (size_t)decimals;
}

static uint64_t whole_bytes(double value)
{
    return value > 0 ? (uint64_t)fmin(value, 1e18) : 0;
}

char *unit_format(const char *unit, double value, bool whole, vitals_text_form form, char *out)
{
    bool ascii = form == VITALS_TEXT_ASCII || form == VITALS_TEXT_CSV;
    if (!isfinite(value))
        return strcpy(out, "N/A");
    if (strcmp(unit, "bytes") == 0)
        return vitals_human_bytes(whole_bytes(value), out);
    if (strcmp(unit, "bytes_per_second") == 0)
        return strcat(vitals_human_bytes(whole_bytes(value), out), "/s");
    if (strcmp(unit, "seconds") == 0 && value >= 60)
        return vitals_human_duration(fmin(value, 1e12), out);
    for (size_t i = 0; i < ARRAY_COUNT(SCALES); i++) {
        const struct unit_scale *scale = &SCALES[i];
        if (strcmp(scale->unit, unit) != 0 || value >= scale->below)
            continue;
        size_t size = put_fixed(out, value * scale->scale, scale->decimals);
        strcpy(out + size, scale->words);
        if (strcmp(unit, "celsius") == 0)
            strcat(out, ascii ? "C" : "\xC2\xB0\x43");
        return out;
    }
    /* A count; what is no whole one, as a load or a number of CPUs, has decimals. */
    (void)put_fixed(out, value, whole && value == floor(value) ? 0 : 2);
    return out;
}

char *vitals_metric_format(vitals_metric metric, double value, vitals_text_form form, char *out)
{
    const char *unit = vitals_metric_unit(metric);
    bool octal = metric == VITALS_PROCESS_UMASK || metric == VITALS_DESCRIPTOR_FLAGS;
    if (!isfinite(value))
        return strcpy(out, "N/A");
    if (octal || metric == VITALS_PROCESS_KERNEL_FLAGS) {
        snprintf(out, VITALS_HUMAN, octal ? "%#04" PRIo64 : "0x%" PRIx64, whole_bytes(fabs(value)));
        return out;
    }
    if (metric == VITALS_NETWORK_MTU_BYTES) { /* a setting, which people know by its number */
        size_t size = number_print_u64(out, whole_bytes(value));
        strcpy(out + size, "B");
        return out;
    }
    bool whole = vitals_metric_type(metric) != VITALS_F64;
    return unit_format(unit != NULL ? unit : "", value, whole, form, out);
}
