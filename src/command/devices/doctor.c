/* doctor.c: `vitals doctor`: the findings, what is missing and why, and how to fix it.
 *
 * The rows come from the table diagnosis, which the back ends and the system fill; this file adds
 * the readings of devices that deserve attention, and sources that did not answer in time. Text
 * from outside is made safe line by line, so that no finding can write a command. */
#include "command/devices/doctor.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "command/output.h"
#include "feed/rows.h"
#include "feed/snapshot_filter.h"
#include "report/report.h"
#include "view/cell_text.h"
#include "view/paint.h"

/* ---- readings of devices ----
 *
 * A rule is a row: a number that is 0 for a healthy device, or a reason why something cannot be
 * read. The same rules judge all vendors and the demo. Everything that is read of a device at each
 * tick is requested, so that a call that hangs hangs here too. Events that a driver only reports as
 * they happen (Xid) are not judged, as a single reading cannot see them. */

#define G(suffix) VITALS_GPU_##suffix

static const char READ_LOG[] = "sudo dmesg | tail -n 50\n"
                               "# reset the device, or restart the machine";
static const char RESET[] = "# end what uses the device, then reset it or restart the machine";

static const char ALLOW[] = "ls -l /dev/nvidia* /dev/dri /dev/kfd\n"
                            "# join the group that has them, or:\nsudo vitals doctor";

struct doctor_verdict {
    const char *severity, *finding, *remedy;
};

// One rule, one row.
// clang-format off
/* The reasons why a driver does not report what every device has. If it reports nothing at all, the
 * reason of the device is enough. */
static const struct {
    vitals_metric metric;
    vitals_availability reason;
    bool on_all;
    struct doctor_verdict verdict;
} SILENCES[] = {
    {G(MEMORY_USED_BYTES), VITALS_GONE, true,
     {"problem", "lost: its driver does not reach it any more", READ_LOG}},
    {G(MEMORY_USED_BYTES), VITALS_TIMED_OUT, true,
     {"problem", "it gives no answer in time", READ_LOG}},
    {G(MEMORY_USED_BYTES), VITALS_SUSPENDED, true, {"good", "asleep, and left so", ""}},
    {G(MEMORY_USED_BYTES), VITALS_DENIED, false,
     {"problem", "how much of its memory is used: no permission", ALLOW}},
    {G(MEMORY_USED_BYTES), VITALS_FAILED, false,
     {"problem", "how much of its memory is used: its driver fails to tell", READ_LOG}},
    {G(PROCESSES), VITALS_TIMED_OUT, false,
     {"problem", "which processes use it: no answer in time", READ_LOG}},
    {G(PROCESSES), VITALS_DENIED, false,
     {"problem", "which processes use it: no permission", ALLOW}},
    {G(PROCESSES), VITALS_FAILED, false,
     {"problem", "which processes use it: its driver fails to tell", READ_LOG}},
};

static const struct {
    vitals_metric metric;
    struct doctor_verdict verdict;
} RULES[] = {
    {G(REMAPPED_ROWS_FAILED), {"problem", "broken memory that could not be replaced by spare",
                               "# have the device exchanged"}},
    {G(REMAPPED_ROWS_PENDING), {"problem", "broken memory waits for a reset to be replaced", RESET}},
    {G(RETIRED_PAGES_PENDING), {"problem", "broken memory waits for a reset to be left out", RESET}},
    {G(ECC_ERRORS_UNCORRECTED), {"problem", "its memory had errors that could not be corrected",
                                 READ_LOG}},
    {G(THROTTLED_BY_TEMPERATURE), {"notice", "heat holds its clocks down",
                                   "# see to its fans and to the air that reaches it"}},
};
// clang-format on

struct doctor_telling {
    const vitals_snapshot *snapshot;
    uint64_t key; /* key of the newest row */
};

static void put_text(vitals_builder *builder, vitals_metric metric, const char *text)
{
    vitals_builder_text(builder, metric, vitals_text_of(text), VITALS_HAVE);
}

static void put(struct doctor_telling *telling, vitals_builder *builder, const vitals_row *device,
                const struct doctor_verdict *verdict)
{
    char subject[64];
    snprintf(subject, sizeof subject, "GPU %s", vitals_row_label(device));
    vitals_builder_row(builder, VITALS_TABLE_DIAGNOSIS, ++telling->key, 0, vitals_text_of(subject),
                       vitals_row_stamp_ns(device));
    put_text(builder, VITALS_DIAGNOSIS_SEVERITY, verdict->severity);
    put_text(builder, VITALS_DIAGNOSIS_SUBJECT, subject);
    put_text(builder, VITALS_DIAGNOSIS_FINDING, verdict->finding);
    put_text(builder, VITALS_DIAGNOSIS_REMEDY, verdict->remedy);
}

