/* serve.c: the publisher `serve`: an HTTP server on a thread of its own.
 *
 * The thread waits for new connections, for libmicrohttpd's sockets and for samples from the main
 * thread. It renders and answers from the newest sample; nothing in it waits for a driver, a disk
 * or a name server. */
#include "export/server/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "export/clock.h"
#include "export/environment.h"
#include "export/publisher.h"
#include "export/reply.h"
#include "export/server/page.h"
#include "feed/built_without.h"
#include "record/sample.h"
#include "util/thread.h"

enum { ACCEPTED_AT_ONCE = 64, MOST_POLLED = 2 + LISTENERS_MAX };

#define ACCEPT_AGAIN_NS (UINT64_C(100000000))      /* pause of accept without free descriptors */
#define FEW_AGAIN_NS    (5 * UINT64_C(1000000000)) /* sampling every process, unused */

enum { POOL = 16 * 1024, LIBRARY_CONNECTIONS = 4096, MOST_OPTIONS = 12 };

#define LOOK_AT_CONFIG_NS (2 * UINT64_C(1000000000))

/* ---- configurations ---- */

static int no_memory(vitals_error *error)
{
    return record_fail(VITALS_EMEMORY, "the HTTP server", error, "no memory");
}

static void listener_config_unref(struct listener_config *config)
{
    if (config == NULL || --config->references > 0)
        return;
    tls_credentials_free(config->tls);
    web_config_free(config->web);
    free(config);
}

/* Reads the file of --web-config; NULL: none. Errors: those of web_config_read and
 * tls_credentials_new; EUNSUPPORTED (built without libcrypt). */
static int listener_config_new(const char *path, struct listener_config **out, vitals_error *error)
{
    struct listener_config *config = calloc(1, sizeof *config);
    if (config == NULL)
        return no_memory(error);
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

/* libmicrohttpd cannot stop while requests are suspended. While `ending` is set, all requests are
 * refused, so that none is suspended again. */
static void serve_stop_daemon(struct serve *serve)
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

/* Starts libmicrohttpd's daemon for plain HTTP or TLS, as configured. Then stops the daemon before
 * it, if there is one, and cuts off its connections. */
static int serve_start_daemon(struct serve *serve, struct listener_config *config,
                              vitals_error *error)
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
                                                   files[WEB_FILE_CERTIFICATE].text.bytes};
        options[count++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0,
                                                   files[WEB_FILE_KEY].text.bytes};
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
        return record_fail(VITALS_ESYSTEM, "the HTTP server", error, "libmicrohttpd cannot start");
    }

    serve_stop_daemon(serve);
    serve->daemon = daemon;
    serve->daemon_descriptor = info->epoll_fd;
    serve->daemon_config = config;
    config->references++;
    return 0;
}

/* ---- a configuration that changes ---- */

/* Whether a protection is gone. A file that is being rewritten, or on a full disk, is empty or cut
 * for a while. */
static bool is_weaker(const struct web_config *fresh, const struct web_config *before)
{
    return (before->tls && !fresh->tls) || (before->users.count > 0 && fresh->users.count == 0) ||
           (before->client == WEB_CLIENT_VERIFY && fresh->client != WEB_CLIENT_VERIFY);
}

/* Checks every 2 s whether the file has changed; takes it, or reports why it cannot be used.
 * Connections keep the configuration that they were accepted under until they end. */
static void serve_look_at_config(struct serve *serve, uint64_t now_ns)
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
                           "no longer protects the server, which other machines can reach");
    if (code == 0 && is_weaker(fresh->web, before->web))
        code = record_fail(VITALS_EDENIED, serve->config_path, &error,
                           "no longer has TLS, passwords or client certificates");
    if (code == 0 && (fresh->tls != NULL) != (before->tls != NULL))
        code = serve_start_daemon(serve, fresh, &error);
    if (code < 0) {
        listener_config_unref(fresh);
        if (!serve->config_bad)
            reply_say("%s; the former configuration stays%s", error.message,
                      code == VITALS_EDENIED ? "; restart to use the new one" : "");
        serve->config_bad = true;
        return;
    }

    /* Clients must connect again; an answer under way is finished. */
    serve->config = fresh;
    serve->config_bad = false;
    connections_cut_outdated(&serve->connections, fresh);
    listener_config_unref(before);
}

/* ---- samples ---- */

static void forget_listed(struct serve *serve)
{
    sample_unref(serve->listed_before);
    sample_unref(serve->listed);
    serve->listed = serve->listed_before = NULL;
}

