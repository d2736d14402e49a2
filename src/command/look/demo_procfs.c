/* demo_procfs.c: see demo_procfs.h.
 *
 * Tables here hold the machine's processes and its kernel's counters; counters grow with the clock,
 * so that rates are those of the tables. The folder is locked while in use; a folder without a lock
 * was left by a vitals that was killed, and is removed. */
#include "command/look/demo_procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/command.h"

/* The clock starts at 2026-11-20 12:00:00 UTC, three days after boot. */
static const uint64_t BOOT_NS = 259200 * NS_PER_SECOND;
static const uint64_t UNTIL_BOOT_NS = UINT64_C(1794916800) * NS_PER_SECOND;

enum {
    CPUS = 8,
    HERTZ = 100,
    PLACE = 512,
    TEXT = 4096,
    FIRST_PID = 4242,
    GUESTS = 32,      /* the most that any scenario has on its devices */
    GUEST_STEP = 17,  /* between two pids */
    GUEST_AGE = 1260, /* seconds between two starts */
    PAGE = 4096
};

struct actor {
    int pid, parent;
    unsigned uid, threads, age, resident_mib, write_kib;
    double share;                             /* fraction of a CPU */
    const char *name, *command, *environment; /* words end with a newline here */
    const char *cgroup;                       /* NULL: that of a service of the machine */
};

// clang-format off
/* Processes that use devices, the newest of the machine; gpu/demo/scenarios.c assigns work to them
 * in turn. */
static const struct actor GUEST[] = {
    {.threads = 34, .resident_mib = 21504, .share = 3.1, .name = "python3", .uid = 41001,
     .write_kib = 5120,
     .command = "python3\ntrain.py\n--config\nllama-70b.yaml\n",
     .environment = "SLURM_JOB_ID=4711\nCUDA_VISIBLE_DEVICES=0\nOMP_NUM_THREADS=8\n",
     .cgroup = "/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0"},
    {.threads = 12, .resident_mib = 3072, .share = 0.62, .name = "tritonserver",
     .command = "/opt/tritonserver/bin/tritonserver\n--model-repository=/models\n",
     .environment = "LD_LIBRARY_PATH=/opt/tritonserver/lib\n"},
    {.threads = 48, .resident_mib = 9216, .share = 0.97, .name = "vllm", .write_kib = 24,
     .command = "python3\n-m\nvllm.entrypoints.openai.api_server\n--model\nmixtral\n",
     .environment = "KUBERNETES_SERVICE_HOST=10.0.0.1\nHF_HOME=/models\n"},
    {.threads = 9, .resident_mib = 1536, .share = 0.08, .name = "jupyter-lab", .uid = 41002,
     .command = "jupyter-lab\n--no-browser\n--port=8888\n",
     .environment = "KUBERNETES_SERVICE_HOST=10.0.0.1\nJUPYTER_PORT=8888\n"},
    {.threads = 5, .resident_mib = 2048, .share = 0.41, .name = "transcribe",
     .command = "/usr/bin/transcribe\n--listen\n/run/transcribe.sock\n",
     .environment = "LANG=C.UTF-8\nINVOCATION_ID=0f1e2d3c4b5a69788796a5b4c3d2e1f0\n"},
    {.threads = 21, .resident_mib = 1024, .share = 1.2, .name = "blender", .uid = 41003,
     .write_kib = 900,
     .command = "blender\n--background\nscene.blend\n--render-anim\n",
     .environment = "DISPLAY=:0\nHOME=/home/ana\n"},
};

enum { GUEST_KINDS = ARRAY_COUNT(GUEST) };

