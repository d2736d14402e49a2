/* Any bytes as a recording in SQLite: its series, account and phases, its snapshots, and what is
 * saved of a damaged one. */
#include "recorded.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "record/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SNAPSHOTS_MOST = 8 };

static void check_feed(const char *path)
{
    vitals_error error = {.message = ""};
    struct feed feed = {0};
    if (recording_feed(path, &feed, &error) < 0) {
        require(error.message[0] != '\0');
        return;
    }
    int code = 1;
    for (int i = 0; i < SNAPSHOTS_MOST && code == 1; i++) {
        vitals_snapshot *snapshot = NULL;
        code = feed.next(feed.data, &snapshot, &error);
        require((code == 1) == (snapshot != NULL));
        vitals_snapshot_unref(snapshot);
    }
    feed_close(&feed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char MAGIC[] = "SQLite format 3";
    vitals_error error = {.message = ""};
    struct recording *recording = NULL;
    if (size < 100 || size > 1 << 18)
        return 0;
    /* SQLite follows /proc/self/fd to a name, so it must have one. */
    char path[] = "/tmp/vitals-fuzz-XXXXXX";
    int descriptor = mkostemp(path, O_CLOEXEC);
    require(descriptor >= 0 && write(descriptor, data, size) == (ssize_t)size);
    require(pwrite(descriptor, MAGIC, sizeof MAGIC, 0) == sizeof MAGIC); /* else it is text */
    if (recording_open(path, &recording, &error) == 0) {
        require_series(recording);
        require_account(recording);
        recording_close(recording);
    } else {
        require(error.code < 0 && error.message[0] != '\0');
        require_line(error.message);
    }
    if (recording_has_frames(path))
        check_feed(path);
    close(descriptor);
    (void)unlink(path);
    return 0;
}
