/* web_config.h: TLS, passwords and headers of the server, from a file of the form that Prometheus's
 * exporters share (their exporter-toolkit): a subset of YAML's documents, read by libyaml.
 *
 * A key that is not known is an error, and so is one that is known elsewhere and not done here: a
 * protection that is asked for must not silently be missing. Immutable once it is read. */
#ifndef VITALS_EXPORT_SERVER_WEB_CONFIG_H
#define VITALS_EXPORT_SERVER_WEB_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vitals/vitals.h>

#include "export/server/password.h"

enum { WEB_CONFIG_MAX = 1024 * 1024, WEB_CONFIG_HEADERS = 5, WEB_CONFIG_FILES = 4 };

/* What is asked of a client's certificate. */
enum web_client {
    WEB_CLIENT_NONE,
    WEB_CLIENT_REQUEST,         /* asked for, whatever it is */
    WEB_CLIENT_REQUIRE_ANY,     /* there must be one, whatever it is */
    WEB_CLIENT_VERIFY_IF_GIVEN, /* none, or one of client_ca_file */
    WEB_CLIENT_VERIFY           /* one of client_ca_file */
};

struct web_header {
    const char *name;
    char *value; /* NULL: not given */
};

/* A file that it was made of, as it was then. */
struct web_file {
    char *path;
    char *bytes; /* of those but the configuration: PEM */
    uint64_t modified_ns, size, inode;
    unsigned line; /* of the configuration, that names it; 0: none */
};

enum { WEB_FILE_SELF, WEB_FILE_CERTIFICATE, WEB_FILE_KEY, WEB_FILE_CLIENT_CA };

struct web_config {
    bool tls;
    struct web_file files[WEB_CONFIG_FILES]; /* by WEB_FILE_…; NULL: none */
    enum web_client client;
    char **names; /* of which one must be in a client's certificate */
    size_t name_count;
    const char *priorities; /* of GnuTLS: which versions */
    struct web_header headers[WEB_CONFIG_HEADERS];
    struct password_users users;
    uint64_t rate_interval_ns; /* one request in that; 0: no limit */
    unsigned rate_burst;
    int oldest, newest; /* versions of TLS: 12, 13 */
};

/* Whether nobody is let in who is not known: by passwords, or by certificates that are verified. */
bool web_config_protects(const struct web_config *config);

/* Reads the file and those that it names, which lie beside it where they have no slash in front.
 * Errors: EGONE, EDENIED, ESYSTEM (a file), EFORMAT (with the line), EUNSUPPORTED (no libyaml). */
int web_config_read(const char *path, struct web_config **out, vitals_error *error);

/* Reads the text alone; the files that it names are not opened. `path` is for messages. */
int web_config_parse(const char *path, const char *bytes, size_t size, struct web_config **out,
                     vitals_error *error);

/* Whether any of its files is not what it was; a look at each. */
bool web_config_changed(const struct web_config *config);

void web_config_free(struct web_config *config); /* accepts NULL; wipes the key */

#endif
