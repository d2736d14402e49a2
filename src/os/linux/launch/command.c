/* command.c: see command.h. */
#include "os/linux/launch/command.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

static const char SHELL[] = "/bin/sh", FOLDERS[] = "/bin:/usr/bin";

enum { STACK_BYTES = 32 * 1024, STACK_ALIGNMENT = 16 };

/* The data that the child reads. Behind it: room for names and for the arguments of a shell. */
struct command_plan {
    size_t block_bytes;
    const char *const *argv, *const *environment;
    const char *folders; /* where it is looked for */
    char *name;
    const char **shell;
    struct command_signals signals;
    bool limit_is;
    struct rlimit limit;
    struct os_places places;
    struct command_ends ends;
};

/* ---- calls ---- */

#if defined(__has_feature) /* clang's way of saying so */
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

#if defined(__x86_64__) && !defined(__ILP32__) && !defined(SANITIZED)
#define SHARES true

/* A call of the kernel: the result, or negative errno. */
static long call4(long number, long a, long b, long c, long d)
{
    long result;
    register long fourth __asm__("r10") = d;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
}

/* As clone3(2), but that the child calls `main` on its own stack, from which it never returns. */
static long clone_onto(const struct clone_args *arguments, void (*main)(void *data), void *data)
{
    long result;
    register void *first __asm__("r12") = data; /* the kernel hands the child both of them */
    register void (*then)(void *) __asm__("r13") = main;
    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "mov %%r12, %%rdi\n\t"
                     "call *%%r13\n\t"
                     "hlt\n"
                     "1:"
                     : "=a"(result)
                     : "a"(SYS_clone3), "D"(arguments), "S"(sizeof *arguments), "r"(then),
                       "r"(first)
                     : "rcx", "r11", "memory", "cc");
    return result;
}
#else
#define SHARES false

static long call4(long number, long a, long b, long c, long d)
{
    long result = syscall(number, a, b, c, d);
    return result < 0 ? -errno : result;
}

static long clone_onto(const struct clone_args *arguments UNUSED, void (*main)(void *data) UNUSED,
                       void *data UNUSED)
{
    return -ENOSYS;
}
#endif

static long call(long number, long a, const void *b, long c)
{
    return call4(number, a, (long)(intptr_t)b, c, 0);
}

/* ---- the child ---- */

static int execute_file(const struct command_plan *plan, const char *file, const char *const *argv)
{
    return (int)-call4(SYS_execve, (long)(intptr_t)file, (long)(intptr_t)argv,
                       (long)(intptr_t)plan->environment, 0);
}

/* A file without a known form is a shell's, as execvp(3) has it. */
static int execute(const struct command_plan *plan, const char *file)
{
    int failed = execute_file(plan, file, plan->argv);
    if (failed != ENOEXEC)
        return failed;
    plan->shell[0] = SHELL;
    plan->shell[1] = file;
    size_t count = 1;
    for (; plan->argv[count] != NULL; count++)
        plan->shell[count + 1] = plan->argv[count];
    plan->shell[count + 1] = NULL;
    return execute_file(plan, SHELL, plan->shell);
}

/* Why it could not be executed. */
static int execute_command(const struct command_plan *plan)
{
    bool denied = false, has_slash = false;
    const char *command = plan->argv[0];
    if (command[0] == '\0')
        return ENOENT;
    for (const char *at = command; *at != '\0'; at++)
        has_slash |= *at == '/';
    if (has_slash) {
        int failed = execute(plan, command);
        bool folder = failed == EACCES && call4(SYS_openat, AT_FDCWD, (long)(intptr_t)command,
                                                O_PATH | O_DIRECTORY | O_CLOEXEC, 0) >= 0;
        return folder ? EISDIR : failed;
    }
    for (const char *folders = plan->folders; folders != NULL;) {
        /* The next folder and the command's name. An empty folder is where we are. */
        char *to = plan->name;
        while (*folders != '\0' && *folders != ':')
            *to++ = *folders++;
        if (to != plan->name)
            *to++ = '/';
        const char *from = command;
        while ((*to++ = *from++) != '\0')
            ;
        folders = *folders == ':' ? folders + 1 : NULL;

        int failed = execute(plan, plan->name);
        bool elsewhere = failed == ENOENT || failed == ENOTDIR || failed == ESTALE ||
                         failed == ENODEV || failed == ETIMEDOUT || failed == ENAMETOOLONG;
        denied |= failed == EACCES;
        if (failed != EACCES && !elsewhere)
            return failed;
    }
    return denied ? EACCES : ENOENT;
}

