/* Recordings written and read again, in every format; kills, full disks, rotation. */
#include "record_world.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "record/error.h"
#include "record/observer.h"
#include "record/sqlite/database.h"
#include <vitals/sys/account.h>
#include <vitals/sys/builder.h>

#define MIB 1048576.0

/* Built without SQLite, a recording in it cannot be made; without jansson, what stands beside our
 * CSV cannot be read. */
static bool cannot_be(const char *name)
{
    bool database = strstr(name, ".db") != NULL || strstr(name, ".sqlite") != NULL;
    return (database && !VITALS_WITH_SQLITE) ||
           (strcmp(name, "a.csv") == 0 && !VITALS_WITH_JANSSON);
}

static void put_attribute(struct recorder *recorder, const char *name, const char *text)
{
    vitals_error error;
    CHECK_INT(recorder_attribute(recorder, name, (vitals_text){text, strlen(text)}, &error), 0);
}

static void put_mark(struct recorder *recorder, const char *name, bool begins, uint64_t second,
                     int64_t tid)
{
    const vitals_mark mark = {.begins = begins,
                              .name = name,
                              .monotonic_ns = UINT64_C(5000000000) + second * 1000000000u,
                              .pid = 71,
                              .tid = tid,
                              .told = 1};
    vitals_error error;
    CHECK_INT(recorder_mark(recorder, &mark, &error), 0);
}

static void close_recorder(struct recorder *recorder)
{
    vitals_error error = {.message = ""};
    CHECK_INT(recorder_close(recorder, &error), 0);
    CHECK_STR(error.message, "");
}

/* What every format of ours keeps. */
static void check_ours(const struct recording *recording, size_t samples)
{
    const struct series *cores = recording_find(recording, "cpu_cores", "");
    CHECK_NOT_NULL(cores);
    CHECK_UINT(cores->count, samples);
    CHECK_STR(cores->unit, "cores");
    CHECK_FALSE(cores->counter);
    CHECK(recording_find(recording, "cpu_seconds", "")->counter);
    CHECK_NEAR(cores->seconds[0], RECORD_BEGIN_SECONDS, 1e-6);
    CHECK_NEAR(cores->seconds[samples - 1], RECORD_BEGIN_SECONDS + (double)samples - 1, 1e-6);
    CHECK_NEAR(record_value(recording, "memory_pss_bytes", "", 3), 103 * MIB, 0);
    CHECK_NEAR(record_value(recording, "cpu_cores", "root", 2), 0.4, 0);
    CHECK_NEAR(record_value(recording, "cpu_user_seconds", "system", 4), 6, 1e-12);
    CHECK_NEAR(record_value(recording, "device_memory_used_bytes", "GPU-1,\"x", 0), 7 * MIB, 0);
    double missing = record_value(recording, "gpu_memory_bytes", "", 1);
    CHECK(missing != missing); /* denied: no number, and no zero */
}

static void check_folded(const struct recording *recording)
{
    const vitals_account *account = recording_account(recording);
    vitals_text state = vitals_account_attribute(account, "state");
    CHECK(state.size == 7 && memcmp(state.bytes, "partial", 7) == 0);
    CHECK_NEAR(record_figure(recording, "wall_seconds", ""), 9, 1e-6);
    CHECK_NEAR(record_figure(recording, "cpu_seconds", ""), 5.4, 1e-9);
    CHECK_NEAR(record_figure(recording, "memory_pss_peak_bytes", ""), 109 * MIB, 0);
    CHECK_NEAR(record_figure(recording, "memory_pss_min_bytes", ""), 100 * MIB, 0);
    CHECK_NEAR(record_figure(recording, "memory_pss_mean_bytes", ""), 104.5 * MIB, 1e-3);
    CHECK_NEAR(record_figure(recording, "threads_peak", "root"), 3, 0);
    CHECK_NULL(vitals_account_find(account, "gpu_memory_peak_bytes", ""));
}

static void check_phases(const struct recording *recording)
{
    size_t count;
    const struct recorded_phase *phases = recording_phases(recording, &count);
    CHECK_UINT(count, 4);
    CHECK_STR(phases[0].name, "load, \\n\"all\"");
    CHECK_NEAR(phases[0].begin, RECORD_BEGIN_SECONDS - 1, 1e-5);
    CHECK_NEAR(phases[0].end, RECORD_BEGIN_SECONDS + 2, 1e-5);
    CHECK_INT(phases[0].depth, 0);
    CHECK_INT(phases[0].pid, 71);
    CHECK_INT(phases[1].depth, 1); /* inside the first, in the same thread */
    CHECK_NEAR(phases[1].end, RECORD_BEGIN_SECONDS + 4, 1e-5);
    CHECK_INT(phases[2].depth, 0); /* of the same name, in another thread */
    CHECK_NEAR(phases[2].end, RECORD_BEGIN_SECONDS + 3, 1e-5);
    CHECK(phases[3].end != phases[3].end); /* never ended */
}

static void write_ours(const struct record_world *world, const char *format)
{
    struct recorder *recorder = record_open(world, format);
    put_attribute(recorder, "command", "make -j8");
    put_mark(recorder, "load, \n\"all\"", true, (uint64_t)-1, 71); /* before the first sample */
    record_samples(recorder, 0, 2);
    put_mark(recorder, "work", true, 1, 71);
    put_mark(recorder, "work", true, 2, 72);
    put_mark(recorder, "load, \n\"all\"", false, 2, 71);
    record_samples(recorder, 2, 10);
    put_mark(recorder, "work", false, 3, 72);
    put_mark(recorder, "work", false, 4, 71);
    put_mark(recorder, "rest", true, 9, 71);
    put_attribute(recorder, "user", "ana");
    close_recorder(recorder);
}

