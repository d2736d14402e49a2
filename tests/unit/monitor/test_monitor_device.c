/* A device of the monitor: the screen that shows all of it, how it is chosen, and what is said of
 * memory that is held and not used. */
#include "monitor_world.h"

#include "monitor/screens/device_sheet.h"
#include "monitor/screens/process_summary.h"

/* ---- a machine whose devices a test writes down ---- */

struct user {
    unsigned gpu; /* its place, plus one */
    const char *type;
    int64_t mib;
    double busy; /* below 0: not known */
};

struct reading {
    double second;
    double busy[2]; /* of each device; below 0: not known */
    struct user users[4];
    size_t count;
};

static vitals_builder *builder;
static uint64_t sequence;
static vitals_availability quality = VITALS_HAVE; /* of how busy all are, and their memory */
static vitals_availability memory_quality = VITALS_HAVE;

static void put_busy(vitals_metric metric, double busy)
{
    if (busy < 0)
        vitals_builder_missing(builder, metric, VITALS_UNSUPPORTED);
    else
        vitals_builder_f64(builder, metric, busy, quality);
}

static void put_user(const struct user *user, uint64_t key, uint64_t now_ns)
{
    char label[16];
    snprintf(label, sizeof label, "%u", (unsigned)key);
    vitals_builder_row(builder, VITALS_TABLE_GPU_PROCESS, key, user->gpu, text_of(label), now_ns);
    put_number(builder, VITALS_GPU_PROCESS_PID, 100 + (double)key);
    vitals_builder_missing(builder, VITALS_GPU_PROCESS_PROCESS, VITALS_OUTSIDE);
    put_text(builder, VITALS_GPU_PROCESS_TYPE, user->type);
    if (user->mib < 0)
        vitals_builder_missing(builder, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, VITALS_UNSUPPORTED);
    else
        vitals_builder_u64(builder, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, (uint64_t)user->mib << 20,
                           memory_quality);
    put_busy(VITALS_GPU_PROCESS_UTILIZATION_RATIO, user->busy);
}

static vitals_snapshot *snapshot_at(const struct reading *reading)
{
    static const vitals_metric GPU[] = {VITALS_GPU_NAME, VITALS_GPU_MEMORY_TOTAL_BYTES,
                                        VITALS_GPU_MEMORY_USED_BYTES, VITALS_GPU_UTILIZATION_RATIO};
    static const vitals_metric USER[] = {
        VITALS_GPU_PROCESS_PID, VITALS_GPU_PROCESS_PROCESS, VITALS_GPU_PROCESS_TYPE,
        VITALS_GPU_PROCESS_MEMORY_USED_BYTES, VITALS_GPU_PROCESS_UTILIZATION_RATIO};
    vitals_snapshot *snapshot = NULL;
    vitals_error error;
    uint64_t now_ns = (uint64_t)(reading->second * MONITOR_SECOND);
    vitals_builder_begin(builder);
    vitals_builder_origin(builder, text_of("n01"), text_of("boot"), 1);
    vitals_builder_stream(builder, 7);
    vitals_builder_moment(builder, now_ns, now_ns, now_ns, ++sequence);
    vitals_builder_table(builder, VITALS_TABLE_GPU, GPU, CHECK_COUNT(GPU));
    vitals_builder_table(builder, VITALS_TABLE_GPU_PROCESS, USER, CHECK_COUNT(USER));
    for (unsigned i = 0; i < 2; i++) {
        vitals_builder_row(builder, VITALS_TABLE_GPU, i + 1, 0, text_of(i == 0 ? "0" : "1"),
                           now_ns);
        put_text(builder, VITALS_GPU_NAME, "NVIDIA H100");
        put_number(builder, VITALS_GPU_MEMORY_TOTAL_BYTES, 80.0 * (double)GIB);
        put_number(builder, VITALS_GPU_MEMORY_USED_BYTES, 8.0 * (double)GIB);
        put_busy(VITALS_GPU_UTILIZATION_RATIO, reading->busy[i]);
    }
    for (size_t i = 0; i < reading->count; i++)
        put_user(&reading->users[i], i + 1, now_ns);
    CHECK_OK(vitals_builder_finish(builder, &snapshot, &error), error);
    return snapshot;
}

static void begin(void)
{
    vitals_error error;
    sequence = 0;
    CHECK_OK(vitals_builder_new(&builder, &error), error);
}

/* ---- held ---- */

