/* The machine's rows of the table diagnosis, over trees of files; and that what would mend
 * something can be pasted whatever the machine calls its things. */
#include "gpu_tree.h"

#include "os/linux/diagnosis/ourselves.h"
#include "os/linux/tables.h"
#include "util/memory.h"

enum { TEXT = 2048 };

/* ---- asking ---- */

struct world {
    struct gpu_tree tree;
    struct os os;
    struct row_batch batch;
};

static void ask(struct world *world)
{
    struct metric_set wanted = {0};
    for (unsigned number = 1; number <= 4; number++)
        metric_set_add(&wanted, metric_of(VITALS_TABLE_DIAGNOSIS, number));
    batch_reset(&world->batch, &wanted);
    world->os = (struct os){.var = -1};
    gpu_tree_open(&world->tree, &world->os);
    int code = os_read_table(&world->os, VITALS_TABLE_DIAGNOSIS, &world->batch);
    gpu_tree_close(&world->os);
    CHECK_INT(code, 0);
}

static struct world world_of(const char *name)
{
    return (struct world){.tree = gpu_tree_new(name)};
}

static void done(struct world *world)
{
    batch_done(&world->batch);
    gpu_tree_free(&world->tree);
    CHECK_CASE(NULL);
}

static void text_at(const struct world *world, size_t row, vitals_metric metric,
                    char out[static TEXT])
{
    const struct batch_cell *cell = batch_find(&world->batch, &world->batch.rows[row], metric);
    CHECK_NOT_NULL(cell);
    CHECK_INT(cell->state, VITALS_HAVE);
    struct span text = batch_span(&world->batch, cell);
    CHECK(text.size < TEXT);
    memcpy(out, text.bytes, text.size);
    out[text.size] = '\0';
}

/* What holds of every row: all four texts, a severity that there is, one line of a finding, and a
 * remedy that is printable and ends without a newline. */
static void check_rows(const struct world *world)
{
    char text[TEXT];
    for (size_t i = 0; i < world->batch.row_count; i++) {
        text_at(world, i, VITALS_DIAGNOSIS_SUBJECT, text);
        CHECK(text[0] != '\0' && strlen(text) <= 48);
        text_at(world, i, VITALS_DIAGNOSIS_FINDING, text);
        CHECK(text[0] != '\0' && strlen(text) <= 160);
        text_at(world, i, VITALS_DIAGNOSIS_REMEDY, text);
        size_t size = strlen(text);
        CHECK(size == 0 || text[size - 1] != '\n');
        for (size_t j = 0; j < size; j++)
            CHECK(text[j] == '\n' || (text[j] >= ' ' && text[j] <= '~' && text[j] != '\\'));
        text_at(world, i, VITALS_DIAGNOSIS_SEVERITY, text);
        CHECK(strcmp(text, "good") == 0 || strcmp(text, "notice") == 0 ||
              strcmp(text, "problem") == 0);
    }
}

/* The row of the subject with the severity; SIZE_MAX where there is none. */
static size_t find(const struct world *world, const char *subject, const char *severity)
{
    char text[TEXT];
    for (size_t i = 0; i < world->batch.row_count; i++) {
        text_at(world, i, VITALS_DIAGNOSIS_SUBJECT, text);
        if (strcmp(text, subject) != 0)
            continue;
        text_at(world, i, VITALS_DIAGNOSIS_SEVERITY, text);
        if (severity == NULL || strcmp(text, severity) == 0)
            return i;
    }
    return SIZE_MAX;
}

/* The subject has one row of that severity, whose texts hold these parts. */
static void check_row(const struct world *world, const char *subject, const char *severity,
                      const char *finding, const char *remedy)
{
    char text[TEXT];
    check_rows(world);
    size_t row = find(world, subject, severity);
    if (row == SIZE_MAX)
        CHECK_FAIL("no %s of \"%s\"", severity, subject);
    text_at(world, row, VITALS_DIAGNOSIS_FINDING, text);
    CHECK_CONTAINS(text, finding);
    text_at(world, row, VITALS_DIAGNOSIS_REMEDY, text);
    if (remedy[0] == '\0')
        CHECK_STR(text, "");
    CHECK_CONTAINS(text, remedy);
}

