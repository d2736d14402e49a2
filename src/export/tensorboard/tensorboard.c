/* tensorboard.c: the publisher that writes files for TensorBoard.
 *
 *     "tensorboard":{"folder":"DIR"}
 *
 * Each sample of a run is one event with a scalar per figure: of the tree under vitals/, of the
 * machine under system/, of each device under gpu_0/ …. The step is the number of the sample, from
 * 0, and the wall time that of the sample. The account is a text at the end. Charts are for people,
 * so shares are in percent and bytes in GiB here, as the names say.
 *
 * Records are framed as in TFRecord: length, its checksum, bytes, their checksum. A thread writes
 * them, so that a slow disk holds up nothing else; each as one write, so that a truncated file has
 * whole records. Its queue is bounded: a record that does not fit is dropped, and counted. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "export/clock.h"
#include "export/export_thread.h"
#include "export/otlp/protobuf.h"
#include "export/publisher.h"
#include "export/reply.h"
#include "export/tensorboard/crc32c.h"
#include "util/error.h"
#include "util/file.h"

/* Field numbers, by message (tensorflow/core/util/event.proto, framework/summary.proto). */
enum { EVENT_WALL_TIME = 1, EVENT_STEP, EVENT_FILE_VERSION, EVENT_SUMMARY = 5 };
enum { SUMMARY_VALUE = 1 };
enum { VALUE_TAG = 1, VALUE_SIMPLE, VALUE_TENSOR = 8, VALUE_METADATA };
enum { METADATA_PLUGIN = 1, METADATA_DESCRIPTION = 3, METADATA_CLASS };
enum { PLUGIN_NAME = 1 };
enum { CLASS_SCALAR = 1, CLASS_TENSOR };
enum { TENSOR_TYPE = 1, TENSOR_SHAPE, TENSOR_STRING = 8 };
enum { TYPE_STRING = 7 };

enum { TAG = 160, GROUP = 48, PATH_ROOM = 4096, QUEUE_BYTES = 4 * 1024 * 1024 };

struct event_device {
    char *subject; /* as in usage lines */
    char group[GROUP];
};

struct tensorboard {
    char folder[PATH_ROOM];
    struct export_thread thread;
    struct buffer waiting; /* guarded by its mutex, like all down to `failed` */
    uint64_t dropped;
    bool closing, failed;

    char path[PATH_ROOM]; /* the thread's */
    int descriptor;       /* likewise */

    /* the main thread's */
    struct buffer record;
    int64_t step;
    struct sample *newest; /* names of its devices */
    struct event_device devices[USAGE_SUBJECTS];
    size_t device_count;
    char *described[USAGE_SUBJECTS * 8]; /* tags whose metadata was written */
    size_t described_count;
};

/* ---- the file ---- */

static void report_failure(const char *what, const char *path, int code)
{
    char shown[400];
    (void)vitals_text_format(vitals_text_of(path), VITALS_TEXT_TERMINAL, shown, sizeof shown);
    reply_failed("tensorboard", "%s %s: %s", what, shown, strerror(code));
}

