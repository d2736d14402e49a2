/* model.h: what the screens show: readings, the list of processes, what a person chose of them.
 *
 * Keys and snapshots change it; screens draw from it and change nothing. It knows no terminal and
 * asks nobody. One thread. */
#ifndef VITALS_MONITOR_MODEL_H
#define VITALS_MONITOR_MODEL_H

#include "monitor/history.h"
#include "monitor/monitor.h"

/* ---- readings ---- */

/* Each may be NULL. Rates of the machine are made against `previous`, those of processes against
 * `older`, which is at least a window behind. */
struct readings {
    vitals_snapshot *now, *previous, *older;
    vitals_snapshot *next_older;
};
void readings_add(struct readings *readings, vitals_snapshot *snapshot, uint64_t window_ns);
void readings_done(struct readings *readings);

/* ---- processes ---- */

/* Who a line is about, in any snapshot. */
struct identity {
    uint64_t pid;
    double start; /* seconds since boot; below 0: not known */
    uint64_t gpu; /* key of its row; 0: of no device in particular */
};
bool identity_equal(const struct identity *a, const struct identity *b);

struct item {
    const vitals_row *process; /* NULL: nothing is known of it */
    const vitals_row *user;    /* its row of gpu_process; NULL: it uses no device */
    const vitals_row *gpu;     /* the device of that; NULL */
    size_t order;              /* of the device */
    double value;              /* that it is sorted by, where `known` */
    bool known;
    char text[32]; /* likewise, of a sort by text */
};

struct list {
    struct item *items;
    size_t count, capacity;
};

/* Sources of the table source with smaller keys are none of devices. */
enum { FIRST_BACKEND_KEY = 16 };

enum view { VIEW_DEVICES = 1, VIEW_ALL = 2 };

/* ---- all of it ---- */

struct device_history {
    uint64_t key; /* of its row */
    struct history memory, busy;
};

struct model {
    const struct monitor_options *options;
    int width, height;

    struct readings machine; /* the machine, devices, and the processes on these */
    struct readings all;     /* every process; empty while nobody looks at them */
    bool same;               /* `machine` has every process */

    bool paused;
    vitals_snapshot *held_machine, *held_all; /* came while paused; the newest of each */
    vitals_snapshot *recorded;                /* the last one that histories know of */
    uint64_t paused_at;                       /* second of the newest value then */

    uint64_t visible[64]; /* indices, where only those that CUDA shows are asked for */
    size_t visible_count;

    struct history cpu, memory, swap, gpu_memory, gpu_busy;
    struct device_history *devices;
    size_t device_count;

    enum monitor_mode mode;
    enum view view;
    bool view_chosen; /* by a person */

    struct list list;
    bool list_of_users; /* some line has a row of gpu_process */
    unsigned sort;      /* 0: as it comes; else a number of columns.h */
    bool reversed;

    bool has_selected;
    struct identity selected;
    struct identity *tags;
    size_t tag_count, tag_capacity;

    int top;   /* the first line of the list that is seen */
    int shift; /* columns that the host part of the list is moved by */
    int lift;  /* rows that the panels above it are moved by */

    char search[96], filter[96];
    char message[256]; /* told in the last row until the next key; safe */
};

void model_init(struct model *model, const struct monitor_options *options);
void model_done(struct model *model);

/* Takes the snapshot over. */
void model_add_machine(struct model *model, vitals_snapshot *snapshot);
void model_add_all(struct model *model, vitals_snapshot *snapshot);
void model_pause(struct model *model, bool paused);

/* Forgets every process that is not on a device, until the next snapshot of them. */
void model_forget_all(struct model *model);

/* Seconds of histories that came while paused. */
size_t model_ago(const struct model *model);

/* The one row of the table host, or NULL. */
const vitals_row *model_host(const struct model *model);
size_t model_device_count(const struct model *model);
bool model_shows_device(const struct model *model, const vitals_row *gpu);
const struct device_history *model_device_history(const struct model *model, uint64_t key);
bool model_is_demo(const struct model *model);

/* Busy share of the machine, since `previous`, or since `older` where that came at once before. */
bool model_cpu_ratio(const struct model *model, double *out);

/* Growth a second of a counter of the machine. */
bool model_rate(const struct model *model, const vitals_row *row, vitals_metric metric,
                double *out);

/* ---- list.c ---- */

/* Anew, after snapshots, the sort or the filter changed. -1: out of memory, the list is empty. */
int model_list(struct model *model);

struct identity item_identity(const struct item *item);
bool item_cpu(const struct model *model, const vitals_row *process, double *cores);
bool item_is_other(const struct model *model, const struct item *item); /* somebody else's */

/* The device's row whose users are said to include the process; NULL: none. With `previous` the
 * one after it. Rows of gpu_process. */
const vitals_row *model_user_of(const struct model *model, const struct identity *identity,
                                const vitals_row *previous);

/* The process's own row in the newest snapshots, or NULL. */
const vitals_row *model_process(const struct model *model, const struct identity *identity);

/* The place of the selection in the list, or -1. */
int model_selected(const struct model *model);
void model_select(struct model *model, int place); /* -1: nobody */
bool model_tagged(const struct model *model, const struct identity *identity);
void model_tag(struct model *model, const struct identity *identity); /* or untags it */

/* Whether a line is what the words look for: user, command, pid, device. */
bool model_matches(const struct model *model, const struct item *item, const char *words);

/* The next line that the search finds, from a place on; -1: none. */
int model_search(const struct model *model, int from, int step);

#endif
