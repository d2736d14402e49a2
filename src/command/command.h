/* command.h: the description of a subcommand, and the functions that all subcommands share.
 *
 * A new subcommand is a file with its function, a line here, a row in command_table.c, and the rows
 * of its options in option_table.c. */
#pragma once

#include "command/output.h"
#include "command/settings.h"
#include "export/clock.h"
#include "feed/feed.h"
#include "report/account.h"
#include "view/draw.h"
#include "view/selection.h"
#include <vitals/vitals.h>

/* One bit for each command: an option names with a mask the commands to which it belongs. */
enum {
    COMMAND_VIEW = 1 << 0, /* no subcommand: the monitor, the report, JSON */
    COMMAND_RUN = 1 << 1,
    COMMAND_METRICS = 1 << 2,
    COMMAND_OPTIONS = 1 << 3,
    COMMAND_PS = 1 << 4,
    COMMAND_INFO = 1 << 5,
    COMMAND_KILL = 1 << 6,
    COMMAND_DEVICE = 1 << 7,
    COMMAND_TOPO = 1 << 8,
    COMMAND_SELECT = 1 << 9,
    COMMAND_DOCTOR = 1 << 10,
    COMMAND_REPORT = 1 << 11,
    COMMAND_COMPARE = 1 << 12,
    COMMAND_MARK = 1 << 13,
    COMMAND_TRACK = 1 << 14,
    COMMAND_RECORD = 1 << 15,
    COMMAND_REPLAY = 1 << 16,
    COMMAND_SERVE = 1 << 17,
    COMMAND_SEND = 1 << 18,
    COMMAND_TOP = 1 << 19
};
#define COMMAND_ANY (~0u)

/* Properties of a command. */
enum {
    COMMAND_HIDDEN = 1 << 0, /* not in the list that --help gives */
    COMMAND_RUNS = 1 << 1, /* takes a command line, and writes on stderr; SIGPIPE stays as it was */
    COMMAND_PLAIN = 1 << 2,   /* reads no machine: its help omits common options */
    COMMAND_WORDS = 1 << 3,   /* accepts words that belong to no option; -5 is such a word */
    COMMAND_SIGNALS = 1 << 4, /* -TERM is such a word too */
    COMMAND_MAY_RUN = 1 << 5, /* takes a command line, or none; SIGPIPE stays as it was */
    COMMAND_WHOLE = 1 << 6    /* reads or writes recordings: see whole.c */
};

struct command {
    const char *name; /* NULL in the first row, the view, and in a last row that ends the table */
    int (*run)(const struct settings *settings); /* returns the exit code */
    unsigned bit;
    unsigned flags;
    const char *usage;    /* text after "usage: vitals " */
    const char *summary;  /* one line for the list of commands */
    const char *purpose;  /* one or two sentences before its own help */
    const char *examples; /* lines */
    const char *exits;    /* lines; NULL: the exit codes that all commands share */
};

/* Every command; the view is the first. command_table.c */
extern const struct command command_table[];

/* The commands, each in a file of its name, and the modes of the view. Each returns the exit
 * code. */
typedef int command_function(const struct settings *settings);
command_function command_view, command_one_shot, command_json, command_monitor, command_screen;
command_function command_replay, command_run, command_metrics, command_options, command_ps;
command_function command_info, command_kill, command_device, command_topo, command_select;
command_function command_doctor, command_report, command_compare, command_record, command_track;
command_function command_mark, command_serve, command_send, command_top, command_version;

/* True in a program that is linked with all libraries that were found when it was built. whole.c */
bool command_is_whole_program(void);

/* True if the view is the monitor. view.c */
bool command_is_monitor(const struct settings *settings);

/* The same for the screen of many machines. top.c */
bool command_is_live_top(const struct settings *settings);

/* `vitals select --hosts`: devices of other machines. Returns the exit code. select_hosts.c */
int command_select_hosts(const struct settings *settings, const vitals_gpu_select_options *options);

/* True if the locale says that the terminal understands UTF-8. */
bool command_is_utf8(void);

/* Returns how the figures of an account are written. */
struct account_view command_account_view(const struct look_settings *look,
                                         const struct account_settings *account);

/* Prints a report to stdout; `older` may be NULL. Returns the exit code. one_shot.c */
int command_print_report(const struct settings *settings, const vitals_snapshot *now,
                         const vitals_snapshot *older);

/* Return which devices and processes -1 and the monitor show, and how. `user` is the meaning of -u
 * without a name; it is borrowed. one_shot.c */
struct selection command_selection(const struct settings *settings, const char *const *user);
struct look command_look(const struct settings *settings);

/* The parts of `vitals info`, for the monitor. processes/info.c */
extern const struct process_part_ops command_part_ops;

/* Writes the name of the user that runs vitals into `out` and returns it. It is compared with the
 * users of processes, so that a backslash stays as it is; controls become "?". one_shot.c */
const char *command_user(char *out, size_t capacity);

/* Names of columns of `vitals device -o` by index; NULL after the last. device.c */
const char *device_column_word(size_t index);

/* Exit codes. The last two are those of a shell. */
enum {
    EXIT_DONE = 0,
    EXIT_CANNOT = 1,
    EXIT_USAGE = 2,
    EXIT_FEWER = 3, /* fewer free devices than requested */
    EXIT_CANNOT_RUN = 126,
    EXIT_NO_COMMAND = 127
};

