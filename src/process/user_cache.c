/* user_cache.c: names of users and groups, because asking for one may read files or wait for a
 * network; and those of containers, which workload/names.c keeps.
 *
 * A name is kept for a minute, so that a changed one is seen, and all are forgotten when there are
 * too many. Owned by one thread: no lock. */
#include "process/reader.h"
#include "workload/names.h"

#include "util/hash.h"
#include "util/memory.h"
#include "util/number.h"

#include <errno.h>
#include <string.h>

enum { NAMES_MAX = 4096, NAME_MAX_BYTES = 256 };

struct user_cache_name {
    uint64_t read_ns;
    struct shared_text *text; /* NULL: none was kept for want of memory */
    bool known;               /* false: it could not be asked for */
};

struct user_cache {
    struct user_cache_name *names;
    size_t count, capacity;
    struct hash places[2]; /* of each kind: id → index */
    struct workload_names *containers;
};

struct user_cache *user_cache_new(void)
{
    return memory_alloc(sizeof(struct user_cache));
}

static void forget(struct user_cache *cache)
{
    for (size_t i = 0; i < cache->count; i++)
        shared_text_unref(cache->names[i].text);
    cache->count = 0;
    for (size_t i = 0; i < ARRAY_COUNT(cache->places); i++)
        hash_reset(&cache->places[i]);
}

void user_cache_free(struct user_cache *cache)
{
    if (cache == NULL)
        return;
    forget(cache);
    for (size_t i = 0; i < ARRAY_COUNT(cache->places); i++)
        hash_done(&cache->places[i]);
    memory_free(cache->names);
    workload_names_free(cache->containers);
    memory_free(cache);
}

const struct shared_text *user_cache_name(struct user_cache *cache, const vitals_clock *clock,
                                          enum user_kind kind, uint64_t id, bool *lacking)
{
    struct user_cache_name *kept;
    const uintptr_t *place = hash_find(&cache->places[kind], id);
    if (place != NULL) {
        kept = &cache->names[*place];
    } else {
        if (cache->count >= NAMES_MAX)
            forget(cache);
        void *names = cache->names;
        if (memory_grow(&names, &cache->capacity, cache->count, sizeof *cache->names) < 0)
            return NULL;
        cache->names = names;
        if (hash_set(&cache->places[kind], id, cache->count) < 0)
            return NULL;
        kept = &cache->names[cache->count++];
        *kept = (struct user_cache_name){0};
    }
    uint64_t now = clock->monotonic_ns(clock->data);
    if (kept->known && now - kept->read_ns < 60 * NS_PER_SECOND)
        return kept->text;
    char name[NAME_MAX_BYTES];
    int result = kind == USER_NAME ? os_user_name(id, name, sizeof name)
                                   : os_group_name(id, name, sizeof name);
    bool refused = result == -EMFILE || result == -ENFILE;
    *lacking = *lacking || refused;
    if (refused && kept->text != NULL)
        return kept->text;
    if (result < 0)
        number_print_u64(name, id);
    if (!shared_text_equal(kept->text, name, strlen(name))) {
        struct shared_text *fresh = shared_text_new(name, strlen(name));
        if (fresh == NULL)
            return NULL;
        shared_text_unref(kept->text);
        kept->text = fresh;
    }
    kept->known = !refused;
    kept->read_ns = now;
    return kept->text;
}

struct workload_names *user_cache_containers(struct user_cache *cache)
{
    if (cache->containers == NULL)
        cache->containers = workload_names_new();
    return cache->containers;
}