/* The other processes. Ages are in seconds. */
static const struct actor HOUSE[] = {
    {.pid = 1, .threads = 1, .age = 259199, .resident_mib = 13, .name = "systemd",
     .command = "/sbin/init\n",
     .environment = "HOME=/\nTERM=linux\n"},
    {.pid = 612, .parent = 1, .threads = 1, .age = 259180, .resident_mib = 9, .name = "sshd",
     .command = "/usr/sbin/sshd\n-D\n",
     .environment = "LANG=C.UTF-8\n"},
    {.pid = 1290, .parent = 612, .threads = 1, .age = 90000, .resident_mib = 6, .name = "bash",
     .uid = 41001,
     .command = "-bash\n",
     .environment = "HOME=/home/ben\nSHELL=/bin/bash\n"},
    {.pid = 1377, .parent = 1290, .threads = 2, .age = 89000, .resident_mib = 40, .share = 0.02,
     .uid = 41001, .name = "tmux: server",
     .command = "tmux\nnew\n-s\nwork\n",
     .environment = "HOME=/home/ben\nTERM=screen\n"},
};
// clang-format on

enum { HOUSE_COUNT = ARRAY_COUNT(HOUSE), ACTORS = HOUSE_COUNT + GUESTS };

struct demo_procfs {
    char folder[PLACE];
    char proc[PLACE + 8], none[PLACE + 8]; /* of folder */
    vitals_clock clock;
    atomic_uint_fast64_t now_ns; /* since boot */
    pthread_t owner;             /* a wait of this thread advances the clock */
    int descriptor;              /* of the folder, locked; -1: none */
    bool live;                   /* the clock goes on by itself */
    uint64_t begun_ns;           /* then: the real clock at the begin */
    pthread_mutex_t writing;     /* likewise: of the thread that writes the counters */
    bool failed;                 /* a file could not be written */
    bool held;                   /* signals are blocked */
    sigset_t before;             /* that were blocked before */
};

/* ---- files ---- */

/* Writes a file of a process, or of the machine (pid 0). After one failure no other file is
 * written, and errno is kept. */
VITALS_FORMAT(4, 5)
static void write_text(struct demo_procfs *demo, int pid, const char *name, const char *format, ...)
{
    char path[PLACE + 64], text[TEXT], folder[16] = "";
    va_list arguments;
    if (demo->failed)
        return;
    va_start(arguments, format);
    size_t size = (size_t)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);

    /* Words of the tables end with a newline; in the kernel's file each ends with a NUL. */
    bool words = strcmp(name, "cmdline") == 0 || strcmp(name, "environ") == 0;
    for (char *end = text; words && (end = strchr(end, '\n')) != NULL;)
        *end++ = '\0';

    if (pid > 0)
        (void)snprintf(folder, sizeof folder, "%d/", pid);
    (void)snprintf(path, sizeof path, "%s/proc/%s%s", demo->folder, folder, name);
    /* Texts only grow, and a reader must not find an empty file. */
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool written = file >= 0 && write(file, text, size) == (ssize_t)size;
    demo->failed = file < 0 || close(file) != 0 || !written;
}

static void make_directory(struct demo_procfs *demo, const char *name)
{
    char path[PLACE + 64];
    (void)snprintf(path, sizeof path, "%s/%s", demo->folder, name);
    if (!demo->failed)
        demo->failed = mkdir(path, 0700) < 0;
}

static struct actor actor_at(size_t place)
{
    if (place < HOUSE_COUNT)
        return HOUSE[place];
    unsigned guest = (unsigned)(place - HOUSE_COUNT);
    struct actor actor = GUEST[guest % GUEST_KINDS];
    actor.pid = FIRST_PID + (int)(GUESTS - guest) * GUEST_STEP;
    actor.parent = guest % GUEST_KINDS == 0 ? HOUSE[HOUSE_COUNT - 1].pid : 1;
    actor.age = GUEST_AGE * (guest + 1);
    return actor;
}

