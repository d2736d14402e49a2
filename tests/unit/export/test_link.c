/* The command's side of libexec/vitals/tell, against programs that read, do not, die and babble. */
#include "check.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "export/clock.h"
#include "export/link.h"

static const uint64_t SOON_NS = 60000000000; /* a busy machine */

/* A program of one test: a script, in a folder of its own. */
static char folder[64], program[96], output[96];

static void write_program(const char *script, mode_t mode)
{
    (void)snprintf(folder, sizeof folder, "/tmp/vitals-link-XXXXXX");
    CHECK_NOT_NULL(mkdtemp(folder));
    (void)snprintf(program, sizeof program, "%s/tell", folder);
    (void)snprintf(output, sizeof output, "%s/output", folder);
    FILE *file = fopen(program, "w");
    CHECK_NOT_NULL(file);
    fprintf(file, "#!/bin/sh\ncd %s || exit 1\n%s\n", folder, script);
    CHECK_INT(fclose(file), 0);
    CHECK_INT(chmod(program, mode), 0);
}

static struct link *open_link(const char *script)
{
    vitals_error error;
    struct link *link = NULL;
    write_program(script, 0700);
    int code = link_open(&(struct link_program){.path = program, .activation_socket = -1},
                         "{\"tell\":1}", &link, &error);
    CHECK_CASE(code < 0 ? error.message : "");
    CHECK_INT(code, 0);
    return link;
}

static void remove_all(void)
{
    (void)unlink(program);
    (void)unlink(output);
    (void)rmdir(folder);
}

/* What the program wrote; the caller's to free. */
static char *read_output(size_t *size)
{
    int descriptor = open(output, O_RDONLY);
    struct stat status;
    CHECK(descriptor >= 0 && fstat(descriptor, &status) == 0);
    char *bytes = calloc(1, (size_t)status.st_size + 1);
    CHECK_INT(read(descriptor, bytes, (size_t)status.st_size), status.st_size);
    close(descriptor);
    *size = (size_t)status.st_size;
    return bytes;
}

static void what_is_written_arrives(void)
{
    size_t size;
    struct link *link = open_link("cat > output; echo '{\"done\":true}'");
    CHECK(link_write(link, "one\n", 4, 0));
    CHECK(link_write(link, "two\n", 4, SOON_NS));
    CHECK_UINT(link_dropped(link), 0);
    link_close(link, SOON_NS, false, NULL, NULL);
    char *got = read_output(&size);
    CHECK_STR(got, "{\"tell\":1}\none\ntwo\n");
    free(got);
    remove_all();
}

static void a_missing_program_is_named(void)
{
    const struct link_program missing = {.path = "/tmp/no such\nfolder/tell",
                                         .activation_socket = -1};
    const struct link_program written = {.path = program, .activation_socket = -1};
    vitals_error error;
    struct link *link = NULL;
    CHECK_INT(link_open(&missing, "{}", &link, &error), VITALS_EGONE);
    CHECK_CONTAINS(error.message, "no such");
    CHECK_NULL(strchr(error.message, '\n'));
    write_program("exit 0", 0600);
    CHECK_INT(link_open(&written, "{}", &link, &error), VITALS_EDENIED);
    CHECK_CONTAINS(error.message, program);
    CHECK_NULL(link);
    remove_all();
}

/* Writing to a program that has gone raises no signal. */
static void a_dead_reader_costs_lines_alone(void)
{
    char *line;
    struct link *link = open_link("exit 3");
    while (link_hear(link, SOON_NS, &line) > 0)
        ;
    uint64_t deadline_ns = clock_now_ns() + SOON_NS; /* its ends are closed one by one */
    while (link_write(link, "one\n", 4, 0) && clock_now_ns() < deadline_ns)
        ;
    CHECK_FALSE(link_write(link, "one\n", 4, 0));
    CHECK(link_dropped(link) > 0);
    CHECK_INT(link_hear(link, 0, &line), -1);
    link_close(link, SOON_NS, false, NULL, NULL);
    remove_all();
}

