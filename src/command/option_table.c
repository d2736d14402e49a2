/* option_table.c: every option there is, in the order in which help shows them. */
#include "command/option.h"

#define OFFSET(field) .offset = offsetof(struct settings, field)
#define ALSO(field)   .also = offsetof(struct settings, field)

static const char *const monitor_modes[] = {"auto", "full", "compact", NULL};

/* What the view takes, `vitals options --settings` can tell the meaning of. */
enum {
    VIEW = COMMAND_VIEW | COMMAND_OPTIONS,
    RUN = COMMAND_RUN,
    METRICS = COMMAND_METRICS,
    OPTIONS = COMMAND_OPTIONS
};
#define ANY COMMAND_ANY

// One option, one paragraph.
// clang-format off
const struct option option_table[] = {
    {.name = "once", .brief = "1", .kind = OPTION_FLAG, .group = GROUP_VIEW, .commands = VIEW,
     OFFSET(once), .excludes = "monitor",
     .help = "print one report and end"},
    {.name = "monitor", .brief = "m", .kind = OPTION_CHOICE, .group = GROUP_VIEW,
     .commands = VIEW, OFFSET(monitor_mode), ALSO(monitor), .argument = "MODE",
     .choices = monitor_modes, .preset = "auto", .everywhere = true,
     .help = "watch the machine on a screen that keeps itself up to date: auto, full or compact; not "
             "built yet"},
    {.name = "json", .kind = OPTION_FLAG, .group = GROUP_VIEW, .commands = VIEW, OFFSET(json),
     .excludes = "monitor",
     .help = "print a snapshot as JSON; with --interval or --count several, a line each"},
    {.name = "count", .kind = OPTION_NUMBER, .group = GROUP_VIEW, .commands = VIEW, OFFSET(count),
     .argument = "N", .minimum = 1, .maximum = 1e15, .needs = "json",
     .help = "end after N snapshots of --json"},
    {.name = "from", .kind = OPTION_TEXT, .group = GROUP_VIEW, .commands = VIEW, OFFSET(from),
     .argument = "FILE", .excludes = "monitor",
     .help = "show what --json saved instead of this machine; - is standard input"},
    {.name = "delay", .kind = OPTION_DURATION, .group = GROUP_VIEW, .commands = VIEW,
     OFFSET(delay_ns), .argument = "TIME", .preset = "100ms", .minimum = 0, .maximum = 3600,
     .everywhere = true,
     .help = "between the two readings that the rates of a report are made of; 0 reads once"},

    {.name = "json", .kind = OPTION_FLAG, .group = GROUP_FORM, .commands = METRICS,
     OFFSET(form_json),
     .help = "print the catalogue as JSON"},
    {.name = "header", .kind = OPTION_FLAG, .group = GROUP_FORM, .commands = METRICS,
     OFFSET(form_header),
     .help = "print it as vitals/metrics.h"},
    {.name = "markdown", .kind = OPTION_FLAG, .group = GROUP_FORM, .commands = METRICS,
     OFFSET(form_markdown),
     .help = "print it as docs/metrics.md"},
    {.name = "schema", .kind = OPTION_FLAG, .group = GROUP_FORM, .commands = METRICS,
     OFFSET(form_schema),
     .help = "print the JSON Schema of a snapshot"},
    {.name = "markdown", .kind = OPTION_FLAG, .group = GROUP_FORM, .commands = OPTIONS,
     OFFSET(form_markdown),
     .help = "print the options as docs/options.md"},
    {.name = "man", .kind = OPTION_FLAG, .group = GROUP_FORM, .commands = OPTIONS,
     OFFSET(form_man),
     .help = "print the manual page"},
    {.name = "settings", .kind = OPTION_FLAG, .group = GROUP_FORM, .commands = OPTIONS,
     OFFSET(form_settings),
     .help = "print what arguments, environment and configuration come to, and which said it"},

    {.name = "readonly", .kind = OPTION_FLAG, .group = GROUP_LOOK, .commands = VIEW,
     OFFSET(readonly), .everywhere = true,
     .help = "the monitor, which is not built yet, sends no signals"},
    {.name = "colorful", .kind = OPTION_FLAG, .group = GROUP_LOOK, .commands = VIEW,
     OFFSET(colorful), .everywhere = true,
     .help = "bars of the monitor, which is not built yet, in 256 colors"},
    {.name = "force-color", .kind = OPTION_FLAG, .group = GROUP_LOOK, .commands = VIEW | RUN,
     OFFSET(force_color), .everywhere = true,
     .help = "colors even where the output is no terminal, and whatever NO_COLOR says"},
    {.name = "light", .kind = OPTION_FLAG, .group = GROUP_LOOK, .commands = VIEW, OFFSET(light),
     .everywhere = true,
     .help = "for a terminal with a light background (the monitor's, which is not built yet)"},
    {.name = "width", .kind = OPTION_NUMBER, .group = GROUP_LOOK, .commands = VIEW, OFFSET(width),
     .argument = "COLUMNS", .minimum = 79, .maximum = 4096, .everywhere = true,
     .foreign = "COLUMNS",
     .help = "of a report, 79 at least; otherwise the terminal's"},
    {.name = "gpu-util-thresh", .kind = OPTION_PAIR, .group = GROUP_LOOK, .commands = VIEW,
     OFFSET(gpu_thresholds), .argument = "LOW HIGH", .preset = "10,75", .minimum = 1,
     .maximum = 99, .everywhere = true, .foreign = "NVITOP_GPU_UTILIZATION_THRESHOLDS",
     .help = "percent of utilization from which a GPU counts as moderately and as heavily loaded"},
    {.name = "mem-util-thresh", .kind = OPTION_PAIR, .group = GROUP_LOOK, .commands = VIEW,
     OFFSET(memory_thresholds), .argument = "LOW HIGH", .preset = "10,80", .minimum = 1,
     .maximum = 99, .everywhere = true, .foreign = "NVITOP_MEMORY_UTILIZATION_THRESHOLDS",
     .help = "the same for its memory"},

    {.name = "only", .brief = "o", .kind = OPTION_NUMBERS, .group = GROUP_FILTER,
     .commands = VIEW, OFFSET(only), .argument = "INDEX...", .minimum = 0, .maximum = 65535,
     .least = 1,
     .help = "only the devices with these numbers"},
    {.name = "only-visible", .brief = "ov", .kind = OPTION_FLAG, .group = GROUP_FILTER,
     .commands = VIEW, OFFSET(only_visible),
     .help = "only the devices of CUDA_VISIBLE_DEVICES; -o is stronger"},
    {.name = "compute", .brief = "c", .kind = OPTION_FLAG, .group = GROUP_FILTER,
     .commands = VIEW, OFFSET(compute),
     .help = "processes that compute (type C or C+G)"},
    {.name = "only-compute", .brief = "C", .kind = OPTION_FLAG, .group = GROUP_FILTER,
     .commands = VIEW, OFFSET(only_compute),
     .help = "processes that only compute (type C)"},
    {.name = "graphics", .brief = "g", .kind = OPTION_FLAG, .group = GROUP_FILTER,
     .commands = VIEW, OFFSET(graphics),
     .help = "processes that draw (type G or C+G)"},
    {.name = "only-graphics", .brief = "G", .kind = OPTION_FLAG, .group = GROUP_FILTER,
     .commands = VIEW, OFFSET(only_graphics),
     .help = "processes that only draw (type G)"},
    {.name = "user", .brief = "u", .kind = OPTION_WORDS, .group = GROUP_FILTER, .commands = VIEW,
     OFFSET(users), .argument = "[NAME...]",
     .help = "processes of these users; without a name, your own"},
    {.name = "pid", .brief = "p", .kind = OPTION_NUMBERS, .group = GROUP_FILTER, .commands = VIEW,
     OFFSET(pids), .argument = "PID...", .minimum = 1, .maximum = 4194304, .least = 1,
     .help = "these processes"},

    {.name = "json", .kind = OPTION_TEXT, .group = GROUP_RUN, .commands = RUN, OFFSET(json_path),
     .argument = "FILE",
     .help = "write the account to FILE as JSON too"},
    {.name = "wait", .kind = OPTION_FLAG, .group = GROUP_RUN, .commands = RUN, OFFSET(wait),
     .help = "wait also for what the command leaves running behind it"},

    {.name = "interval", .kind = OPTION_DURATION, .group = GROUP_GLOBAL, .commands = ANY,
     OFFSET(interval_ns), .argument = "TIME", .minimum = 0.01, .maximum = 86400,
     .everywhere = true,
     .help = "between two readings: 2, 0.5s, 100ms, 1min; otherwise 1 s; a report's "
             "rates go by --delay"},
    {.name = "ascii", .alias = "no-unicode", .brief = "U", .kind = OPTION_FLAG,
     .group = GROUP_GLOBAL, .commands = ANY, OFFSET(ascii), .everywhere = true,
     .help = "ASCII only; so it is anyway where the locale is not UTF-8"},
    {.name = "config", .kind = OPTION_TEXT, .group = GROUP_GLOBAL, .commands = ANY,
     OFFSET(config), .argument = "FILE", .everywhere = true,
     .help = "configuration; otherwise vitals/config.json in $XDG_CONFIG_HOME or ~/.config"},
    {.name = "trace", .kind = OPTION_FLAG, .group = GROUP_GLOBAL, .commands = ANY, OFFSET(trace),
     .everywhere = true,
     .help = "tell on stderr what could not be opened, found or read in time"},
    {.name = "help", .brief = "h", .kind = OPTION_FLAG, .group = GROUP_GLOBAL, .commands = ANY,
     OFFSET(help),
     .help = "print this, and end"},
    {.name = "version", .brief = "V", .kind = OPTION_FLAG, .group = GROUP_GLOBAL, .commands = ANY,
     OFFSET(version),
     .help = "print the version and the parts that are built in, and end"},

    {.name = "demo", .kind = OPTION_MAYBE, .group = GROUP_WORLD, .commands = ANY, OFFSET(demo),
     .argument = "SCENARIO", .implied = "default", .everywhere = true,
     .help = "invented GPUs with processes on them, to try everything without any"},
    {.name = "seed", .kind = OPTION_NUMBER, .group = GROUP_WORLD, .commands = ANY, OFFSET(seed),
     .argument = "N", .minimum = 0, .maximum = 9007199254740992.0, .everywhere = true,
     .help = "of the demo: the same number, the same values"},
    {.name = "backends", .kind = OPTION_TEXT, .group = GROUP_WORLD, .commands = ANY,
     OFFSET(backends), .argument = "NAME,...", .everywhere = true,
     .help = "which kinds of devices to look for; none: no device at all"},
    {.name = "proc-root", .kind = OPTION_TEXT, .group = GROUP_WORLD, .commands = ANY,
     OFFSET(proc_root), .argument = "FOLDER", .everywhere = true,
     .help = "read processes there instead of in /proc"},
    {.name = "sys-root", .kind = OPTION_TEXT, .group = GROUP_WORLD, .commands = ANY,
     OFFSET(sys_root), .argument = "FOLDER", .everywhere = true,
     .help = "read devices there instead of in /sys"},
    {.name = "dev-root", .kind = OPTION_TEXT, .group = GROUP_WORLD, .commands = ANY,
     OFFSET(dev_root), .argument = "FOLDER", .everywhere = true,
     .help = "reserved for device nodes, instead of /dev; nothing reads it yet"},
    {.name = "nvml", .kind = OPTION_TEXT, .group = GROUP_WORLD, .commands = ANY, OFFSET(nvml),
     .argument = "PATH", .everywhere = true,
     .help = "NVIDIA's library, where the loader does not find it"},
    {.name = NULL},
};
// clang-format on

_Static_assert(sizeof option_table / sizeof option_table[0] <= SETTINGS_OPTIONS_MAX,
               "settings.origins has a byte for each option");

const char *option_group_name(enum option_group group)
{
    static const char *const names[GROUP_END] = {
        [GROUP_VIEW] = "What to show",     [GROUP_FORM] = "Form",
        [GROUP_LOOK] = "How it looks",     [GROUP_FILTER] = "Which devices and processes",
        [GROUP_RUN] = "Account",           [GROUP_GLOBAL] = "With every command",
        [GROUP_WORLD] = "Where it is read"};
    return names[group];
}
