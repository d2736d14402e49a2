/* families_markdown.h: the page that lists every family. */
#ifndef VITALS_PUBLISH_FAMILIES_MARKDOWN_H
#define VITALS_PUBLISH_FAMILIES_MARKDOWN_H

#include <stdio.h>

#include "publish/families.h"
#include "publish/nvitop.h"

void families_markdown(FILE *file);

#endif
