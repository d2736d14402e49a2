/* parse_net.c: parsers for the lists of sockets below /proc/PID/net.
 *
 * tcp, udp, udplite, raw and icmp, each also with a 6 appended, have one form; unix, netlink,
 * packet and sctp have their own (Documentation/networking/proc_net_tcp.rst documents the first;
 * the others are defined by the kernel's seq_show functions). A line without the expected fields is
 * skipped. Thread rule: pure except for the list. */
#include "os/linux/sockets/sockets.h"

#include "util/number.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

enum { WORDS_MAX = 16 };

/* Drops a last line that was cut: its last number may be incomplete. */
static struct cursor whole_lines(const char *bytes, size_t size)
{
    while (size > 0 && bytes[size - 1] != '\n')
        size--;
    return cursor_over(bytes, size);
}

/* Splits off the first words of a line; returns how many there are. */
static size_t split(struct span line, struct span *words, size_t wanted)
{
    struct cursor cursor = cursor_over(line.bytes, line.size);
    size_t count = 0;
    while (count < wanted && cursor_word(&cursor, &words[count]))
        count++;
    return count;
}

/* True if the whole word is a number that fits. */
static bool word_u64(struct span word, uint64_t limit, uint64_t *out)
{
    const char *at = word.bytes;
    return number_u64(&at, word.bytes + word.size, out) && at == word.bytes + word.size &&
           *out <= limit;
}

static bool word_hex(struct span word, uint64_t limit, uint64_t *out)
{
    const char *at = word.bytes, *end = at + word.size;
    bool prefixed = word.size > 1 && (at[1] == 'x' || at[1] == 'X');
    return !prefixed && word.size <= 16 && number_hex(&at, end, out) && at == end && *out <= limit;
}

static bool split_at(struct span word, char byte, struct span *before, struct span *after)
{
    struct cursor cursor = cursor_over(word.bytes, word.size);
    if (!cursor_until(&cursor, byte, before))
        return false;
    *after = (struct span){cursor.at, (size_t)(cursor.end - cursor.at)};
    return true;
}

struct net_line {
    const struct socket_group *group;
    struct span text;
    struct span words[WORDS_MAX];
};

/* Each take_ function puts the fields of a line into `info`, which already has the family of its
 * group and its inode, and into the list's text; returns false if the line is not a socket. */

/* ---- internet ---- */

/* Parses "0100007F:1F90": words of 32 bits in the machine's byte order, whose bytes are the
 * address. */
static bool take_end(struct span word, uint16_t family, unsigned char address[static 16],
                     uint16_t *port)
{
    struct span words, number;
    uint64_t value;
    size_t digits = family == AF_INET ? 8 : 32;
    if (!split_at(word, ':', &words, &number) || words.size != digits || number.size != 4 ||
        !word_hex(number, UINT16_MAX, &value))
        return false;
    *port = (uint16_t)value;
    for (size_t i = 0; i < digits / 8; i++) {
        if (!word_hex((struct span){words.bytes + i * 8, 8}, UINT32_MAX, &value))
            return false;
        uint32_t part = (uint32_t)value;
        memcpy(address + i * 4, &part, sizeof part);
    }
    return true;
}

/* Indices of the words of a line. */
enum {
    INET_LOCAL = 1,
    INET_REMOTE,
    INET_STATE,
    INET_QUEUES,
    INET_UID = 7,
    INET_INODE = 9,
    INET_WORDS
};

static bool take_inet(const struct net_line *line, struct socket_list *list,
                      struct socket_info *info)
{
    const struct socket_group *group = line->group;
    const struct span *words = line->words;
    struct socket_ends ends = {0};
    struct span send, receive;
    uint64_t state, uid;
    if (!take_end(words[INET_LOCAL], group->family, ends.local, &ends.local_port) ||
        !take_end(words[INET_REMOTE], group->family, ends.remote, &ends.remote_port) ||
        !word_hex(words[INET_STATE], UINT8_MAX, &state) ||
        !split_at(words[INET_QUEUES], ':', &send, &receive) ||
        !word_hex(send, UINT32_MAX, &info->send_bytes) ||
        !word_hex(receive, UINT32_MAX, &info->receive_bytes) ||
        !word_u64(words[INET_UID], UINT32_MAX, &uid))
        return false;
    info->has = SOCKET_FAMILY | SOCKET_TYPE | SOCKET_PROTOCOL | SOCKET_STATE | SOCKET_UID |
                SOCKET_RECEIVE | SOCKET_SEND;
    info->type = group->type;
    info->protocol = group->protocol;
    if (group->protocol == IPPROTO_TCP)
        info->state = (uint16_t)state;
    info->uid = (uint32_t)uid;
    if (group->type == SOCK_RAW) { /* the protocol is in the place of the port */
        info->protocol = ends.local_port;
        ends.local_port = 0;
    }
    socket_list_ends(list, info, &ends);
    return true;
}

