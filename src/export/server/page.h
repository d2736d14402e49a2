/* page.h: the files of the web page. Any thread.
 *
 * scripts/embed-files compiles src/export/page/ and uPlot into the program. */
#ifndef VITALS_EXPORT_SERVER_PAGE_H
#define VITALS_EXPORT_SERVER_PAGE_H

#include "export/server/route.h"

struct page_file {
    const char *path; /* "/" or "/page/page.css" */
    const char *type; /* of the content, with the character set */
    const char *bytes;
    size_t size;
    const char *etag; /* with quotes, as in the header */
};

/* The Content-Security-Policy of every file: the page runs and loads only its own files. */
#define PAGE_POLICY                                                                 \
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " \
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/* Returns NULL if there is no such file. */
const struct page_file *page_file_find(const char *path);

/* The route of all files. */
route_function page_answer;

/* Not sorted; the last one has no path. */
extern const struct page_file page_files[];

#endif
