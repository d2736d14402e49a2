/* model.h: the state of the screens: readings, the list of processes, and the choices of the user.
 *
 * Keys and snapshots change it; screens draw from it and change nothing. It knows no terminal and
 * reads nothing itself. One thread. */
#pragma once

#include "monitor/list/arrange.h"
#include "monitor/monitor.h"
#include "util/burst.h"
#include "view/history.h"

/* ---- readings ---- */

/* Each may be NULL. Rates of the machine are made against `previous`, those of processes against
 * `older`, which is at least a window behind. */
struct readings {
    vitals_snapshot *now, *previous, *older;
    vitals_snapshot *next_older;
    struct burst burst;
};
void readings_add(struct readings *readings, vitals_snapshot *snapshot, uint64_t window_ns);
void readings_done(struct readings *readings);

/* ---- processes ---- */

/* Identifies the process of a line in any snapshot. */
struct identity {
    uint64_t pid;
    double start;   /* seconds since boot; below 0: not known */
    uint64_t gpu;   /* key of its row; 0: of no device in particular */
    uint64_t group; /* of the line above a group: which; 0: of a process */
};
/* Devices that a line is about, as bits by the order of their rows; in the list of all processes
 * also how much memory of them, and on how many that is known or not. */
struct use {
    uint64_t devices;
    double bytes;
    unsigned known, unknown;
};

struct item {
    const struct group *group; /* that it belongs to; NULL: the list has none */
    size_t order_of_group;
    const char *branch; /* in a tree: drawn before its command; NULL: none */
    bool head;          /* the line above the group: of no process */
    bool again;         /* the same process as one of another device in the group */
    bool ended;         /* its rows are of the reading before; it is shown until the next one */
    struct use use;
    uint64_t pid;              /* as its identity has it, since it is compared often */
    const vitals_row *process; /* NULL: nothing is known of it */
    const vitals_row *details; /* of it, where a list of devices shows more than devices need */
    const vitals_row *user;    /* its row of gpu_process; NULL: it uses no device */
    const vitals_row *gpu;     /* the device of that; NULL */
    size_t order;              /* of the device */
    double value;              /* that it is sorted by, where `known` */
    double weight;             /* likewise, where nothing else tells two apart */
    bool known;
    bool dead;     /* and so last in every order */
    char text[32]; /* likewise, of a sort by text: how that begins */
};

struct list {
    struct item *items;
    size_t count, capacity;
    struct item *spare; /* room for the lines with those of groups */
    size_t spare_capacity;
    struct group *groups;
    size_t group_count, group_capacity;
    const char *tree; /* its title, if the lines stand in the order of a tree; NULL */
};

enum view { VIEW_DEVICES = 1, VIEW_ALL = 2 };

/* Groups of a list, or branches of a tree, of which only the first line is seen. One of zeros has
 * none. */
struct folds {
    uint64_t *ids; /* that are closed; of `all`: those that are open */
    size_t count, capacity;
    bool all;
};
bool folds_closed(const struct folds *folds, uint64_t id);

/* Opens (1), closes (-1) or turns round (0) one; all of them. */
void folds_turn(struct folds *folds, uint64_t id, int open);
void folds_turn_all(struct folds *folds);

/* ---- trends.c: CPU of each process in the last readings ---- */

enum { TREND_ROOM = 16, TREND_READINGS = 4 };
struct trend {
    uint64_t key;                     /* of its row of process */
    double cores;                     /* below 0: not known */
    bool gone;                        /* it was there in the reading before, and has ended */
    unsigned char newest;             /* the most since the last of the levels */
    unsigned char levels[TREND_ROOM]; /* 0 to 4, of TREND_READINGS each; the newest first */
};
struct trends {
    struct trend *items; /* ascending keys */
    size_t count, capacity;
    struct trend *spare;
    size_t spare_capacity;
    uint64_t stream, sequence; /* of the newest reading */
    unsigned readings, steps;  /* how often a level was added */
};

/* `context`: to ask whether a process lives that is in no reading any more; NULL: that is not known
 * then, and it counts as one that does. */
void trends_update(struct trends *trends, const struct readings *readings, vitals_context *context);
const struct trend *trends_find(const struct trends *trends, uint64_t key);
void trends_done(struct trends *trends);

/* ---- idle_gpus.c: memory of devices that is held without being used: by which processes, and for
 * how long ----
 *
 * It is given each reading in turn and remembers the start; with a recording also the readings
 * before the first one, backwards. Nothing is claimed about times that were not seen: a gap between
 * two readings starts anew, as does a time at which it is not known whether the device worked. */

/* A row that holds memory and does nothing; ascending keys. */
struct idle_row {
    uint64_t key; /* of a row */
    uint64_t since_ns;
    bool open; /* since the oldest reading, and perhaps before that */
};
struct idle_rows {
    struct idle_row *items;
    size_t count, capacity;
};

