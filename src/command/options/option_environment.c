/* option_environment.c: reads environment variables into settings.
 *
 * VITALS_<NAME> is meant for vitals: a bad value is a usage error. A variable of another program
 * (COLUMNS, NVITOP_…) is honored if ours is not set, and ignored if it is bad, as its owner
 * does. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "command/options/option.h"

void option_variable(const struct option *option, char *out, size_t capacity)
{
    static const char PREFIX[] = "VITALS_";
    size_t used = sizeof PREFIX - 1;
    memcpy(out, PREFIX, used);
    for (const char *letter = option->name; *letter != '\0' && used + 1 < capacity; letter++)
        out[used++] = *letter == '-' ? '_' : (char)toupper((unsigned char)*letter);
    out[used] = '\0';
}

static void assign_word(struct settings *settings, const char *name, const char *word)
{
    const struct option *option = option_find(COMMAND_VIEW, name, strlen(name));
    struct option_error ignored;
    if (option != NULL && settings->origins[option - option_table] == ORIGIN_DEFAULT)
        (void)option_assign(settings, option, name, &word, 1, ORIGIN_ENVIRONMENT, &ignored);
}

/* NVITOP_MONITOR_MODE: a comma list of words, case-insensitive. A mode counts only if exactly one
 * is named; of two contradicting words the plainer one wins; other words are ignored. */
static void monitor_mode(struct settings *settings, const char *value)
{
    enum { AUTO, FULL, COMPACT, MODES, PLAIN = MODES, COLORFUL, DARK, LIGHT, READONLY, WORDS };
    static const char *const names[WORDS] = {"auto",     "full", "compact", "plain",
                                             "colorful", "dark", "light",   "readonly"};
    unsigned count[WORDS] = {0};
    for (const char *at = value; at != NULL; at = strchr(at, ',')) {
        at += strspn(at, ", \t");
        size_t size = strcspn(at, ", \t");
        for (size_t word = 0; word < WORDS; word++)
            count[word] += strlen(names[word]) == size && strncasecmp(at, names[word], size) == 0;
    }
    for (size_t mode = 0; mode < MODES; mode++) {
        if (count[mode] > 0 && !!count[AUTO] + !!count[FULL] + !!count[COMPACT] == 1)
            assign_word(settings, "monitor", names[mode]);
    }
    if (count[COLORFUL] > 0 || count[PLAIN] > 0)
        assign_word(settings, "colorful", count[PLAIN] > 0 ? "no" : "yes");
    if (count[LIGHT] > 0 || count[DARK] > 0)
        assign_word(settings, "light", count[DARK] > 0 ? "no" : "yes");
    if (count[READONLY] > 0)
        assign_word(settings, "readonly", "yes");
}

/* Treats an empty variable as not set. */
static const char *look(option_lookup *lookup, void *data, const char *name)
{
    const char *value = name != NULL ? lookup(data, name) : NULL;
    return value != NULL && value[0] != '\0' ? value : NULL;
}

int options_from_environment(struct settings *settings, option_lookup *lookup, void *data,
                             struct option_error *error)
{
    struct option_error ignored;
    for (const struct option *option = option_table; option->name != NULL; option++) {
        if (!option->everywhere)
            continue;
        char name[64];
        option_variable(option, name, sizeof name);
        const char *ours = look(lookup, data, name);
        const char *theirs = look(lookup, data, option->foreign);
        if (ours != NULL &&
            option_assign(settings, option, name, &ours, 1, ORIGIN_ENVIRONMENT, error) < 0)
            return -1;
        if (ours == NULL && theirs != NULL)
            (void)option_assign(settings, option, option->foreign, &theirs, 1, ORIGIN_ENVIRONMENT,
                                &ignored);
    }
    const char *mode = look(lookup, data, "NVITOP_MONITOR_MODE");
    if (mode != NULL)
        monitor_mode(settings, mode);

    /* Older versions of nvitop had a variable for the theme, over which MODE has priority, and one
     * that makes a terminal get the monitor without being asked. The monitor is the default here,
     * unless that variable is false. */
    const char *theme = look(lookup, data, "NVITOP_MONITOR_THEME");
    const char *always = look(lookup, data, "NVITOP_MONITOR_ALWAYS");
    static const char *const NO[] = {"false", "no", "0"};
    if (theme != NULL && (strcasecmp(theme, "light") == 0 || strcasecmp(theme, "dark") == 0))
        assign_word(settings, "light", strcasecmp(theme, "light") == 0 ? "yes" : "no");
    for (size_t i = 0; always != NULL && i < ARRAY_COUNT(NO); i++)
        settings->view.report_unasked |= strcasecmp(always, NO[i]) == 0;

    return 0;
}
