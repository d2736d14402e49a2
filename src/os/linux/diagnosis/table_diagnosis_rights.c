/* table_diagnosis_rights.c: which processes are visible, what may be read of those of other users,
 * what this kernel counts, and what our limits permit: rows of the table diagnosis. The effect of
 * each capability was measured on Linux 6.18. Thread rule: workers only. */
#include "os/linux/cgroup/cgroup.h"
#include "os/linux/diagnosis/ourselves.h"
#include "os/linux/process/process_tables.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const HIDDEN[] = {
    [HIDE_CONTENT] = "hidepid=noaccess: of other users' processes nothing can be read",
    [HIDE_PROCESSES] = "hidepid=invisible: other users' processes are not seen",
    [HIDE_UNTRACED] = "hidepid=ptraceable: only processes that we could trace are seen",
};

static void diagnose_proc(struct ourselves *self)
{
    const struct proc_mount *mount = &self->mount;
    bool exempt = ourselves_sees_hidden(self);
    struct os_pids pids = {0};
    int result = os_list_processes(self->os, &pids);
    self->processes = pids.count;
    self->listed = result == 0 && pids.count > 0;
    os_pids_done(&pids);
    self->out->failed |= result == -ENOMEM;
    if (!self->listed) {
        char finding[160];
        (void)snprintf(finding, sizeof finding, "it cannot be listed (%s): no process is seen",
                       result < 0 ? strerror(-result) : "nothing is in it");
        diagnosis_add(self->out, DIAGNOSIS_PROBLEM, "/proc", finding,
                      result == -EMFILE ? "# let it open more files:\nulimit -n 1024"
                                        : "sudo mount -t proc proc /proc\n"
                                          "# or run it outside of this sandbox");
        return;
    }
    if (mount->only_pids)
        diagnosis_add(self->out, DIAGNOSIS_PROBLEM, "/proc",
                      "subset=pid: it shows processes, and nothing of the machine",
                      "sudo mount -t proc proc /proc");
    if (mount->hide != HIDE_NOTHING && !self->known)
        return;
    if (mount->hide != HIDE_NOTHING && !exempt) {
        char remedy[512];
        int size = 0;
        if (mount->has_group && mount->hide != HIDE_UNTRACED)
            size = snprintf(remedy, sizeof remedy,
                            "sudo usermod -aG \"$(getent group %llu | cut -d: -f1)\" \"$USER\"\n"
                            "# then log in again; or show them to everybody:\n",
                            (unsigned long long)mount->group);
        snprintf(remedy + size, sizeof remedy - (size_t)size,
                 "sudo mount -o remount,hidepid=0 /proc");
        diagnosis_add(self->out, DIAGNOSIS_PROBLEM, "/proc", HIDDEN[mount->hide], remedy);
    } else if (mount->hide != HIDE_NOTHING) {
        diagnose_good(self, "/proc", "it hides processes from others (hidepid), not from us");
    } else if (mount->known && !mount->only_pids) {
        diagnose_good(self, "/proc", "no process is hidden from anybody");
    }
}

static void diagnose_namespace(const struct ourselves *self)
{
    static const char subject[] = "pid namespace";
    if (self->depth > 1)
        diagnose_good(self, subject, "/proc is that of an outer one: its processes are seen");
    else if (self->pids == PLACE_FIRST)
        diagnose_good(self, subject, "the machine's first: none is outside");
    else if (self->pids == PLACE_INNER && self->wsl)
        diagnose_good(self, subject,
                      "each distribution below Windows has its own: others are not seen");
    else if (self->pids == PLACE_INNER)
        diagnosis_add(self->out, DIAGNOSIS_NOTICE, subject,
                      "a container's: processes outside of it are not seen",
                      "# add to the command that starts this container:\n"
                      "# docker run --pid=host ...; in Kubernetes: hostPID: true");
}

