/* signals.c: see command.h. */
#include "command/command.h"

#include <signal.h>
#include <string.h>

#include "command/options/option.h"
#include "util/number.h"
#include "util/signal_names.h"

/* Parses at most three digits. Returns -1 if the word is not such a number. */
static int number_of(const char *digits)
{
    uint64_t number;
    return strlen(digits) <= 3 && number_is_u64(digits, &number) ? (int)number : -1;
}

int signal_number(const char *word)
{
    char name[SIGNAL_NAME_SIZE];
    struct nearest nearest;
    int number = number_of(word);
    if (number >= 1 && number <= SIGRTMAX)
        return number;
    if (number >= 0)
        return command_fail(-1, "there is no signal %d; give 1 to %d", number, SIGRTMAX);

    /* Convert to capitals, without SIG at the beginning. */
    size_t used = 0;
    for (; word[used] != '\0' && used + 1 < SIGNAL_NAME_SIZE; used++)
        name[used] = word[used] >= 'a' && word[used] <= 'z' ? (char)(word[used] - 'a' + 'A')
                                                            : word[used];
    name[used] = '\0';
    if (strncmp(name, "SIG", 3) == 0 && name[3] != '\0')
        memmove(name, name + 3, used - 2);

    nearest_begin(&nearest, name);
    const char *known;
    for (size_t i = 0; (known = signal_names_at(i, &number)) != NULL; i++) {
        if (strcmp(known, name) == 0)
            return number;
        nearest_offer(&nearest, known);
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
    int number;
    return signal_names_at(index, &number);
}
