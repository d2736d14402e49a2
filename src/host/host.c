/* host.c: from the machine's files and from what workers answered to its rows. See host.h.
 *
 * What the operating system cannot tell comes with its reason from below. */
#include "host/host.h"

#include "host/disks.h"
#include "host/networks.h"
#include "host/space.h"
#include "util/error.h"
#include "util/memory.h"
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

static int read_kernel(struct shared_text **kernel, const struct os *os)
{
    char release[256];
    os_read_kernel(os, release, sizeof release);
    return read_name(kernel, release);
}

int host_read(struct host *host, const vitals_context *context, const struct metric_set *due,
              uint64_t now_ns)
{
    int result = 0;
    struct os_machine *reading = &host->reading;
    if (host->name == NULL && metric_set_has(due, VITALS_HOST_NAME))
        result = read_name(&host->name, context->origin.host);
    if (result == 0 && host->kernel == NULL && metric_set_has(due, VITALS_HOST_KERNEL))
        result = read_kernel(&host->kernel, &context->os);
    os_host_read(&host->files, &context->os, due, reading);
    if (host->files.text.failed)
        result = VITALS_EMEMORY;
    if (result == 0)
        result = disks_take(&host->disks, &context->os, &reading->disks, &reading->values);
    if (result == 0)
        result = networks_take(&host->networks, &context->os, &reading->networks, &reading->values);
    values_merge(host->machine.at, host->moments.at, reading->values.at, METRIC_NUMBERS, now_ns);
    if (metric_set_has_entity(due, VITALS_PRESSURE)) {
        memcpy(host->pressures, reading->pressures, sizeof host->pressures);
        host->pressures_ns = now_ns;
    }
    return result;
}

/* ---- the workers ---- */

/* Which tables a kind answers for. */
static const struct {
    bool whole;
    vitals_entity tables[6];
} KINDS[HOST_LATES] = {
    [HOST_CACHE_MACHINE] = {false,
                            {VITALS_HOST, VITALS_CPU, VITALS_DISK, VITALS_NETWORK, VITALS_PRESSURE,
                             VITALS_ENERGY_ZONE}},
    [HOST_CACHE_FILESYSTEMS] = {true, {VITALS_FILESYSTEM, VITALS_HOST}},
    [HOST_CACHE_SENSORS] = {true, {VITALS_SENSOR}},
    [HOST_CACHE_TABLES] = {true,
                           {VITALS_NETWORK_ADDRESS, VITALS_LOGIN, VITALS_SOCKET, VITALS_DIAGNOSIS}},
};

static bool is_space(vitals_metric metric)
{
    return metric == VITALS_HOST_DISK_SPACE_TOTAL_BYTES ||
           metric == VITALS_HOST_DISK_SPACE_USED_BYTES ||
           metric == VITALS_HOST_DISK_SPACE_AVAILABLE_BYTES;
}

/* Whether the kind answers for a metric of one of its tables. */
static bool answers(enum host_cache kind, vitals_metric metric)
{
    vitals_entity entity = vitals_metric_entity(metric);
    if (entity == VITALS_HOST && is_space(metric) != (kind == HOST_CACHE_FILESYSTEMS))
        return false;
    return vitals_metric_price(metric) == VITALS_PRICE_LANE || entity == VITALS_PRESSURE;
}

