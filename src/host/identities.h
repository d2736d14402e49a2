/* identities.h: keys for rows that have none of their own: what a row is, its IDENTITY metrics,
 * gives it its key.
 *
 * The same identity keeps its key as long as it is there, reading for reading; one that left and
 * comes again has a new one. Two rows of one identity (the same file system mounted twice at one
 * place, two chips of one name) are told apart by their order.
 * Thread rule: one thread at a time. */
#pragma once

#include "model/row_batch.h"
#include "util/hash.h"

struct row_identity;

struct identities {
    struct hash places; /* of the identity's hash: where it stands in `items` */
    struct hash next;   /* of the hash without the occurrence: which one comes next */
    struct row_identity *items;
    size_t count, capacity;
    uint64_t keys;    /* given so far */
    uint64_t reading; /* the present one */
};

/* One of zeros is empty. */

/* Gives every row of the entity without a key one, and forgets those that are not there any more.
 * Returns 0 or VITALS_EMEMORY: then some have none. */
int identities_give(struct identities *identities, struct row_batch *batch, vitals_table entity);
void identities_done(struct identities *identities);
