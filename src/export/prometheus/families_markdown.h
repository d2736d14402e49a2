/* families_markdown.h: the page that lists every family. */
#ifndef VITALS_EXPORT_PROMETHEUS_FAMILIES_MARKDOWN_H
#define VITALS_EXPORT_PROMETHEUS_FAMILIES_MARKDOWN_H

#include <stdio.h>

#include "export/prometheus/families.h"
#include "export/prometheus/nvitop.h"

void families_markdown(FILE *file);

#endif
