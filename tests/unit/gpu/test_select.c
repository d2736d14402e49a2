/* Which devices a job should take: limits, tolerance, order, accounts, vendors, MIG devices, and
 * what is not known. */
#include "gpu_rows.h"

#include <vitals/select.h>

#include <math.h>

#define N(n, used, load)                                                                       \
    {                                                                                          \
        .label = #n, .vendor = "nvidia", .uuid = "GPU-" #n, .total_gib = 80, .used_gib = used, \
        .busy = load, .memory_busy = (load) / 2, .busy_seconds = -1                            \
    }

static const struct gpu_row FOUR[] = {N(0, 10, 0.5), N(1, 70, 0.0), N(2, 10, 0.2), N(3, 40, 1.0)};

static vitals_gpu_select_options defaults(void)
{
    vitals_gpu_select_options options;
    vitals_gpu_select_options_init(&options, sizeof options);
    return options;
}

static const char *chosen_of(const vitals_snapshot *snapshot,
                             const vitals_gpu_select_options *options)
{
    const vitals_row *rows[16];
    vitals_error error;
    int count = vitals_gpu_select(snapshot, options, rows, 16, &error);
    if (count < 0)
        CHECK_FAIL("%s", error.message);
    return labels_of(rows, (size_t)count);
}

static const char *choose(const struct gpu_row *rows, size_t count,
                          const vitals_gpu_select_options *options)
{
    vitals_snapshot *snapshot = snapshot_of(rows, count);
    static char out[256];
    snprintf(out, sizeof out, "%s", chosen_of(snapshot, options));
    vitals_snapshot_unref(snapshot);
    return out;
}

/* Most free first; equals by less utilization. */
static void limits_and_order(void)
{
    static const struct {
        const char *name;
        vitals_gpu_select_options options;
        const char *expected;
    } CASES[] = {
        {"all", {.max_utilization_ratio = -1, .max_memory_busy_ratio = -1}, "2 0 3 1"},
        {"as they stand",
         {.max_utilization_ratio = -1, .max_memory_busy_ratio = -1, .keep_order = 1},
         "0 1 2 3"},
        {"two", {.max_utilization_ratio = -1, .max_memory_busy_ratio = -1, .max_count = 2}, "2 0"},
        {"40 GiB free",
         {.max_utilization_ratio = -1, .max_memory_busy_ratio = -1, .min_free_bytes = 40 * GIB},
         "2 0 3"},
        {"81 GiB in all",
         {.max_utilization_ratio = -1, .max_memory_busy_ratio = -1, .min_total_bytes = 81 * GIB},
         ""},
        {"81 GiB in all, nearly",
         {.max_utilization_ratio = -1,
          .max_memory_busy_ratio = -1,
          .min_total_bytes = 81 * GIB,
          .tolerance_ratio = 0.1},
         "2 0 3 1"},
        {"idle", {.max_utilization_ratio = 0, .max_memory_busy_ratio = -1}, "1"},
        {"at most a fifth busy",
         {.max_utilization_ratio = 0.2, .max_memory_busy_ratio = -1},
         "2 1"},
        {"the memory idle", {.max_utilization_ratio = -1, .max_memory_busy_ratio = 0.1}, "2 1"},
        {"nearly comes behind what is",
         {.max_utilization_ratio = 0.1, .max_memory_busy_ratio = -1, .tolerance_ratio = 0.1},
         "1 2"},
        {"nearly, twice",
         {.max_utilization_ratio = 0.4,
          .max_memory_busy_ratio = -1,
          .min_free_bytes = 75 * GIB,
          .tolerance_ratio = 0.1},
         "2 0"},
        {"none",
         {.max_utilization_ratio = -1,
          .max_memory_busy_ratio = -1,
          .min_free_bytes = 800 * GIB,
          .tolerance_ratio = 0.1},
         ""},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        vitals_gpu_select_options options = CASES[i].options;
        options.size = sizeof options;
        CHECK_CASE(CASES[i].name);
        CHECK_STR(choose(FOUR, CHECK_COUNT(FOUR), &options), CASES[i].expected);
    }
    CHECK_CASE("no options");
    CHECK_STR(choose(FOUR, CHECK_COUNT(FOUR), NULL), "2 0 3 1");
}

/* Equal in everything: the highest number, as nvisel. */
static void equals(void)
{
    static const struct gpu_row ROWS[] = {N(0, 0, 0), N(1, 0, 0), N(2, 0, 0)};
    CHECK_STR(choose(ROWS, 3, NULL), "2 1 0");
}

