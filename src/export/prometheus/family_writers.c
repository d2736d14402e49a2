/* family_writers.c: writes the samples of the families (families.h). A writer is a function here
 * and a row of WRITERS; most get each row of a table, one writes all of its family. */
#include <stdlib.h>
#include <string.h>

#include "export/prometheus/exposition_page.h"
#include "feed/rows.h"
#include "feed/text.h"

/* Writes the samples of one row. */
typedef void write_row(struct exposition_page *page, const struct exposition_row *row);

/* Writes the samples of a family; nothing if no row has its values. */
typedef void write_all(struct exposition_page *page);

/* Writes a label with a text of the row, if it has it. */
static void label_text(struct exposition_page *page, const char *name, const vitals_row *row,
                       vitals_metric metric)
{
    vitals_text text;
    if (page_text(row, metric, &text) && text.size > 0)
        page_label(page, name, text);
}

static void label_number(struct exposition_page *page, const char *name, double number)
{
    char words[NUMBER_WORDS];
    number_shortest(number, words);
    page_label_word(page, name, words);
}

static void label_metric(struct exposition_page *page, const char *name, const vitals_row *row,
                         vitals_metric metric)
{
    double number;
    if (page_number(page, row, metric, &number))
        label_number(page, name, number);
}

static bool is_partition(const struct exposition_row *row)
{
    return vitals_row_table(row->row) == VITALS_TABLE_GPU && vitals_row_parent(row->row) != 0;
}

/* ---- the rows of tables ---- */

static void label_parts(struct exposition_page *page, const struct metric_family *family,
                        const struct family_part *part, const char *row_label)
{
    const char *name = family_row_label(family);
    if (name != NULL && row_label != NULL)
        page_label_word(page, name, row_label);
    if (family->part_label != NULL)
        page_label_word(page, family->part_label, part->value);
}

/* Returns whether a row below the device has the family's first metric: then the device's own
 * value, which stands in for it, is left out. */
static bool has_better(const struct exposition_page *page, const struct metric_family *family,
                       const struct family_part *part, const struct exposition_row *row)
{
    vitals_metric first = family->parts[0].metric;
    double value;
    if (part == family->parts || vitals_row_table(row->row) != VITALS_TABLE_GPU ||
        vitals_metric_table(first) == VITALS_TABLE_GPU)
        return false;
    EACH_CHILD(child, page->snapshot, vitals_metric_table(first), vitals_row_key(row->row)) {
        if (page_number(page, child, first, &value))
            return true;
    }
    return false;
}

/* Writes the sum of the aggregated rows of each group. Counters have none: it would decrease when a
 * process ends. */
static void write_folded(struct exposition_page *page, const struct metric_family *family,
                         const struct family_part *part)
{
    const vitals_table entity = vitals_metric_table(part->metric);
    const struct page_table *table = page_table(page, entity);
    const struct exposition_row *gpus = page->tables[VITALS_TABLE_GPU].rows;
    if (page->type != FAMILY_GAUGE || family->unsummed)
        return;
    for (size_t i = 0; i < table->count; i++) {
        const struct exposition_row *row = &table->rows[i];
        struct page_sum *sum = &page->sums[row->group];
        double value;
        if (!row->aggregated)
            continue;
        bool known = page_number(page, row->row, part->metric, &value);
        sum->value += known ? value : 0;
        sum->any = true;
        sum->lacking |= !known;
    }
    for (size_t group = 0; group < page->groups; group++) {
        struct page_sum sum = page->sums[group];
        page->sums[group] = (struct page_sum){0};
        if (!sum.any || sum.lacking)
            continue;
        page_sample(page);
        if (group > 0)
            page_labels(page, page->labels.bytes + gpus[group - 1].labels, gpus[group - 1].size);
        page_label_word(page, entity == VITALS_TABLE_WORKLOAD ? "workload" : "pid", "other");
        label_parts(page, family, part, NULL);
        page_value(page, sum.value);
    }
}

