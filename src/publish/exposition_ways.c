/* exposition_ways.c: see exposition_ways.h: a function for each way, and the plain one. */
#include "publish/exposition_ways.h"

#include <stdlib.h>
#include <string.h>

typedef void write_family(struct page *page, const struct family *family,
                          const struct ways_from *from);

static void label_text(struct page *page, const char *name, const vitals_row *row,
                       vitals_metric metric)
{
    vitals_text text;
    if (page_text(row, metric, &text) && text.size > 0)
        page_label(page, name, text);
}

static void label_number(struct page *page, const char *name, double number)
{
    char words[NUMBER_WORDS];
    number_shortest(number, words);
    page_label_word(page, name, words);
}

static bool is_partition(const struct page_row *row)
{
    return vitals_row_entity(row->row) == VITALS_GPU && vitals_row_parent(row->row) != 0;
}

/* ---- the rows of tables ---- */

static void label_parts(struct page *page, const struct family *family,
                        const struct family_part *part, const char *row_label)
{
    if (family->row_label != NULL && row_label != NULL)
        page_label(page, family->row_label, (vitals_text){row_label, strlen(row_label)});
    if (family->part_label != NULL)
        page_label_word(page, family->part_label, part->value);
}

/* What the label of the row goes to: the part's own word where the table has no such label. */
static const char *row_label_of(const struct family *family, const struct family_part *part,
                                const struct page_row *row)
{
    return family->part_label == NULL && part->value != NULL ? part->value
                                                             : vitals_row_label(row->row);
}

/* Counters have no sum: who comes and goes would make it run backwards. */
static void add_folded(struct page *page, const struct family *family, const struct page_row *row,
                       const struct family_part *part)
{
    struct page_sum *sum = &page->sums[row->group];
    double value;
    if (family->type != FAMILY_GAUGE || family->unsummed)
        return;
    bool known = page_number(page, row->row, part->metric, &value);
    sum->value += known ? value : 0;
    sum->any = true;
    sum->lacking |= !known;
}

/* The sum of those that are folded, in each group. */
static void write_folded(struct page *page, const struct family *family,
                         const struct family_part *part)
{
    vitals_entity entity = vitals_metric_entity(part->metric);
    const struct page_row *gpus = page->tables[VITALS_GPU].rows;
    for (size_t group = 0; group < page->groups; group++) {
        struct page_sum sum = page->sums[group];
        page->sums[group] = (struct page_sum){0};
        if (!sum.any || sum.lacking)
            continue;
        page_sample(page);
        if (group > 0)
            page_labels(page, page->labels.bytes + gpus[group - 1].labels, gpus[group - 1].size);
        page_label_word(page, entity == VITALS_WORKLOAD ? "workload" : "pid", "other");
        label_parts(page, family, part, NULL);
        page_value(page, sum.value);
    }
}

/* Whether a row below the device has the value that the family is made of first: then the device's
 * own, which only stands for it, is left out. */
static bool has_better(const struct page *page, const struct family *family,
                       const struct family_part *part, const struct page_row *row)
{
    vitals_metric first = family->parts[0].metric;
    const vitals_row *child = NULL;
    double value;
    if (part == family->parts || vitals_row_entity(row->row) != VITALS_GPU ||
        vitals_metric_entity(first) == VITALS_GPU)
        return false;
    while ((child = vitals_snapshot_next_child(page->snapshot, vitals_metric_entity(first),
                                               vitals_row_key(row->row), child)) != NULL) {
        if (page_number(page, child, first, &value))
            return true;
    }
    return false;
}

static void write_part(struct page *page, const struct family *family,
                       const struct family_part *part)
{
    const struct page_table *table = page_table(page, vitals_metric_entity(part->metric));
    bool folded = false;
    for (size_t i = 0; i < table->count; i++) {
        const struct page_row *row = &table->rows[i];
        double value;
        if (row->folded) {
            folded = true;
            add_folded(page, family, row, part);
            continue;
        }
        if (is_partition(row) || !page_number(page, row->row, part->metric, &value) ||
            has_better(page, family, part, row))
            continue;
        page_sample_of(page, row);
        label_parts(page, family, part, row_label_of(family, part, row));
        page_value(page, value);
    }
    if (folded)
        write_folded(page, family, part);
}

static void write_rows(struct page *page, const struct family *family, const struct ways_from *from)
{
    (void)from;
    for (size_t i = 0; i < FAMILY_PARTS && family->parts[i].metric != 0; i++)
        write_part(page, family, &family->parts[i]);
}

