/* The sweep over /proc: whose descriptors are GPUs', when they are listed anew, and what happens
 * when processes end, hide and change their pid's owner. */
#include "check.h"
#include "gpu_tree.h"

#include "gpu/sweep.h"
#include "util/memory.h"

#include <sys/sysmacros.h>
#include <unistd.h>

static struct gpu_tree tree;
static vitals_context context;
static struct gpu_sweeper *sweeper;
static uint64_t clock_ns;

static uint64_t tick(void *data)
{
    (void)data;
    return clock_ns += 1000;
}

static void begin(void)
{
    tree = gpu_tree_empty();
    memset(&context, 0, sizeof context);
    context.os.clock.monotonic_ns = tick;
    clock_ns = NS_PER_SECOND;
    gpu_tree_open(&tree, &context.os);
    gpu_tree_text(&tree, "sys/class/drm/card0/dev", "226:0\n");
    gpu_tree_text(&tree, "sys/class/drm/renderD128/dev", "226:128\n");
    gpu_tree_text(&tree, "sys/class/accel/accel0/dev", "261:0\n");
    sweeper = gpu_sweeper_new(&context);
    CHECK_NOT_NULL(sweeper);
}

static void end(void)
{
    gpu_sweeper_free(sweeper);
    gpu_tree_close(&context.os);
    gpu_tree_free(&tree);
}

static void put_process(int64_t pid, const char *name, uint64_t start)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "proc/%lld/stat", (long long)pid);
    snprintf(text, sizeof text,
             "%lld (%s) S 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 %llu 0 0 0 0 0 0 0 0 0 0 0 0 "
             "0 0 0 17 0 0 0\n",
             (long long)pid, name, (unsigned long long)start);
    gpu_tree_text(&tree, path, text);
    snprintf(path, sizeof path, "proc/%lld/fd/", (long long)pid);
    gpu_tree_parents(&tree, path);
}

static void put_open(int64_t pid, unsigned descriptor, const char *target, const char *fdinfo)
{
    char path[64];
    snprintf(path, sizeof path, "proc/%lld/fd/%u", (long long)pid, descriptor);
    gpu_tree_link(&tree, path, target);
    snprintf(path, sizeof path, "proc/%lld/fdinfo/%u", (long long)pid, descriptor);
    gpu_tree_text(&tree, path, fdinfo);
}

static const char MSM[] = "drm-driver:\tmsm\ndrm-client-id:\t7\ndrm-engine-gpu:\t5 ns\n";

/* What one sweep finds: "PID:MAJOR:MINOR:ID …". */
static const char *found(void)
{
    static char text[1024];
    text[0] = '\0';
    struct gpu_sweep *sweep = gpu_sweeper_take(sweeper, NULL);
    CHECK_NOT_NULL(sweep);
    CHECK_INT(sweep->state, VITALS_HAVE);
    for (size_t i = 0; i < sweep->count; i++) {
        const struct sweep_client *client = &sweep->clients[i];
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%lld:%u:%u:%llu ", (long long)client->pid,
                 client->major, client->minor, (unsigned long long)client->id);
        CHECK(client->stamp_ns > sweep->stamp_ns);
    }
    gpu_sweep_unref(sweep);
    return text;
}

static void descriptors_of_gpus_are_found_by_their_numbers(void)
{
    begin();
    put_process(10, "editor", 50);
    put_open(10, 0, "/dev/null", "pos:\t0\n");
    put_open(10, 1, "socket:[5]", "pos:\t0\n");
    put_open(10, 2, "/home/user/renderD128", MSM); // what a file is called proves nothing…
    put_open(10, 3, "/dev/dri/by-path/none", MSM);
    put_process(7, "player", 60);
    put_open(7, 12, "/dev/dri/renderD128", MSM);
    put_open(7, 3, "/dev/dri/card0", "drm-driver:\tmsm\ndrm-client-id:\t8\n");
    put_open(7, 20, "/dev/accel/accel0", "drm-driver:\tivpu\ndrm-client-id:\t9\n");
    put_open(7, 21, "/dev/dri/card0", "pos:\t0\n"); // its driver tells nothing
    // … but in a tree of files the name is all there is.
    CHECK_STR(found(), "7:226:0:8 7:226:128:7 7:261:0:9 10:226:128:7 ");
    end();
}

