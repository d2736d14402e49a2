/* The file of marks: what a job may write into it, and do to it, and what is read of that. */
#include "check.h"

#include "os/os.h"
#include "run/marks.h"
#include "util/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <vitals/mark.h>

/* ---- a line ---- */

static bool parse(const char *line, vitals_mark *out)
{
    static char name[MARKS_NAME + 1];
    return marks_parse((struct span){line, strlen(line)}, name, out);
}

static void a_whole_line_says_everything(void)
{
    vitals_mark mark;
    CHECK(parse("begin\tepoch 1\t123456789\t42\t43", &mark));
    CHECK_INT(mark.begins, 1);
    CHECK_STR(mark.name, "epoch 1");
    CHECK_UINT(mark.monotonic_ns, 123456789);
    CHECK_INT(mark.told, 1);
    CHECK_INT(mark.pid, 42);
    CHECK_INT(mark.tid, 43);
}

static void a_script_may_say_less(void)
{
    vitals_mark mark;
    CHECK(parse("end epoch 1", &mark));
    CHECK_INT(mark.begins, 0);
    CHECK_STR(mark.name, "epoch 1");
    CHECK_INT(mark.told, 0);
    CHECK_INT(mark.pid, 0);
}

static void what_is_no_mark_is_none(void)
{
    static const char *const NONE[] = {"",         "begin",        "end",      "begin ",
                                       "begin\t",  "start",        "beginner", "beginx y",
                                       " begin x", "begin\t\t1\t2"};
    for (size_t i = 0; i < CHECK_COUNT(NONE); i++) {
        vitals_mark mark;
        CHECK_CASE(NONE[i]);
        CHECK_FALSE(parse(NONE[i], &mark));
    }
}

static void numbers_that_are_none_are_not_told(void)
{
    vitals_mark mark;
    CHECK(parse("begin\tx\t-1\t99999999999999999999\tq", &mark));
    CHECK_INT(mark.told, 0);
    CHECK_INT(mark.pid, 0);
    CHECK_INT(mark.tid, 0);
}

static void a_name_is_made_safe_and_cut_between_characters(void)
{
    char line[1000] = "begin ";
    vitals_mark mark;
    CHECK(parse("begin a\x1b[31mb\xff\xc2\x85"
                "c\r",
                &mark));
    CHECK_STR(mark.name, "a [31mb c");
    for (size_t i = 0; i < 150; i++)
        strcat(line, "\xc3\xa4");
    CHECK(parse(line, &mark));
    CHECK_UINT(strlen(mark.name), 200);
    CHECK(parse("begin x\xc3", &mark)); /* a character that was cut */
    CHECK_STR(mark.name, "x");
}

/* ---- the file ---- */

static const uint64_t BEGIN = 1000, NOW = 2000;

struct scene {
    struct os_marks file;
    struct marks *marks;
};

/* A folder of our own: another user, or root of a user namespace, may have made /tmp/vitals-UID. */
static char runtime_folder[] = "/tmp/vitals-test-XXXXXX";

static void remove_runtime(void)
{
    char folder[sizeof runtime_folder + 8];
    (void)snprintf(folder, sizeof folder, "%s/vitals", runtime_folder);
    (void)rmdir(folder);
    (void)rmdir(runtime_folder);
}

static const char *runtime(void)
{
    static bool made;
    if (!made) {
        CHECK(mkdtemp(runtime_folder) != NULL);
        CHECK_INT(atexit(remove_runtime), 0);
        made = true;
    }
    return runtime_folder;
}

static struct scene begin(void)
{
    struct scene scene = {0};
    CHECK_INT(os_marks_make(&scene.file, runtime()), 0);
    os_marks_tidy(&scene.file);
    CHECK_INT(marks_open(&scene.file, BEGIN, &scene.marks), 0);
    return scene;
}

static void end(struct scene *scene)
{
    marks_close(scene->marks);
    os_marks_remove(&scene->file);
    CHECK_INT(access(scene->file.path, F_OK), -1);
}

static void put(const struct scene *scene, const char *bytes, size_t size, int flags)
{
    int file = open(scene->file.path, O_WRONLY | flags);
    CHECK(file >= 0);
    CHECK_INT(write(file, bytes, size), (int64_t)size);
    close(file);
}

