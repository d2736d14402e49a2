/* parse_mountinfo.c: see mounts.h. The format is told in proc_pid_mountinfo(5).
 *
 * Thread rule: pure. */
#include "os/linux/machine/mounts.h"

#include "os/linux/lines.h"

#include <string.h>

char mount_unescape(struct cursor *at)
{
    const char *bytes = at->at;
    if (*bytes == '\\' && at->end - bytes >= 4) {
        unsigned value = 0, digits = 0;
        while (digits < 3 && bytes[digits + 1] >= '0' && bytes[digits + 1] <= '7')
            value = value * 8 + (unsigned)(bytes[++digits] - '0');
        if (digits == 3 && value < 256) {
            at->at += 4;
            return (char)value;
        }
    }
    at->at++;
    return *bytes;
}

static void take_text(struct span word, struct mount_text *out)
{
    struct cursor at = cursor_over(word.bytes, word.size);
    out->size = 0;
    out->cut = false;
    while (!cursor_done(&at)) {
        char byte = mount_unescape(&at);
        if (byte == '\0' || out->size + 1 == sizeof out->bytes) {
            out->cut = true;
            break;
        }
        out->bytes[out->size++] = byte;
    }
    out->bytes[out->size] = '\0';
}

static void add_option(struct mount *mount, struct span option)
{
    size_t room = sizeof mount->options - mount->options_size;
    mount->options_cut = mount->options_cut || option.size + 1 > room;
    if (mount->options_cut)
        return;
    if (mount->options_size > 0)
        mount->options[mount->options_size++] = ',';
    memcpy(mount->options + mount->options_size, option.bytes, option.size);
    mount->options_size += option.size;
}

/* True if a list of options begins with ro; both lists begin with rw or ro. */
static bool begins_ro(struct span list)
{
    return span_equal(list, "ro") || span_starts(list, "ro,");
}

enum which { ALL, EARLY, LATE };

static void add_options(struct mount *mount, struct span list, enum which which)
{
    /* File system options that /proc/mounts puts before those of the mount. */
    static const char *const EARLY_ONES[] = {"sync", "dirsync", "mand", "lazytime"};
    struct cursor at = cursor_over(list.bytes, list.size);
    while (!cursor_done(&at)) {
        struct span option;
        if (!cursor_until(&at, ',', &option)) {
            option = (struct span){at.at, (size_t)(at.end - at.at)};
            at.at = at.end;
        }
        bool early = false;
        for (size_t i = 0; i < ARRAY_COUNT(EARLY_ONES); i++)
            early |= span_equal(option, EARLY_ONES[i]);
        if (!span_equal(option, "rw") && !span_equal(option, "ro") && option.size > 0 &&
            (which == ALL || early == (which == EARLY)))
            add_option(mount, option);
    }
}

bool mount_split(struct span line, struct mount_fields *out, struct cursor *rest)
{
    struct span *const fixed[] = {&out->id,   &out->parent, &out->device,
                                  &out->root, &out->point,  &out->options};
    struct span word;
    *rest = cursor_over(line.bytes, line.size);
    for (size_t i = 0; i < ARRAY_COUNT(fixed); i++)
        if (!cursor_word(rest, fixed[i]))
            return false;
    do {
        if (!cursor_word(rest, &word))
            return false;
    } while (!span_equal(word, "-"));
    return cursor_word(rest, &out->type);
}

bool mount_parse(struct span line, struct mount *out)
{
    struct mount_fields fields;
    struct cursor at;
    /* The source may be empty: then there are two blanks in sequence. */
    if (!mount_split(line, &fields, &at) || !cursor_literal(&at, " "))
        return false;
    out->type = fields.type;
    struct cursor id = cursor_over(fields.id.bytes, fields.id.size);
    struct cursor device = cursor_over(fields.device.bytes, fields.device.size);
    if (!cursor_u64(&id, &out->id) || !cursor_u64(&device, &out->major) ||
        !cursor_literal(&device, ":") || !cursor_u64(&device, &out->minor))
        return false;
    struct span source = {at.at, 0}, super = {"", 0};
    bool cut = line.size >= LINES_BYTES, more = cursor_until(&at, ' ', &source);
    if (cut && !more)
        return false;
    if (!more)
        source = (struct span){at.at, (size_t)(at.end - at.at)};
    else
        super = (struct span){at.at, (size_t)(at.end - at.at)};
    take_text(fields.point, &out->point);
    take_text(source, &out->source);
    /* In a service's namespace only the mount may be read-only, while the machine can write. */
    struct span own = fields.options;
    out->read_only = begins_ro(super);
    out->options_size = 0;
    out->options_cut = false;
    add_option(out, (struct span){out->read_only || begins_ro(own) ? "ro" : "rw", 2});
    add_options(out, super, EARLY);
    add_options(out, own, ALL);
    add_options(out, super, LATE);
    out->options_cut = out->options_cut || cut;
    return out->point.size > 0 && out->point.bytes[0] == '/';
}

bool mount_stores_nothing(struct span type)
{
    static const char *const NOTHING[] = {
        "autofs",     "binder",      "binfmt_misc", "bpf",       "cgroup",   "cgroup2",
        "configfs",   "cpuset",      "debugfs",     "devpts",    "efivarfs", "fuse.gvfsd-fuse",
        "fuse.lxcfs", "fuse.portal", "fusectl",     "hugetlbfs", "mqueue",   "nfsd",
        "none",       "nsfs",        "proc",        "pstore",    "ramfs",    "rpc_pipefs",
        "securityfs", "selinuxfs",   "smackfs",     "sysfs",     "tracefs",  "xenfs",
        "resctrl",    "functionfs",  "sockfs",      "pipefs",    "bdev",     "anon_inodefs",
    };
    for (size_t i = 0; i < ARRAY_COUNT(NOTHING); i++)
        if (span_equal(type, NOTHING[i]))
            return true;
    return false;
}

bool mount_is_remote(const struct mount *mount)
{
    static const char *const REMOTE[] = {
        "9p",           "acfs",        "afs",       "beegfs",       "ceph",
        "cifs",         "coda",        "fuse.ceph", "fuse.gcsfuse", "fuse.glusterfs",
        "fuse.juicefs", "fuse.rclone", "fuse.s3fs", "fuse.sshfs",   "glusterfs",
        "gpfs",         "lustre",      "ncpfs",     "nfs",          "nfs4",
        "orangefs",     "pvfs2",       "smb3",      "smbfs",        "virtiofs",
    };
    for (size_t i = 0; i < ARRAY_COUNT(REMOTE); i++)
        if (span_equal(mount->type, REMOTE[i]))
            return true;
    /* "server:/path" and "//server/share" of unknown file systems. */
    const struct mount_text *source = &mount->source;
    bool local = source->bytes[0] == '/' && source->bytes[1] != '/';
    return !local && (strstr(source->bytes, ":/") != NULL || strncmp(source->bytes, "//", 2) == 0);
}
