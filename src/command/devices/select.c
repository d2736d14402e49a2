/* select.c: `vitals select`: chooses free devices, waits for them, locks them, and prints them or
 * executes the command that runs on them.
 *
 * The command replaces vitals, with the locks among its open files: they end with the command, and
 * no part of vitals has to keep running until then. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "command/devices/select.h"
#include "command/output.h"
#include "feed/rows.h"

enum { EXIT_IN_VAIN = 124, DEVICES_MOST = 128, ORDER = 8192 };

static const uint64_t SECOND_READING_NS = 200000000;

struct select_choice {
    const struct settings *settings;
    vitals_gpu_select_options options;
    char own_user[128];
    const char *own[1]; /* without -u: devices with enough free memory */
    uint64_t needed;
    bool none;  /* zero devices are to be selected: no device is looked for */
    int folder; /* folder of the locks; -1: it could not be opened */

    struct feed feed;
    vitals_snapshot *older, *now;
    const vitals_row *candidates[DEVICES_MOST];
    size_t candidate_count, locked; /* locked: by other jobs */
    bool asked_cuda;                /* CUDA was asked for its order */
    bool complained_list;           /* a message about the list of --inherit was printed */
    bool complained_lock;           /* a message about an unusable lock was printed */

    const vitals_row *rows[DEVICES_MOST]; /* the chosen devices */
    size_t count;
    int locks[DEVICES_MOST];
    size_t lock_count;

    char order[ORDER]; /* order of CUDA's devices; "": not asked */
};

static bool has_command(const struct settings *settings)
{
    return settings->arguments.command_argc > 0;
}

static bool was_given(const struct settings *settings, const void *field)
{
    return settings_origin(settings, field) != ORIGIN_DEFAULT;
}

/* ---- what is asked for ---- */

static int take_size(const char *option, const char *text, uint64_t *out)
{
    if (text == NULL || vitals_parse_bytes(text, out) == 0)
        return 0;
    return command_fail(EXIT_USAGE, "--%s %s: not a size; write 40GiB or 500M, for example", option,
                        command_safe(text));
}

/* To print: all suitable devices. For a job: as few as possible, unless more are requested. */
static int take_counts(struct select_choice *choice)
{
    const struct settings *settings = choice->settings;
    bool is_job = has_command(settings) || settings->select.wait;
    bool exact = settings->select.count != 0 || was_given(settings, &settings->select.count);
    uint64_t most = exact ? settings->select.count : settings->select.max_count;
    choice->none = most == 0 && (exact || was_given(settings, &settings->select.max_count));
    choice->needed = settings->select.min_count;
    if (exact || (choice->none && !was_given(settings, &settings->select.min_count)))
        choice->needed = most;
    if (most == 0 && is_job && !choice->none)
        most = choice->needed != 0 ? choice->needed : 1;
    if ((most != 0 || choice->none) && most < choice->needed)
        return command_fail(EXIT_USAGE, "--max-count %llu is less than --min-count %llu",
                            (unsigned long long)most, (unsigned long long)choice->needed);
    choice->options.min_count = choice->needed;
    choice->options.max_count = most;
    return 0;
}

static int take_settings(struct select_choice *choice)
{
    const struct settings *settings = choice->settings;
    vitals_gpu_select_options *options = &choice->options;
    if (settings->select.lock && !has_command(settings))
        return command_fail(EXIT_USAGE, "--lock holds devices while a command runs; write the "
                                        "command after --, as in: vitals select --lock -- make");
    vitals_gpu_select_options_init(options, sizeof *options);
    int code = take_counts(choice);
    if (code == 0)
        code = take_size("min-free-memory", settings->select.min_free, &options->min_free_bytes);
    if (code == 0)
        code = take_size("min-total-memory", settings->select.min_total, &options->min_total_bytes);
    if (was_given(settings, &settings->select.max_utilization))
        options->max_utilization_ratio = (double)settings->select.max_utilization / 100;
    if (was_given(settings, &settings->select.max_memory_utilization))
        options->max_memory_busy_ratio = (double)settings->select.max_memory_utilization / 100;
    options->tolerance_ratio = (double)settings->select.tolerance / 100;
    options->keep_order = settings->select.no_sort;

    const struct settings_words *accounts = &settings->select.free_accounts;
    options->free_accounts = accounts->items;
    options->free_account_count = accounts->count;
    if (accounts->given && accounts->count == 0) {
        choice->own[0] = command_user(choice->own_user, sizeof choice->own_user);
        options->free_accounts = choice->own;
        options->free_account_count = 1;
    }
    return code;
}