/* ---- ourselves ---- */

static void write_build(struct page *page, const struct family *family,
                        const struct ways_from *from)
{
    (void)family, (void)from;
    page_sample(page);
    page_label_word(page, "version", vitals_version_text());
    page_value(page, 1);
}

/* Of what this machine does not have, or is not to be asked, nothing is told: it has not failed. */
static bool has_run(vitals_availability state)
{
    return state > 0 || state == VITALS_DENIED || state == VITALS_GONE ||
           state == VITALS_TIMED_OUT || state == VITALS_FAILED || state == VITALS_OUTSIDE;
}

static void write_success(struct page *page, const struct family *family,
                          const struct ways_from *from)
{
    const struct page_table *table = page_table(page, VITALS_SOURCE);
    (void)family, (void)from;
    for (size_t i = 0; i < table->count; i++) {
        vitals_availability state = exposition_state_of(table->rows[i].row);
        if (!has_run(state))
            continue;
        page_sample_of(page, &table->rows[i]);
        page_value(page, state > 0 && state != VITALS_STALE);
    }
}

static void write_of_sources(struct page *page, const struct ways_from *from, bool last)
{
    const struct page_table *table = page_table(page, VITALS_SOURCE);
    for (size_t i = 0; i < table->count; i++) {
        const struct ledger_entry *entry = ledger_find(&from->sums->sources,
                                                       vitals_row_key(table->rows[i].row), 0);
        if (entry == NULL || (last && entry->at <= 0))
            continue;
        page_sample_of(page, &table->rows[i]);
        page_value(page, last ? entry->at : entry->value);
    }
}

static void write_duration(struct page *page, const struct family *family,
                           const struct ways_from *from)
{
    (void)family;
    write_of_sources(page, from, false);
}

static void write_last(struct page *page, const struct family *family, const struct ways_from *from)
{
    (void)family;
    write_of_sources(page, from, true);
}

static void write_dropped(struct page *page, const struct family *family,
                          const struct ways_from *from)
{
    static const char *const SCOPES[] = {"processes", "workloads"};
    (void)family, (void)from;
    for (size_t i = 0; i < 2; i++) {
        page_sample(page);
        page_label_word(page, "scope", SCOPES[i]);
        page_value(page, (double)page->dropped[i]);
    }
}

static void write_tallies(struct page *page, const char *name,
                          const struct exposition_tally *tallies, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        page_sample(page);
        page_label_word(page, name, tallies[i].label);
        page_value(page, (double)tallies[i].count);
    }
}

static void write_requests(struct page *page, const struct family *family,
                           const struct ways_from *from)
{
    (void)family;
    write_tallies(page, "code", from->self->requests, from->self->request_count);
}

static void write_rejected(struct page *page, const struct family *family,
                           const struct ways_from *from)
{
    (void)family;
    write_tallies(page, "reason", from->self->rejected, from->self->rejected_count);
}

/* ---- devices ---- */

/* The number at the end of /dev/nvidia0. */
static void label_minor(struct page *page, const vitals_row *row)
{
    static const char NODE[] = "/dev/nvidia";
    vitals_text node;
    if (!page_text(row, VITALS_GPU_DEVICE_NODE, &node) || node.size < sizeof NODE ||
        node.size > sizeof NODE + 8 || memcmp(node.bytes, NODE, sizeof NODE - 1) != 0)
        return;
    page_label(page, "minor",
               (vitals_text){node.bytes + sizeof NODE - 1, node.size - (sizeof NODE - 1)});
}

static void write_gpu_info(struct page *page, const struct family *family,
                           const struct ways_from *from)
{
    const struct page_table *table = page_table(page, VITALS_GPU);
    (void)family, (void)from;
    for (size_t i = 0; i < table->count; i++) {
        const vitals_row *row = table->rows[i].row;
        double node;
        if (is_partition(&table->rows[i]))
            continue;
        page_sample_of(page, &table->rows[i]);
        label_text(page, "vendor", row, VITALS_GPU_VENDOR);
        label_text(page, "name", row, VITALS_GPU_NAME);
        label_text(page, "driver", row, VITALS_GPU_KERNEL_DRIVER);
        label_text(page, "driver_version", row, VITALS_GPU_DRIVER_VERSION);
        label_text(page, "pci_bus_id", row, VITALS_GPU_PCI_BUS_ID);
        label_minor(page, row);
        if (page_number(page, row, VITALS_GPU_NUMA_NODE, &node))
            label_number(page, "numa_node", node);
        page_value(page, 1);
    }
}

