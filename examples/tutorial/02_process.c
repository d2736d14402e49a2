/* 02_process.c: one process, by its pid: name, memory and command line. */
#include <stdio.h>
#include <stdlib.h>
#include <vitals/vitals.h>

int main(int argc, char **argv)
{
    vitals_error error = {.message = "usage: 02_process PID"};
    vitals_context *context = NULL;
    vitals_process *process = NULL;
    vitals_request *request = NULL;
    vitals_snapshot *answer = NULL;
    if (argc != 2 || vitals_context_new(NULL, &context, &error) < 0 ||
        vitals_process_open(context, atoll(argv[1]), &process, &error) < 0 ||
        vitals_request_new(0, &request, &error) < 0 ||
        vitals_request_add(request, VITALS_PROCESS_RESIDENT_BYTES, &error) < 0 ||
        vitals_request_add(request, VITALS_PROCESS_COMMAND_LINE, &error) < 0 ||
        vitals_request_add(request, VITALS_PROCESS_NAME, &error) < 0 ||
        vitals_process_ask(process, request, &answer, &error) < 0)
        return fprintf(stderr, "%s\n", error.message), 1;

    const vitals_row *row = vitals_snapshot_next(answer, VITALS_TABLE_PROCESS, NULL);
    char command[1024], text[VITALS_HUMAN];
    uint64_t bytes;
    if (vitals_row_u64(row, VITALS_PROCESS_RESIDENT_BYTES, &bytes) > 0)
        printf("resident  %s\n", vitals_human_bytes(bytes, text));
    /* Text of another process may hold anything: this makes it safe to print. */
    printf("command   %s\n",
           vitals_row_command(row, VITALS_TEXT_TERMINAL, command, sizeof command));
    vitals_snapshot_unref(answer);
    vitals_request_free(request);
    vitals_process_close(process);
    vitals_context_free(context);
}
