/* recording.c: see recording.h. Detects the form of a file by its first bytes and calls its
 * reader. */
#include "record/recording_data.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/foreign/foreign.h"
#include "util/memory.h"

static bool is_standard_input(const char *path)
{
    return strcmp(path, "-") == 0;
}

FILE *recording_file(const char *path, vitals_error *error)
{
    struct stat status;
    if (!is_standard_input(path)) {
        int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (descriptor < 0) {
            (void)record_fail_errno(errno, path, error);
            return NULL;
        }
        FILE *file = NULL;
        if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
            (void)record_fail(VITALS_EARGUMENT, path, error, "is not a regular file");
        else if ((file = fdopen(descriptor, "rb")) == NULL)
            (void)record_no_memory(path, error);
        if (file == NULL)
            close(descriptor);
        return file;
    }

    char block[16384];
    FILE *file = tmpfile();
    bool failed = file == NULL;
    for (size_t size; !failed && (size = fread(block, 1, sizeof block, stdin)) > 0;)
        failed = fwrite(block, 1, size, file) != size;
    if (!failed && !ferror(stdin) && fflush(file) == 0) {
        rewind(file);
        return file;
    }
    (void)record_fail_errno(errno, "standard input", error);
    if (file != NULL)
        (void)fclose(file);
    return NULL;
}

static bool is_database(const char *head, size_t size)
{
    return size >= 16 && memcmp(head, "SQLite format 3", 16) == 0;
}

bool recording_has_frames(const char *path)
{
    char head[16];
    vitals_error error;
    FILE *file = !is_standard_input(path) ? recording_file(path, &error) : NULL;
    if (file == NULL)
        return false;
    bool found = is_database(head, fread(head, 1, sizeof head, file));
    (void)fclose(file);
    return found;
}

static int read_form(struct recording *recording, FILE *file, vitals_error *error)
{
    char head[16] = "";
    size_t size = fread(head, 1, sizeof head, file), at = 0;
    rewind(file);
    if (size == 0)
        return record_fail(VITALS_EFORMAT, recording->path, error, RECORD_NOTHING_YET);
    if (is_database(head, size) && is_standard_input(recording->path))
        return record_fail(
            VITALS_EUNSUPPORTED, "standard input", error,
            "is an SQLite recording, which can be read only from a file; name the file");
    if (is_database(head, size))
        return read_database(recording, error);
    while (at < size && (head[at] == ' ' || head[at] == '\n' || head[at] == '\r'))
        at++;
    if (at < size && head[at] == '{')
        return read_json(recording, file, error);
    if (memchr(head, '\0', size) != NULL)
        return record_fail(VITALS_EFORMAT, recording->path, error, "is not a recording");
    return read_tables(recording, file, error);
}

/* ---- what stands beside a file ---- */

/* The attributes and the account of our CSV are in FILE.json. */
static void read_account_beside(struct recording *recording)
{
    char path[4096];
    struct recording beside = {.path = path};
    vitals_error error;
    if ((size_t)snprintf(path, sizeof path, "%s.json", recording->path) >= sizeof path)
        return;
    FILE *file = recording_file(path, &error);
    if (file == NULL) {
        if (error.code != VITALS_EGONE)
            recording_wrong(recording, "%s", error.message);
        return;
    }
    int code = read_json(&beside, file, &error);
    (void)fclose(file);
    if (code < 0) {
        recording_wrong(recording, "%s", error.message);
    } else if (beside.account != NULL) {
        vitals_account_free(recording->account);
        recording->account = beside.account;
        recording->account_stored = vitals_account_next(beside.account, NULL) != NULL;
    }
    buffer_done(&beside.problem);
}

/* Reads a sub-tracking file of gpu_tracker. */
static int read_phases(struct recording *recording, char *path, vitals_error *error)
{
    FILE *file = recording_file(path, error);
    if (file == NULL)
        return error->code;
    char *own = recording->path;
    recording->path = path;
    int code = read_form(recording, file, error);
    recording->path = own;
    (void)fclose(file);
    return code;
}

/* Reads the named sub-tracking files of gpu_tracker, or what stands beside the file. */
static int read_beside(struct recording *recording, const char *const *phases, size_t count,
                       vitals_error *error)
{
    char path[4096];
    vitals_error ours;
    bool tracking = strcmp(recording->format, "gpu-tracker") == 0 && recording->series_count > 0;
    int code = 0;
    if (count > 0 && !tracking)
        return record_fail(VITALS_EARGUMENT, recording->path, error,
                           "is not a tracking file of gpu_tracker: its phases are in the file "
                           "itself; leave out --phases-from");
    for (size_t i = 0; i < count && code == 0; i++) {
        uint64_t rows = recording->rows_seen; /* a file of samples has some */
        char *named = strdup(phases[i]);
        code = named != NULL ? read_phases(recording, named, error)
                             : record_no_memory(phases[i], error);
        if (code == 0 && recording->rows_seen != rows)
            code = record_fail(VITALS_EFORMAT, phases[i], error,
                               "is not a sub-tracking file of gpu_tracker");
        free(named);
    }
    if (count > 0 || is_standard_input(recording->path))
        return code;

    if (strcmp(recording->format, "vitals-csv") == 0)
        read_account_beside(recording);
    if (!tracking)
        return 0;
    gpu_tracker_beside(recording->path, path, sizeof path); /* the name that vitals gives it */
    if (access(path, F_OK) == 0 && read_phases(recording, path, &ours) < 0)
        recording_wrong(recording, "%s", ours.message);
    return 0;
}

