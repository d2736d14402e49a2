/* event_file.c: see event_file.h. The framing is that of TFRecord: length, its checksum, bytes,
 * their checksum. */
#include "export/tensorboard/event_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "export/clock.h"
#include "export/export_thread.h"
#include "export/reply.h"
#include "export/tensorboard/crc32c.h"
#include "util/error.h"
#include "util/file.h"

enum { PATH_ROOM = 4096, MODE = 0777, FILE_MODE = 0666 };

struct event_file {
    const char *publisher;
    char folder[PATH_ROOM];
    struct export_thread thread;
    struct buffer waiting; /* guarded by its mutex, like all down to `failed` */
    uint64_t dropped;
    bool closing, failed;

    /* The thread's own. */
    char path[PATH_ROOM];
    int descriptor;
};

/* ---- the file ---- */

static void report_failure(struct event_file *file, const char *what, const char *path, int code)
{
    char shown[400];
    (void)vitals_text_format(vitals_text_of(path), VITALS_TEXT_TERMINAL, shown, sizeof shown);
    reply_failed(file->publisher, "%s %s: %s", what, shown, strerror(code));
}

/* A name like those of TensorBoard's own writers; the number distinguishes files of one second. */
static bool open_file(struct event_file *file)
{
    enum { TRIES = 100 };
    struct utsname machine;
    char host[sizeof machine.nodename] = "localhost";
    if (uname(&machine) == 0 && strchr(machine.nodename, '/') == NULL)
        (void)snprintf(host, sizeof host, "%s", machine.nodename);
    for (int i = 0; i < TRIES; i++) {
        int size = snprintf(
            file->path, sizeof file->path, "%s/events.out.tfevents.%010llu.%s.%d.%d", file->folder,
            (unsigned long long)(clock_realtime_ns() / NS_PER_SECOND), host, (int)getpid(), i);
        errno = ENAMETOOLONG;
        if (size > 0 && (size_t)size < sizeof file->path)
            file->descriptor = open(file->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC,
                                    FILE_MODE);
        if (file->descriptor >= 0)
            return true;
        if (errno != EEXIST)
            break;
    }
    report_failure(file, "cannot write", file->path, errno);
    return false;
}

/* ---- the thread ---- */

static void work(void *data)
{
    struct event_file *file = data;
    bool good = file_make_folders(file->folder, MODE);
    if (!good)
        report_failure(file, "cannot make the folder", file->folder, errno);
    good = good && open_file(file);
    if (good)
        reply_opened(file->publisher, "path", file->path);
    for (bool more = true; good && more;) {
        pthread_mutex_lock(&file->thread.mutex);
        while (file->waiting.size == 0 && !file->closing)
            pthread_cond_wait(&file->thread.changed, &file->thread.mutex);
        struct buffer records = file->waiting;
        file->waiting = (struct buffer){.bytes = NULL};
        pthread_mutex_unlock(&file->thread.mutex);
        more = records.size > 0;
        good = file_write_all(file->descriptor, records.bytes, records.size);
        if (!good)
            report_failure(file, "cannot write", file->path, errno);
        buffer_done(&records);
    }
    if (file->descriptor >= 0)
        (void)close(file->descriptor);
    pthread_mutex_lock(&file->thread.mutex);
    file->failed = !good;
    pthread_mutex_unlock(&file->thread.mutex);
}

/* ---- the main thread ---- */

int event_file_new(const char *publisher, const char *folder, struct event_file **out,
                   vitals_error *error)
{
    struct event_file *file = calloc(1, sizeof *file);
    if (file == NULL)
        return error_set(error, VITALS_EMEMORY, 0, "out of memory");
    if (folder[0] == '\0' || strlen(folder) >= sizeof file->folder) {
        free(file);
        return error_set(error, VITALS_EARGUMENT, 0, "the folder's name is empty or too long");
    }
    file->publisher = publisher;
    file->descriptor = -1;
    memcpy(file->folder, folder, strlen(folder) + 1);
    int code = export_thread_start(&file->thread, work, file, error);
    if (code < 0) {
        free(file);
        return code;
    }
    *out = file;
    return 0;
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

void event_file_write(struct event_file *file, const struct buffer *record)
{
    enum { HEAD = 12, LENGTH = 8, SUM = 4 };
    unsigned char head[HEAD], tail[SUM];
    bool lost = record->failed;
    put_little(head, record->size, LENGTH);
    put_little(head + LENGTH, masked(head, LENGTH), SUM);
    put_little(tail, masked(record->bytes, record->size), SUM);
    pthread_mutex_lock(&file->thread.mutex);
    struct buffer *waiting = &file->waiting;
    size_t size = HEAD + record->size + SUM;
    /* All or nothing: a part of a record would damage the rest of the file. */
    if (!lost && !file->failed && waiting->size + size <= EVENT_FILE_QUEUE_BYTES &&
        buffer_reserve(waiting, size) != NULL) {
        buffer_append(waiting, head, sizeof head);
        buffer_append(waiting, record->bytes, record->size);
        buffer_append(waiting, tail, sizeof tail);
    } else {
        waiting->failed = false;
        file->dropped++;
    }
    pthread_cond_signal(&file->thread.changed);
    pthread_mutex_unlock(&file->thread.mutex);
}

void event_file_close(struct event_file *file, uint64_t deadline_ns)
{
    pthread_mutex_lock(&file->thread.mutex);
    file->closing = true;
    pthread_cond_broadcast(&file->thread.changed);
    bool ended = export_thread_wait_for_end(&file->thread, deadline_ns);
    if (!ended)
        reply_lost("%s: the disk did not take the last samples in time", file->publisher);
    else if (file->dropped > 0 && !file->failed)
        reply_lost("%s: %llu samples were not written: the disk was too slow", file->publisher,
                   (unsigned long long)file->dropped);
    pthread_mutex_unlock(&file->thread.mutex);
    if (!ended) { /* it hangs in a write, and keeps what it uses */
        export_thread_abandon(&file->thread);
        return;
    }
    export_thread_done(&file->thread);
    buffer_done(&file->waiting);
    free(file);
}
