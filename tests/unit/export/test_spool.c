/* What waits to be sent: in order, once, over a kill, and within its bounds. */
#include "check.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/mlflow/spool.h"

static char folder[] = "/tmp/vitals-spool-XXXXXX";

static struct spool *new_spool(void)
{
    struct spool *spool = NULL;
    vitals_error error;
    CHECK_INT(spool_new(folder, &spool, &error), 0);
    return spool;
}

static struct spool *reopen(struct spool *spool)
{
    char path[256];
    struct spool *again = NULL;
    vitals_error error;
    (void)snprintf(path, sizeof path, "%s", spool_path(spool));
    CHECK_INT(spool_open(path, &again, &error), VITALS_ETIMEOUT); /* its program lives */
    spool_close(spool, false);
    CHECK_INT(spool_open(path, &again, &error), 0);
    return again;
}

static void append(struct spool *spool, enum spool_kind kind, const char *words)
{
    CHECK(spool_append(spool, kind, words, strlen(words)));
}

/* The next record, acknowledged. */
static void take(struct spool *spool, enum spool_kind kind, const char *words)
{
    struct buffer body = {.bytes = NULL};
    enum spool_kind found = SPOOL_KINDS;
    CHECK(spool_next(spool, &found, &body));
    CHECK_INT(found, kind);
    CHECK_STR(body.bytes, words);
    CHECK(spool_acknowledge(spool));
    buffer_done(&body);
}

static void check_note(struct spool *spool, enum spool_kind kind, const char *words)
{
    struct buffer note = {.bytes = NULL};
    CHECK(spool_note(spool, kind, &note));
    CHECK_STR(note.bytes, words);
    buffer_done(&note);
}

static void records_come_in_order_and_once(void)
{
    struct spool *spool = new_spool();
    struct buffer body = {.bytes = NULL};
    enum spool_kind kind;
    append(spool, SPOOL_TARGET, "there");
    CHECK(!spool_next(spool, &kind, &body));
    append(spool, SPOOL_BATCH, "1");
    append(spool, SPOOL_RUN, "first");
    append(spool, SPOOL_BATCH, "2");
    append(spool, SPOOL_RUN, "second");
    append(spool, SPOOL_ARTIFACT, "a\nb");
    CHECK_UINT(spool_waiting(spool), 3);
    take(spool, SPOOL_BATCH, "1");
    CHECK(spool_next(spool, &kind, &body)); /* given, and not acknowledged */
    spool = reopen(spool);
    CHECK_UINT(spool_waiting(spool), 2);
    take(spool, SPOOL_BATCH, "2");
    take(spool, SPOOL_ARTIFACT, "a\nb");
    CHECK(!spool_next(spool, &kind, &body));
    check_note(spool, SPOOL_TARGET, "there");
    check_note(spool, SPOOL_RUN, "second");
    CHECK(!spool_has_end(spool));
    append(spool, SPOOL_END, "{}");
    spool = reopen(spool);
    CHECK(spool_has_end(spool));
    take(spool, SPOOL_END, "{}");
    spool = reopen(spool);
    CHECK_UINT(spool_waiting(spool), 0);
    spool_close(spool, true);
    buffer_done(&body);
}

static void what_was_cut_off_is_passed_over(void)
{
    struct spool *spool = new_spool();
    struct stat status;
    char path[256];
    append(spool, SPOOL_BATCH, "whole");
    append(spool, SPOOL_BATCH, "cut off");
    (void)snprintf(path, sizeof path, "%s", spool_path(spool));
    CHECK_INT(stat(path, &status), 0);
    CHECK_INT(truncate(path, status.st_size - 3), 0);
    spool = reopen(spool);
    append(spool, SPOOL_BATCH, "new");
    spool = reopen(spool);
    CHECK_UINT(spool_waiting(spool), 2);
    take(spool, SPOOL_BATCH, "whole");
    take(spool, SPOOL_BATCH, "new");
    spool_close(spool, true);
}

/* A run of weeks does not fill the disk with what has arrived. */
static void what_has_arrived_makes_room(void)
{
    enum { LARGE = 100 * 1000, TIMES = 500 };
    static char large[LARGE];
    struct spool *spool = new_spool();
    struct stat status;
    memset(large, 'x', LARGE - 1);
    append(spool, SPOOL_TARGET, "there");
    append(spool, SPOOL_RUN, "this");
    for (int i = 0; i < TIMES; i++) {
        append(spool, SPOOL_BATCH, large);
        take(spool, SPOOL_BATCH, large);
    }
    CHECK_INT(stat(spool_path(spool), &status), 0);
    CHECK(status.st_size < 5 * 1000 * 1000);
    append(spool, SPOOL_BATCH, "last");
    spool = reopen(spool);
    check_note(spool, SPOOL_TARGET, "there");
    check_note(spool, SPOOL_RUN, "this");
    take(spool, SPOOL_BATCH, "last");
    spool_close(spool, true);
}

