/* The pids that a driver gives: in a container, only those of processes that show an open node of
 * the device. */
#include "gpu_tree.h"

#include "gpu/pid_namespace.h"
#include <vitals/context.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define FIRST     UINT64_C(0xeffffffc)
#define CONTAINER UINT64_C(4026532617)

static vitals_context context;
static struct gpu_processes list;

static void open_world(uint64_t namespace)
{
    vitals_options options;
    vitals_error error;
    vitals_options_init(&options, sizeof options);
    memset(&context, 0, sizeof context);
    CHECK_OK(os_open(&context.os, &options, &error), error);
    context.origin.pid_namespace = namespace;
    list = (struct gpu_processes){.state = VITALS_HAVE, .count = 3};
    list.items[0] = (struct gpu_process){.pid = getpid()};
    list.items[1] = (struct gpu_process){.pid = getpid(), .is_ours = VITALS_OUTSIDE};
    list.items[2] = (struct gpu_process){.pid = 4194304 + 7}; /* above any pid */
}

/* A character device that we have open now, and hardly any other process has. */
static struct gpu_node open_node(int *descriptor)
{
    struct stat status;
    *descriptor = open("/dev/full", O_RDONLY | O_CLOEXEC);
    if (*descriptor < 0 || fstat(*descriptor, &status) < 0)
        CHECK_SKIP("no /dev/full here");
    return (struct gpu_node){major(status.st_rdev), minor(status.st_rdev)};
}

static void in_the_first_namespace_every_pid_is_ours(void)
{
    const struct gpu_node nobodys = {4093, 1};
    open_world(FIRST);
    gpu_prove(&context, &nobodys, 1, &list);
    CHECK_INT(list.items[0].is_ours, VITALS_HAVE);
    CHECK_INT(list.items[1].is_ours, VITALS_OUTSIDE); /* the back end knew */
    CHECK_INT(list.items[2].is_ours, VITALS_HAVE);    /* ended, perhaps: no stranger */
    os_close(&context.os);
}

static void in_a_container_who_has_the_node_open_is_ours(void)
{
    int descriptor;
    const struct gpu_node nodes[] = {{4093, 1}, open_node(&descriptor)};
    open_world(CONTAINER);
    gpu_prove(&context, nodes, 2, &list);
    CHECK_INT(list.items[0].is_ours, VITALS_HAVE);
    CHECK_INT(list.items[2].is_ours, VITALS_OUTSIDE);
    os_close(&context.os);

    open_world(CONTAINER);
    close(descriptor); /* and now no process has */
    gpu_prove(&context, nodes, 2, &list);
    CHECK_INT(list.items[0].is_ours, VITALS_OUTSIDE);
    os_close(&context.os);
}

static void without_nodes_nobody_is_believed_in_a_container(void)
{
    open_world(CONTAINER);
    gpu_prove(&context, NULL, 0, &list);
    CHECK_INT(list.items[0].is_ours, VITALS_OUTSIDE);
    os_close(&context.os);
}

/* The machine's /proc in a container whose driver gives pids of that container. */
static void in_an_outer_proc_the_inner_pid_is_looked_for(void)
{
    struct gpu_tree tree;
    int descriptor;
    const struct gpu_node node = open_node(&descriptor);
    vitals_options options;
    vitals_error error;
    char proc[GPU_TREE_PATH];
    close(descriptor);
    tree = gpu_tree_empty();
    gpu_tree_text(&tree, "proc/100/status", "Name:\ttrain\nNSpid:\t100\t7\n");
    gpu_tree_link(&tree, "proc/100/fd/3", "/dev/full");
    gpu_tree_text(&tree, "proc/200/status", "Name:\tother\nNSpid:\t200\t7\n");
    gpu_tree_link(&tree, "proc/200/fd/3", "/dev/null");
    gpu_tree_text(&tree, "proc/300/status", "Name:\tworse\nNSpid:\n");
    gpu_tree_text(&tree, "proc/9/status", "Name:\tstranger\nNSpid:\t9\n");
    gpu_tree_link(&tree, "proc/9/fd/3", "/dev/null");
    gpu_tree_path(&tree, "proc", proc);
    vitals_options_init(&options, sizeof options);
    options.proc_root = proc;
    memset(&context, 0, sizeof context);
    CHECK_OK(os_open(&context.os, &options, &error), error);
    CHECK_FALSE(context.os.live);
    context.origin.pid_namespace = FIRST; /* what that /proc says of itself */
    list = (struct gpu_processes){.state = VITALS_HAVE, .count = 3};
    list.items[0] = (struct gpu_process){.pid = 7};
    list.items[1] = (struct gpu_process){.pid = 8};
    list.items[2] = (struct gpu_process){.pid = 9}; /* the number of another process here */
    gpu_prove(&context, &node, 1, &list);
    CHECK_UINT(list.count, 3);
    CHECK_INT(list.items[0].pid, 8);
    CHECK_INT(list.items[0].is_ours, VITALS_OUTSIDE);
    CHECK_INT(list.items[1].pid, 9);
    CHECK_INT(list.items[1].is_ours, VITALS_OUTSIDE);
    CHECK_INT(list.items[2].pid, 100);
    CHECK_INT(list.items[2].is_ours, VITALS_HAVE);
    os_close(&context.os);
    gpu_tree_free(&tree);
}

static void pids_hold_in_the_first_namespace_alone(void)
{
    static const struct {
        const char *name;
        uint64_t namespace;
        bool live, machine, asker;
    } CASES[] = {
        {"our /proc, the first", FIRST, true, true, true},
        {"the first's /proc, in a container", FIRST, false, true, false},
        {"a container", 4026532000, true, false, false},
        {"another container's /proc", 4026532000, false, false, false},
        {"it does not tell", 0, true, false, false},
        {"nor does another's", 0, false, false, false},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].name);
        vitals_context of = {.os.live = CASES[i].live, .origin.pid_namespace = CASES[i].namespace};
        CHECK(gpu_pids_hold(&of, GPU_PIDS_OF_MACHINE) == CASES[i].machine);
        CHECK(gpu_pids_hold(&of, GPU_PIDS_OF_ASKER) == CASES[i].asker);
    }
}

static const check_test tests[] = {
    {"pids hold in the first namespace alone", pids_hold_in_the_first_namespace_alone},
    {"in the first namespace every pid is ours", in_the_first_namespace_every_pid_is_ours},
    {"in a container who has the node open is ours", in_a_container_who_has_the_node_open_is_ours},
    {"without nodes nobody is believed in a container",
     without_nodes_nobody_is_believed_in_a_container},
    {"in an outer /proc the inner pid is looked for", in_an_outer_proc_the_inner_pid_is_looked_for},
};
CHECK_TESTS(tests)
