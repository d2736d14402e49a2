/* main.c: vitals-documents, a program for building alone: it prints the files of the tree that are
 * generated from vitals' tables. scripts/generated runs it. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "documents.h"

/* Exit code for a document of a part that this build leaves out. */
enum { EXIT_LEFT_OUT = 3 };

static const struct {
    const char *name;
    void (*print)(struct output *output);
} DOCUMENTS[] = {
    {"metrics.h", document_metrics_header}, {"measures.h", document_measures_header},
    {"metrics.md", document_metrics},       {"snapshot.json", document_snapshot_schema},
    {"options.md", document_options},       {"vitals.1", document_man},
    {"completions", document_completions},
#if VITALS_WITH_TELL
    {"prometheus.md", document_families},
#else
    {"prometheus.md", NULL},
#endif
};

int main(int count, char **arguments)
{
    for (size_t i = 0; count == 2 && i < sizeof DOCUMENTS / sizeof DOCUMENTS[0]; i++) {
        if (strcmp(arguments[1], DOCUMENTS[i].name) != 0)
            continue;
        if (DOCUMENTS[i].print == NULL)
            return EXIT_LEFT_OUT;
        struct output *output = output_begin(STDOUT_FILENO);
        DOCUMENTS[i].print(output);
        return output_done(output, EXIT_DONE);
    }

    fputs("usage: vitals-documents ", stderr);
    for (size_t i = 0; i < sizeof DOCUMENTS / sizeof DOCUMENTS[0]; i++)
        fprintf(stderr, "%s%s", i > 0 ? " | " : "", DOCUMENTS[i].name);
    fputs("\n", stderr);
    return EXIT_USAGE;
}
