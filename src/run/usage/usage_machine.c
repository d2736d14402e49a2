/* usage_machine.c: what the machine as a whole did, subject "system", and the tree's part of the
 * energy of its CPUs. See usage_data.h. */
#include "run/usage/usage_data.h"

#include <string.h>

enum { PARTS_MAX = 3 };

/* A measure that is one metric of the host's row, or a sum of several. */
static const struct machine {
    enum measure_place place;
    vitals_metric parts[PARTS_MAX];
} MACHINE[] = {
    {MEASURE_AT_cpu_seconds, {VITALS_HOST_CPU_BUSY_SECONDS}},
    {MEASURE_AT_cpu_user_seconds, {VITALS_HOST_CPU_USER_SECONDS, VITALS_HOST_CPU_NICE_SECONDS}},
    {MEASURE_AT_cpu_system_seconds,
     {VITALS_HOST_CPU_SYSTEM_SECONDS, VITALS_HOST_CPU_IRQ_SECONDS,
      VITALS_HOST_CPU_SOFTIRQ_SECONDS}},
    {MEASURE_AT_cpu_nice_seconds, {VITALS_HOST_CPU_NICE_SECONDS}},
    {MEASURE_AT_processes, {VITALS_HOST_PROCESSES}},
    {MEASURE_AT_threads, {VITALS_HOST_TASKS}},
    {MEASURE_AT_disk_read_bytes, {VITALS_HOST_DISK_READ_BYTES}},
    {MEASURE_AT_disk_written_bytes, {VITALS_HOST_DISK_WRITTEN_BYTES}},
    {MEASURE_AT_network_received_bytes, {VITALS_HOST_NETWORK_RECEIVED_BYTES}},
    {MEASURE_AT_network_transmitted_bytes, {VITALS_HOST_NETWORK_TRANSMITTED_BYTES}},
    {MEASURE_AT_memory_total_bytes, {VITALS_HOST_MEMORY_TOTAL_BYTES}},
    {MEASURE_AT_memory_used_bytes, {VITALS_HOST_MEMORY_USED_BYTES}},
    {MEASURE_AT_memory_free_bytes, {VITALS_HOST_MEMORY_FREE_BYTES}},
    {MEASURE_AT_memory_available_bytes, {VITALS_HOST_MEMORY_AVAILABLE_BYTES}},
    {MEASURE_AT_memory_buffers_bytes, {VITALS_HOST_MEMORY_BUFFERS_BYTES}},
    {MEASURE_AT_memory_cached_bytes, {VITALS_HOST_MEMORY_CACHED_BYTES}},
    {MEASURE_AT_memory_active_bytes, {VITALS_HOST_MEMORY_ACTIVE_BYTES}},
    {MEASURE_AT_memory_inactive_bytes, {VITALS_HOST_MEMORY_INACTIVE_BYTES}},
    {MEASURE_AT_memory_active_anon_bytes, {VITALS_HOST_MEMORY_ACTIVE_ANON_BYTES}},
    {MEASURE_AT_memory_inactive_anon_bytes, {VITALS_HOST_MEMORY_INACTIVE_ANON_BYTES}},
    {MEASURE_AT_memory_page_cache_bytes, {VITALS_HOST_MEMORY_PAGE_CACHE_BYTES}},
    {MEASURE_AT_swap_used_bytes, {VITALS_HOST_SWAP_USED_BYTES}},
    {MEASURE_AT_disk_space_total_bytes, {VITALS_HOST_DISK_SPACE_TOTAL_BYTES}},
    {MEASURE_AT_disk_space_used_bytes, {VITALS_HOST_DISK_SPACE_USED_BYTES}},
    {MEASURE_AT_disk_space_available_bytes, {VITALS_HOST_DISK_SPACE_AVAILABLE_BYTES}},
    {MEASURE_AT_forks, {VITALS_HOST_FORKS}},
    {MEASURE_AT_load_1m, {VITALS_HOST_LOAD_1M}},
    {MEASURE_AT_package_energy_joules, {VITALS_HOST_PACKAGE_ENERGY_JOULES}},
    {MEASURE_AT_dram_energy_joules, {VITALS_HOST_DRAM_ENERGY_JOULES}},
};

