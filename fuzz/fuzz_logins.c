/* Any bytes as utmp and as the file of a session: what is borrowed lies within them, and no string
 * of utmp is longer than its field. */
#include "os/linux/machine/logins.h"
#include "util/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void require_span(struct span span, const char *bytes, size_t size)
{
    if (span.size == 0)
        return;
    require(span.bytes >= bytes && span.size <= size);
    require((size_t)(span.bytes - bytes) <= size - span.size);
}

static void require_login(const struct login *login, const char *bytes, size_t size)
{
    require_span(login->user, bytes, size);
    require_span(login->terminal, bytes, size);
    require_span(login->host, bytes, size);
    require(isfinite(login->start_seconds) && login->start_seconds >= 0);
    require(login->pid <= INT32_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct login session = {0}, login;
    bool is_session = login_parse_session(bytes, size, &session);
    if (is_session)
        require_login(&session, bytes, size);
    size_t at = 0, count = 0;
    while (login_next_utmp(bytes, size, &at, &login)) {
        require(at <= size);
        require_login(&login, bytes, size);
        require(login.user.size <= 32 && login.terminal.size <= 32 && login.host.size <= 256);
        require(memchr(login.user.size != 0 ? login.user.bytes : "x", '\0',
                       login.user.size != 0 ? login.user.size : 1) == NULL);
        if (is_session)
            (void)login_same(&login, &session);
        count++;
    }
    require(count <= size / 384);
    return 0;
}
