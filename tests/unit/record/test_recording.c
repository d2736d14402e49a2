/* Recordings of others and broken ones: what can be read is, the rest is said. */
#include "record_world.h"

#include <math.h>
#include <sys/stat.h>

#include "record/sqlite/database.h"

static struct recording *read_text(const char *text)
{
    struct record_world world;
    record_world_open(&world, "what.ever");
    record_put_text(&world, text, strlen(text));
    struct recording *recording = record_read(world.path);
    record_world_close(&world);
    return recording;
}

#define RS_HEADER                                                                          \
    "timestamp,system_processes,system_utime,system_stime,system_cpu_usage,"               \
    "system_memory_free_mib,process_pid,process_children,process_utime,process_cpu_usage," \
    "process_memory_mib\n"

static void resource_tracker_rs_csv_is_read(void)
{
    struct recording *recording = read_text(RS_HEADER
                                            "1800000001,90,1,0.5,1.5,1024,,,,,\n"
                                            "1800000002,90,1,0.5,1.5,1024,7,2,0.25,0.5,64\n"
                                            "1800000003,90,1,0.5,1.5,1024,7,2,0.25,0.5,32\n");
    CHECK_STR(recording_format(recording), "resource-tracker-rs");
    CHECK_STR(recording_problem(recording), "");
    double missing = record_value(recording, "memory_pss_bytes", "", 0);
    CHECK(isnan(missing));
    CHECK_NEAR(record_value(recording, "memory_pss_bytes", "", 1), 64 * 1048576.0, 0);
    CHECK_NEAR(record_value(recording, "cpu_user_seconds", "system", 2), 3, 1e-12);
    CHECK_NEAR(record_figure(recording, "memory_pss_peak_bytes", ""), 64 * 1048576.0, 0);
    CHECK_NEAR(record_figure(recording, "processes_peak", "descendants"), 2, 0);
    recording_close(recording);
}

/* As a combined table of resource-tracker is written for people. */
static void resource_tracker_names_for_people_are_read(void)
{
    struct recording *recording = read_text(
        "\"Timestamp\",\"System processes\",\"System CPU time (user)\",\"System CPU usage\","
        "\"System free memory\",\"Process PID\",\"Process children\",\"Process CPU usage\","
        "\"Process memory usage\",\"Process VRAM used\",\"Process inner peace\"\n"
        "1800000001,90,1,1.5,1024,7,2,0.5,64,16,3\n"
        "1800000002,91,1,1.5,1024,7,2,0.75,32,16,3\n");
    CHECK_STR(recording_format(recording), "resource-tracker");
    CHECK_CONTAINS(recording_problem(recording), "MiB");
    CHECK_NEAR(record_value(recording, "processes", "system", 1), 91, 0);
    CHECK_NEAR(record_value(recording, "cpu_user_seconds", "system", 1), 2, 1e-12);
    CHECK_NEAR(record_value(recording, "cpu_cores", "", 1), 0.75, 0);
    CHECK_NEAR(record_value(recording, "processes", "descendants", 0), 2, 0);
    CHECK_NEAR(record_value(recording, "memory_pss_bytes", "", 1), 32 * 1048576.0, 0);
    CHECK_NEAR(record_value(recording, "gpu_memory_bytes", "", 1), 16 * 1048576.0, 0);
    CHECK_NEAR(record_value(recording, "memory_free_bytes", "system", 0), 1024 * 1048576.0, 0);
    recording_close(recording);
}

#define RS_LINE(second, cores)                                                                     \
    "{\"timestamp_secs\":" #second ",\"job_name\":\"train\",\"tracked_pid\":7,\"cpu\":{"           \
    "\"utilization_pct\":" #cores                                                                  \
    ",\"utime_secs\":1,\"process_pss_mib\":64,\"per_core_pct\":[25,50,null,75],"                   \
    "\"cgroup_utilization_pct\":0.25,\"cgroup_usage_secs\":0.5},"                                  \
    "\"memory\":{\"total_mib\":1024},\"network\":[{\"rx_bytes_total\":10},{\"rx_bytes_total\":5}]" \
    ","                                                                                            \
    "\"gpu\":[{\"uuid\":\"GPU-1\",\"utilization_pct\":50,\"vram_used_bytes\":4096}],"              \
    "\"resource-tracker-version\":\"0.1\"}\n"

