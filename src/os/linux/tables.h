/* tables.h: readers of whole tables, one file each. Each fills `out` with rows of its entity, with
 * the metrics that are wanted, and opens nothing for what is not. They return 0, or a negative
 * errno where the table cannot be read at all; what is only partly read says so with batch_state.
 * Parsers are pure, take (bytes, size) and are fuzzed.
 * Thread rule: any thread. */
#pragma once

#include "os/linux/linux.h"

/* ---- of the machine ---- */

int table_filesystems(const struct os *os, struct row_batch *out);
int table_mounts(const struct os *os, struct row_batch *out);
int table_sensors(const struct os *os, struct row_batch *out);
int table_addresses(const struct os *os, struct row_batch *out);
int table_logins(const struct os *os, struct row_batch *out);
int table_sockets(const struct os *os, struct row_batch *out);
int table_diagnosis(const struct os *os, struct row_batch *out);

/* ---- of one process ---- */

int table_threads(const struct os *os, int64_t pid, struct row_batch *out);
int table_descriptors(const struct os *os, int64_t pid, struct row_batch *out);
int table_mappings(const struct os *os, int64_t pid, struct row_batch *out);
int table_mapped_files(const struct os *os, int64_t pid, struct row_batch *out);
int table_environment(const struct os *os, int64_t pid, struct row_batch *out);
int table_limits(const struct os *os, int64_t pid, struct row_batch *out);
int table_process_sockets(const struct os *os, int64_t pid, struct row_batch *out);
