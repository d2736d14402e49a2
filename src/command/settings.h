/* settings.h: what a person asked for, from flags, environment and configuration together, beside
 * what main() found out about the terminal. Filled once by main(), read by every command.
 *
 * Strings are borrowed from the arguments, the environment or the settings' own memory, and live as
 * long as the settings. */
#ifndef VITALS_COMMAND_SETTINGS_H
#define VITALS_COMMAND_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command;

/* Where a value came from; a later one wins. */
enum origin { ORIGIN_DEFAULT, ORIGIN_CONFIGURATION, ORIGIN_ENVIRONMENT, ORIGIN_FLAG };

enum { SETTINGS_OPTIONS_MAX = 240 };

/* What --inherit without a value means. */
#define SELECT_INHERIT "CUDA_VISIBLE_DEVICES"

struct settings_numbers {
    uint64_t *items;
    size_t count;
    bool given;
};

struct settings_words {
    const char **items;
    size_t count;
    bool given; /* `-u` alone: given, and none counted */
};

struct settings {
    /* what to do */
    bool help;
    bool version;
    bool once;
    bool monitor;
    const char *monitor_mode; /* "auto", "full", "compact"; may be set without `monitor` */
    bool report_unasked;      /* a terminal gets a report, and the monitor only by `monitor` */
    const char *screen;       /* "80x24" or "80x24:help", to be printed; NULL: none */
    bool json;
    const char *json_path; /* run: where its account goes as JSON; NULL: nowhere */
    const char *from;      /* a file of snapshots instead of this machine; "-": stdin; NULL: none */
    uint64_t count;        /* snapshots to give; 0: not said */

    /* replay */
    const char *at; /* a moment, as people write it; NULL: the begin, or of a screen the end */
    bool stands;

    /* times */
    uint64_t interval_ns; /* 0: not said, the command's own default holds */
    uint64_t delay_ns;    /* one-shot: between the two readings that rates are made of */

    /* how it looks */
    bool ascii;         /* asked for, or the terminal is not UTF-8 */
    bool ascii_unknown; /* nobody asked for it, and the locale was not looked at (vitals run) */
    bool readonly;
    uint64_t held_after_ns; /* monitor */
    bool colorful;
    bool force_color;
    bool light;
    bool color;                 /* main's verdict of --force-color, NO_COLOR, FORCE_COLOR, TERM */
    bool terminal;              /* the stream that the command writes to is one (run: stderr) */
    bool typed;                 /* standard input is one */
    uint64_t width;             /* columns of a report, never 0 */
    uint64_t gpu_thresholds[2]; /* percent, ascending: moderate from, heavy from */
    uint64_t memory_thresholds[2];

    /* what is shown of it */
    struct settings_numbers only; /* device indices */
    bool only_visible;
    const char *visible_devices; /* CUDA_VISIBLE_DEVICES, or NULL */
    const char *device_order;    /* CUDA_DEVICE_ORDER, or NULL */
    const char *term;            /* TERM, or NULL */
    bool compute;
    bool only_compute;
    bool graphics;
    bool only_graphics;
    struct settings_words users;
    struct settings_numbers pids;

    /* ps, kill: which processes; of one list any, of all lists each must hold */
    struct settings_words names;
    const char *match; /* a regular expression; NULL: none */
    struct settings_words states;
    struct settings_words cgroups;
    struct settings_words containers;
    struct settings_numbers parents; /* whose descendants */
    bool gpu_users;

    /* ps: what of them, and how */
    struct settings_words columns; /* NAME or NAME=HEADER */
    struct settings_words sort;    /* NAME or -NAME */
    uint64_t limit;                /* rows; 0: all */
    bool tree;
    bool csv;
    bool no_header;
    bool bytes;

    /* info */
    bool environment;

    /* device */
    bool verbose;

    /* select */
    const char *inherit; /* NULL: all devices; SELECT_INHERIT: CUDA_VISIBLE_DEVICES; else a value */
    struct settings_words free_accounts;
    uint64_t min_count; /* with `count`, which sets both; where none was said, see select.c */
    uint64_t max_count;
    const char *min_free; /* sizes; NULL: not said */
    const char *min_total;
    uint64_t max_utilization; /* percent, where settings_origin says that it was given */
    uint64_t max_memory_utilization;
    uint64_t tolerance;
    const char *id_format; /* "index", "uuid" */
    const char *separator;
    bool newline;
    bool null;
    bool no_sort;
    uint64_t timeout_ns;
    bool lock;
    const char *lock_folder; /* NULL: not said */

    /* kill */
    const char *signal; /* NULL: not said */
    bool yes;
    bool dry_run;
    bool wait_ended; /* whether wait_ns was asked for */
    uint64_t wait_ns;
    uint64_t force_ns; /* 0: not said */

    /* report, compare; units those of run and track too */
    const char *memory_unit; /* NULL: what reads best; so the next two */
    const char *gpu_memory_unit;
    const char *time_unit;
    const char *report_format; /* "text", "json", "gpu-tracker" …; NULL: text */
    const char *advice;        /* "slurm", "kubernetes"; NULL: none */
    const char *html_path;     /* NULL: no page; "-": stdout */
    const char *statistic;     /* compare: "mean", "min", "max", "std" */
    bool phases;
    struct settings_words phase_files; /* of gpu_tracker */