static bool has_letter(vitals_text text, const char *letters)
{
    for (size_t i = 0; i < text.size; i++) {
        if (strchr(letters, text.bytes[i]) != NULL && text.bytes[i] != '\0')
            return true;
    }
    return false;
}

static const struct {
    const char *name, *letters;
} PROCESS_TYPES[] = {{"compute", "CM"}, {"graphics", "G"}};

enum { PROCESS_TYPES_COUNT = sizeof PROCESS_TYPES / sizeof PROCESS_TYPES[0] };

struct process_counts {
    double all, of_type[PROCESS_TYPES_COUNT];
};

/* Adds those on the device itself; false: the type of one is not known. */
static bool count_on(const struct page *page, uint64_t gpu, struct process_counts *counts)
{
    const vitals_row *row = NULL;
    while ((row = vitals_snapshot_next_child(page->snapshot, VITALS_GPU_PROCESS, gpu, row)) !=
           NULL) {
        vitals_text type;
        if (!page_text(row, VITALS_GPU_PROCESS_TYPE, &type))
            return false;
        counts->all++;
        for (size_t i = 0; i < PROCESS_TYPES_COUNT; i++)
            counts->of_type[i] += has_letter(type, PROCESS_TYPES[i].letters);
    }
    return true;
}

/* Those on a device and on its partitions. */
static bool count_processes(const struct page *page, uint64_t gpu, struct process_counts *counts)
{
    const vitals_row *part = NULL;
    *counts = (struct process_counts){0};
    bool known = count_on(page, gpu, counts);
    while (known &&
           (part = vitals_snapshot_next_child(page->snapshot, VITALS_GPU, gpu, part)) != NULL)
        known = count_on(page, vitals_row_key(part), counts);
    return known;
}

/* Nothing where the device has others than those that are seen, or fewer. */

static void write_gpu_processes(struct page *page, const struct family *family,
                                const struct ways_from *from)
{
    const struct page_table *table = page_table(page, VITALS_GPU);
    (void)family, (void)from;
    for (size_t i = 0; i < table->count; i++) {
        const struct page_row *row = &table->rows[i];
        struct process_counts counts;
        double all;
        if (is_partition(row) || !page_number(page, row->row, VITALS_GPU_PROCESSES, &all) ||
            !count_processes(page, vitals_row_key(row->row), &counts) || counts.all != all)
            continue;
        for (size_t t = 0; t < PROCESS_TYPES_COUNT; t++) {
            page_sample_of(page, row);
            page_label_word(page, "type", PROCESS_TYPES[t].name);
            page_value(page, counts.of_type[t]);
        }
    }
}

/* The sum over the links of a device of all the metrics; false: one of an active link is missing,
 * or there is no link. */
static bool sum_links(const struct page *page, const struct family *family, uint64_t gpu,
                      double *sum)
{
    const vitals_row *row = NULL;
    size_t links = 0;
    *sum = 0;
    while ((row = vitals_snapshot_next_child(page->snapshot, VITALS_GPU_LINK, gpu, row)) != NULL) {
        uint64_t active;
        if (vitals_row_u64(row, VITALS_GPU_LINK_ACTIVE, &active) > 0 && active == 0)
            continue;
        for (size_t i = 0; i < FAMILY_PARTS && family->parts[i].metric != 0; i++) {
            double value;
            if (!page_number(page, row, family->parts[i].metric, &value))
                return false;
            *sum += value;
        }
        links++;
    }
    return links > 0;
}

static void write_links(struct page *page, const struct family *family,
                        const struct ways_from *from)
{
    const struct page_table *table = page_table(page, VITALS_GPU);
    (void)from;
    for (size_t i = 0; i < table->count; i++) {
        const struct page_row *row = &table->rows[i];
        double sum;
        if (is_partition(row) || !sum_links(page, family, vitals_row_key(row->row), &sum))
            continue;
        page_sample_of(page, row);
        page_value(page, sum);
    }
}

static void write_xid(struct page *page, const struct family *family, const struct ways_from *from)
{
    const struct page_table *table = page_table(page, VITALS_GPU);
    (void)family;
    for (size_t i = 0; i < table->count; i++) {
        const struct ledger_entry *entry = ledger_find(&from->sums->errors,
                                                       vitals_row_key(table->rows[i].row), 0);
        if (entry == NULL || entry->at <= 0 || is_partition(&table->rows[i]))
            continue;
        page_sample_of(page, &table->rows[i]);
        label_number(page, "xid", entry->value);
        page_value(page, entry->at);
    }
}

