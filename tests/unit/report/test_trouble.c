/* What is said of a device that is in trouble, and what of that where there is little room. */
#include "gpu_rows.h"

#include "feed/trouble.h"

enum { SECOND = 1000000000 };

static vitals_builder *builder;
static vitals_snapshot *snapshot;

/* A device whose readings are of `age` seconds ago, and stale if that is not 0. */
struct device {
    double age;
    vitals_availability lost; /* why nothing is known of it; 0: it is */
    double ecc, xid;
    double xids; /* how many; 0: one, where there is one */
    bool heat, power, current, other;
    const char *reasons;
};

static const vitals_row *row_of(const struct device *device)
{
    static const vitals_metric GPU[] = {VITALS_GPU_MEMORY_USED_BYTES,
                                        VITALS_GPU_UTILIZATION_RATIO,
                                        VITALS_GPU_ECC_ERRORS_UNCORRECTED,
                                        VITALS_GPU_XID_ERRORS,
                                        VITALS_GPU_XID_LAST,
                                        VITALS_GPU_THROTTLED_BY_TEMPERATURE,
                                        VITALS_GPU_THROTTLED_BY_POWER,
                                        VITALS_GPU_THROTTLED_BY_CURRENT,
                                        VITALS_GPU_THROTTLED_OTHERWISE,
                                        VITALS_GPU_THROTTLE_REASONS};
    const uint64_t now_ns = UINT64_C(1000) * SECOND;
    vitals_availability state = device->age > 0 ? VITALS_STALE : VITALS_HAVE;
    vitals_error error;
    vitals_snapshot_unref(snapshot);
    vitals_builder_begin(builder);
    vitals_builder_moment(builder, now_ns, now_ns, now_ns, 1);
    vitals_builder_table(builder, VITALS_TABLE_GPU, GPU, CHECK_COUNT(GPU));
    vitals_builder_row(builder, VITALS_TABLE_GPU, 1, 0, text_of("0"), now_ns);
    for (size_t i = 0; device->lost != 0 && i < CHECK_COUNT(GPU); i++)
        vitals_builder_missing(builder, GPU[i], device->lost);
    if (device->lost == 0) {
        vitals_builder_u64(builder, VITALS_GPU_MEMORY_USED_BYTES, GIB, VITALS_HAVE);
        vitals_builder_f64(builder, VITALS_GPU_UTILIZATION_RATIO, 0.5, state);
        vitals_builder_read_at(builder, VITALS_GPU_UTILIZATION_RATIO,
                               now_ns - (uint64_t)(device->age * SECOND));
        put_number(builder, VITALS_GPU_ECC_ERRORS_UNCORRECTED, device->ecc);
        put_number(builder, VITALS_GPU_XID_ERRORS,
                   device->xids > 0 ? device->xids : device->xid > 0);
        put_number(builder, VITALS_GPU_XID_LAST, device->xid > 0 ? device->xid : -1);
        put_number(builder, VITALS_GPU_THROTTLED_BY_TEMPERATURE, device->heat);
        put_number(builder, VITALS_GPU_THROTTLED_BY_POWER, device->power);
        put_number(builder, VITALS_GPU_THROTTLED_BY_CURRENT, device->current);
        put_number(builder, VITALS_GPU_THROTTLED_OTHERWISE, device->other);
        put_text(builder, VITALS_GPU_THROTTLE_REASONS, device->reasons);
    }
    CHECK_OK(vitals_builder_finish(builder, &snapshot, &error), error);
    return vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, NULL);
}

static void begin(void)
{
    vitals_error error;
    CHECK_OK(vitals_builder_new(&builder, &error), error);
}

static void end(void)
{
    vitals_snapshot_unref(snapshot);
    snapshot = NULL;
    vitals_builder_free(builder);
}

