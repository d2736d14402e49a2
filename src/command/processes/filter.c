/* filter.c: see filter.h. */
#include "command/processes/filter.h"

#include <fnmatch.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/options/option.h"
#include "feed/rows.h"
#include "util/buffer.h"

enum { KERNEL_NAME = 15, ANCESTORS_MAX = 4096 };

/* ---- States ---- */

static const struct {
    char letter;
    const char *word; /* as the catalogue has it */
} STATES[] = {
    {'R', "running"},      {'S', "sleeping"}, {'D', "disk_sleep"}, {'T', "stopped"},
    {'t', "tracing_stop"}, {'Z', "zombie"},   {'X', "dead"},       {'x', "dead"},
    {'I', "idle"},         {'P', "parked"},
};

/* The word that an option's word or letter means, or NULL. */
static const char *state_word(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(STATES); i++) {
        if (strcmp(STATES[i].word, name) == 0 || (name[0] == STATES[i].letter && name[1] == '\0'))
            return STATES[i].word;
    }
    return NULL;
}

static const char *state_at(size_t index)
{
    return index < ARRAY_COUNT(STATES) ? STATES[index].word : NULL;
}

/* ---- Beginning ---- */

int filter_init(struct filter *filter, const struct choice_settings *choice,
                const struct machine_settings *machine, const char *const *words, size_t count)
{
    *filter = (struct filter){.choice = choice, .machine = machine};
    struct settings_numbers *pids = &filter->pids;
    pids->items = calloc(choice->pids.count + count + 1, sizeof *pids->items);
    if (pids->items == NULL)
        return command_fail(EXIT_CANNOT, "out of memory");
    pids->given = choice->pids.given || count > 0;
    for (size_t i = 0; i < choice->pids.count; i++)
        pids->items[pids->count++] = choice->pids.items[i];
    for (size_t i = 0; i < count; i++) {
        uint64_t pid = filter_pid(words[i]);
        if (pid == 0)
            return EXIT_USAGE;
        pids->items[pids->count++] = pid;
    }

    for (size_t i = 0; i < choice->states.count; i++) {
        if (state_word(choice->states.items[i]) == NULL)
            return command_fail_unknown("--state:", choice->states.items[i], " is not a state",
                                        state_at,
                                        "give running, sleeping, disk_sleep, stopped, "
                                        "tracing_stop, zombie, dead, idle or parked");
    }
    if (choice->match == NULL)
        return 0;
    int code = regcomp(&filter->match, choice->match,
                       REG_EXTENDED | (choice->exact ? 0 : REG_NOSUB));
    if (code != 0) {
        char why[160];
        regerror(code, &filter->match, why, sizeof why);
        return command_fail(EXIT_USAGE, "--match: \"%s\" is not an extended regular expression: %s",
                            command_safe(choice->match), command_safe(why));
    }
    filter->has_match = true;
    return 0;
}

void filter_done(struct filter *filter)
{
    if (filter->has_match)
        regfree(&filter->match);
    buffer_done(&filter->text);
    free(filter->pids.items);
    *filter = (struct filter){0};
}

bool filter_chooses(const struct filter *filter)
{
    return filter->choice->users.given || filter->pids.given || filter->choice->names.given ||
           filter->choice->states.given || filter->choice->cgroups.given ||
           filter->choice->containers.given || filter->choice->parents.given ||
           filter->choice->direct_parents.given || filter->choice->newest ||
           filter->choice->oldest || filter->choice->gpu_users || filter->choice->match != NULL;
}

/* The list of pids that says which processes are read; *tree: with what descends from them. */
static const struct settings_numbers *narrowing(const struct filter *filter, bool *tree)
{
    const struct choice_settings *choice = filter->choice;
    *tree = choice->parents.given || choice->direct_parents.given;
    return choice->parents.given          ? &choice->parents
           : choice->direct_parents.given ? &choice->direct_parents
                                          : &filter->pids;
}

