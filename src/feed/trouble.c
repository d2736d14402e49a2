/* trouble.c: see trouble.h. */
#include "feed/trouble.h"

#include <stdio.h>
#include <string.h>

#define G(suffix) VITALS_GPU_##suffix

static const struct silence SILENCES[] = {
    {VITALS_GONE, "lost", true},
    {VITALS_TIMED_OUT, "no answer", true},
    {VITALS_SUSPENDED, "asleep", false},
};

/* If several rows with the same metric apply, the first counts. */
static const struct trouble_cause {
    vitals_metric metric;
    const char *reason; /* the driver's own word for it; NULL: any */
    const char *name;
    const char *brief; /* instead of "throttled: NAME" where that does not fit */
} CAUSES[] = {
    {G(THROTTLED_BY_TEMPERATURE), NULL, "heat", "too hot"},
    {G(THROTTLED_BY_POWER), "hw_power_brake_slowdown", "power brake", "power brake"},
    {G(THROTTLED_BY_POWER), NULL, "power", "power cap"},
    {G(THROTTLED_BY_CURRENT), NULL, "current", "over current"},
    {G(THROTTLED_OTHERWISE), "hw_slowdown", "hardware", "hw slowdown"},
    {G(THROTTLED_OTHERWISE), NULL, "other", "throttled"},
};

enum { CAUSE_COUNT = sizeof CAUSES / sizeof CAUSES[0], NOTES_MAX = CAUSE_COUNT + 3, NOTE = 40 };

const struct silence *trouble_silence(const vitals_row *gpu)
{
    vitals_availability state = vitals_row_availability(gpu, G(MEMORY_USED_BYTES));
    for (size_t i = 0; i < sizeof SILENCES / sizeof SILENCES[0]; i++) {
        if (SILENCES[i].reason == state)
            return &SILENCES[i];
    }
    return NULL;
}

bool trouble_age(const vitals_row *gpu, double *seconds)
{
    static const vitals_metric SHOWN[] = {G(UTILIZATION_RATIO), G(MEMORY_USED_BYTES),
                                          G(POWER_WATTS), G(TEMPERATURE_CELSIUS)};
    uint64_t now_ns = vitals_snapshot_monotonic_ns(vitals_row_snapshot(gpu)), oldest_ns = now_ns;
    bool any = false;
    for (size_t i = 0; i < sizeof SHOWN / sizeof SHOWN[0]; i++) {
        if (vitals_row_availability(gpu, SHOWN[i]) != VITALS_STALE)
            continue;
        uint64_t read_ns = vitals_row_read_ns(gpu, SHOWN[i]);
        oldest_ns = read_ns < oldest_ns ? read_ns : oldest_ns;
        any = true;
    }
    if (any)
        *seconds = (double)(now_ns - oldest_ns) / 1e9;
    return any;
}

const char *trouble_users(const vitals_snapshot *snapshot)
{
    if (!vitals_snapshot_has_table(snapshot, VITALS_TABLE_GPU_PROCESS))
        return NULL;
    switch (vitals_snapshot_state(snapshot, VITALS_TABLE_GPU_PROCESS)) {
    case VITALS_DENIED: return "No permission to see the processes on the GPUs";
    case VITALS_UNSUPPORTED: return "The driver does not list the processes on the GPUs";
    case VITALS_TIMED_OUT: return "Processes on the GPUs are not known: the driver does not answer";
    case VITALS_NOT_YET: return "Processes on the GPUs are not known yet";
    case VITALS_FAILED:
    case VITALS_GONE: return "Processes on the GPUs are not known: the driver cannot list them";
    case VITALS_LOWER_BOUND: return "No process found; not every one can be seen (vitals doctor)";
    default: return NULL;
    }
}

char *span_words(double seconds, char out[static SPAN_WORDS])
{
    enum { MINUTE = 60, HOUR = 3600, DAY = 24 * HOUR };
    static const struct {
        double below;
        unsigned unit;
        const char *name;
    } STEPS[] = {{2 * MINUTE, 1, "s"},
                 {100 * MINUTE, MINUTE, "min"},
                 {96 * HOUR, HOUR, "h"},
                 {1e9, DAY, "days"}};
    size_t step = 0;
    while (step < 3 && seconds >= STEPS[step].below)
        step++;
    unsigned whole = seconds < STEPS[step].below ? (unsigned)seconds : (unsigned)STEPS[step].below;
    (void)snprintf(out, SPAN_WORDS, "%u %s", whole / STEPS[step].unit, STEPS[step].name);
    return out;
}

/* ---- what applies ---- */

/* Those that apply, the gravest first. */
struct notes {
    struct {
        char words[NOTE], brief[NOTE];
    } items[NOTES_MAX];
    size_t count;
};

static bool is_set(const vitals_row *gpu, vitals_metric metric, double *out)
{
    return vitals_row_number(gpu, metric, out) > 0 && *out > 0;
}

