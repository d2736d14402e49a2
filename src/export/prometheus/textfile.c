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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/clock.h"
#include "export/export_thread.h"
#include "export/prometheus/exposition_page.h"
#include "export/publisher.h"
#include "export/reply.h"
#include "feed/feed_json.h"
#include "util/file.h"

/* ---- the exposition of a run ----
 *
 * It has no families of the machine: another file or /metrics has them, and the collector that
 * reads them all must see a series once. Values are sampled while the run lives; at its end they
 * are the account's figures, and current values are removed. */

enum { SUBJECTS_MAX = 256, VALUES_MAX = 16, ID_SIZE = 64 };

struct run_value {
    double number;
    bool known;
};

/* The values of the tree, or of the tree on a device. */
struct run_subject {
    char *uuid; /* NULL for the tree */
    struct run_value values[VALUES_MAX];
};

struct exposition_run {
    char id[ID_SIZE];
    char *name, *user; /* NULL if not known */
    double start_seconds;
    struct run_value end_seconds, exit_code;
    struct run_subject subjects[SUBJECTS_MAX]; /* the first is the tree */
    size_t count;
};

static char *copy_of(const json_t *object, const char *member)
{
    const char *string = json_string_value(json_object_get(object, member));
    return string != NULL && string[0] != '\0' ? strdup(string) : NULL;
}

/* `number` distinguishes it from other running ones on the machine. */
static struct exposition_run *run_new(const json_t *export_config, int64_t number, uint64_t now_ns)
{
    const json_t *job = json_object_get(export_config, "job");
    uint64_t ns = usage_line_ns(job, "started_ns");
    struct exposition_run *run = calloc(1, sizeof *run);
    if (run == NULL)
        return NULL;
    ns = ns > 0 && ns <= now_ns ? ns : now_ns;
    run->name = copy_of(job, "name");
    run->user = copy_of(job, "user");
    run->start_seconds = (double)ns / 1e9;
    run->count = 1;
    (void)snprintf(run->id, sizeof run->id, "%llu-%lld", (unsigned long long)ns, (long long)number);
    return run;
}

static void run_free(struct exposition_run *run)
{
    if (run == NULL)
        return;
    for (size_t i = 0; i < run->count; i++)
        free(run->subjects[i].uuid);
    free(run->name);
    free(run->user);
    free(run);
}

/* Returns the i-th family whose values are measured; NULL if there are no more. */
static const struct metric_family *measured(size_t i)
{
    for (size_t f = 0; f < families_count; f++) {
        if (families[f].writer == FAMILY_RUN && i-- == 0)
            return &families[f];
    }
    return NULL;
}

static bool is_of_devices(const struct metric_family *family)
{
    return family->labels != NULL && strstr(family->labels, "uuid") != NULL;
}

/* Counters and peaks never decrease. */
static void take(const struct metric_family *family, struct run_value *value, double number)
{
    bool grows = family_type(family->name) == FAMILY_COUNTER || family->figure != NULL;
    if (!grows || !value->known || number > value->number)
        value->number = number;
    value->known = true;
}

/* A device that the run does not use is not kept. */
static struct run_subject *subject_of(struct exposition_run *run, const char *uuid, double number)
{
    for (size_t i = 1; i < run->count; i++) {
        if (strcmp(run->subjects[i].uuid, uuid) == 0)
            return &run->subjects[i];
    }
    char *copy = number > 0 && run->count < SUBJECTS_MAX ? strdup(uuid) : NULL;
    if (copy == NULL)
        return NULL;
    struct run_subject *subject = &run->subjects[run->count++];
    subject->uuid = copy;
    return subject;
}

/* Removes the current values: no more samples come. */
static void run_forget_current(struct exposition_run *run)
{
    for (size_t i = 0; i < VALUES_MAX && measured(i) != NULL; i++) {
        for (size_t s = 0; s < run->count && measured(i)->figure == NULL; s++)
            run->subjects[s].values[i].known = false;
    }
}

/* Takes the value of a family of the tree, or of the tree on a device. */
static void take_value(struct exposition_run *run, size_t place, const char *uuid, double number)
{
    struct run_subject *subject = uuid != NULL ? subject_of(run, uuid, number) : run->subjects;
    if (subject != NULL)
        take(measured(place), &subject->values[place], number);
}

