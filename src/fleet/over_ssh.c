/* over_ssh.c: see over_ssh.h. Each machine has a process of its own, in a session of its own: ssh
 * asks nothing, and keys of the terminal do not reach it. */
#include "fleet/over_ssh.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "export/clock.h"
#include "record/error.h"
#include "util/memory.h"

enum {
    LEFT_READS = 64,          /* of what stands in its pipe */
    LOGINS_AT_ONCE = 16,      /* processes that have not answered yet */
    SHARE_BYTES = 256 * 1024, /* of each machine, for the line that is not complete */
    ALL_MIB = 64, /* of all together beyond these shares: then the largest is given up */
    TURN_NS = 250000000,
    PAUSE_NS = 1000000000, /* of this process: nothing was read for so long */
    LEAVE_NS = 500000000,  /* at the end: what has not ended by then is left behind */
    BACK_OFF_MOST = 4,     /* one that ends is started again after up to 2^4 intervals */
    FAILED_CODE = 255,     /* of ssh itself */
    LOST_STATUS = -1       /* there is no status: this process was started to ignore SIGCHLD */
};

struct ssh_host {
    pid_t pid; /* 0: it does not run */
    struct ssh_output says;
    size_t extra;              /* bytes beyond its share */
    uint64_t since_ns, due_ns; /* since it was started, or answered; when it is started again */
    uint64_t ahead_ns;         /* of our clock: its own, by the newest document that came at once */
    unsigned failures;
    bool waits; /* it has not answered yet */
    bool good;  /* a document of this process could be read */
    bool done;  /* asked once, and it has answered or failed */
    bool ended; /* by us: why was told, and it is only to be reaped, if it ever ends */
};

struct over_ssh {
    struct ssh_host *hosts;
    size_t count, waiting, next; /* next: where the search for what is due goes on */
    size_t extra;                /* of all machines */
    int events, timer;
    uint64_t interval_ns, timeout_ns;
    uint64_t read_ns;               /* when what had come was read */
    uint64_t paused_ns, resumed_ns; /* the newest pause of this process; 0: none */
};

/* ---- what it writes ---- */

int ssh_output_open(struct ssh_output *own, int output, int errors)
{
    *own = (struct ssh_output){
        .output = output, .errors = errors, .lines = wire_new(output, SSH_OUTPUT_LINE_MOST)};
    if (own->lines != NULL)
        return 0;
    ssh_output_close(own);
    return VITALS_EMEMORY;
}

void ssh_output_close(struct ssh_output *own)
{
    int *const EACH[] = {&own->output, &own->errors};
    for (int i = 0; i < 2; i++) {
        if (*EACH[i] >= 0)
            (void)close(*EACH[i]);
        *EACH[i] = -1;
    }
    wire_free(own->lines);
    own->lines = NULL;
}

int ssh_output_next(struct ssh_output *own, vitals_text *document)
{
    char *line;
    size_t size;
    int got = own->lines != NULL ? wire_next(own->lines, &line, &size) : -1;
    if (got <= 0)
        return got;
    if (line[0] == '{') {
        *document = (vitals_text){line, size};
        return 1;
    }
    if (line[strspn(line, " \t\r")] != '\0')
        (void)snprintf(own->odd, sizeof own->odd, "no JSON of vitals: %s", line);
    return 0;
}

void ssh_output_read_errors(struct ssh_output *own)
{
    char bytes[4096];
    for (int i = 0; own->errors >= 0 && i < SSH_OUTPUT_READS; i++) {
        ssize_t got = read(own->errors, bytes, sizeof bytes);
        if (got <= 0)
            return;
        const char *end = bytes + got;
        while (end > bytes && (unsigned char)end[-1] <= ' ')
            end--;
        const char *from = end;
        while (from > bytes && from[-1] != '\n')
            from--;
        if (end > from)
            (void)snprintf(own->said, sizeof own->said, "%.*s", (int)(end - from), from);
    }
}

size_t ssh_output_held(const struct ssh_output *own)
{
    return own->lines != NULL ? wire_held(own->lines) : 0;
}

/* ---- one process ---- */

/* In the child. The shell on the other side reads the words: there are none of ours but a number.
 */
