/* recorder.c: see recorder.h. The table of formats; attributes, marks, parts and rotation, which
 * all formats share. */
#include "record/format.h"
#include <vitals/sys/account.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/file_signals.h"
#include "record/sqlite/database.h"
#include "util/memory.h"
#include "util/number.h"

/* ---- formats ---- */

/* gpu_tracker's two forms share a name; the ending of the path selects one. */
static const struct format *const FORMATS[] = {&FORMAT_DATABASE, &FORMAT_CSV, &FORMAT_GPU_TRACKER,
                                               &FORMAT_GPU_TRACKER_DATABASE};
enum { FORMAT_COUNT = sizeof FORMATS / sizeof FORMATS[0] };

static const struct {
    const char *ending;
    const char *format;
} ENDINGS[] = {{".db", "vitals"},
               {".sqlite", "vitals"},
               {".sqlite3", "vitals"},
               {".vitals", "vitals"},
               {".csv", "vitals-csv"}};

static const struct format *format_at(size_t index)
{
    if (index < FORMAT_COUNT)
        return FORMATS[index];
    return index - FORMAT_COUNT < FORMAT_DIALECT_COUNT ? &FORMAT_DIALECTS[index - FORMAT_COUNT]
                                                       : NULL;
}

const char *recorder_format_name(size_t index)
{
    const struct format *format = format_at(index);
    return format != NULL ? format->name : NULL;
}

static bool ends_in(const char *path, const char *ending)
{
    size_t size = strlen(path), tail = strlen(ending);
    return size >= tail && strcmp(path + size - tail, ending) == 0;
}

/* Finds the format with that name, or by the ending of the path if `name` is NULL. Errors:
 * EARGUMENT. */
static int format_choose(const char *name, const char *path, const struct format **out,
                         vitals_error *error)
{
    bool standard = path == NULL || strcmp(path, "-") == 0;
    for (size_t i = 0; i < sizeof ENDINGS / sizeof ENDINGS[0] && name == NULL && !standard; i++)
        if (ends_in(path, ENDINGS[i].ending))
            name = ENDINGS[i].format;
    if (name == NULL && !standard)
        return record_fail(VITALS_EARGUMENT, path, error,
                           "the ending names no format; use .db (SQLite) or .csv, or --format");
    if (name == NULL || strcmp(name, "csv") == 0)
        name = FORMAT_CSV.name;
    if (strcmp(name, "gpu-tracker") == 0 && !standard && ends_in(path, ".sqlite"))
        name = FORMAT_GPU_TRACKER_DATABASE.name;

    for (size_t i = 0; format_at(i) != NULL; i++) {
        if (strcmp(format_at(i)->name, name) == 0) {
            *out = format_at(i);
            return 0;
        }
    }
    return record_fail(VITALS_EARGUMENT, name, error,
                       "no such format; vitals record --help lists the formats");
}

/* NULL: the options name none. */
static const struct format *format_of(const struct recorder_options *options)
{
    const struct format *format;
    vitals_error error;
    return format_choose(options->format, options->path, &format, &error) == 0 ? format : NULL;
}

bool recorder_samples_machine(const struct recorder_options *options)
{
    const struct format *format = format_of(options);
    return format != NULL && format->machine;
}

bool recorder_needs_processes(const struct recorder_options *options)
{
    const struct format *format = format_of(options);
    return format != NULL && format->tree;
}

bool recorder_may_keep_frames(const struct recorder_options *options)
{
    const struct format *format = format_of(options);
    return format == NULL || format == &FORMAT_DATABASE;
}

/* ---- making one ---- */

static int out_of_memory(const struct recorder *recorder, vitals_error *error)
{
    const char *path = recorder != NULL && recorder->path != NULL ? recorder->path : "recording";
    return record_no_memory(path, error);
}

