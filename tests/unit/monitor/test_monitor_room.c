/* How long disks and networks stay on the main screen: what comes and goes does not move the list.
 */
#include "monitor_world.h"

#include "monitor/screens/pane.h"

enum { FEW = 3, MANY = 4, COLUMNS = 120 };

static struct monitor monitor;
static struct monitor_options options;
static vitals_builder *builder;
static struct monitor_process processes[MANY];
static uint64_t reading;

static bool is_shown(void)
{
    return strstr(world_screen(&monitor), "Disk read") != NULL;
}

/* A further reading, 2 s later, of the first so many processes. */
static bool shows_with(size_t count)
{
    const struct monitor_world world = {processes, count, 2};
    reading++;
    model_add_machine(&monitor.model,
                      world_at(builder, &world, 100 + 2.0 * (double)reading, reading));
    monitor_settle(&monitor);
    return is_shown();
}

/* The least height in which they stand above FEW, and MANY find no room. */
static void begin(void)
{
    for (size_t i = 0; i < MANY; i++)
        processes[i] = (struct monitor_process){.pid = 10 + i,
                                                .user = "ana",
                                                .command = "python3",
                                                .start = 10,
                                                .gpu = 1,
                                                .gpu_mib = 100};
    const struct monitor_world world = {processes, FEW, 2};
    world_traffic = true;
    options = world_options();
    world_open(&monitor, &options, &world, &builder);
    press_keys(&monitor, "c");
    reading = 2;
    int height = 10;
    do
        monitor_resize(&monitor, COLUMNS, height++);
    while (height < 100 && !shows_with(FEW));
    CHECK(height < 100);
}

static void who_comes_and_goes_moves_nothing(void)
{
    begin();
    for (size_t i = 0; i < 12; i++) {
        CHECK(shows_with(i % 4 == 3 ? FEW : MANY));
    }
    world_close(&monitor, builder);
}

static void who_stays_gets_the_room(void)
{
    begin();
    int kept = 0;
    while (kept < 100 && shows_with(MANY))
        kept++;
    CHECK_INT(kept, 3);
    CHECK_FALSE(shows_with(MANY)); /* and they do not come back */
    CHECK(shows_with(FEW));
    world_close(&monitor, builder);
}

static void a_person_waits_for_nothing(void)
{
    begin();
    CHECK(shows_with(MANY));
    press_keys(&monitor, "M");
    CHECK_FALSE(is_shown());
    CHECK(shows_with(FEW));
    CHECK(shows_with(MANY));
    monitor_resize(&monitor, COLUMNS, monitor.height);
    monitor_settle(&monitor);
    CHECK_FALSE(is_shown());
    world_close(&monitor, builder);
}

/* Lines of the list that the screen has; and what it says of them, 0: nothing. */
static size_t seen_lines(const char *screen, size_t *said)
{
    size_t count = 0, first, end;
    *said = 0;
    for (const char *at = screen; (at = strstr(at, "python3")) != NULL; at++)
        count++;
    for (const char *at = screen; (at = strchr(at, ' ')) != NULL; at++) {
        if (sscanf(at, " %zu-%zu of 4", &first, &end) == 2)
            *said = end - first + 1;
    }
    return count;
}

static void who_is_out_of_sight_is_counted(void)
{
    size_t said, cut = 0;
    begin();
    for (int height = 8; height < 40; height++) {
        monitor_resize(&monitor, COLUMNS, height);
        press_keys(&monitor, "r");
        (void)shows_with(MANY);
        for (int i = 0; i < 12; i++) {
            const char *screen = world_screen(&monitor);
            size_t seen = seen_lines(screen, &said);
            bool tells = strstr(screen, " Processes:") != NULL || strstr(screen, "of 4") != NULL;
            if (seen > 0 && tells)
                CHECK_UINT(said, seen == MANY ? 0 : seen);
            cut += seen > 0 && seen < MANY;
            press_code(&monitor, INPUT_PAGE_DOWN);
            monitor_settle(&monitor);
        }
    }
    CHECK(cut > 0);
    world_close(&monitor, builder);
}

static const check_test tests[] = {
    {"who comes and goes moves nothing", who_comes_and_goes_moves_nothing},
    {"who stays gets the room", who_stays_gets_the_room},
    {"a person waits for nothing", a_person_waits_for_nothing},
    {"who is out of sight is counted", who_is_out_of_sight_is_counted},
};
CHECK_TESTS(tests)
