/* fdinfo of DRM drivers, one behind the other with a line "--" between: each is read, and they are
 * the clients of sweep after sweep. Counts stay within their caps, names are strings, ratios are
 * within the whole, counters of a process do not run backwards. */
#include "gpu/clients.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CLIENTS = 8 };

static void check_client(const struct sweep_client *client)
{
    if (client->engine_count > SWEEP_ENGINES || client->region_count > SWEEP_REGIONS ||
        memchr(client->driver, '\0', sizeof client->driver) == NULL ||
        memchr(client->pdev, '\0', sizeof client->pdev) == NULL)
        abort();
    for (uint32_t i = 0; i < client->engine_count; i++) {
        const struct sweep_engine *engine = &client->engines[i];
        if (memchr(engine->name, '\0', sizeof engine->name) == NULL || engine->name[0] == '\0' ||
            engine->capacity == 0 || !(engine->percent >= 0))
            abort();
    }
    for (uint32_t i = 0; i < client->region_count; i++) {
        if (memchr(client->regions[i].name, '\0', SWEEP_NAME) == NULL)
            abort();
    }
}

static void check_list(const struct gpu_processes *list, double *busy)
{
    static const vitals_metric RATIOS[] = {
        VITALS_GPU_PROCESS_UTILIZATION_RATIO, VITALS_GPU_PROCESS_ENCODER_RATIO,
        VITALS_GPU_PROCESS_DECODER_RATIO, VITALS_GPU_PROCESS_JPEG_RATIO};
    for (uint32_t i = 0; i < list->count; i++) {
        const struct gpu_process *process = &list->items[i];
        for (size_t j = 0; j < ARRAY_COUNT(RATIOS); j++) {
            struct value ratio = process->at[metric_number(RATIOS[j])];
            if (ratio.state > 0 && !(ratio.as.f64 >= 0 && ratio.as.f64 <= 1))
                abort();
        }
        struct value now = process->at[metric_number(VITALS_GPU_PROCESS_BUSY_SECONDS)];
        if (now.state > 0 && !(now.as.f64 >= busy[process->pid]))
            abort();
        if (now.state > 0)
            busy[process->pid] = now.as.f64;
    }
}

/* The next text; false at the end. */
static bool next_text(struct cursor *rest, struct span *text)
{
    if (cursor_done(rest))
        return false;
    const char *from = rest->at;
    for (struct span line; cursor_line(rest, &line);) {
        if (span_equal(line, "--")) {
            *text = (struct span){from, (size_t)(line.bytes - from)};
            return true;
        }
    }
    *text = (struct span){from, (size_t)(rest->end - from)};
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct gpu_processes list;
    static struct sweep_client items[CLIENTS];
    static const struct gpu_identity DEVICE = {
        .parent_slot = -1, .pci_bus_id = "0000:03:00.0", .node_count = 1, .nodes = {{226, 128}}};
    double busy[CLIENTS + 1] = {0};
    struct clients clients = {0};
    struct cursor rest = cursor_over((const char *)data, size);
    uint64_t now = 1;
    bool more = true;
    for (int i = 0; more && i < 64; i++) {
        struct gpu_sweep sweep = {.stamp_ns = now += 1000, .state = VITALS_HAVE, .clients = items};
        struct span text;
        while (sweep.count < CLIENTS / 2 && (more = next_text(&rest, &text))) {
            struct sweep_client *client = &items[sweep.count];
            memset(client, 0x55, sizeof *client);
            client->stamp_ns = now;
            client->pid = (int64_t)(1 + sweep.count / 2);
            client->start_ticks = 5;
            client->is_broker = false;
            client->major = DEVICE.nodes[0].major;
            client->minor = DEVICE.nodes[0].minor;
            if (sweep_parse(text, client)) {
                check_client(client);
                sweep.count++;
            }
        }
        clients_update(&clients, &DEVICE, size % 2 == 0, &sweep, &list);
        check_list(&list, busy);
    }
    clients_done(&clients);
    return 0;
}
