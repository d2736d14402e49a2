/* 07_run.c: runs a command and prints what it and all its descendants used. */
#include <stdio.h>
#include <vitals/vitals.h>

int main(int argc, char **argv)
{
    vitals_error error = {.message = "usage: 07_run COMMAND [ARGUMENT...]"};
    vitals_account *account = NULL;
    vitals_run_options options;
    vitals_run_options_init(&options, sizeof options);
    options.argv = argv + 1;
    options.interval_ns = 100000000;
    if (argc < 2 || vitals_run_command(&options, &account, &error) < 0)
        return fprintf(stderr, "%s\n", error.message), 1;

    static const char *const names[] = {"wall_seconds", "cpu_seconds", "processes"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const vitals_figure *figure = vitals_account_find(account, names[i], "");
        double value;
        if (figure != NULL && vitals_figure_value(figure, &value) > 0)
            printf("%-12s %8.3f %-8s %s\n", names[i], value, vitals_figure_unit(figure),
                   vitals_figure_source(figure));
    }
    int status = vitals_account_exit_code(account);
    vitals_account_free(account);
    return status;
}
