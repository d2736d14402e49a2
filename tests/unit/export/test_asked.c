/* The headers of a client: the forms and the host that it names (request_headers.h), its user and
 * password (password.h). */
#include "check.h"

#include "export/server/password.h"
#include "export/server/request_headers.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/un.h>
#include <unistd.h>

static const char *const VERSIONS[] = {"1.0.0", "0.0.1", NULL};

/* ---- Accept ---- */

static void the_most_exact_range_says_how_much(void)
{
    static const struct {
        const char *header;
        int quality, exactness;
    } rows[] = {
        {NULL, 0, 0},
        {"", 0, 0},
        {"*/*", 1000, 1},
        {"text/*;q=0.5, */*;q=0.9", 500, 2},
        {"text/plain;q=0.1,text/*;q=0.9", 100, 3},
        {"TEXT/PLAIN; Q=0.25", 250, 3},
        {"text/plain;version=1.0.0;q=0.3", 300, 3},
        {"text/plain;version=\"1.0.0\" ; q=0.3", 300, 3},
        {"text/plain;version=2.0.0;q=0.9", 0, 0},
        {"text/plain;version=2.0.0;q=0.9, text/plain;q=0.1", 100, 3},
        {"text/plain;q=0", 0, 3},
        {"text/plain;q=1.001", 0, 3},
        {"text/plain;q=2", 0, 3},
        {"text/plain;q=x", 0, 3},
        {"text/plain;q=", 0, 3},
        {"text/plain;q=0.12345", 0, 3},
        {"text/plainer", 0, 0},
        {"te/*", 0, 0},
        {"x;y=\"text/plain,text/plain\"", 0, 0},
        {",;,=;q,,;;\"", 0, 0},
    };
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        CHECK_CASE(rows[i].header != NULL ? rows[i].header : "none");
        struct accept_quality quality = accept_type(rows[i].header, "text/plain", VERSIONS);
        CHECK_INT(quality.quality, rows[i].quality);
        CHECK_INT(quality.exactness, rows[i].exactness);
    }
}

static void an_encoding_is_used_where_it_is_read(void)
{
    CHECK(accept_encoding("gzip", "gzip"));
    CHECK(accept_encoding("deflate, GZIP;q=0.1", "gzip"));
    CHECK(accept_encoding("*", "gzip"));
    CHECK(!accept_encoding("gzip;q=0, *", "gzip"));
    CHECK(!accept_encoding("identity", "gzip"));
    CHECK(!accept_encoding("xgzip", "gzip"));
    CHECK(!accept_encoding(NULL, "gzip"));
}

static void a_tag_is_found_among_others(void)
{
    CHECK(accept_has_tag("\"a\", W/\"b\"", "\"b\""));
    CHECK(accept_has_tag("*", "\"b\""));
    CHECK(!accept_has_tag("\"ab\"", "\"b\""));
    CHECK(!accept_has_tag("\"B\"", "\"b\""));
    CHECK(!accept_has_tag(NULL, "\"b\""));
}

/* ---- Host ---- */

static void a_host_is_a_name_or_an_address(void)
{
    static const struct {
        const char *header, *name;
    } rows[] = {
        {"localhost", "localhost"},
        {"LocalHost.:9847", "localhost"},
        {"127.0.0.1:9847", "127.0.0.1"},
        {"[::1]:9847", "::1"},
        {"[::1]", "::1"},
        {"node-17.cluster_a.example", "node-17.cluster_a.example"},
        {"", NULL},
        {":9847", NULL},
        {"[]", NULL},
        {"[::1", NULL},
        {"[::1]x", NULL},
        {"::1", NULL},
        {"[localhost]", NULL},
        {"localhost:x", NULL},
        {"local host", NULL},
        {"localhost/..", NULL},
        {"user@localhost", NULL},
        {"localhost,evil.example", NULL},
        {"localhost\x01", NULL},
        {"l\xc3\xb6kal", NULL},
    };
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        char name[HOST_NAME_MAX_BYTES] = "";
        CHECK_CASE(rows[i].header);
        CHECK_INT(host_name_parse(rows[i].header, name), rows[i].name != NULL);
        if (rows[i].name != NULL)
            CHECK_STR(name, rows[i].name);
    }
    char name[HOST_NAME_MAX_BYTES], longest[HOST_NAME_MAX_BYTES + 1];
    memset(longest, 'a', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    CHECK(!host_name_parse(longest, name));
    longest[sizeof longest - 2] = '\0';
    CHECK(host_name_parse(longest, name));
}

static void only_our_names_are_ours(void)
{
    struct sockaddr_in local = {.sin_family = AF_INET, .sin_port = htons(9847)};
    static struct host_names names;
    char own[HOST_NAME_MAX_BYTES] = "";
    host_names_init(&names);
    CHECK(host_names_add(&names, "Watch.Example"));
    CHECK(!host_names_add(&names, "not a name"));
    CHECK_INT(inet_pton(AF_INET, "192.0.2.7", &local.sin_addr), 1);
    CHECK_INT(gethostname(own, sizeof own - 1), 0);
    const struct {
        const char *header;
        bool ours;
    } rows[] = {
        {"localhost:1", true},
        {"127.0.0.1:1", true},
        {"127.8.8.8", true},
        {"[::1]:5", true},
        {"192.0.2.7:1", true},
        {"watch.example:443", true},
        {own, true},
        {"192.0.2.8", false},
        {"evil.example", false},
        {"localhost.evil", false},
        {"xlocalhost", false},
        {"127.0.0.1.evil.example", false},
        {"[::ffff:1.2.3.4]", false},
        {"watch.example@evil", false},
        {"", false},
    };
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        CHECK_CASE(rows[i].header);
        CHECK_INT(host_names_allow(&names, rows[i].header, (const struct sockaddr *)&local),
                  rows[i].ours);
    }
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    CHECK(host_names_allow(&names, "whatever", (const struct sockaddr *)&path));
    while (names.count < HOST_NAMES_MAX)
        CHECK(host_names_add(&names, "a"));
    CHECK(!host_names_add(&names, "a"));
}

