/* The lines of a run where the exporter is slow, and where memory is out. */
#include "check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "export/run_sender.h"
#include "util/memory.h"

static const uint64_t SOON_NS = 60000000000; /* a busy machine */

static char folder[64], program[96], go[96];

/* Begins to send to a program that reads once the file `go` is there. */
static struct link *begin(struct run_sender *sender)
{
    vitals_exporter_options options = {.command_line = "off"};
    vitals_error error = {.message = ""};
    struct link *link = NULL;
    (void)snprintf(folder, sizeof folder, "/tmp/vitals-sender-XXXXXX");
    CHECK_NOT_NULL(mkdtemp(folder));
    (void)snprintf(program, sizeof program, "%s/tell", folder);
    (void)snprintf(go, sizeof go, "%s/go", folder);
    FILE *file = fopen(program, "w");
    CHECK_NOT_NULL(file);
    fprintf(file,
            "#!/bin/sh\ncd %s || exit 1\nwhile [ ! -e go ]; do sleep 0.01; done\n"
            "cat > /dev/null\necho '{\"done\":true}'\n",
            folder);
    CHECK_INT(fclose(file), 0);
    CHECK_INT(chmod(program, 0700), 0);
    CHECK_OK(run_sender_init(sender, &options, &error), error);
    CHECK_OK(link_open(&(struct link_program){.path = program, .activation_socket = -1}, "{}",
                       &link, &error),
             error);
    CHECK_OK(run_sender_begin(sender, link, 1000000000, &error), error);
    return link;
}

static void let_it_read(void)
{
    CHECK_INT(close(open(go, O_WRONLY | O_CREAT, 0600)), 0);
}

static void end(struct run_sender *sender, struct link *link)
{
    CHECK_INT(link_close(link, SOON_NS, false, NULL, NULL), LINK_DONE);
    run_sender_done(sender);
    (void)unlink(go);
    (void)unlink(program);
    (void)rmdir(folder);
}

/* A line that comes once waits for room, also after a sample waited in vain. */
static void a_dropped_sample_costs_no_other_line(void)
{
    static char line[4096];
    struct run_sender sender;
    struct link *link = begin(&sender);
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\n';
    while (link_write(link, line, sizeof line, 1))
        ;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        (void)usleep(300000);
        let_it_read();
        _exit(0);
    }
    CHECK_INT(run_sender_file(&sender, "/page", SOON_NS), 1);
    CHECK_UINT(run_sender_dropped(&sender), 0);
    CHECK_INT(waitpid(child, NULL, 0), child);
    end(&sender, link);
}

static void no_memory_is_told_and_counted(void)
{
    vitals_error error = {.message = ""};
    vitals_context *context = NULL;
    vitals_request *request = NULL;
    vitals_sampler *sampler = NULL;
    vitals_snapshot *snapshot = NULL;
    vitals_usage *usage = NULL;
    struct run_sender sender;
    struct link *link = begin(&sender);
    let_it_read();
    CHECK_OK(vitals_context_new(NULL, &context, &error), error);
    CHECK_OK(vitals_usage_new(NULL, &usage, &error), error);
    CHECK_OK(vitals_request_new(0, &request, &error), error);
    CHECK_OK(vitals_usage_request(usage, request, &error), error);
    CHECK_OK(vitals_sampler_new(context, request, &sampler, &error), error);
    CHECK_OK(vitals_sampler_take(sampler, &snapshot, &error), error);
    CHECK_OK(vitals_usage_add(usage, snapshot, &error), error);
    memory_fail_at(1);
    CHECK_INT(run_sender_sample(&sender, snapshot, usage), VITALS_EMEMORY);
    memory_fail_at(1);
    CHECK_INT(run_sender_file(&sender, "/page", SOON_NS), VITALS_EMEMORY);
    CHECK_UINT(run_sender_dropped(&sender), 2);
    CHECK_INT(run_sender_file(&sender, "/page", SOON_NS), 1);
    CHECK_UINT(run_sender_dropped(&sender), 2);
    vitals_snapshot_unref(snapshot);
    vitals_sampler_free(sampler);
    vitals_request_free(request);
    vitals_usage_free(usage);
    vitals_context_free(context);
    end(&sender, link);
}

static const check_test tests[] = {
    {"a dropped sample costs no other line", a_dropped_sample_costs_no_other_line},
    {"no memory is told and counted", no_memory_is_told_and_counted},
};
CHECK_TESTS(tests)