static void diagnose_others(const struct ourselves *self)
{
    static const char subject[] = "others' processes";
    bool trace = ourselves_may(self, CAPABILITY_SYS_PTRACE);
    bool search = ourselves_may(self, CAPABILITY_DAC_READ_SEARCH);
    if (!self->known || !self->listed)
        return;
    /* Sandboxes may deny what capabilities would permit, so it is tried. The first process belongs
     * to another user, unless it is this one. */
    char target[8];
    bool tried = readlinkat(self->os->proc, "1/exe", target, sizeof target) >= 0;
    bool refused = !tried && (errno == EACCES || errno == EPERM);
    tried |= !refused && faccessat(self->os->proc, "1", F_OK, 0) == 0;
    if (trace && self->users == PLACE_INNER)
        diagnosis_add(self->out, DIAGNOSIS_NOTICE, subject,
                      "all of them can be read in this user namespace, and none outside",
                      self->rights);
    else if (trace && search && refused)
        diagnosis_add(self->out, DIAGNOSIS_NOTICE, subject,
                      "/proc/1/exe is refused though our rights allow it: a sandbox or a security "
                      "module keeps them from us",
                      "");
    else if (trace && search && tried)
        diagnose_good(self, subject, "all of them can be read");
    else if (trace && search)
        diagnosis_add(self->out, DIAGNOSIS_NOTICE, subject,
                      "our rights allow to read them, but there is no process 1 to try it on", "");
    else
        diagnosis_add(self->out, DIAGNOSIS_NOTICE, subject,
                      trace ? "no CAP_DAC_READ_SEARCH: their I/O, open files, environment and "
                              "clients of AMD's and Intel's GPUs cannot be read"
                            : "no CAP_SYS_PTRACE: their I/O, open files, environment, PSS and "
                              "clients of AMD's and Intel's GPUs cannot be read",
                      self->rights);
}

static bool has_intel_counters(const struct os *os)
{
    struct os_sys_names names;
    os_sys_names(&names, os, "bus/event_source/devices");
    for (const char *name; (name = os_sys_next(&names)) != NULL;) {
        struct span text = {name, strlen(name)};
        if (span_equal(text, "i915") || span_starts(text, "i915_") || span_equal(text, "xe") ||
            span_starts(text, "xe_"))
            return true;
    }
    return false;
}

/* Only a notice: without it, many processes cost more. */
static void diagnose_task_iterator(const struct ourselves *self)
{
    struct os_task_iterator *iterator = NULL;
    char finding[256];
    if (!self->os->live)
        return;
    int code = os_task_iterator_open(self->os, &iterator);
    os_task_iterator_close(iterator);
    if (code == 0)
        (void)snprintf(finding, sizeof finding,
                       "the kernel tells which of them have run (BPF), and only those are read");
    else
        (void)snprintf(finding, sizeof finding,
                       "all of their files are read each time: no BPF (%s)",
                       !self->os->bpf ? "switched off" : strerror(-code));
    diagnose_good(self, "reading processes", finding);
}

static void diagnose_perf(const struct ourselves *self)
{
    int64_t paranoid;
    char text[32], finding[160];
    struct span line = lines_read(self->os, self->os->proc, "sys/kernel/perf_event_paranoid", text,
                                  sizeof text, NULL);
    struct cursor at = cursor_over(line.bytes, line.size);
    if (!self->known || !cursor_i64(&at, &paranoid))
        return;
    bool needed = has_intel_counters(self->os);
    bool may = self->users != PLACE_INNER && (ourselves_may(self, CAPABILITY_PERFMON) ||
                                              ourselves_may(self, CAPABILITY_SYS_ADMIN));
    if (paranoid <= 0 || may) {
        diagnose_good(self, "perf events", "all of them may be counted");
        return;
    }
    snprintf(finding, sizeof finding, "kernel.perf_event_paranoid is %lld, and no CAP_PERFMON: %s",
             (long long)paranoid,
             needed ? "Intel's GPUs are not counted exactly" : "nothing here needs them");
    diagnosis_add(self->out, needed ? DIAGNOSIS_NOTICE : DIAGNOSIS_GOOD, "perf events", finding,
                  needed ? "sudo sysctl kernel.perf_event_paranoid=0" : "");
}