/* True if the back end reports the device as a problem ("GPU-…: lost"), for which it knows a better
 * remedy. */
static bool is_told(const struct doctor_telling *telling, const vitals_row *device)
{
    vitals_text uuid, finding;
    if (vitals_row_text(device, G(UUID), &uuid) <= 0 || uuid.size == 0)
        return false;
    EACH_ROW(row, telling->snapshot, VITALS_TABLE_DIAGNOSIS) {
        if (command_text_is(row, VITALS_DIAGNOSIS_SEVERITY, "problem") &&
            vitals_row_text(row, VITALS_DIAGNOSIS_FINDING, &finding) > 0 &&
            finding.size >= uuid.size && memcmp(finding.bytes, uuid.bytes, uuid.size) == 0 &&
            (finding.size == uuid.size || finding.bytes[uuid.size] == ':'))
            return true;
    }
    return false;
}

/* Adds rows after those of the back ends. A partition is skipped: it reports the same as its
 * device. */
static void add_rows(void *data, vitals_table entity, vitals_builder *builder)
{
    struct doctor_telling *telling = data;
    double number;
    if (entity != VITALS_TABLE_DIAGNOSIS)
        return;
    EACH_ROW(row, telling->snapshot, VITALS_TABLE_DIAGNOSIS)
        telling->key = vitals_row_key(row); // in the order of keys
    EACH_CHILD(row, telling->snapshot, VITALS_TABLE_GPU, 0) {
        bool settled = is_told(telling, row);
        for (size_t i = 0; i < ARRAY_COUNT(SILENCES) && !settled; i++) {
            if (vitals_row_availability(row, SILENCES[i].metric) != SILENCES[i].reason)
                continue;
            put(telling, builder, row, &SILENCES[i].verdict);
            settled = SILENCES[i].on_all;
        }
        for (size_t i = 0; i < ARRAY_COUNT(RULES); i++) {
            if (vitals_row_number(row, RULES[i].metric, &number) > 0 && number > 0)
                put(telling, builder, row, &RULES[i].verdict);
        }
    }
}

/* ---- findings as text: problems first, then notices, then passed checks; below each the remedy,
 * as lines that a shell accepts ---- */

enum finding_kind { FINDING_PROBLEM, FINDING_NOTICE, FINDING_GOOD, FINDING_KINDS };
enum { FINDINGS_MAX = 1024 };

/* Texts are borrowed, from outside, and may be empty. */
struct finding {
    enum finding_kind kind;
    const char *subject, *text;
    const char *remedy; /* lines */
};

struct findings {
    size_t count;
    size_t of_kind[FINDING_KINDS];
    bool cut; /* there were more findings */
    struct finding items[FINDINGS_MAX];
};

enum { SUBJECT_MOST = 28, INDENT = 2, GAP = 2, REMEDY_INDENT = 6, LEAST = 24, LINE = 2048 };

static const struct {
    const char *title, *one, *many;
    enum color color;
} KINDS[FINDING_KINDS] = {
    [FINDING_PROBLEM] = {"Problems", "problem", "problems", COLOR_RED},
    [FINDING_NOTICE] = {"Notices", "notice", "notices", COLOR_YELLOW},
    [FINDING_GOOD] = {"Good", "good", "good", COLOR_GREEN},
};

struct doctor {
    const struct settings *settings;
    struct paint *paint;
    size_t width, subject; /* columns: of all, and of the subjects */
};

static void make_safe(const struct doctor *doctor, vitals_text text, char out[static LINE])
{
    (void)cell_safe(text, doctor->settings->look.ascii, out, LINE);
}

/* Returns the number of bytes that fit, in whole characters. If a part of a text begins with a
 * combining character, that character is printed and measured as its escape, which is longer. */
static size_t fitting(const char *text, size_t columns)
{
    size_t size = strlen(text), fits = paint_fitting(text, columns, NULL);
    if (fits >= size)
        return size;
    while (fits > 0 && ((unsigned char)text[fits] & 0xc0) == 0x80)
        fits--;
    return fits;
}

size_t doctor_break(const char *line, size_t columns)
{
    size_t fits = fitting(line, columns), place = 0;
    char quote = '\0';
    if (line[fits] == '\0')
        return fits;
    fits = fitting(line, columns > 2 ? columns - 2 : 1); // room for the backslash
    for (size_t i = 0; line[i] != '\0' && (i <= fits || place == 0); i++) {
        bool is_word = i == 0 || line[i - 1] == ' ';
        if (quote == '\0' && is_word && line[i] == '#')
            break;
        if (quote == '\0' && (line[i] == '"' || line[i] == '\''))
            quote = line[i];
        else if (line[i] == quote)
            quote = '\0';
        else if (quote == '\0' && line[i] == ' ' && i > 0 && line[i + 1] != '#')
            place = i;
    }
    return place > 0 ? place : strlen(line);
}