/* Takes samples of the main thread and finished comparisons. Returns whether to go on. */
static bool take_news(struct serve *serve)
{
    uint64_t count;
    ssize_t got = read(serve->wake, &count, sizeof count);
    (void)got;
    pthread_mutex_lock(&serve->mutex);
    struct sample *sample = serve->pending;
    struct sample *listed = serve->pending_listed;
    serve->pending = serve->pending_listed = NULL;
    bool stop = serve->stop;
    pthread_mutex_unlock(&serve->mutex);

    if (listed != NULL && serve->wants_processes) {
        sample_unref(serve->listed_before);
        serve->listed_before = serve->listed;
        serve->listed = listed;
    } else {
        sample_unref(listed); /* came after the last client had gone */
    }

    if (sample != NULL) {
        serve_forget_rendered(serve);
        sample_unref(serve->newest);
        serve->newest = sample;
        exposition_count(serve->exposition, sample);
        if (sample_snapshot(sample) != NULL)
            history_take(serve->history, sample_snapshot(sample));
        streams_offer(serve);
    }
    requests_compare(serve);
    return !stop;
}

/* ---- new connections ---- */

static void accept_from(struct serve *serve, const struct listener *listener, uint64_t now_ns)
{
    for (int i = 0; i < ACCEPTED_AT_ONCE; i++) {
        struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
        socklen_t size = sizeof address;
        int descriptor = accept4(listener->descriptor, (struct sockaddr *)&address, &size,
                                 SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (descriptor < 0) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
                serve->accept_again_ns = now_ns + ACCEPT_AGAIN_NS;
            if (errno != EINTR && errno != ECONNABORTED)
                return;
            continue;
        }

        const struct sockaddr *from = (const struct sockaddr *)&address;
        struct connection *connection = connections_admit(&serve->connections, descriptor, from,
                                                          now_ns);
        if (connection == NULL) {
            (void)close(descriptor);
            continue;
        }
        /* libmicrohttpd calls notify_connection if it takes the socket, and closes it otherwise. */
        serve->accepted = connection;
        (void)MHD_add_connection(serve->daemon, descriptor, from, size);
        if (serve->accepted != NULL)
            connections_remove(&serve->connections, connection);
        serve->accepted = NULL;
    }
}

/* ---- the thread ---- */

/* Does what is due now. Returns the time until the next check. */
static uint64_t look_around(struct serve *serve, uint64_t now_ns)
{
    uint64_t wait = connections_sweep(&serve->connections, now_ns);
    streams_still_here(serve, now_ns);

    bool want = serve->streams_wanting > 0 ||
                (serve->wants_processes && serve->wanted_ns + FEW_AGAIN_NS > now_ns);
    if (want != serve->wants_processes)
        reply_want_processes(want);
    if (!want)
        forget_listed(serve);
    serve->wants_processes = want;
    serve_look_at_config(serve, now_ns);

    if (serve->wants_processes && serve->streams_wanting == 0 && wait > FEW_AGAIN_NS / 4)
        wait = FEW_AGAIN_NS / 4;
    if (serve->accept_again_ns > now_ns && wait > ACCEPT_AGAIN_NS)
        wait = ACCEPT_AGAIN_NS;
    return wait;
}

static void *serve_thread(void *data)
{
    struct serve *serve = data;
    for (bool goes_on = true; goes_on;) {
        struct pollfd polled[MOST_POLLED];
        nfds_t count = 0;
        uint64_t now = clock_now_ns(), wait = look_around(serve, now);
        bool accepts = serve->accept_again_ns <= now;
        polled[count++] = (struct pollfd){.fd = serve->wake, .events = POLLIN};
        polled[count++] = (struct pollfd){.fd = serve->daemon_descriptor, .events = POLLIN};
        for (size_t i = 0; i < serve->listener_count; i++)
            polled[count++] = (struct pollfd){.fd = accepts ? serve->listeners[i].descriptor : -1,
                                              .events = POLLIN};

        MHD_UNSIGNED_LONG_LONG wanted;
        uint64_t least = wait == UINT64_MAX ? UINT64_MAX : wait / 1000000 + 1;
        if (MHD_get_timeout(serve->daemon, &wanted) == MHD_YES && wanted < least)
            least = wanted;
        int timeout = least < 60000 ? (int)least : least == UINT64_MAX ? -1 : 60000;
        if (poll(polled, count, timeout) < 0 && errno != EINTR) {
            reply_say("the HTTP server has ended: poll: %s", strerror(errno));
            return NULL;
        }

        goes_on = polled[0].revents == 0 || take_news(serve);
        now = clock_now_ns();
        for (size_t i = 0; i < serve->listener_count; i++) {
            if (polled[2 + i].revents != 0)
                accept_from(serve, &serve->listeners[i], now);
        }
        (void)MHD_run(serve->daemon);
    }
    return NULL;
}

