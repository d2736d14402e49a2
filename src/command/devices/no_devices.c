/* no_devices.c: why there is no GPU, for the commands that need one. */
#include "command/command.h"
#include "report/report.h"

#include <string.h>

void command_tell_kept(const vitals_snapshot *snapshot)
{
    for (const vitals_row *row = NULL; (row = report_next_back_end(snapshot, row)) != NULL;) {
        char name[64], message[256];
        vitals_text text;
        if (!report_was_kept(row) || vitals_row_text(row, VITALS_SOURCE_MESSAGE, &text) <= 0)
            continue;
        (void)vitals_text_format(text, VITALS_TEXT_TERMINAL, message, sizeof message);
        text = (vitals_text){vitals_row_label(row), strlen(vitals_row_label(row))};
        (void)vitals_text_format(text, VITALS_TEXT_TERMINAL, name, sizeof name);
        (void)command_fail(0, "%s: %s", name, message);
    }
}

int command_tell_no_devices(const vitals_snapshot *snapshot)
{
    command_tell_kept(snapshot);
    return command_fail(EXIT_DONE, "no GPU was found; vitals doctor says what was tried");
}
