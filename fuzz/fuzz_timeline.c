/* Any bytes as a file to be walked forth and back: a recording, whole, cut off or broken, or lines
 * of JSON. Whatever is in it, each step gives a snapshot, nothing, or an error that says why. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/replay/timeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS_MAX = 8 };

static void require(int condition)
{
    if (!condition)
        abort();
}

static void check_step(int code, vitals_snapshot *snapshot, const vitals_error *error)
{
    require(code == 1 ? snapshot != NULL : snapshot == NULL);
    require(code >= 0 || error->message[0] != '\0');
    vitals_snapshot_unref(snapshot);
}

static void walk(const struct timeline *timeline,
                 int (*step)(void *data, vitals_snapshot **out, vitals_error *error))
{
    int code = 1;
    for (int i = 0; i < STEPS_MAX && code == 1; i++) {
        vitals_snapshot *snapshot = NULL;
        vitals_error error = {.message = ""};
        code = step(timeline->data, &snapshot, &error);
        check_step(code, snapshot, &error);
    }
}

static void check_timeline(struct timeline *timeline)
{
    static const uint64_t MOMENTS[] = {0, UINT64_C(1800000000000000000), UINT64_MAX};
    struct timeline_span span;
    uint64_t moment;
    vitals_error error = {.message = ""};
    (void)timeline->span(timeline->data, &span, &error);
    for (size_t i = 0; i < sizeof MOMENTS / sizeof MOMENTS[0]; i++) {
        vitals_snapshot *snapshot = NULL;
        int code = timeline->at(timeline->data, MOMENTS[i], &snapshot, &error);
        check_step(code, snapshot, &error);
        (void)timeline_phase_at(timeline, MOMENTS[i]);
        (void)timeline_nearest_mark(timeline, MOMENTS[i], 1, &moment);
        (void)timeline_nearest_mark(timeline, MOMENTS[i], -1, &moment);
        walk(timeline, timeline->next);
        walk(timeline, timeline->previous);
    }
    for (const char *at = timeline->problem(timeline->data); *at != '\0'; at++)
        require(*at == '\n' || (unsigned char)*at >= ' ');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[40];
    vitals_error error = {.message = ""};
    struct timeline timeline = {.data = NULL};
    int descriptor = memfd_create("input", MFD_CLOEXEC);
    require(descriptor >= 0 && write(descriptor, data, size) == (ssize_t)size);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    if (timeline_open(path, &timeline, &error) == 0)
        check_timeline(&timeline);
    else
        require(error.message[0] != '\0');
    timeline_close(&timeline);
    close(descriptor);
    return 0;
}
