/* The life of a connector's descriptor, with sockets that are none of the kernel's. */
#include "check.h"

#include "os/linux/accounting/connector.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

static void one_that_was_not_opened_hears_of_nobody(void)
{
    struct connector connector = {0};
    connector_init(&connector);
    CHECK_FALSE(connector_is_open(&connector));
    CHECK_FALSE(connector_is_narrow(&connector));
    connector_drain(&connector);
    connector_close(&connector);
    CHECK_FALSE(connector_is_open(&connector));
}

/* If standard input was closed, the next descriptor gets its number. */
static void the_lowest_descriptor_is_one(void)
{
    struct connector connector = {0};
    connector_init(&connector);
    int kept = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    connector.socket = socket(AF_UNIX, SOCK_DGRAM, 0);
    CHECK_UINT((unsigned)connector.socket, STDIN_FILENO);
    CHECK(connector_is_open(&connector));
    connector_close(&connector);
    CHECK(fcntl(STDIN_FILENO, F_GETFD) == -1);
    if (kept >= 0) {
        CHECK(dup2(kept, STDIN_FILENO) == STDIN_FILENO);
        close(kept);
    }
}

static void small_room_is_known(void)
{
    const int room = 100000;
    struct connector connector = {0};
    connector_init(&connector);
    connector.socket = socket(AF_UNIX, SOCK_DGRAM, 0);
    CHECK(setsockopt(connector.socket, SOL_SOCKET, SO_RCVBUF, &room, sizeof room) == 0);
    CHECK(connector_is_narrow(&connector));
    connector_close(&connector);
}

static const check_test tests[] = {
    {"one that was not opened hears of nobody", one_that_was_not_opened_hears_of_nobody},
    {"the lowest descriptor is one", the_lowest_descriptor_is_one},
    {"small room is known", small_room_is_known},
};
CHECK_TESTS(tests)
