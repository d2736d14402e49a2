/* rows.c: writes the gpu tables of a snapshot from the state of table.c. */
#include "gpu/table_data.h"

#include "util/number.h"

#include <string.h>

static const vitals_table child_entities[] = {
    VITALS_TABLE_GPU_ENGINE, VITALS_TABLE_GPU_SENSOR, VITALS_TABLE_GPU_CLOCK, VITALS_TABLE_GPU_POOL,
    VITALS_TABLE_GPU_LINK,   VITALS_TABLE_GPU_ERROR,  VITALS_TABLE_GPU_JOB};

static vitals_text text_of(const char *string)
{
    return (vitals_text){string, strlen(string)};
}

/* Returns why a value that was not read yet is missing. */
static vitals_availability unread(bool late)
{
    return late ? VITALS_TIMED_OUT : VITALS_NOT_YET;
}

/* Marks a number of a device that did not answer as stale. */
static struct value aged(struct value value, bool late)
{
    if (late && value.state > 0)
        value.state = VITALS_STALE;
    return value;
}

/* Fills the other columns of the newest row: a requested metric without a value in the answer is
 * unsupported; one that was never answered is not_yet or timed out, whatever other metrics are. */
static void write_rest(const struct gpu_device *device, vitals_table entity,
                       const struct batch_row *row, vitals_builder *builder)
{
    const struct answer_cache *late = gpu_device_late(device, entity);
    bool is_lost = late == &device->readings && device->lost < 0;
    vitals_availability reason = is_lost ? (vitals_availability)device->lost : VITALS_UNSUPPORTED;
    vitals_metric metric;
    for (size_t place = 0; row && (metric = builder_next(builder, entity, &place)) != 0;) {
        if (cache_asked(late, metric) && !batch_find(&late->kept, row, metric))
            vitals_builder_missing(builder, metric, reason);
        else if (!is_lost && !cache_asked(late, metric) && metric_set_has(&late->silent, metric))
            vitals_builder_missing(builder, metric, VITALS_TIMED_OUT);
    }
}

/* Returns the count of a partitioned device, which is the sum over its partitions. */
static struct value count_processes(const struct gpu_table *table, const struct gpu_device *device)
{
    struct value sum = aged(device->process_count, device->users_cache);
    for (size_t i = 0; i < table->count && sum.state > 0; i++) {
        const struct gpu_device *part = table->devices[i];
        if (!part->present || part->parent != device->key)
            continue;
        struct value own = aged(part->process_count, part->users_cache);
        if (own.state == VITALS_UNSUPPORTED)
            continue; /* its processes are listed with the whole device */
        if (own.state <= 0)
            return own;
        sum.as.u64 = saturating_add(sum.as.u64, own.as.u64);
        if (own.state != VITALS_HAVE)
            sum.state = own.state;
    }
    return sum;
}

static void write_children(const struct gpu_device *device, vitals_builder *builder,
                           vitals_table entity)
{
    const struct answer_cache *late = gpu_device_late(device, entity);
    uint64_t stamp_ns = entity == VITALS_TABLE_GPU_JOB ? device->claims_stamp_ns : device->stamp_ns;
    for (size_t i = 0; i < late->kept.row_count; i++) {
        const struct batch_row *row = &late->kept.rows[i];
        if (row->entity != entity)
            continue;
        struct span label = batch_label(&late->kept, row);
        const struct gpu_part *part = gpu_part_find(device, &late->kept, row);
        if (!part)
            continue;
        vitals_builder_row(builder, entity, part->key, device->key,
                           (vitals_text){label.bytes, label.size}, stamp_ns);
        write_rest(device, entity, row, builder);
        cache_write(late, entity, row, builder, stamp_ns);
        builder_rest(builder, entity, cache_reason(late));
    }
}

