/* web_config.h: TLS, passwords and headers of the server, from a file in the format of
 * Prometheus's exporter-toolkit, read by libyaml.
 *
 * Unknown keys are errors, and so are keys of exporter-toolkit that vitals does not support, so
 * that a requested protection is never silently missing. Immutable after reading. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vitals/vitals.h>

#include "export/server/password.h"
#include "util/file.h"

enum { WEB_CONFIG_MAX = 1024 * 1024, WEB_CONFIG_HEADERS = 5, WEB_CONFIG_FILES = 4 };

/* The requirements on client certificates. */
enum web_client {
    WEB_CLIENT_NONE,
    WEB_CLIENT_REQUEST,         /* requested, not checked */
    WEB_CLIENT_REQUIRE_ANY,     /* required, not checked */
    WEB_CLIENT_VERIFY_IF_GIVEN, /* optional, issued by client_ca_file */
    WEB_CLIENT_VERIFY           /* required, issued by client_ca_file */
};

struct web_header {
    const char *name;
    char *value; /* NULL: not set */
};

/* A file that was read, and its state at that time. */
struct web_file {
    char *path;
    struct file_text text; /* PEM, or the configuration itself */
    unsigned line;         /* of the configuration, which names the file; 0: none */
};

enum { WEB_FILE_SELF, WEB_FILE_CERTIFICATE, WEB_FILE_KEY, WEB_FILE_CLIENT_CA };

struct web_config {
    bool tls;
    struct web_file files[WEB_CONFIG_FILES]; /* index: WEB_FILE_… */
    enum web_client client;
    char **names; /* a client certificate must have one of them */
    size_t name_count;
    const char *priorities; /* GnuTLS priority string for the versions */
    struct web_header headers[WEB_CONFIG_HEADERS];
    struct password_users users;
    uint64_t rate_interval_ns; /* time per request; 0: no limit */
    unsigned rate_burst;
    int oldest, newest; /* versions of TLS: 12 or 13 */
};

/* Returns whether only known clients are admitted, over TLS: by passwords or verified
 * certificates. */
bool web_config_protects(const struct web_config *config);

/* Reads the file and the files that it names, relative to its folder. Errors: EGONE, EDENIED,
 * ESYSTEM (a file), EFORMAT (with the line), EUNSUPPORTED (built without libyaml). For root the
 * configuration must be its own, and not writable by others: EDENIED. */
int web_config_read(const char *path, struct web_config **out, vitals_error *error);

/* Parses the text without opening the files that it names. `path` is for messages. */
int web_config_parse(const char *path, const char *bytes, size_t size, struct web_config **out,
                     vitals_error *error);

/* Returns whether any of the files has changed. One stat() per file. */
bool web_config_changed(const struct web_config *config);

void web_config_free(struct web_config *config); /* accepts NULL; wipes the key */