static void resource_tracker_rs_lines_are_read(void)
{
    if (!VITALS_WITH_JANSSON)
        return;
    struct recording *recording = read_text(
        RS_LINE(1800000001, 0.5) RS_LINE(1800000002, 1.5) "{\"timestamp_secs\":18000");
    CHECK_STR(recording_format(recording), "resource-tracker-rs");
    CHECK_CONTAINS(recording_problem(recording), "cut off");
    CHECK_NEAR(record_value(recording, "cpu_cores", "system", 1), 1.5, 0);
    CHECK_NEAR(record_value(recording, "cpu_user_seconds", "system", 1), 2, 0);
    CHECK_NEAR(record_value(recording, "memory_total_bytes", "system", 0), 1073741824.0, 0);
    CHECK_NEAR(record_value(recording, "cpu_ratio", "cpu0", 1), 0.25, 0);
    CHECK_NEAR(record_value(recording, "cpu_ratio", "cpu3", 1), 0.75, 0);
    CHECK_NULL(recording_find(recording, "cpu_ratio", "cpu2"));
    CHECK_NEAR(record_value(recording, "cpu_cores", "cgroup", 0), 0.25, 0);
    CHECK_NEAR(record_value(recording, "cpu_seconds", "cgroup", 1), 1, 0);
    CHECK_NEAR(record_value(recording, "network_received_bytes", "system", 0), 15, 0);
    CHECK_NEAR(record_value(recording, "device_utilization_ratio", "GPU-1", 0), 0.5, 0);
    vitals_text command = vitals_account_attribute(recording_account(recording), "command");
    CHECK(command.size == 5 && memcmp(command.bytes, "train", 5) == 0);
    recording_close(recording);
}

/* Each CPU would be a series, and thin the curves of all: past a number they are left out. */
static void more_cpus_than_are_read_are_said(void)
{
    struct buffer text = {0};
    if (!VITALS_WITH_JANSSON)
        return;
    for (int line = 0; line < 3; line++) {
        buffer_format(&text, "{\"timestamp_secs\":%d,\"cpu\":{\"per_core_pct\":[0",
                      1800000001 + line);
        for (int core = 1; core < 100 && line > 0; core++)
            buffer_format(&text, ",%d", core);
        buffer_string(&text, "]}}\n");
    }
    CHECK(!text.failed);
    struct recording *recording = read_text(text.bytes);
    CHECK_STR(recording_problem(recording),
              "it tells of 100 CPUs: only the first 64 were read one by one");
    CHECK_NEAR(record_value(recording, "cpu_ratio", "cpu0", 0), 0, 0);
    CHECK_NEAR(record_value(recording, "cpu_ratio", "cpu63", 2), 0.63, 1e-12);
    CHECK(isnan(record_value(recording, "cpu_ratio", "cpu63", 0)));
    CHECK_NULL(recording_find(recording, "cpu_ratio", "cpu64"));
    recording_close(recording);
    buffer_done(&text);
}

static void a_file_without_header_is_told_by_its_columns(void)
{
    struct recording *recording = read_text(
        "1795333702.516,29841,\"\",0.81,0.01,0.9643,53.6875,0,0,0,0,0\n");
    CHECK_STR(recording_format(recording), "resource-tracker");
    CHECK_CONTAINS(recording_problem(recording), "no header");
    CHECK_NEAR(record_value(recording, "memory_pss_bytes", "", 0), 53.6875 * 1048576, 1);
    recording_close(recording);
    recording = read_text("1795333702.5161234,29841,0,81,1,0.9643,54976,0,0,0,0,0\r\n");
    CHECK_STR(recording_format(recording), "resource-tracker-0.1");
    CHECK_NEAR(record_value(recording, "memory_pss_bytes", "", 0), 54976 * 1024.0, 0);
    recording_close(recording);
}

