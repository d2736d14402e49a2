/* account.c: what a run used, in a few lines for a person, or as JSON.
 *
 *     vitals: python train.py finished in 1 h 12 min, exit 0
 *       CPU        3 h 41 min  (3.07 cores)        exact, wait4
 *
 * Every line is what it is about, the figure, and how it was got; a figure that is not there is N/A
 * and why. With the arguments that people have, a line fits in 100 columns. */
#include "report/paint.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORDS = 192,
    COMMAND_COLUMNS = 52,
    COMMAND_BYTES = 2048,
    WHAT_COLUMNS = 11,
    WORDS_COLUMNS = 32
};

static double value_of(const vitals_figure *figure, vitals_availability *availability)
{
    double value = 0;
    *availability = figure != NULL ? vitals_figure_value(figure, &value) : VITALS_NOT_REQUESTED;
    return value;
}

static uint64_t as_count(double value)
{
    return value < 0                    ? 0
           : value > 9007199254740992.0 ? UINT64_C(9007199254740992)
                                        : (uint64_t)value;
}

static void bytes_words(double value, char out[static VITALS_HUMAN])
{
    vitals_human_bytes(as_count(value), out);
}

/* "0.042 s", "12.3 s", "3 min 7 s", "2 h 41 min"; each is rounded in its own unit. */
static void seconds_words(double seconds, char *out, size_t capacity)
{
    uint64_t whole = as_count(seconds + 0.5), minutes = as_count(seconds / 60 + 0.5);
    if (seconds < 0.9995)
        (void)snprintf(out, capacity, "%.3f s", seconds);
    else if (seconds < 59.95)
        (void)snprintf(out, capacity, "%.1f s", seconds);
    else if (whole < 3600)
        (void)snprintf(out, capacity, "%" PRIu64 " min %" PRIu64 " s", whole / 60, whole % 60);
    else
        (void)snprintf(out, capacity, "%" PRIu64 " h %" PRIu64 " min", minutes / 60, minutes % 60);
}

/* How good a figure is, in the words that stand behind it. */
static const char *quality(vitals_availability availability)
{
    switch (availability) {
    case VITALS_HAVE: return "exact";
    case VITALS_SAMPLED: return "sampled";
    case VITALS_LOWER_BOUND: return "at least";
    case VITALS_UPPER_BOUND: return "at most";
    case VITALS_ESTIMATE: return "estimate";
    case VITALS_STALE: return "stale";
    case VITALS_UNSET:
    case VITALS_NOT_REQUESTED:
    case VITALS_NOT_YET:
    case VITALS_UNSUPPORTED:
    case VITALS_DENIED:
    case VITALS_GONE:
    case VITALS_SUSPENDED:
    case VITALS_TIMED_OUT:
    case VITALS_FAILED:
    case VITALS_OUTSIDE:
    case VITALS_WRONG_METRIC: break;
    }
    return "not available";
}

/* A figure is never cut: where it needs more than its columns, what follows moves. */
static void cell(struct paint *paint, enum color color, size_t columns, const char *text)
{
    size_t has = paint_columns(text);
    paint_text(paint, color, text);
    paint_repeat(paint, COLOR_PLAIN, " ", has < columns ? columns - has : 1);
}

static void line(struct paint *paint, const char *what, const char *words, const char *how)
{
    paint_text(paint, COLOR_PLAIN, "  ");
    cell(paint, COLOR_BOLD, WHAT_COLUMNS, what);
    if (how[0] == '\0') {
        paint_text(paint, COLOR_PLAIN, words);
    } else {
        cell(paint, COLOR_PLAIN, WORDS_COLUMNS, words);
        paint_text(paint, COLOR_DIM, how);
    }
    paint_end(paint);
}

/* How a figure was got, or why it is missing. */
static void how_words(const vitals_figure *figure, char out[static WORDS])
{
    vitals_availability availability;
    (void)value_of(figure, &availability);
    (void)snprintf(out, WORDS, "%s%s%s", availability > 0 ? quality(availability) : "",
                   availability > 0 ? ", " : "", vitals_figure_source(figure));
}

