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
bool page_begin(struct page *page, int width, int rows);
void page_end(struct page *page);

void one_shot_processes(struct page *page);

/* The columns that the widest line of the processes needs. */
int one_shot_processes_width(const struct page *page);

#endif
