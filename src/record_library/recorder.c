/* recorder.c: see <vitals/record/recorder.h>. */
#include <vitals/record/recorder.h>
#include <vitals/sys/account.h>

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "record/file_signals.h"
#include "record/observer.h"
#include "record_library/library.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/options.h"

struct vitals_recorder {
    struct recorder *recorder;
    pid_t maker; /* a child that was forked of it must not touch the database */
    bool sampled;
};

struct vitals_run_recorder {
    pid_t maker;
    struct record_observer observer;
    vitals_run_observer face; /* the observer's, in the locale of numbers */
    char *path, *form;
};

/* ---- options ---- */

static const vitals_recorder_options DEFAULTS = {.interval_ns = NS_PER_SECOND};

OPTIONS_FORM(OPTIONS, vitals_recorder_options, DEFAULTS, keep, 68);

void vitals_recorder_options_init(vitals_recorder_options *options, size_t size)
{
    options_init(&OPTIONS, options, size);
}

static int take(const vitals_recorder_options *given, struct recorder_options *out,
                vitals_error *error)
{
    vitals_recorder_options options;
    int code = options_take(&OPTIONS, given, &options, error);
    if (code < 0)
        return code;
    *out = (struct recorder_options){.path = options.path,
                                     .format = options.form,
                                     .overwrite = options.overwrite != 0,
                                     .no_header = options.no_header != 0,
                                     .interval_ns = options.interval_ns,
                                     .rotate_bytes = options.rotate_bytes,
                                     .rotate_ns = options.rotate_ns,
                                     .keep = options.keep,
                                     .frames = options.snapshots != 0};
    code = recorder_check(out, error);
    if (code == 0 && out->frames && !recorder_may_keep_frames(out))
        code = error_set(error, VITALS_EARGUMENT, 0, "only the format \"vitals\" keeps snapshots");
    return code;
}

const char *vitals_recorder_form(size_t index)
{
    return recorder_format_name(index);
}

unsigned vitals_recorder_needs(const vitals_recorder_options *options)
{
    struct recorder_options ours;
    if (take(options, &ours, NULL) < 0)
        return 0;
    return (recorder_samples_machine(&ours) ? VITALS_RECORDER_MACHINE : 0U) |
           (recorder_needs_processes(&ours) ? VITALS_RECORDER_TREE : 0U);
}

/* ---- what each call does in its thread ---- */

struct call {
    locale_t locale;
    struct file_signals signals;
};

static void call_begin(struct call *call)
{
    file_signals_hold(&call->signals);
    call->locale = library_enter();
}

/* Begins a call unless this process was forked after the recorder was made. */
static int recorder_begin(const vitals_recorder *recorder, struct call *call, vitals_error *error)
{
    if (recorder->maker != getpid())
        return error_forked(error, "recorder");
    call_begin(call);
    return 0;
}

static int call_end(struct call *call, int code)
{
    library_leave(call->locale);
    file_signals_release(&call->signals);
    return code;
}

/* ---- a recorder ---- */

int vitals_recorder_open(const vitals_recorder_options *options, vitals_recorder **out,
                         vitals_error *error)
{
    struct recorder_options ours;
    struct call call;
    int code = take(options, &ours, error);
    if (code < 0)
        return code;
    vitals_recorder *made = memory_alloc(sizeof *made);
    if (made == NULL)
        return error_no_memory(error);
    call_begin(&call);
    made->maker = getpid();
    code = call_end(&call, recorder_open(&ours, &made->recorder, error));
    if (code == 0)
        *out = made;
    else
        memory_free(made);
    return code;
}

int vitals_recorder_set(vitals_recorder *recorder, const char *attribute, vitals_text text,
                        vitals_error *error)
{
    struct call call;
    int code = recorder_begin(recorder, &call, error);
    return code < 0
               ? code
               : call_end(&call, recorder_attribute(recorder->recorder, attribute, text, error));
}

int vitals_recorder_sample(vitals_recorder *recorder, const vitals_snapshot *snapshot,
                           const vitals_usage *usage, vitals_error *error)
{
    struct call call;
    int code = recorder_begin(recorder, &call, error);
    if (code < 0)
        return code;
    if (!recorder->sampled)
        code = recorder_origin(recorder->recorder, snapshot, error);
    recorder->sampled = recorder->sampled || code == 0;
    if (code == 0)
        code = recorder_sample(recorder->recorder, snapshot, usage, error);
    return call_end(&call, code);
}

int vitals_recorder_mark(vitals_recorder *recorder, const vitals_mark *mark, vitals_error *error)
{
    struct call call;
    int code = recorder_begin(recorder, &call, error);
    return code < 0 ? code : call_end(&call, recorder_mark(recorder->recorder, mark, error));
}

/* A copy that can be changed. Errors: EMEMORY. */
static int copy_account(const vitals_account *account, vitals_account **out, vitals_error *error)
{
    vitals_account *copy = NULL;
    int code = vitals_account_new(&copy, error);
    for (const char *name = NULL;
         code == 0 && (name = vitals_account_next_attribute(account, name)) != NULL;)
        if (vitals_account_attribute(account, name).size > 0)
            code = vitals_account_set(copy, name, vitals_account_attribute(account, name), error);
    if (code == 0 && vitals_account_failure(account).size > 0)
        code = vitals_account_set(copy, "failure", vitals_account_failure(account), error);
    if (code == 0 && vitals_account_attribute(account, "exit").size > 0)
        vitals_account_ended(copy, vitals_account_exit_code(account),
                             vitals_account_signal(account));
    for (const vitals_figure *figure = NULL;
         code == 0 && (figure = vitals_account_next(account, figure)) != NULL;) {
        vitals_figure_form form = {.size = sizeof form,
                                   .name = vitals_figure_name(figure),
                                   .unit = vitals_figure_unit(figure),
                                   .subject = vitals_figure_subject(figure),
                                   .label = vitals_figure_label(figure),
                                   .source = vitals_figure_source(figure)};
        form.state = vitals_figure_value(figure, &form.value);
        code = vitals_account_add(copy, &form, error);
    }
    if (code == 0)
        *out = copy;
    else
        vitals_account_free(copy);
    return code;
}