static void ours_comes_back(const char *name, const char *format)
{
    if (cannot_be(name))
        return;
    struct record_world world;
    record_world_open(&world, name);
    write_ours(&world, NULL);
    struct recording *recording = record_read(world.path);
    CHECK_STR(recording_format(recording), format);
    CHECK_STR(recording_problem(recording), "");
    check_ours(recording, 10);
    check_folded(recording);
    check_phases(recording);
    vitals_text command = vitals_account_attribute(recording_account(recording), "command");
    CHECK(command.size == 8 && memcmp(command.bytes, "make -j8", 8) == 0);
    CHECK(vitals_account_attribute(recording_account(recording), "user").size == 3);
    recording_close(recording);
    record_world_close(&world);
}

static void a_database_comes_back(void)
{
    ours_comes_back("a.db", "vitals");
}

static void a_csv_comes_back(void)
{
    ours_comes_back("a.csv", "vitals-csv");
}

static void a_csv_is_one_rectangle(void)
{
    struct record_world world;
    record_world_open(&world, "a.csv");
    write_ours(&world, NULL);
    const char *text = record_text(world.path);
    CHECK(strncmp(text, "time,mark,cpu_seconds,", 22) == 0);
    CHECK_CONTAINS(text, ",root.cpu_cores,");
    CHECK_CONTAINS(text, ",\"GPU-1,\"\"x.device_memory_used_bytes\",");
    CHECK_CONTAINS(text, "\n1800000001.000000,begin 71/71 work,,,");
    CHECK_CONTAINS(text, "\n1800000004.000000,,2.4,");
    record_world_close(&world);
}

/* ---- the account ---- */

static vitals_account *make_account(void)
{
    vitals_account *account = NULL;
    vitals_error error;
    const vitals_figure_form forms[] = {
        {sizeof(vitals_figure_form), "wall_seconds", "seconds", "", "", "CLOCK_MONOTONIC",
         VITALS_HAVE, 12.25},
        {sizeof(vitals_figure_form), "memory_peak_bytes", "bytes", "", "", "cgroup v2", VITALS_HAVE,
         12345678},
        {sizeof(vitals_figure_form), "gpu_memory_peak_bytes", "bytes", "GPU-1", "GPU 0",
         "no \"permission\"", VITALS_DENIED, 0},
    };
    CHECK_INT(vitals_account_new(&account, &error), 0);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        CHECK_INT(vitals_account_add(account, &forms[i], &error), 0);
    CHECK_INT(vitals_account_set(account, "command", (vitals_text){"make", 4}, &error), 0);
    CHECK_INT(vitals_account_set(account, "state", (vitals_text){"complete", 8}, &error), 0);
    vitals_account_ended(account, 139, 11);
    return account;
}

static int append(void *data, const char *bytes, size_t size)
{
    (void)strncat(data, bytes, size);
    return 0;
}

static void same_account(const vitals_account *one, const vitals_account *other)
{
    static char a[16384], b[16384];
    a[0] = b[0] = '\0';
    CHECK_INT(vitals_account_json(one, append, a, NULL), 0);
    CHECK_INT(vitals_account_json(other, append, b, NULL), 0);
    CHECK_STR(a, b);
}

static void an_account_is_put_into_what_another_wrote(const char *name)
{
    if (cannot_be(name))
        return;
    struct record_world world;
    vitals_error error;
    record_world_open(&world, name);
    struct recorder *recorder = record_open(&world, NULL);
    record_samples(recorder, 0, 3);
    close_recorder(recorder);
    vitals_account *account = make_account();
    CHECK_INT(recording_put_account(world.path, account, &error), 0);
    CHECK_INT(recording_put_account(world.path, account, &error), 0); /* again: the same */
    struct recording *recording = record_read(world.path);
    const vitals_account *back = recording_account(recording);
    if (strcmp(recording_format(recording), "vitals") == 0)
        CHECK_INT(vitals_account_set((vitals_account *)back, "version", (vitals_text){"", 0}, NULL),
                  0);
    if (strcmp(recording_format(recording), "vitals") == 0)
        CHECK_INT(vitals_account_set(account, "version", (vitals_text){"", 0}, NULL), 0);
    CHECK_INT(vitals_account_exit_code(back), 139);
    CHECK_INT(vitals_account_signal(back), 11);
    same_account(account, back);
    CHECK_NOT_NULL(recording_find(recording, "cpu_cores", ""));
    recording_close(recording);
    vitals_account_free(account);
    record_world_close(&world);
}

static void an_account_joins_a_database(void)
{
    an_account_is_put_into_what_another_wrote("a.db");
}

static void an_account_joins_a_csv(void)
{
    an_account_is_put_into_what_another_wrote("a.csv");
}

static void an_account_alone_is_a_recording(void)
{
    if (cannot_be("a.csv"))
        return;
    struct record_world world;
    static char text[16384];
    text[0] = '\0';
    record_world_open(&world, "totals.json");
    vitals_account *account = make_account();
    CHECK_INT(vitals_account_json(account, append, text, NULL), 0);
    record_put_text(&world, text, strlen(text));
    struct recording *recording = record_read(world.path);
    CHECK_STR(recording_format(recording), "json");
    same_account(account, recording_account(recording));
    recording_close(recording);
    vitals_account_free(account);
    record_world_close(&world);
}