static void say(const struct scene *scene, const char *line)
{
    put(scene, line, strlen(line), O_APPEND);
}

/* Every name that one reading gives, with + and - before it. */
static const char *read_names(const struct scene *scene)
{
    static char names[4096];
    vitals_mark mark;
    names[0] = '\0';
    (void)marks_read(scene->marks, NOW);
    while (marks_next(scene->marks, &mark)) {
        strcat(names, mark.begins ? "+" : "-");
        strcat(names, mark.name);
        strcat(names, " ");
    }
    return names;
}

static void lines_are_read_as_they_come(void)
{
    struct scene scene = begin();
    CHECK_STR(read_names(&scene), "");
    say(&scene, "begin a\nbegin b\nbeg");
    CHECK_STR(read_names(&scene), "+a +b ");
    CHECK_STR(read_names(&scene), "");
    say(&scene, "in c\nend a\n");
    CHECK_STR(read_names(&scene), "+c -a ");
    end(&scene);
}

static void who_waits_is_woken(void)
{
    struct scene scene = begin();
    const vitals_clock *clock = vitals_clock_system();
    int descriptor = marks_descriptor(scene.marks);
    if (descriptor < 0) {
        end(&scene);
        CHECK_SKIP("no inotify here");
    }
    CHECK_INT(clock->wait_until(clock->data, descriptor, clock->monotonic_ns(clock->data)), 0);
    say(&scene, "begin a\n");
    CHECK_INT(clock->wait_until(clock->data, descriptor,
                                clock->monotonic_ns(clock->data) + 10 * NS_PER_SECOND),
              1);
    CHECK_STR(read_names(&scene), "+a ");
    CHECK_INT(clock->wait_until(clock->data, descriptor, clock->monotonic_ns(clock->data)), 0);
    end(&scene);
}

static void a_moment_that_cannot_be_is_that_of_the_file(void)
{
    struct scene scene = begin();
    vitals_mark mark;
    say(&scene, "begin\ta\t1500\t1\t1\nbegin\tb\t999\t1\t1\nbegin\tc\t2001\t1\t1\nbegin d\n");
    (void)marks_read(scene.marks, NOW);
    static const struct {
        uint64_t moment;
        int told;
    } EXPECTED[] = {{1500, 1}, {0, 0}, {0, 0}, {0, 0}};
    for (size_t i = 0; i < CHECK_COUNT(EXPECTED); i++) {
        CHECK(marks_next(scene.marks, &mark));
        if (EXPECTED[i].moment != 0)
            CHECK_UINT(mark.monotonic_ns, EXPECTED[i].moment);
        CHECK(mark.monotonic_ns >= BEGIN && mark.monotonic_ns <= NOW);
        CHECK_INT(mark.told, EXPECTED[i].told);
    }
    end(&scene);
}

/* A bare echo before the first reading, and one behind it: they are no phase of no length. */
static void moments_of_one_reading_differ(void)
{
    enum { LINES = 3 };
    struct scene scene = begin();
    const vitals_clock *clock = vitals_clock_system();
    vitals_mark mark;
    uint64_t from = clock->monotonic_ns(clock->data), last = from;
    (void)marks_read(scene.marks, from);
    CHECK_INT(clock->wait_until(clock->data, -1, from + 30 * NS_PER_MS), 0);
    say(&scene, "begin a\nend a\nbegin b\n");
    uint64_t now = clock->monotonic_ns(clock->data);
    (void)marks_read(scene.marks, now);
    bool soon = now - from <= 100 * NS_PER_MS; /* else the machine is too busy to tell */
    for (size_t i = 0; i < LINES; i++) {
        CHECK(marks_next(scene.marks, &mark));
        CHECK(soon ? mark.monotonic_ns > last : mark.monotonic_ns >= last);
        CHECK(mark.monotonic_ns <= now);
        last = mark.monotonic_ns;
    }
    end(&scene);
}

