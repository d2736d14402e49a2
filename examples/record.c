/* Runs a command, records it, and prints what it used and what to ask for next time:
 *
 *     record run.db sh -c 'sleep 1; gzip </dev/zero | head -c 1000000 >/dev/null'
 *
 * Needs the second library: cc record.c $(pkg-config --cflags --libs vitals-record) */
#include <stdio.h>
#include <vitals/record.h>
#include <vitals/vitals.h>

static int run(char *const *argv, const char *path, vitals_error *error)
{
    vitals_run_recorder *recorder = NULL;
    vitals_account *account = NULL;
    vitals_recorder_options recorded;
    vitals_run_options options;
    vitals_recorder_options_init(&recorded, sizeof recorded);
    vitals_run_options_init(&options, sizeof options);
    recorded.path = path;
    recorded.overwrite = 1;
    recorded.interval_ns = options.interval_ns = 100000000;
    int code = vitals_run_recorder_open(&recorded, &recorder, error);
    if (code < 0)
        return code;
    options.argv = argv;
    options.observer = vitals_run_recorder_observer(recorder);
    code = vitals_run_command(&options, &account, error);
    int closed = vitals_run_recorder_close(recorder, account, code < 0 ? NULL : error);
    vitals_account_free(account);
    return code < 0 ? code : closed;
}

static int report(const char *path, vitals_error *error)
{
    vitals_recording *recording = NULL;
    int code = vitals_recording_open(path, NULL, 0, &recording, error);
    if (code == 0)
        code = vitals_recording_report(recording, VITALS_REPORT_TEXT, NULL, vitals_file_write,
                                       stdout, error);
    vitals_recording_close(recording);
    return code;
}

int main(int argc, char **argv)
{
    vitals_error error;
    if (argc < 3)
        return fprintf(stderr, "usage: record FILE COMMAND [ARGUMENT...]\n"), 2;
    int code = run(argv + 2, argv[1], &error);
    if (code == 0)
        code = report(argv[1], &error);
    if (code < 0)
        return fprintf(stderr, "%s\n", error.message), 1;
    return 0;
}
