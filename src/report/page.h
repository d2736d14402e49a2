/* page.h: what stands in every page: made of src/report/page/ by scripts/embed.
 *
 * NUL-terminated; the hash is what the page's policy allows it by. */
#pragma once

extern const char page_plot_script[], page_plot_script_hash[];
extern const char page_script[], page_script_hash[];
extern const char page_style[], page_style_hash[];
