/* process_query.c: see process_query.h. */
#include "monitor/process_query.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "monitor/monitor.h"
#include "util/thread.h"

struct process_query {
    atomic_int owners;
    bool asked;       /* of the owner: an answer is waited for */
    atomic_bool done; /* the next four are the owner's then, the thread's before */
    vitals_process *process;
    vitals_request *request;
    vitals_snapshot *answer;
    vitals_error error;
    int descriptor; /* can be read once it is done */
};

static atomic_int busy; /* threads that have not come back */

bool monitor_is_busy(void)
{
    return atomic_load(&busy) > 0;
}

/* The last of the owner and the thread frees it. */
void process_query_free(struct process_query *query)
{
    if (query == NULL || atomic_fetch_sub(&query->owners, 1) > 1)
        return;
    vitals_snapshot_unref(query->answer);
    vitals_request_free(query->request);
    vitals_process_close(query->process);
    if (query->descriptor >= 0)
        (void)close(query->descriptor);
    free(query);
}

struct process_query *process_query_new(vitals_process *process)
{
    struct process_query *query = calloc(1, sizeof *query);
    if (query == NULL) {
        vitals_process_close(process);
        return NULL;
    }
    atomic_store(&query->owners, 1);
    query->process = process;
    query->descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (query->descriptor >= 0)
        return query;
    process_query_free(query);
    return NULL;
}

static void *work(void *data)
{
    struct process_query *query = data;
    if (vitals_process_ask(query->process, query->request, &query->answer, &query->error) < 0)
        query->answer = NULL;
    atomic_store(&query->done, true); /* before the descriptor says so, which the owner reads */
    (void)!eventfd_write(query->descriptor, 1);
    process_query_free(query);
    atomic_fetch_sub(&busy, 1);
    return NULL;
}

bool process_query_ask(struct process_query *query, vitals_request *request)
{
    pthread_t thread;
    if (query->asked) {
        vitals_request_free(request);
        return false;
    }
    vitals_request_free(query->request);
    query->request = request;
    query->error = (vitals_error){.code = 0};
    atomic_store(&query->done, false);
    atomic_fetch_add(&query->owners, 1);
    atomic_fetch_add(&busy, 1);
    query->asked = thread_start(&thread, "vitals-ask", 0, work, query) == 0;
    if (query->asked) {
        (void)pthread_detach(thread);
        return true;
    }
    atomic_fetch_sub(&busy, 1);
    atomic_fetch_sub(&query->owners, 1);
    return false;
}

bool process_query_take(struct process_query *query, vitals_snapshot **answer, vitals_error *error)
{
    eventfd_t count;
    if (!query->asked || eventfd_read(query->descriptor, &count) < 0 || !atomic_load(&query->done))
        return false;
    query->asked = false;
    *answer = query->answer;
    *error = query->error;
    query->answer = NULL;
    return true;
}

int process_query_descriptor(const struct process_query *query)
{
    return query->asked ? query->descriptor : -1;
}
