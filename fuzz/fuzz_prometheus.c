/* Any answer of a Prometheus: whatever it says, of machines that are listed and of all, each table
 * can be built and printed, and nothing of it is a control character. */
#include <stdint.h>
#include <string.h>

#include "fleet_shown.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char HEAD[] = "0 400 answer ";
    char *line = malloc(sizeof HEAD + size);
    require(line != NULL);
    memcpy(line, HEAD, sizeof HEAD - 1);
    memcpy(line + sizeof HEAD - 1, data, size);
    line[sizeof HEAD - 1 + size] = '\0';
    for (int listed = 0; listed < 2; listed++) {
        struct host_list list = {.items = NULL};
        struct fleet fleet;
        vitals_error error;
        require(host_list_parse(listed ? "a,b:1" : "", 9847, &list, &error) == 0);
        require(fleet_init(&fleet, &list, true, &error) == 0);
        for (int time = 0; time < 2; time++) {
            require(fleet_take(&fleet, line, sizeof HEAD - 1 + size, 500));
            require(!fleet_is_awaited(&fleet) && fleet.heard <= fleet.count);
            show_fleet_by_each(&fleet, UINT64_MAX);
        }
        fleet_done(&fleet);
        host_list_done(&list);
    }
    free(line);
    return 0;
}