/* ---- The request ---- */

int filter_request(const struct filter *filter, vitals_request *request, vitals_error *error)
{
    const struct choice_settings *choice = filter->choice;
    bool by_name = choice->names.given || choice->match != NULL;
    const struct {
        bool wanted;
        vitals_metric metric;
    } METRICS[] = {
        {true, VITALS_PROCESS_PID},
        {choice->users.given, VITALS_PROCESS_EFFECTIVE_USER},
        {choice->users.given, VITALS_PROCESS_EFFECTIVE_UID},
        {by_name, VITALS_PROCESS_NAME},
        {by_name, VITALS_PROCESS_COMMAND_LINE},
        {choice->states.given, VITALS_PROCESS_STATE},
        {choice->direct_parents.given, VITALS_PROCESS_PARENT_PID},
        {choice->newest || choice->oldest || choice->match != NULL, VITALS_PROCESS_START_SECONDS},
        {choice->cgroups.given, VITALS_PROCESS_CGROUP},
        {choice->containers.given, VITALS_PROCESS_CONTAINER},
        {choice->gpu_users, VITALS_GPU_PROCESS_PID},
        {choice->gpu_users, VITALS_GPU_PROCESS_PROCESS},
    };
    int code = 0;
    for (size_t i = 0; i < ARRAY_COUNT(METRICS) && code == 0; i++) {
        if (METRICS[i].wanted)
            code = vitals_request_add(request, METRICS[i].metric, error);
    }
    if (code < 0)
        return code;

    /* One choice can be left to the sampler, which then reads less; all are looked at again here.
     */
    bool tree = false;
    const struct settings_numbers *list = narrowing(filter, &tree);
    if (!list->given || list->count == 0 || choice->inverse)
        return vitals_request_set_rows(request,
                                       choice->gpu_users && !choice->inverse ? VITALS_ROWS_GPU_USERS
                                                                             : VITALS_ROWS_ALL,
                                       NULL, 0, error);
    int64_t *pids = calloc(list->count, sizeof *pids);
    if (pids == NULL)
        return VITALS_EMEMORY;
    for (size_t i = 0; i < list->count; i++)
        pids[i] = (int64_t)list->items[i];
    code = vitals_request_set_rows(request, tree ? VITALS_ROWS_TREE : VITALS_ROWS_LISTED, pids,
                                   list->count, error);
    free(pids);
    return code;
}

/* ---- Looking at a row ---- */

static bool has_number(const struct settings_numbers *list, uint64_t number)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i] == number)
            return true;
    }
    return false;
}

bool filter_names_pid(struct filter *filter, const vitals_row *process)
{
    uint64_t pid;
    return vitals_row_u64(process, VITALS_PROCESS_PID, &pid) > 0 && has_number(&filter->pids, pid);
}

bool filter_lists(const struct filter *filter, int64_t pid)
{
    return pid > 0 && has_number(&filter->pids, (uint64_t)pid);
}

static bool user_passes(struct filter *filter, const vitals_row *process)
{
    const struct choice_settings *choice = filter->choice;
    vitals_text user = {"", 0};
    uint64_t uid = 0;
    char number[32] = "";
    // A file may hold the real user only.
    const vitals_snapshot *snapshot = vitals_row_snapshot(process);
    bool effective = vitals_snapshot_has_metric(snapshot, VITALS_PROCESS_EFFECTIVE_USER);
    bool named = vitals_row_text(process,
                                 effective ? VITALS_PROCESS_EFFECTIVE_USER : VITALS_PROCESS_USER,
                                 &user) > 0;
    if (vitals_row_u64(process, effective ? VITALS_PROCESS_EFFECTIVE_UID : VITALS_PROCESS_UID,
                       &uid) > 0)
        snprintf(number, sizeof number, "%llu", (unsigned long long)uid);
    for (size_t i = 0; i < choice->users.count; i++) {
        const char *wanted = choice->users.items[i];
        if (strcmp(wanted, number) == 0 || (named && strcmp(wanted, user.bytes) == 0))
            return true;
    }
    return false;
}

