/* address.c: see address.h. */
#include "export/address.h"

#include <string.h>
#include <strings.h>

#include "record/sample.h"
#include "util/number.h"

/* ---- how it is shown ---- */

/* Returns the part after the scheme; the whole address if it has none. */
static const char *behind_scheme(const char *url)
{
    const char *colon = strchr(url, ':');
    return colon != NULL && strncmp(colon, "://", 3) == 0 ? colon + 3 : url;
}

const char *address_behind_login(const char *url)
{
    const char *at = strrchr(url, '@');
    return at != NULL ? at + 1 : behind_scheme(url);
}

void address_show(const char *url, char *out, size_t size)
{
    const char *from = address_behind_login(url);
    size_t scheme = (size_t)(behind_scheme(url) - url);
    size_t used = vitals_text_format((vitals_text){url, scheme}, VITALS_TEXT_ASCII, out, size);
    if (used < size)
        (void)vitals_text_format((vitals_text){from, strcspn(from, "?#")}, VITALS_TEXT_ASCII,
                                 out + used, size - used);
}

/* ---- comparison ---- */

/* Skips a login as address_is_web reads it: before the first of / ? #. */
static vitals_text host_of(const char *url)
{
    const char *host = behind_scheme(url);
    const char *end = host + strcspn(host, "/?#");
    for (const char *at = host; at < end; at++) {
        if (*at == '@')
            host = at + 1;
    }
    return (vitals_text){host, (size_t)(end - host)};
}

static bool is_same(const char *bytes, size_t size, const char *other, size_t other_size)
{
    return size == other_size && strncasecmp(bytes, other, size) == 0;
}

bool address_is_same(const char *url, const char *other)
{
    vitals_text host = host_of(url), other_host = host_of(other);
    const char *path = host.bytes + host.size, *other_path = other_host.bytes + other_host.size;
    size_t size = strcspn(path, "?#"), other_size = strcspn(other_path, "?#");
    while (size > 0 && path[size - 1] == '/')
        size--;
    while (other_size > 0 && other_path[other_size - 1] == '/')
        other_size--;
    return is_same(url, (size_t)(behind_scheme(url) - url), other,
                   (size_t)(behind_scheme(other) - other)) &&
           is_same(host.bytes, host.size, other_host.bytes, other_host.size) &&
           size == other_size && memcmp(path, other_path, size) == 0;
}

/* ---- validity ---- */

/* Checks "HOST", "HOST:PORT" or "[::1]:PORT": a host is named, and a port is a valid number. */
static bool is_place(const char *place, size_t size)
{
    enum { PORT_MOST = 65535 };
    const char *end = place + size;
    const char *bracket = place[0] == '[' ? memchr(place, ']', size) : NULL;
    const char *colon = memchr(bracket != NULL ? bracket : place, ':',
                               (size_t)(end - (bracket != NULL ? bracket : place)));
    const char *host_end = colon != NULL ? colon : end, *at = host_end + 1;
    uint64_t port;
    if (host_end == place || (place[0] == '[' && (bracket == NULL || host_end != bracket + 1)))
        return false;
    return at >= end ||
           (number_u64(&at, end, &port) && at == end && port >= 1 && port <= PORT_MOST);
}

/* Checks the authority as an HTTP client parses it (RFC 3986, 3.2): up to the first of / ? #, the
 * host after the @. An address with two @ is ambiguous and refused; a name or password must not
 * contain one. */
bool address_is_web(const char *url)
{
    bool plain = strncasecmp(url, "http://", 7) == 0;
    if (!plain && strncasecmp(url, "https://", 8) != 0)
        return false;
    const char *place = behind_scheme(url);
    size_t size = strcspn(place, "/?#");
    const char *at = memchr(place, '@', size);
    if (at != NULL) {
        size -= (size_t)(at + 1 - place);
        place = at + 1;
    }
    return is_place(place, size) && memchr(place, '@', size) == NULL &&
           strpbrk(url, " \t\r\n\"<>") == NULL;
}

const char *address_hint(const char *url)
{
    return strchr(url, '@') != NULL
               ? "; a name or password in it has %40 for @, %2F for /, %3F for ?, %23 for #"
               : "";
}

int address_check_mlflow(const char *uri, vitals_error *error)
{
    static const struct {
        const char *begin, *what;
    } OTHERS[] = {
        {"file:", "a folder"},
        {"sqlite:", "a database"},
        {"postgresql", "a database"},
        {"mysql", "a database"},
        {"mssql", "a database"},
        {"databricks", "Databricks, which has a login of its own"},
        {"uc:", "Databricks"},
        {"/", "a folder"},
        {".", "a folder"},
    };
    char shown[200];
    if (address_is_web(uri))
        return 0;
    address_show(uri, shown, sizeof shown);
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++) {
        if (strncasecmp(uri, OTHERS[i].begin, strlen(OTHERS[i].begin)) == 0)
            return record_fail(VITALS_EARGUMENT, shown, error,
                               "%s; vitals needs an MLflow server: http:// or https://",
                               OTHERS[i].what);
    }
    return record_fail(VITALS_EARGUMENT, shown, error,
                       "not an address of an MLflow server; write http://HOST:5000%s",
                       address_hint(uri));
}

int address_check_listen(const char *where, vitals_error *error)
{
    const char *colon = strrchr(where, ':');
    size_t host = colon != NULL ? (size_t)(colon - where) : 0;
    bool named = strncmp(where, "localhost:", 10) == 0 && host == strlen("localhost");
    bool six = where[0] == '[';
    size_t digits = strspn(where + six, six ? "0123456789abcdefABCDEF:." : "0123456789.");
    bool numbers = host > 0 && (six ? strchr("]%", where[1 + digits]) != NULL : digits == host);
    if (strncmp(where, "unix:/", 6) == 0 || strncmp(where, "fd:", 3) == 0)
        return 0;
    /* Port 0 asks for a free port. */
    if ((named || numbers) && colon[1] != '\0' &&
        (strcmp(colon, ":0") == 0 || is_place(where, strlen(where))))
        return 0;
    return record_fail(VITALS_EARGUMENT, where, error,
                       "not an address to listen on; give an IP address, localhost or unix:/PATH, "
                       "as in 127.0.0.1:9847 (0.0.0.0 or [::] for all)");
}
