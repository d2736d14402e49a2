/* A day of the monitor under a clock that jumps: devices come and go, somebody looks around, and
 * afterwards there is as much memory and there are as many descriptors as after the first hours.
 *
 * What a thread that reads an environment keeps is no part of it: it lives on real time. */
#include "fake_clock.h"
#include "monitor_world.h"

#include <dirent.h>
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/memory.h"

enum {
    HOUR = 3600 / (CHECK_SANITIZED ? 30 : 1),
    DAY = 24 * HOUR,
    WARM = 2 * HOUR, /* histories are full after 2049 s; everything was looked at twice */
    LOOK = HOUR / 4, /* every so many seconds somebody presses keys */
    DRAWN = 10,
    SLACK_BYTES = 16384, /* the allocator's own, and a list that met its longest a little later */
};

static vitals_error error;
static struct fake_clock fake;
static struct monitor monitor;
static struct canvas canvas;
static vitals_sampler *sampler;
static unsigned most_devices, fewest_devices = UINT32_MAX;
static char root[64];

/* ---- a small machine ---- */

static const struct {
    const char *name, *text;
} FILES[] = {
    {"7/stat", "7 (job) S 1 7 7 0 -1 4194560 9 0 0 0 11 12 0 0 20 0 1 0 500 8192 100 0\n"},
    {"7/statm", "200 100 50 1 0 80 0\n"},
    {"7/status", "Name:\tjob\nUid:\t0\t0\t0\t0\nVmHWM:\t   400 kB\n"},
    {"7/cmdline", "job"},
    {"loadavg", "0.50 0.25 0.10 1/100 7\n"},
    {"meminfo", "MemTotal: 1000 kB\nMemFree: 400 kB\nMemAvailable: 500 kB\n"},
    {"stat", "cpu 1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\nctxt 5\nprocesses 9\n"},
};

static void place(char *out, size_t capacity, const char *name)
{
    (void)snprintf(out, capacity, "%s/%s", root, name);
}

static void machine_new(void)
{
    char path[128];
    snprintf(root, sizeof root, "/tmp/vitals-day-XXXXXX");
    CHECK_NOT_NULL(mkdtemp(root));
    place(path, sizeof path, "7");
    CHECK_INT(mkdir(path, 0700), 0);
    for (size_t i = 0; i < CHECK_COUNT(FILES); i++) {
        place(path, sizeof path, FILES[i].name);
        FILE *file = fopen(path, "w");
        CHECK_NOT_NULL(file);
        fputs(FILES[i].text, file);
        fclose(file);
    }
}

static void machine_free(void)
{
    char path[128];
    for (size_t i = 0; i < CHECK_COUNT(FILES); i++) {
        place(path, sizeof path, FILES[i].name);
        unlink(path);
    }
    place(path, sizeof path, "7");
    rmdir(path);
    rmdir(root);
}

/* ---- what is measured ---- */

static size_t descriptors(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    CHECK_NOT_NULL(folder);
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

/* Bytes that are in use, of everybody's. */
static size_t bytes_used(void)
{
    return CHECK_SANITIZED ? 0 : mallinfo2().uordblks;
}

/* ---- a second, and somebody who looks ---- */

static void look_around(void)
{
    static const uint32_t KEYS[] = {PRESS_DOWN,   PRESS_ENTER,
                                    'q',          't',
                                    PRESS_DOWN,   ' ',
                                    'q',          'h',
                                    'q',          'g',
                                    'o',          'p',
                                    '/',          '\\',
                                    'j',          'o',
                                    PRESS_ENTER,  '&',
                                    'j',          PRESS_ENTER,
                                    '&',          PRESS_BACKSPACE,
                                    PRESS_ENTER,  'T',
                                    PRESS_ESCAPE, 'f',
                                    'c',          'a',
                                    ' ',          PRESS_ESCAPE,
                                    'r'};
    static const int SIZES[][2] = {{40, 10}, {200, 50}, {100, 40}};
    for (size_t i = 0; i < CHECK_COUNT(SIZES); i++) {
        monitor_resize(&monitor, SIZES[i][0], SIZES[i][1]);
        CHECK_INT(canvas_resize(&canvas, SIZES[i][0], SIZES[i][1]), 0);
        for (size_t j = 0; j < CHECK_COUNT(KEYS); j++) {
            press_code(&monitor, KEYS[j]);
            monitor_draw(&monitor, &canvas);
        }
    }
    CHECK_INT(monitor.depth, 1);
}

static void count_devices(void)
{
    unsigned count = (unsigned)model_device_count(&monitor.model);
    most_devices = count > most_devices ? count : most_devices;
    fewest_devices = count < fewest_devices ? count : fewest_devices;
}

static void pass(unsigned seconds)
{
    for (unsigned i = 1; i <= seconds; i++) {
        vitals_snapshot *snapshot = NULL;
        fake_clock_advance(&fake, MONITOR_SECOND);
        CHECK_OK(vitals_sampler_take(sampler, &snapshot, &error), error);
        model_add_machine(&monitor.model, snapshot);
        monitor_settle(&monitor);
        if (i % DRAWN == 0)
            monitor_draw(&monitor, &canvas);
        if (i % LOOK == 0)
            look_around();
        count_devices();
    }
}

static void a_day_costs_no_memory_and_no_descriptors(void)
{
    vitals_options world;
    vitals_request *request = NULL;
    struct monitor_options options = world_options();
    (void)mallopt(M_ARENA_MAX, 1); /* so that what threads ask for is counted too */
    machine_new();
    fake_clock_init(&fake);
    vitals_options_init(&world, sizeof world);
    world.proc_root = root;
    world.clock = &fake.clock;
    world.backends = "demo";
    world.demo = "hotplug";
    CHECK_OK(vitals_context_new(&world, &options.context, &error), error);
    options.readonly = "this is a demo";
    CHECK_OK(monitor_request(&options, MONITOR_BOTH, &request, &error), error);
    CHECK_OK(vitals_sampler_new(options.context, request, &sampler, &error), error);
    vitals_request_free(request);
    CHECK_INT(monitor_init(&monitor, &options), 0);
    CHECK_INT(canvas_resize(&canvas, 100, 40), 0);
    monitor.model.same = true;
    monitor_resize(&monitor, 100, 40);

    pass(WARM);
    int64_t live = memory_live();
    size_t used = bytes_used(), open = descriptors();
    pass(DAY - WARM);
    CHECK_NEAR((double)memory_live(), (double)live, 4); /* a name or two more, or fewer */
    CHECK(bytes_used() <= used + SLACK_BYTES);
    CHECK_UINT(descriptors(), open);
    CHECK(most_devices > fewest_devices && fewest_devices > 0);

    monitor_done(&monitor);
    canvas_done(&canvas);
    atomic_store(&fake.near_ns, 4 * (uint64_t)MONITOR_SECOND);
    vitals_sampler_free(sampler);
    vitals_context_free(options.context);
    machine_free();
}

static const check_test tests[] = {
    {"a day costs no memory and no descriptors", a_day_costs_no_memory_and_no_descriptors},
};
CHECK_MAIN(tests)
