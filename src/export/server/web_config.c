/* web_config.c: see web_config.h. Tables of keys name the function that takes each value. */
#include "export/server/web_config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "feed/built_without.h"
#include "record/sample.h"
#include "util/base.h"
#include "util/memory.h"
#include "util/number.h"

#if VITALS_WITH_YAML
#include <yaml.h>
#endif

void web_config_free(struct web_config *config)
{
    if (config == NULL)
        return;
    for (size_t i = 0; i < WEB_CONFIG_FILES; i++) {
        struct file_text *text = &config->files[i].text;
        if (text->bytes != NULL)
            explicit_bzero(text->bytes, text->size);
        memory_free(text->bytes);
        free(config->files[i].path);
    }
    for (size_t i = 0; i < WEB_CONFIG_HEADERS; i++)
        free(config->headers[i].value);
    for (size_t i = 0; i < config->name_count; i++)
        free(config->names[i]);
    for (size_t i = 0; i < config->users.count; i++) {
        free(config->users.list[i].name);
        free(config->users.list[i].hash);
    }
    free(config->names);
    free(config->users.list);
    free(config);
}

bool web_config_protects(const struct web_config *config)
{
    return config != NULL && config->tls &&
           (config->users.count > 0 || config->client == WEB_CLIENT_VERIFY);
}

/* ---- files ---- */

bool web_config_changed(const struct web_config *config)
{
    for (size_t i = 0; i < WEB_CONFIG_FILES; i++) {
        const struct web_file *file = &config->files[i];
        const struct stat *before = &file->text.status;
        struct stat now;
        if (file->path == NULL)
            continue;
        bool there = stat(file->path, &now) == 0;
        if (!there && errno == EACCES) /* in a folder that only root can read */
            continue;
        if (!there || now.st_mtim.tv_sec != before->st_mtim.tv_sec ||
            now.st_mtim.tv_nsec != before->st_mtim.tv_nsec || now.st_size != before->st_size ||
            now.st_ino != before->st_ino)
            return true;
    }
    return false;
}

static int read_file(struct web_file *file, unsigned rules, vitals_error *error)
{
    int code = file_read_whole(file->path, WEB_CONFIG_MAX, rules, &file->text);
    if (code == -EINVAL || code == -EFBIG)
        return record_fail(VITALS_EFORMAT, file->path, error, "%s", file->text.why);
    if (code == -EPERM)
        return record_fail(VITALS_EDENIED, file->path, error, "%s", file->text.why);
    return code < 0 ? record_fail_errno(-code, file->path, error) : 0;
}

#if VITALS_WITH_YAML
/* ---- values ---- */

struct web_config_reader {
    const char *path;
    yaml_document_t document;
    struct web_config *config;
    vitals_error *error;
};

struct key {
    const char *name;
    /* NULL: a key of exporter-toolkit that vitals does not support. */
    int (*take)(struct web_config_reader *reader, const struct key *key, yaml_node_t *value);
    int which; /* WEB_FILE_…, or NEWEST */
};

enum { OLDEST, NEWEST };

static unsigned line_of(const yaml_node_t *node)
{
    return (unsigned)node->start_mark.line + 1;
}

static int refuse(const struct web_config_reader *reader, const yaml_node_t *node, const char *what,
                  const char *name)
{
    return record_fail(VITALS_EFORMAT, reader->path, reader->error, "line %u: \"%.60s\" %s",
                       line_of(node), name, what);
}

static int no_memory(const struct web_config_reader *reader)
{
    return record_fail(VITALS_EMEMORY, reader->path, reader->error, "no memory");
}

/* Returns the text of a scalar without NULs, or NULL. */
static const char *scalar(const yaml_node_t *node)
{
    if (node == NULL || node->type != YAML_SCALAR_NODE)
        return NULL;
    const char *text = (const char *)node->data.scalar.value;
    return strlen(text) == node->data.scalar.length ? text : NULL;
}

/* Copies a text that is not empty; replaces *out. */
static int take_text(struct web_config_reader *reader, const char *key, yaml_node_t *value,
                     char **out)
{
    const char *text = scalar(value);
    if (text == NULL || text[0] == '\0')
        return refuse(reader, value, "must be a text", key);
    free(*out);
    *out = strdup(text);
    return *out != NULL ? 0 : no_memory(reader);
}

