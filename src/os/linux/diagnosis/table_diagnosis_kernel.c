/* table_diagnosis_kernel.c: what this kernel counts, and what our limits leave us: rows of the
 * table diagnosis. Thread rule: workers only. */
#include "os/linux/cgroup/cgroup.h"
#include "os/linux/diagnosis/ourselves.h"
#include "os/linux/process/process_tables.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Descriptors that are not a process's: roots, files of the machine, workers, a driver's own. */
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
    cgroups_find(&cgroups, self->os, 1u << CGROUP_SECOND);

    /* Whether a group can be made below ours, by the rights of its folder. */
    const struct cgroup_found *found = &cgroups.found[CGROUP_SECOND];
    const struct cgroup_place *place = &found->place;
    char path[CGROUP_PATH_MAX + 1];
    bool may = found->version == 2 && !place->outer && place->path.size < sizeof path;
    if (may) {
        memcpy(path, place->path.bytes, place->path.size);
        path[place->path.size] = '\0';
        may = faccessat(self->os->sys, path, W_OK | X_OK, AT_EACCESS) == 0;
    }
    if (!cgroups.first && !cgroups.second)
        diagnosis_add(self->out, DIAGNOSIS_NOTICE, subject,
                      "none is mounted: limits, containers and jobs are not known",
                      "sudo mount -t cgroup2 cgroup2 /sys/fs/cgroup");
    else if (cgroups.first)
        diagnosis_add(
            self->out, DIAGNOSIS_GOOD, subject,
            cgroups.second ? "versions 1 and 2: limits are read from version 1" : "version 1", "");
    else
        diagnose_good(self, subject,
                      may ? "version 2, and we may make groups below ours"
                          : "version 2, and we may not make groups below ours");
}

static void diagnose_descriptors(const struct ourselves *self)
{
    struct os_pids pids = {0};
    struct linux_limit_values values[LINUX_LIMITS] = {{0}};
    char text[LIMITS_TEXT], finding[160], limit_text[24] = "unlimited";
    const struct linux_limit *nofile = linux_limit_find((struct span){"nofile", 6});
    int64_t size = linux_read_line(self->os, self->os->proc, "self/limits", text, sizeof text - 1);
    uint64_t limit = 0; // not known
    if (size > 0 && nofile != NULL) {
        text[size] = '\n'; // a line that the end cuts is none, and the last newline was taken off
        (void)linux_parse_limits(text, (size_t)size + 1, values);
        const struct linux_limit_values *found = &values[nofile - LINUX_LIMIT];
        limit = found->known ? found->hard : 0;
    }
    int result = limit != 0 ? os_list_processes(self->os, &pids) : -ENOENT;
    uint64_t count = pids.count;
    os_pids_done(&pids);
    if (result == -ENOMEM)
        self->out->failed = true;
    if (result < 0)
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

void diagnose_kernel(const struct ourselves *self)
{
    char finding[192];
    if (self->kernel[0] != '\0') {
        snprintf(finding, sizeof finding, "Linux %s%s%s", self->kernel,
                 self->system[0] != '\0' ? ", " : "", self->system);
        diagnose_good(self, "system", finding);
        if (self->os->sys < 0 || faccessat(self->os->sys, "class", F_OK, 0) != 0)
            diagnosis_add(self->out, DIAGNOSIS_PROBLEM, "/sys",
                          "it is not mounted: no device but NVIDIA's is found",
                          "sudo mount -t sysfs sysfs /sys");
    }
    diagnose_cgroups(self);
    diagnose_pressure(self);
    diagnose_descriptors(self);
}
