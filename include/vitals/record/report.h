/* report.h: what a run used, as text, JSON or a page of HTML. */
#ifndef VITALS_LIBRECORD_REPORT_H
#define VITALS_LIBRECORD_REPORT_H

#include <vitals/record/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum vitals_report_form {
    VITALS_REPORT_TEXT = 1,        /* for a person; safe for a terminal */
    VITALS_REPORT_JSON,            /* one document, figures, phases, advice (docs/account.md) */
    VITALS_REPORT_HTML,            /* one page that needs no other file and no network */
    VITALS_REPORT_GPU_TRACKER,     /* gpu_tracker's JSON */
    VITALS_REPORT_GPU_TRACKER_TEXT /* gpu_tracker's text */
} vitals_report_form;

/* Grows at its end only, by the rule of vitals_options. */
typedef struct vitals_report_options {
    size_t size;
    int ascii;   /* not 0: no other characters */
    int color;   /* not 0: ANSI colors */
    int verbose; /* not 0: every figure */
    int width;   /* columns; 0: lines as long as they are */

    /* Units as vitals_usage_convert names them; NULL: what reads best, of gpu_tracker's forms its
     * own (gigabytes, hours). */
    const char *memory_unit, *gpu_memory_unit, *time_unit;

    int phases;            /* not 0: text and gpu_tracker's JSON tell of phases too */
    int for_others;        /* not 0: HTML without paths and command lines, to be published */
    const char *title;     /* of a page for others; NULL: none */
    const char *statistic; /* of gpu_tracker's comparison: "mean", "min", "max", "std" */
} vitals_report_options;

/* Fills in the defaults. `size` is sizeof(vitals_report_options) as the caller was compiled; not a
 * byte beyond it is written. */
VITALS_API void vitals_report_options_init(vitals_report_options *options, size_t size)
    VITALS_NONNULL(1);

/* Writes a report of a recording through `write` (snapshot.h), which is called many times.
 * `options` may be NULL. For HTML the file of the recording is read again, if it holds snapshots.
 * Errors: EARGUMENT (no such form or unit), EMEMORY, ESYSTEM (`write` stopped; error.detail is what
 * it returned). */
VITALS_API VITALS_CHECKED int vitals_recording_report(const vitals_recording *recording,
                                                      vitals_report_form form,
                                                      const vitals_report_options *options,
                                                      vitals_write_fn *write, void *data,
                                                      vitals_error *error) VITALS_NONNULL(1, 4);

/* Writes a report of an account alone, without curves and phases. Errors: as of
 * vitals_recording_report. */
VITALS_API VITALS_CHECKED int vitals_account_report(const vitals_account *account,
                                                    vitals_report_form form,
                                                    const vitals_report_options *options,
                                                    vitals_write_fn *write, void *data,
                                                    vitals_error *error) VITALS_NONNULL(1, 4);

#ifdef __cplusplus
}
#endif

#endif
