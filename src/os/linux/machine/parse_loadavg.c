/* parse_loadavg.c: /proc/loadavg, "0.78 0.75 0.44 2/1234 5678": three averages, tasks that are
 * runnable of all tasks, and the newest pid, which is not used.
 *
 * Thread rule: pure. */
#include "os/linux/machine/host_files.h"

#include "util/number.h"

void host_parse_loadavg(const char *bytes, size_t size, struct values *machine)
{
    static const vitals_metric AVERAGES[] = {
        VITALS_HOST_LOAD_1M,
        VITALS_HOST_LOAD_5M,
        VITALS_HOST_LOAD_15M,
    };
    struct cursor text = cursor_over(bytes, size);
    struct span line;
    if (!host_line(&text, &line))
        return;
    struct cursor at = cursor_over(line.bytes, line.size);
    for (size_t i = 0; i < ARRAY_COUNT(AVERAGES); i++) {
        double load;
        cursor_blanks(&at);
        if (!number_f64(&at.at, at.end, &load) || cursor_done(&at) || *at.at != ' ')
            return; // each is followed by the next field, or this is something else
        values_set(machine, AVERAGES[i], value_f64(load));
    }
    uint64_t running, tasks;
    if (!cursor_u64(&at, &running))
        return;
    values_set(machine, VITALS_HOST_TASKS_RUNNING, value_u64(running));
    if (cursor_literal(&at, "/") && cursor_u64(&at, &tasks))
        values_set(machine, VITALS_HOST_TASKS, value_u64(tasks));
}
