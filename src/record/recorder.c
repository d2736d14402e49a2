/* recorder.c: see recorder.h. Marks, parts and rotation, which all formats share. */
#include "record/format.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- making one ---- */

static int out_of_memory(const struct recorder *recorder, vitals_error *error)
{
    const char *path = recorder != NULL && recorder->path != NULL ? recorder->path : "recording";
    return record_fail(VITALS_EMEMORY, path, error, "out of memory");
}

static int check(const struct recorder_options *options, const struct format *format,
                 vitals_error *error)
{
    const char *name = options->path != NULL ? options->path : "-";
    bool standard = strcmp(name, "-") == 0;
    if (standard && !format->text)
        return record_fail(VITALS_EARGUMENT, "standard output", error,
                           "cannot hold the format %s; use --format vitals-csv", format->name);
    if (standard && (options->rotate_bytes != 0 || options->rotate_ns != 0))
        return record_fail(VITALS_EARGUMENT, "standard output", error, "cannot be rotated");
    return 0;
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
    if (code == 0)
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

/* The files PATH.N that exist, of all runs. */
struct recorder_parts {
    unsigned lowest, highest, count; /* 0 where there are none */
};

/* Returns N of a name PATH.N, or 0 if it is none. */
static unsigned part_number(const char *name, const char *base)
{
    size_t length = strlen(base);
    unsigned number = 0;
    if (strncmp(name, base, length) != 0 || name[length] != '.' || name[length + 1] == '0')
        return 0;
    const char *digits = name + length + 1;
    if (strlen(digits) > 9 || digits[strspn(digits, "0123456789")] != '\0')
        return 0;
    for (; *digits != '\0'; digits++)
        number = number * 10 + (unsigned)(*digits - '0');
    return number;
}

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
    DIR *entries = opendir(size > 0 ? folder : ".");
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        unsigned number = part_number(entry->d_name, base);
        if (number == 0)
            continue;
        parts.lowest = parts.count == 0 || number < parts.lowest ? number : parts.lowest;
        parts.highest = number > parts.highest ? number : parts.highest;
        parts.count++;
    }
    if (entries != NULL)
        closedir(entries);
    return parts;
}

int recorder_check(const struct recorder_options *options, vitals_error *error)
{
    const struct format *format;
    int code = format_choose(options->format, options->path, &format, error);
    return code == 0 ? check(options, format, error) : code;
}