/* ---- the publisher ---- */

static void serve_free(struct serve *serve)
{
    serve_stop_daemon(serve);
    listener_config_unref(serve->config);
    listeners_close(serve->listeners, serve->listener_count);
    if (serve->comparison != NULL)
        (void)comparison_finish(serve->comparison, &serve->passwords);
    serve_forget_rendered(serve);
    forget_listed(serve);
    sample_unref(serve->newest);
    sample_unref(serve->pending);
    sample_unref(serve->pending_listed);
    history_free(serve->history);
    exposition_free(serve->exposition);
    self_metrics_free(serve->own);
    if (serve->wake >= 0)
        (void)close(serve->wake);
    pthread_mutex_destroy(&serve->mutex);
    free(serve->config_path);
    free(serve);
}

/* The default is the loopback. */
static int open_listeners(struct serve *serve, const json_t *config, vitals_error *error)
{
    static const char DEFAULT[] = "localhost:9847";
    static const char *const LACKS[2][2] = {
        {"TLS and passwords or client certificates, which are not in ",
         "TLS besides the passwords of "},
        {"passwords or client certificates besides the TLS of ", ""}};
    const struct web_config *web = serve->config->web;
    char words[160];
    const char *lacks = NULL; /* to listen beyond this machine */
    if (!serve->may_insecure && web == NULL) {
        lacks = "TLS and passwords or client certificates (--web-config)";
    } else if (!serve->may_insecure && !web_config_protects(web)) {
        const char *slash = strrchr(serve->config_path, '/');
        const char *name = slash != NULL ? slash + 1 : serve->config_path;
        (void)snprintf(words, sizeof words, "%s%.60s", LACKS[web->tls][web->users.count > 0], name);
        lacks = words;
    }

    const json_t *listen = json_object_get(config, "listen");
    size_t count = json_array_size(listen);
    if (count == 0)
        return listeners_open(DEFAULT, lacks, serve->listeners, &serve->listener_count, error);
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        const char *where = json_string_value(json_array_get(listen, i));
        code = where != NULL
                   ? listeners_open(where, lacks, serve->listeners, &serve->listener_count, error)
                   : record_fail(VITALS_EARGUMENT, "listen", error, "must hold texts");
    }
    return code;
}

static int open_names(struct serve *serve, const json_t *config, vitals_error *error)
{
    enum { HOSTS_MAX = HOST_NAMES_MAX - 2 };
    const json_t *given = json_object_get(config, "hosts");
    if (json_array_size(given) > HOSTS_MAX)
        return record_fail(VITALS_EARGUMENT, "--allow-host", error, "more than %d names",
                           HOSTS_MAX);
    host_names_init(&serve->names);
    for (size_t i = 0; i < json_array_size(given); i++) {
        const char *host = json_string_value(json_array_get(given, i));
        if (host == NULL || !host_names_add(&serve->names, host))
            return record_fail(VITALS_EARGUMENT, "--allow-host", error,
                               "\"%.80s\" is not a host name", host != NULL ? host : "");
    }
    return 0;
}

/* Changes the user from root to "nobody", for all threads and irrevocably; the program cannot be
 * dumped any more. If a file of the configuration can then not be read again, reports that. Does
 * nothing for other users, or if another publisher opens files later. Errors: ESYSTEM (the kernel
 * refuses). */
static int drop_privileges(const json_t *export_config, const struct web_config *config,
                           vitals_error *error)
{
    /* The overflow uid, "nobody". The name is not looked up, because that could wait for a name
     * server. */
    enum { NOBODY = 65534 };
    static const char *const WRITERS[] = {"textfile", "mlflow", "tensorboard"};
    bool needed = json_object_get(export_config, "otlp") != NULL &&
                  (environment_get("OTEL_EXPORTER_OTLP_CLIENT_KEY") != NULL ||
                   environment_get("OTEL_EXPORTER_OTLP_METRICS_CLIENT_KEY") != NULL);
    for (size_t i = 0; i < sizeof WRITERS / sizeof WRITERS[0]; i++)
        needed |= json_object_get(export_config, WRITERS[i]) != NULL;
    if (geteuid() != 0 || needed)
        return 0;

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || setgroups(0, NULL) != 0 ||
        setresgid(NOBODY, NOBODY, NOBODY) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0)
        return record_fail_errno(errno, "giving up root's rights", error);
    for (size_t i = 0; config != NULL && i < WEB_CONFIG_FILES; i++) {
        const char *path = config->files[i].path;
        if (path == NULL || faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0)
            continue;
        reply_say("only root can read %s; restart the server when the file changes", path);
        break;
    }
    return 0;
}

