/* insight.h: what a reader should know first of a run, in one sentence. Pure. */
#pragma once

#include "report/words.h"

struct insight {
    char sentence[WORDS];        /* "" if nothing is known; safe to print, as all here */
    char detail[2 * WORDS];      /* what explains it, or "" */
    bool trouble;                /* time or memory was lost */
    const vitals_figure *figure; /* that it rests on */
};

void insight_of(const vitals_account *account, const struct account_view *view,
                struct insight *out);