/* The same from one second to another, a reading each; `held` afterwards. */
static void live(struct idle_gpus *idle, struct reading reading, double from, double to)
{
    for (double second = from; second <= to; second++) {
        reading.second = second;
        vitals_snapshot *snapshot = snapshot_at(&reading);
        idle_gpus_update(idle, snapshot);
        vitals_snapshot_unref(snapshot);
    }
}

static double device_seconds(const struct idle_gpus *idle, uint64_t key, double now)
{
    double seconds = -1;
    return idle_rows_find(&idle->devices, key, (uint64_t)(now * MONITOR_SECOND), &seconds) ? seconds
                                                                                           : -1;
}

static double user_seconds(const struct idle_gpus *idle, uint64_t key, double now)
{
    double seconds = -1;
    return idle_rows_find(&idle->users, key, (uint64_t)(now * MONITOR_SECOND), &seconds) ? seconds
                                                                                         : -1;
}

static const struct reading IDLE = {.busy = {0, 0.5}, .users = {{1, "C", 4000, 0}}, .count = 1};

static void idle_memory_is_held_since_it_was_seen(void)
{
    struct idle_gpus idle = {0};
    begin();
    live(&idle, IDLE, 100, 160);
    CHECK_NEAR(device_seconds(&idle, 1, 160), 60, 0.001);
    CHECK_NEAR(user_seconds(&idle, 1, 160), 60, 0.001);
    CHECK_NEAR(device_seconds(&idle, 2, 160), -1, 0.001); /* no process has memory on it */
    idle_gpus_done(&idle);
    vitals_builder_free(builder);
}

static void any_work_begins_anew(void)
{
    struct idle_gpus idle = {0};
    struct reading busy = IDLE;
    busy.busy[0] = 0.01;
    begin();
    live(&idle, IDLE, 100, 200);
    live(&idle, busy, 201, 201);
    CHECK_NEAR(device_seconds(&idle, 1, 201), -1, 0.001);
    CHECK_NEAR(user_seconds(&idle, 1, 201), -1, 0.001); /* the owner of the work is not known */
    live(&idle, IDLE, 202, 210);
    CHECK_NEAR(device_seconds(&idle, 1, 210), 8, 0.001);
    idle_gpus_done(&idle);
    vitals_builder_free(builder);
}

static void what_is_not_known_is_not_claimed(void)
{
    struct idle_gpus idle = {0};
    struct reading unknown = IDLE, screen = IDLE, none = IDLE;
    unknown.busy[0] = -1;
    unknown.users[0].busy = -1;
    screen.users[0].type = "G"; /* a process that draws a screen */
    none.users[0].mib = -1;
    begin();
    live(&idle, unknown, 100, 110);
    CHECK_NEAR(device_seconds(&idle, 1, 110), -1, 0.001);
    CHECK_NEAR(user_seconds(&idle, 1, 110), -1, 0.001);
    live(&idle, screen, 111, 120);
    CHECK_NEAR(device_seconds(&idle, 1, 120), -1, 0.001);
    live(&idle, none, 121, 130);
    CHECK_NEAR(user_seconds(&idle, 1, 130), -1, 0.001);
    live(&idle, IDLE, 131, 140);
    CHECK_NEAR(user_seconds(&idle, 1, 140), 9, 0.001);
    live(&idle, IDLE, 240, 241); /* no samples for a while */
    CHECK_NEAR(user_seconds(&idle, 1, 241), 1, 0.001);
    live(&idle, IDLE, 50, 51); /* another clock */
    CHECK_NEAR(user_seconds(&idle, 1, 51), 1, 0.001);
    idle_gpus_done(&idle);
    vitals_builder_free(builder);
}

/* Of two on a device that works, the one that does none of it. */
static void beside_somebody_who_works(void)
{
    struct idle_gpus idle = {0};
    const struct reading two = {
        .busy = {0.8, 0}, .users = {{1, "C", 4000, 0}, {1, "C", 100, 0.8}}, .count = 2};
    begin();
    live(&idle, two, 100, 130);
    CHECK_NEAR(device_seconds(&idle, 1, 130), -1, 0.001);
    CHECK_NEAR(user_seconds(&idle, 1, 130), 30, 0.001);
    CHECK_NEAR(user_seconds(&idle, 2, 130), -1, 0.001);
    idle_gpus_done(&idle);
    vitals_builder_free(builder);
}

