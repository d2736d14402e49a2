/* sys/account.h: makes accounts. For readers of recordings and of JSON.
 *
 * The same weaker promise as sys/builder.h. One thread at a time until it is given out. */
#ifndef VITALS_SYS_ACCOUNT_H
#define VITALS_SYS_ACCOUNT_H

#include <vitals/account.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A figure to be; texts are copied, cut to what a figure holds and made safe to print. Grows at its
 * end only, by the rule of vitals_options. */
typedef struct vitals_figure_form {
    size_t size;                                        /* its sizeof, set by init */
    const char *name, *unit, *subject, *label, *source; /* NULL: "" */
    vitals_availability state;
    double value;
} vitals_figure_form;

/* Fills in the defaults, which are no figure yet. `size` is sizeof(vitals_figure_form) as the
 * caller was compiled; not a byte beyond it is written. */
VITALS_API void vitals_figure_form_init(vitals_figure_form *form, size_t size) VITALS_NONNULL(1);

/* Makes an account without figures, for vitals_account_free. Errors: EMEMORY. */
VITALS_API VITALS_CHECKED int vitals_account_new(vitals_account **out, vitals_error *error)
    VITALS_NONNULL(1);

/* Adds a figure behind the last. Errors: EMEMORY, EARGUMENT (no name, a value that is not finite, a
 * size that none has). */
VITALS_API VITALS_CHECKED int vitals_account_add(vitals_account *account,
                                                 const vitals_figure_form *form,
                                                 vitals_error *error) VITALS_NONNULL(1, 2);

/* Puts a figure in the place of the one with that name and subject, or behind the last. Errors: as
 * above. */
VITALS_API VITALS_CHECKED int vitals_account_put(vitals_account *account,
                                                 const vitals_figure_form *form,
                                                 vitals_error *error) VITALS_NONNULL(1, 2);

/* Sets an attribute (VITALS_ATTRIBUTE_…); both texts are copied. Errors: EMEMORY. */
VITALS_API VITALS_CHECKED int vitals_account_set(vitals_account *account, const char *attribute,
                                                 vitals_text text, vitals_error *error)
    VITALS_NONNULL(1, 2);

/* Says how the command ended: its exit status as a shell reports it, and the signal or 0. */
VITALS_API void vitals_account_ended(vitals_account *account, int exit_code, int signal)
    VITALS_NONNULL(1);

#ifdef __cplusplus
}
#endif

#endif