static void the_gravest_is_said_first_and_then_what_fits(void)
{
    static const struct {
        struct device device;
        size_t columns;
        const char *words;
    } CASES[] = {
        {{.heat = true}, 16, "throttled: heat"},
        {{.heat = true}, 12, "too hot"},
        {{.power = true}, 16, "throttled: power"},
        {{.power = true}, 15, "power cap"},
        {{.power = true, .reasons = "hw_power_brake_slowdown"}, 24, "throttled: power brake"},
        {{.power = true, .reasons = "sw_power_cap,hw_power_brake_slowdown"}, 16, "power brake"},
        {{.power = true, .reasons = "not_hw_power_brake_slowdown"}, 24, "throttled: power"},
        {{.other = true, .reasons = "hw_slowdown"}, 24, "throttled: hardware"},
        {{.other = true, .reasons = "sync_boost"}, 16, "throttled: other"},
        {{.current = true}, 16, "over current"},
        {{.heat = true, .power = true}, 16, "throttled: heat"},
        {{.heat = true, .power = true, .other = true}, 40, "throttled: heat, power, other"},
        {{.ecc = 2}, 17, "ECC 2 uncorrected"},
        {{.ecc = 2}, 16, "ECC 2"},
        {{.ecc = 2, .xid = 63}, 16, "ECC 2, Xid 63"},
        {{.ecc = 2, .xid = 63, .heat = true}, 60, "ECC 2 uncorrected, Xid 63, throttled: heat"},
        {{.ecc = 2, .heat = true}, 16, "ECC 2, too hot"},
        {{.xid = 79, .heat = true}, 16, "Xid 79, too hot"},
        {{.xids = 2}, 16, "Xid errors: 2"},
        {{.xids = 2}, 12, "2 Xids"},
        {{.xids = 2, .heat = true}, 22, "Xid errors: 2, too hot"},
        {{.xids = 3, .xid = 79}, 16, "Xid 79"},
        {{.age = 5}, 16, "5 s old"},
        {{.age = 150}, 16, "2 min old"},
        {{.age = 0.2}, 16, "1 s old"},
        {{.age = 5, .heat = true}, 16, "5 s old, too hot"},
        {{.age = 1.2, .heat = true}, 16, "throttled: heat"}, /* it was late once */
        {{.age = 1.2, .heat = true}, 30, "throttled: heat, 1 s old"},
        {{.age = 400, .xid = 79}, 16, "Xid 79"},
        {{.ecc = 123456789012}, 8, "ECC 123456789012"}, /* said even where it does not fit */
    };
    char note[TROUBLE_WORDS];
    begin();
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].words);
        CHECK(trouble_note(row_of(&CASES[i].device), CASES[i].columns, note));
        CHECK_STR(note, CASES[i].words);
    }
    CHECK_FALSE(trouble_note(row_of(&(struct device){.reasons = ""}), 60, note));
    CHECK_STR(note, "");
    end();
}

static void a_device_that_says_nothing_has_a_word(void)
{
    static const struct {
        vitals_availability reason;
        const char *word; /* NULL: it is in no trouble */
        bool is_fault;
    } CASES[] = {{VITALS_GONE, "lost", true},         {VITALS_TIMED_OUT, "no answer", true},
                 {VITALS_SUSPENDED, "asleep", false}, {VITALS_UNSUPPORTED, NULL, false},
                 {VITALS_NOT_YET, NULL, false},       {VITALS_DENIED, NULL, false}};
    char note[TROUBLE_WORDS];
    double age;
    begin();
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(vitals_availability_name(CASES[i].reason));
        const vitals_row *row = row_of(&(struct device){.lost = CASES[i].reason});
        const struct silence *silence = trouble_silence(row);
        CHECK((silence == NULL) == (CASES[i].word == NULL));
        if (silence != NULL) {
            CHECK_STR(silence->word, CASES[i].word);
            CHECK(silence->is_fault == CASES[i].is_fault);
        }
        CHECK_FALSE(trouble_note(row, 60, note));
        CHECK_FALSE(trouble_age(row, &age));
    }
    CHECK(trouble_silence(row_of(&(struct device){.heat = true})) == NULL);
    end();
}

static void causes_are_known_or_not(void)
{
    char causes[TROUBLE_WORDS];
    vitals_availability reason = VITALS_UNSET;
    begin();
    CHECK(trouble_throttle(row_of(&(struct device){.heat = true, .power = true}), causes, &reason));
    CHECK_STR(causes, "heat, power");
    CHECK(trouble_throttle(row_of(&(struct device){.ecc = 1}), causes, &reason));
    CHECK_STR(causes, "");
    CHECK_FALSE(trouble_throttle(row_of(&(struct device){.lost = VITALS_DENIED}), causes, &reason));
    CHECK_STR(causes, "");
    CHECK_INT(reason, VITALS_DENIED);
    end();
}

static const check_test tests[] = {
    {"the gravest is said first, and then what fits", the_gravest_is_said_first_and_then_what_fits},
    {"a device that says nothing has a word", a_device_that_says_nothing_has_a_word},
    {"causes are known or not", causes_are_known_or_not},
};
CHECK_TESTS(tests)
