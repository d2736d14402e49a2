/* listener_config.c: the configuration of the server, libmicrohttpd's daemon, and the change of the
 * configuration while the server runs.
 *
 * Connections keep the configuration that they were accepted under until they end. */
#include <stdlib.h>
#include <string.h>

#include "export/clock.h"
#include "export/reply.h"
#include "export/server/serve.h"
#include "feed/built_without.h"
#include "record/sample.h"

enum { POOL = 16 * 1024, LIBRARY_CONNECTIONS = 4096, MOST_OPTIONS = 12 };

#define LOOK_AT_CONFIG_NS (2 * UINT64_C(1000000000))

/* ---- configurations ---- */

void listener_config_unref(struct listener_config *config)
{
    if (config == NULL || --config->references > 0)
        return;
    tls_credentials_free(config->tls);
    web_config_free(config->web);
    free(config);
}

int listener_config_new(const char *path, struct listener_config **out, vitals_error *error)
{
    struct listener_config *config = calloc(1, sizeof *config);
    if (config == NULL)
        return record_fail(VITALS_EMEMORY, "the HTTP server", error, "no memory");
    config->references = 1;
    int code = path != NULL ? web_config_read(path, &config->web, error) : 0;
    if (code == 0 && path != NULL && config->web->tls)
        code = tls_credentials_new(config->web, &config->tls, error);
    if (code == 0 && path != NULL && config->web->users.count > 0 && !VITALS_WITH_CRYPT)
        code = record_fail(VITALS_EUNSUPPORTED, path, error,
                           "passwords need libcrypt: " BUILT_WITHOUT_CRYPT);
    if (code == 0)
        *out = config;
    else
        listener_config_unref(config);
    return code;
}

/* ---- the library's daemon ---- */

/* Called by libmicrohttpd on the server's thread for each connection. */
static void notify_connection(void *data, struct MHD_Connection *mhd, void **context,
                              enum MHD_ConnectionNotificationCode code)
{
    struct serve *serve = data;
    struct connection *connection = *context;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        *context = NULL;
        if (connection == NULL)
            return;
        listener_config_unref(connection->config);
        connections_remove(&serve->connections, connection);
        return;
    }

    connection = serve->accepted;
    *context = connection;
    serve->accepted = NULL;
    if (connection == NULL)
        return;
    connection->config = serve->config;
    connection->config->references++;
    if (connection->config->tls != NULL) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(
            mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION);
        if (info == NULL || !tls_credentials_use(connection->config->tls, info->tls_session))
            connection_cut(&serve->connections, connection);
    }
}

int serve_start_daemon(struct serve *serve, struct listener_config *config, vitals_error *error)
{
    /* The flag of a daemon that only one thread uses, MHD_USE_NO_THREAD_SAFETY. Without it,
     * libmicrohttpd 1.0 takes a connection only in MHD_run, and then notify_connection could not
     * know which one it is. Headers before 0.9.77 lack the flag; libraries that old do not need it.
     */
    enum { USE_NO_THREAD_SAFETY = 1 << 19 };
    bool old = strncmp(MHD_get_version(), "0.", 2) == 0;
    unsigned flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME |
                     (old ? 0 : USE_NO_THREAD_SAFETY);
    struct MHD_OptionItem options[MOST_OPTIONS];
    size_t count = 0;
    if (config->tls != NULL && MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES)
        return record_fail(VITALS_EUNSUPPORTED, serve->config_path, error,
                           "this libmicrohttpd has no TLS");
    if (config->tls != NULL) {
        /* libmicrohttpd requires a certificate; notify_connection sets that of each session. */
        const struct web_file *files = config->web->files;
        flags |= MHD_USE_TLS;
        options[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0,
                                                   files[WEB_FILE_CERTIFICATE].bytes};
        options[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0,
                                                   files[WEB_FILE_KEY].bytes};
    }
    options[count] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};

    struct MHD_Daemon *daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, request_handle, serve, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)POOL, MHD_OPTION_CONNECTION_LIMIT, (unsigned)LIBRARY_CONNECTIONS,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_URI_LOG_CALLBACK, request_begin, serve,
        MHD_OPTION_NOTIFY_COMPLETED, request_end, serve, MHD_OPTION_NOTIFY_CONNECTION,
        notify_connection, serve, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
    const union MHD_DaemonInfo *info = daemon != NULL
                                           ? MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)
                                           : NULL;
    if (info == NULL) {
        if (daemon != NULL)
            MHD_stop_daemon(daemon);
        return record_fail(VITALS_ESYSTEM, "the HTTP server", error,
                           "libmicrohttpd refuses to start");
    }

    serve_stop_daemon(serve);
    serve->daemon = daemon;
    serve->daemon_descriptor = info->epoll_fd;
    serve->daemon_config = config;
    config->references++;
    return 0;
}

/* libmicrohttpd cannot stop while requests are suspended. While `ending` is set, all requests are
 * refused, so that none is suspended again. */
void serve_stop_daemon(struct serve *serve)
{
    if (serve->daemon == NULL)
        return;
    serve->ending = true;
    streams_end(serve);
    requests_give_up(serve);
    (void)MHD_run(serve->daemon);
    MHD_stop_daemon(serve->daemon);
    listener_config_unref(serve->daemon_config);
    serve->daemon = NULL;
    serve->daemon_config = NULL;
    serve->ending = false;
}

/* ---- a configuration that changes ---- */

void serve_look_at_config(struct serve *serve, uint64_t now_ns)
{
    struct listener_config *fresh = NULL, *before = serve->config;
    vitals_error error = {.code = 0};
    if (serve->config_path == NULL || now_ns < serve->config_look_ns)
        return;
    serve->config_look_ns = now_ns + LOOK_AT_CONFIG_NS;
    if (!web_config_changed(before->web))
        return;

    bool beyond = false;
    for (size_t i = 0; i < serve->listener_count; i++)
        beyond |= serve->listeners[i].beyond;
    int code = listener_config_new(serve->config_path, &fresh, &error);
    if (code == 0 && beyond && !serve->may_insecure && !web_config_protects(fresh->web))
        code = record_fail(VITALS_EARGUMENT, serve->config_path, &error,
                           "protects nothing any more, and others can come");
    if (code == 0 && (fresh->tls != NULL) != (before->tls != NULL))
        code = serve_start_daemon(serve, fresh, &error);
    if (code < 0) {
        listener_config_unref(fresh);
        if (!serve->config_bad)
            reply_say("%s; the configuration before it stays%s", error.message,
                      code == VITALS_EDENIED ? "; restart to take it" : "");
        serve->config_bad = true;
        return;
    }

    /* Clients must connect again; an answer under way is finished. */
    serve->config = fresh;
    serve->config_bad = false;
    connections_cut_outdated(&serve->connections, fresh);
    listener_config_unref(before);
}
