/* Snapshots and accounts come back from their JSON, from memory, a pipe and a file. */
#include "library_world.h"

#include <fcntl.h>

static vitals_snapshot *take(void)
{
    vitals_error error = {.message = ""};
    vitals_context *context = demo_context();
    vitals_snapshot *snapshot = NULL;
    CHECK_OK(vitals_snapshot_take(context, VITALS_SET_GPUS | VITALS_SET_MACHINE, &snapshot, &error),
             error);
    vitals_context_free(context);
    return snapshot;
}

static void snapshots_come_back(void)
{
    vitals_error error = {.message = ""};
    vitals_snapshot *snapshot = take(), *back = NULL;
    struct text text = json_of(snapshot);
    CHECK_OK(vitals_snapshot_read_json(text.bytes, text.size, &back, &error), error);
    struct text again = json_of(back);
    CHECK_BYTES(again.bytes, again.size, text.bytes, text.size);
    vitals_snapshot_unref(back);

    /* in a thread that writes numbers with a comma, and which has that afterwards */
    locale_t comma = comma_locale();
    if (comma != (locale_t)0) {
        char number[16];
        locale_t before = uselocale(comma);
        CHECK_OK(vitals_snapshot_read_json(text.bytes, text.size, &back, &error), error);
        (void)snprintf(number, sizeof number, "%.1f", 1.5);
        (void)uselocale(before);
        freelocale(comma);
        CHECK_STR(number, "1,5");
        text_free(&again);
        again = json_of(back);
        CHECK_BYTES(again.bytes, again.size, text.bytes, text.size);
        vitals_snapshot_unref(back);
    }
    text_free(&again);
    text_free(&text);
    vitals_snapshot_unref(snapshot);
}

static void mistakes_name_the_place(void)
{
    static const struct {
        const char *json, *message;
    } CASES[] = {
        {"", "JSON:1"},
        {"{\"schema\":1,", "JSON:1"},
        {"[]", "JSON:1"},
        {"{\"schema\":\n\nx}", "JSON:3"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        vitals_error error = {.message = ""};
        vitals_snapshot *snapshot = NULL;
        int code = vitals_snapshot_read_json(CASES[i].json, strlen(CASES[i].json), &snapshot,
                                             &error);
        CHECK_INT(code, VITALS_EFORMAT);
        CHECK_CONTAINS(error.message, CASES[i].message);
        CHECK_NULL(snapshot);
        CHECK_INT(vitals_snapshot_read_json(CASES[i].json, strlen(CASES[i].json), &snapshot, NULL),
                  VITALS_EFORMAT);
    }
}

static void a_feed_reads_a_pipe_and_a_file(void)
{
    vitals_error error = {.message = ""};
    vitals_snapshot *snapshot = take(), *back = NULL;
    vitals_feed *feed = NULL;
    struct text text = json_of(snapshot);
    struct folder folder;
    folder_make(&folder, "snapshots.json");

    int file = open(folder.file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    for (int i = 0; i < 3; i++)
        CHECK(write(file, text.bytes, text.size) == (ssize_t)text.size &&
              write(file, "\n", 1) == 1);
    CHECK_OK(vitals_feed_open(folder.file, &feed, &error), error);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(vitals_feed_next(feed, &back, &error), 1);
        struct text again = json_of(back);
        CHECK_BYTES(again.bytes, again.size, text.bytes, text.size);
        text_free(&again);
        vitals_snapshot_unref(back);
    }
    CHECK_INT(vitals_feed_next(feed, &back, &error), 0);
    CHECK_OK(vitals_feed_seek(feed, vitals_snapshot_realtime_ns(snapshot), &error), error);
    CHECK_INT(vitals_feed_next(feed, &back, &error), 1);
    vitals_snapshot_unref(back);
    vitals_feed_close(feed);
    close(file);

    /* a pipe goes forward only, and its descriptor stays the caller's */
    int ends[2];
    CHECK_INT(pipe(ends), 0);
    CHECK_OK(vitals_feed_open_json(ends[0], "a pipe", &feed, &error), error);
    CHECK_INT(close(ends[0]), 0);
    CHECK(write(ends[1], "{\"schema\": }", 12) == 12);
    close(ends[1]);
    CHECK_INT(vitals_feed_seek(feed, 0, &error), VITALS_EUNSUPPORTED);
    CHECK_INT(vitals_feed_next(feed, &back, &error), VITALS_EFORMAT);
    CHECK_CONTAINS(error.message, "a pipe:1");
    CHECK_INT(vitals_feed_next(feed, &back, NULL), 0);
    vitals_feed_close(feed);

    CHECK_INT(vitals_feed_open("/nowhere/at/all", &feed, &error), VITALS_EGONE);
    CHECK_INT(vitals_feed_open_json(-1, "none", &feed, &error), VITALS_ESYSTEM);
    vitals_feed_close(NULL);
    folder_remove(&folder);
    text_free(&text);
    vitals_snapshot_unref(snapshot);
}

static void accounts_come_back(void)
{
    vitals_error error = {.message = ""};
    vitals_account *account = NULL, *back = NULL;
    vitals_run *run = NULL;
    vitals_run_options options;
    struct text text = {.bytes = NULL}, again = {.bytes = NULL};
    vitals_run_options_init(&options, sizeof options);
    CHECK_OK(vitals_run_open(&options, &run, &error), error);
    CHECK_OK(vitals_run_start(run, &error), error);
    CHECK_OK(vitals_run_stop(run, &error), error);
    CHECK_OK(vitals_run_account(run, &account, &error), error);
    CHECK_INT(vitals_account_json(account, text_take, &text, NULL), 0);
    CHECK_OK(vitals_account_read_json(text.bytes, text.size, &back, &error), error);
    CHECK_INT(vitals_account_json(back, text_take, &again, NULL), 0);
    CHECK_STR(again.bytes, text.bytes);
    vitals_account_free(back);
    vitals_account_free(account);
    vitals_run_close(run);
    text_free(&text);
    text_free(&again);

    CHECK_INT(vitals_account_read_json("{\"schema\":1}", 12, &back, &error), VITALS_EFORMAT);
    CHECK_CONTAINS(error.message, "figures");
    CHECK_INT(vitals_account_read_json("{\"schema\":9999}", 15, &back, NULL), VITALS_EUNSUPPORTED);
}

static const check_test tests[] = {
    {"snapshots come back from JSON, in any locale", snapshots_come_back},
    {"a mistake names the line", mistakes_name_the_place},
    {"a feed reads a pipe and a file", a_feed_reads_a_pipe_and_a_file},
    {"accounts come back from JSON", accounts_come_back},
};
CHECK_TESTS(tests)