static int begin_part(struct recorder *recorder, bool overwrite, vitals_error *error)
{
    const struct format *format = recorder->format;
    int code = 0;
    recorder->samples = 0;
    recorder->part_began_ns = recorder->monotonic_ns;
    memset(recorder->state, 0, format->state_size);
    recorder->options.overwrite = overwrite;
    if (format->text) {
        recorder->file = (struct text_file){
            .descriptor = -1, .crlf = format->crlf, .stop = recorder->options.stop};
        code = text_file_open(&recorder->file, recorder->path, overwrite, error);
    }
    if (code == 0 && format->begin != NULL)
        code = format->begin(recorder, error);
    recorder->open = code == 0;
    if (code < 0)
        text_file_close(&recorder->file);
    for (size_t i = 0; i < recorder->attribute_count && code == 0; i++)
        if (format->attribute != NULL)
            code = format->attribute(recorder, recorder->attributes[i].name,
                                     recorder->attributes[i].text, error);
    return code;
}

static int end_part(struct recorder *recorder, vitals_error *error)
{
    bool ends = recorder->open && recorder->format->end != NULL;
    int code = ends ? recorder->format->end(recorder, error) : 0;
    recorder->open = false;
    text_file_close(&recorder->file);
    return code;
}

/* The files PATH.N that exist, of all runs. */
struct recorder_parts {
    unsigned lowest, highest, count; /* 0 where there are none */
};

static struct recorder_parts list_parts(const char *path)
{
    char folder[4096];
    struct recorder_parts parts = {0};
    const char *base = strrchr(path, '/');
    size_t size = base != NULL ? (size_t)(base - path) + 1 : 0;
    if (size >= sizeof folder)
        return parts;
    memcpy(folder, path, size);
    folder[size] = '\0';
    base = base != NULL ? base + 1 : path;
    size_t length = strlen(base);
    DIR *entries = opendir(size > 0 ? folder : ".");
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        const char *name = entry->d_name;
        if (strncmp(name, base, length) != 0 || name[length] != '.' || name[length + 1] == '0')
            continue;
        const char *digits = name + length + 1;
        size_t count = strspn(digits, "0123456789");
        if (count == 0 || count > 9 || digits[count] != '\0')
            continue;
        unsigned number = (unsigned)strtoul(digits, NULL, 10);
        parts.lowest = parts.count == 0 || number < parts.lowest ? number : parts.lowest;
        parts.highest = number > parts.highest ? number : parts.highest;
        parts.count++;
    }
    if (entries != NULL)
        closedir(entries);
    return parts;
}

static int choose(const struct recorder_options *options, const struct format **out,
                  vitals_error *error)
{
    int code = format_choose(options->format, options->path, out, error);
    if (code < 0 || (options->path != NULL && strcmp(options->path, "-") != 0))
        return code;
    if (!(*out)->text)
        return record_fail(VITALS_EARGUMENT, "standard output", error,
                           "cannot hold the format %s; use --format vitals-csv", (*out)->name);
    if (options->rotate_bytes != 0 || options->rotate_ns != 0)
        return record_fail(VITALS_EARGUMENT, "standard output", error, "cannot be rotated");
    return 0;
}

int recorder_check(const struct recorder_options *options, vitals_error *error)
{
    const struct format *format;
    return choose(options, &format, error);
}

int recorder_open(const struct recorder_options *options, struct recorder **out,
                  vitals_error *error)
{
    const struct format *format;
    int code = choose(options, &format, error);
    if (code < 0)
        return code;
    struct recorder *recorder = calloc(1, sizeof *recorder);
    if (recorder == NULL)
        return out_of_memory(NULL, error);
    bool standard = options->path == NULL || strcmp(options->path, "-") == 0;
    recorder->format = format;
    recorder->options = *options;
    recorder->file.descriptor = -1;
    recorder->path = standard ? NULL : strdup(options->path);
    recorder->options.path = recorder->path;
    recorder->state = calloc(1, format->state_size > 0 ? format->state_size : 1);
    if (recorder->state == NULL || (!standard && recorder->path == NULL))
        code = out_of_memory(recorder, error);
    if (code == 0 && !standard)
        recorder->part_next = list_parts(recorder->path).highest + 1;
    if (code == 0)
        code = begin_part(recorder, options->overwrite, error);
    if (code < 0) {
        (void)recorder_close(recorder, NULL);
        return code;
    }
    *out = recorder;
    return 0;
}

/* ---- marks ---- */

