/* info.c: `vitals info PID…`: everything about a process, from one answer of its live handle. */
#include "command/devices/info.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "command/output.h"
#include "command/processes/filter.h"

/* The tables of a process. Its environment may hold secrets and is read only if it is asked for;
 * single mappings are for programs. */
static const struct {
    vitals_table entity;
    bool for_json, for_text, secret;
} TABLES[] = {
    {VITALS_TABLE_THREAD, true, true, false},      {VITALS_TABLE_DESCRIPTOR, true, true, false},
    {VITALS_TABLE_SOCKET, true, true, false},      {VITALS_TABLE_LIMIT, true, true, false},
    {VITALS_TABLE_MAPPED_FILE, true, true, false}, {VITALS_TABLE_MAPPING, true, false, false},
    {VITALS_TABLE_ENVIRONMENT, true, true, true},
};

static int make_request(const struct settings *settings, vitals_request **out, vitals_error *error)
{
    static const vitals_metric HOST[] = {VITALS_HOST_MEMORY_TOTAL_BYTES,
                                         VITALS_HOST_BOOT_TIME_SECONDS, 0};
    int code = command_request(HOST, NULL, out, error);
    for (vitals_metric metric = 0; code == 0 && (metric = vitals_metric_next(metric)) != 0;) {
        if (vitals_metric_table(metric) == VITALS_TABLE_PROCESS)
            code = vitals_request_add(*out, metric, error);
    }
    for (size_t i = 0; i < sizeof TABLES / sizeof TABLES[0] && code == 0; i++) {
        bool wanted = settings->look.json ? TABLES[i].for_json : TABLES[i].for_text;
        if (wanted && (settings->info.environment || !TABLES[i].secret))
            code = vitals_request_add_table(*out, TABLES[i].entity, error);
    }
    return code;
}

/* What waits neither for the lock of the process's memory nor for a name service. */
static int make_quick_request(vitals_request **out, vitals_error *error)
{
    static const vitals_metric SLOW[] = {VITALS_PROCESS_COMMAND_LINE,   VITALS_PROCESS_PROGRAM_NAME,
                                         VITALS_PROCESS_PSS_BYTES,      VITALS_PROCESS_USS_BYTES,
                                         VITALS_PROCESS_SWAP_PSS_BYTES, VITALS_PROCESS_USER,
                                         VITALS_PROCESS_EFFECTIVE_USER, VITALS_PROCESS_GROUP};
    static const vitals_table QUICK[] = {VITALS_TABLE_THREAD, VITALS_TABLE_DESCRIPTOR,
                                         VITALS_TABLE_LIMIT, 0};
    int code = command_request(NULL, QUICK, out, error);
    for (vitals_metric metric = 0; code == 0 && (metric = vitals_metric_next(metric)) != 0;) {
        bool quick = vitals_metric_table(metric) == VITALS_TABLE_PROCESS;
        for (size_t i = 0; i < sizeof SLOW / sizeof SLOW[0]; i++)
            quick = quick && SLOW[i] != metric;
        if (quick)
            code = vitals_request_add(*out, metric, error);
    }
    return code;
}

static int print(const struct settings *settings, const vitals_snapshot *answer, bool first,
                 struct output *output)
{
    struct paint paint;
    if (settings->look.json)
        return command_print_json(answer, output);
    paint_init(&paint, settings->look.color, output_write, output);
    if (!first)
        paint_end(&paint);
    int code = info_paint(answer, settings, (size_t)settings->look.line_width, &paint);
    (void)paint_done(&paint);
    return code == 0 ? EXIT_DONE : command_fail(EXIT_CANNOT, "out of memory");
}

struct info_command {
    const struct settings *settings;
    vitals_context *context;
    vitals_request *request;
    struct output *output;
    bool any; /* was shown */
};

/* A query that another thread waits for: a process that holds its memory lock can block the reader
 * for any time. */
