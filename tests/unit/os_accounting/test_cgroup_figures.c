/* What the files of a cgroup count, from trees of files that stand for kernels and controllers
 * which this machine lacks, and from texts that lie. */
#include "check.h"

#include "os/linux/cgroup/cgroup_own.h"

#include <fcntl.h>
#include <unistd.h>

static void read_tree(const char *tree, const struct own_figure *figures, const char *controllers,
                      os_quantities *found, struct counted *out)
{
    struct os os = {.proc = -1, .sys = open(check_fixture("counted"), O_RDONLY | O_DIRECTORY)};
    struct own_group group;
    CHECK(os.sys >= 0);
    CHECK_INT(own_group_open(&os, tree, &group), 0);
    *found = own_figures_found(&group, figures, controllers);
    memset(out, 0, COUNTED_COUNT * sizeof *out);
    own_figures_read(&os, &group, figures, *found, out);
    own_group_remove(&os, &group);
    close(os.sys);
}

struct expected {
    enum quantity quantity;
    double value;
};

static void check_all(const struct counted *out, const struct expected *expected, size_t count)
{
    size_t told = 0;
    for (size_t i = 0; i < count; i++) {
        const struct counted *figure = &out[expected[i].quantity];
        bool split = expected[i].quantity == COUNTED_CPU_USER_SECONDS ||
                     expected[i].quantity == COUNTED_CPU_SYSTEM_SECONDS;
        bool alone = strstr(figure->source, "oom_control") != NULL; // not of those below it
        CHECK_INT(figure->value.state, split   ? VITALS_ESTIMATE
                                       : alone ? VITALS_LOWER_BOUND
                                               : VITALS_HAVE);
        CHECK_NEAR(figure->value.as.f64, expected[i].value, 1e-9);
        CHECK_CONTAINS(figure->source, "cgroup v");
    }
    for (int i = 0; i < COUNTED_COUNT; i++)
        told += out[i].value.state != VITALS_UNSET ? 1 : 0;
    CHECK_UINT(told, count);
}

static void version_two_counts_everything(void)
{
    static const struct expected EXPECTED[] = {
        {COUNTED_CPU_SECONDS, 5.029123},
        {COUNTED_CPU_USER_SECONDS, 4.0001},
        {COUNTED_CPU_SYSTEM_SECONDS, 1.029023},
        {COUNTED_MEMORY_PEAK_BYTES, 448790528},
        {COUNTED_SWAP_PEAK_BYTES, 4096},
        {COUNTED_OOM_KILLS, 1},
        {COUNTED_MINOR_FAULTS, 120000},
        {COUNTED_MAJOR_FAULTS, 34},
        {COUNTED_READ_BYTES, 68157440},
        {COUNTED_WRITTEN_BYTES, 4096},
        {COUNTED_TASKS_PEAK, 17},
        {COUNTED_CPU_PRESSURE_SECONDS, 0.942247},
        {COUNTED_MEMORY_PRESSURE_SECONDS, 0.0015},
        {COUNTED_IO_PRESSURE_SECONDS, 2.5},
    };
    struct counted out[COUNTED_COUNT];
    os_quantities found;
    read_tree("v2", own_figures_v2, "cpuset cpu io memory pids", &found, out);
    check_all(out, EXPECTED, ARRAY_COUNT(EXPECTED));
    CHECK_CONTAINS(out[COUNTED_MEMORY_PEAK_BYTES].source, "page cache");
}

static void without_controllers_there_are_cpu_time_and_pressure(void)
{
    struct counted out[COUNTED_COUNT];
    os_quantities found;
    read_tree("v2", own_figures_v2, "", &found, out);
    CHECK((found & os_quantity(COUNTED_CPU_SECONDS)) != 0);
    CHECK((found & os_quantity(COUNTED_MEMORY_PEAK_BYTES)) == 0);
    CHECK_INT(out[COUNTED_MEMORY_PEAK_BYTES].value.state, VITALS_UNSET);
    CHECK_NEAR(out[COUNTED_CPU_SECONDS].value.as.f64, 5.029123, 1e-9);
}

