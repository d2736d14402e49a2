/* option_table.c: all options, in the order of the help. */
#include "command/options/option.h"
#include "command/processes/ps_columns.h"
#include "fleet/names.h"
#include "record/recorder.h"
#include "view/theme.h"

#include <string.h>

#define OPTION(NAME, KIND, GROUP, COMMANDS, FIELD)                                         \
    .name = (NAME), .kind = OPTION_##KIND, .group = GROUP_##GROUP, .commands = (COMMANDS), \
    .offset = offsetof(struct settings, FIELD)
#define ALSO(FIELD) .also = offsetof(struct settings, FIELD)

static const char *const monitor_modes[] = {"auto", "full", "compact", NULL};

/* Values that completion offers; tests/house/completions.py compares them with those that the
 * program accepts. */
static const char *const backends[] = {"nvidia", "amd", "intel", "drm", "demo", "none", NULL};
static const char *const methods[] = {"cgroup2",   "systemd", "perf",     "taskstats", "cgroup1",
                                      "connector", "wait4",   "sampling", NULL};
static const char *const states[] = {"running",      "sleeping", "disk_sleep", "stopped",
                                     "tracing_stop", "zombie",   "idle",       NULL};
static const char *const help_forms[] = {"all", NULL};
static const char *const layouts[] = {"<file>", "nvitop", NULL};
static const char *const record_forms[] = {"vitals",
                                           "vitals-csv",
                                           "gpu-tracker",
                                           "resource-tracker",
                                           "resource-tracker-system",
                                           "resource-tracker-0.1",
                                           "resource-tracker-0.1-system",
                                           NULL};
static const char *const memory_units[] = {"bytes",     "kilobytes", "megabytes", "gigabytes",
                                           "terabytes", "kibibytes", "mebibytes", "gibibytes",
                                           "tebibytes", NULL};
static const char *const time_units[] = {"seconds", "minutes", "hours", "days", NULL};

/* `vitals options --settings` accepts the options of the view too, and prints what they mean. */
enum {
    VIEW = COMMAND_VIEW | COMMAND_OPTIONS,
    RUN = COMMAND_RUN,
    METRICS = COMMAND_METRICS,
    OPTIONS = COMMAND_OPTIONS,
    PS = COMMAND_PS,
    INFO = COMMAND_INFO,
    KILL = COMMAND_KILL,
    DEVICE = COMMAND_DEVICE,
    TOPO = COMMAND_TOPO,
    SELECT = COMMAND_SELECT,
    DOCTOR = COMMAND_DOCTOR,
    REPORT = COMMAND_REPORT,
    COMPARE = COMMAND_COMPARE,
    MARK = COMMAND_MARK,
    TRACK = COMMAND_TRACK,
    RECORD = COMMAND_RECORD,
    REPLAY = COMMAND_REPLAY,
    SERVE = COMMAND_SERVE,
    TOP = COMMAND_TOP,
    FLEET = COMMAND_VIEW | COMMAND_TOP | COMMAND_SELECT,
    WATCH = VIEW | COMMAND_REPLAY,
    MEASURERS = COMMAND_RUN | COMMAND_TRACK | COMMAND_RECORD,
    CHOOSERS = COMMAND_PS | COMMAND_KILL,
    SHOWERS = COMMAND_PS | COMMAND_INFO | COMMAND_KILL
};
#define ANY COMMAND_ANY

/* True if the word is a list of devices, as in CUDA_VISIBLE_DEVICES, judged by its first item: a
 * number up to a blank, a comma or the end (where strchr finds the NUL), or a UUID. */
static bool is_device_list(const char *word)
{
    word += strspn(word, " ");
    size_t digits = strspn(word, "0123456789");
    return strchr(" ,", word[digits]) != NULL || strncmp(word, "GPU-", 4) == 0 ||
           strncmp(word, "MIG-", 4) == 0;
}

