/* Any output of an ssh, in pieces of any size: its documents are those of a fleet, its last words
 * are safe to print, and nothing stays in memory at its end. The first byte says how large the
 * pieces are; what stands before the first byte 0xFF are errors. */
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "fleet/over_ssh.h"
#include "fleet_shown.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A pipe with room for all of it, so that writing does not wait. */
static int open_pipe(int *end)
{
    int ends[2];
    require(pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0);
    *end = ends[1];
    return ends[0];
}

static void give(int end, const uint8_t **at, const uint8_t *until, size_t piece)
{
    size_t left = (size_t)(until - *at), step = left < piece ? left : piece;
    require(step == 0 || write(end, *at, step) == (ssize_t)step);
    *at += step;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct host_list list = {.items = NULL};
    struct fleet fleet;
    struct ssh_output says;
    vitals_error error;
    int ends[2];
    if (size < 1 || size > 32768)
        return 0;
    const uint8_t *end = data + size, *errors = data + 1,
                  *output = memchr(data + 1, 0xFF, size - 1);
    const uint8_t *until = output != NULL ? output : data + 1;
    size_t piece = 1 + (size_t)data[0];
    output = output != NULL ? output + 1 : data + 1;
    require(host_list_parse("a,b", 22, &list, &error) == 0);
    require(fleet_init(&fleet, &list, false, &error) == 0);
    int from_output = open_pipe(&ends[0]), from_errors = open_pipe(&ends[1]);
    require(ssh_output_open(&says, from_output, from_errors) == 0);
    for (bool last = false; !last;) {
        vitals_text document;
        int got;
        last = errors == until && output == end;
        give(ends[0], &output, end, piece);
        give(ends[1], &errors, until, piece);
        if (last) {
            close(ends[0]);
            close(ends[1]);
        }
        ssh_output_read_errors(&says);
        while ((got = ssh_output_next(&says, &document)) > 0 || (got == 0 && last)) {
            if (got == 0)
                continue;
            require(document.bytes[0] == '{' && document.bytes[document.size] == '\0');
            (void)fleet_take_document(&fleet, 0, document, 500);
        }
        require((got < 0) == last);
        if (says.said[0] != '\0' || says.odd[0] != '\0')
            fleet_fail(&fleet, 1, FLEET_SILENT, 500, says.said[0] != '\0' ? says.said : says.odd);
    }
    ssh_output_close(&says);
    require(ssh_output_held(&says) == 0 && fleet.heard <= fleet.count);
    show_fleet_by_each(&fleet, 1000);
    fleet_done(&fleet);
    host_list_done(&list);
    return 0;
}
