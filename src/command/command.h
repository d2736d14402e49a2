/* command.h: what a subcommand is, and what all of them share.
 *
 * A new subcommand is a file with its function, a line here, a row in command_table.c, and the rows
 * of its options in option_table.c. */
#ifndef VITALS_COMMAND_COMMAND_H
#define VITALS_COMMAND_COMMAND_H

#include "command/output.h"
#include "command/settings.h"
#include "export/clock.h"
#include "feed/feed.h"
#include "report/account.h"
#include "view/draw.h"
#include "view/selection.h"
#include <vitals/vitals.h>

/* One bit for each, so that an option says with a mask where it belongs. */
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
    COMMAND_SEND = 1 << 18
};
#define COMMAND_ANY (~0u)

/* Properties of a command. */
enum {
    COMMAND_HIDDEN = 1 << 0, /* not in the list that --help gives */
    COMMAND_RUNS = 1 << 1, /* takes a command line, and writes on stderr; SIGPIPE stays as it was */
    COMMAND_PLAIN = 1 << 2, /* reads no machine: its help leaves out what goes with every command */
    COMMAND_WORDS = 1 << 3, /* takes words that belong to no option; -5 is one */
    COMMAND_SIGNALS = 1 << 4, /* -TERM is one too */
    COMMAND_MAY_RUN = 1 << 5, /* takes a command line, or none; SIGPIPE stays as it was */
    COMMAND_WHOLE = 1 << 6    /* reads or writes recordings: see whole.h */
};

struct command {
    const char *name; /* NULL in the first row, the view, and in a last row that ends the table */
    int (*run)(const struct settings *settings); /* gives the exit code */
    unsigned bit;
    unsigned flags;
    const char *usage;    /* what follows "usage: vitals " */
    const char *summary;  /* one line for the list of commands */
    const char *purpose;  /* a sentence or two on top of its own help */
    const char *examples; /* lines */
    const char *exits;    /* lines; NULL: those that all share */
};

/* Every command; the view is the first. command_table.c */
extern const struct command command_table[];

/* The commands, each in a file of its name, and what the view can be; the exit code. */
typedef int command_function(const struct settings *settings);
command_function command_view, command_one_shot, command_json, command_monitor, command_screen;
command_function command_replay, command_run, command_metrics, command_options, command_ps;
command_function command_info, command_kill, command_device, command_topo, command_select;
command_function command_doctor, command_report, command_compare, command_record, command_track;
command_function command_mark, command_serve, command_send, command_version;

/* Whether the view is the monitor. view.c */
bool command_is_monitor(const struct settings *settings);

/* Whether the terminal understands UTF-8, as the locale says. */
bool command_is_utf8(void);

/* How accounts are shown. */
struct account_view command_account_view(const struct look_settings *look,
                                         const struct account_settings *account);

/* A report on stdout; `older` may be NULL. The exit code. one_shot.c */
int command_print_report(const struct settings *settings, const vitals_snapshot *now,
                         const vitals_snapshot *older);

/* The devices and processes that -1 and the monitor show, and how they look. `user` is what -u
 * means without a name; it is borrowed. one_shot.c */
struct selection command_selection(const struct settings *settings, const char *const *user);
struct look command_look(const struct settings *settings);

/* The name of the user that runs vitals, safe, into `out`, which is returned. one_shot.c */
const char *command_user(char *out, size_t capacity);

/* Names of columns of `vitals device -o` by index; NULL after the last. device.c */
const char *device_column_word(size_t index);

/* Exit codes. */
enum { EXIT_DONE = 0, EXIT_CANNOT = 1, EXIT_USAGE = 2 };

/* Prints one line to stderr, "vitals: …", and returns `code`. The text must be safe to print. */
int command_fail(int code, const char *format, ...) VITALS_FORMAT(2, 3);

/* Says `before "given" after; did you mean …?` with the nearest of the words, or `otherwise` behind
 * the semicolon if none is near. Returns EXIT_USAGE. */
int command_fail_unknown(const char *before, const char *given, const char *after,
                         const char *(*word)(size_t index), const char *otherwise);

