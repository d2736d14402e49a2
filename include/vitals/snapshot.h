/* snapshot.h: what was read at one moment. Data only.
 *
 * A snapshot holds tables of rows. A snapshot is immutable, may be read from any thread, and
 * outlives the sampler and the context that it came from. Whatever a function here returns is
 * borrowed from the snapshot and lives until its last unref. Reading costs no system call and
 * allocates nothing (but vitals_row_command, into a large buffer). Behind the bytes of every text
 * stands a NUL that is not counted.
 *
 * A row has a key, 1 … 2^53, unique within its table and never given again to anything else by the
 * same sampler; rows stand in the order of keys. In an answer of a handle (process.h) keys of
 * threads and descriptors are the system's, which gives them again. It has the moment when it was
 * read (its stamp), a label that is safe to print, and, in tables with a parent, the key of its
 * parent: a row of that table which need not be in the snapshot, or 0 where it has none or it is
 * not known. A value is read by its metric; the result says how good it is, or why there is none.
 */
#ifndef VITALS_SNAPSHOT_H
#define VITALS_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include <vitals/availability.h>
#include <vitals/catalogue.h>
#include <vitals/context.h>
#include <vitals/text.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vitals_snapshot vitals_snapshot;
typedef struct vitals_row vitals_row;

/* Takes one snapshot of the sets (enum vitals_set); *out is yours to unref. It waits at most 2 s
 * for sources that have not answered yet, as while a driver is loaded (sampler.h). Errors:
 * EARGUMENT, EMEMORY. Thread: any, the context being immutable. Cost: that of a sampler's first
 * tick, which opens each process, starts the threads that the sets need and loads drivers, and of
 * giving all that up again: some 4 to 10 times the CPU time of a later tick. To read more than once
 * use a sampler, which keeps what it learned. */
VITALS_API VITALS_CHECKED int vitals_snapshot_take(vitals_context *context, unsigned sets,
                                                   vitals_snapshot **out, vitals_error *error)
    VITALS_NONNULL(1, 3);

/* Takes a reference to a snapshot, and releases one. Ref returns the snapshot. A borrowed snapshot,
 * such as that of a row, may be referenced too. Unref accepts NULL. Releasing more than was taken
 * ends the program (abort), as free(3) does where it finds a pointer freed twice: the snapshot
 * would change while another thread reads it. It is found while the library itself still holds the
 * snapshot. */
VITALS_API vitals_snapshot *vitals_snapshot_ref(const vitals_snapshot *snapshot) VITALS_NONNULL(1);
VITALS_API void vitals_snapshot_unref(vitals_snapshot *snapshot);

/* Return the machine on which it was read: a pid is unique only together with all three. */
VITALS_API vitals_text vitals_snapshot_host(const vitals_snapshot *snapshot) VITALS_NONNULL(1);
VITALS_API vitals_text vitals_snapshot_boot_id(const vitals_snapshot *snapshot) VITALS_NONNULL(1);
VITALS_API uint64_t vitals_snapshot_pid_namespace(const vitals_snapshot *snapshot)
    VITALS_NONNULL(1); /* inode number; 0: not known */

/* Return when the reading was complete, by three clocks, and its number, from 1. */
VITALS_API uint64_t vitals_snapshot_realtime_ns(const vitals_snapshot *snapshot) VITALS_NONNULL(1);
VITALS_API uint64_t vitals_snapshot_boottime_ns(const vitals_snapshot *snapshot) VITALS_NONNULL(1);
VITALS_API uint64_t vitals_snapshot_monotonic_ns(const vitals_snapshot *snapshot) VITALS_NONNULL(1);
VITALS_API uint64_t vitals_snapshot_sequence(const vitals_snapshot *snapshot) VITALS_NONNULL(1);

/* Returns the stream, a random number of the sampler that gave the keys, 1 … 2^53; 0: not known.
 * Keys of two snapshots mean the same only if both are of one stream. */
