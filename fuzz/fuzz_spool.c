/* A spool that another program left, cut off, damaged or made to do harm: reading it is safe, gives
 * as many records as it says, in order, and appending to it works. */
#include "export/mlflow/spool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

/* All that waits is given, once. */
static void take_all(struct spool *spool)
{
    struct buffer body = {.bytes = NULL};
    enum spool_kind kind = SPOOL_KINDS;
    uint64_t waiting = spool_waiting(spool);
    while (spool_next(spool, &kind, &body)) {
        check(waiting > 0 && kind > SPOOL_RUN && kind < SPOOL_KINDS &&
              body.size <= SPOOL_BODY_MOST);
        (void)spool_acknowledge(spool);
        check(spool_waiting(spool) == --waiting);
    }
    check(waiting == 0);
    buffer_done(&body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct spool *spool;
    struct buffer body = {.bytes = NULL};
    enum spool_kind kind;
    int file = size <= 65536 ? memfd_create("spool", MFD_CLOEXEC) : -1;
    if (file < 0)
        return 0;
    check(write(file, data, size) == (ssize_t)size);
    int again = dup(file);
    if (spool_adopt(file, "spool", &spool, NULL) == 0) {
        take_all(spool);
        check(spool_append(spool, SPOOL_BATCH, "new", 3));
        spool_close(spool, false);
        /* As another program finds it: what was acknowledged is not given again. */
        check(spool_adopt(again, "spool", &spool, NULL) == 0 && spool_waiting(spool) == 1);
        check(spool_next(spool, &kind, &body) && kind == SPOOL_BATCH && body.size == 3 &&
              memcmp(body.bytes, "new", 3) == 0);
        spool_close(spool, false);
    } else {
        close(again);
    }
    buffer_done(&body);
    return 0;
}