static int write_mark(struct recorder *recorder, const vitals_mark *mark, vitals_error *error)
{
    if (recorder->format->mark == NULL)
        return 0;
    uint64_t realtime_ns = recorder->realtime_ns - recorder->monotonic_ns + mark->monotonic_ns;
    return recorder->format->mark(recorder, mark, realtime_ns, error);
}

/* Writes marks that were kept. */
static int write_marks(struct recorder *recorder, struct waiting_mark *marks, size_t count,
                       vitals_error *error)
{
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        marks[i].mark.name = marks[i].name;
        code = write_mark(recorder, &marks[i].mark, error);
    }
    return code;
}

static void keep_mark(struct waiting_mark *place, const vitals_mark *mark)
{
    place->mark = *mark;
    (void)snprintf(place->name, sizeof place->name, "%s", mark->name);
}

/* Remembers the open phases, up to MARKS_OPEN_MAX. */
static void follow_phase(struct recorder *recorder, const vitals_mark *mark)
{
    const struct recorder_options *options = &recorder->options;
    size_t at = recorder->opened_count;
    if (options->rotate_bytes == 0 && options->rotate_ns == 0)
        return;
    if (recorder->opened == NULL)
        recorder->opened = calloc(MARKS_OPEN_MAX, sizeof *recorder->opened);
    if (recorder->opened == NULL)
        return;
    if (mark->begins) {
        if (at < MARKS_OPEN_MAX)
            keep_mark(&recorder->opened[recorder->opened_count++], mark);
        return;
    }
    while (at-- > 0) {
        const struct waiting_mark *open = &recorder->opened[at];
        if (open->mark.pid != mark->pid || open->mark.tid != mark->tid ||
            strcmp(open->name, mark->name) != 0)
            continue;
        recorder->opened_count--;
        memmove(&recorder->opened[at], &recorder->opened[at + 1],
                (recorder->opened_count - at) * sizeof *recorder->opened);
        return;
    }
}

/* ---- parts ---- */

static int rotate(struct recorder *recorder, vitals_error *error)
{
    enum { REMOVED_AT_ONCE = 16 };
    unsigned keep = recorder->options.keep;
    char path[4096], beside[4096], moved[4096];
    int code = end_part(recorder, error);
    (void)snprintf(path, sizeof path, "%s.%u", recorder->path, recorder->part_next);
    if (code == 0 && rename(recorder->path, path) != 0)
        code = record_fail_errno(errno, recorder->path, error);
    if (code < 0)
        return code;
    if (recorder->format->beside != NULL) {
        recorder->format->beside(recorder->path, beside, sizeof beside);
        recorder->format->beside(path, moved, sizeof moved);
        (void)rename(beside, moved); /* where there is one yet */
    }
    recorder->part_next++;

    /* Parts of earlier runs too; otherwise a service that is restarted often would fill the disk.
     */
    for (int i = 0; i < REMOVED_AT_ONCE && keep != 0; i++) {
        struct recorder_parts parts = list_parts(recorder->path);
        if (parts.count <= keep)
            break;
        (void)snprintf(path, sizeof path, "%s.%u", recorder->path, parts.lowest);
        if (recorder->format->beside != NULL) {
            recorder->format->beside(path, beside, sizeof beside);
            (void)unlink(beside);
        }
        if (unlink(path) != 0)
            break;
    }
    return begin_part(recorder, false, error);
}

/* ---- samples and marks ---- */

/* Times of a recording are the wall clock at its first sample and the time since by the clock that
 * suspend does not stop, so that a wall clock that is set meanwhile changes no duration. Snapshots
 * of another boot begin anew. */
static uint64_t recording_time(struct recorder *recorder, const struct record_sample *sample)
{
    if (recorder->realtime_ns == 0 || sample->monotonic_ns < recorder->monotonic_ns)
        return sample->realtime_ns;
    if (recorder->boottime_ns != 0 && sample->boottime_ns >= recorder->boottime_ns)
        return recorder->realtime_ns + (sample->boottime_ns - recorder->boottime_ns);
    return recorder->realtime_ns + (sample->monotonic_ns - recorder->monotonic_ns);
}

