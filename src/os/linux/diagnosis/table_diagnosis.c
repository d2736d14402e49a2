/* table_diagnosis.c: the table diagnosis: the parts of the machine that can be read, those that
 * cannot, and why.
 *
 * This file finds our own rights; the rows are in table_diagnosis_rights.c and _devices.c. Thread
 * rule: workers only. */
#include "os/linux/diagnosis/ourselves.h"
#include "os/linux/tables.h"

#include "util/number.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/statfs.h>
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
    // id, parent, device, root, point, options, optional fields, "-", type, source, options
    enum { POINT = 3 };
    struct cursor at = cursor_over(line.bytes, line.size);
    struct span word, type, option;
    if (!cursor_u64(&at, id))
        return false;
    for (unsigned i = 0; i <= POINT; i++)
        if (!cursor_word(&at, &word))
            return false;
    *at_proc = span_equal(word, "/proc");
    while (!span_equal(word, "-"))
        if (!cursor_word(&at, &word))
            return false;
    if (!cursor_word(&at, &type) || !span_equal(type, "proc"))
        return false;
    word.size = 0;
    while (cursor_word(&at, &word)) // the source may hold nothing; options stand last
        continue;
    *out = (struct proc_mount){0};
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
        statx(os->proc, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &status) == 0 &&
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

void ourselves_parse_status(struct span line, struct ourselves *out)
{
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

static void take_status(struct span line, void *data)
{
    ourselves_parse_status(line, data);
}

/* What a link of the folder ns says: the first namespace has the same number everywhere
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

/* ---- the system ---- */

static enum family family_of(struct span word)
{
    static const struct {
        const char *word;
        enum family family;
    } WORDS[] = {{"debian", FAMILY_DEBIAN},
                 {"ubuntu", FAMILY_UBUNTU},
                 {"fedora", FAMILY_FEDORA},
                 {"rhel", FAMILY_FEDORA},
                 {"centos", FAMILY_FEDORA},
                 {"arch", FAMILY_ARCH},
                 {"suse", FAMILY_SUSE},
                 {"opensuse-leap", FAMILY_SUSE},
                 {"opensuse-tumbleweed", FAMILY_SUSE},
                 {"sles", FAMILY_SUSE}};
    for (size_t i = 0; i < ARRAY_COUNT(WORDS); i++)
        if (span_equal(word, WORDS[i].word))
            return WORDS[i].family;
    return FAMILY_OTHER;
}

/* The next word of plain letters; blanks and quotes stand between them, and anything else ends it.
 */
static bool next_plain(struct cursor *at, struct span *word)
{
    while (!cursor_done(at) && (*at->at == '"' || *at->at == '\'' || *at->at == ' '))
        at->at++;
    word->bytes = at->at;
    for (char byte; !cursor_done(at); at->at++) {
        byte = *at->at;
        if (!(byte >= 'a' && byte <= 'z') && !(byte >= '0' && byte <= '9') && byte != '-' &&
            byte != '_' && byte != '.')
            break;
    }
    word->size = (size_t)(at->at - word->bytes);
    return word->size > 0;
}

void ourselves_parse_release(struct span line, struct ourselves *out)
{
    struct cursor at = cursor_over(line.bytes, line.size);
    struct span word;
    if (cursor_literal(&at, "ID=")) {
        if (!next_plain(&at, &word) || word.size >= sizeof out->system)
            return;
        memcpy(out->system, word.bytes, word.size);
        out->system[word.size] = '\0';
        if (family_of(word) != FAMILY_OTHER)
            out->family = family_of(word);
    } else if (cursor_literal(&at, "ID_LIKE=")) {
        while (out->family == FAMILY_OTHER && next_plain(&at, &word))
            out->family = family_of(word);
    }
}

static void take_release(struct span line, void *data)
{
    ourselves_parse_release(line, data);
}

int table_diagnosis(const struct os *os, struct row_batch *out)
{
    struct ourselves self = {.os = os, .out = out};
    struct diagnosis_looking looking = {mount_of(os), &self.mount};
    (void)lines_each(os, os->proc, "self/mountinfo", take_mount, &looking);
    (void)lines_each(os, os->proc, "self/status", take_status, &self);
    self.pids = read_place(os, "self/ns/pid", "pid:[4026531836]");
    self.users = read_place(os, "self/ns/user", "user:[4026531837]");
    os_read_kernel(os, self.kernel, sizeof self.kernel);
    if (os->etc >= 0)
        (void)lines_each(os, os->etc, "os-release", take_release, &self);

    /* "5.15.153.1-microsoft-standard-WSL2", "4.4.0-19041-Microsoft": the first version of WSL has
     * no kernel of Linux. */
    self.wsl = strcasestr(self.kernel, "microsoft") != NULL || strstr(self.kernel, "WSL") != NULL;
    self.old_wsl = self.wsl && strncmp(self.kernel, "4.4.", 4) == 0;

    self.rights = "# run it with sudo; or let all who run it read everybody's processes:\n"
                  "cd \"$(dirname \"$(command -v vitals)\")\"\n"
                  "sudo setcap cap_sys_ptrace,cap_dac_read_search,cap_perfmon,cap_net_admin+ep "
                  "vitals cap_sys_ptrace,cap_dac_read_search,cap_perfmon,cap_net_admin+ep "
                  "../libexec/vitals/vitals-full";
    if (self.users == PLACE_INNER)
        self.rights = "# rights of a user namespace count in it only: run it outside, as root";
    else if (self.pids == PLACE_INNER && !self.wsl)
        self.rights = "# add to the command that starts this container:\n"
                      "# docker run --cap-add SYS_PTRACE --cap-add DAC_READ_SEARCH --cap-add "
                      "PERFMON ...";
    else if (self.no_new_privileges)
        self.rights = "# no_new_privs is set here: run it outside of this sandbox";
    diagnose_rights(&self);
    diagnose_devices(&self);
    return out->failed ? -ENOMEM : 0;
}