static void run_take_usage(struct exposition_run *run, const struct usage_line *usage)
{
    const struct metric_family *family;
    double number;
    run_forget_current(run);
    for (size_t s = 0; s < usage->count; s++) {
        const struct usage_line_subject *subject = &usage->subjects[s];
        bool device = subject->scope == VITALS_SCOPE_GPU;
        if (!device && subject->scope != VITALS_SCOPE_TREE)
            continue;
        for (size_t i = 0; i < VALUES_MAX && (family = measured(i)) != NULL; i++) {
            if (is_of_devices(family) == device &&
                usage_value(subject, vitals_measure_find(family->measure), &number) > 0)
                take_value(run, i, device ? subject->subject : NULL, number);
        }
    }
}

/* Takes a figure of the tree, or of the tree on a device. */
static void take_figure(struct exposition_run *run, const char *name, const char *uuid,
                        double number)
{
    const struct metric_family *family;
    for (size_t i = 0; i < VALUES_MAX && (family = measured(i)) != NULL; i++) {
        if (family->figure != NULL && strcmp(family->figure, name) == 0 &&
            is_of_devices(family) == (uuid != NULL))
            take_value(run, i, uuid, number);
    }
}

static void run_end(struct exposition_run *run, const json_t *account, const json_t *status,
                    uint64_t now_ns)
{
    const json_t *figures = json_object_get(account, "figures"), *figure;
    const json_t *code = json_object_get(account, "exit_code");
    const char *state = json_string_value(json_object_get(status, "state"));
    size_t i;
    run_forget_current(run);
    json_array_foreach(figures, i, figure)
    {
        const char *name = json_string_value(json_object_get(figure, "name"));
        const char *subject = json_string_value(json_object_get(figure, "subject"));
        const char *availability = json_string_value(json_object_get(figure, "availability"));
        const json_t *value = json_object_get(figure, "value");
        bool of_part = subject != NULL && /* of the tree, or of the machine */
                       (strcmp(subject, "root") == 0 || strcmp(subject, "descendants") == 0 ||
                        strcmp(subject, "system") == 0);
        if (name != NULL && !of_part && availability != NULL &&
            vitals_availability_from_name(availability) > 0 && json_is_number(value))
            take_figure(run, name, subject, json_number_value(value));
    }

    uint64_t ended_ns = account_ended_ns(account), began_ns = account_began_ns(account);
    run->end_seconds = (struct run_value){(double)(ended_ns > 0 ? ended_ns : now_ns) / 1e9, true};
    if (began_ns > 0)
        run->start_seconds = (double)began_ns / 1e9;
    run->exit_code = (struct run_value){json_number_value(code), json_is_integer(code) &&
                                                                     state != NULL &&
                                                                     strcmp(state, "unknown") != 0};
}

static void write_value(struct exposition_page *page, const struct exposition_run *run,
                        const char *uuid, struct run_value value)
{
    if (!value.known)
        return;
    page_sample(page);
    page_label_word(page, "run", run->id);
    if (uuid != NULL)
        page_label_word(page, "uuid", uuid);
    page_value(page, value.number);
}

static struct body *run_render(const struct exposition_run *run)
{
    static const struct exposition_options OPTIONS = {.interval_ns = 1000000000};
    struct buffer out = {.bytes = NULL};
    struct exposition_page page;
    size_t number = 0;
    page_init(&page, &out, EXPOSITION_TEXT, &OPTIONS);

    for (size_t f = 0; f < families_count; f++) {
        const struct metric_family *family = &families[f];
        if (family_level(family) != EXPOSITION_RUN)
            continue;
        page_family(&page, FAMILY_PREFIX, family->name, family_type(family->name), family->help);
        if (family->writer == FAMILY_RUN) {
            for (size_t s = 0; s < run->count; s++)
                write_value(&page, run, run->subjects[s].uuid, run->subjects[s].values[number]);
            number++;
        } else if (family->writer == FAMILY_RUN_INFO) {
            page_sample(&page);
            page_label_word(&page, "run", run->id);
            if (run->name != NULL)
                page_label_word(&page, "name", run->name);
            if (run->user != NULL)
                page_label_word(&page, "user", run->user);
            page_value(&page, 1);
        } else {
            write_value(&page, run, NULL,
                        family->writer == FAMILY_RUN_START
                            ? (struct run_value){run->start_seconds, true}
                        : family->writer == FAMILY_RUN_END ? run->end_seconds
                                                           : run->exit_code);
        }
    }

    bool failed = page.failed || out.failed;
    page_done(&page);
    struct body *body = failed ? NULL : body_new(&out);
    buffer_done(&out);
    return body;
}

