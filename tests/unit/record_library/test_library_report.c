/* Reports, phases and advice of a recording and of an account. */
#include "library_world.h"

/* A recording in CSV with an account beside it, of 4 samples a second apart and two phases. */
static const char CSV[] = "time,mark,cpu_seconds,memory_resident_bytes\n"
                          "1800000000,,0,100000000\n"
                          "1800000001,,1,200000000\n"
                          "1800000002,,2,300000000\n"
                          "1800000003,,3,200000000\n";
static const char ACCOUNT[] =
    "{\"schema\":1,\"exit_code\":0,\"signal\":0,\"attributes\":{\"command\":\"<train>\",\"exit\":"
    "\"0\","
    "\"state\":\"complete\",\"interval_ns\":\"1000000000\"},\"figures\":["
    "{\"name\":\"wall_seconds\",\"unit\":\"seconds\",\"subject\":\"\",\"label\":\"\",\"value\":3.5,"
    "\"availability\":\"have\",\"source\":\"clock\"},"
    "{\"name\":\"cpu_seconds\",\"unit\":\"seconds\",\"subject\":\"\",\"label\":\"\",\"value\":2.5,"
    "\"availability\":\"have\",\"source\":\"wait4\"},"
    "{\"name\":\"memory_peak_bytes\",\"unit\":\"bytes\",\"subject\":\"\",\"label\":\"\","
    "\"value\":300000000,\"availability\":\"have\",\"source\":\"cgroup v2\"}]}";

static vitals_account *account(void)
{
    vitals_error error = {.message = ""};
    vitals_account *account = NULL;
    CHECK_OK(vitals_account_read_json(ACCOUNT, sizeof ACCOUNT - 1, &account, &error), error);
    return account;
}

static vitals_recording *recording_in(struct folder *folder)
{
    vitals_error error = {.message = ""};
    vitals_recording *recording = NULL;
    FILE *file = fopen(folder->file, "w");
    CHECK_NOT_NULL(file);
    CHECK(fputs(CSV, file) >= 0 && fclose(file) == 0);
    CHECK_OK(vitals_recording_open(folder->file, NULL, 0, &recording, &error), error);
    return recording;
}

static void each_form_of_an_account(void)
{
    static const struct {
        vitals_report_form form;
        const char *part;
    } CASES[] = {
        {VITALS_REPORT_TEXT, "<train>"},
        {VITALS_REPORT_JSON, "\"advice\""},
        {VITALS_REPORT_HTML, "&lt;train&gt;"},
        {VITALS_REPORT_GPU_TRACKER, "max_ram"},
        {VITALS_REPORT_GPU_TRACKER_TEXT, "Compute time"},
    };
    vitals_account *of = account();
    locale_t comma = comma_locale();
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        vitals_error error = {.message = ""};
        struct text text = {.bytes = NULL}, again = {.bytes = NULL};
        CHECK_OK(vitals_account_report(of, CASES[i].form, NULL, text_take, &text, &error), error);
        CHECK_CONTAINS(text.bytes, CASES[i].part);
        CHECK_INT(vitals_account_report(of, CASES[i].form, NULL, text_refuse, NULL, &error),
                  VITALS_ESYSTEM);
        CHECK_INT(error.detail, 7);
        if (comma != (locale_t)0) {
            locale_t before = uselocale(comma);
            int code = vitals_account_report(of, CASES[i].form, NULL, text_take, &again, &error);
            (void)uselocale(before);
            CHECK_INT(code, 0);
            CHECK_STR(again.bytes, text.bytes);
            text_free(&again);
        }
        text_free(&text);
    }
    if (comma != (locale_t)0)
        freelocale(comma);
    vitals_account_free(of);
}

static void units_are_checked(void)
{
    vitals_error error = {.message = ""};
    vitals_account *of = account();
    vitals_report_options options;
    struct text text = {.bytes = NULL};
    vitals_report_options_init(&options, sizeof options);
    options.memory_unit = "megabytes";
    CHECK_OK(vitals_account_report(of, VITALS_REPORT_TEXT, &options, text_take, &text, &error),
             error);
    CHECK_CONTAINS(text.bytes, "300");
    options.memory_unit = "hours";
    CHECK_INT(vitals_account_report(of, VITALS_REPORT_TEXT, &options, text_take, &text, &error),
              VITALS_EARGUMENT);
    CHECK_CONTAINS(error.message, "hours");
    CHECK_INT(vitals_account_report(of, (vitals_report_form)99, NULL, text_take, &text, NULL),
              VITALS_EARGUMENT);
    text_free(&text);
    vitals_account_free(of);
}