static void write_rows(struct exposition_page *page)
{
    const struct metric_family *family = page->family;
    for (size_t p = 0; p < FAMILY_PARTS && family->parts[p].metric != 0; p++) {
        const struct family_part *part = &family->parts[p];
        const struct page_table *table = page_table(page, vitals_metric_table(part->metric));
        bool aggregated = false, own_word = family->part_label == NULL && part->value != NULL;
        for (size_t i = 0; i < table->count; i++) {
            const struct exposition_row *row = &table->rows[i];
            double value;
            aggregated |= row->aggregated;
            if (row->aggregated || is_partition(row) ||
                !page_number(page, row->row, part->metric, &value) ||
                has_better(page, family, part, row))
                continue;
            page_sample_of(page, row);
            label_parts(page, family, part, own_word ? part->value : vitals_row_label(row->row));
            page_value(page, value);
        }
        if (aggregated)
            write_folded(page, family, part);
    }
}

/* ---- the exporter itself ---- */

static void write_build(struct exposition_page *page)
{
    page_sample(page);
    page_label_word(page, "version", vitals_version_text());
    page_value(page, 1);
}

static void write_success(struct exposition_page *page, const struct exposition_row *row)
{
    vitals_availability state = exposition_state_of(row->row);
    /* A source that this machine does not have, or that is not requested, has not failed. */
    if (state <= 0 && state != VITALS_DENIED && state != VITALS_GONE && state != VITALS_TIMED_OUT &&
        state != VITALS_FAILED && state != VITALS_OUTSIDE)
        return;
    page_sample_of(page, row);
    page_value(page, state > 0 && state != VITALS_STALE);
}

/* Writes the duration of a source's calls, or the time of its last reading. */
static void write_source(struct exposition_page *page, const struct exposition_row *row)
{
    bool last = page->family->writer == FAMILY_COLLECTOR_LAST;
    const struct counter_map_entry *entry = counter_map_find(&page->kept->sources,
                                                             vitals_row_key(row->row));
    if (entry == NULL || (last && entry->at_ns == 0))
        return;
    page_sample_of(page, row);
    page_value(page, last ? (double)entry->at_ns / 1e9 : entry->value);
}

static void write_tallies(struct exposition_page *page)
{
    const struct metric_family *family = page->family;
    const struct exposition_self *self = page->self;
    const struct exposition_tally dropped[] = {{"processes", page->dropped[0]},
                                               {"workloads", page->dropped[1]}};
    const struct exposition_tally *tallies = dropped;
    size_t count = sizeof dropped / sizeof dropped[0];
    if (family->writer != FAMILY_DROPPED) {
        bool requests = family->writer == FAMILY_REQUESTS;
        tallies = requests ? self->requests : self->rejected;
        count = requests ? self->request_count : self->rejected_count;
    }
    for (size_t i = 0; i < count; i++) {
        page_sample(page);
        page_label_word(page, family->labels, tallies[i].label);
        page_value(page, (double)tallies[i].count);
    }
}

/* ---- devices ---- */

static void write_gpu_info(struct exposition_page *page, const struct exposition_row *row)
{
    static const char NODE[] = "/dev/nvidia";
    enum { BEFORE = sizeof NODE - 1 };
    vitals_text node;
    page_sample_of(page, row);
    label_text(page, "vendor", row->row, VITALS_GPU_VENDOR);
    label_text(page, "name", row->row, VITALS_GPU_NAME);
    label_text(page, "driver", row->row, VITALS_GPU_KERNEL_DRIVER);
    label_text(page, "driver_version", row->row, VITALS_GPU_DRIVER_VERSION);
    label_text(page, "pci_bus_id", row->row, VITALS_GPU_PCI_BUS_ID);
    /* The number at the end of /dev/nvidia0. */
    if (page_text(row->row, VITALS_GPU_DEVICE_NODE, &node) && node.size > BEFORE &&
        node.size <= sizeof NODE + 8 && memcmp(node.bytes, NODE, BEFORE) == 0)
        page_label(page, "minor", (vitals_text){node.bytes + BEFORE, node.size - BEFORE});
    label_metric(page, "numa_node", row->row, VITALS_GPU_NUMA_NODE);
    page_value(page, 1);
}

