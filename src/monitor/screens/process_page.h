/* process_page.h: a process on pages in tabs: charts and facts, threads, files, sockets, limits,
 * environment, cgroup; and what can be changed of it.
 *
 * The process is asked for the page that is seen, again while it is seen, and so that it takes at
 * most a fiftieth of the time. One thread. */
#pragma once

#include "monitor/process_query.h"
#include "monitor/screens/screen.h"

enum process_chart {
    CHART_CPU,
    CHART_MEMORY,
    CHART_GPU_MEMORY,
    CHART_GPU_BUSY,
    CHART_READ,
    CHART_WRITTEN,
    PROCESS_CHARTS
};

/* One of zeros has nothing. */
struct process_page {
    enum process_part part;
    int top;                     /* the first line that is seen */
    bool tried, silent;          /* handles were opened; the process is not asked now */
    bool ended;                  /* it has answered that it has */
    uint64_t unseen_ns;          /* since when no reading has it; 0: the newest does */
    bool lives;                  /* and it has answered since then */
    const char *absence;         /* "ended", "not seen"; NULL: it is there */
    uint64_t painted_of;         /* the reading that the overview begins with */
    uint64_t threads;            /* when it was asked what can be changed; 0: not known */
    vitals_process *process;     /* to change; NULL: it cannot be */
    struct process_query *query; /* NULL: it cannot be asked */
    bool asks;                   /* a question is with it, of the part `asked` */
    enum process_part asked;
    uint64_t asked_ns, now_ns;
    uint64_t due_ns[PROCESS_PARTS];
    vitals_snapshot *answers[PROCESS_PARTS];
    vitals_snapshot *threads_before;    /* the answer before, for %CPU of threads; NULL */
    char problem[VITALS_ERROR_MESSAGE]; /* why there is no answer */

    struct canvas sheet; /* the lines of the part */
    bool painted;        /* it is of the newest answer, and of the terminal's width */
    int rows;
    bool chosen; /* `shown` is of this sheet and these words */
    char words[PROMPT_TEXT];
    int *shown; /* those that the filter lets through */
    int shown_count;
    size_t shown_capacity;
};

/* The state of the screen, with the page or with --layout nvitop. */
struct screen_process {
    struct identity identity;
    uint64_t sequence; /* of the last snapshot that was added */
    unsigned epoch;    /* of the model, then */
    struct history histories[PROCESS_CHARTS];
    struct process_page page;
};

void process_page_settle(struct monitor *monitor, struct screen_process *process);

/* `item`: the process, of which nothing may be known any more. */
void process_page_draw(const struct monitor *monitor, const struct screen_process *process,
                       const struct item *item, struct pen *pen);

bool process_page_act(struct monitor *monitor, struct process_page *page, enum action action,
                      int argument);

/* Functions of the screen, see struct screen; `state` is its struct screen_process. */
void process_page_answer(struct monitor *monitor, void *state, enum prompt prompt,
                         const char *text);
bool process_page_click(struct monitor *monitor, void *state, const struct input_event *event);
int process_page_descriptor(const void *state);
uint64_t process_page_patience_ns(const void *state);
void process_page_close(void *state);