static int serve_open(const json_t *config, const json_t *export_config, void **data,
                      vitals_error *error)
{
    struct serve *serve = calloc(1, sizeof *serve);
    if (serve == NULL)
        return no_memory(error);
    pthread_mutex_init(&serve->mutex, NULL);
    serve->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int code = serve->wake >= 0 ? 0 : record_fail_errno(errno, "the HTTP server's eventfd", error);
    const char *path = json_string_value(json_object_get(config, "web_config"));
    serve->may_insecure = json_is_true(json_object_get(config, "allow_insecure"));
    if (path != NULL)
        serve->config_path = strdup(path);
    if (code == 0 && path != NULL && serve->config_path == NULL)
        code = no_memory(error);

    struct exposition_options options;
    if (code == 0)
        code = exposition_options_read(config, export_config, &options, error);
    if (code == 0) {
        serve->exposition = exposition_new(&options);
        serve->history = history_new();
        serve->command_lines = options.cmdline;
        serve->without_processes = options.level == EXPOSITION_OFF;
        if (serve->exposition == NULL || serve->history == NULL)
            code = no_memory(error);
    }
    if (code == 0)
        code = open_names(serve, config, error);
    if (code == 0)
        code = listener_config_new(serve->config_path, &serve->config, error);
    if (code == 0)
        code = serve_start_daemon(serve, serve->config, error);
    if (code == 0)
        code = open_listeners(serve, config, error);
    if (code == 0)
        code = drop_privileges(export_config, serve->config->web, error);

    /* Once the thread runs, it may replace the configuration. */
    bool encrypted = code == 0 && serve->config->tls != NULL;
    if (code == 0) {
        int number = thread_start(&serve->thread, "vitals-serve", 0, serve_thread, serve);
        if (number != 0)
            code = record_fail_errno(number, "cannot start the HTTP server's thread", error);
    }
    if (code < 0) {
        serve_free(serve);
        return code;
    }

    for (size_t i = 0; i < serve->listener_count; i++) {
        char url[LISTENER_NAME + 16];
        const char *name = serve->listeners[i].name;
        if (strncmp(name, "unix:", 5) == 0)
            (void)snprintf(url, sizeof url, "%s", name);
        else
            (void)snprintf(url, sizeof url, "%s://%s/", encrypted ? "https" : "http", name);
        reply_opened("serve", "url", url);
    }
    *data = serve;
    return 0;
}

static void wake(const struct serve *serve)
{
    uint64_t one = 1;
    ssize_t written = write(serve->wake, &one, sizeof one);
    (void)written;
}

/* Hands a sample to the thread; it replaces one that the thread has not taken yet. */
static void hand_in(struct serve *serve, struct sample **place, struct sample *sample)
{
    pthread_mutex_lock(&serve->mutex);
    sample_unref(*place);
    *place = sample_ref(sample);
    pthread_mutex_unlock(&serve->mutex);
    wake(serve);
}

static void serve_snapshot(void *data, struct sample *sample)
{
    struct serve *serve = data;
    hand_in(serve, &serve->pending, sample);
}

static void serve_processes(void *data, struct sample *sample)
{
    struct serve *serve = data;
    hand_in(serve, &serve->pending_listed, sample);
}

/* Ends at once: clients get no answer any more. */
static void serve_close(void *data, uint64_t deadline_ns UNUSED)
{
    struct serve *serve = data;
    pthread_mutex_lock(&serve->mutex);
    serve->stop = true;
    pthread_mutex_unlock(&serve->mutex);
    wake(serve);
    (void)pthread_join(serve->thread, NULL);
    serve_free(serve);
}

const struct publisher publisher_serve = {.name = "serve",
                                          .open = serve_open,
                                          .snapshot = serve_snapshot,
                                          .processes = serve_processes,
                                          .close = serve_close};
