/* settings.h: the values of the options, from flags, environment and configuration together, and
 * what main() found out about the terminal and the environment. main() fills them once; commands
 * read them.
 *
 * Each command has a struct of its own, and what several share (the machine to read, the look of
 * what is printed, how often to read) is a struct too. Only the function of a command sees them
 * all; it hands each part to the functions that need it.
 *
 * Strings are borrowed from the arguments, the environment or the settings' own memory, and live as
 * long as the settings. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/arena.h"

struct command;

/* Where a value came from; a later one wins. */
enum origin { ORIGIN_DEFAULT, ORIGIN_CONFIGURATION, ORIGIN_ENVIRONMENT, ORIGIN_FLAG };

enum { SETTINGS_OPTIONS_MAX = 240 };

/* The value of --inherit without an argument. */
#define SELECT_INHERIT "CUDA_VISIBLE_DEVICES"

struct settings_numbers {
    uint64_t *items;
    size_t count;
    bool given;
};

struct settings_words {
    const char **items; /* NULL behind the last */
    size_t count;
    bool given; /* `-u` alone is given, with a count of 0 */
};

/* ---- Shared by several commands ---- */

/* The machine to read: this one, another root, a demo, or a file of snapshots. */
struct machine_settings {
    const char *proc_root, *sys_root, *dev_root, *nvml;
    const char *backends; /* comma list; NULL: not given */
    const char *demo;     /* scenario; NULL: no demo */
    const char *from;     /* file of snapshots; "-": standard input; NULL: this machine */
    uint64_t seed;
    uint64_t device_wait_ns; /* until a driver has listed its devices, at most */
    uint64_t driver_percent; /* of the wall time, that calls into a driver may take */
    bool no_bpf, trace;
};

/* How often the machine is read. */
struct sampling_settings {
    uint64_t interval_ns; /* 0: not given, the command's own default holds */
    uint64_t delay_ns;    /* between the two readings of one report */
    bool interval_given;  /* on the command line */
    uint64_t count;       /* number of snapshots, tables or samples; 0: not given */
};

/* The form of what is printed. */
struct look_settings {
    bool ascii;         /* ASCII only: asked for, or the terminal is not UTF-8 */
    bool ascii_unknown; /* not requested, and the locale has not been read yet (vitals run) */
    bool force_color;
    bool color;          /* decided by main: --force-color, NO_COLOR, FORCE_COLOR, TERM */
    bool terminal;       /* the output stream is a terminal (of vitals run: stderr) */
    bool typed;          /* standard input is a terminal */
    uint64_t width;      /* columns of a report, never 0 */
    uint64_t line_width; /* the most columns of a line: width, or 0 for no limit (in a file or a
                          * pipe without --width) */
    bool verbose, json;
};

/* The arguments that are no options, and how the process was started. */
struct argument_settings {
    struct settings_words words; /* pids, files */
    bool dashed_first;           /* the first word began with a dash, and stood before any `--` */
    const char *const *command_argv; /* the command line to run, ends with NULL; NULL: none */
    size_t command_argc;
    const char *const *argv; /* of main(), ends with NULL */
    size_t argc;
    const char *program;         /* this program, to be started again; NULL: argv[0] */
    uint64_t descriptors_before; /* soft RLIMIT_NOFILE before main() raised it; 0: not raised */
};

/* Variables and folders that main() looked up; NULL where not set. */
struct environment_settings {
    const char *visible_devices;  /* CUDA_VISIBLE_DEVICES */
    const char *device_order;     /* CUDA_DEVICE_ORDER */
    const char *term;             /* TERM */
    const char *colors;           /* COLORTERM */
    const char *background;       /* COLORFGBG */
    const char *marks;            /* VITALS_MARKS */
    const char *temporary;        /* $TMPDIR, or /tmp */
    const char *demo_folder;      /* $TMPDIR, or /dev/shm, or /tmp */
    const char *runtime_folder;   /* $XDG_RUNTIME_DIR, or NULL */
    const char *scope_program;    /* asks systemd for a scope; NULL: no such program */
    const char *state_folder;     /* $XDG_STATE_HOME, or ~/.local/state; "": neither is known */
    const char *const *variables; /* the whole environment, ends with NULL */
};

/* ---- The view and replay ---- */

