/* Machines that are asked over ssh: how old a document is that waited while nothing was read. */
#include "check.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/clock.h"
#include "fleet/over_ssh.h"

#define DOCUMENT(BOOTTIME)                                                                      \
    "{\"schema\":1,\"vitals\":\"0.1.0\",\"host\":{\"name\":\"n\",\"boot_id\":\"b\",\"pid_"      \
    "namespace\":1},\"time\":\"2026-11-28T13:23:36Z\",\"realtime_ns\":\"1795872216558819217\"," \
    "\"boottime_ns\":\"" BOOTTIME "\",\"monotonic_ns\":\"2000\",\"stream\":7,\"sequence\":1,"   \
    "\"columns\":{\"gpu\":[]},\"tables\":{\"gpu\":[]}}\n"

/* A stand-in for ssh, in the folder where this program is then: one document at once, the other
 * when it is there. */
static const char SSH[] = "#!/bin/sh\n"
                          "cat first\n"
                          "while [ ! -e second ]; do sleep 0.02; done\n"
                          "cat second\n"
                          "mv second written\n"
                          "exec sleep 1000\n";

static char folder[] = "/tmp/vitals-test-over-ssh.XXXXXX";

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "we");
    CHECK_NOT_NULL(file);
    (void)fputs(text, file);
    CHECK_INT(fclose(file), 0);
}

static void enter_folder(void)
{
    char path[4096];
    CHECK_NOT_NULL(mkdtemp(folder));
    CHECK_INT(chdir(folder), 0);
    (void)snprintf(path, sizeof path, "%s:%s", folder, getenv("PATH"));
    CHECK_INT(setenv("PATH", path, 1), 0);
    write_file("ssh", SSH);
    CHECK_INT(chmod("ssh", 0755), 0);
    write_file("first", DOCUMENT("1000000000"));
}

static void leave_folder(void)
{
    static const char *const NAMES[] = {"ssh", "first"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        (void)unlink(NAMES[i]);
    CHECK_INT(rmdir(folder), 0);
}

/* Reads until the machine has another document. */
static void read_next(struct over_ssh *over, struct fleet *fleet)
{
    uint64_t before_ns = fleet->hosts[0].answered_ns;
    while (fleet->hosts[0].answered_ns == before_ns) {
        struct pollfd come = {.fd = over_ssh_descriptor(over), .events = POLLIN};
        (void)poll(&come, 1, -1);
        (void)over_ssh_read(over, fleet);
        CHECK_STR(fleet->hosts[0].why, "");
    }
}

/* Returns how much younger a second document is than the first, if it waits for longer than a
 * pause. */
static uint64_t wait_with_a_document(void)
{
    static const uint64_t PAUSE_NS = 1200000000, TIMEOUT_NS = 100000000000;
    struct host_list list = {.items = NULL};
    struct fleet fleet;
    struct over_ssh *over;
    vitals_error error;
    CHECK_OK(host_list_parse("n", 9847, &list, &error), error);
    CHECK_OK(fleet_init(&fleet, &list, false, &error), error);
    CHECK_OK(over_ssh_open(&fleet, 100000000, TIMEOUT_NS, &over, &error), error);
    read_next(over, &fleet);

    uint64_t first_ns = fleet.hosts[0].answered_ns, begun_ns = clock_now_ns();
    write_file("new", DOCUMENT("1400000000"));
    CHECK_INT(rename("new", "second"), 0);
    while (clock_now_ns() - begun_ns < PAUSE_NS || access("written", F_OK) != 0)
        (void)usleep(20000);
    read_next(over, &fleet);
    uint64_t younger_ns = fleet.hosts[0].answered_ns - first_ns;
    over_ssh_close(over);
    fleet_done(&fleet);
    CHECK_INT(unlink("written"), 0);
    return younger_ns;
}

/* Again if this process was stopped for so long before the first document: its age is not known. */
static void a_document_that_waited_is_as_old_as_its_machine_says(void)
{
    static const uint64_t YOUNGER_NS = 400000000;
    uint64_t found_ns = 0;
    enter_folder();
    for (int i = 0; i < 5 && found_ns != YOUNGER_NS; i++)
        found_ns = wait_with_a_document();
    leave_folder();
    CHECK_UINT(found_ns, YOUNGER_NS);
}

static const check_test tests[] = {
    {"a document that waited is as old as its machine says",
     a_document_that_waited_is_as_old_as_its_machine_says},
};
CHECK_TESTS(tests)