bool net_parse_protocols(const char *bytes, size_t size, const char *name, uint64_t *count)
{
    struct cursor text = whole_lines(bytes, size);
    struct span line, words[3]; /* name, size of a socket, number of sockets */
    while (cursor_line(&text, &line))
        if (split(line, words, ARRAY_COUNT(words)) == ARRAY_COUNT(words) &&
            span_equal(words[0], name))
            return word_u64(words[2], INT32_MAX, count);
    return false;
}

/* ---- unix ---- */

enum { UNIX_ACCEPTS = 1 << 16, UNIX_CONNECTED = 3 };

/* Parses the fields of a line before its path, each with its number of hexadecimal digits. A line
 * of another form continues the path of the previous line: a path may contain newlines. */
static bool take_unix(struct span line, struct socket_info *info, struct span *path)
{
    static const unsigned char DIGITS[] = {8, 8, 8, 4, 2};
    uint64_t values[ARRAY_COUNT(DIGITS)];
    struct cursor at = cursor_over(line.bytes, line.size);
    struct span word;
    uint64_t pointer;
    if (!cursor_until(&at, ':', &word) || (word.size != 8 && word.size != 16) ||
        !word_hex(word, UINT64_MAX, &pointer))
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(DIGITS); i++)
        if (!cursor_word(&at, &word) || word.size != DIGITS[i] ||
            !word_hex(word, UINT32_MAX, &values[i]))
            return false;
    if (!cursor_word(&at, &word) || !word_u64(word, UINT64_MAX - 1, &info->inode))
        return false;
    info->type = (uint16_t)values[3];
    info->state = (values[2] & UNIX_ACCEPTS) != 0 ? SOCKET_LISTEN
                  : values[4] == UNIX_CONNECTED   ? SOCKET_ESTABLISHED
                                                  : SOCKET_CLOSE;
    /* Skip one blank; the rest is the path, which may begin with blanks. */
    if (!cursor_done(&at))
        at.at++;
    *path = (struct span){at.at, (size_t)(at.end - at.at)};
    return true;
}

/* Any user can name a socket so that a forged line appears in the file. So each of these entries is
 * marked as forgeable; an inode that is already in the list is not accepted, and of two lines with
 * one inode no name is used. */
static void parse_unix(const char *bytes, size_t size, const struct socket_group *group,
                       struct socket_list *list)
{
    size_t first = list->count;
    struct hash taken = {0}; /* inodes of the list, which come from the kernel */
    for (size_t i = 0; i < list->count && !list->failed; i++)
        if (list->items[i].inode != 0)
            list->failed = hash_set(&taken, list->items[i].inode, i) < 0;
    struct cursor text = whole_lines(bytes, size);
    struct span line, path, ignored;
    while (cursor_line(&text, &line) && !list->failed) {
        struct socket_info info = {
            .has = SOCKET_FAMILY | SOCKET_TYPE | SOCKET_PROTOCOL | SOCKET_STATE,
            .family = group->family,
            .forgeable = true,
        };
        if (!take_unix(line, &info, &path))
            continue;
        /* The following lines that are not records continue the path. */
        struct socket_info next;
        for (struct cursor ahead = text; cursor_line(&ahead, &line); text = ahead) {
            if (take_unix(line, &next, &ignored))
                break;
            path.size = (size_t)(line.bytes + line.size - path.bytes);
        }
        if (!socket_list_asks(list, info.inode) || hash_find(&taken, info.inode) != NULL)
            continue;
        socket_list_unix_name(list, &info, path);
        if (info.state != SOCKET_ESTABLISHED) // this file does not show the peer
            socket_list_remote(list, &info, (struct span){"", 0});
        socket_list_add(list, &info);
    }
    hash_done(&taken);

