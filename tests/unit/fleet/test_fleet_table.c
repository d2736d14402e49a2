/* What is kept of the machines, and the rows that are made of it: ages, a fleet that is held,
 * limits, lists that are too long, means of what is known. */
#include "check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/table.h"
#include "util/buffer.h"

static const char HEAD[] =
    "\"schema\":1,\"vitals\":\"0.1.0\",\"host\":{\"name\":\"n\",\"boot_id\":\"b\",\"pid_"
    "namespace\":1},"
    "\"time\":\"2026-11-28T13:23:36Z\",\"realtime_ns\":\"1795872216558819217\","
    "\"boottime_ns\":\"2000\",\"monotonic_ns\":\"2000\",\"stream\":7,\"sequence\":1,\"columns\":";

static void open_fleet(struct fleet *fleet, const char *hosts)
{
    struct host_list list = {.items = NULL};
    vitals_error error;
    CHECK_OK(host_list_parse(hosts, 9847, &list, &error), error);
    CHECK_OK(fleet_init(fleet, &list, false, &error), error);
}

static void say(struct fleet *fleet, const char *line, uint64_t now_ns)
{
    CHECK(fleet_take(fleet, line, strlen(line), now_ns));
}

/* A machine whose `devices` have these utilizations; below 0: not known; and users, each with a
 * process of its own on the first device. */
static void say_devices(struct fleet *fleet, size_t place, const double *ratios, size_t devices,
                        size_t users)
{
    struct buffer line = {.bytes = NULL};
    buffer_format(&line, "%zu 100 answer {%s", place, HEAD);
    buffer_string(&line, "{\"gpu\":[\"utilization_ratio\"]");
    if (users > 0)
        buffer_string(&line, ",\"gpu_process\":[\"process\"],\"process\":[\"user\"]");
    buffer_string(&line, "},\"tables\":{\"gpu\":[");
    for (size_t i = 0; i < devices; i++) {
        buffer_format(&line, "%s{\"key\":%zu,\"parent\":null,\"label\":\"%zu\",\"age_ns\":0,",
                      i > 0 ? "," : "", i + 1, i);
        if (ratios != NULL && ratios[i] >= 0)
            buffer_format(&line, "\"utilization_ratio\":%g}", ratios[i]);
        else
            buffer_string(&line, "\"utilization_ratio\":null,\"availability\":{"
                                 "\"utilization_ratio\":\"denied\"}}");
    }
    buffer_string(&line, "]");
    for (int table = 0; table < 2 && users > 0; table++) {
        buffer_format(&line, ",\"%s\":[", table == 0 ? "process" : "gpu_process");
        for (size_t i = 0; i < users; i++) {
            buffer_format(&line, "%s{\"key\":%zu,\"parent\":%s,\"label\":\"x\",\"age_ns\":0,",
                          i > 0 ? "," : "", i + 1, table == 0 ? "null" : "1");
            buffer_format(&line, table == 0 ? "\"user\":\"user%zu\"}" : "\"process\":%zu}", i + 1);
        }
        buffer_string(&line, "]");
    }
    buffer_string(&line, "}}");
    CHECK_FALSE(line.failed);
    say(fleet, line.bytes, 200);
    CHECK_STR(fleet->hosts[place].why, "");
    CHECK_UINT(fleet->hosts[place].state, FLEET_ANSWERS);
    buffer_done(&line);
}

static void build(struct fleet_table *table, const struct fleet *fleet, enum fleet_by by)
{
    const struct fleet_order order = {.by = by};
    CHECK_INT(fleet_table_build(table, fleet, &order), 0);
}

static void an_answer_is_as_old_as_it_says(void)
{
    struct fleet fleet;
    open_fleet(&fleet, "a,b");
    say_devices(&fleet, 0, NULL, 1, 0);
    CHECK_UINT(fleet.hosts[0].answered_ns, 100);
    say(&fleet, "1 150 silent x", 1000);
    CHECK_UINT(fleet.hosts[1].failing_ns, 150);
    say(&fleet, "1 5000 silent x", 1000); /* not in the future, and the first failure counts */
    CHECK_UINT(fleet.hosts[1].failing_ns, 150);
    fleet_forget(&fleet, 1000, 899);
    CHECK_NULL(fleet.hosts[0].newest);
    CHECK_FALSE(fleet_take(&fleet, "1 silent x", 10, 1000));
    CHECK_FALSE(fleet_take(&fleet, "2 1 silent x", 12, 1000));
    fleet_done(&fleet);
}

