/* Which machines a list names: names, brackets, addresses, files, and what is refused. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fleet/host_list.h"
#include "util/buffer.h"

enum { PORT = 9847 };

/* The URLs of a list between blanks, or the error. */
static void urls_of(const char *words, struct buffer *out)
{
    struct host_list list = {.items = NULL};
    vitals_error error = {.message = ""};
    int code = host_list_parse(words, PORT, &list, &error);
    buffer_reset(out);
    buffer_string(out, code < 0 ? error.message : "");
    for (size_t i = 0; code == 0 && i < list.count; i++)
        buffer_format(out, "%s%s", i > 0 ? " " : "", list.items[i].url);
    host_list_done(&list);
}

static void lists_name_machines(void)
{
    static const struct {
        const char *words, *urls;
    } rows[] = {
        {"a", "http://a:9847"},
        {"a,b c\nd", "http://a:9847 http://b:9847 http://c:9847 http://d:9847"},
        {",, a ,,", "http://a:9847"},
        {"a:80", "http://a:80"},
        {"192.0.2.7", "http://192.0.2.7:9847"},
        {"[::1]", "http://[::1]:9847"},
        {"[2001:db8::7]:80", "http://[2001:db8::7]:80"},
        {"https://a", "https://a:9847"},
        {"HTTPS://a:1/", "https://a:1"},
        {"http://ana:secret@a:1", "http://ana:secret@a:1"},
        {"n[1-3]", "http://n1:9847 http://n2:9847 http://n3:9847"},
        {"n[08-10]", "http://n08:9847 http://n09:9847 http://n10:9847"},
        {"n[1,3-4]x,b", "http://n1x:9847 http://n3x:9847 http://n4x:9847 http://b:9847"},
        {"r[1-2]n[1-2]:7", "http://r1n1:7 http://r1n2:7 http://r2n1:7 http://r2n2:7"},
        {"https://n[1-2].example", "https://n1.example:9847 https://n2.example:9847"},
        {"a,b,a,a:9847", "http://a:9847 http://b:9847"},
        {"", ""},
    };
    struct buffer urls = {.bytes = NULL};
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        CHECK_CASE(rows[i].words);
        urls_of(rows[i].words, &urls);
        CHECK_STR(urls.bytes, rows[i].urls);
    }
    buffer_done(&urls);
}

static void what_is_wrong_is_named(void)
{
    static const struct {
        const char *words, *error;
    } rows[] = {
        {"a,-b", "-b: is no host, host:port or http://host:port"},
        {"a:0", "a:0: is no host, host:port or http://host:port"},
        {"a:65536", "a:65536: is no host, host:port or http://host:port"},
        {"a:x", "a:x: is no host, host:port or http://host:port"},
        {"a/b", "a/b: is no host, host:port or http://host:port"},
        {"a;reboot", "a;reboot: is no host, host:port or http://host:port"},
        {"ftp://a", "ftp://a: http:// or https:// is expected"},
        {"ana:secret@a", "@a: a login needs http:// or https:// before it"},
        {"http://evil.example?@a", "@a: a login has %2F for /, %3F for ?, %23 for #, %5C for \\"},
        {"https://ana#secret@a", "@a: a login has %2F for /, %3F for ?, %23 for #, %5C for \\"},
        {"http://evil.example:80/@a",
         "@a: a login has %2F for /, %3F for ?, %23 for #, %5C for \\"},
        {"http://ana:secret@b@c", "@b@c: is no host, host:port or http://host:port"},
        {"n[1-2", "[1-2: ] is missing"},
        {"n[2-1]", "[2-1]: numbers are expected, as in [01-64,70]"},
        {"n[1-]", "[1-]: numbers are expected, as in [01-64,70]"},
        {"n[]", "[]: numbers are expected, as in [01-64,70]"},
        {"n[1,]", "[1,]: numbers are expected, as in [01-64,70]"},
        {"n[a]", "[a]: numbers are expected, as in [01-64,70]"},
        {"n[1234567890]", "[1234567890]: numbers are expected, as in [01-64,70]"},
        {"n[0-10000]", "[0-10000]: there are more than 10000 machines"},
        {"n[1-101][1-100]", "n1011: there are more than 10000 machines"},
        {"@/nowhere/hosts", NULL},
    };
    struct buffer urls = {.bytes = NULL};
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        CHECK_CASE(rows[i].words);
        urls_of(rows[i].words, &urls);
        if (rows[i].error != NULL)
            CHECK_STR(urls.bytes, rows[i].error);
        CHECK(strstr(urls.bytes, "secret") == NULL);
        CHECK(strncmp(urls.bytes, "http", 4) != 0 || rows[i].error == NULL);
    }
    buffer_done(&urls);
}

