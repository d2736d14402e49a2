/* arrange.h: how a person has arranged the list and the panels: what a layout keeps. Plain data:
 * it can be copied, compared and thrown away. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <vitals/vitals.h>

enum { ARRANGED_COLUMNS = 64, ARRANGED_SORTS = 4, ARRANGED_VIEWS = 2, ARRANGED_FILTER = 96 };

/* A column of columns.h, by its place there, and by how much it is wider than usual. */
struct arranged_column {
    unsigned column;
    int wider;
};

/* The columns of a view, in order; none: those that it has by default. */
struct arranged_columns {
    struct arranged_column items[ARRANGED_COLUMNS];
    size_t count;
};

/* A sort of columns.h; 0: as it comes. */
struct arranged_sort {
    unsigned sort;
    bool reversed;
};

enum group_by {
    GROUP_NONE,
    GROUP_USER,
    GROUP_CONTAINER,
    GROUP_JOB,
    GROUP_SERVICE,
    GROUP_PARENT,
    GROUP_KINDS
};

/* Bits of panels. */
enum panel { PANEL_DEVICES = 1, PANEL_HOST = 2, PANEL_GRAPHS = 4 };

/* When disks and networks stand below the machine's bars or graphs, where there are devices: where
 * the list leaves rows empty, whatever it leaves, not at all. */
enum traffic { TRAFFIC_AUTO, TRAFFIC_ALWAYS, TRAFFIC_NEVER };

/* The chart of each device below its utilization. */
enum second_chart { SECOND_MEMORY, SECOND_POWER, SECOND_TEMPERATURE, SECOND_KINDS };

struct arrangement {
    struct arranged_columns views[ARRANGED_VIEWS]; /* devices, all */
    struct arranged_sort sorts[ARRANGED_SORTS];    /* the first one first */
    size_t sort_count;
    enum group_by group;
    unsigned hidden; /* panels */
    bool percent;    /* memory of processes as a share of what there is */
    bool plain;      /* nothing but text */
    bool all;        /* the list of all processes is looked at */
    bool nvitop;     /* the main screen is arranged as that of nvitop */
    bool wide;       /* there is room for more columns by default; not kept */
    char mode;       /* enum monitor_mode plus one; 0: what the command line says */
    char traffic;    /* enum traffic */
    char theme;      /* enum theme plus one; 0: what the command line says */
    enum second_chart second;
    int span;                     /* which of the time bases of the charts */
    char filter[ARRANGED_FILTER]; /* safe to print */
};

/* ---- names, for files and help; each ends with NULL ---- */

extern const char *const group_names[];   /* by enum group_by: "none", "user" … */
extern const char group_letters[];        /* likewise: their keys */
extern const char *const panel_names[];   /* by bit: "devices", "host", "graphs" */
extern const char *const traffic_names[]; /* by enum traffic: "auto", "always", "never" */
extern const char *const second_names[];  /* by enum second_chart: "memory" … */
extern const char *const span_names[];    /* by `span`: "6s" … */

/* Metrics that a layout needs beside those that every list has. */
enum { WANTS_MOST = 80 };
struct wants {
    vitals_metric metrics[WANTS_MOST];
    size_t count;
};
void wants_add(struct wants *wants, vitals_metric metric); /* 0: none */
void wants_of(const struct arrangement *arrangement, unsigned views, struct wants *out);
bool wants_equal(const struct wants *a, const struct wants *b);
int wants_request(const struct wants *wants, vitals_request *request, vitals_error *error);
