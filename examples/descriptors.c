/* descriptors.c: what a process has open.
 *
 *     cc descriptors.c $(pkg-config --cflags --libs vitals) && ./a.out PID */
#include <stdio.h>
#include <stdlib.h>
#include <vitals/vitals.h>

static int pid_of(const char *text, int64_t *pid)
{
    char *end;
    *pid = strtoll(text, &end, 10); // what is no pid, or none that fits, is refused when opened
    return end != text && *end == '\0';
}

/* "-" where it is missing: denied, gone, or of a kind that has none. */
static vitals_text text_of(const vitals_row *row, vitals_metric metric)
{
    vitals_text text;
    return vitals_row_text(row, metric, &text) > 0 ? text : (vitals_text){"-", 1};
}

int main(int argc, char **argv)
{
    int64_t pid;
    vitals_error error = {.message = "usage: descriptors PID"};
    vitals_context *context = NULL;
    vitals_process *process = NULL;
    vitals_request *request = NULL;
    vitals_snapshot *answer = NULL;
    if (argc != 2 || !pid_of(argv[1], &pid) || vitals_context_new(NULL, &context, &error) < 0 ||
        vitals_process_open(context, pid, &process, &error) < 0 ||
        vitals_request_new(0, &request, &error) < 0 ||
        vitals_request_add_table(request, VITALS_TABLE_DESCRIPTOR, &error) < 0 ||
        vitals_process_ask(process, request, &answer, &error) < 0)
        return fprintf(stderr, "%s\n", error.message), 1;

    const vitals_row *row = NULL;
    while ((row = vitals_snapshot_next(answer, VITALS_TABLE_DESCRIPTOR, row)) != NULL) {
        uint64_t deleted;
        vitals_text type = text_of(row, VITALS_DESCRIPTOR_TYPE);
        vitals_text mode = text_of(row, VITALS_DESCRIPTOR_MODE);
        if (vitals_row_u64(row, VITALS_DESCRIPTOR_DELETED, &deleted) <= 0)
            deleted = 0;
        // The key is the descriptor plus one, whatever else is known of it.
        printf("%4llu %-2.*s %-16.*s %s%s\n", (unsigned long long)vitals_row_key(row) - 1,
               (int)mode.size, mode.bytes, (int)type.size, type.bytes, vitals_row_label(row),
               deleted ? " (deleted)" : "");
    }
    vitals_availability state = vitals_snapshot_state(answer, VITALS_TABLE_DESCRIPTOR);
    if (state != VITALS_HAVE)
        fprintf(stderr, "incomplete: %s\n", vitals_availability_name(state));
    vitals_snapshot_unref(answer);
    vitals_request_free(request);
    vitals_process_close(process);
    vitals_context_free(context);
}