static void write_device(const struct gpu_table *table, const struct gpu_device *device,
                         vitals_builder *builder)
{
    const struct gpu_identity *identity = &device->identity;
    const struct answer_cache *late = &device->readings;
    const struct batch_row *row = cache_find(late, VITALS_TABLE_GPU, 0, NULL);
    vitals_builder_row(builder, VITALS_TABLE_GPU, device->key, device->parent,
                       text_of(device->label), device->stamp_ns);
    if (row) {
        write_rest(device, VITALS_TABLE_GPU, row, builder);
        cache_write(late, VITALS_TABLE_GPU, row, builder, device->stamp_ns);
    }
    builder_value(builder, VITALS_GPU_PROCESSES, count_processes(table, device));
    builder_value(builder, VITALS_GPU_INDEX, value_u64(identity->index));
    builder_value(builder, VITALS_GPU_GPU_INSTANCE_ID, identity->gpu_instance_id);
    builder_value(builder, VITALS_GPU_COMPUTE_INSTANCE_ID, identity->compute_instance_id);
    for (size_t i = 0; i < GPU_TEXTS; i++) {
        size_t at = gpu_texts[i].state;
        signed char state = at == GPU_TEXT_ALWAYS ? VITALS_HAVE
                                                  : *((const signed char *)identity + at);
        builder_shared(builder, gpu_texts[i].metric, state > 0 ? device->texts[i] : NULL, state);
    }
    builder_rest(builder, VITALS_TABLE_GPU,
                 device->lost < 0 ? (vitals_availability)device->lost : cache_reason(late));
}

/* ---- processes ---- */

/* Finds the process of a row. If it has ended it keeps its row while the driver lists its pid; a
 * new process with the same pid gets a row of its own. */
static struct value join(struct gpu_table *table, struct gpu_user *user, gpu_find_process *find,
                         const void *data)
{
    if (!find)
        return value_missing(VITALS_NOT_REQUESTED);
    if (user->now.is_ours < 0)
        return value_missing(VITALS_OUTSIDE);
    uint64_t key = find(data, user->now.pid, user->now.start_ticks);
    if (key == 0)
        return value_missing(user->process != 0 ? VITALS_GONE : VITALS_OUTSIDE);
    const struct value *busy = &user->now.at[metric_number(VITALS_GPU_PROCESS_BUSY_SECONDS)];
    if (user->process != 0 && user->process != key) {
        user->key = ++table->user_keys;
        user->busy_before = busy->state > 0 ? busy->as.f64 : 0.0;
    }
    user->process = key;
    return value_u64(key);
}

static void write_user(const struct gpu_device *device, const struct gpu_user *user,
                       struct value process, vitals_builder *builder)
{
    char label[NUMBER_TEXT];
    bool late = device->users_cache || user->is_old;
    number_print_i64(label, user->now.pid);
    vitals_builder_row(builder, VITALS_TABLE_GPU_PROCESS, user->key, device->key, text_of(label),
                       device->users_stamp_ns);
    builder_value(builder, VITALS_GPU_PROCESS_PID, value_u64((uint64_t)user->now.pid));
    builder_value(builder, VITALS_GPU_PROCESS_PROCESS, process);

    /* Letters for types such as C+G and M+C. */
    static const struct {
        unsigned use;
        char letter;
    } letters[] = {{GPU_MPS, 'M'}, {GPU_COMPUTE, 'C'}, {GPU_GRAPHICS, 'G'}};
    char type[2 * ARRAY_COUNT(letters)];
    size_t size = 0;
    for (size_t i = 0; i < ARRAY_COUNT(letters); i++) {
        if ((user->now.uses & letters[i].use) == 0)
            continue;
        if (size > 0)
            type[size++] = '+';
        type[size++] = letters[i].letter;
    }
    if (size > 0)
        vitals_builder_text(builder, VITALS_GPU_PROCESS_TYPE, (vitals_text){type, size},
                            late ? VITALS_STALE : VITALS_HAVE);
    else
        vitals_builder_missing(builder, VITALS_GPU_PROCESS_TYPE, VITALS_UNSUPPORTED);

    vitals_metric metric;
    for (size_t place = 0;
         (metric = builder_next(builder, VITALS_TABLE_GPU_PROCESS, &place)) != 0;) {
        if (metric == VITALS_GPU_PROCESS_PID || metric == VITALS_GPU_PROCESS_PROCESS ||
            metric == VITALS_GPU_PROCESS_TYPE || metric_number(metric) >= GPU_PROCESS_NUMBERS)
            continue;
        struct value value = user->now.at[metric_number(metric)];
        if (value.state == VITALS_UNSET && metric_set_has(&device->users_asked, metric))
            value = value_missing(VITALS_UNSUPPORTED);
        if (metric == VITALS_GPU_PROCESS_BUSY_SECONDS && value.state > 0)
            value.as.f64 -= user->busy_before;
        builder_value(builder, metric, aged(value, late));
    }

    builder_rest(builder, VITALS_TABLE_GPU_PROCESS, unread(late));
}

/* Returns how complete the device's list is; UNSET: its processes are listed with the whole
 * device. */
