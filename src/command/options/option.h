/* option.h: the option table, and how flags, environment and configuration fill the settings.
 *
 * An option stands once, in option_table.c. Its environment variable is VITALS_<NAME> and its key
 * in the configuration file is its name, by rule. A flag wins over the environment, which wins over
 * the configuration. Nothing here prints or exits: mistakes come back as one safe line of text. */
#pragma once

#include "command/command.h"
#include "command/output.h"

enum option_kind {
    OPTION_FLAG = 1, /* bool: --light, --light=no */
    OPTION_CHOICE,   /* const char *: one of a few words, which may be left out */
    OPTION_TEXT,     /* const char *: any text, or one of the words of `argument` (see below) */
    OPTION_MAYBE,    /* const char *: --demo, --demo=SCENARIO; without a value it is `implied` */
    OPTION_NUMBER,   /* uint64_t */
    OPTION_DURATION, /* uint64_t, nanoseconds; the range is in seconds. With `implied` the value is
                      * optional, and must be attached with "=" */
    OPTION_PAIR,     /* uint64_t[2], sorted */
    OPTION_NUMBERS,  /* struct settings_numbers: several words or a comma list */
    OPTION_WORDS,    /* struct settings_words: likewise */
};

/* Headings of the help, in order. */
enum option_group {
    GROUP_VIEW = 1,
    GROUP_FORM,
    GROUP_CHOICE,
    GROUP_SHOW,
    GROUP_JOB,
    GROUP_SIGNAL,
    GROUP_RUN,
    GROUP_MEASURE,
    GROUP_LIMIT,
    GROUP_SERVE,
    GROUP_TELL,
    GROUP_LOOK,
    GROUP_FILTER,
    GROUP_SELECT,
    GROUP_GLOBAL,
    GROUP_WORLD,
    GROUP_END
};

struct option {
    const char *name;  /* long, without its dashes */
    const char *alias; /* another long name, or NULL */
    const char *brief; /* "o" for -o; two letters such as "ov" are one option; or NULL */
    enum option_kind kind;
    enum option_group group;
    unsigned commands;    /* COMMAND_… bits */
    unsigned common;      /* COMMAND_… bits: their short help has it, up to the ";" of its text */
    size_t offset;        /* of the destination in struct settings */
    size_t also;          /* CHOICE, DURATION with `implied`: offset of a bool that is true if the
                           * option was given */
    const char *argument; /* for people: "TIME"; without capitals the only words that TEXT takes:
                           * "off|argv0" */
    const char *preset;   /* the default, parsed like any other value; NULL: zero */
    const char *implied;  /* CHOICE, MAYBE, DURATION: the value if none is given */
    const char *const *choices; /* CHOICE: all valid values; others: known values, for completion;
                                 * ends with NULL */
    const char *(*value)(size_t index); /* likewise, from a table by index; NULL after the last */
    double minimum, maximum;            /* NUMBER, DURATION, PAIR, NUMBERS: of each value */
    size_t least, most;                 /* NUMBERS, WORDS: number of words; most 0: any number */
    bool dashed;                        /* its value may begin with one dash */
    bool literal;                       /* MAYBE: yes, no, 0 and 1 are values like any other */
    bool (*takes)(const char *word);    /* MAYBE: true if the next word belongs to its value; NULL:
                                         * its value must be attached with "=" */
    bool everywhere;                    /* the environment and the configuration accept it too */
    const char *foreign;   /* a variable of another program; invalid values are ignored */
    const char *excludes;  /* the long name of an option that it excludes */
    const char *needs;     /* the long name of an option that it needs */
    const char *no_stream; /* why its file cannot be "-"; NULL: it is a stream, or no file */
    const char *help;      /* NULL: not shown in help or documents */
};

/* Ends with a row without a name. */
extern const struct option option_table[];

/* Returns the heading of a group. */
const char *option_group_name(enum option_group group);

/* An error as one line for a person, without the prefix "vitals: ". */
struct option_error {
    char message[640];
};