static void a_client_says_whose_it_is(void)
{
    begin();
    put_process(1, "init", 1);
    put_open(1, 5, "/dev/dri/renderD128", MSM);
    put_process(400, "systemd-logind", 20);
    put_open(400, 5, "/dev/dri/renderD128", MSM);
    put_process(900, "a b) (c", 77);
    put_open(900, 5, "/dev/dri/renderD128", MSM);
    struct gpu_sweep *sweep = gpu_sweeper_take(sweeper, NULL);
    CHECK_UINT(sweep->count, 3);
    CHECK_UINT(sweep->processes, 3);
    CHECK(sweep->clients[0].is_broker);
    CHECK(sweep->clients[1].is_broker);
    CHECK_FALSE(sweep->clients[2].is_broker);
    CHECK_UINT(sweep->clients[2].start_ticks, 77);
    CHECK_UINT(sweep->clients[2].engines[0].busy_ns, 5);
    CHECK_FALSE(sweep->cut);
    gpu_sweep_unref(sweep);
    end();
}

/* A counter is read in every sweep, however seldom descriptors are listed. */
static void counters_are_read_in_every_sweep(void)
{
    begin();
    put_process(7, "player", 60);
    put_open(7, 3, "/dev/dri/renderD128", MSM);
    for (uint64_t i = 0; i < 20; i++) {
        char text[128];
        snprintf(text, sizeof text, "drm-driver: msm\ndrm-client-id: 7\ndrm-engine-gpu: %u ns\n",
                 (unsigned)i);
        gpu_tree_text(&tree, "proc/7/fdinfo/3", text);
        struct gpu_sweep *sweep = gpu_sweeper_take(sweeper, NULL);
        CHECK_UINT(sweep->count, 1);
        CHECK_UINT(sweep->clients[0].engines[0].busy_ns, i);
        gpu_sweep_unref(sweep);
    }
    end();
}

/* How many sweeps it takes until what is open says so. */
static unsigned sweeps_until(const char *wanted)
{
    for (unsigned i = 1; i < 100; i++) {
        if (strcmp(found(), wanted) == 0)
            return i;
    }
    CHECK_FAIL("never: %s", wanted);
}

static void what_is_opened_later_is_found_soon(void)
{
    begin();
    put_process(7, "old", 60);
    for (int i = 0; i < 50; i++)
        CHECK_STR(found(), "");
    put_open(7, 3, "/dev/dri/renderD128", MSM); // it has had none for long: listed seldom
    CHECK(sweeps_until("7:226:128:7 ") <= 8);
    put_open(7, 4, "/dev/dri/card0", "drm-driver: msm\ndrm-client-id: 9\n");
    CHECK(sweeps_until("7:226:128:7 7:226:0:9 ") <= 2);
    put_process(8, "new", 70); // a new process at once, and again in the next sweep
    CHECK_STR(found(), "7:226:128:7 7:226:0:9 ");
    put_open(8, 3, "/dev/dri/renderD128", MSM);
    CHECK_UINT(sweeps_until("7:226:128:7 7:226:0:9 8:226:128:7 "), 1);
    end();
}

static void what_is_closed_is_gone_at_once(void)
{
    begin();
    put_process(1, "init", 1); // without any process it is no /proc
    put_process(7, "player", 60);
    put_open(7, 3, "/dev/dri/renderD128", MSM);
    put_open(7, 4, "/dev/dri/renderD128", "drm-driver: msm\ndrm-client-id: 9\n");
    CHECK_STR(found(), "7:226:128:7 7:226:128:9 ");
    gpu_tree_remove(&tree, "proc/7/fd/3");
    gpu_tree_remove(&tree, "proc/7/fdinfo/3");
    CHECK_STR(found(), "7:226:128:9 ");
    CHECK_STR(found(), "7:226:128:9 ");
    gpu_tree_remove(&tree, "proc/7"); // the process ends
    CHECK_STR(found(), "");
    end();
}