/* Rest is shown by a number of now that the truth is not above, memory by one it is not below. */
static void only_a_sure_number_shows_rest(void)
{
    static const struct {
        vitals_availability busy, memory;
        bool idle;
    } CASES[] = {
        {VITALS_HAVE, VITALS_HAVE, true},         {VITALS_SAMPLED, VITALS_HAVE, true},
        {VITALS_ESTIMATE, VITALS_ESTIMATE, true}, {VITALS_UPPER_BOUND, VITALS_LOWER_BOUND, true},
        {VITALS_STALE, VITALS_HAVE, false},       {VITALS_LOWER_BOUND, VITALS_HAVE, false},
        {VITALS_HAVE, VITALS_STALE, false},       {VITALS_HAVE, VITALS_UPPER_BOUND, false},
    };
    const struct reading two = {
        .busy = {0.8, 0}, .users = {{1, "C", 4000, 0}, {1, "C", 100, 0.8}}, .count = 2};
    begin();
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        struct idle_gpus idle = {0}, beside = {0};
        CHECK_CASE(vitals_availability_name(CASES[i].busy));
        quality = CASES[i].busy;
        memory_quality = CASES[i].memory;
        live(&idle, IDLE, 100, 110);
        CHECK_NEAR(device_seconds(&idle, 1, 110), CASES[i].idle ? 10 : -1, 0.001);
        CHECK_NEAR(user_seconds(&idle, 1, 110), CASES[i].idle ? 10 : -1, 0.001);
        live(&beside, two, 100, 110);
        bool named = quality != VITALS_UPPER_BOUND; /* an upper bound names no process yet */
        CHECK_NEAR(user_seconds(&beside, 1, 110), CASES[i].idle && named ? 10 : -1, 0.001);
        idle_gpus_done(&idle);
        idle_gpus_done(&beside);
    }
    quality = memory_quality = VITALS_HAVE;
    vitals_builder_free(builder);
}

/* The same, backwards: what was before all that `held` knows. */
static void before(struct idle_gpus *idle, struct reading reading, double from, double to)
{
    for (double second = from; second >= to; second--) {
        reading.second = second;
        vitals_snapshot *snapshot = snapshot_at(&reading);
        idle_gpus_update_before(idle, snapshot);
        vitals_snapshot_unref(snapshot);
    }
}

static void a_recording_is_looked_back_over(void)
{
    struct idle_gpus idle = {0};
    struct reading busy = IDLE;
    busy.busy[0] = 0.01;
    begin();
    live(&idle, IDLE, 1000, 1000);
    CHECK(idle_gpus_goes_back(&idle));
    before(&idle, IDLE, 999, 400);
    CHECK_NEAR(device_seconds(&idle, 1, 1000), 600, 0.001);
    live(&idle, IDLE, 1001, 1010); /* and goes on meanwhile */
    before(&idle, IDLE, 399, 300);
    CHECK_NEAR(user_seconds(&idle, 1, 1010), 710, 0.001);
    before(&idle, busy, 299, 299);
    CHECK_FALSE(idle_gpus_goes_back(&idle));
    before(&idle, IDLE, 298, 200);
    CHECK_NEAR(device_seconds(&idle, 1, 1010), 710, 0.001);
    idle_gpus_done(&idle);
    live(&idle, busy, 1000, 1000);
    CHECK_FALSE(idle_gpus_goes_back(&idle)); /* nothing is held */
    live(&idle, IDLE, 1001, 1005);
    before(&idle, IDLE, 999, 900); /* which is before the work */
    CHECK_NEAR(device_seconds(&idle, 1, 1005), 4, 0.001);
    idle_gpus_done(&idle);
    live(&idle, IDLE, 1000, 1000);
    before(&idle, IDLE, 960, 900); /* no samples for a while */
    CHECK_NEAR(device_seconds(&idle, 1, 1000), 0, 0.001);
    idle_gpus_done(&idle);
    vitals_builder_free(builder);
}

static void held_has_words(void)
{
    static const struct {
        double seconds;
        const char *words;
    } CASES[] = {{900, "held 15 min"},      {1439, "held 23 min"}, {5999, "held 99 min"},
                 {6000, "held 1 h"},        {90000, "held 25 h"},  {345600, "held 4 days"},
                 {1e12, "held 11574 days"}, {59.9, "held 59 s"}};
    char words[IDLE_WORDS];
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++)
        CHECK_STR(idle_words(CASES[i].seconds, words), CASES[i].words);
}

static struct monitor monitor;
static struct monitor_options options;

