/* comparison.h: in what sessions differ, and whether that is more than chance.
 *
 * A session is one or several runs of the same thing; each is compared with the first. */
#ifndef VITALS_LIBRECORD_COMPARISON_H
#define VITALS_LIBRECORD_COMPARISON_H

#include <vitals/record/phases.h>
#include <vitals/record/report.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vitals_comparison vitals_comparison;

/* A figure, or what a phase used, of every session. */
typedef struct vitals_compared vitals_compared;

/* How a session stands to the first. */
typedef enum vitals_verdict {
    VITALS_VERDICT_NONE = 0, /* one of the two does not have the figure */
    VITALS_VERDICT_FIRST,    /* it is the first */
    VITALS_VERDICT_SAME,     /* no difference that the runs show */
    VITALS_VERDICT_LESS,     /* by more than chance (p < 0.01) */
    VITALS_VERDICT_MORE,
    VITALS_VERDICT_UNSURE /* not known: a single run does not tell how much runs vary */
} vitals_verdict;

/* Makes a comparison without sessions; *out is the caller's to free. Errors: EMEMORY. */
VITALS_API VITALS_CHECKED int vitals_comparison_new(vitals_comparison **out, vitals_error *error)
    VITALS_NONNULL(1);

/* Frees a comparison; its recordings are the caller's. Accepts NULL. */
VITALS_API void vitals_comparison_free(vitals_comparison *comparison);

/* Adds a run to the session of that name, which is a new one where none has it. The name is copied;
 * the recording is borrowed and must outlive the comparison. What was computed is forgotten.
 * Errors: EMEMORY. */
VITALS_API VITALS_CHECKED int vitals_comparison_add(vitals_comparison *comparison,
                                                    const char *session,
                                                    const vitals_recording *recording,
                                                    vitals_error *error) VITALS_NONNULL(1, 2, 3);

/* Compares the sessions that were added, figure by figure and phase by phase. Errors: EARGUMENT
 * (fewer than two sessions), EMEMORY. Cost: no system call. */
VITALS_API VITALS_CHECKED int vitals_comparison_compute(vitals_comparison *comparison,
                                                        vitals_error *error) VITALS_NONNULL(1);

/* Return the number of sessions, and the name of the session at an index from 0, in the order in
 * which they were added; NULL behind the last. */
VITALS_API size_t vitals_comparison_session_count(const vitals_comparison *comparison)
    VITALS_NONNULL(1);
VITALS_API const char *vitals_comparison_session(const vitals_comparison *comparison,
                                                 size_t session) VITALS_NONNULL(1);

/* Returns the item after `previous` (NULL: the first); NULL behind the last, and before compute.
 * Borrowed; valid until something is added. */
VITALS_API const vitals_compared *vitals_comparison_next(const vitals_comparison *comparison,
                                                         const vitals_compared *previous)
    VITALS_NONNULL(1);

/* Return the phase that an item is of (NULL: the whole run), and the name, subject, label and unit
 * of the figure as in account.h. Text from outside. */
VITALS_API const char *vitals_compared_phase(const vitals_compared *item) VITALS_NONNULL(1);
VITALS_API const char *vitals_compared_name(const vitals_compared *item) VITALS_NONNULL(1);
VITALS_API const char *vitals_compared_subject(const vitals_compared *item) VITALS_NONNULL(1);
VITALS_API const char *vitals_compared_label(const vitals_compared *item) VITALS_NONNULL(1);
VITALS_API const char *vitals_compared_unit(const vitals_compared *item) VITALS_NONNULL(1);

/* Return a statistic over the runs of a session, given by its index from 0; how good its values
 * are; and how it stands to the first session. */
VITALS_API double vitals_compared_value(const vitals_compared *item, size_t session,
                                        vitals_statistic statistic) VITALS_NONNULL(1);
VITALS_API vitals_availability vitals_compared_state(const vitals_compared *item, size_t session)
    VITALS_NONNULL(1);
VITALS_API vitals_verdict vitals_compared_verdict(const vitals_compared *item, size_t session)
    VITALS_NONNULL(1);

/* Return the change of a session's mean as a share of the first's (-0.2: 20 % less; NaN of
 * nothing), and how probable such a change is by chance (NaN: too few runs to tell). */
VITALS_API double vitals_compared_change(const vitals_compared *item, size_t session)
    VITALS_NONNULL(1);
VITALS_API double vitals_compared_probability(const vitals_compared *item, size_t session)
    VITALS_NONNULL(1);

/* Writes the comparison, which was computed before, as TEXT, JSON or GPU_TRACKER. `options` may be
 * NULL. Errors: EARGUMENT (not computed; no such form, unit or statistic), EMEMORY, ESYSTEM
 * (`write` stopped). */
VITALS_API VITALS_CHECKED int vitals_comparison_report(const vitals_comparison *comparison,
                                                       vitals_report_form form,
                                                       const vitals_report_options *options,
                                                       vitals_write_fn *write, void *data,
                                                       vitals_error *error) VITALS_NONNULL(1, 4);

#ifdef __cplusplus
}
#endif

#endif
