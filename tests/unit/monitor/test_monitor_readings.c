/* Readings of the machine and of every process, which come apart: when the list is made anew, and
 * what stands in it until then; another stream of readings; what comes while it is paused. */
#include "monitor_world.h"

#include "monitor/screens/pane.h"

static const struct monitor_process PROCESSES[] = {
    {10, 1, "ana", "one", 10, 0.25, 5, 1, 100, false},
    {20, 1, "ben", "two", 20, 0.5, 5, 2, 200, false},
    {30, 1, "ben", "three", 30, 0.125, 5, 0, 0, false},
};
static const struct monitor_world USED = {PROCESSES, CHECK_COUNT(PROCESSES), 2};

static const struct monitor_process NOBODY[] = {
    {10, 1, "ana", "one", 10, 0.25, 5, 0, 0, false},
    {30, 1, "ben", "three", 30, 0.125, 5, 0, 0, false},
};
static const struct monitor_world UNUSED = {NOBODY, CHECK_COUNT(NOBODY), 2};

static struct monitor monitor;
static struct monitor_options options;
static vitals_builder *builder;

static void add_machine(const struct monitor_world *world, double seconds)
{
    model_add_machine(&monitor.model, world_at(builder, world, seconds, (uint64_t)seconds));
    monitor_settle(&monitor);
}

static void add_all(const struct monitor_world *world, double seconds)
{
    model_add_all(&monitor.model, world_at(builder, world, seconds, (uint64_t)seconds));
    monitor_settle(&monitor);
}

/* All processes in readings of their own, which have come twice. */
static void begin(void)
{
    vitals_error error;
    options = world_options();
    CHECK_OK(vitals_builder_new(&builder, &error), error);
    CHECK_INT(monitor_init(&monitor, &options), 0);
    monitor_resize(&monitor, 100, 40);
    monitor.model.view = VIEW_ALL;
    monitor.model.view_chosen = true;
    for (double seconds = 100; seconds <= 102; seconds += 2) {
        add_machine(&USED, seconds);
        add_all(&USED, seconds + 0.1);
    }
    monitor_settle(&monitor);
}

static void end(void)
{
    world_close(&monitor, builder);
}

/* Every row that the list has is there: what has been freed a sanitizer finds. */
static void check_list(size_t count, size_t users)
{
    size_t used = 0;
    CHECK_UINT(monitor.model.list.count, count);
    for (size_t i = 0; i < monitor.model.list.count; i++) {
        const struct item *item = &monitor.model.list.items[i];
        uint64_t pid, bytes;
        CHECK(vitals_row_u64(item->process, VITALS_PROCESS_PID, &pid) > 0);
        CHECK_UINT(pid, item_identity(item).pid);
        if (item->user == NULL)
            continue;
        used++;
        CHECK(vitals_row_u64(item->user, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, &bytes) > 0);
        CHECK_UINT(bytes, (pid * 10) << 20);
    }
    CHECK_UINT(used, users);
    CHECK_CONTAINS(world_screen(&monitor), "three");
}

static void the_machine_alone_leaves_the_list_to_all(void)
{
    begin();
    check_list(3, 2);
    add_machine(&UNUSED, 104);
    CHECK(monitor.model.list_waits);
    check_list(3, 2); /* still of the reading before, which is kept for it */
    add_all(&UNUSED, 104.1);
    CHECK(!monitor.model.list_waits);
    check_list(2, 0);
    end();
}

/* A second one of the machine, before one of all has come: its users are of now. */
static void it_waits_for_one_reading_and_not_for_more(void)
{
    begin();
    add_machine(&USED, 103);
    CHECK(monitor.model.list_waits);
    add_machine(&USED, 104);
    CHECK(!monitor.model.list_waits);
    check_list(3, 2);
    add_machine(&UNUSED, 104.5);
    add_machine(&UNUSED, 104.9);
    check_list(3, 0);
    add_machine(&UNUSED, 105);
    add_machine(&UNUSED, 106);
    check_list(3, 0);
    end();
}

static void where_all_is_late_it_waits_for_nobody(void)
{
    begin();
    add_machine(&UNUSED, 102.1 + 2);
    CHECK(!monitor.model.list_waits);
    check_list(3, 0);
    end();
}

/* Whatever is done while it waits. */
static void keys_find_what_is_there(void)
{
    static const char *const KEYS[] = {"p", "t", "oc", "\t", "om", "/tw", "/", "h", "c", "G"};
    for (size_t i = 0; i < CHECK_COUNT(KEYS); i++) {
        begin();
        add_machine(&UNUSED, 103);
        CHECK(monitor.model.list_waits);
        press_keys(&monitor, KEYS[i]);
        CHECK(world_screen(&monitor)[0] != '\0');
        for (int more = 0; more < 3; more++) {
            add_machine(&USED, 103.5 + more);
            CHECK(world_screen(&monitor)[0] != '\0');
        }
        add_all(&USED, 107);
        CHECK(world_screen(&monitor)[0] != '\0');
        model_pause(&monitor.model, false);
        add_machine(&UNUSED, 108);
        add_all(&UNUSED, 108.1);
        CHECK(world_screen(&monitor)[0] != '\0');
        end();
    }
}

/* The past is shown meanwhile, and the present found again. */
static void it_waits_while_one_looks_back(void)
{
    begin();
    add_machine(&UNUSED, 103);
    CHECK(monitor.model.list_waits);
    model_leave(&monitor.model);
    struct readings machine = {.now = world_at(builder, &USED, 90, 9)}, all = {0};
    model_show(&monitor.model, &machine, &all);
    for (int i = 0; i < 4; i++) {
        add_machine(&USED, 104 + i);
        add_all(&USED, 104.1 + i);
    }
    model_return(&monitor.model);
    check_list(3, 2);
    end();
}

