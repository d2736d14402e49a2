/* process_title.c: names a running process for exporters (run_export.h). As lists show it: the
 * kernel's name, or if that may be cut, the program's file name if it begins so. One thread. */
#include <string.h>

#include "command/export/exporter.h"

enum { KERNEL_NAME = 15 }; /* bytes that the kernel keeps of a name */

static vitals_text last_part(vitals_text path)
{
    for (size_t at = path.size; at > 0; at--) {
        if (path.bytes[at - 1] == '/')
            return (vitals_text){path.bytes + at, path.size - at};
    }
    return path;
}

static int make_request(vitals_request **out, vitals_error *error)
{
    int code = vitals_request_new(0, out, error);
    if (code == 0)
        code = vitals_request_add(*out, VITALS_PROCESS_NAME, error);
    return code == 0 ? vitals_request_add(*out, VITALS_PROCESS_EXECUTABLE, error) : code;
}

void process_title(const struct machine_settings *machine, int64_t pid, char *out, size_t size)
{
    vitals_options world;
    vitals_context *context = NULL;
    vitals_process *process = NULL;
    vitals_request *request = NULL;
    vitals_snapshot *answer = NULL;
    vitals_error error;
    out[0] = '\0';
    command_world(machine, &world);
    if (make_request(&request, &error) == 0 && vitals_context_new(&world, &context, &error) == 0 &&
        vitals_process_open(context, pid, &process, &error) == 0 &&
        vitals_process_ask(process, request, &answer, &error) == 0) {
        const vitals_row *row = vitals_snapshot_row(answer, VITALS_PROCESS, 0);
        vitals_text name, path;
        if (vitals_row_text(row, VITALS_PROCESS_NAME, &name) > 0) {
            if (name.size >= KERNEL_NAME &&
                vitals_row_text(row, VITALS_PROCESS_EXECUTABLE, &path) > 0) {
                path = last_part(path);
                if (path.size > name.size && memcmp(path.bytes, name.bytes, name.size) == 0)
                    name = path;
            }
            (void)vitals_text_format(name, VITALS_TEXT_TERMINAL, out, size);
        }
    }
    vitals_snapshot_unref(answer);
    vitals_process_free(process);
    vitals_context_free(context);
    vitals_request_free(request);
}
