/* Runs a command and prints what it used, from a program that goes on with its own work meanwhile:
 *
 *     account sh -c 'sleep 1; gzip </dev/zero | head -c 1000000 >/dev/null' */
#include <stdio.h>
#include <vitals/vitals.h>

static void print_figures(const vitals_account *account)
{
    for (const vitals_figure *figure = NULL;
         (figure = vitals_account_next(account, figure)) != NULL;) {
        double value;
        vitals_availability state = vitals_figure_value(figure, &value);
        if (state > 0 && vitals_figure_subject(figure)[0] == '\0')
            printf("%-32s %16.6g %-8s %s, %s\n", vitals_figure_name(figure), value,
                   vitals_figure_unit(figure), vitals_availability_name(state),
                   vitals_figure_source(figure));
    }
}

int main(int argc, char **argv)
{
    vitals_error error;
    vitals_run *run = NULL;
    vitals_account *account = NULL;
    vitals_run_options options;
    if (argc < 2)
        return fprintf(stderr, "usage: account COMMAND [ARGUMENT...]\n"), 2;
    vitals_run_options_init(&options, sizeof options);
    options.argv = argv + 1;
    options.interval_ns = 100000000;
    int code = vitals_run_open(&options, &run, &error);
    if (code == 0)
        code = vitals_run_start(run, &error);
    while (code == 0) { /* 1: it has ended */
        code = vitals_run_wait(run, 500000000, &error);
        if (code == 0)
            fprintf(stderr, "it still runs\n");
    }
    if (code > 0)
        code = vitals_run_account(run, &account, &error);
    if (code < 0)
        fprintf(stderr, "%s\n", error.message);
    else
        print_figures(account);
    int status = code < 0 ? 1 : vitals_account_exit_code(account);
    vitals_account_free(account);
    vitals_run_close(run);
    return status;
}