static void check_none(const struct world *world, const char *subject, const char *severity)
{
    if (find(world, subject, severity) != SIZE_MAX)
        CHECK_FAIL("%s of \"%s\"", severity != NULL ? severity : "a row", subject);
}

/* ---- changing the machine ---- */

static void set_status(const struct world *world, const char *ids, const char *groups,
                       const char *capabilities, const char *rest)
{
    char text[1024];
    snprintf(text, sizeof text, "Name:\tvitals\nUid:\t%s\nGid:\t%s\nGroups:\t%s\nCapEff:\t%s\n%s",
             ids, ids, groups, capabilities, rest);
    gpu_tree_text(&world->tree, "proc/4242/status", text);
}

static const char NOTHING[] = "0000000000000000";
static const char TRACE[] = "0000000000080000";

static void set_user(const struct world *world)
{
    set_status(world, "1000\t1000\t1000\t1000", "1000 44", NOTHING, "NSpid:\t4242\n");
}

static void set_mount(const struct world *world, const char *options)
{
    char text[1024];
    snprintf(text, sizeof text,
             "5 1 0:5 / /somewhere rw - proc proc rw,hidepid=2\n"
             "23 27 0:22 / /proc rw shared:12 master:3 - proc proc rw,gid=4,hidepid=2\n"
             "24 27 0:22 / /proc rw,relatime - proc  %s\n"
             "25 27 0:23 / /proc/fs rw - proc proc rw,hidepid=2\n"
             "26 27 0:23 / /proc rw - tmpfs proc rw,hidepid=2\n"
             "30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n",
             options);
    gpu_tree_text(&world->tree, "proc/4242/mountinfo", text);
}

static void put(const struct world *world, const char *name, const char *text)
{
    gpu_tree_text(&world->tree, name, text);
}

static void add_device(const struct world *world, const char *address, const char *class,
                       const char *vendor, const char *driver)
{
    char path[256], target[256];
    snprintf(path, sizeof path, "sys/bus/pci/devices/%s/class", address);
    put(world, path, class);
    snprintf(path, sizeof path, "sys/bus/pci/devices/%s/vendor", address);
    put(world, path, vendor);
    snprintf(path, sizeof path, "sys/bus/pci/devices/%s/driver", address);
    snprintf(target, sizeof target, "../../../bus/pci/drivers/%s", driver);
    if (driver[0] != '\0')
        gpu_tree_link(&world->tree, path, target);
}

/* ---- tests ---- */

static void nothing_is_missing_on_a_good_machine(void)
{
    static const char *const SUBJECTS[] = {
        "/proc",   "pid namespace", "others' processes", "delays",      "perf events", "system",
        "cgroups", "pressure",      "open files",        "PCI, NVIDIA", "render nodes"};
    struct world world = world_of("doctor/machine");
    ask(&world);
    check_rows(&world);
    CHECK_UINT(world.batch.row_count, CHECK_COUNT(SUBJECTS));
    for (size_t i = 0; i < CHECK_COUNT(SUBJECTS); i++) {
        CHECK_CASE(SUBJECTS[i]);
        check_row(&world, SUBJECTS[i], "good", "", "");
    }
    check_row(&world, "system", "good", "Linux 6.1.0-31-amd64, debian", "");
    check_row(&world, "open files", "good", "at most 524288, and 3 processes", "");
    check_row(&world, "PCI, NVIDIA", "good", "1 device with the driver nvidia", "");
    done(&world);
}

