/* account_json.c: an account as one JSON document; docs/account.md describes it.
 *
 * Written piece by piece through a buffer on the stack, as model/json.c does: nothing is
 * allocated, so a launcher can tell what it knows when memory is out. Thread rule: any thread. */
#include "run/account.h"

#include "util/number.h"

#include <string.h>
#include <vitals/version.h>

enum { JSON_BUFFER = 8 * 1024, JSON_PART = 1024, JSON_ESCAPE = 6, CONTINUED_MAX = 3 };

_Static_assert(JSON_PART *JSON_ESCAPE < JSON_BUFFER, "an escaped part fits an empty buffer");

struct json {
    vitals_write *write;
    void *data;
    int stopped; /* what write returned; not 0: nothing more is written */
    size_t used;
    char bytes[JSON_BUFFER];
};

static void flush(struct json *json)
{
    if (json->stopped == 0 && json->used != 0)
        json->stopped = json->write(json->data, json->bytes, json->used);
    json->used = 0;
}

/* Room for so many bytes, at most JSON_BUFFER. */
static char *room(struct json *json, size_t size)
{
    if (size > JSON_BUFFER - json->used)
        flush(json);
    return json->bytes + json->used;
}

static void put(struct json *json, const char *string)
{
    size_t size = strlen(string);
    memcpy(room(json, size), string, size);
    json->used += size;
}

static void put_f64(struct json *json, double value)
{
    json->used += number_print_f64(room(json, NUMBER_TEXT), value);
}

static void put_i64(struct json *json, int64_t value)
{
    json->used += number_print_i64(room(json, NUMBER_TEXT), value);
}

/* How much may be escaped by itself: never a part of a character. */
static size_t part_size(vitals_text text)
{
    if (text.size <= JSON_PART)
        return text.size;
    size_t cut = JSON_PART;
    for (int i = 0; i < CONTINUED_MAX && ((unsigned char)text.bytes[cut] & 0xC0) == 0x80; i++)
        cut--;
    return cut;
}

static void put_text(struct json *json, vitals_text text)
{
    put(json, "\"");
    while (text.size != 0) {
        vitals_text part = {text.bytes, part_size(text)};
        size_t capacity = part.size * JSON_ESCAPE + 1;
        json->used += vitals_text_format(part, VITALS_TEXT_JSON, room(json, capacity), capacity);
        text.bytes += part.size;
        text.size -= part.size;
    }
    put(json, "\"");
}

static void put_member(struct json *json, const char *before, const char *value)
{
    put(json, before);
    put_text(json, (vitals_text){value, strlen(value)});
}

static void put_figure(struct json *json, const vitals_figure *figure)
{
    put_member(json, "{\"name\":", figure->name);
    if (figure->subject[0] != '\0')
        put_member(json, ",\"subject\":", figure->subject);
    if (figure->label[0] != '\0')
        put_member(json, ",\"label\":", figure->label);
    put(json, ",\"value\":");
    if (figure->state > 0)
        put_f64(json, figure->value);
    else
        put(json, "null");
    put_member(json, ",\"unit\":", figure->unit);
    put_member(json,
               ",\"availability\":", vitals_availability_name((vitals_availability)figure->state));
    put_member(json, ",\"source\":", figure->source);
    put(json, "}");
}

static void put_attributes(struct json *json, const vitals_account *account)
{
    const char *between = "";
    put(json, ",\"attributes\":{");
    for (const char *name = NULL; (name = vitals_account_next_attribute(account, name)) != NULL;) {
        put(json, between);
        put_text(json, (vitals_text){name, strlen(name)});
        put(json, ":");
        put_text(json, vitals_account_attribute(account, name));
        between = ",";
    }
    put(json, "}");
}

int vitals_account_json(const vitals_account *account, vitals_write *write, void *data)
{
    struct json json;
    json.write = write;
    json.data = data;
    json.stopped = 0;
    json.used = 0;
    put(&json, "{\"schema\":");
    put_i64(&json, VITALS_SCHEMA);
    put_member(&json, ",\"vitals\":", vitals_version_text());
    put(&json, ",\"exit_code\":");
    put_i64(&json, account->exit_code);
    put(&json, ",\"signal\":");
    put_i64(&json, account->signal);
    if (account->failure[0] != '\0')
        put_member(&json, ",\"failure\":", account->failure);
    put_attributes(&json, account);
    put(&json, ",\"figures\":[");
    for (size_t i = 0; i < account->count; i++) {
        put(&json, i > 0 ? ",\n" : "\n");
        put_figure(&json, &account->figures[i]);
    }
    put(&json, "\n]}\n");
    flush(&json);
    return json.stopped;
}