/* Why it could not be started by the loader, or has given up. */
static void its_last_words_are_heard(void)
{
    char *line;
    for (int i = 0; i < 20; i++) { /* it may end before or after it is told anything */
        struct link *link = open_link("echo no library >&2; exit 127");
        CHECK_INT(link_hear(link, SOON_NS, &line), 1);
        CHECK_STR(line, "no library");
        CHECK_INT(link_hear(link, SOON_NS, &line), -1);
        link_close(link, SOON_NS, false, NULL, NULL);
        remove_all();
    }
}

/* Lines are whole or not there, whatever had to be dropped meanwhile. */
static void a_full_pipe_drops_whole_lines(void)
{
    enum { LINE = 1000, LINES = 5000 };
    static char line[LINE];
    size_t size, written = 0, whole = 0;
    struct link *link = open_link("read hello; while [ ! -e go ]; do sleep 0.01; done; cat > output"
                                  "; echo '{\"done\":true}'");
    memset(line, 'x', LINE - 1);
    line[LINE - 1] = '\n';
    for (int i = 0; i < LINES; i++)
        written += link_write(link, line, LINE, 0);
    CHECK(written > 0 && written < LINES);
    CHECK_UINT(link_dropped(link), LINES - written);
    char go[96];
    (void)snprintf(go, sizeof go, "%s/go", folder);
    CHECK_INT(close(open(go, O_WRONLY | O_CREAT, 0600)), 0);
    CHECK(link_flush(link, SOON_NS));
    CHECK(link_write(link, "last\n", 5, SOON_NS));
    link_close(link, SOON_NS, false, NULL, NULL);
    char *got = read_output(&size);
    for (char *at = got; *at == 'x'; at += LINE)
        whole += strncmp(at, line, LINE) == 0;
    CHECK_UINT(whole, written);
    CHECK_UINT(size, written * LINE + 5);
    CHECK_STR(got + written * LINE, "last\n");
    free(got);
    (void)unlink(go);
    remove_all();
}

static size_t allocated(void)
{
    struct mallinfo2 info = mallinfo2();
    return CHECK_SANITIZED ? 0 : info.uordblks + info.hblkhd;
}

static void a_huge_line_leaves_bit_by_bit(void)
{
    enum { HUGE = 12 * 1024 * 1024, STEP = 128 * 1024 };
    size_t size, before;
    struct link *link = open_link("read hello; cat > output; echo '{\"done\":true}'");
    char *line = malloc(HUGE);
    memset(line, 'y', HUGE);
    line[HUGE - 1] = '\n';
    before = allocated();
    CHECK(link_write(link, line, HUGE, 0)); /* the rest is kept */
    CHECK(CHECK_SANITIZED || allocated() > before + HUGE / 2);
    CHECK(link_flush(link, SOON_NS));
    CHECK(allocated() <= before + STEP);
    CHECK(link_write(link, line, HUGE, SOON_NS));
    link_close(link, SOON_NS, false, NULL, NULL);
    char *got = read_output(&size);
    CHECK_UINT(size, 2 * (size_t)HUGE);
    CHECK(memcmp(got, line, HUGE) == 0 && memcmp(got + HUGE, line, HUGE) == 0);
    free(got);
    free(line);
    remove_all();
}

struct said {
    int count;
    char last[64];
};

static void take(void *data, const char *line)
{
    struct said *said = data;
    said->count++;
    (void)snprintf(said->last, sizeof said->last, "%s", line);
}

static void answers_come_as_lines(void)
{
    char *line;
    struct link *link = open_link("echo one; printf 'tw'; echo two-and >&2; cat > output; echo end;"
                                  "echo '{\"done\":true}'; echo never");
    struct said said = {.count = 0};
    CHECK_INT(link_hear(link, SOON_NS, &line), 1);
    CHECK_STR(line, "one");
    CHECK_INT(link_hear(link, SOON_NS, &line), 1);
    CHECK_STR(line, "twtwo-and");
    CHECK_INT(link_hear(link, 1000000, &line), 0);
    link_close(link, SOON_NS, false, take, &said);
    CHECK_INT(said.count, 1);
    CHECK_STR(said.last, "end");
    remove_all();
}