static void a_held_fleet_forgets_nothing(void)
{
    static const double BEFORE[] = {0.25}, AFTER[] = {0.75};
    struct fleet fleet;
    struct fleet_table table = {.rows = NULL};
    open_fleet(&fleet, "a,b");
    say_devices(&fleet, 0, BEFORE, 1, 0);
    CHECK_INT(fleet_hold(&fleet, true), 0);
    say_devices(&fleet, 0, AFTER, 1, 0);
    say_devices(&fleet, 0, AFTER, 1, 0);
    say(&fleet, "1 150 silent x", 1000);
    fleet_forget(&fleet, 1000000, 1);
    build(&table, &fleet, FLEET_BY_GPU);
    CHECK_NEAR(table.rows[0].busy.value, 0.25, 0);
    CHECK_UINT(fleet.hosts[1].state, FLEET_WAITING);
    CHECK_INT(fleet_hold(&fleet, false), 0);
    build(&table, &fleet, FLEET_BY_GPU);
    CHECK_NEAR(table.rows[0].busy.value, 0.75, 0);
    CHECK_UINT(fleet.hosts[1].state, FLEET_SILENT);
    CHECK_INT(fleet_hold(&fleet, true), 0);
    fleet_table_done(&table);
    fleet_done(&fleet);
}

static void a_machine_that_sends_too_much_hurts_no_other(void)
{
    enum { DEVICES = 8000 };
    struct fleet fleet;
    struct fleet_table table = {.rows = NULL};
    open_fleet(&fleet, "a,b");
    say_devices(&fleet, 0, NULL, DEVICES, 0);
    say_devices(&fleet, 1, NULL, 2, 0);
    CHECK(fleet_is_cut(&fleet, &fleet.hosts[0]));
    CHECK_FALSE(fleet_is_cut(&fleet, &fleet.hosts[1]));
    build(&table, &fleet, FLEET_BY_GPU);
    CHECK(table.count < DEVICES);
    CHECK_UINT(table.gpus, DEVICES + 2);
    const struct fleet_row *last = &table.rows[table.count - 3];
    char text[FLEET_CELL];
    fleet_cell(fleet_column_find("name", FLEET_BY_GPU), last, true, text);
    CHECK_STR(text, "too many to show");
    CHECK(last->host == &fleet.hosts[0] && last[1].host == &fleet.hosts[1]);
    build(&table, &fleet, FLEET_BY_NODE);
    CHECK_UINT(table.rows[0].gpus, DEVICES);
    fleet_table_done(&table);
    fleet_done(&fleet);
}

static void a_long_list_says_that_it_is_cut(void)
{
    struct fleet fleet;
    struct fleet_table table = {.rows = NULL};
    char text[FLEET_CELL];
    open_fleet(&fleet, "a,b");
    say_devices(&fleet, 0, NULL, 1, 3);
    say_devices(&fleet, 1, NULL, 1, 100);
    build(&table, &fleet, FLEET_BY_GPU);
    const struct fleet_column *users = fleet_column_find("users", FLEET_BY_GPU);
    fleet_cell(users, &table.rows[0], true, text);
    CHECK_STR(text, "user1 user2 user3");
    fleet_cell(users, &table.rows[1], true, text);
    CHECK_STR(text + strlen(text) - 4, " ...");
    fleet_table_done(&table);
    fleet_done(&fleet);
}

static void a_mean_is_of_what_is_known(void)
{
    static const double RATIOS[] = {0.5, -1, 1, -1};
    struct fleet fleet;
    struct fleet_table table = {.rows = NULL};
    char text[FLEET_CELL];
    open_fleet(&fleet, "a,b");
    say_devices(&fleet, 0, RATIOS, 4, 0);
    say_devices(&fleet, 1, NULL, 4, 0);
    build(&table, &fleet, FLEET_BY_NODE);
    const struct fleet_column *busy = fleet_column_find("util", FLEET_BY_NODE);
    CHECK_NEAR(fleet_value(busy, &table.rows[0]), 0.75, 1e-9);
    CHECK_UINT(table.rows[0].busy.missing, 2);
    fleet_cell(busy, &table.rows[0], true, text);
    CHECK_STR(text, "~75%");
    fleet_cell(busy, &table.rows[1], true, text);
    CHECK_STR(text, "N/A");
    fleet_table_done(&table);
    fleet_done(&fleet);
}