int recorder_write_sample(struct recorder *recorder, const struct record_sample *given,
                          vitals_error *error)
{
    const struct recorder_options *options = &recorder->options;
    struct record_sample told = *given;
    const struct record_sample *sample = &told;
    told.realtime_ns = recording_time(recorder, given);
    recorder->realtime_ns = sample->realtime_ns;
    recorder->monotonic_ns = sample->monotonic_ns;
    recorder->boottime_ns = sample->boottime_ns;
    int code = recorder->open ? 0 : begin_part(recorder, false, error);
    if (recorder->part_began_ns == 0)
        recorder->part_began_ns = sample->monotonic_ns;

    uint64_t size = recorder->format->size != NULL ? recorder->format->size(recorder)
                                                   : recorder->file.size;
    uint64_t age_ns = recorder->monotonic_ns - recorder->part_began_ns;
    bool rotates = code == 0 && recorder->samples > 0 &&
                   ((options->rotate_bytes != 0 && size >= options->rotate_bytes) ||
                    (options->rotate_ns != 0 && age_ns >= options->rotate_ns));
    if (rotates)
        code = rotate(recorder, error);
    if (code == 0)
        code = recorder->format->sample(recorder, sample, error);
    recorder->samples += code == 0;
    /* Open phases begin again in a new part, with their own times, so that each part stands alone.
     */
    if (code == 0 && rotates)
        code = write_marks(recorder, recorder->opened, recorder->opened_count, error);
    if (code < 0)
        return code;

    code = write_marks(recorder, recorder->waiting, recorder->waiting_count, error);
    recorder->waiting_count = 0;
    free(recorder->waiting);
    recorder->waiting = NULL;
    if (code == 0 && recorder->waiting_dropped > 0)
        code = recorder_attribute(recorder, "marks_left_out",
                                  (vitals_text){"some that came before the first sample", 38},
                                  error);
    recorder->waiting_dropped = 0;
    return code;
}

int recorder_sample(struct recorder *recorder, const vitals_snapshot *snapshot,
                    const vitals_usage *usage, vitals_error *error)
{
    struct record_sample sample = {.realtime_ns = vitals_snapshot_realtime_ns(snapshot),
                                   .monotonic_ns = vitals_snapshot_monotonic_ns(snapshot),
                                   .boottime_ns = vitals_snapshot_boottime_ns(snapshot),
                                   .snapshot = snapshot};
    for (const vitals_usage_value *value = NULL;
         (value = vitals_usage_next(usage, value)) != NULL;) {
        if (MEMORY_GROW(recorder->values, recorder->value_capacity, sample.count) < 0)
            return record_no_memory(recorder->path, error);
        recorder->values[sample.count++] = value;
    }
    sample.values = recorder->values;
    return recorder_write_sample(recorder, &sample, error);
}

int recorder_mark(struct recorder *recorder, const vitals_mark *mark, vitals_error *error)
{
    follow_phase(recorder, mark);
    if (recorder->realtime_ns != 0)
        return write_mark(recorder, mark, error);

    /* The realtime of a mark before the first sample is not known yet. */
    if (recorder->waiting == NULL)
        recorder->waiting = calloc(MARKS_WAITING_MAX, sizeof *recorder->waiting);
    if (recorder->waiting == NULL)
        return out_of_memory(recorder, error);
    if (recorder->waiting_count == MARKS_WAITING_MAX)
        recorder->waiting_dropped++;
    else
        keep_mark(&recorder->waiting[recorder->waiting_count++], mark);
    return 0;
}

int recorder_account(struct recorder *recorder, const vitals_account *account, vitals_error *error)
{
    if (recorder->format->account == NULL || !recorder->open)
        return 0;
    return recorder->format->account(recorder, account, error);
}

/* ---- attributes ---- */

const char *recorder_attribute_text(const struct recorder *recorder, const char *name)
{
    for (size_t i = 0; i < recorder->attribute_count; i++)
        if (strcmp(recorder->attributes[i].name, name) == 0)
            return recorder->attributes[i].text;
    return "";
}