static void run_ssh(const struct over_ssh *own, const char *name, const int ends[2][2])
{
    char host[HOST_NAME], port[HOST_PORT], command[64] = "vitals --json", limit[64];
    /* No window asks for a password either. */
    const char *words[20] = {"env", "-u", "DISPLAY", "SSH_ASKPASS_REQUIRE=never",
                             "ssh", "-T", "-o",      "BatchMode=yes",
                             "-o",  limit};
    size_t count = 10;
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    host_list_split_name(name, host, port);
    (void)snprintf(limit, sizeof limit, "ConnectTimeout=%.0f", ceil((double)own->timeout_ns / 1e9));
    if (own->interval_ns > 0)
        (void)snprintf(command, sizeof command, "vitals --json --interval %.3f",
                       (double)own->interval_ns / 1e9);
    if (port[0] != '\0') {
        words[count++] = "-p";
        words[count++] = port;
    }
    words[count++] = "--";
    words[count++] = host;
    words[count++] = command;
    (void)setsid();
    if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(ends[0][1], STDOUT_FILENO) >= 0 &&
        dup2(ends[1][1], STDERR_FILENO) >= 0)
        (void)execvp("env", (char *const *)words);
    (void)!write(STDERR_FILENO, "ssh cannot be started\n", 22);
    _exit(127);
}

/* Ends ssh and what it has started, as a ProxyCommand: they are a session of their own. */
static void end_ssh(pid_t pid)
{
    if (kill(-pid, SIGKILL) < 0) /* it has not come to setsid yet */
        (void)kill(pid, SIGKILL);
}

static void watch(const struct over_ssh *own, int descriptor, size_t place, bool errors)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = place * 2 + errors};
    (void)epoll_ctl(own->events, EPOLL_CTL_ADD, descriptor, &event);
}

static void start(struct over_ssh *own, struct fleet *fleet, size_t place, uint64_t now_ns)
{
    struct ssh_host *host = &own->hosts[place];
    int ends[2][2] = {{-1, -1}, {-1, -1}};
    bool good = pipe2(ends[0], O_CLOEXEC) == 0 && pipe2(ends[1], O_CLOEXEC) == 0 &&
                fcntl(ends[0][0], F_SETFL, O_NONBLOCK) == 0 &&
                fcntl(ends[1][0], F_SETFL, O_NONBLOCK) == 0;
    good = ssh_output_open(&host->says, ends[0][0], ends[1][0]) == 0 && good;
    pid_t pid = good ? fork() : -1;
    if (pid == 0)
        run_ssh(own, fleet->hosts[place].place.name, (const int(*)[2])ends);
    for (int i = 0; i < 2; i++) {
        if (ends[i][1] >= 0)
            close(ends[i][1]);
    }
    host->due_ns = now_ns + 1000000000;
    if (pid < 0) {
        fleet_fail(fleet, place, FLEET_OTHER, now_ns, "no process or descriptor is left for ssh");
        ssh_output_close(&host->says);
        return;
    }
    host->pid = pid;
    host->since_ns = now_ns;
    host->waits = true;
    host->good = host->ended = false;
    own->waiting++;
    watch(own, host->says.output, place, false);
    watch(own, host->says.errors, place, true);
}

/* Closes what it says: nothing of it is held any more. */
static void close_ends(struct over_ssh *own, struct ssh_host *host)
{
    ssh_output_close(&host->says);
    own->extra -= host->extra;
    host->extra = 0;
    own->waiting -= host->waits;
    host->waits = false;
}

/* Ends the process, and says why. It may not end yet, as one that waits for a file of a server that
 * hangs. */
static void give_up(struct over_ssh *own, struct fleet *fleet, size_t place, enum fleet_state state,
                    const char *why)
{
    struct ssh_host *host = &own->hosts[place];
    if (host->pid > 0)
        end_ssh(host->pid);
    close_ends(own, host);
    if (!host->done)
        fleet_fail(fleet, place, state, clock_now_ns(), why);
    host->ended = true;
}

/* Counts what the machine holds; gives up the one that holds the most while all hold too much. */
static void count_held(struct over_ssh *own, struct fleet *fleet, struct ssh_host *host)
{
    size_t held = ssh_output_held(&host->says), most = 0;
    own->extra -= host->extra;
    host->extra = held > SHARE_BYTES ? held - SHARE_BYTES : 0;
    own->extra += host->extra;
    if (own->extra <= (size_t)ALL_MIB << 20)
        return;
    for (size_t i = 1; i < own->count; i++)
        most = own->hosts[i].extra > own->hosts[most].extra ? i : most;
    char why[FLEET_WHY];
    (void)snprintf(why, sizeof why,
                   "its answer is the largest of all that is on its way, above %d MiB", ALL_MIB);
    give_up(own, fleet, most, FLEET_OVERSIZED, why);
}

