/* narrow_room.c: preloaded into vitals, it lets no socket have more room than an ordinary user gets
 * where the administrator changed nothing (net.core.rmem_default and rmem_max, 212992 bytes).
 *
 * Machines differ in what they allow, and a test may not change it. */
#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((visibility("default"))) int setsockopt(int descriptor, int level, int option,
                                                      const void *value, socklen_t size)
{
    static const int ROOM = 212992;
    if (level == SOL_SOCKET && option == SO_RCVBUFFORCE) {
        errno = EPERM;
        return -1;
    }
    if (level == SOL_SOCKET && option == SO_RCVBUF) {
        value = &ROOM;
        size = sizeof ROOM;
    }
    return (int)syscall(SYS_setsockopt, descriptor, level, option, value, size);
}