/* The descriptors of the first owner of a pid are never another's: what counts was listed of the
 * second. */
static void nothing_is_credited_to_a_reused_pid(void)
{
    for (int64_t pid = 7; pid < 9; pid++) { // not all are listed in the same sweep
        begin();
        put_process(pid, "first", 60);
        put_open(pid, 3, "/dev/dri/renderD128", MSM);
        for (int i = 0; i < 3; i++)
            gpu_sweep_unref(gpu_sweeper_take(sweeper, NULL));
        put_process(pid, "second", 61); // it happens to have the same descriptor open
        bool found_second = false;
        for (int i = 0; i < 12; i++) {
            struct gpu_sweep *sweep = gpu_sweeper_take(sweeper, NULL);
            CHECK(sweep->count <= 1);
            CHECK(sweep->count == 0 || sweep->clients[0].start_ticks == 61);
            CHECK(sweep->count == 1 || !found_second);
            found_second |= sweep->count == 1;
            gpu_sweep_unref(sweep);
        }
        CHECK(found_second);
        end();
    }
}

/* A process that ends between its descriptors and its stat. */
static void nothing_counts_of_a_process_that_ends_half_way(void)
{
    begin();
    put_process(7, "player", 60);
    put_open(7, 3, "/dev/dri/renderD128", MSM);
    CHECK_STR(found(), "7:226:128:7 ");
    gpu_tree_remove(&tree, "proc/7/stat");
    CHECK_STR(found(), "");
    gpu_tree_text(&tree, "proc/7/stat", "7 (cut");
    CHECK_STR(found(), "");
    gpu_tree_remove(&tree, "proc/7/fd");
    CHECK_STR(found(), "");
    end();
}

static void a_huge_fdinfo_is_cut_at_a_line(void)
{
    begin();
    size_t size = 100000;
    char *text = malloc(size + 1);
    size_t used = (size_t)snprintf(text, size, "drm-driver: msm\ndrm-client-id: 7\n");
    while (used + 64 < size)
        used += (size_t)snprintf(text + used, size - used, "drm-engine-a:\t12345678 ns\n");
    put_process(7, "player", 60);
    put_open(7, 3, "/dev/dri/renderD128", text);
    free(text);
    struct gpu_sweep *sweep = gpu_sweeper_take(sweeper, NULL);
    CHECK_UINT(sweep->count, 1);
    CHECK_UINT(sweep->clients[0].engines[0].busy_ns, 12345678);
    gpu_sweep_unref(sweep);
    end();
}

static void who_may_not_be_seen_is_counted(void)
{
    if (geteuid() == 0)
        CHECK_SKIP("root sees everything");
    char path[GPU_TREE_PATH];
    begin();
    put_process(7, "player", 60);
    put_open(7, 3, "/dev/dri/renderD128", MSM);
    put_process(8, "hidden", 60);
    put_process(9, "kthread", 60);
    gpu_tree_text(&tree, "proc/9/stat",
                  "9 (kworker/0:1) I 2 0 0 0 -1 69238880 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 0 0 0 0 0 "
                  "0 0 0 0 0 0 0 0 17 0 0 0\n");
    for (int pid = 8; pid <= 9; pid++) {
        snprintf(path, sizeof path, "%s/proc/%d/fd", tree.path, pid);
        CHECK_INT(chmod(path, 0), 0);
    }
    for (int i = 0; i < 12; i++) {
        struct gpu_sweep *sweep = gpu_sweeper_take(sweeper, NULL);
        CHECK_UINT(sweep->count, 1);
        CHECK_UINT(sweep->processes, 3);
        CHECK_UINT(sweep->denied, 1); // a kernel thread has none to hide
        CHECK_FALSE(sweep->cut);
        gpu_sweep_unref(sweep);
    }
    for (int pid = 8; pid <= 9; pid++) {
        snprintf(path, sizeof path, "%s/proc/%d/fd", tree.path, pid);
        CHECK_INT(chmod(path, 0700), 0);
    }
    end();
}