static void who_is_hidden_from_us(void)
{
    static const struct {
        const char *options, *groups, *capabilities;
        const char *severity, *finding, *remedy;
    } CASES[] = {
        {"rw", "1000", NOTHING, "good", "no process is hidden", ""},
        {"rw,hidepid=off", "1000", NOTHING, "good", "no process is hidden", ""},
        {"rw,hidepid=0", "1000", NOTHING, "good", "no process is hidden", ""},
        {"rw,hidepid=1", "1000", NOTHING, "problem", "noaccess", "remount,hidepid=0"},
        {"rw,hidepid=noaccess", "1000", NOTHING, "problem", "noaccess", "remount,hidepid=0"},
        {"rw,hidepid=2", "1000", NOTHING, "problem", "invisible", "remount,hidepid=0"},
        {"rw,hidepid=invisible", "1000", NOTHING, "problem", "invisible", "remount,hidepid=0"},
        {"rw,hidepid=ptraceable", "1000", NOTHING, "problem", "ptraceable", "remount,hidepid=0"},
        {"rw,hidepid=4", "1000", NOTHING, "problem", "ptraceable", "remount,hidepid=0"},
        {"rw,hidepid=4", "1000", TRACE, "good", "not from us", ""},
        {"rw,hidepid=invisible", "1000", TRACE, "good", "not from us", ""},
        {"rw,gid=26,hidepid=2", "1000 44", NOTHING, "problem", "invisible", "getent group 26 "},
        {"rw,gid=26,hidepid=2", "26", NOTHING, "good", "not from us", ""},
        {"rw,gid=26,hidepid=2", "4 26 1000", NOTHING, "good", "not from us", ""},
        {"rw,gid=26,hidepid=2", "4 126 260", NOTHING, "problem", "invisible", "usermod -aG"},
        {"rw,gid=1000,hidepid=2", "", NOTHING, "good", "not from us", ""},
        {"rw,hidepid=2", "0 4", NOTHING, "good", "not from us", ""},
        {"rw,gid=26,hidepid=4", "26", NOTHING, "problem", "ptraceable", "remount"},
        {"rw,hidepid=7", "1000", NOTHING, "good", "no process is hidden", ""},
        {"rw,hidepid=22", "1000", NOTHING, "good", "no process is hidden", ""},
        {"rw,xhidepid=2,gid=", "1000", NOTHING, "good", "no process is hidden", ""},
        {"rw,gid=26x,hidepid=2", "1000", NOTHING, "problem", "invisible", "remount"},
    };
    struct world world = world_of("doctor/machine");
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].options);
        set_mount(&world, CASES[i].options);
        set_status(&world, "1000\t1000\t1000\t1000", CASES[i].groups, CASES[i].capabilities, "");
        ask(&world);
        check_row(&world, "/proc", CASES[i].severity, CASES[i].finding, CASES[i].remedy);
    }
    set_mount(&world, "rw,gid=26,hidepid=4"); // no group makes an exception
    ask(&world);
    char text[TEXT];
    text_at(&world, find(&world, "/proc", "problem"), VITALS_DIAGNOSIS_REMEDY, text);
    CHECK_NULL(strstr(text, "usermod"));
    set_mount(&world, "rw,subset=pid");
    ask(&world);
    check_row(&world, "/proc", "problem", "subset=pid", "mount -t proc");
    check_none(&world, "/proc", "good");
    done(&world);
}

static void a_container_says_how_to_see_more(void)
{
    struct world world = world_of("doctor/machine");
    gpu_tree_link(&world.tree, "proc/4242/ns/pid", "pid:[4026532500]");
    set_status(&world, "0\t0\t0\t0", "", "00000000a80425fb", "NSpid:\t17\n");
    ask(&world);
    check_row(&world, "pid namespace", "notice", "a container's", "docker run --pid=host");
    check_row(&world, "others' processes", "notice", "no CAP_SYS_PTRACE", "--cap-add SYS_PTRACE");
    check_row(&world, "delays", "notice", "no CAP_NET_ADMIN", "--cap-add NET_ADMIN");

    set_status(&world, "0\t0\t0\t0", "", "00000000a80425fb", "NSpid:\t4242\t17\n");
    ask(&world);
    check_row(&world, "pid namespace", "good", "an outer one", "");

    gpu_tree_remove(&world.tree, "proc/4242/ns/pid");
    set_status(&world, "0\t0\t0\t0", "", "00000000a80425fb", "NSpid:\t17\n");
    ask(&world);
    check_none(&world, "pid namespace", NULL);
    gpu_tree_link(&world.tree, "proc/4242/ns/pid", "nonsense");
    ask(&world);
    check_none(&world, "pid namespace", NULL);
    done(&world);
}

