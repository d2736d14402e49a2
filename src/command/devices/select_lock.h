/* select_lock.h: keeps other jobs off a device: one file for each device in a folder that all users
 * share, and a lock of its open file (F_OFD_SETLK), which lives as long as somebody has that open:
 * the job, and what the job hands its descriptors to. Nothing is written into the files, and they
 * stay. Thread rule: one thread. */
#ifndef VITALS_COMMAND_DEVICES_SELECT_LOCK_H
#define VITALS_COMMAND_DEVICES_SELECT_LOCK_H

#include "command/command.h"

enum { LOCK_NAME = 128 };

/* The folder: what --lock-folder says, else /run/lock where everybody may make files in it, else
 * /tmp: the same for every user. A descriptor, or -1 after a message. */
int lock_folder_open(const struct settings *settings);

/* Whether another job has a device locked, without touching the lock. `uuid` names the device.
 * 1: it has; 0: no; negative errno: it cannot be told (ELOOP: a link lies there; EINVAL: something
 * that is no plain file). */
int lock_is_held(int folder, const char *uuid);

/* Locks it: a descriptor that is closed on exec; -EAGAIN where somebody else was first; another
 * negative errno as above. */
int lock_take(int folder, const char *uuid);

/* Says what is wrong with it. */
void lock_complain(const char *uuid, int error);

/* Keeps it open over exec. */
bool lock_keep(int descriptor);

#endif
