/* exposition_sums.c: see exposition_page.h. */
#include "export/prometheus/exposition_page.h"

#include <string.h>

#include "export/keyed_hash.h"
#include "feed/rows.h"
#include "util/hash.h"

/* Snapshots for which a workload without a process on a device is remembered; then its sum
 * restarts. */
enum { SUMS_TURNS = 600 };

/* ---- what rows state ---- */

bool exposition_workload_of(const vitals_row *row, vitals_text *id)
{
    const vitals_row *process = row_process(row);
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

uint64_t exposition_workload_key(uint64_t gpu, vitals_text id)
{
    return hash_join(gpu, keyed_hash(id.bytes, id.size));
}

/* Returns the time of a row's reading, since 1970. */
static uint64_t when_read(const vitals_snapshot *snapshot, const vitals_row *row)
{
    uint64_t taken = vitals_snapshot_monotonic_ns(snapshot);
    uint64_t stamp = vitals_row_stamp_ns(row);
    uint64_t age = taken > stamp ? taken - stamp : 0;
    uint64_t now = vitals_snapshot_realtime_ns(snapshot);
    return now > age ? now - age : 0;
}

/* ---- sums ---- */

void exposition_sums_add(struct exposition_sums *sums, const vitals_snapshot *snapshot)
{
    uint64_t stream = vitals_snapshot_stream(snapshot);
    if (stream != sums->stream)
        exposition_sums_done(sums);
    if (stream == sums->stream && vitals_snapshot_sequence(snapshot) <= sums->sequence)
        return;
    sums->stream = stream;
    sums->sequence = vitals_snapshot_sequence(snapshot);

    /* A workload gets what its processes used since they were last seen; a new process has used all
     * of it since then. */
    EACH_ROW(row, snapshot, VITALS_TABLE_GPU_PROCESS) {
        vitals_text id;
        double busy, grown = 0;
        if (vitals_row_number(row, VITALS_GPU_PROCESS_BUSY_SECONDS, &busy) <= 0)
            continue;
        struct counter_map_entry *process = counter_map_take(&sums->processes, vitals_row_key(row));
        if (process != NULL) {
            grown = busy > process->last ? busy - process->last : 0;
            process->last = busy;
        }
        if (!exposition_workload_of(row, &id))
            continue;
        uint64_t key = exposition_workload_key(vitals_row_parent(row), id);
        struct counter_map_entry *workload = counter_map_take(&sums->workloads, key);
        if (workload != NULL)
            workload->value += grown;
    }

    EACH_ROW(row, snapshot, VITALS_TABLE_SOURCE) {
        struct counter_map_entry *entry = counter_map_take(&sums->sources, vitals_row_key(row));
        double seconds;
        if (entry == NULL)
            continue;
        if (vitals_row_number(row, VITALS_SOURCE_CALL_SECONDS, &seconds) > 0) {
            entry->value = seconds > entry->last ? seconds - entry->last : 0;
            entry->last = seconds;
        }
        vitals_availability state = exposition_state_of(row);
        if (state > 0 && state != VITALS_STALE)
            entry->at_ns = when_read(snapshot, row);
    }

    EACH_ROW(row, snapshot, VITALS_TABLE_GPU) {
        double count, newest;
        if (vitals_row_number(row, VITALS_GPU_XID_ERRORS, &count) <= 0 ||
            vitals_row_number(row, VITALS_GPU_XID_LAST, &newest) <= 0)
            continue;
        struct counter_map_entry *entry = counter_map_take(&sums->errors, vitals_row_key(row));
        if (entry == NULL || count <= entry->last)
            continue;
        entry->last = count;
        entry->value = newest;
        entry->at_ns = when_read(snapshot, row);
    }

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
    *sums = (struct exposition_sums){.stream = 0};
}
