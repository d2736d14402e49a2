/* history.c: see history.h. */
#include "view/history.h"

#include <math.h>

#include "util/base.h"

enum { GAP_MOST = 12 };
static const uint64_t STEP_NS = 1000000000u;

/* Seconds before the first one are counted round. */
_Static_assert((HISTORY_ROOM & (HISTORY_ROOM - 1)) == 0, "places go on where numbers wrap");

uint64_t history_second(uint64_t time_ns)
{
    return time_ns / STEP_NS + 1;
}

/* The place of the value of a second. */
static size_t place(const struct history *history, uint64_t second)
{
    return (second - history->begin) % HISTORY_ROOM;
}

/* Fills the seconds between two values: along a line if they are few and both are known. */
static void fill(struct history *history, uint64_t begin, double from, uint64_t end, double to)
{
    uint64_t gap = end - begin;
    bool known = gap <= GAP_MOST && !isnan(from) && !isnan(to);
    for (uint64_t i = 1; i < gap; i++)
        history->values[place(history, begin + i)] =
            (float)(known ? from + (to - from) * (double)i / (double)gap : (double)NAN);
}

void history_add(struct history *history, uint64_t time_ns, double value)
{
    uint64_t second = history_second(time_ns), newest = history->newest;
    if (history->count > 0 && second < newest)
        return;
    if (history->count > 0 && second == newest) {
        if (isnan(value))
            return;
        history->sum = history->parts > 0 ? history->sum + value : value;
        history->parts++;
        history->values[place(history, second)] = (float)(history->sum / history->parts);
        return;
    }

    uint64_t gap = second - newest;
    if (gap > HISTORY_ROOM)
        history->count = 0;
    if (history->count == 0)
        history->begin = second;
    else
        fill(history, newest, history_get(history, 0), second, value);
    history->values[place(history, second)] = (float)value;
    history->count = history->count == 0 ? 1
                                         : (size_t)uint64_min(history->count + gap, HISTORY_ROOM);
    history->newest = second;
    history->parts = isnan(value) ? 0u : 1u;
    history->sum = isnan(value) ? 0 : value;
}

void history_add_before(struct history *history, uint64_t time_ns, double value)
{
    uint64_t second = history_second(time_ns), oldest = history->newest - history->count + 1;
    if (history->count == 0) {
        history_add(history, time_ns, value);
        return;
    }
    if (second == oldest && history->count > 1 && !isnan(value)) {
        history->first_sum += value;
        history->first_parts++;
        history->values[place(history, second)] = (float)(history->first_sum /
                                                          history->first_parts);
    }
    if (second >= oldest || history->newest - second >= HISTORY_ROOM)
        return;
    fill(history, second, value, oldest, (double)history->values[place(history, oldest)]);
    history->values[place(history, second)] = (float)value;
    history->count += oldest - second;
    history->first_sum = isnan(value) ? 0 : value;
    history->first_parts = isnan(value) ? 0u : 1u;
}

void history_add_late(struct history *history, uint64_t time_ns, double value)
{
    uint64_t second = history_second(time_ns);
    if (history->count == 0 || second >= history->newest)
        history_add(history, time_ns, value);
    else if (history->newest - second >= history->count)
        history_add_before(history, time_ns, value);
    else if (isnan(history->values[place(history, second)]))
        history->values[place(history, second)] = (float)value;
}

double history_get(const struct history *history, size_t ago)
{
    if (ago >= history->count)
        return (double)NAN;
    return (double)history->values[place(history, history->newest - ago)];
}

bool history_mean(const struct history *history, size_t ago, size_t seconds, double *out)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = ago; i < ago + seconds && i < history->count; i++) {
        double value = history_get(history, i);
        if (isnan(value))
            continue;
        sum += value;
        count++;
    }
    if (count > 0)
        *out = sum / (double)count;
    return count > 0;
}

bool history_most(const struct history *history, size_t ago, size_t seconds, double *out)
{
    bool found = false;
    for (size_t i = ago; i < ago + seconds && i < history->count; i++) {
        double value = history_get(history, i);
        if (isnan(value) || (found && value <= *out))
            continue;
        *out = value;
        found = true;
    }
    return found;
}