static void version_one_counts_by_controller(void)
{
    static const struct expected EXPECTED[] = {
        {COUNTED_CPU_SECONDS, 5.105000123},
        {COUNTED_MEMORY_PEAK_BYTES, 427819008},
        {COUNTED_OOM_KILLS, 2},
        {COUNTED_TASKS_PEAK, 9},
        {COUNTED_READ_BYTES, 4096},
        {COUNTED_WRITTEN_BYTES, 8192},
    };
    struct counted out[COUNTED_COUNT];
    os_quantities found;
    read_tree("v1", own_figures_v1, "cpuacct memory pids blkio", &found, out);
    check_all(out, EXPECTED, ARRAY_COUNT(EXPECTED));
    read_tree("v1", own_figures_v1, "memory", &found, out);
    CHECK_INT(out[COUNTED_CPU_SECONDS].value.state, VITALS_UNSET);
    CHECK_INT(out[COUNTED_MEMORY_PEAK_BYTES].value.state, VITALS_HAVE);
}

static const struct own_figure *figure_of(enum quantity quantity)
{
    const struct own_figure *figure = own_figures_v2;
    while (figure->quantity != quantity)
        figure++;
    return figure;
}

static void texts_that_lie_tell_nothing_or_a_number(void)
{
    static const struct {
        enum quantity quantity;
        const char *text;
        bool told;
        double value;
    } ROWS[] = {
        {COUNTED_CPU_SECONDS, "", false, 0},
        {COUNTED_CPU_SECONDS, "usage_usec", false, 0},
        {COUNTED_CPU_SECONDS, "usage_usec \n", false, 0},
        {COUNTED_CPU_SECONDS, "usage_usecs 5\n", false, 0},
        {COUNTED_CPU_SECONDS, "usage_usec -5\n", false, 0},
        {COUNTED_CPU_SECONDS, "x 1\nusage_usec 5", true, 5e-6},
        {COUNTED_MEMORY_PEAK_BYTES, "max\n", false, 0},
        {COUNTED_MEMORY_PEAK_BYTES, "99999999999999999999999\n", true, 18446744073709551615.0},
        {COUNTED_MINOR_FAULTS, "pgfault 3\n", false, 0},
        {COUNTED_MINOR_FAULTS, "pgmajfault 9\npgfault 3\n", true, 0},
        {COUNTED_CPU_PRESSURE_SECONDS, "full avg10=0.00 total=5\n", false, 0},
        {COUNTED_CPU_PRESSURE_SECONDS, "some total=\n", false, 0},
        {COUNTED_READ_BYTES, "", true, 0},
        {COUNTED_READ_BYTES, "8:0 rbytes=18446744073709551615 wbytes=1\n8:1 rbytes=9\n", true,
         18446744073709551615.0},
        {COUNTED_READ_BYTES, "8: rbytes=5\n:0 rbytes=5\n8:0\n", true, 0},
    };
    const struct os os = {.proc = -1, .sys = -1};
    for (size_t i = 0; i < ARRAY_COUNT(ROWS); i++) {
        double value = 0;
        CHECK_CASE(ROWS[i].text);
        CHECK_INT(own_figure_parse(&os, figure_of(ROWS[i].quantity), ROWS[i].text,
                                   strlen(ROWS[i].text), &value),
                  ROWS[i].told);
        CHECK_NEAR(value, ROWS[i].value, 1e-9);
    }
}

/* Version 1 has the file where the kernel does not count, and then no device in it. */
static void disks_of_version_one_are_told_where_one_is_named(void)
{
    const struct os os = {.proc = -1, .sys = -1};
    const struct own_figure *figure = own_figures_v1;
    double value;
    while (figure->quantity != COUNTED_READ_BYTES)
        figure++;
    CHECK_FALSE(own_figure_parse(&os, figure, "Total 0\n", 8, &value));
}

static const check_test tests[] = {
    {"version two counts everything", version_two_counts_everything},
    {"without controllers there are CPU time and pressure",
     without_controllers_there_are_cpu_time_and_pressure},
    {"version one counts by controller", version_one_counts_by_controller},
    {"texts that lie tell nothing or a number", texts_that_lie_tell_nothing_or_a_number},
    {"disks of version one are told where one is named",
     disks_of_version_one_are_told_where_one_is_named},
};
CHECK_TESTS(tests)
