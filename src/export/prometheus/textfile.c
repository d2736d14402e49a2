/* textfile.c: the publisher that keeps a file for node_exporter's textfile collector.
 *
 * Each snapshot replaces the file as a whole: a new file is written beside it, under a name that
 * the collector does not read, and renamed. If no snapshot comes for three intervals, and at the
 * end, the file has only the exporter's own families, since the collector would export the last
 * values for ever. The file of a run has the run's families, is written once a second and stays at
 * the end. A device or a link is never replaced. A thread writes, because a file system may hang. A
 * failure is reported once until writing works again. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/clock.h"
#include "export/export_thread.h"
#include "export/prometheus/exposition.h"
#include "export/prometheus/exposition_run.h"
#include "export/publisher.h"
#include "export/reply.h"
#include "feed/feed_json.h"

#define LONG_AFTER_NS (UINT64_MAX / 2)       /* later than any snapshot is valid */
#define RUN_EVERY_NS  (UINT64_C(1000000000)) /* collectors do not read more often */

enum { NO_PLAIN_FILE = -1 }; /* else errno says why */

struct textfile {
    struct exposition *exposition; /* NULL for a run */
    struct exposition_run *run;    /* guarded by mutex; NULL for the machine */
    bool news;                     /* guarded by mutex: of the run */
    bool ended;                    /* main thread: the end of the run was seen */
    char *path, *beside;           /* the file, and the new one that replaces it */
    struct export_thread thread;
    struct sample *moment; /* guarded by mutex: the newest that was not written; NULL: none */
    bool leave;            /* guarded by mutex */
    struct sample *shown;  /* the thread's: the file is of this one; NULL: none yet */
    bool old;              /* the thread's: the file has only the exporter's own families */
    bool failing;          /* the thread's: a failure was reported */
};

/* ---- the file ---- */

