/* nvitop_page.c: writes the families of nvitop-exporter (exposition_page.h). */
#include "export/prometheus/exposition_page.h"
#include "feed/rows.h"

#include <stdio.h>
#include <string.h>

enum { COMMAND_MAX = 4096 };

void nvitop_past_add(struct nvitop_past *past, const vitals_snapshot *snapshot)
{
    vitals_snapshot_unref((vitals_snapshot *)past->older);
    past->older = past->newest;
    past->newest = vitals_snapshot_ref(snapshot);
}

void nvitop_past_done(struct nvitop_past *past)
{
    vitals_snapshot_unref((vitals_snapshot *)past->older);
    vitals_snapshot_unref((vitals_snapshot *)past->newest);
    *past = (struct nvitop_past){NULL, NULL};
}

/* The subject of a sample: a row, its device, and its process. */
struct nvitop_subject {
    const vitals_row *row, *gpu, *process;
};

/* ---- labels ---- */

/* Writes an empty label if it is not known: all samples of a family have the same labels. */
static void label_text(struct exposition_page *page, const char *name, const vitals_row *row,
                       vitals_metric metric)
{
    vitals_text text = {"", 0};
    if (row != NULL)
        (void)!page_text(row, metric, &text);
    page_label(page, name, text);
}

/* Writes the labels of a kind of rows, after the host's name. */
static void label_subject(struct exposition_page *page, enum nvitop_rows rows,
                          const struct nvitop_subject *subject)
{
    static const struct {
        const char *name;
        vitals_metric metric;
    } NAMES[NVITOP_ROWS] = {
        [NVITOP_NETWORKS] = {"interface", VITALS_NETWORK_NAME},
        [NVITOP_DISKS] = {"partition", VITALS_DISK_NAME},
        [NVITOP_FILESYSTEMS] = {"mountpoint", VITALS_FILESYSTEM_MOUNT_POINT},
    };
    page_label(page, "hostname", vitals_snapshot_host(page->snapshot));
    if (NAMES[rows].name != NULL)
        label_text(page, NAMES[rows].name, subject->row, NAMES[rows].metric);
    if (subject->gpu != NULL) {
        page_label_word(page, "index", vitals_row_label(subject->gpu));
        label_text(page, "devicename", subject->gpu, VITALS_GPU_NAME);
        label_text(page, "uuid", subject->gpu, VITALS_GPU_UUID);
    }
    if (rows == NVITOP_LINKS) { /* the digits at its end, as "3" of "nvlink3"; all if it has none */
        const char *label = vitals_row_label(subject->row), *digits = label + strlen(label);
        while (digits > label && digits[-1] >= '0' && digits[-1] <= '9')
            digits--;
        page_label_word(page, "link", *digits != '\0' ? digits : label);
    }
    if (rows != NVITOP_PROCESSES)
        return;

    vitals_text name = {"", 0}, user = {"N/A", 3};
    uint64_t pid = 0, uid;
    char words[32];
    (void)!(vitals_row_u64(subject->row, VITALS_GPU_PROCESS_PID, &pid) > 0);
    (void)snprintf(words, sizeof words, "%llu", (unsigned long long)pid);
    page_label_word(page, "pid", words);
    if (subject->process != NULL) {
        bool known = vitals_row_u64(subject->process, VITALS_PROCESS_UID, &uid) > 0;
        (void)!page_text(subject->process, VITALS_PROCESS_USER, &name);
        if (!page_user(page, name, known ? (int64_t)uid : -1, words, sizeof words, &user))
            user = vitals_text_of("");
    }
    page_label(page, "username", user);
}

/* ---- values ---- */

/* Returns the row that has the metric: the subject's own, its process or the machine. */
static const vitals_row *row_with(const struct exposition_page *page,
                                  const struct nvitop_subject *subject, vitals_metric metric)
{
    vitals_table entity = vitals_metric_table(metric);
    if (entity == VITALS_TABLE_HOST)
        return vitals_snapshot_next(page->snapshot, VITALS_TABLE_HOST, NULL);
    return entity == VITALS_TABLE_PROCESS ? subject->process : subject->row;
}

static bool read_one(const struct exposition_page *page, const struct nvitop_subject *subject,
                     vitals_metric metric, double *value)
{
    const vitals_row *row = row_with(page, subject, metric);
    return row != NULL && page_number(page, row, metric, value);
}

