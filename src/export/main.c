/* main.c: the exporter, libexec/vitals/tell.
 *
 * vitals starts it, sends it lines of JSON on standard input (wire.h) and reads its replies from
 * standard output (reply.h), so that the measuring process never waits for a network, and no
 * failure here reaches a job. The main thread reads lines and hands them to publishers. */
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export/clock.h"
#include "export/environment.h"
#include "export/publisher.h"
#include "export/reply.h"
#include "export/server/watchdog.h"
#include "export/wire.h"

enum { MOST_PUBLISHERS = 16 };
static const uint64_t GRACE_NS = 10000000000; /* of the watchdog, beyond the patience */

struct exporter_target {
    const struct publisher *publisher;
    void *data;
};

struct tell {
    struct exporter_target told[MOST_PUBLISHERS];
    size_t count;
    uint64_t patience_ns; /* after the end, to send the rest */
    uint64_t until_ns;    /* monotonic: when the command stops waiting; 0: unknown */
};

const char *environment_get(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* ---- the lines ---- */

static void open_publishers(struct tell *tell, const json_t *hello)
{
    for (size_t i = 0; publishers[i] != NULL && tell->count < MOST_PUBLISHERS; i++) {
        const json_t *config = json_object_get(hello, publishers[i]->name);
        vitals_error error = {.code = 0};
        struct exporter_target told = {.publisher = publishers[i]};
        if (config == NULL)
            continue;
        if (publishers[i]->open(config, hello, &told.data, &error) < 0)
            reply_failed(publishers[i]->name, "%s", error.message);
        else
            tell->told[tell->count++] = told;
    }
}

static void tell_snapshot(struct tell *tell, const char *line, size_t size)
{
    struct sample *sample = sample_new(line, size, clock_now_ns());
    for (size_t i = 0; i < tell->count && sample != NULL; i++) {
        if (tell->told[i].publisher->snapshot != NULL)
            tell->told[i].publisher->snapshot(tell->told[i].data, sample);
    }
    sample_unref(sample);
}

static void tell_processes(struct tell *tell, const char *line, size_t size)
{
    struct sample *sample = sample_new(line, size, clock_now_ns());
    for (size_t i = 0; i < tell->count && sample != NULL; i++) {
        if (tell->told[i].publisher->processes != NULL)
            tell->told[i].publisher->processes(tell->told[i].data, sample);
    }
    sample_unref(sample);
}

static void tell_usage(const struct exporter_target *told, const json_t *line, const json_t *value)
{
    (void)line;
    if (told->publisher->usage != NULL)
        told->publisher->usage(told->data, value);
}

static void tell_mark(const struct exporter_target *told, const json_t *line, const json_t *value)
{
    (void)line;
    if (told->publisher->mark != NULL)
        told->publisher->mark(told->data, value);
}

static void tell_end(const struct exporter_target *told, const json_t *line, const json_t *value)
{
    if (told->publisher->end != NULL)
        told->publisher->end(told->data, value, json_object_get(line, "status"));
}

static void tell_files(const struct exporter_target *told, const json_t *line, const json_t *value)
{
    (void)line;
    if (told->publisher->files != NULL)
        told->publisher->files(told->data, value);
}

/* The kind of a line is a member of its object. */
static const struct {
    const char *member;
    void (*tell)(const struct exporter_target *told, const json_t *line, const json_t *value);
} KINDS[] = {
    {"usage", tell_usage}, {"mark", tell_mark}, {"account", tell_end}, {"artifacts", tell_files}};

static void take_line(struct tell *tell, const char *line, size_t size)
{
    static const char SNAPSHOT[] = "{\"schema\":", PROCESSES[] = "{\"processes\":";
    enum { HEAD = sizeof PROCESSES - 1 };
    if (size >= sizeof SNAPSHOT - 1 && memcmp(line, SNAPSHOT, sizeof SNAPSHOT - 1) == 0) {
        tell_snapshot(tell, line, size);
        return;
    }
    if (size > HEAD && memcmp(line, PROCESSES, HEAD) == 0 && line[size - 1] == '}') {
        tell_processes(tell, line + HEAD, size - HEAD - 1); /* the inner document, without a copy */
        return;
    }
    json_t *document = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++) {
        const json_t *value = json_object_get(document, KINDS[i].member);
        for (size_t p = 0; p < tell->count && value != NULL; p++)
            KINDS[i].tell(&tell->told[p], document, value);
    }
    const char *until = json_string_value(json_object_get(document, "until_ns"));
    if (until != NULL)
        tell->until_ns = strtoull(until, NULL, 10);
    json_decref(document);
}

