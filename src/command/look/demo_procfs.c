/* demo_procfs.c: see demo_procfs.h. The machine's processes and its kernel's counters are in tables
 * here; counters grow with the clock, so that rates are what the tables say. Its folder is locked
 * while in use; one without a lock was left by a vitals that was killed, and is removed. */
#include "command/look/demo_procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)

/* It stands at 2026-11-20 12:00:00 UTC, three days after boot. */
static const uint64_t BOOT_NS = 259200 * SECOND_NS;
static const uint64_t UNTIL_BOOT_NS = UINT64_C(1794916800) * SECOND_NS;

enum {
    CPUS = 8,
    HERTZ = 100,
    PLACE = 512,
    TEXT = 4096,
    FIRST_PID = 4242,
    GUESTS = 32,      /* as many as any scenario has on its devices */
    GUEST_STEP = 17,  /* between two pids */
    GUEST_AGE = 1260, /* seconds between two starts */
    PAGE = 4096
};

struct actor {
    int pid, parent;
    unsigned uid, threads, age, resident_mib, write_kib;
    double share;                             /* of a CPU */
    const char *name, *command, *environment; /* words end with a newline here */
};

// clang-format off
/* Processes on devices: the newest, in turns, as gpu/demo/scenarios.c gives them work. */
static const struct actor GUEST[] = {
    {.threads = 34, .resident_mib = 21504, .share = 3.1, .name = "python3", .uid = 41001,
     .write_kib = 5120,
     .command = "python3\ntrain.py\n--config\nllama-70b.yaml\n",
     .environment = "SLURM_JOB_ID=4711\nCUDA_VISIBLE_DEVICES=0\nOMP_NUM_THREADS=8\n"},
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

enum { GUEST_KINDS = sizeof GUEST / sizeof GUEST[0] };

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

enum { HOUSE_COUNT = sizeof HOUSE / sizeof HOUSE[0] };

struct demo_procfs {
    char folder[PLACE];
    char proc[PLACE + 8], none[PLACE + 8]; /* of folder */
    vitals_clock clock;
    atomic_uint_fast64_t now_ns; /* since boot */
    pthread_t owner;             /* a wait of this thread moves the clock */
    int descriptor;              /* of the folder, locked; -1: there is none */
    bool held;                   /* signals are */
    sigset_t before;             /* that were blocked before */
};

/* ---- its files ---- */

static int write_file(const struct demo_procfs *demo, const char *name, const char *text,
                      size_t size)
{
    char path[PLACE + 64];
    (void)snprintf(path, sizeof path, "%s/%s", demo->folder, name);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        return -1;
    ssize_t written = write(file, text, size);
    return close(file) == 0 && written == (ssize_t)size ? 0 : -1;
}

static int write_text(const struct demo_procfs *demo, const char *name, const char *text)
{
    return write_file(demo, name, text, strlen(text));
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

static double seconds_of(const struct demo_procfs *demo)
{
    return (double)atomic_load(&demo->now_ns) / (double)SECOND_NS;
}

/* /proc/PID/stat and io, of which the counters grow. */
static int write_counters(const struct demo_procfs *demo, const struct actor *actor)
{
    char name[64], text[TEXT];
    double begun = (double)(BOOT_NS / SECOND_NS) - actor->age, lived = seconds_of(demo) - begun;
    unsigned long long ticks = (unsigned long long)(lived * actor->share * HERTZ + 0.5);
    unsigned long long bytes = (unsigned long long)actor->resident_mib << 20;
    (void)snprintf(name, sizeof name, "proc/%d/stat", actor->pid);
    (void)snprintf(
        text, sizeof text,
        "%d (%s) %c %d %d %d 0 -1 4194304 90 0 0 0 %llu %llu 0 0 20 0 %u 0 %.0f %llu "
        "%llu 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
        actor->pid, actor->name, actor->share > 0.5 ? 'R' : 'S', actor->parent, actor->pid,
        actor->pid, ticks - ticks / 5, ticks / 5, actor->threads, begun * HERTZ, bytes * 3,
        bytes / PAGE);
    if (write_text(demo, name, text) < 0)
        return -1;
    unsigned long long written = (unsigned long long)(lived * actor->write_kib) << 10;
    (void)snprintf(name, sizeof name, "proc/%d/io", actor->pid);
    (void)snprintf(text, sizeof text,
                   "rchar: %llu\nwchar: %llu\nsyscr: 90\nsyscw: 90\nread_bytes: %llu\n"
                   "write_bytes: %llu\ncancelled_write_bytes: 0\n",
                   written * 3, written, written * 2, written);
    return write_text(demo, name, text);
}

/* Words of the table are lines; the kernel has a zero behind each. */
static int write_words(const struct demo_procfs *demo, int pid, const char *file, const char *lines)
{
    char name[64], text[TEXT];
    size_t size = strlen(lines);
    (void)snprintf(name, sizeof name, "proc/%d/%s", pid, file);
    for (size_t i = 0; i < size && i < sizeof text; i++)
        text[i] = lines[i];
    for (char *end = text; (end = memchr(end, '\n', size - (size_t)(end - text))) != NULL;)
        *end = '\0';
    return write_file(demo, name, text, size);
}

static int write_actor(const struct demo_procfs *demo, const struct actor *actor)
{
    char name[64], text[TEXT];
    unsigned long long pages = ((unsigned long long)actor->resident_mib << 20) / PAGE;
    (void)snprintf(text, sizeof text, "%s/proc/%d", demo->folder, actor->pid);
    int code = mkdir(text, 0700);
    (void)snprintf(name, sizeof name, "proc/%d/statm", actor->pid);
    (void)snprintf(text, sizeof text, "%llu %llu %llu 900 0 %llu 0\n", pages * 3, pages, pages / 8,
                   pages * 2);
    if (code == 0)
        code = write_text(demo, name, text);
    (void)snprintf(name, sizeof name, "proc/%d/status", actor->pid);
    (void)snprintf(text, sizeof text,
                   "Name:\t%s\nUid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\nVmHWM:\t%llu kB\n"
                   "VmSwap:\t0 kB\nThreads:\t%u\n",
                   actor->name, actor->uid, actor->uid, actor->uid, actor->uid, actor->uid,
                   actor->uid, actor->uid, actor->uid, pages * (PAGE / 1024), actor->threads);
    if (code == 0)
        code = write_text(demo, name, text);
    (void)snprintf(name, sizeof name, "proc/%d/cgroup", actor->pid);
    if (code == 0)
        code = write_text(demo, name, "0::/system.slice/house.service\n");
    if (code == 0)
        code = write_words(demo, actor->pid, "cmdline", actor->command);
    if (code == 0)
        code = write_words(demo, actor->pid, "environ", actor->environment);
    return code == 0 ? write_counters(demo, actor) : code;
}

/* What the machine's own counters say. */
static int write_machine(const struct demo_procfs *demo)
{
    char text[TEXT];
    double now = seconds_of(demo), busy = 0;
    size_t used = 0;
    for (int cpu = 0; cpu < CPUS; cpu++)
        busy += 0.15 + 0.1 * cpu;
    for (int cpu = -1; cpu < CPUS; cpu++) {
        double size = cpu < 0 ? CPUS : 1, works = cpu < 0 ? busy : 0.15 + 0.1 * cpu;
        char number[8] = "";
        if (cpu >= 0)
            (void)snprintf(number, sizeof number, "%d", cpu);
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "cpu%s%s %.0f 0 %.0f %.0f 0 0 0 0 0 0\n", number,
                                 cpu < 0 ? " " : "", works * 0.8 * now * HERTZ,
                                 works * 0.2 * now * HERTZ, (size - works) * now * HERTZ);
    }
    (void)snprintf(text + used, sizeof text - used,
                   "ctxt %.0f\nbtime %llu\nprocesses %.0f\nprocs_running 4\nprocs_blocked 0\n",
                   now * 21000, (unsigned long long)(UNTIL_BOOT_NS / SECOND_NS), now * 2);
    if (write_text(demo, "proc/stat", text) < 0)
        return -1;
    (void)snprintf(text, sizeof text,
                   "Inter-|   Receive                                                |  Transmit\n"
                   " face |bytes    packets errs drop fifo frame compressed multicast|bytes    "
                   "packets errs drop fifo colls carrier compressed\n"
                   "  eth0: %.0f %.0f 0 0 0 0 0 0 %.0f %.0f 0 0 0 0 0 0\n",
                   now * 31e6, now * 24e3, now * 7e6, now * 11e3);
    if (write_text(demo, "proc/net/dev", text) < 0)
        return -1;
    (void)snprintf(text, sizeof text,
                   " 259       0 nvme0n1 %.0f 0 %.0f %.0f %.0f 0 %.0f %.0f 0 %.0f %.0f\n", now * 40,
                   now * 40 * 256, now * 9, now * 90, now * 90 * 128, now * 30, now * 60, now * 39);
    return write_text(demo, "proc/diskstats", text);
}

static const struct {
    const char *name, *text;
} FILES[] = {
    {"proc/meminfo", "MemTotal:       527942792 kB\nMemFree:        301205172 kB\n"
                     "MemAvailable:   414812344 kB\nBuffers:          211320 kB\n"
                     "Cached:         98211320 kB\nShmem:           1211320 kB\n"
                     "SReclaimable:    8211320 kB\nSwapTotal:       8388604 kB\n"
                     "SwapFree:        8126460 kB\n"},
    {"proc/loadavg", "7.41 6.92 5.18 8/1290 4800\n"},
    {"proc/pressure/cpu", "some avg10=3.10 avg60=2.70 avg300=2.10 total=511000000\n"
                          "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"},
    {"proc/pressure/memory", "some avg10=0.00 avg60=0.10 avg300=0.05 total=910000\n"
                             "full avg10=0.00 avg60=0.00 avg300=0.00 total=410000\n"},
    {"proc/pressure/io", "some avg10=1.40 avg60=1.20 avg300=0.90 total=99000000\n"
                         "full avg10=0.60 avg60=0.50 avg300=0.40 total=41000000\n"},
    {"proc/sys/kernel/hostname", "demo\n"},
    {"proc/sys/kernel/osrelease", "6.12.0-demo\n"},
    {"proc/sys/kernel/random/boot_id", "00000000-0000-4000-8000-000000000007\n"},
};

static const char *const FOLDERS[] = {"proc",     "proc/net",        "proc/pressure",
                                      "proc/sys", "proc/sys/kernel", "proc/sys/kernel/random",
                                      "none"};

enum {
    ACTORS = HOUSE_COUNT + GUESTS,
    FILE_COUNT = sizeof FILES / sizeof FILES[0],
    FOLDER_COUNT = sizeof FOLDERS / sizeof FOLDERS[0]
};

static int write_all(const struct demo_procfs *demo)
{
    char path[PLACE + 64];
    for (size_t i = 0; i < FOLDER_COUNT; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", demo->folder, FOLDERS[i]);
        if (mkdir(path, 0700) < 0)
            return -1;
    }
    for (size_t i = 0; i < FILE_COUNT; i++) {
        if (write_text(demo, FILES[i].name, FILES[i].text) < 0)
            return -1;
    }
    for (size_t i = 0; i < ACTORS; i++) {
        struct actor actor = actor_at(i);
        if (write_actor(demo, &actor) < 0)
            return -1;
    }
    return write_machine(demo);
}

static void drop(int folder, const char *name)
{
    if (unlinkat(folder, name, 0) < 0)
        (void)unlinkat(folder, name, AT_REMOVEDIR);
}

/* Everything in it. */
static void clear(int folder)
{
    static const char *const OF_ACTORS[] = {"stat",    "statm",   "status", "io",
                                            "cmdline", "environ", "cgroup", ""};
    for (size_t i = 0; i < ACTORS; i++) {
        for (size_t j = 0; j < sizeof OF_ACTORS / sizeof OF_ACTORS[0]; j++) {
            char name[64];
            (void)snprintf(name, sizeof name, "proc/%d/%s", actor_at(i).pid, OF_ACTORS[j]);
            drop(folder, name);
        }
    }
    for (size_t i = 0; i < FILE_COUNT; i++)
        drop(folder, FILES[i].name);
    drop(folder, "proc/stat");
    drop(folder, "proc/net/dev");
    drop(folder, "proc/diskstats");
    for (size_t i = FOLDER_COUNT; i-- > 0;)
        drop(folder, FOLDERS[i]);
}

/* ---- its folder ---- */

#define NAME "vitals-demo-"

/* Opens a folder that only we may use; -1: it is not ours, or in use (with LOCK_NB). */
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

/* Before it is locked, another vitals may sweep it away: then another one is made. */
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

/* ---- its clock ---- */

static uint64_t since_boot_ns(void *data)
{
    struct demo_procfs *demo = data;
    return atomic_load(&demo->now_ns);
}

static uint64_t realtime_ns(void *data)
{
    return UNTIL_BOOT_NS + since_boot_ns(data);
}

enum { PLAYED = 12 };
static const uint64_t GRACE_NS = 2 * SECOND_NS;

/* The thread that makes the readings waits only for the worker threads, which get more real time
 * than the fake clock says, so that a busy machine draws the same picture. A thread that waits
 * without a descriptor plays a driver that hangs: it returns after the picture is drawn. */
static int wait_until(void *data, int descriptor, uint64_t deadline_ns)
{
    struct demo_procfs *demo = data;
    const vitals_clock *real = vitals_clock_system();
    uint64_t now_ns = atomic_load(&demo->now_ns), until_ns = UINT64_MAX;
    uint64_t left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
    bool ours = pthread_equal(pthread_self(), demo->owner) != 0;
    if (deadline_ns != UINT64_MAX)
        until_ns = real->monotonic_ns(real->data) + left_ns * (descriptor < 0 ? PLAYED : 1) +
                   (ours ? GRACE_NS : 0);
    int code = ours && descriptor < 0 ? 0 : real->wait_until(real->data, descriptor, until_ns);
    if (code == 0 && ours && deadline_ns > now_ns) {
        atomic_store(&demo->now_ns, deadline_ns);
        for (size_t i = 0; i < ACTORS; i++) {
            struct actor actor = actor_at(i);
            (void)write_counters(demo, &actor);
        }
        (void)write_machine(demo);
    }
    return code;
}

/* ---- life ---- */

bool demo_procfs_wanted(const struct machine_settings *machine, const struct view_settings *view)
{
    const char *backends = machine->backends;
    return machine->demo != NULL && view->screen != NULL && machine->from == NULL &&
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

int demo_procfs_open(const char *temporary, vitals_options *options, struct demo_procfs **out,
                     vitals_error *error)
{
    static struct demo_procfs only; /* threads may look at its clock until the process ends */
    struct demo_procfs *demo = &only;
    demo->descriptor = -1;

    /* Signals that would end us wait until the files are gone. */
    static const int ENDING[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ};
    sigset_t ending;
    (void)sigemptyset(&ending);
    for (size_t i = 0; i < sizeof ENDING / sizeof ENDING[0]; i++)
        (void)sigaddset(&ending, ENDING[i]);
    demo->held = pthread_sigmask(SIG_BLOCK, &ending, &demo->before) == 0;

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
        clear(folder);
        (void)rmdir(path);
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
    if (write_all(demo) < 0)
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
    if (demo->descriptor >= 0) {
        clear(demo->descriptor);
        (void)rmdir(demo->folder);
        (void)close(demo->descriptor);
        demo->descriptor = -1;
    }
    demo->folder[0] = '\0';

    /* That a file was too large for its limit is told in words. */
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
