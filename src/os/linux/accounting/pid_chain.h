/* pid_chain.h: records of processes, found by pid and walked in a list. Thread rule: the caller's.
 */
#pragma once

#include "util/hash.h"
#include "util/memory.h"

/* The first member of a record. */
struct pid_node {
    uint32_t pid;
    struct pid_node *next, *before;
};

/* One of zeros is empty and usable. */
struct pid_chain {
    struct hash nodes;
    struct pid_node *first;
};

/* NULL: there is none. */
static inline void *pid_chain_find(const struct pid_chain *chain, uint32_t pid)
{
    const uintptr_t *found = hash_find(&chain->nodes, pid);
    return found != NULL ? (void *)*found : NULL;
}

/* Makes a record of zeros for a pid that has none; NULL: no memory. */
static inline void *pid_chain_add(struct pid_chain *chain, uint32_t pid, size_t size)
{
    struct pid_node *node = memory_alloc(size);
    if (node == NULL || hash_set(&chain->nodes, pid, (uintptr_t)node) != 0) {
        memory_free(node);
        return NULL;
    }
    node->pid = pid;
    node->next = chain->first;
    if (node->next != NULL)
        node->next->before = node;
    chain->first = node;
    return node;
}

static inline void pid_chain_remove(struct pid_chain *chain, struct pid_node *node)
{
    hash_remove(&chain->nodes, node->pid);
    if (node->next != NULL)
        node->next->before = node->before;
    if (node->before != NULL)
        node->before->next = node->next;
    else
        chain->first = node->next;
    memory_free(node);
}

static inline void pid_chain_done(struct pid_chain *chain)
{
    while (chain->first != NULL)
        pid_chain_remove(chain, chain->first);
    hash_done(&chain->nodes);
}
