/* host.c: from the machine's files and from what workers answered to its rows. See host.h.
 *
 * A value that the operating system lacks comes with its reason from os/. */
#include "host/host.h"

#include "util/number.h"

#include <errno.h>
#include <string.h>

/* The only row of its table. */
enum { HOST_KEY = 1 };

void host_init(struct host *host)
{
    *host = (struct host){0};
    os_host_init(&host->files);
}

void host_done(struct host *host)
{
    os_host_done(&host->files);
    os_machine_done(&host->reading);
    devices_done(&host->disks);
    devices_done(&host->networks);
    energy_done(&host->energy);
    for (size_t i = 0; i < HOST_LATES; i++)
        cache_done(&host->cache[i]);
    for (size_t i = 0; i <= ENTITY_MAX; i++)
        identities_done(&host->identities[i]);
    shared_text_unref(host->name);
    shared_text_unref(host->kernel);
    host_init(host);
}

/* ---- the files ---- */

/* Text that does not move while the machine runs. An empty one is looked for again. */
static int read_name(struct shared_text **name, const char *text)
{
    size_t size = strlen(text);
    if (size == 0)
        return 0;
    *name = shared_text_new(text, size);
    return *name != NULL ? 0 : VITALS_EMEMORY;
}

int host_read(struct host *host, const vitals_context *context, const struct metric_set *due,
              uint64_t now_ns)
{
    int result = 0;
    struct os_machine *reading = &host->reading;
    if (host->name == NULL && metric_set_has(due, VITALS_HOST_NAME))
        result = read_name(&host->name, context->origin.host);
    if (result == 0 && host->kernel == NULL && metric_set_has(due, VITALS_HOST_KERNEL)) {
        char release[256];
        os_read_kernel(&context->os, release, sizeof release);
        result = read_name(&host->kernel, release);
    }
    os_host_read(&host->files, &context->os, due, reading);
    if (host->files.text.failed)
        result = VITALS_EMEMORY;
    if (result == 0)
        result = devices_update(&host->disks, &context->os, &reading->disks, &DEVICES_DISKS,
                                &reading->values, now_ns);
    if (result == 0)
        result = devices_update(&host->networks, &context->os, &reading->networks,
                                &DEVICES_NETWORKS, &reading->values, now_ns);
    for (size_t i = 0; i < METRIC_NUMBERS; i++) {
        if (reading->values.at[i].state == VITALS_UNSET) /* the others stay as they are */
            continue;
        host->machine.at[i] = reading->values.at[i];
        host->moments.at[i] = now_ns;
    }
    if (metric_set_has_entity(due, VITALS_TABLE_PRESSURE)) {
        memcpy(host->pressures, reading->pressures, sizeof host->pressures);
        host->pressures_ns = now_ns;
    }
    return result;
}

/* ---- the workers ---- */

/* Which tables a kind answers for. */
static const struct {
    bool whole;
    vitals_table tables[6];
} KINDS[HOST_LATES] = {
    [HOST_CACHE_MACHINE] = {false,
                            {VITALS_TABLE_HOST, VITALS_TABLE_CPU, VITALS_TABLE_DISK,
                             VITALS_TABLE_NETWORK, VITALS_TABLE_PRESSURE,
                             VITALS_TABLE_ENERGY_ZONE}},
    [HOST_CACHE_FILESYSTEMS] = {true, {VITALS_TABLE_FILESYSTEM, VITALS_TABLE_HOST}},
    [HOST_CACHE_SENSORS] = {true, {VITALS_TABLE_SENSOR}},
    [HOST_CACHE_TABLES] = {true,
                           {VITALS_TABLE_NETWORK_ADDRESS, VITALS_TABLE_LOGIN, VITALS_TABLE_SOCKET,
                            VITALS_TABLE_DIAGNOSIS, VITALS_TABLE_MOUNT}},
};

/* The space on all disks together, from the rows of file systems. */
static const struct {
    vitals_metric part, sum;
} SPACE[] = {
    {VITALS_FILESYSTEM_TOTAL_BYTES, VITALS_HOST_DISK_SPACE_TOTAL_BYTES},
    {VITALS_FILESYSTEM_USED_BYTES, VITALS_HOST_DISK_SPACE_USED_BYTES},
    {VITALS_FILESYSTEM_AVAILABLE_BYTES, VITALS_HOST_DISK_SPACE_AVAILABLE_BYTES},
};

