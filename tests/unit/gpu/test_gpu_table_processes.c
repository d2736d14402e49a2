/* The table of devices: the processes on each. */
#include "gpu_table_world.h"

static void a_process_keeps_its_row_while_it_is_listed(void)
{
    begin();
    one_device();
    take_users(0, (const int64_t[]){42, 50}, 2);
    write_rows(NULL);
    uint64_t key = vitals_row_key(row(VITALS_TABLE_GPU_PROCESS, "50"));
    take_users(0, (const int64_t[]){7, 50}, 2);
    write_rows(NULL);
    CHECK_UINT(rows(VITALS_TABLE_GPU_PROCESS), 2);
    CHECK_UINT(vitals_row_key(row(VITALS_TABLE_GPU_PROCESS, "50")), key);
    CHECK_UINT(vitals_row_parent(row(VITALS_TABLE_GPU_PROCESS, "50")),
               vitals_row_key(row(VITALS_TABLE_GPU, "0")));
    take_users(0, NULL, 0);
    take_users(0, (const int64_t[]){50}, 1);
    write_rows(NULL);
    CHECK(vitals_row_key(row(VITALS_TABLE_GPU_PROCESS, "50")) > key);
    end();
}

static vitals_availability process_of(const char *label, uint64_t *key)
{
    *key = 0;
    return vitals_row_u64(row(VITALS_TABLE_GPU_PROCESS, label), VITALS_GPU_PROCESS_PROCESS, key);
}

static void a_process_is_joined_by_its_pid(void)
{
    begin();
    one_device();
    take_users(0, (const int64_t[]){42, 4000000}, 2);
    uint64_t key;
    write_rows(NULL);
    CHECK_INT(process_of("42", &key), VITALS_NOT_REQUESTED);

    living[0].pid = 42;
    living[0].key = 1001;
    write_rows(find_living);
    uint64_t row_key = vitals_row_key(row(VITALS_TABLE_GPU_PROCESS, "42"));
    CHECK_INT(process_of("42", &key), VITALS_HAVE);
    CHECK_UINT(key, 1001);
    CHECK_INT(process_of("4000000", &key), VITALS_OUTSIDE);

    living[0].pid = 0; /* it ended, and the driver lists it still */
    write_rows(find_living);
    CHECK_INT(process_of("42", &key), VITALS_GONE);
    CHECK_UINT(vitals_row_key(row(VITALS_TABLE_GPU_PROCESS, "42")), row_key);

    living[0].pid = 42; /* and another has its pid */
    living[0].key = 1002;
    write_rows(find_living);
    const vitals_row *r = row(VITALS_TABLE_GPU_PROCESS, "42");
    CHECK(vitals_row_key(r) > row_key);
    CHECK_NEAR(number(r, VITALS_GPU_PROCESS_BUSY_SECONDS), 0, 0);
    end();
}

static void one_bad_answer_does_not_end_a_process(void)
{
    begin();
    one_device();
    take_users(0, (const int64_t[]){42}, 1);
    write_rows(NULL);
    uint64_t key = vitals_row_key(row(VITALS_TABLE_GPU_PROCESS, "42"));
    take_state(VITALS_FAILED);
    write_rows(NULL);
    CHECK_INT(vitals_row_availability(row(VITALS_TABLE_GPU_PROCESS, "42"),
                                      VITALS_GPU_PROCESS_MEMORY_USED_BYTES),
              VITALS_STALE);
    take_users(0, (const int64_t[]){42}, 1);
    write_rows(NULL);
    CHECK_UINT(vitals_row_key(row(VITALS_TABLE_GPU_PROCESS, "42")), key);
    take_state(VITALS_DENIED);
    write_rows(NULL);
    CHECK_UINT(rows(VITALS_TABLE_GPU_PROCESS), 0);
    CHECK_INT(vitals_row_availability(row(VITALS_TABLE_GPU, "0"), VITALS_GPU_PROCESSES),
              VITALS_DENIED);
    end();
}

static vitals_availability memory_of(const char *label)
{
    return vitals_row_availability(row(VITALS_TABLE_GPU_PROCESS, label),
                                   VITALS_GPU_PROCESS_MEMORY_USED_BYTES);
}