/* One of zeros knows nothing. */
struct idle_gpus {
    struct idle_rows devices, users; /* rows of gpu, of gpu_process */
    struct idle_rows spare;          /* room for the next reading */
    uint64_t newest_ns, oldest_ns;
    uint64_t stream; /* that keys are of */
};

void idle_gpus_update(struct idle_gpus *idle, const vitals_snapshot *snapshot);
/* The reading before the oldest one that it knows. */
void idle_gpus_update_before(struct idle_gpus *idle, const vitals_snapshot *older);

/* True if an older reading may extend a span. */
bool idle_gpus_goes_back(const struct idle_gpus *idle);

void idle_gpus_done(struct idle_gpus *idle);

/* Seconds of idleness up to a time; returns false if it is not idle or not known. A device is idle
 * if a process holds its memory and it did not work; a process if it did not. */
bool idle_rows_find(const struct idle_rows *rows, uint64_t key, uint64_t now_ns, double *seconds);

/* "held 23 min" */
enum { IDLE_WORDS = 24 };
char *idle_words(double seconds, char out[static IDLE_WORDS]);

/* ---- all of it ---- */

/* Counters of the machine whose growth is kept. */
enum traffic_kind { TRAFFIC_READ, TRAFFIC_WRITTEN, TRAFFIC_IN, TRAFFIC_OUT, TRAFFIC_KINDS };
extern const vitals_metric traffic_metrics[TRAFFIC_KINDS];

enum { MODEL_DEVICES = 64 }; /* of which more is remembered than the last reading */
enum { PROMPT_TEXT = ARRANGED_FILTER };

struct device_history {
    uint64_t key;                /* of its row */
    struct history memory, busy; /* ratios */
    struct history power, temperature;
};

/* The values that charts show. It is so large that calloc maps it: pages that were never written
 * take no memory. */
struct model_history {
    struct history cpu, memory, swap, gpu_memory, gpu_busy;
    struct history traffic[TRAFFIC_KINDS]; /* bytes a second */
    size_t device_count;
    struct device_history devices[MODEL_DEVICES];
};

struct model {
    const struct monitor_options *options;
    int width, height;

    struct readings machine; /* the machine, devices, and the processes on these */
    struct readings all;     /* every process; empty while no screen shows them */
    bool same;               /* `machine` has every process */

    bool paused; /* but what nothing is known of yet comes through once */
    vitals_snapshot *held_machine, *held_all; /* came while paused; the newest of each */
    vitals_snapshot *held_first;              /* of all likewise, where another stream began */
    vitals_snapshot *recorded;                /* the last one that histories know of */

    /* The screens show a moment of the past: what comes meanwhile is put aside. */
    bool away;
    struct readings aside_machine, aside_all;
    unsigned epoch; /* another one: what is shown does not follow what was shown before */

    uint64_t visible[64]; /* indices, where only those that CUDA shows are asked for */
    size_t visible_count;

    struct model_history *history;
    struct idle_gpus idle;

    enum monitor_mode mode;
    bool mode_chosen; /* by a key */
    enum view view;
    bool view_chosen; /* by a person */

    struct trends trends[2]; /* of the readings of the machine, of all */

    struct list list;
    bool list_of_users; /* some line has a row of gpu_process */
    bool list_waits;    /* for the next reading of all: what devices say now is not in it yet */
    unsigned sort;      /* 0: as it comes; else a number of columns.h */
    bool reversed;
    struct arrangement arranged; /* columns, further sorts, groups, what is hidden */
    struct folds folds;          /* groups that are closed */

    bool has_selected;
    struct identity selected;
    struct identity *tags;
    size_t tag_count, tag_capacity;

    bool has_device; /* a device is chosen, and keys are about it rather than about a process */
    uint64_t device; /* the key of its row */

    int top;    /* the first line of the list that is seen */
    int shift;  /* columns that the host part of the list is moved by */
    int lift;   /* rows that the panels above it are moved by */
    bool loose; /* moved by hand: the selection may be out of sight */

    /* Readings for which disks and networks stay though the list needs their room: one process
     * that comes and goes moves nothing. A key, another size and another moment end it. */
    int traffic_left;

    char search[PROMPT_TEXT], filter[PROMPT_TEXT];
    char message[256]; /* told in the last row until the next key; safe */
};

/* Returns 0, or -1 if memory is out. */
int model_init(struct model *model, const struct monitor_options *options);
void model_done(struct model *model);

/* One line for the last row. */
void model_say(struct model *model, const char *format, ...) VITALS_FORMAT(2, 3);

/* How long a time rates of processes are made of. */
uint64_t model_window_ns(const struct model *model);

