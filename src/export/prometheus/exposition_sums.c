/* exposition_sums.c: see exposition_sums.h. */
#include "export/prometheus/exposition_sums.h"

#include <stdbool.h>
#include <string.h>

#include "export/keyed_hash.h"

bool exposition_workload_of(const vitals_row *row, vitals_text *id)
{
    uint64_t key;
    const vitals_row *process = vitals_row_u64(row, VITALS_GPU_PROCESS_PROCESS, &key) > 0
                                    ? vitals_snapshot_find(vitals_row_snapshot(row), VITALS_PROCESS,
                                                           key)
                                    : NULL;
    return process != NULL && vitals_row_text(process, VITALS_PROCESS_WORKLOAD, id) > 0 &&
           id->size > 0;
}

vitals_availability exposition_state_of(const vitals_row *row)
{
    char name[32];
    vitals_text state;
    if (vitals_row_text(row, VITALS_SOURCE_STATE, &state) <= 0 || state.size >= sizeof name)
        return VITALS_UNSET;
    memcpy(name, state.bytes, state.size);
    name[state.size] = '\0';
    return vitals_availability_from_name(name);
}

uint64_t exposition_workload_key(vitals_text id)
{
    return keyed_hash(id.bytes, id.size);
}

/* Returns what a process used since it was last seen; a new one has used all of it since then. */
static double growth(struct counter_map *map, uint64_t key, double now)
{
    struct counter_map_entry *entry = counter_map_take(map, key, 0);
    if (entry == NULL)
        return 0;
    double grown = now > entry->last ? now - entry->last : 0;
    entry->last = now;
    return grown;
}

static void add_workloads(struct exposition_sums *sums, const vitals_snapshot *snapshot)
{
    const vitals_row *row = NULL;
    while ((row = vitals_snapshot_next(snapshot, VITALS_GPU_PROCESS, row)) != NULL) {
        vitals_text id;
        double busy;
        if (vitals_row_number(row, VITALS_GPU_PROCESS_BUSY_SECONDS, &busy) <= 0)
            continue;
        double grown = growth(&sums->processes, vitals_row_key(row), busy);
        if (!exposition_workload_of(row, &id))
            continue;
        struct counter_map_entry *entry = counter_map_take(&sums->workloads, vitals_row_parent(row),
                                                           exposition_workload_key(id));
        if (entry != NULL)
            entry->value += grown;
    }
}

/* Returns the time of a row's reading, since 1970. */
static double when_read(const vitals_snapshot *snapshot, const vitals_row *row)
{
    uint64_t taken = vitals_snapshot_monotonic_ns(snapshot);
    uint64_t stamp = vitals_row_stamp_ns(row);
    uint64_t age = taken > stamp ? taken - stamp : 0;
    uint64_t now = vitals_snapshot_realtime_ns(snapshot);
    return now > age ? (double)(now - age) / 1e9 : 0;
}

static void add_sources(struct exposition_sums *sums, const vitals_snapshot *snapshot)
{
    const vitals_row *row = NULL;
    while ((row = vitals_snapshot_next(snapshot, VITALS_SOURCE, row)) != NULL) {
        struct counter_map_entry *entry = counter_map_take(&sums->sources, vitals_row_key(row), 0);
        double seconds;
        if (entry == NULL)
            continue;
        if (vitals_row_number(row, VITALS_SOURCE_CALL_SECONDS, &seconds) > 0) {
            entry->value = seconds > entry->last ? seconds - entry->last : 0;
            entry->last = seconds;
        }
        vitals_availability state = exposition_state_of(row);
        if (state > 0 && state != VITALS_STALE)
            entry->at = when_read(snapshot, row);
    }
}

static void add_errors(struct exposition_sums *sums, const vitals_snapshot *snapshot)
{
    const vitals_row *row = NULL;
    while ((row = vitals_snapshot_next(snapshot, VITALS_GPU, row)) != NULL) {
        double count, newest;
        if (vitals_row_number(row, VITALS_GPU_XID_ERRORS, &count) <= 0 ||
            vitals_row_number(row, VITALS_GPU_XID_LAST, &newest) <= 0)
            continue;
        struct counter_map_entry *entry = counter_map_take(&sums->errors, vitals_row_key(row), 0);
        if (entry == NULL || count <= entry->last)
            continue;
        entry->last = count;
        entry->value = newest;
        entry->at = when_read(snapshot, row);
    }
}

void exposition_sums_add(struct exposition_sums *sums, const vitals_snapshot *snapshot)
{
    uint64_t stream = vitals_snapshot_stream(snapshot);
    if (stream != sums->stream)
        exposition_sums_done(sums);
    if (stream == sums->stream && vitals_snapshot_sequence(snapshot) <= sums->sequence)
        return;
    sums->stream = stream;
    sums->sequence = vitals_snapshot_sequence(snapshot);
    add_workloads(sums, snapshot);
    add_sources(sums, snapshot);
    add_errors(sums, snapshot);
    counter_map_turn(&sums->processes, SUMS_TURNS);
    counter_map_turn(&sums->workloads, SUMS_TURNS);
    counter_map_turn(&sums->sources, SUMS_TURNS);
    counter_map_turn(&sums->errors, SUMS_TURNS);
}

void exposition_sums_done(struct exposition_sums *sums)
{
    counter_map_done(&sums->processes);
    counter_map_done(&sums->workloads);
    counter_map_done(&sums->sources);
    counter_map_done(&sums->errors);
    sums->stream = sums->sequence = 0;
}
