/* otlp_identity.c: see otlp_identity.h. */
#include "export/otlp/otlp_identity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>

#include "export/otlp/otlp_table.h"
#include "export/redact.h"

enum { OWN = 32, WORD_MAX = 1024, MOST = OWN + OTLP_PAIRS };

struct making {
    struct otlp_identity *out;
    struct text words;
    size_t at[MOST]; /* of texts, by attribute */
};

/* Adds an attribute, or replaces its value. */
static void put(struct making *making, const char *key, vitals_text value)
{
    char safe[WORD_MAX];
    size_t place = 0;
    if (value.size == 0)
        return;
    while (place < making->out->resource.count && strcmp(making->out->list[place].key, key) != 0)
        place++;
    if (place == MOST)
        return;
    (void)vitals_text_format(value, VITALS_TEXT_TERMINAL, safe, sizeof safe);
    making->out->list[place].key = key;
    making->at[place] = making->words.size;
    text_string(&making->words, safe);
    text_byte(&making->words, '\0');
    if (place == making->out->resource.count)
        making->out->resource.count++;
}

static void put_string(struct making *making, const char *key, const char *value)
{
    if (value != NULL)
        put(making, key, (vitals_text){value, strlen(value)});
}

/* The values of host.arch, by uname's machine. */
static const char *architecture_of(const char *machine)
{
    static const char *const NAMES[][2] = {
        {"x86_64", "amd64"}, {"aarch64", "arm64"}, {"ppc64", "ppc64"}, {"s390", "s390x"},
        {"ia64", "ia64"},    {"arm", "arm32"},     {"ppc", "ppc32"},
    };
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        if (strncmp(machine, NAMES[i][0], strlen(NAMES[i][0])) == 0)
            return NAMES[i][1];
    }
    return machine[0] == 'i' && strcmp(machine + 2, "86") == 0 ? "x86" : machine;
}

/* The command line, redacted. */
static void put_command(struct making *making, const json_t *export_config, const json_t *job)
{
    const json_t *arguments = json_object_get(job, "argv");
    const char *word = json_string_value(json_object_get(export_config, "cmdline"));
    int form = word != NULL ? redact_form_of(word) : REDACT_OFF;
    struct text plain = {.bytes = NULL}, line = {.bytes = NULL}, redacted = {.bytes = NULL};
    if (form <= REDACT_OFF || json_array_size(arguments) == 0)
        return;
    for (size_t i = 0; i < json_array_size(arguments); i++) {
        const json_t *argument = json_array_get(arguments, i);
        text_append(&plain, json_string_value(argument), json_string_length(argument));
        text_byte(&plain, '\0');
    }
    vitals_text all = {plain.bytes != NULL ? plain.bytes : "", plain.size};
    size_t size = vitals_text_command(all, NULL, 0);
    char *place = text_reserve(&line, size);
    if (place != NULL && !plain.failed) {
        (void)vitals_text_command(all, place, size + 1);
        redact_line(&redacted, (vitals_text){place, size}, (enum redact_form)form);
    }
    if (redacted.size > 0 && !redacted.failed)
        put(making, form == REDACT_ARGV0 ? "process.command" : "process.command_line",
            (vitals_text){redacted.bytes, redacted.size});
    text_done(&plain);
    text_done(&line);
    text_done(&redacted);
}

bool otlp_identity_make(const struct otlp_settings *settings, const struct otlp_speaker *speaker,
                        struct otlp_identity *out)
{
    enum { ID_DIGITS = 32 };
    const json_t *job = json_object_get(speaker->export_config, "job");
    vitals_text host = speaker->host;
    struct making making = {.out = out};
    struct utsname machine;
    char name[256] = "", instance[300], id[ID_DIGITS + 2] = "";
    const char *of_job = json_string_value(json_object_get(job, "host"));
    const char *started = json_string_value(json_object_get(job, "started_ns"));
    *out = (struct otlp_identity){.list = calloc(MOST, sizeof *out->list)};
    if (out->list == NULL)
        return false;
    bool named = uname(&machine) == 0;
    if (of_job != NULL)
        host = (vitals_text){of_job, strlen(of_job)};
    if (host.size > 0)
        (void)vitals_text_format(host, VITALS_TEXT_TERMINAL, name, sizeof name);
    else if (named)
        (void)snprintf(name, sizeof name, "%s", machine.nodename);

    put_string(&making, "service.name", "vitals");
    put_string(&making, "service.version", vitals_version_text());
    /* A run is an instance of its own; a server is its host's. */
    (void)snprintf(instance, sizeof instance, "%.200s%s%.20s", name, started != NULL ? "/" : "",
                   started != NULL ? started : "");
    put_string(&making, "service.instance.id", instance);
    put_string(&making, "host.name", name);

    /* The machine id is stable over boots. Copied images may share it, so nothing is identified by
     * it alone. */
    FILE *file = fopen("/etc/machine-id", "re");
    if (file != NULL && fgets(id, sizeof id, file) != NULL &&
        strspn(id, "0123456789abcdef") == ID_DIGITS)
        put(&making, "host.id", (vitals_text){id, ID_DIGITS});
    if (file != NULL)
        (void)fclose(file);
    if (named) {
        put_string(&making, "host.arch", architecture_of(machine.machine));
        put_string(&making, "os.type", strcasecmp(machine.sysname, "linux") == 0 ? "linux" : NULL);
    }
    put_string(&making, "process.owner", json_string_value(json_object_get(job, "user")));
    put_command(&making, speaker->export_config, job);
    for (size_t i = 0; i < speaker->work->count; i++)
        put_string(&making, speaker->work->list[i].key, speaker->work->list[i].text);
    for (size_t i = 0; i < settings->attributes.count; i++)
        put_string(&making, settings->attributes.list[i].key, settings->attributes.list[i].value);
    put_string(&making, "service.name", settings->service_name);

    bool made = !making.words.failed && making.words.bytes != NULL;
    for (size_t i = 0; i < out->resource.count && made; i++)
        out->list[i].text = making.words.bytes + making.at[i];
    out->words = making.words.bytes;
    out->resource.list = out->list;
    out->resource.scope_name = "vitals";
    out->resource.scope_version = vitals_version_text();
    out->resource.schema_url = OTLP_SCHEMA_URL;
    if (!made)
        otlp_identity_done(out);
    return made;
}

void otlp_identity_done(struct otlp_identity *identity)
{
    free(identity->list);
    free(identity->words);
    *identity = (struct otlp_identity){.list = NULL};
}
