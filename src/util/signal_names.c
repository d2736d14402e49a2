/* signal_names.c: see signal_names.h. */
#include "util/signal_names.h"

#include <signal.h>
#include <stdio.h>

static const struct {
    const char *name;
    int number;
} SIGNALS[] = {
    {"HUP", SIGHUP},       {"INT", SIGINT},   {"QUIT", SIGQUIT},   {"ILL", SIGILL},
    {"TRAP", SIGTRAP},     {"ABRT", SIGABRT}, {"BUS", SIGBUS},     {"FPE", SIGFPE},
    {"KILL", SIGKILL},     {"USR1", SIGUSR1}, {"SEGV", SIGSEGV},   {"USR2", SIGUSR2},
    {"PIPE", SIGPIPE},     {"ALRM", SIGALRM}, {"TERM", SIGTERM},   {"CHLD", SIGCHLD},
    {"CONT", SIGCONT},     {"STOP", SIGSTOP}, {"TSTP", SIGTSTP},   {"TTIN", SIGTTIN},
    {"TTOU", SIGTTOU},     {"URG", SIGURG},   {"XCPU", SIGXCPU},   {"XFSZ", SIGXFSZ},
    {"VTALRM", SIGVTALRM}, {"PROF", SIGPROF}, {"WINCH", SIGWINCH},
#ifdef SIGSTKFLT
    {"STKFLT", SIGSTKFLT},
#endif
#ifdef SIGPOLL
    {"POLL", SIGPOLL},     {"IO", SIGPOLL},
#endif
#ifdef SIGPWR
    {"PWR", SIGPWR},
#endif
    {"SYS", SIGSYS},
};
enum { SIGNAL_COUNT = sizeof SIGNALS / sizeof SIGNALS[0] };

const char *signal_names_at(size_t index, int *number)
{
    if (index >= SIGNAL_COUNT)
        return NULL;
    *number = SIGNALS[index].number;
    return SIGNALS[index].name;
}

const char *signal_names_find(int number)
{
    for (size_t i = 0; i < SIGNAL_COUNT; i++) {
        if (SIGNALS[i].number == number)
            return SIGNALS[i].name;
    }
    return NULL;
}

const char *signal_names_format(int number, char *out)
{
    const char *name = signal_names_find(number);
    if (name != NULL)
        return name;
    if (number == SIGRTMIN || number == SIGRTMAX)
        return number == SIGRTMIN ? "RTMIN" : "RTMAX";
    bool realtime = number > SIGRTMIN && number < SIGRTMAX;
    snprintf(out, SIGNAL_NAME_SIZE, realtime ? "RTMIN+%d" : "%d",
             realtime ? number - SIGRTMIN : number);
    return out;
}

void signal_names_of_mask(uint64_t mask, struct buffer *out)
{
    if (mask == UINT64_MAX) {
        buffer_string(out, "all");
        return;
    }
    bool any = false;
    for (int number = 1; number <= 64; number++) {
        char text[SIGNAL_NAME_SIZE];
        if ((mask >> (number - 1) & 1) == 0)
            continue;
        if (any)
            buffer_string(out, ",");
        any = true;
        buffer_string(out, signal_names_format(number, text));
    }
}
