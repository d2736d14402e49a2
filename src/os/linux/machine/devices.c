/* devices.c: the kind of a disk or a network interface, from its name and from /sys.
 *
 * Both answer one question: is its traffic its own? A disk on top of others (dm, md, bcache, a path
 * of an NVMe multipath device) would be counted together with them, a bridge with its ports. Read
 * once for each device, on the tick thread: these files of /sys need no answer from a driver.
 * Thread rule: any thread; nothing is kept. */
#include "os/linux/machine/machine.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char DIGITS[] = "0123456789";

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

bool machine_device_path(char out[static DEVICE_PATH], const char *class, const char *name,
                         const char *file)
{
    if (name[0] == '\0' || name[0] == '.')
        return false;
    int size = snprintf(out, DEVICE_PATH, "class/%s/%s%s%s", class, name,
                        file[0] != '\0' ? "/" : "", file);
    if (size < 0 || size >= DEVICE_PATH)
        return false;
    // The kernel writes the slash of a name, as in cciss/c0d0, as an exclamation mark.
    for (char *at = out + strlen(class) + 7; at < out + strlen(class) + 7 + strlen(name); at++)
        if (*at == '/')
            *at = '!';
    return true;
}

static bool has(const struct os *os, const char *class, const char *name, const char *file)
{
    char path[DEVICE_PATH];
    return machine_device_path(path, class, name, file) && os_sys_exists(os, path);
}

/* True if one of the device's folders has a name with that beginning; no such name begins with a
 * dot. */
