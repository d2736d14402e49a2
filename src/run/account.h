/* account.h: the figures of a run and where each comes from, as they are held.
 *
 * account.c holds and writes them, account_fill.c makes them of what a launcher knows. Thread
 * rule: as account.h of the public face. */
#pragma once

#include "model/values.h"
#include "os/counted.h"
#include "sampler/context.h"
#include <vitals/run.h>
#include <vitals/sys/account.h>

enum {
    FIGURE_NAME = 48,
    FIGURE_UNIT = 16,
    FIGURE_SUBJECT = 96,
    FIGURE_LABEL = 40,
    FIGURE_SOURCE = 160,
    ACCOUNT_FAILURE = 160,
    ACCOUNT_ATTRIBUTE = 32,       /* a name, its NUL included */
    ACCOUNT_TEXT_MAX = 64 * 1024, /* what is longer is cut */
    ACCOUNT_FIGURES_MAX = 65536,  /* more come from nowhere but a hostile file */
    ACCOUNT_ATTRIBUTES_MAX = 64
};

/* An attribute: "1" if the command left a core dump. */
#define ACCOUNT_CORE_DUMPED "core_dumped"

/* A figure that a usage tells a launcher, which does not tell it on: the most that one process was
 * seen to have of anonymous pages. */
#define ANONYMOUS_LARGEST "memory_anonymous_largest_bytes"

struct vitals_figure {
    char name[FIGURE_NAME];
    char unit[FIGURE_UNIT];
    char subject[FIGURE_SUBJECT];
    char label[FIGURE_LABEL];
    char source[FIGURE_SOURCE];
    signed char state;
    double value;
};

struct account_attribute {
    char name[ACCOUNT_ATTRIBUTE];
    char *bytes; /* owned, NUL-terminated; NULL: not known */
    size_t size;
};

struct vitals_account {
    int exit_code, signal;
    char failure[ACCOUNT_FAILURE];
    vitals_figure *figures;
    size_t count, capacity;
    struct account_attribute *attributes; /* in the order of account.c, then as they came */
    size_t attribute_count, attribute_capacity;
};

/* What the launcher knows of a run that is over. */
struct run_outcome {
    int exit_code, signal;
    bool end_unknown;              /* it is not told how it ended, or it has not */
    char failure[ACCOUNT_FAILURE]; /* why the command could not be started */
    double wall_seconds;           /* of the command */
    double counted_seconds; /* until the last that was counted had ended; at least wall_seconds */
    uint64_t reaped;        /* processes */
    uint64_t left;          /* still running when the account was made */
    uint64_t interval_ns;
    bool invented;                 /* the devices are the demo's */
    const struct counted *counted; /* COUNTED_COUNT of them, of the accounting */
    const char *methods;           /* accounting_names; NULL: not known */
    const vitals_account *watched; /* of the watcher; NULL: it did not answer */
};

/* Made before the command runs, with room for all that a launcher knows of, so that nothing can
 * fail once it has; NULL when memory is out. */
vitals_account *account_new(void);

/* Gives back the room that was not needed: of one that is kept. */
void account_shrink(vitals_account *account);

/* Sets an attribute unless the text is empty. Without memory the attribute is missing. */
void account_set_text(vitals_account *account, const char *name, vitals_text text);
void account_set_string(vitals_account *account, const char *name, const char *string);

/* Adds figures in the order in which a person reads them. Figures for which there is no memory are
 * missing. */
void account_fill(vitals_account *account, const struct run_outcome *outcome);

/* Sets command (of argv, where there is one), working_directory, user, host, boot_id, version,
 * started_ns (`begin_ns` as the realtime clock has it) and, if no sample has, expected_cores.
 * Figures for which there is no memory are missing. Nothing here may wait for a network: a user is
 * looked up in /etc/passwd alone. Any thread. */
void account_describe(vitals_account *account, const vitals_context *context, char *const *argv,
                      uint64_t begin_ns);