/* Beyond the bound batches are refused, and the end still has room.. */
static void the_end_has_room_where_batches_have_none(void)
{
    enum { LARGE = SPOOL_BODY_MOST - 1000 };
    struct spool *spool = new_spool();
    char *large = calloc(1, LARGE);
    int kept = 0;
    CHECK_NOT_NULL(large);
    while (kept < 20 && spool_append(spool, SPOOL_BATCH, large, LARGE))
        kept++;
    CHECK_INT(kept, 5);
    append(spool, SPOOL_END, "{}");
    CHECK_UINT(spool_waiting(spool), 6);
    CHECK(!spool_append(spool, SPOOL_ARTIFACT, large, SPOOL_BODY_MOST + 1));
    free(large);
    spool_close(spool, true);
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    CHECK_INT(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A limit of the size of files stands for a full disk: memory is below it, the file above. */
static void what_the_disk_does_not_take_waits_in_memory(void)
{
    enum { LARGE = 100 * 1000 };
    static char large[LARGE];
    struct spool *spool = new_spool();
    memset(large, 'x', LARGE - 1);
    append(spool, SPOOL_TARGET, "there");
    append(spool, SPOOL_BATCH, large);
    CHECK_INT(spool_trouble(spool), 0);
    limit_files(LARGE / 2);
    append(spool, SPOOL_BATCH, "1");
    append(spool, SPOOL_END, "{}");
    CHECK_INT(spool_trouble(spool), EFBIG);
    CHECK_UINT(spool_waiting(spool), 3);
    CHECK_UINT(spool_in_memory(spool), 2);
    CHECK(spool_has_end(spool));
    take(spool, SPOOL_BATCH, large); /* which makes room */
    take(spool, SPOOL_BATCH, "1");
    limit_files(RLIM_INFINITY);
    append(spool, SPOOL_BATCH, "behind");
    CHECK_UINT(spool_in_memory(spool), 0);
    spool = reopen(spool);
    CHECK_UINT(spool_waiting(spool), 2);
    check_note(spool, SPOOL_TARGET, "there");
    take(spool, SPOOL_END, "{}");
    take(spool, SPOOL_BATCH, "behind");
    spool_close(spool, true);
}

static void what_cannot_be_marked_in_a_file_of_another_stays_there(void)
{
    struct spool *spool = new_spool();
    struct buffer body = {.bytes = NULL};
    enum spool_kind kind;
    append(spool, SPOOL_BATCH, "1");
    append(spool, SPOOL_BATCH, "2");
    spool = reopen(spool);
    limit_files(0);
    CHECK(spool_next(spool, &kind, &body));
    CHECK(!spool_acknowledge(spool));
    limit_files(RLIM_INFINITY);
    CHECK_INT(spool_trouble(spool), EFBIG);
    CHECK_UINT(spool_waiting(spool), 2);
    spool = reopen(spool);
    take(spool, SPOOL_BATCH, "1");
    take(spool, SPOOL_BATCH, "2");
    CHECK_INT(spool_settle(spool), SPOOL_REMOVED);
    spool_close(spool, false);
    buffer_done(&body);
}

static void one_that_cannot_be_begun_leaves_nothing(void)
{
    struct spool *spool = NULL;
    limit_files(0);
    CHECK_INT(spool_new(folder, &spool, NULL), VITALS_ESYSTEM);
    limit_files(RLIM_INFINITY);
    CHECK_INT(rmdir(folder), 0); /* it is empty */
}

static void a_folder_of_others_gets_none(void)
{
    struct spool *spool = NULL;
    vitals_error error = {.message = ""};
    CHECK_INT(mkdir(folder, 0700), 0);
    CHECK_INT(chmod(folder, 0777), 0);
    CHECK_INT(spool_new(folder, &spool, &error), VITALS_EDENIED);
    CHECK_NOT_NULL(strstr(error.message, "other users may write to it"));
    CHECK_INT(chmod(folder, 01777), 0); /* as /tmp */
    CHECK_INT(spool_new(folder, &spool, NULL), 0);
    spool_close(spool, true);
    CHECK_INT(rmdir(folder), 0);
}

static void without_a_folder_it_has_no_name(void)
{
    struct spool *spool = NULL;
    CHECK_INT(spool_new(NULL, &spool, NULL), 0);
    CHECK(spool_path(spool) == NULL);
    append(spool, SPOOL_BATCH, "1");
    take(spool, SPOOL_BATCH, "1");
    spool_close(spool, true);
    CHECK_INT(spool_new("/proc/no-home/unsent", &spool, NULL) < 0, 1);
}

static void remove_folder(void)
{
    (void)rmdir(folder);
}

static void a_folder_of_its_own(void)
{
    CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    CHECK_NOT_NULL(mkdtemp(folder));
    CHECK_INT(atexit(remove_folder), 0);
}

static const check_test tests[] = {
    {"a folder of its own", a_folder_of_its_own},
    {"records come in order and once", records_come_in_order_and_once},
    {"what was cut off is passed over", what_was_cut_off_is_passed_over},
    {"what has arrived makes room", what_has_arrived_makes_room},
    {"the end has room where batches have none", the_end_has_room_where_batches_have_none},
    {"what the disk does not take waits in memory", what_the_disk_does_not_take_waits_in_memory},
    {"what cannot be marked in a file of another stays there",
     what_cannot_be_marked_in_a_file_of_another_stays_there},
    {"one that cannot be begun leaves nothing", one_that_cannot_be_begun_leaves_nothing},
    {"a folder of others gets none", a_folder_of_others_gets_none},
    {"without a folder it has no name", without_a_folder_it_has_no_name},
};
CHECK_TESTS(tests)
