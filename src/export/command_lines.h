/* command_lines.h: redacts the command lines in the JSON of a sample. Pure; any thread. */
#ifndef VITALS_EXPORT_COMMAND_LINES_H
#define VITALS_EXPORT_COMMAND_LINES_H

#include "export/redact.h"

/* Appends the document of `vitals --json`. In the forms between off and full a command line becomes
 * one argument: the line that redact.h makes of it. With off it is empty. All other bytes are
 * unchanged. */
void command_lines_write(struct text *text, const char *json, size_t size, enum redact_form form);

#endif
