/* accept.h: what a client says it can read: the headers Accept and Accept-Encoding. Pure. */
#ifndef VITALS_EXPORT_SERVER_ACCEPT_H
#define VITALS_EXPORT_SERVER_ACCEPT_H

#include <stdbool.h>

/* In thousandths; a header that says nothing of it gives 0. `header` may be NULL. */
struct accept_quality {
    int quality;
    int exactness; /* 3 by its name, 2 by its kind (text and a star), 1 by a star, 0 not named */
};

/* How much a document of that type is wanted. A range that names a version counts only where it is
 * one of `versions`, which ends with NULL. */
struct accept_quality accept_type(const char *header, const char *type,
                                  const char *const *versions);

/* Whether it may be packed so ("gzip"). */
bool accept_encoding(const char *header, const char *coding);

/* Whether an entity tag, in its quotes, is among those of an If-None-Match. */
bool accept_has_tag(const char *header, const char *tag);

#endif