/* What is not known passes no limit, and stands last. */
static void missing_values(void)
{
    static const struct gpu_row ROWS[] = {
        {.label = "0",
         .vendor = "nvidia",
         .total_gib = -1,
         .used_gib = -1,
         .busy = -1,
         .memory_busy = -1,
         .busy_seconds = -1},
        N(1, 79, 1.0),
        {.label = "2",
         .vendor = "nvidia",
         .lost = VITALS_GONE,
         .busy = -1,
         .memory_busy = -1,
         .busy_seconds = -1},
        {.label = "3",
         .vendor = "nvidia",
         .lost = VITALS_SUSPENDED,
         .busy = -1,
         .memory_busy = -1,
         .busy_seconds = -1},
    };
    vitals_gpu_select_options options = defaults();
    CHECK_STR(choose(ROWS, CHECK_COUNT(ROWS), &options), "1 3"); /* 0 tells nothing at all */
    options.max_utilization_ratio = 1;
    CHECK_STR(choose(ROWS, CHECK_COUNT(ROWS), &options), "1");
    options.max_utilization_ratio = -1;
    options.min_free_bytes = 1;
    CHECK_STR(choose(ROWS, CHECK_COUNT(ROWS), &options), "1");
    options.min_free_bytes = 0;
    options.max_memory_busy_ratio = 1;
    options.tolerance_ratio = 1;
    CHECK_STR(choose(ROWS, CHECK_COUNT(ROWS), &options), "1");
}

/* What a second reading will tell is no reason to refuse a device. */
static void values_to_come(void)
{
    static const vitals_metric TOLD[] = {VITALS_GPU_MEMORY_USED_BYTES, VITALS_GPU_UTILIZATION_RATIO,
                                         VITALS_GPU_BUSY_SECONDS};
    struct gpu_row row = {.label = "0",
                          .vendor = "intel",
                          .total_gib = -1,
                          .used_gib = -1,
                          .busy = -1,
                          .memory_busy = -1,
                          .busy_seconds = -1};
    for (size_t i = 0; i < CHECK_COUNT(TOLD); i++) {
        CHECK_CASE(vitals_metric_name(TOLD[i]));
        vitals_builder *builder = begin_rows(1000000000);
        put_rows(builder, &row, 1, 1000000000);
        vitals_builder_missing(builder, TOLD[i], VITALS_NOT_YET);
        vitals_snapshot *snapshot = end_rows(builder);
        CHECK_STR(chosen_of(snapshot, NULL), "0");
        vitals_gpu_select_options options = defaults();
        options.max_utilization_ratio = 0.9;
        CHECK_STR(chosen_of(snapshot, &options), "");
        vitals_snapshot_unref(snapshot);
    }
}

/* What a driver said before it fell silent counts no more: the device is not taken. */
static void silent_drivers(void)
{
    struct gpu_row rows[] = {N(0, 0, 0.0), N(1, 70, 0.9)};
    rows[0].lost = VITALS_TIMED_OUT;
    CHECK_STR(choose(rows, 2, NULL), "1");
    rows[0].lost = 0;
    vitals_builder *builder = begin_rows(1000000000);
    put_rows(builder, rows, 1, 1000000000);
    vitals_builder_u64(builder, VITALS_GPU_MEMORY_USED_BYTES, 0, VITALS_STALE);
    vitals_snapshot *snapshot = end_rows(builder);
    CHECK_STR(chosen_of(snapshot, NULL), "");
    vitals_snapshot_unref(snapshot);
}

/* A driver that gives no percentage counts how long it was busy. */
static void utilization_of_a_counter(void)
{
    struct gpu_row rows[] = {
        {.label = "0",
         .vendor = "intel",
         .total_gib = 8,
         .busy = -1,
         .memory_busy = -1,
         .busy_seconds = 5},
        {.label = "1",
         .vendor = "intel",
         .total_gib = 8,
         .busy = -1,
         .memory_busy = -1,
         .busy_seconds = 5},
    };
    vitals_builder *builder = begin_rows(10000000000);
    put_rows(builder, rows, 2, 10000000000);
    vitals_snapshot *older = end_rows(builder);
    rows[0].busy_seconds = 14; /* 0.9 over 10 s */
    rows[1].busy_seconds = 6;
    builder = begin_rows(20000000000);
    put_rows(builder, rows, 2, 20000000000);
    vitals_snapshot *now = end_rows(builder);
    vitals_gpu_select_options options = defaults();
    options.max_utilization_ratio = 0.5;
    CHECK_STR(chosen_of(now, &options), "");
    options.older = older;
    CHECK_STR(chosen_of(now, &options), "1");
    options.max_utilization_ratio = -1;
    CHECK_STR(chosen_of(now, &options), "1 0");
    vitals_snapshot_unref(older);
    vitals_snapshot_unref(now);
}

