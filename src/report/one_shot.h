/* one_shot.h: what the two files of the one-shot report share. */
#ifndef VITALS_REPORT_ONE_SHOT_H
#define VITALS_REPORT_ONE_SHOT_H

#include "report/report.h"
#include "view/cell_text.h"
#include "view/device_panel.h"
#include "view/host_bars.h"

struct page {
    const struct one_shot_options *options;
    const vitals_snapshot *now, *older; /* older may be NULL */
    int width;                          /* of the whole report */
    struct canvas canvas;
    struct pen pen;
    vitals_write *write;
    void *data;
    int code; /* 0, or why nothing more is printed */
};

/* An empty canvas for the next rows; returns false if nothing can be drawn. page_end prints it. */
static inline bool page_begin(struct page *page, int width, int rows)
{
    if (page->code == 0 && canvas_resize(&page->canvas, width, rows) < 0)
        page->code = VITALS_EMEMORY;
    return page->code == 0;
}

static inline void page_end(struct page *page)
{
    page->code = canvas_print(&page->canvas, page->options->color, page->write, page->data);
}

void one_shot_processes(struct page *page);

/* The columns that the widest line of the processes needs. */
int one_shot_processes_width(const struct page *page);

#endif
