/* sample.c: see sample.h. */
#include "export/sample.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "feed/feed_json.h"

struct sample {
    atomic_size_t holders;
    uint64_t came_ns;
    pthread_mutex_t mutex;
    bool read;                 /* guarded by mutex: the JSON was parsed */
    vitals_snapshot *snapshot; /* guarded by mutex */
    size_t size;
    char json[];
};

/* One builder parses all samples, so that its memory is reused. */
static pthread_mutex_t builder_mutex = PTHREAD_MUTEX_INITIALIZER;
static vitals_builder *builder; /* guarded by builder_mutex */

struct sample *sample_new(const char *json, size_t size, uint64_t came_ns)
{
    struct sample *sample = malloc(sizeof *sample + size + 1);
    if (sample == NULL)
        return NULL;
    *sample = (struct sample){.came_ns = came_ns, .size = size};
    atomic_init(&sample->holders, 1);
    pthread_mutex_init(&sample->mutex, NULL);
    memcpy(sample->json, json, size);
    sample->json[size] = '\0';
    return sample;
}

struct sample *sample_ref(struct sample *sample)
{
    (void)atomic_fetch_add_explicit(&sample->holders, 1, memory_order_relaxed);
    return sample;
}

void sample_unref(struct sample *sample)
{
    if (sample == NULL || atomic_fetch_sub_explicit(&sample->holders, 1, memory_order_acq_rel) != 1)
        return;
    vitals_snapshot_unref(sample->snapshot);
    pthread_mutex_destroy(&sample->mutex);
    free(sample);
}

const char *sample_json(const struct sample *sample, size_t *size)
{
    *size = sample->size;
    return sample->json;
}

uint64_t sample_came_ns(const struct sample *sample)
{
    return sample->came_ns;
}

const vitals_snapshot *sample_snapshot(struct sample *sample)
{
    if (sample == NULL)
        return NULL;
    pthread_mutex_lock(&sample->mutex);
    if (!sample->read) {
        static const struct feed_place PLACE = {.path = "a sample", .line = 1};
        vitals_error error;
        pthread_mutex_lock(&builder_mutex);
        if (builder != NULL || vitals_builder_new(&builder, NULL) == 0)
            (void)feed_json_read(&PLACE, sample->json, sample->size, builder, &sample->snapshot,
                                 &error);
        pthread_mutex_unlock(&builder_mutex);
        sample->read = true;
    }
    const vitals_snapshot *snapshot = sample->snapshot;
    pthread_mutex_unlock(&sample->mutex);
    return snapshot;
}
