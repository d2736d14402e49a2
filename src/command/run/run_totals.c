/* run_totals.c: where a run's running totals stand, so that something is left of it where vitals is
 * killed. They are the user's alone to read. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/run/run.h"

/* Each folder on the way, as mkdir -p. */
static bool make_folders(char *path)
{
    for (char *at = path + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *at = '/';
        if (!made)
            return false;
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

void run_totals_remove(const struct run_plan *plan)
{
    const struct stat *before = &plan->totals_before;
    struct stat now;
    if (plan->totals[0] == '\0' || lstat(plan->totals, &now) != 0)
        return;
    bool is_old = before->st_mode != 0 && before->st_ino == now.st_ino &&
                  before->st_dev == now.st_dev;
    if (!is_old && S_ISREG(now.st_mode))
        (void)unlink(plan->totals);
}

void run_totals_place(const struct environment_settings *environment, char *out, size_t capacity)
{
    const vitals_clock *clock = vitals_clock_system();
    out[0] = '\0';
    if (environment->state_folder == NULL || environment->state_folder[0] == '\0')
        return;
    int size = snprintf(out, capacity, "%s/vitals", environment->state_folder);
    bool fits = size > 0 && (size_t)size < capacity;
    /* Mostly it is there. */
    if (!fits || (access(out, W_OK) != 0 && (!make_folders(out) || access(out, W_OK) != 0))) {
        out[0] = '\0';
        return;
    }
    /* containers may share the folder, and have the same pids */
    int more = snprintf(out + size, capacity - (size_t)size, "/run-%llu-%ld.json",
                        (unsigned long long)clock->realtime_ns(clock->data), (long)getpid());
    if (more <= 0 || (size_t)(size + more) >= capacity)
        out[0] = '\0';
}
