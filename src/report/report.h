/* report.h: what a snapshot, or a run, looks like as text.
 *
 * Reports see snapshots and accounts and nothing else: no clock, no machine, no settings but these.
 * What they print is safe for a terminal. One thread. */
#ifndef VITALS_REPORT_REPORT_H
#define VITALS_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vitals/vitals.h>

struct report_options {
    bool ascii;                    /* nothing but ASCII */
    bool color;                    /* ANSI colors */
    size_t width;                  /* columns there are */
    unsigned gpu_thresholds[2];    /* percent: yellow from, red from */
    unsigned memory_thresholds[2]; /* likewise */

    /* Which devices: indices as the labels say; none: all. */
    const uint64_t *devices;
    size_t device_count;
    bool devices_visible; /* they are those of CUDA_VISIBLE_DEVICES */

    /* Which processes on devices; filters are ANDed. */
    bool compute, only_compute, graphics, only_graphics;
    const char *const *users;
    size_t user_count;
    bool users_given; /* true and no user: nobody's */
    const uint64_t *pids;
    size_t pid_count;

    const char *user; /* who looks, for the title; NULL: nobody's business */
};

/* The metrics that the report shows. */
extern const vitals_metric REPORT_METRICS[];
extern const size_t REPORT_METRIC_COUNT;

/* Which work a process (may be NULL) belongs to: "job 4711.0", "pod notebook-0", "container
 * 5d1f0c6be2a9", "nginx.service"; false, and "", where there is nothing to tell. Safe. And the
 * metrics that it is made of, which the report needs of the processes on devices only. */
bool report_work(const vitals_row *process, bool ascii, char *out, size_t capacity);
extern const vitals_metric REPORT_WORK_METRICS[];
extern const size_t REPORT_WORK_METRIC_COUNT;

/* Devices, host, processes. `older` (may be NULL) is what rates are made against. Returns 0, or
 * what `write` returned to stop. */
int report_one_shot(const vitals_snapshot *snapshot, const vitals_snapshot *older,
                    const struct report_options *options, vitals_write *write, void *data);

/* Indices that were asked for and are not there, into `missing` (room for device_count). */
size_t report_missing_devices(const vitals_snapshot *snapshot, const struct report_options *options,
                              uint64_t *missing);

/* The rows of the table source that are of back ends: whether one is, and the next behind `after`
 * (NULL: the first); NULL at the end. And whether something kept it from looking for devices, so
 * that there may be some: no permission, a driver that does not answer. */
bool report_is_back_end(const vitals_row *source);
const vitals_row *report_next_back_end(const vitals_snapshot *snapshot, const vitals_row *after);
bool report_was_kept(const vitals_row *back_end);

/* What a run used, for programs: one JSON object. */
int report_account_json(const vitals_account *account, const char *const *argv, vitals_write *write,
                        void *data);

#endif
