/* parse_pressure.c: /proc/pressure/ and a cgroup's .pressure files (kernel documentation,
 * accounting/psi): "some avg10=0.12 avg60=0.00 avg300=0.00 total=12345", and the same of "full".
 *
 * Percent and microseconds become shares and seconds. irq has no "some", older kernels no "full"
 * of cpu.
 * Thread rule: pure. */
#include "os/linux/machine/host_files.h"

enum { AVERAGES = 3 };

static const char *const KEYS[AVERAGES] = {"avg10=", "avg60=", "avg300="};

static const struct {
    const char *word;
    vitals_metric averages[AVERAGES], seconds;
} LINES[] = {
    {"some",
     {VITALS_PRESSURE_SOME_10S_RATIO, VITALS_PRESSURE_SOME_60S_RATIO,
      VITALS_PRESSURE_SOME_300S_RATIO},
     VITALS_PRESSURE_SOME_SECONDS},
    {"full",
     {VITALS_PRESSURE_FULL_10S_RATIO, VITALS_PRESSURE_FULL_60S_RATIO,
      VITALS_PRESSURE_FULL_300S_RATIO},
     VITALS_PRESSURE_FULL_SECONDS},
};

/* A percentage like 22.26 as a share: divided once, so that it prints as short as it is. */
static bool take_share(struct cursor *at, double *share)
{
    enum { PLACES_MAX = 6 };
    uint64_t number;
    double divisor = 100.0;
    if (!cursor_u64(at, &number) || number > 100)
        return false;
    if (cursor_literal(at, "."))
        for (unsigned i = 0; i < PLACES_MAX && !cursor_done(at) && *at->at >= '0' && *at->at <= '9';
             i++) {
            number = number * 10 + (uint64_t)(*at->at++ - '0');
            divisor *= 10.0;
        }
    *share = (double)number / divisor;
    return *share <= 1.0;
}

bool host_parse_pressure(const char *bytes, size_t size, struct values *out)
{
    struct cursor text = cursor_over(bytes, size);
    struct span line, word;
    bool any = false;
    while (host_line(&text, &line)) {
        struct cursor at = cursor_over(line.bytes, line.size);
        size_t which = 0;
        if (!cursor_word(&at, &word))
            continue;
        while (which < ARRAY_COUNT(LINES) && !span_equal(word, LINES[which].word))
            which++;
        if (which == ARRAY_COUNT(LINES))
            continue;
        double share;
        uint64_t micros;
        unsigned taken = 0;
        for (; taken < AVERAGES; taken++) {
            cursor_blanks(&at);
            if (!cursor_literal(&at, KEYS[taken]) || !take_share(&at, &share))
                break;
            values_set(out, LINES[which].averages[taken], value_f64(share));
            any = true;
        }
        cursor_blanks(&at);
        if (taken == AVERAGES && cursor_literal(&at, "total=") && cursor_u64(&at, &micros))
            values_set(out, LINES[which].seconds, value_f64((double)micros / 1e6));
    }
    return any;
}
