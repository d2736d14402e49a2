/* command_lines.h: a sample's document with its command lines only as far as they may be told.
 * Pure; any thread. */
#ifndef VITALS_EXPORT_COMMAND_LINES_H
#define VITALS_EXPORT_COMMAND_LINES_H

#include "export/redact.h"

/* Appends the document of `vitals --json`. In the forms between off and full a command line becomes
 * one argument, the line that redact.h makes of it; at off it is empty. The rest stays byte for
 * byte. */
void command_lines_write(struct text *text, const char *json, size_t size, enum redact_form form);

#endif
