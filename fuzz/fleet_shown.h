/* What the targets of a fleet share: for any answer of a machine, each table of them can be built
 * and printed, and nothing of it is a control character. */
#pragma once

#include <stdlib.h>

#include "fleet/table.h"

static inline void require(int condition)
{
    if (!condition)
        abort();
}

static inline int check_text(void *data, const char *bytes, size_t size)
{
    (void)data;
    for (size_t i = 0; i < size; i++)
        require((unsigned char)bytes[i] >= ' ' || bytes[i] == '\n');
    return 0;
}

static inline void show_fleet(const struct fleet *fleet, const struct fleet_order *order,
                              uint64_t now_ns)
{
    static const struct look LOOK = {.ascii = true};
    struct fleet_table table = {.rows = NULL};
    require(fleet_table_build(&table, fleet, order) == 0);
    const struct fleet_view view = {fleet, &table, order, now_ns};
    require(fleet_print(&view, &LOOK, 120, false, check_text, NULL) == 0);
    require(fleet_print_json(&view, check_text, NULL) == 0);
    fleet_table_done(&table);
}

/* By each of what rows can be of. */
static inline void show_fleet_by_each(const struct fleet *fleet, uint64_t now_ns)
{
    for (enum fleet_by by = 0; by < FLEET_BYS; by++)
        show_fleet(fleet, &(const struct fleet_order){.by = by}, now_ns);
}
