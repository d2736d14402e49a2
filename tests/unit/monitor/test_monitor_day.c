/* A day of the monitor under a clock that jumps: devices come and go, a user looks around, the last
 * hour is kept, and at the end as much memory and as many descriptors are in use as after the first
 * hours. A thread that reads an environment is not counted: it runs in real time. */
#include "fake_clock.h"
#include "monitor_world.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/replay/history_ring.h"
#include "util/memory.h"

enum {
    HOUR = 3600 / (CHECK_SANITIZED ? 30 : 1),
    DAY = 24 * HOUR,
    WARM = 2 * HOUR, /* histories are full after 2049 s; everything was looked at twice */
    LOOK = HOUR / 4, /* a user presses keys every so many seconds */
    DRAWN = 10,
    ALL = 5,    /* so often every process is read */
    STEPS = 11, /* of two hours */
    SOME_STEPS = 3,
    SLACK_BYTES = 1024, /* from one hour to the next it goes up and down by 100 */
};

static vitals_error error;
static struct fake_clock fake;
static struct monitor monitor;
static struct canvas canvas;
static struct monitor_options options;
static vitals_context *context;
static vitals_sampler *sampler, *sampler_of_all;
static uint64_t newest_seen;      /* the highest pid */
static struct history_ring *ring; /* what a live history keeps of an hour, in memory */
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

/* Besides job 7, which never ends, there are always as many guests; each stays a minute. */
enum { GUESTS = 6, STAY = 60 };

static const char *const OF_GUESTS[] = {"stat", "statm", "status", "cmdline"};

static unsigned pid_of(unsigned guest)
{
    return 100 + guest % 30000;
}

static void guest_write(unsigned guest, const char *name, const char *text)
{
    char path[128], file[32];
    snprintf(file, sizeof file, "%u/%s", pid_of(guest), name);
    place(path, sizeof path, file);
    FILE *stream = fopen(path, "w");
    CHECK_NOT_NULL(stream);
    fputs(text, stream);
    fclose(stream);
}

/* Names, users and sizes change from one to the next; of each there are only so many. */
static void guest_comes(unsigned guest)
{
    char path[128], file[32], text[256];
    unsigned pid = pid_of(guest), user = guest % 5, kind = guest % 11;
    snprintf(file, sizeof file, "%u", pid);
    place(path, sizeof path, file);
    CHECK_INT(mkdir(path, 0700), 0);
    snprintf(text, sizeof text,
             "%u (guest%u) S 7 %u %u 0 -1 4194560 9 0 0 0 %u 12 0 0 20 0 1 0 %u 8192 100 0\n", pid,
             kind, pid, pid, guest % 500, 1000 + guest);
    guest_write(guest, "stat", text);
    snprintf(text, sizeof text, "200 %u 50 1 0 80 0\n", 100 + kind);
    guest_write(guest, "statm", text);
    snprintf(text, sizeof text, "Name:\tguest%u\nUid:\t%u\t%u\t%u\t%u\nVmHWM:\t   400 kB\n", kind,
             41000 + user, 41000 + user, 41000 + user, 41000 + user);
    guest_write(guest, "status", text);
    snprintf(text, sizeof text, "guest%u --task %u", kind, kind * 7);
    guest_write(guest, "cmdline", text);
}

static void guest_goes(unsigned guest)
{
    char path[128], file[32];
    for (size_t i = 0; i < CHECK_COUNT(OF_GUESTS); i++) {
        snprintf(file, sizeof file, "%u/%s", pid_of(guest), OF_GUESTS[i]);
        place(path, sizeof path, file);
        unlink(path);
    }
    snprintf(file, sizeof file, "%u", pid_of(guest));
    place(path, sizeof path, file);
    rmdir(path);
}

static unsigned oldest_guest;

static void guests_change(unsigned second)
{
    if (second % (STAY / GUESTS) != 0)
        return;
    guest_goes(oldest_guest);
    guest_comes(oldest_guest + GUESTS);
    oldest_guest++;
}

static void machine_new(void)
{
    char path[128];
    check_folder(root, sizeof root, "day");
    place(path, sizeof path, "7");
    CHECK_INT(mkdir(path, 0700), 0);
    for (size_t i = 0; i < CHECK_COUNT(FILES); i++) {
        place(path, sizeof path, FILES[i].name);
        FILE *file = fopen(path, "w");
        CHECK_NOT_NULL(file);
        fputs(FILES[i].text, file);
        fclose(file);
    }
    for (unsigned guest = 0; guest < GUESTS; guest++)
        guest_comes(guest);
}