/* Waits for the word to go, then becomes the command. */
static _Noreturn void become_command(void *data)
{
    const struct command_plan *plan = data;
    enum { KERNEL_SET_BYTES = 8 };
    static const struct {
        void (*handler)(int);
        unsigned long rest[3];
    } IGNORE = {.handler = SIG_IGN};
    char byte;
    long told;
    (void)call(SYS_close, plan->ends.go_other, NULL, 0); /* else its end would never be seen */
    do
        told = call(SYS_read, plan->ends.go, &byte, 1);
    while (told == -EINTR);
    int failed = told == 1 ? 0 : ENOENT; /* the launcher died before its word */
    if (failed == 0) {
        /* "0" is the writing process. A failure leaves a group empty, which its reader sees. */
        for (size_t i = 0; i < plan->places.join_count; i++)
            (void)call(SYS_write, plan->places.joins[i], "0", 1);
        if (plan->limit_is)
            (void)call4(SYS_prlimit64, 0, RLIMIT_NOFILE, (long)(intptr_t)&plan->limit, 0);
        /* A signal that came meanwhile acts as after an exec: a handler does not outlive that. */
        if (plan->signals.children_ignored)
            (void)call4(SYS_rt_sigaction, SIGCHLD, (long)(intptr_t)&IGNORE, 0, KERNEL_SET_BYTES);
        (void)call4(SYS_rt_sigprocmask, SIG_SETMASK, (long)(intptr_t)&plan->signals.mask, 0,
                    KERNEL_SET_BYTES);
        failed = execute_command(plan);
        (void)call(SYS_write, plan->ends.failure, &failed, sizeof failed);
    }
    for (;;)
        (void)call(SYS_exit_group, failed == ENOENT ? 127 : 126, NULL, 0);
}

/* ---- ourselves ---- */

static size_t aligned(size_t size)
{
    return (size + STACK_ALIGNMENT - 1) / STACK_ALIGNMENT * STACK_ALIGNMENT;
}

/* The plan, its rooms and, above them, the stack. */
static struct command_plan *plan_new(const struct os_command *command)
{
    const char *const *environment = command->environment != NULL
                                         ? command->environment
                                         : (const char *const *)(uintptr_t)environ;
    const char *folders = FOLDERS;
    for (const char *const *at = environment; *at != NULL && folders == FOLDERS; at++)
        if (strncmp(*at, "PATH=", 5) == 0)
            folders = *at + 5;
    size_t count = 0;
    while (command->argv[count] != NULL)
        count++;
    size_t name = aligned(strlen(folders) + strlen(command->argv[0]) + 2);
    size_t shell = aligned((count + 2) * sizeof(char *));
    size_t bytes = aligned(sizeof(struct command_plan)) + shell + name + STACK_BYTES;
    char *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return NULL;
    struct command_plan *plan = (struct command_plan *)(void *)block;
    plan->block_bytes = bytes;
    plan->argv = command->argv;
    plan->environment = environment;
    plan->folders = folders;
    plan->shell = (const char **)(void *)(block + aligned(sizeof *plan));
    plan->name = block + aligned(sizeof *plan) + shell;
    return plan;
}

/* Into a group if there is one and the kernel can (5.7); the counter checks where the child is. */
static int64_t clone_child(struct command_plan *plan, bool shared, int *pidfd)
{
    const size_t room = plan->block_bytes - STACK_BYTES;
    struct clone_args arguments = {.flags = CLONE_PIDFD | CLONE_CLEAR_SIGHAND,
                                   .pidfd = (unsigned long long)(uintptr_t)pidfd,
                                   .exit_signal = SIGCHLD};
    if (plan->places.group_is) {
        arguments.flags |= CLONE_INTO_CGROUP;
        arguments.cgroup = (unsigned long long)(unsigned)plan->places.group;
    }
    if (!shared)
        return call4(SYS_clone3, (long)(intptr_t)&arguments, sizeof arguments, 0, 0);
    arguments.flags |= CLONE_VM;
    arguments.stack = (unsigned long long)(uintptr_t)((char *)plan + room);
    arguments.stack_size = STACK_BYTES;
    return clone_onto(&arguments, become_command, plan);
}

/* As fork(2), where we share nothing. */
static int64_t fork_child(struct command_plan *plan, int *pidfd)
{
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    int64_t pid = plan->places.group_is ? clone_child(plan, false, pidfd) : -ENOSYS;
    if (pid < 0) {
        pid = fork();
        if (pid < 0)
            return -errno;
        /* As an exec does: ignored signals stay ignored. The C library's own are refused. */
        for (int signal = 1; pid == 0 && signal <= SIGRTMAX; signal++) {
            struct sigaction action;
            if (sigaction(signal, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
                (void)sigaction(signal, &usual, NULL);
        }
    }
    if (pid == 0)
        become_command(plan);
    return pid;
}

int64_t command_fork(const struct os_command *command, const struct command_signals *signals,
                     const struct command_ends *ends, int *pidfd, void **memory)
{
    struct command_plan *plan = plan_new(command);
    if (plan == NULL)
        return -ENOMEM;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* none of our handlers runs in it */
    plan->ends = *ends;
    plan->signals = signals != NULL ? *signals : (struct command_signals){.mask = before};
    if (command->places != NULL)
        plan->places = *command->places;
    plan->limit_is = command->descriptors != 0 && getrlimit(RLIMIT_NOFILE, &plan->limit) == 0;
    if (plan->limit_is)
        plan->limit.rlim_cur = command->descriptors;
    *pidfd = -1;
    *memory = plan;
    int64_t pid = SHARES && command->shares_memory ? clone_child(plan, true, pidfd) : -ENOSYS;
    if (pid < 0) {
        pid = fork_child(plan, pidfd);
        command_begun(plan);
        *memory = NULL;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return pid;
}

void command_begun(void *memory)
{
    const struct command_plan *plan = memory;
    if (plan != NULL)
        (void)munmap(memory, plan->block_bytes);
}
