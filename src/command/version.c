/* version.c: `vitals --version`: which vitals this is, and what was built in. */
#include "command/command.h"

#include <string.h>
#include <unistd.h>

#include "command/output.h"
#include "monitor/monitor.h"
#include "record/frame/deflate.h"
#include "record/sqlite/database.h"

#if VITALS_WITH_JANSSON
#include <jansson.h>
#define JSON_PART "jansson " JANSSON_VERSION
#else
#define JSON_PART "no"
#endif

int command_version(const struct settings *settings)
{
    (void)settings;
    struct output output;
    output_init(&output, STDOUT_FILENO);
    output_format(&output, "vitals %s\n", VITALS_VERSION);
    if (strcmp(VITALS_VERSION, vitals_version_text()) != 0)
        output_format(&output, "library        %s\n", vitals_version_text());
    output_format(&output, "snapshot form  %d\n", VITALS_SCHEMA);
    output_format(&output, "reading JSON   %s\n", JSON_PART);
    output_format(&output, "monitor        %s\n", monitor_built() ? "ncursesw" : "no");
    output_format(&output, "recordings     CSV%s%s%s%s\n",
                  database_version() != NULL ? ", SQLite " : "",
                  database_version() != NULL ? database_version() : "",
                  deflate_version() != NULL ? ", zlib " : "",
                  deflate_version() != NULL ? deflate_version() : "");
    output_text(&output, VITALS_WITH_TELL ? "telling        yes\n" : "telling        no\n");
    return output_done(&output, EXIT_DONE);
}