/* On the main screen and on its own, and only once it has been long enough. */
static void the_screens_tell_of_it(void)
{
    begin();
    options = world_options();
    options.held_after_ns = UINT64_C(120) * MONITOR_SECOND;
    CHECK_INT(monitor_init(&monitor, &options), 0);
    monitor.model.same = true;
    monitor_resize(&monitor, 100, 40);
    struct reading reading = IDLE;
    for (reading.second = 1000; reading.second < 1119; reading.second++)
        model_add_machine(&monitor.model, snapshot_at(&reading));
    monitor_settle(&monitor);
    CHECK(strstr(world_screen(&monitor), "held") == NULL);
    for (; reading.second < 1190; reading.second++)
        model_add_machine(&monitor.model, snapshot_at(&reading));
    monitor_settle(&monitor);
    CHECK_NOT_NULL(strstr(world_screen(&monitor), "  held 3 min"));
    CHECK_NOT_NULL(strstr(world_screen(&monitor), "[held 3 min] ("));
    press_keys(&monitor, "d\n");
    CHECK_NOT_NULL(strstr(world_screen(&monitor), "held 3 min, and not used"));
    monitor_resize(&monitor, 40, 20);
    press_keys(&monitor, "q");
    CHECK_NOT_NULL(strstr(world_screen(&monitor), "held 3 min"));
    world_close(&monitor, builder);
}

/* The usual screen says it in few columns, and leaves the command its room. */
static void a_mark_leaves_the_command_its_room(void)
{
    static const struct {
        int width;
        const char *mark;
    } CASES[] = {{80, "○ (not in"}, {120, "held (not in"}, {250, "[held 3 min] (not in"}};
    begin();
    options = world_options();
    options.arrangement = NULL;
    options.held_after_ns = UINT64_C(120) * MONITOR_SECOND;
    CHECK_INT(monitor_init(&monitor, &options), 0);
    monitor.model.same = true;
    struct reading reading = IDLE;
    for (reading.second = 1000; reading.second < 1190; reading.second++)
        model_add_machine(&monitor.model, snapshot_at(&reading));
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].mark);
        monitor_resize(&monitor, CASES[i].width, 40);
        monitor_settle(&monitor);
        CHECK_CONTAINS(world_screen(&monitor), CASES[i].mark);
        CHECK_CONTAINS(world_screen(&monitor), " idle 3 min, its memory held");
    }
    model_pause(&monitor.model, true);
    CHECK_CONTAINS(world_screen(&monitor), " paused: p goes on ");
    world_close(&monitor, builder);
}

/* ---- choosing a device ---- */

static const struct monitor_process PROCESSES[] = {
    {20, 10, "ana", "train", 20, 0.9, 2000, 1, 4000, false},
    {30, 1, "ben", "vllm", 30, 0.1, 100, 3, 900, false},
};
static const struct monitor_world WORLD = {PROCESSES, CHECK_COUNT(PROCESSES), 3};

static void open_world(void)
{
    options = world_options();
    world_open(&monitor, &options, &WORLD, &builder);
}

static bool shows(const char *words)
{
    return strstr(world_screen(&monitor), words) != NULL;
}

static void keys_choose_a_device(void)
{
    open_world();
    press_keys(&monitor, "d");
    CHECK(monitor.model.has_device);
    CHECK_UINT(monitor.model.device, 1);
    press_code(&monitor, INPUT_DOWN);
    press_code(&monitor, INPUT_DOWN);
    press_code(&monitor, INPUT_DOWN); /* there is no fourth */
    CHECK_UINT(monitor.model.device, 3);
    press_code(&monitor, INPUT_ENTER);
    CHECK(shows("GPU 2  H100"));
    CHECK(shows("vllm"));
    CHECK(!shows("train"));
    press_code(&monitor, INPUT_RIGHT); /* round */
    CHECK(shows("GPU 0  H100"));
    press_keys(&monitor, "N");
    CHECK(shows("GPU 2  H100"));
    press_keys(&monitor, "q");
    CHECK_INT(monitor.depth, 1);
    CHECK_UINT(monitor.model.device, 3); /* where one came from */
    press_code(&monitor, INPUT_ESCAPE);
    CHECK(!monitor.model.has_device);
    press_code(&monitor, INPUT_DOWN);
    CHECK_UINT(monitor.model.selected.pid, 20);
    press_keys(&monitor, "d");
    CHECK_UINT(monitor.model.device, 1); /* that of the process */
    world_close(&monitor, builder);
}

static void numbers_open_a_device(void)
{
    open_world();
    press_keys(&monitor, "1");
    CHECK(shows("GPU 1  H100"));
    press_code(&monitor, INPUT_ESCAPE);
    press_keys(&monitor, "7");
    CHECK_INT(monitor.depth, 1);
    CHECK(shows("there is no device 7"));
    press_keys(&monitor, "r");
    press_code(&monitor, INPUT_DOWN);
    press_code(&monitor, INPUT_ENTER); /* the process */
    press_keys(&monitor, "d");
    CHECK(shows("GPU 0  H100"));
    world_close(&monitor, builder);
}

