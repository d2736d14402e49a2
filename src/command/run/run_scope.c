/* run_scope.c: gives a run a scope of the user's systemd, by the program libexec/vitals/scope. */
#include "command/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIDS_MAX = 4, NUMBER_BYTES = 24 };

int run_scope_make(void *data, const char *name, const int64_t *pids, size_t pid_count,
                   uint64_t memory_max_bytes, uint64_t processes_max)
{
    const char *program = data;
    char memory[NUMBER_BYTES], processes[NUMBER_BYTES], numbers[PIDS_MAX][NUMBER_BYTES];
    const char *arguments[4 + PIDS_MAX + 1] = {program, name, memory, processes};
    if (pid_count > PIDS_MAX)
        return -1;
    (void)snprintf(memory, sizeof memory, "%llu", (unsigned long long)memory_max_bytes);
    (void)snprintf(processes, sizeof processes, "%llu", (unsigned long long)processes_max);
    for (size_t i = 0; i < pid_count; i++) {
        (void)snprintf(numbers[i], sizeof numbers[i], "%lld", (long long)pids[i]);
        arguments[4 + i] = numbers[i];
    }

    /* Runs the program with its streams closed to us; returns 0 if it succeeded. */
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t pid;
    int status = -1;
    if (posix_spawn_file_actions_init(&files) != 0)
        return -1;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return -1;
    }
    for (int stream = 0; stream <= STDERR_FILENO; stream++)
        (void)posix_spawn_file_actions_addopen(&files, stream, "/dev/null", O_RDWR, 0);
    sigemptyset(&none);
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    int failed = posix_spawn(&pid, program, &files, &attributes,
                             (char *const *)(uintptr_t)arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (failed != 0)
        return -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status == 0 ? 0 : -1;
}
