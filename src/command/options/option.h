/* option.h: the option table, and how flags, environment and configuration fill the settings.
 *
 * An option stands once, in option_table.c. Its environment variable is VITALS_<NAME> and its key
 * in the configuration file is its name, by rule. A flag wins over the environment, which wins over
 * the configuration. Nothing here prints or exits: mistakes come back as one safe line of text. */
#ifndef VITALS_COMMAND_OPTIONS_OPTION_H
#define VITALS_COMMAND_OPTIONS_OPTION_H

#include "command/command.h"
#include "command/output.h"

enum option_kind {
    OPTION_FLAG = 1, /* bool: --light, --light=no */
    OPTION_CHOICE,   /* const char *: one of a few words, which may be left out */
    OPTION_TEXT,     /* const char * */
    OPTION_MAYBE,    /* const char *: --demo, --demo=SCENARIO; without a value it is `implied` */
    OPTION_NUMBER,   /* uint64_t */
    OPTION_DURATION, /* uint64_t, nanoseconds; the range is in seconds. With `implied` the value may
                      * be left out, and is given behind "=" only */
    OPTION_PAIR,     /* uint64_t[2], put in order */
    OPTION_NUMBERS,  /* struct settings_numbers: several words or a comma list */
    OPTION_WORDS,    /* struct settings_words: likewise */
};

/* Headings of the help, in its order. */
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
    const char *brief; /* "o" for -o; "ov" is one option too; or NULL */
    enum option_kind kind;
    enum option_group group;
    unsigned commands; /* COMMAND_… bits */
    size_t offset;     /* of the destination in struct settings */
    size_t also;       /* CHOICE, DURATION with `implied`: of a bool that says that it was given */
    const char *argument;
    const char *preset;         /* the default, parsed like everything else; NULL: zero */
    const char *implied;        /* CHOICE, MAYBE, DURATION: what no value means */
    const char *const *choices; /* CHOICE: all there are; others: known values, for completion of
                                 * the command line; ends with NULL */
    const char *(*value)(size_t index); /* the same of a table, by index; NULL after the last */
    double minimum, maximum;            /* NUMBER, DURATION, PAIR, NUMBERS: of each */
    size_t least, most;                 /* NUMBERS, WORDS: how many words; most 0: any number */
    bool dashed;                        /* its value may begin with one dash */
    bool literal;                       /* MAYBE: yes, no, 0 and 1 are values like any other */
    bool (*takes)(const char *word);    /* MAYBE: whether a word behind it belongs to its value;
                                         * NULL: its value is given behind "=" only */
    bool everywhere;                    /* environment and configuration know it too */
    const char *foreign;   /* a variable of others that is honoured; bad ones are passed over */
    const char *excludes;  /* the long name of an option that it does not go with */
    const char *needs;     /* and of one that it does not go without */
    const char *no_stream; /* why its file cannot be "-"; NULL: it is a stream, or no file */
    const char *help;      /* NULL: no help nor document shows it */
};

/* Ends with a row without a name. */
extern const struct option option_table[];

/* The heading of a group. */
const char *option_group_name(enum option_group group);

/* What is wrong, as one line for a person, without "vitals: " in front. */
struct option_error {
    char message[640];
};

/* An environment, as a function. NULL for a variable that is not set. */
typedef const char *option_lookup(void *data, const char *name);

/* Each gives 0, or -1 with the error filled in.
 *
 * `argv[0]` is passed over. The subcommand is the first word that belongs to no option; `commands`
 * is the table where it is looked up. What stood in the settings from a weaker origin is replaced.
 * The configuration may be told after the environment: a stronger origin is never overwritten. */
int options_from_arguments(struct settings *settings, const struct command *commands, int argc,
                           const char *const *argv, struct option_error *error);
int options_from_environment(struct settings *settings, option_lookup *lookup, void *data,
                             struct option_error *error);

/* Gives one option its value from another place than the arguments; `name` is how a message calls
 * it ("VITALS_INTERVAL"). */
int option_assign(struct settings *settings, const struct option *option, const char *name,
                  const char *const *words, size_t count, enum origin origin,
                  struct option_error *error);

/* Digits only, in that range: no sign, no space, no other base. */
bool option_number(const char *word, size_t size, double least, double most, uint64_t *out);

/* What a pid can be: the kernel's PID_MAX_LIMIT. */
enum { OPTION_PID_LEAST = 1, OPTION_PID_MOST = 4194304 };

/* The option of a command with that long name, or NULL. `everywhere`: of the configuration. */
const struct option *option_find(unsigned commands, const char *name, size_t size);
const struct option *option_find_key(const char *key);

/* The choice of that name, or NULL. */
const char *option_choice(const struct option *option, const char *name);

/* Its key in the configuration, or NULL. */
const char *option_key(const struct option *option);

/* "VITALS_INTERVAL". */
void option_variable(const struct option *option, char *out, size_t capacity);

/* Whether it belongs to a command (its own, or one of all commands). */
bool option_belongs(const struct option *option, unsigned commands);

/* Whether the help and the documents of a command show it. */
bool option_listed(const struct option *option, const struct command *command);

/* The next option of a group that they show; from NULL to NULL. */
const struct option *option_next(const struct command *command, enum option_group group,
                                 const struct option *option);

/* What values are accepted, in words: "10ms to 86400s". Empty for those that take anything. */
void option_accepts(const struct option *option, char *out, size_t capacity);

/* How its value is written: " TIME", "[=SCENARIO]", " [auto|full|compact]", "". */
void option_argument(const struct option *option, char *out, size_t capacity);

/* Lines. */
const char *command_exits(const struct command *command);

/* The help of a command. */
void option_print_help(const struct command *commands, const struct command *command,
                       struct output *output);

/* How far two words are from each other, and the nearest of several that is near enough to be
 * meant: nearest_begin, nearest_offer of each, nearest_word (NULL: none is near). */
struct nearest {
    const char *wanted;
    const char *word;
    size_t distance;
};

size_t word_distance(const char *a, const char *b);
void nearest_begin(struct nearest *nearest, const char *wanted);
void nearest_offer(struct nearest *nearest, const char *word);

/* The configuration file: one JSON object, whose keys are names of options.
 *
 *     {"interval": 1, "ascii": true, "gpu-util-thresh": [20, 80], "backends": "nvidia"} */

/* Reads the file into the settings, below flags and environment. A file that is not there is no
 * mistake unless it was named. 0, or -1 and the error names the file, the line and the column; then
 * nothing of the file holds. Read once by main(), before there are threads. */
int config_read(struct settings *settings, const char *path, bool named,
                struct option_error *error);

/* The same of bytes that are read already; `path` is for messages. */
int config_parse(struct settings *settings, const char *path, const char *bytes, size_t size,
                 struct option_error *error);

#endif
