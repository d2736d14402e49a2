/* What a run tells while it goes on: when totals are due, who is left alone, what is complained of.
 */
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
    return (vitals_run_observer){.data = observed, .begin = begin, .mark = mark, .end = end};
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
    struct teller teller;
    teller_init(&teller, NULL, "/nowhere/totals");
    teller_begin(&teller, origin);
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        teller.totals_ns = origin + seconds(CASES[i].told);
        CHECK_FALSE(teller_totals_due(&teller, origin + seconds(CASES[i].due - 0.1)));
        CHECK(teller_totals_due(&teller, origin + seconds(CASES[i].due)));
    }
    teller_done(&teller);
}

/* Where nothing was done, nothing is lost but the time. */
static void totals_come_more_seldom_of_what_rests(void)
{
    const uint64_t origin = seconds(12345);
    struct teller teller;
    teller_init(&teller, NULL, "/nowhere/totals");
    teller_begin(&teller, origin);
    teller.totals_ns = origin + seconds(1000);
    teller.rests = true;
    CHECK_FALSE(teller_totals_due(&teller, origin + seconds(1059)));
    CHECK(teller_totals_due(&teller, origin + seconds(1060)));
    teller.rests = false;
    CHECK(teller_totals_due(&teller, origin + seconds(1010)));
    teller.rests = true;
    teller.totals_ns = origin + seconds(3);
    CHECK_FALSE(teller_totals_due(&teller, origin + seconds(5.9)));
    CHECK(teller_totals_due(&teller, origin + seconds(6)));
    teller_done(&teller);
}

static void nobody_wants_totals_without_a_path(void)
{
    struct teller teller;
    teller_init(&teller, NULL, NULL);
    teller_begin(&teller, 0);
    CHECK_FALSE(teller_totals_due(&teller, seconds(100)));
    teller_done(&teller);
}

static vitals_account *explained(struct teller *teller)
{
    vitals_account *account = account_new();
    CHECK_NOT_NULL(account);
    teller_explain(teller, account);
    return account;
}

static void a_file_that_cannot_be_written_is_given_up(void)
{
    struct teller teller;
    vitals_account *account = account_new();
    teller_init(&teller, NULL, "/nowhere/at/all/totals");
    teller_begin(&teller, 0);
    teller_totals(&teller, account, seconds(2));
    CHECK_FALSE(teller_totals_due(&teller, seconds(1000)));
    vitals_account_free(account);
    account = explained(&teller);
    CHECK_CONTAINS(vitals_account_attribute(account, "missing").bytes, "no file of totals");
    vitals_account_free(account);
    teller_done(&teller);
}

/* From its beginning to its end. */
static void tell_two_marks(struct teller *teller, const vitals_run_observer *observer)
{
    const vitals_mark told = {.begins = 1, .name = "load"};
    teller_init(teller, observer, NULL);
    teller_begin(teller, 1);
    teller_mark(teller, &told);
    teller_mark(teller, &told);
    teller_end(teller);
}

static void an_observer_that_fails_is_left_alone(void)
{
    struct observed observed = {.fails = true};
    const vitals_run_observer observer = observer_of(&observed);
    struct teller teller;
    tell_two_marks(&teller, &observer);
    CHECK_INT(observed.begun, 1);
    CHECK_INT(observed.marks, 1);
    CHECK_INT(observed.ended, 0);
    teller_complain(&teller, "later", "this is not told");
    vitals_account *account = explained(&teller);
    CHECK_STR(vitals_account_attribute(account, "missing").bytes,
              "recording stopped: the disk is full");
    vitals_account_free(account);
    teller_done(&teller);
}

static void one_that_does_not_is_told_to_the_end(void)
{
    struct observed observed = {.fails = false};
    const vitals_run_observer observer = observer_of(&observed);
    struct teller teller;
    tell_two_marks(&teller, &observer);
    CHECK_INT(observed.marks, 2);
    CHECK_INT(observed.ended, 1);
    vitals_account *account = explained(&teller);
    CHECK_UINT(vitals_account_attribute(account, "missing").size, 0);
    vitals_account_free(account);
    teller_done(&teller);
}

static const check_test TESTS[] = {
    {"totals come seldom in a long run", totals_come_seldom_in_a_long_run},
    {"totals come more seldom of what rests", totals_come_more_seldom_of_what_rests},
    {"nobody wants totals without a path", nobody_wants_totals_without_a_path},
    {"a file that cannot be written is given up", a_file_that_cannot_be_written_is_given_up},
    {"an observer that fails is left alone", an_observer_that_fails_is_left_alone},
    {"one that does not is told to the end", one_that_does_not_is_told_to_the_end},
};

CHECK_MAIN(TESTS)
