/* select.h: the parts of `vitals select`: locks, the environment of a job, CUDA's device order, and
 * why too few devices are found. One thread. */
#pragma once

#include "command/command.h"

/* ---- locks ----
 *
 * One file for each device in a folder that all users share, and a lock of its open file
 * (F_OFD_SETLK). The lock lives as long as a process has the file open: the job, and every process
 * that inherits its descriptors. Nothing is written into the files, and they stay. */

enum { LOCK_NAME = 128 };

/* Opens the folder: that of --lock-folder, else /run/lock if every user may create files there,
 * else /tmp, so that it is the same for all users. Returns a descriptor, or -1 after a message. */
int lock_folder_open(const struct settings *settings);

/* Returns 1 if another job has locked a device, 0 if not, without touching the lock; or a negative
 * errno (ELOOP: a link lies there; EINVAL: not a plain file). `uuid` names the device. */
int lock_is_held(int folder, const char *uuid);

/* Locks the device. Returns a descriptor that is closed on exec; -EAGAIN if another job was first;
 * or another negative errno as above. */
int lock_take(int folder, const char *uuid);

/* Prints a message that describes the error. */
void lock_complain(const char *uuid, int error);

/* Clears close-on-exec, so that the lock survives exec. */
bool lock_keep(int descriptor);

/* The environment of a job on these devices, all of one vendor: that of this process, without
 * variables that would hide some of the devices, and with the vendor's variable. Returns 0, or -1
 * if memory is exhausted. */
struct environment {
    char **items; /* ends with NULL */
    char *own;    /* the variable that was added */
};
int select_environment(const vitals_row *const *rows, size_t count, struct environment *out);
void select_environment_done(struct environment *environment);

/* The identifier of a device; its number among the devices of its vendor, partitions counted; and
 * the variable that its vendor's programs read, NULL if none is known. */
enum { SELECT_ID = 128 };
void select_uuid(const vitals_row *row, char out[static SELECT_ID]);
uint64_t select_ordinal(const vitals_row *row);
const char *select_variable(const vitals_row *row);

/* Writes the printed identifier: the UUID if the format is "uuid" and for a MIG device, else the
 * number in nvidia-smi; for partitions of other vendors the number in their tools. */
void select_id(const char *format, const vitals_row *row, char out[static SELECT_ID]);

/* ---- CUDA's device order ---- CUDA is asked in a process of its own: it reads
 * CUDA_VISIBLE_DEVICES, keeps threads, and may hang. */

/* Lists all of CUDA's devices, as vitals_cuda_enumerate writes them. Returns false if there is no
 * CUDA or it does not answer in ten seconds; the process is then left, and its own alarm kills
 * it. */
bool select_ask_cuda(char *out, size_t capacity);