static void diagnose_delays(const struct ourselves *self)
{
    static const char subject[] = "delays";
    uint64_t on = 1;
    int error = 0;
    bool told = lines_u64(self->os, self->os->proc, "sys/kernel/task_delayacct", &on, &error);
    bool older = error == -ENOENT && self->listed; /* before 5.14, which counts always */
    bool may = self->users != PLACE_INNER && ourselves_may(self, CAPABILITY_NET_ADMIN);
    if (self->known && !may)
        diagnosis_add(self->out, DIAGNOSIS_NOTICE, subject,
                      "no CAP_NET_ADMIN: waits for swap and memory are not known, and others are "
                      "lower bounds",
                      self->rights);
    if (self->known && may && on != 0 && (told || older))
        diagnose_good(self, subject, "the kernel counts what processes wait for");
    if (told && on == 0)
        diagnosis_add(self->out, DIAGNOSIS_NOTICE, subject,
                      "kernel.task_delayacct is 0: waits for disks, swap and memory are not "
                      "counted",
                      "sudo sysctl kernel.task_delayacct=1");
}

/* From readable counters a user can infer what others compute (CVE-2020-8694): since 5.10 only root
 * may read them. */
static void diagnose_energy(const struct ourselves *self)
{
    static const char subject[] = "energy";
    uint64_t micro;
    int code = os_sys_u64(self->os, "class/powercap/intel-rapl:0/energy_uj", &micro);
    if (code == 0)
        diagnose_good(self, subject, "the processor's counters (RAPL) can be read");
    else if (code == -EACCES || code == -EPERM)
        diagnosis_add(self->out, DIAGNOSIS_NOTICE, subject,
                      "the processor's counters (RAPL) are for root alone: energy of the CPUs is "
                      "not known",
                      "# until the next boot; others may then guess what is computed:\n"
                      "sudo chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj");
}

/* ---- the kernel ---- */

/* Descriptors not used for processes: roots, files of the machine, workers, drivers. */
enum { OTHER_DESCRIPTORS = 128, LIMITS_TEXT = 4096 };

static void diagnose_pressure(const struct ourselves *self)
{
    static const char subject[] = "pressure";
    static const char grub[] = "echo 'GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX psi=1\"' | sudo tee "
                               "/etc/default/grub.d/psi.cfg\n"
                               "sudo update-grub\n# then reboot";
    static const char *const COMMANDS[FAMILIES] = {
        [FAMILY_OTHER] = "# boot with psi=1 on the kernel's command line",
        [FAMILY_DEBIAN] = grub,
        [FAMILY_UBUNTU] = grub,
        [FAMILY_FEDORA] = "sudo grubby --update-kernel=ALL --args=psi=1\n# then reboot",
        [FAMILY_ARCH] = "# boot with psi=1 on the kernel's command line",
        [FAMILY_SUSE] = "sudo pbl --add-option psi=1\nsudo pbl --config\n# then reboot",
    };
    const char *remedy = COMMANDS[self->family];
    if (self->wsl)
        remedy = "# in .wslconfig of your folder in Windows, below [wsl2]:\n"
                 "# kernelCommandLine = psi=1";
    else if (self->pids == PLACE_INNER)
        remedy = "# on the host: boot with psi=1 on the kernel's command line";

    char text[256];
    int64_t size = linux_read_line(self->os, self->os->proc, "pressure/cpu", text, sizeof text);
    if (size > 0)
        diagnose_good(self, subject, "the kernel counts who waits for CPUs, memory and disks");
    else if (size < 0 && os_availability((int)size) == VITALS_DENIED)
        diagnosis_add(self->out, DIAGNOSIS_NOTICE, subject, "/proc/pressure: permission denied",
                      "# run it outside of this sandbox");
    else
        diagnosis_add(self->out, DIAGNOSIS_NOTICE, subject,
                      "this kernel counts none: it is switched off, not built in, or before 4.20",
                      remedy);
}

