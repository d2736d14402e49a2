/* self.h: the working directory and the user of this process. Only reads files of the machine; asks
 * no name service. Thread rule: any thread. */
#ifndef VITALS_OS_SELF_H
#define VITALS_OS_SELF_H

#include "os/os.h"

enum { OS_SELF_TEXT = 4096 };

/* The folder that we work in; negative errno where it has no name. */
int os_self_folder(char *out, size_t capacity);

/* The effective user's name as /etc/passwd has it, else the number. */
int os_self_user(const struct os *os, char *out, size_t capacity);

#endif