/* A late reader still knows when the file was written to. */
static void a_moment_that_is_not_told_is_that_of_writing(void)
{
    struct scene scene = begin();
    const vitals_clock *clock = vitals_clock_system();
    vitals_mark mark;
    uint64_t before = clock->monotonic_ns(clock->data);
    say(&scene, "begin a\n");
    uint64_t after = clock->monotonic_ns(clock->data);
    (void)marks_read(scene.marks, after + 5 * NS_PER_SECOND);
    CHECK(marks_next(scene.marks, &mark));
    /* The reader's clock is 5 s ahead, by our word; a file's time is of the last tick. */
    CHECK(mark.monotonic_ns >= before + 5 * NS_PER_SECOND - 100 * NS_PER_MS);
    CHECK(mark.monotonic_ns <= after + 5 * NS_PER_SECOND);
    const struct timespec written[2] = {
        {.tv_nsec = UTIME_OMIT},
        {.tv_sec = (time_t)(clock->realtime_ns(clock->data) / NS_PER_SECOND) - 1000}};
    say(&scene, "begin b\n");
    CHECK_INT(utimensat(AT_FDCWD, scene.file.path, written, 0), 0);
    (void)marks_read(scene.marks, after + 6 * NS_PER_SECOND);
    CHECK(marks_next(scene.marks, &mark));
    CHECK_UINT(mark.monotonic_ns, after + 5 * NS_PER_SECOND); /* it was not there before */
    end(&scene);
}

static void what_cannot_be_read_is_passed_over(void)
{
    struct scene scene = begin();
    char *line = memory_alloc(3 * MARKS_READING);
    CHECK_NOT_NULL(line);
    memset(line, 'x', 3 * MARKS_READING);
    put(&scene, "\0\1\2\n", 4, O_APPEND);
    put(&scene, line, 3 * MARKS_READING, O_APPEND);
    say(&scene, "\nbegin a\nnonsense\n");
    const char *names = "";
    for (int i = 0; i < 10 && names[0] == '\0'; i++)
        names = read_names(&scene);
    CHECK_STR(names, "+a ");
    memory_free(line);
    end(&scene);
}

/* > in place of >>, as people write it. */
static void a_file_that_is_written_anew_is_read_anew(void)
{
    struct scene scene = begin();
    put(&scene, "begin one\n", 10, O_TRUNC);
    CHECK_STR(read_names(&scene), "+one ");
    put(&scene, "begin two\n", 10, O_TRUNC); /* as long as the one before */
    CHECK_STR(read_names(&scene), "+two ");
    put(&scene, "end 2\n", 6, O_TRUNC);
    CHECK_STR(read_names(&scene), "-2 ");
    CHECK_INT(truncate(scene.file.path, 0), 0);
    CHECK_STR(read_names(&scene), "");
    say(&scene, "begin three\n");
    CHECK_STR(read_names(&scene), "+three ");
    end(&scene);
}