static void a_recording_and_its_phases(void)
{
    vitals_error error = {.message = ""};
    vitals_phases *phases = NULL;
    struct text text = {.bytes = NULL};
    struct folder folder;
    folder_make(&folder, "a.csv");
    vitals_recording *recording = recording_in(&folder);
    CHECK_OK(vitals_recording_report(recording, VITALS_REPORT_HTML, NULL, text_take, &text, &error),
             error);
    CHECK_CONTAINS(text.bytes, "<svg");
    CHECK_OK(vitals_recording_phases(recording, &phases, &error), error);
    const vitals_phase *whole = vitals_phases_whole(phases);
    const vitals_phase_measure *memory = vitals_phase_find_measure(
        whole, VITALS_MEASURE_MEMORY_RESIDENT_BYTES, "");
    CHECK_NOT_NULL(memory);
    CHECK(vitals_phase_find_series(whole, "memory_resident_bytes", "") == memory);
    CHECK_NULL(vitals_phase_find_measure(whole, VITALS_MEASURE_GPU_BUSY_SECONDS, ""));
    CHECK_NULL(vitals_phase_find_measure(whole, VITALS_MEASURE_NONE, ""));
    CHECK_NULL(vitals_phase_find_measure(whole, VITALS_MEASURE_MEMORY_RESIDENT_BYTES, "elsewhere"));
    CHECK_UINT(vitals_phase_samples(whole), 4);
    CHECK_STR(vitals_phase_name(whole), "");
    CHECK_STR(vitals_series_unit(vitals_phase_measure_series(memory)), "bytes");
    CHECK_NEAR(vitals_phase_measure_value(memory, VITALS_STATISTIC_MAX), 3e8, 0);
    CHECK_NEAR(vitals_phase_measure_value(memory, VITALS_STATISTIC_MEAN), 2e8, 0);
    CHECK_NEAR(vitals_phase_measure_value(memory, VITALS_STATISTIC_COUNT), 4, 0);
    CHECK_NEAR(vitals_phase_seconds(whole, VITALS_STATISTIC_COUNT), 0, 0);
    CHECK(isnan(vitals_phase_seconds(whole, VITALS_STATISTIC_MEAN)));
    CHECK_NULL(vitals_phase_find_series(whole, "nothing", ""));
    CHECK_NULL(vitals_phases_next(phases, NULL));
    CHECK_UINT(vitals_phases_left_out(phases), 0);
    vitals_phases_free(phases);
    vitals_phases_free(NULL);
    vitals_recording_close(recording);
    text_free(&text);
    folder_remove(&folder);
}

static void advice_in_each_form(void)
{
    static const struct {
        vitals_advice_form form;
        const char *part;
    } CASES[] = {
        {VITALS_ADVICE_TEXT, "memory"},
        {VITALS_ADVICE_JSON, "\"memory"},
        {VITALS_ADVICE_SLURM, "#SBATCH"},
        {VITALS_ADVICE_KUBERNETES, "requests:"},
    };
    vitals_error error = {.message = ""};
    vitals_account *of = account();
    vitals_advice *advice = NULL;
    double amount = 0;
    CHECK_OK(vitals_account_advice(of, &advice, &error), error);
    vitals_account_free(of);
    CHECK_INT(vitals_advice_amount(advice, VITALS_ADVICE_MEMORY_BYTES, &amount), 1);
    CHECK(amount >= 3e8);
    CHECK(vitals_advice_reason(advice, VITALS_ADVICE_MEMORY_BYTES)[0] != '\0');
    CHECK_INT(vitals_advice_amount(advice, (vitals_advice_part)0, &amount), 0);
    CHECK_STR(vitals_advice_reason(advice, (vitals_advice_part)99), "");
    CHECK_INT(vitals_advice_failed(advice), 0);
    CHECK_NULL(vitals_advice_gpu_resource(advice));
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct text text = {.bytes = NULL};
        CHECK_OK(vitals_advice_write(advice, CASES[i].form, text_take, &text, &error), error);
        CHECK_CONTAINS(text.bytes, CASES[i].part);
        text_free(&text);
    }
    CHECK_INT(vitals_advice_write(advice, (vitals_advice_form)0, text_take, NULL, &error),
              VITALS_EARGUMENT);
    vitals_advice_free(advice);
    vitals_advice_free(NULL);
}

static const check_test tests[] = {
    {"each form of an account's report, in any locale", each_form_of_an_account},
    {"units are checked", units_are_checked},
    {"a recording and its phases", a_recording_and_its_phases},
    {"advice in each form", advice_in_each_form},
};
CHECK_TESTS(tests)