VITALS_API uint64_t vitals_snapshot_stream(const vitals_snapshot *snapshot) VITALS_NONNULL(1);

/* Return 1 if a table, or a column, was requested, else 0. */
VITALS_API int vitals_snapshot_has_table(const vitals_snapshot *snapshot, vitals_table entity)
    VITALS_NONNULL(1);
VITALS_API int vitals_snapshot_has_metric(const vitals_snapshot *snapshot, vitals_metric metric)
    VITALS_NONNULL(1);

/* Returns how complete the rows of a table are: HAVE; a reservation (LOWER_BOUND: some may not be
 * looked at, such as processes that a /proc with hidepid does not list); the reason why there are
 * none; NOT_REQUESTED for a table that was not asked for. */
VITALS_API vitals_availability vitals_snapshot_state(const vitals_snapshot *snapshot,
                                                     vitals_table entity) VITALS_NONNULL(1);

/* Returns the number of rows of a table. */
VITALS_API size_t vitals_snapshot_count(const vitals_snapshot *snapshot, vitals_table entity)
    VITALS_NONNULL(1);

/* Rows of VITALS_TABLE_SOURCE with this key or a higher one are back ends, a driver each; what
 * reads processes and the machine has lower ones. */
enum { VITALS_SOURCE_BACK_ENDS = 16 };

/* Returns the row after `previous` (NULL: the first row), or NULL after the last. */
VITALS_API const vitals_row *vitals_snapshot_next(const vitals_snapshot *snapshot,
                                                  vitals_table entity, const vitals_row *previous)
    VITALS_NONNULL(1);

/* Returns the next row whose parent has the key `parent` (0: rows without a parent), or NULL after
 * the last. Binary search. */
VITALS_API const vitals_row *vitals_snapshot_next_child(const vitals_snapshot *snapshot,
                                                        vitals_table entity, uint64_t parent,
                                                        const vitals_row *previous)
    VITALS_NONNULL(1);

/* Returns the row with the key, or NULL. Binary search. */
VITALS_API const vitals_row *vitals_snapshot_find(const vitals_snapshot *snapshot,
                                                  vitals_table entity, uint64_t key)
    VITALS_NONNULL(1);

/* Returns the row of the process with that pid, or NULL: there is none, or the table does not have
 * the column pid, which vitals_snapshot_has_metric tells. Looks at each row of the table. */
VITALS_API const vitals_row *vitals_snapshot_find_pid(const vitals_snapshot *snapshot, int64_t pid)
    VITALS_NONNULL(1);

/* Returns the row at an index, from 0, or NULL past the end. */
VITALS_API const vitals_row *vitals_snapshot_row(const vitals_snapshot *snapshot,
                                                 vitals_table entity, size_t index)
    VITALS_NONNULL(1);

/* Returns the keys of all rows, in their order; NULL and a count of 0 if the table was not
 * requested. `count` may be NULL. */
VITALS_API const uint64_t *vitals_snapshot_keys(const vitals_snapshot *snapshot,
                                                vitals_table entity, size_t *count)
    VITALS_NONNULL(1);

/* Returns a whole column: `count` cells of 8 bytes (uint64_t, int64_t or double by the metric's
 * type) and as many availabilities, in the order of rows; both may be NULL. Where the column was
 * not asked for, or holds text, all three are NULL or 0. A cell whose availability is not above
 * zero holds nothing meaningful. */
VITALS_API const void *vitals_snapshot_column(const vitals_snapshot *snapshot, vitals_metric metric,
                                              const signed char **availabilities, size_t *count)
    VITALS_NONNULL(1);

/* Returns a whole text column: `count` texts and as many availabilities, in the order of rows; both
 * may be NULL. A missing text is empty. Where the column was not asked for, or holds numbers, all
 * three are NULL or 0. */
