/* Sessions of several runs are compared, item by item and as a report. */
#include "library_world.h"

enum { RUNS = 4 };

static vitals_recording *run_of(double cpu_seconds)
{
    vitals_error error = {.message = ""};
    vitals_recording *recording = NULL;
    struct folder folder;
    folder_make(&folder, "a.json");
    FILE *file = fopen(folder.file, "w");
    CHECK_NOT_NULL(file);
    (void)fprintf(file,
                  "{\"schema\":1,\"attributes\":{},\"figures\":[{\"name\":\"cpu_seconds\",\"unit\":"
                  "\"seconds\",\"subject\":\"\",\"label\":\"\",\"value\":%.3f,"
                  "\"availability\":\"have\",\"source\":\"wait4\"}]}",
                  cpu_seconds);
    CHECK_INT(fclose(file), 0);
    CHECK_OK(vitals_recording_open(folder.file, NULL, 0, &recording, &error), error);
    folder_remove(&folder);
    return recording;
}

static void sessions_are_compared(void)
{
    static const double SECONDS[2][RUNS] = {{10, 10.1, 9.9, 10}, {8, 8.1, 7.9, 8}};
    static const char *const NAMES[] = {"before", "after"};
    vitals_error error = {.message = ""};
    vitals_comparison *comparison = NULL;
    vitals_recording *runs[2][RUNS];
    struct text text = {.bytes = NULL};
    CHECK_OK(vitals_comparison_new(&comparison, &error), error);
    CHECK_INT(vitals_comparison_compute(comparison, &error), VITALS_EARGUMENT);
    for (size_t run = 0; run < RUNS; run++)
        for (size_t i = 0; i < 2; i++) {
            runs[i][run] = run_of(SECONDS[i][run]);
            CHECK_OK(vitals_comparison_add(comparison, NAMES[i], runs[i][run], &error), error);
        }
    CHECK_NULL(vitals_comparison_next(comparison, NULL));
    CHECK_INT(
        vitals_comparison_report(comparison, VITALS_REPORT_TEXT, NULL, text_take, &text, &error),
        VITALS_EARGUMENT);
    CHECK_OK(vitals_comparison_compute(comparison, &error), error);
    CHECK_UINT(vitals_comparison_session_count(comparison), 2);
    CHECK_STR(vitals_comparison_session(comparison, 1), "after");
    CHECK_NULL(vitals_comparison_session(comparison, 2));

    const vitals_compared *item = vitals_comparison_next(comparison, NULL);
    CHECK_NOT_NULL(item);
    CHECK_STR(vitals_compared_name(item), "cpu_seconds");
    CHECK_STR(vitals_compared_unit(item), "seconds");
    CHECK_NULL(vitals_compared_phase(item));
    CHECK_NEAR(vitals_compared_value(item, 0, VITALS_STATISTIC_COUNT), RUNS, 0);
    CHECK_NEAR(vitals_compared_value(item, 1, VITALS_STATISTIC_MEAN), 8, 1e-9);
    CHECK_INT(vitals_compared_state(item, 1), VITALS_HAVE);
    CHECK_INT(vitals_compared_verdict(item, 0), VITALS_VERDICT_FIRST);
    CHECK_INT(vitals_compared_verdict(item, 1), VITALS_VERDICT_LESS);
    CHECK_NEAR(vitals_compared_change(item, 1), -0.2, 1e-9);
    CHECK(vitals_compared_probability(item, 1) < 0.01);

    static const vitals_report_form FORMS[] = {VITALS_REPORT_TEXT, VITALS_REPORT_JSON,
                                               VITALS_REPORT_GPU_TRACKER};
    for (size_t i = 0; i < sizeof FORMS / sizeof FORMS[0]; i++) {
        CHECK_OK(vitals_comparison_report(comparison, FORMS[i], NULL, text_take, &text, &error),
                 error);
        CHECK_INT(vitals_comparison_report(comparison, FORMS[i], NULL, text_refuse, NULL, &error),
                  VITALS_ESYSTEM);
    }
    CHECK_CONTAINS(text.bytes, "after");
    CHECK_INT(
        vitals_comparison_report(comparison, VITALS_REPORT_HTML, NULL, text_take, &text, &error),
        VITALS_EARGUMENT);
    text_free(&text);
    vitals_comparison_free(comparison);
    vitals_comparison_free(NULL);
    for (size_t i = 0; i < 2; i++)
        for (size_t run = 0; run < RUNS; run++)
            vitals_recording_close(runs[i][run]);
}

static const check_test tests[] = {
    {"sessions are compared", sessions_are_compared},
};
CHECK_TESTS(tests)