static bool holds(const struct os *os, const char *class, const char *name, const char *file,
                  const char *prefix)
{
    char path[DEVICE_PATH];
    if (os->sys < 0 || !machine_device_path(path, class, name, file))
        return false;
    int descriptor = openat(os->sys, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    if (folder == NULL) {
        os_close_descriptor(descriptor);
        return false;
    }
    bool found = false;
    for (const struct dirent *entry; !found && (entry = readdir(folder)) != NULL;)
        found = entry->d_name[0] != '.' && strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    closedir(folder);
    return found;
}

/* Kinds by name, up to a number. Rank 0: never counted. The traffic of a network disk does not pass
 * another local disk. */
static const struct named_kind {
    const char *name;
    struct os_device_kind kind;
} DISKS[] = {
    {"loop", {"loop", 0}},         {"ram", {"ram", 0}},     {"zram", {"zram", 0}},
    {"dm-", {"device_mapper", 0}}, {"md", {"raid", 0}},     {"md_", {"raid", 0}},
    {"sr", {"optical", 0}},        {"scd", {"optical", 0}}, {"fd", {"disk", 0}},
    {"nbd", {"network", 1}},       {"rbd", {"network", 1}}, {"drbd", {"stacked", 0}},
    {"bcache", {"stacked", 0}},    {"zd", {"stacked", 0}},
};

void os_disk_kind(const struct os *os, const char *name, const char *disk, bool *partition,
                  struct os_device_kind *out)
{
    // sda → sda1; nvme0n1 → nvme0n1p1, for a name that ends in a digit takes a p.
    size_t size = disk != NULL ? strlen(disk) : 0;
    const char *at = name + size;
    bool below = size != 0 && strncmp(name, disk, size) == 0 &&
                 (!is_digit(disk[size - 1]) || *at++ == 'p');
    *partition = below && is_digit(*at) && at[strspn(at, DIGITS)] == '\0';
    *out = (struct os_device_kind){*partition ? "partition" : "disk", *partition ? 0 : 1};
    if (*partition)
        return;
    for (size_t i = 0; i < ARRAY_COUNT(DISKS); i++) {
        const char *prefix = DISKS[i].name;
        size = strlen(prefix);
        if (strncmp(name, prefix, size) == 0 && name[size] != '\0' &&
            (is_digit(name[size]) || prefix[size - 1] == '_')) {
            *out = DISKS[i].kind;
            return;
        }
    }
    // nvme0c1n1 is one of the paths to nvme0n1.
    size_t digits = strncmp(name, "nvme", 4) == 0 ? strspn(name + 4, DIGITS) : 0;
    bool is_path = digits > 0 && name[4 + digits] == 'c' && is_digit(name[5 + digits]);
    if (is_path || holds(os, "block", name, "slaves", "")) /* made of other disks */
        *out = (struct os_device_kind){"stacked", 0};
}

/* Interfaces with traffic of their own, best first. If there is hardware, all traffic of the others
 * passes it, or never leaves the machine; in a container the end of a veth pair is the only one. An
 * interface on top of another local one comes last, because that one carries its traffic. */
enum { NEVER = 0, HARDWARE = 1, LINK = 2, TUNNEL = 3, OVERLAY = 4, UPPER = 5 };

/* DEVTYPE of uevent. */
static const struct named_kind DEVTYPES[] = {
    {"wlan", {"wireless", HARDWARE}},  {"wwan", {"wireless", HARDWARE}},
    {"wimax", {"wireless", HARDWARE}}, {"bridge", {"bridge", OVERLAY}},
    {"bond", {"bond", OVERLAY}},       {"vlan", {"vlan", LINK}},
    {"macvlan", {"virtual", LINK}},    {"macvtap", {"virtual", LINK}},
    {"ipvlan", {"virtual", LINK}},     {"vxlan", {"tunnel", TUNNEL}},
    {"geneve", {"tunnel", TUNNEL}},    {"wireguard", {"tunnel", TUNNEL}},
    {"ppp", {"tunnel", TUNNEL}},       {"dsa", {"virtual", OVERLAY}},
    {"vrf", {"virtual", OVERLAY}},     {"hsr", {"virtual", OVERLAY}},
};

/* ARPHRD numbers in the file "type", used last. */
static const struct {
    uint64_t number;
    struct os_device_kind kind;
} ARP_TYPES[] = {
    {772, {"loopback", NEVER}},    {32, {"infiniband", HARDWARE}}, {512, {"tunnel", TUNNEL}},
    {768, {"tunnel", TUNNEL}},     {769, {"tunnel", TUNNEL}},      {776, {"tunnel", TUNNEL}},
    {778, {"tunnel", TUNNEL}},     {823, {"tunnel", TUNNEL}},      {65534, {"tunnel", TUNNEL}},
    {801, {"wireless", HARDWARE}},
};

/* Files and folders that only one kind has. */
static const struct named_kind MARKS[] = {
    {"bridge", {"bridge", OVERLAY}},      {"bonding", {"bond", OVERLAY}},
    {"tun_flags", {"tunnel", TUNNEL}},    {"wireless", {"wireless", HARDWARE}},
    {"phy80211", {"wireless", HARDWARE}},
};

/* Kinds by name, if /sys does not show the interface: it may be that of another network
 * namespace. */
static struct os_device_kind kind_by_name(const char *name)
{
    static const struct named_kind NAMES[] = {
        {"veth", {"veth", LINK}},         {"docker", {"bridge", OVERLAY}},
        {"br-", {"bridge", OVERLAY}},     {"virbr", {"bridge", OVERLAY}},
        {"cni", {"bridge", OVERLAY}},     {"bond", {"bond", OVERLAY}},
        {"tun", {"tunnel", TUNNEL}},      {"tap", {"tunnel", TUNNEL}},
        {"wg", {"tunnel", TUNNEL}},       {"ppp", {"tunnel", TUNNEL}},
        {"cali", {"veth", LINK}},         {"wl", {"wireless", HARDWARE}},
        {"ib", {"infiniband", HARDWARE}}, {"dummy", {"virtual", OVERLAY}},
        {"ifb", {"virtual", OVERLAY}},    {"sit", {"tunnel", TUNNEL}},
    };
    if (strcmp(name, "lo") == 0)
        return (struct os_device_kind){"loopback", NEVER};
    for (size_t i = 0; i < ARRAY_COUNT(NAMES); i++)
        if (strncmp(name, NAMES[i].name, strlen(NAMES[i].name)) == 0)
            return NAMES[i].kind;
    /* A VLAN or an alias is on top of the interface in its name. */
    if (strpbrk(name, ".:@") != NULL)
        return (struct os_device_kind){"vlan", OVERLAY};
    return (struct os_device_kind){"ethernet", HARDWARE};
}

static bool read_number(const struct os *os, const char *name, const char *file, uint64_t *out)
{
    char path[DEVICE_PATH];
    return machine_device_path(path, "net", name, file) && lines_u64(os, os->sys, path, out, NULL);
}

/* Finds the kind by DEVTYPE, by its files, by ARP type; returns false if none is known. */
static bool kind_by_sys(const struct os *os, const char *name, uint64_t arp_type,
                        struct os_device_kind *out)
{
    char path[DEVICE_PATH], text[UEVENT_TEXT];
    struct span type = {"", 0};
    if (machine_device_path(path, "net", name, "uevent"))
        type = linux_uevent(os, path, "DEVTYPE", text);
    for (size_t i = 0; i < ARRAY_COUNT(DEVTYPES); i++)
        if (span_equal(type, DEVTYPES[i].name)) {
            *out = DEVTYPES[i].kind;
            return true;
        }
    for (size_t i = 0; i < ARRAY_COUNT(MARKS); i++)
        if (has(os, "net", name, MARKS[i].name)) {
            *out = MARKS[i].kind;
            return true;
        }
    for (size_t i = 0; i < ARRAY_COUNT(ARP_TYPES); i++)
        if (arp_type == ARP_TYPES[i].number) {
            *out = ARP_TYPES[i].kind;
            return true;
        }
    return false;
}

void os_network_kind(const struct os *os, const char *name, struct os_device_kind *out)
{
    uint64_t type = 0, index, link;
    if (!read_number(os, name, "type", &type)) {
        *out = kind_by_name(name);
        return;
    }
    bool hardware = has(os, "net", name, "device");
    bool told = kind_by_sys(os, name, type, out);
    if (!told && hardware) {
        *out = (struct os_device_kind){"ethernet", HARDWARE};
    } else if (!told) {
        bool peer = read_number(os, name, "ifindex", &index) &&
                    read_number(os, name, "iflink", &link) && index != link;
        *out = peer ? (struct os_device_kind){"veth", LINK}
                    : (struct os_device_kind){"virtual", OVERLAY};
    } else if (hardware && out->rank > HARDWARE && strcmp(out->type, "virtual") != 0) {
        out->rank = HARDWARE; /* a modem whose protocol is also that of tunnels */
    }
    /* A part of a bridge, a bond, or a pair whose traffic the hardware's own driver sums. */
    if (out->rank == LINK && has(os, "net", name, "master"))
        out->rank = OVERLAY;
    /* It is on top of another local interface: the kernel links none of other namespaces. The ends
     * of a veth pair are on top of nothing. */
    if (out->rank >= LINK && holds(os, "net", name, "", "lower_"))
        *out = (struct os_device_kind){told ? out->type : "virtual", UPPER};
    if (out->rank == HARDWARE && has(os, "net", name, "master/device"))
        out->rank = NEVER;
}
