/* version.c: `vitals --version`: the version, the libraries that it is linked with, and the parts
 * that were built in. */
#include "command/command.h"

#include <string.h>
#include <unistd.h>

#include "command/output.h"

#if VITALS_WITH_JANSSON
#include <jansson.h>
#endif
#if VITALS_WITH_SQLITE
#include <sqlite3.h>
#endif
#if VITALS_WITH_ZLIB
#include <zlib.h>
#else
#define ZLIB_VERSION ""
#endif

int command_version(const struct settings *settings)
{
    (void)settings;
    struct output *output = output_begin(STDOUT_FILENO);
    output_format(output, "vitals %s\n", VITALS_VERSION);
    if (strcmp(VITALS_VERSION, vitals_version_text()) != 0)
        output_format(output, "library        %s\n", vitals_version_text());

    output_text(output, "linked with    libm");
#if VITALS_WITH_JANSSON
    output_format(output, " jansson/%s", jansson_version_str());
#endif
    if (VITALS_WITH_SQLITE || VITALS_WITH_NCURSES)
        output_text(output, "\nvitals-full    with");
    if (VITALS_WITH_ZLIB)
        output_format(output, " zlib/%s", ZLIB_VERSION);
#if VITALS_WITH_SQLITE
    output_format(output, " SQLite/%s", SQLITE_VERSION);
#endif
    output_text(output, VITALS_WITH_NCURSES ? " ncursesw\n" : "\n");

    output_format(output, "snapshot form  %d\n", VITALS_SCHEMA);
    output_format(output, "reading JSON   %s\n", VITALS_WITH_JANSSON ? "yes" : "no");
    output_format(output, "monitor        %s\n", VITALS_WITH_NCURSES ? "yes" : "no");
    output_format(output, "recordings     CSV%s%s\n", VITALS_WITH_SQLITE ? ", SQLite" : "",
                  VITALS_WITH_ZLIB ? ", packed" : "");
    output_text(output, VITALS_WITH_TELL ? "telling        yes\n" : "telling        no\n");
    return output_done(output, EXIT_DONE);
}