/* Of two lists, one could not be read: what it named before stays, and is stale. */
static void one_list_that_fails_does_not_end_its_processes(void)
{
    static struct gpu_processes list;
    static const struct {
        int64_t pid;
        unsigned uses;
    } BOTH[] = {{5, GPU_GRAPHICS},
                {42, GPU_COMPUTE},
                {43, GPU_COMPUTE | GPU_GRAPHICS},
                {44, GPU_COMPUTE},
                {99, GPU_GRAPHICS}};
    uint64_t keys[CHECK_COUNT(BOTH)], value = 0;
    begin();
    one_device();
    list = (struct gpu_processes){.state = VITALS_HAVE, .count = CHECK_COUNT(BOTH)};
    for (size_t i = 0; i < CHECK_COUNT(BOTH); i++) {
        list.items[i] = (struct gpu_process){.pid = BOTH[i].pid, .uses = BOTH[i].uses};
        set_of(&list.items[i], VITALS_GPU_PROCESS_MEMORY_USED_BYTES, value_u64(1000));
    }
    const struct gpu_processes whole = list;
    CHECK_INT(gpu_table_processes(table, 0, 0, asked_of_users(), &list), 0);
    write_rows(NULL);
    const vitals_row *user = NULL;
    for (size_t i = 0; i < CHECK_COUNT(BOTH); i++) {
        user = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU_PROCESS, user);
        keys[i] = vitals_row_key(user);
    }

    /* That of graphics fails; 43 and 44 have ended their compute work. */
    for (int again = 0; again < 3; again++) {
        list.count = 1;
        list.items[0] = whole.items[1];
        list.cut = true;
        list.unread = GPU_GRAPHICS;
        CHECK_INT(gpu_table_processes(table, 0, 0, asked_of_users(), &list), 0);
        write_rows(NULL);
        CHECK_UINT(rows(VITALS_TABLE_GPU_PROCESS), 4);
        CHECK_UINT(vitals_row_key(row(VITALS_TABLE_GPU_PROCESS, "5")), keys[0]);
        CHECK_UINT(vitals_row_key(row(VITALS_TABLE_GPU_PROCESS, "42")), keys[1]);
        CHECK_UINT(vitals_row_key(row(VITALS_TABLE_GPU_PROCESS, "43")), keys[2]);
        CHECK_UINT(vitals_row_key(row(VITALS_TABLE_GPU_PROCESS, "99")), keys[4]);
        CHECK_INT(memory_of("5"), VITALS_STALE);
        CHECK_INT(memory_of("42"), VITALS_HAVE);
        CHECK_INT(memory_of("43"), VITALS_STALE);
        CHECK_INT(memory_of("99"), VITALS_STALE);
        CHECK_INT(vitals_snapshot_state(snapshot, VITALS_TABLE_GPU_PROCESS), VITALS_LOWER_BOUND);
        CHECK_INT(vitals_row_u64(row(VITALS_TABLE_GPU, "0"), VITALS_GPU_PROCESSES, &value),
                  VITALS_LOWER_BOUND);
        CHECK_UINT(value, 1); /* the others may have ended */
    }

    /* It can be read again: what it does not name has ended. */
    list = (struct gpu_processes){.state = VITALS_HAVE, .count = 2};
    list.items[0] = whole.items[0];
    list.items[1] = whole.items[1];
    CHECK_INT(gpu_table_processes(table, 0, 0, asked_of_users(), &list), 0);
    write_rows(NULL);
    CHECK_UINT(rows(VITALS_TABLE_GPU_PROCESS), 2);
    CHECK_UINT(vitals_row_key(row(VITALS_TABLE_GPU_PROCESS, "5")), keys[0]);
    CHECK_INT(memory_of("5"), VITALS_HAVE);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_TABLE_GPU_PROCESS), VITALS_HAVE);
    end();
}

static void a_table_of_processes_says_what_it_lacks(void)
{
    static const struct {
        const char *name;
        signed char first, second; /* UNSET: no answer; LOWER_BOUND: a list that is cut */
        vitals_availability state;
    } CASES[] = {
        {"both", VITALS_HAVE, VITALS_HAVE, VITALS_HAVE},
        {"one is denied", VITALS_HAVE, VITALS_DENIED, VITALS_LOWER_BOUND},
        {"both are", VITALS_DENIED, VITALS_DENIED, VITALS_DENIED},
        {"denied is what can be mended", VITALS_SUSPENDED, VITALS_DENIED, VITALS_DENIED},
        {"one is cut", VITALS_HAVE, VITALS_LOWER_BOUND, VITALS_LOWER_BOUND},
        {"no answer", VITALS_UNSET, VITALS_UNSET, VITALS_NOT_YET},
        {"one answer", VITALS_UNSET, VITALS_HAVE, VITALS_LOWER_BOUND},
        {"no device has such", VITALS_UNSUPPORTED, VITALS_UNSUPPORTED, VITALS_UNSUPPORTED},
    };
    static struct gpu_processes list;
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        struct gpu_scan scan = {0};
        const signed char states[] = {CASES[i].first, CASES[i].second};
        CHECK_CASE(CASES[i].name);
        begin();
        add(&scan, 0, "A");
        add(&scan, 1, "B");
        take_scan(0, &scan);
        for (uint32_t slot = 0; slot < 2; slot++) {
            bool cut = states[slot] == VITALS_LOWER_BOUND;
            list = (struct gpu_processes){.state = cut ? VITALS_HAVE : states[slot], .cut = cut};
            if (states[slot] != VITALS_UNSET)
                CHECK_INT(gpu_table_processes(table, 0, slot, asked_of_users(), &list), 0);
        }
        write_rows(NULL);
        CHECK_INT(vitals_snapshot_state(snapshot, VITALS_TABLE_GPU_PROCESS), CASES[i].state);
        end();
    }
}

