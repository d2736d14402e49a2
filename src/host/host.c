/* host.c: from the machine's files to the rows of host and cpu. See host.h.
 *
 * What the operating system cannot tell comes with its reason from below; nothing is worked out
 * here. */
#include "host/host.h"

#include "core/memory.h"
#include "core/number.h"

#include <string.h>

/* The only row of its table. */
enum { HOST_KEY = 1 };

void host_init(struct host *host)
{
    *host = (struct host){0};
    os_host_init(&host->files);
    for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;)
        if (vitals_metric_entity(metric) == VITALS_HOST &&
            vitals_metric_price(metric) == VITALS_PRICE_LANE)
            values_set(&host->machine, metric, value_missing(VITALS_NOT_YET));
}

void host_done(struct host *host)
{
    os_host_done(&host->files);
    memory_free(host->cpus.items);
    shared_text_unref(host->name);
    shared_text_unref(host->kernel);
    *host = (struct host){0};
    os_host_init(&host->files);
}

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
    struct values fresh = {0};
    if (host->name == NULL && metric_set_has(due, VITALS_HOST_NAME))
        result = read_name(&host->name, context->origin.host);
    if (result == 0 && host->kernel == NULL && metric_set_has(due, VITALS_HOST_KERNEL))
        result = read_kernel(&host->kernel, &context->os);
    os_host_read(&host->files, &context->os, due, &fresh, &host->cpus);
    values_merge(host->machine.at, host->moments.at, fresh.at, METRIC_NUMBERS, now_ns);
    return host->files.text.failed ? VITALS_EMEMORY : result;
}

void host_slow_read(const vitals_context *context, const struct metric_set *wanted,
                    struct values *out)
{
    *out = (struct values){0};
    os_read_own_cgroup(&context->os, wanted, out);
}

void host_slow_take(struct host *host, const struct values *slow, uint64_t read_ns)
{
    values_merge(host->machine.at, host->moments.at, slow->at, METRIC_NUMBERS, read_ns);
}

static void write_text(vitals_builder *builder, vitals_metric metric, struct shared_text *text)
{
    builder_shared(builder, metric, text, text != NULL ? VITALS_HAVE : VITALS_UNSUPPORTED);
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
    builder_rest(builder, VITALS_HOST, VITALS_UNSUPPORTED);
}

static void write_cpu(const struct os_cpu *cpu, vitals_builder *builder, uint64_t stamp_ns)
{
    char label[3 + NUMBER_TEXT] = "cpu";
    size_t size = 3 + number_print_u64(label + 3, cpu->index);
    vitals_builder_row(builder, VITALS_CPU, cpu->index + 1, 0, (vitals_text){label, size},
                       stamp_ns);
    builder_values(builder, VITALS_CPU, &cpu->values);
    builder_rest(builder, VITALS_CPU, VITALS_UNSUPPORTED);
}

void host_write(const struct host *host, vitals_builder *builder, const struct metric_set *wanted,
                struct value processes, uint64_t stamp_ns)
{
    builder_table_of(builder, VITALS_HOST, wanted);
    if (metric_set_has_entity(wanted, VITALS_HOST))
        write_machine(host, builder, processes, stamp_ns);
    builder_table_of(builder, VITALS_CPU, wanted);
    for (size_t i = 0; i < host->cpus.count; i++)
        write_cpu(&host->cpus.items[i], builder, stamp_ns);
}