/* Replaces this process by the command, with the limit of descriptors that was there before main()
 * raised it. `program` is its first word, or its file. Returns only on failure, an exit code after
 * a message. */
int command_execute(const struct argument_settings *arguments, const char *program,
                    char *const *environment);

/* Ends this process by SIGINT, which also ended the command: a shell ends its script on Ctrl-C only
 * if the process that it waits for dies of the signal. */
void command_end_interrupted(void);

/* Prints one line to stderr, "vitals: …", and returns `code`. The text must be safe to print. */
int command_fail(int code, const char *format, ...) VITALS_FORMAT(2, 3);

/* Prints `before "given" after; did you mean …?` with the nearest of the words, or `otherwise`
 * after the semicolon if none is near. Returns EXIT_USAGE. */
int command_fail_unknown(const char *before, const char *given, const char *after,
                         const char *(*word)(size_t index), const char *otherwise);

/* What a word means to `vitals ps`: all processes, as in ps(1), with the columns of vitals ps (-e,
 * -A, ax, aux, -aux; -ef and -f have the columns of -f, axf is a tree), or another habit of users
 * of ps(1), and the message for it. -u and -x are options of ours. NONE of another command. */
enum ps_word { PS_WORD_NONE, PS_WORD_ALL, PS_WORD_HABIT };
enum ps_word command_ps_word(const struct command *command, const char *word);
#define COMMAND_PS_HABIT "vitals ps lists all processes already; columns with -o (vitals ps --help)"

/* Returns a string from outside, made safe for a message and cut at about 200 bytes. Two buffers
 * are used in turn, so that one message can hold two strings. */
const char *command_safe(const char *string);

/* Finds the line and column where a word first occurs as a string of a JSON document, at a depth of
 * at most `depth_most` brackets; jansson does not keep them. Line 1, column 1 if the string is
 * written with escapes. config.c */
void config_find(const char *bytes, size_t size, const char *word, size_t depth_most, size_t *line,
                 size_t *column);

/* Returns a descriptor that becomes readable when a signal asks the process to end, or -1. A second
 * signal ends the process at once. Call it once. */
int command_interrupts(void);

/* The same for the last part of a command, which is short and has an exit code to return: from then
 * on no signal but KILL ends the process. Call it once. */
int command_last_interrupts(void);

/* Returns the names of signals by index; NULL after the last. kill.c */
const char *signal_word(size_t index);

/* Fills the options of a context, which point into the settings. */
void command_world(const struct machine_settings *machine, vitals_options *options);

/* Makes a context from the settings. Errors as vitals_context_new. */
int command_context(const struct machine_settings *machine, vitals_context **out,
                    vitals_error *error);

/* Waits until a time of the monotonic clock. */
void command_wait_until(uint64_t deadline_ns);

/* True if a text of a row equals the word. */
bool command_text_is(const vitals_row *row, vitals_metric metric, const char *word);

/* Opens a feed of snapshots: those of --from, or those of a sampler in a context that is made for
 * it and ends with the feed. For `request`, `interval_ns` and `cancel` see feed.h. Returns 0, or an
 * exit code after a message. */
int command_feed(const struct machine_settings *machine, const vitals_request *request,
                 uint64_t interval_ns, int cancel, struct feed *out);

/* Reads the next snapshot of a feed. The old `older` is released, and `now` becomes `older`.
 * Returns as the feed's next. */
int command_read_next(struct feed *feed, vitals_snapshot **older, vitals_snapshot **now,
                      vitals_error *error);

/* Likewise the first one of a report: waits while a driver lists its devices, as long as
 * --device-wait says, and prints a line once that takes two seconds. */
int command_read_first(const struct machine_settings *machine, struct feed *feed,
                       vitals_snapshot **older, vitals_snapshot **now, vitals_error *error);

/* command_is_whole: true if every driver has listed its devices. command_tell_partial: returns
 * `code` then, else EXIT_CANNOT after a message; the snapshot needs the table source. */
bool command_is_whole(const vitals_snapshot *snapshot);
int command_tell_partial(const vitals_snapshot *snapshot, int code);

/* Makes a request of metrics and whole tables. Both lists end with 0; either may be NULL. */
int command_request(const vitals_metric *metrics, const vitals_table *tables, vitals_request **out,
                    vitals_error *error);
int command_request_add(vitals_request *request, const vitals_metric *metrics, size_t count,
                        vitals_error *error);

/* Makes a request, takes one snapshot (or reads --from) and prints it. Returns the exit code;
 * prints a message on failure. */
int command_once(const struct settings *settings, int (*make)(vitals_request **, vitals_error *),
                 int (*print)(const struct settings *, const vitals_snapshot *));

/* Prints why back ends did not look for devices, a line each: no permission, or a driver that does
 * not answer. command_tell_no_devices also prints that there is no GPU, and returns EXIT_DONE. The
 * snapshot needs the table source. */
void command_tell_kept(const vitals_snapshot *snapshot);
int command_tell_no_devices(const vitals_snapshot *snapshot);

/* Prints a snapshot as JSON and a newline. Returns EXIT_DONE, or EXIT_CANNOT after a message. */
int command_print_json(const vitals_snapshot *snapshot, struct output *output);
