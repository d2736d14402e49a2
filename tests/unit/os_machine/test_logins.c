/* The table login: what utmp and logind of several systems become, and what lies in wait there. */
#include "check.h"

#include "os/linux/machine/logins.h"
#include "os/linux/tables.h"
#include "util/memory.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utmp.h>
#include <vitals/text.h>

static struct row_batch batch;

/* Over the live /proc, with a folder of fixtures as /run. */
static struct os open_run(const char *run_root)
{
    vitals_options options;
    vitals_options_init(&options, sizeof options);
    options.run_root = run_root;
    struct os os;
    vitals_error error;
    CHECK_OK(os_open(&os, &options, &error), error);
    return os;
}

static int read_run(const struct os *os)
{
    struct metric_set wanted = {0};
    for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;)
        if (vitals_metric_table(metric) == VITALS_TABLE_LOGIN)
            metric_set_add(&wanted, metric);
    batch_reset(&batch, &wanted);
    return os_read_table(os, VITALS_TABLE_LOGIN, &batch);
}

static const char *shown(const struct batch_row *row, vitals_metric metric, char out[static 400])
{
    const struct batch_cell *cell = batch_find(&batch, row, metric);
    if (cell == NULL)
        return "<unset>";
    if (cell->state <= 0)
        snprintf(out, 400, "<%s>", vitals_availability_name(cell->state));
    else if (vitals_metric_type(metric) == VITALS_U64)
        snprintf(out, 400, "%llu", (unsigned long long)cell->as.u64);
    else if (vitals_metric_type(metric) == VITALS_F64)
        snprintf(out, 400, "%.6f", cell->as.f64);
    else
        vitals_text_format((vitals_text){batch_span(&batch, cell).bytes, cell->as.text.size},
                           VITALS_TEXT_TERMINAL, out, 400);
    return out;
}

/* "alice tty1 from [] 1700000100.250000 812" */
static const char *line_of(const struct batch_row *row, char out[static 2048])
{
    char user[400], terminal[400], host[400], start[400], pid[400];
    snprintf(out, 2048, "%s [%s] [%s] %s %s", shown(row, VITALS_LOGIN_USER, user),
             shown(row, VITALS_LOGIN_TERMINAL, terminal), shown(row, VITALS_LOGIN_HOST, host),
             shown(row, VITALS_LOGIN_START_TIME_SECONDS, start), shown(row, VITALS_LOGIN_PID, pid));
    return out;
}

static bool has_line(const char *expected)
{
    char line[2048];
    for (size_t i = 0; i < batch.row_count; i++)
        if (strcmp(line_of(&batch.rows[i], line), expected) == 0)
            return true;
    return false;
}

static void check_lines(const char *fixture, const char *const *lines, size_t count)
{
    if (sizeof(struct utmp) != 384)
        CHECK_SKIP("the fixture's utmp is that of x86_64");
    struct os os = open_run(check_fixture(fixture));
    CHECK_INT(read_run(&os), 0);
    os_close(&os);
    char line[2048];
    for (size_t i = 0; i < count; i++)
        if (!has_line(lines[i]))
            CHECK_FAIL("no row \"%s\", but \"%s\"", lines[i],
                       i < batch.row_count ? line_of(&batch.rows[i], line) : "");
    CHECK_UINT(batch.row_count, count);
    CHECK_INT(batch.states[VITALS_TABLE_LOGIN], VITALS_HAVE);
}

static void each_login_has_one_row(void)
{
    static const char *const LINES[] = {
        "alice [tty1] [] 1700000100.250000 812",
        "bob [pts/0] [192.0.2.7] 1700000200.500000 4242",
        "carol [tty7] [] 1700000400.000000 6000", // on the display ":0", which is here
        "dave [] [2001:db8::7] 1700000500.125000 7001",
    };
    check_lines("run/debian12", LINES, CHECK_COUNT(LINES));
}

static void logind_is_enough(void)
{
    static const char *const LINES[] = {"frank [tty2] [] 1730000000.500000 1500"};
    check_lines("run/logind_only", LINES, CHECK_COUNT(LINES));
}

static void hostile_files_are_survived(void)
{
    char long_line[512], host[257];
    memset(host, 'A', 256);
    host[256] = '\0';
    snprintf(long_line, sizeof long_line, "%.32s [%.32s] [%s] 4294967295.000000 <unsupported>",
             host, host, host);
    const char *const lines[] = {
        long_line, // strings without an end, a time after 2038
        "\\e[31m\\n\\xff [] [] <unsupported> <unsupported>",
        "a=b [] [] <unsupported> <unsupported>",
        "quoted [] [] <unsupported> <unsupported>",
    };
    check_lines("run/hostile", lines, CHECK_COUNT(lines));
}