static bool applies(const vitals_row *gpu, const struct trouble_cause *cause)
{
    double on;
    vitals_text reasons;
    if (!is_set(gpu, cause->metric, &on))
        return false;
    if (cause->reason == NULL)
        return true;
    if (vitals_row_text(gpu, G(THROTTLE_REASONS), &reasons) <= 0)
        return false;

    /* A list with commas between. */
    size_t size = strlen(cause->reason);
    for (size_t begin = 0, end = 0; begin < reasons.size; begin = end + 1) {
        for (end = begin; end < reasons.size && reasons.bytes[end] != ',';)
            end++;
        if (end - begin == size && memcmp(reasons.bytes + begin, cause->reason, size) == 0)
            return true;
    }
    return false;
}

/* The next cause that applies from *place on, or NULL. */
static const struct trouble_cause *next_cause(const vitals_row *gpu, size_t *place)
{
    while (*place < CAUSE_COUNT) {
        const struct trouble_cause *cause = &CAUSES[(*place)++];
        if (!applies(gpu, cause))
            continue;
        while (*place < CAUSE_COUNT && CAUSES[*place].metric == cause->metric)
            (*place)++;
        return cause;
    }
    return NULL;
}

static void add(struct notes *notes, const char *words, const char *brief)
{
    (void)snprintf(notes->items[notes->count].words, NOTE, "%s", words);
    (void)snprintf(notes->items[notes->count++].brief, NOTE, "%s", brief);
}

static void find(struct notes *notes, const vitals_row *gpu)
{
    static const double LONG_SECONDS = 3;
    char span[SPAN_WORDS], words[NOTE], brief[NOTE], age[NOTE] = "";
    double count, newest, seconds = 0;
    if (is_set(gpu, G(ECC_ERRORS_UNCORRECTED), &count)) {
        (void)snprintf(words, sizeof words, "ECC %.0f uncorrected", count);
        (void)snprintf(brief, sizeof brief, "ECC %.0f", count);
        add(notes, words, brief);
    }
    if (is_set(gpu, G(XID_ERRORS), &count)) {
        bool known = is_set(gpu, G(XID_LAST), &newest);
        (void)snprintf(words, sizeof words, known ? "Xid %.0f" : "Xid errors: %.0f",
                       known ? newest : count);
        (void)snprintf(brief, sizeof brief, known ? "Xid %.0f" : "%.0f Xids",
                       known ? newest : count);
        add(notes, words, brief);
    }

    /* Readings of a device that has been late for long say little of now: their age stands before
     * what they say. One late answer changes nothing, and its age stands behind. */
    if (trouble_age(gpu, &seconds))
        (void)snprintf(age, sizeof age, "%s old", span_words(seconds < 1 ? 1 : seconds, span));
    if (age[0] != '\0' && seconds >= LONG_SECONDS)
        add(notes, age, age);
    const struct trouble_cause *cause;
    bool first = true;
    for (size_t place = 0; (cause = next_cause(gpu, &place)) != NULL; first = false) {
        (void)snprintf(words, sizeof words, "%s%s", first ? "throttled: " : "", cause->name);
        add(notes, words, first ? cause->brief : cause->name);
    }
    if (age[0] != '\0' && seconds < LONG_SECONDS)
        add(notes, age, age);
}

bool trouble_note(const vitals_row *gpu, size_t columns, char out[static TROUBLE_WORDS])
{
    struct notes notes = {.count = 0};
    size_t used = 0;
    find(&notes, gpu);
    out[0] = '\0';
    columns = columns < TROUBLE_WORDS ? columns : TROUBLE_WORDS - 1;
    for (size_t i = 0; i < notes.count; i++) {
        const char *comma = i > 0 ? ", " : "", *words = notes.items[i].words;
        if (used + strlen(comma) + strlen(words) > columns)
            words = notes.items[i].brief;
        if (i > 0 && used + strlen(comma) + strlen(words) > columns)
            break;
        used += (size_t)snprintf(out + used, TROUBLE_WORDS - used, "%s%s", comma, words);
    }
    return notes.count > 0;
}

bool trouble_throttle(const vitals_row *gpu, char out[static TROUBLE_WORDS],
                      vitals_availability *reason)
{
    const struct trouble_cause *cause;
    double on;
    size_t used = 0;
    out[0] = '\0';
    for (size_t place = 0; (cause = next_cause(gpu, &place)) != NULL && used < TROUBLE_WORDS;)
        used += (size_t)snprintf(out + used, TROUBLE_WORDS - used, "%s%s", used > 0 ? ", " : "",
                                 cause->name);
    for (size_t i = 0; i < CAUSE_COUNT; i++) {
        if (vitals_row_number(gpu, CAUSES[i].metric, &on) > 0)
            continue;
        *reason = vitals_row_availability(gpu, CAUSES[i].metric);
        return false;
    }
    return true;
}
