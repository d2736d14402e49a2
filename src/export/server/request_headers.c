/* request_headers.c: see request_headers.h. Malformed parts of an Accept header are ignored. */
#include "export/server/request_headers.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <vitals/vitals.h>

enum { FULL = 1000 };

static vitals_text trimmed(const char *from, const char *to)
{
    while (from < to && (*from == ' ' || *from == '\t'))
        from++;
    while (to > from && (to[-1] == ' ' || to[-1] == '\t'))
        to--;
    return (vitals_text){from, (size_t)(to - from)};
}

/* Returns the next piece, without spaces around it, up to the separator or the end, and moves *rest
 * behind it. Separators within quotes do not count. Returns false if none is left. */
static bool next_piece(const char **rest, const char *end, char separator, vitals_text *out)
{
    const char *from = *rest;
    bool quoted = false;
    if (from == NULL)
        return false;
    const char *at = from;
    for (; at < end && (quoted || *at != separator); at++)
        quoted ^= *at == '"';
    *out = trimmed(from, at);
    *rest = at < end ? at + 1 : NULL;
    return true;
}

static bool equals(vitals_text piece, const char *word)
{
    return strlen(word) == piece.size && strncasecmp(piece.bytes, word, piece.size) == 0;
}

/* "1", "0.8" or "0.333", in thousandths. Returns 0 for anything else. */
static int read_quality(vitals_text piece)
{
    int value = 0, unit = FULL;
    for (size_t i = 0; i < piece.size; i++) {
        char byte = piece.bytes[i];
        if (i == 1 && byte == '.')
            continue;
        if (byte < '0' || byte > '9' || unit == 0)
            return 0;
        value += (byte - '0') * unit;
        unit /= 10;
    }
    return value > FULL ? 0 : value;
}

/* Returns true for `name=value`, such as `q=0.5`. */
static bool is_parameter(vitals_text piece, const char *name, vitals_text *value)
{
    const char *end = piece.bytes + piece.size;
    const char *equal = memchr(piece.bytes, '=', piece.size);
    if (equal == NULL || !equals(trimmed(piece.bytes, equal), name))
        return false;
    *value = trimmed(equal + 1, end);
    if (value->size >= 2 && value->bytes[0] == '"' && value->bytes[value->size - 1] == '"')
        *value = (vitals_text){value->bytes + 1, value->size - 2};
    return true;
}

struct accept_quality accept_type(const char *header, const char *type, const char *const *versions)
{
    struct accept_quality best = {0, 0};
    vitals_text element, range, parameter, value;
    const char *end = header != NULL ? header + strlen(header) : NULL;
    const char *slash = strchr(type, '/');
    size_t kind = slash != NULL ? (size_t)(slash - type) + 1 : 0;
    while (next_piece(&header, end, ',', &element)) {
        const char *rest = element.bytes, *element_end = element.bytes + element.size;
        if (!next_piece(&rest, element_end, ';', &range))
            continue;
        int quality = FULL, exactness = 0;
        if (equals(range, type))
            exactness = 3;
        else if (kind > 0 && range.size == kind + 1 && range.bytes[kind] == '*' &&
                 strncasecmp(range.bytes, type, kind) == 0)
            exactness = 2;
        else if (equals(range, slash != NULL ? "*/*" : "*"))
            exactness = 1;

        while (exactness > 0 && next_piece(&rest, element_end, ';', &parameter)) {
            if (is_parameter(parameter, "q", &value)) {
                quality = read_quality(value);
            } else if (versions != NULL && is_parameter(parameter, "version", &value)) {
                size_t i = 0;
                while (versions[i] != NULL && !equals(value, versions[i]))
                    i++;
                if (versions[i] == NULL)
                    exactness = 0;
            }
        }
        if (exactness > best.exactness ||
            (exactness > 0 && exactness == best.exactness && quality > best.quality))
            best = (struct accept_quality){quality, exactness};
    }
    return best;
}