static int look_up(struct web_config_reader *reader, const char *key, yaml_node_t *value,
                   const char *const *words, size_t count, size_t *out)
{
    const char *text = scalar(value);
    for (size_t i = 0; i < count && text != NULL; i++) {
        if (words[i] != NULL && strcmp(text, words[i]) == 0) {
            *out = i;
            return 0;
        }
    }
    char what[120] = "must be one of";
    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(what);
        if (words[i] != NULL)
            (void)snprintf(what + used, sizeof what - used, " %s", words[i]);
    }
    return refuse(reader, value, what, key);
}

/* ---- mappings ---- */

typedef int pair_taker(struct web_config_reader *reader, const void *data, const char *key,
                       yaml_node_t *key_node, yaml_node_t *value);

/* Calls `take` for each pair of a mapping. An empty value is an empty mapping. */
static int each_pair(struct web_config_reader *reader, const char *name, yaml_node_t *map,
                     pair_taker *take, const void *data)
{
    const char *empty = scalar(map);
    if (empty != NULL && (empty[0] == '\0' || strcmp(empty, "~") == 0))
        return 0;
    if (map->type != YAML_MAPPING_NODE)
        return refuse(reader, map, "must hold keys and values", name);
    int code = 0;
    for (yaml_node_pair_t *pair = map->data.mapping.pairs.start;
         code == 0 && pair < map->data.mapping.pairs.top; pair++) {
        yaml_node_t *key_node = yaml_document_get_node(&reader->document, pair->key);
        const char *key = scalar(key_node);
        bool twice = false;
        for (yaml_node_pair_t *at = map->data.mapping.pairs.start; at < pair && key != NULL; at++) {
            const char *other = scalar(yaml_document_get_node(&reader->document, at->key));
            twice |= other != NULL && strcmp(other, key) == 0;
        }
        if (key == NULL)
            code = refuse(reader, key_node, "holds a key that is not text", name);
        else if (twice)
            code = refuse(reader, key_node, "is there twice", key);
        else
            code = take(reader, data, key, key_node,
                        yaml_document_get_node(&reader->document, pair->value));
    }
    return code;
}

static int take_known(struct web_config_reader *reader, const void *data, const char *key,
                      yaml_node_t *key_node, yaml_node_t *value)
{
    for (const struct key *known = data; known->name != NULL; known++) {
        if (strcmp(known->name, key) != 0)
            continue;
        return known->take != NULL ? known->take(reader, known, value)
                                   : refuse(reader, key_node, "is not supported by vitals", key);
    }
    return refuse(reader, key_node, "is not a known key there", key);
}

/* ---- tls_server_config ---- */

static int take_path(struct web_config_reader *reader, const struct key *key, yaml_node_t *value)
{
    char *given = NULL;
    struct web_file *file = &reader->config->files[key->which];
    int code = take_text(reader, key->name, value, &given);
    const char *slash = strrchr(reader->path, '/');
    size_t folder = slash != NULL && code == 0 && given[0] != '/'
                        ? (size_t)(slash - reader->path) + 1
                        : 0;
    size_t size = code == 0 ? folder + strlen(given) + 1 : 0;
    if (code == 0 && (file->path = malloc(size)) == NULL)
        code = no_memory(reader);
    if (code == 0)
        (void)snprintf(file->path, size, "%.*s%s", (int)folder, reader->path, given);
    file->line = line_of(value);
    free(given);
    return code;
}

static int take_client_type(struct web_config_reader *reader, const struct key *key,
                            yaml_node_t *value)
{
    static const char *const WORDS[] = {
        [WEB_CLIENT_NONE] = "NoClientCert",
        [WEB_CLIENT_REQUEST] = "RequestClientCert",
        [WEB_CLIENT_REQUIRE_ANY] = "RequireAnyClientCert",
        [WEB_CLIENT_VERIFY_IF_GIVEN] = "VerifyClientCertIfGiven",
        [WEB_CLIENT_VERIFY] = "RequireAndVerifyClientCert",
    };
    size_t found = 0;
    int code = look_up(reader, key->name, value, WORDS, sizeof WORDS / sizeof WORDS[0], &found);
    if (code == 0)
        reader->config->client = (enum web_client)found;
    return code;
}

