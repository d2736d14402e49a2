/* ps_columns.c: see ps_columns.h. A new column is one row of the table. */
#include "command/processes/ps_columns.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "command/options/option.h"
#include "feed/rows.h"
#include "view/cell_text.h"

/* The arguments of a function that makes a value. */
struct ps_asked {
    const struct ps_view *view;
    const vitals_row *row;
    vitals_metric last; /* of those that the column needs */
};

typedef void ps_make(const struct ps_asked *asked, struct ps_value *out);

enum { PS_NAMES = 4 };

struct ps_kind {
    const char *names[PS_NAMES]; /* of ps(1), and ours */
    const char *title;
    const char *key; /* NULL: the metric's name */
    vitals_metric metric;
    ps_make *make; /* NULL: the metric's value */
    enum ps_show show;
    vitals_metric needs[PS_NEEDS];
};

/* ---- Values ---- */

static void put_composed(struct ps_value *out, vitals_availability availability)
{
    out->availability = availability;
    out->is_text = true;
    out->text = vitals_text_of(out->composed);
}

static void metric_value(const vitals_row *row, vitals_metric metric, struct ps_value *out)
{
    if (vitals_metric_type(metric) == VITALS_TEXT) {
        out->is_text = true;
        out->availability = vitals_row_text(row, metric, &out->text);
    } else {
        out->is_text = false;
        out->availability = vitals_row_number(row, metric, &out->number);
    }
}

static void make_age(const struct ps_asked *asked, struct ps_value *out)
{
    metric_value(asked->row, VITALS_PROCESS_START_SECONDS, out);
    out->number = ((double)vitals_snapshot_boottime_ns(asked->view->now) / 1e9) - out->number;
    if (out->availability > 0 && out->number < 0)
        out->number = 0;
}

/* The share of one CPU, over the life of the process. It begins at a clock tick: ten of them make
 * an average of it. */
static void make_cpu(const struct ps_asked *asked, struct ps_value *out)
{
    enum { TICKS_PER_SECOND = 100 };
    const double LEAST = 10.0 / TICKS_PER_SECOND;
    struct ps_value age, used;
    out->is_text = false;
    if (asked->view->older != NULL) {
        out->availability = vitals_row_rate(asked->row, asked->view->older,
                                            VITALS_PROCESS_CPU_SECONDS, &out->number);
        return;
    }
    metric_value(asked->row, VITALS_PROCESS_CPU_SECONDS, &used);
    make_age(asked, &age);
    out->number = used.number / age.number;
    out->availability = used.availability <= 0  ? used.availability
                        : age.availability <= 0 ? age.availability
                        : age.number < LEAST    ? VITALS_NOT_YET
                                                : used.availability;
}

static void make_memory(const struct ps_asked *asked, struct ps_value *out)
{
    const vitals_row *host = vitals_snapshot_next(asked->view->now, VITALS_TABLE_HOST, NULL);
    double total;
    metric_value(asked->row, VITALS_PROCESS_RESIDENT_BYTES, out);
    if (out->availability <= 0)
        return;
    if (host == NULL || vitals_row_number(host, VITALS_HOST_MEMORY_TOTAL_BYTES, &total) <= 0 ||
        !(total > 0))
        out->availability = VITALS_NOT_REQUESTED;
    else
        out->number /= total;
}

static void make_letter(const struct ps_asked *asked, struct ps_value *out)
{
    struct ps_value state;
    metric_value(asked->row, VITALS_PROCESS_STATE, &state);
    if (state.availability <= 0) {
        out->availability = state.availability;
        return;
    }
    out->composed[0] = cell_state(state.text.bytes);
    out->composed[1] = '\0';
    put_composed(out, state.availability);
}

/* Whether two numbers of a row are there and the same. */
static bool are_equal(const vitals_row *row, vitals_metric a, vitals_metric b)
{
    double first, second;
    return vitals_row_number(row, a, &first) > 0 && vitals_row_number(row, b, &second) > 0 &&
           first == second;
}

/* A number of a row; 0 if it is missing. */
static double number_of(const vitals_row *row, vitals_metric metric)
{
    double number;
    return vitals_row_number(row, metric, &number) > 0 ? number : 0;
}

/* As ps(1): the state; < or N by nice; L has locked pages (if STAT is named); s leads a session; l
 * has threads; + is in the foreground of its terminal. */