/* ---- the formats of others ---- */

static void resource_tracker_is_written_as_it_writes(void)
{
    static const struct {
        const char *format, *text;
    } cases[] = {
        {"resource-tracker",
         "\"timestamp\",\"pid\",\"children\",\"utime\",\"stime\",\"cpu_usage\",\"memory_mib\","
         "\"disk_read_bytes\",\"disk_write_bytes\",\"gpu_usage\",\"gpu_vram_mib\","
         "\"gpu_utilized\"\n"
         "1800000001,77,2,0.5,0.1,0.6,101.0,4096,0,0,0,0\n"
         "1800000002,77,\"\",0.5,0.1,0.6,102.0,4096,0,0,0,0\n"},
        {"resource-tracker-0.1",
         "\"timestamp\",\"pid\",\"children\",\"utime\",\"stime\",\"cpu_usage\",\"pss\","
         "\"read_bytes\",\"write_bytes\",\"gpu_usage\",\"gpu_vram\",\"gpu_utilized\"\r\n"
         "1800000001,77,2,50,10,0.6,103424,4096,0,0,0,0\r\n"
         "1800000002,77,0,50,10,0.6,104448,4096,0,0,0,0\r\n"},
        {"resource-tracker-system",
         "\"timestamp\",\"processes\",\"utime\",\"stime\",\"cpu_usage\",\"memory_free_mib\","
         "\"memory_used_mib\",\"memory_buffers_mib\",\"memory_cached_mib\",\"memory_active_mib\","
         "\"memory_inactive_mib\",\"disk_read_bytes\",\"disk_write_bytes\",\"disk_space_total_gb\","
         "\"disk_space_used_gb\",\"disk_space_free_gb\",\"net_recv_bytes\",\"net_sent_bytes\","
         "\"gpu_usage\",\"gpu_vram_mib\",\"gpu_utilized\"\n"
         "1800000001,0,1.5,0,1.75,4096.0,1430.5115,0,0,0,0,0,0,270.55,0,0,0,0,0,0,0\n"
         "1800000002,0,1.5,0,1.75,4096.0,1430.5115,0,0,0,0,0,0,270.55,0,0,0,0,0,0,0\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct record_world world;
        record_world_open(&world, "theirs.csv");
        struct recorder *recorder = record_open(&world, cases[i].format);
        put_attribute(recorder, "pid", "77");
        record_samples(recorder, 0, 3);
        close_recorder(recorder);
        CHECK_STR(record_text(world.path), cases[i].text);
        record_world_close(&world);
    }
}

static void without_a_header_no_row_is_lost(void)
{
    struct record_world world;
    vitals_error error;
    record_world_open(&world, "theirs.csv");
    const struct recorder_options options = {
        .path = world.path, .format = "resource-tracker-0.1-process", .no_header = true};
    struct recorder *recorder = NULL;
    CHECK_INT(recorder_open(&options, &recorder, &error), 0);
    record_samples(recorder, 0, 2);
    close_recorder(recorder);
    CHECK_STR(record_text(world.path), "1800000000,0,0,0,0,0.6,102400,0,0,0,0,0\r\n"
                                       "1800000001,0,2,50,10,0.6,103424,4096,0,0,0,0\r\n");
    record_world_close(&world);
}

static void dialects_come_back(void)
{
    static const struct {
        const char *format, *told;
        double memory_step; /* what their memory is rounded to */
    } cases[] = {{"resource-tracker-process", "resource-tracker", MIB / 1e4},
                 {"resource-tracker-combined", "resource-tracker", MIB / 1e4},
                 {"resource-tracker-0.1-process", "resource-tracker-0.1", 1024}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct record_world world;
        record_world_open(&world, "theirs.csv");
        struct recorder *recorder = record_open(&world, cases[i].format);
        put_attribute(recorder, "pid", "77");
        record_samples(recorder, 0, 10);
        close_recorder(recorder);
        struct recording *recording = record_read(world.path);
        CHECK_STR(recording_format(recording), cases[i].told);
        CHECK_STR(recording_problem(recording), "");
        CHECK_UINT(recording_find(recording, "cpu_cores", "")->count, 9);
        CHECK_NEAR(record_value(recording, "memory_pss_bytes", "", 0), 101 * MIB,
                   cases[i].memory_step);
        CHECK_NEAR(record_value(recording, "cpu_user_seconds", "", 8), 4.5, 1e-6);
        CHECK_NEAR(record_value(recording, "disk_read_bytes", "", 8), 9 * 4096, 0);
        CHECK_NEAR(record_figure(recording, "memory_pss_peak_bytes", ""), 109 * MIB,
                   cases[i].memory_step);
        vitals_text pid = vitals_account_attribute(recording_account(recording), "pid");
        CHECK(pid.size == 2 && memcmp(pid.bytes, "77", 2) == 0);
        recording_close(recording);
        record_world_close(&world);
    }
}

static void gpu_tracker_comes_back(const char *name)
{
    if (cannot_be(name))
        return;
    struct record_world world;
    size_t count;
    record_world_open(&world, name);
    struct recorder *recorder = record_open(&world, "gpu-tracker");
    put_attribute(recorder, "expected_cores", "4");
    record_samples(recorder, 0, 5);
    put_mark(recorder, "it's", true, 1, 71);
    put_mark(recorder, "it's", false, 3, 71);
    record_samples(recorder, 5, 10);
    close_recorder(recorder);
    struct recording *recording = record_read(world.path);
    CHECK_STR(recording_format(recording), "gpu-tracker");
    CHECK_STR(recording_problem(recording), "");
    CHECK_UINT(recording_find(recording, "cpu_cores", "")->count, 9);
    CHECK_NEAR(record_value(recording, "memory_both_bytes", "", 0), 91 * MIB, 1e-3);
    CHECK_NEAR(record_value(recording, "memory_used_bytes", "system", 0), 1.5e9, 1e-3);
    CHECK_NEAR(record_value(recording, "cpu_cores", "root", 4), 0.4, 1e-12);
    CHECK_NEAR(record_value(recording, "cpu_ratio", "system", 4), 0.4375, 1e-12);
    CHECK_NEAR(record_value(recording, "threads", "root", 4), 3, 0);
    const struct recorded_phase *phases = recording_phases(recording, &count);
    CHECK_UINT(count, 1);
    CHECK_STR(phases[0].name, "it's");
    CHECK_NEAR(phases[0].end - phases[0].begin, 2, 1e-5);
    recording_close(recording);
    record_world_close(&world);
}

static void gpu_tracker_csv_comes_back(void)
{
    gpu_tracker_comes_back("tracking.csv");
}

static void gpu_tracker_database_comes_back(void)
{
    gpu_tracker_comes_back("tracking.sqlite");
}

static void gpu_tracker_has_two_tables_in_one_file(void)
{
    struct record_world world;
    record_world_open(&world, "tracking.csv");
    struct recorder *recorder = record_open(&world, "gpu-tracker");
    record_samples(recorder, 0, 2);
    close_recorder(recorder);
    const char *text = record_text(world.path);
    CHECK(strncmp(text, "ram_unit,gpu_ram_unit,time_unit,", 32) == 0);
    CHECK_CONTAINS(text, "\ngigabytes,gigabytes,hours,16.0,0.0,");
    CHECK_CONTAINS(text, "\nmain_ram,descendants_ram,combined_ram,system_ram,");
    CHECK_CONTAINS(text, "\n0.0,0.0,0.09542041600000001,1.5,0.0,");
    CHECK_CONTAINS(text, ",1800000001.0\n");
    record_world_close(&world);
}

/* ---- what can go wrong ---- */

/* Samples until it is killed, 100 ms of the recording's own time apart, and tells each. */
static void record_until_killed(const struct record_world *world, int pipe_end)
{
    const struct recorder_options options = {.path = world->path, .interval_ns = 100000000};
    struct recorder *recorder;
    vitals_error error;
    if (recorder_open(&options, &recorder, &error) < 0)
        _exit(1);
    for (uint64_t i = 0;; i++) {
        struct filled_sample sample;
        record_fill(&sample, 0);
        sample.content.monotonic_ns += i * 100000000u;
        sample.content.realtime_ns += i * 100000000u;
        if (recorder_write_sample(recorder, &sample.content, &error) < 0 ||
            write(pipe_end, &i, sizeof i) != (ssize_t)sizeof i)
            _exit(1);
    }
}

static void a_kill_costs_a_second(const char *name)
{
    if (cannot_be(name))
        return;
    struct record_world world;
    int ends[2], status;
    uint64_t told = 0;
    record_world_open(&world, name);
    CHECK_INT(pipe(ends), 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        record_until_killed(&world, ends[1]);
    CHECK_INT(close(ends[1]), 0);
    while (told < 237)
        CHECK_INT(read(ends[0], &told, sizeof told), sizeof told);
    CHECK_INT(kill(child, SIGKILL), 0);
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFSIGNALED(status));
    while (read(ends[0], &told, sizeof told) == (ssize_t)sizeof told)
        ; /* it came further before it died */
    CHECK_INT(close(ends[0]), 0);
    struct recording *recording = record_read(world.path);
    const struct series *cores = recording_find(recording, "cpu_cores", "");
    CHECK_NOT_NULL(cores);
    CHECK(cores->count + 10 >= told + 1);
    CHECK_STR(recording_problem(recording), "");
    CHECK_NEAR(cores->seconds[1] - cores->seconds[0], 0.1, 1e-6);
    recording_close(recording);
    record_world_close(&world);
}

static void a_kill_costs_a_database_a_second(void)
{
    a_kill_costs_a_second("a.db");
}

static void a_kill_costs_a_csv_a_line(void)
{
    a_kill_costs_a_second("a.csv");
}

/* ---- a kill at each moment of a short recording ---- */

#if VITALS_WITH_SQLITE
static long changes_left; /* of files, until this process is killed */

static bool may_change(void)
{
    if (changes_left-- <= 0)
        (void)kill(getpid(), SIGKILL);
    return true;
}

static ssize_t write_counted(int descriptor, const void *bytes, size_t size, off_t offset)
{
    return may_change() ? pwrite(descriptor, bytes, size, offset) : -1;
}

static int truncate_counted(int descriptor, off_t size)
{
    return may_change() ? ftruncate(descriptor, size) : -1;
}

static int unlink_counted(const char *path)
{
    return may_change() ? unlink(path) : -1;
}

/* Records two samples and an account; is killed in place of the change `changes` + 1 of a file. */
static void record_up_to(const struct record_world *world, long changes)
{
    static const struct {
        const char *name;
        sqlite3_syscall_ptr call;
    } CALLS[] = {{"pwrite", (sqlite3_syscall_ptr)write_counted},
                 {"pwrite64", (sqlite3_syscall_ptr)write_counted},
                 {"ftruncate", (sqlite3_syscall_ptr)truncate_counted},
                 {"unlink", (sqlite3_syscall_ptr)unlink_counted}};
    const struct recorder_options options = {.path = world->path, .interval_ns = 1000000000};
    struct recorder *recorder;
    struct filled_sample sample;
    vitals_error error;
    (void)sqlite3_initialize();
    sqlite3_vfs *files = sqlite3_vfs_find(NULL);
    for (size_t i = 0; i < sizeof CALLS / sizeof CALLS[0]; i++)
        (void)files->xSetSystemCall(files, CALLS[i].name, CALLS[i].call);
    changes_left = changes;
    int code = recorder_open(&options, &recorder, &error);
    for (uint64_t i = 0; i < 2 && code == 0; i++) {
        record_fill(&sample, i);
        code = recorder_write_sample(recorder, &sample.content, &error);
    }
    _exit(code == 0 ? -recorder_close(recorder, &error) : 1);
}

static void a_recording_killed_at_any_moment_opens_or_is_empty(void)
{
    size_t samples = 0, empty = 0, whole = 0;
    int status = -1;
    for (long changes = 0; status != 0; changes++) {
        struct record_world world;
        vitals_error error = {.message = ""};
        struct recording *recording = NULL;
        record_world_open(&world, "a.db");
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0)
            record_up_to(&world, changes);
        CHECK_INT(waitpid(child, &status, 0), child);
        CHECK(status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
        int code = recording_open(world.path, &recording, &error);
        if (code < 0) {
            CHECK_INT(code, VITALS_EFORMAT);
            CHECK_CONTAINS(error.message, RECORD_NOTHING_YET);
            CHECK_UINT(whole, 0); /* nothing that was there is lost */
            empty++;
        } else {
            size_t count = 0;
            (void)recording_seconds(recording, &count);
            CHECK_STR(recording_problem(recording), "");
            CHECK(count >= samples);
            samples = count;
            whole++;
        }
        recording_close(recording);
        record_world_close(&world);
    }
    CHECK_UINT(samples, 2);
    CHECK(empty > 0 && whole > 10);
}
#endif

/* A file may not grow beyond 512 KiB: as a full disk, and told by the same errors. In a process of
 * its own, which leaves with how many samples were taken before the first refusal. */
static int record_until_full(const struct record_world *world, const char *format)
{
    const struct rlimit limit = {524288, 524288};
    const struct recorder_options options = {
        .path = world->path, .format = format, .interval_ns = 1000000000};
    struct recorder *recorder;
    vitals_error error = {.message = ""};
    (void)signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0 || recorder_open(&options, &recorder, &error) < 0)
        return 255;
    for (uint64_t i = 0; i < 20000; i++) {
        struct filled_sample sample;
        record_fill(&sample, i);
        int code = recorder_write_sample(recorder, &sample.content, &error);
        if (code == 0)
            continue;
        bool told = code == VITALS_ESYSTEM && strstr(error.message, world->path) != NULL;
        (void)recorder_close(recorder, NULL);
        return told ? (int)(i / 100) : 254;
    }
    return 253;
}