/* Takes the snapshot over. */
void model_add_machine(struct model *model, vitals_snapshot *snapshot);
void model_add_all(struct model *model, vitals_snapshot *snapshot);
void model_pause(struct model *model, bool paused);

/* The present is put aside, and comes back. Without a model_show in between nothing is shown. */
void model_leave(struct model *model);
void model_return(struct model *model);

/* A moment of the past; the readings are taken over. */
void model_show(struct model *model, struct readings *machine, struct readings *all);

/* Histories of what is shown out of order: begun anew at a snapshot (`previous` may be NULL), gone
 * on, and filled from what was before it: `known` is the oldest that they have. */
void model_graphs_begin(struct model *model, const vitals_snapshot *previous,
                        const vitals_snapshot *now);
void model_graphs_add(struct model *model, const vitals_snapshot *snapshot);
void model_graphs_add_before(struct model *model, const vitals_snapshot *known,
                             const vitals_snapshot *older);

/* Forgets every process that is not on a device, until the next snapshot of them. */
void model_forget_all(struct model *model);

/* Seconds of histories that came after what is shown. */
size_t model_ago(const struct model *model);

/* The one row of the table host, or NULL. */
const vitals_row *model_host(const struct model *model);
size_t model_device_count(const struct model *model);
struct selection model_selection(const struct model *model);
bool model_shows_device(const struct model *model, const vitals_row *gpu);
const struct device_history *model_device_history(const struct model *model, uint64_t key);
const vitals_row *model_next_device(const struct model *model, const vitals_row *previous);
bool model_is_demo(const struct model *model);

/* Busy share of the machine, since `previous`, or since `older` where that came at once before. */
bool model_cpu_ratio(const struct model *model, double *out);

/* Growth a second of a counter of the machine. */
bool model_rate(const struct model *model, const vitals_row *row, vitals_metric metric,
                double *out);

/* How long a device, or a row of gpu_process, has held memory without being used, in seconds;
 * returns false if it does not, not for as long as the options say, or if it is not known. */
bool model_idle(const struct model *model, const vitals_row *row, double *seconds);
uint64_t model_held_after_ns(const struct model *model);

/* ---- list.c: the lines of the list, and the processes that they are about ---- */

bool identity_equal(const struct identity *a, const struct identity *b);

/* The same on whatever device and in whatever group. */
bool identity_same_process(struct identity a, struct identity b);

/* The identity of a row of process, which may be NULL. */
struct identity identity_of(const vitals_row *process);
struct identity item_identity(const struct item *item);
bool item_cpu(const struct model *model, const vitals_row *process, double *cores);

/* The growth per second of a counter of a process; false if it is not known. item_cpu: cores. */
bool item_rate(const struct model *model, const vitals_row *process, vitals_metric metric,
               double *out);

/* How much CPU the process of a line has used lately; NULL: not known, or this is the past. */
const struct trend *item_trend(const struct model *model, const struct item *item);

/* Wide enough for more columns by default; after another size or layout. */
void model_fit(struct model *model);

/* The devices of a line as bits, and the memory that these have together; false if that of one is
 * not known. */
uint64_t item_devices(const struct item *item);
bool model_devices_total(const struct model *model, uint64_t devices, double *out);

/* "job 4711.0", the job, pod or container that the process of a line is of, which stands before its
 * command; "" of none. */
void item_work(const struct model *model, const struct item *item, char *out, size_t capacity);

/* True if the process belongs to another user. */
bool item_is_other(const struct model *model, const struct item *item);

/* The first row of gpu_process of a process, or the next one after `previous`; NULL: none. */
const vitals_row *model_user_of(const struct model *model, const struct identity *identity,
                                const vitals_row *previous);

/* The row of the process in the newest snapshots, or NULL. */
const vitals_row *model_process(const struct model *model, const struct identity *identity);

/* The row that knows most of the process of a line, or NULL. */
const vitals_row *item_row(const struct item *item);

/* For qsort(3): lines by pid. */
int item_by_pid(const void *a, const void *b);

/* Anew, after snapshots, the sort or the filter changed. -1: out of memory, the list is empty. */
int model_list(struct model *model);

/* The place of the selection in the list, or -1. */
int model_selected(const struct model *model);
void model_select(struct model *model, int place); /* -1: none */
bool model_tagged(const struct model *model, const struct identity *identity);
void model_tag(struct model *model, const struct identity *identity); /* or untags it */

/* The arrangement as a layout, and back; NULL: the usual one. */
void model_arrangement(const struct model *model, struct arrangement *out);
void model_arrange(struct model *model, const struct arrangement *arrangement);

/* The next line that the search finds, from a place on; -1: none. */
int model_search(const struct model *model, int from, int step);
