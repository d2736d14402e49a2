/* detail.h: what detail.c asks of user_cache.c. Thread rule: the lane that owns the cache. */
#ifndef VITALS_PROCESS_DETAIL_H
#define VITALS_PROCESS_DETAIL_H

#include "process/table.h"

/* The name of the user, or the number where it has none; a reference of the caller's own. NULL when
 * memory is out. May block. */
struct shared_text *user_cache_name(struct user_cache *cache, const vitals_clock *clock,
                                    uint64_t uid);

/* A buffer, empty, for the file that is being read. */
struct buffer *user_cache_buffer(struct user_cache *cache);

#endif