/* Descriptors of every actor, and limits. */
static const struct {
    const char *path, *flags;
    unsigned long long position;
} OPENED[] = {
    {"/dev/null", "0100000", 0},           {"/var/log/work.log", "0102001", 48213},
    {"/var/log/work.log", "0102001", 512}, {"/data/shard-00017.tar", "0100000", 734003200},
    {"/dev/nvidiactl", "02100002", 0},     {"/dev/nvidia0", "02100002", 0},
};
static const char LIMITS[] =
    "Limit                     Soft Limit           Hard Limit           Units     \n"
    "Max cpu time              unlimited            unlimited            seconds   \n"
    "Max file size             unlimited            unlimited            bytes     \n"
    "Max data size             unlimited            unlimited            bytes     \n"
    "Max stack size            8388608              unlimited            bytes     \n"
    "Max core file size        0                    unlimited            bytes     \n"
    "Max resident set          unlimited            unlimited            bytes     \n"
    "Max processes             2061484              2061484              processes \n"
    "Max open files            1024                 524288               files     \n"
    "Max locked memory         67543171072          67543171072          bytes     \n"
    "Max address space         unlimited            unlimited            bytes     \n"
    "Max file locks            unlimited            unlimited            locks     \n"
    "Max pending signals       2061484              2061484              signals   \n"
    "Max msgqueue size         819200               819200               bytes     \n"
    "Max nice priority         0                    0                    \n"
    "Max realtime priority     0                    0                    \n"
    "Max realtime timeout      unlimited            unlimited            us        \n";
static const struct {
    const char *name, *text;
} STILL[] = {{"wchan", "futex_wait_queue"},
             {"oom_score", "667\n"},
             {"oom_score_adj", "0\n"},
             {"schedstat", "3940100000000 12500000000 912344\n"}};
static const char *const LINKS[][2] = {
    {"exe", "/usr/bin/work"}, {"cwd", "/home/ben/work"}, {"root", "/"}};

/* Its threads share its CPU time: the first has half of it. They have files for the first guests
 * alone, which are looked at. */
static void write_threads(struct demo_procfs *demo, const struct actor *actor)
{
    char name[64];
    bool is_seen = actor->pid > FIRST_PID + (GUESTS - GUEST_KINDS) * GUEST_STEP;
    unsigned count = is_seen ? actor->threads : 0;
    double ticks = actor->age * actor->share * HERTZ;
    for (unsigned i = 0; i < count; i++) {
        unsigned long long own = (unsigned long long)(i == 0 ? ticks / 2 : ticks / 2 / count);
        int tid = actor->pid + (int)i;
        (void)snprintf(name, sizeof name, "proc/%d/task/%d", actor->pid, tid);
        make_directory(demo, name);
        (void)snprintf(name, sizeof name, "task/%d/stat", tid);
        write_text(demo, actor->pid, name,
                   "%d (%s) %c %d %d %d 0 -1 4194304 90 0 0 0 %llu %llu 0 0 20 0 %u 0 %.0f 0 0 "
                   "18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 %u 0 0 0 0 0 0 0 0 0 0 0 0\n",
                   tid, i == 0 ? actor->name : "worker", i == 0 && actor->share > 0.5 ? 'R' : 'S',
                   actor->parent, actor->pid, actor->pid, own - own / 5, own / 5, actor->threads,
                   ((double)(BOOT_NS / NS_PER_SECOND) - actor->age) * HERTZ + i, i % CPUS);
        (void)snprintf(name, sizeof name, "task/%d/status", tid);
        write_text(demo, actor->pid, name,
                   "Name:\t%s\nUid:\t%u\t%u\t%u\t%u\nGid:\t0\t0\t0\t0\n"
                   "voluntary_ctxt_switches:\t%u\nnonvoluntary_ctxt_switches:\t%u\n",
                   i == 0 ? actor->name : "worker", actor->uid, actor->uid, actor->uid, actor->uid,
                   9000 / (i + 1), 90 / (i + 1));
        (void)snprintf(name, sizeof name, "task/%d/schedstat", tid);
        write_text(demo, actor->pid, name, "%llu %llu 90\n", own * (NS_PER_SECOND / HERTZ),
                   own * (NS_PER_SECOND / HERTZ) / 300);
    }
}