static void a_full_disk_is_told_and_leaves_a_whole_file(const char *name, const char *format,
                                                        const char *measure)
{
    if (cannot_be(name))
        return;
    struct record_world world;
    int status;
    record_world_open(&world, name);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        _exit(record_until_full(&world, format));
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) < 250);
    struct recording *recording = record_read(world.path);
    CHECK_NOT_NULL(recording_find(recording, measure, ""));
    size_t count = recording_find(recording, measure, "")->count;
    CHECK(count + 100 >= (size_t)WEXITSTATUS(status) * 100 && count > 10);
    CHECK_STR(recording_problem(recording), "");
    recording_close(recording);
    record_world_close(&world);
}

static void a_full_disk_leaves_every_format_whole(void)
{
    a_full_disk_is_told_and_leaves_a_whole_file("a.csv", NULL, "cpu_cores");
    a_full_disk_is_told_and_leaves_a_whole_file("t.csv", "resource-tracker", "cpu_cores");
    a_full_disk_is_told_and_leaves_a_whole_file("g.csv", "gpu-tracker", "cpu_cores");
    a_full_disk_is_told_and_leaves_a_whole_file("a.db", NULL, "cpu_cores");
}

static bool exists(const struct record_world *world, const char *ending)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s%s", world->path, ending);
    return access(path, F_OK) == 0;
}