    /* Two records with one inode: a path had a newline and a record of its own. They cannot be told
     * apart, so neither address is used. */
    const unsigned doubtful = SOCKET_TYPE | SOCKET_STATE | SOCKET_LOCAL | SOCKET_REMOTE;
    struct hash seen = {0};
    for (size_t i = first; i < list->count && !list->failed; i++) {
        struct socket_info *info = &list->items[i];
        const uintptr_t *place = info->inode != 0 ? hash_find(&seen, info->inode) : NULL;
        if (place == NULL) {
            list->failed = hash_set(&seen, info->inode, i) < 0;
            continue;
        }
        struct socket_info *twin = &list->items[*place];
        info->has &= ~doubtful;
        twin->has &= ~doubtful;
        info->missing = twin->missing = VITALS_FAILED;
    }
    hash_done(&seen);
}

/* ---- netlink and packet ---- */

enum { NETLINK_KIND = 1, NETLINK_PORT, NETLINK_RECEIVE = 4, NETLINK_SEND, NETLINK_INODE = 9 };

static bool take_netlink(const struct net_line *line, struct socket_list *list,
                         struct socket_info *info)
{
    const struct span *words = line->words;
    uint64_t protocol, port;
    if (!word_u64(words[NETLINK_KIND], UINT16_MAX, &protocol) ||
        !word_u64(words[NETLINK_PORT], UINT32_MAX, &port) ||
        !word_u64(words[NETLINK_RECEIVE], INT32_MAX, &info->receive_bytes) ||
        !word_u64(words[NETLINK_SEND], INT32_MAX, &info->send_bytes))
        return false;
    info->has = SOCKET_FAMILY | SOCKET_PROTOCOL | SOCKET_STATE | SOCKET_LOCAL_PORT |
                SOCKET_RECEIVE | SOCKET_SEND;
    info->protocol = (uint32_t)protocol;
    info->local_port = (uint32_t)port;
    socket_list_local(list, info, (struct span){"", 0});
    socket_list_remote(list, info, (struct span){"", 0});
    return true;
}

enum {
    PACKET_KIND = 2,
    PACKET_PROTOCOL,
    PACKET_INTERFACE,
    PACKET_RECEIVE = 6,
    PACKET_UID,
    PACKET_INODE
};

static bool take_packet(const struct net_line *line, struct socket_list *list,
                        struct socket_info *info)
{
    const struct span *words = line->words;
    uint64_t type, protocol, interface, uid;
    if (!word_u64(words[PACKET_KIND], UINT16_MAX, &type) ||
        !word_hex(words[PACKET_PROTOCOL], UINT16_MAX, &protocol) ||
        !word_u64(words[PACKET_INTERFACE], INT32_MAX, &interface) ||
        !word_u64(words[PACKET_RECEIVE], UINT32_MAX, &info->receive_bytes) ||
        !word_u64(words[PACKET_UID], UINT32_MAX, &uid))
        return false;
    info->has = SOCKET_FAMILY | SOCKET_TYPE | SOCKET_PROTOCOL | SOCKET_STATE | SOCKET_UID |
                SOCKET_RECEIVE;
    info->type = (uint16_t)type;
    info->protocol = (uint32_t)protocol;
    info->uid = (uint32_t)uid;
    socket_list_interface(list, info, (uint32_t)interface);
    socket_list_remote(list, info, (struct span){"", 0});
    return true;
}

/* ---- sctp ---- */

/* Parses an address as the kernel prints it; the primary one of several follows a "*". */
static bool take_sctp_address(struct span word, uint16_t *family, unsigned char address[static 16])
{
    char text[INET6_ADDRSTRLEN];
    if (word.size > 0 && *word.bytes == '*')
        word = (struct span){word.bytes + 1, word.size - 1};
    if (word.size == 0 || word.size >= sizeof text)
        return false;
    memcpy(text, word.bytes, word.size);
    text[word.size] = '\0';
    *family = memchr(text, ':', word.size) != NULL ? AF_INET6 : AF_INET;
    return inet_pton(*family, text, address) == 1;
}

/* Indices of the words of a line: of an endpoint, and of an association, which has the addresses of
 * both sides with "<->" between. */
enum { STYLE = 2, STATE, ENDPOINT_PORT = 5, ENDPOINT_UID, ENDPOINT_INODE, ENDPOINT_ADDRESS };
enum { SEND = 7, RECEIVE, UID, INODE, LOCAL_PORT, REMOTE_PORT, LOCAL_ADDRESS };