/* Processes on device 0: ana's 30 GiB, 20 of an unknown user, root's 20. */
/* Two processes may both count memory that they share; there is no more than all of it. */
static void no_more_is_free_than_there_is(void)
{
    static const struct gpu_row ROWS[] = {N(0, 70, 0.0), N(1, 0, 0.0)};
    static const vitals_metric USERS[] = {VITALS_GPU_PROCESS_PID, VITALS_GPU_PROCESS_PROCESS,
                                          VITALS_GPU_PROCESS_MEMORY_USED_BYTES};
    static const vitals_metric PROCESSES[] = {VITALS_PROCESS_PID, VITALS_PROCESS_USER};
    static const char *const ANA[] = {"ana"};
    vitals_builder *builder = begin_rows(1000000000);
    put_rows(builder, ROWS, 2, 1000000000);
    vitals_builder_table(builder, VITALS_TABLE_GPU_PROCESS, USERS, 3);
    for (uint64_t i = 0; i < 2; i++) {
        vitals_builder_row(builder, VITALS_TABLE_GPU_PROCESS, i + 1, 1, text_of("x"), 1000000000);
        vitals_builder_u64(builder, VITALS_GPU_PROCESS_PID, 100, VITALS_HAVE);
        vitals_builder_u64(builder, VITALS_GPU_PROCESS_PROCESS, 10, VITALS_HAVE);
        vitals_builder_u64(builder, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, 70 * GIB, VITALS_HAVE);
    }
    vitals_builder_table(builder, VITALS_TABLE_PROCESS, PROCESSES, 2);
    vitals_builder_row(builder, VITALS_TABLE_PROCESS, 10, 0, text_of("a"), 1000000000);
    put_number(builder, VITALS_PROCESS_PID, 100);
    put_text(builder, VITALS_PROCESS_USER, "ana");
    vitals_snapshot *snapshot = end_rows(builder);
    vitals_gpu_select_options options = defaults();
    options.free_accounts = ANA;
    options.free_account_count = 1;
    CHECK_STR(chosen_of(snapshot, &options), "1 0"); /* equals: 80 and 80, not 150 */
    options.min_free_bytes = 80 * GIB;
    CHECK_STR(chosen_of(snapshot, &options), "1 0");
    options.min_free_bytes = 81 * GIB;
    CHECK_STR(chosen_of(snapshot, &options), "");
    vitals_snapshot_unref(snapshot);
}

