/* account_times.h: the begin and end of a run, as its account states them. Pure. */
#ifndef VITALS_EXPORT_ACCOUNT_TIMES_H
#define VITALS_EXPORT_ACCOUNT_TIMES_H

#include <jansson.h>
#include <stdint.h>

/* In ns since 1970; 0 if the account does not say. Both accept NULL. */
uint64_t account_began_ns(const json_t *account);
uint64_t account_ended_ns(const json_t *account);

#endif