/* ---- the candidates ---- */

static void list_inherited(struct select_choice *choice)
{
    const struct settings *settings = choice->settings;
    vitals_error error;
    bool named = strcmp(settings->select.inherit, SELECT_INHERIT) != 0;
    const char *visible = named ? settings->select.inherit : settings->environment.visible_devices;
    const char *order = settings->environment.device_order;

    /* The order of CUDA's device numbers; if only CUDA knows it, CUDA is asked once. */
    if (visible != NULL && visible[strcspn(visible, "0123456789")] != '\0' &&
        strstr(visible, "GPU-") == NULL && strstr(visible, "MIG-") == NULL &&
        vitals_cuda_order(choice->now, order) == VITALS_ESTIMATE) {
        if (choice->order[0] == '\0' && !choice->asked_cuda &&
            !select_ask_cuda(choice->order, sizeof choice->order))
            (void)command_fail(0, "CUDA cannot be asked how it counts these GPUs; taking the order "
                                  "of their PCI addresses");
        choice->asked_cuda = true;
        if (choice->order[0] != '\0')
            order = choice->order;
    }

    /* As CUDA does, takes what stands before the first word that names no device. */
    if (!choice->complained_list &&
        vitals_cuda_visible_check(choice->now, visible, order, &error) < 0) {
        /* the variable is not named in the message if a list is given */
        size_t blamed = named ? strlen(SELECT_INHERIT) : 0;
        bool starts = strncmp(error.message, SELECT_INHERIT, blamed) == 0;
        (void)command_fail(0, "%s%s", named ? "--inherit" : "",
                           error.message + (starts ? blamed : 0));
        choice->complained_list = true;
    }
    choice->candidate_count = vitals_cuda_visible_devices(choice->now, visible, order,
                                                          choice->candidates, DEVICES_MOST);
}

static void remove_candidate(struct select_choice *choice, const vitals_row *row)
{
    size_t kept = 0;
    for (size_t i = 0; i < choice->candidate_count; i++) {
        if (choice->candidates[i] != row)
            choice->candidates[kept++] = choice->candidates[i];
    }
    choice->candidate_count = kept;
}

/* Skips a device that another job has locked, or whose lock file is unusable; that is reported
 * once. */
static void count_locked(struct select_choice *choice, const char *uuid, int error)
{
    choice->locked++;
    if (error < 0 && error != -EAGAIN && !choice->complained_lock) {
        lock_complain(uuid, error);
        choice->complained_lock = true;
    }
}

/* ---- choosing ---- */

static void unlock(struct select_choice *choice)
{
    while (choice->lock_count > 0)
        close(choice->locks[--choice->lock_count]);
}

/* Locks all chosen devices, or none; *failed is the first one that another job had locked. */
static bool lock_chosen(struct select_choice *choice, const vitals_row **failed)
{
    for (size_t i = 0; i < choice->count; i++) {
        char uuid[SELECT_ID];
        select_uuid(choice->rows[i], uuid);
        int lock = lock_take(choice->folder, uuid);
        if (lock < 0) {
            *failed = choice->rows[i];
            count_locked(choice, uuid, lock);
            unlock(choice);
            return false;
        }
        choice->locks[choice->lock_count++] = lock;
    }
    return true;
}

/* Reads the devices and chooses. Returns 0, or an exit code after a message; choice->count is the
 * number of chosen devices. */