static bool name_matches(const struct choice_settings *choice, const char *name)
{
    for (size_t i = 0; i < choice->names.count; i++) {
        if (strcmp(choice->names.items[i], name) == 0 ||
            fnmatch(choice->names.items[i], name, 0) == 0)
            return true;
    }
    return false;
}

/* The kernel's name; and where it may have cut it, the program's, as long as that begins so. */
static bool name_passes(struct filter *filter, const vitals_row *process)
{
    const struct choice_settings *choice = filter->choice;
    vitals_text name, command;
    if (vitals_row_text(process, VITALS_PROCESS_NAME, &name) <= 0)
        return false;
    if (name_matches(choice, name.bytes))
        return true;
    if (name.size < KERNEL_NAME ||
        vitals_row_text(process, VITALS_PROCESS_COMMAND_LINE, &command) <= 0)
        return false;

    /* The file name that a command line begins with: the text goes on behind its NUL. */
    const char *slash = strrchr(command.bytes, '/');
    const char *program = slash != NULL ? slash + 1 : command.bytes;
    return strncmp(program, name.bytes, name.size) == 0 && name_matches(choice, program);
}

/* True if a process of this machine has ended since it was read, or is a zombie by now. */
static bool has_ended(const struct machine_settings *machine, const vitals_row *row)
{
    vitals_context *context = NULL;
    vitals_process *process = NULL;
    vitals_request *request = NULL;
    vitals_snapshot *answer = NULL;
    vitals_error error;
    if (machine->from != NULL)
        return false;
    int code = command_context(machine, &context, &error);
    if (code == 0)
        code = vitals_process_of(context, row, &process, &error);
    if (code == 0 && vitals_request_new(0, &request, NULL) == 0 &&
        vitals_request_add(request, VITALS_PROCESS_STATE, NULL) == 0)
        code = vitals_process_ask(process, request, &answer, NULL);
    bool ended = code == VITALS_EGONE ||
                 (answer != NULL &&
                  command_text_is(vitals_snapshot_row(answer, VITALS_TABLE_PROCESS, 0),
                                  VITALS_PROCESS_STATE, "zombie"));
    vitals_snapshot_unref(answer);
    vitals_request_free(request);
    vitals_process_close(process);
    vitals_context_free(context);
    return ended;
}

/* Vitals itself, where the processes are this machine's. */
static bool is_own(const struct filter *filter, const vitals_row *process)
{
    uint64_t pid;
    return filter->machine->from == NULL && filter->machine->proc_root == NULL &&
           vitals_row_u64(process, VITALS_PROCESS_PID, &pid) > 0 && pid == (uint64_t)getpid();
}

/* The expression is matched against the arguments with spaces between them, or the name of a
 * process that is known to have none, such as a kernel thread or a zombie. A process with unknown
 * arguments is counted: it might have matched. Vitals itself, whose own arguments hold the
 * expression, never passes. */
static bool match_passes(struct filter *filter, const vitals_row *process)
{
    vitals_text command;
    if (is_own(filter, process))
        return false;
    vitals_availability known = vitals_row_text(process, VITALS_PROCESS_COMMAND_LINE, &command);
    if (known <= 0 || command.size == 0) {
        if (known <= 0 && known != VITALS_GONE && !has_ended(filter->machine, process)) {
            filter->denied += known == VITALS_DENIED;
            filter->late += known != VITALS_DENIED;
            return false;
        }
        if (vitals_row_text(process, VITALS_PROCESS_NAME, &command) <= 0)
            return false;
    }

    size_t size = command.size;
    while (size > 0 && command.bytes[size - 1] == '\0')
        size--;
    struct buffer *text = &filter->text;
    buffer_reset(text);
    buffer_append(text, command.bytes, size);
    if (text->failed)
        return false;
    for (size_t i = 0; i < size; i++)
        text->bytes[i] = text->bytes[i] == '\0' ? ' ' : text->bytes[i];
    if (!filter->choice->exact)
        return regexec(&filter->match, text->bytes, 0, NULL, 0) == 0;

    /* regexec returns the longest of the leftmost matches, so a match of the whole is found. */
    regmatch_t whole;
    return regexec(&filter->match, text->bytes, 1, &whole, 0) == 0 && whole.rm_so == 0 &&
           (size_t)whole.rm_eo == size;
}

