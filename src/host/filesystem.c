/* filesystem.c: see <vitals/filesystem.h>. Thread rule: the caller's. */
#include <vitals/filesystem.h>

#include "model/builder.h"
#include "os/world.h"
#include "util/error.h"

static const vitals_metric WANTED[] = {
    VITALS_FILESYSTEM_MOUNT_POINT,    VITALS_FILESYSTEM_DEVICE,      VITALS_FILESYSTEM_TYPE,
    VITALS_FILESYSTEM_OPTIONS,        VITALS_FILESYSTEM_READ_ONLY,   VITALS_FILESYSTEM_REMOTE,
    VITALS_FILESYSTEM_TOTAL_BYTES,    VITALS_FILESYSTEM_USED_BYTES,  VITALS_FILESYSTEM_FREE_BYTES,
    VITALS_FILESYSTEM_INODES,         VITALS_FILESYSTEM_INODES_FREE, VITALS_FILESYSTEM_PSEUDO,
    VITALS_FILESYSTEM_AVAILABLE_BYTES};

int vitals_filesystem_of(vitals_context *context, const char *path, vitals_snapshot **out,
                         vitals_error *error)
{
    const struct os_origin *origin = &context->origin;
    const vitals_clock *clock = &context->os.clock;
    struct metric_set wanted = {0};
    struct row_batch batch = {0};
    vitals_builder *builder = NULL;
    for (size_t i = 0; i < ARRAY_COUNT(WANTED); i++)
        metric_set_add(&wanted, WANTED[i]);
    batch_reset(&batch, &wanted);
    int failed = os_read_filesystem_of(&context->os, path, &batch);
    int code = failed < 0 ? error_system(error, -failed, "the file system of %s", path) : 0;
    if (code == 0)
        code = batch.failed ? error_no_memory(error) : vitals_builder_new(&builder, error);
    if (code == 0) {
        uint64_t now_ns = clock->monotonic_ns(clock->data);
        batch.rows[0].key = 1;
        vitals_builder_begin(builder);
        vitals_builder_origin(builder, vitals_text_of(origin->host),
                              vitals_text_of(origin->boot_id), origin->pid_namespace);
        builder_table_of(builder, VITALS_TABLE_FILESYSTEM, &wanted);
        builder_batch_rows(builder, &batch, VITALS_TABLE_FILESYSTEM, now_ns);
        vitals_builder_moment(builder, clock->realtime_ns(clock->data),
                              clock->boottime_ns(clock->data), now_ns, 1);
        code = vitals_builder_finish(builder, out, error);
    }
    vitals_builder_free(builder);
    batch_done(&batch);
    return code;
}
