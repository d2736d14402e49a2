/* doctor.c: `vitals doctor`: what was found, what is missing and why, and what would mend it.
 *
 * The rows come from the table diagnosis, to which back ends and the system add; here they are put
 * in order and made readable. doctor_devices.c adds what devices say of themselves; what a source
 * did not answer in time is a finding too. */
#include <string.h>
#include <unistd.h>

#include "command/devices/doctor_paint.h"
#include "command/output.h"
#include "report/report.h"

/* Empty if there is none. */
static vitals_text text_of(const vitals_row *row, vitals_metric metric)
{
    vitals_text text;
    return vitals_row_text(row, metric, &text) > 0 ? text : (vitals_text){"", 0};
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
    return code == 0 ? doctor_ask_devices(*out, error) : code;
}

static int print(const struct settings *settings, const vitals_snapshot *snapshot)
{
    static struct findings findings; /* not for the stack */
    int code = EXIT_DONE;
    /* A machine always has something to say, so there is a reason. */
    if (vitals_snapshot_count(snapshot, VITALS_TABLE_DIAGNOSIS) == 0) {
        vitals_availability state = vitals_snapshot_state(snapshot, VITALS_TABLE_DIAGNOSIS);
        return command_fail(EXIT_CANNOT, "no diagnosis%s: %s",
                            settings->machine.from != NULL ? " in that snapshot" : "",
                            state < 0 ? vitals_availability_help(state)
                                      : "nothing stands in its table");
    }
    struct output *output = output_begin(STDOUT_FILENO);
    findings = (struct findings){0};

    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_TABLE_DIAGNOSIS, row)) != NULL;) {
        bool problem = command_text_is(row, VITALS_DIAGNOSIS_SEVERITY, "problem");
        bool good = command_text_is(row, VITALS_DIAGNOSIS_SEVERITY, "good");
        struct finding finding = {.kind = problem ? FINDING_PROBLEM
                                          : good  ? FINDING_GOOD
                                                  : FINDING_NOTICE,
                                  .subject = text_of(row, VITALS_DIAGNOSIS_SUBJECT),
                                  .text = text_of(row, VITALS_DIAGNOSIS_FINDING),
                                  .remedy = text_of(row, VITALS_DIAGNOSIS_REMEDY)};
        if (finding.subject.size == 0)
            finding.subject = (vitals_text){vitals_row_label(row), strlen(vitals_row_label(row))};
        add(&findings, &finding);
    }

    /* Sources that hang, and so have no rows of their own. Back ends have: of the driver that does
     * not answer, and of each device that does not. */
    static const char text[] =
        "it did not answer in time: a call into the system or a driver hangs";
    static const char remedy[] = "sudo dmesg | tail -n 50";
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_TABLE_SOURCE, row)) != NULL;) {
        uint64_t hung, late;
        bool silent = (vitals_row_u64(row, VITALS_SOURCE_QUARANTINED, &hung) > 0 && hung > 0) ||
                      (vitals_row_u64(row, VITALS_SOURCE_TIMEOUTS, &late) > 0 && late > 0);
        if (!silent || report_is_back_end(row))
            continue;
        const struct finding finding = {
            .kind = FINDING_PROBLEM,
            .subject = {vitals_row_label(row), strlen(vitals_row_label(row))},
            .text = {text, sizeof text - 1},
            .remedy = {remedy, sizeof remedy - 1}};
        add(&findings, &finding);
    }

    if (settings->look.json)
        code = command_print_json(snapshot, output);
    else
        doctor_paint(&findings, settings, output);
    if (findings.of_kind[FINDING_PROBLEM] > 0)
        code = EXIT_CANNOT;
    return output_done(output, code);
}

/* Findings in a file were judged when it was written. */
static int judge_and_print(const struct settings *settings, const vitals_snapshot *snapshot)
{
    vitals_snapshot *judged = NULL;
    vitals_error error;
    if (settings->machine.from != NULL)
        return print(settings, snapshot);
    if (doctor_judge_devices(snapshot, &judged, &error) < 0)
        return command_fail(EXIT_CANNOT, "%s", error.message);
    int code = print(settings, judged);
    vitals_snapshot_unref(judged);
    return code;
}

int command_doctor(const struct settings *settings)
{
    return command_once(settings, make_request, judge_and_print);
}
