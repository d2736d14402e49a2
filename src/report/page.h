/* page.h: what stands in every page: made of src/report/page/ and of uPlot by scripts/embed.
 *
 * NUL-terminated; the hash is what the page's policy allows it by. Size 0: it was not built in. */
#ifndef VITALS_REPORT_PAGE_H
#define VITALS_REPORT_PAGE_H

#include <stddef.h>

extern const char page_plot_script[], page_plot_script_hash[];
extern const char page_plot_style[], page_plot_style_hash[];
extern const char page_script[], page_script_hash[];
extern const char page_style[], page_style_hash[];
extern const size_t page_plot_script_size, page_plot_style_size, page_script_size, page_style_size;

#endif