VITALS_API const vitals_text *vitals_snapshot_texts(const vitals_snapshot *snapshot,
                                                    vitals_metric metric,
                                                    const signed char **availabilities,
                                                    size_t *count) VITALS_NONNULL(1);

/* Copies a whole text column into one piece of memory, the texts one behind the other, without
 * NULs between them. Row i has the bytes from offsets[i] to offsets[i + 1]: the form of Arrow's
 * large_binary, for languages in which a call per value is dear. `offsets` has room for one more
 * than there are rows, and is not written where there is no such column; it may be NULL. Writes at
 * most `capacity` bytes of text and returns how many there are: first call it with a capacity of 0,
 * where `out` may be NULL. */
VITALS_API size_t vitals_snapshot_pack_texts(const vitals_snapshot *snapshot, vitals_metric metric,
                                             char *out, size_t capacity, int64_t *offsets)
    VITALS_NONNULL(1);

/* Return what every row has. Of no row (NULL), as a look-up gives it that finds none, and which
 * each function of a row accepts: NULL, VITALS_TABLE_NONE, 0, and "" as the label. */
VITALS_API const vitals_snapshot *vitals_row_snapshot(const vitals_row *row);
VITALS_API vitals_table vitals_row_table(const vitals_row *row);
VITALS_API uint64_t vitals_row_key(const vitals_row *row);
VITALS_API uint64_t vitals_row_parent(const vitals_row *row);   /* 0: none */
VITALS_API uint64_t vitals_row_stamp_ns(const vitals_row *row); /* monotonic */
VITALS_API const char *vitals_row_label(const vitals_row *row);

/* Reads a value of a row. If the result is above zero, *out was written. VITALS_WRONG_METRIC: the
 * metric is of another table or another type, or there is no row (NULL); integers are not
 * converted. */
VITALS_API VITALS_CHECKED vitals_availability vitals_row_u64(const vitals_row *row,
                                                             vitals_metric metric, uint64_t *out)
    VITALS_NONNULL(3);
VITALS_API VITALS_CHECKED vitals_availability vitals_row_i64(const vitals_row *row,
                                                             vitals_metric metric, int64_t *out)
    VITALS_NONNULL(3);
VITALS_API VITALS_CHECKED vitals_availability vitals_row_f64(const vitals_row *row,
                                                             vitals_metric metric, double *out)
    VITALS_NONNULL(3);
VITALS_API VITALS_CHECKED vitals_availability vitals_row_text(const vitals_row *row,
                                                              vitals_metric metric,
                                                              vitals_text *out) VITALS_NONNULL(3);

/* Reads any numeric metric as a double, for drawing and for arithmetic. */
VITALS_API VITALS_CHECKED vitals_availability vitals_row_number(const vitals_row *row,
                                                                vitals_metric metric, double *out)
    VITALS_NONNULL(3);

/* Returns how good a value is, or why there is none, without the value. */
VITALS_API vitals_availability vitals_row_availability(const vitals_row *row, vitals_metric metric);

/* Returns when a value was read, by the monotonic clock: its own time if it is read at a cadence of
 * its own or came late, else the row's stamp. 0: the column was not requested. */
VITALS_API uint64_t vitals_row_read_ns(const vitals_row *row, vitals_metric metric);

/* Returns how old a value was when its snapshot was complete, in seconds; never below 0. NaN where
 * the column was not asked for. */
VITALS_API double vitals_row_age_seconds(const vitals_row *row, vitals_metric metric);

/* Reads the pid of a row, from the column pid of its table, as calls that take a pid want it.
 * WRONG_METRIC: the table has no such column. */
VITALS_API VITALS_CHECKED vitals_availability vitals_row_pid(const vitals_row *row, int64_t *out)
    VITALS_NONNULL(2);