int recorder_open(const struct recorder_options *options, struct recorder **out,
                  vitals_error *error)
{
    const struct format *format;
    int code = format_choose(options->format, options->path, &format, error);
    if (code == 0)
        code = check(options, format, error);
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

static bool is_same(const vitals_mark *one, const vitals_mark *other)
{
    return one->pid == other->pid && one->tid == other->tid && strcmp(one->name, other->name) == 0;
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
    if (mark->begins && at < MARKS_OPEN_MAX) {
        struct waiting_mark *place = &recorder->opened[recorder->opened_count++];
        place->mark = *mark;
        (void)snprintf(place->name, sizeof place->name, "%s", mark->name);
        place->mark.name = place->name;
    }
    if (mark->begins)
        return;
    while (at > 0 && !is_same(&recorder->opened[at - 1].mark, mark))
        at--;
    for (; at > 0 && at < recorder->opened_count; at++) {
        recorder->opened[at - 1] = recorder->opened[at];
        recorder->opened[at - 1].mark.name = recorder->opened[at - 1].name;
    }
    recorder->opened_count -= at > 0;
}

/* ---- parts ---- */

static bool part_is_full(const struct recorder *recorder)
{
    const struct recorder_options *options = &recorder->options;
    uint64_t size = recorder->format->size != NULL ? recorder->format->size(recorder)
                                                   : recorder->file.size;
    if (recorder->samples == 0)
        return false;
    return (options->rotate_bytes != 0 && size >= options->rotate_bytes) ||
           (options->rotate_ns != 0 &&
            recorder->monotonic_ns - recorder->part_began_ns >= options->rotate_ns);
}

static void part_path(const struct recorder *recorder, unsigned part, char *out, size_t capacity)
{
    (void)snprintf(out, capacity, "%s.%u", recorder->path, part);
}

/* Removes parts of earlier runs too; otherwise a service that is restarted often would fill the
 * disk. */
static void forget_old_parts(const struct recorder *recorder)
{
    enum { AT_ONCE = 16 };
    unsigned keep = recorder->options.keep;
    char path[4096], beside[4096];
    for (int i = 0; i < AT_ONCE && keep != 0; i++) {
        struct recorder_parts parts = list_parts(recorder->path);
        if (parts.count <= keep)
            return;
        part_path(recorder, parts.lowest, path, sizeof path);
        if (recorder->format->beside != NULL) {
            recorder->format->beside(path, beside, sizeof beside);
            (void)unlink(beside);
        }
        if (unlink(path) != 0)
            return;
    }
}

/* Begins open phases again in a new part, with their own times, so that each part stands alone. */
static int begin_phases_again(struct recorder *recorder, vitals_error *error)
{
    int code = 0;
    for (size_t i = 0; i < recorder->opened_count && code == 0; i++) {
        recorder->opened[i].mark.name = recorder->opened[i].name;
        code = write_mark(recorder, &recorder->opened[i].mark, error);
    }
    return code;
}

static int rotate(struct recorder *recorder, vitals_error *error)
{
    char path[4096], beside[4096], moved[4096];
    int code = recorder->format->end(recorder, error);
    recorder->open = false;
    text_file_close(&recorder->file);
    part_path(recorder, recorder->part_next, path, sizeof path);
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
    forget_old_parts(recorder);
    return begin_part(recorder, false, error);
}

/* ---- samples and marks ---- */

static int write_waiting_marks(struct recorder *recorder, vitals_error *error)
{
    int code = 0;
    for (size_t i = 0; i < recorder->waiting_count && code == 0; i++) {
        recorder->waiting[i].mark.name = recorder->waiting[i].name;
        code = write_mark(recorder, &recorder->waiting[i].mark, error);
    }
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

int recorder_write_sample(struct recorder *recorder, const struct record_sample *sample,
                          vitals_error *error)
{
    recorder->realtime_ns = sample->realtime_ns;
    recorder->monotonic_ns = sample->monotonic_ns;
    int code = recorder->open ? 0 : begin_part(recorder, false, error);
    if (recorder->part_began_ns == 0)
        recorder->part_began_ns = sample->monotonic_ns;
    bool rotates = code == 0 && part_is_full(recorder);
    if (rotates)
        code = rotate(recorder, error);
    if (code == 0)
        code = recorder->format->sample(recorder, sample, error);
    recorder->samples += code == 0;
    if (code == 0 && rotates)
        code = begin_phases_again(recorder, error);
    return code == 0 ? write_waiting_marks(recorder, error) : code;
}

int recorder_sample(struct recorder *recorder, const vitals_snapshot *snapshot,
                    const vitals_usage *usage, vitals_error *error)
{
    struct record_sample sample = {.realtime_ns = vitals_snapshot_realtime_ns(snapshot),
                                   .monotonic_ns = vitals_snapshot_monotonic_ns(snapshot),
                                   .snapshot = snapshot};
    sample.values = vitals_usage_values(usage, &sample.count);
    return recorder_write_sample(recorder, &sample, error);
}

/* Keeps a mark that comes before the first sample: its realtime is not known yet. */
static int keep_mark(struct recorder *recorder, const vitals_mark *mark, vitals_error *error)
{
    if (recorder->waiting == NULL)
        recorder->waiting = calloc(MARKS_WAITING_MAX, sizeof *recorder->waiting);
    if (recorder->waiting == NULL)
        return out_of_memory(recorder, error);
    if (recorder->waiting_count == MARKS_WAITING_MAX) {
        recorder->waiting_dropped++;
        return 0;
    }
    struct waiting_mark *place = &recorder->waiting[recorder->waiting_count++];
    place->mark = *mark;
    (void)snprintf(place->name, sizeof place->name, "%s", mark->name);
    return 0;
}

int recorder_mark(struct recorder *recorder, const vitals_mark *mark, vitals_error *error)
{
    follow_phase(recorder, mark);
    if (recorder->realtime_ns == 0)
        return keep_mark(recorder, mark, error);
    return write_mark(recorder, mark, error);
}

int recorder_account(struct recorder *recorder, const vitals_account *account, vitals_error *error)
{
    if (recorder->format->account == NULL || !recorder->open)
        return 0;
    return recorder->format->account(recorder, account, error);
}

/* ---- the end ---- */

int recorder_close(struct recorder *recorder, vitals_error *error)
{
    int code = 0;
    if (recorder == NULL)
        return 0;
    if (recorder->open)
        code = recorder->format->end(recorder, error);
    text_file_close(&recorder->file);
    for (size_t i = 0; i < recorder->attribute_count; i++) {
        free(recorder->attributes[i].name);
        free(recorder->attributes[i].text);
    }
    free(recorder->waiting);
    free(recorder->opened);
    free(recorder->state);
    free(recorder->path);
    free(recorder);
    return code;
}