struct view_settings {
    bool once, monitor;
    const char *monitor_mode;  /* "auto", "full", "compact"; may be set without `monitor` */
    bool report_unasked;       /* a terminal gets a report, and the monitor only by `monitor` */
    const char *screen;        /* "80x24" or "80x24:help": print this screen; NULL: none */
    const char *layout;        /* file of the monitor's layout; NULL: layout_path */
    const char *layout_path;   /* its usual place; "": none */
    const char *config_notice; /* why the configuration was ignored; NULL: it was not */
    const char *at;            /* replay: the time to begin at, as typed; NULL: not given */
    bool paused;               /* replay */
    const char *theme;         /* one of theme_names */
    bool theme_given;          /* on the command line */
    bool readonly, colorful, light;
    uint64_t idle_after_ns;     /* time after which a device's unused memory is marked */
    uint64_t gpu_thresholds[2]; /* percent, ascending: thresholds of moderate and heavy */
    uint64_t memory_thresholds[2];
};

/* The devices and processes that the view and replay show. */
struct filter_settings {
    struct settings_numbers only; /* device indices */
    bool only_visible, compute, only_compute, graphics, only_graphics;
    struct settings_words users;
    struct settings_numbers pids;
};

/* ---- Processes and devices ---- */

/* The processes that ps and kill choose: a process must match one item of each list that is
 * given. */
struct choice_settings {
    struct settings_words users;
    struct settings_numbers pids;
    struct settings_words names;
    const char *match; /* a regular expression; NULL: none */
    struct settings_words states;
    struct settings_words cgroups;
    struct settings_words containers;
    struct settings_numbers parents;        /* processes whose descendants are chosen */
    struct settings_numbers direct_parents; /* processes whose children are chosen */
    bool gpu_users;
    bool exact;          /* --match is about the whole command line */
    bool inverse;        /* those that do not pass */
    bool newest, oldest; /* of those that pass, one */
};

/* The tables of ps and device. */
struct table_settings {
    struct settings_words columns; /* NAME or NAME=HEADER */
    bool csv, no_header, bytes;
};

struct ps_settings {
    struct settings_words sort; /* NAME or -NAME */
    uint64_t limit;             /* rows; 0: all */
    bool tree;
};

struct kill_settings {
    const char *signal; /* NULL: not given */
    bool yes, dry_run, list;
    bool wait_ended; /* --wait was given */
    uint64_t wait_ns;
    uint64_t force_ns; /* 0: not given */
};

struct info_settings {
    bool environment;
};

struct select_settings {
    const char *inherit; /* NULL: all devices; SELECT_INHERIT: CUDA_VISIBLE_DEVICES; else a value */
    struct settings_words free_accounts;
    uint64_t count; /* sets min_count and max_count; if none was given, see select.c */
    uint64_t min_count, max_count;
    const char *min_free; /* sizes; NULL: not given */
    const char *min_total;
    uint64_t max_utilization; /* percent, valid if settings_origin says that it was given */
    uint64_t max_memory_utilization, tolerance;
    const char *id_format; /* "index", "uuid" */
    const char *separator;
    bool newline, null, no_sort, wait;
    uint64_t timeout_ns;
    bool lock;
    const char *lock_folder;  /* NULL: not given */
    const char *command_path; /* the file of the command, if not its first word */
};

/* ---- Accounts: run, track, record, report, compare ---- */

/* How the figures of an account are written. */
struct account_settings {
    const char *memory_unit; /* NULL: one that fits the value; so the next two */
    const char *gpu_memory_unit, *time_unit;
    const char *format; /* "text", "json", "gpu-tracker" …; NULL: text */
};

/* Measurement options of run, track and record. */
struct measure_settings {
    uint64_t expected_cores; /* 0: the cores that the processes may use */
    struct settings_words devices;
    const char *brand; /* "nvidia", "amd", "intel"; NULL: all */
    bool no_children;
    const char *methods; /* only of run; NULL: all */
};

/* The recording of run, track and record. */
struct recording_settings {
    const char *path;   /* NULL: none; "-": standard output */
    const char *format; /* NULL: by the path's ending */
    bool overwrite, no_header;
    const char *rotate; /* a size or a time; NULL: never */
    uint64_t keep;      /* rotated files; 0: all */
};

struct limit_settings {
    const char *memory; /* sizes; NULL: none */
    const char *gpu_memory;
    uint64_t processes; /* 0: no limit, like the next */
    uint64_t time_ns, grace_ns;
    bool kill_tree;
};

