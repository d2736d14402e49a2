/* births.c: see births.h. */
#include "os/linux/process/births.h"

#include "os/linux/netlink.h"

#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <stddef.h>
#include <string.h>

/* The most pids remembered, ended processes included; more set `cut`. */
enum { MEMBERS_MAX = 1 << 16 };

enum {
    EVENT = sizeof(struct cn_msg), /* where it begins */
    DATA = EVENT + offsetof(struct proc_event, event_data),
    FORK_BYTES = sizeof(((struct proc_event *)0)->event_data.fork),
    ACK_BYTES = sizeof(((struct proc_event *)0)->event_data.ack),
    WHAT_FORK = 1, /* PROC_EVENT_FORK: in other places with each header */
};

void births_add(struct births *births, uint32_t pid)
{
    if (births_has(births, pid))
        return;
    births->count++;
    if (births->members.count >= MEMBERS_MAX || hash_set(&births->members, pid, 0) != 0)
        births->cut = true;
    else if (births->added != NULL)
        births->added(births->data, pid);
}

void births_remove(struct births *births, uint32_t pid)
{
    hash_remove(&births->members, pid);
}

bool births_has(const struct births *births, uint32_t pid)
{
    return hash_find(&births->members, pid) != NULL;
}

void births_take(struct births *births, const char *bytes, size_t size)
{
    struct cursor at = cursor_over(bytes, size);
    struct nlmsghdr header;
    struct span message;
    while (netlink_message_next(&at, &header, &message) == 1) {
        struct cn_msg head;
        struct proc_event event = {0};
        if (message.size < DATA + ACK_BYTES)
            continue;
        memcpy(&head, message.bytes, sizeof head);
        memcpy(&event, message.bytes + EVENT, size_min(message.size - EVENT, sizeof event));
        if (head.id.idx != CN_IDX_PROC || head.id.val != CN_VAL_PROC)
            continue;
        if ((unsigned)event.what == 0)
            births->heard |= event.event_data.ack.err == 0 && /* others hear the answer too */
                             head.ack == births->question + 1;
        if ((unsigned)event.what != WHAT_FORK || message.size < DATA + FORK_BYTES)
            continue;

        // A new thread is not born: its process was.
        uint32_t parent = (uint32_t)event.event_data.fork.parent_tgid;
        uint32_t thread = (uint32_t)event.event_data.fork.child_pid;
        uint32_t child = (uint32_t)event.event_data.fork.child_tgid;
        bool born = thread == child && births_has(births, parent);
        if (thread == child && (births->settled || !born) && births_has(births, child)) {
            // Its pid has been given again.
            if (births->forgotten != NULL)
                births->forgotten(births->data, child);
            births_remove(births, child);
        }
        if (born)
            births_add(births, child);
    }
}

void births_done(struct births *births)
{
    hash_done(&births->members);
    *births = (struct births){0};
}
