/* exporter.h: the exporter program as serve, run, track and send use it: its configuration and its
 * messages.
 *
 * Messages from the program are untrusted: a line that is not in the form of reply.h is shown as
 * safe text, and only the first few. One thread. */
#pragma once

#include <vitals/record/exporter.h>

#include "command/command.h"
#include "export/link.h"
#include "export/message.h"
#include "feed/text.h"

/* The value of --mlflow-run that creates a new run even if MLFLOW_RUN_ID is set; it cannot be an
 * identifier. */
#define MLFLOW_NEW_RUN "new"

/* True if any exporter of a run was asked for. */
static inline bool exporters_asked(const struct export_settings *export)
{
    return export->mlflow.uri != NULL || export->otlp != NULL || export->tensorboard != NULL ||
           export->textfile != NULL;
}

/* A variable of the environment; NULL if it is not set, or empty. */
const char *exporter_variable(const struct environment_settings *environment, const char *name);

/* Checks the options of the exporters. Returns 0, or an exit code after a message. */
int exporters_check(const struct run_settings *run, const struct export_settings *export,
                    const struct serve_settings *serve);

/* The run that begins, for the exporter. */
struct export_job {
    const char *program;     /* "run", "track", "record" */
    const char *const *argv; /* NULL: a process that already runs */
    int64_t pid;             /* pid of that process; 0: not known yet */
    const char *name;        /* its name; NULL: not known */
};

/* Write the configuration, without a newline. `out->failed`: memory is exhausted.
 * `socket_activation`: a listening socket is passed on. */
void export_config_serve(const struct sampling_settings *sampling,
                         const struct export_settings *export, const struct serve_settings *serve,
                         bool socket_activation, struct buffer *out);
void export_config_send(const struct send_settings *send, const char *path, struct buffer *out);

/* Fills in what the command line says of a run's exporters; everything is borrowed. `own_user` is
 * room for the name of our user. */
enum { EXPORT_USER = 256 };
void export_options(const struct settings *settings, const struct export_job *job,
                    char own_user[static EXPORT_USER], vitals_exporter_options *out);

struct exporter {
    struct link *link;
    unsigned strays; /* lines in no known form, so far */
    char failed[32]; /* the last exporter that failed; "" */
    char page[1024]; /* address of the run in MLflow; "": not reported yet */
};

/* Starts the program and frees the configuration. Returns 0, or EXIT_CANNOT after a message.
 * `activation_socket`: as for link_open. */
int exporter_open(struct exporter *exporter, const struct export_settings *export,
                  struct buffer *config, int activation_socket);

/* Waits at most `wait_ns` for the program's last messages, and prints them; kills a program that is
 * not done if it `ends`, else leaves it running. */
enum link_end exporter_close(struct exporter *exporter, uint64_t wait_ns, bool ends);

/* Parses a line, and prints the messages that are meant for the user: "vitals: mlflow: …". */
void exporter_take(struct exporter *exporter, const char *line, struct exporter_message *message);
