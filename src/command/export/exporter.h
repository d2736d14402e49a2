/* exporter.h: the program that tells others, as serve, run, track and send use it: what it is asked
 * for, and what it says.
 *
 * What the other side says is hostile: a line that is none of reply.h is shown as text, safe, and
 * only the first few. One thread. */
#ifndef VITALS_COMMAND_EXPORT_EXPORTER_H
#define VITALS_COMMAND_EXPORT_EXPORTER_H

#include "command/command.h"
#include "export/link.h"
#include "feed/text.h"

/* --mlflow-run: a run of its own, whatever MLFLOW_RUN_ID says; no id looks so. */
#define MLFLOW_NEW_RUN "new"

/* True if any exporter was asked for. */
bool exporters_asked(const struct export_settings *export);

/* Checks the options of the exporters. Returns 0, or an exit code after a message. */
int exporters_check(const struct run_settings *run, const struct export_settings *export,
                    const struct serve_settings *serve);

/* What tell needs to know of a run that begins. */
struct export_job {
    const char *program;     /* "run", "track", "record" */
    const char *const *argv; /* NULL: of a process that lives */
    int64_t pid;             /* of that; 0: not known yet */
    const char *name;        /* what that is called; NULL: not known */
};

/* Without a newline. `out->failed`: no memory. `handed`: a socket to listen at is handed down. */
void export_config_serve(const struct sampling_settings *sampling,
                         const struct export_settings *export, const struct serve_settings *serve,
                         bool handed, struct buffer *out);
void export_config_run(const struct settings *settings, const struct export_job *job,
                       struct buffer *out);
void export_config_send(const struct send_settings *send, const char *path, struct buffer *out);

struct exporter {
    struct link *link;
    unsigned strays; /* lines that are none, so far */
    char failed[32]; /* the last publisher that cannot work; "" */
    char page[1024]; /* where MLflow shows the run; "": it has not said so */
};

/* Starts it; frees the hello. 0, or EXIT_CANNOT after a message. `handed`: as for link_open. */
int exporter_open(struct exporter *exporter, const struct export_settings *export,
                  struct buffer *config, int handed);

/* Waits at most so long for what it still has to say, says it, and leaves it behind; or kills it.
 */
enum link_end exporter_close(struct exporter *exporter, uint64_t wait_ns);
enum link_end exporter_end(struct exporter *exporter, uint64_t wait_ns);

/* One thing that it said. */
enum message_kind { MESSAGE_OTHER, MESSAGE_OPENED, MESSAGE_FAILED, MESSAGE_WANT, MESSAGE_DONE };

struct exporter_message {
    enum message_kind kind;
    char publisher[32]; /* OPENED, FAILED */
    char run_id[128];   /* OPENED by mlflow; "" */
    char url[1024];     /* OPENED by serve, or by mlflow: of the run; "" */
    bool all_processes; /* WANT */
};

/* What a person must know of it is said: "vitals: mlflow: …". */
void exporter_take(struct exporter *exporter, const char *line, struct exporter_message *message);

#endif