/* Returns 0, or the reason of a failure, after which no new file is left. */
static int replace(const struct textfile *file, const struct body *body)
{
    struct stat about;
    size_t size;
    const char *bytes = body_bytes(body, &size);
    if (lstat(file->path, &about) == 0 && !S_ISREG(about.st_mode))
        return NO_PLAIN_FILE;

    (void)unlink(file->beside); /* left by a program that was killed */
    int descriptor = open(file->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (descriptor < 0)
        return errno;
    int why = 0;
    while (size > 0 && why == 0) {
        ssize_t written = write(descriptor, bytes, size);
        if (written == 0 || (written < 0 && errno != EINTR))
            why = written < 0 ? errno : EIO;
        bytes += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    if (why == 0 && fchmod(descriptor, 0644) < 0)
        why = errno;
    if (close(descriptor) < 0 && why == 0)
        why = errno;

    if (why == 0 && rename(file->beside, file->path) < 0)
        why = errno;
    if (why != 0)
        (void)unlink(file->beside);
    return why;
}

static void report_result(struct textfile *file, int why)
{
    if (why != 0 && !file->failing)
        reply_say("%s: cannot be written: %s", file->path,
                  why == NO_PLAIN_FILE ? "it is no plain file" : strerror(why));
    if (why == 0 && file->failing)
        reply_say("%s: is written again", file->path);
    file->failing = why != 0;
}

static void write_file(struct textfile *file, uint64_t now_ns)
{
    const struct exposition_self self = {.now_ns = now_ns};
    struct body *body = exposition_render(file->exposition, file->shown, EXPOSITION_TEXT, &self);
    report_result(file, body != NULL ? replace(file, body) : ENOMEM);
    body_unref(body);
}

/* ---- the thread ---- */

static void write_moments(void *data)
{
    struct textfile *file = data;
    for (bool leave = false; !leave;) {
        bool fresh = true; /* the snapshot of the file is not stale yet */
        pthread_mutex_lock(&file->thread.mutex);
        while (file->moment == NULL && !file->leave && fresh) {
            if (file->shown != NULL && !file->old)
                fresh = export_thread_wait(&file->thread,
                                           exposition_stale_ns(file->exposition, file->shown));
            else
                (void)pthread_cond_wait(&file->thread.changed, &file->thread.mutex);
        }
        struct sample *moment = file->moment;
        file->moment = NULL;
        leave = file->leave;
        pthread_mutex_unlock(&file->thread.mutex);

        if (moment != NULL) {
            exposition_count(file->exposition, moment);
            sample_unref(file->shown);
            file->shown = moment;
            file->old = false;
            write_file(file, clock_now_ns());
        }
        if ((moment == NULL || leave) && !file->old) {
            write_file(file, LONG_AFTER_NS);
            file->old = true;
        }
    }
}

static void write_run(void *data)
{
    struct textfile *file = data;
    uint64_t not_before_ns = 0;
    for (bool goes_on = true; goes_on;) {
        pthread_mutex_lock(&file->thread.mutex);
        while (!file->leave && export_thread_wait(&file->thread, not_before_ns))
            ;
        while (!file->leave && !file->news)
            pthread_cond_wait(&file->thread.changed, &file->thread.mutex);
        goes_on = !file->leave;
        file->news = false;
        struct body *body = exposition_run_render(file->run);
        pthread_mutex_unlock(&file->thread.mutex);

        report_result(file, body != NULL ? replace(file, body) : ENOMEM);
        body_unref(body);
        not_before_ns = clock_now_ns() + RUN_EVERY_NS;
    }
}

/* ---- the publisher ---- */

static void discard(struct textfile *file)
{
    exposition_free(file->exposition);
    exposition_run_free(file->run);
    sample_unref(file->shown);
    free(file->path);
    free(file->beside);
    free(file);
}

static int no_memory(vitals_error *error)
{
    static const struct feed_place FILE_OF = {"textfile", 0};
    return feed_fail(&FILE_OF, VITALS_EMEMORY, error, "no memory to write a file with");
}

static int open_textfile(const json_t *config, const json_t *export_config, void **data,
                         vitals_error *error)
{
    static const struct feed_place EXPORT_CONFIG = {"the first line", 1};
    const char *path = json_string_value(json_object_get(config, "path"));
    if (path == NULL || path[0] == '\0')
        return feed_fail(&EXPORT_CONFIG, VITALS_EARGUMENT, error, "textfile has no path");
    struct textfile *file = calloc(1, sizeof *file);
    if (file == NULL)
        return no_memory(error);

    /* Of a job the run is exported, else the machine. */
    bool of_job = json_object_get(export_config, "job") != NULL;
    struct exposition_options options;
    int code = of_job ? 0 : exposition_options_read(config, export_config, &options, error);
    if (of_job)
        file->run = exposition_run_new(export_config, getpid(), clock_realtime_ns());
    else if (code == 0)
        file->exposition = exposition_new(&options);
    file->news = of_job;

    /* `.vitals.prom.77.new` beside `vitals.prom`: in the same file system, and not matched by a
     * collector that reads *.prom. The pid keeps two programs that write one file apart. */
    const char *slash = strrchr(path, '/');
    int folder = slash != NULL ? (int)(slash - path) + 1 : 0;
    struct text beside = {.bytes = NULL};
    text_format(&beside, "%.*s.%s.%lld.new", folder, path, path + folder, (long long)getpid());
    file->path = strdup(path);
    file->beside = beside.bytes;
    if (code == 0 &&
        (beside.failed || file->path == NULL || (file->run == NULL && file->exposition == NULL)))
        code = no_memory(error);
    if (code == 0)
        code = export_thread_start(&file->thread, of_job ? write_run : write_moments, file, error);
    if (code < 0) {
        discard(file);
        return code;
    }
    *data = file;
    reply_opened("textfile", "path", path);
    return 0;
}

static void take_snapshot(void *data, struct sample *moment)
{
    struct textfile *file = data;
    if (file->run != NULL)
        return;
    pthread_mutex_lock(&file->thread.mutex);
    sample_unref(file->moment);
    file->moment = sample_ref(moment);
    pthread_cond_broadcast(&file->thread.changed);
    pthread_mutex_unlock(&file->thread.mutex);
}

static void take_usage(void *data, const json_t *usage)
{
    struct textfile *file = data;
    if (file->run == NULL)
        return;
    pthread_mutex_lock(&file->thread.mutex);
    exposition_run_usage(file->run, usage);
    file->news = true;
    pthread_cond_broadcast(&file->thread.changed);
    pthread_mutex_unlock(&file->thread.mutex);
}

static void take_end(void *data, const json_t *account, const json_t *status)
{
    struct textfile *file = data;
    if (file->run == NULL)
        return;
    pthread_mutex_lock(&file->thread.mutex);
    exposition_run_end(file->run, account, status, clock_realtime_ns());
    pthread_mutex_unlock(&file->thread.mutex);
    file->ended = true;
}

/* Lets the thread write the newest and end; a thread that hangs in a file system is left behind. */
static void close_textfile(void *data, uint64_t deadline_ns)
{
    struct textfile *file = data;
    pthread_mutex_lock(&file->thread.mutex);
    if (file->run != NULL && !file->ended) /* the measuring program was killed */
        exposition_run_end(file->run, NULL, NULL, clock_realtime_ns());
    file->leave = true;
    pthread_cond_broadcast(&file->thread.changed);
    bool left = export_thread_wait_for_end(&file->thread, deadline_ns);
    pthread_mutex_unlock(&file->thread.mutex);
    if (!left) {
        reply_say("%s: does not answer; it is left as it is", file->path);
        export_thread_abandon(&file->thread);
        return;
    }
    export_thread_done(&file->thread);
    discard(file);
}

const struct publisher textfile_publisher = {
    .name = "textfile",
    .open = open_textfile,
    .snapshot = take_snapshot,
    .usage = take_usage,
    .end = take_end,
    .close = close_textfile,
};
