/* message.c: see message.h. */
#include "export/message.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *member;
    enum message_kind kind;
} KINDS[] = {{"opened", MESSAGE_OPENED},
             {"failed", MESSAGE_FAILED},
             {"say", MESSAGE_SAY},
             {"want", MESSAGE_WANT},
             {"done", MESSAGE_DONE}};

static void copy_member(const json_t *line, const char *member, char *out, size_t capacity)
{
    const char *value = json_string_value(json_object_get(line, member));
    if (value != NULL)
        (void)snprintf(out, capacity, "%s", value);
}

void message_read(const char *line, struct exporter_message *message)
{
    json_t *document = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    *message = (struct exporter_message){.kind = MESSAGE_OTHER};
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++) {
        if (json_object_get(document, KINDS[i].member) == NULL)
            continue;
        message->kind = KINDS[i].kind;
        if (message->kind != MESSAGE_SAY)
            copy_member(document, KINDS[i].member, message->publisher, sizeof message->publisher);
        break;
    }
    copy_member(document, "run_id", message->run_id, sizeof message->run_id);
    copy_member(document, "url", message->url, sizeof message->url);
    copy_member(document, message->kind == MESSAGE_FAILED ? "message" : "say", message->text,
                sizeof message->text);
    if (message->kind == MESSAGE_FAILED && message->text[0] == '\0')
        (void)strcpy(message->text, "it cannot work");
    message->lost = json_object_get(document, "lost") != NULL;
    message->all_processes = strcmp(message->publisher, "processes") == 0;
    json_decref(document);
}
