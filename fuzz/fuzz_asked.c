/* Any text as each header that the server reads: nothing is read past it, and what comes out of it
 * is within its bounds. */
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "export/server/password.h"
#include "export/server/request_headers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void check_accept(const char *header)
{
    static const char *const VERSIONS[] = {"1.0.0", NULL};
    struct accept_quality quality = accept_type(header, "text/plain", VERSIONS);
    require(quality.quality >= 0 && quality.quality <= 1000);
    require(quality.exactness >= 0 && quality.exactness <= 3);
    require(quality.exactness > 0 || quality.quality == 0);
    (void)accept_encoding(header, "gzip");
    (void)accept_has_tag(header, "\"tag\"");
}

static void check_host(const char *header)
{
    char name[HOST_NAME_MAX_BYTES], again[HOST_NAME_MAX_BYTES];
    if (!host_name_parse(header, name))
        return;
    require(name[0] != '\0' && strlen(name) < sizeof name);
    require(strpbrk(name, "/@ ,\t\r\n\"") == NULL);
    if (strchr(name, ':') == NULL && name[strlen(name) - 1] != '.')
        require(host_name_parse(name, again) && strcmp(name, again) == 0);
}

static void check_password(const char *header)
{
    struct password_given given;
    if (!password_parse(header, &given))
        return;
    require(strlen(given.user) < sizeof given.user && strchr(given.user, ':') == NULL);
    require(strlen(given.password) < sizeof given.password);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct sockaddr_in LOCAL = {.sin_family = AF_INET};
    static struct host_names names;
    char *header = malloc(size + 1);
    require(header != NULL);
    memcpy(header, data, size);
    header[size] = '\0';
    if (names.count == 0)
        host_names_init(&names);
    check_accept(header);
    check_host(header);
    check_password(header);
    (void)host_names_allow(&names, header, (const struct sockaddr *)&LOCAL);
    (void)password_hash_fits(header);
    free(header);
    return 0;
}