/* Whatever form the panel has, a click is about the device that is drawn there. */
static void the_mouse_chooses_a_device(void)
{
    static const int SIZES[][2] = {{60, 24}, {80, 24}, {100, 40}, {100, 60}, {130, 60}};
    static const char *const MODES[] = {"a", "f", "c"};
    for (size_t i = 0; i < CHECK_COUNT(SIZES) * 3; i++) {
        open_world();
        monitor_resize(&monitor, SIZES[i / 3][0], SIZES[i / 3][1]);
        press_keys(&monitor, MODES[i % 3]);
        unsigned seen = 0;
        for (int y = 0; y < SIZES[i / 3][1]; y++) {
            struct input_event event = {.code = INPUT_CLICK, .x = 10, .y = y};
            monitor.model.has_device = false;
            monitor_input(&monitor, &event);
            if (!monitor.model.has_device)
                continue;
            seen |= 1u << monitor.model.device;
            struct canvas canvas = {0};
            CHECK_INT(canvas_resize(&canvas, monitor.model.width, monitor.model.height), 0);
            monitor_draw(&monitor, &canvas);
            bool marked = false;
            for (int x = 1; x < 30; x++)
                marked = marked || (canvas_at(&canvas, x, y)->style & STYLE_REVERSE);
            CHECK(marked);
            canvas_done(&canvas);
        }
        CHECK_UINT(seen, 2 | 4 | 8);
        world_close(&monitor, builder);
    }
    open_world(); /* and again opens it */
    for (struct input_event event = {.code = INPUT_CLICK, .x = 10}; !monitor.model.has_device;
         event.y++) {
        monitor_input(&monitor, &event);
        if (monitor.model.has_device)
            monitor_input(&monitor, &event);
    }
    CHECK_INT(monitor.depth, 2);
    world_close(&monitor, builder);
}

/* ---- the whole screen moves by a line, as nvitop's does ---- */

static void page_keys_move_the_whole_screen(void)
{
    enum { MANY = 40 };
    static struct monitor_process many[MANY];
    const struct monitor_world world = {many, MANY, 2};
    for (size_t i = 0; i < MANY; i++)
        many[i] = (struct monitor_process){.pid = 1000 + i,
                                           .user = "ana",
                                           .command = "train",
                                           .start = 5,
                                           .gpu = 1,
                                           .gpu_mib = 10};
    options = world_options();
    world_open(&monitor, &options, &world, &builder);
    monitor_resize(&monitor, 100, 24);
    monitor_settle(&monitor);
    CHECK(shows("VITALS") && shows("1000"));
    CHECK(!shows("1020"));
    for (int i = 0; i < 40; i++)
        press_code(&monitor, INPUT_PAGE_DOWN);
    CHECK(!shows("VITALS")); /* the panels have made room */
    CHECK(shows("1039"));
    press_code(&monitor, INPUT_DOWN); /* a selection is seen again */
    CHECK(model_selected(&monitor.model) >= 0);
    press_code(&monitor, INPUT_HOME);
    CHECK(shows("1000"));
    for (int i = 0; i < 80; i++)
        press_code(&monitor, ']');
    CHECK(shows("1039") && !shows(" 1000")); /* and may go out of sight by hand */
    for (int i = 0; i < 80; i++)
        press_code(&monitor, '[');
    CHECK(shows("VITALS") && shows("1000"));
    CHECK_INT(monitor.model.lift, 0);
    world_close(&monitor, builder);
}

/* ---- what is told ---- */

static const vitals_metric DEVICE[] = {VITALS_GPU_NAME,
                                       VITALS_GPU_UUID,
                                       VITALS_GPU_UTILIZATION_RATIO,
                                       VITALS_GPU_MEMORY_USED_BYTES,
                                       VITALS_GPU_MEMORY_TOTAL_BYTES,
                                       VITALS_GPU_POWER_WATTS,
                                       VITALS_GPU_POWER_LIMIT_WATTS,
                                       VITALS_GPU_BUSY_SECONDS,
                                       VITALS_GPU_THROTTLED_BY_POWER,
                                       VITALS_GPU_XID_ERRORS,
                                       VITALS_GPU_SERIAL,
                                       VITALS_GPU_VBIOS_VERSION};
static const vitals_metric SENSORS[] = {VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS,
                                        VITALS_GPU_SENSOR_CRITICAL_CELSIUS,
                                        VITALS_GPU_SENSOR_FAN_RPM};