/* ---- lines ---- */

static void cpu_line(struct paint *paint, const vitals_account *account)
{
    char total[40], user[40], system[40], words[WORDS], how[WORDS];
    vitals_availability has, has_cores;
    const vitals_figure *cpu = vitals_account_find(account, "cpu_seconds", "");
    if (cpu == NULL)
        return;
    seconds_words(value_of(cpu, &has), total, sizeof(total));
    seconds_words(value_of(vitals_account_find(account, "cpu_user_seconds", ""), &has), user,
                  sizeof(user));
    seconds_words(value_of(vitals_account_find(account, "cpu_system_seconds", ""), &has), system,
                  sizeof(system));
    double cores = value_of(vitals_account_find(account, "cpu_cores", ""), &has_cores);
    if (has_cores > 0)
        (void)snprintf(words, sizeof(words), "%s  (%.2f cores)", total, cores);
    else
        (void)snprintf(words, sizeof(words), "%s", total);
    how_words(cpu, how);
    line(paint, "CPU", words, how);
    (void)snprintf(words, sizeof(words), "user %s, system %s", user, system);
    line(paint, "", words, "");
}

/* One side of the peak: "peak at least 4.61GiB", "and about 4.98GiB". */
static void peak_line(struct paint *paint, const char *what, const char *before,
                      const vitals_figure *peak)
{
    vitals_availability has;
    char bytes[VITALS_HUMAN], words[WORDS], how[WORDS];
    bytes_words(value_of(peak, &has), bytes);
    (void)snprintf(words, sizeof(words), "%s %s", before, bytes);
    /* How good it is stands in the words already. */
    (void)snprintf(how, sizeof(how), "%s", vitals_figure_source(peak));
    line(paint, what, has > 0 ? words : "peak N/A", how);
}

static void memory_lines(struct paint *paint, const vitals_account *account)
{
    const vitals_figure *low = vitals_account_find(account, "memory_peak_low_bytes", "");
    const vitals_figure *high = vitals_account_find(account, "memory_peak_high_bytes", "");
    vitals_availability has;
    if (low != NULL)
        peak_line(paint, "memory", "peak at least", low);
    (void)value_of(high, &has);
    if (has > 0)
        peak_line(paint, "", "and about", high);
}

static void disk_line(struct paint *paint, const vitals_account *account)
{
    const vitals_figure *read = vitals_account_find(account, "disk_read_bytes", "");
    const vitals_figure *written = vitals_account_find(account, "disk_written_bytes", "");
    vitals_availability has;
    char a[VITALS_HUMAN], b[VITALS_HUMAN], words[WORDS], how[WORDS];
    if (read == NULL || written == NULL)
        return;
    bytes_words(value_of(read, &has), a);
    bytes_words(value_of(written, &has), b);
    (void)snprintf(words, sizeof(words), "read %s, written %s", a, b);
    how_words(read, how);
    line(paint, "disk", words, how);
}

static void process_line(struct paint *paint, const vitals_account *account)
{
    const vitals_figure *count = vitals_account_find(account, "processes", "");
    const vitals_figure *left = vitals_account_find(account, "processes_left", "");
    vitals_availability has;
    char words[WORDS], how[WORDS];
    if (count == NULL)
        return;
    uint64_t number = as_count(value_of(count, &has)), running = as_count(value_of(left, &has));
    if (left != NULL)
        (void)snprintf(words, sizeof(words), "%" PRIu64 ", %" PRIu64 " still running", number,
                       running);
    else
        (void)snprintf(words, sizeof(words), "%" PRIu64, number);
    how_words(count, how);
    line(paint, "processes", words, how);
}

/* Of a device or a back end that told nothing: why, up to what to do about it. */
static void untold_gpu_line(struct paint *paint, const vitals_figure *figure)
{
    char how[WORDS];
    how_words(figure, how);
    how[strcspn(how, ";")] = '\0';
    line(paint, vitals_figure_label(figure), "N/A", how);
}

