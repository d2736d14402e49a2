/* html.h: a recorded run as one page that needs nothing but a browser: no network, no other file.
 *
 * Everything that comes from outside is escaped, and the page's own policy allows its own scripts
 * alone. Without JavaScript it has the same charts, drawn. One thread. */
#pragma once

#include "report/phases.h"
#include "report/run_report.h"
#include "report/sizing.h"
#include "report/words.h"

/* Returns 0, what `write` returned to stop, or less than zero where memory is out. */
int html_write(const struct run_report *report, const struct phases *phases,
               const struct sizing *sizing, vitals_write_fn *write, void *data);

/* ---- markup (html_out.c) ---- */

struct html {
    vitals_write_fn *write;
    void *data;
    int failed;
    const struct account_view *view;
};

/* Ours, as it is; and with numbers in it. */
void html_raw(struct html *html, const char *markup);
void html_format(struct html *html, const char *format, ...) VITALS_FORMAT(2, 3);

/* Untrusted text: controls and invisible characters are made visible, and nothing of it is markup.
 * May stand in a quoted attribute. */
void html_text(struct html *html, vitals_text text);
void html_string(struct html *html, const char *string);

/* A number that tells how it was got when it is pointed at. */
void html_figure(struct html *html, const char *words, const char *how);

/* A small word for how good a figure is. */
void html_quality(struct html *html, vitals_availability state);

/* ---- what each process of a recording used, aggregated from its snapshots (processes.c) ---- */

enum {
    PROCESS_NAME = 256,
    PROGRAM_NAME = 64,
    PROCESSES_SHOWN = 100,
    PROGRAMS_SHOWN = 20,
    PROCESSES_MAX = 100000
};

/* Below zero: not known. */
struct process_use {
    int64_t pid;
    double start;               /* tells two with one pid apart */
    char name[PROCESS_NAME];    /* its command line, else its name; text from outside */
    char program[PROGRAM_NAME]; /* "cc1", "python3 train.py"; text from outside */
    double cpu_seconds, read_bytes, written_bytes; /* growth while it was seen */
    double memory_bytes, gpu_bytes;                /* largest sample */
    double first_second, last_second;
    double gpu_now, gpu_second; /* what it holds in the snapshot of that second */
    double bases[3];            /* of the counters; of a newcomer 0 */
    uint64_t titled; /* the hash of the command line that the name is made of; 0: of none */
    size_t count;    /* of a program: its processes, whose use is added up, but for the peaks */
};

struct process_list {
    struct process_use *items; /* by CPU time, the most first */
    size_t count, left_out;
    struct process_use *programs; /* likewise; NULL if each process is of another program */
    size_t program_count, programs_left_out;
};

/* Empty if the file holds no snapshots or memory is out. `root` is the first process of the run:
 * processes that started before it, as vitals itself, are left out; 0: all are listed. */
void processes_of(const char *path, int64_t root, struct process_list *out);
void processes_done(struct process_list *list);

/* ---- sections that are a table each; one without rows is left out (html_tables.c) ---- */

void html_phases(struct html *html, const struct phases *phases);
void html_processes(struct html *html, const struct process_list *list);
void html_sizing(struct html *html, const struct sizing *sizing);

/* ---- series over time: drawn, and as data for charts that can be zoomed (html_chart.c) ---- */

enum {
    CHART_LINES_MAX = 16,
    CHARTS_MAX = 10,
    CHART_POINTS_MAX = 2000,
    CHART_SPANS_MAX = 400,
    CHART_COLORS = 8
};

/* One line, at the chart's common moments; NaN: nothing there. */
struct chart_line {
    char label[96]; /* text from outside */
    const char *how;
    double *values;
    double mean, peak; /* of all samples; NaN: not known */
};

struct chart {
    const char *id, *title, *unit; /* "cores", "bytes", "bytes/s", "ratio", "watts", "" */
    struct chart_line lines[CHART_LINES_MAX];
    size_t line_count, left_out;
};

struct charts {
    double begin;    /* realtime of second 0 */
    double *seconds; /* since then */
    size_t points;
    bool thinned; /* each point stands for several samples */
    struct chart items[CHARTS_MAX];
    size_t count;
    const struct recorded_phase *spans; /* of phases */
    size_t span_count;
    uint16_t span_names[CHART_SPANS_MAX]; /* the number of each name, by first beginning */
};

/* Returns 0, or less where memory is out. */
int charts_of(const struct recording *recording, struct charts *out);
void charts_done(struct charts *charts);

/* Every chart as an element, and the data of all as JSON inside a script element. */
void charts_draw(struct html *html, const struct charts *charts);
void charts_data(struct html *html, const struct charts *charts);

/* ---- what a reader should know first of a run, in one sentence (insight.c) ---- */

struct insight {
    char sentence[WORDS];        /* "" if nothing is known; safe to print, as all here */
    char detail[2 * WORDS];      /* what explains it, or "" */
    bool trouble;                /* time or memory was lost */
    const vitals_figure *figure; /* that it rests on */
};

void insight_of(const vitals_account *account, const struct account_view *view,
                struct insight *out);
