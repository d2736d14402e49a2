/* What a person is told about NVIDIA's driver, and what mends it: machines of our own (files of
 * /proc, /sys and /dev) with the simulated driver library (tests/nvml). */
#include "nvidia_world.h"

#include "gpu/nvidia/state.h"

static struct row_batch found;

static void diagnose(void)
{
    struct metric_set all = {0};
    for (vitals_metric m = 0; (m = vitals_metric_next(m)) != 0;) {
        if (vitals_metric_table(m) == VITALS_TABLE_DIAGNOSIS)
            metric_set_add(&all, m);
    }
    batch_reset(&found, &all);
    gpu_world_backend("nvidia")->diagnose(&world.context, world.state, &found);
    CHECK_FALSE(found.failed);
}

/* The text of a row, "" where it has none; NULL: there is no such row. Valid until the next call.
 */
static const char *told(const char *label, vitals_metric metric)
{
    static char text[512];
    for (size_t i = 0; i < found.row_count; i++) {
        const struct batch_row *row = &found.rows[i];
        if (row->entity != VITALS_TABLE_DIAGNOSIS || !span_equal(batch_label(&found, row), label))
            continue;
        const struct batch_cell *cell = batch_find(&found, row, metric);
        CHECK_NOT_NULL(cell);
        struct span span = batch_span(&found, cell);
        snprintf(text, sizeof text, "%.*s", (int)span.size, span.bytes);
        return text;
    }
    return NULL;
}

static void check_row(const char *label, const char *severity, const char *finding,
                      const char *remedy)
{
    CHECK_CASE(label);
    CHECK_STR(told(label, VITALS_DIAGNOSIS_SEVERITY), severity);
    CHECK_STR(told(label, VITALS_DIAGNOSIS_SUBJECT), label);
    CHECK_CONTAINS(told(label, VITALS_DIAGNOSIS_FINDING), finding);
    if (remedy[0])
        CHECK_CONTAINS(told(label, VITALS_DIAGNOSIS_REMEDY), remedy);
    else
        CHECK_STR(told(label, VITALS_DIAGNOSIS_REMEDY), "");
}

/* ---- machines ---- */

static void put(const char *name, const char *text)
{
    gpu_tree_text(&world.tree, name, text);
}

static void put_device(void)
{
    put("sys/bus/pci/devices/0000:17:00.0/vendor", "0x10de\n");
    put("sys/bus/pci/devices/0000:17:00.0/class", "0x030200\n");
}

static void put_module(const char *version)
{
    char text[256];
    snprintf(text, sizeof text,
             "NVRM version: NVIDIA UNIX x86_64 Kernel Module  %s  Wed Jan  1 00:00:00 UTC 2025\n"
             "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n",
             version);
    put("proc/driver/nvidia/version", text);
}

static void put_nodes(void)
{
    put("dev/nvidiactl", "");
    put("dev/nvidia0", "");
}

static void end(void)
{
    close_driver();
    batch_done(&found);
    found = (struct row_batch){0};
}

static void open_failing(const char *variant, const char *scenario)
{
    CHECK(gpu_world_open(&world, "nvidia", variant, scenario) < 0);
    gpu_world_plant(&world, "");
}

/* ---- what is told ---- */

static void a_healthy_machine_needs_nothing(void)
{
    open_driver("r580", "two-healthy");
    gpu_world_plant(&world, "");
    put_device();
    put_module("580.65.06");
    put_nodes();
    diagnose();
    check_row("nvidia kernel module", "good", "580.65.06", "");
    check_row("nvidia device nodes", "good", "can be opened", "");
    check_row("nvidia library", "good", "functions", "");
    check_row("nvidia driver", "good", "version 580.65.06, 2 devices", "");
    CHECK_UINT(found.row_count, 4);
    end();
}

static void a_machine_without_nvidia_has_no_problem(void)
{
    open_failing("no-such-variant", NULL);
    put("sys/class/none", "");
    diagnose();
    check_row("nvidia kernel module", "good", "no NVIDIA device", "");
    check_row("nvidia library", "good", "", "");
    CHECK_UINT(found.row_count, 2);
    end();
}

static void a_device_without_a_driver_needs_one(void)
{
    open_failing("no-such-variant", NULL);
    put_device();
    diagnose();
    check_row("nvidia kernel module", "problem", "not loaded", "sudo modprobe nvidia");
    check_row("nvidia library", "problem", "", "install");
    end();
}

static void a_container_without_devices_is_started_with_them(void)
{
    open_failing("no-such-variant", NULL);
    put_module("580.65.06");
    diagnose();
    check_row("nvidia device nodes", "problem", "/dev/nvidiactl is not there",
              "docker run --gpus all");
    check_row("nvidia library", "problem", "", "docker run --gpus all");
    end();
}

