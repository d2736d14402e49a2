/* insight.c: what mattered most of a run, in one sentence; see html.h. The largest loss of time
 * comes first; without one, the use of the CPUs. */
#include "report/html.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DEVICES_NAMED = 8 };

static const struct {
    const char *name, *what;
} WAITS[] = {
    {"cpu_pressure_seconds", "a CPU"},
    {"io_pressure_seconds", "I/O"},
    {"memory_pressure_seconds", "memory"},
};

static double number(const vitals_account *account, const char *name, const char *subject)
{
    vitals_availability state;
    double value = words_number(vitals_account_find(account, name, subject), &state);
    return state > 0 ? value : (double)NAN;
}

/* How it shared the CPUs with others, and how many it had. */
static void tell_cores(const vitals_account *account, bool machine, struct insight *out)
{
    double cores = words_attribute_number(account, machine ? "system_cores" : "expected_cores");
    double all = number(account, "cpu_mean_cores", "system");
    double machine_cores = words_attribute_number(account, "system_cores");
    double own = machine ? all : number(account, "cpu_cores", "");
    if (isnan(own) || cores <= 0)
        return;
    int used = snprintf(out->detail, sizeof out->detail, "It used %.2f of %.0f cores on average",
                        own, cores);
    if (!machine && all - own >= 0.1 && machine_cores > 0)
        (void)snprintf(out->detail + used, sizeof out->detail - (size_t)used,
                       ", others used %.2f of the machine's %.0f", all - own, machine_cores);
}

static void tell_wait(const vitals_account *account, const struct account_view *view, bool machine,
                      size_t which, struct insight *out)
{
    const char *subject = machine ? "system" : "";
    char a[WORDS], b[WORDS];
    out->figure = vitals_account_find(account, WAITS[which].name, subject);
    (void)words_figure(view, out->figure, a);
    (void)words_figure(view, vitals_account_find(account, "wall_seconds", ""), b);
    (void)snprintf(out->sentence, sizeof out->sentence, "%s waited for %s for %.60s of %.60s",
                   machine ? "Some process" : "It", WAITS[which].what, a, b);
    if (which == 0) {
        tell_cores(account, machine, out);
    } else if (which == 1) {
        (void)words_figure(view, vitals_account_find(account, "disk_read_bytes", subject), a);
        (void)words_figure(view, vitals_account_find(account, "disk_written_bytes", subject), b);
        (void)snprintf(out->detail, sizeof out->detail, "Disks: read %.60s, written %.60s", a, b);
    }
}

/* Of the devices that the run used, the mean of the time in which they did nothing. */
static double idle_devices(const vitals_account *account, struct insight *out)
{
    double idle = 0;
    size_t devices = 0, used = 0;
    for (const vitals_figure *figure = NULL;
         (figure = vitals_account_next(account, figure)) != NULL;) {
        vitals_availability state;
        char safe[WORDS];
        double busy = words_number(figure, &state);
        const char *label = vitals_figure_label(figure), *subject = vitals_figure_subject(figure);
        if (strcmp(vitals_figure_name(figure), "gpu_busy_ratio") != 0 ||
            !words_is_device(subject) || state <= 0)
            continue;
        busy = fmin(fmax(busy, 0), 1);
        idle += 1 - busy;
        const char *named = label[0] != '\0' ? label : subject;
        (void)vitals_text_format(vitals_text_of(named), VITALS_TEXT_TERMINAL, safe, sizeof safe);
        if (devices < DEVICES_NAMED && used < sizeof out->detail)
            used += (size_t)snprintf(out->detail + used, sizeof out->detail - used,
                                     "%s%.40s %.0f %% busy", devices > 0 ? ", " : "", safe,
                                     busy * 100);
        out->figure = devices++ == 0 ? figure : out->figure;
    }
    if (devices == 0)
        return 0;
    if (devices > DEVICES_NAMED && used < sizeof out->detail)
        (void)snprintf(out->detail + used, sizeof out->detail - used, " …");
    (void)snprintf(out->sentence, sizeof out->sentence, "%s idle for %.0f %% of the time",
                   devices > 1 ? "Its GPUs were" : "Its GPU was", 100 * idle / (double)devices);
    return idle / (double)devices;
}

void insight_of(const vitals_account *account, const struct account_view *view, struct insight *out)
{
    bool machine = words_is_machine(account);
    *out = (struct insight){.trouble = true};
    if (vitals_account_failure(account).size > 0)
        return;
    if (number(account, "oom_kills", "") > 0) {
        out->figure = vitals_account_find(account, "oom_kills", "");
        (void)snprintf(out->sentence, sizeof out->sentence,
                       "Processes killed for want of memory: %.0f",
                       number(account, "oom_kills", ""));
        return;
    }
    double most = machine ? 0 : idle_devices(account, out);
    size_t which = sizeof WAITS / sizeof WAITS[0];
    for (size_t i = 0; i < sizeof WAITS / sizeof WAITS[0]; i++) {
        double lost = words_waited(account, WAITS[i].name, machine ? "system" : "");
        if (lost > most) {
            most = lost;
            which = i;
        }
    }
    if (most >= WORDS_MUCH) {
        if (which < sizeof WAITS / sizeof WAITS[0]) {
            out->detail[0] = '\0';
            tell_wait(account, view, machine, which, out);
        }
        return;
    }
    *out = (struct insight){.figure = vitals_account_find(account,
                                                          machine ? "cpu_mean_cores" : "cpu_cores",
                                                          machine ? "system" : "")};
    tell_cores(account, machine, out);
    (void)snprintf(out->sentence, sizeof out->sentence, "%.200s", out->detail);
    out->detail[0] = '\0';
}
