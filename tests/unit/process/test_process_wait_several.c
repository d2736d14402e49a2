/* Waiting until several processes have ended, at once or in a loop of one's own. */
#include "wait_world.h"

#include <poll.h>

struct ends {
    vitals_process *order[64];
    int signals[64];
    size_t count, stop_at; /* stops as the stop_at-th is told; 0: never */
    vitals_process *also;  /* waited for from within, at the first end */
    int also_code;
};

static int note_end(void *data, vitals_process *process)
{
    struct ends *ends = data;
    ends->order[ends->count] = process;
    ends->signals[ends->count] = 99;
    (void)!vitals_process_exit_status(process, NULL, &ends->signals[ends->count++]);
    vitals_process *also = ends->also;
    ends->also = NULL;
    if (also != NULL)
        ends->also_code = vitals_process_wait(also, VITALS_FOREVER, NULL);
    return ends->count == ends->stop_at;
}

static void all_are_told_of_once_in_the_order_of_their_end(void)
{
    enum { COUNT = 5 };
    struct counted counted;
    counted_open(&counted);
    pid_t pids[COUNT];
    vitals_process *processes[COUNT];
    for (int i = 0; i < COUNT; i++) {
        pids[i] = child_new();
        processes[i] = opened(&counted.world, pids[i]);
    }
    vitals_error error;
    size_t remaining = 77;
    struct ends ends = {0};
    vitals_wait how = wait_of(10 * SECOND, note_end, &ends);
    CHECK_OK(vitals_process_wait_several(processes, COUNT, &how, &remaining, &error), error);
    CHECK_UINT(remaining, COUNT);
    CHECK_UINT(ends.count, 0);
    CHECK_INT(counted.waits, 1); // for all of them

    static const int order[] = {2, 3, 0, 4};
    child_end(pids[2]); // reaped by us: it comes first, and is as the kernel tells
    for (size_t i = 1; i < CHECK_COUNT(order); i++)
        counted.victims[i - 1] = pids[order[i]];
    CHECK_OK(vitals_process_wait_several(processes, COUNT, &how, &remaining, &error), error);
    CHECK_UINT(remaining, 1);
    CHECK_UINT(ends.count, CHECK_COUNT(order));
    for (size_t i = 0; i < ends.count; i++) {
        CHECK(ends.order[i] == processes[order[i]]);
        if (i > 0)
            CHECK_INT(ends.signals[i], i == 1 ? SIGTERM : SIGKILL);
    }
    CHECK_INT(waitpid(pids[0], NULL, 0), -1); // reaped

    // Those that had ended before are told of again, the last one when it ends.
    ends = (struct ends){0};
    kill(pids[1], SIGKILL);
    how.timeout_ns = VITALS_FOREVER;
    CHECK_OK(vitals_process_wait_several(processes, COUNT, &how, &remaining, &error), error);
    CHECK_UINT(remaining, 0);
    CHECK_UINT(ends.count, COUNT);
    CHECK(ends.order[COUNT - 1] == processes[1]);
    for (int i = 0; i < COUNT; i++)
        vitals_process_close(processes[i]);
    world_close(&counted.world);
}

static void the_time_holds_for_all_together(void)
{
    struct counted counted;
    counted_open(&counted);
    pid_t ending = child_new(), staying = child_new();
    vitals_process *processes[] = {opened(&counted.world, ending), opened(&counted.world, staying)};
    vitals_error error;
    size_t remaining = 77;
    uint64_t begin = fake_clock_now(&counted.fake);
    kill(ending, SIGKILL);
    await_zombie(ending);
    vitals_wait how = wait_of(60 * SECOND, NULL, NULL);
    CHECK_OK(vitals_process_wait_several(processes, 2, &how, &remaining, &error), error);
    CHECK_UINT(remaining, 1);
    CHECK_UINT(counted.last_deadline_ns, begin + 60 * SECOND);
    CHECK_UINT(fake_clock_now(&counted.fake), begin + 60 * SECOND);
    counted.waits = 0;
    how.timeout_ns = 0;
    CHECK_OK(vitals_process_wait_several(processes, 2, &how, &remaining, &error), error);
    CHECK_UINT(remaining, 1);
    CHECK_INT(counted.waits, 0);
    vitals_process_close(processes[0]);
    vitals_process_close(processes[1]);
    child_end(staying);
    world_close(&counted.world);
}