static void write_links(struct demo_procfs *demo, const struct actor *actor)
{
    char path[PLACE + 64], name[32];
    for (unsigned i = 0; i < ARRAY_COUNT(LINKS) && !demo->failed; i++) {
        (void)snprintf(path, sizeof path, "%s/proc/%d/%s", demo->folder, actor->pid, LINKS[i][0]);
        demo->failed = symlink(LINKS[i][1], path) < 0;
    }
    for (unsigned i = 0; i < ARRAY_COUNT(OPENED) && !demo->failed; i++) {
        (void)snprintf(path, sizeof path, "%s/proc/%d/fd/%u", demo->folder, actor->pid, i);
        demo->failed = symlink(OPENED[i].path, path) < 0;
        (void)snprintf(name, sizeof name, "fdinfo/%u", i);
        write_text(demo, actor->pid, name, "pos:\t%llu\nflags:\t%s\nmnt_id:\t27\n",
                   OPENED[i].position, OPENED[i].flags);
    }
}

/* Writes the files that do not change. */
static void write_actor(struct demo_procfs *demo, const struct actor *actor)
{
    char name[32];
    unsigned long long pages = ((unsigned long long)actor->resident_mib << 20) / PAGE;
    unsigned uid = actor->uid;
    static const char *const INSIDE[] = {"", "/task", "/fd", "/fdinfo"};
    for (size_t i = 0; i < ARRAY_COUNT(INSIDE); i++) {
        (void)snprintf(name, sizeof name, "proc/%d%s", actor->pid, INSIDE[i]);
        make_directory(demo, name);
    }
    write_threads(demo, actor);
    write_links(demo, actor);
    for (size_t i = 0; i < ARRAY_COUNT(STILL); i++)
        write_text(demo, actor->pid, STILL[i].name, "%s", STILL[i].text);
    unsigned long long kib = (unsigned long long)actor->resident_mib << 10;
    write_text(demo, actor->pid, "smaps_rollup",
               "00400000-7fff0000 ---p 00000000 00:00 0 [rollup]\nRss: %llu kB\nPss: %llu kB\n"
               "Private_Clean: %llu kB\nPrivate_Dirty: %llu kB\nAnonHugePages: %llu kB\n"
               "Swap: 0 kB\nSwapPss: 0 kB\n",
               kib, kib - kib / 9, kib / 9, kib / 2, kib / 3);
    write_text(demo, actor->pid, "limits", "%s", LIMITS);
    write_text(demo, actor->pid, "statm", "%llu %llu %llu 900 0 %llu 0\n", pages * 3, pages,
               pages / 8, pages * 2);
    write_text(demo, actor->pid, "status",
               "Name:\t%s\nUmask:\t0022\nTracerPid:\t0\nUid:\t%u\t%u\t%u\t%u\n"
               "Gid:\t%u\t%u\t%u\t%u\nGroups:\t44 109\nNSpid:\t%d\nVmPeak:\t%llu kB\n"
               "VmLck:\t0 kB\nVmHWM:\t%llu kB\nRssAnon:\t%llu kB\nRssFile:\t%llu kB\n"
               "RssShmem:\t0 kB\nVmSwap:\t0 kB\nHugetlbPages:\t0 kB\nThreads:\t%u\n"
               "SigPnd:\t0000000000000000\nShdPnd:\t0000000000000000\n"
               "SigBlk:\t0000000000000000\nSigIgn:\t0000000001001000\n"
               "SigCgt:\t0000000000000002\nCapPrm:\t0000000000000000\n"
               "CapEff:\t0000000000000000\nNoNewPrivs:\t0\nSeccomp:\t0\n"
               "Cpus_allowed:\tff\nCpus_allowed_list:\t0-7\n"
               "voluntary_ctxt_switches:\t91234\nnonvoluntary_ctxt_switches:\t1180\n",
               actor->name, uid, uid, uid, uid, uid, uid, uid, uid, actor->pid, kib * 3,
               pages * (PAGE / 1024), kib - kib / 8, kib / 8, actor->threads);
    write_text(demo, actor->pid, "cgroup", "0::%s\n",
               actor->cgroup != NULL ? actor->cgroup : "/system.slice/house.service");
    write_text(demo, actor->pid, "cmdline", "%s", actor->command);
    write_text(demo, actor->pid, "environ", "%s", actor->environment);
}

