/* record_world.h: a folder of its own for a test of recordings, and samples made by hand. */
#ifndef TESTS_UNIT_RECORD_WORLD_H
#define TESTS_UNIT_RECORD_WORLD_H

#include "check.h"

#include <dirent.h>
#include <unistd.h>

#include "record/format.h"
#include "record/recording.h"

struct record_world {
    char folder[64];
    char path[128]; /* of the recording */
};

static inline void record_world_open(struct record_world *world, const char *name)
{
    (void)snprintf(world->folder, sizeof world->folder, "/tmp/vitals-record-XXXXXX");
    CHECK_NOT_NULL(mkdtemp(world->folder));
    (void)snprintf(world->path, sizeof world->path, "%s/%s", world->folder, name);
}

static inline void record_world_close(struct record_world *world)
{
    char path[512];
    DIR *entries = opendir(world->folder);
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        (void)snprintf(path, sizeof path, "%s/%s", world->folder, entry->d_name);
        (void)unlink(path);
    }
    if (entries != NULL)
        closedir(entries);
    CHECK_INT(rmdir(world->folder), 0);
}

enum { RECORD_VALUES = 40 };

/* Sample `number` of a run: a second after the one before. */
struct filled_sample {
    struct record_sample content;
    vitals_usage_value values[RECORD_VALUES];
    const vitals_usage_value *pointers[RECORD_VALUES];
};

static inline void record_add(struct filled_sample *sample, const char *measure, vitals_scope scope,
                              const char *subject, double value)
{
    CHECK(sample->content.count < RECORD_VALUES);
    vitals_usage_value *place = &sample->values[sample->content.count];
    sample->pointers[sample->content.count++] = place;
    *place = (vitals_usage_value){
        vitals_measure_find(measure), scope, subject, "", VITALS_SAMPLED, value, 0};
    CHECK(place->measure != 0);
}

#define RECORD_BEGIN_SECONDS 1800000000.0

static inline void record_begin(struct filled_sample *sample, uint64_t number)
{
    *sample = (struct filled_sample){.content = {.count = 0}};
    sample->content.values = sample->pointers;
    sample->content.realtime_ns = UINT64_C(1800000000000000000) + number * 1000000000u;
    sample->content.monotonic_ns = UINT64_C(5000000000) + number * 1000000000u;
}

/* Half a core of user time, a tenth of system time; memory that grows by a MiB. */
static inline void record_fill(struct filled_sample *sample, uint64_t number)
{
    double at = (double)number, mib = 1048576;
    record_begin(sample, number);
    record_add(sample, "cpu_seconds", VITALS_SCOPE_TREE, "", 0.6 * at);
    record_add(sample, "cpu_user_seconds", VITALS_SCOPE_TREE, "", 0.5 * at);
    record_add(sample, "cpu_system_seconds", VITALS_SCOPE_TREE, "", 0.1 * at);
    record_add(sample, "cpu_cores", VITALS_SCOPE_TREE, "", 0.6);
    record_add(sample, "cpu_cores", VITALS_SCOPE_ROOT, "root", 0.4);
    record_add(sample, "cpu_ratio", VITALS_SCOPE_TREE, "", 0.15);
    record_add(sample, "memory_pss_bytes", VITALS_SCOPE_TREE, "", (100 + at) * mib);
    record_add(sample, "memory_both_bytes", VITALS_SCOPE_TREE, "", (90 + at) * mib);
    record_add(sample, "processes", VITALS_SCOPE_DESCENDANTS, "descendants", number % 2 ? 2 : 0);
    record_add(sample, "threads", VITALS_SCOPE_ROOT, "root", 3);
    record_add(sample, "disk_read_bytes", VITALS_SCOPE_TREE, "", 4096 * at);
    record_add(sample, "cpu_user_seconds", VITALS_SCOPE_SYSTEM, "system", 1.5 * at);
    record_add(sample, "cpu_cores", VITALS_SCOPE_SYSTEM, "system", 1.75);
    record_add(sample, "cpu_ratio", VITALS_SCOPE_SYSTEM, "system", 0.4375);
    record_add(sample, "memory_total_bytes", VITALS_SCOPE_SYSTEM, "system", 16e9);
    record_add(sample, "memory_free_bytes", VITALS_SCOPE_SYSTEM, "system", 4096 * mib);
    record_add(sample, "memory_used_bytes", VITALS_SCOPE_SYSTEM, "system", 1.5e9);
    record_add(sample, "disk_space_total_bytes", VITALS_SCOPE_SYSTEM, "system", 270.547e9);
    record_add(sample, "device_memory_used_bytes", VITALS_SCOPE_GPU, "GPU-1,\"x", 7 * mib);
    sample->values[sample->content.count - 1].label = "GPU 0";
    record_add(sample, "gpu_memory_bytes", VITALS_SCOPE_TREE, "", 0);
    sample->values[sample->content.count - 1].state = VITALS_DENIED;
}

static inline struct recorder *record_open(const struct record_world *world, const char *format)
{
    const struct recorder_options options = {
        .path = world->path, .format = format, .interval_ns = 1000000000};
    struct recorder *recorder = NULL;
    vitals_error error = {.message = ""};
    CHECK_INT(recorder_open(&options, &recorder, &error), 0);
    CHECK_STR(error.message, "");
    return recorder;
}

static inline void record_samples(struct recorder *recorder, uint64_t from, uint64_t to)
{
    struct filled_sample sample;
    vitals_error error = {.message = ""};
    for (uint64_t i = from; i < to; i++) {
        record_fill(&sample, i);
        CHECK_INT(recorder_write_sample(recorder, &sample.content, &error), 0);
        CHECK_STR(error.message, "");
    }
}

static inline struct recording *record_read(const char *path)
{
    struct recording *recording = NULL;
    vitals_error error = {.message = ""};
    CHECK_INT(recording_open(path, &recording, &error), 0);
    CHECK_STR(error.message, "");
    return recording;
}

static inline double record_value(const struct recording *recording, const char *name,
                                  const char *subject, size_t at)
{
    const struct series *series = recording_find(recording, name, subject);
    CHECK_NOT_NULL(series);
    CHECK(at < series->count);
    return series->values[at];
}

static inline double record_figure(const struct recording *recording, const char *name,
                                   const char *subject)
{
    const vitals_figure *figure = vitals_account_find(recording_account(recording), name, subject);
    double value = 0;
    CHECK_NOT_NULL(figure);
    CHECK(vitals_figure_value(figure, &value) > 0);
    return value;
}

/* A whole file as text. */
static inline char *record_text(const char *path)
{
    static char text[256 * 1024];
    FILE *file = fopen(path, "rb");
    CHECK_NOT_NULL(file);
    size_t size = fread(text, 1, sizeof text - 1, file);
    text[size] = '\0';
    (void)fclose(file);
    return text;
}

static inline void record_put_text(const struct record_world *world, const char *text, size_t size)
{
    FILE *file = fopen(world->path, "wb");
    CHECK_NOT_NULL(file);
    CHECK_UINT(fwrite(text, 1, size, file), size);
    CHECK_INT(fclose(file), 0);
}

#endif