/* Writes any metric as a person reads it, for printf: text in the form, process.command_line as a
 * command line (vitals_text_command), moments as a date in UTC ("2026-11-28T09:30:00Z"), other
 * numbers as vitals_metric_format writes them, a limit that is none as "unlimited", and where there
 * is no value the word for the reason: "denied". It is written into `out` (capacity bytes,
 * NUL-terminated) and cut between characters where it does not fit. Returns `out`; "" for a
 * capacity of 0. vitals_row_availability says whether it is a value or a reason; for a limit that
 * is none it is UNSUPPORTED, and the column soft_unlimited or hard_unlimited is 1. */
VITALS_API const char *vitals_row_string(const vitals_row *row, vitals_metric metric,
                                         vitals_text_form form, char *out, size_t capacity);

/* Writes the command line of a process on one line, as a shell would read it back
 * (vitals_text_command), in the form and so safe to print: of a row of process, or of gpu_process
 * if the snapshot has its process. Without arguments, as of a kernel thread, the name in brackets:
 * "[kthreadd]"; of a zombie with " (zombie)" behind, where the request names state. The name alone
 * if the request does not name command_line. Without a name the word for the reason. Returns as
 * vitals_row_string. Cost: where capacity is above 4096 it allocates as much, and frees it; if
 * memory is out the line is cut at 4095 bytes. */
VITALS_API const char *vitals_row_command(const vitals_row *row, vitals_text_form form, char *out,
                                          size_t capacity);

/* Computes the growth of a counter per second between an older snapshot and this row, over the time
 * between the readings of the two values. Where there is none:
 * - WRONG_METRIC: the metric is no counter, or of another table, or there is no row.
 * - The reason of this row's value, where that is missing.
 * - NOT_YET: `older` is NULL, of another boot, pid namespace or stream, or does not have the row or
 *   its value; something that cannot move, as a start time, is not the same; the older value was
 *   not read earlier (equal: it was not due, and is the same reading), or is more; one of the two
 *   is stale; or the window is shorter than nine steps of the counter. Keep ten steps of history
 *   for a rate of it, ten times vitals_metric_resolution_ns: of samples at that interval each has
 *   a rate, as one may come early by a tenth.
 * - FAILED: the result is not finite.
 * What is above zero is the worse of the two values'. A bound of the older value turns round: what
 * was at least that has grown by at most this. Bounds from both sides leave an estimate. */
VITALS_API VITALS_CHECKED vitals_availability vitals_row_rate(const vitals_row *row,
                                                              const vitals_snapshot *older,
                                                              vitals_metric metric, double *out)
    VITALS_NONNULL(4);

/* Computes the growth of a counter, and the time over which it grew (may be NULL). As
 * vitals_row_rate without the division; no shortest window applies. */
VITALS_API VITALS_CHECKED vitals_availability vitals_row_growth(const vitals_row *row,
                                                                const vitals_snapshot *older,
                                                                vitals_metric metric, double *out,
                                                                double *window_seconds)
    VITALS_NONNULL(4);

/* Receives bytes in order; returns 0, or anything else to stop. */
typedef int vitals_write_fn(void *data, const char *bytes, size_t size);

/* A vitals_write_fn for a stream of stdio: vitals_snapshot_json(snapshot, vitals_file_write,
 * stdout, &error). `file` is the FILE *. Returns 0, or the errno of fwrite(3) where it could not
 * write all.
 */
VITALS_API int vitals_file_write(void *file, const char *bytes, size_t size) VITALS_NONNULL(1);

/* Writes the snapshot as one JSON document on one line, without a newline at its end. The form
 * is docs/schema/snapshot.json; reading it back and writing it again gives the same bytes. It needs
 * 16 KiB of stack and allocates nothing. Errors: ESYSTEM (the writer stopped; error.detail is what
 * it returned). */
VITALS_API VITALS_CHECKED int vitals_snapshot_json(const vitals_snapshot *snapshot,
                                                   vitals_write_fn *write, void *data,
                                                   vitals_error *error) VITALS_NONNULL(1, 2);

#ifdef __cplusplus
}
#endif

#endif