static int take_client_names(struct web_config_reader *reader, const struct key *key,
                             yaml_node_t *value)
{
    struct web_config *config = reader->config;
    if (value->type != YAML_SEQUENCE_NODE)
        return refuse(reader, value, "must be a list", key->name);
    const yaml_node_item_t *from = value->data.sequence.items.start;
    const yaml_node_item_t *to = value->data.sequence.items.top;
    config->names = calloc((size_t)(to - from) + 1, sizeof *config->names);
    int code = config->names != NULL ? 0 : no_memory(reader);
    for (; code == 0 && from < to; from++)
        code = take_text(reader, key->name, yaml_document_get_node(&reader->document, *from),
                         &config->names[config->name_count++]);
    return code;
}

static int take_version(struct web_config_reader *reader, const struct key *key, yaml_node_t *value)
{
    static const char *const WORDS[] = {"TLS12", "TLS13"};
    size_t found;
    int code = look_up(reader, key->name, value, WORDS, sizeof WORDS / sizeof WORDS[0], &found);
    if (code == 0 && key->which == OLDEST)
        reader->config->oldest = 12 + (int)found;
    else if (code == 0)
        reader->config->newest = 12 + (int)found;
    return code;
}

static int take_tls(struct web_config_reader *reader, const struct key *key, yaml_node_t *value)
{
    static const struct key KEYS[] = {
        {"cert_file", take_path, WEB_FILE_CERTIFICATE},
        {"key_file", take_path, WEB_FILE_KEY},
        {"client_auth_type", take_client_type, 0},
        {"client_ca_file", take_path, WEB_FILE_CLIENT_CA},
        {"client_allowed_sans", take_client_names, 0},
        {"min_version", take_version, OLDEST},
        {"max_version", take_version, NEWEST},
        {"cert", NULL, 0},
        {"key", NULL, 0},
        {"client_ca", NULL, 0},
        {"cipher_suites", NULL, 0},
        {"curve_preferences", NULL, 0},
        {"prefer_server_cipher_suites", NULL, 0},
        {NULL, NULL, 0},
    };
    struct web_config *config = reader->config;
    int code = each_pair(reader, key->name, value, take_known, KEYS);
    const struct web_file *files = config->files;
    if (code < 0)
        return code;
    config->tls = files[WEB_FILE_CERTIFICATE].path != NULL;
    if (config->tls != (files[WEB_FILE_KEY].path != NULL))
        return refuse(reader, value, "needs cert_file and key_file, both", key->name);
    if (!config->tls && value->type == YAML_MAPPING_NODE &&
        value->data.mapping.pairs.top > value->data.mapping.pairs.start)
        return refuse(reader, value, "needs cert_file and key_file", key->name);
    bool verifies = config->client == WEB_CLIENT_VERIFY ||
                    config->client == WEB_CLIENT_VERIFY_IF_GIVEN;
    if (verifies != (files[WEB_FILE_CLIENT_CA].path != NULL))
        return refuse(reader, value,
                      "needs client_ca_file for a client_auth_type that verifies, and for no other",
                      key->name);
    if (config->name_count > 0 && !verifies)
        return refuse(reader, value, "has client_allowed_sans, but verifies no client", key->name);
    if (config->oldest > config->newest)
        return refuse(reader, value, "has a min_version above its max_version", key->name);
    return 0;
}

/* ---- http_server_config ---- */

static int take_header(struct web_config_reader *reader, const void *data UNUSED, const char *key,
                       yaml_node_t *key_node, yaml_node_t *value)
{
    for (size_t i = 0; i < WEB_CONFIG_HEADERS; i++) {
        struct web_header *header = &reader->config->headers[i];
        if (strcasecmp(header->name, key) != 0)
            continue;
        const char *text = scalar(value);
        for (const char *at = text; at != NULL && *at != '\0'; at++) {
            if (*at < ' ' || *at > '~')
                return refuse(reader, value, "must hold printable characters of ASCII", key);
        }
        return take_text(reader, key, value, &header->value);
    }
    return refuse(reader, key_node, "is not a header that can be set there", key);
}

static int take_headers(struct web_config_reader *reader, const struct key *key, yaml_node_t *value)
{
    return each_pair(reader, key->name, value, take_header, NULL);
}

