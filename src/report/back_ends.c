/* back_ends.c: what the back ends say of themselves, where there are no devices to be shown. */
#include "report/report.h"

#include <string.h>

const vitals_row *report_next_back_end(const vitals_snapshot *snapshot, const vitals_row *after)
{
    const vitals_row *row = after;
    do
        row = vitals_snapshot_next(snapshot, VITALS_SOURCE, row);
    while (row != NULL && vitals_row_key(row) < VITALS_SOURCE_BACK_ENDS);
    return row;
}

static bool is_word(vitals_text text, const char *word)
{
    return text.size == strlen(word) && memcmp(text.bytes, word, text.size) == 0;
}

bool report_was_kept(const vitals_row *back_end)
{
    vitals_text state;
    return vitals_row_text(back_end, VITALS_SOURCE_STATE, &state) > 0 && !is_word(state, "have") &&
           !is_word(state, "unsupported");
}

bool report_is_back_end(const vitals_row *source)
{
    return vitals_row_key(source) >= VITALS_SOURCE_BACK_ENDS;
}
