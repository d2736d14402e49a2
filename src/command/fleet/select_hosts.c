/* select_hosts.c: `vitals select --hosts`: which machines have enough free devices, and which these
 * are. A line for each machine, the one with the most free memory on them first:
 *
 *     node07 0,1
 *
 * A device that a scheduler's prolog has given to a job is left out, also while the job is idle. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/devices/select.h"
#include "command/fleet/hosts.h"
#include "feed/rows.h"
#include "util/memory.h"

enum { DEVICES_MOST = 64 };

struct chosen {
    const struct fleet_host *host;
    const vitals_row *rows[DEVICES_MOST];
    size_t count;
    double free_bytes;
};

static int by_memory(const void *a, const void *b)
{
    const struct chosen *x = a, *y = b;
    if (x->free_bytes != y->free_bytes)
        return x->free_bytes > y->free_bytes ? -1 : 1;
    return (x->host > y->host) - (x->host < y->host);
}

/* Returns 0, or an exit code after a message. */
static int choose(const struct fleet_host *host, const vitals_gpu_select_options *given,
                  struct chosen *out)
{
    const vitals_row *candidates[DEVICES_MOST];
    vitals_gpu_select_options options = *given;
    vitals_error error;
    size_t count = 0;
    *out = (struct chosen){.host = host};
    EACH_ROW(gpu, host->newest, VITALS_TABLE_GPU) {
        bool claimed = vitals_snapshot_next_child(host->newest, VITALS_TABLE_GPU_JOB,
                                                  vitals_row_key(gpu), NULL) != NULL;
        if (count < DEVICES_MOST && !claimed && select_variable(gpu) != NULL)
            candidates[count++] = gpu;
    }
    options.candidates = candidates;
    options.candidate_count = count;
    int got = count > 0 ? vitals_gpu_select(host->newest, &options, out->rows, DEVICES_MOST, &error)
                        : 0;
    if (got < 0)
        return command_fail(EXIT_USAGE, "%s", error.message);
    out->count = (size_t)got;
    for (size_t i = 0; i < out->count; i++) {
        double bytes;
        if (vitals_row_number(out->rows[i], VITALS_GPU_MEMORY_FREE_BYTES, &bytes) > 0)
            out->free_bytes += bytes;
    }
    return 0;
}

static void print(const struct settings *settings, const struct chosen *chosen,
                  struct output *output)
{
    output_format(output, "%s ", chosen->host->place.name);
    for (size_t i = 0; i < chosen->count; i++) {
        char id[SELECT_ID];
        select_id(settings->select.id_format, chosen->rows[i], id);
        output_text(output, i > 0 ? settings->select.separator : "");
        output_text(output, id);
    }
    output_text(output, "\n");
}

int command_select_hosts(const struct settings *settings, const vitals_gpu_select_options *options)
{
    struct fleet fleet;
    struct fleet_link *link;
    size_t found = 0;
    if (settings->select.wait || settings->select.inherit != NULL || settings->select.null ||
        settings->arguments.command_argc > 0)
        return command_fail(EXIT_USAGE, "--hosts prints machines and devices once: without --wait, "
                                        "--inherit, --null and a command");
    int code = hosts_open(settings, 0, &fleet, &link);
    if (code == 0)
        code = hosts_wait(settings, &fleet, link);
    struct chosen *chosen = code == 0 ? memory_array(fleet.count, sizeof *chosen) : NULL;
    if (code == 0 && chosen == NULL)
        code = command_fail(EXIT_CANNOT, "out of memory");
    for (size_t i = 0; code == 0 && i < fleet.count; i++) {
        if (fleet.hosts[i].state != FLEET_ANSWERS)
            continue;
        code = choose(&fleet.hosts[i], options, &chosen[found]);
        found += chosen[found].count > 0 && chosen[found].count >= options->min_count;
    }
    if (code == 0) {
        struct output *output = output_begin(STDOUT_FILENO);
        if (found > 1)
            qsort(chosen, found, sizeof *chosen, by_memory);
        for (size_t i = 0; i < found; i++)
            print(settings, &chosen[i], output);
        code = output_done(output, EXIT_DONE);
        size_t answering = hosts_tell_silent(&fleet);
        if (code == 0 && found == 0)
            code = command_fail(answering > 0 ? EXIT_FEWER : EXIT_CANNOT,
                                "%zu machines answer; too few GPUs qualify on each", answering);
    }
    memory_free(chosen);
    hosts_close(&fleet, link);
    return code;
}
