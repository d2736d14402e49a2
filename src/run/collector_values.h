/* collector_values.h: the values of one sample of a collector: those of a usage, and values that no
 * account needs: each process by itself, in total and per device, and shares of a whole.
 *
 * Texts of subjects live while a value refers to them, and after that until
 * collector_values_forget. Thread rule: one thread at a time. */
#ifndef VITALS_RUN_COLLECTOR_VALUES_H
#define VITALS_RUN_COLLECTOR_VALUES_H

#include "run/usage/usage_data.h"
#include <vitals/collector.h>

struct collector_subject;

struct collector_values {
    vitals_usage_value *items; /* of the newest sample */
    size_t count, capacity;
    struct usage_index subjects; /* processes, and processes on devices, by their keys together */
    size_t seen_count;
    uint64_t sample;         /* number of the newest */
    vitals_snapshot *older;  /* the one before: shares of a CPU are since then */
    vitals_request *request; /* what a snapshot must hold for it */
    bool failed;             /* memory was out in this sample */
};

/* Makes the request. Errors: EMEMORY. */
int collector_values_init(struct collector_values *values, vitals_error *error);
void collector_values_done(struct collector_values *values);

/* Those of a snapshot that was folded into the usage. What finds no memory sets `failed`. */
void collector_values_take(struct collector_values *values, const vitals_snapshot *snapshot,
                           const vitals_usage *usage);

/* Frees texts that neither the newest sample nor a caller uses, if there are many. */
void collector_values_forget(struct collector_values *values);

/* Of values of a process by itself alone: their subjects. Each hold wants its release. */
void collector_subject_hold(const char *subject);
void collector_subject_release(const char *subject);

/* When it began, monotonic; 0: that is not known. */
uint64_t collector_subject_began_ns(const char *subject);

/* Whether a value is of a process by itself. */
static inline bool is_of_process(vitals_scope scope)
{
    return scope == VITALS_SCOPE_PROCESS || scope == VITALS_SCOPE_PROCESS_GPU;
}

#endif