/* ---- partitions ---- */

static void label_partition(struct page *page, const struct page_row *row)
{
    const struct page_row *parent = page_find(page, VITALS_GPU, vitals_row_parent(row->row));
    label_text(page, "uuid", row->row, VITALS_GPU_UUID);
    if (parent != NULL)
        label_text(page, "parent_uuid", parent->row, VITALS_GPU_UUID);
}

static void write_partition_info(struct page *page, const struct family *family,
                                 const struct ways_from *from)
{
    const struct page_table *table = page_table(page, VITALS_GPU);
    (void)family, (void)from;
    for (size_t i = 0; i < table->count; i++) {
        const vitals_row *row = table->rows[i].row;
        double instance;
        if (!is_partition(&table->rows[i]))
            continue;
        page_sample(page);
        label_partition(page, &table->rows[i]);
        if (page_number(page, row, VITALS_GPU_GPU_INSTANCE_ID, &instance))
            label_number(page, "gi", instance);
        if (page_number(page, row, VITALS_GPU_COMPUTE_INSTANCE_ID, &instance))
            label_number(page, "ci", instance);
        label_text(page, "profile", row, VITALS_GPU_NAME);
        page_value(page, 1);
    }
}

static void write_partition(struct page *page, const struct family *family,
                            const struct ways_from *from)
{
    const struct page_table *table = page_table(page, VITALS_GPU);
    (void)from;
    for (size_t i = 0; i < table->count; i++) {
        double value;
        if (!is_partition(&table->rows[i]) ||
            !page_number(page, table->rows[i].row, family->parts[0].metric, &value))
            continue;
        page_sample(page);
        label_partition(page, &table->rows[i]);
        page_value(page, value);
    }
}

/* ---- processes ---- */

static void label_user(struct page *page, vitals_text name, int64_t uid)
{
    char words[32];
    vitals_text user;
    if (page_user(page, name, uid, words, sizeof words, &user))
        page_label(page, "user", user);
}

static int64_t uid_of(const vitals_row *row)
{
    uint64_t uid;
    return vitals_row_u64(row, VITALS_PROCESS_UID, &uid) > 0 ? (int64_t)uid : -1;
}

static void write_process_info(struct page *page, const struct family *family,
                               const struct ways_from *from)
{
    const struct page_table *table = page_table(page, VITALS_PROCESS);
    (void)family, (void)from;
    for (size_t i = 0; i < table->count; i++) {
        const vitals_row *row = table->rows[i].row;
        vitals_text user = {"", 0}, id;
        char words[256];
        if (table->rows[i].folded)
            continue;
        page_sample_of(page, &table->rows[i]);
        label_text(page, "comm", row, VITALS_PROCESS_NAME);
        (void)!page_text(row, VITALS_PROCESS_USER, &user);
        label_user(page, user, uid_of(row));
        if (page_text(row, VITALS_PROCESS_WORKLOAD, &id) && id.size > 0)
            page_label(page, "workload", page_workload(page, id, words, sizeof words));
        page_value(page, 1);
    }
}

static void write_process_start(struct page *page, const struct family *family,
                                const struct ways_from *from)
{
    const struct page_table *table = page_table(page, VITALS_PROCESS);
    const struct page_table *host = page_table(page, VITALS_HOST);
    double boot, start;
    (void)family, (void)from;
    if (host->count == 0 ||
        !page_number(page, host->rows[0].row, VITALS_HOST_BOOT_TIME_SECONDS, &boot))
        return;
    for (size_t i = 0; i < table->count; i++) {
        if (table->rows[i].folded ||
            !page_number(page, table->rows[i].row, VITALS_PROCESS_START_SECONDS, &start))
            continue;
        page_sample_of(page, &table->rows[i]);
        page_value(page, boot + start);
    }
}

/* ---- what they work for ---- */

static void label_if(struct page *page, const vitals_row *row, vitals_metric metric)
{
    label_text(page, vitals_metric_name(metric), row, metric);
}