static void another_file_in_its_place_is_not_read(void)
{
    struct scene scene = begin();
    struct marks *again = NULL;
    CHECK_INT(unlink(scene.file.path), 0);
    CHECK(marks_open(&scene.file, BEGIN, &again) < 0);
    CHECK_INT(symlink("/dev/zero", scene.file.path), 0);
    CHECK(marks_open(&scene.file, BEGIN, &again) < 0);
    CHECK_INT(unlink(scene.file.path), 0);
    int file = open(scene.file.path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    CHECK_INT(write(file, "begin a\n", 8), 8);
    close(file);
    CHECK(marks_open(&scene.file, BEGIN, &again) < 0);
    CHECK_NULL(again);
    CHECK_STR(read_names(&scene), "");
    end(&scene);
}

static void a_file_of_days_does_not_fill_the_machine(void)
{
    struct scene scene = begin();
    char *lines = memory_alloc(1 << 20);
    CHECK_NOT_NULL(lines);
    memset(lines, '\n', 1 << 20);
    for (int i = 0; i < 8; i++) {
        put(&scene, lines, 1 << 20, O_APPEND);
        while (marks_read(scene.marks, NOW))
            ;
    }
    struct stat is;
    CHECK_INT(stat(scene.file.path, &is), 0);
    CHECK_INT(is.st_size, 8 << 20);
    if (is.st_blocks * 512 >= 8 << 20) {
        memory_free(lines);
        end(&scene);
        CHECK_SKIP("this file system cannot give back what was read");
    }
    CHECK(is.st_blocks * 512 <= 3 << 20);
    memory_free(lines);
    say(&scene, "begin a\n");
    CHECK_STR(read_names(&scene), "+a ");
    end(&scene);
}

static void nobody_else_may_read_it(void)
{
    struct scene scene = begin();
    struct stat is;
    char folder[OS_MARKS_PATH];
    CHECK_INT(stat(scene.file.path, &is), 0);
    CHECK_INT(is.st_mode & 07777, 0600);
    memcpy(folder, scene.file.path, sizeof folder);
    *strrchr(folder, '/') = '\0';
    CHECK_INT(lstat(folder, &is), 0);
    CHECK(S_ISDIR(is.st_mode));
    CHECK_INT(is.st_mode & 0077, 0);
    end(&scene);
}

/* A run that is killed while it makes its file leaves one that is hidden; one that is being made
 * has that name for a moment. */
static void a_hidden_one_goes_once_it_is_old(void)
{
    static const struct {
        time_t age;
        int left;
    } ROWS[] = {{0, 0}, {30, 0}, {3600, -1}};
    struct scene scene = begin();
    const char *name = strrchr(scene.file.path, '/') + 1;
    for (size_t i = 0; i < CHECK_COUNT(ROWS); i++) {
        char path[OS_MARKS_PATH + 8];
        (void)snprintf(path, sizeof path, "%.*s.%s-x", (int)(name - scene.file.path),
                       scene.file.path, name);
        int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
        CHECK(file >= 0);
        const struct timespec then = {.tv_sec = time(NULL) - ROWS[i].age};
        CHECK_INT(futimens(file, (const struct timespec[]){then, then}), 0);
        close(file);
        struct scene other = begin();
        CHECK_INT(access(path, F_OK), ROWS[i].left);
        (void)unlink(path);
        end(&other);
    }
    end(&scene);
}

static void what_a_killed_run_left_goes_with_the_next(void)
{
    struct scene scene = begin(), other = begin();
    char left[OS_MARKS_PATH + 8];
    (void)snprintf(left, sizeof left, "%s-x", scene.file.path);
    int file = open(left, O_WRONLY | O_CREAT | O_EXCL, 0600); /* its lock is not held */
    CHECK(file >= 0);
    close(file);
    struct scene third = begin();
    CHECK_INT(access(left, F_OK), -1);
    CHECK_INT(access(scene.file.path, F_OK), 0); /* these live */
    CHECK_INT(access(other.file.path, F_OK), 0);
    end(&third);
    end(&other);
    end(&scene);
}

static void without_a_descriptor_no_folder_is_left(void)
{
    struct os_marks made;
    struct rlimit before, none;
    struct stat is;
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &none), 0);
    int code = os_marks_make(&made, NULL);
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &before), 0);
    CHECK_INT(code, -EMFILE);
    CHECK_INT(made.held, -1);
    CHECK(!made.alone || lstat(made.path, &is) != 0);
}

static void the_command_is_told_where_it_is(void)
{
    struct os_marks file = {.held = -1}, made;
    const char *const base[] = {"A=1", "VITALS_MARKS=/outer", "B=2", NULL};
    const char **environment = os_marks_environment(&file, base);
    CHECK_STR(environment[1], "VITALS_MARKS=/outer"); /* there is none of ours */
    CHECK_NULL(environment[3]);
    memory_free((void *)environment);
    CHECK_INT(os_marks_make(&made, NULL), 0);
    environment = os_marks_environment(&made, base);
    CHECK_STR(environment[0], "A=1");
    CHECK_STR(environment[1], "B=2");
    CHECK_STR(environment[2] + strlen("VITALS_MARKS="), made.path);
    CHECK_NULL(environment[3]);
    memory_free((void *)environment);
    os_marks_remove(&made);
}

/* ---- the header that programs use ---- */

