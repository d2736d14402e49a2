/* What looking back is made of: moments as people write them, and histories that are filled from
 * their end. */
#include "check.h"

#include <math.h>

#include "monitor/history/parse_time.h"
#include "view/history.h"

enum { MONITOR_SECOND = 1000000000 };

static void words_are_moments(void)
{
    enum { DAY = 86400, NOON = 20000 * DAY + 12 * 3600 };
    const uint64_t SECOND = MONITOR_SECOND;
    const struct time_span span = {(NOON - 3600) * SECOND, (NOON + 5400) * SECOND, NOON * SECOND};
    static const struct {
        const char *words;
        long long seconds; /* from noon; below -10^6: no moment */
    } CASES[] = {{"12:03", 180},
                 {"12:03:07", 187},
                 {"-5min", -300},
                 {"+90", 90},
                 {"+2 h", 7200},
                 {" -1h ", -3600},
                 {"0%", -3600},
                 {"50 %", 900},
                 {"100%", 5400},
                 {"+1.5m", 90},
                 {"2024-10-04", -43200},
                 {"2024-10-04 12:00:01", 1},
                 {"2024-10-04T11:59", -60}};
    static const char *const NONE[] = {
        "",           "x",          "25:00",      "12:60",        "12",  "12:03:07:1",
        "101%",       "-",          "+",          "-5weeks",      "%",   "2024-13-01",
        "12:3x",      "1e3",        "--5",        "nan%",         ":12", "99999999999999",
        "2026-02-29", "2026-04-31", "9999-01-01", "2026-11-45:30"};
    uint64_t found;
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].words);
        CHECK(parse_time(CASES[i].words, &span, &found));
        CHECK_INT((long long)(found / SECOND) - NOON, CASES[i].seconds);
    }
    for (size_t i = 0; i < CHECK_COUNT(NONE); i++) {
        CHECK_CASE(NONE[i]);
        CHECK_FALSE(parse_time(NONE[i], &span, &found));
    }
    CHECK(parse_time("begin", &span, &found));
    CHECK_UINT(found, 0);
    CHECK(parse_time("end", &span, &found));
    CHECK_UINT(found, UINT64_MAX);
    CHECK(parse_time("-99999999h", &span, &found));
    CHECK_UINT(found, 0); /* before everything */
    const struct time_span turned = {(NOON + 5400) * SECOND, NOON * SECOND, NOON * SECOND};
    CHECK(parse_time("100%", &turned, &found));
    CHECK_UINT(found, turned.first_ns);
}

/* Of a recording over midnight 00:10 is the next day's, and 23:50 the one before. */
static void a_clock_is_of_the_day_that_was_recorded(void)
{
    enum { DAY = 86400, MIDNIGHT = 20000 * DAY };
    const uint64_t SECOND = MONITOR_SECOND;
    struct time_span span = {(MIDNIGHT - 1800) * SECOND, (MIDNIGHT + 1800) * SECOND,
                             (MIDNIGHT - 60) * SECOND};
    uint64_t found;
    CHECK(parse_time("00:10", &span, &found));
    CHECK_UINT(found / SECOND, MIDNIGHT + 600);
    span.now_ns = (MIDNIGHT + 60) * SECOND;
    CHECK(parse_time("23:50", &span, &found));
    CHECK_UINT(found / SECOND, MIDNIGHT - 600);
    CHECK(time_span_is_dated(&span));
}

/* A ring that is filled backwards is the same as one that was filled as it came: gaps and means. */
static void fill_both_ways(const double *seconds, const double *values, size_t count,
                           struct history *forward, struct history *backward)
{
    memset(forward, 0, sizeof *forward);
    memset(backward, 0, sizeof *backward);
    for (size_t i = 0; i < count; i++)
        history_add(forward, (uint64_t)(seconds[i] * MONITOR_SECOND), values[i]);
    for (size_t i = count; i-- > 0;)
        history_add_before(backward, (uint64_t)(seconds[i] * MONITOR_SECOND), values[i]);
    CHECK_UINT(backward->newest, forward->newest);
    CHECK_UINT(backward->count, forward->count);
    for (size_t i = 1; i < forward->count; i++) {
        double a = history_get(forward, i), b = history_get(backward, i);
        CHECK(isnan(a) == isnan(b));
        if (!isnan(a))
            CHECK_NEAR(b, a, 1e-5);
    }
}

static void a_history_is_filled_backwards(void)
{
    enum { POINTS = 300 };
    static struct history forward, backward;
    double seconds[POINTS], values[POINTS], at = 100;
    unsigned state = 7;
    for (size_t i = 0; i < POINTS; i++) {
        state = state * 1103515245u + 12345u;
        at += (double)(state >> 16 & 7) + (i % 50 == 49 ? 40 : 1);
        seconds[i] = at;
        values[i] = i % 17 == 3 ? (double)NAN : (double)(state >> 20) / 4096;
    }
    fill_both_ways(seconds, values, POINTS, &forward, &backward);
    size_t known = 0;
    for (size_t i = 0; i < forward.count; i++)
        known += isnan(history_get(&forward, i)) ? 0u : 1u;
    CHECK(known > POINTS && known < forward.count);
    for (size_t i = 0; i < POINTS; i++)
        seconds[i] = 100 + (double)i / 4;
    fill_both_ways(seconds, values, POINTS, &forward, &backward);
    /* More than there is room for does no harm. */
    history_add_before(&backward, 1, 0.5);
    for (double s = 99; s > 0; s -= 1)
        history_add_before(&backward, (uint64_t)(s * MONITOR_SECOND), 0.5);
    CHECK(backward.count <= HISTORY_ROOM);
}

static const check_test tests[] = {
    {"words are moments", words_are_moments},
    {"a clock is of the day that was recorded", a_clock_is_of_the_day_that_was_recorded},
    {"a history is filled backwards", a_history_is_filled_backwards},
};
CHECK_TESTS(tests)
