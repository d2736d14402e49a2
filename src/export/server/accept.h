/* accept.h: parses the headers Accept, Accept-Encoding and If-None-Match. Pure functions. */
#ifndef VITALS_EXPORT_SERVER_ACCEPT_H
#define VITALS_EXPORT_SERVER_ACCEPT_H

#include <stdbool.h>

/* The quality is in thousandths; 0 if the header does not mention the type. */
struct accept_quality {
    int quality;
    int exactness; /* 3: named, 2: by its kind (text and a star), 1: by a star, 0: not mentioned */
};

/* Returns how much a client wants a document of that type. A range with a version counts only if
 * `versions`, which ends with NULL, has it. `header` may be NULL. */
struct accept_quality accept_type(const char *header, const char *type,
                                  const char *const *versions);

/* Returns whether the client accepts this coding ("gzip"). */
bool accept_encoding(const char *header, const char *coding);

/* Returns whether an entity tag, with its quotes, is in an If-None-Match. */
bool accept_has_tag(const char *header, const char *tag);

#endif