/* Writes the files that grow with the clock: /proc/PID/stat and io, and the machine's own
 * counters. */
static void write_counters(struct demo_procfs *demo)
{
    double now = (double)atomic_load(&demo->now_ns) / (double)NS_PER_SECOND, busy = 0;
    for (size_t i = 0; i < ACTORS; i++) {
        const struct actor actor = actor_at(i);
        double begun = (double)(BOOT_NS / NS_PER_SECOND) - actor.age, lived = now - begun;
        unsigned long long ticks = (unsigned long long)(lived * actor.share * HERTZ + 0.5);
        unsigned long long bytes = (unsigned long long)actor.resident_mib << 20;
        unsigned long long written = (unsigned long long)(lived * actor.write_kib) << 10;
        write_text(
            demo, actor.pid, "stat",
            "%d (%s) %c %d %d %d 0 -1 4194304 90 0 0 0 %llu %llu 0 0 20 0 %u 0 %.0f %llu "
            "%llu 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
            actor.pid, actor.name, actor.share > 0.5 ? 'R' : 'S', actor.parent, actor.pid,
            actor.pid, ticks - ticks / 5, ticks / 5, actor.threads, begun * HERTZ, bytes * 3,
            bytes / PAGE);
        write_text(demo, actor.pid, "io",
                   "rchar: %llu\nwchar: %llu\nsyscr: 90\nsyscw: 90\nread_bytes: %llu\n"
                   "write_bytes: %llu\ncancelled_write_bytes: 0\n",
                   written * 3, written, written * 2, written);
    }

    char cpus[1024];
    size_t used = 0;
    for (int cpu = 0; cpu < CPUS; cpu++)
        busy += 0.15 + 0.1 * cpu;
    for (int cpu = -1; cpu < CPUS; cpu++) {
        double size = cpu < 0 ? CPUS : 1, works = cpu < 0 ? busy : 0.15 + 0.1 * cpu;
        char number[8] = " ";
        if (cpu >= 0)
            (void)snprintf(number, sizeof number, "%d", cpu);
        used += (size_t)snprintf(
            cpus + used, sizeof cpus - used, "cpu%s %.0f 0 %.0f %.0f 0 0 0 0 0 0\n", number,
            works * 0.8 * now * HERTZ, works * 0.2 * now * HERTZ, (size - works) * now * HERTZ);
    }
    write_text(demo, 0, "stat",
               "%sctxt %.0f\nbtime %llu\nprocesses %.0f\nprocs_running 4\nprocs_blocked 0\n", cpus,
               now * 21000, (unsigned long long)(UNTIL_BOOT_NS / NS_PER_SECOND), now * 2);
    write_text(demo, 0, "net/dev",
               "Inter-|   Receive                                                |  Transmit\n"
               " face |bytes    packets errs drop fifo frame compressed multicast|bytes    "
               "packets errs drop fifo colls carrier compressed\n"
               "  eth0: %.0f %.0f 0 0 0 0 0 0 %.0f %.0f 0 0 0 0 0 0\n",
               now * 31e6, now * 24e3, now * 7e6, now * 11e3);
    write_text(demo, 0, "diskstats",
               " 259       0 nvme0n1 %.0f 0 %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f %.0f\n", now * 40,
               now * 40 * 256, now * 9, now * 90, now * 90 * 128, now * 30, now * 60, now * 39);
}

static const struct {
    const char *name, *text;
} FILES[] = {
    {"meminfo", "MemTotal:       527942792 kB\nMemFree:        301205172 kB\n"
                "MemAvailable:   414812344 kB\nBuffers:          211320 kB\n"
                "Cached:         98211320 kB\nShmem:           1211320 kB\n"
                "SReclaimable:    8211320 kB\nSwapTotal:       8388604 kB\n"
                "SwapFree:        8126460 kB\n"},
    {"loadavg", "7.41 6.92 5.18 8/1290 4800\n"},
    {"pressure/cpu", "some avg10=3.10 avg60=2.70 avg300=2.10 total=511000000\n"
                     "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"},
    {"pressure/memory", "some avg10=0.00 avg60=0.10 avg300=0.05 total=910000\n"
                        "full avg10=0.00 avg60=0.00 avg300=0.00 total=410000\n"},
    {"pressure/io", "some avg10=1.40 avg60=1.20 avg300=0.90 total=99000000\n"
                    "full avg10=0.60 avg60=0.50 avg300=0.40 total=41000000\n"},
    {"sys/kernel/hostname", "demo\n"},
    {"sys/kernel/osrelease", "6.12.0-demo\n"},
    {"sys/kernel/random/boot_id", "00000000-0000-4000-8000-000000000007\n"},
};

