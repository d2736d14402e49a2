/* doctor_paint.h: findings as text: problems first, then notices, then what is good; below each
 * what would mend it, as lines that a shell takes. */
#ifndef VITALS_COMMAND_DEVICES_DOCTOR_PAINT_H
#define VITALS_COMMAND_DEVICES_DOCTOR_PAINT_H

#include "command/command.h"
#include "command/output.h"

enum finding_kind { FINDING_PROBLEM, FINDING_NOTICE, FINDING_GOOD, FINDING_KINDS };
enum { FINDINGS_MAX = 1024 };

/* Texts are borrowed, from outside, and may be empty. */
struct finding {
    enum finding_kind kind;
    vitals_text subject, text;
    vitals_text remedy; /* lines */
};

struct findings {
    size_t count;
    size_t of_kind[FINDING_KINDS];
    bool cut; /* there were more */
    struct finding items[FINDINGS_MAX];
};

/* doctor_devices.c: the metrics of devices that are judged, and a snapshot to which rows of the
 * table diagnosis are added for what they say; yours to unref. Errors: EMEMORY. */
int doctor_ask_devices(vitals_request *request, vitals_error *error);
int doctor_judge_devices(const vitals_snapshot *snapshot, vitals_snapshot **out,
                         vitals_error *error);

void doctor_paint(const struct findings *findings, const struct settings *settings,
                  struct output *output);

/* Breaks a safe command line into lines of at most `columns` where a shell reads them as one: at
 * blanks outside of quotes and comments, behind which a backslash stands. Returns how many bytes of
 * `line` the first one takes; the backslash is needed where that is not all. */
size_t doctor_break(const char *line, size_t columns);

#endif
