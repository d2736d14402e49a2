/* ssh_output.c: see ssh_output.h. */
#include "fleet/ssh_output.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

int ssh_output_open(struct ssh_output *own, int output, int errors)
{
    *own = (struct ssh_output){
        .output = output, .errors = errors, .lines = wire_new(output, SSH_OUTPUT_LINE_MOST)};
    if (own->lines != NULL)
        return 0;
    ssh_output_close(own);
    return VITALS_EMEMORY;
}

void ssh_output_close(struct ssh_output *own)
{
    int *const EACH[] = {&own->output, &own->errors};
    for (int i = 0; i < 2; i++) {
        if (*EACH[i] >= 0)
            (void)close(*EACH[i]);
        *EACH[i] = -1;
    }
    wire_free(own->lines);
    own->lines = NULL;
}

int ssh_output_next(struct ssh_output *own, vitals_text *document)
{
    char *line;
    size_t size;
    int got = own->lines != NULL ? wire_next(own->lines, &line, &size) : -1;
    if (got <= 0)
        return got;
    if (line[0] == '{') {
        *document = (vitals_text){line, size};
        return 1;
    }
    if (line[strspn(line, " \t\r")] != '\0')
        (void)snprintf(own->odd, sizeof own->odd, "no JSON of vitals: %s", line);
    return 0;
}

void ssh_output_read_errors(struct ssh_output *own)
{
    char bytes[4096];
    for (int i = 0; own->errors >= 0 && i < SSH_OUTPUT_READS; i++) {
        ssize_t got = read(own->errors, bytes, sizeof bytes);
        if (got <= 0)
            return;
        const char *end = bytes + got;
        while (end > bytes && (unsigned char)end[-1] <= ' ')
            end--;
        const char *from = end;
        while (from > bytes && from[-1] != '\n')
            from--;
        if (end > from)
            (void)snprintf(own->said, sizeof own->said, "%.*s", (int)(end - from), from);
    }
}

size_t ssh_output_held(const struct ssh_output *own)
{
    return own->lines != NULL ? wire_held(own->lines) : 0;
}
