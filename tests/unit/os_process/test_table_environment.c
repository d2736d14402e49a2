/* The table environment: of a program that was started with a known one, and on trees. */
#include "table_world.h"

#include "os/linux/process/process_tables.h"

#include <sys/mman.h>

/* ---- live ---- */

/* A program with that environment; it runs when this returns. */
static pid_t started_with(const char *const environment[])
{
    int ends[2];
    CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
    pid_t pid = child_fork();
    if (pid == 0) {
        static const char *const arguments[] = {"sleep", "1000", NULL};
        execve("/bin/sleep", (char **)(uintptr_t)arguments, (char **)(uintptr_t)environment);
        _exit(127);
    }
    close(ends[1]);
    char byte;
    CHECK_INT(read(ends[0], &byte, 1), 0); // closed by execve
    close(ends[0]);
    return pid;
}

static void check_variable(const struct asked *asked, uint64_t key, const char *name,
                           const char *value)
{
    CHECK_CASE(name);
    const struct batch_row *row = need_row(asked, key);
    check_text(asked, row, VITALS_ENVIRONMENT_NAME, name);
    check_text(asked, row, VITALS_ENVIRONMENT_VALUE, value);
    struct span label = batch_label(&asked->batch, row);
    CHECK_BYTES(label.bytes, label.size, name, strlen(name));
}

static void every_entry_is_a_row(void)
{
    const char *const environment[] = {"A=1", "B==x=y", "WITHOUT", "=lead", "A=2",
                                       "E=",  "",       "\xff=\n", NULL};
    pid_t pid = started_with(environment);
    struct asked asked;
    ask(&asked, NULL, pid, VITALS_TABLE_ENVIRONMENT);
    child_end(pid);
    check_asked(&asked);
    CHECK_INT(asked_state(&asked), VITALS_HAVE);
    CHECK_UINT(asked.batch.row_count, 7);
    check_variable(&asked, 1, "A", "1");
    check_variable(&asked, 2, "B", "=x=y");
    check_text(&asked, need_row(&asked, 3), VITALS_ENVIRONMENT_NAME, "WITHOUT");
    CHECK_INT(state_of(&asked, need_row(&asked, 3), VITALS_ENVIRONMENT_VALUE), VITALS_UNSUPPORTED);
    check_variable(&asked, 4, "", "lead");
    check_variable(&asked, 5, "A", "2");
    check_variable(&asked, 6, "E", "");
    check_variable(&asked, 7, "\xff", "\n");
    asked_done(&asked);
}

static void nothing_is_an_environment_too(void)
{
    const char *const environment[] = {NULL};
    pid_t pid = started_with(environment);
    struct asked asked;
    ask(&asked, NULL, pid, VITALS_TABLE_ENVIRONMENT);
    child_end(pid);
    check_asked(&asked);
    CHECK_UINT(asked.batch.row_count, 0);
    asked_done(&asked);
}

static void a_zombie_has_given_its_away(void)
{
    pid_t pid = child_zombie();
    struct asked asked;
    ask(&asked, NULL, pid, VITALS_TABLE_ENVIRONMENT);
    CHECK(asked.batch.row_count == 0);
    CHECK_INT(asked.result, -ESRCH);
    asked_done(&asked);
    waitpid(pid, NULL, 0);
    ask(&asked, NULL, pid, VITALS_TABLE_ENVIRONMENT);
    CHECK_INT(os_availability(asked.result), VITALS_GONE);
    asked_done(&asked);
}

static void a_kernel_thread_has_none(void)
{
    check_kernel_thread(VITALS_TABLE_ENVIRONMENT);
}

static void others_are_denied(void)
{
    CHECK_INT(asked_by_another_user(getpid(), VITALS_TABLE_ENVIRONMENT), -EACCES);
}

/* ---- trees ---- */