/* Whether the kind answers for a metric of one of its tables. */
static bool answers(enum host_cache kind, vitals_metric metric)
{
    vitals_table entity = vitals_metric_table(metric);
    bool space = false;
    for (size_t i = 0; i < ARRAY_COUNT(SPACE); i++)
        space |= metric == SPACE[i].sum;
    if (entity == VITALS_TABLE_HOST && space != (kind == HOST_CACHE_FILESYSTEMS))
        return false;
    return vitals_metric_price(metric) == VITALS_PRICE_WORKER || entity == VITALS_TABLE_PRESSURE;
}

bool host_cache_part(enum host_cache kind, const struct metric_set *wanted, struct metric_set *part)
{
    bool any = false;
    *part = (struct metric_set){0};
    for (size_t i = 0; i < ARRAY_COUNT(KINDS[kind].tables); i++) {
        vitals_table entity = KINDS[kind].tables[i];
        for (unsigned number = 1; entity != 0 && number < METRIC_NUMBERS; number++) {
            vitals_metric metric = metric_of(entity, number);
            if (!metric_set_has(wanted, metric) || !answers(kind, metric))
                continue;
            metric_set_add(part, metric);
            any = true;
        }
    }
    return any;
}

bool host_cache_whole(enum host_cache kind)
{
    return KINDS[kind].whole;
}

bool host_cache_has(const struct host *host, enum host_cache kind, vitals_metric metric)
{
    const struct row_batch *kept = &host->cache[kind].kept;
    for (size_t i = 0; i < kept->count; i++) {
        signed char state = kept->items[i].state;
        if (kept->items[i].metric == metric && state != VITALS_UNSUPPORTED &&
            state != VITALS_DENIED)
            return true;
    }
    return false;
}

/* The sum of a metric over the file systems that are counted: a lower bound where one of them did
 * not answer; missing where there is nothing to sum up. */
static struct value space_of(const struct row_batch *batch, vitals_metric metric)
{
    struct value sum = value_u64(0);
    bool any = false, all = batch->states[VITALS_TABLE_FILESYSTEM] == VITALS_HAVE;
    for (size_t i = 0; i < batch->row_count; i++) {
        const struct batch_row *row = &batch->rows[i];
        const struct batch_cell *counted = batch_find(batch, row, VITALS_FILESYSTEM_COUNTED);
        if (row->entity != VITALS_TABLE_FILESYSTEM || counted == NULL || counted->state <= 0 ||
            counted->as.u64 == 0)
            continue;
        const struct batch_cell *cell = batch_find(batch, row, metric);
        bool known = cell != NULL && cell->state > 0;
        any |= known;
        all &= known && cell->state == VITALS_HAVE;
        if (known)
            sum.as.u64 = saturating_add(sum.as.u64, cell->as.u64);
    }
    sum.state = all ? VITALS_HAVE : VITALS_LOWER_BOUND;
    return any ? sum : value_missing(VITALS_UNSUPPORTED);
}

void host_cache_read(const vitals_context *context, enum host_cache kind,
                     const struct metric_set *wanted, const struct os_gate *gate,
                     struct row_batch *out)
{
    const struct os *os = &context->os;
    struct metric_set all = *wanted;
    if (kind == HOST_CACHE_MACHINE) {
        energy_want(&all);
        batch_reset(out, &all);
        os_read_machine(os, out);
        return;
    }

    const vitals_table *tables = KINDS[kind].tables;
    bool space = kind == HOST_CACHE_FILESYSTEMS && metric_set_has_entity(wanted, VITALS_TABLE_HOST);
    if (space)
        metric_set_add(&all, VITALS_FILESYSTEM_COUNTED);
    for (size_t i = 0; space && i < ARRAY_COUNT(SPACE); i++)
        metric_set_add(&all, SPACE[i].part);
    for (size_t i = 0; i < ARRAY_COUNT(KINDS[kind].tables); i++)
        if (tables[i] != 0 && tables[i] != VITALS_TABLE_HOST &&
            metric_set_has_entity(&all, tables[i]))
            metric_set_add_identities(&all, tables[i]);
    batch_reset(out, &all);
    for (size_t i = 0; i < ARRAY_COUNT(KINDS[kind].tables); i++) {
        vitals_table entity = tables[i];
        if (entity == 0 || entity == VITALS_TABLE_HOST || !metric_set_has_entity(&all, entity))
            continue;
        int code = entity == VITALS_TABLE_FILESYSTEM ? os_read_filesystems(os, gate, out)
                                                     : os_read_table(os, entity, out);
        if (code < 0)
            batch_state(out, entity, code == -ENOENT ? VITALS_UNSUPPORTED : os_availability(code));
    }
    if (!space)
        return;

