/* select_lock.h: keeps other jobs off a device: one file for each device in a folder that all users
 * share, and a lock of its open file (F_OFD_SETLK). The lock lives as long as a process has the
 * file open: the job, and every process that inherits its descriptors. Nothing is written into the
 * files, and they stay. Thread rule: one thread. */
#ifndef VITALS_COMMAND_DEVICES_SELECT_LOCK_H
#define VITALS_COMMAND_DEVICES_SELECT_LOCK_H

#include "command/command.h"

enum { LOCK_NAME = 128 };

/* Opens the folder: that of --lock-folder, else /run/lock if every user may create files there,
 * else /tmp, so that it is the same for all users. Returns a descriptor, or -1 after a message. */
int lock_folder_open(const struct settings *settings);

/* Returns 1 if another job has locked a device, 0 if not, without touching the lock; or a negative
 * errno (ELOOP: a link lies there; EINVAL: not a plain file). `uuid` names the device. */
int lock_is_held(int folder, const char *uuid);

/* Locks it. Returns a descriptor that is closed on exec; -EAGAIN if another job was first; or
 * another negative errno as above. */
int lock_take(int folder, const char *uuid);

/* Says what is wrong with it. */
void lock_complain(const char *uuid, int error);

/* Keeps it open over exec. */
bool lock_keep(int descriptor);

#endif