static void write_workload_info(struct page *page, const struct family *family,
                                const struct ways_from *from)
{
    const struct page_table *table = page_table(page, VITALS_WORKLOAD);
    (void)from;
    for (size_t i = 0; i < table->count; i++) {
        const vitals_row *row = table->rows[i].row;
        vitals_text user;
        if (table->rows[i].folded)
            continue;
        page_sample_of(page, &table->rows[i]);
        for (size_t p = 0; p < FAMILY_PARTS && family->parts[p].metric != 0; p++) {
            if (family->parts[p].metric != VITALS_WORKLOAD_USER)
                label_if(page, row, family->parts[p].metric);
            else if (page->options->user != EXPOSITION_USER_UID &&
                     page_text(row, VITALS_WORKLOAD_USER, &user))
                label_user(page, user, -1);
        }
        page_value(page, 1);
    }
}

/* What the processes of one device hold by workload, one after another in the order of rows. */
struct share {
    vitals_text id;
    uint64_t key; /* its hash */
    double sum;
    bool lacking; /* a process of it has no value, and a sum without it would be none */
};

static struct share *share_of(struct share *shares, size_t *count, vitals_text id)
{
    uint64_t key = exposition_workload_key(id);
    for (size_t i = 0; i < *count; i++) {
        if (shares[i].key == key)
            return &shares[i];
    }
    shares[*count] = (struct share){.id = id, .key = key};
    return &shares[(*count)++];
}

static bool is_folded(const struct page *page, vitals_text id)
{
    const struct page_table *table = page_table(page, VITALS_WORKLOAD);
    vitals_text of;
    if (page->dropped[1] == 0)
        return false;
    for (size_t i = 0; i < table->count; i++) {
        if (page_text(table->rows[i].row, VITALS_WORKLOAD_ID, &of) && of.size == id.size &&
            memcmp(of.bytes, id.bytes, id.size) == 0)
            return table->rows[i].folded;
    }
    return true;
}

static const vitals_text OTHER = {"other", 5}, UNKNOWN = {"unknown", 7};

/* A counter is of workloads that have a name; what is folded has none of its own. */
static size_t gather_shares(const struct page *page, const struct family *family, uint64_t gpu,
                            struct share *shares)
{
    const vitals_row *row = NULL;
    size_t count = 0;
    while ((row = vitals_snapshot_next_child(page->snapshot, VITALS_GPU_PROCESS, gpu, row)) !=
           NULL) {
        vitals_text id;
        double value;
        if (!exposition_workload_of(row, &id))
            id = UNKNOWN;
        else if (is_folded(page, id))
            id = OTHER;
        struct share *share = share_of(shares, &count, id);
        bool known = page_number(page, row, family->parts[0].metric, &value);
        share->sum += known ? value : 0;
        share->lacking |= !known;
    }
    return count;
}

static void write_share(struct page *page, const struct page_row *gpu, const struct share *share,
                        double value)
{
    char words[256];
    page_sample_of(page, gpu);
    page_label(page, "workload", page_workload(page, share->id, words, sizeof words));
    page_value(page, value);
}

static void write_shares(struct page *page, const struct family *family,
                         const struct exposition_sums *sums)
{
    const struct page_table *gpus = page_table(page, VITALS_GPU);
    size_t most = vitals_snapshot_count(page->snapshot, VITALS_GPU_PROCESS);
    struct share *shares = calloc(most + 1, sizeof *shares);
    page->failed = page->failed || shares == NULL;
    for (size_t g = 0; g < gpus->count && shares != NULL; g++) {
        uint64_t key = vitals_row_key(gpus->rows[g].row);
        size_t count = gather_shares(page, family, key, shares);
        for (size_t i = 0; i < count; i++) {
            const struct ledger_entry *entry = sums != NULL ? ledger_find(&sums->workloads, key,
                                                                          shares[i].key)
                                                            : NULL;
            if (sums == NULL && !shares[i].lacking)
                write_share(page, &gpus->rows[g], &shares[i], shares[i].sum);
            else if (entry != NULL)
                write_share(page, &gpus->rows[g], &shares[i], entry->value);
        }
    }
    free(shares);
}

static void write_workload_gpu(struct page *page, const struct family *family,
                               const struct ways_from *from)
{
    (void)from;
    write_shares(page, family, NULL);
}

static void write_workload_busy(struct page *page, const struct family *family,
                                const struct ways_from *from)
{
    write_shares(page, family, from->sums);
}

/* ---- the jobs of devices ---- */

/* Works of which a scheduler knows; *job: the part that is the job's own id, of Slurm. */
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