static void make_stat(const struct ps_asked *asked, struct ps_value *out)
{
    make_letter(asked, out);
    if (out->availability <= 0)
        return;
    const struct {
        bool applies;
        char letter;
    } marks[] = {
        {number_of(asked->row, VITALS_PROCESS_NICE) < 0, '<'},
        {number_of(asked->row, VITALS_PROCESS_NICE) > 0, 'N'},
        {number_of(asked->row, VITALS_PROCESS_LOCKED_BYTES) > 0, 'L'},
        {are_equal(asked->row, VITALS_PROCESS_SESSION, VITALS_PROCESS_PID), 's'},
        {number_of(asked->row, VITALS_PROCESS_THREADS) > 1, 'l'},
        {are_equal(asked->row, VITALS_PROCESS_FOREGROUND_GROUP, VITALS_PROCESS_PROCESS_GROUP), '+'},
    };
    size_t used = 1;
    for (size_t i = 0; i < ARRAY_COUNT(marks); i++) {
        if (marks[i].applies)
            out->composed[used++] = marks[i].letter;
    }
    out->composed[used] = '\0';
    put_composed(out, out->availability);
}

/* A terminal's name, or ? for none, as ps(1) writes it. */
static void make_terminal(const struct ps_asked *asked, struct ps_value *out)
{
    metric_value(asked->row, VITALS_PROCESS_TERMINAL, out);
    if (out->availability > 0 && out->text.size == 0)
        out->text = (vitals_text){"?", 1};
}

/* A process without realtime scheduling has none, as in ps(1). */
static void make_realtime(const struct ps_asked *asked, struct ps_value *out)
{
    metric_value(asked->row, VITALS_PROCESS_REALTIME_PRIORITY, out);
    if (out->availability <= 0 || out->number > 0)
        return;
    out->is_text = true;
    out->text = (vitals_text){"-", 1};
}

/* The name of a user or a group; the number where it has none, and of a file, which another machine
 * may have written. */
static void make_account(const struct ps_asked *asked, struct ps_value *out)
{
    const bool is_group = asked->last == VITALS_PROCESS_EFFECTIVE_GID ||
                          asked->last == VITALS_PROCESS_SAVED_GID ||
                          asked->last == VITALS_PROCESS_FILESYSTEM_GID;
    static struct {
        char name[sizeof out->composed]; /* of the id before: most have the same one */
        double id;
    } known[2] = {{"", -1}, {"", -1}};
    metric_value(asked->row, asked->last, out);
    if (out->availability <= 0)
        return;
    if (known[is_group].id != out->number) {
        const bool local = asked->view->local;
        const struct group *group = local && is_group ? getgrgid((gid_t)out->number) : NULL;
        const struct passwd *user = local && !is_group ? getpwuid((uid_t)out->number) : NULL;
        const char *name = group != NULL ? group->gr_name : user != NULL ? user->pw_name : NULL;
        known[is_group].id = out->number;
        if (name != NULL)
            snprintf(known[is_group].name, sizeof known[is_group].name, "%s", name);
        else
            snprintf(known[is_group].name, sizeof known[is_group].name, "%.0f", out->number);
    }
    snprintf(out->composed, sizeof out->composed, "%.*s", (int)sizeof out->composed - 1,
             known[is_group].name);
    put_composed(out, out->availability);
}

/* As ps(1): 1 has run no program since its fork, 4 used privileges. */
static void make_flags(const struct ps_asked *asked, struct ps_value *out)
{
    enum { SHIFT = 6, SHOWN = 7 };
    metric_value(asked->row, VITALS_PROCESS_KERNEL_FLAGS, out);
    if (out->availability > 0)
        out->number = (double)((uint64_t)out->number >> SHIFT & SHOWN);
}

/* -1 where it has no terminal, as in ps(1). */
static void make_foreground(const struct ps_asked *asked, struct ps_value *out)
{
    metric_value(asked->row, VITALS_PROCESS_FOREGROUND_GROUP, out);
    if (out->availability != VITALS_UNSUPPORTED)
        return;
    out->availability = VITALS_HAVE;
    out->number = -1;
}

/* The use of one CPU in whole percent, at most 99. */
static void make_whole_cpu(const struct ps_asked *asked, struct ps_value *out)
{
    const double most = 99;
    make_cpu(asked, out);
    if (out->availability <= 0)
        return;
    double percent = out->number * 100 < most ? out->number * 100 : most;
    out->number = (double)(uint64_t)(percent > 0 ? percent : 0);
}

