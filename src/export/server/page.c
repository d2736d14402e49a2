/* page.c: see page.h. */
#include "export/server/page.h"

#include <string.h>

const struct page_file *page_file_find(const char *path)
{
    for (const struct page_file *file = page_files; file->path != NULL; file++) {
        if (strcmp(file->path, path) == 0)
            return file;
    }
    return NULL;
}

void page_answer(struct serve *serve, const struct http_request *request,
                 struct http_answer *answer)
{
    const struct page_file *file = page_file_find(http_request_path(request));
    (void)serve;
    if (file == NULL) {
        http_answer_text(answer, 404, "no such page\n");
        return;
    }
    answer->body = body_of_constant(file->bytes, file->size);
    answer->type = file->type;
    answer->etag = file->etag;
    answer->cache = "no-cache"; /* browsers revalidate, and get 304 */
    answer->policy = PAGE_POLICY;
}
