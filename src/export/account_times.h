/* account_times.h: when a run was, by its account: what each that tells of its end goes by.
 *
 * Pure. */
#ifndef VITALS_EXPORT_ACCOUNT_TIMES_H
#define VITALS_EXPORT_ACCOUNT_TIMES_H

#include <jansson.h>
#include <stdint.h>

/* In ns since 1970; 0: it does not say. Both accept NULL. */
uint64_t account_began_ns(const json_t *account);
uint64_t account_ended_ns(const json_t *account);

#endif