/* The same handle twice, another handle of the same process, and a wait from within. */
static void odd_lists_are_told_of_whole(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    pid_t one = child_new(), two = child_new();
    vitals_process *first = opened(&world, one), *second = opened(&world, two);
    vitals_process *again = opened(&world, one);
    vitals_process *list[] = {first, second, first, again};
    vitals_error error;
    size_t remaining = 77;
    struct ends ends = {.also = second, .also_code = 77};
    vitals_wait how = wait_of(0, note_end, &ends);
    CHECK_OK(vitals_process_wait_several(list, 4, &how, &remaining, &error), error);
    CHECK_UINT(remaining, 4);
    kill(one, SIGKILL);
    kill(two, SIGKILL);
    how.timeout_ns = VITALS_FOREVER;
    CHECK_OK(vitals_process_wait_several(list, 4, &how, &remaining, &error), error);
    CHECK_UINT(remaining, 0);
    CHECK_UINT(ends.count, 4);
    CHECK_INT(ends.also_code, 0);
    size_t times = 0;
    for (size_t i = 0; i < ends.count; i++)
        times += ends.order[i] == first;
    CHECK_UINT(times, 2);
    CHECK_OK(vitals_process_wait_several(list, 0, &how, &remaining, &error), error);
    CHECK_UINT(remaining, 0);
    remaining = 77;
    CHECK_OK(vitals_process_wait_several(NULL, 0, NULL, &remaining, &error), error);
    CHECK_UINT(remaining, 0);
    list[1] = NULL;
    remaining = 77;
    CHECK_INT(vitals_process_wait_several(list, 2, NULL, &remaining, &error), VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "process 2 of 2 is NULL");
    CHECK_INT(vitals_process_wait_several(NULL, 2, NULL, &remaining, &error), VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "no list");
    CHECK_UINT(remaining, 77);
    vitals_process_close(first);
    vitals_process_close(second);
    vitals_process_close(again);
    world_close(&world);
}

/* The callback can stop the wait at any place: the others are reported by a later call. */
static void who_is_told_can_stop_it(void)
{
    enum { COUNT = 4 };
    struct counted counted;
    counted_open(&counted);
    vitals_process *processes[COUNT + 1];
    pid_t pids[COUNT];
    for (int i = 0; i < COUNT; i++) {
        pids[i] = child_exits(i);
        processes[i] = opened(&counted.world, pids[i]);
        await_zombie(pids[i]);
    }
    processes[COUNT] = processes[0];
    for (size_t stop_at = 1; stop_at <= COUNT + 1; stop_at++) { // the first call finds them ended
        struct ends ends = {.stop_at = stop_at};
        vitals_wait how = wait_of(VITALS_FOREVER, note_end, &ends);
        size_t remaining = 77;
        vitals_error error;
        CHECK_OK(vitals_process_wait_several(processes, COUNT + 1, &how, &remaining, &error),
                 error);
        CHECK_UINT(ends.count, stop_at);
        CHECK_UINT(remaining, COUNT + 1 - stop_at);
    }
    CHECK_INT(counted.waits, 0);
    for (int i = 0; i < COUNT; i++) {
        CHECK_EXIT(processes[i], VITALS_HAVE, i, 0);
        vitals_process_close(processes[i]);
    }
    world_close(&counted.world);
}

/* A caller of another release: a shorter struct is none, a longer one may ask for nothing more. */
static void options_of_another_release_are_judged(void)
{
    struct {
        vitals_wait known;
        uint64_t more;
    } newer;
    vitals_error error;
    vitals_wait_init(&newer.known, sizeof newer);
    CHECK_UINT(newer.known.size, sizeof newer);
    CHECK(newer.known.timeout_ns == VITALS_FOREVER && newer.known.ended == NULL);
    CHECK_OK(vitals_process_wait_several(NULL, 0, &newer.known, NULL, &error), error);
    newer.more = 1;
    CHECK_INT(vitals_process_wait_several(NULL, 0, &newer.known, NULL, &error), VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "vitals_wait: the caller was built for a newer vitals");
    newer.known.size = offsetof(vitals_wait, flags) - 1;
    CHECK_INT(vitals_process_wait_several(NULL, 0, &newer.known, NULL, &error), VITALS_EARGUMENT);
    newer.known.size = offsetof(vitals_wait, flags);
    newer.known.flags = 0xBAD; /* not a part of that release's struct */
    CHECK_OK(vitals_process_wait_several(NULL, 0, &newer.known, NULL, &error), error);
    newer.known.size = sizeof(vitals_wait);
    CHECK_INT(vitals_process_wait_several(NULL, 0, &newer.known, NULL, &error), VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "flags 0xbad");
    CHECK_INT(vitals_process_wait_several(NULL, 0, &(vitals_wait){0}, NULL, NULL),
              VITALS_EARGUMENT);
}

