/* The server's configuration: what it may say, and that whatever else it says is an error with a
 * line (web_config.h). */
#include "check.h"

#include "export/server/web_config.h"

#include <string.h>

#define HASH "$2y$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG"

static int parse(const char *text, struct web_config **out, vitals_error *error)
{
    *out = NULL;
    *error = (vitals_error){.code = 0};
    return web_config_parse("/etc/vitals/web.yml", text, strlen(text), out, error);
}

static void a_whole_one_is_read(void)
{
    static const char TEXT[] = "tls_server_config:\n"
                               "  cert_file: server.crt\n"
                               "  key_file: /etc/keys/server.key\n"
                               "  client_auth_type: RequireAndVerifyClientCert\n"
                               "  client_ca_file: ca.crt\n"
                               "  client_allowed_sans: [scraper.example, 192.0.2.1]\n"
                               "  min_version: TLS13\n"
                               "http_server_config:\n"
                               "  http2: false\n"
                               "  headers:\n"
                               "    Strict-Transport-Security: max-age=31536000\n"
                               "basic_auth_users:\n"
                               "  alice: " HASH "\n"
                               "  bob: '" HASH "'\n"
                               "rate_limit:\n"
                               "  interval: 1m30s\n"
                               "  burst: 20\n";
    struct web_config *config;
    vitals_error error;
    CHECK_INT(parse(TEXT, &config, &error), 0);
    CHECK(config->tls);
    CHECK_STR(config->files[WEB_FILE_CERTIFICATE].path, "/etc/vitals/server.crt");
    CHECK_STR(config->files[WEB_FILE_KEY].path, "/etc/keys/server.key");
    CHECK_STR(config->files[WEB_FILE_CLIENT_CA].path, "/etc/vitals/ca.crt");
    CHECK_INT(config->client, WEB_CLIENT_VERIFY);
    CHECK_UINT(config->name_count, 2);
    CHECK_STR(config->names[1], "192.0.2.1");
    CHECK_INT(config->oldest, 13);
    CHECK(strstr(config->priorities, "TLS1.2") == NULL);
    CHECK_UINT(config->users.count, 2);
    CHECK_STR(config->users.list[1].name, "bob");
    CHECK_STR(config->users.list[1].hash, HASH);
    CHECK_UINT(config->rate_interval_ns, 90000000000U);
    CHECK_UINT(config->rate_burst, 20);
    CHECK_STR(config->headers[0].value, "max-age=31536000");
    CHECK(web_config_protects(config));
    web_config_free(config);
}

static void nothing_is_no_protection(void)
{
    static const char *const TEXTS[] = {
        "",
        "{}",
        "# only words\n",
        "tls_server_config:\nbasic_auth_users: {}\n",
        "basic_auth_users:\n  alice: " HASH "\n", /* in the clear */
        "tls_server_config: {cert_file: a, key_file: b}\n",
        "tls_server_config: {cert_file: a, key_file: b, client_auth_type: RequireAnyClientCert}\n",
        ("tls_server_config: {cert_file: a, key_file: b, client_auth_type: VerifyClientCertIfGiven,"
         " client_ca_file: c}\n")};
    for (size_t i = 0; i < CHECK_COUNT(TEXTS); i++) {
        struct web_config *config;
        vitals_error error;
        CHECK_CASE(TEXTS[i]);
        CHECK_INT(parse(TEXTS[i], &config, &error), 0);
        CHECK(!web_config_protects(config));
        web_config_free(config);
    }
}

static void a_mistake_has_its_line(void)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"tls_config: {}\n", "line 1: \"tls_config\" is not a known key"},
        {"basic_auth_users: {}\n\ntls_server_config:\n  cert: x\n", "line 4: \"cert\" is not supp"},
        {"tls_server_config: {cert_file: a}\n", "needs cert_file and key_file"},
        {"tls_server_config: {client_auth_type: NoClientCert}\n", "needs cert_file and key_file"},
        {"tls_server_config:\n  cert_file: a\n  key_file: b\n  min_version: TLS10\n",
         "line 4: \"min_version\" must be one of TLS12 TLS13"},
        {"tls_server_config: {cert_file: a, key_file: b, client_auth_type: Maybe}\n",
         "must be one of NoClientCert"},
        {"tls_server_config: {cert_file: a, key_file: b, client_ca_file: c}\n", "client_auth_type"},
        {"tls_server_config: {cert_file: a, key_file: b, min_version: TLS13, max_version: TLS12}\n",
         "min_version above"},
        {"tls_server_config: {cert_file: a, key_file: b, client_allowed_sans: [x]}\n",
         "verifies no client"},
        {"tls_server_config: []\n", "must hold keys and values"},
        {"tls_server_config:\n  cert_file: [a]\n", "line 2: \"cert_file\" must be a text"},
        {"basic_auth_users:\n  alice: secret\n", "line 2: \"alice\" needs a bcrypt hash"},
        {"basic_auth_users:\n  a: " HASH "\n  a: " HASH "\n", "line 3: \"a\" is there twice"},
        {"basic_auth_users:\n  \"a:b\": " HASH "\n", "is not a valid user name"},
        {"basic_auth_users:\n  ? [a]\n  : b\n", "a key that is not text"},
        {"rate_limit: {interval: 1 week}\n", "must be a time"},
        {"rate_limit: {interval: 25h}\n", "must be a time"},
        {"rate_limit: {interval: 99999999999999999999s}\n", "must be a time"},
        {"rate_limit: {burst: 0}\n", "from 1 to 1000000"},
        {"rate_limit: {burst: 1.5}\n", "from 1 to 1000000"},
        {"http_server_config: {headers: {Set-Cookie: a}}\n", "not a header that can be set"},
        {"http_server_config: {headers: {X-Frame-Options: \"a\\r\\nb: c\"}}\n", "printable"},
        {"http_server_config: {http2: maybe}\n", "must be one of true false"},
        {"- a\n- b\n", "must hold keys and values"},
        {"a: b: c\n", "line 1: "},
        {"a: \"\n\n", "line "},
        {"\xff\xfe\xff", "line "},
        {"x: *y\n", "line 1: "},
    };
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        struct web_config *config;
        vitals_error error;
        CHECK_CASE(rows[i].text);
        CHECK_INT(parse(rows[i].text, &config, &error), VITALS_EFORMAT);
        CHECK(config == NULL);
        if (strstr(error.message, rows[i].says) == NULL)
            CHECK_STR(error.message, rows[i].says);
        CHECK(strstr(error.message, "/etc/vitals/web.yml: ") == error.message);
        CHECK(strstr(error.message, "secret") == NULL);
    }
}

/* What stands for what is in it again and again is followed once. */
static void aliases_cannot_explode(void)
{
    char text[4000] = "a0: &a0 [x, x]\n";
    for (int i = 1; i < 40; i++) {
        char line[80];
        (void)snprintf(line, sizeof line, "a%d: &a%d [*a%d, *a%d, *a%d]\n", i, i, i - 1, i - 1,
                       i - 1);
        strcat(text, line);
    }
    struct web_config *config;
    vitals_error error;
    CHECK_INT(parse(text, &config, &error), VITALS_EFORMAT);
    CHECK(strstr(error.message, "\"a0\" is not a known key") != NULL);
}

static const check_test tests[] = {
    {"a whole configuration is read", a_whole_one_is_read},
    {"one without TLS and users or verified clients protects nothing", nothing_is_no_protection},
    {"a mistake is one line that says where", a_mistake_has_its_line},
    {"aliases cannot explode", aliases_cannot_explode},
};
CHECK_TESTS(tests)
