/* work.c: the work that a process belongs to, in a few words.
 *
 * The most specific one: a job of Slurm's, a pod, a container, a service. Sessions and scopes,
 * which every process is in, are left out. */
#include "report/report.h"

#include <stdio.h>
#include <string.h>

const vitals_metric REPORT_WORK_METRICS[] = {
    VITALS_PROCESS_SLURM_JOB,     VITALS_PROCESS_SLURM_STEP, VITALS_PROCESS_POD,
    VITALS_PROCESS_POD_NAME,      VITALS_PROCESS_CONTAINER,  VITALS_PROCESS_CONTAINER_NAME,
    VITALS_PROCESS_POD_NAMESPACE, VITALS_PROCESS_UNIT,
};
const size_t REPORT_WORK_METRIC_COUNT = sizeof(REPORT_WORK_METRICS) /
                                        sizeof(REPORT_WORK_METRICS[0]);

enum { WORD = 256, SHORT_ID = 12 };

/* Safe; returns false, and "", if there is none. */
static bool word_of(const vitals_row *process, vitals_metric metric, bool ascii,
                    char out[static WORD])
{
    vitals_text text;
    out[0] = '\0';
    if (vitals_row_text(process, metric, &text) <= 0 || text.size == 0)
        return false;
    vitals_text_format(text, ascii ? VITALS_TEXT_ASCII : VITALS_TEXT_TERMINAL, out, WORD);
    return true;
}

bool report_work(const vitals_row *process, bool ascii, char *out, size_t capacity)
{
    char first[WORD], second[WORD];
    out[0] = '\0';
    if (process == NULL)
        return false;
    if (word_of(process, VITALS_PROCESS_SLURM_JOB, ascii, first)) {
        bool step = word_of(process, VITALS_PROCESS_SLURM_STEP, ascii, second);
        (void)snprintf(out, capacity, "job %s%s%s", first, step ? "." : "", second);
    } else if (word_of(process, VITALS_PROCESS_POD_NAME, ascii, first) ||
               word_of(process, VITALS_PROCESS_POD, ascii, first)) {
        (void)snprintf(out, capacity, "pod %s", first);
    } else if (word_of(process, VITALS_PROCESS_CONTAINER_NAME, ascii, first) ||
               word_of(process, VITALS_PROCESS_CONTAINER, ascii, first)) {
        /* Runtimes show so much of an id of 64 digits; names stay whole. */
        if (strlen(first) == 64 && strspn(first, "0123456789abcdef") == 64)
            first[SHORT_ID] = '\0';
        (void)snprintf(out, capacity, "container %s", first);
    } else if (word_of(process, VITALS_PROCESS_UNIT, ascii, first)) {
        /* A user's own systemd is a service too, and is in every session. */
        size_t size = strlen(first), suffix = strlen(".service");
        if (size >= suffix && strcmp(first + size - suffix, ".service") == 0 &&
            strncmp(first, "user@", 5) != 0)
            (void)snprintf(out, capacity, "%s", first);
    }
    return out[0] != '\0';
}