/* ---- the publisher ---- */

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
    struct sample *sample; /* guarded by mutex: the newest that was not written; NULL: none */
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
    int why = file_write_all(descriptor, bytes, size) ? 0 : errno;
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
                  why == NO_PLAIN_FILE ? "not a regular file" : strerror(why));
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

static void write_samples(void *data)
{
    struct textfile *file = data;
    for (bool leave = false; !leave;) {
        bool fresh = true; /* the snapshot of the file is not stale yet */
        pthread_mutex_lock(&file->thread.mutex);
        while (file->sample == NULL && !file->leave && fresh) {
            if (file->shown != NULL && !file->old)
                fresh = export_thread_wait(&file->thread,
                                           exposition_stale_ns(file->exposition, file->shown));
            else
                (void)pthread_cond_wait(&file->thread.changed, &file->thread.mutex);
        }
        struct sample *sample = file->sample;
        file->sample = NULL;
        leave = file->leave;
        pthread_mutex_unlock(&file->thread.mutex);

        if (sample != NULL) {
            exposition_count(file->exposition, sample);
            sample_unref(file->shown);
            file->shown = sample;
            file->old = false;
            write_file(file, clock_now_ns());
        }
        if ((sample == NULL || leave) && !file->old) {
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
        struct body *body = run_render(file->run);
        pthread_mutex_unlock(&file->thread.mutex);

        report_result(file, body != NULL ? replace(file, body) : ENOMEM);
        body_unref(body);
        not_before_ns = clock_now_ns() + RUN_EVERY_NS;
    }
}

static void discard(struct textfile *file)
{
    exposition_free(file->exposition);
    run_free(file->run);
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

    /* With a job the run is exported, else the machine. */
    bool of_job = json_object_get(export_config, "job") != NULL;
    struct exposition_options options;
    int code = of_job ? 0 : exposition_options_read(config, export_config, &options, error);
    if (of_job)
        file->run = run_new(export_config, getpid(), clock_realtime_ns());
    else if (code == 0)
        file->exposition = exposition_new(&options);
    file->news = of_job;

    /* `.vitals.prom.77.new` beside `vitals.prom`: in the same file system, and not matched by a
     * collector that reads *.prom. The pid keeps two programs that write one file apart. */
    const char *slash = strrchr(path, '/');
    int folder = slash != NULL ? (int)(slash - path) + 1 : 0;
    struct buffer beside = {.bytes = NULL};
    buffer_format(&beside, "%.*s.%s.%lld.new", folder, path, path + folder, (long long)getpid());
    file->path = strdup(path);
    file->beside = beside.bytes;
    if (code == 0 &&
        (beside.failed || file->path == NULL || (file->run == NULL && file->exposition == NULL)))
        code = no_memory(error);
    if (code == 0)
        code = export_thread_start(&file->thread, of_job ? write_run : write_samples, file, error);
    if (code < 0) {
        discard(file);
        return code;
    }
    *data = file;
    reply_opened("textfile", "path", path);
    return 0;
}

static void take_snapshot(void *data, struct sample *sample)
{
    struct textfile *file = data;
    if (file->run != NULL)
        return;
    pthread_mutex_lock(&file->thread.mutex);
    sample_unref(file->sample);
    file->sample = sample_ref(sample);
    pthread_cond_broadcast(&file->thread.changed);
    pthread_mutex_unlock(&file->thread.mutex);
}

static void take_usage(void *data, struct usage_line *usage)
{
    struct textfile *file = data;
    if (file->run == NULL)
        return;
    pthread_mutex_lock(&file->thread.mutex);
    run_take_usage(file->run, usage);
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
    run_end(file->run, account, status, clock_realtime_ns());
    pthread_mutex_unlock(&file->thread.mutex);
    file->ended = true;
}

/* Lets the thread write the newest and end; a thread that hangs in a file system is left behind. */
static void close_textfile(void *data, uint64_t deadline_ns)
{
    struct textfile *file = data;
    pthread_mutex_lock(&file->thread.mutex);
    if (file->run != NULL && !file->ended) /* the measuring program was killed */
        run_end(file->run, NULL, NULL, clock_realtime_ns());
    file->leave = true;
    pthread_cond_broadcast(&file->thread.changed);
    (void)export_thread_wait_for_end(&file->thread, deadline_ns);
    if (export_thread_leave(&file->thread))
        discard(file);
    else
        reply_say("%s: the file system does not answer; the file stays as it is", file->path);
}

const struct publisher publisher_textfile = {
    .name = "textfile",
    .open = open_textfile,
    .snapshot = take_snapshot,
    .usage = take_usage,
    .end = take_end,
    .close = close_textfile,
};