static bool rate_of(const vitals_row *row, vitals_metric metric, const struct nvitop_past *past,
                    double *value)
{
    return row != NULL && vitals_row_rate(row, past->older, metric, value) > 0;
}

/* Reads at most three numbers; returns how many. */
static size_t read_all(const struct exposition_page *page, const struct nvitop_family *family,
                       const struct nvitop_subject *subject, double values[NVITOP_READS])
{
    size_t count = 0;
    while (count < NVITOP_READS && family->reads[count] != 0 &&
           read_one(page, subject, family->reads[count], &values[count]))
        count++;
    return count;
}

/* A share of nothing is 0, as in nvitop-exporter. */
static double share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static bool value_of(const struct exposition_page *page, const struct nvitop_family *family,
                     const struct nvitop_subject *subject, const struct nvitop_past *past,
                     double *value)
{
    const vitals_row *row = row_with(page, subject, family->reads[0]), *link = NULL;
    const vitals_metric metric = family->reads[0];
    double got[NVITOP_READS] = {0}, whole, sum = 0, rate;
    size_t count = 0;
    switch ((enum nvitop_value)family->value) {
    case NVITOP_PLAIN: return read_one(page, subject, metric, value);
    case NVITOP_SHARE:
        count = read_all(page, family, subject, got);
        *value = share(got[0], got[1] + got[2]);
        return count >= 2 && (family->reads[2] == 0 || count == 3);
    case NVITOP_REST:
    case NVITOP_SINCE:
        if (read_all(page, family, subject, got) < 2)
            return false;
        *value = got[1] > got[0] ? got[1] - got[0] : 0;
        if (family->value == NVITOP_REST)
            *value = share(*value, got[1]);
        return true;
    case NVITOP_RATE: return rate_of(row, metric, past, value);
    case NVITOP_PART:
        if (row == NULL || vitals_row_growth(row, past->older, metric, value, NULL) <= 0 ||
            vitals_row_growth(row, past->older, family->reads[1], &whole, NULL) <= 0)
            return false;
        *value = share(*value, whole);
        return true;
    case NVITOP_LINK_SUM:
    case NVITOP_LINK_MEAN:
        while ((link = vitals_snapshot_next_child(page->snapshot, VITALS_TABLE_GPU_LINK,
                                                  vitals_row_key(subject->gpu), link)) != NULL) {
            if (!rate_of(link, metric, past, &rate))
                continue;
            sum += rate;
            count++;
        }
        *value = family->value == NVITOP_LINK_MEAN && count > 0 ? sum / (double)count : sum;
        return count > 0;
    case NVITOP_VALUES: break;
    }
    return false;
}

/* ---- rows ---- */

/* Iterates over the subjects with samples: `previous` of zeros gives the first. */
static bool next_subject(const struct exposition_page *page, enum nvitop_rows rows,
                         struct nvitop_subject *subject)
{
    static const vitals_table ENTITIES[NVITOP_ROWS] = {
        [NVITOP_HOST] = VITALS_TABLE_HOST,
        [NVITOP_NETWORKS] = VITALS_TABLE_NETWORK,
        [NVITOP_DISKS] = VITALS_TABLE_DISK,
        [NVITOP_FILESYSTEMS] = VITALS_TABLE_FILESYSTEM,
        [NVITOP_DEVICES] = VITALS_TABLE_GPU,
        [NVITOP_LINKS] = VITALS_TABLE_GPU_LINK,
        [NVITOP_PROCESSES] = VITALS_TABLE_GPU_PROCESS,
    };
    const vitals_snapshot *snapshot = page->snapshot;
    while ((subject->row = vitals_snapshot_next(snapshot, ENTITIES[rows], subject->row)) != NULL) {
        uint64_t pseudo;
        subject->gpu = rows == NVITOP_DEVICES ? subject->row
                       : rows > NVITOP_DEVICES
                           ? vitals_snapshot_find(snapshot, VITALS_TABLE_GPU,
                                                  vitals_row_parent(subject->row))
                           : NULL;
        subject->process = rows == NVITOP_PROCESSES ? row_process(subject->row) : NULL;
        if (rows > NVITOP_DEVICES && subject->gpu == NULL)
            continue;
        /* Partitions, and devices without any. */
        if (rows == NVITOP_DEVICES &&
            vitals_snapshot_next_child(page->snapshot, VITALS_TABLE_GPU,
                                       vitals_row_key(subject->row), NULL) != NULL)
            continue;
        if (rows != NVITOP_FILESYSTEMS ||
            vitals_row_u64(subject->row, VITALS_FILESYSTEM_PSEUDO, &pseudo) <= 0 || pseudo == 0)
            return true;
    }
    return false;
}

