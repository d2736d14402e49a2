/* parse_time.h: a moment as people write it and read it: "12:03", "-5min", "34 %". Pure but for the
 * time zone. Any thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The range in which a time may lie, and the time that "-5min" is counted from. Unix time. */
struct time_span {
    uint64_t first_ns, last_ns, now_ns;
};

enum { TIME_WORDS = 64 };

/* "12:03", "12:03:07" (of the day that lies in the span), "2026-11-22 12:03:07", "+90", "-5min",
 * "+2h", "34%", "begin", "end". False: it is none of these. */
bool parse_time(const char *text, const struct time_span *span, uint64_t *out);

/* "12:03:07"; with the day where `dated`: "Nov 22 12:03:07". */
void format_time(uint64_t realtime_ns, bool dated, char out[static TIME_WORDS]);

/* True if the first and the last time are of two days. */
bool time_span_is_dated(const struct time_span *span);

/* "12 s", "12 min 3 s", "1 h 2 min". */
void format_distance(uint64_t ns, char out[static TIME_WORDS]);
