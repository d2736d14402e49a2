/* sockets.h: shared by the files of the table socket: a list of sockets, the ways to fill it, and
 * the processes that hold each socket.
 *
 * A group is a family and protocol that the kernel lists separately: in one dump of sock_diag, or
 * in one file below /proc/PID/net. Both fill the same list; fields that only one of them has are
 * not set by the other. Parsers are pure, take (bytes, size) and are fuzzed. Thread rule: any
 * thread; a list belongs to one. */
#pragma once

#include "os/linux/process/process_tables.h"
#include "util/hash.h"

/* Limits: the rows of a table, the bytes of a file of /proc, the descriptors of all processes. A
 * list that was cut has `cut` set. */
enum {
    SOCKETS_MAX = 1 << 18,
    SOCKET_FILE_LIMIT = 64 << 20,
    SOCKET_OWNERS_MAX = 1 << 20,
};

/* Which fields of a socket_info are set. */
enum {
    SOCKET_FAMILY = 1u << 0,
    SOCKET_TYPE = 1u << 1,
    SOCKET_PROTOCOL = 1u << 2,
    SOCKET_STATE = 1u << 3,
    SOCKET_LOCAL = 1u << 4,
    SOCKET_LOCAL_PORT = 1u << 5,
    SOCKET_REMOTE = 1u << 6,
    SOCKET_REMOTE_PORT = 1u << 7,
    SOCKET_UID = 1u << 8,
    SOCKET_RECEIVE = 1u << 9,
    SOCKET_SEND = 1u << 10,
};

/* States have TCP's numbers in all families. */
enum { SOCKET_ESTABLISHED = 1, SOCKET_CLOSE = 7, SOCKET_LISTEN = 10, SOCKET_STATELESS = 0xFFFF };

struct socket_info {
    uint64_t inode;
    unsigned has;
    signed char missing; /* why fields that are not in `has` are missing; 0: unsupported */
    uint16_t family;     /* AF_… */
    uint16_t type;       /* SOCK_… */
    uint16_t state;
    uint32_t protocol; /* netlink: its own numbers; packet: an Ethernet type */
    uint32_t uid;
    uint32_t local_port, remote_port;
    uint32_t peer;                    /* unix: the peer's inode; 0: none or not known */
    uint32_t local_size, remote_size; /* sizes of the addresses */
    size_t local_at, remote_at;       /* offsets in socket_list.text */
    bool forgeable;                   /* the line may be part of a name, see parse_unix */
    uint64_t receive_bytes, send_bytes;
};

struct socket_list {
    struct socket_info *items;
    size_t count, capacity;
    struct buffer text;
    struct hash *only; /* requested inodes, each with SOCKET_MISSING or the index of its first item;
                        * NULL: all */
    size_t missing;    /* how many of them are not found yet */
    bool here;   /* in our own network namespace: interface numbers can be converted to names */
    bool cut;    /* there are more than SOCKETS_MAX, or a file was cut */
    bool failed; /* out of memory */
};

/* The protocol of an mptcp socket, which older headers lack. */
enum { SOCKET_MPTCP = 262 };

#define SOCKET_MISSING UINTPTR_MAX

void socket_list_done(struct socket_list *list);

/* True if a socket with this inode may be added to the list. */
bool socket_list_asks(const struct socket_list *list, uint64_t inode);

/* Appends a copy; returns NULL if there is no room. If several have one inode, the first counts as
 * the requested one. */
struct socket_info *socket_list_add(struct socket_list *list, const struct socket_info *info);

/* Removes all but the first `count`. */
void socket_list_cut_back(struct socket_list *list, size_t count);

/* Appends text for `info`, which need not be in the list yet. */
void socket_list_local(struct socket_list *list, struct socket_info *info, struct span text);
void socket_list_remote(struct socket_list *list, struct socket_info *info, struct span text);

/* Appends a unix name as the kernel prints it: every NUL as "@". */
void socket_list_unix_name(struct socket_list *list, struct socket_info *info, struct span name);

/* Appends an interface: its name if it is known here, else its number; nothing for 0. */
void socket_list_interface(struct socket_list *list, struct socket_info *info, uint32_t index);

/* Both ends of an internet socket, in network byte order. A port of 0 is omitted; a remote end
 * without address and port does not exist. `interface` is the scope of link-local addresses; 0: not
 * known. */