    struct settings_words words; /* that belong to no option: pids */
    bool dashed_first; /* the first of them began with a dash, and stood before any `--` */

    /* run, track, record: what is measured, and where it goes */
    uint64_t expected_cores; /* 0: those that we may use */
    struct settings_words devices;
    const char *brand; /* "nvidia", "amd", "intel"; NULL: all */
    bool no_children;
    const char *record_path;   /* NULL: no recording; "-": stdout */
    const char *record_format; /* NULL: by the path's ending */
    bool overwrite;
    const char *rotate;   /* recordings: a size or a time; NULL: never */
    uint64_t keep;        /* recordings: of what was rotated; 0: all */
    uint64_t duration_ns; /* record: 0: until it is told to end */
    bool processes;       /* record: every one of them */
    bool quiet;
    const char *backup; /* where running totals stand; NULL: not said */
    bool no_backup;

    /* run */
    bool wait;
    const char *limit_memory; /* sizes; NULL: none */
    const char *limit_gpu_memory;
    uint64_t limit_processes; /* 0: none, so the next */
    uint64_t limit_ns;
    uint64_t limit_grace_ns;
    bool kill_tree;
    uint64_t gpus;    /* 0: not said */
    bool gpus_chosen; /* and we were started again, on them */
    uint64_t repeat;
    const char *rungs;               /* NULL: all */
    const char *const *command_argv; /* what follows `--`, NULL-terminated; NULL: nothing does */
    size_t command_argc;
    const char *command_path; /* select: where it is, if not what its first word says */
    const char *const *argv;  /* main's, NULL-terminated */
    size_t argc;
    const char *program;         /* that we are, to be started again; NULL: argv[0] */
    const char *marks;           /* VITALS_MARKS, or NULL */
    const char *temporary;       /* $TMPDIR, or /tmp */
    const char *state_folder;    /* $XDG_STATE_HOME, or ~/.local/state; "": neither is known */
    uint64_t descriptors_before; /* soft RLIMIT_NOFILE before main() raised it; 0: not raised */

    /* serve, and who else is told */
    struct settings_words listen; /* ADDRESS[:PORT] */
    uint64_t port;
    const char *told_processes; /* "off", "workload", "pid" */
    uint64_t max_processes;
    const char *compat; /* NULL: none */
    const char *web_config;
    bool allow_insecure;
    const char *told_command_line; /* "off", "argv0", "redacted", "full" */
    const char *label_user;        /* "name", "uid", "hash", "off" */
    struct settings_words allow_hosts;
    const char *textfile;     /* of serve */
    const char *run_textfile; /* of a run: what the environment says is the service's */
    bool no_host;
    const char *otlp;        /* NULL: no; "": where OTEL_EXPORTER_OTLP_ENDPOINT says */
    const char *mlflow;      /* NULL: no; "": where MLFLOW_TRACKING_URI says */
    const char *send_mlflow; /* in the place of what a spool says; NULL: as that says */
    const char *mlflow_run;
    const char *mlflow_experiment;
    const char *mlflow_name;
    const char *mlflow_prefix;
    uint64_t mlflow_interval_ns;
    uint64_t mlflow_samples;
    const char *mlflow_memory; /* a size; NULL: not said */
    uint64_t mlflow_cpus;      /* 0: not said */
    const char *tensorboard;
    uint64_t tell_wait_ns, send_wait_ns;
    const char *tell_program;     /* libexec/vitals/tell; "": unknown; NULL: not looked for */
    const char *const *variables; /* the environment, NULL at the end */

    /* metrics, options, report: the form to print */
    bool form_json;
    bool form_settings;

    /* the world */
    const char *proc_root;
    bool no_bpf;
    const char *sys_root;
    const char *dev_root;
    const char *nvml;
    const char *backends; /* comma list; NULL: not said */
    const char *demo;     /* scenario; NULL: no demo */
    uint64_t seed;
    bool trace;
    const char *config;        /* a configuration file that was named */
    const char *layout;        /* likewise of the monitor's layout */
    const char *config_notice; /* why the configuration was left out; NULL: it was not */
    const char *layout_place;  /* where that is otherwise; "": nowhere */

    const struct command *commands; /* main's table */
    const struct command *command;  /* the one that was asked for */

    unsigned char origins[SETTINGS_OPTIONS_MAX]; /* enum origin, by row of the option table */
    struct settings_memory *memory;
};

/* The defaults, as the option table gives them. */
void settings_init(struct settings *settings);
void settings_done(struct settings *settings);

/* Memory that lives as long as the settings; NULL when there is none. */
void *settings_allocate(struct settings *settings, size_t size);
char *settings_copy(struct settings *settings, const char *bytes, size_t size);

/* Where a field got its value: settings_origin(settings, &settings->interval_ns). */
enum origin settings_origin(const struct settings *settings, const void *field);

/* The columns that lines keep to: a terminal's, or what anybody said; 0: no end, in a file or a
 * pipe. */
size_t settings_width(const struct settings *settings);

#endif