static const struct {
    enum measure_place place;
    const char *resource;
} PRESSURES[] = {
    {MEASURE_AT_cpu_pressure_seconds, "cpu"},
    {MEASURE_AT_memory_pressure_seconds, "memory"},
    {MEASURE_AT_io_pressure_seconds, "io"},
};

/* A counter from its first reading on, or a gauge. One that was not due is the same reading. */
static void set(vitals_usage *usage, uint64_t read_ns, enum measure_place place,
                vitals_availability state, double value)
{
    struct usage_cell *cell = usage_cell(usage, SUBJECT_SYSTEM, place);
    if (MEASURES[place].kind == MEASURE_GAUGE) {
        usage_cell_gauge(cell, read_ns, value, state);
        return;
    }
    if (state > 0 && !usage->machine_based[place]) {
        usage->machine_base[place] = value - cell->value;
        usage->machine_based[place] = true;
    }
    /* A counter that begins anew, as of a disk that was taken out, stands still until it is past.
     */
    double grown = value - usage->machine_base[place];
    usage_cell_counter(cell, read_ns, grown > 0 ? grown : 0, state);
}

/* The measures of MACHINE. */
static void set_figures(vitals_usage *usage, const vitals_row *host)
{
    for (const struct machine *at = MACHINE; at < MACHINE + ARRAY_COUNT(MACHINE); at++) {
        /* Times of the machine are counted by ticks. */
        bool ticks = at->place <= MEASURE_AT_cpu_system_seconds ||
                     at->place == MEASURE_AT_cpu_nice_seconds;
        vitals_availability state = ticks ? VITALS_ESTIMATE : VITALS_HAVE;
        double sum = 0, part;
        uint64_t newest_ns = 0;
        for (size_t i = 0; i < PARTS_MAX && at->parts[i] != 0 && state > 0; i++) {
            vitals_availability one = vitals_row_number(host, at->parts[i], &part);
            state = one > 0 ? state_worse(state, one) : one;
            sum += one > 0 ? part : 0;
            newest_ns = uint64_max(newest_ns, vitals_row_read_ns(host, at->parts[i]));
        }
        set(usage, newest_ns, at->place, state, sum);
    }
}

/* CPUs in use since the reading before: over the time between the readings, not the snapshots. */
static void set_cores(vitals_usage *usage, const vitals_row *host)
{
    double busy, cpus;
    struct usage_cell *cores = usage_cell(usage, SUBJECT_SYSTEM, MEASURE_AT_cpu_cores);
    struct usage_cell *ratio = usage_cell(usage, SUBJECT_SYSTEM, MEASURE_AT_cpu_ratio);
    vitals_availability state = vitals_row_number(host, VITALS_HOST_CPU_BUSY_SECONDS, &busy);
    uint64_t read_ns = vitals_row_read_ns(host, VITALS_HOST_CPU_BUSY_SECONDS);
    uint64_t before = usage->system_cpu_ns;
    uint64_t shortest = 9 * vitals_metric_resolution_ns(VITALS_HOST_CPU_BUSY_SECONDS, 0);
    if (state > 0 && before != 0 && read_ns < saturating_add(before, shortest)) {
        usage_cell_repeat(cores); /* the same reading, or too near to it */
        usage_cell_repeat(ratio);
        return;
    }
    vitals_availability grown = state > 0 && before == 0 ? VITALS_NOT_YET : state;
    if (grown <= 0 || busy >= usage->system_cpu_before) {
        double seconds = (double)(read_ns - before) / (double)NS_PER_SECOND;
        double rate = grown > 0 ? (busy - usage->system_cpu_before) / seconds : 0;
        bool known = vitals_row_number(host, VITALS_HOST_CPUS, &cpus) > 0 && cpus > 0;
        usage_cell_mean(cores, rate, seconds, grown);
        if (known || grown <= 0)
            usage_cell_mean(ratio, known ? rate / cpus : 0, seconds, grown);
    }
    usage->system_cpu_before = busy;
    usage->system_cpu_ns = state > 0 ? read_ns : 0;
}

