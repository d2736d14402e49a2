/* exporter.c: see exporter.h. */
#include "command/export/exporter.h"

#include <jansson.h>
#include <string.h>

enum { STRAYS_SHOWN = 5, SHOWN = 900 };

static const struct {
    const char *member;
    enum heard_kind kind;
} KINDS[] = {
    {"opened", HEARD_OPENED}, {"failed", HEARD_FAILED}, {"want", HEARD_WANT}, {"done", HEARD_DONE}};

static void copy_member(const json_t *line, const char *member, char *out, size_t capacity)
{
    const char *value = json_string_value(json_object_get(line, member));
    if (value != NULL)
        (void)snprintf(out, capacity, "%s", value);
}

/* Who says it stands in front, but for serve: that is all that we are there for. */
static void say(const char *who, const char *what)
{
    char safe[SHOWN], name[64];
    (void)vitals_text_format((vitals_text){what, strlen(what)}, VITALS_TEXT_TERMINAL, safe,
                             sizeof safe);
    (void)vitals_text_format((vitals_text){who, strlen(who)}, VITALS_TEXT_TERMINAL, name,
                             sizeof name);
    if (who[0] == '\0' || strcmp(who, "serve") == 0)
        (void)command_fail(0, "%s", safe);
    else
        (void)command_fail(0, "%s: %s", name, safe);
}

/* What a library prints, or the loader where it cannot start it. */
static void take_stray(struct telling *telling, const char *line)
{
    if (line[0] == '\0' || ++telling->strays > STRAYS_SHOWN)
        return;
    say("tell", telling->strays == STRAYS_SHOWN ? "and more of that kind" : line);
}

void telling_take(struct telling *telling, const char *line, struct heard *heard)
{
    json_t *document = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    const char *said = json_string_value(json_object_get(document, "say"));
    *heard = (struct heard){.kind = HEARD_OTHER};
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++) {
        if (json_object_get(document, KINDS[i].member) == NULL)
            continue;
        heard->kind = KINDS[i].kind;
        copy_member(document, KINDS[i].member, heard->publisher, sizeof heard->publisher);
    }
    copy_member(document, "run_id", heard->run_id, sizeof heard->run_id);
    copy_member(document, "url", heard->url, sizeof heard->url);
    if (heard->kind == HEARD_OPENED && strcmp(heard->publisher, "mlflow") == 0)
        memcpy(telling->page, heard->url, sizeof telling->page);
    heard->all_processes = strcmp(heard->publisher, "processes") == 0;
    if (heard->kind == HEARD_FAILED) {
        const char *why = json_string_value(json_object_get(document, "message"));
        memcpy(telling->failed, heard->publisher, sizeof telling->failed);
        say(heard->publisher, why != NULL ? why : "it cannot work");
    } else if (said != NULL) {
        say("", said);
    } else if (heard->kind == HEARD_OTHER) {
        take_stray(telling, line);
    }
    json_decref(document);
}

int telling_open(struct telling *telling, const struct export_settings *export, struct text *hello,
                 int handed)
{
    vitals_error error;
    const char *program = export->program;
    int code = EXIT_DONE;
    *telling = (struct telling){.link = NULL};
    if (hello->failed)
        code = command_fail(EXIT_CANNOT, "out of memory");
    else if (program == NULL || program[0] == '\0')
        code = command_fail(EXIT_CANNOT, "where the program is that tells others is not known; "
                                         "VITALS_TELL can name it");
    else if (link_open(program, hello->bytes, handed, &telling->link, &error) < 0)
        code = command_fail(EXIT_CANNOT, "%s", error.message);
    text_done(hello);
    return code;
}

static void take_last(void *data, const char *line)
{
    struct heard heard;
    telling_take(data, line, &heard);
}

enum link_end telling_close(struct telling *telling, uint64_t wait_ns)
{
    enum link_end end = link_close(telling->link, wait_ns, take_last, telling);
    telling->link = NULL;
    return end;
}

enum link_end telling_end(struct telling *telling, uint64_t wait_ns)
{
    enum link_end end = link_end(telling->link, wait_ns, take_last, telling);
    telling->link = NULL;
    return end;
}