/* Processes on devices and their partitions, by type. */
struct process_counts {
    double all, compute, graphics;
};

/* Adds the processes on one device; returns false if the type of one is not known. */
static bool count_on(const struct exposition_page *page, uint64_t gpu,
                     struct process_counts *counts)
{
    EACH_CHILD(row, page->snapshot, VITALS_TABLE_GPU_PROCESS, gpu) {
        vitals_text type;
        if (!page_text(row, VITALS_GPU_PROCESS_TYPE, &type))
            return false;
        counts->all++;
        counts->compute += type.size > 0 && (memchr(type.bytes, 'C', type.size) != NULL ||
                                             memchr(type.bytes, 'M', type.size) != NULL);
        counts->graphics += type.size > 0 && memchr(type.bytes, 'G', type.size) != NULL;
    }
    return true;
}

/* Writes nothing if the driver counts more or fewer processes than have a row. */
static void write_gpu_processes(struct exposition_page *page, const struct exposition_row *row)
{
    struct process_counts counts = {0};
    const vitals_row *part = NULL;
    const uint64_t gpu = vitals_row_key(row->row);
    double all;
    bool known = page_number(page, row->row, VITALS_GPU_PROCESSES, &all) &&
                 count_on(page, gpu, &counts);
    while (known &&
           (part = vitals_snapshot_next_child(page->snapshot, VITALS_TABLE_GPU, gpu, part)) != NULL)
        known = count_on(page, vitals_row_key(part), &counts);
    if (!known || counts.all != all)
        return;
    for (int i = 0; i < 2; i++) {
        page_sample_of(page, row);
        page_label_word(page, "type", i == 0 ? "compute" : "graphics");
        page_value(page, i == 0 ? counts.compute : counts.graphics);
    }
}

/* Sums all metrics over the links of a device; writes nothing if a value of an active link is
 * missing, or there is no link. */
static void write_links(struct exposition_page *page, const struct exposition_row *row)
{
    const struct metric_family *family = page->family;
    double sum = 0, value;
    size_t links = 0;
    EACH_CHILD(link, page->snapshot, VITALS_TABLE_GPU_LINK, vitals_row_key(row->row)) {
        uint64_t active;
        if (vitals_row_u64(link, VITALS_GPU_LINK_ACTIVE, &active) > 0 && active == 0)
            continue;
        for (size_t i = 0; i < FAMILY_PARTS && family->parts[i].metric != 0; i++) {
            if (!page_number(page, link, family->parts[i].metric, &value))
                return;
            sum += value;
        }
        links++;
    }
    if (links == 0)
        return;
    page_sample_of(page, row);
    page_value(page, sum);
}

static void write_xid(struct exposition_page *page, const struct exposition_row *row)
{
    const struct counter_map_entry *entry = counter_map_find(&page->kept->errors,
                                                             vitals_row_key(row->row));
    if (entry == NULL || entry->at_ns == 0)
        return;
    page_sample_of(page, row);
    label_number(page, "xid", entry->value);
    page_value(page, (double)entry->at_ns / 1e9);
}

/* Writes what a partition is, or the value of the family's metric. */
static void write_partition(struct exposition_page *page, const struct exposition_row *row)
{
    const struct metric_family *family = page->family;
    const struct exposition_row *parent = page_find(page, VITALS_TABLE_GPU,
                                                    vitals_row_parent(row->row));
    bool info = family->writer == FAMILY_PARTITION_INFO;
    double value = 1;
    if (!info && !page_number(page, row->row, family->parts[0].metric, &value))
        return;
    page_sample(page);
    label_text(page, "uuid", row->row, VITALS_GPU_UUID);
    if (parent != NULL)
        label_text(page, "parent_uuid", parent->row, VITALS_GPU_UUID);
    if (info) {
        label_metric(page, "gi", row->row, VITALS_GPU_GPU_INSTANCE_ID);
        label_metric(page, "ci", row->row, VITALS_GPU_COMPUTE_INSTANCE_ID);
        label_text(page, "profile", row->row, VITALS_GPU_NAME);
    }
    page_value(page, value);
}