static int choose(struct select_choice *choice)
{
    bool inherits = choice->settings->select.inherit != NULL;
    vitals_error error = {.message = "there is nothing to be read"};
    if (command_read_first(&choice->settings->machine, &choice->feed, &choice->older, &choice->now,
                           &error) <= 0)
        return command_fail(EXIT_CANNOT, "%s", error.message);
    choice->count = 0;
    choice->candidate_count = 0;
    choice->options.candidate_count = 0;
    /* The best may be among those that are not listed. */
    if (!choice->settings->select.wait && command_tell_partial(choice->now, EXIT_DONE) != EXIT_DONE)
        return EXIT_CANNOT;
    if (!command_is_whole(choice->now))
        return 0;
    if (inherits)
        list_inherited(choice);
    /* Leaves out devices that cannot be assigned to a program, such as the display adapter of a
     * server. */
    for (const vitals_row *row = NULL;
         !inherits && (row = vitals_snapshot_next(choice->now, VITALS_TABLE_GPU, row)) != NULL;) {
        if (choice->candidate_count < DEVICES_MOST && select_variable(row) != NULL)
            choice->candidates[choice->candidate_count++] = row;
    }

    /* Devices that other jobs hold. A lock that cannot be checked counts as held only if a lock is
     * wanted. */
    choice->locked = 0;
    for (size_t i = 0; choice->folder >= 0 && i < choice->candidate_count;) {
        char uuid[SELECT_ID];
        select_uuid(choice->candidates[i], uuid);
        int held = lock_is_held(choice->folder, uuid);
        if (held > 0 || (held < 0 && choice->settings->select.lock)) {
            count_locked(choice, uuid, held);
            remove_candidate(choice, choice->candidates[i]);
        } else {
            i++;
        }
    }

    for (;;) {
        const vitals_row *failed = NULL;
        choice->options.candidates = choice->candidates;
        choice->options.candidate_count = choice->candidate_count;
        choice->options.older = choice->older;
        int count = vitals_gpu_select(choice->now, &choice->options, choice->rows, DEVICES_MOST,
                                      &error);
        if (count < 0)
            return command_fail(EXIT_USAGE, "%s", error.message);
        choice->count = (size_t)count;
        if (choice->count < choice->needed || !choice->settings->select.lock ||
            lock_chosen(choice, &failed))
            return 0;
        remove_candidate(choice, failed);
    }
}

/* ---- why too few are found, if waiting does not help ---- */

struct shortage {
    size_t known;      /* candidates that can be judged: they are taken once they are free */
    char reasons[200]; /* "; there is 1 that cannot be judged", or "" */
};

static bool is_known(const vitals_row *row, vitals_metric metric)
{
    vitals_availability state = vitals_row_availability(row, metric);
    return (state > 0 && state != VITALS_STALE) || state == VITALS_NOT_YET;
}

static bool is_judged(const vitals_gpu_select_options *options, const vitals_row *row)
{
    bool free = is_known(row, VITALS_GPU_MEMORY_FREE_BYTES);
    bool total = is_known(row, VITALS_GPU_MEMORY_TOTAL_BYTES);
    bool used = is_known(row, VITALS_GPU_MEMORY_USED_BYTES);
    bool busy = is_known(row, VITALS_GPU_UTILIZATION_RATIO) ||
                is_known(row, VITALS_GPU_BUSY_SECONDS);
    bool memory_busy = is_known(row, VITALS_GPU_MEMORY_BUSY_RATIO);
    bool asleep = vitals_row_availability(row, VITALS_GPU_MEMORY_USED_BYTES) == VITALS_SUSPENDED;
    return (free || total || used || busy || memory_busy || asleep) &&
           (options->min_free_bytes == 0 || free) && (options->min_total_bytes == 0 || total) &&
           (options->max_utilization_ratio < 0 || busy) &&
           (options->max_memory_busy_ratio < 0 || memory_busy);
}

/* Counts the candidates that meet the options, which must be given. */
static struct shortage find_shortage(const struct select_choice *choice)
{
    struct shortage shortage = {0};
    size_t unknown = 0; /* lost, or nothing is known of it, or a limited metric is not known */
    size_t unnamed = 0; /* devices that no variable names, and so not candidates */
    for (size_t i = 0; i < choice->options.candidate_count; i++) {
        const vitals_row *row = choice->options.candidates[i], *part = NULL;

        /* A divided device is judged by its partitions. */
        bool judged = is_judged(&choice->options, row);
        while (!judged && (part = vitals_snapshot_next_child(choice->now, VITALS_TABLE_GPU,
                                                             vitals_row_key(row), part)) != NULL)
            judged = is_judged(&choice->options, part);
        shortage.known += judged;
        unknown += !judged && vitals_row_parent(row) == 0;
    }
    EACH_CHILD(row, choice->now, VITALS_TABLE_GPU, 0) {
        /* If the device is lost, its driver may not report which processes use it either. */
        vitals_availability state = vitals_row_availability(row, VITALS_GPU_MEMORY_USED_BYTES);
        bool lost = state == VITALS_GONE || state == VITALS_TIMED_OUT;
        bool named = select_variable(row) != NULL;
        unknown += !named && lost;
        /* --inherit names only CUDA's devices */
        unnamed += !named && !lost && choice->settings->select.inherit == NULL;
    }

