/* Any lines as what the process that asks has heard of two machines: whatever they say, each table
 * can be built, sorted, drawn and printed, and nothing of it is a control character. */
#include <stdint.h>
#include <string.h>

#include "fleet_shown.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void show(const struct fleet *fleet)
{
    static const char *const SORTS[] = {NULL, "used", "host", "user", "job"};
    for (enum fleet_by by = 0; by < FLEET_BYS; by++) {
        for (size_t i = 0; i < sizeof SORTS / sizeof SORTS[0]; i++) {
            struct fleet_order order = {.by = by, .sort = SORTS[i], .reversed = i % 2 == 0};
            struct fleet_table table = {.rows = NULL};
            show_fleet(fleet, &order, 1000);
            order.filter = "a !b";
            require(fleet_table_build(&table, fleet, &order) == 0);
            fleet_table_done(&table);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct host_list list = {.items = NULL};
    struct fleet fleet;
    vitals_error error;
    char *lines = malloc(size + 1);
    require(lines != NULL && host_list_parse("a,b", 9847, &list, &error) == 0);
    require(fleet_init(&fleet, &list, false, &error) == 0);
    memcpy(lines, data, size);
    lines[size] = '\0';
    for (char *at = lines; at < lines + size;) {
        char *newline = memchr(at, '\n', (size_t)(lines + size - at));
        char *end = newline != NULL ? newline : lines + size;
        *end = '\0';
        (void)fleet_take(&fleet, at, (size_t)(end - at), 500);
        at = end + 1;
    }
    require(fleet.heard <= fleet.count);
    show(&fleet);
    fleet_forget(&fleet, 1000, 100);
    show(&fleet);
    fleet_done(&fleet);
    host_list_done(&list);
    free(lines);
    return 0;
}
