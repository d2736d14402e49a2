/* listener_config.c: what the server is configured with, and the library's daemon that works by it.
 */
#include <stdlib.h>
#include <string.h>

#include "export/clock.h"
#include "export/reply.h"
#include "export/server/serve.h"
#include "export/server/tls.h"
#include "feed/built_without.h"
#include "record/sample.h"

enum { POOL = 16 * 1024, LIBRARY_CONNECTIONS = 4096, MOST_OPTIONS = 12 };

#define LOOK_AT_CONFIG_NS (2 * UINT64_C(1000000000))

/* ---- the library's daemon ---- */

/* Connections come and go one at a time, in calls that we make. */
static void notify_connection(void *data, struct MHD_Connection *connection, void **context,
                              enum MHD_ConnectionNotificationCode code)
{
    struct world *world = data;
    struct serve *serve = world->serve;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            world->config != NULL && world->config->tls
                ? MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION)
                : NULL;
        *context = serve->comer;
        serve->comer = NULL;
        world->guests++;
        if (info != NULL && info->tls_session != NULL)
            tls_ask(info->tls_session, world->config);
        return;
    }
    world->guests--;
    if (*context != NULL)
        guests_leave(&serve->guests, *context);
    *context = NULL;
}

/* The flag of a daemon that one thread uses. From version 1.0 on, a daemon without it takes a
 * connection that is handed over only when it runs, and then notify_connection could not tell which
 * it is. Headers before 0.9.77 do not name the flag; a library that is that old need not be told.
 */
static unsigned single_threaded(void)
{
    enum { USE_NO_THREAD_SAFETY = 1 << 19 }; /* MHD_USE_NO_THREAD_SAFETY */
    return strncmp(MHD_get_version(), "0.", 2) == 0 ? 0 : USE_NO_THREAD_SAFETY;
}

static int start_daemon(struct world *world, vitals_error *error)
{
    const struct web_config *config = world->config;
    bool tls = config != NULL && config->tls;
    unsigned flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME |
                     single_threaded();
    struct MHD_OptionItem options[MOST_OPTIONS];
    size_t count = 0;
    if (tls && MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES)
        return record_fail(VITALS_EUNSUPPORTED, config->files[WEB_FILE_SELF].path, error,
                           "this libmicrohttpd has no TLS");
    if (tls) {
        flags |= MHD_USE_TLS;
        options[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0,
                                                   config->files[WEB_FILE_CERTIFICATE].bytes};
        options[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0,
                                                   config->files[WEB_FILE_KEY].bytes};
        options[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0,
                                                   (void *)(uintptr_t)config->priorities};
    }
    if (tls && config->files[WEB_FILE_CLIENT_CA].bytes != NULL)
        options[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_TRUST, 0,
                                                   config->files[WEB_FILE_CLIENT_CA].bytes};
    options[count] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
    world->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, request_handle, world, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)POOL, MHD_OPTION_CONNECTION_LIMIT, (unsigned)LIBRARY_CONNECTIONS,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_URI_LOG_CALLBACK, request_begin, world,
        MHD_OPTION_NOTIFY_COMPLETED, request_end, world, MHD_OPTION_NOTIFY_CONNECTION,
        notify_connection, world, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
    const union MHD_DaemonInfo *info =
        world->daemon != NULL ? MHD_get_daemon_info(world->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
    if (info == NULL)
        return record_fail(VITALS_ESYSTEM, "the HTTP server", error,
                           "libmicrohttpd refuses to start");
    world->poll_descriptor = info->epoll_fd;
    return 0;
}

/* ---- worlds ---- */

/* The library cannot stop while somebody sleeps. Who is woken here does not fall asleep again, for
 * nobody is let in by what is retired. */
static void stop_daemon(struct world *world)
{
    world->retired = true;
    streams_end(world->serve, world);
    requests_give_up(world->serve, world);
    (void)MHD_run(world->daemon);
    MHD_stop_daemon(world->daemon);
}

void world_free(struct world *world)
{
    if (world == NULL)
        return;
    if (world->daemon != NULL)
        stop_daemon(world);
    web_config_free(world->config);
    free(world);
}

static int take_config(struct world *world, const char *path, vitals_error *error)
{
    int code = web_config_read(path, &world->config, error);
    if (code == 0 && world->config->tls)
        code = tls_check(world->config, error);
    if (code < 0 || world->config->users.count == 0)
        return code;
    if (!VITALS_WITH_CRYPT)
        return record_fail(VITALS_EUNSUPPORTED, path, error,
                           "passwords need libcrypt: " BUILT_WITHOUT_CRYPT);
    if (world->serve->passwords == NULL)
        world->serve->passwords = password_cache_new();
    if (world->serve->passwords == NULL)
        return record_fail(VITALS_EMEMORY, path, error, "no memory");
    return 0;
}

int world_new(struct serve *serve, const char *path, struct world **out, vitals_error *error)
{
    struct world *world = calloc(1, sizeof *world);
    if (world == NULL)
        return record_fail(VITALS_EMEMORY, "the HTTP server", error, "no memory");
    world->serve = serve;
    int code = path != NULL ? take_config(world, path, error) : 0;
    if (code == 0)
        code = start_daemon(world, error);
    if (code == 0)
        *out = world;
    else
        world_free(world);
    return code;
}

/* ---- a configuration that changes ---- */

static bool reaches_beyond(const struct serve *serve)
{
    bool beyond = false;
    for (size_t i = 0; i < serve->listener_count; i++)
        beyond |= serve->listeners[i].beyond;
    return beyond;
}

/* Who was let in by what holds no more must come again, but for an answer that is on its way; and
 * that is cut off too where too many changed too soon. */
static void shift_worlds(struct serve *serve)
{
    size_t last = WORLDS_MAX - 1;
    if (serve->worlds[last] != NULL)
        reply_say("%s: changed %zu times at once; answers by the first of them are cut off",
                  serve->config_path, last);
    world_free(serve->worlds[last]);
    memmove(&serve->worlds[1], &serve->worlds[0], last * sizeof serve->worlds[0]);
    serve->worlds[1]->retired = true;
    guests_cut_of(&serve->guests, serve->worlds[1]);
}

void serve_look_at_config(struct serve *serve, uint64_t now_ns)
{
    struct world *fresh = NULL;
    vitals_error error = {.code = 0};
    if (serve->config_path == NULL || now_ns < serve->config_look_ns)
        return;
    serve->config_look_ns = now_ns + LOOK_AT_CONFIG_NS;
    if (!web_config_changed(serve->worlds[0]->config))
        return;
    int code = world_new(serve, serve->config_path, &fresh, &error);
    if (code == 0 && reaches_beyond(serve) && !serve->may_insecure &&
        !web_config_protects(fresh->config))
        code = record_fail(VITALS_EARGUMENT, serve->config_path, &error,
                           "protects nothing any more, and others can come");
    if (code == 0) {
        shift_worlds(serve);
        serve->worlds[0] = fresh;
        serve->config_bad = false;
        return;
    }
    world_free(fresh);
    if (!serve->config_bad) {
        serve->config_bad = true;
        reply_say("%s; the configuration before it stays%s", error.message,
                  code == VITALS_EDENIED ? "; restart to take it" : "");
    }
}