static void without_a_proc_the_sweep_says_why(void)
{
    begin();
    int proc = context.os.proc;
    context.os.proc = gpu_tree_root(&tree, "proc");
    char path[GPU_TREE_PATH];
    gpu_tree_path(&tree, "proc", path);
    CHECK_INT(rmdir(path), 0);
    struct gpu_sweep *sweep = gpu_sweeper_take(sweeper, NULL);
    CHECK_NOT_NULL(sweep);
    CHECK_INT(sweep->state, VITALS_GONE);
    CHECK_UINT(sweep->count, 0);
    gpu_sweep_unref(sweep);
    os_close_descriptor(context.os.proc);
    context.os.proc = proc;
    end();
}

/* A node that we have open to query the driver is no client; one that the program around us has
 * open is. */
static void what_we_ask_a_driver_through_is_no_client(void)
{
    begin();
    char expected[160];
    int64_t self = getpid();
    gpu_tree_link(&tree, "dev/dri/renderD128", "/dev/null");
    context.os.live = true;
    int ours = os_drm_open(&context.os, "renderD128", 1, 3);
    context.os.live = false;
    CHECK(ours >= 0);
    put_process(self, "vitals", 60);
    put_open(self, (unsigned)ours, "/dev/dri/renderD128", MSM);
    put_open(self, (unsigned)ours + 1, "/dev/dri/renderD128", MSM);
    put_process(self + 1, "player", 61);
    put_open(self + 1, (unsigned)ours, "/dev/dri/renderD128", MSM);
    snprintf(expected, sizeof expected, "%lld:226:128:7 %lld:226:128:7 ", (long long)self,
             (long long)self + 1);
    CHECK_STR(found(), expected);
    os_drm_close(ours); /* and the number is another's at once */
    snprintf(expected, sizeof expected, "%lld:226:128:7 %lld:226:128:7 %lld:226:128:7 ",
             (long long)self, (long long)self, (long long)self + 1);
    CHECK_STR(found(), expected);
    end();
}

/* Lets nothing through but card 0, and notes what is asked. */
struct porter {
    uint64_t refused, inside;
    unsigned entered;
};

static bool enter(void *data, uint64_t device)
{
    struct porter *porter = data;
    CHECK_UINT(porter->inside, 0);
    if (device != sweep_device(226, 0)) {
        porter->refused = device;
        return false;
    }
    porter->inside = device;
    porter->entered++;
    return true;
}

static void leave(void *data, uint64_t device)
{
    struct porter *porter = data;
    CHECK_UINT(porter->inside, device);
    porter->inside = 0;
}

static void a_device_can_be_avoided(void)
{
    struct porter porter = {0, 0, 0};
    const struct os_gate gate = {enter, leave, &porter};
    begin();
    put_process(7, "player", 60);
    put_open(7, 3, "/dev/dri/renderD128", MSM);
    put_open(7, 4, "/dev/dri/card0", "drm-driver: msm\ndrm-client-id: 9\n");
    CHECK_STR(found(), "7:226:128:7 7:226:0:9 ");
    struct gpu_sweep *sweep = gpu_sweeper_take(sweeper, &gate);
    CHECK_UINT(sweep->count, 1);
    CHECK_UINT(sweep->clients[0].minor, 0);
    CHECK(sweep->cut);
    gpu_sweep_unref(sweep);
    CHECK_UINT(porter.refused, sweep_device(226, 128));
    CHECK_UINT(porter.entered, 1);
    CHECK_UINT(porter.inside, 0);
    CHECK_STR(found(), "7:226:128:7 7:226:0:9 ");
    end();
}

/* ---- memory ---- */