static void left_out_line(struct paint *paint, const vitals_account *account)
{
    const vitals_figure *count = vitals_account_find(account, "gpus_not_counted", "");
    vitals_availability has;
    char words[WORDS], how[WORDS];
    if (count == NULL)
        return;
    (void)snprintf(words, sizeof(words), "%" PRIu64 " not counted",
                   as_count(value_of(count, &has)));
    how_words(count, how);
    line(paint, "GPUs", words, how);
}

/* The figures of one device stand in one line. A device that the run did not use has none. */
static void gpu_lines(struct paint *paint, const vitals_account *account)
{
    for (const vitals_figure *figure = NULL;
         (figure = vitals_account_next(account, figure)) != NULL;) {
        if (strcmp(vitals_figure_name(figure), "gpu_memory_peak_bytes") != 0)
            continue;
        const vitals_figure *busy = vitals_account_find(account, "gpu_busy_ratio",
                                                        vitals_figure_subject(figure));
        if (busy == NULL) {
            untold_gpu_line(paint, figure);
            continue;
        }
        vitals_availability has_memory, has_busy;
        char peak[VITALS_HUMAN], words[WORDS], how[WORDS];
        double memory = value_of(figure, &has_memory), ratio = value_of(busy, &has_busy);
        bytes_words(memory, peak);
        int used = snprintf(words, sizeof(words), "peak %s", has_memory > 0 ? peak : "N/A");
        if (has_busy > 0)
            (void)snprintf(words + used, sizeof(words) - (size_t)used, ", %.0f %% busy",
                           ratio * 100);
        how_words(has_memory <= 0 && has_busy > 0 ? busy : figure, how);
        line(paint, vitals_figure_label(figure), words, how);
    }
}

/* The command as a shell would read it, safe and cut: whoever typed its arguments knows them. */
static void command_words(const char *const *argv, vitals_text_form form,
                          char out[static COMMAND_BYTES])
{
    char arguments[COMMAND_BYTES / 8], typed[COMMAND_BYTES / 2];
    size_t used = 0;
    for (size_t i = 0; argv[i] != NULL && used < sizeof(arguments); i++) {
        size_t size = strlen(argv[i]) + 1, room = sizeof(arguments) - used;
        memcpy(arguments + used, argv[i], size < room ? size : room);
        used += size < room ? size : room;
    }
    vitals_text_command((vitals_text){arguments, used}, typed, sizeof(typed));
    vitals_text text = {typed, strlen(typed)};
    bool whole = vitals_text_columns(text, form) <= COMMAND_COLUMNS;
    vitals_text_fit(text, form, whole ? COMMAND_COLUMNS : COMMAND_COLUMNS - 2, out,
                    COMMAND_BYTES - 2, NULL);
    if (!whole)
        memcpy(out + strlen(out), "..", 3);
}

static void first_line(struct paint *paint, const vitals_account *account, const char *const *argv)
{
    char command[COMMAND_BYTES], wall[40], words[WORDS];
    vitals_availability has;
    command_words(argv, paint->options->ascii ? VITALS_TEXT_ASCII : VITALS_TEXT_TERMINAL, command);
    seconds_words(value_of(vitals_account_find(account, "wall_seconds", ""), &has), wall,
                  sizeof(wall));
    if (vitals_account_signal(account) != 0)
        (void)snprintf(words, sizeof(words), " ended after %s by signal %d", wall,
                       vitals_account_signal(account));
    else
        (void)snprintf(words, sizeof(words), " finished in %s, exit %d", wall,
                       vitals_account_exit_code(account));
    paint_text(paint, COLOR_PLAIN, "vitals: ");
    paint_text(paint, COLOR_PLAIN, command);
    paint_text(paint, COLOR_PLAIN, words);
    paint_end(paint);
}