static const char *const FOLDERS[] = {"proc",     "proc/net",        "proc/pressure",
                                      "proc/sys", "proc/sys/kernel", "proc/sys/kernel/random",
                                      "none"};

/* Removes a folder and what is in it, by descriptors: a path may lead elsewhere by now. */
static void clear_folder(int parent, const char *name, int depth)
{
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *names = folder >= 0 ? fdopendir(folder) : NULL;
    if (names != NULL) {
        for (struct dirent *entry; (entry = readdir(names)) != NULL;) {
            bool is_name = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
            if (is_name && unlinkat(folder, entry->d_name, 0) != 0 && depth > 0)
                clear_folder(folder, entry->d_name, depth - 1);
        }
        (void)closedir(names);
    } else if (folder >= 0)
        (void)close(folder);
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

/* Removes what write_text and its like made, and then the folder itself. */
static void clear(int folder, const char *name)
{
    enum { DEPTH = 8 };
    clear_folder(folder, "proc", DEPTH);
    clear_folder(folder, "none", DEPTH);
    (void)rmdir(name);
}

/* ---- folder ---- */

#define NAME "vitals-demo-"

/* Opens a folder that only this user may use. Returns -1 if it belongs to another user, or is in
 * use (with LOCK_NB). */
static int open_own(const char *path, int how)
{
    struct stat status;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return -1;
    if (fstat(folder, &status) == 0 && status.st_uid == geteuid() && (status.st_mode & 077) == 0 &&
        flock(folder, LOCK_EX | how) == 0)
        return folder;
    (void)close(folder);
    return -1;
}

/* Another vitals may remove the folder before it is locked: then a new one is made. */
static int make_folder(struct demo_procfs *demo, const char *temporary)
{
    enum { TRIES = 16 };
    struct stat status;
    for (int i = 0; i < TRIES; i++) {
        int size = snprintf(demo->folder, sizeof demo->folder, "%s/" NAME "XXXXXX", temporary);
        if (size >= (int)sizeof demo->folder || mkdtemp(demo->folder) == NULL)
            break;
        demo->descriptor = open_own(demo->folder, 0);
        if (demo->descriptor >= 0 && fstat(demo->descriptor, &status) == 0 && status.st_nlink > 0)
            return 0;
        if (demo->descriptor >= 0)
            (void)close(demo->descriptor);
        demo->descriptor = -1;
        (void)rmdir(demo->folder);
    }
    demo->folder[0] = '\0';
    return -1;
}

/* ---- clock ---- */

/* A clock that goes on by itself writes the counters when it is asked the time, as before each
 * reading: what is read then is of that time, so that rates are steady. */
static uint64_t since_boot_ns(void *data)
{
    static const uint64_t OLD_NS = NS_PER_SECOND / 100;
    struct demo_procfs *demo = data;
    const vitals_clock *real = vitals_clock_system();
    if (!demo->live)
        return atomic_load(&demo->now_ns);
    uint64_t now_ns = BOOT_NS + real->monotonic_ns(real->data) - demo->begun_ns;
    if (now_ns > atomic_load(&demo->now_ns) + OLD_NS &&
        pthread_mutex_trylock(&demo->writing) == 0) {
        atomic_store(&demo->now_ns, now_ns);
        if (demo->descriptor >= 0)
            write_counters(demo);
        (void)pthread_mutex_unlock(&demo->writing);
    }
    return now_ns;
}

static uint64_t realtime_ns(void *data)
{
    return UNTIL_BOOT_NS + since_boot_ns(data);
}

enum { PLAYED = 12 };
static const uint64_t GRACE_NS = 2 * NS_PER_SECOND;

/* The thread that makes the readings waits only for the worker threads, which get more real time
 * than the fake clock says, so that a busy machine draws the same picture. A thread that waits
 * without a descriptor plays a driver that hangs: it returns after the picture is drawn. */
static int wait_until(void *data, int descriptor, uint64_t deadline_ns)
{
    struct demo_procfs *demo = data;
    const vitals_clock *real = vitals_clock_system();
    uint64_t now_ns = atomic_load(&demo->now_ns), until_ns = UINT64_MAX;
    uint64_t left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
    if (demo->live)
        return real->wait_until(real->data, descriptor,
                                deadline_ns == UINT64_MAX ? UINT64_MAX
                                                          : deadline_ns - BOOT_NS + demo->begun_ns);
    bool ours = pthread_equal(pthread_self(), demo->owner) != 0;
    if (deadline_ns != UINT64_MAX)
        until_ns = real->monotonic_ns(real->data) + left_ns * (descriptor < 0 ? PLAYED : 1) +
                   (ours ? GRACE_NS : 0);
    int code = ours && descriptor < 0 ? 0 : real->wait_until(real->data, descriptor, until_ns);
    if (code == 0 && ours && deadline_ns > now_ns) {
        atomic_store(&demo->now_ns, deadline_ns);
        write_counters(demo);
    }
    return code;
}

/* ---- open and close ---- */

bool demo_procfs_wanted(const struct machine_settings *machine, const struct view_settings *view)
{
    const char *backends = machine->backends;
    bool story = machine->demo != NULL && strcmp(machine->demo, DEMO_STORY) == 0;
    return machine->demo != NULL && (view->screen != NULL || story) && machine->from == NULL &&
           (backends == NULL || strcmp(backends, "demo") == 0) && machine->proc_root == NULL &&
           machine->sys_root == NULL && machine->dev_root == NULL;
}

static int fail(struct demo_procfs *demo, vitals_error *error, const char *temporary)
{
    *error = (vitals_error){.code = VITALS_ESYSTEM, .detail = errno};
    (void)snprintf(error->message, sizeof error->message,
                   "cannot write the demo's machine below %.60s: %.60s; TMPDIR may name another "
                   "folder",
                   temporary, strerror(errno));
    demo_procfs_close(demo);
    return VITALS_ESYSTEM;
}

int demo_procfs_open(const char *temporary, bool live, vitals_options *options,
                     struct demo_procfs **out, vitals_error *error)
{
    static struct demo_procfs only; /* threads may read its clock until the process ends */
    struct demo_procfs *demo = &only;
    demo->descriptor = -1;
    (void)pthread_mutex_init(&demo->writing, NULL);
    demo->live = live;
    demo->begun_ns = vitals_clock_system()->monotonic_ns(vitals_clock_system()->data);

    /* Signals that would end the process are blocked until the files are removed. */
    static const int ENDING[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ};
    sigset_t ending;
    (void)sigemptyset(&ending);
    for (size_t i = 0; i < ARRAY_COUNT(ENDING); i++)
        (void)sigaddset(&ending, ENDING[i]);
    demo->held = !live && pthread_sigmask(SIG_BLOCK, &ending, &demo->before) == 0;

    /* Removes folders that a killed vitals left. */
    enum { NAMES_MOST = 65536 };
    char path[PLACE];
    DIR *names = opendir(temporary);
    struct dirent *entry;
    for (int i = 0; names != NULL && i < NAMES_MOST && (entry = readdir(names)) != NULL; i++) {
        if (strncmp(entry->d_name, NAME, sizeof NAME - 1) != 0 ||
            snprintf(path, sizeof path, "%s/%s", temporary, entry->d_name) >= (int)sizeof path)
            continue;
        int folder = open_own(path, LOCK_NB);
        if (folder < 0)
            continue;
        clear(folder, path);
        (void)close(folder);
    }
    if (names != NULL)
        (void)closedir(names);

    if (make_folder(demo, temporary) < 0)
        return fail(demo, error, temporary);
    atomic_init(&demo->now_ns, BOOT_NS);
    demo->owner = pthread_self();
    demo->clock = (vitals_clock){.size = sizeof demo->clock,
                                 .data = demo,
                                 .monotonic_ns = since_boot_ns,
                                 .boottime_ns = since_boot_ns,
                                 .realtime_ns = realtime_ns,
                                 .wait_until = wait_until};

    demo->failed = false;
    for (size_t i = 0; i < ARRAY_COUNT(FOLDERS); i++)
        make_directory(demo, FOLDERS[i]);
    for (size_t i = 0; i < ARRAY_COUNT(FILES); i++)
        write_text(demo, 0, FILES[i].name, "%s", FILES[i].text);
    for (size_t i = 0; i < ACTORS; i++) {
        const struct actor actor = actor_at(i);
        write_actor(demo, &actor);
    }
    write_counters(demo);
    if (demo->failed)
        return fail(demo, error, temporary);

    (void)snprintf(demo->proc, sizeof demo->proc, "%.511s/proc", demo->folder);
    (void)snprintf(demo->none, sizeof demo->none, "%.511s/none", demo->folder);
    options->proc_root = demo->proc;
    options->sys_root = options->dev_root = options->etc_root = demo->none;
    options->run_root = options->share_root = options->var_root = demo->none;
    options->clock = &demo->clock;
    *out = demo;
    return 0;
}

void demo_procfs_close(struct demo_procfs *demo)
{
    if (demo == NULL)
        return;
    (void)pthread_mutex_lock(&demo->writing); /* threads may go on, and write nothing more */
    int folder = demo->descriptor;
    demo->descriptor = -1;
    if (folder >= 0) {
        clear(folder, demo->folder);
        (void)close(folder);
    }
    (void)pthread_mutex_unlock(&demo->writing);
    demo->folder[0] = '\0';

    /* Drops a pending SIGXFSZ: the message already says that the file was too large. */
    sigset_t limit;
    if (!demo->held)
        return;
    (void)sigemptyset(&limit);
    (void)sigaddset(&limit, SIGXFSZ);
    if (!sigismember(&demo->before, SIGXFSZ))
        (void)sigtimedwait(&limit, NULL, &(struct timespec){0});
    demo->held = false;
    (void)pthread_sigmask(SIG_SETMASK, &demo->before, NULL);
}

/* ---- its readings ---- */

int demo_feed_open(const struct settings *settings, const vitals_request *request,
                   struct demo_feed *out)
{
    enum { READINGS = 12, STORY_READINGS = 150 };
    uint64_t delay_ns = settings->sampling.delay_ns;
    struct feed_sampler_options sampler = {
        .request = request, .interval_ns = delay_ns > 0 ? delay_ns : 1, .cancel = -1};
    vitals_options world;
    vitals_error error;
    int code = 0;
    out->most = delay_ns > 0 ? 2 : 1;
    command_world(&settings->machine, &world);
    if (demo_procfs_wanted(&settings->machine, &settings->view)) {
        sampler.interval_ns = NS_PER_SECOND;
        out->most = strcmp(settings->machine.demo, DEMO_STORY) == 0 ? STORY_READINGS : READINGS;
        code = demo_procfs_open(settings->environment.demo_folder, false, &world, &out->demo,
                                &error);
    }
    if (code == 0)
        code = vitals_context_new(&world, &out->context, &error);
    if (code == 0)
        code = feed_sampler_open(out->context, &sampler, &out->feed, &error);
    if (code == 0)
        return 0;
    return command_fail(code == VITALS_EARGUMENT ? EXIT_USAGE : EXIT_CANNOT, "%s", error.message);
}

void demo_feed_close(struct demo_feed *demo)
{
    feed_close(&demo->feed);
    vitals_context_free(demo->context);
    demo_procfs_close(demo->demo);
    *demo = (struct demo_feed){.most = 0};
}