static void what_rights_open(void)
{
    struct world world = world_of("doctor/machine");
    set_user(&world);
    ask(&world);
    check_row(&world, "others' processes", "notice", "no CAP_SYS_PTRACE", "sudo setcap ");
    check_row(&world, "delays", "notice", "no CAP_NET_ADMIN", "sudo setcap ");

    set_status(&world, "1000\t1000\t1000\t1000", "", TRACE, "");
    ask(&world);
    check_row(&world, "others' processes", "notice", "no CAP_DAC_READ_SEARCH", "sudo setcap ");

    set_status(&world, "1000\t1000\t1000\t1000", "", "0000000000081004", "");
    ask(&world);
    check_row(&world, "others' processes", "good", "all of them", "");
    check_row(&world, "delays", "good", "counts", "");

    set_status(&world, "1000\t1000\t1000\t1000", "", NOTHING, "NoNewPrivs:\t1\n");
    ask(&world);
    check_row(&world, "others' processes", "notice", "no CAP_SYS_PTRACE", "no_new_privs");

    set_mount(&world, "rw,hidepid=2");
    gpu_tree_link(&world.tree, "proc/4242/ns/user", "user:[4026532700]");
    set_status(&world, "0\t0\t0\t0", "", "000001ffffffffff", "");
    ask(&world);
    check_row(&world, "others' processes", "notice", "in this user namespace", "as root");
    check_row(&world, "delays", "notice", "no CAP_NET_ADMIN", "user namespace");
    check_row(&world, "/proc", "problem", "invisible", "remount");

    gpu_tree_remove(&world.tree, "proc/4242/status"); // nothing is known, and nothing said
    ask(&world);
    check_none(&world, "others' processes", NULL);
    check_none(&world, "delays", NULL);
    check_none(&world, "perf events", NULL);
    check_none(&world, "/proc", NULL);
    done(&world);
}

static void what_perf_may(void)
{
    static const struct {
        const char *name, *paranoid, *capabilities, *unit;
        const char *severity, *finding;
    } CASES[] = {
        {"nobody needs it", "2\n", NOTHING, "cpu", "good", "nothing here needs them"},
        {"a name that begins so", "2\n", NOTHING, "xen", "good", "nothing here needs them"},
        {"an Intel GPU", "2\n", NOTHING, "i915", "notice", "not counted exactly"},
        {"a discrete one", "4\n", NOTHING, "xe_0000_03_00.0", "notice", "paranoid is 4"},
        {"everybody may", "0\n", NOTHING, "i915", "good", "all of them"},
        {"everybody may all", "-1\n", NOTHING, "i915", "good", "all of them"},
        {"CAP_PERFMON", "3\n", "0000004000000000", "i915", "good", "all of them"},
        {"CAP_SYS_ADMIN", "3\n", "0000000000200000", "i915", "good", "all of them"},
    };
    struct world world = world_of("doctor/machine");
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        char path[128];
        CHECK_CASE(CASES[i].name);
        gpu_tree_remove(&world.tree, "sys/bus/event_source");
        snprintf(path, sizeof path, "sys/bus/event_source/devices/%s/type", CASES[i].unit);
        put(&world, path, "10\n");
        put(&world, "proc/sys/kernel/perf_event_paranoid", CASES[i].paranoid);
        set_status(&world, "1000\t1000\t1000\t1000", "", CASES[i].capabilities, "");
        ask(&world);
        bool is_notice = CASES[i].severity[0] == 'n';
        check_row(&world, "perf events", CASES[i].severity, CASES[i].finding,
                  is_notice ? "sysctl kernel.perf_event_paranoid=0" : "");
    }
    done(&world);
}