void usage_machine(vitals_usage *usage, const vitals_snapshot *snapshot)
{
    const vitals_row *host = vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL);
    double cores;
    if (host != NULL) {
        if (vitals_row_number(host, VITALS_HOST_CPUS, &cores) > 0)
            usage->system_cores = cores;
        if (usage->options.expected_cores <= 0 &&
            (vitals_row_number(host, VITALS_HOST_CPUS_ELIGIBLE, &cores) > 0 ||
             (usage->expected_cores <= 0 &&
              vitals_row_number(host, VITALS_HOST_CPUS_USABLE, &cores) > 0)))
            usage->expected_cores = cores;
        set_figures(usage, host);
        set_cores(usage, host);
    }

    vitals_availability missing = vitals_snapshot_state(snapshot, VITALS_TABLE_PRESSURE);
    for (size_t i = 0; i < ARRAY_COUNT(PRESSURES); i++) {
        vitals_availability state = missing > 0 ? VITALS_UNSUPPORTED : missing;
        uint64_t read_ns = 0;
        double value = 0;
        for (const vitals_row *row = NULL;
             (row = vitals_snapshot_next(snapshot, VITALS_TABLE_PRESSURE, row)) != NULL;) {
            if (strcmp(vitals_row_label(row), PRESSURES[i].resource) != 0)
                continue; /* as that of a cgroup, which says so */
            state = vitals_row_number(row, VITALS_PRESSURE_SOME_SECONDS, &value);
            read_ns = vitals_row_read_ns(row, VITALS_PRESSURE_SOME_SECONDS);
        }
        set(usage, read_ns, PRESSURES[i].place, state, value);
    }
}

/* The tree's share of the energy of the CPU packages. Nothing counts energy by process. Between two
 * readings of the packages the tree gets the part of their energy that it had of the machine's CPU
 * time: the energy of idle packages is divided in the same way, and a CPU second of each program
 * counts the same. An estimate. */
void usage_energy(vitals_usage *usage)
{
    static const enum measure_place PACKAGES = MEASURE_AT_package_energy_joules;
    struct usage_cell *share = usage_cell(usage, SUBJECT_TREE, MEASURE_AT_cpu_energy_joules);
    const struct usage_cell *energy = usage_cell(usage, SUBJECT_SYSTEM, PACKAGES);
    const struct usage_cell *busy = usage_cell(usage, SUBJECT_SYSTEM, MEASURE_AT_cpu_seconds);
    const struct usage_cell *cpu = usage_cell(usage, SUBJECT_TREE, MEASURE_AT_cpu_seconds);
    const struct usage_cell *const NEEDED[] = {energy, busy, cpu};
    for (size_t i = 0; i < ARRAY_COUNT(NEEDED); i++) {
        if (NEEDED[i]->state > 0)
            continue;
        usage->energy_ns = 0;
        usage_cell_missing(share, (vitals_availability)NEEDED[i]->state);
        return;
    }

    bool first = usage->energy_ns == 0;
    double machine_cpu = busy->value - usage->energy_busy;
    double tree_cpu = cpu->value - usage->energy_cpu;
    /* CPU time that was counted since the last reading of a clock of ticks is no share yet. */
    if (!first && (energy->read_ns <= usage->energy_ns || machine_cpu <= 0)) {
        usage_cell_repeat(share);
        return;
    }
    double part = tree_cpu <= 0 ? 0 : tree_cpu < machine_cpu ? tree_cpu / machine_cpu : 1;
    if (!first)
        usage->energy_share += (energy->value - usage->energy_before) * part;
    usage->energy_ns = energy->read_ns;
    usage->energy_before = energy->value;
    usage->energy_busy = busy->value;
    usage->energy_cpu = cpu->value;
    usage_cell_counter(share, energy->read_ns, usage->energy_share, VITALS_ESTIMATE);
}
