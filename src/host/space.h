/* space.h: the space on all disks together, from the rows of file systems.
 *
 * Thread rule: one thread at a time. */
#ifndef VITALS_HOST_SPACE_H
#define VITALS_HOST_SPACE_H

#include "model/row_batch.h"

/* Adds what the sums are made of. */
void space_want(struct metric_set *wanted);

/* Appends a row of host with the sums over the file systems that are counted: a lower bound where
 * one of them did not answer. */
void space_sum(struct row_batch *batch, uint64_t host_key);

#endif