/* Takes the fields that endpoints and associations share, and both ends. */
static bool take_sctp(struct socket_list *list, struct socket_info *info,
                      const struct socket_ends *ends, const struct span *words, struct span owner)
{
    uint64_t style, state, uid;
    if (!word_u64(words[STYLE], 2, &style) || !word_u64(words[STATE], UINT8_MAX, &state) ||
        !word_u64(owner, UINT32_MAX, &uid))
        return false;
    info->has |= SOCKET_FAMILY | SOCKET_TYPE | SOCKET_PROTOCOL | SOCKET_STATE | SOCKET_UID;
    info->type = style == 2 ? SOCK_STREAM : SOCK_SEQPACKET; // one to one, one to many
    info->protocol = IPPROTO_SCTP;
    info->state = (uint16_t)state;
    info->uid = (uint32_t)uid;
    socket_list_ends(list, info, ends);
    return true;
}

static bool take_endpoint(const struct net_line *line, struct socket_list *list,
                          struct socket_info *info)
{
    const struct span *words = line->words;
    struct socket_ends ends = {0};
    uint64_t port;
    if (!word_u64(words[ENDPOINT_PORT], UINT16_MAX, &port) ||
        !take_sctp_address(words[ENDPOINT_ADDRESS], &info->family, ends.local))
        return false;
    ends.local_port = (uint16_t)port;
    return take_sctp(list, info, &ends, words, words[ENDPOINT_UID]);
}

/* Takes the first address of the family after the "<->" of an association. */
static bool take_sctp_remote(struct span line, uint16_t family, unsigned char address[static 16])
{
    struct cursor cursor = cursor_over(line.bytes, line.size);
    struct span word;
    uint16_t found;
    while (cursor_word(&cursor, &word) && !span_equal(word, "<->"))
        ;
    while (cursor_word(&cursor, &word) && take_sctp_address(word, &found, address))
        if (found == family)
            return true;
    return false;
}

static bool take_association(const struct net_line *line, struct socket_list *list,
                             struct socket_info *info)
{
    const struct span *words = line->words;
    struct socket_ends ends = {0};
    uint64_t local, remote;
    if (!word_u64(words[SEND], UINT32_MAX, &info->send_bytes) ||
        !word_u64(words[RECEIVE], UINT32_MAX, &info->receive_bytes) ||
        !word_u64(words[LOCAL_PORT], UINT16_MAX, &local) ||
        !word_u64(words[REMOTE_PORT], UINT16_MAX, &remote) ||
        !take_sctp_address(words[LOCAL_ADDRESS], &info->family, ends.local) ||
        !take_sctp_remote(line->text, info->family, ends.remote))
        return false;
    info->has = SOCKET_RECEIVE | SOCKET_SEND;
    ends.local_port = (uint16_t)local;
    ends.remote_port = (uint16_t)remote;
    return take_sctp(list, info, &ends, words, words[UID]);
}

/* ---- all ---- */

static const struct {
    size_t words, inode; /* the least number of words, and the index of the inode */
    bool (*take)(const struct net_line *line, struct socket_list *list, struct socket_info *info);
} FILES[] = {
    [NET_INET] = {INET_WORDS, INET_INODE, take_inet},
    [NET_NETLINK] = {NETLINK_INODE + 1, NETLINK_INODE, take_netlink},
    [NET_PACKET] = {PACKET_INODE + 1, PACKET_INODE, take_packet},
    [NET_SCTP_ENDPOINTS] = {ENDPOINT_ADDRESS + 1, ENDPOINT_INODE, take_endpoint},
    [NET_SCTP_ASSOCIATIONS] = {LOCAL_ADDRESS + 1, INODE, take_association},
};

void net_parse(const char *bytes, size_t size, const struct socket_group *group,
               struct socket_list *list)
{
    if (group->form == NET_UNIX) {
        parse_unix(bytes, size, group, list);
        return;
    }
    struct cursor text = whole_lines(bytes, size);
    struct net_line line = {.group = group};
    while (cursor_line(&text, &line.text) && !list->failed) {
        struct socket_info info = {.family = group->family, .state = SOCKET_STATELESS};
        const size_t wanted = FILES[group->form].words;
        if (split(line.text, line.words, wanted) == wanted &&
            word_u64(line.words[FILES[group->form].inode], UINT64_MAX - 1, &info.inode) &&
            socket_list_asks(list, info.inode) && FILES[group->form].take(&line, list, &info))
            socket_list_add(list, &info);
    }
}