static void machine_free(void)
{
    char path[128];
    for (unsigned guest = 0; guest < GUESTS; guest++)
        guest_goes(oldest_guest + guest);
    for (size_t i = 0; i < CHECK_COUNT(FILES); i++) {
        place(path, sizeof path, FILES[i].name);
        unlink(path);
    }
    place(path, sizeof path, "7");
    rmdir(path);
    rmdir(root);
}

/* ---- what is measured ---- */

struct held {
    size_t blocks, bytes, descriptors; /* of the whole program */
};

static struct held held_now(void)
{
    return (struct held){.blocks = (size_t)memory_live(),
                         .bytes = CHECK_SANITIZED ? 0 : mallinfo2().uordblks,
                         .descriptors = check_open_descriptors()};
}

static size_t one_of(size_t a, size_t b, bool larger)
{
    return (a > b) == larger ? a : b;
}

static struct held held_join(struct held a, struct held b, bool most)
{
    return (struct held){.blocks = one_of(a.blocks, b.blocks, most),
                         .bytes = one_of(a.bytes, b.bytes, most),
                         .descriptors = one_of(a.descriptors, b.descriptors, most)};
}

/* ---- a second, with keys pressed ---- */

/* The guests that were seen in all this time, whatever is on the screen. */
static void count_guests(const vitals_snapshot *snapshot)
{
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_TABLE_PROCESS, row)) != NULL;) {
        uint64_t pid;
        if (vitals_row_u64(row, VITALS_PROCESS_PID, &pid) > 0 && pid > newest_seen)
            newest_seen = pid;
    }
}

/* The environment of one, and the dialog about another, where nothing is sent. Only these get the
 * context: the device screen would read on by itself, with a clock that jumps. */
static void ask_processes(void)
{
    options.context = context;
    press_keys(&monitor, "rg\\job");
    press_code(&monitor, INPUT_ENTER);
    press_keys(&monitor, "e");
    CHECK_STR(monitor.stack[monitor.depth - 1].screen->name, "environment");
    const vitals_clock *clock = vitals_clock_system();
    uint64_t until_ns = clock->monotonic_ns(clock->data) + 20 * (uint64_t)MONITOR_SECOND;
    if (monitor_descriptor(&monitor) >= 0)
        CHECK_INT(clock->wait_until(clock->data, monitor_descriptor(&monitor), until_ns), 1);
    while (monitor_is_busy()) /* its thread has answered, and ends */
        CHECK(clock->wait_until(clock->data, -1, clock->monotonic_ns(clock->data) + 100000) == 0);
    monitor_settle(&monitor);
    monitor_draw(&monitor, &canvas);
    press_keys(&monitor, "q");
    press_keys(&monitor, "T");
    CHECK_STR(monitor.stack[monitor.depth - 1].screen->name, "signal");
    monitor_draw(&monitor, &canvas);
    press_code(&monitor, INPUT_RIGHT);
    press_code(&monitor, INPUT_ESCAPE);
    press_keys(&monitor, "gr");
    CHECK_INT(monitor.depth, 1);
    options.context = NULL;
}

static void look_around(void)
{
    static const uint32_t KEYS[] = {INPUT_DOWN,   INPUT_ENTER,
                                    'q',          't',
                                    INPUT_DOWN,   ' ',
                                    'q',          'h',
                                    'q',          'g',
                                    'o',          'p',
                                    '/',          '\\',
                                    'j',          'o',
                                    INPUT_ENTER,  '&',
                                    'j',          INPUT_ENTER,
                                    '&',          INPUT_BACKSPACE,
                                    INPUT_ENTER,  'T',
                                    INPUT_ESCAPE, 'f',
                                    'c',          'a',
                                    ' ',          INPUT_ESCAPE,
                                    '0',          INPUT_DOWN,
                                    'n',          'q',
                                    'C',          INPUT_DOWN,
                                    INPUT_DOWN,   ' ',
                                    ' ',          'q',
                                    'G',          'u',
                                    INPUT_DOWN,   '-',
                                    '*',          'G',
                                    'p',          'G',
                                    'n',          'M',
                                    'M',          'r'};
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
    ask_processes();
}