/* ---- Authorization ---- */

static void basic_credentials_are_read(void)
{
    static const struct {
        const char *header, *user, *password;
    } rows[] = {
        {"Basic dXNlcjpwYXNz", "user", "pass"},
        {"basic  dXNlcjpwYXNz", "user", "pass"},
        {"Basic dTpwOnE=", "u", "p:q"},
        {"Basic dTpwOnE", NULL, NULL}, /* without its padding */
        {"Basic dTo=", "u", ""},
        {"Basic OnA=", "", "p"},
        {"Basic dXNlcg==", NULL, NULL}, /* no colon */
        {"Basic dQA6cA==", NULL, NULL}, /* a NUL */
        {"Basic d!!!", NULL, NULL},
        {"Basic dTpw\x80", NULL, NULL},
        {"Bearer dXNlcjpwYXNz", NULL, NULL},
        {"Basic", NULL, NULL},
        {"", NULL, NULL},
        {NULL, NULL, NULL},
    };
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        struct password_given given;
        CHECK_CASE(rows[i].header != NULL ? rows[i].header : "none");
        CHECK_INT(password_parse(rows[i].header, &given), rows[i].user != NULL);
        if (rows[i].user != NULL) {
            CHECK_STR(given.user, rows[i].user);
            CHECK_STR(given.password, rows[i].password);
        }
    }
    char header[2000] = "Basic dTpw";
    memset(header + 10, 'Q', sizeof header - 11);
    header[sizeof header - 1] = '\0';
    struct password_given given;
    CHECK(!password_parse(header, &given));
}

#define HASH "$2y$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG"

static void a_hash_is_one_of_bcrypt(void)
{
    CHECK(password_hash_fits(HASH));
    CHECK(password_hash_fits("$2b$04$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG"));
    CHECK(!password_hash_fits("$2b$03$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG"));
    CHECK(!password_hash_fits("$2b$31$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG"));
    CHECK(!password_hash_fits("$2x$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG"));
    CHECK(!password_hash_fits("$2y$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7z"));
    CHECK(!password_hash_fits("$2y$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7z*"));
    CHECK(!password_hash_fits("$1$abc$X0h1gDsPszWURQaxFh"));
    CHECK(!password_hash_fits(""));
}

#if VITALS_WITH_CRYPT
/* Waits for the comparison and returns whether the password was right. */
static bool compared(struct password_cache *cache, const struct password_users *users,
                     const struct password_given *given)
{
    uint64_t count = 0;
    int notify = eventfd(0, EFD_CLOEXEC);
    struct password_comparison *comparison = comparison_start(users, given, notify);
    CHECK(comparison != NULL);
    CHECK_INT(read(notify, &count, sizeof count), sizeof count);
    CHECK(comparison_is_done(comparison));
    CHECK_INT(close(notify), 0);
    return comparison_finish(comparison, cache);
}

/* Others joined user, hash and password to a key, in which "ab" and "c" are "a" and "bc". */
static void only_what_was_right_is_known(void)
{
    static char hash[] = "$2b$04$abcdefghijklmnopqrstuusIHrPEfz9BWAr75fipyO3YX8DgVe3ly"; /* "c" */
    struct password_user list[] = {{(char *)"ab", hash}, {(char *)"a", hash}};
    const struct password_users users = {list, 2};
    const struct password_given right = {"ab", "c"}, wrong = {"ab", "C"}, shifted = {"a", "bc"},
                                stranger = {"x", "c"};
    struct password_cache cache = {.filled = 0}, other = cache;
    CHECK(!compared(&cache, &users, &wrong));
    CHECK(!compared(&cache, &users, &shifted));
    CHECK(!compared(&cache, &users, &stranger));
    CHECK(!password_is_known(&cache, &users, &right));
    CHECK(compared(&cache, &users, &right));
    CHECK(password_is_known(&cache, &users, &right));
    CHECK(!password_is_known(&cache, &users, &wrong));
    CHECK(!password_is_known(&cache, &users, &shifted));
    CHECK(!password_is_known(&cache, &users, &stranger));
    CHECK(!password_is_known(&other, &users, &right));
    list[0].hash = (char *)HASH; /* a password that was changed */
    CHECK(!password_is_known(&cache, &users, &right));
    list[0].hash = hash;
    for (int i = 0; i < 64; i++)
        CHECK(compared(&cache, &users, &(struct password_given){"a", "c"}));
    CHECK(!password_is_known(&cache, &users, &right)); /* the oldest was replaced */
}
#endif

static const check_test tests[] = {
    {"the most exact range of Accept says how much a type is wanted",
     the_most_exact_range_says_how_much},
    {"an encoding is used only where it is read", an_encoding_is_used_where_it_is_read},
    {"an entity tag is found among others", a_tag_is_found_among_others},
    {"a host is a name or an address, and nothing else", a_host_is_a_name_or_an_address},
    {"only our own names and addresses are ours", only_our_names_are_ours},
    {"basic credentials are read, and nothing else", basic_credentials_are_read},
    {"a hash is one of bcrypt that takes a bearable time", a_hash_is_one_of_bcrypt},
#if VITALS_WITH_CRYPT
    {"only a password that was right is known, and only its user's", only_what_was_right_is_known},
#endif
};
CHECK_TESTS(tests)
