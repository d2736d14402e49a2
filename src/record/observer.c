/* observer.c: see observer.h. */
#include "record/observer.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "feed/text.h"
#include "util/base.h"

/* A limit on the size of files is reported by the write, not by a signal. A thread of the caller's
 * process that samples has SIGXFSZ blocked already (util/thread.h). */
static int begin(void *data, vitals_error *error)
{
    struct record_observer *observer = data;
    const struct sigaction ignored = {.sa_handler = SIG_IGN};
    if (observer->maker != getpid())
        (void)sigaction(SIGXFSZ, &ignored, NULL);
    if (observer->face.descriptor > 0)
        (void)dup2(observer->face.descriptor, STDOUT_FILENO);
    int code = recorder_open(&observer->options, &observer->recorder, error);
    for (size_t i = 0; i < observer->count && code == 0; i++)
        code = recorder_attribute(observer->recorder, observer->names[i],
                                  (vitals_text){observer->texts[i], observer->sizes[i]}, error);
    return code;
}

static int sample(void *data, const vitals_snapshot *snapshot, const vitals_usage *usage,
                  vitals_error *error)
{
    struct record_observer *observer = data;
    double launcher = (double)getppid(), ours = (double)getpid(), parent, pid;
    char digits[NUMBER_WORDS];
    int code = 0;

    /* The job's own process is a child of our parent, and not this process. Its pid was unknown
     * when the observer was made. */
    for (const vitals_row *row = NULL;
         !observer->pid_known &&
         (row = vitals_snapshot_next(snapshot, VITALS_TABLE_PROCESS, row)) != NULL;) {
        if (vitals_row_number(row, VITALS_PROCESS_PARENT_PID, &parent) <= 0 ||
            vitals_row_number(row, VITALS_PROCESS_PID, &pid) <= 0 || parent != launcher ||
            pid == ours)
            continue;
        observer->pid_known = true;
        number_shortest(pid, digits);
        code = recorder_attribute(observer->recorder, "pid", vitals_text_of(digits), error);
    }
    return code < 0 ? code : recorder_sample(observer->recorder, snapshot, usage, error);
}

static int mark(void *data, const vitals_mark *told, vitals_error *error)
{
    struct record_observer *observer = data;
    return recorder_mark(observer->recorder, told, error);
}

static int end(void *data, vitals_error *error)
{
    struct record_observer *observer = data;
    int code = recorder_close(observer->recorder, error);
    observer->recorder = NULL;
    return code;
}

void record_observer_init(struct record_observer *observer, const struct recorder_options *options)
{
    /* Frames hold the names of processes, and the host's values that a screen shows, as often as
     * the other values of the host are read. */
    static const struct {
        vitals_metric metric;
        bool seldom;
    } SHOWN[] = {
        {VITALS_PROCESS_NAME, false},          {VITALS_PROCESS_COMMAND_LINE, false},
        {VITALS_PROCESS_USER, false},          {VITALS_PROCESS_STATE, false},
        {VITALS_HOST_UPTIME_SECONDS, true},    {VITALS_HOST_CPU_BUSY_SECONDS, true},
        {VITALS_HOST_CPU_TOTAL_SECONDS, true}, {VITALS_HOST_LOAD_1M, true},
        {VITALS_HOST_LOAD_5M, true},           {VITALS_HOST_LOAD_15M, true},
        {VITALS_HOST_SWAP_TOTAL_BYTES, true},  {VITALS_HOST_SWAP_USED_BYTES, true},
    };
    *observer = (struct record_observer){.options = *options, .maker = getpid()};
    observer->face = (vitals_run_observer){.size = sizeof(vitals_run_observer),
                                           .data = observer,
                                           .begin = begin,
                                           .sample = sample,
                                           .mark = mark,
                                           .end = end};

    /* Without memory for the request frames lack these. */
    if (!options->frames || vitals_request_new(0, &observer->request, NULL) < 0)
        return;
    int code = 0;
    for (size_t i = 0; i < ARRAY_COUNT(SHOWN) && code == 0; i++) {
        code = vitals_request_add(observer->request, SHOWN[i].metric, NULL);
        if (code == 0 && SHOWN[i].seldom)
            code = vitals_request_set_every(observer->request, SHOWN[i].metric, NS_PER_SECOND,
                                            NULL);
    }
    observer->face.request = observer->request;
}

void record_observer_attribute(struct record_observer *observer, const char *name, vitals_text text)
{
    if (observer->count == OBSERVER_ATTRIBUTES)
        return;
    char *copy = malloc(text.size + 1), *title = strdup(name);
    if (copy == NULL || title == NULL) {
        free(copy);
        free(title);
        return;
    }
    memcpy(copy, text.bytes, text.size);
    copy[text.size] = '\0';
    observer->pid_known = observer->pid_known || strcmp(name, "pid") == 0;
    observer->names[observer->count] = title;
    observer->texts[observer->count] = copy;
    observer->sizes[observer->count++] = text.size;
}

int record_observer_prepare(struct record_observer *observer, vitals_error *error)
{
    const char *path = observer->options.path;
    struct recorder *recorder = NULL;
    int code = recorder_open(&observer->options, &recorder, error);
    if (code == 0)
        code = recorder_close(recorder, error);
    if (code == 0 && path != NULL && strcmp(path, "-") != 0)
        observer->options.overwrite = true; /* what it made itself */
    return code;
}

void record_observer_done(struct record_observer *observer)
{
    for (size_t i = 0; i < observer->count; i++) {
        free(observer->names[i]);
        free(observer->texts[i]);
    }
    observer->count = 0;
    vitals_request_free(observer->request);
    observer->face.request = observer->request = NULL;
}
