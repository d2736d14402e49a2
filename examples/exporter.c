/* Runs a command, and exports its samples and its account:
 *
 *     exporter http://127.0.0.1:5000 python train.py     to an MLflow server
 *     exporter runs/1 python train.py                    to a folder for TensorBoard
 *
 * The command finds its run of MLflow in MLFLOW_RUN_ID. Needs the second library:
 * cc exporter.c $(pkg-config --cflags --libs vitals-record) */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vitals/record.h>
#include <vitals/vitals.h>

#define SECONDS  UINT64_C(1000000000)
#define PATIENCE (20 * SECONDS)

static int run(vitals_exporter *exporter, char *const *argv, vitals_account **account,
               vitals_error *error)
{
    vitals_run_options options;
    vitals_run_options_init(&options, sizeof options);
    options.argv = argv;
    options.interval_ns = SECONDS / 2;
    int code = vitals_exporter_observer(exporter, NULL, &options.observer, error);
    return code < 0 ? code : vitals_run_command(&options, account, error);
}

int main(int argc, char **argv)
{
    vitals_error error;
    vitals_exporter *exporter = NULL;
    vitals_account *account = NULL;
    vitals_exporter_options options;
    vitals_exporter_options_init(&options, sizeof options);
    if (argc < 3)
        return fprintf(stderr, "usage: exporter SERVER|FOLDER COMMAND [ARGUMENT...]\n"), 2;
    if (strstr(argv[1], "://") != NULL)
        options.mlflow = argv[1];
    else
        options.tensorboard = argv[1];
    options.argv = argv + 2;
    options.patience_ns = PATIENCE;
    options.interval_ns = options.mlflow_interval_ns = SECONDS / 2;
    if (getenv("VITALS_TELL") != NULL)
        options.program = getenv("VITALS_TELL");

    int code = vitals_exporter_open(&options, &exporter, &error);
    if (code == 0)
        code = vitals_exporter_wait(exporter, PATIENCE, &error);
    if (code < 0)
        return fprintf(stderr, "exporter: %s\n", error.message), 1;
    if (vitals_exporter_run_id(exporter)[0] != '\0')
        (void)setenv("MLFLOW_RUN_ID", vitals_exporter_run_id(exporter), 1);
    printf("%s\n", vitals_exporter_run_page(exporter));

    code = run(exporter, argv + 2, &account, &error);
    if (code == 0)
        code = vitals_exporter_account(exporter, account, &error);
    int closed = vitals_exporter_close(exporter, PATIENCE, code < 0 ? NULL : &error);
    if (code < 0 || closed < 0)
        fprintf(stderr, "exporter: %s\n", error.message);
    code = code < 0 || closed < 0 ? 1 : vitals_account_exit_code(account);
    vitals_account_free(account);
    return code;
}
