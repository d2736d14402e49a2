/* process.h: a live handle on one process, for what is asked once and not watched.
 *
 * A row of a snapshot says what was; a handle asks the process itself, and proves at each call
 * that it still is the same one: it keeps a descriptor of it, so that a pid which was given to
 * somebody else answers VITALS_EGONE and never lends its data or receives the signal.
 * One thread at a time per handle. Answers are objects of their own, yours to free. */
#ifndef VITALS_PROCESS_H
#define VITALS_PROCESS_H

#include <stddef.h>
#include <stdint.h>

#include <vitals/snapshot.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vitals_process vitals_process;

/* By pid: the process that has it now. Errors: EARGUMENT (below 1), EGONE (nobody has it, or only a
 * thread), EDENIED, EMEMORY, ESYSTEM. Cost: 6 system calls. */
VITALS_API VITALS_CHECKED int vitals_process_open(vitals_context *context, int64_t pid,
                                                  vitals_process **out, vitals_error *error)
    VITALS_NONNULL(1, 3);

/* By a row of the table process: EGONE unless the process of that row still lives (same boot,
 * same pid namespace, same pid, same start). EARGUMENT for a row of another table or one whose
 * request did not ask for pid and start_seconds. */
VITALS_API VITALS_CHECKED int vitals_process_of(vitals_context *context, const vitals_row *row,
                                                vitals_process **out, vitals_error *error)
    VITALS_NONNULL(1, 2, 3);

VITALS_API void vitals_process_free(vitals_process *process);

VITALS_API int64_t vitals_process_pid(const vitals_process *process) VITALS_NONNULL(1);
VITALS_API double vitals_process_start_seconds(const vitals_process *process)
    VITALS_NONNULL(1); /* since boot */

/* 1 while it lives (a zombie too), 0 once it is reaped. */
VITALS_API int vitals_process_is_running(vitals_process *process) VITALS_NONNULL(1);

/* Sends a signal through its pidfd: to it, or to nobody. Errors: EGONE, EDENIED, EARGUMENT (no
 * such signal), EUNSUPPORTED (a kernel without pidfd, or a process of another /proc). */
VITALS_API VITALS_CHECKED int vitals_process_signal(vitals_process *process, int signal,
                                                    vitals_error *error) VITALS_NONNULL(1);

/* Its environment as it was when its program began. */
typedef struct vitals_environment vitals_environment;

/* Errors: EGONE, EDENIED, EMEMORY. Longer than 16 MiB is cut, and truncated() says so. */
VITALS_API VITALS_CHECKED int vitals_process_environment(vitals_process *process,
                                                         vitals_environment **out,
                                                         vitals_error *error) VITALS_NONNULL(1, 2);
VITALS_API void vitals_environment_free(vitals_environment *environment);

/* Entries in the order of the process; empty ones are left out. An entry without '=' has the
 * whole for its name and an empty value. */
VITALS_API size_t vitals_environment_count(const vitals_environment *environment) VITALS_NONNULL(1);
VITALS_API vitals_text vitals_environment_name(const vitals_environment *environment, size_t index)
    VITALS_NONNULL(1);
VITALS_API vitals_text vitals_environment_value(const vitals_environment *environment, size_t index)
    VITALS_NONNULL(1);

/* The value of the last entry with that name; 1 where there is one, else 0 and *out untouched. */
VITALS_API int vitals_environment_find(const vitals_environment *environment, const char *name,
                                       vitals_text *out) VITALS_NONNULL(1, 2, 3);
VITALS_API int vitals_environment_truncated(const vitals_environment *environment)
    VITALS_NONNULL(1);

#ifdef __cplusplus
}
#endif

#endif