/* ---- start and end ---- */

/* Returns the first line, or NULL if it is not from vitals. */
static json_t *take_hello(struct wire *wire)
{
    char *line;
    size_t size;
    int got;
    while ((got = wire_next(wire, &line, &size)) == 0)
        ;
    json_t *hello = got > 0 ? json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL) : NULL;
    if (json_integer_value(json_object_get(hello, "tell")) == 1)
        return hello;
    json_decref(hello);
    return NULL;
}

static void close_publishers(struct tell *tell)
{
    uint64_t deadline = clock_now_ns() + tell->patience_ns;
    if (tell->until_ns > 0 && tell->until_ns < deadline)
        deadline = tell->until_ns;
    for (size_t i = 0; i < tell->count; i++)
        tell->told[i].publisher->close(tell->told[i].data, deadline);
}

/* Signals are ignored, because the end of a service or job (systemctl stop, scancel) signals all
 * its processes, and what was measured must still be sent. The end of the input ends this program,
 * or the watchdog does. `vitals send` keeps its file anyway, and ends by signals as usual. */
static void outlive_signals(const json_t *hello)
{
    static const int NUMBERS[] = {SIGHUP,    SIGINT,  SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM,
                                  SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ, SIGIO,   SIGPWR};
    const char *program = json_string_value(json_object_get(hello, "program"));
    if (program != NULL && strcmp(program, "send") == 0)
        return;
    for (size_t i = 0; i < sizeof NUMBERS / sizeof NUMBERS[0]; i++)
        (void)signal(NUMBERS[i], SIG_IGN);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        (void)signal(number, SIG_IGN);
}

/* One heap for all threads: each thread's own heap would keep the size of the largest sample it
 * has parsed, and they would hold twice as much. A sample of a thousand processes is 700 kB, as is
 * what is rendered from it: mapped on its own, it does not fragment the heap. */
static void keep_memory_small(void)
{
#ifdef M_ARENA_MAX
    enum { APART = 128 * 1024 }; /* from this size, freed memory returns to the kernel */
    (void)mallopt(M_ARENA_MAX, 1);
    (void)mallopt(M_MMAP_THRESHOLD, APART);
#endif
}

int main(void)
{
    static struct tell tell;
    struct wire *wire = wire_new(STDIN_FILENO);
    char *line;
    size_t size;
    int got;
    keep_memory_small();
    (void)signal(SIGPIPE, SIG_IGN);
    json_t *hello = wire != NULL ? take_hello(wire) : NULL;
    if (hello == NULL) {
        fputs("tell: vitals starts this program when it has something to tell; see vitals serve "
              "--help, vitals run --help\n",
              stderr);
        return 2;
    }
    outlive_signals(hello);
    double seconds = json_number_value(json_object_get(hello, "patience_seconds"));
    tell.patience_ns = seconds > 0 && seconds < 1e6 ? (uint64_t)(seconds * 1e9) : 0;
    watchdog_start(STDIN_FILENO, tell.patience_ns + GRACE_NS);
    open_publishers(&tell, hello);
    json_decref(hello);
    while ((got = wire_next(wire, &line, &size)) >= 0) {
        if (got > 0)
            take_line(&tell, line, size);
    }
    wire_free(wire);
    close_publishers(&tell);
    reply_done();
    return 0;
}
