/* redact.h: a command line without what it should not say. Pure; any thread.
 *
 * No rule finds every secret. What is found: values behind words that name one (--password X,
 * --api-key=X, TOKEN=X, "Authorization: Bearer X"), users and passwords in URLs, words that look
 * like a token (known prefixes, JWT, long hexadecimal or base64). A value that is taken out becomes
 * `***`. */
#ifndef VITALS_EXPORT_REDACT_H
#define VITALS_EXPORT_REDACT_H

#include "feed/text.h"

/* How much of a command line leaves this machine. */
enum redact_form { REDACT_OFF, REDACT_ARGV0, REDACT_REDACTED, REDACT_FULL };

/* -1: no such word. */
int redact_form_of(const char *word);

/* Appends a command line in the form: words ended by NUL, as /proc gives them, or apart by spaces,
 * as vitals_text_command gives them. What comes out is divided as what went in, without NULs at its
 * end; nothing for REDACT_OFF. A word that is a line itself, as that of `sh -c`, is looked into.
 * The bytes are not made safe for any format. */
void redact_line(struct text *text, vitals_text line, enum redact_form form);

#endif