static void put_command(const struct doctor *doctor, const char *line)
{
    size_t indent = REMEDY_INDENT;
    for (const char *at = line; *at != '\0';) {
        size_t columns = doctor->width > indent + LEAST ? doctor->width - indent : LEAST;
        size_t size = doctor_break(at, columns);
        paint_repeat(doctor->paint, COLOR_PLAIN, " ", indent);

        char part[LINE];
        snprintf(part, sizeof part, "%.*s", (int)size, at);
        paint_text(doctor->paint, COLOR_BOLD, part);

        at += size;
        at += strspn(at, " ");
        if (*at != '\0')
            paint_text(doctor->paint, COLOR_BOLD, " \\");
        paint_end(doctor->paint);
        indent = REMEDY_INDENT + 4;
    }
}

static const struct finding *next_of(const struct findings *findings, enum finding_kind kind,
                                     const struct finding *after)
{
    const struct finding *at = after != NULL ? after + 1 : findings->items;
    while (at < findings->items + findings->count && at->kind != kind)
        at++;
    return at < findings->items + findings->count ? at : NULL;
}

/* If several consecutive findings share a remedy, it is printed below the last of them. */
static void put_kind(const struct doctor *doctor, const struct findings *findings,
                     enum finding_kind kind)
{
    const struct finding *next, *finding = next_of(findings, kind, NULL);
    if (finding == NULL)
        return;
    paint_text(doctor->paint, KINDS[kind].color, KINDS[kind].title);
    paint_end(doctor->paint);
    for (; finding != NULL; finding = next) {
        next = next_of(findings, kind, finding);

        char text[LINE];
        size_t indent = INDENT + doctor->subject + GAP;
        make_safe(doctor, vitals_text_of(finding->subject), text);
        paint_repeat(doctor->paint, COLOR_PLAIN, " ", INDENT);
        if (paint_columns(text) <= doctor->subject) {
            paint_cell(doctor->paint, COLOR_BOLD, ALIGN_LEFT, doctor->subject, text);
            paint_repeat(doctor->paint, COLOR_PLAIN, " ", GAP);
        } else {
            paint_text(doctor->paint, COLOR_BOLD, text);
            paint_end(doctor->paint);
            paint_repeat(doctor->paint, COLOR_PLAIN, " ", indent);
        }
        make_safe(doctor, vitals_text_of(finding->text), text);
        paint_paragraph(doctor->paint, COLOR_PLAIN, indent, doctor->width, text);

        const char *remedy = finding->remedy;
        bool same = next != NULL && strcmp(remedy, next->remedy) == 0;
        while (*remedy != '\0' && !same) {
            size_t size = strcspn(remedy, "\n");
            make_safe(doctor, (vitals_text){remedy, size}, text);
            remedy += size + (remedy[size] == '\n');
            if (text[0] == '#') {
                paint_repeat(doctor->paint, COLOR_PLAIN, " ", REMEDY_INDENT);
                paint_wrapped(doctor->paint, COLOR_DIM, REMEDY_INDENT, doctor->width, "# ",
                              text + 1 + strspn(text + 1, " "));
                paint_end(doctor->paint);
            } else {
                put_command(doctor, text);
            }
        }
    }
    paint_end(doctor->paint);
}

static void print_findings(const struct findings *findings, const struct settings *settings,
                           struct output *output)
{
    struct paint paint;
    struct doctor doctor = {.settings = settings, .paint = &paint, .width = settings->look.width};
    paint_init(&paint, settings->look.color, output_write, output);

    doctor.subject = 0;
    char text[LINE];
    for (size_t i = 0; i < findings->count; i++) {
        make_safe(&doctor, vitals_text_of(findings->items[i].subject), text);
        size_t columns = paint_columns(text);
        if (columns > doctor.subject && columns <= SUBJECT_MOST)
            doctor.subject = columns;
    }

    for (int kind = 0; kind < FINDING_KINDS; kind++)
        put_kind(&doctor, findings, (enum finding_kind)kind);

    char line[128];
    int size = 0;
    for (int kind = 0; kind < FINDING_KINDS; kind++)
        size += snprintf(line + size, sizeof line - (size_t)size, "%s%zu %s", kind > 0 ? ", " : "",
                         findings->of_kind[kind],
                         findings->of_kind[kind] == 1 ? KINDS[kind].one : KINDS[kind].many);
    if (findings->cut)
        snprintf(line + size, sizeof line - (size_t)size, "; there are more");
    paint_text(doctor.paint, COLOR_PLAIN, line);
    paint_end(doctor.paint);

    (void)paint_done(&paint);
}