/* A name like those of TensorBoard's own writers; the number distinguishes files of one second. */
static bool open_file(struct tensorboard *board)
{
    enum { TRIES = 100 };
    struct utsname machine;
    char host[sizeof machine.nodename] = "localhost";
    if (uname(&machine) == 0 && strchr(machine.nodename, '/') == NULL)
        (void)snprintf(host, sizeof host, "%s", machine.nodename);
    for (int i = 0; i < TRIES; i++) {
        int size = snprintf(board->path, sizeof board->path,
                            "%s/events.out.tfevents.%010llu.%s.%d.%d", board->folder,
                            (unsigned long long)(clock_realtime_ns() / NS_PER_SECOND), host,
                            (int)getpid(), i);
        errno = ENAMETOOLONG;
        if (size > 0 && (size_t)size < sizeof board->path)
            board->descriptor = open(board->path,
                                     O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
        if (board->descriptor >= 0)
            return true;
        if (errno != EEXIST)
            break;
    }
    report_failure("cannot write", board->path, errno);
    return false;
}

/* ---- the thread ---- */

static void work(void *data)
{
    struct tensorboard *board = data;
    bool good = file_make_folders(board->folder, 0777);
    if (!good)
        report_failure("cannot make the folder", board->folder, errno);
    good = good && open_file(board);
    if (good)
        reply_opened("tensorboard", "path", board->path);
    for (bool more = true; good && more;) {
        pthread_mutex_lock(&board->thread.mutex);
        while (board->waiting.size == 0 && !board->closing)
            pthread_cond_wait(&board->thread.changed, &board->thread.mutex);
        struct buffer records = board->waiting;
        board->waiting = (struct buffer){.bytes = NULL};
        pthread_mutex_unlock(&board->thread.mutex);
        more = records.size > 0;
        good = file_write_all(board->descriptor, records.bytes, records.size);
        if (!good)
            report_failure("cannot write", board->path, errno);
        buffer_done(&records);
    }
    if (board->descriptor >= 0)
        (void)close(board->descriptor);
    pthread_mutex_lock(&board->thread.mutex);
    board->failed = !good;
    pthread_mutex_unlock(&board->thread.mutex);
}

/* The masked checksum of TFRecord, so that checksums of checksums differ. */
static uint32_t masked(const void *bytes, size_t size)
{
    uint32_t sum = crc32c(bytes, size);
    return (sum >> 15 | sum << 17) + UINT32_C(0xA282EAD8);
}

static void put_little(unsigned char *out, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        out[i] = (unsigned char)(value >> (8 * i));
}

/* Frames the record and gives it to the thread. */
static void write_record(struct tensorboard *board)
{
    const struct buffer *record = &board->record;
    enum { HEAD = 12, LENGTH = 8, SUM = 4 };
    unsigned char head[HEAD], tail[SUM];
    bool lost = record->failed;
    put_little(head, record->size, LENGTH);
    put_little(head + LENGTH, masked(head, LENGTH), SUM);
    put_little(tail, masked(record->bytes, record->size), SUM);
    pthread_mutex_lock(&board->thread.mutex);
    struct buffer *waiting = &board->waiting;
    size_t size = HEAD + record->size + SUM;
    /* All or nothing: a part of a record would damage the rest of the file. */
    if (!lost && !board->failed && waiting->size + size <= QUEUE_BYTES &&
        buffer_reserve(waiting, size) != NULL) {
        buffer_append(waiting, head, sizeof head);
        buffer_append(waiting, record->bytes, record->size);
        buffer_append(waiting, tail, sizeof tail);
    } else {
        waiting->failed = false;
        board->dropped++;
    }
    pthread_cond_signal(&board->thread.changed);
    pthread_mutex_unlock(&board->thread.mutex);
}

/* ---- events ---- */

static void begin_event(struct tensorboard *board, double wall_time)
{
    buffer_reset(&board->record);
    protobuf_double(&board->record, EVENT_WALL_TIME, wall_time);
    protobuf_number(&board->record, EVENT_STEP, (uint64_t)board->step);
}

static void write_metadata(struct buffer *record, const char *plugin, const char *description,
                           unsigned class)
{
    size_t metadata = protobuf_open(record, VALUE_METADATA);
    size_t data = protobuf_open(record, METADATA_PLUGIN);
    protobuf_string(record, PLUGIN_NAME, plugin);
    protobuf_close(record, data);
    if (description != NULL)
        protobuf_string(record, METADATA_DESCRIPTION, description);
    protobuf_number(record, METADATA_CLASS, class);
    protobuf_close(record, metadata);
}

/* Returns whether it is the first use of a tag in the file. */
static bool is_new(struct tensorboard *board, const char *tag)
{
    for (size_t i = 0; i < board->described_count; i++) {
        if (strcmp(board->described[i], tag) == 0)
            return false;
    }
    if (board->described_count == sizeof board->described / sizeof board->described[0])
        return true;
    board->described[board->described_count] = strdup(tag);
    board->described_count += board->described[board->described_count] != NULL;
    return true;
}

/* ---- names ---- */

/* Units for people. */
static const struct {
    const char *unit, *shown;
    double factor;
} SHOWN[] = {
    {"bytes", "GiB", 1.0 / (1 << 30)},
    {"ratio", "percent", 100},
};

/* Returns the group of a device's tags, which keeps its first name; NULL without memory. */
static const char *group_of(struct tensorboard *board, const char *device)
{
    size_t i = 0;
    while (i < board->device_count && strcmp(board->devices[i].subject, device) != 0)
        i++;
    if (i < board->device_count)
        return board->devices[i].group;
    char *subject = i < USAGE_SUBJECTS ? strdup(device) : NULL;
    if (subject == NULL)
        return NULL;
    board->devices[i].subject = subject;
    usage_line_gpu_name(sample_snapshot(board->newest), device, board->devices[i].group, GROUP);
    board->device_count++;
    return board->devices[i].group;
}

/* ---- events of the run ---- */

static int tensorboard_open(const json_t *config, const json_t *export_config UNUSED, void **data,
                            vitals_error *error)
{
    const char *folder = json_string_value(json_object_get(config, "folder"));
    if (folder == NULL || folder[0] == '\0' || strlen(folder) >= PATH_ROOM)
        return error_set(error, VITALS_EARGUMENT, 0, "the folder's name is empty or too long");
    struct tensorboard *board = calloc(1, sizeof *board);
    if (board == NULL)
        return error_no_memory(error);
    board->descriptor = -1;
    memcpy(board->folder, folder, strlen(folder) + 1);
    int code = export_thread_start(&board->thread, work, board, error);
    if (code < 0) {
        free(board);
        return code;
    }
    protobuf_double(&board->record, EVENT_WALL_TIME, (double)clock_realtime_ns() / 1e9);
    protobuf_string(&board->record, EVENT_FILE_VERSION, "brain.Event:2");
    write_record(board);
    *data = board;
    return 0;
}

static void tensorboard_snapshot(void *data, struct sample *sample)
{
    struct tensorboard *board = data;
    sample_unref(board->newest);
    board->newest = sample_ref(sample);
}

static void write_subject(struct tensorboard *board, const struct usage_line_subject *subject,
                          const char *group)
{
    for (vitals_measure measure = 0; (measure = vitals_measure_next(measure)) != 0;) {
        const char *name = vitals_measure_name(measure);
        char tag[TAG];
        double value;
        if (!usage_is_new(usage_value(subject, measure, &value)))
            continue;
        /* In a device's group the prefixes "gpu_" and "device_" are redundant, unless they
         * distinguish the tree's share. */
        const char *shown = subject->scope == VITALS_SCOPE_GPU && strncmp(name, "device_", 7) == 0
                                ? name + 7
                                : name;
        const char *unit = vitals_measure_unit(measure);
        size_t size = strlen(shown), tail = strlen(unit);
        (void)snprintf(tag, TAG, "%s/%s", group, shown);
        for (size_t i = 0; i < sizeof SHOWN / sizeof SHOWN[0]; i++) {
            if (strcmp(unit, SHOWN[i].unit) != 0 || size <= tail)
                continue;
            (void)snprintf(tag, TAG, "%s/%.*s%s", group, (int)(size - tail), shown, SHOWN[i].shown);
            value *= SHOWN[i].factor;
        }

        size_t scalar = protobuf_open(&board->record, SUMMARY_VALUE);
        protobuf_string(&board->record, VALUE_TAG, tag);
        protobuf_float(&board->record, VALUE_SIMPLE, (float)value);
        if (is_new(board, tag))
            write_metadata(&board->record, "scalars", vitals_measure_help(measure), CLASS_SCALAR);
        protobuf_close(&board->record, scalar);
    }
}

static void tensorboard_usage(void *data, struct usage_line *usage)
{
    struct tensorboard *board = data;
    if (usage->realtime_ns == 0)
        return;
    begin_event(board, (double)usage->realtime_ns / 1e9);
    size_t summary = protobuf_open(&board->record, EVENT_SUMMARY);
    for (size_t i = 0; i < usage->count; i++) {
        const struct usage_line_subject *subject = &usage->subjects[i];
        const char *group = subject->scope == VITALS_SCOPE_TREE     ? "vitals"
                            : subject->scope == VITALS_SCOPE_SYSTEM ? "system"
                            : subject->scope == VITALS_SCOPE_GPU ? group_of(board, subject->subject)
                                                                 : NULL;
        if (group != NULL)
            write_subject(board, subject, group);
    }
    protobuf_close(&board->record, summary);
    write_record(board);
    board->step++;
}

/* ---- the end ---- */

/* Escapes what could end a cell of a table, or is markup. */
static void put_cell(struct buffer *page, const char *words)
{
    char safe[200];
    (void)vitals_text_format(vitals_text_of(words), VITALS_TEXT_TERMINAL, safe, sizeof safe);
    for (const char *at = safe; *at != '\0'; at++) {
        if (strchr("\\|`*_<>[]#&", *at) != NULL)
            buffer_byte(page, '\\');
        buffer_byte(page, *at);
    }
}

static void tensorboard_end(void *data, const json_t *account, const json_t *status UNUSED)
{
    static const char *const COLUMNS[] = {"unit", "availability", "source"};
    struct tensorboard *board = data;
    struct buffer page = {.bytes = NULL}, *record = &board->record;
    const json_t *figures = json_object_get(account, "figures"), *figure;
    size_t i;
    const json_t *code = json_object_get(account, "exit_code");
    if (json_is_integer(code))
        buffer_format(&page, "Exit code %d\n\n", (int)json_integer_value(code));
    buffer_string(&page, "| of | figure | value | unit | availability | source |\n"
                         "|---|---|---:|---|---|---|\n");
    json_array_foreach(figures, i, figure)
    {
        const char *name = json_string_value(json_object_get(figure, "name"));
        const char *label = json_string_value(json_object_get(figure, "label"));
        const char *subject = json_string_value(json_object_get(figure, "subject"));
        const json_t *value = json_object_get(figure, "value");
        if (name == NULL)
            continue;
        buffer_string(&page, "| ");
        put_cell(&page, label != NULL ? label : subject != NULL ? subject : "");
        buffer_string(&page, " | ");
        put_cell(&page, name);
        buffer_string(&page, " | ");
        if (json_is_number(value))
            text_number(&page, json_number_value(value));
        for (size_t k = 0; k < sizeof COLUMNS / sizeof COLUMNS[0]; k++) {
            const char *words = json_string_value(json_object_get(figure, COLUMNS[k]));
            buffer_string(&page, " | ");
            put_cell(&page, words != NULL ? words : "");
        }
        buffer_string(&page, " |\n");
    }

    begin_event(board, (double)clock_realtime_ns() / 1e9);
    if (!page.failed) {
        size_t summary = protobuf_open(record, EVENT_SUMMARY);
        size_t value = protobuf_open(record, SUMMARY_VALUE);
        protobuf_string(record, VALUE_TAG, "account");
        size_t tensor = protobuf_open(record, VALUE_TENSOR);
        protobuf_number(record, TENSOR_TYPE, TYPE_STRING);
        protobuf_bytes(record, TENSOR_SHAPE, "", 0);
        protobuf_bytes(record, TENSOR_STRING, page.bytes, page.size);
        protobuf_close(record, tensor);
        write_metadata(record, "text", NULL, CLASS_TENSOR);
        protobuf_close(record, value);
        protobuf_close(record, summary);
        write_record(board);
    }
    buffer_done(&page);
}

static void tensorboard_close(void *data, uint64_t deadline_ns)
{
    struct tensorboard *board = data;
    pthread_mutex_lock(&board->thread.mutex);
    board->closing = true;
    pthread_cond_broadcast(&board->thread.changed);
    bool ended = export_thread_wait_for_end(&board->thread, deadline_ns);
    if (!ended)
        reply_lost("tensorboard: the disk did not take the last samples in time");
    else if (board->dropped > 0 && !board->failed)
        reply_lost("tensorboard: %llu samples were not written: the disk was too slow",
                   (unsigned long long)board->dropped);
    if (!export_thread_leave(&board->thread)) /* it hangs in a write */
        return;
    buffer_done(&board->waiting);
    sample_unref(board->newest);
    for (size_t i = 0; i < board->device_count; i++)
        free(board->devices[i].subject);
    for (size_t i = 0; i < board->described_count; i++)
        free(board->described[i]);
    buffer_done(&board->record);
    free(board);
}

const struct publisher publisher_tensorboard = {
    .name = "tensorboard",
    .open = tensorboard_open,
    .snapshot = tensorboard_snapshot,
    .usage = tensorboard_usage,
    .end = tensorboard_end,
    .close = tensorboard_close,
};
