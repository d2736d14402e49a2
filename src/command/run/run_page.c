/* run_page.c: the page of a run for upload: of its recording if there is one, else of its account.
 * It contains no command line except its title, which --cmdline controls. Until it was sent it lies
 * in a folder of its own that only this user can read. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/run/run_export.h"
#include "report/run_report.h"

static int create(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

static uint64_t left_ns(const struct run_page *page)
{
    struct pollfd interrupt = {.fd = page->interrupts, .events = POLLIN};
    uint64_t now = clock_now_ns();
    return now < page->deadline_ns && poll(&interrupt, 1, 0) <= 0 ? page->deadline_ns - now : 0;
}

struct printer {
    const struct run_page *page;
    struct output *output;
};

static int write_in_time(void *data, const char *bytes, size_t size)
{
    struct printer *printer = data;
    return left_ns(printer->page) > 0 ? output_write(printer->output, bytes, size) : -1;
}

static bool make(const char *source, const struct run_page *page, const struct account_view *view)
{
    struct recording *recording;
    vitals_error error;
    if (recording_open(source, &recording, &error) < 0)
        return false;
    const struct run_report report = {.recording = recording,
                                      .path = source,
                                      .view = view,
                                      .for_others = true,
                                      .title = page->title};
    int descriptor = create(page->path);
    struct printer printer = {page, output_begin(descriptor)};
    bool made = descriptor >= 0 &&
                run_report_write(&report, VITALS_REPORT_HTML, write_in_time, &printer) == 0;
    made = descriptor >= 0 && output_flush(printer.output) == 0 && made;
    made = descriptor >= 0 && close(descriptor) == 0 && made;
    recording_close(recording);
    return made;
}

bool run_page_make(struct run_page *page, const char *temporary, const struct account_view *view,
                   const char *recording, const char *account)
{
    char json[sizeof page->path];
    page->folder[0] = page->path[0] = '\0';
    if (left_ns(page) == 0)
        return false;
    int length = snprintf(page->folder, sizeof page->folder, "%s/vitals-XXXXXX", temporary);
    if (length < 0 || (size_t)length >= sizeof page->folder || mkdtemp(page->folder) == NULL) {
        page->folder[0] = '\0';
        return false;
    }
    (void)snprintf(json, sizeof json, "%s/account.json", page->folder);
    (void)snprintf(page->path, sizeof page->path, "%s/report.html", page->folder);
    /* True if a recording can be read and drawn in the remaining time: a slow CPU does 2 MB in a
     * second. */
    static const uint64_t NS_PER_BYTE = 500;
    struct stat status;
    bool whole = recording == NULL || (stat(recording, &status) == 0 && status.st_size >= 0 &&
                                       (uint64_t)status.st_size < left_ns(page) / NS_PER_BYTE);
    bool made = recording != NULL && whole && make(recording, page, view);
    if (!whole)
        (void)command_fail(0, "the exported page has no charts: the recording is long; a longer "
                              "--tell-wait gives time for them");
    if (!made) {
        (void)unlink(page->path);
        int file = create(json);
        struct output *output = output_begin(file);
        output_text(output, account);
        made = file >= 0 && output_flush(output) == 0;
        made = file >= 0 && close(file) == 0 && made && make(json, page, view);
        (void)unlink(json);
    }
    if (!made)
        run_page_remove(page);
    return made;
}

void run_page_remove(struct run_page *page)
{
    if (page->folder[0] == '\0')
        return;
    if (page->path[0] != '\0')
        (void)unlink(page->path);
    (void)rmdir(page->folder);
    page->folder[0] = page->path[0] = '\0';
}