/* ---- the whole ---- */

/* Returns an empty text if there is none. */
static const char *text_of(const vitals_row *row, vitals_metric metric)
{
    vitals_text text;
    return vitals_row_text(row, metric, &text) > 0 ? text.bytes : "";
}

static void add(struct findings *findings, const struct finding *finding)
{
    if (findings->count == FINDINGS_MAX) {
        findings->cut = true;
        return;
    }
    findings->items[findings->count++] = *finding;
    findings->of_kind[finding->kind]++;
}

static int make_request(vitals_request **out, vitals_error *error)
{
    static const vitals_table TABLES[] = {VITALS_TABLE_DIAGNOSIS, VITALS_TABLE_SOURCE, 0};
    int code = command_request(NULL, TABLES, out, error);
    for (vitals_metric metric = 0;
         code == 0 && (metric = vitals_metric_next_of(VITALS_TABLE_GPU, metric)) != 0;) {
        if (vitals_metric_price(metric) <= VITALS_PRICE_WORKER)
            code = vitals_request_add(*out, metric, error);
    }
    return code;
}

static int print(const struct settings *settings, const vitals_snapshot *snapshot)
{
    static struct findings findings; /* too large for the stack */
    int code = EXIT_DONE;
    /* Every machine has at least one finding, so an empty table has a reason. */
    if (vitals_snapshot_count(snapshot, VITALS_TABLE_DIAGNOSIS) == 0) {
        vitals_availability state = vitals_snapshot_state(snapshot, VITALS_TABLE_DIAGNOSIS);
        return command_fail(EXIT_CANNOT, "no diagnosis%s: %s",
                            settings->machine.from != NULL ? " in that snapshot" : "",
                            state < 0 ? vitals_availability_help(state) : "the table is empty");
    }
    struct output *output = output_begin(STDOUT_FILENO);
    findings = (struct findings){0};

    EACH_ROW(row, snapshot, VITALS_TABLE_DIAGNOSIS) {
        bool problem = command_text_is(row, VITALS_DIAGNOSIS_SEVERITY, "problem");
        bool good = command_text_is(row, VITALS_DIAGNOSIS_SEVERITY, "good");
        struct finding finding = {.kind = problem ? FINDING_PROBLEM
                                          : good  ? FINDING_GOOD
                                                  : FINDING_NOTICE,
                                  .subject = text_of(row, VITALS_DIAGNOSIS_SUBJECT),
                                  .text = text_of(row, VITALS_DIAGNOSIS_FINDING),
                                  .remedy = text_of(row, VITALS_DIAGNOSIS_REMEDY)};
        if (finding.subject[0] == '\0')
            finding.subject = vitals_row_label(row);
        add(&findings, &finding);
    }

    /* Sources that hang, and so have no rows of their own. Back ends have such rows: for a driver
     * that does not answer, and for each device that does not. */
    EACH_ROW(row, snapshot, VITALS_TABLE_SOURCE) {
        uint64_t hung, late;
        bool silent = (vitals_row_u64(row, VITALS_SOURCE_QUARANTINED, &hung) > 0 && hung > 0) ||
                      (vitals_row_u64(row, VITALS_SOURCE_TIMEOUTS, &late) > 0 && late > 0);
        if (!silent || report_is_back_end(row))
            continue;
        const struct finding finding = {
            .kind = FINDING_PROBLEM,
            .subject = vitals_row_label(row),
            .text = "it did not answer in time: a call into the system or a driver hangs",
            .remedy = "sudo dmesg | tail -n 50"};
        add(&findings, &finding);
    }

    if (settings->look.json)
        code = command_print_json(snapshot, output);
    else
        print_findings(&findings, settings, output);
    if (findings.of_kind[FINDING_PROBLEM] > 0)
        code = EXIT_CANNOT;
    return output_done(output, code);
}

/* Findings in a file were judged when it was written. */
static int judge_and_print(const struct settings *settings, const vitals_snapshot *snapshot)
{
    struct doctor_telling telling = {.snapshot = snapshot};
    const struct snapshot_changes changes = {.more = add_rows, .data = &telling};
    vitals_builder *builder = NULL;
    vitals_snapshot *judged = NULL;
    vitals_error error;
    if (settings->machine.from != NULL)
        return print(settings, snapshot);
    int code = vitals_builder_new(&builder, &error);
    if (code == 0)
        code = snapshot_copy(snapshot, &changes, builder, &judged, &error);
    code = code == 0 ? print(settings, judged) : command_fail(EXIT_CANNOT, "%s", error.message);
    vitals_snapshot_unref(judged);
    vitals_builder_free(builder);
    return code;
}

int command_doctor(const struct settings *settings)
{
    return command_once(settings, make_request, judge_and_print);
}
