/* signals.c: see command.h. */
#include "command/command.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "command/options/option.h"

enum { NAME_SIZE = 16 };

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

/* Digits, at most three. -1: it is none. */
static int number_of(const char *digits)
{
    size_t size = strlen(digits);
    int number = 0;
    if (size == 0 || size > 3 || strspn(digits, "0123456789") != size)
        return -1;
    for (size_t i = 0; i < size; i++)
        number = number * 10 + (digits[i] - '0');
    return number;
}

int signal_number(const char *word)
{
    char name[NAME_SIZE];
    struct nearest nearest;
    int number = number_of(word);
    if (number >= 1 && number <= SIGRTMAX)
        return number;
    if (number >= 0)
        return command_fail(-1, "there is no signal %d; they are 1 to %d", number, SIGRTMAX);

    /* In capitals, without SIG before it. */
    size_t used = 0;
    for (; word[used] != '\0' && used + 1 < NAME_SIZE; used++)
        name[used] = word[used] >= 'a' && word[used] <= 'z' ? (char)(word[used] - 'a' + 'A')
                                                            : word[used];
    name[used] = '\0';
    if (strncmp(name, "SIG", 3) == 0 && name[3] != '\0')
        memmove(name, name + 3, used - 2);

    nearest_begin(&nearest, name);
    for (size_t i = 0; i < SIGNAL_COUNT; i++) {
        if (strcmp(SIGNALS[i].name, name) == 0)
            return SIGNALS[i].number;
        nearest_offer(&nearest, SIGNALS[i].name);
    }

    /* RTMIN, RTMIN+3, RTMAX-2. */
    bool from_top = strncmp(name, "RTMAX", 5) == 0;
    if (from_top || strncmp(name, "RTMIN", 5) == 0) {
        int base = from_top ? SIGRTMAX : SIGRTMIN, step = 0;
        if (name[5] != '\0')
            step = name[5] == (from_top ? '-' : '+') ? number_of(name + 6) : -1;
        number = from_top ? base - step : base + step;
        if (step >= 0 && number >= SIGRTMIN && number <= SIGRTMAX)
            return number;
    }

    if (nearest.word != NULL)
        return command_fail(-1, "there is no signal \"%s\"; did you mean %s?", command_safe(word),
                            nearest.word);
    return command_fail(-1, "there is no signal \"%s\"; give a name as TERM, or a number",
                        command_safe(word));
}

const char *signal_word(size_t index)
{
    return index < SIGNAL_COUNT ? SIGNALS[index].name : NULL;
}

const char *signal_name(int number, char *out)
{
    for (size_t i = 0; i < SIGNAL_COUNT; i++) {
        if (SIGNALS[i].number == number)
            return SIGNALS[i].name;
    }
    snprintf(out, NAME_SIZE, "signal %d", number);
    return out;
}
