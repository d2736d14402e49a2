/* table_diagnosis_rights.c: the processes that we see, and what we may read of those that are not
 * ours: rows of the table diagnosis. The effect of each capability was measured on Linux 6.18.
 *
 * Thread rule: workers only. */
#include "os/linux/diagnosis/ourselves.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- visible processes ---- */

static const char *const HIDDEN[] = {
    [HIDE_CONTENT] = "hidepid=noaccess: of other users' processes nothing can be read",
    [HIDE_PROCESSES] = "hidepid=invisible: other users' processes are not seen",
    [HIDE_UNTRACED] = "hidepid=ptraceable: only processes that we could trace are seen",
};

static void diagnose_proc(const struct ourselves *self)
{
    const struct proc_mount *mount = &self->mount;
    bool traces = ourselves_may(self, CAPABILITY_SYS_PTRACE) &&
                  (self->users != PLACE_INNER || self->pids == PLACE_INNER);
    bool grouped = self->in_group && (mount->has_group || self->users != PLACE_INNER);
    bool exempt = traces || (grouped && mount->hide != HIDE_UNTRACED);
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
    } else if (!mount->only_pids) {
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

/* ---- what may be read of them ---- */

static void diagnose_others(const struct ourselves *self)
{
    static const char subject[] = "others' processes";
    bool trace = ourselves_may(self, CAPABILITY_SYS_PTRACE);
    bool search = ourselves_may(self, CAPABILITY_DAC_READ_SEARCH);
    if (!self->known)
        return;
    /* Sandboxes refuse what capabilities would allow: only trying tells. The first process belongs
     * to another user, unless we are it. */
    char target[8];
    bool refused = readlinkat(self->os->proc, "1/exe", target, sizeof target) < 0 &&
                   (errno == EACCES || errno == EPERM);
    if (trace && self->users == PLACE_INNER)
        diagnosis_add(self->out, DIAGNOSIS_NOTICE, subject,
                      "all of them can be read in this user namespace, and none outside",
                      self->rights);
    else if (trace && search && refused)
        diagnosis_add(self->out, DIAGNOSIS_NOTICE, subject,
                      "/proc/1/exe is refused though our rights allow it: a sandbox or a security "
                      "module keeps them from us",
                      "");
    else if (trace && search)
        diagnose_good(self, subject, "all of them can be read");
    else
        diagnosis_add(self->out, DIAGNOSIS_NOTICE, subject,
                      trace ? "no CAP_DAC_READ_SEARCH: their I/O, open files, environment and "
                              "clients of AMD's and Intel's GPUs cannot be read"
                            : "no CAP_SYS_PTRACE: their I/O, open files, environment, PSS and "
                              "clients of AMD's and Intel's GPUs cannot be read",
                      self->rights);
}

static bool is_counter(const char *name, void *data)
{
    struct span text = {name, strlen(name)};
    bool *found = data;
    *found = span_equal(text, "i915") || span_starts(text, "i915_") || span_equal(text, "xe") ||
             span_starts(text, "xe_");
    return !*found;
}

/* Nothing is wrong without it: it is what many processes cost. */
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
                       self->os->no_bpf ? "--no-bpf" : strerror(-code));
    diagnose_good(self, "reading processes", finding);
}

static void diagnose_perf(const struct ourselves *self)
{
    int64_t paranoid;
    char text[32], finding[160];
    bool needed = false;
    struct span line = lines_read(self->os, self->os->proc, "sys/kernel/perf_event_paranoid", text,
                                  sizeof text, NULL);
    struct cursor at = cursor_over(line.bytes, line.size);
    if (!self->known || !cursor_i64(&at, &paranoid))
        return;
    (void)os_sys_list(self->os, "bus/event_source/devices", is_counter, &needed);
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
    bool told = lines_u64(self->os, self->os->proc, "sys/kernel/task_delayacct", &on, NULL);
    bool may = self->users != PLACE_INNER && ourselves_may(self, CAPABILITY_NET_ADMIN);
    if (self->known && !may)
        diagnosis_add(self->out, DIAGNOSIS_NOTICE, subject,
                      "no CAP_NET_ADMIN: waits for swap and memory are not known, and others are "
                      "lower bounds",
                      self->rights);
    if (self->known && may && on != 0)
        diagnose_good(self, subject, "the kernel counts what processes wait for");
    if (told && on == 0)
        diagnosis_add(self->out, DIAGNOSIS_NOTICE, subject,
                      "kernel.task_delayacct is 0: waits for disks, swap and memory are not "
                      "counted",
                      "sudo sysctl kernel.task_delayacct=1");
}

/* Readable counters let a user guess what others compute (CVE-2020-8694): since 5.10 they are
 * root's. */
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

void diagnose_rights(const struct ourselves *self)
{
    diagnose_proc(self);
    diagnose_namespace(self);
    diagnose_others(self);
    diagnose_delays(self);
    diagnose_energy(self);
    diagnose_perf(self);
    diagnose_task_iterator(self);
}

bool ourselves_may(const struct ourselves *self, enum capability capability)
{
    return self->known && (self->capabilities >> capability & 1) != 0;
}
