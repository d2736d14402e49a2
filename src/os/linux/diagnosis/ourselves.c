/* ourselves.c: the mount of /proc, and our own rights: which processes the kernel shows to us.
 *
 * Thread rule: as ourselves.h says; os_hides_processes: any thread with 64 KiB of stack left. */
#include "os/linux/diagnosis/ourselves.h"
#include "os/linux/machine/mounts.h"

#include "util/number.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- the mount of /proc ---- */

/* The kernel writes words since 5.8, and numbers before. */
static void take_option(struct span option, struct proc_mount *out)
{
    static const struct {
        const char *option;
        enum hide_pid hide;
    } HIDES[] = {{"hidepid=1", HIDE_CONTENT},   {"hidepid=noaccess", HIDE_CONTENT},
                 {"hidepid=2", HIDE_PROCESSES}, {"hidepid=invisible", HIDE_PROCESSES},
                 {"hidepid=4", HIDE_UNTRACED},  {"hidepid=ptraceable", HIDE_UNTRACED},
                 {"hidepid=0", HIDE_NOTHING},   {"hidepid=off", HIDE_NOTHING}};
    struct cursor at = cursor_over(option.bytes, option.size);
    uint64_t group;
    for (size_t i = 0; i < ARRAY_COUNT(HIDES); i++)
        if (span_equal(option, HIDES[i].option))
            out->hide = HIDES[i].hide;
    if (cursor_literal(&at, "gid=") && cursor_u64(&at, &group) && cursor_done(&at)) {
        out->has_group = true;
        out->group = group;
    }
    out->only_pids |= span_equal(option, "subset=pid");
}

bool ourselves_parse_mount(struct span line, uint64_t *id, bool *at_proc, struct proc_mount *out)
{
    struct mount_fields fields;
    struct cursor at;
    struct span word = {"", 0}, option;
    if (!mount_split(line, &fields, &at) || !span_equal(fields.type, "proc"))
        return false;
    struct cursor number = cursor_over(fields.id.bytes, fields.id.size);
    if (!cursor_u64(&number, id))
        return false;
    *at_proc = span_equal(fields.point, "/proc");
    while (cursor_word(&at, &word)) // the source may hold nothing; options stand last
        continue;
    *out = (struct proc_mount){.known = true};
    at = cursor_over(word.bytes, word.size);
    while (cursor_until(&at, ',', &option))
        take_option(option, out);
    take_option((struct span){at.at, (size_t)(at.end - at.at)}, out);
    return true;
}

/* Which mount it is. 0: os->proc is not procfs, or the kernel does not tell (before 5.8). */
static uint64_t mount_of(const struct os *os)
{
#ifdef STATX_MNT_ID
    struct statfs system;
    struct statx status;
    if (fstatfs(os->proc, &system) == 0 && system.f_type == PROC_SUPER_MAGIC &&
        linux_statx(os->proc, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &status) == 0 &&
        (status.stx_mask & STATX_MNT_ID) != 0)
        return status.stx_mnt_id;
#endif
    return 0;
}

struct diagnosis_looking {
    uint64_t id; /* of the mount; 0: the last one at /proc */
    struct proc_mount *out;
};

static void take_mount(struct span line, void *data)
{
    struct diagnosis_looking *looking = data;
    struct proc_mount mount;
    uint64_t id;
    bool at_proc;
    if (ourselves_parse_mount(line, &id, &at_proc, &mount) &&
        (looking->id != 0 ? id == looking->id : at_proc))
        *looking->out = mount;
}

/* ---- our rights ---- */

/* The second of four: real, effective, saved, of files. */
static bool take_effective(struct cursor ids, uint64_t *out)
{
    uint64_t real, effective;
    if (!cursor_u64(&ids, &real) || !cursor_u64(&ids, &effective))
        return false;
    *out = effective;
    return true;
}

void ourselves_parse_status(struct span line, void *data)
{
    struct ourselves *out = data;
    struct cursor at = cursor_over(line.bytes, line.size);
    uint64_t number;
    if (cursor_literal(&at, "CapEff:")) {
        cursor_blanks(&at);
        out->known |= number_hex(&at.at, at.end, &out->capabilities);
    } else if (cursor_literal(&at, "Uid:")) {
        (void)take_effective(at, &out->user);
    } else if (cursor_literal(&at, "Gid:")) {
        out->in_group |= take_effective(at, &out->group) && out->group == out->mount.group;
    } else if (cursor_literal(&at, "Groups:")) {
        while (cursor_u64(&at, &number))
            out->in_group |= number == out->mount.group;
    } else if (cursor_literal(&at, "NoNewPrivs:")) {
        out->no_new_privileges |= cursor_u64(&at, &number) && number == 1;
    } else if (cursor_literal(&at, "NSpid:")) {
        for (out->depth = 0; out->depth < 64 && cursor_u64(&at, &number);)
            out->depth++;
    }
}

/* Compares a link of the folder ns with the first namespace, which has the same number everywhere
 * (PROC_PID_INIT_INO and PROC_USER_INIT_INO in the kernel's proc_ns.h). */
static enum place read_place(const struct os *os, const char *path, const char *first)
{
    char text[64];
    ssize_t size = readlinkat(os->proc, path, text, sizeof text);
    struct span link = {text, size > 0 ? (size_t)size : 0};
    if (size < 0)
        linux_trace(os, path, errno);
    if (span_equal(link, first))
        return PLACE_FIRST;
    bool is_one = size > 0 && memchr(text, '[', link.size) != NULL && text[link.size - 1] == ']';
    return is_one ? PLACE_INNER : PLACE_UNKNOWN;
}

void ourselves_read(struct ourselves *self)
{
    const struct os *os = self->os;
    struct diagnosis_looking looking = {mount_of(os), &self->mount};
    (void)lines_each(os, os->proc, "self/mountinfo", take_mount, &looking);
    (void)lines_each(os, os->proc, "self/status", ourselves_parse_status, self);
    self->pids = read_place(os, "self/ns/pid", "pid:[4026531836]");
    self->users = read_place(os, "self/ns/user", "user:[4026531837]");
}

bool ourselves_may(const struct ourselves *self, enum capability capability)
{
    return self->known && (self->capabilities >> capability & 1) != 0;
}

bool ourselves_sees_hidden(const struct ourselves *self)
{
    const struct proc_mount *mount = &self->mount;
    bool traces = ourselves_may(self, CAPABILITY_SYS_PTRACE) &&
                  (self->users != PLACE_INNER || self->pids == PLACE_INNER);
    bool grouped = self->in_group && (mount->has_group || self->users != PLACE_INNER);
    return traces || (grouped && mount->hide != HIDE_UNTRACED);
}

/* ---- hidden processes ---- */

static bool may_trace(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
    return syscall(SYS_capget, &header, data) == 0 &&
           (data[0].effective & UINT32_C(1) << CAPABILITY_SYS_PTRACE) != 0;
}

/* Each pid namespace has a first process, and it mostly belongs to another user: seeing it or not
 * is the answer, without a look at the mounts, of which there may be thousands. */
bool os_hides_processes(const struct os *os)
{
    struct statfs system;
    struct stat first;
    if (fstatfs(os->proc, &system) < 0 || system.f_type != PROC_SUPER_MAGIC)
        return false;
    if (fstatat(os->proc, "1", &first, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT;
    if (first.st_uid != geteuid() || may_trace())
        return false;
    struct ourselves self = {.os = os};
    ourselves_read(&self);
    return self.mount.hide >= HIDE_PROCESSES && self.known && !ourselves_sees_hidden(&self);
}