struct socket_ends {
    unsigned char local[16], remote[16];
    uint16_t local_port, remote_port; /* host byte order */
    uint32_t interface;
};
void socket_list_ends(struct socket_list *list, struct socket_info *info,
                      const struct socket_ends *ends);

/* The forms of files below /proc/PID/net. */
enum net_form {
    NET_INET,
    NET_UNIX,
    NET_NETLINK,
    NET_PACKET,
    NET_SCTP_ENDPOINTS,
    NET_SCTP_ASSOCIATIONS
};

struct socket_group {
    uint16_t family;
    uint16_t type;     /* 0: given for each socket */
    uint32_t protocol; /* likewise */
    const char *file;  /* below /proc/PID/net; NULL: none */
    enum net_form form;
    bool diag;
};

/* Adds the sockets of such a file. Lines that are not sockets are skipped. */
void net_parse(const char *bytes, size_t size, const struct socket_group *group,
               struct socket_list *list);

/* Reads how many sockets of a protocol, by the kernel's name for it ("MPTCP"),
 * /proc/PID/net/protocols counts; returns false if it has no such line. For tcp, sockets in
 * TIME_WAIT are not included. */
bool net_parse_protocols(const char *bytes, size_t size, const char *name, uint64_t *count);

/* Adds the sockets of one received buffer of sock_diag to the list. Returns 1 if the dump ends
 * here, 0 if more follows, else a negative errno: it was refused or is invalid. */
int socket_diag_parse(const char *bytes, size_t size, const struct socket_group *group,
                      uint32_t sequence, struct socket_list *list);

/* Dumps of the calling thread's network namespace, through one descriptor. */
struct socket_diag {
    int netlink; /* or a negative errno */
    uint32_t sequence;
    struct buffer room;
};
void socket_diag_open(struct socket_diag *diag, const struct os *os);
void socket_diag_close(struct socket_diag *diag);

/* Returns 0, or a negative errno; the list is then unchanged. */
int socket_diag_read(struct socket_diag *diag, const struct os *os,
                     const struct socket_group *group, struct socket_list *list);

/* Sets the remote address of unix sockets of the list, from `first` on, to the name of their
 * peer. */
void socket_list_peers(struct socket_list *list, size_t first);

/* ---- addresses ---- */

/* Writes the table network_address: a row for each address of a list from getifaddrs(3); families
 * other than inet, inet6 and link are skipped. */
struct ifaddrs;
void addresses_write(const struct ifaddrs *list, struct row_batch *out);

/* ---- owners ---- */

struct socket_owner {
    uint64_t inode;
    int64_t pid;
    int64_t thread; /* the thread that shows the descriptor, if the first one has ended; else 0 */
    uint64_t descriptor;
    size_t next; /* next owner of the same inode: 1 + its index; 0: none; see _index */
};

struct socket_owners {
    struct socket_owner *items;
    size_t count, capacity;
    struct hash first;      /* first owner of each inode; filled by _index */
    struct os_pids numbers; /* reused for each process */
    bool cut;               /* there are more than SOCKET_OWNERS_MAX, or reading failed */
    bool denied;            /* access to some was denied */
};
void socket_owners_done(struct socket_owners *owners);

/* Appends the sockets that the process holds, by descriptor. Returns 0 or a negative errno. If the
 * first thread has ended another one is read; a zombie and a kernel thread have none. */
int socket_owners_read(struct socket_owners *owners, const struct os *os, int64_t pid);

/* Links the owners of each inode, in the order in which they were read. Returns 0 or -ENOMEM. */
int socket_owners_index(struct socket_owners *owners);

/* Return the first owner of the inode, and the one after it; NULL: none. */
const struct socket_owner *socket_owners_first(const struct socket_owners *owners, uint64_t inode);
const struct socket_owner *socket_owners_next(const struct socket_owners *owners,
                                              const struct socket_owner *owner);

/* Returns the inode that the descriptor shows now, or 0. */
uint64_t socket_owner_inode(const struct os *os, const struct socket_owner *owner);

/* Reads the kernel's name for the protocol of a socket that is in no list, such as one that was
 * never bound: family, type and protocol, as far as the name determines them. Returns false if it
 * has no name, and if the descriptor is another file by now; that file's file system is not
 * accessed. */
bool socket_owner_protocol(const struct os *os, const struct socket_owner *owner,
                           struct socket_info *info);
