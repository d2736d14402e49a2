/* page.h: what stands in every page: made of src/report/page/ by scripts/embed.
 *
 * NUL-terminated; the hash is what the page's policy allows it by. */
#ifndef VITALS_REPORT_PAGE_H
#define VITALS_REPORT_PAGE_H

extern const char page_plot_script[], page_plot_script_hash[];
extern const char page_script[], page_script_hash[];
extern const char page_style[], page_style_hash[];

#endif
