/* options.c: see options.h. */
#include "util/options.h"

#include "util/error.h"

#include <string.h>

void options_init(const struct options_form *form, void *options, size_t size)
{
    memset(options, 0, size);
    memcpy(options, form->defaults, size_min(size, form->size));
    memcpy(options, &size, size_min(size, sizeof(size)));
}

int options_take(const struct options_form *form, const void *given, void *out, vitals_error *error)
{
    size_t size;
    if (given == NULL) {
        options_init(form, out, form->size);
        return 0;
    }
    memcpy(&size, given, sizeof(size));
    if (size < form->first || size > OPTIONS_SIZE_MAX)
        return error_set(error, VITALS_EARGUMENT, 0,
                         "%s has size %zu, which is wrong: set it to sizeof", form->name, size);
    for (size_t i = form->size; i < size; i++) {
        if (((const char *)given)[i] != 0)
            return error_set(error, VITALS_EARGUMENT, 0,
                             "%s: the caller was built for a newer vitals and sets members that "
                             "this one does not know",
                             form->name);
    }
    memcpy(out, form->defaults, form->size);
    memcpy(out, given, size_min(size, form->size));
    memcpy(out, &form->size, sizeof(form->size));
    return 0;
}