static void diagnose_cgroups(const struct ourselves *self)
{
    static const char subject[] = "cgroups";
    struct cgroups cgroups;
    cgroups_find(&cgroups, self->os, 0, 1u << CGROUP_SECOND);

    /* Check the rights of the folder: can a group be made below ours? */
    const struct cgroup_found *found = &cgroups.found[CGROUP_SECOND];
    bool may = found->version == 2 && !found->place.outer &&
               faccessat(self->os->sys, found->place.path.bytes, W_OK | X_OK, AT_EACCESS) == 0;
    if (!cgroups.first && !cgroups.second)
        diagnosis_add(self->out, DIAGNOSIS_NOTICE, subject,
                      "none is mounted: limits, containers and jobs are not known",
                      "sudo mount -t cgroup2 cgroup2 /sys/fs/cgroup");
    else if (cgroups.first)
        diagnose_good(self, subject,
                      cgroups.second ? "versions 1 and 2: limits are read from version 1"
                                     : "version 1");
    else
        diagnose_good(self, subject,
                      may ? "version 2, and we may make groups below ours"
                          : "version 2, and we may not make groups below ours");
}

static void diagnose_descriptors(const struct ourselves *self)
{
    struct linux_limit_values values[LINUX_LIMITS] = {{0}};
    char text[LIMITS_TEXT], finding[160], limit_text[24] = "unlimited";
    const struct linux_limit *nofile = linux_limit_find((struct span){"nofile", 6});
    int64_t size = linux_read_line(self->os, self->os->proc, "self/limits", text, sizeof text - 1);
    uint64_t limit = 0; // not known
    if (size > 0 && nofile != NULL) {
        text[size] = '\n'; /* a line that was cut is ignored; the last newline was removed */
        (void)linux_parse_limits(text, (size_t)size + 1, values);
        const struct linux_limit_values *found = &values[nofile - LINUX_LIMIT];
        limit = found->known ? found->hard : 0;
    }
    uint64_t count = self->processes;
    if (limit == 0)
        return;
    if (limit != LINUX_UNLIMITED)
        snprintf(limit_text, sizeof limit_text, "%llu", (unsigned long long)limit);
    bool enough = limit >= count + OTHER_DESCRIPTORS;
    snprintf(finding, sizeof finding, "at most %s, and %llu %s%s", limit_text,
             (unsigned long long)count, count == 1 ? "process" : "processes",
             enough ? "" : ": most are opened anew at each reading, which costs more");
    diagnosis_add(self->out, enough ? DIAGNOSIS_GOOD : DIAGNOSIS_NOTICE, "open files", finding,
                  enough ? "" : "sudo prlimit --pid $$ --nofile=1048576:1048576");
}

void diagnose_rights(struct ourselves *self)
{
    char finding[192];
    diagnose_proc(self);
    diagnose_namespace(self);
    diagnose_others(self);
    diagnose_delays(self);
    diagnose_energy(self);
    diagnose_perf(self);
    diagnose_task_iterator(self);
    if (self->kernel[0] != '\0') {
        snprintf(finding, sizeof finding, "Linux %s%s%s", self->kernel,
                 self->system[0] != '\0' ? ", " : "", self->system);
        diagnose_good(self, "system", finding);
        if (!os_sys_exists(self->os, "class"))
            diagnosis_add(self->out, DIAGNOSIS_PROBLEM, "/sys",
                          "it is not mounted: no device but NVIDIA's is found",
                          "sudo mount -t sysfs sysfs /sys");
    }
    if (!self->listed)
        return; /* nothing is known of what follows */
    diagnose_cgroups(self);
    diagnose_pressure(self);
    diagnose_descriptors(self);
}
