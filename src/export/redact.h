/* redact.h: removes secrets from a command line. Pure; any thread.
 *
 * No rule finds every secret. These are found: values after words that announce one (--password X,
 * --api-key=X, TOKEN=X, "Authorization: Bearer X"), logins in URLs, and words that look like a
 * token (known prefixes, JWT, long hexadecimal or base64). A value that is removed becomes `***`.
 */
#pragma once

#include <jansson.h>

#include "feed/text.h"

/* How much of a command line is exported. */
enum redact_form { REDACT_OFF, REDACT_ARGV0, REDACT_REDACTED, REDACT_FULL };

/* Returns -1 for an unknown word. */
int redact_form_of(const char *word);

/* Appends a command line in the form: words ended by NUL, as /proc has them, or separated by
 * spaces, as vitals_text_command gives them. The output is separated like the input, without NULs
 * at its end; it is empty for REDACT_OFF. A word that is a command line itself, as the one after
 * `sh -c`, is redacted too. The bytes are not escaped for any format. */
void redact_line(struct buffer *text, vitals_text line, enum redact_form form);

/* Appends the command line of a JSON list of arguments, likewise. */
void redact_arguments(struct buffer *text, const json_t *arguments, enum redact_form form);

/* Appends the document of `vitals --json` with its command lines redacted; it is searched, not
 * parsed. In the forms between off and full a command line becomes
 * one argument: the line that redact_line makes of it. With off it is empty. All other bytes are
 * unchanged. */
void command_lines_write(struct buffer *text, const char *json, size_t size, enum redact_form form);
