/* page_files.h: the files of the web page, which scripts/embed-files compiles into the program. */
#pragma once

#include <stddef.h>

struct page_file {
    const char *path; /* "/" or "/page/page.css" */
    const char *type; /* of the content, with the character set */
    const char *bytes;
    size_t size;
    const char *etag; /* with quotes, as in the header */
};

/* Not sorted; the last one has no path. */
extern const struct page_file page_files[];