/* As the loop does: every process, with what the columns of now need. */
static void read_all(void)
{
    static struct wants before;
    struct wants wants;
    vitals_snapshot *snapshot = NULL;
    monitor_wants(&monitor, &wants);
    if (sampler_of_all == NULL || !wants_equal(&wants, &before)) {
        vitals_request *request = NULL;
        vitals_sampler_free(sampler_of_all);
        CHECK_OK(monitor_request(monitor.options, MONITOR_ALL, &request, &error), error);
        CHECK_OK(wants_request(&wants, request, &error), error);
        CHECK_OK(vitals_sampler_new(context, request, &sampler_of_all, &error), error);
        vitals_request_free(request);
        before = wants;
    }
    CHECK_OK(vitals_sampler_take(sampler_of_all, &snapshot, &error), error);
    count_guests(snapshot);
    model_add_all(&monitor.model, snapshot);
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
        CHECK_OK(history_ring_add(ring, snapshot, &error), error);
        model_add_machine(&monitor.model, snapshot);
        guests_change(i);
        if (i % ALL == 0)
            read_all();
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
    options = world_options();
    (void)mallopt(M_ARENA_MAX, 1); /* so that what threads ask for is counted too */
    machine_new();
    fake_clock_init(&fake);
    vitals_options_init(&world, sizeof world);
    world.proc_root = root;
    world.clock = &fake.clock;
    world.backends = "demo";
    world.demo = "hotplug";
    CHECK_OK(vitals_context_new(&world, &context, &error), error);
    CHECK_OK(monitor_request(&options, MONITOR_BOTH, &request, &error), error);
    CHECK_OK(vitals_sampler_new(context, request, &sampler, &error), error);
    vitals_request_free(request);
    const struct history_ring_options kept = {.most_ns = HOUR * (uint64_t)MONITOR_SECOND};
    CHECK_OK(history_ring_new(&kept, &ring, &error), error);
    CHECK_INT(monitor_init(&monitor, &options), 0);
    CHECK_INT(canvas_resize(&canvas, 100, 40), 0);
    monitor_resize(&monitor, 100, 40);

    /* How much of what devices and threads hold is there at one moment differs, so the most of the
     * first hours is compared with the least of the last. */
    struct held early = {0}, late = {0};
    pass(WARM);
    for (int i = 0; i < STEPS; i++) {
        pass((DAY - WARM) / STEPS);
        struct held now = held_now();
        if (i < SOME_STEPS)
            early = i == 0 ? now : held_join(early, now, true);
        if (i >= STEPS - SOME_STEPS)
            late = i == STEPS - SOME_STEPS ? now : held_join(late, now, false);
    }
    CHECK(late.blocks <= early.blocks + 4); /* a name or two more */
    if (late.bytes > early.bytes + SLACK_BYTES)
        fprintf(stderr, "# %zu bytes were used in the first hours, %zu at the end\n", early.bytes,
                late.bytes);
    CHECK(late.bytes <= early.bytes + SLACK_BYTES);
    CHECK(late.descriptors <= early.descriptors);
    CHECK(most_devices > fewest_devices && fewest_devices > 0);
    CHECK(newest_seen > pid_of(DAY / (STAY / GUESTS) - 2 * ALL));

    history_ring_free(ring);
    monitor_done(&monitor);
    canvas_done(&canvas);
    atomic_store(&fake.near_ns, 4 * (uint64_t)MONITOR_SECOND);
    vitals_sampler_free(sampler_of_all);
    vitals_sampler_free(sampler);
    vitals_context_free(context);
    machine_free();
}

static const check_test tests[] = {
    {"a day costs no memory and no descriptors", a_day_costs_no_memory_and_no_descriptors},
};

/* glibc counts what a thread keeps of freed blocks as used, and that grows by 20 KB over half a
 * day: without this cache what is in use is flat. It can only be turned off before a program
 * begins. */
int main(int argc, char **argv)
{
    static const char PLAIN[] = "glibc.malloc.tcache_count=0";
    const char *tunables = getenv("GLIBC_TUNABLES");
    (void)argc;
    if (!CHECK_SANITIZED && (tunables == NULL || strcmp(tunables, PLAIN) != 0)) {
        CHECK_INT(setenv("GLIBC_TUNABLES", PLAIN, 1), 0);
        (void)execv("/proc/self/exe", argv);
        perror("# this program could not be begun anew");
        return 1;
    }
    return check_main(tests, CHECK_COUNT(tests));
}
