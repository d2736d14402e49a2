/* sample.c: see sample.h. */
#include "export/sample.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "feed/feed_json.h"

struct moment {
    atomic_size_t holders;
    uint64_t came_ns;
    pthread_mutex_t mutex;
    bool read;                 /* guarded by mutex: the JSON was parsed */
    int code;                  /* guarded by mutex: result of parsing */
    vitals_error error;        /* guarded by mutex */
    vitals_snapshot *snapshot; /* guarded by mutex */
    size_t size;
    char json[];
};

/* One builder parses all samples, so that its memory is reused. */
static pthread_mutex_t builder_mutex = PTHREAD_MUTEX_INITIALIZER;
static vitals_builder *builder; /* guarded by builder_mutex */

struct moment *moment_new(const char *json, size_t size, uint64_t came_ns)
{
    struct moment *moment = malloc(sizeof *moment + size + 1);
    if (moment == NULL)
        return NULL;
    *moment = (struct moment){.came_ns = came_ns, .size = size};
    atomic_init(&moment->holders, 1);
    pthread_mutex_init(&moment->mutex, NULL);
    memcpy(moment->json, json, size);
    moment->json[size] = '\0';
    return moment;
}

struct moment *moment_ref(struct moment *moment)
{
    (void)atomic_fetch_add_explicit(&moment->holders, 1, memory_order_relaxed);
    return moment;
}

void moment_unref(struct moment *moment)
{
    if (moment == NULL || atomic_fetch_sub_explicit(&moment->holders, 1, memory_order_acq_rel) != 1)
        return;
    vitals_snapshot_unref(moment->snapshot);
    pthread_mutex_destroy(&moment->mutex);
    free(moment);
}

const char *moment_json(const struct moment *moment, size_t *size)
{
    *size = moment->size;
    return moment->json;
}

uint64_t moment_came_ns(const struct moment *moment)
{
    return moment->came_ns;
}

static int read_it(struct moment *moment)
{
    static const struct feed_place PLACE = {.path = "a sample", .line = 1};
    pthread_mutex_lock(&builder_mutex);
    int code = builder == NULL ? vitals_builder_new(&builder, &moment->error) : 0;
    if (code == 0)
        code = feed_json_read(&PLACE, moment->json, moment->size, builder, &moment->snapshot,
                              &moment->error);
    pthread_mutex_unlock(&builder_mutex);
    return code;
}

const vitals_snapshot *moment_snapshot(struct moment *moment, vitals_error *error)
{
    pthread_mutex_lock(&moment->mutex);
    if (!moment->read) {
        moment->code = read_it(moment);
        moment->read = true;
    }
    const vitals_snapshot *snapshot = moment->code < 0 ? NULL : moment->snapshot;
    if (snapshot == NULL && error != NULL)
        *error = moment->error;
    pthread_mutex_unlock(&moment->mutex);
    return snapshot;
}