static void a_sweep_lives_as_long_as_somebody_holds_it(void)
{
    begin();
    put_process(7, "player", 60);
    put_open(7, 3, "/dev/dri/renderD128", MSM);
    struct gpu_sweep *held = gpu_sweep_ref(gpu_sweeper_take(sweeper, NULL));
    gpu_sweep_unref(held);
    gpu_tree_text(&tree, "proc/7/fdinfo/3", "drm-driver: msm\ndrm-engine-gpu: 99 ns\n");
    for (int i = 0; i < 10; i++)
        gpu_sweep_unref(gpu_sweeper_take(sweeper, NULL));
    CHECK_UINT(held->count, 1);
    CHECK_UINT(held->clients[0].engines[0].busy_ns, 5);
    gpu_sweeper_free(sweeper);
    sweeper = NULL;
    CHECK_UINT(held->clients[0].engines[0].busy_ns, 5);
    gpu_sweep_unref(held);
    gpu_sweep_unref(NULL);
    end();
}

static void a_steady_sweep_asks_for_no_memory(void)
{
    begin();
    for (int pid = 10; pid < 40; pid++) {
        put_process(pid, "player", 60);
        put_open(pid, 3, "/dev/dri/renderD128", MSM);
        put_open(pid, 4, "/dev/null", "");
    }
    for (int i = 0; i < 20; i++)
        gpu_sweep_unref(gpu_sweeper_take(sweeper, NULL));
    uint64_t asked = memory_asked();
    for (int i = 0; i < 20; i++)
        gpu_sweep_unref(gpu_sweeper_take(sweeper, NULL));
    CHECK_UINT(memory_asked() - asked, 0);
    end();
}

static void without_memory_there_is_no_sweep_and_no_leak(void)
{
    begin();
    for (int pid = 10; pid < 14; pid++) {
        put_process(pid, "player", 60);
        put_open(pid, 3, "/dev/dri/renderD128", MSM);
    }
    gpu_sweeper_free(sweeper);
    bool failed = true;
    for (uint64_t nth = 1; failed; nth++) {
        CHECK(nth < 1000);
        int64_t live = memory_live();
        memory_fail_at(nth);
        sweeper = gpu_sweeper_new(&context);
        struct gpu_sweep *sweep = sweeper != NULL ? gpu_sweeper_take(sweeper, NULL) : NULL;
        memory_fail_at(0);
        failed = sweep == NULL || sweep->cut;
        gpu_sweep_unref(sweep);
        if (sweeper != NULL) { // and the next one is whole
            sweep = gpu_sweeper_take(sweeper, NULL);
            CHECK_NOT_NULL(sweep);
            CHECK_UINT(sweep->count, 4);
            gpu_sweep_unref(sweep);
        }
        gpu_sweeper_free(sweeper);
        CHECK_INT(memory_live(), live);
    }
    sweeper = NULL;
    end();
}

/* ---- the machine's own /proc ---- */

/* Our own descriptors of character devices that are no GPUs', and of files called like one. */
static void the_live_proc_is_swept(void)
{
    vitals_options options = {.size = sizeof options};
    vitals_error error;
    char name[] = "/tmp/vitals-renderD128";
    int file = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    int null = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    CHECK(file >= 0 && null >= 0);
    memset(&context, 0, sizeof context);
    CHECK_OK(os_open(&context.os, &options, &error), error);
    sweeper = gpu_sweeper_new(&context);
    struct gpu_sweep *sweep = gpu_sweeper_take(sweeper, NULL);
    CHECK_NOT_NULL(sweep);
    CHECK_INT(sweep->state, VITALS_HAVE);
    CHECK(sweep->processes > 0);
    for (size_t i = 0; i < sweep->count; i++)
        CHECK(sweep->clients[i].pid != getpid());
    gpu_sweep_unref(sweep);
    gpu_sweeper_free(sweeper);
    os_close(&context.os);
    close(file);
    close(null);
    unlink(name);
}

/* On the real /proc the numbers of the node decide, wherever it is: opened as a place (O_PATH), for
 * which there need be no driver. */
