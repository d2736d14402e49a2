/* watch_children.c: tells which children of a process come, and how they end.
 *
 *     cc watch_children.c $(pkg-config --cflags --libs vitals) && ./a.out PID
 *
 * Each child that is new gets a handle; waiting for all of them tells at once when one ends, though
 * they are not our own. A child that comes and ends within half a second is not seen. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <vitals/vitals.h>

static const uint64_t STEP_NS = 500000000;

static vitals_process **children;
static size_t count, room;

static int tell_end(void *data, vitals_process *child)
{
    int code, signal;
    (void)data;
    printf("- %" PRId64, vitals_process_pid(child));
    if (vitals_process_exit_status(child, &code, &signal) == VITALS_HAVE)
        printf("  %s %d", signal != 0 ? "signal" : "exit", signal + code);
    puts("");
    for (size_t i = 0; i < count; i++)
        if (children[i] == child)
            children[i] = NULL; // freed below: not in here
    return 0;                   // go on
}

static int is_known(int64_t pid, double start_seconds)
{
    for (size_t i = 0; i < count; i++)
        if (vitals_process_pid(children[i]) == pid &&
            vitals_process_start_seconds(children[i]) == start_seconds)
            return 1;
    return 0;
}

static int out_of_memory(vitals_error *error)
{
    *error = (vitals_error){.code = VITALS_EMEMORY, .message = "out of memory"};
    return VITALS_EMEMORY;
}

/* Room for so many more. */
static int make_room(size_t more, vitals_error *error)
{
    if (count + more <= room)
        return 0;
    void *larger = realloc(children, (count + more) * 2 * sizeof *children);
    if (larger == NULL)
        return out_of_memory(error);
    children = larger;
    room = (count + more) * 2;
    return 0;
}

static void take_new(vitals_context *context, const vitals_snapshot *answer)
{
    const vitals_row *row = NULL;
    while ((row = vitals_snapshot_next(answer, VITALS_TABLE_PROCESS, row)) != NULL) {
        int64_t pid;
        double start;
        if (vitals_row_pid(row, &pid) <= 0 ||
            vitals_row_f64(row, VITALS_PROCESS_START_SECONDS, &start) <= 0 ||
            is_known(pid, start) || vitals_process_of(context, row, &children[count], NULL) < 0)
            continue;
        printf("+ %" PRId64 "  %s\n", pid, vitals_row_label(row));
        count++;
    }
}

/* Half a second, in which whoever ends is told; they leave the list. */
static int wait_for_them(vitals_context *context, vitals_error *error)
{
    const vitals_clock *clock = vitals_context_clock(context);
    uint64_t until = clock->monotonic_ns(clock->data) + STEP_NS;
    size_t waiting = count, kept = 0;
    vitals_process **waited = calloc(count + 1, sizeof *waited);
    if (waited == NULL)
        return out_of_memory(error);
    for (size_t i = 0; i < count; i++)
        waited[i] = children[i];
    vitals_wait how;
    vitals_wait_init(&how, sizeof how);
    how.timeout_ns = STEP_NS;
    how.ended = tell_end;
    int code = vitals_process_wait_several(waited, waiting, &how, NULL, error);
    for (size_t i = 0; i < waiting; i++)
        if (children[i] == NULL)
            vitals_process_close(waited[i]);
        else
            children[kept++] = children[i];
    count = kept;
    free(waited);
    fflush(stdout);
    clock->wait_until(clock->data, -1, until);
    return code;
}

int main(int argc, char **argv)
{
    vitals_error error = {.message = "usage: watch_children PID"};
    vitals_context *context = NULL;
    vitals_process *parent = NULL;
    vitals_request *request = NULL;
    char *end = NULL;
    int64_t pid = argc == 2 ? strtoll(argv[1], &end, 10) : 0;
    int code = -1;
    if (argc == 2 && end != argv[1] && *end == '\0' &&
        vitals_context_new(NULL, &context, &error) == 0 &&
        vitals_process_open(context, pid, &parent, &error) == 0 &&
        vitals_request_new(0, &request, &error) == 0)
        code = vitals_request_add(request, VITALS_PROCESS_NAME, &error);
    while (code == 0) {
        vitals_snapshot *answer;
        code = vitals_process_relatives(parent, VITALS_CHILDREN, request, &answer, &error);
        if (code < 0)
            break;
        code = make_room(vitals_snapshot_count(answer, VITALS_TABLE_PROCESS), &error);
        if (code == 0)
            take_new(context, answer);
        vitals_snapshot_unref(answer);
        if (code == 0)
            code = wait_for_them(context, &error);
    }
    fprintf(stderr, "%s\n", error.message);
    for (size_t i = 0; i < count; i++)
        vitals_process_close(children[i]);
    free(children);
    vitals_request_free(request);
    vitals_process_close(parent);
    vitals_context_free(context);
    return code != VITALS_EGONE;
}
