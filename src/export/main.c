/* main.c: the exporter, libexec/vitals/tell.
 *
 * vitals starts it, sends it lines of JSON on standard input (wire.h) and reads its replies from
 * standard output (reply.h), so that the measuring process never waits for a network, and no
 * failure here reaches a job. The main thread reads lines and hands them to publishers. */
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export/clock.h"
#include "export/environment.h"
#include "export/export_thread.h"
#include "export/publisher.h"
#include "export/reply.h"
#include "export/sandbox.h"
#include "export/wire.h"
#include "util/burst.h"

extern const struct publisher publisher_serve;       /* serve.c, or no_serve.c */
extern const struct publisher publisher_textfile;    /* textfile.c */
extern const struct publisher publisher_mlflow;      /* mlflow.c */
extern const struct publisher publisher_otlp;        /* otlp.c */
extern const struct publisher publisher_tensorboard; /* tensorboard.c */
extern const struct publisher publisher_fleet;       /* poll.c */

/* In the order in which they are called. */
static const struct publisher *const PUBLISHERS[] = {&publisher_serve,       &publisher_textfile,
                                                     &publisher_mlflow,      &publisher_otlp,
                                                     &publisher_tensorboard, &publisher_fleet};
enum { PUBLISHERS_COUNT = sizeof PUBLISHERS / sizeof PUBLISHERS[0] };

static const uint64_t GRACE_NS = 10000000000; /* of the watchdog, beyond the patience */

struct tell {
    struct exporter_target {
        const struct publisher *publisher;
        void *data;
    } targets[PUBLISHERS_COUNT]; /* those that were opened */
    size_t count;
    struct burst burst;
    uint64_t until_ns; /* monotonic: when the command stops waiting; 0: unknown */
};

const char *environment_get(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* Hands a sample of all metrics, or one of every process, to the publishers. */
static void tell_sample(struct tell *tell, const char *json, size_t size, bool processes)
{
    struct sample *sample = sample_new(json, size, clock_now_ns());
    for (size_t i = 0; i < tell->count && sample != NULL; i++) {
        const struct publisher *to = tell->targets[i].publisher;
        void (*take)(void *data, struct sample *sample) = processes ? to->processes : to->snapshot;
        if (take != NULL)
            take(tell->targets[i].data, sample);
    }
    sample_unref(sample);
    burst_step(&tell->burst, size);
}

static void take_line(struct tell *tell, const char *line, size_t size)
{
    static const char SNAPSHOT[] = "{\"schema\":", PROCESSES[] = "{\"processes\":";
    enum { HEAD = sizeof PROCESSES - 1 };
    if (size >= sizeof SNAPSHOT - 1 && memcmp(line, SNAPSHOT, sizeof SNAPSHOT - 1) == 0) {
        tell_sample(tell, line, size, false);
        return;
    }
    if (size > HEAD && memcmp(line, PROCESSES, HEAD) == 0 && line[size - 1] == '}') {
        /* The inner document, without a copy. */
        tell_sample(tell, line + HEAD, size - HEAD - 1, true);
        return;
    }

    /* The kind of any other line is a member of its object. */
    json_t *document = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);
    struct usage_line *usage = usage_line_new(json_object_get(document, "usage"));
    const json_t *account = json_object_get(document, "account");
    const json_t *files = json_object_get(document, "artifacts");
    for (size_t i = 0; i < tell->count; i++) {
        const struct publisher *to = tell->targets[i].publisher;
        void *data = tell->targets[i].data;
        if (usage != NULL && to->usage != NULL)
            to->usage(data, usage);
        if (account != NULL && to->end != NULL)
            to->end(data, account, json_object_get(document, "status"));
        if (files != NULL && to->files != NULL)
            to->files(data, files);
    }
    uint64_t until_ns = usage_line_ns(document, "until_ns");
    if (until_ns > 0)
        tell->until_ns = until_ns;
    usage_line_unref(usage);
    json_decref(document);
}

/* ---- start and end ---- */

/* Signals are ignored, because the end of a service or job (systemctl stop, scancel) signals all
 * its processes, and what was measured must still be sent. The end of the input ends this program,
 * or the watchdog does. `vitals send` keeps its file anyway, and ends by signals as usual. */
static void outlive_signals(const json_t *export_config)
{
    static const int NUMBERS[] = {SIGHUP,    SIGINT,  SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM,
                                  SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ, SIGIO,   SIGPWR};
    const char *program = json_string_value(json_object_get(export_config, "program"));
    if (program != NULL && strcmp(program, "send") == 0)
        return;
    for (size_t i = 0; i < sizeof NUMBERS / sizeof NUMBERS[0]; i++)
        (void)signal(NUMBERS[i], SIG_IGN);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        (void)signal(number, SIG_IGN);
}

int main(void)
{
    static struct tell tell;
    struct wire *wire = wire_new(STDIN_FILENO, WIRE_LINE_MAX);
    char *line;
    size_t size;
    int got = -1;
#ifdef M_ARENA_MAX
    /* One heap for all threads: each thread's own heap would keep the size of the largest sample it
     * has parsed, and they would hold twice as much. A sample of a thousand processes is 700 kB, as
     * is what is rendered from it: mapped on its own, it does not fragment the heap. */
    enum { APART = 128 * 1024 }; /* from this size, freed memory returns to the kernel */
    (void)mallopt(M_ARENA_MAX, 1);
    (void)mallopt(M_MMAP_THRESHOLD, APART);
#endif
    (void)signal(SIGPIPE, SIG_IGN);
    while (wire != NULL && (got = wire_next(wire, &line, &size)) == 0)
        ;
    json_t *export_config = got > 0 ? json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL) : NULL;
    if (json_integer_value(json_object_get(export_config, "tell")) != 1) {
        fputs("tell: vitals starts this program when it has something to tell; see vitals serve "
              "--help, vitals run --help\n",
              stderr);
        return 2;
    }

    (void)sandbox_enter(); /* what it refuses nothing here needs: without it all works the same */
    outlive_signals(export_config);
    double seconds = json_number_value(json_object_get(export_config, "patience_seconds"));
    uint64_t patience_ns = seconds > 0 ? (uint64_t)((seconds < 1e6 ? seconds : 1e6) * 1e9) : 0;
    watchdog_start(STDIN_FILENO, patience_ns + GRACE_NS);
    for (size_t i = 0; i < PUBLISHERS_COUNT; i++) {
        const json_t *config = json_object_get(export_config, PUBLISHERS[i]->name);
        struct exporter_target *target = &tell.targets[tell.count];
        vitals_error error = {.code = 0};
        *target = (struct exporter_target){.publisher = PUBLISHERS[i]};
        if (config != NULL &&
            PUBLISHERS[i]->open(config, export_config, &target->data, &error) == 0)
            tell.count++;
        else if (config != NULL)
            reply_failed(PUBLISHERS[i]->name, "%s", error.message);
    }
    json_decref(export_config);

    while ((got = wire_next(wire, &line, &size)) >= 0) {
        if (got > 0)
            take_line(&tell, line, size);
    }
    wire_free(wire);
    uint64_t deadline_ns = clock_now_ns() + patience_ns;
    if (tell.until_ns > 0 && tell.until_ns < deadline_ns)
        deadline_ns = tell.until_ns;
    for (size_t i = 0; i < tell.count; i++)
        tell.targets[i].publisher->close(tell.targets[i].data, deadline_ns);
    reply_done();
    return 0;
}
