/* exporter.c: see exporter.h. */
#include "command/export/exporter.h"

#include <jansson.h>
#include <string.h>

enum { STRAYS_SHOWN = 5, SHOWN = 900 };

static const struct {
    const char *member;
    enum message_kind kind;
} KINDS[] = {{"opened", MESSAGE_OPENED},
             {"failed", MESSAGE_FAILED},
             {"want", MESSAGE_WANT},
             {"done", MESSAGE_DONE}};

static void copy_member(const json_t *line, const char *member, char *out, size_t capacity)
{
    const char *value = json_string_value(json_object_get(line, member));
    if (value != NULL)
        (void)snprintf(out, capacity, "%s", value);
}

/* The message is prefixed with the command's name, except for serve. */
static void say(const char *publisher, const char *what)
{
    char safe[SHOWN], name[64];
    (void)vitals_text_format(command_text(what), VITALS_TEXT_TERMINAL, safe, sizeof safe);
    (void)vitals_text_format(command_text(publisher), VITALS_TEXT_TERMINAL, name, sizeof name);
    if (publisher[0] == '\0' || strcmp(publisher, "serve") == 0)
        (void)command_fail(0, "%s", safe);
    else
        (void)command_fail(0, "%s: %s", name, safe);
}

void exporter_take(struct exporter *exporter, const char *line, struct exporter_message *message)
{
    json_t *document = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    const char *said = json_string_value(json_object_get(document, "say"));
    *message = (struct exporter_message){.kind = MESSAGE_OTHER};
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++) {
        if (json_object_get(document, KINDS[i].member) == NULL)
            continue;
        message->kind = KINDS[i].kind;
        copy_member(document, KINDS[i].member, message->publisher, sizeof message->publisher);
    }
    copy_member(document, "run_id", message->run_id, sizeof message->run_id);
    copy_member(document, "url", message->url, sizeof message->url);
    if (message->kind == MESSAGE_OPENED && strcmp(message->publisher, "mlflow") == 0)
        memcpy(exporter->page, message->url, sizeof exporter->page);
    message->all_processes = strcmp(message->publisher, "processes") == 0;
    if (message->kind == MESSAGE_FAILED) {
        const char *why = json_string_value(json_object_get(document, "message"));
        memcpy(exporter->failed, message->publisher, sizeof exporter->failed);
        say(message->publisher, why != NULL ? why : "it cannot work");
    } else if (said != NULL) {
        say("", said);
    } else if (message->kind == MESSAGE_OTHER) {
        /* Output of a library, or of the loader if the program cannot be started. */
        if (line[0] != '\0' && ++exporter->strays <= STRAYS_SHOWN)
            say("tell", exporter->strays == STRAYS_SHOWN ? "and more of that kind" : line);
    }
    json_decref(document);
}

int exporter_open(struct exporter *exporter, const struct export_settings *export,
                  struct buffer *config, int handed)
{
    vitals_error error;
    const char *program = export->program;
    int code = EXIT_DONE;
    *exporter = (struct exporter){.link = NULL};
    if (config->failed)
        code = command_fail(EXIT_CANNOT, "out of memory");
    else if (program == NULL || program[0] == '\0')
        code = command_fail(EXIT_CANNOT, "where the program is that tells others is not known; "
                                         "VITALS_TELL can name it");
    else if (link_open(program, config->bytes, handed, &exporter->link, &error) < 0)
        code = command_fail(EXIT_CANNOT, "%s", error.message);
    buffer_done(config);
    return code;
}

static void take_last(void *data, const char *line)
{
    struct exporter_message message;
    exporter_take(data, line, &message);
}

enum link_end exporter_close(struct exporter *exporter, uint64_t wait_ns)
{
    enum link_end end = link_close(exporter->link, wait_ns, take_last, exporter);
    exporter->link = NULL;
    return end;
}

enum link_end exporter_end(struct exporter *exporter, uint64_t wait_ns)
{
    enum link_end end = link_end(exporter->link, wait_ns, take_last, exporter);
    exporter->link = NULL;
    return end;
}
