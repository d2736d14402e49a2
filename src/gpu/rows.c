/* rows.c: the gpu tables of a snapshot, out of what table.c keeps. */
#include "gpu/table_data.h"

#include "core/number.h"

#include <string.h>

static const vitals_entity child_entities[] = {VITALS_GPU_ENGINE, VITALS_GPU_SENSOR,
                                               VITALS_GPU_CLOCK, VITALS_GPU_POOL};

static vitals_text text_of(const char *string)
{
    return (vitals_text){string, strlen(string)};
}

/* A number of a device that did not answer is an old one. */
static struct value aged(struct value value, bool late)
{
    if (late && value.state > 0)
        value.state = VITALS_STALE;
    return value;
}

/* Says of what was not read with the newest reading when it was. */
static void write_moments(vitals_builder *builder, vitals_entity entity, const uint64_t *moments,
                          size_t count, uint64_t stamp_ns)
{
    for (unsigned number = 1; number < count; number++)
        if (moments[number] != 0 && moments[number] != stamp_ns)
            vitals_builder_read_at(builder, metric_of(entity, number), moments[number]);
}

/* Why what nobody has read yet is missing. */
static vitals_availability unread(bool late)
{
    return late ? VITALS_TIMED_OUT : VITALS_NOT_YET;
}

/* ---- devices ---- */

static signed char text_state(const struct gpu_device *device, size_t index)
{
    size_t at = gpu_texts[index].state;
    return at == GPU_TEXT_ALWAYS ? VITALS_HAVE : *((const signed char *)&device->who + at);
}

static void write_identity(vitals_builder *builder, const struct gpu_device *device)
{
    const struct gpu_identity *who = &device->who;
    builder_value(builder, VITALS_GPU_INDEX, value_u64(who->index));
    builder_value(builder, VITALS_GPU_GPU_INSTANCE_ID, who->gpu_instance_id);
    builder_value(builder, VITALS_GPU_COMPUTE_INSTANCE_ID, who->compute_instance_id);
    for (size_t i = 0; i < GPU_TEXTS; i++) {
        signed char state = text_state(device, i);
        builder_shared(builder, gpu_texts[i].metric, state > 0 ? device->texts[i] : NULL, state);
    }
}

/* A partitioned device's processes are those of its partitions. */
static struct value count_processes(const struct gpu_table *table, const struct gpu_device *device)
{
    struct value sum = aged(device->process_count, device->users_late);
    for (size_t i = 0; i < table->count && sum.state > 0; i++) {
        const struct gpu_device *part = table->devices[i];
        if (!part->present || part->parent != device->key)
            continue;
        struct value own = aged(part->process_count, part->users_late);
        if (own.state <= 0)
            return own;
        sum.as.u64 = saturating_add(sum.as.u64, own.as.u64);
        if (own.state != VITALS_HAVE)
            sum.state = own.state;
    }
    return sum;
}

static void write_device(const struct gpu_table *table, const struct gpu_device *device,
                         vitals_builder *builder)
{
    struct values values = device->values;
    for (size_t i = 0; i < METRIC_NUMBERS; i++)
        values.at[i] = aged(values.at[i], device->late);
    values_set(&values, VITALS_GPU_PROCESSES, count_processes(table, device));

    vitals_builder_row(builder, VITALS_GPU, device->key, device->parent, text_of(device->label),
                       device->stamp_ns);
    builder_values(builder, VITALS_GPU, &values);
    write_moments(builder, VITALS_GPU, device->moments.at, METRIC_NUMBERS, device->stamp_ns);
    write_identity(builder, device);
    signed char mode = device->compute_mode_state;
    if (mode > 0 && device->late)
        mode = VITALS_STALE;
    if (mode != VITALS_UNSET)
        builder_shared(builder, VITALS_GPU_COMPUTE_MODE, mode > 0 ? device->compute_mode : NULL,
                       mode);
    builder_rest(builder, VITALS_GPU, unread(device->late));
}

/* ---- engines, sensors, clocks, pools ---- */

static void write_children(const struct gpu_device *device, vitals_builder *builder,
                           vitals_entity entity)
{
    for (size_t i = 0; i < device->child_count; i++) {
        const struct gpu_part *part = &device->children[i];
        if (part->entity != entity)
            continue;
        vitals_builder_row(builder, entity, part->key, device->key, text_of(part->label),
                           device->stamp_ns);
        for (unsigned n = 1; n < ARRAY_COUNT(part->at); n++) {
            if (part->at[n].state != VITALS_UNSET)
                builder_value(builder, metric_of(entity, n), aged(part->at[n], device->late));
        }
        write_moments(builder, entity, part->moments, ARRAY_COUNT(part->moments), device->stamp_ns);
        builder_rest(builder, entity, unread(device->late));
    }
}

