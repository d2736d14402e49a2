/* host_name.c: see host_name.h. */
#include "export/server/host_name.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct host_names {
    size_t count;
    char names[][HOST_NAME_MAX_BYTES];
};

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

struct host_names *host_names_new(const char *const *allowed, size_t count)
{
    struct host_names *names = calloc(1, sizeof *names + (count + 2) * HOST_NAME_MAX_BYTES);
    char own[HOST_NAME_MAX_BYTES] = "";
    if (names == NULL)
        return NULL;
    memcpy(names->names[names->count++], "localhost", sizeof "localhost");
    if (gethostname(own, sizeof own - 1) == 0)
        names->count += host_name_parse(own, names->names[names->count]);
    for (size_t i = 0; i < count; i++)
        names->count += host_name_parse(allowed[i], names->names[names->count]);
    return names;
}

void host_names_free(struct host_names *names)
{
    free(names);
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
