/* gpus.c: how much memory each GPU has in use.
 *
 *     cc gpus.c $(pkg-config --cflags --libs vitals) && ./a.out */
#include <stdio.h>
#include <vitals/vitals.h>

int main(void)
{
    vitals_error error;
    vitals_context *context;
    vitals_snapshot *snapshot;
    if (vitals_context_new(NULL, &context, &error) < 0 ||
        vitals_snapshot_take(context, VITALS_SET_GPUS, &snapshot, &error) < 0)
        return fprintf(stderr, "%s\n", error.message), 1;

    char used[32];
    for (const vitals_row *gpu = NULL;
         (gpu = vitals_snapshot_next(snapshot, VITALS_TABLE_GPU, gpu));)
        printf("%s  %s used\n", vitals_row_label(gpu),
               vitals_row_string(gpu, VITALS_GPU_MEMORY_USED_BYTES, VITALS_TEXT_TERMINAL, used,
                                 sizeof used));
    vitals_snapshot_unref(snapshot);
    vitals_context_free(context);
}
