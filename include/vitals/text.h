/* text.h: text that came from outside.
 *
 * A process chooses its own name: it may hold newlines, escape sequences, NUL bytes and broken
 * UTF-8. Such text has a type of its own, vitals_text, and is printed through one function for each
 * destination, never by %s. The functions here are pure: any thread. */
#ifndef VITALS_TEXT_H
#define VITALS_TEXT_H

#include <stddef.h>

#include <vitals/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Borrowed bytes; size 0 has bytes "". The type promises no NUL behind them. Every text that a
 * snapshot gives has one, which is not counted: its bytes may be handed to what takes a string,
 * which then sees what stands before the first NUL (arguments and environments hold more). The
 * struct never grows: arrays of it are handed out (vitals_snapshot_texts). */
typedef struct vitals_text {
    const char *bytes;
    size_t size;
} vitals_text;

/* Returns the text of a string: it borrows the bytes. NULL is the empty text. */
VITALS_API vitals_text vitals_text_of(const char *string);

/* What the text is meant for.
 *
 * TERMINAL, ASCII and CSV write what must not stand as it is in one way, which can be read back:
 *     \n \t \r \e    the controls that people know
 *     \xHH           a byte: any other C0 control, DEL, or no part of a UTF-8 character
 *     \u{H}          a character: C1, invisible, reordering, or a mark that stands on nothing
 *     \\             a backslash that would read as one of these; any other stays single, so that
 *                    C:\Users and \d+ look as they are
 * JSON escapes the same characters as JSON does, so that a document may be shown on a terminal. In
 * a label they become U+FFFD, and a longer one ends in an ellipsis within its 128 bytes. */
typedef enum vitals_text_form {
    VITALS_TEXT_TERMINAL = 1, /* UTF-8; what could move a cursor or break a row is escaped */
    VITALS_TEXT_ASCII = 2,    /* the same, and everything outside ASCII is escaped */
    VITALS_TEXT_JSON = 3,     /* the inside of a JSON string; broken UTF-8 becomes U+FFFD */
    VITALS_TEXT_CSV = 4,      /* one CSV field, quoted where it must be (RFC 4180); "" if empty */
    VITALS_TEXT_LABEL = 5     /* the inside of a Prometheus label value, at most 128 bytes */
} vitals_text_form;

/* Writes the text in a form into `out` (capacity bytes, always NUL-terminated unless it is 0)
 * and returns how many bytes the whole would need without the NUL, as snprintf does. What does
 * not fit is cut between characters, never inside an escape. Never fails, allocates nothing. */
VITALS_API size_t vitals_text_format(vitals_text text, vitals_text_form form, char *out,
                                     size_t capacity);

/* Returns how many columns the text takes on a terminal once formatted as TERMINAL or ASCII: wide
 * characters 2, combining ones 0, escapes what they print. */
VITALS_API size_t vitals_text_columns(vitals_text text, vitals_text_form form);

/* Writes the text as vitals_text_format does, cut to at most `columns` columns; a double-width
 * character that would be cut in two is left out. `*used` (may be NULL) receives the columns
 * printed. Returns as vitals_text_format. */
VITALS_API size_t vitals_text_fit(vitals_text text, vitals_text_form form, size_t columns,
                                  char *out, size_t capacity, size_t *used);

/* Writes a command line as /proc gives it (arguments ended by NUL) as one line that a shell would
 * read back to the same arguments: arguments are quoted where they must be. A program that rewrote
 * its title (one argument that is no path) stands as it is. `out` holds text from outside still:
 * pass it through vitals_text_format before it is printed. Returns as snprintf does. */
VITALS_API size_t vitals_text_command(vitals_text arguments, char *out, size_t capacity);

/* Writes a command line as vitals_text_command does, but safe to paste into a shell on any UTF-8
 * terminal: every argument that holds anything but ASCII letters, digits and @%+=:,./_- is quoted,
 * a title is an argument like any other, and controls, broken UTF-8 and what is invisible stand as
 * $'\n' and $'\xHH', which bash, zsh, ksh and POSIX of 2024 read. So it is printed as it is,
 * without vitals_text_format, which would double backslashes. What was cut for want of room is not
 * to be pasted. Returns as snprintf does. */
VITALS_API size_t vitals_text_command_strict(vitals_text arguments, char *out, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
