/* environment.h: the variables of the exporter's environment; link.c says which it gets. */
#pragma once

/* NULL: not set, or empty. main.c */
const char *environment_get(const char *name);
