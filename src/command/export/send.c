/* send.c: `vitals send`: sends the data that an MLflow server has missed. An address that can never
 * work is rejected before anything is sent. Files are sent one after the other, each by an exporter
 * process of its own, which resumes where it stopped. */
#include <poll.h>

#include "command/export/exporter.h"
#include "export/address.h"

static const uint64_t LOOK_NS = 200000000;

/* Returns when the file is sent, cannot be sent, or a signal arrives; unsent data is kept. */
static int send_file(const struct export_settings *export, const struct send_settings *send,
                     const char *path, int interrupts)
{
    struct pollfd interrupt = {.fd = interrupts, .events = POLLIN};
    struct exporter_message message = {.kind = MESSAGE_OTHER};
    struct exporter exporter;
    struct buffer config = {.bytes = NULL};
    export_config_send(send, path, &config);
    int code = exporter_open(&exporter, export, &config, -1);
    if (code != EXIT_DONE)
        return code;
    link_finish(exporter.link);
    for (bool over = false; !over;) {
        char *line;
        int got = link_hear(exporter.link, LOOK_NS, &line);
        if (got > 0)
            exporter_take(&exporter, line, &message);
        over = true;
        if (message.kind == MESSAGE_DONE)
            code = exporter.failed[0] != '\0' ? EXIT_CANNOT : EXIT_DONE;
        else if (got < 0)
            code = command_fail(EXIT_CANNOT, "the exporter ended before the file was sent");
        else if (interrupts >= 0 && poll(&interrupt, 1, 0) > 0)
            code = EXIT_CANNOT;
        else
            over = false;
    }
    (void)exporter_close(&exporter, 0, true);
    return code;
}

int command_send(const struct settings *settings)
{
    const struct settings_words *words = &settings->arguments.words;
    int interrupts = command_interrupts(), code = EXIT_DONE;
    struct pollfd interrupt = {.fd = interrupts, .events = POLLIN};
    vitals_error error;
    if (settings->send.mlflow != NULL && address_check_mlflow(settings->send.mlflow, &error) < 0)
        return command_fail(EXIT_USAGE, "--mlflow: %s", error.message);
    if (words->count == 0)
        return command_fail(
            EXIT_USAGE, "send: no file; as in: vitals send ~/.local/state/vitals/unsent/*.spool");
    for (size_t i = 0; i < words->count && !(interrupts >= 0 && poll(&interrupt, 1, 0) > 0); i++) {
        int one = send_file(&settings->export, &settings->send, words->items[i], interrupts);
        code = one != EXIT_DONE ? one : code;
    }
    return code;
}