static vitals_availability list_state(const struct gpu_device *device)
{
    vitals_availability state = (vitals_availability)device->process_count.state;
    if (state == VITALS_UNSET)
        return unread(device->users_cache);
    if (state == VITALS_UNSUPPORTED && device->identity.parent_slot >= 0)
        return VITALS_UNSET;
    return state == VITALS_HAVE && device->users_cache ? VITALS_STALE : state;
}

/* The same for its jobs. */
static vitals_availability jobs_state(const struct gpu_device *device)
{
    const struct answer_cache *late = &device->claims;
    signed char state = late->kept.states[VITALS_TABLE_GPU_JOB];
    if (state == VITALS_UNSET)
        return cache_reason(late);
    return late->overdue && state > 0 ? VITALS_STALE : (vitals_availability)state;
}

/* Returns how complete a table is: if some devices do not report, the rows of the others are a
 * lower bound; if none reports, the table has their reason. */
static vitals_availability table_state(const struct gpu_table *table,
                                       vitals_availability (*of)(const struct gpu_device *device))
{
    vitals_availability told = VITALS_UNSET, missing = VITALS_UNSET;
    for (size_t i = 0; i < table->count; i++) {
        const struct gpu_device *device = table->devices[i];
        bool is_shown = device->present && !device->is_left_out;
        vitals_availability state = is_shown ? of(device) : VITALS_UNSET;
        if (state > told) /* HAVE, STALE, LOWER_BOUND: in ascending order of severity */
            told = state;
        if (state < 0 && (missing == VITALS_UNSET || state == VITALS_DENIED))
            missing = state;
    }
    if (missing == VITALS_UNSET)
        return told == VITALS_UNSET ? VITALS_HAVE : told;
    return told == VITALS_UNSET ? missing : VITALS_LOWER_BOUND;
}

vitals_availability gpu_table_state(const struct gpu_table *table, vitals_availability state)
{
    bool any = table->scanning == 0;
    for (size_t i = 0; i < table->count && !any; i++)
        any = table->devices[i]->present;
    if (!any)
        return VITALS_NOT_YET;
    return table->scanning != 0 && state > 0 ? VITALS_LOWER_BOUND : state;
}

void gpu_table_write(struct gpu_table *table, vitals_builder *builder,
                     const struct metric_set *wanted, gpu_find_process *find, const void *data,
                     uint64_t stamp_ns)
{
    builder_table_of(builder, VITALS_TABLE_GPU, wanted);
    builder_table_of(builder, VITALS_TABLE_GPU_PROCESS, wanted);
    builder_table_of(builder, VITALS_TABLE_GPU_PEER, wanted);
    for (size_t i = 0; i < ARRAY_COUNT(child_entities); i++)
        builder_table_of(builder, child_entities[i], wanted);

    vitals_availability state = gpu_table_state(table, VITALS_HAVE);
    if (metric_set_has_entity(wanted, VITALS_TABLE_GPU))
        vitals_builder_state(builder, VITALS_TABLE_GPU, state);
    for (size_t i = 0; i < ARRAY_COUNT(child_entities); i++)
        if (metric_set_has_entity(wanted, child_entities[i]))
            vitals_builder_state(builder, child_entities[i], state);
    if (metric_set_has_entity(wanted, VITALS_TABLE_GPU_PEER))
        gpu_table_write_peers(table, builder, stamp_ns);
    if (metric_set_has_entity(wanted, VITALS_TABLE_GPU_PROCESS))
        vitals_builder_state(builder, VITALS_TABLE_GPU_PROCESS,
                             gpu_table_state(table, table_state(table, list_state)));
    if (metric_set_has_entity(wanted, VITALS_TABLE_GPU_JOB))
        vitals_builder_state(builder, VITALS_TABLE_GPU_JOB,
                             gpu_table_state(table, table_state(table, jobs_state)));
    for (size_t i = 0; i < table->count; i++) {
        struct gpu_device *device = table->devices[i];
        if (!device->present || device->is_left_out)
            continue;
        if (metric_set_has_entity(wanted, VITALS_TABLE_GPU))
            write_device(table, device, builder);
        for (size_t e = 0; e < ARRAY_COUNT(child_entities); e++) {
            if (metric_set_has_entity(wanted, child_entities[e]))
                write_children(device, builder, child_entities[e]);
        }
        if (!metric_set_has_entity(wanted, VITALS_TABLE_GPU_PROCESS))
            continue;
        for (size_t j = 0; j < device->user_count; j++) {
            struct value process = join(table, &device->users[j], find, data);
            write_user(device, &device->users[j], process, builder);
        }
    }
}