/* Options of run, some of them shared with track. */
struct run_settings {
    struct limit_settings limits;
    const char *json_path; /* file for the account as JSON; NULL: none */
    bool quiet;
    const char *backup; /* file of the running totals; NULL: not given */
    bool no_backup, wait;
    uint64_t gpus;    /* 0: not given */
    bool gpus_chosen; /* this is the second start, on the devices that were selected */
    uint64_t repeat;
};

struct record_settings {
    uint64_t duration_ns; /* 0: no limit */
    bool processes;       /* record every process */
};

struct report_settings {
    const char *advice;    /* "slurm", "kubernetes"; NULL: none */
    const char *html_path; /* NULL: no page; "-": standard output */
    const char *jobs;      /* a folder of accounts; NULL: one file is shown */
    bool phases;
    struct settings_words phase_files; /* files of gpu_tracker's phases */
};

struct compare_settings {
    const char *statistic; /* "mean", "min", "max", "std" */
};

/* ---- Export ---- */

struct mlflow_settings {
    const char *uri; /* NULL: none; "": from MLFLOW_TRACKING_URI */
    const char *run, *experiment, *name, *prefix;
    uint64_t interval_ns, samples;
    const char *memory; /* a size; NULL: not given */
    uint64_t cpus;      /* 0: not given */
};

/* The exporters of run, track and record, and some of serve. */
struct export_settings {
    struct mlflow_settings mlflow;
    const char *otlp; /* NULL: none; "": from OTEL_EXPORTER_OTLP_ENDPOINT */
    const char *tensorboard;
    const char *textfile;     /* of a run; the service's own is in serve */
    const char *command_line; /* "off", "argv0", "redacted", "full" */
    uint64_t wait_ns;
    const char *program; /* the exporter; "": unknown; NULL: not looked for */
};

struct serve_settings {
    struct settings_words listen; /* ADDRESS[:PORT] */
    uint64_t port;
    const char *processes; /* "off", "workload", "pid" */
    uint64_t max_processes;
    const char *compat; /* NULL: none */
    const char *web_config;
    bool allow_insecure;
    const char *label_user; /* "name", "uid", "hash", "off" */
    struct settings_words allow_hosts;
    const char *textfile;
    bool no_host;
};

/* Many machines: top, and the view and select with --hosts. */
struct fleet_settings {
    const char *hosts;      /* see fleet/host_list.h; NULL: this machine */
    const char *prometheus; /* its address; NULL: each machine is asked */
    bool ssh;
    const char *by;     /* one of fleet_by_names */
    const char *sort;   /* NAME or -NAME; NULL: not given */
    const char *filter; /* NULL: none */
    const char *netrc, *ca_file;
    uint64_t timeout_ns; /* of one machine */
};

struct send_settings {
    const char *mlflow; /* replaces the server that the file names; NULL: not given */
    uint64_t wait_ns;
};

/* ---- All of them ---- */

struct settings {
    bool help, version;
    const char *help_form; /* "all": of every option */
    bool form_settings;    /* of `vitals options` */
    const char *config;    /* named configuration file; NULL: the usual one */

    struct machine_settings machine;
    struct sampling_settings sampling;
    struct look_settings look;
    struct argument_settings arguments;
    struct environment_settings environment;

    struct view_settings view;
    struct filter_settings filter;

    struct choice_settings choice;
    struct table_settings table;
    struct ps_settings ps;
    struct kill_settings kill;
    struct info_settings info;
    struct select_settings select;

    struct account_settings account;
    struct measure_settings measure;
    struct recording_settings recording;
    struct run_settings run;
    struct record_settings record;
    struct report_settings report;
    struct compare_settings compare;

    struct export_settings export;
    struct serve_settings serve;
    struct send_settings send;
    struct fleet_settings fleet;

    const struct command *commands; /* the table of commands */
    const struct command *command;  /* the current command */

    unsigned char origins[SETTINGS_OPTIONS_MAX]; /* enum origin, by row of the option table */
    struct arena memory; /* computed values; lives as long as the settings */
};

/* Sets the defaults of the option table. */
void settings_init(struct settings *settings);
void settings_done(struct settings *settings);

/* Returns the origin of a field's value: settings_origin(settings,
 * &settings->sampling.interval_ns). */
enum origin settings_origin(const struct settings *settings, const void *field);
