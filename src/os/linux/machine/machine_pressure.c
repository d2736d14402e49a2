/* machine_pressure.c: pressure of our own cgroup, where version 2 is mounted.
 *
 * The root's files tell the same as /proc/pressure, so it has no rows: only a cgroup that is not
 * the root has a type.
 * Thread rule: workers only. */
#include "os/linux/cgroup/cgroup.h"
#include "os/linux/machine/machine.h"

#include <string.h>

static const struct {
    const char *resource, *file, *label;
} PRESSURES[OS_PRESSURES] = {
    {"cpu", "cpu.pressure", "cgroup cpu"},
    {"memory", "memory.pressure", "cgroup memory"},
    {"io", "io.pressure", "cgroup io"},
    {"irq", "irq.pressure", "cgroup irq"},
};

void machine_read_pressure(const struct os *os, struct row_batch *out)
{
    enum { TEXT_BYTES = 512 };
    struct cgroups cgroups;
    struct cgroup_walk walk;
    char text[TEXT_BYTES];
    cgroups_find(&cgroups, os, 1u << CGROUP_SECOND);
    if (!cgroup_walk_begin(&walk, &cgroups, CGROUP_SECOND) || walk.version != 2 ||
        walk.place->outer || !cgroup_read_here(&walk, "cgroup.type", text, sizeof text))
        return;
    for (unsigned i = 0; i < OS_PRESSURES; i++) {
        struct values values = {0};
        if (!cgroup_read_here(&walk, PRESSURES[i].file, text, sizeof text - 1))
            continue;
        // The last line's newline was taken with the text's end.
        size_t size = strlen(text);
        text[size++] = '\n';
        if (!host_parse_pressure(text, size, &values))
            continue;
        const char *label = PRESSURES[i].label;
        if (batch_add_row(out, VITALS_PRESSURE, OS_PRESSURES + 1 + i,
                          (struct span){label, strlen(label)}) == NULL)
            return;
        batch_set_string(out, VITALS_PRESSURE_RESOURCE, PRESSURES[i].resource);
        batch_set_string(out, VITALS_PRESSURE_SCOPE, "cgroup");
        for (unsigned number = 1; number < METRIC_NUMBERS; number++)
            batch_set_value(out, metric_of(VITALS_PRESSURE, number), values.at[number]);
    }
}
