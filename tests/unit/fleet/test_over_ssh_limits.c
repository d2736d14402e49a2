/* Machines that are asked over ssh, of which all do harm at once; with a script in the place of
 * ssh. */
#include "check.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "export/clock.h"
#include "fleet/over_ssh.h"

static const uint64_t SOON_NS = 60000000000; /* a busy machine */

static bool immortal; /* no signal reaches what is asked */
static pid_t spared;

/* In the place of the C library's. */
int kill(pid_t pid, int number)
{
    spared = pid < 0 ? -pid : pid;
    if (immortal)
        errno = EPERM;
    return immortal ? -1 : (int)syscall(SYS_kill, pid, number);
}

static char folder[] = "/tmp/vitals-ssh-XXXXXX";
static struct fleet fleet;
static struct over_ssh *over_ssh;

static void open_all(const char *script, const char *hosts, uint64_t timeout_ns)
{
    char path[64], places[4096];
    struct host_list list = {.items = NULL};
    vitals_error error;
    memcpy(folder + sizeof folder - 7, "XXXXXX", 6);
    CHECK_NOT_NULL(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/ssh", folder);
    FILE *file = fopen(path, "w");
    CHECK_NOT_NULL(file);
    fprintf(file, "#!/bin/sh\n%s\n", script);
    CHECK_INT(fclose(file), 0);
    CHECK_INT(chmod(path, 0700), 0);
    (void)snprintf(places, sizeof places, "%s:/usr/bin:/bin", folder);
    CHECK_INT(setenv("PATH", places, 1), 0);
    CHECK_OK(host_list_parse(hosts, 22, &list, &error), error);
    CHECK_OK(fleet_init(&fleet, &list, false, &error), error);
    CHECK_OK(over_ssh_open(&fleet, 0, timeout_ns, &over_ssh, &error), error);
}

static void close_all(void)
{
    char path[64];
    over_ssh_close(over_ssh);
    fleet_done(&fleet);
    (void)snprintf(path, sizeof path, "%s/ssh", folder);
    CHECK_INT(unlink(path), 0);
    CHECK_INT(rmdir(folder), 0);
}

/* Reads until so many machines have answered or failed, or it took too long. */
static void read_until(size_t heard)
{
    uint64_t until_ns = clock_now_ns() + SOON_NS;
    while (fleet.heard < heard && clock_now_ns() < until_ns) {
        struct pollfd come = {.fd = over_ssh_descriptor(over_ssh), .events = POLLIN};
        if (poll(&come, 1, 1000) > 0)
            (void)over_ssh_read(over_ssh, &fleet);
    }
    CHECK_UINT(fleet.heard, heard);
}

/* As one that waits for a file of a server that hangs. */
static void a_process_that_does_not_end_delays_nothing(void)
{
    open_all("exec sleep 100", "a", 50000000);
    immortal = true;
    read_until(1);
    CHECK_INT(fleet.hosts[0].state, FLEET_SILENT);
    CHECK_STR(fleet.hosts[0].why, "no answer in time");
    uint64_t begun_ns = clock_now_ns();
    close_all();
    CHECK(clock_now_ns() - begun_ns < SOON_NS);
    immortal = false;
    CHECK(spared > 0);
    CHECK_INT(waitpid(spared, NULL, WNOHANG), 0);
    CHECK_INT(kill(-spared, SIGKILL), 0);
    CHECK_INT(waitpid(spared, NULL, 0), spared);
}

/* Sixteen log in at once. Each sends nearly what a line may hold, without its end, and then byte
 * after byte: for the reads of these 8 MiB are taken. Eight have room. */
static void all_together_have_a_limit(void)
{
    enum { HOSTS = 20, ROOM = 8 };
    size_t given_up = 0;
    open_all("printf {; head -c 4190000 /dev/zero | tr '\\0' x\n"
             "while printf x; do sleep 0.1; done",
             "node[01-20]", SOON_NS);
    read_until(HOSTS - ROOM);
    for (size_t i = 0; i < HOSTS; i++) {
        if (fleet.hosts[i].state == FLEET_WAITING)
            continue;
        given_up++;
        CHECK_INT(fleet.hosts[i].state, FLEET_OVERSIZED);
        CHECK_STR(fleet.hosts[i].why,
                  "its answer is the largest of all that is on its way, above 64 MiB");
    }
    CHECK_UINT(given_up, HOSTS - ROOM);
    close_all();
}

static void one_alone_has_a_limit(void)
{
    open_all("head -c 4300000 /dev/zero | tr '\\0' x; exec sleep 100", "a", SOON_NS);
    read_until(1);
    CHECK_INT(fleet.hosts[0].state, FLEET_OVERSIZED);
    CHECK_STR(fleet.hosts[0].why, "its answer is above 4 MiB: run vitals there, or press Enter");
    close_all();
}

static const check_test tests[] = {
    {"a process that does not end delays nothing", a_process_that_does_not_end_delays_nothing},
    {"all together have a limit", all_together_have_a_limit},
    {"one alone has a limit", one_alone_has_a_limit},
};
CHECK_TESTS(tests)