/* Accepted and ignored: there is no HTTP/2. */
static int take_http2(struct web_config_reader *reader, const struct key *key, yaml_node_t *value)
{
    static const char *const WORDS[] = {"true", "false"};
    size_t found;
    return look_up(reader, key->name, value, WORDS, sizeof WORDS / sizeof WORDS[0], &found);
}

static int take_http(struct web_config_reader *reader, const struct key *key, yaml_node_t *value)
{
    static const struct key KEYS[] = {
        {"headers", take_headers, 0}, {"http2", take_http2, 0}, {NULL, NULL, 0}};
    return each_pair(reader, key->name, value, take_known, KEYS);
}

/* ---- basic_auth_users, rate_limit ---- */

static int take_user(struct web_config_reader *reader, const void *data UNUSED, const char *key,
                     yaml_node_t *key_node, yaml_node_t *value)
{
    struct web_config *config = reader->config;
    const char *hash = scalar(value);
    if (key[0] == '\0' || strlen(key) >= PASSWORD_USER || strchr(key, ':') != NULL)
        return refuse(reader, key_node, "is not a valid user name", key);
    if (hash == NULL || !password_hash_fits(hash))
        return refuse(reader, value, "needs a bcrypt hash with a cost from 4 to 14", key);
    struct password_user *list = realloc(config->users.list,
                                         (config->users.count + 1) * sizeof *list);
    if (list == NULL)
        return no_memory(reader);
    config->users.list = list;
    struct password_user *added = &list[config->users.count++];
    *added = (struct password_user){strdup(key), strdup(hash)};
    return added->name != NULL && added->hash != NULL ? 0 : no_memory(reader);
}

static int take_users(struct web_config_reader *reader, const struct key *key, yaml_node_t *value)
{
    return each_pair(reader, key->name, value, take_user, NULL);
}

static bool read_whole(const char *text, uint64_t most, uint64_t *out, const char **end)
{
    *end = text;
    return number_u64(end, text + strlen(text), out) && *out <= most;
}

/* "1s", "500ms", "1m30s". */
static int take_interval(struct web_config_reader *reader, const struct key *key,
                         yaml_node_t *value)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } UNITS[] = {{"ms", 1000000},   {"us", 1000},          {"ns", 1},
                 {"s", 1000000000}, {"m", 60000000000ULL}, {"h", 3600000000000ULL}};
    const char *at = scalar(value);
    uint64_t total = 0, count;
    bool good = at != NULL && at[0] != '\0' && strcmp(at, "0") != 0;
    while (good && *at != '\0') {
        size_t unit = 0, units = sizeof UNITS / sizeof UNITS[0];
        good = read_whole(at, 1000000, &count, &at);
        while (good && unit < units && strncmp(at, UNITS[unit].name, strlen(UNITS[unit].name)) != 0)
            unit++;
        good = good && unit < units;
        if (good) {
            at += strlen(UNITS[unit].name);
            total += count * UNITS[unit].ns;
        }
        good = good && total <= 24 * 3600000000000ULL;
    }
    if (!good && (at == NULL || strcmp(at, "0") != 0))
        return refuse(reader, value, "must be a time such as 1s or 500ms, of a day at most",
                      key->name);
    reader->config->rate_interval_ns = total;
    return 0;
}

static int take_burst(struct web_config_reader *reader, const struct key *key, yaml_node_t *value)
{
    const char *text = scalar(value), *end;
    uint64_t burst;
    if (text == NULL || !read_whole(text, 1000000, &burst, &end) || *end != '\0' || burst == 0)
        return refuse(reader, value, "must be a number from 1 to 1000000", key->name);
    reader->config->rate_burst = (unsigned)burst;
    return 0;
}

static int take_rate(struct web_config_reader *reader, const struct key *key, yaml_node_t *value)
{
    static const struct key KEYS[] = {
        {"interval", take_interval, 0}, {"burst", take_burst, 0}, {NULL, NULL, 0}};
    return each_pair(reader, key->name, value, take_known, KEYS);
}

/* ---- the document ---- */

/* libyaml takes the square of the depth: 20 s for 200 kB of brackets. Its events come one by one,
 * so that these end before. A document that is none is told by its loader. */