    struct value sums[ARRAY_COUNT(SPACE)];
    for (size_t i = 0; i < ARRAY_COUNT(SPACE); i++)
        sums[i] = space_of(out, SPACE[i].part);
    if (batch_add_row(out, VITALS_TABLE_HOST, HOST_KEY, (struct span){"host", 4}) == NULL)
        return;
    for (size_t i = 0; i < ARRAY_COUNT(SPACE); i++)
        batch_set_value(out, SPACE[i].sum, sums[i]);
}

int host_cache_take(struct host *host, enum host_cache kind, struct row_batch *answer,
                    uint64_t read_ns)
{
    if (answer->failed)
        return VITALS_EMEMORY; // texts may be missing
    for (size_t i = 0; KINDS[kind].whole && i < ARRAY_COUNT(KINDS[kind].tables); i++) {
        vitals_table entity = KINDS[kind].tables[i];
        if (entity == 0 || entity == VITALS_TABLE_HOST ||
            !metric_set_has_entity(&answer->wanted, entity))
            continue;
        int failed = identities_give(&host->identities[entity], answer, entity);
        if (failed < 0)
            return failed;
    }
    int code = kind == HOST_CACHE_MACHINE ? energy_take(&host->energy, answer, read_ns) : 0;
    return code < 0 ? code : cache_take(&host->cache[kind], answer, read_ns);
}

/* ---- rows ---- */

static void write_text(vitals_builder *builder, vitals_metric metric, struct shared_text *text)
{
    builder_shared(builder, metric, text, text != NULL ? VITALS_HAVE : VITALS_UNSUPPORTED);
}

static void write_machine(const struct host *host, vitals_builder *builder,
                          const struct metric_set *wanted, struct value processes,
                          uint64_t stamp_ns)
{
    static const enum host_cache KNOW[] = {HOST_CACHE_MACHINE, HOST_CACHE_FILESYSTEMS};
    vitals_builder_row(builder, VITALS_TABLE_HOST, HOST_KEY, 0, (vitals_text){"host", 4}, stamp_ns);
    write_text(builder, VITALS_HOST_NAME, host->name);
    write_text(builder, VITALS_HOST_KERNEL, host->kernel);
    builder_values(builder, VITALS_TABLE_HOST, &host->machine);
    for (unsigned number = 1; number < METRIC_NUMBERS; number++)
        if (host->moments.at[number] != 0 && host->moments.at[number] != stamp_ns)
            vitals_builder_read_at(builder, metric_of(VITALS_TABLE_HOST, number),
                                   host->moments.at[number]);
    builder_value(builder, VITALS_HOST_PROCESSES, processes);

    /* The answers of two workers about the machine; values that they did not read yet are NOT_YET.
     */
    for (size_t i = 0; i < ARRAY_COUNT(KNOW); i++) {
        const struct answer_cache *cache = &host->cache[KNOW[i]];
        const struct batch_row *row = cache_find(cache, VITALS_TABLE_HOST, HOST_KEY, NULL);
        if (row != NULL)
            cache_write(cache, VITALS_TABLE_HOST, row, builder, stamp_ns);
        for (unsigned number = 1; row == NULL && number < METRIC_NUMBERS; number++) {
            vitals_metric metric = metric_of(VITALS_TABLE_HOST, number);
            if (metric_set_has(wanted, metric) && answers(KNOW[i], metric))
                vitals_builder_missing(builder, metric, cache_reason(cache));
        }
    }
    builder_rest(builder, VITALS_TABLE_HOST, VITALS_UNSUPPORTED);
}

static void write_cpus(const struct host *host, vitals_builder *builder,
                       const struct metric_set *wanted, uint64_t stamp_ns)
{
    const struct answer_cache *cache = NULL; // where anything is wanted that a worker reads
    size_t hint = 0;
    for (unsigned number = 1; number < METRIC_NUMBERS && cache == NULL; number++)
        if (metric_set_has(wanted, metric_of(VITALS_TABLE_CPU, number)) &&
            answers(HOST_CACHE_MACHINE, metric_of(VITALS_TABLE_CPU, number)))
            cache = &host->cache[HOST_CACHE_MACHINE];
    for (size_t i = 0; i < host->reading.cpus.count; i++) {
        const struct os_cpu *cpu = &host->reading.cpus.items[i];
        char label[3 + NUMBER_TEXT] = "cpu";
        size_t size = 3 + number_print_u64(label + 3, cpu->index);
        uint64_t key = cpu->index + 1;
        vitals_builder_row(builder, VITALS_TABLE_CPU, key, 0, (vitals_text){label, size}, stamp_ns);
        builder_values(builder, VITALS_TABLE_CPU, &cpu->values);
        if (cache != NULL)
            cache_write(cache, VITALS_TABLE_CPU, cache_find(cache, VITALS_TABLE_CPU, key, &hint),
                        builder, stamp_ns);
        builder_rest(builder, VITALS_TABLE_CPU, VITALS_UNSUPPORTED);
    }
}