static const vitals_metric LINKS[] = {VITALS_GPU_LINK_KIND, VITALS_GPU_LINK_RECEIVED_BYTES,
                                      VITALS_GPU_LINK_CRC_ERRORS};

/* A device of a driver that only counts, with a partition. */
static vitals_snapshot *details_at(double second)
{
    vitals_snapshot *snapshot = NULL;
    vitals_error error;
    uint64_t now_ns = (uint64_t)(second * MONITOR_SECOND);
    vitals_builder_begin(builder);
    vitals_builder_origin(builder, text_of("n01"), text_of("boot"), 1);
    vitals_builder_stream(builder, 7);
    vitals_builder_moment(builder, now_ns, now_ns, now_ns, ++sequence);
    vitals_builder_table(builder, VITALS_TABLE_GPU, DEVICE, CHECK_COUNT(DEVICE));
    vitals_builder_table(builder, VITALS_TABLE_GPU_SENSOR, SENSORS, CHECK_COUNT(SENSORS));
    vitals_builder_table(builder, VITALS_TABLE_GPU_LINK, LINKS, CHECK_COUNT(LINKS));
    vitals_builder_row(builder, VITALS_TABLE_GPU, 1, 0, text_of("0"), now_ns);
    put_text(builder, VITALS_GPU_NAME, "Arc \x1b[31mB580");
    put_text(builder, VITALS_GPU_UUID, "GPU-1");
    put_number(builder, VITALS_GPU_UTILIZATION_RATIO, -1);
    put_number(builder, VITALS_GPU_BUSY_SECONDS, second / 4);
    put_number(builder, VITALS_GPU_MEMORY_USED_BYTES, 3.0 * (double)GIB);
    put_number(builder, VITALS_GPU_MEMORY_TOTAL_BYTES, 12.0 * (double)GIB);
    put_number(builder, VITALS_GPU_POWER_WATTS, 120);
    put_number(builder, VITALS_GPU_POWER_LIMIT_WATTS, 190);
    put_number(builder, VITALS_GPU_THROTTLED_BY_POWER, 1);
    put_number(builder, VITALS_GPU_XID_ERRORS, 2);
    vitals_builder_missing(builder, VITALS_GPU_SERIAL, VITALS_DENIED);
    vitals_builder_missing(builder, VITALS_GPU_VBIOS_VERSION, VITALS_UNSUPPORTED);
    vitals_builder_row(builder, VITALS_TABLE_GPU, 2, 1, text_of("0:0"), now_ns);
    put_text(builder, VITALS_GPU_NAME, "1g.10gb");
    put_number(builder, VITALS_GPU_UTILIZATION_RATIO, 0.4);
    put_number(builder, VITALS_GPU_MEMORY_USED_BYTES, 1.0 * (double)GIB);
    put_number(builder, VITALS_GPU_MEMORY_TOTAL_BYTES, 6.0 * (double)GIB);
    vitals_builder_row(builder, VITALS_TABLE_GPU_SENSOR, 1, 1, text_of("memory"), now_ns);
    put_number(builder, VITALS_GPU_SENSOR_TEMPERATURE_CELSIUS, 64);
    put_number(builder, VITALS_GPU_SENSOR_CRITICAL_CELSIUS, 105);
    vitals_builder_row(builder, VITALS_TABLE_GPU_LINK, 1, 1, text_of("link0"), now_ns);
    put_text(builder, VITALS_GPU_LINK_KIND, "xgmi");
    put_number(builder, VITALS_GPU_LINK_RECEIVED_BYTES, second * (1 << 20));
    put_number(builder, VITALS_GPU_LINK_CRC_ERRORS, 0);
    CHECK_OK(vitals_builder_finish(builder, &snapshot, &error), error);
    return snapshot;
}

/* "label: text" of the first line with a label. */
static const char *fact_of(const struct device_sheet *facts, const char *label)
{
    for (size_t i = 0; i < facts->count; i++) {
        if (!facts->items[i].title && strcmp(facts->items[i].label, label) == 0)
            return facts->items[i].text;
    }
    return "";
}

/* What is missing for a reason. */
static const char *missing_of(const struct device_sheet *sheet, const char *reason)
{
    static char out[1024];
    bool found = false;
    out[0] = '\0';
    for (size_t i = 0; i < sheet->count; i++) {
        const struct fact *fact = &sheet->items[i];
        if (strcmp(fact->label, "N/A") == 0 || fact->title)
            found = strstr(fact->text, reason) != NULL;
        if (found)
            (void)strncat(out, fact->text, sizeof out - strlen(out) - 1);
    }
    return out;
}