int report_account(const vitals_account *account, const char *const *argv, bool color, bool ascii,
                   vitals_write *write, void *data)
{
    struct report_options options = {.color = color, .ascii = ascii};
    struct paint paint;
    paint_init(&paint, &options, write, data);
    first_line(&paint, account, argv);
    cpu_line(&paint, account);
    memory_lines(&paint, account);
    gpu_lines(&paint, account);
    left_out_line(&paint, account);
    disk_line(&paint, account);
    process_line(&paint, account);
    return paint_done(&paint);
}

/* ---- for programs ---- */

static void json_string(struct paint *paint, vitals_text text)
{
    char escaped[1024];
    vitals_text_format(text, VITALS_TEXT_JSON, escaped, sizeof(escaped));
    paint_text(paint, COLOR_PLAIN, "\"");
    paint_text(paint, COLOR_PLAIN, escaped);
    paint_text(paint, COLOR_PLAIN, "\"");
}

static void json_member(struct paint *paint, const char *name, const char *value)
{
    paint_text(paint, COLOR_PLAIN, ",\"");
    paint_text(paint, COLOR_PLAIN, name);
    paint_text(paint, COLOR_PLAIN, "\":");
    json_string(paint, (vitals_text){value, strlen(value)});
}

/* The shortest of three lengths that reads back the same; the locale of numbers is C. */
static void number_words(double value, char out[static WORDS])
{
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(out, WORDS, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            return;
    }
}

static void json_figure(struct paint *paint, const vitals_figure *figure)
{
    vitals_availability availability;
    char number[WORDS] = "null";
    double value = value_of(figure, &availability);
    if (availability > 0)
        number_words(value, number);
    paint_text(paint, COLOR_PLAIN, "{\"name\":");
    json_string(paint,
                (vitals_text){vitals_figure_name(figure), strlen(vitals_figure_name(figure))});
    if (vitals_figure_subject(figure)[0] != '\0')
        json_member(paint, "subject", vitals_figure_subject(figure));
    if (vitals_figure_label(figure)[0] != '\0')
        json_member(paint, "label", vitals_figure_label(figure));
    paint_text(paint, COLOR_PLAIN, ",\"value\":");
    paint_text(paint, COLOR_PLAIN, number);
    json_member(paint, "unit", vitals_figure_unit(figure));
    json_member(paint, "availability", vitals_availability_name(availability));
    json_member(paint, "source", vitals_figure_source(figure));
    paint_text(paint, COLOR_PLAIN, "}");
}

int report_account_json(const vitals_account *account, const char *const *argv, vitals_write *write,
                        void *data)
{
    struct report_options options = {.color = false};
    struct paint paint;
    char head[WORDS];
    paint_init(&paint, &options, write, data);
    (void)snprintf(head, sizeof(head), "{\"schema\":%d,\"vitals\":\"%s\",\"command\":[",
                   VITALS_SCHEMA, vitals_version_text());
    paint_text(&paint, COLOR_PLAIN, head);
    for (size_t i = 0; argv[i] != NULL; i++) {
        paint_text(&paint, COLOR_PLAIN, i > 0 ? "," : "");
        json_string(&paint, (vitals_text){argv[i], strlen(argv[i])});
    }
    (void)snprintf(head, sizeof(head), "],\"exit_code\":%d,\"signal\":%d",
                   vitals_account_exit_code(account), vitals_account_signal(account));
    paint_text(&paint, COLOR_PLAIN, head);
    vitals_text failure = vitals_account_failure(account);
    if (failure.size > 0)
        json_member(&paint, "failure", failure.bytes);
    paint_text(&paint, COLOR_PLAIN, ",\"figures\":[");
    for (const vitals_figure *figure = NULL;
         (figure = vitals_account_next(account, figure)) != NULL;) {
        paint_text(&paint, COLOR_PLAIN, figure == vitals_account_next(account, NULL) ? "" : ",");
        json_figure(&paint, figure);
    }
    paint_text(&paint, COLOR_PLAIN, "]}\n");
    return paint_done(&paint);
}