/* The systemd slice: the last of those that the path of the cgroup begins with, else the root. */
static void make_slice(const struct ps_asked *asked, struct ps_value *out)
{
    static const char END[] = ".slice";
    const size_t end_size = sizeof END - 1;
    metric_value(asked->row, VITALS_PROCESS_CGROUP, out);
    if (out->availability <= 0)
        return;
    const char *at = out->text.bytes;
    out->text = vitals_text_of("-.slice");
    while (*at == '/') {
        size_t size = strcspn(++at, "/");
        if (size <= end_size || memcmp(at + size - end_size, END, end_size) != 0)
            break;
        out->text = (vitals_text){at, size};
        at += size;
    }
}

/* The kernel's priority turned round, as ps(1) has it: more is more. */
static void make_priority(const struct ps_asked *asked, struct ps_value *out)
{
    metric_value(asked->row, VITALS_PROCESS_PRIORITY, out);
    out->number = 39 - out->number;
}

/* ---- Devices ---- */

/* The devices that it is on: "0,3". A process on none has an empty list. */
static void make_gpus(const struct ps_asked *asked, struct ps_value *out)
{
    size_t used = 0;
    out->composed[0] = '\0';
    for (const vitals_row *use = NULL; (use = row_next_use(asked->row, use)) != NULL;) {
        const vitals_row *gpu = vitals_snapshot_find(asked->view->now, VITALS_TABLE_GPU,
                                                     vitals_row_parent(use));
        const char *label = gpu != NULL ? vitals_row_label(gpu) : "?";
        if (used + strlen(label) + 2 < sizeof out->composed)
            used += (size_t)snprintf(out->composed + used, sizeof out->composed - used, "%s%s",
                                     used > 0 ? "," : "", label);
    }
    bool has_users = vitals_snapshot_has_table(asked->view->now, VITALS_TABLE_GPU_PROCESS);
    put_composed(out, has_users ? VITALS_HAVE : VITALS_NOT_REQUESTED);
}

/* The sum over its devices; missing where one is. */
static void make_gpu_sum(const struct ps_asked *asked, struct ps_value *out)
{
    double sum = 0, number;
    out->availability = VITALS_UNSUPPORTED; // it is on none
    for (const vitals_row *use = NULL; (use = row_next_use(asked->row, use)) != NULL;) {
        vitals_availability availability = vitals_row_number(use, asked->last, &number);
        if (availability <= 0) {
            out->availability = availability;
            return;
        }
        sum += number;
        out->availability = availability;
        out->number = sum;
    }
}

/* ---- The table ---- */

#define NAME(suffix)   VITALS_PROCESS_##suffix
#define METRIC(suffix) .metric = NAME(suffix)
#define NEEDS(...)     .needs = {__VA_ARGS__}
#define ON_DEVICE      VITALS_GPU_PROCESS_PID, VITALS_GPU_PROCESS_PROCESS

/* Names of metrics stand for themselves; here is what ps(1) calls them, and what has no metric.
 * Four names mean something else there: user, uid, group and gid are the effective ones in ps(1),
 * and so they are here; the metrics that are called so are the real ones. */