static void nowhere_to_look_is_unsupported(void)
{
    char path[] = "/tmp/vitals-run-XXXXXX";
    CHECK_NOT_NULL(mkdtemp(path));
    struct os os = open_run(path);
    int empty = read_run(&os);
    char file[64];
    snprintf(file, sizeof file, "%s/utmp", path);
    FILE *utmp = fopen(file, "wb");
    CHECK_NOT_NULL(utmp);
    fclose(utmp);
    int nobody = read_run(&os);
    size_t rows = batch.row_count;
    unlink(file);
    CHECK_INT(symlink("/etc/passwd", file), 0); // which we do not follow
    int followed = read_run(&os);
    unlink(file);
    CHECK_INT(mkfifo(file, 0600), 0);
    int waited = read_run(&os); // without a writer
    unlink(file);
    rmdir(path);
    os_close(&os);
    CHECK_INT(empty, -ENOTSUP);
    CHECK_INT(nobody, 0); // there is a place for logins, and none is there
    CHECK_UINT(rows, 0);
    CHECK_INT(followed, -ELOOP);
    CHECK(waited < 0);
    os = open_run("/nonexistent");
    CHECK_INT(read_run(&os), -ENOTSUP);
    os_close(&os);
}

static void one_of_two_is_a_lower_bound(void)
{
    char path[] = "/tmp/vitals-run-XXXXXX", file[64];
    CHECK_NOT_NULL(mkdtemp(path));
    snprintf(file, sizeof file, "%s/systemd", path);
    CHECK_INT(mkdir(file, 0700), 0);
    snprintf(file, sizeof file, "%s/systemd/sessions", path);
    CHECK_INT(mkdir(file, 0700), 0);
    char utmp[64];
    snprintf(utmp, sizeof utmp, "%s/utmp", path);
    CHECK_INT(mkdir(utmp, 0700), 0); // not to be read
    struct os os = open_run(path);
    int result = read_run(&os);
    os_close(&os);
    rmdir(utmp);
    rmdir(file);
    snprintf(file, sizeof file, "%s/systemd", path);
    rmdir(file);
    rmdir(path);
    CHECK_INT(result, 0);
    CHECK_INT(batch.states[VITALS_TABLE_LOGIN], VITALS_LOWER_BOUND);
}

/* Records of the C library of this machine, whatever its layout. */
static void records_are_those_of_this_machine(void)
{
    struct utmp records[3] = {{.ut_type = DEAD_PROCESS}, {.ut_type = USER_PROCESS}, {0}};
    memcpy(records[1].ut_user, "alice", 5);
    memcpy(records[1].ut_line, "pts/3", 5);
    records[1].ut_pid = 77;
    records[1].ut_tv.tv_sec = 1700000000;
    struct login login;
    size_t at = 0;
    CHECK(login_next_utmp((const char *)records, sizeof records, &at, &login));
    CHECK_BYTES(login.user.bytes, login.user.size, "alice", 5);
    CHECK_BYTES(login.terminal.bytes, login.terminal.size, "pts/3", 5);
    CHECK_UINT(login.host.size, 0);
    CHECK_UINT(login.pid, 77);
    CHECK_NEAR(login.start_seconds, 1700000000, 0);
    CHECK_FALSE(login_next_utmp((const char *)records, sizeof records, &at, &login));
    at = 0;
    size_t cut = sizeof records[0] * 2 - 1;
    CHECK_FALSE(login_next_utmp((const char *)records, cut, &at, &login));
    CHECK_FALSE(login_next_utmp("", 0, &at, &login)); // at lies behind the end
}

static void the_nth_allocation_may_fail(void)
{
    struct os os = open_run(check_fixture("run/debian12"));
    int result = -ENOMEM;
    for (uint64_t nth = 1; result == -ENOMEM; nth++) {
        batch_done(&batch);
        int64_t live = memory_live();
        memory_fail_at(nth);
        result = read_run(&os);
        memory_fail_at(0);
        CHECK(result == -ENOMEM || result == 0);
        batch_done(&batch);
        CHECK_INT(memory_live(), live);
        CHECK(nth < 200);
    }
    os_close(&os);
}

static const check_test tests[] = {
    {"each login has one row", each_login_has_one_row},
    {"logind is enough", logind_is_enough},
    {"hostile files are survived", hostile_files_are_survived},
    {"nowhere to look is unsupported", nowhere_to_look_is_unsupported},
    {"one of two is a lower bound", one_of_two_is_a_lower_bound},
    {"records are those of this machine", records_are_those_of_this_machine},
    {"the nth allocation may fail", the_nth_allocation_may_fail},
};
CHECK_TESTS(tests)
