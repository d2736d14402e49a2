/* exposition_workloads.c: the families of processes, workloads and the jobs of devices. */
#include "export/prometheus/family_writer.h"

#include <stdlib.h>
#include <string.h>

/* ---- processes ---- */

static void label_user(struct exposition_page *page, vitals_text name, int64_t uid)
{
    char words[32];
    vitals_text user;
    if (page_user(page, name, uid, words, sizeof words, &user))
        page_label(page, "user", user);
}

void family_write_process_info(struct exposition_page *page, const struct metric_family *family,
                               const struct family_sources *from)
{
    const struct page_table *table = page_table(page, VITALS_PROCESS);
    (void)family, (void)from;
    for (size_t i = 0; i < table->count; i++) {
        const vitals_row *row = table->rows[i].row;
        vitals_text user = {"", 0}, id;
        uint64_t uid;
        char words[256];
        if (table->rows[i].folded)
            continue;
        page_sample_of(page, &table->rows[i]);
        family_label_text(page, "comm", row, VITALS_PROCESS_NAME);
        (void)!page_text(row, VITALS_PROCESS_USER, &user);
        bool known = vitals_row_u64(row, VITALS_PROCESS_UID, &uid) > 0;
        label_user(page, user, known ? (int64_t)uid : -1);
        if (page_text(row, VITALS_PROCESS_WORKLOAD, &id) && id.size > 0)
            page_label(page, "workload", page_workload(page, id, words, sizeof words));
        page_value(page, 1);
    }
}

void family_write_process_start(struct exposition_page *page, const struct metric_family *family,
                                const struct family_sources *from)
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

/* ---- workloads ---- */

void family_write_workload_info(struct exposition_page *page, const struct metric_family *family,
                                const struct family_sources *from)
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
                family_label_text(page, vitals_metric_name(family->parts[p].metric), row,
                                  family->parts[p].metric);
            else if (page->options->user != EXPOSITION_USER_UID &&
                     page_text(row, VITALS_WORKLOAD_USER, &user))
                label_user(page, user, -1);
        }
        page_value(page, 1);
    }
}

/* The values of one device's processes by workload, in the order of rows. */
struct workload_share {
    vitals_text id;
    uint64_t key; /* of its id */
    double sum;
    bool lacking; /* a process of it has no value, so there is no sum */
};

static struct workload_share *share_of(struct workload_share *shares, size_t *count, vitals_text id)
{
    uint64_t key = exposition_workload_key(id);
    for (size_t i = 0; i < *count; i++) {
        if (shares[i].key == key)
            return &shares[i];
    }
    shares[*count] = (struct workload_share){.id = id, .key = key};
    return &shares[(*count)++];
}

static bool is_folded(const struct exposition_page *page, vitals_text id)
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

/* Counters are of named workloads only; folded ones have no name. */
static size_t gather_shares(const struct exposition_page *page, const struct metric_family *family,
                            uint64_t gpu, struct workload_share *shares)
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
        struct workload_share *share = share_of(shares, &count, id);
        bool known = page_number(page, row, family->parts[0].metric, &value);
        share->sum += known ? value : 0;
        share->lacking |= !known;
    }
    return count;
}

static void write_share(struct exposition_page *page, const struct exposition_row *gpu,
                        const struct workload_share *share, double value)
{
    char words[256];
    page_sample_of(page, gpu);
    page_label(page, "workload", page_workload(page, share->id, words, sizeof words));
    page_value(page, value);
}

static void write_shares(struct exposition_page *page, const struct metric_family *family,
                         const struct exposition_sums *sums)
{
    const struct page_table *gpus = page_table(page, VITALS_GPU);
    size_t most = vitals_snapshot_count(page->snapshot, VITALS_GPU_PROCESS);
    struct workload_share *shares = calloc(most + 1, sizeof *shares);
    page->failed = page->failed || shares == NULL;
    for (size_t g = 0; g < gpus->count && shares != NULL; g++) {
        uint64_t key = vitals_row_key(gpus->rows[g].row);
        size_t count = gather_shares(page, family, key, shares);
        for (size_t i = 0; i < count; i++) {
            const struct counter_map_entry *entry =
                sums != NULL ? counter_map_find(&sums->workloads, key, shares[i].key) : NULL;
            if (sums == NULL && !shares[i].lacking)
                write_share(page, &gpus->rows[g], &shares[i], shares[i].sum);
            else if (entry != NULL)
                write_share(page, &gpus->rows[g], &shares[i], entry->value);
        }
    }
    free(shares);
}

void family_write_workload_gpu(struct exposition_page *page, const struct metric_family *family,
                               const struct family_sources *from)
{
    (void)from;
    write_shares(page, family, NULL);
}

void family_write_workload_busy(struct exposition_page *page, const struct metric_family *family,
                                const struct family_sources *from)
{
    write_shares(page, family, from->sums);
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
    char words[256];
    page_sample_of(page, gpu);
    if (workload.size > 0)
        page_label(page, "workload", page_workload(page, workload, words, sizeof words));
    if (job.size > 0)
        page_label(page, "job_id", job);
    page_label_word(page, "by", by);
    page_value(page, 1);
}

/* Writes the jobs whose processes are on the device; returns false if there are none. */
static bool write_proven(struct exposition_page *page, const struct exposition_row *gpu)
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

void family_write_gpu_jobs(struct exposition_page *page, const struct metric_family *family,
                           const struct family_sources *from)
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
