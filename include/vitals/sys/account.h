/* sys/account.h: makes accounts of figures and attributes, for readers of recordings and of JSON.
 *
 * A weaker promise than the other headers, as sys/builder.h has it: a later version may remove a
 * function, or give it a successor with another name, and never changes its signature.
 *
 *     vitals_account_new(&account, &error);
 *     vitals_figure_form_init(&form, sizeof form);
 *     form.name = VITALS_FIGURE_WALL_SECONDS, form.unit = "seconds", form.source = "file";
 *     form.state = VITALS_HAVE, form.value = 1.5;
 *     vitals_account_add(account, &form, &error);
 *     vitals_account_ended(account, 0, 0);
 *
 * One thread at a time until the account is given to others; from then on nothing is added, and any
 * thread may read it (account.h). No function here makes a system call. */
#ifndef VITALS_SYS_ACCOUNT_H
#define VITALS_SYS_ACCOUNT_H

#include <vitals/account.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a figure is made of. Texts are copied and made safe to print; a name is cut at 47 bytes, a
 * unit at 15, a subject at 95, a label at 39, a source at 159. Grows at its end only, by the rule
 * of vitals_options. */
typedef struct vitals_figure_form {
    size_t size;               /* sizeof(vitals_figure_form), set by init */
    const char *name;          /* VITALS_FIGURE_…, or a name of its form; it must be set */
    const char *unit;          /* any word; "seconds", "bytes", "ratio"; NULL: "", a count */
    const char *subject;       /* as vitals_figure_subject gives it; NULL: "", the whole tree */
    const char *label;         /* of the subject, for people: "GPU 0"; NULL: "" */
    const char *source;        /* how it was measured, or why it was not; NULL: "" */
    vitals_availability state; /* it must be set: 0 is refused */
    double value;              /* in the unit; where state is below 0 it is ignored */
} vitals_figure_form;

/* Fills in the defaults: no name, no state. `size` is sizeof(vitals_figure_form) as the caller was
 * compiled; not a byte beyond it is written. */
VITALS_API void vitals_figure_form_init(vitals_figure_form *form, size_t size) VITALS_NONNULL(1);

/* Makes an account without figures and attributes; *out is yours to free (vitals_account_free).
 * Errors: EMEMORY. */
VITALS_API VITALS_CHECKED int vitals_account_new(vitals_account **out, vitals_error *error)
    VITALS_NONNULL(1);

/* Adds a figure behind the last one, also if there is one with that name and subject. Errors:
 * EMEMORY, EARGUMENT (no name, a state that is none, a value that is not finite, more than 65,536
 * figures, a form of a newer vitals or of a size that none has). */
VITALS_API VITALS_CHECKED int vitals_account_add(vitals_account *account,
                                                 const vitals_figure_form *form,
                                                 vitals_error *error) VITALS_NONNULL(1, 2);

/* Replaces the first figure with that name and subject; adds one behind the last if there is none.
 * Errors: as above. */
VITALS_API VITALS_CHECKED int vitals_account_put(vitals_account *account,
                                                 const vitals_figure_form *form,
                                                 vitals_error *error) VITALS_NONNULL(1, 2);

/* Sets an attribute (VITALS_ATTRIBUTE_…), which replaces the one with that name. "failure" sets
 * what vitals_account_failure gives, cut at 159 bytes. Both texts are copied; the value is cut at
 * 65,536 bytes. Errors: EARGUMENT (a name that is empty, longer than 31 bytes, or holds anything
 * but a to z, 0 to 9 and _), EMEMORY (also: there are 64 attributes already). */
VITALS_API VITALS_CHECKED int vitals_account_set(vitals_account *account, const char *attribute,
                                                 vitals_text text, vitals_error *error)
    VITALS_NONNULL(1, 2);

/* Sets how the command ended: `exit_code` is its exit status as a shell reports it (128 + the
 * signal if one ended it), `signal` that signal, or 0. Also sets the attributes exit and signal. */
VITALS_API void vitals_account_ended(vitals_account *account, int exit_code, int signal)
    VITALS_NONNULL(1);

#ifdef __cplusplus
}
#endif

#endif