static void a_library_of_another_version_is_reloaded(void)
{
    open_failing("r580", "init-version-mismatch");
    put_device();
    put_module("570.10");
    put_nodes();
    diagnose();
    check_row("nvidia driver", "problem", "the loaded kernel module 570.10", "sudo reboot");
    end();
    open_driver("r580", NULL); /* it was opened all the same */
    gpu_world_plant(&world, "");
    put_module("570.10");
    put_nodes();
    diagnose();
    check_row("nvidia driver", "problem", "580.65.06", "sudo rmmod");
    end();
}

static void every_failure_of_starting_has_a_remedy(void)
{
    static const struct {
        const char *scenario, *finding, *remedy;
    } cases[] = {
        {"init-driver-not-loaded", "driver not loaded", "sudo modprobe nvidia"},
        {"init-library-not-found", "lacks another of its libraries", "--reinstall"},
        {"init-no-permission", "no permission", "sudo usermod"},
        {"init-unknown", "nvmlInit says 999", "sudo dmesg"},
    };
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        open_failing("r580", cases[i].scenario);
        put_device();
        diagnose();
        check_row("nvidia driver", "problem", cases[i].finding, cases[i].remedy);
        end();
    }
}

static void a_driver_that_came_since_is_told(void)
{
    open_failing("r580", "init-unknown");
    setenv("VITALS_NVML_SCENARIO", "", 1);
    diagnose();
    check_row("nvidia driver", "notice", "can be now", "");
    end();
}

static void a_lost_device_and_a_denied_one_are_told(void)
{
    open_driver("r580",
                write_scenario("[gpu 0]\n[gpu 1]\n[gpu 2]\n"
                               "[call nvmlDeviceGetHandleByIndex_v2]\ngpu = 1\nresult = 15\n"
                               "[call nvmlDeviceGetHandleByIndex_v2]\ngpu = 2\nresult = 4\n"));
    gpu_world_plant(&world, "");
    diagnose();
    check_row("nvidia device 1", "problem", "", "sudo nvidia-smi --gpu-reset");
    check_row("nvidia device 2", "problem", "", "sudo usermod");
    CHECK_NULL(told("nvidia device 0", VITALS_DIAGNOSIS_SEVERITY));
    end();
    write_scenario(NULL);
}

static void who_has_the_counters_is_told(void)
{
    open_driver("r580", NULL);
    gpu_world_plant(&world, "");
    put("proc/4711/comm", "nv-hostengine\n");
    diagnose();
    check_row("nvidia counters", "notice", "nv-hostengine", "systemctl stop");
    end();
}

static void below_windows_there_is_no_module_and_no_process(void)
{
    open_failing("no-such-variant", NULL);
    put("proc/sys/kernel/osrelease", "5.15.167.4-microsoft-standard-WSL2\n");
    put("proc/version", "Linux version 5.15.167.4-microsoft-standard-WSL2 (root@x) #1 SMP\n");
    diagnose();
    check_row("nvidia kernel module", "good", "Windows", "");
    check_row("nvidia library", "problem", "", "/usr/lib/wsl/lib");
    check_row("nvidia wsl", "notice", "does not report which processes", "");
    end();
}

/* ---- the version of the kernel module ---- */

static void versions_are_found_in_both_modules_texts(void)
{
    static const struct {
        const char *text, *version;
    } cases[] = {
        {"NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun Jul 27 2025", "580.65.06"},
        {"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  595.45.04  Release Build",
         "595.45.04"},
        {"", ""},
        {"NVRM version: x86_64", ""},
        {"1.", "1."},
        {"580", ""},
        {"1111111111111111111111111111111111111111.2 3.4", "3.4"},
    };
    for (size_t i = 0; i < CHECK_COUNT(cases); i++) {
        char out[32];
        CHECK_CASE(cases[i].text);
        nvidia_module_version(cases[i].text, out, sizeof out);
        CHECK_STR(out, cases[i].version);
    }
}

static const check_test tests[] = {
    {"a healthy machine needs nothing", a_healthy_machine_needs_nothing},
    {"a machine without NVIDIA has no problem", a_machine_without_nvidia_has_no_problem},
    {"a device without a driver needs one", a_device_without_a_driver_needs_one},
    {"a container without devices is started with them",
     a_container_without_devices_is_started_with_them},
    {"a library of another version is reloaded", a_library_of_another_version_is_reloaded},
    {"every failure of starting has a remedy", every_failure_of_starting_has_a_remedy},
    {"a driver that came since is told", a_driver_that_came_since_is_told},
    {"a lost device and a denied one are told", a_lost_device_and_a_denied_one_are_told},
    {"who has the counters is told", who_has_the_counters_is_told},
    {"below Windows there is no module and no process",
     below_windows_there_is_no_module_and_no_process},
    {"versions are found in both modules' texts", versions_are_found_in_both_modules_texts},
};
CHECK_TESTS(tests)
