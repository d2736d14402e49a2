/* observer.h: a recorder as what a run's sampler tells things to: `run --record`, `track --record`.
 *
 *     struct record_observer observer;
 *     record_observer_init(&observer, &options);
 *     record_observer_attribute(&observer, "command", text);
 *     if (record_observer_prepare(&observer, &error) < 0) …        before the job runs
 *     run_options.observer = &observer.face;
 *     …
 *     recording_put_account(options.path, account, &error);              once it is over
 *     record_observer_done(&observer);
 *
 * The face is called in the sampler's process, the rest in the caller's. */
#pragma once

#include "record/recorder.h"

enum { OBSERVER_ATTRIBUTES = 16 };

struct record_observer {
    vitals_run_observer face;
    vitals_request *request; /* what frames need; owned */
    struct recorder_options options;
    char *names[OBSERVER_ATTRIBUTES], *texts[OBSERVER_ATTRIBUTES];
    size_t sizes[OBSERVER_ATTRIBUTES], count;
    bool pid_known;            /* the attribute "pid" is set */
    int64_t maker;             /* the process that made it */
    struct recorder *recorder; /* sampler's process */
};

/* The strings of the options are borrowed. If the sampler runs in a process of its own, its
 * standard streams lead nowhere: a recording to standard output needs a copy of the descriptor in
 * face.descriptor. */
void record_observer_init(struct record_observer *observer, const struct recorder_options *options);

/* Copies the text. Attributes beyond OBSERVER_ATTRIBUTES are dropped. */
void record_observer_attribute(struct record_observer *observer, const char *name,
                               vitals_text text);

/* Makes the file and closes it, so that a file that cannot be written is reported before the job
 * runs. Errors: those of recorder_open. */
int record_observer_prepare(struct record_observer *observer, vitals_error *error);

void record_observer_done(struct record_observer *observer);
