/* environment.h: the environment of this program, which is that of who started vitals. */
#pragma once

/* NULL: not set, or empty. tell.c */
const char *environment_get(const char *name);