static void parts_are_whole_and_few(const char *name)
{
    if (cannot_be(name))
        return;
    struct record_world world;
    struct recorder *recorder = NULL;
    vitals_error error;
    char path[256];
    record_world_open(&world, name);
    const struct recorder_options options = {.path = world.path,
                                             .interval_ns = 1000000000,
                                             .rotate_ns = UINT64_C(10000000000),
                                             .keep = 2};
    CHECK_INT(recorder_open(&options, &recorder, &error), 0);
    put_attribute(recorder, "host", "h");
    record_samples(recorder, 0, 45);
    close_recorder(recorder);
    CHECK_FALSE(exists(&world, ".1"));
    CHECK_FALSE(exists(&world, ".2"));
    CHECK(exists(&world, ".3"));
    CHECK(exists(&world, ".4"));
    CHECK_FALSE(exists(&world, ".5"));
    (void)snprintf(path, sizeof path, "%s.3", world.path);
    struct recording *recording = record_read(path);
    CHECK_UINT(recording_find(recording, "cpu_cores", "")->count, 10);
    CHECK_NEAR(recording_find(recording, "cpu_cores", "")->seconds[0], RECORD_BEGIN_SECONDS + 20,
               1e-6);
    CHECK(vitals_account_attribute(recording_account(recording), "host").size == 1);
    recording_close(recording);
    recording = record_read(world.path);
    CHECK_UINT(recording_find(recording, "cpu_cores", "")->count, 5);
    recording_close(recording);
    const struct recorder_options again = {.path = world.path,
                                           .interval_ns = 1000000000,
                                           .rotate_ns = UINT64_C(10000000000),
                                           .keep = 2,
                                           .overwrite = true};
    CHECK_INT(recorder_open(&again, &recorder, &error), 0);
    record_samples(recorder, 0, 15);
    close_recorder(recorder);
    CHECK_FALSE(exists(&world, ".3")); /* parts of the run before count */
    CHECK(exists(&world, ".4"));
    CHECK(exists(&world, ".5"));
    record_world_close(&world);
}

