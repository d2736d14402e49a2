/* 06_wait.c: starts three children, waits for all of them, and says how each ended. */
#define _POSIX_C_SOURCE 200809L /* fork */
#include <stdio.h>
#include <unistd.h>
#include <vitals/vitals.h>

static int print_end(void *data, vitals_process *child)
{
    int code, signal;
    (void)data;
    if (vitals_process_exit_status(child, &code, &signal) > 0)
        printf("%s %d\n", signal != 0 ? "signal" : "exit", signal != 0 ? signal : code);
    return 0; /* go on waiting */
}

int main(void)
{
    vitals_error error;
    vitals_context *context = NULL;
    vitals_process *children[3];
    if (vitals_context_new(NULL, &context, &error) < 0)
        return fprintf(stderr, "%s\n", error.message), 1;
    for (int i = 0; i < 3; i++) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(i);
        if (vitals_process_open(context, pid, &children[i], &error) < 0)
            return fprintf(stderr, "%s\n", error.message), 1;
    }

    size_t remaining;
    vitals_wait how;
    vitals_wait_init(&how, sizeof how);
    how.timeout_ns = 30000000000;
    how.ended = print_end;
    if (vitals_process_wait_several(children, 3, &how, &remaining, &error) < 0)
        return fprintf(stderr, "%s\n", error.message), 1;
    printf("%zu still run\n", remaining);
    for (int i = 0; i < 3; i++)
        vitals_process_close(children[i]);
    vitals_context_free(context);
}
