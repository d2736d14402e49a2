/* exporter.c: see exporter.h. */
#include "command/export/exporter.h"

#include <string.h>

enum { STRAYS_SHOWN = 5, SHOWN = 900 };

/* The message is prefixed with the command's name, except for serve. */
static void say(const char *publisher, const char *what)
{
    char safe[SHOWN], name[64];
    (void)vitals_text_format(vitals_text_of(what), VITALS_TEXT_TERMINAL, safe, sizeof safe);
    (void)vitals_text_format(vitals_text_of(publisher), VITALS_TEXT_TERMINAL, name, sizeof name);
    if (publisher[0] == '\0' || strcmp(publisher, "serve") == 0)
        (void)command_fail(0, "%s", safe);
    else
        (void)command_fail(0, "%s: %s", name, safe);
}

void exporter_take(struct exporter *exporter, const char *line, struct exporter_message *message)
{
    message_read(line, message);
    if (message->kind == MESSAGE_OPENED && strcmp(message->publisher, "mlflow") == 0)
        memcpy(exporter->page, message->url, sizeof exporter->page);
    if (message->kind == MESSAGE_FAILED)
        memcpy(exporter->failed, message->publisher, sizeof exporter->failed);
    if (message->kind == MESSAGE_FAILED || message->kind == MESSAGE_SAY)
        say(message->publisher, message->text);
    else if (message->kind == MESSAGE_OTHER && line[0] != '\0' &&
             ++exporter->strays <= STRAYS_SHOWN)
        say("tell", exporter->strays == STRAYS_SHOWN ? "and more of that kind" : line);
}

int exporter_open(struct exporter *exporter, const struct export_settings *export,
                  struct buffer *config, int activation_socket)
{
    vitals_error error;
    const struct link_program program = {.path = export->program,
                                         .activation_socket = activation_socket};
    int code = EXIT_DONE;
    *exporter = (struct exporter){.link = NULL};
    if (config->failed)
        code = command_fail(EXIT_CANNOT, "out of memory");
    else if (program.path == NULL || program.path[0] == '\0')
        code = command_fail(EXIT_CANNOT, "the exporter was not found; install vitals-exporter, or "
                                         "set VITALS_TELL to its path");
    else if (link_open(&program, config->bytes, &exporter->link, &error) < 0)
        code = command_fail(EXIT_CANNOT, "%s", error.message);
    buffer_done(config);
    return code;
}

static void take_last(void *data, const char *line)
{
    struct exporter_message message;
    exporter_take(data, line, &message);
}

enum link_end exporter_close(struct exporter *exporter, uint64_t wait_ns, bool ends)
{
    enum link_end end = link_close(exporter->link, wait_ns, ends, take_last, exporter);
    exporter->link = NULL;
    return end;
}