/* As resource-tracker 0.2.1, 0.3.1 and 0.4.2 write them: kB, but seconds. */
static void resource_tracker_from_0_2_to_0_4_is_read(void)
{
    struct recording *recording = read_text(
        "\"timestamp\",\"pid\",\"children\",\"utime\",\"stime\",\"cpu_usage\",\"memory\","
        "\"read_bytes\",\"write_bytes\",\"gpu_usage\",\"gpu_vram\",\"gpu_utilized\"\r\n"
        "1795859382.9645555,23237,1,0.25,0.5,1.5,224,10,20,0,0,0\r\n"
        "1795859383.3646488,23237,1,0.25,0,0.5,228,10,0,0,0,0\r\n");
    CHECK_STR(recording_format(recording), "resource-tracker-0.4");
    CHECK_STR(recording_problem(recording), "");
    CHECK_NEAR(record_value(recording, "cpu_user_seconds", "", 1), 0.5, 1e-9);
    CHECK_NEAR(record_value(recording, "memory_pss_bytes", "", 1), 228 * 1024.0, 0);
    CHECK_NEAR(record_value(recording, "disk_read_bytes", "", 1), 20, 0);
    recording_close(recording);

    recording = read_text(
        "\"timestamp\",\"processes\",\"utime\",\"stime\",\"cpu_usage\",\"memory_free\","
        "\"memory_used\",\"memory_buffers\",\"memory_cached\",\"memory_active\","
        "\"memory_inactive\",\"disk_space_total_gb\"\r\n"
        "1795859388.351,768,0.58,0.14,2.0554,5372240,663712,962236,17733520,7393040,10399668,"
        "251.97\r\n");
    CHECK_STR(recording_format(recording), "resource-tracker-0.4");
    CHECK_NEAR(record_value(recording, "processes", "system", 0), 768, 0);
    CHECK_NEAR(record_value(recording, "cpu_user_seconds", "system", 0), 0.58, 1e-9);
    CHECK_NEAR(record_value(recording, "memory_used_bytes", "system", 0), 663712 * 1024.0, 0);
    CHECK_NEAR(record_value(recording, "memory_active_bytes", "system", 0), 7393040 * 1024.0, 0);
    CHECK_NEAR(record_value(recording, "disk_space_total_bytes", "system", 0), 251.97 * 1073741824,
               1);
    recording_close(recording);
}

/* "processes" of 0.1 is how many were forked since boot. */
static void forks_are_not_read_as_processes(void)
{
    struct recording *recording = read_text(
        "timestamp,processes,utime,stime,cpu_usage,memory_free,memory_used\r\n"
        "1795859388.3513,327553,58,14,2.0554,5372240,663712\r\n");
    CHECK_STR(recording_format(recording), "resource-tracker-0.1");
    CHECK_NULL(recording_find(recording, "processes", "system"));
    CHECK_NEAR(record_value(recording, "cpu_user_seconds", "system", 0), 0.58, 1e-9);
    recording_close(recording);
}

static void gpu_tracker_units_are_honoured(void)
{
    struct recording *recording = read_text(
        "ram_unit,gpu_ram_unit,time_unit,ram_system_capacity,gpu_ram_system_capacity,"
        "system_core_count,n_expected_cores,system_gpu_count,n_expected_gpus\n"
        "megabytes,bytes,hours,25276.5,0.0,2,1,0,0\n"
        "main_ram,combined_ram,combined_gpu_ram,combined_n_threads,"
        "cpu_combined_sum_utilization_percent,timestamp\n"
        "55,60,1024,4,36.2,1795333693.5\n55,61,1024,4,50,1795333694.5\n");
    CHECK_STR(recording_format(recording), "gpu-tracker");
    CHECK_STR(recording_problem(recording), "");
    CHECK_NEAR(record_value(recording, "memory_both_bytes", "root", 0), 55e6, 1e-3);
    CHECK_NEAR(record_value(recording, "gpu_memory_bytes", "", 0), 1024, 0);
    CHECK_NEAR(record_value(recording, "cpu_cores", "", 0), 0.362, 1e-12);
    CHECK_NEAR(record_figure(recording, "threads_peak", ""), 4, 0);
    recording_close(recording);
}

static void a_sub_tracking_file_alone_gives_phases(void)
{
    size_t count;
    struct recording *recording = read_text(
        "position,code_block_name,timestamp,process_id\n0,\"a,b\",100.5,7\n"
        "0,\"a,b\",101,7\n1,\"a,b\",102,7\n1,\"a,b\",103,7\n1,gone,104,7\n");
    const struct recorded_phase *phases = recording_phases(recording, &count);
    CHECK_UINT(count, 2);
    CHECK_NEAR(phases[0].end, 103, 0); /* the inner one ends first */
    CHECK_NEAR(phases[1].end, 102, 0);
    CHECK_INT(phases[1].depth, 1);
    CHECK_CONTAINS(recording_problem(recording), "never began");
    recording_close(recording);
}