static void what_follows_an_empty_string_and_lacks_its_end_counts(void)
{
    static const char TEXT[] = "\0\0title=1\0\0\0PATH=/bin\0LAST=no end";
    struct tree tree = tree_new();
    tree_put(&tree, 5, "environ", TEXT, sizeof TEXT - 1);
    struct asked asked;
    ask(&asked, tree.path, 5, VITALS_TABLE_ENVIRONMENT);
    check_asked(&asked);
    CHECK_UINT(asked.batch.row_count, 3);
    check_variable(&asked, 1, "title", "1");
    check_variable(&asked, 2, "PATH", "/bin");
    check_variable(&asked, 3, "LAST", "no end");
    CHECK_INT(state_of(&asked, need_row(&asked, 3), VITALS_ENVIRONMENT_VALUE), VITALS_HAVE);
    asked_done(&asked);
    tree_put(&tree, 5, "environ", "\0\0\0", 3);
    ask(&asked, tree.path, 5, VITALS_TABLE_ENVIRONMENT);
    check_asked(&asked);
    CHECK_UINT(asked.batch.row_count, 0);
    asked_done(&asked);
    ask(&asked, tree.path, 6, VITALS_TABLE_ENVIRONMENT);
    CHECK_INT(asked.result, -ENOENT);
    asked_done(&asked);
    tree_free(&tree);
}

static void what_was_cut_is_told(void)
{
    enum { SIZE = (16 << 20) + 1, SMALL = 2 * ((1 << 16) + 1) };
    struct tree tree = tree_new();
    char *text = malloc(SIZE);
    CHECK_NOT_NULL(text);
    memset(text, 'v', SIZE);
    memcpy(text, "A=1\0B=", 6);
    tree_put(&tree, 5, "environ", text, SIZE);
    for (size_t i = 0; i < SMALL; i += 2)
        memcpy(text + i, "x\0", 2);
    tree_put(&tree, 6, "environ", text, SMALL);
    free(text);
    struct asked asked;
    ask(&asked, tree.path, 5, VITALS_TABLE_ENVIRONMENT); // by bytes
    check_asked(&asked);
    CHECK_INT(asked_state(&asked), VITALS_LOWER_BOUND);
    CHECK_UINT(asked.batch.row_count, 2);
    const struct batch_row *last = need_row(&asked, 2);
    CHECK_INT(state_of(&asked, need_row(&asked, 1), VITALS_ENVIRONMENT_VALUE), VITALS_HAVE);
    CHECK_INT(state_of(&asked, last, VITALS_ENVIRONMENT_VALUE), VITALS_LOWER_BOUND);
    CHECK_UINT(text_of(&asked, last, VITALS_ENVIRONMENT_VALUE).size, SIZE - 1 - 6);
    asked_done(&asked);
    ask(&asked, tree.path, 6, VITALS_TABLE_ENVIRONMENT); // by rows
    check_asked(&asked);
    CHECK_INT(asked_state(&asked), VITALS_LOWER_BOUND);
    CHECK_UINT(asked.batch.row_count, SMALL / 2 - 1);
    asked_done(&asked);
    tree_free(&tree);
}

static void another_thread_speaks_where_the_first_has_ended(void)
{
    check_without_first_thread(VITALS_TABLE_ENVIRONMENT);
}

/* This program again, with an argument and a variable of four pages each, in each of them an
 * unreadable page: made before main. (One that is unmapped would come back: the stack grows.) */
static void lose_page(char *text)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    mprotect((char *)(((uintptr_t)text + 2 * page) & ~(page - 1)), page, PROT_NONE);
}

__attribute__((constructor)) static void begin(int count, char **arguments, char **environment)
{
    if (count != 3 || strcmp(arguments[1], "with-holes") != 0)
        return;
    lose_page(arguments[2]);
    lose_page(environment[1]);
    if (write(STDOUT_FILENO, "y", 1) == 1)
        for (;;)
            pause();
    _exit(1);
}