/* Lines without an end, with NULs, and too long are no harm. */
static void garbage_is_heard_as_what_it_is(void)
{
    char *line;
    struct link *link = open_link(
        "head -c 300000 /dev/zero | tr '\\0' z; echo; echo after; printf 'a\\0b\\n';"
        "head -c 200000 /dev/zero; printf rest");
    CHECK_INT(link_hear(link, SOON_NS, &line), 1);
    CHECK_STR(line, "after");
    CHECK_INT(link_hear(link, SOON_NS, &line), 1);
    CHECK_STR(line, "a");
    CHECK_INT(link_hear(link, SOON_NS, &line), -1);
    link_close(link, SOON_NS, false, NULL, NULL);
    remove_all();
}

/* It goes on by itself, and we do not. */
static void who_hangs_is_left_behind(void)
{
    char *line;
    struct link *link = open_link("echo $$; trap '' TERM; sleep 100 > /dev/null 2>&1 < /dev/null");
    CHECK_INT(link_hear(link, SOON_NS, &line), 1);
    pid_t pid = (pid_t)atoi(line);
    uint64_t before = clock_now_ns();
    CHECK_INT(link_close(link, 50000000, false, NULL, NULL), LINK_LEFT);
    CHECK(clock_now_ns() - before < 30000000000);
    CHECK_INT(kill(pid, 0), 0);
    CHECK(getsid(pid) != getsid(0));           /* no terminal of ours reaches it */
    CHECK_INT(waitpid(-1, NULL, WNOHANG), -1); /* and it is no child of ours */
    CHECK_INT(kill(-pid, SIGKILL), 0);
    remove_all();
}

/* Each kind of end is told apart; a link that is told to hurry does not wait. */
static void the_end_is_told(void)
{
    static const struct {
        const char *script;
        enum link_end end;
    } CASES[] = {{"cat > /dev/null; echo '{\"done\":true}'", LINK_DONE},
                 {"cat > /dev/null", LINK_GONE},
                 {"exec sleep 1000", LINK_LEFT}};
    int ends[2];
    CHECK_INT(pipe(ends), 0);
    CHECK_INT(write(ends[1], "", 1), 1);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct link *link = open_link(CASES[i].script);
        CHECK_CASE(CASES[i].script);
        if (CASES[i].end == LINK_LEFT)
            link_hurry_by(link, ends[0]);
        CHECK_INT(link_close(link, SOON_NS, true, NULL, NULL), CASES[i].end);
        remove_all();
    }
    close(ends[0]);
    close(ends[1]);
}

static void who_hangs_can_be_killed(void)
{
    char *line;
    struct link *link = open_link("echo $$; trap '' TERM; exec sleep 1000");
    CHECK_INT(link_hear(link, SOON_NS, &line), 1);
    pid_t pid = (pid_t)atoi(line);
    CHECK_INT(link_close(link, 50000000, true, NULL, NULL), LINK_LEFT);
    uint64_t deadline_ns = clock_now_ns() + SOON_NS;
    while (kill(pid, 0) == 0 && clock_now_ns() < deadline_ns)
        (void)usleep(1000);
    CHECK_INT(kill(pid, 0), -1);
    remove_all();
}

/* The line of one side that was cut off does not spoil that of the other. */
static void two_sides_of_a_fork_write_whole_lines(void)
{
    size_t size;
    struct link *link = open_link("read hello; cat > output; echo '{\"done\":true}'");
    pid_t child = fork();
    if (child == 0) {
        (void)!link_write(link, "sample\nsam", 10, SOON_NS);
        _exit(0);
    }
    CHECK_INT(waitpid(child, NULL, 0), child);
    CHECK(link_write(link, "\nend\n", 5, SOON_NS));
    link_close(link, SOON_NS, false, NULL, NULL);
    char *got = read_output(&size);
    CHECK_STR(got, "sample\nsam\nend\n");
    free(got);
    remove_all();
}

