/* scope.c: the program libexec/vitals/scope: asks the user's systemd for a scope that holds some
 * processes (org.freedesktop.systemd1(5), StartTransientUnit).
 *
 *     scope NAME MEMORY_MAX TASKS_MAX PID...      (0: no limit)
 *
 * A program of its own, because libsystemd with the libraries that it needs would make every start
 * of vitals half a millisecond longer. Exits 0 once systemd has accepted; a signal ends it after
 * 50 ms. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>
#include <systemd/sd-bus.h>

enum { TIMEOUT_US = 50 * 1000 };

static int append_properties(sd_bus_message *call, char *const *argv, int argc)
{
    static const char *const ON[] = {"Delegate", "CPUAccounting", "MemoryAccounting",
                                     "TasksAccounting", "IOAccounting"};
    const uint64_t memory_max = strtoull(argv[2], NULL, 10), tasks = strtoull(argv[3], NULL, 10);
    int code = sd_bus_message_open_container(call, 'a', "(sv)");
    if (code >= 0)
        code = sd_bus_message_open_container(call, 'r', "sv");
    if (code >= 0)
        code = sd_bus_message_append(call, "s", "PIDs");
    if (code >= 0)
        code = sd_bus_message_open_container(call, 'v', "au");
    if (code >= 0)
        code = sd_bus_message_open_container(call, 'a', "u");
    for (int i = 4; i < argc && code >= 0; i++)
        code = sd_bus_message_append(call, "u", (uint32_t)strtoul(argv[i], NULL, 10));
    for (int open = 0; open < 3 && code >= 0; open++)
        code = sd_bus_message_close_container(call);
    for (size_t i = 0; i < sizeof ON / sizeof ON[0] && code >= 0; i++)
        code = sd_bus_message_append(call, "(sv)", ON[i], "b", 1);
    if (code >= 0 && memory_max != 0)
        code = sd_bus_message_append(call, "(sv)", "MemoryMax", "t", memory_max);
    if (code >= 0 && tasks != 0)
        code = sd_bus_message_append(call, "(sv)", "TasksMax", "t", tasks);
    return code >= 0 ? sd_bus_message_close_container(call) : code;
}

int main(int argc, char **argv)
{
    sd_bus *bus = NULL;
    sd_bus_message *call = NULL;
    if (argc < 5)
        return EXIT_FAILURE;

    const struct itimerval timer = {.it_value.tv_usec = TIMEOUT_US};
    sigset_t alarm;
    (void)signal(SIGALRM, SIG_DFL);
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    (void)sigprocmask(SIG_UNBLOCK, &alarm, NULL);
    (void)setitimer(ITIMER_REAL, &timer, NULL);

    int code = sd_bus_open_user(&bus);
    if (code >= 0)
        code = sd_bus_message_new_method_call(
            bus, &call, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
            "org.freedesktop.systemd1.Manager", "StartTransientUnit");
    if (code >= 0)
        code = sd_bus_message_append(call, "ss", argv[1], "fail");
    if (code >= 0)
        code = append_properties(call, argv, argc);
    if (code >= 0)
        code = sd_bus_message_append(call, "a(sa(sv))", 0);
    if (code >= 0)
        code = sd_bus_call(bus, call, 0, NULL, NULL);
    sd_bus_message_unref(call);
    sd_bus_close_unref(bus);
    return code < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