/* ---- another stream ---- */

static vitals_snapshot *of_stream(uint64_t stream, double seconds)
{
    vitals_snapshot *snapshot = NULL;
    vitals_error error;
    uint64_t now_ns = (uint64_t)(seconds * MONITOR_SECOND);
    vitals_builder_begin(builder);
    vitals_builder_origin(builder, text_of("n01"), text_of("boot"), 1);
    vitals_builder_stream(builder, stream);
    vitals_builder_moment(builder, now_ns, now_ns, now_ns, 1);
    world_tables(builder);
    for (size_t i = 0; i < USED.count; i++)
        world_process(builder, &USED.processes[i], i + 1, seconds);
    CHECK_OK(vitals_builder_finish(builder, &snapshot, &error), error);
    return snapshot;
}

/* CPUs of the first in the list, below 0: not known. */
static double cpu_of_the_first(void)
{
    const struct readings *all = &monitor.model.all;
    const vitals_row *row = vitals_snapshot_next(all->now, VITALS_TABLE_PROCESS, NULL);
    double cpus;
    return vitals_row_rate(row, all->previous, VITALS_PROCESS_CPU_SECONDS, &cpus) > 0 &&
                   vitals_row_rate(row, all->older, VITALS_PROCESS_CPU_SECONDS, &cpus) > 0
               ? cpus
               : -1;
}

static void another_stream_begins_with_two(void)
{
    begin();
    CHECK_NEAR(cpu_of_the_first(), 0.25, 1e-9);
    model_add_all(&monitor.model, of_stream(8, 101.5));
    CHECK(monitor.model.all.previous == NULL);
    model_add_all(&monitor.model, of_stream(8, 103.5));
    CHECK_NEAR(cpu_of_the_first(), 0.25, 1e-9);
    check_list(3, 2);
    end();
}

/* What the list has rows of is freed with the stream that it was of. */
static void where_the_machine_begins_anew_it_waits_for_nobody(void)
{
    begin();
    model_add_machine(&monitor.model, of_stream(9, 103));
    CHECK(monitor.model.machine.previous == NULL);
    CHECK(!monitor.model.list_waits);
    check_list(3, 0);
    end();
}

static void it_begins_while_paused(void)
{
    begin();
    model_pause(&monitor.model, true);
    model_add_all(&monitor.model, of_stream(8, 101.5));
    model_add_all(&monitor.model, of_stream(8, 103.5));
    model_add_all(&monitor.model, of_stream(9, 104));
    model_add_all(&monitor.model, of_stream(9, 106));
    model_add_all(&monitor.model, of_stream(9, 108));
    CHECK_UINT(vitals_snapshot_stream(monitor.model.all.now), 7);
    check_list(3, 2);
    model_pause(&monitor.model, false);
    CHECK_UINT(vitals_snapshot_stream(monitor.model.all.now), 9);
    CHECK_NEAR(cpu_of_the_first(), 0.25, 1e-9);
    check_list(3, 2);
    model_pause(&monitor.model, true);
    model_add_all(&monitor.model, of_stream(10, 110));
    model_forget_all(&monitor.model); /* what was held goes too */
    CHECK_UINT(monitor.model.list.count, 0);
    end();
}

/* While no screen shows all processes their readings are forgotten, and one of them ends. */
static void one_that_ended_unseen_has_no_row(void)
{
    begin();
    monitor.model.arranged.nvitop = false; /* which marks rows that have ended */
    add_all(&USED, 104);
    model_forget_all(&monitor.model);
    add_machine(&UNUSED, 110);
    add_all(&UNUSED, 110);
    CHECK_UINT(monitor.model.list.count, 2);
    end();
}

/* Charts of a live monitor are full soon, and never less than half full then. */
static void the_first_minutes_fill_the_charts(void)
{
    int before = 0, columns = 0;
    begin();
    struct history *cpu = &monitor.model.history->cpu;
    monitor_resize(&monitor, 120, 40);
    columns = (120 - 6) / 3;
    for (uint64_t second = 1; second < 600; second++) {
        history_add(cpu, (103 + second) * 1000000000u, 0.5);
        int each = pane_seconds(&monitor.model);
        CHECK(each >= before && each <= chart_seconds[0]);
        CHECK(each == 1 || (int)cpu->count * 2 > columns * each);
        CHECK(each == chart_seconds[0] || (int)cpu->count <= columns * each);
        before = each;
    }
    CHECK_INT(before, chart_seconds[0]);
    monitor.model.arranged.span = 1;
    CHECK_INT(pane_seconds(&monitor.model), chart_seconds[1]);
    end();

    begin();
    struct timeline kept = {.data = NULL};
    options.replay = &kept; /* it is filled from what was before, in one go */
    CHECK_INT(pane_seconds(&monitor.model), chart_seconds[0]);
    options.replay = NULL;
    end();
}

static const check_test tests[] = {
    {"the machine alone leaves the list to all", the_machine_alone_leaves_the_list_to_all},
    {"it waits for one reading and not for more", it_waits_for_one_reading_and_not_for_more},
    {"where all is late it waits for nobody", where_all_is_late_it_waits_for_nobody},
    {"where the machine begins anew it waits for nobody",
     where_the_machine_begins_anew_it_waits_for_nobody},
    {"one that ended unseen has no row", one_that_ended_unseen_has_no_row},
    {"keys find what is there", keys_find_what_is_there},
    {"it waits while one looks back", it_waits_while_one_looks_back},
    {"another stream begins with two", another_stream_begins_with_two},
    {"it begins while paused", it_begins_while_paused},
    {"the first minutes fill the charts", the_first_minutes_fill_the_charts},
};

CHECK_TESTS(tests)
