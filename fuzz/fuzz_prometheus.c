/* Any answer of a Prometheus: whatever it says, of machines that are listed and of all, each table
 * can be built and printed, and nothing of it is a control character. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/table.h"
#include "util/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static int check_text(void *data, const char *bytes, size_t size)
{
    (void)data;
    for (size_t i = 0; i < size; i++)
        require((unsigned char)bytes[i] >= ' ' || bytes[i] == '\n');
    return 0;
}

static void show(const struct fleet *fleet)
{
    static const struct look LOOK = {.ascii = true};
    for (enum fleet_by by = 0; by < FLEET_BYS; by++) {
        const struct fleet_order order = {.by = by};
        struct fleet_table table = {.rows = NULL};
        require(fleet_table_build(&table, fleet, &order) == 0);
        const struct fleet_view view = {fleet, &table, &order, UINT64_MAX};
        require(fleet_print(&view, &LOOK, 120, false, check_text, NULL) == 0);
        require(fleet_print_json(&view, check_text, NULL) == 0);
        fleet_table_done(&table);
    }
}

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
            show(&fleet);
        }
        fleet_done(&fleet);
        host_list_done(&list);
    }
    free(line);
    return 0;
}
