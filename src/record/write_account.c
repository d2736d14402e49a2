/* write_account.c: writes the account of a finished run into a recording that another process
 * wrote.
 *
 * SIGXFSZ is ignored meanwhile: a limit on the size of files must not end a launcher that still has
 * to return the job's exit code. */
#include "record/format.h"
#include "record/sqlite/database.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Reads the first bytes of a file. Returns 0 or an errno. */
static int first_bytes(const char *path, char out[static 16])
{
    memset(out, 0, 16);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (descriptor < 0)
        return errno;
    ssize_t size = read(descriptor, out, 15);
    int number = size < 0 ? errno : 0;
    close(descriptor);
    return number;
}

int recording_put_account(const char *path, const vitals_account *account, vitals_error *error)
{
    const struct sigaction ignored = {.sa_handler = SIG_IGN};
    struct sigaction before;
    struct recorder recorder = {.path = (char *)path};
    char head[16];
    if (path == NULL || strcmp(path, "-") == 0)
        return 0;
    int number = first_bytes(path, head);
    if (number != 0)
        return record_fail_errno(number, path, error);

    bool changed = sigaction(SIGXFSZ, &ignored, &before) == 0;
    int code = 0; /* another tool's format has no place for an account */
    if (memcmp(head, "SQLite format 3", 15) == 0)
        code = database_put_account(path, account, error);
    else if (memcmp(head, "time,mark", 9) == 0)
        code = FORMAT_CSV.account(&recorder, account, error);
    if (changed)
        (void)sigaction(SIGXFSZ, &before, NULL);
    return code;
}