/* ---- processes and workloads ---- */

static void label_user(struct exposition_page *page, vitals_text name, int64_t uid)
{
    char words[32];
    vitals_text user;
    if (page_user(page, name, uid, words, sizeof words, &user))
        page_label(page, "user", user);
}

static void label_workload(struct exposition_page *page, vitals_text id)
{
    char words[256];
    if (id.size > 0)
        page_label(page, "workload", page_workload(page, id, words, sizeof words));
}

static void write_process_info(struct exposition_page *page, const struct exposition_row *row)
{
    vitals_text user = {"", 0}, id = {"", 0};
    uint64_t uid;
    page_sample_of(page, row);
    label_text(page, "comm", row->row, VITALS_PROCESS_NAME);
    (void)!page_text(row->row, VITALS_PROCESS_USER, &user);
    bool known = vitals_row_u64(row->row, VITALS_PROCESS_UID, &uid) > 0;
    label_user(page, user, known ? (int64_t)uid : -1);
    if (page_text(row->row, VITALS_PROCESS_WORKLOAD, &id))
        label_workload(page, id);
    page_value(page, 1);
}

static void write_process_start(struct exposition_page *page, const struct exposition_row *row)
{
    const struct page_table *host = page_table(page, VITALS_TABLE_HOST);
    double boot, start;
    if (host->count == 0 ||
        !page_number(page, host->rows[0].row, VITALS_HOST_BOOT_TIME_SECONDS, &boot) ||
        !page_number(page, row->row, VITALS_PROCESS_START_SECONDS, &start))
        return;
    page_sample_of(page, row);
    page_value(page, boot + start);
}

static void write_workload_info(struct exposition_page *page, const struct exposition_row *row)
{
    const struct metric_family *family = page->family;
    vitals_text user;
    uint64_t claimed = 0;
    (void)!vitals_row_u64(row->row, VITALS_WORKLOAD_CLAIMED, &claimed);
    page_sample_of(page, row);
    for (size_t p = 0; p < FAMILY_PARTS && family->parts[p].metric != 0; p++) {
        vitals_metric metric = family->parts[p].metric;
        bool name = metric != VITALS_WORKLOAD_USER && metric != VITALS_WORKLOAD_KIND;
        if (claimed != 0 && name)
            continue; /* labels that others join on are those of the one that it names */
        if (metric != VITALS_WORKLOAD_USER)
            label_text(page, vitals_metric_name(metric), row->row, metric);
        else if (page->options->user != EXPOSITION_USER_UID && page_text(row->row, metric, &user))
            label_user(page, user, -1);
    }
    page_value(page, 1);
}

/* The values of one device's processes by workload, in the order of rows. */
struct workload_share {
    vitals_text id;
    uint64_t key; /* of its id and the device */
    double sum;
    bool lacking; /* a process of it has no value, so there is no sum */
};

static bool is_folded(const struct exposition_page *page, vitals_text id)
{
    const struct page_table *table = page_table(page, VITALS_TABLE_WORKLOAD);
    vitals_text of;
    if (page->dropped[1] == 0)
        return false;
    for (size_t i = 0; i < table->count; i++) {
        if (page_text(table->rows[i].row, VITALS_WORKLOAD_ID, &of) && of.size == id.size &&
            memcmp(of.bytes, id.bytes, id.size) == 0)
            return table->rows[i].aggregated;
    }
    return true;
}

/* Writes the values of a device by workload: sums over its processes, or the counters that are kept
 * of workloads, which aggregated ones do not have. */
