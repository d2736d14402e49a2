/* user_cache.c: names of users, because asking for one may read files or wait for a network.
 *
 * A name is kept for a minute, so that a changed one is seen, and all are forgotten when there are
 * too many. Owned by one lane's thread: no lock. */
#include "process/detail.h"

#include "core/memory.h"
#include "core/number.h"

#include <string.h>

enum { USERS_MAX = 4096, NAME_MAX_BYTES = 256 };

struct user {
    uint64_t uid;
    uint64_t read_ns;
    struct shared_text *name;
};

struct user_cache {
    struct user *users;
    size_t count, capacity;
    struct hash places; /* uid → index */
    struct buffer text;
};

struct user_cache *user_cache_new(void)
{
    return memory_alloc(sizeof(struct user_cache));
}

static void forget(struct user_cache *cache)
{
    for (size_t i = 0; i < cache->count; i++)
        shared_text_unref(cache->users[i].name);
    cache->count = 0;
    hash_reset(&cache->places);
}

void user_cache_free(struct user_cache *cache)
{
    if (cache == NULL)
        return;
    forget(cache);
    hash_done(&cache->places);
    buffer_done(&cache->text);
    memory_free(cache->users);
    memory_free(cache);
}

struct buffer *user_cache_buffer(struct user_cache *cache)
{
    buffer_reset(&cache->text);
    return &cache->text;
}

/* The place of the user, made where there was none; NULL when memory is out. */
static struct user *user_of(struct user_cache *cache, uint64_t uid)
{
    const uintptr_t *place = hash_find(&cache->places, uid);
    if (place != NULL)
        return &cache->users[*place];
    if (cache->count >= USERS_MAX)
        forget(cache);
    void *users = cache->users;
    if (memory_grow(&users, &cache->capacity, cache->count, sizeof *cache->users) < 0)
        return NULL;
    cache->users = users;
    if (hash_set(&cache->places, uid, cache->count) < 0)
        return NULL;
    cache->users[cache->count] = (struct user){.uid = uid};
    return &cache->users[cache->count++];
}

struct shared_text *user_cache_name(struct user_cache *cache, const vitals_clock *clock,
                                    uint64_t uid)
{
    struct user *user = user_of(cache, uid);
    if (user == NULL)
        return NULL;
    uint64_t now = clock->monotonic_ns(clock->data);
    if (user->name != NULL && now - user->read_ns < 60 * NS_PER_SECOND)
        return shared_text_ref(user->name);
    char name[NAME_MAX_BYTES];
    if (!os_user_name(uid, name, sizeof name))
        number_print_u64(name, uid);
    if (!shared_text_equal(user->name, name, strlen(name))) {
        struct shared_text *fresh = shared_text_new(name, strlen(name));
        if (fresh == NULL)
            return NULL;
        shared_text_unref(user->name);
        user->name = fresh;
    }
    user->read_ns = now;
    return shared_text_ref(user->name);
}