/* Another process that holds the pipe, such as a sampler that hangs, does not keep it open. */
static void the_end_is_the_end_for_all_who_hold_it(void)
{
    int ends[2];
    struct link *link = open_link("cat > output; echo '{\"done\":true}'");
    CHECK_INT(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        char byte;
        close(ends[1]);
        (void)!read(ends[0], &byte, 1);
        _exit(0);
    }
    struct said said = {.count = 0};
    link_finish(link);
    char *line;
    CHECK_INT(link_hear(link, SOON_NS, &line), 1);
    CHECK_STR(line, "{\"done\":true}");
    link_close(link, 0, false, take, &said);
    close(ends[0]);
    close(ends[1]);
    CHECK_INT(waitpid(child, NULL, 0), child);
    remove_all();
}

/* A lock, or a pipe with a reader that waits for its end. */
static void nothing_of_ours_stays_open_in_it(void)
{
    size_t size;
    int ours = open("/dev/null", O_RDONLY), high = dup2(ours, 700);
    CHECK(ours >= 0 && high == 700);
    struct link *link = open_link("ls -l /proc/$$/fd > output; cat; echo '{\"done\":true}'");
    link_close(link, SOON_NS, false, NULL, NULL);
    close(ours);
    close(high);
    char *got = read_output(&size);
    CHECK_NULL(strstr(got, "/dev/null"));
    CHECK_NULL(strstr(got, " 700 "));
    free(got);
    remove_all();
}

/* The fork of another thread, while link_open has its descriptors and the program has not begun. */
static volatile sig_atomic_t forks_beside;
static pid_t beside;

static void fork_beside(void)
{
    if (!forks_beside)
        return;
    forks_beside = 0;
    beside = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    while (beside == 0)
        (void)pause();
}

/* Such a process keeps all of them open. */
static void a_fork_of_another_thread_holds_up_nothing(void)
{
    size_t size;
    CHECK_INT(pthread_atfork(fork_beside, NULL, NULL), 0);
    forks_beside = 1;
    struct link *link = open_link("cat > output; echo '{\"done\":true}'");
    CHECK(beside > 0);
    CHECK_INT(kill(beside, 0), 0);
    CHECK(link_pid(link) > 0);
    CHECK_INT(link_close(link, SOON_NS, false, NULL, NULL), LINK_DONE);
    char *got = read_output(&size);
    CHECK_STR(got, "{\"tell\":1}\n");
    free(got);
    CHECK_INT(kill(beside, SIGKILL), 0);
    CHECK_INT(waitpid(beside, NULL, 0), beside);
    remove_all();
}

static const check_test tests[] = {
    {"what is written arrives", what_is_written_arrives},
    {"a missing program is named", a_missing_program_is_named},
    {"a dead reader costs lines alone", a_dead_reader_costs_lines_alone},
    {"its last words are heard", its_last_words_are_heard},
    {"a full pipe drops whole lines", a_full_pipe_drops_whole_lines},
    {"a huge line leaves bit by bit", a_huge_line_leaves_bit_by_bit},
    {"answers come as lines", answers_come_as_lines},
    {"garbage is heard as what it is", garbage_is_heard_as_what_it_is},
    {"who hangs is left behind", who_hangs_is_left_behind},
    {"the end is told", the_end_is_told},
    {"who hangs can be killed", who_hangs_can_be_killed},
    {"two sides of a fork write whole lines", two_sides_of_a_fork_write_whole_lines},
    {"the end is the end for all who hold it", the_end_is_the_end_for_all_who_hold_it},
    {"nothing of ours stays open in it", nothing_of_ours_stays_open_in_it},
    {"a fork of another thread holds up nothing", a_fork_of_another_thread_holds_up_nothing},
};
CHECK_TESTS(tests)