    const struct {
        size_t count;
        const char *what;
    } reasons[] = {{unknown, "cannot be judged (vitals doctor says why)"},
                   {unnamed, "no variable hands to a program"}};
    size_t used = 0;
    for (size_t i = 0; i < ARRAY_COUNT(reasons); i++) {
        if (reasons[i].count > 0)
            used += (size_t)snprintf(shortage.reasons + used, sizeof shortage.reasons - used,
                                     "; there %s %zu that %s", reasons[i].count == 1 ? "is" : "are",
                                     reasons[i].count, reasons[i].what);
    }
    return shortage;
}

static int too_few(const struct select_choice *choice, int code)
{
    size_t there = vitals_snapshot_count(choice->now, VITALS_TABLE_GPU);
    const struct shortage shortage = find_shortage(choice);
    bool may_come = shortage.known + choice->locked >= choice->needed;
    char few[64];
    (void)snprintf(few, sizeof few, "; there %s %zu in this machine", there == 1 ? "is" : "are",
                   there);
    const char *why = there == 0 ? "; no GPU was found, vitals doctor says what was tried"
                      : there < choice->needed        ? few
                      : choice->locked > 0            ? "; other jobs hold some with --lock"
                      : choice->settings->select.wait ? ""
                      : may_come                      ? "; --wait waits for more"
                                                      : "";
    command_tell_kept(choice->now);
    return command_fail(code, "%zu of %llu GPUs that were asked for are free enough%s%s%s",
                        choice->count, (unsigned long long)choice->needed,
                        choice->needed > 1 && there > 1 ? " and of one vendor" : "",
                        shortage.reasons, why);
}

/* ---- choosing, repeated until it succeeds ---- */

/* If a driver gives no utilization, idle devices are found with two readings. */
static int choose_once(struct select_choice *choice)
{
    int code = choose(choice);
    if (code == 0 && choice->count < choice->needed && choice->options.max_utilization_ratio >= 0) {
        command_wait_until(clock_now_ns() + SECOND_READING_NS);
        code = choose(choice);
    }
    return code != 0 || choice->count >= choice->needed ? code : too_few(choice, EXIT_FEWER);
}

static int choose_in_time(struct select_choice *choice)
{
    const struct settings *settings = choice->settings;
    bool ends = was_given(settings, &settings->select.timeout_ns), told = false;
    uint64_t begun = clock_now_ns(), deadline = begun + settings->select.timeout_ns;
    uint64_t every = settings->sampling.interval_ns != 0 ? settings->sampling.interval_ns
                                                         : NS_PER_SECOND;
    for (;;) {
        uint64_t next = clock_now_ns() + every;
        int code = choose(choice);
        if (code != 0 || choice->count >= choice->needed)
            return code;
        size_t there = vitals_snapshot_count(choice->now, VITALS_TABLE_GPU);
        bool listed = vitals_snapshot_state(choice->now, VITALS_TABLE_GPU) != VITALS_LOWER_BOUND;
        if (listed && there < choice->needed)
            return too_few(choice, EXIT_FEWER);
        if (ends && clock_now_ns() >= deadline)
            return too_few(choice, EXIT_IN_VAIN);
        /* Prints one line, because nothing else shows why it takes so long. */
        if (!told) {
            const struct shortage shortage = find_shortage(choice);
            unsigned long long needed = (unsigned long long)choice->needed;
            command_tell_kept(choice->now);
            if (shortage.reasons[0] != '\0' && shortage.known + choice->locked < choice->needed)
                (void)command_fail(0, "waiting for %llu GPUs%s", needed, shortage.reasons);
            else
                (void)command_fail(0, "waiting for GPUs: %zu of %llu are free%s", choice->count,
                                   needed, isatty(STDERR_FILENO) ? " (Ctrl-C ends)" : "");
        }
        told = true;
        command_wait_until(ends && deadline < next ? deadline : next);
    }
}

/* ---- output: identifiers, or the command ---- */

static bool is_mig(const vitals_row *row)
{
    const char *variable = select_variable(row);
    return vitals_row_parent(row) != 0 && variable != NULL &&
           strcmp(variable, "CUDA_VISIBLE_DEVICES") == 0;
}

void select_id(const char *format, const vitals_row *row, char out[static SELECT_ID])
{
    uint64_t index;
    if (strcmp(format, "uuid") == 0 || is_mig(row))
        select_uuid(row, out);
    else if (vitals_row_parent(row) == 0 && vitals_row_u64(row, VITALS_GPU_INDEX, &index) > 0)
        snprintf(out, SELECT_ID, "%llu", (unsigned long long)index);
    else
        snprintf(out, SELECT_ID, "%llu", (unsigned long long)select_ordinal(row));
}