/* Whether the word is what people write behind ps(1) to see all processes, as aux or -ef, and the
 * command is ours; and what they are told. */
bool command_is_ps_habit(const struct command *command, const char *word);
#define COMMAND_PS_HABIT "vitals ps lists all processes already; columns with -o (vitals ps --help)"

/* Whether the word is one of those that vitals ps takes as ps(1) does: all processes (-e -A -a -d a
 * x), the columns of -f or of u, f without a dash for a tree. -u is the option --user. */
bool command_is_ps_all(const struct command *command, const char *word);

/* A string from outside, made safe for a message; cut at about 200 bytes. Two buffers in turn, so
 * that one message can hold two. */
const char *command_safe(const char *string);

/* Where a word first stands as a string of a JSON document in at most so many brackets, which
 * jansson does not keep; line 1, column 1 for one that is written with escapes. config.c */
void config_find(const char *bytes, size_t size, const char *word, size_t depth_most, size_t *line,
                 size_t *column);

/* The descriptor that can be read once a signal asks us to end, or -1. A second signal ends us
 * anyhow. Called once. */
int command_interrupts(void);

/* The same for the last part, which is short by itself and has an exit code to give: no signal but
 * KILL ends us from then on. Called once. */
int command_last_interrupts(void);

/* The number of a signal (signals.c): of "TERM", "SIGTERM", "term", "15", "RTMIN+3". -1 after a
 * message that suggests the nearest. */
int signal_number(const char *word);

/* The names by index; NULL after the last. */
const char *signal_word(size_t index);

/* "TERM"; `out` (16 bytes) is for those that have a number only. */
const char *signal_name(int number, char *out);

/* Fills the options of a context, which point into the settings. */
void command_world(const struct machine_settings *machine, vitals_options *options);

/* A context for what they say. Errors as vitals_context_new. */
int command_context(const struct machine_settings *machine, vitals_context **out,
                    vitals_error *error);

/* Waits until a time of the monotonic clock. */
void command_wait_until(uint64_t deadline_ns);

/* A string as a text. */
vitals_text command_text(const char *string);

/* True if a text of a row is that word. */
bool command_text_is(const vitals_row *row, vitals_metric metric, const char *word);

/* Whether what is read may be invented: --demo, or a list of back ends that names it, wherever it
 * was said. */
bool command_has_demo(const struct machine_settings *machine);

/* Snapshots as the settings say: those of --from, or of a sampler in a context that is made for it
 * and ends with the feed. `request`, `interval_ns` and `cancel` are a sampler's, as feed.h says.
 * Gives 0, or an exit code after a message. */
int command_feed(const struct machine_settings *machine, const vitals_request *request,
                 uint64_t interval_ns, int cancel, struct feed *out);

/* The next snapshot of a feed: what was `now` becomes `older`, which is let go. As its next. */
int command_read_next(struct feed *feed, vitals_snapshot **older, vitals_snapshot **now,
                      vitals_error *error);

/* A request of metrics and whole tables, both up to 0; either may be NULL. */
int command_request(const vitals_metric *metrics, const vitals_table *tables, vitals_request **out,
                    vitals_error *error);
int command_request_add(vitals_request *request, const vitals_metric *metrics, size_t count,
                        vitals_error *error);

/* Makes a request, takes one snapshot of it (or of --from) and prints that. The exit code; what
 * cannot be done is said. */
int command_once(const struct settings *settings, int (*make)(vitals_request **, vitals_error *),
                 int (*print)(const struct settings *, const vitals_snapshot *));

/* What kept back ends from looking for devices, a line each: no permission, a driver that does not
 * answer. And that, with the line that there is no GPU; gives EXIT_DONE. The snapshot needs the
 * table source. */
void command_tell_kept(const vitals_snapshot *snapshot);
int command_tell_no_devices(const vitals_snapshot *snapshot);

/* A snapshot as JSON and a newline. EXIT_DONE, or EXIT_CANNOT, and says why. */
int command_print_json(const vitals_snapshot *snapshot, struct output *output);

#endif