/* As subprocess.Popen needs it: all have ended, and each is there for waitpid. */
static void several_may_be_left_unreaped(void)
{
    enum { COUNT = 3 };
    struct world world;
    world_open(&world, NULL, 0);
    pid_t pids[COUNT];
    vitals_process *processes[COUNT];
    for (int i = 0; i < COUNT; i++) {
        pids[i] = child_exits(20 + i);
        processes[i] = opened(&world, pids[i]);
    }
    vitals_error error;
    vitals_wait how;
    size_t remaining = 77;
    vitals_wait_init(&how, sizeof how);
    how.flags = VITALS_WAIT_UNREAPED;
    CHECK_OK(vitals_process_wait_several(processes, COUNT, &how, &remaining, &error), error);
    CHECK_UINT(remaining, 0);
    for (int i = 0; i < COUNT - 1; i++) {
        int status;
        CHECK_EXIT(processes[i], VITALS_HAVE, 20 + i, 0);
        CHECK_INT(waitpid(pids[i], &status, WNOHANG), pids[i]);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 20 + i);
        CHECK_EXIT(processes[i], VITALS_HAVE, 20 + i, 0);
    }
    /* A later wait that reaps does so, though the end was seen before. */
    how.flags = 0;
    CHECK_OK(vitals_process_wait_several(processes, COUNT, &how, &remaining, &error), error);
    CHECK_INT(waitpid(pids[COUNT - 1], NULL, WNOHANG), -1);
    for (int i = 0; i < COUNT; i++)
        vitals_process_close(processes[i]);
    world_close(&world);
}

/* For a caller's own event loop. */
static void its_descriptor_can_be_polled(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    pid_t pid = child_new();
    vitals_process *process = opened(&world, pid);
    struct pollfd watched = {.fd = vitals_process_descriptor(process), .events = POLLIN};
    CHECK(watched.fd >= 0);
    CHECK_INT(fcntl(watched.fd, F_GETFD), FD_CLOEXEC);
    CHECK_INT(poll(&watched, 1, 0), 0);
    kill(pid, SIGKILL);
    CHECK_INT(poll(&watched, 1, -1), 1);
    CHECK((watched.revents & POLLIN) != 0);
    CHECK_EXIT(process, VITALS_NOT_YET, 9, 9); // which does not look
    CHECK_INT(waitid(P_PID, (id_t)pid, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
    vitals_error error;
    CHECK_OK(vitals_process_wait(process, 0, &error), error);
    CHECK_EXIT(process, VITALS_HAVE, 0, SIGKILL);
    vitals_process_close(process);
    world_close(&world);
}

/* More than one batch of what the kernel hands out at once. */
static void many_are_waited_for(void)
{
    enum { MANY = 150 };
    struct world world;
    world_open(&world, NULL, 0);
    vitals_process *processes[MANY];
    size_t before = check_open_descriptors();
    for (int i = 0; i < MANY; i++)
        processes[i] = opened(&world, child_exits(i));
    vitals_error error;
    size_t remaining = 77;
    CHECK_OK(vitals_process_wait_several(processes, MANY, NULL, &remaining, &error), error);
    CHECK_UINT(remaining, 0);
    for (int i = 0; i < MANY; i++) {
        CHECK_OK(vitals_process_wait(processes[i], 0, &error), error);
        CHECK_EXIT(processes[i], VITALS_HAVE, i, 0);
        vitals_process_close(processes[i]);
    }
    CHECK_UINT(check_open_descriptors(), before);
    world_close(&world);
}

static void running_out_of_memory_is_said(void)
{
    struct world world;
    world_open(&world, NULL, 0);
    pid_t pid = child_new();
    int64_t live = memory_live();
    size_t descriptors = check_open_descriptors();
    int code = VITALS_EMEMORY;
    vitals_wait only_looks = wait_of(0, NULL, NULL);
    for (uint64_t nth = 1; code != 0; nth++) {
        CHECK(nth < 20);
        vitals_process *process = NULL;
        memory_fail_at(nth);
        code = vitals_process_open(&world.context, pid, &process, NULL);
        if (code == 0)
            code = vitals_process_wait_several(&process, 1, &only_looks, NULL, NULL);
        if (code == 0)
            code = vitals_process_wait(process, 0, NULL) == VITALS_ETIMEOUT ? 0 : -99;
        memory_fail_at(0);
        CHECK(code == 0 || code == VITALS_EMEMORY);
        vitals_process_close(process);
        CHECK_INT(memory_live(), live);
        CHECK_UINT(check_open_descriptors(), descriptors);
    }
    child_end(pid);
    world_close(&world);
}

static const check_test tests[] = {
    {"all are told of once, in the order of their end",
     all_are_told_of_once_in_the_order_of_their_end},
    {"the time holds for all together", the_time_holds_for_all_together},
    {"odd lists are told of whole", odd_lists_are_told_of_whole},
    {"who is told can stop it", who_is_told_can_stop_it},
    {"options of another release are judged", options_of_another_release_are_judged},
    {"several may be left unreaped", several_may_be_left_unreaped},
    {"its descriptor can be polled", its_descriptor_can_be_polled},
    {"many are waited for", many_are_waited_for},
    {"running out of memory is said", running_out_of_memory_is_said},
};
CHECK_TESTS(tests)
