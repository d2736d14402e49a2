/* taskstats.h: how taskstats is asked, by generic netlink. What is asked is its callers' affair.
 *
 * Thread rule: any thread, a descriptor in one at a time. */
#ifndef VITALS_OS_LINUX_ACCOUNTING_TASKSTATS_H
#define VITALS_OS_LINUX_ACCOUNTING_TASKSTATS_H

#include "util/cursor.h"

enum { TASKSTATS_REPLY = 4096 };

struct taskstats_question {
    uint16_t family, attribute;
    uint8_t command;
    const void *payload;
    size_t size;
};

/* Asks, and takes the answer. Returns its size or negative errno: -EAGAIN where nothing was
 * answered, since the kernel answers before sending returns. */
int64_t taskstats_ask(int descriptor, const struct taskstats_question *question,
                      char reply[static TASKSTATS_REPLY]);

/* The number of the family taskstats. 0 or negative errno; -ENOTSUP where there is none. */
int taskstats_family(int descriptor, uint16_t *family);

/* The attributes of the one message of generic netlink that an answer is. 0, the errno that it is,
 * or -EBADMSG. */
int linux_parse_generic(const char *bytes, size_t size, struct cursor *attributes);

#endif
