/* telling.h: the program that tells others, as serve, run, track and send use it: what it is asked
 * for, and what it says.
 *
 * What the other side says is hostile: a line that is none of reply.h is shown as text, safe, and
 * only the first few. One thread. */
#ifndef VITALS_COMMAND_TELLING_H
#define VITALS_COMMAND_TELLING_H

#include "command/command.h"
#include "publish/link.h"
#include "publish/text.h"

/* ---- the first line (hello.c) ---- */

/* --mlflow-run: a run of its own, whatever MLFLOW_RUN_ID says; no id looks so. */
#define MLFLOW_NEW_RUN "new"

/* Whether run or track were asked to tell anybody. */
bool telling_asked(const struct settings *settings);

/* What is wrong with what was asked is said: 0, or an exit code. */
int telling_check(const struct settings *settings);

/* What tell needs to know of a run that begins. */
struct hello_job {
    const char *program;     /* "run", "track", "record" */
    const char *const *argv; /* NULL: of a process that lives */
    int64_t pid;             /* of that; 0: not known yet */
};

/* Without a newline. `out->failed`: no memory. */
void hello_of_serve(const struct settings *settings, struct text *out);
void hello_of_run(const struct settings *settings, const struct hello_job *job, struct text *out);
void hello_of_send(const struct settings *settings, const char *path, struct text *out);

/* ---- the program ---- */

struct telling {
    struct link *link;
    unsigned strays; /* lines that are none, so far */
    char failed[32]; /* the last publisher that cannot work; "" */
};

/* Starts it; frees the hello. 0, or EXIT_CANNOT after a message. */
int telling_open(struct telling *telling, const struct settings *settings, struct text *hello);

/* Waits at most so long for what it still has to say, says it, and leaves it behind; or kills it.
 */
enum link_end telling_close(struct telling *telling, uint64_t wait_ns);
enum link_end telling_end(struct telling *telling, uint64_t wait_ns);

/* One thing that it said. */
enum heard_kind { HEARD_OTHER, HEARD_OPENED, HEARD_FAILED, HEARD_WANT, HEARD_DONE };

struct heard {
    enum heard_kind kind;
    char publisher[32]; /* OPENED, FAILED */
    char run_id[128];   /* OPENED by mlflow; "" */
    char url[256];      /* OPENED by serve; "" */
    bool all_processes; /* WANT */
};

/* What a person must know of it is said: "vitals: mlflow: …". */
void telling_take(struct telling *telling, const char *line, struct heard *heard);

#endif