bool accept_encoding(const char *header, const char *coding)
{
    return accept_type(header, coding, NULL).quality > 0;
}

bool accept_has_tag(const char *header, const char *tag)
{
    vitals_text element;
    const char *end = header != NULL ? header + strlen(header) : NULL;
    while (next_piece(&header, end, ',', &element)) {
        if (element.size > 2 && strncmp(element.bytes, "W/", 2) == 0)
            element = (vitals_text){element.bytes + 2, element.size - 2};
        if (equals(element, "*") ||
            (strlen(tag) == element.size && memcmp(element.bytes, tag, element.size) == 0))
            return true;
    }
    return false;
}

/* ---- Host ---- */

bool host_name_parse(const char *header, char out[static HOST_NAME_MAX_BYTES])
{
    static const char NAME[] = "abcdefghijklmnopqrstuvwxyz0123456789-._";
    static const char ADDRESS[] = "abcdef0123456789:.";
    bool bracket = header[0] == '[';
    const char *from = header + bracket;
    const char *end = bracket ? strchr(from, ']') : from + strcspn(from, ":");
    if (end == NULL || end == from || end - from >= HOST_NAME_MAX_BYTES)
        return false;
    const char *port = end + bracket;
    if (*port != '\0' && (*port != ':' || port[1 + strspn(port + 1, "0123456789")] != '\0'))
        return false;
    size_t size = (size_t)(end - from);
    for (size_t i = 0; i < size; i++)
        out[i] = (char)(from[i] >= 'A' && from[i] <= 'Z' ? from[i] + 32 : from[i]);
    size -= size > 1 && out[size - 1] == '.';
    out[size] = '\0';
    return strspn(out, bracket ? ADDRESS : NAME) == size;
}

bool host_names_add(struct host_names *names, const char *header)
{
    bool added = names->count < HOST_NAMES_MAX &&
                 host_name_parse(header, names->names[names->count]);
    names->count += added;
    return added;
}

void host_names_init(struct host_names *names)
{
    char own[HOST_NAME_MAX_BYTES] = "";
    names->count = 0;
    (void)host_names_add(names, "localhost");
    if (gethostname(own, sizeof own - 1) == 0)
        (void)host_names_add(names, own);
}

/* Converts an IPv4 address mapped to IPv6 back to IPv4. */
static bool as_ipv4(const struct sockaddr *address, struct in_addr *out)
{
    if (address->sa_family == AF_INET) {
        *out = ((const struct sockaddr_in *)(const void *)address)->sin_addr;
        return true;
    }
    const struct in6_addr *six = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    if (address->sa_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(six))
        return false;
    memcpy(out, six->s6_addr + 12, sizeof *out);
    return true;
}

bool host_is_loopback(const struct sockaddr *address)
{
    struct in_addr four;
    if (as_ipv4(address, &four))
        return ntohl(four.s_addr) >> 24 == 127;
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

bool host_names_allow(const struct host_names *names, const char *header,
                      const struct sockaddr *local)
{
    char name[HOST_NAME_MAX_BYTES];
    if (local->sa_family == AF_UNIX)
        return true;
    if (!host_name_parse(header, name))
        return false;
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(name, names->names[i]) == 0)
            return true;
    }

    /* The address that was connected to, or a loopback address, which a tunnel that ends here is
     * reached by. */
    struct in_addr four, local_four;
    struct in6_addr six;
    if (inet_pton(AF_INET, name, &four) == 1)
        return ntohl(four.s_addr) >> 24 == 127 ||
               (as_ipv4(local, &local_four) && four.s_addr == local_four.s_addr);
    const struct sockaddr_in6 *local_six = (const struct sockaddr_in6 *)(const void *)local;
    return inet_pton(AF_INET6, name, &six) == 1 &&
           (IN6_IS_ADDR_LOOPBACK(&six) ||
            (local->sa_family == AF_INET6 && memcmp(&six, &local_six->sin6_addr, sizeof six) == 0));
}
