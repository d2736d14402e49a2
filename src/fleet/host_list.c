/* host_list.c: see host_list.h. */
#include "fleet/host_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "export/address.h"
#include "feed/built_without.h"
#include "feed/text.h"
#include "record/error.h"
#include "util/file.h"
#include "util/hash.h"
#include "util/memory.h"
#include "util/number.h"

#if VITALS_WITH_JANSSON
#include <jansson.h>
#endif

enum { ITEM_MOST = 1024, DIGITS_MOST = 9, SHOWN = 80 };

/* Where the items of a list come from. */
struct host_source {
    unsigned port;
    const char *scheme; /* of items without one */
    bool file;          /* a file names no further file */
    struct host_list *out;
    vitals_error *error;
};

/* Refuses a part of a list. A login before an @ is not shown. */
static int refuse(const struct host_source *source, vitals_text part, const char *why)
{
    char shown[SHOWN];
    const char *at = part.size > 0 ? memchr(part.bytes, '@', part.size) : NULL;
    if (at != NULL && at > part.bytes)
        part = (vitals_text){at, part.size - (size_t)(at - part.bytes)};
    (void)vitals_text_format(part, VITALS_TEXT_ASCII, shown, sizeof shown);
    return record_fail(VITALS_EARGUMENT, shown[0] != '\0' ? shown : "an empty item", source->error,
                       "%s", why);
}

/* ---- one machine ---- */

