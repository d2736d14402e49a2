/* page.h: the files of the web page, which are part of the program. Any thread.
 *
 * Made of src/export/page/ and of uPlot by scripts/embed-files. */
#ifndef VITALS_EXPORT_SERVER_PAGE_H
#define VITALS_EXPORT_SERVER_PAGE_H

#include "export/server/route.h"

struct page_file {
    const char *path; /* "/" or "/page/page.css" */
    const char *type; /* of its content, with its character set */
    const char *bytes;
    size_t size;
    const char *etag; /* quoted, as it stands in the header */
};

/* What every file, and the page above all, is to be sent with: it runs only what it came with. */
#define PAGE_POLICY                                                                 \
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " \
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/* NULL: there is no such file. */
const struct page_file *page_file_find(const char *path);

/* The route of all of them. */
route_function page_answer;

/* In no order that matters; the last has no path. */
extern const struct page_file page_files[];

#endif
