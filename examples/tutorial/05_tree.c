/* 05_tree.c: a process and all that descends from it, as a tree. */
#include <stdio.h>
#include <stdlib.h>
#include <vitals/vitals.h>

static void print_tree(const vitals_snapshot *snapshot, const vitals_row *row, int depth)
{
    int64_t pid;
    if (vitals_row_pid(row, &pid) > 0)
        printf("%*s%lld %s\n", depth * 2, "", (long long)pid, vitals_row_label(row));

    const vitals_row *child = NULL;
    while ((child = vitals_snapshot_next_child(snapshot, VITALS_TABLE_PROCESS, vitals_row_key(row),
                                               child)) != NULL)
        print_tree(snapshot, child, depth + 1);
}

int main(int argc, char **argv)
{
    vitals_error error = {.message = "usage: 05_tree PID"};
    vitals_context *context = NULL;
    vitals_request *request = NULL;
    vitals_snapshot *snapshot = NULL;
    int64_t root = argc == 2 ? atoll(argv[1]) : 0;
    if (root == 0 || vitals_context_new(NULL, &context, &error) < 0 ||
        vitals_request_new(0, &request, &error) < 0 ||
        vitals_request_add_table(request, VITALS_TABLE_PROCESS, &error) < 0 ||
        vitals_request_set_rows(request, VITALS_ROWS_TREE, &root, 1, &error) < 0 ||
        vitals_snapshot_take_request(context, request, &snapshot, &error) < 0)
        return fprintf(stderr, "%s\n", error.message), 1;

    const vitals_row *first = vitals_snapshot_find_pid(snapshot, root);
    if (first != NULL)
        print_tree(snapshot, first, 0);
    vitals_snapshot_unref(snapshot);
    vitals_request_free(request);
    vitals_context_free(context);
}
