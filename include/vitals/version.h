/* version.h: the version of the headers and of the library. */
#ifndef VITALS_VERSION_H
#define VITALS_VERSION_H

#include <vitals/export.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VITALS_VERSION_MAJOR 0
#define VITALS_VERSION_MINOR 1
#define VITALS_VERSION_PATCH 0
#define VITALS_VERSION       "0.1.0"

/* The form of snapshots as JSON. A reader accepts its own number and older ones. */
#define VITALS_SCHEMA 1

/* Returns the version of the library that is loaded: "0.1.0". Never NULL. Any thread. */
VITALS_API const char *vitals_version_text(void);

#ifdef __cplusplus
}
#endif

#endif