static pid_t child_with_holes(void)
{
    int ready[2];
    CHECK_INT(pipe2(ready, O_CLOEXEC), 0);
    pid_t pid = child_fork();
    if (pid == 0) {
        const size_t size = 4 * (size_t)sysconf(_SC_PAGESIZE);
        char *text = malloc(size);
        if (text == NULL)
            _exit(1);
        memset(text, 'x', size);
        text[size - 1] = '\0';
        memcpy(text, "B=", 2);
        char test[] = "test", with[] = "with-holes", first[] = "A=1";
        dup2(ready[1], STDOUT_FILENO);
        execve("/proc/self/exe", (char *[]){test, with, text, NULL}, (char *[]){first, text, NULL});
        _exit(127);
    }
    char byte;
    close(ready[1]);
    CHECK_INT(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

static void a_page_that_cannot_be_had_cuts_it(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    pid_t pid = child_with_holes();
    struct asked asked;
    ask(&asked, NULL, pid, VITALS_TABLE_ENVIRONMENT);
    child_end(pid);
    check_asked(&asked);
    CHECK_INT(asked_state(&asked), VITALS_LOWER_BOUND);
    CHECK_UINT(asked.batch.row_count, 2);
    check_variable(&asked, 1, "A", "1");
    const struct batch_row *last = need_row(&asked, 2);
    CHECK_INT(state_of(&asked, last, VITALS_ENVIRONMENT_VALUE), VITALS_LOWER_BOUND);
    size_t size = text_of(&asked, last, VITALS_ENVIRONMENT_VALUE).size;
    CHECK(size >= page - 2 && size <= 2 * page); // all that lies before the hole
    asked_done(&asked);
}

static void arguments_are_cut_likewise(void)
{
    pid_t pid = child_with_holes();
    struct asked asked = {.entity = VITALS_TABLE_PROCESS};
    struct metric_set wanted = {0};
    metric_set_add(&wanted, VITALS_PROCESS_COMMAND_LINE);
    vitals_options options = {.size = sizeof options};
    vitals_error error;
    CHECK_OK(os_open(&asked.os, &options, &error), error);
    batch_reset(&asked.batch, &wanted);
    const struct batch_row *row = batch_add_row(&asked.batch, VITALS_TABLE_PROCESS, 1,
                                                (struct span){"", 0});
    os_process_metrics(&asked.os, pid, &asked.batch);
    child_end(pid);
    CHECK_INT(state_of(&asked, row, VITALS_PROCESS_COMMAND_LINE), VITALS_LOWER_BOUND);
    CHECK(text_of(&asked, row, VITALS_PROCESS_COMMAND_LINE).size > sizeof "test" + 11);
    asked_done(&asked);
}

static void stat_says_how_much_there_is(void)
{
#define FIELDS                                                                               \
    "7 (a) b) S 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 " \
    "31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 "
    static const struct {
        const char *text;
        bool told;
        uint64_t arguments, environment;
    } CASES[] = {
        {FIELDS "100 110 110 150 0\n", true, 10, 40},
        {FIELDS "100 110 110 150\n", true, 10, 40},
        {FIELDS "100 110 110 150", false, 0, 0}, // may have been cut
        {FIELDS "100 0 0 0 0\n", true, 0, 0},    // being begun
        {FIELDS "0 0 0 0 0\n", true, 0, 0},
        {FIELDS "100 110 110\n", false, 0, 0},
        {FIELDS "100 x 110 150 0\n", false, 0, 0},
        {"7 (a) S 1 2\n", false, 0, 0},
        {"no stat", false, 0, 0},
        {"", false, 0, 0},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].text);
        struct linux_stat_memory memory = {0};
        CHECK_INT(linux_parse_stat_memory(CASES[i].text, strlen(CASES[i].text), &memory),
                  CASES[i].told);
        CHECK_UINT(memory.arguments.size, CASES[i].arguments);
        CHECK_UINT(memory.environment.size, CASES[i].environment);
    }
#undef FIELDS
}

static void memory_that_runs_out_is_told(void)
{
    struct tree tree = tree_new();
    tree_text(&tree, 5, "environ", "A=1");
    check_memory(tree.path, 5, VITALS_TABLE_ENVIRONMENT);
    tree_free(&tree);
}

static const check_test tests[] = {
    {"every entry is a row", every_entry_is_a_row},
    {"nothing is an environment too", nothing_is_an_environment_too},
    {"a zombie has given its away", a_zombie_has_given_its_away},
    {"a kernel thread has none", a_kernel_thread_has_none},
    {"others are denied", others_are_denied},
    {"what follows an empty string and lacks its end counts",
     what_follows_an_empty_string_and_lacks_its_end_counts},
    {"what was cut is told", what_was_cut_is_told},
    {"another thread speaks where the first has ended",
     another_thread_speaks_where_the_first_has_ended},
    {"a page that cannot be had cuts it", a_page_that_cannot_be_had_cuts_it},
    {"arguments are cut likewise", arguments_are_cut_likewise},
    {"stat says how much there is", stat_says_how_much_there_is},
    {"memory that runs out is told", memory_that_runs_out_is_told},
};

CHECK_TESTS(tests)