static void write_shares(struct exposition_page *page, const struct exposition_row *gpu)
{
    const struct metric_family *family = page->family;
    static const vitals_text OTHER = {"other", 5}, UNKNOWN = {"unknown", 7};
    bool counter = family->writer == FAMILY_WORKLOAD_GPU_BUSY;
    const uint64_t key = vitals_row_key(gpu->row);
    size_t count = 0, most = vitals_snapshot_count(page->snapshot, VITALS_TABLE_GPU_PROCESS);
    struct workload_share *shares = calloc(most + 1, sizeof *shares);
    page->failed = page->failed || shares == NULL;
    if (shares == NULL)
        return;

    EACH_CHILD(row, page->snapshot, VITALS_TABLE_GPU_PROCESS, key) {
        vitals_text id;
        double value;
        if (!exposition_workload_of(row, &id))
            id = UNKNOWN;
        else if (is_folded(page, id))
            id = OTHER;
        const uint64_t workload = exposition_workload_key(key, id);
        size_t i = 0;
        while (i < count && shares[i].key != workload)
            i++;
        if (i == count)
            shares[count++] = (struct workload_share){.id = id, .key = workload};
        struct workload_share *share = &shares[i];
        bool known = page_number(page, row, family->parts[0].metric, &value);
        share->sum += known ? value : 0;
        share->lacking |= !known;
    }

    for (size_t i = 0; i < count; i++) {
        const struct counter_map_entry *entry = counter ? counter_map_find(&page->kept->workloads,
                                                                           shares[i].key)
                                                        : NULL;
        if (counter ? entry == NULL : shares[i].lacking)
            continue;
        page_sample_of(page, gpu);
        label_workload(page, shares[i].id);
        page_value(page, counter ? entry->value : shares[i].sum);
    }
    free(shares);
}

/* ---- the jobs of devices ---- */

/* The kinds of workloads that a scheduler manages; *job: the part that is the job's id, for Slurm.
 */
static bool is_job(vitals_text id, vitals_text *job)
{
    static const char SLURM[] = "slurm:", POD[] = "k8s:";
    *job = (vitals_text){"", 0};
    if (id.size > sizeof SLURM - 1 && memcmp(id.bytes, SLURM, sizeof SLURM - 1) == 0) {
        *job = (vitals_text){id.bytes + sizeof SLURM - 1, id.size - (sizeof SLURM - 1)};
        const char *step = memchr(job->bytes, '.', job->size);
        job->size = step != NULL ? (size_t)(step - job->bytes) : job->size;
        return true;
    }
    return id.size > sizeof POD - 1 && memcmp(id.bytes, POD, sizeof POD - 1) == 0;
}

static void write_job(struct exposition_page *page, const struct exposition_row *gpu,
                      vitals_text workload, vitals_text job, const char *by)
{
    page_sample_of(page, gpu);
    label_workload(page, workload);
    if (job.size > 0)
        page_label(page, "job_id", job);
    page_label_word(page, "by", by);
    page_value(page, 1);
}

/* Writes the jobs whose processes are on the device, else those that its prolog's file names. */
static void write_gpu_jobs(struct exposition_page *page, const struct exposition_row *gpu)
{
    const uint64_t key = vitals_row_key(gpu->row);
    bool proven = false;
    EACH_CHILD(row, page->snapshot, VITALS_TABLE_GPU_PROCESS, key) {
        vitals_text id, job;
        if (!exposition_workload_of(row, &id) || !is_job(id, &job))
            continue;
        proven = true;
        if (!is_folded(page, id))
            write_job(page, gpu, id, job, "process");
    }
    if (proven)
        return;
    EACH_CHILD(row, page->snapshot, VITALS_TABLE_GPU_JOB, key) {
        vitals_text workload = {"", 0}, job;
        if (!page_text(row, VITALS_GPU_JOB_JOB_ID, &job))
            continue;
        if (!page_text(row, VITALS_GPU_JOB_WORKLOAD, &workload))
            workload.size = 0;
        write_job(page, gpu, workload, job, "prolog");
    }
}

