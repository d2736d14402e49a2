/* Any bytes as the file of a layout: what is accepted holds columns, sorts and groups that there
 * are, each mistake is one line that is safe to print and leaves the usual layout. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "command/look/layout.h"
#include "monitor/list/columns.h"
#include "monitor/list/match.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

/* The command is in every list, once and last; nothing else stands there twice. */
static void check_columns(const struct arranged_columns *columns, enum view view)
{
    bool seen[ARRANGED_COLUMNS] = {false};
    require(columns->count <= ARRANGED_COLUMNS);
    for (size_t i = 0; i < columns->count; i++) {
        const struct arranged_column *own = &columns->items[i];
        require(own->column < list_column_count && !seen[own->column]);
        seen[own->column] = true;
        require((list_columns[own->column].views & view) != 0);
        require(column_may_be(&list_columns[own->column], own->wider));
        require((list_columns[own->column].width == 0) == (i + 1 == columns->count));
    }
}

static void check(const struct arrangement *arrangement)
{
    struct match match;
    struct wants wants;
    check_columns(&arrangement->views[0], VIEW_DEVICES);
    check_columns(&arrangement->views[1], VIEW_ALL);
    require(arrangement->sort_count <= ARRANGED_SORTS);
    for (size_t i = 0; i < arrangement->sort_count; i++) {
        const struct column *column = columns_sorted(arrangement->sorts[i].sort);
        require(column != NULL ? column_sorts(column) : i == 0);
    }
    require(arrangement->group >= GROUP_NONE && arrangement->group < GROUP_KINDS);
    require(arrangement->hidden <= (PANEL_DEVICES | PANEL_HOST | PANEL_GRAPHS));
    require(arrangement->traffic >= TRAFFIC_AUTO && arrangement->traffic <= TRAFFIC_NEVER);
    require(arrangement->mode >= 0 && arrangement->mode <= MONITOR_COMPACT + 1);
    require(memchr(arrangement->filter, '\0', sizeof arrangement->filter) != NULL);
    match_parse(arrangement->filter, &match);
    require(match.count <= MATCH_TERMS);
    wants_of(arrangement, VIEW_DEVICES | VIEW_ALL, &wants);
    require(wants.count <= WANTS_MOST);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct arrangement USUAL;
    struct arrangement arrangement;
    char message[LAYOUT_MESSAGE] = "";
    char *bytes = malloc(size + 1);
    require(bytes != NULL);
    memcpy(bytes, data, size);
    if (layout_parse("layout.json", bytes, size, &arrangement, message) == 0) {
        check(&arrangement);
    } else {
        require(memchr(message, '\0', sizeof message) != NULL && message[0] != '\0');
        for (const char *at = message; *at != '\0'; at++)
            require((unsigned char)*at >= ' ' && *at != 0x7f);
        require(memcmp(&arrangement, &USUAL, sizeof USUAL) == 0);
    }
    free(bytes);
    return 0;
}