static void put_list(const struct select_choice *choice, const char *separator,
                     struct output *output)
{
    for (size_t i = 0; i < choice->count; i++) {
        char id[SELECT_ID];
        select_id(choice->settings->select.id_format, choice->rows[i], id);
        output_text(output, i > 0 ? separator : "");
        output_text(output, id);
    }
}

static int print(const struct select_choice *choice)
{
    const struct settings *settings = choice->settings;
    struct output *output = output_begin(STDOUT_FILENO);
    if (settings->select.null) {
        for (size_t i = 0; i < choice->count; i++) {
            char id[SELECT_ID];
            select_id(settings->select.id_format, choice->rows[i], id);
            (void)output_write(output, id, strlen(id) + 1);
        }
    } else {
        put_list(choice, settings->select.newline ? "\n" : settings->select.separator, output);
        output_text(output, "\n");
    }
    int code = output_done(output, EXIT_DONE);

    /* For scripts that read stdout into a variable: the variable to export. On a terminal it is
     * printed only if it is not the usual one. */
    static const char usual[] = "CUDA_VISIBLE_DEVICES";
    const char *variable = choice->count > 0 ? select_variable(choice->rows[0]) : usual;
    if (variable != NULL && (!isatty(STDOUT_FILENO) || strcmp(variable, usual) != 0)) {
        output = output_begin(STDERR_FILENO);
        output_format(output, "%s=\"", variable);
        put_list(choice, ",", output);
        output_text(output, "\"\n");
        (void)output_flush(output);
    }

    bool by_index = choice->count > 0 && strcmp(choice->settings->select.id_format, "index") == 0 &&
                    !is_mig(choice->rows[0]);
    if (by_index && variable != NULL && strcmp(variable, usual) == 0 &&
        vitals_cuda_order(choice->now, choice->settings->environment.device_order) ==
            VITALS_ESTIMATE)
        (void)command_fail(0, "CUDA may count these GPUs in another order; export "
                              "CUDA_DEVICE_ORDER=PCI_BUS_ID too, or use -O uuid");

    return code;
}

/* Executes the command. Returns only on failure. */
static int run(struct select_choice *choice)
{
    const struct settings *settings = choice->settings;
    struct environment environment;
    const char *name = settings->select.command_path != NULL ? settings->select.command_path
                                                             : settings->arguments.command_argv[0];
    if (select_environment(choice->rows, choice->count, &environment) < 0) {
        select_environment_done(&environment);
        return command_fail(EXIT_CANNOT, "out of memory");
    }
    feed_close(&choice->feed);
    for (size_t i = 0; i < choice->lock_count; i++) {
        if (!lock_keep(choice->locks[i]))
            (void)command_fail(0, "the command cannot inherit the lock: %s", strerror(errno));
    }

    int code = command_execute(&settings->arguments, name, environment.items);
    select_environment_done(&environment);
    return code;
}

int command_select(const struct settings *settings)
{
    static struct select_choice choice; /* too large for the stack */
    vitals_request *request = NULL;
    vitals_error error;
    choice.settings = settings;
    choice.folder = -1;
    int code = take_settings(&choice);
    if (code == 0 && settings->fleet.hosts != NULL)
        return command_select_hosts(settings, &choice.options);
    if (code == 0) {
        choice.folder = lock_folder_open(settings);
        code = choice.folder < 0 && settings->select.lock ? EXIT_CANNOT : 0;
    }
    if (code == 0 && !choice.none) {
        static const vitals_table SOURCE[] = {VITALS_TABLE_SOURCE, 0};
        int made = command_request(NULL, SOURCE, &request, &error);
        if (made == 0)
            made = vitals_gpu_select_request(&choice.options, request, &error);
        code = made < 0 ? command_fail(EXIT_CANNOT, "%s", error.message)
                        : command_feed(&settings->machine, request, 0, -1, &choice.feed);
        vitals_request_free(request);
        if (code == 0)
            code = settings->select.wait ? choose_in_time(&choice) : choose_once(&choice);
    }
    if (code == 0)
        code = has_command(settings) ? run(&choice) : print(&choice);
    unlock(&choice);
    feed_close(&choice.feed);
    vitals_snapshot_unref(choice.older);
    vitals_snapshot_unref(choice.now);
    if (choice.folder >= 0)
        close(choice.folder);
    return code;
}