static void facts_of_any_vendor(void)
{
    static const struct {
        const char *label, *text;
    } EXPECTED[] = {
        {"utilization", "25%"}, /* of the time that it counted */
        {"used", "3072MiB of 12288MiB (25%)"},
        {"now", "120 W of 190 W (63%)"},
        {"throttled by", "power"},
        {"memory", "64°C, critical 105°C"},
        {"link0", "xgmi, in 1.00MiB/s"},
        {"Xid errors", "2"},
        {"UUID", "GPU-1"},
        {"0:0", "1g.10gb, 1024MiB of 6144MiB, busy 40%"},
        {"since opened", "90 J"},
    };
    struct device_sheet facts = {0};
    begin();
    options = world_options();
    struct model model;
    CHECK_INT(model_init(&model, &options), 0);
    vitals_snapshot *older = details_at(100), *now = details_at(102);
    struct sheet_view view = {.model = &model,
                              .gpu = vitals_snapshot_find(now, VITALS_TABLE_GPU, 1),
                              .older = older,
                              .has_energy = true,
                              .energy_joules = 90};
    CHECK(device_sheet_fill(&facts, &view, 78));
    for (size_t i = 0; i < CHECK_COUNT(EXPECTED); i++) {
        CHECK_CASE(EXPECTED[i].label);
        CHECK_STR(fact_of(&facts, EXPECTED[i].label), EXPECTED[i].text);
    }
    CHECK_STR(missing_of(&facts, "no permission"), "no permission: serial");
    CHECK(strstr(missing_of(&facts, "this device"), "firmware") != NULL);
    CHECK(strstr(missing_of(&facts, "this device"), "utilization") == NULL); /* it was derived */
    for (size_t i = 0; i < facts.count; i++)
        CHECK(strchr(facts.items[i].text, '\x1b') == NULL);
    /* The partition, and what it shares. */
    view.gpu = vitals_snapshot_find(now, VITALS_TABLE_GPU, 2);
    CHECK(device_sheet_fill(&facts, &view, 78));
    CHECK(strstr(fact_of(&facts, "0"), "Arc") != NULL);
    CHECK(strncmp(fact_of(&facts, "now"), "N/A: ", 5) == 0);
    device_sheet_done(&facts);
    model_done(&model);
    vitals_snapshot_unref(older);
    vitals_snapshot_unref(now);
    vitals_builder_free(builder);
}

/* Nothing is wider than what it may take, and nothing of a long text is lost. */
static void long_facts_go_on_in_the_next_line(void)
{
    begin();
    options = world_options();
    struct model model;
    CHECK_INT(model_init(&model, &options), 0);
    vitals_snapshot *now = details_at(100);
    struct device_sheet facts = {0};
    struct sheet_view view = {.model = &model,
                              .gpu = vitals_snapshot_find(now, VITALS_TABLE_GPU, 1)};
    for (int columns = 1; columns < 120; columns += 7) {
        char whole[4096] = "";
        CHECK(device_sheet_fill(&facts, &view, columns));
        for (size_t i = 0; i < facts.count; i++) {
            int room = columns - FACT_INDENT > 8 ? columns - FACT_INDENT : 8;
            CHECK(canvas_columns(facts.items[i].text) <= room);
            (void)strncat(whole, facts.items[i].text, sizeof whole - strlen(whole) - 1);
        }
        CHECK(columns < 60 || strstr(whole, "firmware") != NULL);
    }
    device_sheet_done(&facts);
    model_done(&model);
    vitals_snapshot_unref(now);
    vitals_builder_free(builder);
}

/* Any size, with a past and without, and after its device has left. */
static void any_size(void)
{
    static const int SIZES[][2] = {{1, 1},   {7, 3},    {40, 10},  {41, 20}, {80, 24},
                                   {99, 30}, {120, 40}, {160, 50}, {250, 50}};
    open_world();
    press_keys(&monitor, "2");
    for (size_t i = 0; i < CHECK_COUNT(SIZES); i++) {
        monitor_resize(&monitor, SIZES[i][0], SIZES[i][1]);
        monitor_settle(&monitor);
        press_code(&monitor, INPUT_END);
        CHECK(SIZES[i][1] < 20 || shows("sent "));
        press_code(&monitor, INPUT_HOME);
        CHECK(SIZES[i][1] < 20 || shows("vllm") || SIZES[i][0] < 60);
        CHECK(SIZES[i][0] < 40 || shows("GPU 2"));
        CHECK(SIZES[i][0] < 40 || SIZES[i][1] < 10 || shows("50%"));
    }
    const struct monitor_world none = {PROCESSES, 0, 1};
    monitor_resize(&monitor, 80, 24);
    model_add_machine(&monitor.model, world_at(builder, &none, 104, 3));
    monitor_settle(&monitor);
    CHECK(shows("not there any more"));
    press_code(&monitor, INPUT_RIGHT);
    CHECK(shows("GPU 0"));
    press_keys(&monitor, "q");
    CHECK_INT(monitor.depth, 1);
    world_close(&monitor, builder);
}