/* When a document that comes now was made. What waited while this process paused, in a pipe and in
 * ssh, comes at once when it goes on: its age is told by the clock of its machine. */
static uint64_t made_ns(const struct over_ssh *own, struct ssh_host *host,
                        const vitals_snapshot *document, uint64_t now_ns)
{
    bool late = own->resumed_ns > 0 && now_ns - own->resumed_ns < PAUSE_NS + own->interval_ns / 2;
    uint64_t theirs_ns = vitals_snapshot_boottime_ns(document);
    if (!late || host->ahead_ns == 0)
        host->ahead_ns = theirs_ns - (late ? own->paused_ns : now_ns); /* modulo 2^64, as below */
    uint64_t made = theirs_ns - host->ahead_ns;
    return made > now_ns ? now_ns : made < own->paused_ns ? own->paused_ns : made;
}

/* Takes documents, reading at most so often. Returns how many that were. */
static int take_output(struct over_ssh *own, struct fleet *fleet, size_t place, int reads)
{
    struct ssh_host *host = &own->hosts[place];
    vitals_text document;
    int taken = 0, got = 0;
    while (reads-- > 0) {
        got = ssh_output_next(&host->says, &document);
        if (got < 0 && host->says.output >= 0) /* the process ends; its errors may still come */
            (void)epoll_ctl(own->events, EPOLL_CTL_DEL, host->says.output, NULL);
        if (got < 0)
            break;
        if (got == 0)
            continue;
        own->waiting -= host->waits;
        host->waits = false;
        host->since_ns = clock_now_ns();
        host->done = own->interval_ns == 0;
        if (fleet_take_document(fleet, place, document, host->since_ns)) {
            host->good = true;
            fleet_answered(fleet, place, NULL,
                           made_ns(own, host, fleet_newest(fleet, place), host->since_ns));
        }
        taken++;
    }
    if (got >= 0 && wire_passed_over(host->says.lines) > 0)
        give_up(own, fleet, place, FLEET_OVERSIZED,
                "its answer is above 4 MiB: run vitals there, or press Enter");
    count_held(own, fleet, host);
    return taken;
}

/* Says why a process has ended that was not ended by us. */
static void tell_end(struct over_ssh *own, struct fleet *fleet, size_t place, int status)
{
    struct ssh_host *host = &own->hosts[place];
    struct ssh_output *says = &host->says;
    bool lost = status == LOST_STATUS;
    int code = lost || WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    bool silent = lost || code == FAILED_CODE || WIFSIGNALED(status);
    char why[2 * FLEET_WHY];
    if (says->said[0] != '\0' || says->odd[0] != '\0')
        (void)snprintf(why, sizeof why, "%s", says->said[0] != '\0' ? says->said : says->odd);
    else if (lost)
        (void)snprintf(why, sizeof why, "ssh ended, it is not known why");
    else
        (void)snprintf(why, sizeof why, "vitals over ssh ended with %d", code);
    fleet_fail(fleet, place, silent ? FLEET_SILENT : FLEET_OTHER, clock_now_ns(), why);
}

/* Notes that a process has ended: why, and when it is started again. */
static void ended(struct over_ssh *own, struct fleet *fleet, size_t place, int status)
{
    struct ssh_host *host = &own->hosts[place];
    bool once = own->interval_ns == 0;
    host->pid = 0;
    (void)take_output(own, fleet, place, LEFT_READS);
    ssh_output_read_errors(&host->says);
    if (!host->done && !host->ended)
        tell_end(own, fleet, place, status);
    close_ends(own, host);
    host->failures = host->good ? 0 : host->failures + (host->failures < BACK_OFF_MOST);
    host->done = once;
    host->due_ns = clock_now_ns() + (own->interval_ns << host->failures);
}

/* ---- all of them ---- */

/* Starts what is due, in turns, ends what is overdue, and notes what has ended. */
static void turn(struct over_ssh *own, struct fleet *fleet)
{
    uint64_t now_ns = clock_now_ns();
    size_t first = own->next;
    for (size_t i = 0; i < own->count; i++) {
        size_t place = (first + i) % own->count;
        struct ssh_host *host = &own->hosts[place];
        int status = 0;
        if (host->pid == 0) {
            if (!host->done && own->waiting < LOGINS_AT_ONCE && now_ns >= host->due_ns) {
                start(own, fleet, place, now_ns);
                own->next = (place + 1) % own->count;
            }
            continue;
        }
        pid_t got = waitpid(host->pid, &status, WNOHANG);
        if (got != 0) {
            ended(own, fleet, place, got > 0 ? status : LOST_STATUS);
        } else if (!host->ended && now_ns - host->since_ns > own->timeout_ns + own->interval_ns)
            give_up(own, fleet, place, FLEET_SILENT, "no answer in time");
    }
}