/* ---- processes ---- */

/* Whose row it is. A process that has ended keeps its row while the driver lists its pid; a new
 * process under the same pid gets a row of its own. */
static struct value join(struct gpu_table *table, struct gpu_user *user, gpu_find_process *find,
                         const void *data)
{
    if (!find)
        return value_missing(VITALS_NOT_REQUESTED);
    uint64_t key = find(data, user->now.pid);
    if (key == 0)
        return value_missing(user->process != 0 ? VITALS_GONE : VITALS_OUTSIDE);
    if (user->process != 0 && user->process != key) {
        user->key = ++table->user_keys;
        user->busy_before = user->now.busy_seconds.state > 0 ? user->now.busy_seconds.as.f64 : 0.0;
    }
    user->process = key;
    return value_u64(key);
}

static void write_user(const struct gpu_device *device, const struct gpu_user *user,
                       struct value process, vitals_builder *builder)
{
    static const char *const types[2][2] = {{NULL, "G"}, {"C", "C+G"}};
    const struct gpu_process *now = &user->now;
    bool late = device->users_late;
    char label[NUMBER_TEXT];
    number_print_i64(label, now->pid);
    vitals_builder_row(builder, VITALS_GPU_PROCESS, user->key, device->key, text_of(label),
                       device->users_stamp_ns);
    builder_value(builder, VITALS_GPU_PROCESS_PID, value_u64((uint64_t)now->pid));
    builder_value(builder, VITALS_GPU_PROCESS_PROCESS, process);
    const char *type = types[now->compute][now->graphics];
    if (type)
        vitals_builder_text(builder, VITALS_GPU_PROCESS_TYPE, text_of(type),
                            late ? VITALS_STALE : VITALS_HAVE);
    else
        vitals_builder_missing(builder, VITALS_GPU_PROCESS_TYPE, VITALS_UNSUPPORTED);

    struct value busy = now->busy_seconds;
    if (busy.state > 0)
        busy.as.f64 -= user->busy_before;
    const struct {
        vitals_metric metric;
        struct value value;
    } readings[] = {
        {VITALS_GPU_PROCESS_MEMORY_USED_BYTES, now->memory_used_bytes},
        {VITALS_GPU_PROCESS_UTILIZATION_RATIO, now->utilization_ratio},
        {VITALS_GPU_PROCESS_MEMORY_BUSY_RATIO, now->memory_busy_ratio},
        {VITALS_GPU_PROCESS_ENCODER_RATIO, now->encoder_ratio},
        {VITALS_GPU_PROCESS_DECODER_RATIO, now->decoder_ratio},
        {VITALS_GPU_PROCESS_BUSY_SECONDS, busy},
    };
    for (size_t i = 0; i < ARRAY_COUNT(readings); i++)
        builder_value(builder, readings[i].metric, aged(readings[i].value, late));
    builder_rest(builder, VITALS_GPU_PROCESS, unread(late));
}

/* ---- all of it ---- */

static void open_tables(vitals_builder *builder, const struct metric_set *wanted)
{
    builder_table_of(builder, VITALS_GPU, wanted);
    builder_table_of(builder, VITALS_GPU_PROCESS, wanted);
    for (size_t i = 0; i < ARRAY_COUNT(child_entities); i++)
        builder_table_of(builder, child_entities[i], wanted);
}

void gpu_table_write(struct gpu_table *table, vitals_builder *builder,
                     const struct metric_set *wanted, gpu_find_process *find, const void *data)
{
    open_tables(builder, wanted);
    for (size_t i = 0; i < table->count; i++) {
        struct gpu_device *device = table->devices[i];
        if (!device->present)
            continue;
        if (metric_set_has_entity(wanted, VITALS_GPU))
            write_device(table, device, builder);
        for (size_t e = 0; e < ARRAY_COUNT(child_entities); e++) {
            if (metric_set_has_entity(wanted, child_entities[e]))
                write_children(device, builder, child_entities[e]);
        }
        if (!metric_set_has_entity(wanted, VITALS_GPU_PROCESS))
            continue;
        for (size_t j = 0; j < device->user_count; j++) {
            struct value process = join(table, &device->users[j], find, data);
            write_user(device, &device->users[j], process, builder);
        }
    }
}