static void what_is_broken_is_left_out_and_said(void)
{
    struct recording *recording = read_text(
        "time,mark,cpu_cores,what.ever_it_is\n1800000000.5,,0.5,1\n1800000001.5,,0.5\n"
        "nonsense,,1,1\n1800000002.5,,x,2\n\n1800000003.5,,1,3\n1800000001,,1,3\n"
        "1800000004.5,,0.");
    CHECK_STR(recording_format(recording), "vitals-csv");
    CHECK_UINT(recording_find(recording, "cpu_cores", "")->count, 4);
    CHECK_STR(recording_find(recording, "ever_it_is", "what")->unit, "");
    CHECK_CONTAINS(recording_problem(recording), "2 of its rows are broken");
    CHECK_CONTAINS(recording_problem(recording), "1 of its fields are no numbers");
    CHECK_CONTAINS(recording_problem(recording), "cut off");
    CHECK_CONTAINS(recording_problem(recording), "set back 1 times");
    CHECK_NEAR(record_figure(recording, "cpu_peak_cores", ""), 1, 0);
    recording_close(recording);
}

static void what_is_no_recording_is_refused(void)
{
    static const struct {
        const char *text;
        size_t size;
        int code;
        const char *part;
    } cases[] = {
        {"", 0, VITALS_EFORMAT, "empty"},
        {"hello\nworld\n", 12, VITALS_EFORMAT, "does not know its columns"},
        {"a,b,c\n1,2,3\n", 12, VITALS_EFORMAT, "does not know its columns"},
        {"\x7f"
         "ELF\0\0\0\0\0",
         9, VITALS_EFORMAT, "not a recording"},
        {"no end of line", 14, VITALS_EFORMAT, "no complete line"},
#if VITALS_WITH_SQLITE
        {"SQLite format 3\0 and then nothing that it should be", 50, VITALS_EFORMAT, ""},
#endif
#if VITALS_WITH_JANSSON
        {"{\"schema\":1}\n", 13, VITALS_EFORMAT, "no figures"},
        {"{\"schema\":1,\"figures\":[{}]}", 27, VITALS_EFORMAT, "no name"},
        {"{\"schema\":99,\"figures\":[]}", 26, VITALS_EUNSUPPORTED, "newer"},
        {"{\"schema\":1,\"figures\":[{\"name\":\"a\",\"availability\":\"have\",\"value\":null}]}",
         72, VITALS_EFORMAT, "no number"},
        {"{\"a\":1}\n{\"b\":2}\n", 16, VITALS_EFORMAT, "neither an account nor a recording"},
        {"{\"schema\":1,\"figures\":[", 23, VITALS_EFORMAT, "line 1"},
#endif
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct record_world world;
        struct recording *recording = NULL;
        vitals_error error = {.message = ""};
        record_world_open(&world, "what.ever");
        record_put_text(&world, cases[i].text, cases[i].size);
        CHECK_INT(recording_open(world.path, &recording, &error), cases[i].code);
        CHECK_CONTAINS(error.message, cases[i].part);
        CHECK_CONTAINS(error.message, world.path);
        CHECK_NULL(recording);
        record_world_close(&world);
    }
}

static void what_is_not_there_is_said(void)
{
    struct recording *recording = NULL;
    vitals_error error;
    CHECK_INT(recording_open("/nowhere/x.db", &recording, &error), VITALS_EGONE);
    CHECK_INT(recording_open("/tmp", &recording, &error), VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "not a regular file");
    CHECK_INT(recording_open("/dev/zero", &recording, &error), VITALS_EARGUMENT);
}

#if VITALS_WITH_SQLITE

