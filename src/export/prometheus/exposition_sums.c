/* exposition_sums.c: see exposition_sums.h. */
#include "export/prometheus/exposition_sums.h"

#include <stdbool.h>
#include <string.h>

#include "export/keyed_hash.h"
#include "feed/rows.h"
#include "util/hash.h"
#include "util/memory.h"
#include "util/search.h"

/* Snapshots for which a workload without a process on a device is remembered; then its sum
 * restarts. */
enum { SUMS_TURNS = 600 };

/* ---- values by keys ---- */

/* Returns the entry, which is added as zeros if it is not there. NULL if memory is out. Invalidates
 * older pointers. */
static struct counter_map_entry *counter_map_take(struct counter_map *map, uint64_t key)
{
    const struct search_number number = {offsetof(struct counter_map_entry, key), key};
    size_t place = search_place(map->entries, map->count, sizeof *map->entries, &number,
                                search_is_less);
    if (place == map->count || map->entries[place].key != key) {
        if (MEMORY_GROW(map->entries, map->capacity, map->count) != 0)
            return NULL;
        memmove(&map->entries[place + 1], &map->entries[place],
                (map->count - place) * sizeof *map->entries);
        map->entries[place] = (struct counter_map_entry){.key = key};
        map->count++;
    }
    map->entries[place].seen = map->turn;
    return &map->entries[place];
}

const struct counter_map_entry *counter_map_find(const struct counter_map *map, uint64_t key)
{
    const struct search_number number = {offsetof(struct counter_map_entry, key), key};
    return search_find(map->entries, map->count, sizeof *map->entries, number);
}

/* Begins the next turn: removes entries that were not taken for SUMS_TURNS. */
static void counter_map_turn(struct counter_map *map)
{
    size_t kept = 0;
    for (size_t i = 0; i < map->count; i++) {
        if (map->turn - map->entries[i].seen < SUMS_TURNS)
            map->entries[kept++] = map->entries[i];
    }
    map->count = kept;
    map->turn++;
}

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
static double when_read(const vitals_snapshot *snapshot, const vitals_row *row)
{
    uint64_t taken = vitals_snapshot_monotonic_ns(snapshot);
    uint64_t stamp = vitals_row_stamp_ns(row);
    uint64_t age = taken > stamp ? taken - stamp : 0;
    uint64_t now = vitals_snapshot_realtime_ns(snapshot);
    return now > age ? (double)(now - age) / 1e9 : 0;
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
            entry->at = when_read(snapshot, row);
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
        entry->at = when_read(snapshot, row);
    }

    counter_map_turn(&sums->processes);
    counter_map_turn(&sums->workloads);
    counter_map_turn(&sums->sources);
    counter_map_turn(&sums->errors);
}

void exposition_sums_done(struct exposition_sums *sums)
{
    memory_free(sums->processes.entries);
    memory_free(sums->workloads.entries);
    memory_free(sums->sources.entries);
    memory_free(sums->errors.entries);
    *sums = (struct exposition_sums){.stream = 0};
}