static void a_rotated_database_is_whole(void)
{
    parts_are_whole_and_few("a.db");
}

static void a_rotated_csv_is_whole(void)
{
    parts_are_whole_and_few("a.csv");
}

static void size_rotates_too(void)
{
    struct record_world world;
    struct recorder *recorder = NULL;
    vitals_error error;
    struct stat status;
    char path[256];
    record_world_open(&world, "a.csv");
    const struct recorder_options options = {
        .path = world.path, .interval_ns = 1000000000, .rotate_bytes = 8192};
    CHECK_INT(recorder_open(&options, &recorder, &error), 0);
    record_samples(recorder, 0, 200);
    close_recorder(recorder);
    (void)snprintf(path, sizeof path, "%s.1", world.path);
    CHECK_INT(stat(path, &status), 0);
    CHECK(status.st_size >= 8192 && status.st_size < 8192 + 1024);
    CHECK(exists(&world, ".2"));
    record_world_close(&world);
}

static void what_is_there_is_not_overwritten_unasked(void)
{
    static const char *const names[] = {"a.db", "a.csv"};
    for (size_t i = cannot_be("a.db") ? 1 : 0; i < 2; i++) {
        struct record_world world;
        struct recorder *recorder = NULL;
        vitals_error error;
        record_world_open(&world, names[i]);
        record_put_text(&world, "precious\n", 9);
        struct recorder_options options = {.path = world.path};
        CHECK_INT(recorder_open(&options, &recorder, &error), VITALS_EARGUMENT);
        CHECK_CONTAINS(error.message, "exists and is not empty");
        CHECK_STR(record_text(world.path), "precious\n");
        options.overwrite = true;
        CHECK_INT(recorder_open(&options, &recorder, &error), 0);
        close_recorder(recorder);
        record_world_close(&world);
    }
}