/* What a partition's users are told of: the whole device. */
static void a_partition_without_a_list_lacks_nothing(void)
{
    static struct gpu_processes none = {.state = VITALS_UNSUPPORTED};
    struct gpu_scan scan = {0};
    begin();
    add(&scan, 0, "A");
    add_part(&scan, 1, 0, 0, "A/0");
    take_scan(0, &scan);
    take_users(0, (const int64_t[]){4}, 1);
    CHECK_INT(gpu_table_processes(table, 0, 1, asked_of_users(), &none), 0);
    write_rows(NULL);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_TABLE_GPU_PROCESS), VITALS_HAVE);
    gpu_table_late(table, 0, 0, asked_of_users());
    write_rows(NULL);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_TABLE_GPU_PROCESS), VITALS_STALE);
    end();
}

static void type_says_compute_and_graphics(void)
{
    static const struct {
        unsigned uses;
        const char *type;
    } cases[] = {{GPU_COMPUTE, "C"},
                 {GPU_GRAPHICS, "G"},
                 {GPU_COMPUTE | GPU_GRAPHICS, "C+G"},
                 {GPU_COMPUTE | GPU_MPS, "M+C"},
                 {GPU_COMPUTE | GPU_GRAPHICS | GPU_MPS, "M+C+G"},
                 {0, NULL}};
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        begin();
        one_device();
        static struct gpu_processes list;
        list = (struct gpu_processes){.state = VITALS_HAVE, .count = 1};
        list.items[0] = (struct gpu_process){.pid = 9, .uses = cases[i].uses, .is_ours = 1};
        CHECK_INT(gpu_table_processes(table, 0, 0, asked_of_users(), &list), 0);
        write_rows(NULL);
        vitals_text type = {"", 0};
        vitals_availability state = vitals_row_text(row(VITALS_TABLE_GPU_PROCESS, "9"),
                                                    VITALS_GPU_PROCESS_TYPE, &type);
        CHECK_INT(state, cases[i].type ? VITALS_HAVE : VITALS_UNSUPPORTED);
        if (cases[i].type)
            CHECK_BYTES(type.bytes, type.size, cases[i].type, strlen(cases[i].type));
        end();
    }
}

static void a_partitioned_device_counts_its_partitions_processes(void)
{
    begin();
    struct gpu_scan scan = {0};
    add(&scan, 0, "A");
    add_part(&scan, 1, 0, 0, "A/0");
    add_part(&scan, 2, 0, 1, "A/1");
    take_scan(0, &scan);
    take_users(0, NULL, 0);
    take_users(1, (const int64_t[]){1, 2}, 2);
    write_rows(NULL);
    CHECK_INT(vitals_row_availability(row(VITALS_TABLE_GPU, "0"), VITALS_GPU_PROCESSES),
              VITALS_NOT_YET);
    take_users(2, (const int64_t[]){3}, 1);
    write_rows(NULL);
    CHECK_NEAR(number(row(VITALS_TABLE_GPU, "0"), VITALS_GPU_PROCESSES), 3, 0);
    CHECK_NEAR(number(row(VITALS_TABLE_GPU, "0:0"), VITALS_GPU_PROCESSES), 2, 0);
    end();
}

static void sum_pid(void *data, int64_t pid)
{
    *(int64_t *)data += pid;
}

static void each_pid_is_visited_on_each_device(void)
{
    begin();
    struct gpu_scan scan = {0}, less = {0};
    add(&scan, 0, "A");
    add(&scan, 1, "B");
    take_scan(0, &scan);
    take_users(0, (const int64_t[]){1, 20}, 2);
    take_users(1, (const int64_t[]){300}, 1);
    int64_t sum = 0;
    gpu_table_each_pid(table, sum_pid, &sum);
    CHECK_INT(sum, 321);
    add(&less, 0, "A");
    take_scan(0, &less);
    sum = 0;
    gpu_table_each_pid(table, sum_pid, &sum);
    CHECK_INT(sum, 21);
    end();
}

static const check_test tests[] = {
    {"a process keeps its row while it is listed", a_process_keeps_its_row_while_it_is_listed},
    {"a process is joined by its pid", a_process_is_joined_by_its_pid},
    {"one bad answer does not end a process", one_bad_answer_does_not_end_a_process},
    {"one list that fails does not end its processes",
     one_list_that_fails_does_not_end_its_processes},
    {"a table of processes says what it lacks", a_table_of_processes_says_what_it_lacks},
    {"a partition without a list lacks nothing", a_partition_without_a_list_lacks_nothing},
    {"type says compute and graphics", type_says_compute_and_graphics},
    {"a partitioned device counts its partitions' processes",
     a_partitioned_device_counts_its_partitions_processes},
    {"each pid is visited on each device", each_pid_is_visited_on_each_device},
};
CHECK_TESTS(tests)