// One column, one paragraph.
// clang-format off
static const struct ps_kind kinds[] = {
    {{"pid", "tgid"}, "PID", METRIC(PID)},
    {{"lwp", "tid", "spid"}, "LWP", METRIC(PID)},
    {{"ppid"}, "PPID", METRIC(PARENT_PID)},
    {{"pgid", "pgrp"}, "PGID", METRIC(PROCESS_GROUP)},
    {{"sid", "sess"}, "SID", METRIC(SESSION)},
    {{"euser", "uname"}, "EUSER", METRIC(EFFECTIVE_USER)},
    {{"user"}, "USER", METRIC(EFFECTIVE_USER)},
    {{"ruser"}, "RUSER", .key = "ruser", METRIC(USER)},
    {{"euid"}, "EUID", METRIC(EFFECTIVE_UID)},
    {{"uid"}, "UID", METRIC(EFFECTIVE_UID)},
    {{"ruid"}, "RUID", .key = "ruid", METRIC(UID)},
    {{"suid"}, "SUID", METRIC(SAVED_UID)},
    {{"egid"}, "EGID", METRIC(EFFECTIVE_GID)},
    {{"gid"}, "GID", METRIC(EFFECTIVE_GID)},
    {{"rgid"}, "RGID", .key = "rgid", METRIC(GID)},
    {{"sgid"}, "SGID", METRIC(SAVED_GID)},
    {{"group"}, "GROUP", .key = "effective_group", .make = make_account, .show = SHOW_TEXT,
     NEEDS(NAME(EFFECTIVE_GID))},
    {{"egroup"}, "EGROUP", .key = "effective_group", .make = make_account, .show = SHOW_TEXT,
     NEEDS(NAME(EFFECTIVE_GID))},
    {{"rgroup"}, "RGROUP", .key = "rgroup", METRIC(GROUP)},
    {{"svuid"}, "SVUID", METRIC(SAVED_UID)},
    {{"svgid"}, "SVGID", METRIC(SAVED_GID)},
    {{"suser", "svuser"}, "SUSER", .key = "saved_user", .make = make_account,
     .show = SHOW_TEXT, NEEDS(NAME(SAVED_UID))},
    {{"sgroup", "svgroup"}, "SGROUP", .key = "saved_group", .make = make_account,
     .show = SHOW_TEXT, NEEDS(NAME(SAVED_GID))},
    {{"fsuid", "fuid"}, "FSUID", METRIC(FILESYSTEM_UID)},
    {{"fsgid", "fgid"}, "FSGID", METRIC(FILESYSTEM_GID)},
    {{"fsuser", "fuser"}, "FSUSER", .key = "filesystem_user", .make = make_account,
     .show = SHOW_TEXT, NEEDS(NAME(FILESYSTEM_UID))},
    {{"fsgroup", "fgroup"}, "FSGROUP", .key = "filesystem_group", .make = make_account,
     .show = SHOW_TEXT, NEEDS(NAME(FILESYSTEM_GID))},
    {{"supgid"}, "SUPGID", METRIC(SUPPLEMENTARY_GIDS)},
    {{"supgrp"}, "SUPGRP", METRIC(SUPPLEMENTARY_GROUPS)},
    {{"luid"}, "LUID", METRIC(LOGIN_UID)},
    {{"%cpu", "pcpu", "cpu%"}, "%CPU", .key = "cpu_ratio", .make = make_cpu, .show = SHOW_PERCENT,
     NEEDS(NAME(CPU_SECONDS), NAME(START_SECONDS))},
    {{"%mem", "pmem", "mem%"}, "%MEM", .key = "memory_ratio", .make = make_memory,
     .show = SHOW_PERCENT, NEEDS(NAME(RESIDENT_BYTES), VITALS_HOST_MEMORY_TOTAL_BYTES)},
    {{"c"}, "C", .key = "cpu_percent", .make = make_whole_cpu, .show = SHOW_COUNT,
     NEEDS(NAME(CPU_SECONDS), NAME(START_SECONDS))},
    {{"vsz", "vsize"}, "VSZ", METRIC(VIRTUAL_BYTES)},
    {{"sz"}, "SZ", METRIC(VIRTUAL_BYTES)},
    {{"rss", "rssize", "rsz", "res"}, "RSS", METRIC(RESIDENT_BYTES)},
    {{"pss"}, "PSS", METRIC(PSS_BYTES)},
    {{"uss"}, "USS", METRIC(USS_BYTES)},
    {{"shr"}, "SHR", METRIC(SHARED_BYTES)},
    {{"swap"}, "SWAP", METRIC(SWAPPED_BYTES)},
    {{"trs"}, "TRS", METRIC(TEXT_BYTES)},
    {{"drs"}, "DRS", METRIC(DATA_BYTES)},
    {{"size"}, "SIZE", METRIC(DATA_BYTES)},
    {{"rbytes"}, "RBYTES", METRIC(READ_BYTES)},
    {{"wbytes"}, "WBYTES", METRIC(WRITTEN_BYTES)},
    {{"wcbytes"}, "WCBYTES", METRIC(CANCELLED_WRITE_BYTES)},
    {{"rchars"}, "RCHARS", METRIC(CALL_READ_BYTES)},
    {{"wchars"}, "WCHARS", METRIC(CALL_WRITTEN_BYTES)},
    {{"rops"}, "ROPS", METRIC(READ_CALLS)},
    {{"wops"}, "WOPS", METRIC(WRITE_CALLS)},
    {{"tty", "tt", "tname"}, "TTY", METRIC(TERMINAL), .make = make_terminal, .show = SHOW_TEXT},
    {{"stat"}, "STAT", .key = "stat", .make = make_stat, .show = SHOW_TEXT,
     NEEDS(NAME(STATE), NAME(NICE), NAME(SESSION), NAME(THREADS), NAME(PROCESS_GROUP),
           NAME(FOREGROUND_GROUP), NAME(LOCKED_BYTES))},
    {{"tpgid"}, "TPGID", METRIC(FOREGROUND_GROUP), .make = make_foreground, .show = SHOW_COUNT},
    {{"f", "flag", "flags"}, "F", .key = "ps_flags", .make = make_flags, .show = SHOW_COUNT,
     NEEDS(NAME(KERNEL_FLAGS))},
    {{"blocked", "sigmask", "sig_block"}, "BLOCKED", METRIC(SIGNALS_BLOCKED)},
    {{"ignored", "sigignore", "sig_ignore"}, "IGNORED", METRIC(SIGNALS_IGNORED)},
    {{"caught", "sigcatch", "sig_catch"}, "CAUGHT", METRIC(SIGNALS_CAUGHT)},
    {{"pending", "sig", "sig_pend"}, "PENDING", METRIC(SIGNALS_PENDING)},
    {{"label", "context"}, "LABEL", METRIC(SECURITY_LABEL)},
    {{"s"}, "S", .key = "state_letter", .make = make_letter, .show = SHOW_TEXT, NEEDS(NAME(STATE))},
    {{"start", "stime", "bsdstart", "start_time"}, "START", METRIC(START_SECONDS),
     .show = SHOW_START},
    {{"lstart"}, "STARTED", METRIC(START_SECONDS), .show = SHOW_DATE},
    {{"etime", "age"}, "ELAPSED", .key = "age_seconds", .make = make_age, .show = SHOW_DURATION,
     NEEDS(NAME(START_SECONDS))},
    {{"etimes"}, "ELAPSED", .key = "age_seconds", .make = make_age, .show = SHOW_SECONDS,
     NEEDS(NAME(START_SECONDS))},
    {{"time", "cputime", "bsdtime"}, "TIME", METRIC(CPU_SECONDS)},
    {{"times", "cputimes"}, "TIME", METRIC(CPU_SECONDS), .show = SHOW_SECONDS},
    {{"args", "cmd", "command"}, "COMMAND", METRIC(COMMAND_LINE), .show = SHOW_COMMAND,
     NEEDS(NAME(NAME), NAME(STATE))},
    {{"comm", "ucmd", "ucomm", "fname"}, "NAME", METRIC(NAME)},
    {{"exe"}, "EXE", METRIC(EXECUTABLE)},
    {{"cwd"}, "CWD", METRIC(WORKING_DIRECTORY)},
    {{"ni"}, "NI", METRIC(NICE)},
    {{"pri"}, "PRI", .key = "ps_priority", .make = make_priority, .show = SHOW_COUNT,
     NEEDS(NAME(PRIORITY))},
    {{"pr"}, "PR", METRIC(PRIORITY)},
    {{"rtprio"}, "RTPRIO", METRIC(REALTIME_PRIORITY), .make = make_realtime, .show = SHOW_COUNT},
    {{"policy", "cls", "sched", "class"}, "POLICY", METRIC(SCHEDULING_POLICY)},
    {{"nlwp", "thcount", "thr"}, "NLWP", METRIC(THREADS)},
    {{"psr", "cpuid", "lastcpu"}, "PSR", METRIC(CPU)},
    {{"nfd", "fds"}, "FDS", METRIC(DESCRIPTORS)},
    {{"minflt", "min_flt"}, "MINFLT", METRIC(MINOR_FAULTS)},
    {{"majflt", "maj_flt"}, "MAJFLT", METRIC(MAJOR_FAULTS)},
    {{"wchan"}, "WCHAN", METRIC(WAIT_CHANNEL)},
    {{"oom"}, "OOM", METRIC(OOM_SCORE)},
    {{"oomadj"}, "OOMADJ", METRIC(OOM_SCORE_ADJUST)},
    {{"cgname", "cgroup"}, "CGROUP", METRIC(CGROUP)},
    {{"slice"}, "SLICE", .key = "slice", .make = make_slice, .show = SHOW_TEXT,
     NEEDS(NAME(CGROUP))},
    {{"container"}, "CONTAINER", METRIC(CONTAINER)},
    {{"ipcns"}, "IPCNS", METRIC(IPC_NAMESPACE)},
    {{"mntns"}, "MNTNS", METRIC(MOUNT_NAMESPACE)},
    {{"netns"}, "NETNS", METRIC(NETWORK_NAMESPACE)},
    {{"pidns"}, "PIDNS", METRIC(PID_NAMESPACE)},
    {{"userns"}, "USERNS", METRIC(USER_NAMESPACE)},
    {{"utsns"}, "UTSNS", METRIC(UTS_NAMESPACE)},
    {{"cgroupns"}, "CGROUPNS", METRIC(CGROUP_NAMESPACE)},
    {{"timens"}, "TIMENS", METRIC(TIME_NAMESPACE)},
    {{"umask"}, "UMASK", METRIC(UMASK), .show = SHOW_OCTAL},
    {{"gpu", "gpus"}, "GPU", .key = "gpus", .make = make_gpus, .show = SHOW_TEXT,
     NEEDS(ON_DEVICE, VITALS_GPU_INDEX)},
    {{"gpumem", "gpu_mem"}, "GPUMEM", .key = "gpu_memory_used_bytes", .make = make_gpu_sum,
     .show = SHOW_BYTES, NEEDS(ON_DEVICE, VITALS_GPU_PROCESS_MEMORY_USED_BYTES)},
    {{"gpu%", "%gpu", "sm%"}, "%GPU", .key = "gpu_utilization_ratio", .make = make_gpu_sum,
     .show = SHOW_PERCENT, NEEDS(ON_DEVICE, VITALS_GPU_PROCESS_UTILIZATION_RATIO)},
};
// clang-format on

