/* pane.h: the parts of the main screen, one file each, and where they stand. Pure: what they draw
 * follows from the model and the size alone. */
#pragma once

#include "monitor/list/columns.h"
#include "view/device_panel.h"

/* The places of everything on the main screen; rows count from the top of all of it, of which
 * `lift` rows may be moved out of sight. */
struct layout {
    enum form devices;
    bool host_full;
    bool traffic;                  /* disks and networks, where there are devices */
    bool traffic_fits;             /* the list leaves that much empty */
    bool rules;                    /* between the processes of two devices */
    int devices_y, host_y, list_y; /* the list's title; the rule above it is one row higher */
    int lines_y;                   /* the first line of the list */
    int lines;                     /* how many are seen */
    int lift_most;                 /* rows that may be moved out of sight */

    /* Of the main screen. */
    bool usual;                        /* else that of nvitop */
    int attention_y, cpus_y;           /* below 0: there is none */
    int machine_charts, device_charts; /* rows of charts in a tile; 0: a line each */
    int cpu_rows, device_rows;
    bool hints; /* the last row tells keys */
};
void layout_of(const struct model *model, struct layout *layout);

/* True if a line of the list begins another device than the one above it. */
bool pane_begins_device(const struct model *model, size_t place);

/* Rows that the panel of the machine takes. `traffic` as in struct layout. */
int pane_host_rows(const struct model *model, bool full, bool traffic);

/* True if there are devices, and disks or networks have values. */
bool pane_host_has_traffic(const struct model *model);

/* The panel of devices, as the model says. */
struct device_panel pane_devices(const struct model *model, enum form form);

/* `above`: the vertical lines of the row above, which the first rule joins. */
void pane_host(struct pen *pen, const struct model *model, int y, bool full, bool traffic,
               const struct edges *above);
void pane_processes(struct pen *pen, const struct model *model, const struct layout *layout,
                    int lift);

/* The column of the screen that commands begin at. */
int pane_command_x(const struct model *model);

/* The text of the cell COMMAND, also if nothing is known of the process; returns whether it is
 * known. */
bool pane_command(const struct model *model, const struct item *item,
                  char out[static WORDS_COMMAND]);

/* Columns that the titles and the columns of the host are moved by. */
int pane_shift(const struct model *model);

/* ---- the main screen: pane_attention.c, pane_machine.c, pane_gpus.c ---- */

/* Seconds of a column of charts that are full, by the span that a key chooses; and now. */
enum { CHART_SPANS = 4 };
extern const int chart_seconds[CHART_SPANS];
int pane_seconds(const struct model *model);

struct graph pane_chart(const struct model *model, const struct history *history, double most,
                        ink ramp, bool down);

/* A tile of two series: the figures have the colors of their charts. */
void pane_pair(struct pen *pen, const struct box *box, struct tile *tile, const struct graph *up,
               const struct graph *down);

/* When a chart of so many columns begins: "3 min 36 s ago"; of the past, which time its line stands
 * at: "10 min ago, 14:03:20"; "" if it has no room for that. */
char *pane_begin(const struct model *model, int columns, char out[static WORDS]);

/* The full height of a chart of bytes: it seldom changes. */
double pane_scale(double most);

/* A command, its program without its folders and strong. */
void pane_program(struct pen *pen, const struct canvas_field *field, char *command);

/* What needs attention. */
enum { CONCERNS_MOST = 64, CONCERN_SUBJECT = 40, CONCERN_SAYS = 96 };
struct concern {
    bool is_trouble; /* else it deserves a look */
    char subject[CONCERN_SUBJECT], says[CONCERN_SAYS];
    unsigned unnamed; /* devices that have no room in subject */
    double seconds;   /* that it has lasted, where that is known without older readings, else 0 */
};
struct concerns {
    bool apart; /* each device has its own; else those that say the same share one */
    struct concern items[CONCERNS_MOST];
    size_t count, more;
};
void concerns_collect(const struct model *model, struct concerns *concerns);

void pane_attention(struct pen *pen, const struct model *model, int y);

/* True if a device has a fault, or is slowed down by one. */
bool pane_device_is_ill(const vitals_row *gpu);

/* True if nothing that the screens show can be read of a device, for another reason than a silence,
 * and will not be at the next reading. */
bool pane_device_is_mute(const vitals_row *gpu);

/* The color of a device's number: how busy it is, or that it is ill. */
ink pane_device_style(const vitals_row *gpu);

void pane_header(struct pen *pen, const struct model *model);
int pane_machine_rows(int charts);
void pane_machine(struct pen *pen, const struct model *model, int y, int charts);

void pane_cores(struct pen *pen, const struct model *model, int y, int rows);

/* "72.8/80GiB"; empty if one of the two is not known. */
char *pane_amount(const vitals_row *row, vitals_metric used, vitals_metric total,
                  char out[static WORDS * 2]);

/* Devices and partitions; the rows of all of them. */
int pane_gpus_count(const struct model *model);
int pane_gpus_rows(const struct model *model, int charts);
void pane_gpus(struct pen *pen, const struct model *model, const struct layout *layout);
const vitals_row *pane_gpus_at(const struct model *model, const struct layout *layout, int x,
                               int y);

/* ---- pane_cpus.c: every CPU in a box: a bar each, or a cell each, or a cell for several ---- */

/* The first of these that a box of so many columns and rows has room for. */
enum cpus_form { CPUS_BARS, CPUS_CELLS, CPUS_SHARED_CELLS };
enum cpus_form pane_cpus_form(const struct model *model, int columns, int rows);

/* Rows that the CPUs take of `rows`. */
int pane_cpus_rows(const struct model *model, int columns, int rows);

size_t pane_cpus_count(const struct model *model);

/* Draws in all of the rows that pane_cpus_rows gave. */
void pane_cpus(struct pen *pen, const struct model *model, const struct box *box);

/* The same with a cell for each, however few there are. */
int pane_cpus_strip_rows(const struct model *model, int columns, int rows);
void pane_cpus_strip(struct pen *pen, const struct model *model, const struct box *box);
