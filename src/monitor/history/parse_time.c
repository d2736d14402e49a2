/* parse_time.c: see parse_time.h. */
#include "monitor/history/parse_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/base.h"

enum { DAY_SECONDS = 86400 };

static bool local(uint64_t realtime_ns, struct tm *out)
{
    time_t seconds = (time_t)(realtime_ns / NS_PER_SECOND);
    return localtime_r(&seconds, out) != NULL;
}

static bool to_ns(struct tm *parts, uint64_t *out)
{
    parts->tm_isdst = -1;
    time_t seconds = mktime(parts);
    if (seconds < 0 || (uint64_t)seconds > UINT64_MAX / NS_PER_SECOND)
        return false;
    *out = (uint64_t)seconds * NS_PER_SECOND;
    return true;
}

/* "12:03" or "12:03:07", to its end. */
static bool read_clock(const char *text, struct tm *parts)
{
    int hour, minute, second = 0, end = 0;
    if (sscanf(text, "%2d:%2d%n:%2d%n", &hour, &minute, &end, &second, &end) < 2 ||
        text[end] != '\0' || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 ||
        second > 60)
        return false;
    parts->tm_hour = hour;
    parts->tm_min = minute;
    parts->tm_sec = second;
    return true;
}

/* "2026-11-22", with a clock behind it or without. */
static bool parse_date(const char *text, uint64_t *out)
{
    struct tm parts = {.tm_sec = 0}, whole;
    const char *end = strptime(text, "%Y-%m-%d", &parts);
    whole = parts;
    if (end == NULL || timegm(&whole) < 0 || whole.tm_mday != parts.tm_mday) /* February 30 */
        return false;
    if (end[-2] == '-' && *end >= '0' && *end <= '9') /* "2026-11-45:30": day 4 for strptime */
        return false;
    end += *end == 'T' || *end == ' ';
    return (*end == '\0' || read_clock(end, &parts)) && to_ns(&parts, out);
}

static bool parse_distance(const char *text, const struct time_span *span, uint64_t *out)
{
    static const struct {
        const char *name;
        double seconds;
    } UNITS[] = {{"", 1}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}, {"d", DAY_SECONDS}};
    static const double MOST_NS = 1.8e19; /* of 64 bits */
    char *end;
    bool back = text[0] == '-';
    if ((text[0] != '-' && text[0] != '+') || text[1] < '0' || text[1] > '9')
        return false;
    double value = strtod(text + 1, &end);
    end += strspn(end, " ");
    for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
        if (strcmp(end, UNITS[i].name) != 0)
            continue;
        double ns = value * UNITS[i].seconds * 1e9;
        uint64_t by = ns < MOST_NS ? (uint64_t)ns : UINT64_MAX;
        *out = back ? (by < span->now_ns ? span->now_ns - by : 0)
                    : (by < UINT64_MAX - span->now_ns ? span->now_ns + by : UINT64_MAX);
        return true;
    }
    return false;
}

bool parse_time(const char *text, const struct time_span *span, uint64_t *out)
{
    static const int DAYS[] = {0, 1, -1};
    char words[TIME_WORDS], *end;
    text += strspn(text, " ");
    size_t size = strlen(text);
    while (size > 0 && text[size - 1] == ' ')
        size--;
    if (size == 0 || size >= sizeof words)
        return false;
    memcpy(words, text, size);
    words[size] = '\0';
    if (strcmp(words, "begin") == 0 || strcmp(words, "end") == 0 || strcmp(words, "now") == 0) {
        *out = words[0] == 'b' ? 0 : UINT64_MAX;
        return true;
    }
    if (parse_distance(words, span, out) || parse_date(words, out))
        return true;

    if (words[0] >= '0' && words[0] <= '9' && words[size - 1] == '%') { /* a share of the span */
        double value = strtod(words, &end);
        uint64_t length_ns = span->last_ns > span->first_ns ? span->last_ns - span->first_ns : 0;
        end += strspn(end, " ");
        if (strcmp(end, "%") != 0 || !(value >= 0 && value <= 100))
            return false;
        *out = span->first_ns + (uint64_t)((double)length_ns * value / 100);
        return true;
    }

    /* A time without a day is one of this day, or of the day after or before if only that lies in
     * the span. */
    struct tm parts;
    if (!local(span->now_ns, &parts) || !read_clock(words, &parts))
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(DAYS); i++) {
        struct tm other = parts;
        uint64_t found;
        other.tm_mday += DAYS[i];
        if (!to_ns(&other, &found))
            return false;
        if (i == 0)
            *out = found;
        if (found + NS_PER_SECOND > span->first_ns && found <= span->last_ns) {
            *out = found;
            break;
        }
    }
    return true;
}

void format_time(uint64_t realtime_ns, bool dated, char out[static TIME_WORDS])
{
    struct tm parts;
    if (!local(realtime_ns, &parts) ||
        strftime(out, TIME_WORDS, dated ? "%b %d %H:%M:%S" : "%H:%M:%S", &parts) == 0)
        (void)snprintf(out, TIME_WORDS, "?");
}

bool time_span_is_dated(const struct time_span *span)
{
    struct tm first, last;
    return local(span->first_ns, &first) && local(span->last_ns, &last) &&
           (first.tm_yday != last.tm_yday || first.tm_year != last.tm_year);
}

void format_distance(uint64_t ns, char out[static TIME_WORDS])
{
    unsigned long long seconds = ns / NS_PER_SECOND;
    if (seconds < 60)
        (void)snprintf(out, TIME_WORDS, "%llu s", seconds);
    else if (seconds < 600)
        (void)snprintf(out, TIME_WORDS, "%llu min %llu s", seconds / 60, seconds % 60);
    else if (seconds < 3600)
        (void)snprintf(out, TIME_WORDS, "%llu min", seconds / 60);
    else
        (void)snprintf(out, TIME_WORDS, "%llu h %llu min", seconds / 3600, seconds / 60 % 60);
}
