/* The observers of a run: when totals are due, which observers are no longer called, and errors. */
#include "check.h"

#include "run/account.h"
#include "run/run_observer.h"
#include "util/base.h"
#include "util/error.h"

#include <string.h>

struct observed {
    int begun, marks, ended;
    bool fails;
};

static int begin(void *data, vitals_error *error)
{
    struct observed *observed = data;
    (void)error;
    observed->begun++;
    return 0;
}

static int mark(void *data, const vitals_mark *told, vitals_error *error)
{
    struct observed *observed = data;
    (void)told;
    observed->marks++;
    return observed->fails ? error_set(error, VITALS_ESYSTEM, 0, "the disk is full") : 0;
}

static int end(void *data, vitals_error *error)
{
    struct observed *observed = data;
    (void)error;
    observed->ended++;
    return 0;
}

static vitals_run_observer observer_of(struct observed *observed)
{
    return (vitals_run_observer){.size = sizeof(vitals_run_observer),
                                 .data = observed,
                                 .begin = begin,
                                 .mark = mark,
                                 .end = end};
}

static uint64_t seconds(double number)
{
    return (uint64_t)(number * 1e9);
}

static void totals_come_seldom_in_a_long_run(void)
{
    static const struct {
        double lived, told, due; /* seconds since the beginning */
    } CASES[] = {{0.5, 0, 1}, {3, 3, 4}, {20, 20, 25}, {95, 95, 105}, {1000, 1000, 1010}};
    const uint64_t origin = seconds(12345);
    struct run_observer relay;
    run_observer_init(&relay, NULL, "/nowhere/totals");
    run_observer_begin(&relay, origin);
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        relay.totals_ns = origin + seconds(CASES[i].told);
        CHECK_FALSE(run_observer_totals_due(&relay, origin + seconds(CASES[i].due - 0.1)));
        CHECK(run_observer_totals_due(&relay, origin + seconds(CASES[i].due)));
    }
    run_observer_done(&relay);
}

/* Where nothing was done, nothing is lost but the time. */
static void totals_come_more_seldom_of_what_rests(void)
{
    const uint64_t origin = seconds(12345);
    struct run_observer relay;
    run_observer_init(&relay, NULL, "/nowhere/totals");
    run_observer_begin(&relay, origin);
    relay.totals_ns = origin + seconds(1000);
    relay.rests = true;
    CHECK_FALSE(run_observer_totals_due(&relay, origin + seconds(1059)));
    CHECK(run_observer_totals_due(&relay, origin + seconds(1060)));
    relay.rests = false;
    CHECK(run_observer_totals_due(&relay, origin + seconds(1010)));
    relay.rests = true;
    relay.totals_ns = origin + seconds(3);
    CHECK_FALSE(run_observer_totals_due(&relay, origin + seconds(5.9)));
    CHECK(run_observer_totals_due(&relay, origin + seconds(6)));
    run_observer_done(&relay);
}

static void nobody_wants_totals_without_a_path(void)
{
    struct run_observer relay;
    run_observer_init(&relay, NULL, NULL);
    run_observer_begin(&relay, 0);
    CHECK_FALSE(run_observer_totals_due(&relay, seconds(100)));
    run_observer_done(&relay);
}

static vitals_account *explained(struct run_observer *relay)
{
    vitals_account *account = account_new();
    CHECK_NOT_NULL(account);
    run_observer_explain(relay, account);
    return account;
}

static void a_file_that_cannot_be_written_is_given_up(void)
{
    struct run_observer relay;
    vitals_account *account = account_new();
    run_observer_init(&relay, NULL, "/nowhere/at/all/totals");
    run_observer_begin(&relay, 0);
    run_observer_totals(&relay, account, seconds(2));
    CHECK_FALSE(run_observer_totals_due(&relay, seconds(1000)));
    vitals_account_free(account);
    account = explained(&relay);
    CHECK_CONTAINS(vitals_account_attribute(account, "missing").bytes, "no file of totals");
    vitals_account_free(account);
    run_observer_done(&relay);
}

/* From its beginning to its end. */
static void tell_two_marks(struct run_observer *relay, const vitals_run_observer *observer)
{
    const vitals_mark told = {.begins = 1, .name = "load"};
    run_observer_init(relay, observer, NULL);
    run_observer_begin(relay, 1);
    run_observer_mark(relay, &told);
    run_observer_mark(relay, &told);
    run_observer_end(relay);
}

static void an_observer_that_fails_is_left_alone(void)
{
    struct observed observed = {.fails = true};
    const vitals_run_observer observer = observer_of(&observed);
    struct run_observer relay;
    tell_two_marks(&relay, &observer);
    CHECK_INT(observed.begun, 1);
    CHECK_INT(observed.marks, 1);
    CHECK_INT(observed.ended, 0);
    run_observer_complain(&relay, "no such device", "3");
    run_observer_complain(&relay, "no such device", "4");
    vitals_account *account = explained(&relay);
    CHECK_STR(vitals_account_attribute(account, "missing").bytes,
              "recording stopped: the disk is full; no such device: 3");
    vitals_account_free(account);
    run_observer_done(&relay);
}

static void one_that_does_not_is_told_to_the_end(void)
{
    struct observed observed = {.fails = false};
    const vitals_run_observer observer = observer_of(&observed);
    struct run_observer relay;
    tell_two_marks(&relay, &observer);
    CHECK_INT(observed.marks, 2);
    CHECK_INT(observed.ended, 1);
    vitals_account *account = explained(&relay);
    CHECK_UINT(vitals_account_attribute(account, "missing").size, 0);
    vitals_account_free(account);
    run_observer_done(&relay);
}

static const check_test TESTS[] = {
    {"totals come seldom in a long run", totals_come_seldom_in_a_long_run},
    {"totals come more seldom of what rests", totals_come_more_seldom_of_what_rests},
    {"nobody wants totals without a path", nobody_wants_totals_without_a_path},
    {"a file that cannot be written is given up", a_file_that_cannot_be_written_is_given_up},
    {"an observer that fails is left alone", an_observer_that_fails_is_left_alone},
    {"one that does not is told to the end", one_that_does_not_is_told_to_the_end},
};

CHECK_TESTS(TESTS)
