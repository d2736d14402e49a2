/* version.c: `vitals --version`: which vitals this is, and what was built in. */
#include "command/command.h"

#include <string.h>
#include <unistd.h>

#include "command/output.h"

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
    return output_done(&output, EXIT_DONE);
}
