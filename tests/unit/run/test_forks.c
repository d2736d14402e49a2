/* A run and a collector in a child of fork(2): their threads are the parent's, so that the child
 * can only free them, and the parent's go on. */
#include "check.h"
#include "usage_world.h"
#include "util/base.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static vitals_error error;

static bool is_refused(int code)
{
    bool said = strstr(error.message, "created before fork") != NULL;
    error.message[0] = '\0';
    return code == VITALS_EARGUMENT && said;
}

/* The child ends with what the function returns; 0: all was as it should be. */
static void check_child(int (*function)(void *object), void *object)
{
    int status = 0;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        (void)alarm(60); /* what waits for a thread that there is not is killed */
        _exit(function(object));
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 0);
}

static int use_run(void *object)
{
    vitals_run *run = object;
    vitals_account *account = NULL;
    if (!is_refused(vitals_run_account(run, &account, &error)) || account != NULL)
        return 1;
    if (!is_refused(vitals_run_wait(run, 0, &error)))
        return 2;
    if (!is_refused(vitals_run_start(run, &error)) || !is_refused(vitals_run_stop(run, &error)))
        return 3;
    if (!is_refused(vitals_run_exclude(run, 1, &error)))
        return 4;
    vitals_run_close(run);
    return 0;
}

static void a_run_is_its_makers(void)
{
    vitals_run_options options;
    vitals_run *run = NULL;
    vitals_account *account = NULL;
    vitals_run_options_init(&options, sizeof options);
    options.interval_ns = 10 * NS_PER_MS;
    CHECK_OK(vitals_run_open(&options, &run, &error), error);
    check_child(use_run, run);
    CHECK_OK(vitals_run_start(run, &error), error);
    for (int i = 0; i < 20; i++)
        check_child(use_run, run); /* amid ticks */
    CHECK_INT(vitals_run_state(run), VITALS_RUN_STARTED);
    CHECK_OK(vitals_run_account(run, &account, &error), error);
    vitals_account_free(account);
    CHECK_OK(vitals_run_stop(run, &error), error); /* its thread still runs */
    vitals_run_close(run);
}

static int on_window(void *data, const vitals_collection *collection)
{
    (void)collection;
    __atomic_add_fetch((int *)data, 1, __ATOMIC_SEQ_CST);
    return 0;
}

static int use_collector(void *object)
{
    vitals_collector *collector = object;
    vitals_collection *collection = NULL;
    if (!is_refused(vitals_collector_begin(collector, "child", &error)))
        return 1;
    if (!is_refused(vitals_collector_end(collector, NULL, &collection, &error)))
        return 2;
    if (!is_refused(vitals_collector_collect(collector, &collection, &error)) || collection != NULL)
        return 3;
    if (!is_refused(vitals_collector_reset(collector, NULL, &error)))
        return 4;
    if (!is_refused(
            vitals_collector_set_every(collector, "every", NS_PER_SECOND, on_window, NULL, &error)))
        return 5;
    vitals_collector_free(collector);
    return 0;
}

static void a_collector_is_its_makers(void)
{
    vitals_run_options options;
    vitals_collector *collector = NULL;
    int told = 0;
    vitals_run_options_init(&options, sizeof options);
    options.interval_ns = 10 * NS_PER_MS;
    CHECK_OK(vitals_collector_new(&options, &collector, &error), error);
    check_child(use_collector, collector);
    CHECK_OK(vitals_collector_set_every(collector, "each", NS_PER_MS, on_window, &told, &error),
             error);
    for (int i = 0; i < 20; i++)
        check_child(use_collector, collector);
    /* A child that ended the callbacks through the event that it shares would have ended these. */
    int before = __atomic_load_n(&told, __ATOMIC_SEQ_CST);
    for (int i = 0; i < 6000 && __atomic_load_n(&told, __ATOMIC_SEQ_CST) < before + 3; i++)
        usleep(10000);
    CHECK(__atomic_load_n(&told, __ATOMIC_SEQ_CST) >= before + 3);
    vitals_collector_free(collector);
}

static const check_test tests[] = {
    {"a run is its maker's", a_run_is_its_makers},
    {"a collector is its maker's", a_collector_is_its_makers},
};
CHECK_TESTS(tests)