static void what_cannot_be_is_said(void)
{
    static const struct {
        struct recorder_options options;
        int code;
        const char *part;
    } cases[] = {
        {{.path = "/nowhere/at/all.csv"}, VITALS_EGONE, "No such file"},
        {{.path = "/nowhere/at/all.db"}, VITALS_EGONE, "No such file"},
        {{.path = "/tmp/x.parquet"}, VITALS_EARGUMENT, "the ending names no format"},
        {{.path = "/tmp/x.db", .format = "csw"}, VITALS_EARGUMENT, "no such format"},
        {{.path = "-", .format = "vitals"}, VITALS_EARGUMENT, "--format vitals-csv"},
        {{.path = "-", .rotate_ns = 1}, VITALS_EARGUMENT, "cannot be rotated"},
        {{.path = "/tmp"}, VITALS_EARGUMENT, "the ending names no format"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct recorder *recorder = NULL;
        vitals_error error;
        if (cases[i].code == VITALS_EGONE && cannot_be(cases[i].options.path))
            continue;
        CHECK_INT(recorder_open(&cases[i].options, &recorder, &error), cases[i].code);
        CHECK_CONTAINS(error.message, cases[i].part);
        CHECK_NULL(recorder);
    }
}

/* A series that comes later has its own column in SQLite, and NULL before. */
static void later_series_join_a_database(void)
{
    if (cannot_be("a.db"))
        return;
    struct record_world world;
    struct filled_sample sample;
    vitals_error error;
    record_world_open(&world, "a.db");
    struct recorder *recorder = record_open(&world, NULL);
    record_samples(recorder, 0, 3);
    record_fill(&sample, 3);
    record_add(&sample, "device_power_watts", VITALS_SCOPE_GPU, "gpu-2", 150);
    record_add(&sample, "device_power_watts", VITALS_SCOPE_GPU, "GPU-2", 250);
    CHECK_INT(recorder_write_sample(recorder, &sample.content, &error), 0);
    close_recorder(recorder);
    struct recording *recording = record_read(world.path);
    double before = record_value(recording, "device_power_watts", "GPU-2", 2);
    CHECK(before != before);
    CHECK_NEAR(record_value(recording, "device_power_watts", "GPU-2", 3), 250, 0);
    CHECK_NEAR(record_value(recording, "device_power_watts", "gpu-2", 3), 150, 0);
    recording_close(recording);
    record_world_close(&world);
}

/* Nothing was read between the first sample and the third. */
static void what_was_not_read_anew_is_no_reading(const char *name)
{
    if (cannot_be(name))
        return;
    struct record_world world;
    struct filled_sample sample;
    vitals_error error;
    record_world_open(&world, name);
    struct recorder *recorder = record_open(&world, NULL);
    for (uint64_t i = 0; i < 3; i++) {
        record_fill(&sample, i);
        record_add(&sample, "disk_read_bytes", VITALS_SCOPE_SYSTEM, "system", i < 2 ? 5000 : 9000);
        sample.values[sample.content.count - 1].state = i == 1 ? VITALS_STALE : VITALS_HAVE;
        CHECK_INT(recorder_write_sample(recorder, &sample.content, &error), 0);
    }
    close_recorder(recorder);
    struct recording *recording = record_read(world.path);
    CHECK_NEAR(record_value(recording, "disk_read_bytes", "system", 0), 5000, 0);
    double between = record_value(recording, "disk_read_bytes", "system", 1);
    CHECK(between != between);
    CHECK_NEAR(record_value(recording, "disk_read_bytes", "system", 2), 9000, 0);
    recording_close(recording);
    record_world_close(&world);
}

static void a_database_has_no_stale_values(void)
{
    what_was_not_read_anew_is_no_reading("a.db");
}

static void a_csv_has_no_stale_values(void)
{
    what_was_not_read_anew_is_no_reading("a.csv");
}

static void a_database_can_be_read_while_it_grows(void)
{
    if (cannot_be("a.db"))
        return;
    struct record_world world;
    record_world_open(&world, "a.db");
    struct recorder *recorder = record_open(&world, NULL);
    for (uint64_t i = 1; i < 4; i++) {
        record_samples(recorder, 10 * (i - 1), 10 * i);
        struct recording *recording = record_read(world.path);
        CHECK_UINT(recording_find(recording, "cpu_cores", "")->count, 10 * i);
        recording_close(recording);
    }
    close_recorder(recorder);
    CHECK_FALSE(exists(&world, "-wal"));
    record_world_close(&world);
}

/* Just before each sample, what a kill then would cost: a second, or the interval where it is
 * longer. */
static void a_kill_would_cost(uint64_t interval_ms)
{
    struct record_world world;
    struct filled_sample sample;
    struct recorder *recorder = NULL;
    vitals_error error;
    record_world_open(&world, "a.db");
    const struct recorder_options options = {.path = world.path,
                                             .interval_ns = interval_ms * 1000000u};
    CHECK_INT(recorder_open(&options, &recorder, &error), 0);
    record_fill(&sample, 0);
    uint64_t realtime_ns = sample.content.realtime_ns, monotonic_ns = sample.content.monotonic_ns;
    for (uint64_t at_ms = 0; at_ms < 3000; at_ms += interval_ms) {
        record_fill(&sample, 0);
        sample.content.realtime_ns = realtime_ns + at_ms * 1000000u;
        sample.content.monotonic_ns = monotonic_ns + at_ms * 1000000u;
        CHECK_INT(recorder_write_sample(recorder, &sample.content, &error), 0);
        struct recording *recording = record_read(world.path);
        const struct series *cores = recording_find(recording, "cpu_cores", "");
        CHECK_NOT_NULL(cores);
        double newest = cores->seconds[cores->count - 1] - (double)realtime_ns / 1e9;
        double lost = (double)(at_ms + interval_ms) / 1e3 - newest;
        CHECK(lost < 1 || lost < (double)interval_ms / 1e3 + 0.001);
        recording_close(recording);
    }
    close_recorder(recorder);
    record_world_close(&world);
}

static void a_kill_would_cost_no_more_than_a_second(void)
{
    static const uint64_t INTERVALS_MS[] = {20, 290, 440, 460, 700, 1500};
    if (cannot_be("a.db"))
        return;
    for (size_t i = 0; i < sizeof INTERVALS_MS / sizeof INTERVALS_MS[0]; i++)
        a_kill_would_cost(INTERVALS_MS[i]);
}

static void a_mark_does_not_wait_for_a_sample(void)
{
    if (cannot_be("a.db"))
        return;
    struct record_world world;
    size_t count;
    record_world_open(&world, "a.db");
    struct recorder *recorder = record_open(&world, NULL);
    record_samples(recorder, 0, 2);
    put_mark(recorder, "work", true, 2, 71);
    struct recording *recording = record_read(world.path);
    (void)recording_phases(recording, &count);
    CHECK_UINT(count, 1);
    recording_close(recording);
    close_recorder(recorder);
    record_world_close(&world);
}

static void an_observer_records_in_its_own_process(void)
{
    if (cannot_be("a.csv"))
        return;
    struct record_world world;
    struct record_observer observer;
    vitals_error error;
    record_world_open(&world, "a.csv");
    const struct recorder_options options = {.path = world.path};
    record_observer_init(&observer, &options);
    record_observer_attribute(&observer, "command", (vitals_text){"true", 4});
    CHECK_INT(record_observer_prepare(&observer, &error), 0);
    CHECK(exists(&world, ""));
    CHECK_INT(observer.face.begin(observer.face.data, &error), 0);
    record_samples(observer.recorder, 0, 3);
    CHECK_INT(observer.face.end(observer.face.data, &error), 0);
    record_observer_done(&observer);
    struct recording *recording = record_read(world.path);
    CHECK_UINT(recording_find(recording, "cpu_cores", "")->count, 3);
    CHECK(vitals_account_attribute(recording_account(recording), "command").size == 4);
    recording_close(recording);
    record_world_close(&world);
}

/* A phase of a second, in whose middle the clock is set back, or forward, by an hour. */
static void a_clock_that_is_set_changes_no_phase(void)
{
    static const int64_t STEPS[] = {-3600, 3600};
    for (size_t i = 0; i < 4; i++) {
        struct record_world world;
        vitals_error error = {.message = ""};
        record_world_open(&world, i % 2 == 0 ? "run.db" : "run.csv");
        struct recorder *recorder = record_open(&world, NULL);
        for (uint64_t number = 0; number < 4; number++) {
            struct filled_sample sample;
            record_fill(&sample, number);
            if (number >= 2)
                sample.content.realtime_ns += (uint64_t)(STEPS[i / 2] * INT64_C(1000000000));
            CHECK_INT(recorder_write_sample(recorder, &sample.content, &error), 0);
            const vitals_mark mark = {.begins = number == 1,
                                      .name = "step",
                                      .monotonic_ns = sample.content.monotonic_ns + 500000000,
                                      .pid = 7,
                                      .tid = 7};
            if (number == 1 || number == 2)
                CHECK_INT(recorder_mark(recorder, &mark, &error), 0);
        }
        CHECK_INT(recorder_close(recorder, &error), 0);
        size_t count;
        struct recording *recording = record_read(world.path);
        const struct recorded_phase *phases = recording_phases(recording, &count);
        CHECK_UINT(count, 1);
        CHECK_NEAR(phases[0].end - phases[0].begin, 1, 1e-6);
        const double *seconds = recording_seconds(recording, &count);
        CHECK_NEAR(seconds[count - 1] - seconds[0], 3, 1e-6);
        recording_close(recording);
        record_world_close(&world);
    }
}

/* An hour of suspend between two samples: of the three clocks one stands still. */
static void suspend_is_time_that_goes_by(void)
{
    for (size_t i = 0; i < 2; i++) {
        struct record_world world;
        vitals_error error = {.message = ""};
        record_world_open(&world, i == 0 ? "run.db" : "run.csv");
        struct recorder *recorder = record_open(&world, NULL);
        for (uint64_t number = 0; number < 4; number++) {
            struct filled_sample sample;
            record_fill(&sample, number);
            uint64_t slept_ns = number >= 2 ? UINT64_C(3600000000000) : 0;
            sample.content.boottime_ns = sample.content.monotonic_ns + 77 + slept_ns;
            sample.content.realtime_ns += slept_ns;
            CHECK_INT(recorder_write_sample(recorder, &sample.content, &error), 0);
        }
        CHECK_INT(recorder_close(recorder, &error), 0);
        size_t count;
        struct recording *recording = record_read(world.path);
        const double *seconds = recording_seconds(recording, &count);
        CHECK_UINT(count, 4);
        CHECK_NEAR(seconds[1] - seconds[0], 1, 1e-6);
        CHECK_NEAR(seconds[3] - seconds[0], 3603, 1e-6);
        recording_close(recording);
        record_world_close(&world);
    }
}

static const check_test tests[] = {
    {"suspend is time that goes by", suspend_is_time_that_goes_by},
    {"a clock that is set changes no phase", a_clock_that_is_set_changes_no_phase},
    {"a database comes back", a_database_comes_back},
    {"a CSV comes back", a_csv_comes_back},
    {"a CSV is one rectangle", a_csv_is_one_rectangle},
    {"an account joins a database", an_account_joins_a_database},
    {"an account joins a CSV", an_account_joins_a_csv},
    {"an account alone is a recording", an_account_alone_is_a_recording},
    {"resource-tracker's files are written as it writes them",
     resource_tracker_is_written_as_it_writes},
    {"without a header no row is lost", without_a_header_no_row_is_lost},
    {"dialects come back", dialects_come_back},
    {"gpu_tracker's CSV comes back", gpu_tracker_csv_comes_back},
    {"gpu_tracker's SQLite comes back", gpu_tracker_database_comes_back},
    {"gpu_tracker has two tables in one file", gpu_tracker_has_two_tables_in_one_file},
    {"a kill costs a database a second", a_kill_costs_a_database_a_second},
    {"a kill costs a CSV a line", a_kill_costs_a_csv_a_line},
#if VITALS_WITH_SQLITE
    {"a recording killed at any moment opens or is empty",
     a_recording_killed_at_any_moment_opens_or_is_empty},
#endif
    {"a full disk leaves every format whole", a_full_disk_leaves_every_format_whole},
    {"a rotated database is whole", a_rotated_database_is_whole},
    {"a rotated CSV is whole", a_rotated_csv_is_whole},
    {"size rotates too", size_rotates_too},
    {"what is there is not overwritten unasked", what_is_there_is_not_overwritten_unasked},
    {"what cannot be is said", what_cannot_be_is_said},
    {"later series join a database", later_series_join_a_database},
    {"a database has no stale values", a_database_has_no_stale_values},
    {"a CSV has no stale values", a_csv_has_no_stale_values},
    {"a database can be read while it grows", a_database_can_be_read_while_it_grows},
    {"a kill would cost no more than a second", a_kill_would_cost_no_more_than_a_second},
    {"a mark does not wait for a sample", a_mark_does_not_wait_for_a_sample},
    {"an observer records in its own process", an_observer_records_in_its_own_process},
};
CHECK_TESTS(tests)
