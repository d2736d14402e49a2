/* cost.c: what it costs to run a command, beside other commands in the same run.
 *
 *     cost RUNS COMMAND [ARGUMENT…] [:: COMMAND [ARGUMENT…]]…
 *
 * The commands take turns, so that whatever else the machine does falls on all of them. Their
 * output is discarded. One line for each: the median and the least of wall and of CPU microseconds,
 * and the peak of its resident memory. The kernel counts the memory of the process that starts a
 * program into the program's peak, so this is a program of its own, as small as /bin/true. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { RUNS_MAX = 1000, COMMANDS_MAX = 8 };

struct command {
    char **arguments;
    uint64_t wall_ns[RUNS_MAX], cpu_us[RUNS_MAX];
    long peak_kib;
    int status;
};

static struct command commands[COMMANDS_MAX];
static size_t command_count;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t us_of(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000u + (uint64_t)time.tv_usec;
}

/* Returns 0, or an errno where it could not be started. */
static int run(struct command *command, size_t turn, const posix_spawn_file_actions_t *silent)
{
    struct rusage usage;
    pid_t child;
    int status;
    uint64_t begin = now_ns();
    int error = posix_spawnp(&child, command->arguments[0], silent, NULL, command->arguments,
                             environ);
    if (error != 0)
        return error;
    while (wait4(child, &status, 0, &usage) < 0)
        if (errno != EINTR)
            return errno;
    command->wall_ns[turn] = now_ns() - begin;
    command->cpu_us[turn] = us_of(usage.ru_utime) + us_of(usage.ru_stime);
    if (usage.ru_maxrss > command->peak_kib)
        command->peak_kib = usage.ru_maxrss;
    command->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return 0;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void print(struct command *command, size_t runs)
{
    qsort(command->wall_ns, runs, sizeof *command->wall_ns, compare);
    qsort(command->cpu_us, runs, sizeof *command->cpu_us, compare);
    printf("runs=%zu status=%d wall_us=%.1f wall_us_min=%.1f cpu_us=%llu cpu_us_min=%llu "
           "peak_kib=%ld command=%s\n",
           runs, command->status, (double)command->wall_ns[runs / 2] / 1e3,
           (double)command->wall_ns[0] / 1e3, (unsigned long long)command->cpu_us[runs / 2],
           (unsigned long long)command->cpu_us[0], command->peak_kib, command->arguments[0]);
}

/* Cuts the arguments at "::". */
static int take_commands(char **arguments)
{
    for (char **at = arguments; *at != NULL && command_count < COMMANDS_MAX;) {
        commands[command_count++].arguments = at;
        while (*at != NULL && strcmp(*at, "::") != 0)
            at++;
        if (*at != NULL)
            *at++ = NULL;
    }
    for (size_t i = 0; i < command_count; i++)
        if (commands[i].arguments[0] == NULL)
            return -1;
    return command_count > 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
    long runs = argc > 2 ? strtol(argv[1], NULL, 10) : 0;
    if (runs < 1 || runs > RUNS_MAX || take_commands(argv + 2) < 0) {
        fprintf(stderr, "usage: cost RUNS COMMAND [ARGUMENT…] [:: COMMAND [ARGUMENT…]]…\n");
        return 2;
    }
    posix_spawn_file_actions_t silent;
    posix_spawn_file_actions_init(&silent);
    posix_spawn_file_actions_addopen(&silent, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&silent, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&silent, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    for (size_t turn = 0; turn < (size_t)runs; turn++) {
        for (size_t i = 0; i < command_count; i++) {
            int error = run(&commands[i], turn, &silent);
            if (error == 0)
                continue;
            fprintf(stderr, "cost: %s: %s\n", commands[i].arguments[0], strerror(error));
            return 1;
        }
    }
    for (size_t i = 0; i < command_count; i++)
        print(&commands[i], (size_t)runs);
    return 0;
}
