/* track_events.c: see track_events.h. */
#include "run/track_events.h"

#include "util/memory.h"

#include <stdio.h>
#include <string.h>

struct track_events {
    struct os_ends *ends;
};

struct track_events *track_events_new(const struct os *os, const struct os_trees *trees)
{
    struct track_events *events = memory_alloc(sizeof(*events));
    if (events != NULL && os_ends_open(os, trees, &events->ends) == 0)
        return events;
    memory_free(events);
    return NULL;
}

void track_events_free(struct track_events *events)
{
    if (events == NULL)
        return;
    os_ends_free(events->ends);
    memory_free(events);
}

void track_events_tick(struct track_events *events)
{
    if (events != NULL)
        os_ends_drain(events->ends);
}

int track_events_news(const struct track_events *events)
{
    return events != NULL ? os_ends_news(events->ends) : -1;
}

/* What samples tell of the same. */
static const struct {
    enum quantity quantity;
    enum measure_place measure;
} SAMPLED[] = {
    {COUNTED_CPU_SECONDS, MEASURE_AT_cpu_seconds},
    {COUNTED_READ_BYTES, MEASURE_AT_disk_read_bytes},
    {COUNTED_WRITTEN_BYTES, MEASURE_AT_disk_written_bytes},
    {COUNTED_MINOR_FAULTS, MEASURE_AT_minor_faults},
    {COUNTED_MAJOR_FAULTS, MEASURE_AT_major_faults},
    {COUNTED_VOLUNTARY_SWITCHES, MEASURE_AT_voluntary_switches},
    {COUNTED_INVOLUNTARY_SWITCHES, MEASURE_AT_involuntary_switches},
};

/* Samples know what living processes have waited for, including the time of children that ended;
 * the kernel's records also know of children that were never waited for. */
static bool samples_know_more(const vitals_usage *usage, enum quantity quantity, double value)
{
    const struct usage_subject *tree = usage->subjects[SUBJECT_TREE];
    for (size_t i = 0; i < ARRAY_COUNT(SAMPLED); i++) {
        const struct usage_cell *cell = &tree->cells[SAMPLED[i].measure];
        if (SAMPLED[i].quantity == quantity)
            return cell->readings > 0 && cell->most >= value;
    }
    return false;
}

/* Records split the time of those that have ended alone, samples that of those that they saw:
 * whichever part is more. Where samples tell the whole, they tell its parts. */
static void complete_split(const vitals_usage *usage, struct counted told[static COUNTED_COUNT])
{
    static const struct {
        enum quantity quantity;
        enum measure_place measure;
    } PARTS[] = {{COUNTED_CPU_USER_SECONDS, MEASURE_AT_cpu_user_seconds},
                 {COUNTED_CPU_SYSTEM_SECONDS, MEASURE_AT_cpu_system_seconds}};
    const struct usage_subject *tree = usage->subjects[SUBJECT_TREE];
    const double whole = told[COUNTED_CPU_SECONDS].value.as.f64;
    bool sampled = samples_know_more(usage, COUNTED_CPU_SECONDS, whole);
    for (size_t i = 0; i < ARRAY_COUNT(PARTS); i++) {
        struct counted *part = &told[PARTS[i].quantity];
        const struct usage_cell *cell = &tree->cells[PARTS[i].measure];
        if (sampled)
            part->value.state = VITALS_UNSUPPORTED;
        if (part->value.state <= 0 || cell->readings == 0 || cell->most <= part->value.as.f64)
            continue;
        part->value.as.f64 = cell->most;
        (void)snprintf(part->source, sizeof part->source, "sampled; ends tell less of it");
    }
}

/* Each process's own peak: of those that have ended by their records, of the others as sampled. */
static void complete_sum(const vitals_usage *usage, struct counted *sum)
{
    if (sum->value.state <= 0)
        return;
    for (size_t i = 0; i < usage->entry_count; i++)
        sum->value.as.f64 += usage->entries[i]->member ? usage->entries[i]->resident_peak : 0;
    size_t size = strlen(sum->source);
    (void)snprintf(sum->source + size, sizeof sum->source - size, "; VmHWM of those that live");
}

bool track_events_read(struct track_events *events, const vitals_usage *usage, struct counted *out)
{
    struct counted told[COUNTED_COUNT] = {0};
    bool any = false;
    if (events == NULL)
        return false;
    os_ends_read(events->ends, told);
    complete_split(usage, told);
    complete_sum(usage, &told[COUNTED_MEMORY_SUM_BYTES]);
    for (int quantity = 0; quantity < COUNTED_COUNT; quantity++) {
        double value = told[quantity].value.as.f64;
        if (told[quantity].value.state <= 0 || out[quantity].value.state > 0 ||
            samples_know_more(usage, (enum quantity)quantity, value))
            continue;
        out[quantity] = told[quantity];
        any = true;
    }
    return any;
}

const char *track_events_names(const struct track_events *events)
{
    return events != NULL ? os_ends_names(events->ends) : "";
}