static void accounts_that_count_as_free(void)
{
    static const struct gpu_row ROWS[] = {N(0, 70, 0.0), N(1, 45, 0.0)};
    static const vitals_metric USERS[] = {VITALS_GPU_PROCESS_PID, VITALS_GPU_PROCESS_PROCESS,
                                          VITALS_GPU_PROCESS_MEMORY_USED_BYTES};
    static const vitals_metric PROCESSES[] = {VITALS_PROCESS_PID, VITALS_PROCESS_USER,
                                              VITALS_PROCESS_UID};
    static const uint64_t GIBS[] = {30, 20, 20};
    vitals_builder *builder = begin_rows(1000000000);
    put_rows(builder, ROWS, 2, 1000000000);
    vitals_builder_table(builder, VITALS_TABLE_GPU_PROCESS, USERS, 3);
    for (uint64_t i = 0; i < 3; i++) {
        vitals_builder_row(builder, VITALS_TABLE_GPU_PROCESS, i + 1, 1, text_of("x"), 1000000000);
        vitals_builder_u64(builder, VITALS_GPU_PROCESS_PID, 100 + i, VITALS_HAVE);
        if (i == 1)
            vitals_builder_missing(builder, VITALS_GPU_PROCESS_PROCESS, VITALS_OUTSIDE);
        else
            vitals_builder_u64(builder, VITALS_GPU_PROCESS_PROCESS, 10 + i, VITALS_HAVE);
        vitals_builder_u64(builder, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, GIBS[i] * GIB,
                           VITALS_HAVE);
    }
    vitals_builder_table(builder, VITALS_TABLE_PROCESS, PROCESSES, 3);
    vitals_builder_row(builder, VITALS_TABLE_PROCESS, 10, 0, text_of("a"), 1000000000);
    put_text(builder, VITALS_PROCESS_USER, "ana");
    put_number(builder, VITALS_PROCESS_UID, 1000);
    put_number(builder, VITALS_PROCESS_PID, 100);
    vitals_builder_row(builder, VITALS_TABLE_PROCESS, 12, 0, text_of("b"), 1000000000);
    put_text(builder, VITALS_PROCESS_USER, "root");
    put_number(builder, VITALS_PROCESS_UID, 0);
    put_number(builder, VITALS_PROCESS_PID, 102);
    vitals_snapshot *snapshot = end_rows(builder);

    static const char *const ANA[] = {"ana"}, *const BOTH[] = {"0", "1000"}, *const BEN[] = {"ben"};
    vitals_gpu_select_options options = defaults();
    CHECK_STR(chosen_of(snapshot, &options), "1 0"); /* 10 and 35 GiB */
    options.free_accounts = ANA;
    options.free_account_count = 1;
    CHECK_STR(chosen_of(snapshot, &options), "0 1"); /* 40 and 35 */
    options.min_free_bytes = 40 * GIB;
    CHECK_STR(chosen_of(snapshot, &options), "0");
    options.min_free_bytes = 60 * GIB;
    CHECK_STR(chosen_of(snapshot, &options), "");
    options.free_accounts = BOTH;
    options.free_account_count = 2;
    CHECK_STR(chosen_of(snapshot, &options), "0"); /* 60: the owner of the other 20 is unknown */
    options.min_free_bytes = 61 * GIB;
    CHECK_STR(chosen_of(snapshot, &options), "");
    options.free_accounts = BEN;
    options.free_account_count = 1;
    options.min_free_bytes = 11 * GIB;
    CHECK_STR(chosen_of(snapshot, &options), "1");
    vitals_snapshot_unref(snapshot);
}

#define PART(n, p, v, used)                                                                 \
    {                                                                                       \
        .label = n, .vendor = v, .uuid = n, .parent = p, .total_gib = 40, .used_gib = used, \
        .busy = -1, .memory_busy = -1, .busy_seconds = -1                                   \
    }

static void mig_devices(void)
{
    /* 0 is whole, 1 is divided */
    static const struct gpu_row ROWS[] = {
        N(0, 60, 0.0), N(1, 40, 0.0), PART("1:0", 2, "nvidia", 10), PART("1:1", 2, "nvidia", 0)};
    struct gpu_row parts[] = {ROWS[1], ROWS[2], ROWS[3]};
    vitals_gpu_select_options options = defaults();
    parts[1].parent = parts[2].parent = 1;
    CHECK_CASE("whole ones before MIG devices");
    CHECK_STR(choose(ROWS, CHECK_COUNT(ROWS), &options), "0");
    CHECK_CASE("one device: the best");
    options.max_count = 1;
    CHECK_STR(choose(ROWS, CHECK_COUNT(ROWS), &options), "1:1");
    CHECK_CASE("one of them, whatever was asked");
    options.max_count = 0;
    CHECK_STR(choose(parts, 3, &options), "1:1");
    options.min_count = 2;
    CHECK_STR(choose(parts, 3, &options), "1:1");
    CHECK_CASE("the whole one has not enough");
    options.min_count = 1;
    options.min_free_bytes = 30 * GIB;
    CHECK_STR(choose(ROWS, CHECK_COUNT(ROWS), &options), "1:1");
}

static void partitions_of_others(void)
{
    struct gpu_row xcp[] = {{.label = "0",
                             .vendor = "amd",
                             .total_gib = 192,
                             .busy = -1,
                             .memory_busy = -1,
                             .busy_seconds = -1},
                            PART("0:0", 1, "amd", 0),
                            PART("0:1", 1, "amd", 0)};
    xcp[1].kind = xcp[2].kind = "xcp";
    CHECK_STR(choose(xcp, 3, NULL), "0:1 0:0");
    xcp[1].kind = xcp[2].kind = "tile";
    CHECK_STR(choose(xcp, 3, NULL), "0");
    xcp[1].kind = xcp[2].kind = "vf";
    CHECK_STR(choose(xcp, 3, NULL), "0");
}

