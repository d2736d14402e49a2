/* filter.h: which processes ps and kill are about, by the options that both have.
 *
 * Of the values of one option any may hold, of several options each must. A value that is missing
 * passes no filter; whose command line is not known while --match asks for it is counted and told.
 * One thread. */
#pragma once

#include <regex.h>

#include "command/command.h"
#include "util/buffer.h"

struct filter {
    const struct choice_settings *choice;
    const struct machine_settings *machine;
    struct settings_numbers pids; /* of --pid, and words; its items are ours */
    bool has_match;
    regex_t match;
    struct buffer text;  /* a command line as the expression sees it */
    size_t late, denied; /* processes that --match could not be asked of, so far */

    /* Called by ps_rows_choose for each process that passes, before it picks one; may be NULL. */
    bool (*means)(void *data, const vitals_row *process);
    void *data;
};

/* Understands the options, and words that are pids. 0, or an exit code after a message: a word that
 * is no pid, a bad expression, a state that is none. filter_done is legal either way. */
int filter_init(struct filter *filter, const struct choice_settings *choice,
                const struct machine_settings *machine, const char *const *words, size_t count);
void filter_done(struct filter *filter);

/* Whether any option or word chooses at all. */
bool filter_chooses(const struct filter *filter);

/* Adds what the filter looks at, and narrows the rows to what can pass. */
int filter_request(const struct filter *filter, vitals_request *request, vitals_error *error);

/* Whether a row of the table process passes. */
bool filter_passes(struct filter *filter, const vitals_row *process);

/* Whether it was named by its pid; whether the pid was. */
bool filter_names_pid(struct filter *filter, const vitals_row *process);
bool filter_lists(const struct filter *filter, int64_t pid);

/* Reports every pid of --pid and --children and every user of --user without a process, if the
 * snapshot is of this machine, and how many processes could not be matched so far. Returns
 * EXIT_DONE, or EXIT_CANNOT after messages. */
int filter_complain(const struct filter *filter, const vitals_snapshot *snapshot);

/* Says that none was chosen, and why if --name seems to hold a regular expression. EXIT_CANNOT. */
int filter_none(const struct filter *filter);

/* A pid as a person writes it, by the rule of --pid; 0 where it is none, after a message. */
uint64_t filter_pid(const char *word);