/* ---- what the end of a process frees ---- */

static void words_are_of_the_memory_that_they_stand_before(void)
{
    static const struct {
        struct freed freed;
        const char *words;
    } CASES[] = {
        {{.processes = 1}, ""},
        {{.processes = 1, .device_least = true}, ""},
        {{.processes = 1, .hosts = 1, .host = GIB}, "about 1024MiB of RAM"},
        // the size of some device memory is not known: that does not make RAM a lower bound
        {{.processes = 1, .hosts = 1, .host = GIB, .device_least = true}, "about 1024MiB of RAM"},
        {{.processes = 1, .hosts = 1, .host = 12.5 * GIB}, "about 12.50GiB of RAM"},
        {{.processes = 1, .devices = 1, .device = GIB, .device_least = true},
         "at least 1024MiB of GPU memory"},
        {{.processes = 1, .devices = 1, .device = GIB, .hosts = 1, .host = GIB},
         "1024MiB of GPU memory, about 1024MiB of RAM"},
        {{.processes = 2, .devices = 1, .device = GIB, .hosts = 1, .host = GIB, .host_least = true},
         "1024MiB of GPU memory, at least 1024MiB of RAM"},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        char words[FREED_WORDS];
        CHECK_CASE(CASES[i].words);
        CHECK_INT(freed_words(&CASES[i].freed, words), CASES[i].words[0] != '\0');
        CHECK_STR(words, CASES[i].words);
    }
    struct freed freed = {.gpus = {{"0", 69.7 * GIB, 80 * GIB}, {"1", GIB / 2, 8 * GIB}}};
    char words[FREED_WORDS];
    CHECK_FALSE(freed_gpu_words(&freed, words));
    freed.gpu_count = 2;
    CHECK(freed_gpu_words(&freed, words));
    CHECK_STR(words, "GPU 0: 69.7 of 80GiB, GPU 1: 0.5 of 8.0GiB");
}

static void what_is_waited_for_has_words(void)
{
    static const char *const CASES[][2] = {
        {"futex_wait_queue", "a lock"},
        {"hrtimer_nanosleep", "time to pass"},
        {"do_sys_poll", "input"},
        {"ep_poll", "input"},
        {"poll_schedule_timeout", "input"},
        {"anon_pipe_read", "input from a pipe"},
        {"do_wait", "a child"},
        {"folio_wait_bit_common", "a disk"},
        {"io_schedule", "a disk"},
        {"unix_stream_read_generic", "a socket"},
        {"inet_csk_accept", "a socket"},
        {"_nv042rm", "a driver"},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++)
        CHECK_STR(wait_channel_words(CASES[i][0]), CASES[i][1]);
    CHECK_NULL(wait_channel_words("do_something_else"));
    CHECK_NULL(wait_channel_words(""));
}

static const check_test tests[] = {
    {"idle memory is held since it was seen", idle_memory_is_held_since_it_was_seen},
    {"any work begins anew", any_work_begins_anew},
    {"what is not known is not claimed", what_is_not_known_is_not_claimed},
    {"beside somebody who works", beside_somebody_who_works},
    {"only a sure number shows rest", only_a_sure_number_shows_rest},
    {"a recording is looked back over", a_recording_is_looked_back_over},
    {"held has words", held_has_words},
    {"the screens tell of it", the_screens_tell_of_it},
    {"a mark leaves the command its room", a_mark_leaves_the_command_its_room},
    {"keys choose a device", keys_choose_a_device},
    {"numbers open a device", numbers_open_a_device},
    {"the mouse chooses a device", the_mouse_chooses_a_device},
    {"page keys move the whole screen", page_keys_move_the_whole_screen},
    {"facts of any vendor", facts_of_any_vendor},
    {"long facts go on in the next line", long_facts_go_on_in_the_next_line},
    {"any size", any_size},
    {"what is waited for has words", what_is_waited_for_has_words},
    {"words are of the memory that they stand before",
     words_are_of_the_memory_that_they_stand_before},
};
CHECK_TESTS(tests)