static bool state_passes(struct filter *filter, const vitals_row *process)
{
    const struct choice_settings *choice = filter->choice;
    for (size_t i = 0; i < choice->states.count; i++) {
        const char *word = state_word(choice->states.items[i]);
        if (word != NULL && command_text_is(process, VITALS_PROCESS_STATE, word))
            return true;
    }
    return false;
}

static bool cgroup_passes(struct filter *filter, const vitals_row *process)
{
    const struct choice_settings *choice = filter->choice;
    vitals_text path;
    if (vitals_row_text(process, VITALS_PROCESS_CGROUP, &path) <= 0)
        return false;
    for (size_t i = 0; i < choice->cgroups.count; i++) {
        const char *wanted = choice->cgroups.items[i];
        bool pattern = strpbrk(wanted, "*?[") != NULL;
        if (pattern ? fnmatch(wanted, path.bytes, 0) == 0 : strstr(path.bytes, wanted) != NULL)
            return true;
    }
    return false;
}

static bool container_passes(struct filter *filter, const vitals_row *process)
{
    const struct choice_settings *choice = filter->choice;
    vitals_text id;
    if (vitals_row_text(process, VITALS_PROCESS_CONTAINER, &id) <= 0)
        return false;
    for (size_t i = 0; i < choice->containers.count; i++) {
        const char *wanted = choice->containers.items[i];
        if (strncmp(wanted, id.bytes, strlen(wanted)) == 0)
            return true;
    }
    return false;
}

static bool uses_gpu(struct filter *filter UNUSED, const vitals_row *process)
{
    return row_uses_gpu(process);
}

/* Up the tree; a file may hold a circle. */
static bool descends(struct filter *filter, const vitals_row *process)
{
    const vitals_snapshot *snapshot = vitals_row_snapshot(process);
    const vitals_row *up = process;
    for (unsigned height = 0; height < ANCESTORS_MAX; height++) {
        uint64_t pid, parent = vitals_row_parent(up);
        up = parent != 0 ? vitals_snapshot_find(snapshot, VITALS_TABLE_PROCESS, parent) : NULL;
        if (up == NULL)
            return false;
        if (vitals_row_u64(up, VITALS_PROCESS_PID, &pid) > 0 &&
            has_number(&filter->choice->parents, pid))
            return true;
    }
    return false;
}

static bool is_child(struct filter *filter, const vitals_row *process)
{
    uint64_t parent;
    return vitals_row_u64(process, VITALS_PROCESS_PARENT_PID, &parent) > 0 &&
           has_number(&filter->choice->direct_parents, parent);
}

static bool all_pass(struct filter *filter, const vitals_row *process)
{
    const struct choice_settings *choice = filter->choice;
    const struct {
        bool given;
        bool (*passes)(struct filter *filter, const vitals_row *process);
    } rules[] = {
        {filter->pids.given, filter_names_pid},
        {choice->users.given, user_passes},
        {choice->names.given, name_passes},
        {choice->states.given, state_passes},
        {choice->cgroups.given, cgroup_passes},
        {choice->containers.given, container_passes},
        {choice->parents.given, descends},
        {choice->direct_parents.given, is_child},
        {choice->gpu_users, uses_gpu},
        {choice->match != NULL, match_passes}, // last: it counts
    };
    for (size_t i = 0; i < ARRAY_COUNT(rules); i++) {
        if (rules[i].given && !rules[i].passes(filter, process))
            return false;
    }
    return true;
}