/* ---- Finding ---- */

static const struct ps_kind *kind_of_name(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
        for (size_t j = 0; j < PS_NAMES && kinds[i].names[j] != NULL; j++) {
            if (strcmp(kinds[i].names[j], name) == 0)
                return &kinds[i];
        }
    }
    return NULL;
}

static enum ps_show show_of(vitals_metric metric)
{
    const char *unit = vitals_metric_unit(metric);
    if (vitals_metric_type(metric) == VITALS_TEXT)
        return SHOW_TEXT;
    if (metric == VITALS_PROCESS_START_SECONDS || metric == VITALS_THREAD_START_SECONDS)
        return SHOW_START;
    if (metric == VITALS_PROCESS_UMASK || metric == VITALS_DESCRIPTOR_FLAGS)
        return SHOW_OCTAL;
    return strcmp(unit, "bytes") == 0                 ? SHOW_BYTES
           : strcmp(unit, "seconds") == 0             ? SHOW_DURATION
           : strcmp(unit, "ratio") == 0               ? SHOW_PERCENT
           : vitals_metric_type(metric) == VITALS_F64 ? SHOW_REAL
                                                      : SHOW_COUNT;
}

const char *ps_column_word(size_t index)
{
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
        for (size_t j = 0; j < PS_NAMES && kinds[i].names[j] != NULL; j++) {
            if (index-- == 0)
                return kinds[i].names[j];
        }
    }
    for (vitals_metric metric = 0;
         (metric = vitals_metric_next_of(VITALS_TABLE_PROCESS, metric)) != 0;) {
        const char *name = vitals_metric_name(metric);
        if (kind_of_name(name) == NULL && index-- == 0)
            return name;
    }
    return NULL;
}