static void one_vendor(void)
{
    static const struct gpu_row ROWS[] = {N(0, 0, 0.0),
                                          N(1, 0, 0.0),
                                          {.label = "2",
                                           .vendor = "amd",
                                           .total_gib = 192,
                                           .busy = 0,
                                           .memory_busy = 0,
                                           .busy_seconds = -1}};
    vitals_gpu_select_options options = defaults();
    CHECK_STR(choose(ROWS, 3, &options), "2");
    options.min_count = 2;
    CHECK_STR(choose(ROWS, 3, &options), "1 0");
    options.min_count = 3; /* no group has as many: the best one's */
    CHECK_STR(choose(ROWS, 3, &options), "2");
}

static void candidates(void)
{
    vitals_snapshot *snapshot = snapshot_of(FOUR, CHECK_COUNT(FOUR));
    const vitals_row *first = vitals_snapshot_row(snapshot, VITALS_TABLE_GPU, 0);
    const vitals_row *second = vitals_snapshot_row(snapshot, VITALS_TABLE_GPU, 1);
    const vitals_row *given[] = {second, first, second};
    vitals_gpu_select_options options = defaults();
    options.candidates = given;
    options.candidate_count = 3;
    CHECK_STR(chosen_of(snapshot, &options), "0 1");
    options.keep_order = 1;
    CHECK_STR(chosen_of(snapshot, &options), "1 0");
    options.candidate_count = 0; /* among none */
    CHECK_STR(chosen_of(snapshot, &options), "");
    vitals_snapshot_unref(snapshot);
}

static void wrong_options(void)
{
    static const struct {
        const char *name;
        vitals_gpu_select_options options;
    } CASES[] = {
        {"fewer than the least",
         {.size = sizeof(vitals_gpu_select_options), .min_count = 3, .max_count = 2}},
        {"a tolerance of more",
         {.size = sizeof(vitals_gpu_select_options), .tolerance_ratio = 1.5}},
        {"no tolerance",
         {.size = sizeof(vitals_gpu_select_options), .tolerance_ratio = (double)NAN}},
        {"no utilization",
         {.size = sizeof(vitals_gpu_select_options), .max_utilization_ratio = (double)NAN}},
        {"too much", {.size = sizeof(vitals_gpu_select_options), .max_memory_busy_ratio = 1.1}},
        {"no size", {.size = 0}},
    };
    vitals_snapshot *snapshot = snapshot_of(FOUR, CHECK_COUNT(FOUR));
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        vitals_error error;
        CHECK_CASE(CASES[i].name);
        CHECK_INT(vitals_gpu_select(snapshot, &CASES[i].options, NULL, 0, &error),
                  VITALS_EARGUMENT);
    }
    vitals_snapshot_unref(snapshot);
}

static void the_request(void)
{
    static const char *const ANA[] = {"ana"};
    vitals_request *request = NULL;
    vitals_error error;
    vitals_gpu_select_options options = defaults();
    CHECK_OK(vitals_request_new(0, &request, &error), error);
    CHECK_OK(vitals_gpu_select_request(&options, request, &error), error);
    CHECK(vitals_request_has(request, VITALS_GPU_MEMORY_FREE_BYTES));
    CHECK_FALSE(vitals_request_has(request, VITALS_PROCESS_USER));
    options.free_accounts = ANA;
    options.free_account_count = 1;
    CHECK_OK(vitals_gpu_select_request(&options, request, &error), error);
    CHECK(vitals_request_has(request, VITALS_PROCESS_USER));
    CHECK(vitals_request_has(request, VITALS_GPU_PROCESS_MEMORY_USED_BYTES));
    vitals_request_free(request);
}

static void no_devices(void)
{
    vitals_snapshot *snapshot = end_rows(begin_rows(1));
    CHECK_STR(chosen_of(snapshot, NULL), "");
    vitals_snapshot_unref(snapshot);
}

static const check_test tests[] = {
    {"values to come", values_to_come},
    {"limits and the order", limits_and_order},
    {"equals stand by number, the highest first", equals},
    {"what is not known passes no limit", missing_values},
    {"drivers that fell silent", silent_drivers},
    {"utilization of a counter", utilization_of_a_counter},
    {"accounts that count as free", accounts_that_count_as_free},
    {"no more is free than there is", no_more_is_free_than_there_is},
    {"of MIG devices one", mig_devices},
    {"partitions of other vendors", partitions_of_others},
    {"devices of one vendor", one_vendor},
    {"candidates", candidates},
    {"wrong options", wrong_options},
    {"what is asked for", the_request},
    {"no devices", no_devices},
};
CHECK_TESTS(tests)
