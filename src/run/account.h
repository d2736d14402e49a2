/* account.h: the figures of a run and where each comes from. */
#ifndef VITALS_RUN_ACCOUNT_H
#define VITALS_RUN_ACCOUNT_H

#include "metric/values.h"
#include "os/launch.h"
#include "run/watcher.h"
#include <vitals/run.h>

enum { FIGURE_NAME = 32, FIGURE_UNIT = 16, FIGURE_LABEL = 40, FIGURE_SOURCE = 160 };

struct vitals_figure {
    char name[FIGURE_NAME];
    char unit[FIGURE_UNIT];
    char subject[WATCH_UUID];
    char label[FIGURE_LABEL];
    char source[FIGURE_SOURCE];
    signed char state;
    double value;
};

/* What the launcher knows when all is over. */
struct run_facts {
    int exit_code, signal;
    char failure[160];       /* why the command could not be started */
    double wall_seconds;     /* of the command */
    double counted_seconds;  /* until the last that was counted had ended; at least wall_seconds */
    struct os_usage usage;   /* of everything that was reaped */
    uint64_t reaped;         /* processes */
    uint64_t left;           /* still running when the account was made */
    double left_cpu_seconds; /* what those had used by then */
    bool left_unknown;       /* there were some, and their time could not be read */
    uint64_t interval_ns;
    bool invented;                      /* the devices are the demo's */
    const struct watch_report *watched; /* NULL: the watcher did not answer */
};

/* Made before the command runs, so that nothing can fail once it has; NULL when memory is out. */
vitals_account *account_new(void);
void account_fill(vitals_account *account, const struct run_facts *facts);

#endif
