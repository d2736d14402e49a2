/* exit_records.c: see exit_records.h. */
#include "os/linux/accounting/exit_records.h"
#include "os/linux/accounting/pid_chain.h"

#include "os/linux/accounting/taskstats.h"
#include "os/linux/netlink.h"
#include "util/memory.h"

#include <errno.h>
#include <linux/acct.h>
#include <linux/genetlink.h>
#include <linux/taskstats.h>
#include <string.h>

/* Fields are appended and never moved; the newest one that is needed was added in version 12. */
enum { STATS_BYTES = offsetof(struct taskstats, ac_tgid) + sizeof(uint32_t), KIB = 1024 };

int exit_record_parse(const char *bytes, size_t size, struct exit_record *out)
{
    struct cursor attributes;
    struct span nested, told;
    struct taskstats stats;
    int code = linux_parse_generic(bytes, size, &attributes);
    if (code < 0)
        return code;
    if (!netlink_attribute_find(attributes, TASKSTATS_TYPE_AGGR_PID, &nested) ||
        !netlink_attribute_find(cursor_over(nested.bytes, nested.size), TASKSTATS_TYPE_STATS,
                                &told))
        return -EBADMSG;
    if (told.size < STATS_BYTES)
        return -ENOTSUP;
    memcpy(&stats, told.bytes, STATS_BYTES);
    bool last = (stats.ac_flag & AGROUP) != 0;
    uint64_t peak_bytes = last ? saturating_mul(stats.hiwater_rss, KIB) : 0;
    *out = (struct exit_record){
        .pid = stats.ac_pid,
        .group = stats.ac_tgid,
        .parent = stats.ac_ppid,
        .last = last,
        .used = {.processes = last,
                 .cpu_ns = stats.cpu_run_virtual_total,
                 .user_us = stats.ac_utime,
                 .system_us = stats.ac_stime,
                 .largest_bytes = peak_bytes,
                 .sum_bytes = peak_bytes,
                 .read_bytes = stats.read_bytes,
                 .written_bytes = stats.write_bytes,
                 .minor_faults = stats.ac_minflt,
                 .major_faults = stats.ac_majflt,
                 .voluntary = stats.nvcsw,
                 .involuntary = stats.nivcsw,
                 .call_read_bytes = stats.read_char, /* whole KiB */
                 .call_written_bytes = stats.write_char},
    };
    return 0;
}

/* Between a parent's record and the reparenting of its children, one of them can end and name the
 * parent that has already ended. */
enum { RECENT = 4096, WAYS = 4, HOPS_MAX = 16 };

struct ended {
    uint32_t pid, parent;
    bool taken; /* a reaped child of the launcher */
};

/* Usage of ended processes below one that lives, or that is not reaped yet. */
struct exit_record_node {
    struct pid_node node;
    struct exit_sums sums;
};

struct exit_tree {
    uint32_t launcher;
    bool cut;
    struct pid_chain nodes;
    /* Indexed by pid modulo its size, because pids are assigned in order; the newest of each index
     * first. It is large enough to be allocated directly from the system, zeroed: an entry that is
     * never used takes no memory. */
    struct ended recent[RECENT][WAYS];
};

struct exit_tree *exit_tree_new(uint32_t launcher)
{
    struct exit_tree *tree = memory_alloc(sizeof *tree);
    if (tree != NULL)
        tree->launcher = launcher;
    return tree;
}

static struct exit_record_node *node_of(struct exit_tree *tree, uint32_t pid)
{
    struct exit_record_node *node = pid_chain_find(&tree->nodes, pid);
    if (node == NULL)
        node = pid_chain_add(&tree->nodes, pid, sizeof *node);
    tree->cut |= node == NULL;
    return node;
}

void exit_sums_add(struct exit_sums *to, const struct exit_sums *from)
{
#define ADD(member, join, ...) to->member = join(to->member, from->member);
    EXIT_SUMS(ADD)
#undef ADD
}

static struct ended *ended_find(struct exit_tree *tree, uint32_t pid)
{
    struct ended *place = tree->recent[pid % RECENT];
    for (size_t i = 0; i < WAYS; i++) {
        if (place[i].pid == pid)
            return &place[i];
    }
    return NULL;
}

void exit_tree_add(struct exit_tree *tree, const struct exit_record *record)
{
    uint32_t pid = record->group;
    struct ended *ended = ended_find(tree, pid);
    if (ended != NULL) /* a second record with the pid is from another process */
        *ended = (struct ended){0};
    struct exit_record_node *node = node_of(tree, pid);
    if (node == NULL)
        return;
    exit_sums_add(&node->sums, &record->used);
    if (!record->last)
        return;

    /* The usage goes to the nearest living ancestor, because the parent may just have ended; to the
     * launcher's child if the chain leads to the launcher. If that child was already reaped, its
     * orphan is reaped by the launcher. */
    uint32_t parent = record->parent;
    for (size_t hops = 0; hops < HOPS_MAX; hops++) {
        ended = ended_find(tree, parent);
        if (parent == 0 || ended == NULL)
            break;
        if (ended->parent == tree->launcher) {
            parent = ended->taken ? tree->launcher : parent;
            break;
        }
        parent = ended->parent;
    }
    struct ended *recent = tree->recent[pid % RECENT];
    memmove(recent + 1, recent, (WAYS - 1) * sizeof *recent);
    recent[0] = (struct ended){.pid = pid, .parent = parent};
    if (parent == tree->launcher)
        return; /* until it is reaped */
    struct exit_record_node *to = node_of(tree, parent), *from = pid_chain_find(&tree->nodes, pid);
    if (to == NULL || from == NULL || to == from)
        return;
    exit_sums_add(&to->sums, &from->sums);
    pid_chain_remove(&tree->nodes, &from->node);
}

bool exit_tree_take(struct exit_tree *tree, uint32_t pid, struct exit_sums *sums)
{
    struct exit_record_node *node = pid_chain_find(&tree->nodes, pid);
    struct ended *ended = ended_find(tree, pid);
    bool told = ended != NULL && !ended->taken;
    if (ended != NULL)
        ended->taken = true;
    if (node == NULL)
        return told; /* its parent at that time is charged */
    exit_sums_add(sums, &node->sums);
    pid_chain_remove(&tree->nodes, &node->node);
    return true;
}

bool exit_tree_is_cut(const struct exit_tree *tree)
{
    return tree->cut;
}

void exit_tree_free(struct exit_tree *tree)
{
    if (tree == NULL)
        return;
    pid_chain_done(&tree->nodes);
    memory_free(tree);
}