static void ten_thousand_machines_are_taken(void)
{
    struct host_list list = {.items = NULL};
    vitals_error error;
    CHECK_INT(host_list_parse("n[00001-10000]", PORT, &list, &error), 0);
    CHECK_UINT(list.count, HOSTS_MOST);
    CHECK_STR(list.items[HOSTS_MOST - 1].name, "n10000");
    host_list_done(&list);
}

static void files_name_machines(void)
{
    static const struct {
        const char *text, *urls;
    } rows[] = {
        {"# rack 1\nn[1-2]\n\n n3 # spare\n", "http://n1:9847 http://n2:9847 http://n3:9847"},
        {"[::1]\n", "http://[::1]:9847"},
        {"@other", "@other: a file of hosts names no other file"},
        {"", ""},
#if VITALS_WITH_JANSSON
        {"[{\"targets\": [\"a:1\", \"b\"], \"labels\": {\"rack\": \"7\"}}]",
         "http://a:1 http://b:9847"},
        {" [ {\"targets\":[\"a\"],\"labels\":{\"__scheme__\":\"https\"}},{\"targets\":[\"b\"]}]",
         "https://a:9847 http://b:9847"},
        {"[]", ""},
        {"[{\"targets\": 7}]", "hosts: group 1 has no list \"targets\""},
        {"[{\"targets\": [\"a\", 7]}]", "hosts: target 2 of group 1 is no text"},
        {"[{\"targets\": [\"a\\u0000b\"]}]", "hosts: line 1 is no JSON"},
        {"[{\"targets\": [\"a b\"]}]", "a b: is no name of a machine"},
        {"[{\"targets\": [\"n[1-2]\"]}]", "n[1-2]: is no host, host:port or http://host:port"},
        {"[{", "hosts: line 1 is no JSON"},
#endif
    };
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        struct host_list list = {.items = NULL};
        struct buffer urls = {.bytes = NULL};
        vitals_error error = {.message = ""};
        CHECK_CASE(rows[i].text);
        int code = host_list_parse_file("hosts", rows[i].text, strlen(rows[i].text), PORT, &list,
                                        &error);
        buffer_string(&urls, code < 0 ? error.message : "");
        for (size_t j = 0; code == 0 && j < list.count; j++)
            buffer_format(&urls, "%s%s", j > 0 ? " " : "", list.items[j].url);
        CHECK_STR(urls.bytes, rows[i].urls);
        buffer_done(&urls);
        host_list_done(&list);
    }
}

static void names_are_no_options(void)
{
    static const struct {
        const char *name, *host, *port; /* host: NULL: no name */
    } rows[] = {
        {"node01", "node01", ""},
        {"node01.x:2222", "node01.x", "2222"},
        {"192.0.2.7:1", "192.0.2.7", "1"},
        {"[::1]", "::1", ""},
        {"[2001:db8::7]:65535", "2001:db8::7", "65535"},
        {"", NULL, NULL},
        {"-oX", NULL, NULL},
        {"[-oX", NULL, NULL},
        {"[-oX]", NULL, NULL},
        {"[::1", NULL, NULL},
        {"[::1]x", NULL, NULL},
        {".a", NULL, NULL},
        {"a:", NULL, NULL},
        {"a:1:2", NULL, NULL},
        {"a b", NULL, NULL},
    };
    char host[HOST_NAME], port[HOST_PORT], name[HOST_NAME + 8];
    for (size_t i = 0; i < CHECK_COUNT(rows); i++) {
        CHECK_CASE(rows[i].name);
        CHECK(host_list_is_name(rows[i].name) == (rows[i].host != NULL));
        if (rows[i].host == NULL)
            continue;
        host_list_split_name(rows[i].name, host, port);
        CHECK_STR(host, rows[i].host);
        CHECK_STR(port, rows[i].port);
    }
    memset(name, 'a', sizeof name);
    memcpy(name + HOST_NAME - 1, ":22222", 7);
    CHECK(host_list_is_name(name));
    host_list_split_name(name, host, port);
    CHECK_UINT(strlen(host), HOST_NAME - 1);
    CHECK_STR(port, "22222");
    memcpy(name + HOST_NAME, ":2", 3); /* one byte more is refused, not cut */
    name[HOST_NAME - 1] = 'a';
    CHECK_FALSE(host_list_is_name(name));
}

static const check_test tests[] = {
    {"lists name machines", lists_name_machines},
    {"what is wrong is named", what_is_wrong_is_named},
    {"ten thousand machines are taken", ten_thousand_machines_are_taken},
    {"files name machines", files_name_machines},
    {"names are no options", names_are_no_options},
};
CHECK_TESTS(tests)