bool host_list_is_name(const char *text)
{
    static const char NAME[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    size_t size;
    if (text[0] == '[') {
        size = strspn(text + 1, "0123456789abcdefABCDEF:.") + 1;
        if (text[size] != ']' || size < 3)
            return false;
        size++;
    } else {
        size = strspn(text, NAME);
        if (size == 0 || text[0] == '-' || text[0] == '.')
            return false;
    }
    if (size >= HOST_NAME)
        return false;
    if (text[size] == '\0')
        return true;
    uint64_t port;
    return text[size] == ':' && strlen(text + size + 1) <= 5 &&
           number_is_u64(text + size + 1, &port) && port >= 1 && port <= UINT16_MAX;
}

void host_list_split_name(const char *name, char host[static HOST_NAME],
                          char port[static HOST_PORT])
{
    bool bracket = name[0] == '[';
    size_t size = strcspn(name + bracket, bracket ? "]" : ":");
    const char *colon = strchr(name + bracket + size, ':');
    (void)snprintf(host, HOST_NAME, "%.*s", (int)size, name + bracket);
    (void)snprintf(port, HOST_PORT, "%s", colon != NULL ? colon + 1 : "");
}

static int add_host(const struct host_source *source, const char *text)
{
    struct host_list *out = source->out;
    vitals_text whole = {text, strlen(text)};
    const char *scheme = source->scheme, *rest = text, *colon = strstr(text, "://");
    bool plain = whole.size < ITEM_MOST;
    for (size_t i = 0; plain && i < whole.size; i++)
        plain = text[i] > ' ' && text[i] <= '~';
    if (!plain)
        return refuse(source, whole, "is no name of a machine");
    if (colon != NULL) {
        bool secure = strncasecmp(text, "https:", 6) == 0;
        if (!secure && strncasecmp(text, "http:", 5) != 0)
            return refuse(source, whole, "http:// or https:// is expected");
        scheme = secure ? "https" : "http";
        rest = colon + 3;
    }

    /* A login ends at the @; a path of the address is not used: a slash at its end may stand. */
    const char *at = strchr(rest, '@'), *place = at != NULL ? at + 1 : rest;
    size_t size = strcspn(place, "/");
    char authority[ITEM_MOST];
    (void)snprintf(authority, sizeof authority, "%.*s", (int)size, place);
    if ((place[size] != '\0' && strcmp(place + size, "/") != 0) || !host_list_is_name(authority))
        return refuse(source, whole, "is no host, host:port or http://host:port");
    if (at != NULL && colon == NULL)
        return refuse(source, whole, "a login needs http:// or https:// before it");
    /* In an address the machine ends there: another one would be asked, and get the login. */
    if (at != NULL && strcspn(rest, "/?#\\") < (size_t)(at - rest))
        return refuse(source, whole, "a login has %2F for /, %3F for ?, %23 for #, %5C for \\");
    if (out->count == HOSTS_MOST)
        return refuse(source, whole, "there are more than 10000 machines");

    struct buffer url = {.bytes = NULL}, name = {.bytes = NULL};
    char host[HOST_NAME], port[HOST_PORT];
    host_list_split_name(authority, host, port);
    buffer_format(&url, "%s://%.*s%s", scheme, at != NULL ? (int)(at + 1 - rest) : 0, rest,
                  authority);
    buffer_string(&name, authority);
    if (port[0] == '\0')
        buffer_format(&url, ":%u", source->port);
    int code = 0;
    if (url.failed || name.failed || MEMORY_GROW(out->items, out->capacity, out->count) < 0)
        code = record_no_memory("hosts", source->error);
    else if (!address_is_web(url.bytes))
        code = refuse(source, whole, "is no address of a server");
    if (code == 0) {
        out->items[out->count++] = (struct host_place){.url = url.bytes, .name = name.bytes};
    } else {
        buffer_done(&url);
        buffer_done(&name);
    }
    return code;
}

/* ---- brackets ---- */

/* Reads digits, at most DIGITS_MOST. Returns how many, 0: none or too many. */
static size_t read_digits(const char *at, unsigned long *out)
{
    size_t size = strspn(at, "0123456789");
    *out = strtoul(at, NULL, 10);
    return size <= DIGITS_MOST ? size : 0;
}

static int add_expanded(const struct host_source *source, const char *item);

/* Puts each number of a group into the place of its brackets, and expands what is behind it. */
static int add_group(const struct host_source *source, const char *item, const char *open,
                     const char *close)
{
    vitals_text group = {open, (size_t)(close - open) + 1};
    for (const char *at = open + 1; at <= close;) {
        unsigned long first, last;
        size_t width = read_digits(at, &first), size = width;
        last = first;
        if (width > 0 && at[width] == '-') {
            size_t more = read_digits(at + width + 1, &last);
            size = more > 0 ? width + 1 + more : 0;
        }
        if (size == 0 || last < first || (at[size] != ',' && at + size != close))
            return refuse(source, group, "numbers are expected, as in [01-64,70]");
        if (last - first >= HOSTS_MOST)
            return refuse(source, group, "there are more than 10000 machines");
        for (unsigned long number = first; number <= last; number++) {
            char one[ITEM_MOST];
            int used = snprintf(one, sizeof one, "%.*s%0*lu%s", (int)(open - item), item,
                                (int)width, number, close + 1);
            int code = used < (int)sizeof one ? add_expanded(source, one)
                                              : refuse(source, group, "the name is too long");
            if (code < 0)
                return code;
        }
        at += size + 1;
    }
    return 0;
}

/* Expands the first brackets that hold numbers; those with a colon are an IPv6 address. The number
 * of machines bounds the work, since each expansion ends in one or in an error. */
static int add_expanded(const struct host_source *source, const char *item)
{
    for (const char *open = item; (open = strchr(open, '[')) != NULL;) {
        const char *close = strchr(open, ']');
        if (close == NULL)
            return refuse(source, vitals_text_of(open), "] is missing");
        if (memchr(open, ':', (size_t)(close - open)) == NULL)
            return add_group(source, item, open, close);
        open = close;
    }
    return add_host(source, item);
}

/* ---- lists ---- */

static int add_file(const struct host_source *source, const char *path)
{
    struct file_text file;
    int code = file_read_whole(path, HOST_FILE_MOST, FILE_ANY_KIND, &file);
    if (code < 0)
        return record_fail(VITALS_ESYSTEM, path, source->error, "%s", file.why);
    code = host_list_parse_file(path, file.bytes, file.size, source->port, source->out,
                                source->error);
    memory_free(file.bytes);
    return code;
}

/* Items between commas and blanks, but commas in brackets. */
static int add_items(const struct host_source *source, vitals_text list)
{
    const char *at = list.bytes, *end = list.bytes + list.size;
    while (at < end) {
        const char *from = at;
        bool bracket = false;
        for (; at < end && (bracket || strchr(", \t\r\n", *at) == NULL); at++)
            bracket = *at == '[' || (bracket && *at != ']');
        vitals_text item = {from, (size_t)(at - from)};
        char one[ITEM_MOST];
        int code = 0;
        if (item.size >= sizeof one || (item.size > 0 && memchr(from, '\0', item.size) != NULL))
            return refuse(source, item, "is no name of a machine");
        memcpy(one, from, item.size);
        one[item.size] = '\0';
        if (one[0] == '@')
            code = source->file ? refuse(source, item, "a file of hosts names no other file")
                                : add_file(source, one + 1);
        else if (item.size > 0)
            code = add_expanded(source, one);
        if (code < 0)
            return code;
        at += at < end;
    }
    return 0;
}

static void free_place(struct host_place *place)
{
    memory_free(place->url);
    memory_free(place->name);
    *place = (struct host_place){NULL, NULL};
}

/* Keeps the first of those that are equal, and the order. */
static int drop_repeated(struct host_list *list, vitals_error *error)
{
    struct hash seen = {.slots = NULL}; /* places of addresses */
    size_t kept = 0;
    if (hash_reserve(&seen, list->count) != 0)
        return record_no_memory("hosts", error);
    for (size_t i = 0; i < list->count; i++) {
        struct host_place place = list->items[i];
        uint64_t key = hash_bytes(place.url, strlen(place.url));
        const uintptr_t *before = hash_find(&seen, key);
        if (before != NULL && strcmp(list->items[*before].url, place.url) == 0) {
            free_place(&place);
            continue;
        }
        (void)hash_set(&seen, key, kept);
        list->items[kept++] = place;
    }
    list->count = kept;
    hash_done(&seen);
    return 0;
}

int host_list_parse(const char *words, unsigned port, struct host_list *out, vitals_error *error)
{
    const struct host_source source = {port, "http", false, out, error};
    int code = add_items(&source, vitals_text_of(words));
    return code < 0 ? code : drop_repeated(out, error);
}

/* ---- files ---- */

/* file_sd: [{"targets": ["host:9847"], "labels": {"__scheme__": "https"}}] */
static int add_targets(const char *path, vitals_text text, struct host_source *source)
{
#if VITALS_WITH_JANSSON
    json_error_t wrong;
    json_t *root = json_loadb(text.bytes, text.size, JSON_REJECT_DUPLICATES, &wrong), *group;
    size_t i, j;
    int code = 0;
    if (root == NULL)
        code = record_fail(VITALS_EARGUMENT, path, source->error, "line %d is no JSON", wrong.line);
    else if (!json_is_array(root))
        code = record_fail(VITALS_EARGUMENT, path, source->error, "is no list of targets");
    json_array_foreach(root, i, group)
    {
        const json_t *labels = json_object_get(group, "labels");
        const json_t *targets = json_object_get(group, "targets");
        const char *scheme = json_string_value(json_object_get(labels, "__scheme__"));
        json_t *target;
        source->scheme = scheme != NULL && strcmp(scheme, "https") == 0 ? "https" : "http";
        if (code == 0 && !json_is_array(targets))
            code = record_fail(VITALS_EARGUMENT, path, source->error,
                               "group %zu has no list \"targets\"", i + 1);
        json_array_foreach(targets, j, target)
        {
            const char *name = json_string_value(target);
            if (code == 0)
                code = name != NULL && strlen(name) == json_string_length(target)
                           ? add_host(source, name)
                           : record_fail(VITALS_EARGUMENT, path, source->error,
                                         "target %zu of group %zu is no text", j + 1, i + 1);
        }
    }
    json_decref(root);
    return code;
#else
    (void)text;
    return record_fail(VITALS_EUNSUPPORTED, path, source->error, BUILT_WITHOUT_JSON);
#endif
}

int host_list_parse_file(const char *path, const char *bytes, size_t size, unsigned port,
                         struct host_list *out, vitals_error *error)
{
    struct host_source source = {port, "http", true, out, error};
    size_t blank = 0;
    int code = 0;
    while (blank < size && memchr(" \t\r\n", bytes[blank], 4) != NULL)
        blank++;
    /* A JSON list begins with a bracket, behind which a group follows; [::1] is an address. */
    size_t next = blank + 1;
    while (next < size && memchr(" \t\r\n", bytes[next], 4) != NULL)
        next++;
    if (blank < size && bytes[blank] == '[' && (next >= size || strchr("{]", bytes[next]) != NULL))
        code = add_targets(path, (vitals_text){bytes, size}, &source);
    else {
        for (size_t at = 0; at < size && code == 0;) {
            const char *newline = memchr(bytes + at, '\n', size - at);
            size_t end = newline != NULL ? (size_t)(newline - bytes) : size;
            const char *comment = memchr(bytes + at, '#', end - at);
            size_t used = comment != NULL ? (size_t)(comment - bytes) : end;
            code = add_items(&source, (vitals_text){bytes + at, used - at});
            at = end + 1;
        }
    }
    return code < 0 ? code : drop_repeated(out, error);
}

void host_list_done(struct host_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free_place(&list->items[i]);
    memory_free(list->items);
    *list = (struct host_list){.items = NULL};
}