/* ---- Prometheus ---- */

static void open_prometheus(struct fleet *fleet)
{
    struct host_list list = {.items = NULL};
    vitals_error error;
    CHECK_OK(fleet_init(fleet, &list, true, &error), error);
}

/* An answer that names these machines: "n" and a number, from `first` on. */
static void say_known(struct fleet *fleet, size_t first, size_t count, uint64_t now_ns)
{
    struct buffer line = {.bytes = NULL};
    buffer_format(&line, "0 %" PRIu64 " answer {\"data\":{\"resultType\":\"matrix\",\"result\":[",
                  now_ns);
    for (size_t i = first; i < first + count; i++)
        buffer_format(&line,
                      "%s{\"metric\":{\"__name__\":\"vitals_build_info\",\"instance\":\"n%zu\"},"
                      "\"values\":[[1,\"1\"]]}",
                      i > first ? "," : "", i);
    buffer_string(&line, "]}}");
    CHECK_FALSE(line.failed);
    CHECK(fleet_take(fleet, line.bytes, line.size, now_ns));
    buffer_done(&line);
}

static void a_machine_that_is_known_no_longer_is_forgotten(void)
{
    static const uint64_t MINUTE_NS = 60000000000, HOUR_NS = 3600000000000;
    struct fleet fleet;
    open_prometheus(&fleet);
    say_known(&fleet, 1, 4, MINUTE_NS);
    say_known(&fleet, 2, 2, 2 * MINUTE_NS);
    fleet_forget(&fleet, 12 * MINUTE_NS, HOUR_NS);
    CHECK_UINT(fleet.count, 4);
    CHECK_UINT(fleet.hosts[0].state, FLEET_OTHER);
    fleet_forget(&fleet, 12 * MINUTE_NS + 1, HOUR_NS);
    CHECK_UINT(fleet.count, 2);
    CHECK_STR(fleet.hosts[0].place.name, "n2");
    CHECK_STR(fleet.hosts[1].place.name, "n3");

    /* One of them comes again; another is unknown, but not for so long. */
    say_known(&fleet, 3, 2, 13 * MINUTE_NS);
    CHECK_UINT(fleet.count, 3);
    CHECK_UINT(fleet.hosts[0].state, FLEET_OTHER);
    CHECK_UINT(fleet.hosts[1].state, FLEET_ANSWERS);
    CHECK_STR(fleet.hosts[2].place.name, "n4");
    say_known(&fleet, 2, 3, 14 * MINUTE_NS);
    fleet_forget(&fleet, 30 * MINUTE_NS, HOUR_NS);
    CHECK_UINT(fleet.count, 3);
    CHECK_UINT(fleet.hosts[0].state, FLEET_ANSWERS);
    fleet_done(&fleet);
}

static void a_prometheus_that_knows_too_many_says_so(void)
{
    struct fleet fleet;
    open_prometheus(&fleet);
    say_known(&fleet, 0, HOSTS_MOST + 1, 1000);
    CHECK_UINT(fleet.count, HOSTS_MOST);
    CHECK(strstr(fleet.trouble, "more than 10000 machines") != NULL);
    say_known(&fleet, 0, HOSTS_MOST - 1, 2000);
    CHECK_STR(fleet.trouble, "");
    fleet_done(&fleet);
}

static const check_test tests[] = {
    {"an answer is as old as it says", an_answer_is_as_old_as_it_says},
    {"a held fleet forgets nothing", a_held_fleet_forgets_nothing},
    {"a machine that sends too much hurts no other", a_machine_that_sends_too_much_hurts_no_other},
    {"a long list says that it is cut", a_long_list_says_that_it_is_cut},
    {"a mean is of what is known", a_mean_is_of_what_is_known},
    {"a machine that is known no longer is forgotten",
     a_machine_that_is_known_no_longer_is_forgotten},
    {"a Prometheus that knows too many says so", a_prometheus_that_knows_too_many_says_so},
};
CHECK_TESTS(tests)