static void change(const char *path, const char *sql)
{
    sqlite3 *database;
    CHECK_INT(sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    char *message = NULL;
    int code = sqlite3_exec(database, sql, NULL, NULL, &message);
    CHECK_STR(message != NULL ? message : "", "");
    CHECK_INT(code, SQLITE_OK);
    CHECK_INT(sqlite3_close_v2(database), SQLITE_OK);
}

static void make_database(struct record_world *world)
{
    record_world_open(world, "a.db");
    struct recorder *recorder = record_open(world, NULL);
    record_samples(recorder, 0, 20);
    CHECK_INT(recorder_close(recorder, NULL), 0);
}

static void a_newer_recording_is_refused(void)
{
    struct record_world world;
    struct recording *recording = NULL;
    vitals_error error;
    make_database(&world);
    change(world.path, "PRAGMA user_version=2");
    CHECK_INT(recording_open(world.path, &recording, &error), VITALS_EUNSUPPORTED);
    CHECK_CONTAINS(error.message, "newer vitals (form 2; this one reads up to 1)");
    record_world_close(&world);
}

static void a_table_that_is_missing_is_said(void)
{
    struct record_world world;
    make_database(&world);
    change(world.path, "DROP TABLE marks; DROP TABLE account");
    struct recording *recording = record_read(world.path);
    CHECK_UINT(recording_find(recording, "cpu_cores", "")->count, 20);
    CHECK_CONTAINS(recording_problem(recording), "its table marks is missing");
    recording_close(recording);
    record_world_close(&world);
}

static void a_view_in_a_tables_place_is_not_run(void)
{
    struct record_world world;
    make_database(&world);
    change(world.path,
           "DROP TABLE samples; CREATE VIEW samples AS WITH RECURSIVE c(sample,time) AS "
           "(SELECT 1,1.0 UNION ALL SELECT sample+1,1.0 FROM c) SELECT * FROM c");
    struct recording *recording = record_read(world.path);
    CHECK_NULL(recording_find(recording, "cpu_cores", ""));
    CHECK_CONTAINS(recording_problem(recording), "its table samples is missing");
    recording_close(recording);
    record_world_close(&world);
}

static void hostile_content_is_read_as_what_it_is(void)
{
    struct record_world world;
    make_database(&world);
    change(world.path, "INSERT INTO marks VALUES('x',1,x'00ff','x','y',1);"
                       "INSERT INTO attributes VALUES('Bad Name','x');"
                       "INSERT INTO attributes VALUES('host',x'41001b');"
                       "UPDATE samples SET time='x' WHERE sample=3;"
                       "UPDATE samples SET cpu_cores='many' WHERE sample=4;"
                       "UPDATE samples SET cpu_cores=9e999 WHERE sample=5;"
                       "INSERT INTO series VALUES(900,'nowhere','a'||char(27),'b','c','d','e');"
                       "INSERT INTO account VALUES(1,'','','','','','have',1);"
                       "INSERT INTO account VALUES(2,'x','','','','','perhaps',1);"
                       "INSERT INTO account VALUES(3,'y','','','','','have',9e999)");
    struct recording *recording = record_read(world.path);
    CHECK(isnan(record_value(recording, "cpu_cores", "", 3)));
    CHECK(isnan(record_value(recording, "cpu_cores", "", 4)));
    CHECK_CONTAINS(recording_problem(recording), "a figure of its account is none");
    size_t count;
    const struct series *series = recording_series(recording, &count);
    for (size_t i = 0; i < count; i++)
        CHECK_NULL(strchr(series[i].name, 27));
    recording_close(recording);
    record_world_close(&world);
}

/* Cuts the file at each KiB, and overwrites half of each page: the recording opens, or the error
 * names the file and says how to recover it; never a crash. */
static void a_damaged_database_is_refused(void)
{
    struct record_world world;
    struct stat status;
    make_database(&world);
    CHECK_INT(stat(world.path, &status), 0);
    char *whole = malloc((size_t)status.st_size);
    FILE *file = fopen(world.path, "rb");
    CHECK_UINT(fread(whole, 1, (size_t)status.st_size, file), (size_t)status.st_size);
    (void)fclose(file);
    for (off_t cut = 0; cut < status.st_size; cut += 1024) {
        struct recording *recording = NULL;
        vitals_error error = {.message = ""};
        record_put_text(&world, whole, (size_t)cut);
        CHECK(recording_open(world.path, &recording, &error) < 0);
        CHECK_CONTAINS(error.message, world.path);
        if (cut > 0)
            CHECK_CONTAINS(error.message, "sqlite3 FILE .recover");
        char *damaged = malloc((size_t)status.st_size);
        memcpy(damaged, whole, (size_t)status.st_size);
        memset(damaged + cut, 0xA5, 512);
        record_put_text(&world, damaged, (size_t)status.st_size);
        free(damaged);
        recording = NULL;
        if (recording_open(world.path, &recording, &error) < 0)
            CHECK_CONTAINS(error.message, world.path);
        recording_close(recording);
    }
    free(whole);
    record_world_close(&world);
}

/* More rows than curves have room for are thinned; peaks and sums see all. */
static void long_recordings_are_thinned_and_aggregated_whole(void)
{
    enum { ROWS = 300000, COLUMNS = 100 };
    struct record_world world;
    record_world_open(&world, "long.csv");
    FILE *file = fopen(world.path, "w");
    (void)fputs("time,mark,processes", file);
    for (int i = 1; i < COLUMNS; i++)
        (void)fprintf(file, ",s%d.threads", i);
    (void)putc('\n', file);
    for (int row = 0; row < ROWS; row++) {
        (void)fprintf(file, "%d,,%d", 1800000000 + row, row == 123457 ? 77 : 5);
        for (int i = 1; i < COLUMNS; i++)
            (void)fputs(",1", file);
        (void)putc('\n', file);
    }
    (void)fclose(file);
    struct recording *recording = record_read(world.path);
    CHECK_CONTAINS(recording_problem(recording), "thinned");
    const struct series *series = recording_find(recording, "processes", "");
    CHECK(series->count * COLUMNS <= 16 * 1024 * 1024);
    CHECK(series->count * COLUMNS >= 4 * 1024 * 1024);
    CHECK_NEAR(series->seconds[1] - series->seconds[0], 2, 0);
    CHECK_NEAR(record_figure(recording, "processes_peak", ""), 77, 0);
    CHECK_NEAR(record_figure(recording, "wall_seconds", ""), ROWS - 1, 0);
    recording_close(recording);
    record_world_close(&world);
}

static void snapshots_need_a_table(void)
{
    struct record_world world;
    struct feed feed = {.data = NULL};
    vitals_snapshot *snapshot = NULL;
    vitals_error error;
    make_database(&world);
    CHECK_INT(recording_feed(world.path, &feed, &error), 0);
    CHECK_INT(feed.next(feed.data, &snapshot, &error), 0); /* none was kept */
    feed_close(&feed);
    change(world.path,
           "INSERT INTO frames VALUES(1,1,NULL,'lzma',x'00'),(2,2,NULL,'binary-zlib',x'789c'),"
           "(3,3,NULL,'binary','{}'),(4,4,3,'binary','{}'),(5,5,99,'binary',x'00'),"
           "(6,6,3,'binary',x'ffffffffff'),(7,7,7,'binary',x'000000'),"
           "(8,8,3,'binary-zlib',x'00')");
    for (uint64_t i = 1; i <= 8; i++) {
        CHECK_INT(recording_feed(world.path, &feed, &error), 0);
        CHECK_INT(feed.seek(feed.data, i, &error), 0);
        CHECK(feed.next(feed.data, &snapshot, &error) < 0);
        CHECK_CONTAINS(error.message, "a.db");
        CHECK_INT(feed.next(feed.data, &snapshot, &error), 0);
        feed_close(&feed);
    }
    change(world.path, "DROP TABLE frames");
    CHECK_INT(recording_feed(world.path, &feed, &error), VITALS_EUNSUPPORTED);
    CHECK_CONTAINS(error.message, "no snapshots");
    record_world_close(&world);
}

#endif

static const check_test tests[] = {
    {"resource-tracker-rs's CSV is read", resource_tracker_rs_csv_is_read},
    {"resource-tracker: names for people are read", resource_tracker_names_for_people_are_read},
    {"resource-tracker-rs's lines are read", resource_tracker_rs_lines_are_read},
    {"more CPUs than are read are said", more_cpus_than_are_read_are_said},
    {"a file without header is told by its columns", a_file_without_header_is_told_by_its_columns},
    {"resource-tracker from 0.2 to 0.4 is read", resource_tracker_from_0_2_to_0_4_is_read},
    {"forks are not read as processes", forks_are_not_read_as_processes},
    {"gpu_tracker's units are honoured", gpu_tracker_units_are_honoured},
    {"a sub-tracking file alone gives phases", a_sub_tracking_file_alone_gives_phases},
    {"what is broken is left out and said", what_is_broken_is_left_out_and_said},
    {"what is no recording is refused", what_is_no_recording_is_refused},
    {"what is not there is said", what_is_not_there_is_said},
#if VITALS_WITH_SQLITE
    {"a newer recording is refused", a_newer_recording_is_refused},
    {"a table that is missing is said", a_table_that_is_missing_is_said},
    {"a view in a table's place is not run", a_view_in_a_tables_place_is_not_run},
    {"hostile content is read as what it is", hostile_content_is_read_as_what_it_is},
    {"a damaged database is refused", a_damaged_database_is_refused},
    {"long recordings are thinned and aggregated whole",
     long_recordings_are_thinned_and_aggregated_whole},
    {"snapshots need a table", snapshots_need_a_table},
#endif
};
CHECK_TESTS(tests)