int recorder_attribute(struct recorder *recorder, const char *name, vitals_text text,
                       vitals_error *error)
{
    enum { TEXT_MAX = 64 * 1024 };
    size_t size = text.size < TEXT_MAX ? text.size : TEXT_MAX, at = 0;
    while (at < recorder->attribute_count && strcmp(recorder->attributes[at].name, name) != 0)
        at++;
    bool known = at < recorder->attribute_count;
    char *copy = at < ATTRIBUTES_MAX ? malloc(size + 1) : NULL;
    char *title = known || copy == NULL ? NULL : strdup(name);
    if (copy == NULL || (!known && title == NULL)) {
        free(copy);
        return out_of_memory(recorder, error);
    }
    for (size_t i = 0; i < size; i++)
        copy[i] = text.bytes[i] != '\0' ? text.bytes[i] : ' ';
    copy[size] = '\0';
    struct attribute *place = &recorder->attributes[at];
    if (!known) {
        place->name = title;
        recorder->attribute_count++;
    }
    free(place->text);
    place->text = copy;
    if (recorder->format->attribute == NULL || !recorder->open)
        return 0;
    return recorder->format->attribute(recorder, place->name, copy, error);
}

int recorder_origin(struct recorder *recorder, const vitals_snapshot *first, vitals_error *error)
{
    char interval[NUMBER_TEXT], started[NUMBER_TEXT];
    number_print_u64(interval, recorder->options.interval_ns);
    number_print_u64(started, vitals_snapshot_realtime_ns(first));
    const struct {
        const char *name;
        vitals_text text;
    } told[] = {
        {VITALS_ATTRIBUTE_HOST, vitals_snapshot_host(first)},
        {VITALS_ATTRIBUTE_BOOT_ID, vitals_snapshot_boot_id(first)},
        {VITALS_ATTRIBUTE_VERSION, vitals_text_of(vitals_version_text())},
        {VITALS_ATTRIBUTE_INTERVAL_NS, vitals_text_of(interval)},
        {VITALS_ATTRIBUTE_STARTED_NS, vitals_text_of(started)},
    };
    int code = 0;
    for (size_t i = 0; i < sizeof told / sizeof told[0] && code == 0; i++)
        if (told[i].text.size != 0 && recorder_attribute_text(recorder, told[i].name)[0] == '\0')
            code = recorder_attribute(recorder, told[i].name, told[i].text, error);
    return code;
}

int recorder_describe(const struct recorder *recorder, vitals_account *account, vitals_error *error)
{
    int code = 0;
    for (size_t i = 0; i < recorder->attribute_count && code == 0; i++) {
        const struct attribute *attribute = &recorder->attributes[i];
        if (vitals_account_attribute(account, attribute->name).size == 0)
            code = vitals_account_set(account, attribute->name, vitals_text_of(attribute->text),
                                      error);
    }
    return code;
}

/* ---- the end ---- */

int recorder_close(struct recorder *recorder, vitals_error *error)
{
    if (recorder == NULL)
        return 0;
    int code = end_part(recorder, error);
    for (size_t i = 0; i < recorder->attribute_count; i++) {
        free(recorder->attributes[i].name);
        free(recorder->attributes[i].text);
    }
    free(recorder->waiting);
    free(recorder->opened);
    memory_free(recorder->values);
    free(recorder->state);
    free(recorder->path);
    free(recorder);
    return code;
}

/* A limit on the size of files must not end a launcher that still has to return the job's exit
 * code. */
int recording_put_account(const char *path, const vitals_account *account, vitals_error *error)
{
    struct file_signals signals;
    struct recorder recorder = {.path = (char *)path};
    char head[16] = "";
    if (path == NULL || strcmp(path, "-") == 0)
        return 0;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool failed = descriptor < 0 || read(descriptor, head, sizeof head - 1) < 0;
    int number = errno;
    if (descriptor >= 0)
        close(descriptor);
    if (failed)
        return record_fail_errno(number, path, error);

    file_signals_hold(&signals);
    int code = 0; /* another tool's format has no place for an account */
    if (memcmp(head, "SQLite format 3", 15) == 0)
        code = database_put_account(path, account, error);
    else if (memcmp(head, "time,mark", 9) == 0)
        code = FORMAT_CSV.account(&recorder, account, error);
    file_signals_release(&signals);
    return code;
}