/* Those of the machine have the keys 1 … OS_PRESSURES, those of our cgroup the next. */
static void write_pressures(const struct host *host, vitals_builder *builder, uint64_t stamp_ns)
{
    static const char *const NAMES[OS_PRESSURES] = {"cpu", "memory", "io", "irq"};
    const struct answer_cache *cache = &host->cache[HOST_CACHE_MACHINE];
    bool any = false;
    for (unsigned i = 0; i < OS_PRESSURES; i++) {
        const struct values *values = &host->pressures[i];
        if (values->at[metric_number(VITALS_PRESSURE_FULL_10S_RATIO)].state == VITALS_UNSET &&
            values->at[metric_number(VITALS_PRESSURE_SOME_10S_RATIO)].state == VITALS_UNSET)
            continue;
        any = true;
        vitals_text name = vitals_text_of(NAMES[i]);
        vitals_builder_row(builder, VITALS_TABLE_PRESSURE, i + 1, 0, name, host->pressures_ns);
        vitals_builder_text(builder, VITALS_PRESSURE_RESOURCE, name, VITALS_HAVE);
        vitals_builder_text(builder, VITALS_PRESSURE_SCOPE, (vitals_text){"machine", 7},
                            VITALS_HAVE);
        builder_values(builder, VITALS_TABLE_PRESSURE, values);
        builder_rest(builder, VITALS_TABLE_PRESSURE, VITALS_UNSUPPORTED);
    }
    if (cache->answered)
        cache_write_table(cache, VITALS_TABLE_PRESSURE, builder, stamp_ns);
    if (!any && cache_find(cache, VITALS_TABLE_PRESSURE, OS_PRESSURES + 1, NULL) == NULL)
        vitals_builder_state(builder, VITALS_TABLE_PRESSURE, VITALS_UNSUPPORTED);
}

void host_write(const struct host *host, vitals_builder *builder, const struct metric_set *wanted,
                struct value processes, uint64_t stamp_ns)
{
    const struct answer_cache *cache = &host->cache[HOST_CACHE_MACHINE];
    builder_table_of(builder, VITALS_TABLE_HOST, wanted);
    if (metric_set_has_entity(wanted, VITALS_TABLE_HOST))
        write_machine(host, builder, wanted, processes, stamp_ns);
    builder_table_of(builder, VITALS_TABLE_CPU, wanted);
    write_cpus(host, builder, wanted, stamp_ns);
    builder_table_of(builder, VITALS_TABLE_DISK, wanted);
    if (metric_set_has_entity(wanted, VITALS_TABLE_DISK))
        devices_write(&host->disks, &DEVICES_DISKS, cache, builder, stamp_ns);
    builder_table_of(builder, VITALS_TABLE_NETWORK, wanted);
    if (metric_set_has_entity(wanted, VITALS_TABLE_NETWORK))
        devices_write(&host->networks, &DEVICES_NETWORKS, cache, builder, stamp_ns);
    builder_table_of(builder, VITALS_TABLE_PRESSURE, wanted);
    if (metric_set_has_entity(wanted, VITALS_TABLE_PRESSURE))
        write_pressures(host, builder, stamp_ns);
    builder_table_of(builder, VITALS_TABLE_ENERGY_ZONE, wanted);
    if (metric_set_has_entity(wanted, VITALS_TABLE_ENERGY_ZONE))
        cache_write_table(cache, VITALS_TABLE_ENERGY_ZONE, builder, stamp_ns);

    for (size_t kind = 0; kind < HOST_LATES; kind++)
        for (size_t i = 0; KINDS[kind].whole && i < ARRAY_COUNT(KINDS[kind].tables); i++) {
            vitals_table entity = KINDS[kind].tables[i];
            if (entity == 0 || entity == VITALS_TABLE_HOST ||
                !metric_set_has_entity(wanted, entity))
                continue;
            builder_table_of(builder, entity, wanted);
            cache_write_table(&host->cache[kind], entity, builder, stamp_ns);
        }
}
