/* What the tests of the NVIDIA back end share: one world, and a few questions to it. */
#ifndef TESTS_UNIT_NVIDIA_WORLD_H
#define TESTS_UNIT_NVIDIA_WORLD_H

#include "gpu_world.h"

#include <unistd.h>

static struct gpu_world world;

static const char *const variants[]
    __attribute__((unused)) = {"r390", "r470", "r535_54", "r535", "r550", "r580"};

static inline void open_driver(const char *variant, const char *scenario)
{
    if (gpu_world_open(&world, "nvidia", variant, scenario) < 0)
        CHECK_FAIL("%s", world.scan.message);
    gpu_world_scan(&world);
    CHECK_INT(world.scan.state, VITALS_HAVE);
}

static inline void close_driver(void)
{
    gpu_world_close(&world);
}

static inline void sample_all(uint32_t slot)
{
    struct metric_set all = gpu_world_wanted(0);
    gpu_world_sample(&world, slot, &all);
}

static inline void list_all(uint32_t slot)
{
    struct metric_set all = gpu_world_wanted(0);
    gpu_world_processes(&world, slot, &all);
}

static inline struct value reading(vitals_metric metric)
{
    return gpu_world_value(&world, metric);
}

static inline void check_number(vitals_metric metric, double expected)
{
    struct value value = reading(metric);
    if (value.state <= 0)
        CHECK_FAIL("%s is %s", vitals_metric_name(metric), vitals_availability_name(value.state));
    double number = vitals_metric_type(metric) == VITALS_U64 ? (double)value.as.u64 : value.as.f64;
    if (number < expected - 1e-9 || number > expected + 1e-9)
        CHECK_FAIL("%s is %f, not %f", vitals_metric_name(metric), number, expected);
}

static inline void check_missing(vitals_metric metric, vitals_availability reason)
{
    struct value value = reading(metric);
    vitals_availability state = value.state == VITALS_UNSET ? VITALS_UNSUPPORTED
                                                            : (vitals_availability)value.state;
    if (state != reason)
        CHECK_FAIL("%s is %s, not %s", vitals_metric_name(metric), vitals_availability_name(state),
                   vitals_availability_name(reason));
}

/* A scenario of our own; the file is removed at the next call and with NULL. */
static inline const char *write_scenario(const char *text)
{
    static char path[64];
    if (path[0])
        unlink(path);
    path[0] = '\0';
    if (!text)
        return NULL;
    snprintf(path, sizeof path, "/tmp/vitals-scenario-XXXXXX");
    int file = mkstemp(path);
    CHECK(file >= 0);
    CHECK(write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    return path;
}

#endif