/* Fills in the error; what does not fit is cut. Returns -1. */
int option_fail(struct option_error *error, const char *format, ...) VITALS_FORMAT(2, 3);

/* An environment as a function. It returns NULL for a variable that is not set. */
typedef const char *option_lookup(void *data, const char *name);

/* Each returns 0, or -1 with the error filled in. `argv[0]` is skipped. The subcommand is the first
 * word that belongs to no option; it is looked up in the table `commands`. Values from a weaker
 * origin are replaced. The configuration may be read after the environment: a stronger origin is
 * never overwritten. */
int options_from_arguments(struct settings *settings, const struct command *commands, int argc,
                           const char *const *argv, struct option_error *error);
int options_from_environment(struct settings *settings, option_lookup *lookup, void *data,
                             struct option_error *error);

/* Assigns a value from another source than the arguments to one option; messages call it `name`
 * ("VITALS_INTERVAL"). */
int option_assign(struct settings *settings, const struct option *option, const char *name,
                  const char *const *words, size_t count, enum origin origin,
                  struct option_error *error);

/* Parses a number: digits only, in that range; no sign, no space, no other base. */
bool option_number(const char *word, double least, double most, uint64_t *out);

/* The range of pids: up to the kernel's PID_MAX_LIMIT. */
enum { OPTION_PID_LEAST = 1, OPTION_PID_MOST = 4194304 };

/* Returns the option of a command with that long name, or NULL. `everywhere`: only options of the
 * configuration. */
const struct option *option_find(unsigned commands, const char *name, size_t size);
const struct option *option_find_key(const char *key);

/* True if an argument is a list of the words that are accepted. */
bool option_is_word_list(const char *argument);

/* Returns the choice of that name, or NULL. */
const char *option_choice(const struct option *option, const char *name);

/* Returns its key in the configuration, or NULL. */
const char *option_key(const struct option *option);

/* Writes its variable, such as "VITALS_INTERVAL". */
void option_variable(const struct option *option, char *out, size_t capacity);

/* True if it belongs to a command: its own option, or one of all commands. */
bool option_belongs(const struct option *option, unsigned commands);

/* True if the help and the documents of a command show it. */
bool option_listed(const struct option *option, const struct command *command);

/* Returns the next listed option of a group; NULL starts and ends the iteration. */
const struct option *option_next(const struct command *command, enum option_group group,
                                 const struct option *option);

/* Writes its help, with the known values of one whose value may be left out. */
void option_describe(const struct option *option, char *out, size_t capacity);

/* Writes the accepted values in words: "10ms to 86400s"; empty if any value is accepted. */
void option_accepts(const struct option *option, char *out, size_t capacity);

/* Writes the form of its value: " TIME", "[=SCENARIO]", " [auto|full|compact]", "". */
void option_argument(const struct option *option, char *out, size_t capacity);

/* Lines. */
const char *command_exits(const struct command *command);

/* Prints the help of a command: its common options if it has such, or all. */
void option_print_help(const struct command *command, bool all, struct output *output);

/* Finds the nearest of several words:
 * nearest_begin, nearest_offer for each, nearest_word (NULL: none is near enough). */
struct nearest {
    const char *wanted;
    const char *word;
    size_t distance;
};

void nearest_begin(struct nearest *nearest, const char *wanted);
void nearest_offer(struct nearest *nearest, const char *word);

/* The configuration file: one JSON object, whose keys are names of options.
 *
 *     {"interval": 1, "ascii": true, "gpu-util-thresh": [20, 80], "backends": "nvidia"} */

/* Reads the file into the settings, with less priority than flags and environment. A missing file
 * is an error only if it was named. Returns 0, or -1 and the error names the file, the line and the
 * column; then no value of the file is used. main() calls it once, before there are threads. */
int config_read(struct settings *settings, const char *path, bool named,
                struct option_error *error);

/* The same for bytes in memory; `path` is for messages. */
int config_parse(struct settings *settings, const char *path, const char *bytes, size_t size,
                 struct option_error *error);