static void write_job(struct page *page, const struct page_row *gpu, vitals_text workload,
                      vitals_text job, const char *by)
{
    char words[256];
    page_sample_of(page, gpu);
    if (workload.size > 0)
        page_label(page, "workload", page_workload(page, workload, words, sizeof words));
    if (job.size > 0)
        page_label(page, "job_id", job);
    page_label_word(page, "by", by);
    page_value(page, 1);
}

/* The jobs whose processes are on the device; false: there is none that we see. */
static bool write_proven(struct page *page, const struct page_row *gpu)
{
    const vitals_row *row = NULL;
    bool any = false;
    while ((row = vitals_snapshot_next_child(page->snapshot, VITALS_GPU_PROCESS,
                                             vitals_row_key(gpu->row), row)) != NULL) {
        vitals_text id, job;
        if (!exposition_workload_of(row, &id) || !is_job(id, &job))
            continue;
        any = true;
        if (!is_folded(page, id))
            write_job(page, gpu, id, job, "process");
    }
    return any;
}

static void write_gpu_jobs(struct page *page, const struct family *family,
                           const struct ways_from *from)
{
    const struct page_table *gpus = page_table(page, VITALS_GPU);
    (void)family, (void)from;
    for (size_t g = 0; g < gpus->count; g++) {
        const vitals_row *row = NULL;
        if (write_proven(page, &gpus->rows[g]))
            continue;
        while ((row = vitals_snapshot_next_child(page->snapshot, VITALS_GPU_JOB,
                                                 vitals_row_key(gpus->rows[g].row), row)) != NULL) {
            vitals_text workload = {"", 0}, job;
            if (!page_text(row, VITALS_GPU_JOB_JOB_ID, &job))
                continue;
            if (!page_text(row, VITALS_GPU_JOB_WORKLOAD, &workload))
                workload.size = 0;
            write_job(page, &gpus->rows[g], workload, job, "prolog");
        }
    }
}

/* ---- all of them ---- */

static const struct {
    write_family *write;
    bool alone; /* of what is told without a moment, or with one that is too old */
} WAYS[FAMILY_WAYS] = {
    [FAMILY_ROWS] = {write_rows, false},
    [FAMILY_BUILD] = {write_build, true},
    [FAMILY_COLLECTOR_SUCCESS] = {write_success, false},
    [FAMILY_COLLECTOR_DURATION] = {write_duration, false},
    [FAMILY_COLLECTOR_LAST] = {write_last, true},
    [FAMILY_DROPPED] = {write_dropped, false},
    [FAMILY_REQUESTS] = {write_requests, true},
    [FAMILY_REJECTED] = {write_rejected, true},
    [FAMILY_GPU_INFO] = {write_gpu_info, false},
    [FAMILY_GPU_PROCESSES] = {write_gpu_processes, false},
    [FAMILY_GPU_JOB] = {write_gpu_jobs, false},
    [FAMILY_GPU_LINKS] = {write_links, false},
    [FAMILY_XID_LAST] = {write_xid, false},
    [FAMILY_PARTITION_INFO] = {write_partition_info, false},
    [FAMILY_PARTITION] = {write_partition, false},
    [FAMILY_PROCESS_INFO] = {write_process_info, false},
    [FAMILY_PROCESS_START] = {write_process_start, false},
    [FAMILY_WORKLOAD_INFO] = {write_workload_info, false},
    [FAMILY_WORKLOAD_GPU] = {write_workload_gpu, false},
    [FAMILY_WORKLOAD_GPU_BUSY] = {write_workload_busy, false},
};

/* From which level on a family is told of. */
static bool is_told(const struct family *family, const struct exposition_options *options)
{
    enum exposition_level level = options->level;
    if (options->without_host && strncmp(family->name, HOST_NAMES, sizeof HOST_NAMES - 1) == 0)
        return false;
    return family->level == FAMILY_ALWAYS ||
           (family->level == FAMILY_OF_WORKLOADS && level >= EXPOSITION_WORKLOAD) ||
           (family->level == FAMILY_OF_PROCESSES && level >= EXPOSITION_PID);
}

void exposition_write_family(struct page *page, const struct family *family,
                             const struct ways_from *from)
{
    if (!is_told(family, page->options) ||
        ((page->snapshot == NULL || page->is_alone) && !WAYS[family->way].alone))
        return;
    page_family(page, FAMILY_PREFIX, family->name, family->type, family->help);
    WAYS[family->way].write(page, family, from);
}
