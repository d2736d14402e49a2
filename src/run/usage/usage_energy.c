/* usage_energy.c: what the tree is given of the energy of the CPU packages. See usage_data.h.
 *
 * Nothing counts energy by process. Between two readings of the packages the tree gets the part of
 * their energy that it had of the machine's CPU time: what the packages take at rest is shared out
 * so too, and a second of one program is worth as much as a second of another. An estimate. */
#include "run/usage/usage_data.h"

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