static bool is_too_deep(const char *bytes, size_t size)
{
    enum { DEPTH_MAX = 32 };
    yaml_parser_t parser;
    yaml_event_t event;
    size_t depth = 0;
    bool ends = yaml_parser_initialize(&parser) == 0;
    if (ends)
        return false;
    yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, size);
    while (!ends && depth <= DEPTH_MAX && yaml_parser_parse(&parser, &event) != 0) {
        depth += event.type == YAML_SEQUENCE_START_EVENT || event.type == YAML_MAPPING_START_EVENT;
        depth -= event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT;
        ends = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return depth > DEPTH_MAX;
}

int web_config_parse(const char *path, const char *bytes, size_t size, struct web_config **out,
                     vitals_error *error)
{
    static const char *const HEADERS[WEB_CONFIG_HEADERS] = {
        "Strict-Transport-Security", "X-Content-Type-Options", "X-Frame-Options",
        "X-XSS-Protection", "Content-Security-Policy"};
    static const struct key KEYS[] = {{"tls_server_config", take_tls, 0},
                                      {"http_server_config", take_http, 0},
                                      {"basic_auth_users", take_users, 0},
                                      {"rate_limit", take_rate, 0},
                                      {NULL, NULL, 0}};
    if (is_too_deep(bytes, size))
        return record_fail(VITALS_EFORMAT, path, error, "is nested too deeply");
    yaml_parser_t parser;
    struct web_config *config = calloc(1, sizeof *config);
    struct web_config_reader reader = {.path = path, .config = config, .error = error};
    char *copy = strdup(path);
    if (config == NULL || copy == NULL || !yaml_parser_initialize(&parser)) {
        free(copy);
        free(config);
        return record_fail(VITALS_EMEMORY, path, error, "no memory");
    }
    for (size_t i = 0; i < WEB_CONFIG_HEADERS; i++)
        config->headers[i].name = HEADERS[i];
    config->oldest = 12;
    config->newest = 13;
    config->rate_burst = 1;
    config->files[WEB_FILE_SELF].path = copy;

    int code = 0;
    yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, size);
    if (!yaml_parser_load(&parser, &reader.document)) {
        code = record_fail(VITALS_EFORMAT, path, error, "line %zu: %s",
                           parser.problem_mark.line + 1,
                           parser.problem != NULL ? parser.problem : "no YAML");
    } else {
        yaml_node_t *root = yaml_document_get_root_node(&reader.document);
        if (root != NULL)
            code = each_pair(&reader, "it", root, take_known, KEYS);
        yaml_document_delete(&reader.document);
    }
    yaml_parser_delete(&parser);
    config->priorities = config->oldest == 13   ? "NORMAL:-VERS-ALL:+VERS-TLS1.3"
                         : config->newest == 12 ? "NORMAL:-VERS-ALL:+VERS-TLS1.2"
                                                : "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";
    if (code == 0)
        *out = config;
    else
        web_config_free(config);
    return code;
}
#else
int web_config_parse(const char *path, const char *bytes UNUSED, size_t size UNUSED,
                     struct web_config **out UNUSED, vitals_error *error)
{
    return record_fail(VITALS_EUNSUPPORTED, path, error, BUILT_WITHOUT_YAML);
}
#endif

int web_config_read(const char *path, struct web_config **out, vitals_error *error)
{
    struct web_config *config = NULL;
    struct web_file self = {.path = strdup(path)};
    int code = self.path != NULL ? read_file(&self, FILE_PRIVILEGED, error)
                                 : record_fail(VITALS_EMEMORY, path, error, "no memory");
    if (code == 0)
        code = web_config_parse(path, self.text.bytes, self.text.size, &config, error);
    for (size_t i = WEB_FILE_SELF + 1; code == 0 && i < WEB_CONFIG_FILES; i++) {
        struct web_file *file = &config->files[i];
        vitals_error found;
        if (file->path != NULL && (code = read_file(file, 0, &found)) < 0)
            code = record_fail(code, path, error, "line %u: %s", file->line, found.message);
    }
    if (code == 0) {
        free(config->files[WEB_FILE_SELF].path);
        config->files[WEB_FILE_SELF] = self;
        *out = config;
        return 0;
    }
    web_config_free(config);
    memory_free(self.text.bytes);
    free(self.path);
    return code;
}