static void the_header_writes_what_is_read(void)
{
    struct scene scene = begin();
    char huge[1000];
    memset(huge, 'h', sizeof huge - 1);
    huge[sizeof huge - 1] = '\0';
    const vitals_clock *clock = vitals_clock_system();
    setenv("VITALS_MARKS", scene.file.path, 1);
    errno = 77;
    VITALS_BEGIN("a\tb\nc");
    VITALS_END(huge);
    VITALS_BEGIN(NULL);
    CHECK_INT(errno, 77);
    vitals_mark mark;
    (void)marks_read(scene.marks, clock->monotonic_ns(clock->data));
    CHECK(marks_next(scene.marks, &mark));
    CHECK_STR(mark.name, "a b c");
    CHECK_INT(mark.told, 1);
    CHECK_INT(mark.pid, getpid());
    CHECK(marks_next(scene.marks, &mark));
    CHECK_UINT(strlen(mark.name), 200);
    CHECK(marks_next(scene.marks, &mark));
    CHECK_STR(mark.name, "unnamed");
    CHECK_FALSE(marks_next(scene.marks, &mark));
    unsetenv("VITALS_MARKS");
    VITALS_BEGIN("nobody listens");
    CHECK_STR(read_names(&scene), "");
    end(&scene);
}

static void a_mark_harms_no_program(void)
{
    struct scene scene = begin();
    char pipe[OS_MARKS_PATH + 8], link[OS_MARKS_PATH + 8];
    struct rlimit before, none;
    (void)snprintf(pipe, sizeof pipe, "%s.pipe", scene.file.path);
    (void)snprintf(link, sizeof link, "%s.link", scene.file.path);
    CHECK_INT(mkfifo(pipe, 0600), 0);
    CHECK_INT(symlink(scene.file.path, link), 0);
    const char *const places[] = {pipe, link, "/", "/dev/null", "relative", "", "/no/such/file"};
    for (size_t i = 0; i < CHECK_COUNT(places); i++) {
        setenv("VITALS_MARKS", places[i], 1);
        VITALS_BEGIN("x"); /* neither waits nor is signalled */
    }
    CHECK_STR(read_names(&scene), "");
    /* Where files may not grow the kernel would send SIGXFSZ. */
    setenv("VITALS_MARKS", scene.file.path, 1);
    CHECK_INT(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = before;
    none.rlim_cur = 10;
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &none), 0);
    VITALS_BEGIN("too long for that");
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &before), 0);
    CHECK_STR(read_names(&scene), "");
    unsetenv("VITALS_MARKS");
    CHECK_INT(unlink(pipe), 0);
    CHECK_INT(unlink(link), 0);
    end(&scene);
}

static const check_test tests[] = {
    {"a whole line says everything", a_whole_line_says_everything},
    {"a script may say less", a_script_may_say_less},
    {"what is no mark is none", what_is_no_mark_is_none},
    {"numbers that are none are not told", numbers_that_are_none_are_not_told},
    {"a name is made safe and cut between characters",
     a_name_is_made_safe_and_cut_between_characters},
    {"lines are read as they come", lines_are_read_as_they_come},
    {"who waits is woken", who_waits_is_woken},
    {"a moment that cannot be is that of the file", a_moment_that_cannot_be_is_that_of_the_file},
    {"moments of one reading differ", moments_of_one_reading_differ},
    {"a moment that is not told is that of writing", a_moment_that_is_not_told_is_that_of_writing},
    {"what cannot be read is passed over and counted", what_cannot_be_read_is_passed_over},
    {"a file that is written anew is read anew", a_file_that_is_written_anew_is_read_anew},
    {"another file in its place is not read", another_file_in_its_place_is_not_read},
    {"a file of days does not fill the machine", a_file_of_days_does_not_fill_the_machine},
    {"nobody else may read it", nobody_else_may_read_it},
    {"a hidden one goes once it is old", a_hidden_one_goes_once_it_is_old},
    {"what a killed run left goes with the next", what_a_killed_run_left_goes_with_the_next},
    {"without a descriptor no folder is left", without_a_descriptor_no_folder_is_left},
    {"the command is told where it is", the_command_is_told_where_it_is},
    {"the header writes what is read", the_header_writes_what_is_read},
    {"a mark harms no program", a_mark_harms_no_program},
};
CHECK_TESTS(tests)