/* As pgrep(1), vitals leaves itself out if it picks some of all processes. */
bool filter_passes(struct filter *filter, const vitals_row *process)
{
    const struct choice_settings *choice = filter->choice;
    if ((choice->newest || choice->oldest || choice->inverse) && is_own(filter, process))
        return false;
    return all_pass(filter, process) != choice->inverse;
}

/* ---- What was named and is not there ---- */

static int complain_unmatched(size_t count, const char *why)
{
    if (count == 0)
        return EXIT_DONE;
    if (count == 1)
        return command_fail(EXIT_CANNOT, "1 process could not be matched: its command line %s",
                            why);
    return command_fail(EXIT_CANNOT, "%zu processes could not be matched: their command line %s",
                        count, why);
}

int filter_complain(const struct filter *filter, const vitals_snapshot *snapshot)
{
    // With --children or --parent only the trees of the parents have rows.
    bool tree;
    const struct settings_numbers *list = narrowing(filter, &tree);
    int code = EXIT_DONE;
    for (size_t i = 0; !filter->choice->inverse && i < list->count; i++) {
        if (vitals_snapshot_find_pid(snapshot, (int64_t)list->items[i]) != NULL)
            continue;
        unsigned long long pid = list->items[i];
        if (filter->machine->from != NULL) {
            code = command_fail(EXIT_CANNOT, "no process has the pid %llu", pid);
            continue;
        }
        /* The library says why: it may be a thread's. */
        vitals_context *context = NULL;
        vitals_process *process = NULL;
        vitals_error error;
        int opened = command_context(filter->machine, &context, &error);
        if (opened == 0)
            opened = vitals_process_open(context, (int64_t)pid, &process, &error);
        code = opened < 0
                   ? command_fail(EXIT_CANNOT, "%s", error.message)
                   : command_fail(EXIT_CANNOT,
                                  "process %llu started after the others were read; try again",
                                  pid);
        vitals_process_close(process);
        vitals_context_free(context);
    }
    for (size_t i = 0; filter->machine->from == NULL && i < filter->choice->users.count; i++) {
        const char *name = filter->choice->users.items[i];
        if (name[strspn(name, "0123456789")] != '\0' && getpwnam(name) == NULL)
            code = command_fail(EXIT_CANNOT, "--user: this system has no user \"%s\"",
                                command_safe(name));
    }
    const char *late = filter->machine->from != NULL ? "is not in the file"
                                                     : "was not read in time";
    if (complain_unmatched(filter->denied, "may not be read") != EXIT_DONE)
        code = EXIT_CANNOT;
    if (complain_unmatched(filter->late, late) != EXIT_DONE)
        code = EXIT_CANNOT;
    return code;
}

int filter_none(const struct filter *filter)
{
    const struct choice_settings *choice = filter->choice;
    for (size_t i = 0; i < choice->names.count; i++) {
        const char *name = choice->names.items[i];
        size_t size = strlen(name);
        if (size > 0 && (name[0] == '^' || name[size - 1] == '$' || strstr(name, ".*") != NULL))
            return command_fail(EXIT_CANNOT,
                                "no process was chosen; --name takes a pattern of the shell, as "
                                "'sl*', and --match a regular expression");
    }
    return command_fail(EXIT_CANNOT, "no process was chosen");
}

/* ---- Pids as words ---- */

uint64_t filter_pid(const char *word)
{
    uint64_t pid;
    if (option_number(word, OPTION_PID_LEAST, OPTION_PID_MOST, &pid))
        return pid;
    (void)command_fail(0, "\"%s\" is not a pid; give a whole number from %d to %d",
                       command_safe(word), OPTION_PID_LEAST, OPTION_PID_MOST);
    return 0;
}