/* After a pause of this process, as by ^Z: first takes what has come meanwhile. That is no reason
 * to end an ssh, nor is the pause. */
static int go_on(struct over_ssh *own, struct fleet *fleet, uint64_t now_ns)
{
    int taken = 0;
    own->paused_ns = own->read_ns;
    own->resumed_ns = now_ns;
    for (size_t i = 0; i < own->count; i++) {
        struct ssh_host *host = &own->hosts[i];
        if (host->pid == 0)
            continue;
        taken += take_output(own, fleet, i, LEFT_READS);
        host->since_ns = now_ns;
    }
    return taken;
}

int over_ssh_read(struct over_ssh *own, struct fleet *fleet)
{
    enum { AT_ONCE = 64 };
    struct epoll_event events[AT_ONCE];
    int taken = 0, count = epoll_wait(own->events, events, AT_ONCE, 0);
    for (int i = 0; i < count; i++) {
        uint64_t now_ns = clock_now_ns();
        if (now_ns - own->read_ns > PAUSE_NS)
            taken += go_on(own, fleet, now_ns);
        own->read_ns = now_ns;
        size_t place = (size_t)(events[i].data.u64 / 2);
        struct ssh_host *host = &own->hosts[place];
        uint64_t ticks;
        if (place >= own->count) {
            (void)!read(own->timer, &ticks, sizeof ticks);
            turn(own, fleet);
            continue;
        }
        if (events[i].data.u64 % 2 != 0) {
            ssh_output_read_errors(&host->says);
            if (host->says.errors >= 0 && (events[i].events & EPOLLHUP))
                (void)epoll_ctl(own->events, EPOLL_CTL_DEL, host->says.errors, NULL);
            continue;
        }
        taken += take_output(own, fleet, place, SSH_OUTPUT_READS);
    }
    return taken;
}

int over_ssh_descriptor(const struct over_ssh *own)
{
    return own->events;
}

int over_ssh_open(const struct fleet *fleet, uint64_t interval_ns, uint64_t timeout_ns,
                  struct over_ssh **out, vitals_error *error)
{
    const struct itimerspec ticks = {{0, TURN_NS}, {0, 1}};
    struct over_ssh *own = memory_alloc(sizeof *own);
    int code = 0;
    if (own == NULL)
        return record_no_memory("--ssh", error);
    *own = (struct over_ssh){.hosts = memory_array(fleet->count + 1, sizeof *own->hosts),
                             .count = fleet->count,
                             .interval_ns = interval_ns,
                             .timeout_ns = timeout_ns,
                             .events = epoll_create1(EPOLL_CLOEXEC),
                             .timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)};
    for (size_t i = 0; own->hosts != NULL && i < own->count; i++)
        own->hosts[i].says.output = own->hosts[i].says.errors = -1;
    if (own->hosts == NULL)
        code = record_no_memory("--ssh", error);
    else if (own->events < 0 || own->timer < 0 || timerfd_settime(own->timer, 0, &ticks, NULL) != 0)
        code = record_fail_errno(errno, "--ssh", error);
    own->read_ns = clock_now_ns();
    if (code < 0) {
        over_ssh_close(own);
        return code;
    }
    watch(own, own->timer, own->count, false);
    *out = own;
    return 0;
}

void over_ssh_close(struct over_ssh *own)
{
    if (own == NULL)
        return;
    const vitals_clock *clock = vitals_clock_system();
    uint64_t until_ns = clock_now_ns() + LEAVE_NS;
    for (size_t i = 0; own->hosts != NULL && i < own->count; i++) {
        if (own->hosts[i].pid > 0)
            end_ssh(own->hosts[i].pid);
        close_ends(own, &own->hosts[i]);
    }
    for (size_t i = 0; own->hosts != NULL && i < own->count; i++) {
        while (own->hosts[i].pid > 0 && waitpid(own->hosts[i].pid, NULL, WNOHANG) == 0 &&
               clock_now_ns() < until_ns)
            (void)clock->wait_until(clock->data, -1, clock_now_ns() + 1000000);
    }
    if (own->events >= 0)
        (void)close(own->events);
    if (own->timer >= 0)
        (void)close(own->timer);
    memory_free(own->hosts);
    memory_free(own);
}
