/* descriptors.c: what a process has open.
 *
 *     cc descriptors.c $(pkg-config --cflags --libs vitals) && ./a.out PID */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <vitals/vitals.h>

static int pid_of(const char *text, int64_t *pid)
{
    char *end;
    *pid = strtoll(text, &end, 10); // what is no pid, or none that fits, is refused when opened
    return end != text && *end == '\0';
}

int main(int argc, char **argv)
{
    int64_t pid;
    vitals_error error = {.message = "usage: descriptors PID"};
    vitals_context *context = NULL;
    vitals_process *process = NULL;
    vitals_request *request = NULL;
    vitals_snapshot *answer = NULL;
    if (argc != 2 || !pid_of(argv[1], &pid) || vitals_context_new(NULL, &context, &error) < 0 ||
        vitals_process_open(context, pid, &process, &error) < 0 ||
        vitals_request_new(0, &request, &error) < 0 ||
        vitals_request_add_table(request, VITALS_TABLE_DESCRIPTOR, &error) < 0 ||
        vitals_process_ask(process, request, &answer, &error) < 0)
        return fprintf(stderr, "%s\n", error.message), 1;

    const vitals_row *row = NULL;
    while ((row = vitals_snapshot_next(answer, VITALS_TABLE_DESCRIPTOR, row)) != NULL) {
        char type[32], mode[16];
        uint64_t deleted;
        if (vitals_row_u64(row, VITALS_DESCRIPTOR_DELETED, &deleted) <= 0)
            deleted = 0;
        // The key is the descriptor plus one, whatever else is known of it.
        printf(
            "%4" PRIu64 " %-2s %-16s %s%s\n", vitals_row_key(row) - 1,
            vitals_row_string(row, VITALS_DESCRIPTOR_MODE, VITALS_TEXT_TERMINAL, mode, sizeof mode),
            vitals_row_string(row, VITALS_DESCRIPTOR_TYPE, VITALS_TEXT_TERMINAL, type, sizeof type),
            vitals_row_label(row), deleted ? " (deleted)" : "");
    }
    vitals_availability state = vitals_snapshot_state(answer, VITALS_TABLE_DESCRIPTOR);
    if (state != VITALS_HAVE)
        fprintf(stderr, "incomplete: %s\n", vitals_availability_name(state));
    vitals_snapshot_unref(answer);
    vitals_request_free(request);
    vitals_process_close(process);
    vitals_context_free(context);
}