static void what_the_kernel_counts(void)
{
    struct world world = world_of("doctor/machine");
    put(&world, "proc/sys/kernel/task_delayacct", "0\n");
    gpu_tree_remove(&world.tree, "proc/pressure");
    put(&world, "proc/4242/mountinfo", "23 27 0:22 / /proc rw - proc proc rw\n");
    put(&world, "proc/4242/limits", "Max open files            64      128     files\n");
    ask(&world);
    check_row(&world, "delays", "notice", "task_delayacct is 0", "sysctl kernel.task_delayacct=1");
    check_none(&world, "delays", "good");
    check_row(&world, "pressure", "notice", "counts none", "sudo update-grub");
    check_row(&world, "cgroups", "notice", "none is mounted", "mount -t cgroup2");
    check_row(&world, "open files", "notice", "at most 128, and 3 processes", "prlimit --pid $$");

    put(&world, "proc/4242/limits", "Max open files            64      unlimited     files\n");
    put(&world, "proc/4242/mountinfo",
        "31 23 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
    ask(&world);
    check_row(&world, "open files", "good", "at most unlimited", "");
    check_row(&world, "cgroups", "good", "version 1", "");

    gpu_tree_remove(&world.tree, "sys/class");
    gpu_tree_remove(&world.tree, "proc/4242/limits");
    ask(&world);
    check_row(&world, "/sys", "problem", "not mounted", "mount -t sysfs");
    check_none(&world, "open files", NULL);
    done(&world);
}

static void a_device_without_a_driver(void)
{
    static const struct {
        const char *system, *vendor, *subject, *load, *install;
    } CASES[] = {
        {"ID=debian\n", "0x10de\n", "PCI, NVIDIA", "sudo modprobe nvidia",
         "sudo apt install nvidia-driver"},
        {"NAME=x\nID=\"ubuntu\"\n", "0x10de\n", "PCI, NVIDIA", "sudo modprobe nvidia",
         "sudo ubuntu-drivers install"},
        {"ID_LIKE=\"rhel centos fedora\"\nID='rocky'\n", "0x10de\n", "PCI, NVIDIA",
         "sudo modprobe nvidia", "sudo dnf install akmod-nvidia"},
        {"ID=arch\n", "0x1002\n", "PCI, AMD", "sudo modprobe amdgpu", "sudo pacman -S"},
        {"ID=opensuse-leap\n", "0x8086\n", "PCI, Intel", "modprobe i915", "sudo zypper"},
        {"ID=linuxmint\nID_LIKE='ubuntu debian'\n", "0x10de\n", "PCI, NVIDIA",
         "sudo modprobe nvidia", "sudo ubuntu-drivers install"},
        {"ID_LIKE=fedora\nID=debian\n", "0x10de\n", "PCI, NVIDIA", "sudo modprobe nvidia",
         "sudo apt install nvidia-driver"},
        {"ID=haiku\n", "0x10de\n", "PCI, NVIDIA", "sudo modprobe nvidia",
         "https://www.nvidia.com/drivers"},
        {"ID=debian;reboot\n", "0x1002\n", "PCI, AMD", "sudo modprobe amdgpu",
         "sudo apt install firmware-amd-graphics"},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        struct world world = world_of("doctor/machine");
        CHECK_CASE(CASES[i].system);
        gpu_tree_remove(&world.tree, "sys/bus/pci/devices/0000:17:00.0");
        put(&world, "etc/os-release", CASES[i].system);
        add_device(&world, "0000:65:00.0", "0x030000\n", CASES[i].vendor, "");
        ask(&world);
        check_row(&world, CASES[i].subject, "problem", "0000:65:00.0 has no driver", CASES[i].load);
        check_row(&world, CASES[i].subject, "problem", "", CASES[i].install);
        add_device(&world, "0000:66:00.0", "0x120000\n", CASES[i].vendor, "");
        ask(&world);
        check_row(&world, CASES[i].subject, "problem",
                  "2 devices have no driver: 0000:65:00.0 and others", CASES[i].load);
        done(&world);
    }
}

static void devices_with_drivers(void)
{
    struct world world = world_of("doctor/machine");
    add_device(&world, "0000:18:00.0", "0x030200\n", "0x10de\n", "nvidia");
    put(&world, "sys/bus/pci/devices/0000:18:00.0/power/runtime_status", "suspended\n");
    add_device(&world, "0000:19:00.0", "0x030200\n", "0x10de\n", "vfio-pci");
    add_device(&world, "0000:1a:00.0", "0x030200\n", "0x10de\n", "nouveau");
    add_device(&world, "0000:00:02.0", "0x030000\n", "0x8086\n", "i915");
    put(&world, "sys/bus/pci/devices/0000:00:02.0/power/runtime_status", "suspended\n");
    add_device(&world, "0000:00:02.1", "0x030000\n", "0x8086\n", "");
    gpu_tree_link(&world.tree, "sys/bus/pci/devices/0000:00:02.1/physfn", "../0000:00:02.0");
    ask(&world);
    check_row(&world, "PCI, NVIDIA", "notice", "1 device with the driver nouveau: it tells little",
              "apt install nvidia-driver");
    check_row(&world, "PCI, NVIDIA", "good",
              "2 devices with the driver nvidia, 1 of them asleep and left so", "");
    check_row(&world, "PCI, Intel", "good", "1 device with the driver i915, asleep and left so",
              "");
    check_none(&world, "PCI, Intel", "problem"); // an unused virtual function
    check_none(&world, "PCI, NVIDIA", "problem");

    gpu_tree_remove(&world.tree, "sys/bus/pci/devices/0000:17:00.0");
    gpu_tree_remove(&world.tree, "sys/bus/pci/devices/0000:18:00.0");
    ask(&world);
    check_row(&world, "PCI, NVIDIA", "good", "vfio-pci: kept for a virtual machine", "");

    gpu_tree_remove(&world.tree, "sys/bus/pci");
    put(&world, "sys/bus/pci/devices/0000:00:00.0/class", "0x060000\n");
    ask(&world);
    check_row(&world, "PCI", "good", "no graphics device", "");
    done(&world);
}

static void nodes_that_are_not_in_a_container(void)
{
    struct world world = world_of("doctor/machine");
    gpu_tree_remove(&world.tree, "dev/dri");
    ask(&world);
    check_row(&world, "render nodes", "notice", "not in /dev", "--device=/dev/dri");
    gpu_tree_link(&world.tree, "sys/class/drm/renderD128/device/driver", "../../nvidia");
    ask(&world);
    check_none(&world, "render nodes", NULL); // CUDA needs none
    gpu_tree_remove(&world.tree, "sys/class/drm/renderD128");
    put(&world, "sys/class/drm/renderD/dev", "226:1\n"); // is none, nor is the next
    put(&world, "sys/class/drm/renderD1;reboot/dev", "226:1\n");
    ask(&world);
    check_none(&world, "render nodes", NULL);
    done(&world);
}

static void linux_below_windows(void)
{
    struct world world = world_of("doctor/machine");
    gpu_tree_remove(&world.tree, "sys/bus/pci");
    put(&world, "proc/sys/kernel/osrelease", "5.15.153.1-microsoft-standard-WSL2\n");
    gpu_tree_link(&world.tree, "proc/4242/ns/pid", "pid:[4026532500]");
    gpu_tree_remove(&world.tree, "proc/pressure");
    set_user(&world);
    ask(&world);
    check_row(&world, "Windows", "notice", "/dev/dxg is not there", "wsl.exe --update");
    check_row(&world, "pid namespace", "good", "each distribution", "");
    check_row(&world, "others' processes", "notice", "", "sudo setcap");
    check_row(&world, "pressure", "notice", "", ".wslconfig");
    check_none(&world, "PCI", NULL);
    put(&world, "dev/dxg", "");
    ask(&world);
    check_row(&world, "Windows", "good", "/dev/dxg", "");
    put(&world, "proc/sys/kernel/osrelease", "4.4.0-19041-Microsoft\n");
    ask(&world);
    check_row(&world, "Windows", "notice", "the first version", "wsl.exe --set-version");
    done(&world);
}

/* ---- hostile ---- */

static const char *const FILES[] = {
    "proc/4242/status",
    "proc/4242/mountinfo",
    "proc/4242/cgroup",
    "proc/4242/limits",
    "proc/sys/kernel/osrelease",
    "proc/sys/kernel/perf_event_paranoid",
    "proc/sys/kernel/task_delayacct",
    "proc/pressure/cpu",
    "etc/os-release",
    "sys/bus/pci/devices/0000:17:00.0/class",
    "sys/bus/pci/devices/0000:17:00.0/vendor",
    "sys/bus/pci/devices/0000:17:00.0/power/runtime_status",
};

static void files_that_are_none(void)
{
    static char huge[1 << 20];
    static const char *const CONTENTS[] = {"",
                                           "\n",
                                           "\n\n\n",
                                           "\xff\xfe\x80 \x1b[2J\n",
                                           ":::::\n",
                                           "-1\n",
                                           "0x\n",
                                           "99999999999999999999999999\n",
                                           "Groups:\t\nCapEff:\t\nUid:\t1\nGid:\nNSpid:\n",
                                           "CapEff:\tffffffffffffffffffffffffffff\nID=\n",
                                           "ID=\"\nID='\nID=a b\n",
                                           huge};
    memset(huge, '7', sizeof huge - 1);
    for (size_t file = 0; file < CHECK_COUNT(FILES); file++) {
        struct world world = world_of("doctor/machine");
        CHECK_CASE(FILES[file]);
        for (size_t i = 0; i < CHECK_COUNT(CONTENTS); i++) {
            put(&world, FILES[file], CONTENTS[i]);
            ask(&world);
            // A release that the kernel never has may stand in a finding, which is made safe later.
            if (strcmp(FILES[file], "proc/sys/kernel/osrelease") != 0)
                check_rows(&world);
        }
        gpu_tree_remove(&world.tree, FILES[file]);
        ask(&world);
        check_rows(&world);
        gpu_tree_parents(&world.tree, FILES[file]);
        gpu_tree_link(&world.tree, FILES[file], "/nowhere/at/all");
        ask(&world);
        check_rows(&world);
        done(&world);
    }
}

static void names_that_a_shell_would_run(void)
{
    struct world world = world_of("doctor/machine");
    put(&world, "etc/os-release", "ID=\"$(reboot)\"\n");
    add_device(&world, "$(reboot);\nreboot", "0x030000\n", "0x10de\n", "");
    add_device(&world, "0000:20:00.0", "0x030000\n", "0x1002\n", "`reboot`\n;reboot");
    put(&world, "sys/class/drm/renderD128\nreboot/dev", "226:1\n");
    ask(&world);
    for (size_t i = 0; i < world.batch.row_count; i++) {
        char text[TEXT];
        text_at(&world, i, VITALS_DIAGNOSIS_REMEDY, text);
        if (strstr(text, "psi=1") == NULL)
            CHECK_NULL(strstr(text, "reboot"));
    }
    done(&world);
}

static void more_kinds_of_devices_than_are_told(void)
{
    struct world world = world_of("doctor/machine");
    for (unsigned i = 0; i < 40; i++) {
        char address[32], driver[128];
        snprintf(address, sizeof address, "0001:%02x:00.0", i);
        snprintf(driver, sizeof driver, "driver%u_%s", i,
                 "a_name_that_is_as_long_as_no_module_of_the_kernel_can_be_or_ever_will_be");
        add_device(&world, address, "0x030000\n", "0x10de\n", driver);
    }
    ask(&world);
    check_rows(&world);
    CHECK(world.batch.row_count < 32);
    done(&world);
}

static void memory_runs_out_at_every_place(void)
{
    struct world world = world_of("doctor/machine");
    struct metric_set wanted = {0};
    for (unsigned number = 1; number <= 4; number++)
        metric_set_add(&wanted, metric_of(VITALS_TABLE_DIAGNOSIS, number));
    int64_t live = memory_live();
    unsigned failures = 0;
    for (uint64_t nth = 1;; nth++) {
        struct row_batch batch = {0};
        batch_reset(&batch, &wanted);
        world.os = (struct os){.var = -1};
        gpu_tree_open(&world.tree, &world.os);
        memory_fail_at(nth);
        int code = os_read_table(&world.os, VITALS_TABLE_DIAGNOSIS, &batch);
        memory_fail_at(0);
        gpu_tree_close(&world.os);
        batch_done(&batch);
        if (code == 0)
            break;
        CHECK_INT(code, -ENOMEM);
        failures++;
    }
    CHECK(failures > 4);
    CHECK_INT(memory_live(), live);
    done(&world);
}

static const check_test tests[] = {
    {"nothing is missing on a good machine", nothing_is_missing_on_a_good_machine},
    {"who is hidden from us", who_is_hidden_from_us},
    {"a container says how to see more", a_container_says_how_to_see_more},
    {"what rights open", what_rights_open},
    {"what perf may", what_perf_may},
    {"what the kernel counts", what_the_kernel_counts},
    {"a device without a driver", a_device_without_a_driver},
    {"devices with drivers", devices_with_drivers},
    {"nodes that are not in a container", nodes_that_are_not_in_a_container},
    {"Linux below Windows", linux_below_windows},
    {"files that are none", files_that_are_none},
    {"names that a shell would run", names_that_a_shell_would_run},
    {"more kinds of devices than are told", more_kinds_of_devices_than_are_told},
    {"memory runs out at every place", memory_runs_out_at_every_place},
};
CHECK_TESTS(tests)