struct info_question {
    vitals_process *process;
    const vitals_request *request;
    vitals_snapshot *answer;
    vitals_error error;
    int code;
    int done; /* its write end is closed with the answer */
};

static void *wait_with(void *data)
{
    struct info_question *question = data;
    question->code = vitals_process_ask(question->process, question->request, &question->answer,
                                        &question->error);
    close(question->done);
    return NULL;
}

/* Asks, and says so where the answer takes long. */
static void ask(struct info_command *info, uint64_t pid, struct info_question *question)
{
    enum { PATIENCE_MS = 2000 };
    pthread_t thread;
    int ends[2];
    if (pipe(ends) != 0) {
        question->done = -1;
        (void)wait_with(question);
        return;
    }
    struct pollfd end = {.fd = ends[0], .events = POLLIN};
    question->done = ends[1];
    if (pthread_create(&thread, NULL, wait_with, question) == 0) {
        if (poll(&end, 1, PATIENCE_MS) == 0) {
            /* Meanwhile: what can be told without the memory, by a handle of its own. */
            if (!info->settings->look.json) {
                vitals_error error;
                vitals_request *request = NULL;
                vitals_process *process = NULL;
                vitals_snapshot *answer = NULL;

                int code = make_quick_request(&request, &error);
                if (code == 0)
                    code = vitals_process_open(info->context, (int64_t)pid, &process, &error);
                if (code == 0)
                    code = vitals_process_ask(process, request, &answer, &error);
                if (code == 0) {
                    (void)print(info->settings, answer, !info->any, info->output);
                    info->any = true;
                    (void)output_flush(info->output);
                }
                vitals_snapshot_unref(answer);
                vitals_process_close(process);
                vitals_request_free(request);
            }
            (void)command_fail(0,
                               "process %llu does not answer for its memory; waiting (Ctrl-C ends)",
                               (unsigned long long)pid);
        }
        (void)pthread_join(thread, NULL);
    } else {
        (void)wait_with(question);
    }
    close(ends[0]);
}

static int show_one(struct info_command *info, uint64_t pid)
{
    vitals_error error;
    vitals_process *process = NULL;
    vitals_snapshot *answer = NULL;
    int code = vitals_process_open(info->context, (int64_t)pid, &process, &error);
    if (code == 0) {
        struct info_question question = {.process = process, .request = info->request};
        ask(info, pid, &question);
        answer = question.answer;
        error = question.error;
        code = question.code;
    }
    if (code == 0)
        code = print(info->settings, answer, !info->any, info->output);
    else
        code = command_fail(EXIT_CANNOT, "%s", error.message);
    info->any |= answer != NULL;
    vitals_snapshot_unref(answer);
    vitals_process_close(process);
    return code;
}

int command_info(const struct settings *settings)
{
    const struct settings_words *words = &settings->arguments.words;
    struct info_command info = {.settings = settings, .output = output_begin(STDOUT_FILENO)};
    vitals_error error;
    if (words->count == 0)
        return command_fail(EXIT_USAGE, "info needs a pid");
    uint64_t *pids = calloc(words->count, sizeof *pids);
    if (pids == NULL)
        return command_fail(EXIT_CANNOT, "out of memory");
    int code = 0;
    for (size_t i = 0; i < words->count; i++) {
        pids[i] = filter_pid(words->items[i]);
        if (pids[i] == 0)
            code = EXIT_USAGE;
    }
    if (code == 0) {
        int made = command_context(&settings->machine, &info.context, &error);
        if (made == 0)
            made = make_request(settings, &info.request, &error);
        if (made < 0)
            code = command_fail(EXIT_CANNOT, "%s", error.message);
        for (size_t i = 0; made == 0 && i < words->count && output_open(info.output); i++) {
            if (show_one(&info, pids[i]) != EXIT_DONE)
                code = EXIT_CANNOT;
        }
        code = output_done(info.output, code);
    }
    vitals_request_free(info.request);
    vitals_context_free(info.context);
    free(pids);
    return code;
}