static void a_node_is_known_by_its_numbers_on_the_live_proc(void)
{
    static const struct {
        const char *name;
        unsigned major, minor;
    } NODES[] = {{"renderD128", 226, 129}, {"accel0", 261, 3}, {"card0", 1, 5}, {"gpu", 226, 130}};
    int held[CHECK_COUNT(NODES)];
    char path[GPU_TREE_PATH];
    tree = (struct gpu_tree){"/tmp/vitals-gpu-XXXXXX"}; // not below /dev, where all are looked at
    CHECK_NOT_NULL(mkdtemp(tree.path));
    for (size_t i = 0; i < CHECK_COUNT(NODES); i++) {
        gpu_tree_path(&tree, NODES[i].name, path);
        if (mknod(path, S_IFCHR | 0600, makedev(NODES[i].major, NODES[i].minor)) != 0) {
            gpu_tree_free(&tree);
            CHECK_SKIP("we may make no device nodes");
        }
        held[i] = open(path, O_PATH | O_CLOEXEC);
        CHECK(held[i] >= 0);
    }
    vitals_options options = {.size = sizeof options};
    vitals_error error;
    struct os os;
    struct os_gpu_opens opens = {0};
    CHECK_OK(os_open(&os, &options, &error), error);
    CHECK_INT(os_gpu_opens_read(&os, getpid(), &opens), 0);
    CHECK_UINT(opens.count,
               2); // card0 is /dev/zero in truth, and gpu is called like nothing we know
    for (size_t i = 0; i < opens.count; i++) {
        CHECK_UINT(opens.items[i].descriptor, (unsigned)held[i]);
        CHECK_UINT(opens.items[i].major, NODES[i].major);
        CHECK_UINT(opens.items[i].minor, NODES[i].minor);
    }
    char text[256];
    size_t size;
    CHECK_INT(os_gpu_fdinfo(&os, getpid(), opens.items[0].descriptor, text, sizeof text, &size), 0);
    CHECK(size > 0 && text[size - 1] == '\n');
    CHECK(os_gpu_fdinfo(&os, getpid(), 99999, text, sizeof text, &size) < 0);
    // The folder that was listed was a descriptor, too.
    uint64_t count = os_descriptor_count(&os, getpid(), &opens);
    CHECK(count == 0 || count + 1 == opens.numbers.count);
    os_gpu_opens_done(&opens);
    os_close(&os);
    for (size_t i = 0; i < CHECK_COUNT(held); i++)
        close(held[i]);
    gpu_tree_free(&tree);
}

static const check_test tests[] = {
    {"what we ask a driver through is no client", what_we_ask_a_driver_through_is_no_client},
    {"descriptors of GPUs are found by their numbers",
     descriptors_of_gpus_are_found_by_their_numbers},
    {"a client says whose it is", a_client_says_whose_it_is},
    {"counters are read in every sweep", counters_are_read_in_every_sweep},
    {"what is opened later is found soon", what_is_opened_later_is_found_soon},
    {"what is closed is gone at once", what_is_closed_is_gone_at_once},
    {"nothing is credited to a reused pid", nothing_is_credited_to_a_reused_pid},
    {"nothing counts of a process that ends half-way",
     nothing_counts_of_a_process_that_ends_half_way},
    {"a huge fdinfo is cut at a line", a_huge_fdinfo_is_cut_at_a_line},
    {"who may not be seen is counted", who_may_not_be_seen_is_counted},
    {"without a /proc the sweep says why", without_a_proc_the_sweep_says_why},
    {"a device can be avoided", a_device_can_be_avoided},
    {"a sweep lives as long as somebody holds it", a_sweep_lives_as_long_as_somebody_holds_it},
    {"a steady sweep asks for no memory", a_steady_sweep_asks_for_no_memory},
    {"without memory there is no sweep and no leak", without_memory_there_is_no_sweep_and_no_leak},
    {"the live /proc is swept", the_live_proc_is_swept},
    {"a node is known by its numbers on the live /proc",
     a_node_is_known_by_its_numbers_on_the_live_proc},
};

CHECK_TESTS(tests)
