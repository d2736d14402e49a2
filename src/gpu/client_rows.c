/* client_rows.c: what clients.c has added up, as rows of processes and of engines. */
#include "gpu/client_records.h"

#include <string.h>

static void set(struct gpu_process *row, vitals_metric metric, struct value value)
{
    row->at[metric_number(metric)] = value;
}

static struct value memory_value(uint64_t bytes, bool is_estimate)
{
    struct value value = value_u64(bytes);
    if (is_estimate)
        value.state = VITALS_ESTIMATE;
    return value;
}

static void write_memory(const struct clients_device *device, const struct user_record *user,
                         struct gpu_process *row)
{
    const struct held *own = &user->memory[REGION_DEVICE], *system = &user->memory[REGION_SYSTEM];
    struct held used = *own;
    if (device->unified && system->told) {
        used.told = used.is_total = true; // is_total: an estimate
        used.bytes = saturating_add(own->bytes, system->bytes);
        used.shared_bytes = saturating_add(own->shared_bytes, system->shared_bytes);
    }
    if (used.told) {
        set(row, VITALS_GPU_PROCESS_MEMORY_USED_BYTES,
            memory_value(used.bytes, used.is_total || user->is_unclear));
        set(row, VITALS_GPU_PROCESS_SHARED_MEMORY_BYTES, value_u64(used.shared_bytes));
    }
    if (system->told)
        set(row, VITALS_GPU_PROCESS_SYSTEM_MEMORY_BYTES,
            memory_value(system->bytes, system->is_total || user->is_unclear));
}

/* The columns of a kind of engine; 0: it has none. */
static const struct {
    enum engine_kind kind;
    vitals_metric seconds, ratio;
} COLUMNS[] = {
    {ENGINE_GRAPHICS, VITALS_GPU_PROCESS_GRAPHICS_SECONDS, 0},
    {ENGINE_COMPUTE, VITALS_GPU_PROCESS_COMPUTE_SECONDS, 0},
    {ENGINE_COPY, VITALS_GPU_PROCESS_COPY_SECONDS, 0},
    {ENGINE_ENCODER, VITALS_GPU_PROCESS_ENCODER_SECONDS, VITALS_GPU_PROCESS_ENCODER_RATIO},
    {ENGINE_DECODER, VITALS_GPU_PROCESS_DECODER_SECONDS, VITALS_GPU_PROCESS_DECODER_RATIO},
    {ENGINE_JPEG, 0, VITALS_GPU_PROCESS_JPEG_RATIO},
    {ENGINE_OPTICAL_FLOW, 0, VITALS_GPU_PROCESS_OPTICAL_FLOW_RATIO},
};

static struct value ratio_value(const struct user_record *user, double ratio)
{
    if (!user->has_ratio)
        return value_missing(VITALS_NOT_YET);
    struct value value = value_f64(ratio);
    if (user->is_estimate || user->is_unclear)
        value.state = VITALS_ESTIMATE;
    else if (user->is_partial)
        value.state = VITALS_LOWER_BOUND;
    return value;
}

static void write_engines(const struct clients *clients, const struct user_record *user,
                          struct gpu_process *row)
{
    double busiest = 0;
    for (uint32_t e = 0; e < clients->engine_count; e++) {
        busiest = user->ratio[e] > busiest ? user->ratio[e] : busiest;
        for (size_t i = 0; i < ARRAY_COUNT(COLUMNS); i++) {
            if (COLUMNS[i].kind != clients->engines[e].kind)
                continue;
            if (COLUMNS[i].seconds != 0)
                set(row, COLUMNS[i].seconds, value_f64(user->seconds[e]));
            if (COLUMNS[i].ratio != 0)
                set(row, COLUMNS[i].ratio, ratio_value(user, user->ratio[e]));
        }
    }
    if (clients->engine_count == 0)
        return; // no source reports engines
    set(row, VITALS_GPU_PROCESS_UTILIZATION_RATIO, ratio_value(user, busiest));
    set(row, VITALS_GPU_PROCESS_BUSY_SECONDS, value_f64(user->busy_seconds));
}

void clients_write(const struct clients *clients, const struct clients_device *device,
                   struct gpu_processes *out)
{
    for (size_t i = 0; i < clients->user_count; i++) {
        const struct user_record *user = &clients->users[i];
        struct gpu_process *row = gpu_processes_put(out, user->pid);
        if (row == NULL)
            return;
        row->is_ours = VITALS_HAVE; // our own /proc shows it
        row->start_ticks = user->start_ticks;
        row->uses = user->uses;
        set(row, VITALS_GPU_PROCESS_CHARGED_PID, value_u64((uint64_t)user->charged_pid));
        set(row, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, value_missing(VITALS_UNSUPPORTED));
        if (user->clients == 0)
            continue;
        write_memory(device, user, row);
        write_engines(clients, user, row);
    }
}

struct gpu_process *gpu_processes_put(struct gpu_processes *list, int64_t pid)
{
    uint32_t place = list->count;
    while (place > 0 && list->items[place - 1].pid > pid)
        place--;
    if (place > 0 && list->items[place - 1].pid == pid)
        return &list->items[place - 1];
    if (list->count == GPU_PROCESSES_MAX) {
        list->cut = true;
        return NULL;
    }
    struct gpu_process *process = &list->items[place];
    memmove(process + 1, process, (list->count - place) * sizeof *process);
    *process = (struct gpu_process){.pid = pid};
    list->count++;
    return process;
}

/* ---- engines of the device ---- */

static bool has_row(const struct gpu_fill *fill, const char *label)
{
    for (uint32_t i = 0; i < fill->count; i++) {
        if (vitals_metric_entity(fill->readings[i].metric) == VITALS_GPU_ENGINE &&
            strcmp(fill->readings[i].label, label) == 0)
            return true;
    }
    return false;
}

void clients_fill_engines(const struct clients *clients, struct gpu_fill *fill)
{
    for (uint32_t e = 0; e < clients->engine_count; e++) {
        const struct clients_engine *engine = &clients->engines[e];
        if (has_row(fill, engine->label))
            continue;
        gpu_fill_child(fill, VITALS_GPU_ENGINE_UTILIZATION_RATIO, engine->label,
                       engine->utilization_ratio);
        gpu_fill_child(fill, VITALS_GPU_ENGINE_BUSY_SECONDS, engine->label, engine->busy_seconds);
        gpu_fill_child(fill, VITALS_GPU_ENGINE_CAPACITY, engine->label,
                       value_u64(engine->capacity));
    }
}