int vitals_recorder_put_account(vitals_recorder *recorder, const vitals_account *account,
                                vitals_error *error)
{
    struct call call;
    vitals_account *whole = NULL;
    int code = copy_account(account, &whole, error);
    if (code == 0)
        code = recorder_begin(recorder, &call, error);
    if (code < 0) {
        vitals_account_free(whole);
        return code;
    }
    code = recorder_describe(recorder->recorder, whole, error);
    if (code == 0)
        code = recorder_account(recorder->recorder, whole, error);
    vitals_account_free(whole);
    return call_end(&call, code);
}

int vitals_recorder_close(vitals_recorder *recorder, vitals_error *error)
{
    struct call call;
    if (recorder == NULL)
        return 0;
    int code = recorder_begin(recorder, &call, error);
    if (code == 0)
        code = call_end(&call, recorder_close(recorder->recorder, error));
    memory_free(recorder);
    return code;
}

/* ---- a recorder of a run ---- */

static int observer_begin(void *data, vitals_error *error)
{
    vitals_run_recorder *recorder = data;
    struct call call;
    call_begin(&call);
    return call_end(&call, recorder->observer.face.begin(&recorder->observer, error));
}

static int observer_sample(void *data, const vitals_snapshot *snapshot, const vitals_usage *usage,
                           vitals_error *error)
{
    vitals_run_recorder *recorder = data;
    struct call call;
    call_begin(&call);
    return call_end(&call,
                    recorder->observer.face.sample(&recorder->observer, snapshot, usage, error));
}

static int observer_mark(void *data, const vitals_mark *mark, vitals_error *error)
{
    vitals_run_recorder *recorder = data;
    struct call call;
    call_begin(&call);
    return call_end(&call, recorder->observer.face.mark(&recorder->observer, mark, error));
}

static int observer_end(void *data, vitals_error *error)
{
    vitals_run_recorder *recorder = data;
    struct call call;
    call_begin(&call);
    return call_end(&call, recorder->observer.face.end(&recorder->observer, error));
}

static void run_recorder_free(vitals_run_recorder *recorder)
{
    record_observer_done(&recorder->observer);
    memory_free(recorder->path);
    memory_free(recorder->form);
    memory_free(recorder);
}

int vitals_run_recorder_open(const vitals_recorder_options *options, vitals_run_recorder **out,
                             vitals_error *error)
{
    struct recorder_options ours;
    struct call call;
    int code = take(options, &ours, error);
    if (code < 0)
        return code;
    if (ours.path == NULL || strcmp(ours.path, "-") == 0)
        return error_set(error, VITALS_EARGUMENT, 0, "a run is recorded into a file; name one");
    vitals_run_recorder *made = memory_alloc(sizeof *made);
    if (made == NULL)
        return error_no_memory(error);
    made->maker = getpid();
    made->path = memory_string(ours.path);
    made->form = ours.format != NULL ? memory_string(ours.format) : NULL;
    if (made->path == NULL || (ours.format != NULL && made->form == NULL)) {
        run_recorder_free(made);
        return error_no_memory(error);
    }
    ours.path = made->path;
    ours.format = made->form;
    record_observer_init(&made->observer, &ours);
    made->face = made->observer.face;
    made->face.data = made;
    made->face.begin = observer_begin;
    made->face.sample = observer_sample;
    made->face.mark = observer_mark;
    made->face.end = observer_end;
    call_begin(&call);
    code = call_end(&call, record_observer_prepare(&made->observer, error));
    if (code == 0)
        *out = made;
    else
        run_recorder_free(made);
    return code;
}

int vitals_run_recorder_set(vitals_run_recorder *recorder, const char *attribute, vitals_text text,
                            vitals_error *error)
{
    size_t count = recorder->observer.count;
    if (recorder->maker != getpid())
        return error_forked(error, "recorder");
    if (count == OBSERVER_ATTRIBUTES)
        return error_set(error, VITALS_EARGUMENT, 0, "a run has %d attributes at most",
                         OBSERVER_ATTRIBUTES);
    record_observer_attribute(&recorder->observer, attribute, text);
    return recorder->observer.count > count ? 0 : error_no_memory(error);
}

const vitals_run_observer *vitals_run_recorder_observer(const vitals_run_recorder *recorder)
{
    return &recorder->face;
}

int vitals_run_recorder_close(vitals_run_recorder *recorder, const vitals_account *account,
                              vitals_error *error)
{
    struct call call;
    int code = 0;
    if (recorder == NULL)
        return 0;
    if (recorder->maker != getpid()) {
        memory_free(recorder); /* what it holds is the parent's */
        return error_forked(error, "recorder");
    }
    call_begin(&call);
    if (recorder->observer.recorder != NULL) /* a run in this process that did not end it */
        code = recorder_close(recorder->observer.recorder, error);
    if (code == 0 && account != NULL)
        code = recording_put_account(recorder->path, account, error);
    (void)call_end(&call, code);
    run_recorder_free(recorder);
    return code;
}
