/* The watchdog ends the exporter once it is no longer fed, whatever the exporter waits for. */
#include "check.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "export/export_thread.h"

/* Unread bytes do not keep it alive: a thread that hangs reads nothing. */
static void it_ends_who_hangs_once_nobody_feeds_it(void)
{
    int ends[2], status;
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[1]);
        watchdog_start(ends[0], 10000000);
        for (;;)
            pause();
    }
    close(ends[0]);
    CHECK_INT(write(ends[1], "line\n", 5), 5);
    CHECK_INT(usleep(200000), 0);
    CHECK_INT(waitpid(child, &status, WNOHANG), 0);
    close(ends[1]);
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

static const check_test tests[] = {
    {"it ends who hangs once nobody feeds it", it_ends_who_hangs_once_nobody_feeds_it},
};
CHECK_TESTS(tests)