bool host_cache_part(enum host_cache kind, const struct metric_set *wanted, struct metric_set *part)
{
    bool any = false;
    *part = (struct metric_set){0};
    for (size_t i = 0; i < ARRAY_COUNT(KINDS[kind].tables); i++) {
        vitals_entity entity = KINDS[kind].tables[i];
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

static void read_tables(const struct os *os, enum host_cache kind, const struct metric_set *wanted,
                        const struct os_gate *gate, struct row_batch *out)
{
    struct metric_set all = *wanted;
    bool space = kind == HOST_CACHE_FILESYSTEMS && metric_set_has_entity(wanted, VITALS_HOST);
    if (space)
        space_want(&all);
    for (size_t i = 0; i < ARRAY_COUNT(KINDS[kind].tables); i++) {
        vitals_entity entity = KINDS[kind].tables[i];
        if (entity != 0 && entity != VITALS_HOST && metric_set_has_entity(&all, entity))
            metric_set_add_identities(&all, entity);
    }
    batch_reset(out, &all);
    for (size_t i = 0; i < ARRAY_COUNT(KINDS[kind].tables); i++) {
        vitals_entity entity = KINDS[kind].tables[i];
        if (entity == 0 || entity == VITALS_HOST || !metric_set_has_entity(&all, entity))
            continue;
        int code = entity == VITALS_FILESYSTEM ? os_read_filesystems(os, gate, out)
                                               : os_read_table(os, entity, out);
        if (code < 0)
            batch_state(out, entity, code == -ENOENT ? VITALS_UNSUPPORTED : os_availability(code));
    }
    if (space)
        space_sum(out, HOST_KEY);
}

void host_cache_read(const vitals_context *context, enum host_cache kind,
                     const struct metric_set *wanted, const struct os_gate *gate,
                     struct row_batch *out)
{
    if (kind != HOST_CACHE_MACHINE) {
        read_tables(&context->os, kind, wanted, gate, out);
        return;
    }
    struct metric_set all = *wanted;
    energy_want(&all);
    batch_reset(out, &all);
    os_read_machine(&context->os, out);
}

int host_cache_take(struct host *host, enum host_cache kind, struct row_batch *answer,
                    uint64_t read_ns)
{
    if (answer->failed)
        return VITALS_EMEMORY; // texts may be missing
    for (size_t i = 0; KINDS[kind].whole && i < ARRAY_COUNT(KINDS[kind].tables); i++) {
        vitals_entity entity = KINDS[kind].tables[i];
        if (entity == 0 || entity == VITALS_HOST || !metric_set_has_entity(&answer->wanted, entity))
            continue;
        int failed = identities_give(&host->identities[entity], answer, entity);
        if (failed < 0)
            return failed;
    }
    int code = kind == HOST_CACHE_MACHINE ? energy_take(&host->energy, answer, read_ns) : 0;
    return code < 0 ? code : cache_take(&host->cache[kind], answer, read_ns);
}

void host_cache_overdue(struct host *host, enum host_cache kind, const struct metric_set *asked)
{
    cache_overdue(&host->cache[kind], asked);
}

/* ---- rows ---- */

static void write_text(vitals_builder *builder, vitals_metric metric, struct shared_text *text)
{
    builder_shared(builder, metric, text, text != NULL ? VITALS_HAVE : VITALS_UNSUPPORTED);
}

/* What two workers know of the machine; what they did not answer yet says so. */
static void write_late(const struct host *host, vitals_builder *builder, uint64_t stamp_ns)
{
    static const enum host_cache KNOW[] = {HOST_CACHE_MACHINE, HOST_CACHE_FILESYSTEMS};
    for (size_t i = 0; i < ARRAY_COUNT(KNOW); i++) {
        const struct answer_cache *cache = &host->cache[KNOW[i]];
        const struct batch_row *row = cache_find(cache, VITALS_HOST, HOST_KEY, NULL);
        if (row != NULL) {
            cache_write(cache, VITALS_HOST, row, builder, stamp_ns);
            continue;
        }
        for (unsigned number = 1; number < METRIC_NUMBERS; number++) {
            vitals_metric metric = metric_of(VITALS_HOST, number);
            if (builder_wants(builder, metric) && answers(KNOW[i], metric))
                vitals_builder_missing(builder, metric, cache_reason(cache));
        }
    }
}

static void write_machine(const struct host *host, vitals_builder *builder, struct value processes,
                          uint64_t stamp_ns)
{
    vitals_builder_row(builder, VITALS_HOST, HOST_KEY, 0, (vitals_text){"host", 4}, stamp_ns);
    write_text(builder, VITALS_HOST_NAME, host->name);
    write_text(builder, VITALS_HOST_KERNEL, host->kernel);
    builder_values(builder, VITALS_HOST, &host->machine);
    for (unsigned number = 1; number < METRIC_NUMBERS; number++)
        if (host->moments.at[number] != 0 && host->moments.at[number] != stamp_ns)
            vitals_builder_read_at(builder, metric_of(VITALS_HOST, number),
                                   host->moments.at[number]);
    builder_value(builder, VITALS_HOST_PROCESSES, processes);
    write_late(host, builder, stamp_ns);
    builder_rest(builder, VITALS_HOST, VITALS_UNSUPPORTED);
}

/* `cache`: NULL where nothing is wanted that a worker reads. */
static void write_cpu(const struct os_cpu *cpu, const struct answer_cache *cache, size_t *hint,
                      vitals_builder *builder, uint64_t stamp_ns)
{
    char label[3 + NUMBER_TEXT] = "cpu";
    size_t size = 3 + number_print_u64(label + 3, cpu->index);
    vitals_builder_row(builder, VITALS_CPU, cpu->index + 1, 0, (vitals_text){label, size},
                       stamp_ns);
    builder_values(builder, VITALS_CPU, &cpu->values);
    if (cache != NULL)
        cache_write(cache, VITALS_CPU, cache_find(cache, VITALS_CPU, cpu->index + 1, hint), builder,
                    stamp_ns);
    builder_rest(builder, VITALS_CPU, VITALS_UNSUPPORTED);
}

static void write_cpus(const struct host *host, vitals_builder *builder,
                       const struct metric_set *wanted, uint64_t stamp_ns)
{
    const struct answer_cache *cache = NULL;
    size_t hint = 0;
    for (unsigned number = 1; number < METRIC_NUMBERS && cache == NULL; number++)
        if (metric_set_has(wanted, metric_of(VITALS_CPU, number)) &&
            answers(HOST_CACHE_MACHINE, metric_of(VITALS_CPU, number)))
            cache = &host->cache[HOST_CACHE_MACHINE];
    for (size_t i = 0; i < host->reading.cpus.count; i++)
        write_cpu(&host->reading.cpus.items[i], cache, &hint, builder, stamp_ns);
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
        vitals_text name = {NAMES[i], strlen(NAMES[i])};
        vitals_builder_row(builder, VITALS_PRESSURE, i + 1, 0, name, host->pressures_ns);
        vitals_builder_text(builder, VITALS_PRESSURE_RESOURCE, name, VITALS_HAVE);
        vitals_builder_text(builder, VITALS_PRESSURE_SCOPE, (vitals_text){"machine", 7},
                            VITALS_HAVE);
        builder_values(builder, VITALS_PRESSURE, values);
        builder_rest(builder, VITALS_PRESSURE, VITALS_UNSUPPORTED);
    }
    if (cache->answered)
        cache_write_table(cache, VITALS_PRESSURE, builder, stamp_ns);
    if (!any && cache_find(cache, VITALS_PRESSURE, OS_PRESSURES + 1, NULL) == NULL)
        vitals_builder_state(builder, VITALS_PRESSURE, VITALS_UNSUPPORTED);
}

/* Tables that workers give whole. */
static void write_tables(const struct host *host, vitals_builder *builder,
                         const struct metric_set *wanted, uint64_t stamp_ns)
{
    for (size_t kind = 0; kind < HOST_LATES; kind++)
        for (size_t i = 0; KINDS[kind].whole && i < ARRAY_COUNT(KINDS[kind].tables); i++) {
            vitals_entity entity = KINDS[kind].tables[i];
            if (entity == 0 || entity == VITALS_HOST || !metric_set_has_entity(wanted, entity))
                continue;
            builder_table_of(builder, entity, wanted);
            cache_write_table(&host->cache[kind], entity, builder, stamp_ns);
        }
}

void host_write(const struct host *host, vitals_builder *builder, const struct metric_set *wanted,
                struct value processes, uint64_t stamp_ns)
{
    const struct answer_cache *cache = &host->cache[HOST_CACHE_MACHINE];
    builder_table_of(builder, VITALS_HOST, wanted);
    if (metric_set_has_entity(wanted, VITALS_HOST))
        write_machine(host, builder, processes, stamp_ns);
    builder_table_of(builder, VITALS_CPU, wanted);
    write_cpus(host, builder, wanted, stamp_ns);
    builder_table_of(builder, VITALS_DISK, wanted);
    if (metric_set_has_entity(wanted, VITALS_DISK))
        disks_write(&host->disks, cache, builder, stamp_ns);
    builder_table_of(builder, VITALS_NETWORK, wanted);
    if (metric_set_has_entity(wanted, VITALS_NETWORK))
        networks_write(&host->networks, cache, builder, stamp_ns);
    builder_table_of(builder, VITALS_PRESSURE, wanted);
    if (metric_set_has_entity(wanted, VITALS_PRESSURE))
        write_pressures(host, builder, stamp_ns);
    builder_table_of(builder, VITALS_ENERGY_ZONE, wanted);
    if (metric_set_has_entity(wanted, VITALS_ENERGY_ZONE))
        cache_write_table(cache, VITALS_ENERGY_ZONE, builder, stamp_ns);
    write_tables(host, builder, wanted, stamp_ns);
}
