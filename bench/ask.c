/* ask.c: questions to one process, or to the machine, through the public face of the library.
 *
 *     ask CASE PID ROUNDS
 *
 *     name         one column that costs one file
 *     scalars      what psutil's as_dict() of plain fields tells
 *     memory       PSS, USS, swap: a walk over its memory
 *     maps         each mapping
 *     maps_sum     the same, summed by file
 *     files        what it has open: path, kind, position, flags
 *     threads      its threads, with their CPU time
 *     environment  the environment
 *     limits       the resource limits
 *     sockets      its sockets
 *     children     the processes below it
 *     all_sockets  the sockets of the machine; PID is not looked at
 *     first        a whole reading of VITALS_SET_PROCESSES, made and forgotten; likewise
 *
 * One handle is asked again and again; of `all_sockets` and `first` nothing is kept. A line as
 * floor.c and table.c print: microseconds of CPU for one question, rows of the answer, allocations
 * of the last. Linked with the hidden symbols of the library for that count alone. */
#include "measure.h"

#include "util/memory.h"
#include <vitals/process.h>
#include <vitals/vitals.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS_MAX = 16, ROUNDS_MAX = 4000 };

static void check(int code, const vitals_error *error)
{
    if (code >= 0)
        return;
    fprintf(stderr, "ask: %s\n", error->message);
    exit(1);
}

/* ---- the cases ---- */

struct question {
    const char *name;
    vitals_table table; /* whose rows are counted */
    vitals_metric columns[COLUMNS_MAX];
    vitals_relation relation; /* of relatives */
    bool machine;             /* not of one process */
    unsigned sets;
};

#define SCALARS                                                                               \
    VITALS_PROCESS_PID, VITALS_PROCESS_PARENT_PID, VITALS_PROCESS_NAME, VITALS_PROCESS_STATE, \
        VITALS_PROCESS_START_SECONDS, VITALS_PROCESS_CPU_USER_SECONDS,                        \
        VITALS_PROCESS_CPU_SYSTEM_SECONDS, VITALS_PROCESS_THREADS, VITALS_PROCESS_NICE,       \
        VITALS_PROCESS_CPU, VITALS_PROCESS_RESIDENT_BYTES, VITALS_PROCESS_UID,                \
        VITALS_PROCESS_USER, VITALS_PROCESS_COMMAND_LINE

static const struct question questions[] = {
    {.name = "name", .table = VITALS_TABLE_PROCESS, .columns = {VITALS_PROCESS_NAME}},
    {.name = "scalars", .table = VITALS_TABLE_PROCESS, .columns = {SCALARS}},
    {.name = "memory",
     .table = VITALS_TABLE_PROCESS,
     .columns = {VITALS_PROCESS_PSS_BYTES, VITALS_PROCESS_USS_BYTES, VITALS_PROCESS_SWAP_PSS_BYTES,
                 VITALS_PROCESS_RESIDENT_BYTES, VITALS_PROCESS_VIRTUAL_BYTES}},
    {.name = "maps", .table = VITALS_TABLE_MAPPING},
    {.name = "maps_sum", .table = VITALS_TABLE_MAPPED_FILE},
    {.name = "files",
     .table = VITALS_TABLE_DESCRIPTOR,
     .columns = {VITALS_DESCRIPTOR_NUMBER, VITALS_DESCRIPTOR_TYPE, VITALS_DESCRIPTOR_PATH,
                 VITALS_DESCRIPTOR_POSITION_BYTES, VITALS_DESCRIPTOR_MODE,
                 VITALS_DESCRIPTOR_FLAGS}},
    {.name = "threads",
     .table = VITALS_TABLE_THREAD,
     .columns = {VITALS_THREAD_TID, VITALS_THREAD_CPU_USER_SECONDS,
                 VITALS_THREAD_CPU_SYSTEM_SECONDS}},
    {.name = "environment", .table = VITALS_TABLE_ENVIRONMENT},
    {.name = "limits", .table = VITALS_TABLE_LIMIT},
    {.name = "sockets", .table = VITALS_TABLE_SOCKET},
    {.name = "children", .table = VITALS_TABLE_PROCESS, .relation = VITALS_DESCENDANTS},
    {.name = "all_sockets", .table = VITALS_TABLE_SOCKET, .machine = true},
    {.name = "first", .table = VITALS_TABLE_PROCESS, .machine = true, .sets = VITALS_SET_PROCESSES},
};

static const struct question *question_of(const char *name)
{
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++)
        if (strcmp(questions[i].name, name) == 0)
            return &questions[i];
    return NULL;
}

static vitals_request *request_of(const struct question *question)
{
    vitals_request *request;
    vitals_error error;
    check(vitals_request_new(question->sets, &request, &error), &error);
    for (size_t i = 0; i < COLUMNS_MAX && question->columns[i] != 0; i++)
        check(vitals_request_add(request, question->columns[i], &error), &error);
    bool whole = question->columns[0] == 0 && question->sets == 0;
    if (whole && question->relation == 0)
        check(vitals_request_add_table(request, question->table, &error), &error);
    return request;
}

/* ---- asking ---- */

struct asked {
    vitals_context *context;
    vitals_process *process;
    const vitals_request *request;
    size_t rows;
    uint64_t allocations;
};

static void ask(const struct question *question, struct asked *asked)
{
    vitals_error error;
    vitals_snapshot *answer;
    uint64_t before = memory_asked();
    int code;
    if (question->machine)
        code = vitals_snapshot_take_request(asked->context, asked->request, &answer, &error);
    else if (question->relation != 0)
        code = vitals_process_relatives(asked->process, question->relation, NULL, &answer, &error);
    else
        code = vitals_process_ask(asked->process, asked->request, &answer, &error);
    check(code, &error);
    asked->rows = vitals_snapshot_count(answer, question->table);
    asked->allocations = memory_asked() - before;
    vitals_snapshot_unref(answer);
}

static void run(const struct question *question, struct asked *asked, size_t rounds)
{
    static struct measure measure;
    for (size_t i = 0; i < rounds; i++) {
        measure_begin(&measure);
        ask(question, asked);
        measure_end(&measure);
    }
    measure_print(&measure, question->name, "ask", 1);
    printf(" rows=%zu allocations=%" PRIu64 "\n", asked->rows, asked->allocations);
}

int main(int argc, char **argv)
{
    const struct question *question = argc == 4 ? question_of(argv[1]) : NULL;
    if (question == NULL) {
        fprintf(stderr, "usage: ask CASE PID ROUNDS, where CASE is\n");
        for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++)
            fprintf(stderr, "    %s\n", questions[i].name);
        return 2;
    }
    int64_t pid = (int64_t)measure_argument("ask", argv[2], 1 << 22);
    size_t rounds = measure_argument("ask", argv[3], ROUNDS_MAX);
    measure_raise_descriptors();
    vitals_options options;
    vitals_error error;
    struct asked asked = {0};
    vitals_options_init(&options, sizeof options);
    options.backends = "";
    check(vitals_context_new(&options, &asked.context, &error), &error);
    if (!question->machine)
        check(vitals_process_open(asked.context, pid, &asked.process, &error), &error);
    vitals_request *request = request_of(question);
    asked.request = request;
    run(question, &asked, rounds);
    vitals_request_free(request);
    vitals_process_close(asked.process);
    vitals_context_free(asked.context);
    return 0;
}
