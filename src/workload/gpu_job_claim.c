/* gpu_job_claim.c: see gpu_job_claim.h. */
#include "workload/gpu_job_claim.h"
#include "workload/workload.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 4096, JOBS_MAX = 16, NAME_MAX_BYTES = JOB_CLAIM_UUID + 1 };

static const struct convention {
    const char *name;
    enum os_job_files where;
    const char *folder;
    enum job_claim_form form;
} CONVENTIONS[] = {
    {"gpustat", OS_JOB_FILES_RUN, "gpustat", JOB_CLAIM_GPUSTAT},
    {"dcgm", OS_JOB_FILES_VAR, "lib/dcgm-exporter/job-mapping", JOB_CLAIM_DCGM},
};

static bool is_job(struct span word)
{
    static const char MARKS[] = "._-+";
    return word.size <= JOB_CLAIM_JOB_MAX && !span_is_of(word, MARKS) &&
           span_is_of(word, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._-+");
}

/* Slurm has no job 0. */
static bool is_of_slurm(struct span word)
{
    char text[SLURM_TEXT];
    if (!span_copy(word, text, sizeof text))
        return false;
    return slurm_is_sluid(text) || (span_is_decimal(word) && word.bytes[0] != '0');
}

static bool next_word(struct cursor *text, struct span *word)
{
    while (!cursor_done(text) && strchr(" \t\r\n", *text->at) != NULL && *text->at != '\0')
        text->at++;
    word->bytes = text->at;
    while (!cursor_done(text) && (*text->at == '\0' || strchr(" \t\r\n", *text->at) == NULL))
        text->at++;
    word->size = (size_t)(text->at - word->bytes);
    return word->size != 0;
}

bool job_claim_next(enum job_claim_form form, struct cursor *text, struct job_claim *out, bool *bad)
{
    struct span line, word;
    while (form == JOB_CLAIM_DCGM && next_word(text, &word)) {
        if (is_job(word)) {
            *out = (struct job_claim){word, is_of_slurm(word), -1};
            return true;
        }
        *bad = true;
    }
    if (form == JOB_CLAIM_DCGM || !cursor_line(text, &line))
        return false;

    /* The one job of gpustat, and whose it is; what comes behind is not ours to judge. */
    struct cursor words = cursor_over(line.bytes, line.size);
    uint64_t number;
    text->at = text->end;
    if (!next_word(&words, &word))
        return false;
    *out = (struct job_claim){word, is_job(word) && is_of_slurm(word), -1};
    *bad |= !out->of_slurm;
    if (next_word(&words, &word) && span_is_decimal(word)) {
        struct cursor digits = cursor_over(word.bytes, word.size);
        if (cursor_u64(&digits, &number) && cursor_done(&digits) && number < UINT32_MAX)
            out->uid = (int64_t)number;
    }
    return out->of_slurm;
}

/* One device's files in one folder. */
struct claim_reading {
    const struct convention *convention;
    int folder;
    char text[TEXT_MAX];
    size_t size;
    int error; /* worst so far */
    bool cut, bad;
};

/* Whether there is such a file, with something in it. */
static bool read_note(struct claim_reading *reading, const char *name, char *out, size_t *size)
{
    int result = os_note_read(reading->folder, name, out, TEXT_MAX, size);
    bool missing = result == -ENOENT;
    if (result == -EFBIG)
        reading->cut = true;
    else if (result < 0 && !missing)
        reading->error = result;
    return (result == 0 || result == -EFBIG) && *size != 0;
}

static void name_of(const struct job_claim_device *device, int64_t number, char *out)
{
    if (device->partition)
        (void)snprintf(out, NAME_MAX_BYTES, "%" PRId64 ".%" PRId64, number, device->instance);
    else
        (void)snprintf(out, NAME_MAX_BYTES, "%" PRId64, number);
}

/* A file that is called by a number, where that can mean but one device. */
static bool read_number(struct claim_reading *reading, const struct job_claim_device *device)
{
    char name[NAME_MAX_BYTES], other[TEXT_MAX];
    size_t other_size;
    bool named = device->index >= 0 && (!device->partition || device->instance >= 0) &&
                 !(device->partition && reading->convention->form == JOB_CLAIM_GPUSTAT);
    if (!named)
        return false;
    name_of(device, device->index, name);
    bool found = read_note(reading, name, reading->text, &reading->size);
    if (device->minor < 0 || device->minor == device->index)
        return found;
    name_of(device, device->minor, name);
    bool also = read_note(reading, name, other, &other_size);
    bool same = found && also && reading->size == other_size &&
                memcmp(reading->text, other, other_size) == 0;
    reading->bad |= (found || also) && !same;
    return same;
}

static void tell_all(struct claim_reading *reading, size_t first, struct row_batch *out)
{
    struct cursor text = cursor_over(reading->text, reading->size);
    struct job_claim job;
    if (reading->cut && reading->size > 0) // the last word may be half of one
        while (text.end > text.at && strchr(" \t\r\n", text.end[-1]) == NULL)
            text.end--;
    while (job_claim_next(reading->convention->form, &text, &job, &reading->bad)) {
        bool told = false;
        for (size_t i = first; i < out->row_count && !told; i++) {
            struct span label = batch_label(out, &out->rows[i]);
            told = label.size == job.job.size &&
                   memcmp(label.bytes, job.job.bytes, job.job.size) == 0;
        }
        reading->cut |= out->row_count - first >= JOBS_MAX;
        if (told || out->row_count - first >= JOBS_MAX ||
            batch_add_row(out, VITALS_TABLE_GPU_JOB, 0, job.job) == NULL)
            continue;
        batch_set_text(out, VITALS_GPU_JOB_JOB_ID, job.job);
        batch_set_string(out, VITALS_GPU_JOB_CONVENTION, reading->convention->name);
        if (job.uid >= 0)
            batch_set_u64(out, VITALS_GPU_JOB_UID, (uint64_t)job.uid);
        if (!job.of_slurm)
            continue;
        struct buffer id = {0};
        workload_format(&(struct workload){.kind = WORKLOAD_SLURM, .job = job.job}, &id);
        if (id.failed)
            out->failed = true;
        else
            batch_set_text(out, VITALS_GPU_JOB_WORKLOAD, (struct span){id.bytes, id.size});
        buffer_done(&id);
    }
}

/* How the table is, by what two folders say of it: one that has failed leaves the other's rows. */
static vitals_availability merge(vitals_availability before, vitals_availability now, bool any)
{
    if (before == VITALS_UNSUPPORTED || now == VITALS_UNSUPPORTED)
        return before == VITALS_UNSUPPORTED ? now : before;
    if (before > 0 && now > 0)
        return before == VITALS_HAVE ? now : before;
    return any ? VITALS_LOWER_BOUND : before < 0 ? before : now;
}

void job_claim_read(const struct os *os, const struct job_claim_device *device,
                    struct row_batch *out)
{
    vitals_availability state = VITALS_UNSUPPORTED;
    size_t first = out->row_count;
    for (size_t i = 0; i < ARRAY_COUNT(CONVENTIONS); i++) {
        const struct convention *convention = &CONVENTIONS[i];
        struct claim_reading reading = {.convention = convention};
        reading.folder = os_job_files_open(os, convention->where, convention->folder);
        if (reading.folder < 0) {
            vitals_availability reason = os_availability(reading.folder);
            reason = reason == VITALS_DENIED ? reason : VITALS_UNSUPPORTED;
            state = merge(state, reason, out->row_count > first);
            continue;
        }

        /* Nothing that a driver calls a device leads out of the folder. */
        const char *uuid = device->uuid;
        bool by_uuid = convention->form == JOB_CLAIM_GPUSTAT && uuid[0] != '\0' && uuid[0] != '.' &&
                       strchr(uuid, '/') == NULL;
        bool found = (by_uuid && read_note(&reading, uuid, reading.text, &reading.size)) ||
                     read_number(&reading, device);
        if (found)
            tell_all(&reading, first, out);
        os_close_descriptor(reading.folder);

        vitals_availability now = reading.cut ? VITALS_LOWER_BOUND : VITALS_HAVE;
        if (reading.error < 0 && os_availability(reading.error) == VITALS_DENIED)
            now = VITALS_DENIED;
        else if (reading.error < 0 || reading.bad)
            now = VITALS_FAILED;
        if (now == VITALS_HAVE && !found && device->index < 0)
            now = VITALS_UNSUPPORTED; // there may be a file of a number that we would not know
        state = merge(state, now, out->row_count > first);
    }
    batch_state(out, VITALS_TABLE_GPU_JOB, state);
}
