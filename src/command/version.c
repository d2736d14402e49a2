/* version.c: `vitals --version`: the version, the libraries that it is linked with, and the parts
 * that were built in. */
#include "command/command.h"

#include <string.h>
#include <unistd.h>

#include "command/output.h"
#include "record/frame/deflate.h"

#if VITALS_WITH_JANSSON
#include <jansson.h>
#endif
#if VITALS_WITH_SQLITE
#include <sqlite3.h>
#endif

static void print_library(struct output *output, const char *name, const char *version)
{
    if (version != NULL)
        output_format(output, " %s/%s", name, version);
}

int command_version(const struct settings *settings)
{
    (void)settings;
    struct output *output = output_begin(STDOUT_FILENO);
    output_format(output, "vitals %s\n", VITALS_VERSION);
    if (strcmp(VITALS_VERSION, vitals_version_text()) != 0)
        output_format(output, "library        %s\n", vitals_version_text());

    output_text(output, "linked with    libm");
#if VITALS_WITH_JANSSON
    print_library(output, "jansson", jansson_version_str());
#endif
    print_library(output, "zlib", deflate_version());
    if (VITALS_WITH_SQLITE || VITALS_WITH_NCURSES)
        output_text(output, "\nvitals-full    with");
#if VITALS_WITH_SQLITE
    print_library(output, "SQLite", SQLITE_VERSION);
#endif
    output_text(output, VITALS_WITH_NCURSES ? " ncursesw\n" : "\n");

    output_format(output, "snapshot form  %d\n", VITALS_SCHEMA);
    output_format(output, "reading JSON   %s\n", VITALS_WITH_JANSSON ? "yes" : "no");
    output_format(output, "monitor        %s\n", VITALS_WITH_NCURSES ? "yes" : "no");
    output_format(output, "recordings     CSV%s%s\n", VITALS_WITH_SQLITE ? ", SQLite" : "",
                  deflate_version() != NULL ? ", packed" : "");
    output_text(output, VITALS_WITH_TELL ? "telling        yes\n" : "telling        no\n");
    return output_done(output, EXIT_DONE);
}
