/* phases.h: what each phase of a run used: from a recording's series and marks, by name. */
#pragma once

#include "record/recording.h"
#include "report/account.h"
#include "report/statistics.h"

/* One series within a phase. */
struct phase_measure {
    const struct series *series;
    struct statistics values; /* of a gauge: of every sample within */
    double growth;            /* of a counter: between begin and end of all calls; NaN: not known */
    bool is_short;            /* a call goes on beyond the samples: it grew by so much at least */
};

/* All calls of one name. */
struct phase {
    const char *name;
    double first;      /* when it first began */
    size_t timepoints; /* samples in any call, each counted once */
    size_t calls;      /* that ended */
    size_t open;       /* that did not */
    size_t non_empty;  /* calls with a sample in them */
    struct statistics seconds;
    struct phase_measure *measures;
    size_t measure_count;
};

enum { PHASES_MAX = 1000 };

struct phases {
    struct phase *items; /* in the order in which they first began */
    size_t count;
    size_t left_out;    /* names, beyond PHASES_MAX */
    struct phase whole; /* the run: every sample; no calls */
};

/* Errors: EMEMORY. phases_done frees what was filled. */
int phases_of(const struct recording *recording, struct phases *out, vitals_error *error);
void phases_done(struct phases *phases);

/* A measure by its name and subject ("": the run itself); NULL: it was not recorded. */
const struct phase_measure *phase_measure_of(const struct phase *phase, const char *name,
                                             const char *subject);

/* How good it is: a counter is taken to grow evenly between two samples. */
vitals_availability phase_measure_state(const struct phase_measure *measure);

/* The same of all figures of phases, for a person. */
extern const char PHASES_QUALITY[];

/* Lines for a person; the value of a struct account_member whose data is a struct phases (measures
 * in base units). */
int phases_text(const struct phases *phases, const struct account_view *view,
                vitals_write_fn *write, void *data);
void phases_json(const void *phases, struct json_form *form);

/* The analysis that gpu_tracker makes of a tracking and a sub-tracking file: its JSON. */
int phases_gpu_tracker(const struct phases *phases, const vitals_account *account,
                       const struct account_view *view, vitals_write_fn *write, void *data);

/* A measure of a phase, that of a column of GPU_TRACKER_DATA_COLUMNS, in its unit; false where it
 * was not recorded. */
bool gpu_tracker_statistics(const struct phase *phase, const vitals_account *account,
                            const struct account_view *view, size_t index, struct statistics *out);