/* ---- the table ---- */

static const struct {
    write_row *row; /* gets each of these rows that is not aggregated */
    vitals_table entity;
    enum { ANY, WHOLE, PARTITION } of; /* of devices: these or their partitions */
    bool alone;                        /* written without a snapshot, or with a stale one */
    write_all *all;                    /* instead of the row's */
} WRITERS[FAMILY_WRITERS] = {
    [FAMILY_ROWS] = {.all = write_rows},
    [FAMILY_BUILD] = {.all = write_build, .alone = true},
    [FAMILY_DROPPED] = {.all = write_tallies},
    [FAMILY_REQUESTS] = {.all = write_tallies, .alone = true},
    [FAMILY_REJECTED] = {.all = write_tallies, .alone = true},
    [FAMILY_COLLECTOR_SUCCESS] = {write_success, VITALS_TABLE_SOURCE, ANY, false, NULL},
    [FAMILY_COLLECTOR_DURATION] = {write_source, VITALS_TABLE_SOURCE, ANY, false, NULL},
    [FAMILY_COLLECTOR_LAST] = {write_source, VITALS_TABLE_SOURCE, ANY, true, NULL},
    [FAMILY_GPU_INFO] = {write_gpu_info, VITALS_TABLE_GPU, WHOLE, false, NULL},
    [FAMILY_GPU_PROCESSES] = {write_gpu_processes, VITALS_TABLE_GPU, WHOLE, false, NULL},
    [FAMILY_GPU_JOB] = {write_gpu_jobs, VITALS_TABLE_GPU, ANY, false, NULL},
    [FAMILY_GPU_LINKS] = {write_links, VITALS_TABLE_GPU, WHOLE, false, NULL},
    [FAMILY_XID_LAST] = {write_xid, VITALS_TABLE_GPU, WHOLE, false, NULL},
    [FAMILY_PARTITION_INFO] = {write_partition, VITALS_TABLE_GPU, PARTITION, false, NULL},
    [FAMILY_PARTITION] = {write_partition, VITALS_TABLE_GPU, PARTITION, false, NULL},
    [FAMILY_PROCESS_INFO] = {write_process_info, VITALS_TABLE_PROCESS, ANY, false, NULL},
    [FAMILY_PROCESS_START] = {write_process_start, VITALS_TABLE_PROCESS, ANY, false, NULL},
    [FAMILY_WORKLOAD_INFO] = {write_workload_info, VITALS_TABLE_WORKLOAD, ANY, false, NULL},
    [FAMILY_WORKLOAD_GPU] = {write_shares, VITALS_TABLE_GPU, ANY, false, NULL},
    [FAMILY_WORKLOAD_GPU_BUSY] = {write_shares, VITALS_TABLE_GPU, ANY, false, NULL},
};

void exposition_write_family(struct exposition_page *page, const struct metric_family *family)
{
    char room[FAMILY_NAME_SIZE];
    const char *name = family_name(family, room);
    bool of_host = strncmp(name, HOST_NAMES, sizeof HOST_NAMES - 1) == 0;
    if (!family_is_exported(family, page->options->level) ||
        (page->options->without_host && of_host) ||
        ((page->snapshot == NULL || page->is_alone) && !WRITERS[family->writer].alone))
        return;

    page->family = family;
    page_family(page, FAMILY_PREFIX, name, family_type(name), family_help(family));
    if (WRITERS[family->writer].all != NULL) {
        WRITERS[family->writer].all(page);
        return;
    }
    const struct page_table *table = page_table(page, WRITERS[family->writer].entity);
    for (size_t i = 0; i < table->count; i++) {
        const struct exposition_row *row = &table->rows[i];
        if (!row->aggregated && (WRITERS[family->writer].of == ANY ||
                                 is_partition(row) == (WRITERS[family->writer].of == PARTITION)))
            WRITERS[family->writer].row(page, row);
    }
}