// One option, one paragraph.
// clang-format off
const struct option option_table[] = {
    {OPTION("once", FLAG, VIEW, VIEW, view.once), .brief = "1", .excludes = "monitor",
     .help = "print one report and end"},
    {OPTION("monitor", CHOICE, VIEW, WATCH, view.monitor_mode), .brief = "m", ALSO(view.monitor),
     .argument = "MODE", .choices = monitor_modes, .preset = "auto", .everywhere = true,
     .help = "show the live monitor: auto, full or compact; the default on a terminal"},
    {OPTION("screen", TEXT, VIEW, WATCH, view.screen), .argument = "COLUMNSxROWS[:NAME]",
     .excludes = "once",
     .help = "print a screen of the monitor as text and end, for scripts and tests: 80x24, "
             "120x40:help, or help alone in the terminal's size (80x24 without a terminal); with "
             "--demo the same --seed always prints the same text"},
    {OPTION("at", TEXT, VIEW, REPLAY, view.at), .argument = "MOMENT", .dashed = true,
     .help = "begin at MOMENT: 12:03, 12:03:07, 2026-11-22 12:03, +5min after the beginning, -5min "
             "before the end, 34%, begin, end; default: begin, with --screen end"},
    {OPTION("hold", FLAG, VIEW, REPLAY, view.paused), .excludes = "screen",
     .help = "begin paused; the key p plays"},
    {OPTION("layout", TEXT, VIEW, WATCH, view.layout), .argument = "FILE", .choices = layouts,
     .everywhere = true,
     .no_stream = "it is written to by a key, and standard input is the keyboard",
     .help = "columns, sorts, groups and theme of the monitor, as its key W writes them; otherwise "
             "vitals/layout.json in $XDG_CONFIG_HOME or ~/.config; nvitop: the main screen as that "
             "of nvitop"},
    {OPTION("json", FLAG, VIEW, VIEW, look.json), .excludes = "monitor",
     .help = "print a snapshot as JSON; with --interval or --count several, a line each"},
    {OPTION("count", NUMBER, VIEW, VIEW, sampling.count), .argument = "N", .minimum = 1,
     .maximum = 1e15, .needs = "json", .help = "end after N snapshots of --json"},
    {OPTION("from", TEXT, VIEW, VIEW, machine.from), .argument = "FILE", .excludes = "monitor",
     .help = "show what --json or vitals record saved instead of this machine; - is standard "
             "input"},
    {OPTION("delay", DURATION, VIEW, VIEW, sampling.delay_ns), .argument = "TIME",
     .preset = "100ms", .minimum = 0, .maximum = 3600, .everywhere = true,
     .help = "wait TIME between the two readings that give the rates of a report; 0: read once, "
             "without rates"},

    {OPTION("hosts", TEXT, VIEW, TOP, fleet.hosts), .argument = "LIST",
     .help = "ask these machines, which run vitals serve: a,b,c; host:port; node[01-64,70]; "
             "https://host; @FILE with such items in lines, or with Prometheus' file_sd"},
    {OPTION("hosts", TEXT, VIEW, VIEW, fleet.hosts), .argument = "LIST", .excludes = "monitor",
     .help = "show these machines instead of this one, as vitals top does"},
    {OPTION("hosts", TEXT, CHOICE, SELECT, fleet.hosts), .argument = "LIST", .excludes = "lock",
     .help = "choose on these machines, which run vitals serve (vitals top): a line for each that "
             "has enough, the one with the most free memory first"},
    {OPTION("prometheus", TEXT, VIEW, TOP, fleet.prometheus), .argument = "URL",
     .help = "ask this Prometheus, which scrapes vitals serve, instead of each machine; without "
             "--hosts all that it knows"},
    {OPTION("ssh", FLAG, VIEW, TOP, fleet.ssh), .needs = "hosts", .excludes = "prometheus",
     .help = "start vitals on each machine over ssh, where no vitals serve runs; it must log in "
             "without a password"},
    {OPTION("by", TEXT, VIEW, TOP, fleet.by), .argument = "gpu|node|user|job",
     .preset = "gpu",
     .help = "a row for each device, machine, user or job"},
    {OPTION("sort", TEXT, VIEW, TOP, fleet.sort), .argument = "[-]COLUMN",
     .value = fleet_column_word, .dashed = true,
     .help = "sort by a column, by its heading: used, util, idle; -COLUMN: descending; missing "
             "values come last"},
    {OPTION("filter", TEXT, VIEW, TOP, fleet.filter), .argument = "WORDS",
     .help = "only rows that hold all of the words; !WORD: that do not hold it"},
    {OPTION("once", FLAG, VIEW, TOP, view.once), .brief = "1",
     .help = "print a table and end; the default where the output is no terminal"},
    {OPTION("json", FLAG, VIEW, TOP, look.json), .help = "print the table once as JSON"},
    {OPTION("screen", TEXT, VIEW, TOP, view.screen), .argument = "COLUMNSxROWS",
     .excludes = "once", .help = "print the screen once as text, for scripts and tests"},
    {OPTION("host-timeout", DURATION, VIEW, FLEET, fleet.timeout_ns), .argument = "TIME",
     .preset = "2s", .minimum = 0.05, .maximum = 60,
     .help = "count a machine of --hosts as silent that has not answered within TIME; so the "
             "server of --prometheus; with --ssh within ten times TIME, as it must log in"},
    {OPTION("netrc", TEXT, VIEW, FLEET, fleet.netrc), .argument = "FILE",
     .no_stream = "another program reads it",
     .help = "read the logins of servers from FILE, as curl and ftp do: machine NAME login USER "
             "password SECRET; each is sent to that machine alone"},
    {OPTION("ca-file", TEXT, VIEW, FLEET, fleet.ca_file), .argument = "FILE",
     .no_stream = "another program reads it",
     .help = "trust the certificates in FILE for https:// in --hosts and --prometheus"},
    {OPTION("interval", DURATION, VIEW, TOP, sampling.interval_ns), .argument = "TIME",
     .minimum = 0.1, .maximum = 86400,
     .help = "ask this often: 2, 0.5s, 1min; default: 1 s, with --prometheus and --ssh 5 s"},

    {OPTION("json", FLAG, FORM, METRICS, look.json), .help = "print the catalogue as JSON"},
    {OPTION("settings", FLAG, FORM, OPTIONS, form_settings),
     .help = "print the value of each option and where it was set"},

    {OPTION("phases", FLAG, FORM, REPORT, report.phases),
     .help = "also what each phase used (vitals mark)"},
    {OPTION("phases-from", WORDS, FORM, REPORT, report.phase_files), .argument = "FILE",
     .needs = "phases",
     .help = "read the phases of a tracking file of gpu_tracker from these sub-tracking files; "
             "default: NAME.sub.csv beside NAME.csv, where vitals writes them"},
    {OPTION("html", TEXT, FORM, REPORT, report.html_path), .argument = "FILE", .excludes = "json",
     .help = "write a page with charts that needs no network to FILE; - is standard output"},
    {OPTION("advice", TEXT, FORM, REPORT, report.advice), .argument = "slurm|kubernetes",
     .excludes = "json",
     .help = "print what to ask for next time as #SBATCH lines or as a pod's resources"},
    {OPTION("jobs", TEXT, FORM, REPORT, report.jobs), .argument = "FOLDER", .excludes = "json",
     .help = "instead of FILE: a line for each account (.json) in FOLDER, as those of a cluster's "
             "jobs"},
    {OPTION("json", FLAG, FORM, REPORT | COMPARE, look.json),
     .help = "print it as JSON, in base units"},
    {OPTION("format", TEXT, FORM, REPORT, account.format), .brief = "f",
     .argument = "text|json|gpu-tracker|gpu-tracker-text", .excludes = "json",
     .help = "print the report in this form. The last two are as gpu_tracker prints them; with "
             "--phases gpu-tracker is its analysis of code blocks"},
    {OPTION("format", TEXT, FORM, COMPARE, account.format), .brief = "f",
     .argument = "text|json|gpu-tracker", .excludes = "json",
     .help = "print in this form; gpu-tracker as gpu_tracker compares sessions"},
    {OPTION("statistic", TEXT, FORM, COMPARE, compare.statistic), .argument = "mean|min|max|std",
     .preset = "mean", .help = "what --format gpu-tracker compares"},
    {OPTION("verbose", FLAG, FORM, REPORT | COMPARE, look.verbose), .brief = "v",
     .help = "every figure"},
    {OPTION("memory-unit", TEXT, LOOK, REPORT | COMPARE | RUN | TRACK, account.memory_unit),
     .argument = "UNIT", .choices = memory_units,
     .help = "print memory in UNIT: bytes, kilobytes, megabytes, gigabytes, terabytes, kibibytes, "
             "mebibytes, gibibytes or tebibytes; default: the one that fits each figure"},
    {OPTION("gpu-memory-unit", TEXT, LOOK, REPORT | COMPARE | RUN | TRACK, account.gpu_memory_unit),
     .argument = "UNIT", .choices = memory_units,
     .help = "print GPU memory in UNIT, one of those of --memory-unit; default: the one that fits "
             "each figure"},
    {OPTION("time-unit", TEXT, LOOK, REPORT | COMPARE | RUN | TRACK, account.time_unit),
     .argument = "UNIT", .choices = time_units,
     .help = "print times in UNIT: seconds, minutes, hours or days; default: the one that fits "
             "each figure"},

    {OPTION("readonly", FLAG, LOOK, VIEW, view.readonly), .everywhere = true,
     .help = "send no signals from the monitor, and change no process"},
    {OPTION("held-after", DURATION, LOOK, WATCH, view.idle_after_ns), .argument = "TIME",
     .preset = "15min", .minimum = 1, .maximum = 86400, .everywhere = true,
     .help = "mark memory of a device that has been idle for TIME as held, in the monitor"},
    {OPTION("colorful", FLAG, LOOK, WATCH, view.colorful), .everywhere = true,
     .help = "with --layout nvitop, color bars and graphs from green to red, on terminals of 256 "
             "colors"},
    {OPTION("force-color", FLAG, LOOK,
            WATCH | RUN | SHOWERS | DEVICE | TOPO | DOCTOR | REPORT | COMPARE | TOP,
            look.force_color),
     .everywhere = true,
     .help = "print colors even if the output is not a terminal or NO_COLOR is set"},
    {OPTION("light", FLAG, LOOK, WATCH | TOP, view.light), .everywhere = true,
     .help = "use dark colors in the monitor, for a light background; on terminals of 256 colors"},
    {OPTION("theme", CHOICE, LOOK, WATCH | TOP, view.theme), ALSO(view.theme_given), .argument = "THEME",
     .choices = theme_names, .everywhere = true,
     .help = "colors of the monitor: dark, light, contrast (bright, on any terminal) or mono "
             "(none); there v c takes the next one; default: light on a light background, else dark, "
             "contrast where there are fewer than 256 colors"},
    {OPTION("width", NUMBER, LOOK,
            VIEW | INFO | KILL | DEVICE | TOPO | DOCTOR | REPORT | COMPARE | TOP, look.width),
     .argument = "COLUMNS", .minimum = 79, .maximum = 4096, .everywhere = true,
     .foreign = "COLUMNS",
     .help = "print lines of at most COLUMNS, 79 or more; default: the terminal's width"},
    {OPTION("width", NUMBER, LOOK, PS, look.width), .argument = "COLUMNS", .minimum = 20,
     .maximum = 4096,
     .help = "print lines of at most COLUMNS, 20 or more; default: the terminal's width"},
    {OPTION("gpu-util-thresh", PAIR, LOOK, WATCH, view.gpu_thresholds), .argument = "LOW HIGH",
     .preset = "10,75", .minimum = 1, .maximum = 99, .everywhere = true,
     .foreign = "NVITOP_GPU_UTILIZATION_THRESHOLDS",
     .help = "percent of utilization from which a GPU counts as moderately and as heavily loaded: "
             "yellow and red in vitals -1 and with --layout nvitop"},
    {OPTION("mem-util-thresh", PAIR, LOOK, WATCH, view.memory_thresholds), .argument = "LOW HIGH",
     .preset = "10,80", .minimum = 1, .maximum = 99, .everywhere = true,
     .foreign = "NVITOP_MEMORY_UTILIZATION_THRESHOLDS",
     .help = "percent of memory use from which a GPU counts as moderately and as heavily loaded: "
             "yellow and red in vitals -1 and with --layout nvitop"},

    {OPTION("only", NUMBERS, FILTER, WATCH, filter.only), .brief = "o", .argument = "INDEX...",
     .minimum = 0, .maximum = 65535, .least = 1, .help = "only the devices with these numbers"},
    {OPTION("only-visible", FLAG, FILTER, VIEW, filter.only_visible), .brief = "ov",
     .help = "only the devices of CUDA_VISIBLE_DEVICES; -o is stronger"},
    {OPTION("compute", FLAG, FILTER, WATCH, filter.compute), .brief = "c",
     .help = "processes that compute (type C or C+G)"},
    {OPTION("only-compute", FLAG, FILTER, WATCH, filter.only_compute), .brief = "C",
     .help = "processes that only compute (type C)"},
    {OPTION("graphics", FLAG, FILTER, WATCH, filter.graphics), .brief = "g",
     .help = "processes that draw (type G or C+G)"},
    {OPTION("only-graphics", FLAG, FILTER, WATCH, filter.only_graphics), .brief = "G",
     .help = "processes that only draw (type G)"},
    {OPTION("user", WORDS, FILTER, WATCH, filter.users), .brief = "u", .argument = "[USER...]",
     .help = "processes of these users; without a name, your own"},
    {OPTION("pid", NUMBERS, FILTER, WATCH, filter.pids), .brief = "p", .argument = "PID...",
     .minimum = OPTION_PID_LEAST, .maximum = OPTION_PID_MOST, .least = 1,
     .help = "these processes"},

    {OPTION("columns", WORDS, SHOW, PS, table.columns), .brief = "o", .argument = "NAME,...",
     .value = ps_column_word, .least = 1, .most = 1,
     .help = "show these columns: names of ps(1) and every metric of a process (vitals metrics); "
             "NAME=HEADER gives another header; user, uid, group and gid are the effective ones, "
             "ruser, ruid, rgroup and rgid the real ones, which the metrics have without the r"},
    {OPTION("columns", WORDS, SHOW, DEVICE, table.columns), .brief = "o", .argument = "NAME,...",
     .value = device_column_word, .least = 1, .most = 1,
     .help = "print a line for each device and partition with these columns: label, and every "
             "metric of a gpu (vitals metrics); NAME=HEADER gives another header; all are printed, "
             "if need be in lines longer than the terminal"},
    {OPTION("verbose", FLAG, SHOW, DEVICE, look.verbose), .brief = "v", .excludes = "columns",
     .help = "say why a value is missing"},
    {OPTION("sort", WORDS, SHOW, PS, ps.sort), .argument = "NAME,...", .value = ps_column_word,
     .least = 1, .most = 1, .dashed = true,
     .help = "sort by these columns, ascending, instead of by pid; -NAME: descending; missing "
             "values come last"},
    {OPTION("limit", NUMBER, SHOW, PS, ps.limit), .brief = "n", .argument = "N", .minimum = 1,
     .maximum = 1e15, .help = "only the first N processes in sorted order"},
    {OPTION("tree", FLAG, SHOW, PS, ps.tree), .help = "children below their parents"},
    {OPTION("csv", FLAG, SHOW, PS, table.csv), .excludes = "json",
     .help = "print CSV: names of columns on top (-o takes them again), base units, an empty field "
             "for what is missing; text is not changed: a spreadsheet may read =, +, - or @ at its "
             "beginning as a formula"},
    {OPTION("json", FLAG, SHOW, PS, look.json), .excludes = "tree",
     .help = "print a snapshot with these processes and the metrics of these columns, as vitals "
             "--json does, a line each; they are in .tables.process"},
    {OPTION("csv", FLAG, SHOW, DEVICE, table.csv), .excludes = "json",
     .help = "print CSV: names of columns on top, base units, an empty field for what is missing; "
             "without -o every column"},
    {OPTION("json", FLAG, SHOW, DEVICE | TOPO | DOCTOR, look.json),
     .help = "print a snapshot with everything, as vitals --json does"},
    {OPTION("json", FLAG, SHOW, INFO, look.json),
     .help = "print everything as a snapshot, a line for each process"},
    {OPTION("environment", FLAG, SHOW, INFO, info.environment), .brief = "e",
     .help = "show the variables too, which may hold secrets"},
    {OPTION("no-header", FLAG, SHOW, PS | DEVICE, table.no_header),
     .help = "leave out the header line"},
    {OPTION("bytes", FLAG, SHOW, PS | DEVICE, table.bytes), .brief = "b", .everywhere = true,
     .help = "print memory in bytes instead of K, M and G (of 1024)"},
    {OPTION("count", NUMBER, SHOW, PS | DEVICE, sampling.count), .argument = "N", .minimum = 1,
     .maximum = 1e15, .needs = "interval", .help = "end after N tables of --interval"},
    {OPTION("from", TEXT, SHOW, PS, machine.from), .argument = "FILE", .excludes = "interval",
     .help = "show the processes of a snapshot that --json or vitals record --processes saved; - "
             "is standard input"},

    {OPTION("from", TEXT, SHOW, DEVICE | TOPO, machine.from), .argument = "FILE",
     .help = "show the devices of a snapshot that --json or vitals record saved; - is standard "
             "input"},
    {OPTION("from", TEXT, SHOW, DOCTOR, machine.from), .argument = "FILE",
     .help = "show what vitals doctor --json saved; - is standard input"},

    {OPTION("inherit", MAYBE, CHOICE, SELECT, select.inherit), .brief = "i", .argument = "DEVICES",
     .implied = SELECT_INHERIT, .literal = true, .takes = is_device_list,
     .help = "select only among DEVICES, a list as CUDA_VISIBLE_DEVICES holds it: 2,5; default: "
             "that variable. Write -- before a COMMAND that is a number"},
    {OPTION("account-as-free", WORDS, CHOICE, SELECT, select.free_accounts),
     .argument = "[USER...]",
     .help = "count memory held by these users' processes as free; default: your own processes"},
    {OPTION("count", NUMBER, CHOICE, SELECT, select.count), .brief = "n", .argument = "N",
     .minimum = 0, .maximum = 128, .excludes = "min-count",
     .help = "select exactly N GPUs; 0: none, an empty list"},
    {OPTION("min-count", NUMBER, CHOICE, SELECT, select.min_count), .brief = "c", .argument = "N",
     .preset = "1", .minimum = 0, .maximum = 128,
     .help = "select at least N GPUs, else exit with 3; 0: an empty list is no failure"},
    {OPTION("max-count", NUMBER, CHOICE, SELECT, select.max_count), .brief = "C", .argument = "N",
     .minimum = 0, .maximum = 128, .excludes = "count",
     .help = "select at most N GPUs; default: all that qualify, or --min-count of them when "
             "running a command, waiting or locking"},
    {OPTION("min-free-memory", TEXT, CHOICE, SELECT, select.min_free), .brief = "f",
     .argument = "SIZE",
     .help = "require this much free memory on each GPU: 40GiB, 500M (of 1000), 1000000"},
    {OPTION("min-total-memory", TEXT, CHOICE, SELECT, select.min_total), .brief = "t",
     .argument = "SIZE", .help = "require this much memory in total on each GPU"},
    {OPTION("max-gpu-utilization", NUMBER, CHOICE, SELECT, select.max_utilization), .brief = "G",
     .argument = "PERCENT", .minimum = 0, .maximum = 100,
     .help = "skip GPUs busier than PERCENT"},
    {OPTION("max-memory-utilization", NUMBER, CHOICE, SELECT, select.max_memory_utilization),
     .brief = "M", .argument = "PERCENT", .minimum = 0, .maximum = 100,
     .help = "skip GPUs whose memory is busier than PERCENT"},
    {OPTION("tolerance", NUMBER, CHOICE, SELECT, select.tolerance), .alias = "tol",
     .argument = "PERCENT", .preset = "0", .minimum = 0, .maximum = 100,
     .help = "also accept GPUs that miss a limit by up to PERCENT, after all others"},
    {OPTION("no-sort", FLAG, CHOICE, SELECT, select.no_sort), .brief = "S",
     .help = "keep the order of the device numbers; default: best GPU first"},
    {OPTION("format", TEXT, SHOW, SELECT, select.id_format), .brief = "O", .argument = "index|uuid",
     .preset = "index",
     .help = "print device numbers as the vendor's tools count them, or UUIDs; MIG devices are "
             "always printed as UUIDs"},
    {OPTION("sep", TEXT, SHOW, SELECT, select.separator), .alias = "separator", .brief = "s",
     .argument = "TEXT", .preset = ",", .help = "put TEXT between the devices"},
    {OPTION("newline", FLAG, SHOW, SELECT, select.newline), .excludes = "null",
     .help = "print each device on a line of its own"},
    {OPTION("null", FLAG, SHOW, SELECT, select.null), .brief = "0",
     .help = "print a NUL byte after each device, for xargs -0"},
    {OPTION("wait", FLAG, JOB, SELECT, select.wait), .help = "wait until enough GPUs are free"},
    {OPTION("timeout", DURATION, JOB, SELECT, select.timeout_ns), .argument = "TIME", .minimum = 0,
     .maximum = 31536000, .needs = "wait",
     .help = "with --wait: give up after TIME and exit with 124"},
    {OPTION("interval", DURATION, JOB, SELECT, sampling.interval_ns), .argument = "TIME",
     .minimum = 0.01, .maximum = 86400,
     .help = "with --wait: check for free GPUs this often; default: every second"},
    {OPTION("lock", FLAG, JOB, SELECT, select.lock),
     .help = "reserve the selected GPUs against other vitals select and vitals run --gpus calls "
             "until COMMAND and its children exit, even if vitals is killed"},
    {OPTION("lock-folder", TEXT, JOB, SELECT, select.lock_folder), .argument = "FOLDER",
     .everywhere = true,
     .help = "keep the locks in FOLDER, which must be the same for all users of the GPUs; default: "
             "/run/lock if every user may write there, else /tmp"},

    {OPTION("user", WORDS, SELECT, CHOOSERS, choice.users), .brief = "u", .argument = "USER,...",
     .least = 1, .most = 1, .help = "with the rights of these users (names or numbers)"},
    {OPTION("pid", NUMBERS, SELECT, CHOOSERS, choice.pids), .brief = "p", .argument = "PID,...",
     .minimum = OPTION_PID_LEAST, .maximum = OPTION_PID_MOST, .least = 1, .most = 1,
     .help = "with these pids"},
    {OPTION("name", WORDS, SELECT, CHOOSERS, choice.names), .argument = "NAME,...", .least = 1,
     .most = 1,
     .help = "with this name, or one that the pattern matches: \"python*\""},
    {OPTION("match", TEXT, SELECT, CHOOSERS, choice.match), .argument = "REGEX",
     .help = "whose command line the extended regular expression matches somewhere"},
    {OPTION("state", WORDS, SELECT, CHOOSERS, choice.states), .argument = "STATE,...",
     .choices = states, .least = 1, .most = 1,
     .help = "in this state: running, sleeping, disk_sleep, stopped, tracing_stop, zombie, idle, "
             "or a letter of ps(1)"},
    {OPTION("gpu", FLAG, SELECT, CHOOSERS, choice.gpu_users), .help = "that use a GPU"},
    {OPTION("cgroup", WORDS, SELECT, CHOOSERS, choice.cgroups), .argument = "TEXT,...", .least = 1,
     .most = 1,
     .help = "whose cgroup holds the text in its path; with * or ? the whole path must match"},
    {OPTION("container", WORDS, SELECT, CHOOSERS, choice.containers), .argument = "ID,...",
     .least = 1, .most = 1, .help = "in the container whose id begins with ID"},
    {OPTION("children", NUMBERS, SELECT, CHOOSERS, choice.parents), .argument = "PID,...",
     .minimum = OPTION_PID_LEAST, .maximum = OPTION_PID_MOST, .least = 1, .most = 1,
     .help = "that descend from these"},
    {OPTION("parent", NUMBERS, SELECT, CHOOSERS, choice.direct_parents), .brief = "P",
     .argument = "PID,...", .minimum = OPTION_PID_LEAST, .maximum = OPTION_PID_MOST, .least = 1,
     .most = 1, .help = "that are children of these, and not of their children"},
    {OPTION("exact", FLAG, SELECT, CHOOSERS, choice.exact), .brief = "x", .needs = "match",
     .help = "--match must match the whole command line"},
    {OPTION("newest", FLAG, SELECT, CHOOSERS, choice.newest), .excludes = "oldest",
     .help = "of those, only the one that was started last"},
    {OPTION("oldest", FLAG, SELECT, CHOOSERS, choice.oldest),
     .help = "of those, only the one that was started first"},
    {OPTION("inverse", FLAG, SELECT, PS, choice.inverse), .brief = "v",
     .help = "all that the other options do not choose"},

    {OPTION("signal", TEXT, SIGNAL, KILL, kill.signal), .brief = "s", .argument = "SIGNAL",
     .value = signal_word,
     .help = "send SIGNAL instead of TERM: KILL, SIGKILL or 9; also as -KILL or -9; 0 only checks "
             "that they exist and may be signalled"},
    {OPTION("list", FLAG, SIGNAL, KILL, kill.list), .brief = "l",
     .help = "list the signals, or translate the given numbers and names"},
    {OPTION("yes", FLAG, SIGNAL, KILL, kill.yes), .brief = "y", .excludes = "dry-run",
     .help = "do not ask"},
    {OPTION("dry-run", FLAG, SIGNAL, KILL, kill.dry_run),
     .help = "only show what would be signalled"},
    {OPTION("wait", DURATION, SIGNAL, KILL, kill.wait_ns), ALSO(kill.wait_ended),
     .argument = "TIME", .implied = "31536000", .minimum = 0, .maximum = 31536000,
     .help = "wait until they have ended, or for TIME at most"},
    {OPTION("force-after", DURATION, SIGNAL, KILL, kill.force_ns), .argument = "TIME",
     .minimum = 0.01, .maximum = 86400,
     .help = "wait TIME, then send KILL to those still alive"},

    {OPTION("json", TEXT, RUN, RUN | TRACK, run.json_path), .common = RUN, .argument = "FILE",
     .help = "also write the account to FILE as JSON; - is standard output"},
    {OPTION("record", TEXT, RUN, RUN | TRACK, recording.path), .common = RUN, .argument = "FILE",
     .help = "write each sample to FILE as it is taken: .db for SQLite, .csv for CSV; vitals "
             "report reads both. - is standard output and gets CSV"},
    {OPTION("format", TEXT, RUN, RUN, recording.format), .brief = "f", .argument = "NAME",
     .value = recorder_format_name, .needs = "record",
     .help = "recording format, overriding the ending of FILE: vitals, vitals-csv, gpu-tracker, "
             "gpu-tracker-sqlite, resource-tracker[-process|-system|-combined], "
             "resource-tracker-0.1[-process|-system]"},
    {OPTION("format", TEXT, RUN, TRACK, recording.format), .brief = "f", .argument = "NAME",
     .value = recorder_format_name,
     .help = "recording format, overriding the ending of FILE; without --record, the format of "
             "lines on standard output: vitals, vitals-csv, gpu-tracker, gpu-tracker-sqlite, "
             "resource-tracker[-process|-system|-combined], "
             "resource-tracker-0.1[-process|-system]"},
    {OPTION("overwrite", FLAG, RUN, RUN | TRACK, recording.overwrite), .needs = "record",
     .help = "replace an existing recording"},
    {OPTION("rotate", TEXT, RUN, RUN | TRACK, recording.rotate), .argument = "SIZE|TIME",
     .needs = "record",
     .help = "start a new recording at that size (100MiB) or age (1h); the older ones are FILE.1, "
             "FILE.2 and so on, the highest the newest"},
    {OPTION("output", TEXT, RUN, RECORD, recording.path), .brief = "o", .argument = "FILE",
     .help = "record into FILE: .db for SQLite, .csv for CSV; - is standard output and gets CSV. "
             "The same as FILE alone"},
    {OPTION("format", TEXT, RUN, RECORD, recording.format), .brief = "f", .argument = "NAME",
     .choices = record_forms,
     .help = "recording format, overriding the ending of FILE: vitals, vitals-csv, gpu-tracker, "
             "resource-tracker, resource-tracker-0.1, the last two also with -system"},
    {OPTION("overwrite", FLAG, RUN, RECORD, recording.overwrite),
     .help = "replace an existing recording"},
    {OPTION("no-header", FLAG, RUN, MEASURERS, recording.no_header),
     .help = "leave out the header line of CSV"},
    {OPTION("processes", FLAG, RUN, RECORD, record.processes),
     .help = "record every process too, in the snapshots of a .db file"},
    {OPTION("count", NUMBER, RUN, RECORD, sampling.count), .brief = "n", .argument = "N",
     .minimum = 1, .maximum = 1e15, .help = "end after N samples"},
    {OPTION("duration", DURATION, RUN, RECORD, record.duration_ns), .brief = "d",
     .argument = "TIME", .minimum = 0.01, .maximum = 31536000,
     .help = "stop recording after TIME; default: at Ctrl-C"},
    {OPTION("rotate", TEXT, RUN, RECORD, recording.rotate), .argument = "SIZE|TIME",
     .help = "start a new recording at that size (100MiB) or age (1h); the older ones are FILE.1, "
             "FILE.2 and so on, the highest the newest"},
    {OPTION("keep", NUMBER, RUN, MEASURERS, recording.keep), .argument = "N", .minimum = 1,
     .maximum = 1000000, .needs = "rotate", .help = "keep at most N of the older recordings"},
    {OPTION("repeat", NUMBER, RUN, RUN, run.repeat), .common = RUN,
     .brief = "n", .argument = "N", .minimum = 1,
     .maximum = 1000000,
     .help = "run the command N times in sequence, and print mean, minimum, maximum and standard "
             "deviation of each figure; stop after a failed run. --record a.db records into "
             "a.1.db, a.2.db and so on, as vitals compare takes them"},
    {OPTION("quiet", FLAG, RUN, RUN | TRACK, run.quiet), .common = RUN,
     .brief = "q", .excludes = "verbose",
     .help = "print only enforced limits and errors of vitals itself, as a file or server that it "
             "could not write to"},
    {OPTION("verbose", FLAG, RUN, MARK, look.verbose), .brief = "v",
     .help = "say why a phase was not marked"},
    {OPTION("verbose", FLAG, RUN, RUN | TRACK, look.verbose), .common = RUN, .brief = "v",
     .help = "print every figure, and how each was measured"},
    {OPTION("backup", TEXT, RUN, RUN | TRACK, run.backup), .argument = "FILE",
     .no_stream = "it is replaced while the run lasts",
     .help = "keep running totals in FILE, for vitals report if vitals is killed, and remove it at "
             "the end; default: a file in vitals/ in $XDG_STATE_HOME or ~/.local/state"},
    {OPTION("no-backup", FLAG, RUN, RUN | TRACK, run.no_backup), .excludes = "backup",
     .help = "keep no running totals in a file"},

    {OPTION("expected-cores", NUMBER, MEASURE, MEASURERS, measure.expected_cores), .argument = "N",
     .minimum = 1, .maximum = 1000000,
     .help = "count N cores as 100 % of CPU; default: the cores that the processes may use"},
    {OPTION("devices", WORDS, MEASURE, MEASURERS, measure.devices), .argument = "UUID,...",
     .least = 1, .most = 1,
     .help = "measure only these GPUs: UUIDs or their beginnings, numbers, or PCI addresses; "
             "default: all"},
    {OPTION("brand", TEXT, MEASURE, MEASURERS, measure.brand), .argument = "nvidia|amd|intel",
     .help = "measure only GPUs of this vendor"},
    {OPTION("no-children", FLAG, MEASURE, RUN | TRACK, measure.no_children),
     .help = "sample the process alone, without what it starts; figures that the kernel counts "
             "still include everything"},
    {OPTION("methods", TEXT, MEASURE, RUN, measure.methods), .alias = "rungs",
     .argument = "NAME,...", .choices = methods,
     .help = "use only these accounting methods, best first: cgroup2 systemd perf taskstats "
             "cgroup1 connector wait4 sampling; default: all that are permitted. The last two are "
             "always available"},

    {OPTION("wait", FLAG, JOB, RUN, run.wait),
     .help = "also wait for processes that the command leaves running"},
    {OPTION("gpus", NUMBER, JOB, RUN, run.gpus), .common = RUN,
     .argument = "N", .minimum = 1, .maximum = 128,
     .help = "wait for N free GPUs, lock them and run the command on them alone, as vitals select "
             "--wait --lock does"},
    {OPTION("min-free-memory", TEXT, JOB, RUN, select.min_free), .argument = "SIZE",
     .needs = "gpus",
     .help = "with --gpus: require this much free memory on each GPU, e.g. 40GiB"},
    {OPTION("max-gpu-utilization", NUMBER, JOB, RUN, select.max_utilization), .argument = "PERCENT",
     .minimum = 0, .maximum = 100, .needs = "gpus",
     .help = "with --gpus: skip GPUs busier than PERCENT"},
    {OPTION("tolerance", NUMBER, JOB, RUN, select.tolerance), .alias = "tol", .argument = "PERCENT",
     .preset = "0", .minimum = 0, .maximum = 100, .needs = "gpus",
     .help = "with --gpus: also accept GPUs that miss a limit by up to PERCENT, after all others"},
    {OPTION("gpus-chosen", FLAG, JOB, RUN, run.gpus_chosen), .needs = "gpus"},

    {OPTION("limit-time", DURATION, LIMIT, RUN, run.limits.time_ns), .common = RUN,
     .argument = "TIME",
     .minimum = 0.01, .maximum = 31536000,
     .help = "end the command after TIME: TERM to all its processes, KILL after --limit-grace"},
    {OPTION("limit-memory", TEXT, LIMIT, RUN, run.limits.memory), .common = RUN, .argument = "SIZE",
     .help = "end the command when its processes together hold more than SIZE, as 40GiB or 500M; "
             "mapped files and huge pages of hugetlbfs do not count. If they pass it by 12.5 % (at "
             "least 16 MiB) at once, the kernel's cgroup limit kills: all processes with version 2, "
             "one with version 1. Without a cgroup that counts memory, vitals prints at the start "
             "which memory it cannot check"},
    {OPTION("limit-gpu-memory", TEXT, LIMIT, RUN, run.limits.gpu_memory), .argument = "SIZE",
     .help = "end the command when its processes use more than SIZE on all GPUs together"},
    {OPTION("limit-processes", NUMBER, LIMIT, RUN, run.limits.processes), .argument = "N",
     .minimum = 1, .maximum = OPTION_PID_MOST,
     .help = "end the command when it has more than N processes at once"},
    {OPTION("limit-grace", DURATION, LIMIT, RUN, run.limits.grace_ns), .argument = "TIME",
     .preset = "10s", .minimum = 0, .maximum = 86400,
     .help = "wait TIME between TERM and KILL when a limit ends the command"},
    {OPTION("kill-tree", FLAG, LIMIT, RUN, run.limits.kill_tree), .excludes = "wait",
     .help = "also end processes that the command leaves running, daemons too: TERM, then KILL "
             "after --limit-grace"},

    {OPTION("listen", WORDS, SERVE, SERVE, serve.listen), .argument = "ADDRESS[:PORT],...",
     .least = 1, .most = 1, .everywhere = true,
     .help = "listen on these addresses; default: localhost, which only this machine can reach. "
             "Write an IPv6 address in brackets: [::1]:9847; unix:/PATH is a socket. Addresses "
             "that other machines can reach need --web-config"},
    {OPTION("port", NUMBER, SERVE, SERVE, serve.port), .argument = "N", .preset = "9847",
     .minimum = 0, .maximum = 65535, .everywhere = true,
     .help = "listen on port N where --listen names none; 0: use a free port and print it"},
    {OPTION("web-config", TEXT, SERVE, SERVE, serve.web_config), .argument = "FILE",
     .everywhere = true, .no_stream = "it is read again when it has changed",
     .help = "TLS, passwords and client certificates, in the form of Prometheus' exporter-toolkit"},
    {OPTION("allow-insecure", FLAG, SERVE, SERVE, serve.allow_insecure), .everywhere = true,
     .help = "answer other machines without TLS and passwords: every client sees everything"},
    {OPTION("allow-host", WORDS, SERVE, SERVE, serve.allow_hosts), .argument = "NAME,...",
     .least = 1, .most = 1, .everywhere = true,
     .help = "accept requests for these host names too; default: only addresses, localhost and "
             "this machine's name, as protection against DNS rebinding"},
    {OPTION("processes", TEXT, SERVE, SERVE, serve.processes), .argument = "off|workload|pid",
     .preset = "workload",
     .help = "what to export of processes: nothing, not even on the page; sums of each workload "
             "(job, pod, container, unit) in /metrics; or each process there"},
    {OPTION("max-processes", NUMBER, SERVE, SERVE, serve.max_processes), .argument = "N",
     .preset = "256", .minimum = 1, .maximum = 100000, .everywhere = true,
     .help = "with --processes pid: at most N processes, and the rest summed as \"other\""},
    {OPTION("label-user", TEXT, SERVE, SERVE, serve.label_user), .argument = "name|uid|hash|off",
     .preset = "name", .everywhere = true, .help = "how users are shown"},
    {OPTION("compat", TEXT, SERVE, SERVE, serve.compat), .argument = "nvitop-exporter",
     .help = "name the metrics as nvitop-exporter does, for its dashboard in Grafana"},
    {OPTION("no-host", FLAG, SERVE, SERVE, serve.no_host), .everywhere = true,
     .help = "leave out host_* from /metrics, if node_exporter already covers the machine"},
    {OPTION("textfile", TEXT, SERVE, SERVE, serve.textfile), .argument = "FILE", .everywhere = true,
     .no_stream = "it is replaced with each sample",
     .help = "also write /metrics to FILE.prom with each sample, for the textfile collector of "
             "node_exporter"},
    {OPTION("interval", DURATION, SERVE, SERVE, sampling.interval_ns), .argument = "TIME",
     .minimum = 0.1, .maximum = 86400,
     .help = "take a sample this often: 5, 0.5s, 1min; default: 1 s. A request gets the last one"},

    {OPTION("mlflow", MAYBE, TELL, MEASURERS, export.mlflow.uri), .common = RUN,
     .argument = "URI", .implied = "",
     .help = "log samples, the account and the page of vitals report to a run of MLflow, at URI or "
             "where MLFLOW_TRACKING_URI says; vitals run gives its command the run as "
             "MLFLOW_RUN_ID"},
    {OPTION("mlflow", TEXT, TELL, COMMAND_SEND, send.mlflow), .argument = "URI",
     .help = "send to URI instead of the server that the file names, for one that has moved. The "
             "login is always the current one"},
    {OPTION("mlflow-run", TEXT, TELL, MEASURERS, export.mlflow.run), .argument = "ID",
     .needs = "mlflow",
     .help = "log to run ID; default: MLFLOW_RUN_ID, or a new run. \"new\": always a new run, "
             "nested under MLFLOW_RUN_ID"},
    {OPTION("mlflow-experiment", TEXT, TELL, MEASURERS, export.mlflow.experiment),
     .argument = "NAME", .needs = "mlflow",
     .help = "put a new run into experiment NAME; default: MLFLOW_EXPERIMENT_ID or "
             "MLFLOW_EXPERIMENT_NAME, or MLflow's own default"},
    {OPTION("mlflow-name", TEXT, TELL, MEASURERS, export.mlflow.name), .argument = "NAME",
     .needs = "mlflow",
     .help = "name a new run NAME; default: MLFLOW_RUN_NAME, or a name that MLflow invents"},
    {OPTION("mlflow-prefix", TEXT, TELL, MEASURERS, export.mlflow.prefix), .argument = "TEXT",
     .preset = "system/process/",
     .help = "begin the names of process metrics with TEXT; MLflow's tab of system metrics shows "
             "those below system/"},
    {OPTION("mlflow-interval", DURATION, TELL, MEASURERS, export.mlflow.interval_ns),
     .argument = "TIME", .preset = "10s", .minimum = 0.1, .maximum = 86400, .everywhere = true,
     .help = "log a point to MLflow this often"},
    {OPTION("mlflow-samples", NUMBER, TELL, MEASURERS, export.mlflow.samples), .argument = "N",
     .preset = "1", .minimum = 1, .maximum = 1000000, .everywhere = true,
     .help = "average N intervals into each point; the maximum is logged too"},
    {OPTION("max-memory", TEXT, TELL, MEASURERS, export.mlflow.memory), .argument = "SIZE",
     .needs = "mlflow",
     .help = "count SIZE as 100 % of memory in MLflow; default: that of --limit-memory, of the "
             "cgroup, or all memory"},
    {OPTION("max-cpus", NUMBER, TELL, MEASURERS, export.mlflow.cpus), .argument = "N", .minimum = 1,
     .maximum = 1000000, .needs = "mlflow",
     .help = "count N CPUs as 100 % of CPU in MLflow; default: the limit of the cgroup; without "
             "one, a single core is 100 %"},
    {OPTION("otlp", MAYBE, TELL, SERVE | MEASURERS, export.otlp), .argument = "URL", .implied = "",
     .help = "send metrics to an OpenTelemetry collector, over HTTP, at URL or where "
             "OTEL_EXPORTER_OTLP_ENDPOINT says; all OTEL_* variables of metrics are honored"},
    {OPTION("tensorboard", TEXT, TELL, MEASURERS, export.tensorboard), .argument = "FOLDER",
     .help = "write an event file for TensorBoard into FOLDER"},
    {OPTION("textfile", TEXT, TELL, COMMAND_RUN | COMMAND_TRACK, export.textfile),
     .argument = "FILE", .no_stream = "it is replaced each second",
     .help = "write what the run uses to FILE.prom, once a second and at its end, for the textfile "
             "collector of node_exporter"},
    {OPTION("cmdline", TEXT, TELL, SERVE | MEASURERS, export.command_line),
     .argument = "off|argv0|redacted|full", .preset = "off", .everywhere = true,
     .help = "how much of command lines is sent: nothing, the program, everything but what looks "
             "like a secret, or everything"},
    {OPTION("tell-wait", DURATION, TELL, MEASURERS, export.wait_ns), .argument = "TIME",
     .preset = "5s", .minimum = 0, .maximum = 3600, .everywhere = true,
     .help = "wait at most TIME for MLflow to create the run, and at the end for unsent data; then "
             "go on without"},
    {OPTION("tell-wait", DURATION, TELL, COMMAND_SEND, send.wait_ns), .argument = "TIME",
     .preset = "30s", .minimum = 1, .maximum = 86400,
     .help = "wait at most TIME for a server that does not answer"},

    {OPTION("interval", DURATION, GLOBAL, VIEW | METRICS, sampling.interval_ns), .argument = "TIME",
     .minimum = 0.01, .maximum = 86400, .everywhere = true,
     .help = "read this often: 2, 0.5s, 100ms, 1min; default: 1 s, and 2 s for the monitor's "
             "processes. The monitor reads every 100ms at most; the rates of a report depend on "
             "--delay instead"},
    {OPTION("interval", DURATION, MEASURE, MEASURERS, sampling.interval_ns), .common = RUN,
     .argument = "TIME",
     .minimum = 0.01, .maximum = 86400,
     .help = "read this often: 2, 0.5s, 100ms, 1min; default: 1 s"},
    {OPTION("interval", DURATION, SHOW, PS, sampling.interval_ns), .argument = "TIME",
     .minimum = 0.01, .maximum = 86400,
     .help = "print a table this often: 2, 0.5s, 100ms, 1min; %CPU is then the average over that "
             "time"},
    {OPTION("delay", DURATION, SHOW, DEVICE, sampling.delay_ns), .argument = "TIME",
     .preset = "100ms", .minimum = 0, .maximum = 3600, .everywhere = true,
     .help = "wait TIME between the two readings that give the rates of a report; 0: read once, "
             "without rates"},
    {OPTION("interval", DURATION, SHOW, DEVICE, sampling.interval_ns), .argument = "TIME",
     .minimum = 0.01, .maximum = 86400, .excludes = "from",
     .help = "print the devices this often: 2, 0.5s, 100ms, 1min"},
    {OPTION("ascii", FLAG, GLOBAL, ANY, look.ascii), .alias = "no-unicode", .brief = "U",
     .everywhere = true, .help = "use ASCII only; default: in locales other than UTF-8"},
    {OPTION("config", TEXT, GLOBAL, ANY, config), .argument = "FILE", .everywhere = true,
     .help = "read the configuration from FILE; - is standard input; default: vitals/config.json "
             "in $XDG_CONFIG_HOME or ~/.config"},
    {OPTION("trace", FLAG, GLOBAL, ANY, machine.trace), .everywhere = true,
     .help = "report on stderr what could not be opened, found or read in time"},
    {OPTION("help", CHOICE, GLOBAL, ANY, help_form), .brief = "h", ALSO(help), .argument = "all",
     .choices = help_forms, .help = "print this help and end; all: with every option"},
    {OPTION("version", FLAG, GLOBAL, ANY, version), .brief = "V",
     .help = "print the version and the built-in parts, and end"},

    {OPTION("demo", MAYBE, WORLD, ANY, machine.demo), .argument = "SCENARIO",
     .value = vitals_demo_name, .implied = "default", .everywhere = true,
     .help = "show invented GPUs with processes on them, to try vitals without a GPU"},
    {OPTION("seed", NUMBER, WORLD, ANY, machine.seed), .argument = "N", .minimum = 0,
     .maximum = 9007199254740992.0, .everywhere = true,
     .help = "seed of --demo: the same number gives the same values"},
    {OPTION("backends", TEXT, WORLD, ANY, machine.backends), .argument = "NAME,...",
     .choices = backends, .everywhere = true,
     .help = "look for these kinds of devices; none: no device at all"},
    {OPTION("proc-root", TEXT, WORLD, ANY, machine.proc_root), .argument = "FOLDER",
     .everywhere = true, .help = "read processes there instead of in /proc"},
    {OPTION("sys-root", TEXT, WORLD, ANY, machine.sys_root), .argument = "FOLDER",
     .everywhere = true, .help = "read devices there instead of in /sys"},
    {OPTION("dev-root", TEXT, WORLD, ANY, machine.dev_root), .argument = "FOLDER",
     .everywhere = true, .help = "look for device nodes there instead of in /dev"},
    {OPTION("no-bpf", FLAG, WORLD, ANY, machine.no_bpf), .everywhere = true,
     .help = "do not load the BPF program that reports which processes have run since the last "
             "reading; then all files of all processes are read each time"},
    {OPTION("device-wait", DURATION, WORLD, VIEW | DEVICE | TOPO | SELECT | RUN,
            machine.device_wait_ns),
     .argument = "TIME", .preset = "30s", .minimum = 0, .maximum = 3600, .everywhere = true,
     .help = "wait TIME at most for a driver that is still listing its GPUs; if it does not list "
             "all, the exit status is 1"},
    {OPTION("driver-share", NUMBER, WORLD, ANY, machine.driver_percent), .argument = "PERCENT",
     .preset = "10", .minimum = 1, .maximum = 100, .everywhere = true,
     .help = "read GPUs so seldom that their driver is busy with it at most PERCENT of the time; "
             "old values are marked"},
    {OPTION("nvml", TEXT, WORLD, ANY, machine.nvml), .argument = "PATH", .everywhere = true,
     .help = "load NVIDIA's library from PATH, if the loader does not find it"},
    {.name = NULL},
};
// clang-format on

_Static_assert(ARRAY_COUNT(option_table) <= SETTINGS_OPTIONS_MAX,
               "settings.origins has a byte for each option");

const char *option_group_name(enum option_group group)
{
    static const char *const names[GROUP_END] = {
        [GROUP_VIEW] = "What to show",
        [GROUP_FORM] = "Form",
        [GROUP_LOOK] = "How it looks",
        [GROUP_FILTER] = "Which devices and processes",
        [GROUP_SHOW] = "What to show",
        [GROUP_CHOICE] = "Which devices; of several options each must hold",
        [GROUP_JOB] = "For a job",
        [GROUP_SIGNAL] = "Signal",
        [GROUP_SELECT] = "Which processes; of several options each must hold",
        [GROUP_RUN] = "Account",
        [GROUP_MEASURE] = "What is measured",
        [GROUP_LIMIT] = "Limits",
        [GROUP_SERVE] = "Clients and metrics",
        [GROUP_TELL] = "Export",
        [GROUP_GLOBAL] = "With every command",
        [GROUP_WORLD] = "Sources"};
    return names[group];
}