/* ---- the whole ---- */

/* Returns an attribute as a number: the exit status is one. */
static int number_attribute(const struct recording *recording, const char *name)
{
    vitals_text text = vitals_account_attribute(recording->account, name);
    char digits[16] = "";
    if (text.size > 0 && text.size < sizeof digits)
        memcpy(digits, text.bytes, text.size);
    return (int)strtol(digits, NULL, 10);
}

int recording_finish(struct recording *recording, vitals_error *error)
{
    for (size_t i = 0; i < recording->series_count; i++) {
        const double *own = recording->states[i].own;
        recording->series[i].count = recording->rows;
        recording->series[i].seconds = own != NULL ? own : recording->seconds;
    }

    if (!recording->account_stored) {
        aggregate_account(recording);
        recording_attribute(recording, "state", (vitals_text){"partial", 7});
    } else if (vitals_account_attribute(recording->account, "state").size == 0) {
        recording_attribute(recording, "state", (vitals_text){"complete", 8});
    }
    if (vitals_account_attribute(recording->account, "exit").size > 0)
        vitals_account_ended(recording->account, number_attribute(recording, "exit"),
                             number_attribute(recording, "signal"));
    if (recording->stride > 1)
        recording_wrong(recording,
                        "its curves were thinned to every %lluth sample; sums and peaks were not",
                        (unsigned long long)recording->stride);
    if (recording->backwards > 0)
        recording_wrong(recording, "the clock was set back %llu times while it was recorded",
                        (unsigned long long)recording->backwards);
    if (recording->ends_lost > 0)
        recording_wrong(recording, "%llu marks end a phase that never began",
                        (unsigned long long)recording->ends_lost);
    if (recording->phases_lost > 0)
        recording_wrong(recording, "%llu phases are too many and were left out",
                        (unsigned long long)recording->phases_lost);
    return recording->no_memory ? record_no_memory(recording->path, error) : 0;
}

int recording_open(const char *path, struct recording **out, vitals_error *error)
{
    return recording_open_tracked(path, NULL, 0, out, error);
}

int recording_open_tracked(const char *path, const char *const *phases, size_t count,
                           struct recording **out, vitals_error *error)
{
    vitals_error ours;
    struct recording *recording = calloc(1, sizeof *recording);
    char *copy = strdup(path);
    error = error != NULL ? error : &ours;
    if (recording == NULL || copy == NULL) {
        free(recording);
        free(copy);
        return record_no_memory(path, error);
    }
    recording->path = copy;
    FILE *file = recording_file(path, error);
    int code = file != NULL ? vitals_account_new(&recording->account, error) : (int)error->code;
    if (code == 0)
        code = read_form(recording, file, error);
    if (file != NULL)
        (void)fclose(file);
    if (code == 0)
        code = read_beside(recording, phases, count, error);
    if (code == 0)
        code = recording_finish(recording, error);

    if (code == 0)
        *out = recording;
    else
        recording_close(recording);
    return code;
}

void recording_close(struct recording *recording)
{
    if (recording == NULL)
        return;
    for (size_t i = 0; i < recording->series_count; i++) {
        free((char *)recording->series[i].name);
        free((char *)recording->series[i].unit);
        free((char *)recording->series[i].subject);
        free((char *)recording->series[i].label);
        free((double *)recording->series[i].values);
        free(recording->states[i].own);
    }
    for (size_t i = 0; i < recording->phase_count; i++)
        free((char *)recording->phases[i].name);
    free(recording->series);
    free(recording->states);
    free(recording->seconds);
    memory_free(recording->phases);
    free(recording->open);
    buffer_done(&recording->problem);
    vitals_account_free(recording->account);
    free(recording->path);
    free(recording);
}

const char *recording_format(const struct recording *recording)
{
    return recording->format;
}

const char *recording_problem(const struct recording *recording)
{
    return recording->problem.size > 0 ? recording->problem.bytes : "";
}

const vitals_account *recording_account(const struct recording *recording)
{
    return recording->account;
}

const double *recording_seconds(const struct recording *recording, size_t *count)
{
    *count = recording->rows;
    return recording->seconds;
}

const struct series *recording_series(const struct recording *recording, size_t *count)
{
    *count = recording->series_count;
    return recording->series;
}

const struct recorded_phase *recording_phases(const struct recording *recording, size_t *count)
{
    *count = recording->phase_count;
    return recording->phases;
}
