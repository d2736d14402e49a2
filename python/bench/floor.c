/* floor.c: what the kernel takes to tell of processes, with nothing done beside: /proc is listed,
 * and stat and statm of each process are opened, read and closed, or only read again. No program
 * that reads these files can cost less.
 *
 *   floor ROUNDS PID      prints, in ms of CPU time, the least of ROUNDS: all processes; all, with
 *                         the files kept open; PID 100 times; the same with its files kept open
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 65536, TIMES = 100 };

static int pids[MOST], kept[2 * MOST], count;
static const char *const NAMES[] = {"stat", "statm"};

static void list_processes(void)
{
    DIR *folder = opendir("/proc");
    count = 0;
    for (struct dirent *entry; folder != NULL && count < MOST && (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            pids[count++] = atoi(entry->d_name);
    if (folder != NULL)
        closedir(folder);
}

static int open_file(int pid, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static void read_file(int file)
{
    char text[4096];
    if (pread(file, text, sizeof text, 0) < 0)
        text[0] = '\0'; /* it has ended */
}

static void read_anew(int pid, const char *name)
{
    int file = open_file(pid, name);
    if (file >= 0) {
        read_file(file);
        close(file);
    }
}

static void all(int pid)
{
    (void)pid;
    list_processes();
    for (int i = 0; i < 2 * count; i++)
        read_anew(pids[i / 2], NAMES[i % 2]);
}

static void all_kept(int pid)
{
    (void)pid;
    list_processes();
    for (int i = 0; i < 2 * count; i++)
        if (kept[i] > 0)
            read_file(kept[i]);
}

static void one(int pid)
{
    for (int i = 0; i < 2 * TIMES; i++)
        read_anew(pid, NAMES[i % 2]);
}

static void one_kept(int pid)
{
    int stat = open_file(pid, NAMES[0]), statm = open_file(pid, NAMES[1]);
    for (int i = 0; i < TIMES; i++) {
        read_file(stat);
        read_file(statm);
    }
    close(stat);
    close(statm);
}

static double cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void print_least(int rounds, void (*work)(int), int pid)
{
    double least = 1e9;
    for (int i = 0; i < rounds; i++) {
        double begin = cpu_ms();
        work(pid);
        double took = cpu_ms() - begin;
        least = took < least ? took : least;
    }
    printf("%.4f\n", least);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    int rounds = atoi(argv[1]), pid = atoi(argv[2]);
    print_least(rounds, all, pid);

    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    list_processes();
    for (int i = 0; i < 2 * count; i++)
        kept[i] = open_file(pids[i / 2], NAMES[i % 2]);
    print_least(rounds, all_kept, pid);
    print_least(rounds, one, pid);
    print_least(rounds, one_kept, pid);
    return 0;
}