int ps_column_find(const char *option, const char *name, struct ps_column *out)
{
    char wanted[PS_TITLE];
    size_t size = strcspn(name, "=");

    /* ps(1) knows names in capitals as well. */
    size_t used = 0;
    for (; used < size && used + 1 < PS_TITLE; used++) {
        char c = name[used];
        wanted[used] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    wanted[used] = '\0';

    /* By a name or a key of the table, else of the catalogue. A metric that the table has too looks
     * as there. */
    const struct ps_kind *kind = kind_of_name(wanted);
    vitals_metric metric = vitals_metric_find(VITALS_TABLE_PROCESS, wanted);
    for (size_t i = 0; kind == NULL && i < ARRAY_COUNT(kinds); i++) {
        if (kinds[i].key != NULL && strcmp(kinds[i].key, wanted) == 0)
            kind = &kinds[i];
    }
    for (size_t i = 0; kind == NULL && metric != 0 && i < ARRAY_COUNT(kinds); i++) {
        if (kinds[i].metric == metric)
            kind = &kinds[i];
    }
    if (size >= sizeof wanted || (kind == NULL && metric == 0)) {
        char before[64];
        snprintf(before, sizeof before, "%s: there is no column", option);
        return command_fail_unknown(
            before, name, "", ps_column_word,
            "names of ps(1) and the metrics of a process are known (vitals metrics)");
    }
    ps_column_of(kind != NULL ? kind->metric : metric, out);
    if (kind != NULL) {
        out->kind = kind;
        out->show = kind->show != 0 ? kind->show : out->show;
        out->key = kind->key != NULL ? kind->key : out->key;
        snprintf(out->title, sizeof out->title, "%s", kind->title);
    }
    if (name[size] == '=')
        (void)vitals_text_format(vitals_text_of(name + size + 1), VITALS_TEXT_TERMINAL, out->title,
                                 sizeof out->title);
    return 0;
}

void ps_column_of(vitals_metric metric, struct ps_column *out)
{
    *out = (struct ps_column){.metric = metric};
    if (metric == 0)
        return;
    out->show = show_of(metric);
    out->key = vitals_metric_name(metric);
    device_label(metric, out->title);
    for (char *c = out->title; *c != '\0'; c++)
        *c = *c == ' ' ? '_' : *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
}

void ps_columns_default(struct ps_columns *out, bool full)
{
    static const char *const AUX[] = {"euser=USER", "pid",  "%cpu",  "%mem", "vsz",  "rss",
                                      "tty",        "stat", "start", "time", "args", NULL};
    static const char *const FULL[] = {"euser=UID", "pid",  "ppid",     "c", "stime=STIME",
                                       "tty",       "time", "args=CMD", NULL};
    const char *const *names = full ? FULL : AUX;
    for (out->count = 0; names[out->count] != NULL; out->count++) {
        (void)ps_column_find("ps", names[out->count], &out->items[out->count]);
        out->items[out->count].by_default = true;
    }
}

void ps_columns_fall_back(struct ps_columns *columns, const vitals_snapshot *snapshot)
{
    static const struct {
        vitals_metric effective;
        const char *real;
    } FALL_BACKS[] = {{VITALS_PROCESS_EFFECTIVE_USER, "ruser"},
                      {VITALS_PROCESS_EFFECTIVE_UID, "ruid"},
                      {VITALS_PROCESS_EFFECTIVE_GID, "rgid"}};
    for (size_t i = 0; i < columns->count; i++) {
        struct ps_column *column = &columns->items[i], real;
        for (size_t j = 0; j < ARRAY_COUNT(FALL_BACKS); j++) {
            if (column->metric != FALL_BACKS[j].effective ||
                vitals_snapshot_has_metric(snapshot, column->metric) ||
                ps_column_find("-o", FALL_BACKS[j].real, &real) != 0)
                continue;
            snprintf(real.title, sizeof real.title, "%s", column->title);
            *column = real;
            break;
        }
    }
}

int ps_column_request(const struct ps_column *column, vitals_request *request, vitals_error *error)
{
    int code = 0;
    if (column->metric != 0)
        code = vitals_request_add(request, column->metric, error);
    for (size_t i = 0; column->kind != NULL && i < PS_NEEDS && code == 0; i++) {
        vitals_metric metric = column->kind->needs[i];
        if (metric != 0 && !(column->by_default && metric == VITALS_PROCESS_LOCKED_BYTES))
            code = vitals_request_add(request, metric, error);
    }
    return code;
}

bool ps_column_is_number(const struct ps_column *column)
{
    return column->show < SHOW_TEXT && column->show != SHOW_START && column->show != SHOW_DATE;
}

void ps_column_exact(const struct ps_column *column, const struct ps_view *view,
                     const vitals_row *row, struct ps_value *out)
{
    if (column->metric != 0)
        metric_value(row, column->metric, out);
    else
        ps_column_value(column, view, row, out);
}

void ps_column_value(const struct ps_column *column, const struct ps_view *view,
                     const vitals_row *row, struct ps_value *out)
{
    out->availability = VITALS_NOT_REQUESTED;
    out->is_text = false;
    if (column->kind != NULL && column->kind->make != NULL) {
        struct ps_asked asked = {view, row, 0};
        for (size_t i = 0; i < PS_NEEDS && column->kind->needs[i] != 0; i++)
            asked.last = column->kind->needs[i];
        column->kind->make(&asked, out);
        return;
    }
    metric_value(row, column->metric, out);
}
