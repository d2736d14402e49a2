/* environment.h: the environment of this program, which is that of who started vitals. */
#ifndef VITALS_EXPORT_ENVIRONMENT_H
#define VITALS_EXPORT_ENVIRONMENT_H

/* NULL: not set, or empty. tell.c */
const char *environment_get(const char *name);

#endif