/* Writes what the snapshot is of. */
static void write_info(struct exposition_page *page)
{
    const vitals_row *first = NULL;
    size_t count = 0;
    char words[32];
    EACH_ROW(gpu, page->snapshot, VITALS_TABLE_GPU) {
        first = first != NULL ? first : gpu;
        count += vitals_row_parent(gpu) == 0;
    }
    (void)snprintf(words, sizeof words, "%zu", count);
    page_family(page, "", "nvitop_info", FAMILY_GAUGE, "What is told of; always 1.");
    page_sample(page);
    page_label(page, "hostname", vitals_snapshot_host(page->snapshot));
    label_text(page, "cuda_driver_version", first, VITALS_GPU_CUDA_VERSION);
    page_label_word(page, "device_count", words);
    label_text(page, "driver_version", first, VITALS_GPU_DRIVER_VERSION);
    page_value(page, 1);
}

/* The command line in the chosen form; the name of the process if it has none. */
static void label_command(struct exposition_page *page, const vitals_row *process)
{
    vitals_text name = vitals_text_of("No Such Process"), arguments = {"", 0};
    struct buffer line = {.bytes = NULL};
    char words[COMMAND_MAX];
    if (process != NULL) {
        (void)!page_text(process, VITALS_PROCESS_NAME, &name);
        if (page->options->cmdline != REDACT_OFF)
            (void)!page_text(process, VITALS_PROCESS_COMMAND_LINE, &arguments);
    }
    if (arguments.size > COMMAND_MAX)
        arguments.size = COMMAND_MAX;
    redact_line(&line, arguments, page->options->cmdline);
    vitals_text chosen = {line.size > 0 ? line.bytes : "", line.size};
    size_t size = vitals_text_command(chosen, words, sizeof words);
    chosen = (vitals_text){words, size < sizeof words ? size : sizeof words - 1};
    page_label(page, "command", line.size > 0 ? chosen : name);
    page->failed = page->failed || line.failed;
    buffer_done(&line);
}

void nvitop_write(struct exposition_page *page, const struct nvitop_past *past)
{
    const struct exposition_options *options = page->options;
    bool processes = options->level != EXPOSITION_OFF;
    if (page->snapshot == NULL || page->is_alone)
        return;
    write_info(page);
    for (size_t i = 0; i < nvitop_families_count; i++) {
        const struct nvitop_family *family = &nvitop_families[i];
        enum nvitop_rows rows = (enum nvitop_rows)family->rows;
        struct nvitop_subject subject = {NULL, NULL, NULL};
        bool of_host = strncmp(family->name, HOST_NAMES, sizeof HOST_NAMES - 1) == 0;
        if ((options->without_host && of_host) || (rows == NVITOP_PROCESSES && !processes))
            continue;

        /* Only the first processes, since nvitop-exporter has no sum of the others. */
        size_t left = rows == NVITOP_PROCESSES ? options->max_processes : SIZE_MAX;
        page_family(page, "", family->name, FAMILY_GAUGE, family->help);
        while (left-- > 0 && next_subject(page, rows, &subject)) {
            struct nvitop_subject of = subject;
            double value;
            if (family->child != NULL) {
                vitals_table entity = vitals_metric_table(family->reads[0]);
                of.row = NULL;
                while ((of.row = vitals_snapshot_next_child(
                            page->snapshot, entity, vitals_row_key(subject.gpu), of.row)) != NULL &&
                       strcmp(vitals_row_label(of.row), family->child) != 0)
                    ;
            }
            if (of.row == NULL || !value_of(page, family, &of, past, &value))
                continue;
            page_sample(page);
            label_subject(page, rows, &of);
            page_value(page, value * family->scale);
        }
    }

    struct nvitop_subject user = {NULL, NULL, NULL};
    if (processes)
        page_family(page, "", "process_info_info", FAMILY_GAUGE, "Who is on a device; always 1.");
    for (size_t left = processes ? options->max_processes : 0;
         left > 0 && next_subject(page, NVITOP_PROCESSES, &user); left--) {
        page_sample(page);
        label_subject(page, NVITOP_PROCESSES, &user);
        if (user.process != NULL)
            label_text(page, "status", user.process, VITALS_PROCESS_STATE);
        else
            page_label_word(page, "status", "terminated");
        label_command(page, user.process);
        page_value(page, 1);
    }
}
