/* pane_attention.c: one line of what needs attention, the gravest first.
 *
 * Devices that say the same share their words. A busy machine is no reason to be here; one that
 * makes its tasks wait is. */
#include <stdio.h>
#include <string.h>

#include "feed/rows.h"
#include "feed/trouble.h"
#include "monitor/screens/pane.h"

enum { SUBJECT = CONCERN_SUBJECT, SAYS = CONCERN_SAYS };

static void add(struct concerns *concerns, bool is_trouble, const char *subject, const char *says)
{
    for (size_t i = 0; i < concerns->count; i++) {
        struct concern *same = &concerns->items[i];
        if (concerns->apart || strncmp(subject, "GPU ", 4) != 0 || strcmp(same->says, says) != 0)
            continue;
        if (same->unnamed > 0 || strlen(same->subject) + strlen(subject + 3) + 1 >= SUBJECT)
            same->unnamed++;
        else
            cell_add(same->subject, SUBJECT, ",%s", subject + 3);
        return;
    }
    if (concerns->count == CONCERNS_MOST) {
        concerns->more++;
        return;
    }
    struct concern *own = &concerns->items[concerns->count++];
    own->is_trouble = is_trouble;
    (void)snprintf(own->subject, SUBJECT, "%s", subject);
    (void)snprintf(own->says, SAYS, "%s", says);
}

/* The process that has most of a device's memory: its job, pod or container, or its name and pid.
 */
static bool holder_of(const struct model *model, const vitals_row *gpu, char out[static WORDS])
{
    double most = -1, bytes;
    char name[WORDS];
    EACH_CHILD(user, model->machine.now, VITALS_TABLE_GPU_PROCESS, vitals_row_key(gpu)) {
        const vitals_row *process = row_process(user);
        if (process == NULL || !cell_value(user, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, &bytes) ||
            bytes <= most)
            continue;
        most = bytes;
        const struct item item = {.process = process, .user = user};
        item_work(model, &item, out, WORDS);
        if (out[0] != '\0')
            continue;
        (void)cell_text(process, VITALS_PROCESS_NAME, model->options->look.ascii, name,
                        sizeof name);
        (void)snprintf(out, WORDS, "%.20s %llu", name,
                       (unsigned long long)item_identity(&item).pid);
    }
    return most >= 0;
}

bool pane_device_is_ill(const vitals_row *gpu)
{
    static const vitals_metric GRAVE[] = {VITALS_GPU_THROTTLED_BY_TEMPERATURE,
                                          VITALS_GPU_ECC_ERRORS_UNCORRECTED, VITALS_GPU_XID_ERRORS,
                                          VITALS_GPU_THROTTLED_BY_CURRENT};
    const struct silence *silence = trouble_silence(gpu);
    double value;
    bool any = silence != NULL && silence->is_fault;
    for (size_t i = 0; i < sizeof GRAVE / sizeof GRAVE[0]; i++)
        any = any || (cell_value(gpu, GRAVE[i], &value) && value > 0);
    return any;
}

bool pane_device_is_mute(const vitals_row *gpu)
{
    static const vitals_metric SHOWN[] = {VITALS_GPU_UTILIZATION_RATIO,
                                          VITALS_GPU_MEMORY_USED_BYTES, VITALS_GPU_POWER_WATTS,
                                          VITALS_GPU_TEMPERATURE_CELSIUS, VITALS_GPU_FAN_RATIO};
    bool any = trouble_silence(gpu) != NULL; /* which says it */
    for (size_t i = 0; i < sizeof SHOWN / sizeof SHOWN[0]; i++) {
        vitals_availability state = vitals_row_availability(gpu, SHOWN[i]);
        any = any || state > 0 || state == VITALS_NOT_YET || state == VITALS_NOT_REQUESTED;
    }
    return !any;
}

ink pane_device_style(const vitals_row *gpu)
{
    double busy = 0;
    if (pane_device_is_ill(gpu))
        return INK_TROUBLE;
    return cell_value(gpu, VITALS_GPU_UTILIZATION_RATIO, &busy)
               ? theme_step(INK_LOAD, 0.5 + busy / 2)
               : INK_SOFT;
}

static void collect_device(const struct model *model, const vitals_row *gpu,
                           struct concerns *concerns)
{
    char subject[SUBJECT], says[TROUBLE_WORDS], span[SPAN_WORDS], name[WORDS];
    double seconds, ratio;
    const struct silence *silence = trouble_silence(gpu);
    (void)snprintf(subject, sizeof subject, "GPU %.30s", vitals_row_label(gpu));
    if (silence != NULL && silence->is_fault)
        add(concerns, true, subject, silence->word);
    else if (pane_device_is_mute(gpu))
        add(concerns, false, subject, "no values (vitals doctor)");
    else if (trouble_note(gpu, SAYS - 1, says))
        add(concerns, pane_device_is_ill(gpu), subject, says);
    else if (model_idle(model, gpu, &seconds)) {
        bool known = holder_of(model, gpu, name);
        (void)snprintf(says, sizeof says, "idle %s, its memory held%s%.40s",
                       span_words(seconds, span), known ? " by " : "", known ? name : "");
        add(concerns, false, subject, says);
        if (concerns->apart && concerns->count > 0)
            concerns->items[concerns->count - 1].seconds = seconds;
    } else if (cell_ratio(gpu, VITALS_GPU_MEMORY_USED_BYTES, VITALS_GPU_MEMORY_TOTAL_BYTES,
                          &ratio) &&
               ratio >= 0.99)
        add(concerns, false, subject, "memory full");
}

/* A share of the machine from which on it is told. */
static void collect_share(struct concerns *concerns, bool known, double ratio, double least,
                          bool is_trouble, const char *subject, const char *what)
{
    char says[SAYS];
    if (!known || ratio < least)
        return;
    (void)snprintf(says, sizeof says, "%s%.0f%%", what, ratio * 100);
    add(concerns, is_trouble, subject, says);
}

static void collect_machine(const struct model *model, struct concerns *concerns)
{
    static const struct {
        const char *resource, *name;
        double least;
        bool is_trouble;
    } PRESSURES[] = {{"memory", "for memory ", 0.1, true},
                     {"io", "for disks ", 0.2, false},
                     {"cpu", "for CPUs ", 0.5, false}};
    const vitals_row *host = model_host(model);
    char resource[WORDS], scope[WORDS];
    double ratio;
    bool known = cell_ratio(host, VITALS_HOST_MEMORY_USED_BYTES, VITALS_HOST_MEMORY_TOTAL_BYTES,
                            &ratio);
    collect_share(concerns, known, ratio, 0.95, true, "memory", "used ");
    known = cell_ratio(host, VITALS_HOST_CGROUP_MEMORY_USED_BYTES,
                       VITALS_HOST_CGROUP_MEMORY_LIMIT_BYTES, &ratio);
    collect_share(concerns, known, ratio, 0.95, true, "our cgroup's memory", "used ");
    known = cell_ratio(host, VITALS_HOST_SWAP_USED_BYTES, VITALS_HOST_SWAP_TOTAL_BYTES, &ratio);
    collect_share(concerns, known, ratio, 0.9, false, "swap", "used ");
    for (const vitals_row *row = NULL;
         (row = row_next(model->machine.now, VITALS_TABLE_PRESSURE, row)) != NULL;) {
        (void)cell_text(row, VITALS_PRESSURE_SCOPE, true, scope, sizeof scope);
        (void)cell_text(row, VITALS_PRESSURE_RESOURCE, true, resource, sizeof resource);
        known = strcmp(scope, "cgroup") != 0 &&
                cell_value(row, VITALS_PRESSURE_SOME_10S_RATIO, &ratio);
        for (size_t i = 0; known && i < sizeof PRESSURES / sizeof PRESSURES[0]; i++) {
            if (strcmp(resource, PRESSURES[i].resource) == 0)
                collect_share(concerns, true, ratio, PRESSURES[i].least, PRESSURES[i].is_trouble,
                              "tasks wait", PRESSURES[i].name);
        }
    }
}

void concerns_collect(const struct model *model, struct concerns *concerns)
{
    for (const vitals_row *gpu = NULL; (gpu = model_next_device(model, gpu)) != NULL;)
        collect_device(model, gpu, concerns);
    collect_machine(model, concerns);
}

/* Said if nothing is wrong. */
static void quiet_words(const struct model *model, char *out, size_t capacity)
{
    bool reads = model->machine.now == NULL;
    (void)snprintf(out, capacity, "%s%s", reads ? "Reading..." : "nothing needs attention",
                   !reads && model_device_count(model) == 0 ? "; no GPU (vitals doctor says why)"
                                                            : "");
}

/* " (4: details)", the shortest next step; "" if there is none. */
static void step_words(const struct concern *own, char out[static WORDS])
{
    const char *label = own->subject + 4; /* behind "GPU " */
    bool has_key = label[0] >= '0' && label[0] <= '9' && (label[1] == '\0' || label[1] == ',');
    out[0] = '\0';
    if (strncmp(own->subject, "GPU ", 4) != 0)
        return;
    if (strcmp(own->says, "lost") == 0)
        (void)snprintf(out, WORDS, " (off the bus: vitals doctor)");
    else if (strcmp(own->says, "no answer") == 0)
        (void)snprintf(out, WORDS, " (its processes are not known)");
    else if (has_key && (strstr(own->says, "ECC ") != NULL || strstr(own->says, "Xid ") != NULL))
        (void)snprintf(out, WORDS, " (%c: details)", label[0]);
}

/* From all words to the fewest: with the next step, without, "held by" for "its memory held by",
 * without what is behind a comma. */
enum concern_form { CONCERN_STEP, CONCERN_WHOLE, CONCERN_SHORT, CONCERN_BRIEF, CONCERN_FORMS };

enum { CONCERN_LINE = SUBJECT + SAYS + WORDS + 40 };

/* Returns the columns. */
static int concern_words(const struct concern *own, const char *mark, enum concern_form form,
                         char out[static CONCERN_LINE])
{
    static const char LONG[] = "its memory ";
    char unnamed[24] = "", step[WORDS] = "";
    const char *left_out = form == CONCERN_SHORT ? strstr(own->says, LONG) : NULL;
    size_t size = form == CONCERN_BRIEF ? strcspn(own->says, ",") : strlen(own->says);
    if (left_out != NULL)
        size = (size_t)(left_out - own->says);
    if (own->unnamed > 0)
        (void)snprintf(unnamed, sizeof unnamed, " and %u more", own->unnamed);
    if (form == CONCERN_STEP)
        step_words(own, step);
    (void)snprintf(out, CONCERN_LINE, "%s%s%s %.*s%s%s", mark, own->subject, unnamed, (int)size,
                   own->says, left_out != NULL ? left_out + strlen(LONG) : "", step);
    return canvas_columns(out);
}

void pane_attention(struct pen *pen, const struct model *model, int y)
{
    enum { GAP = 3, MORE = 10 };
    static const char *const MARKS[2][3] = {{"✓ ", "● ", "▲ "}, {"", "* ", "! "}};
    const char *const *marks = MARKS[pen->look->ascii];
    struct concerns concerns = {.count = 0};
    char line[CONCERN_LINE];
    int x = 1, all = x;
    concerns_collect(model, &concerns);
    if (concerns.count == 0) {
        x += canvas_text(pen->canvas, x, y, INK_WELL, model->machine.now != NULL ? marks[0] : "");
        quiet_words(model, line, sizeof line);
        canvas_words(pen->canvas, x, y, model->width - x, INK_SOFT, line);
        return;
    }

    /* The next steps are told if nothing is left out for them. */
    for (size_t i = 0; i < concerns.count; i++)
        all += (i > 0 ? GAP : 0) + concern_words(&concerns.items[i], marks[1], CONCERN_STEP, line);
    bool steps = all <= model->width && concerns.more == 0;

    size_t told = 0;
    for (int grave = 1; grave >= 0; grave--) {
        for (size_t i = 0; i < concerns.count; i++) {
            const struct concern *own = &concerns.items[i];
            if (own->is_trouble != (grave == 1))
                continue;
            bool last = told + 1 == concerns.count && concerns.more == 0;
            int wide = 0, room = model->width - x;
            for (int form = steps ? CONCERN_STEP : CONCERN_WHOLE; form < CONCERN_FORMS; form++) {
                wide = concern_words(own, marks[1 + grave], (enum concern_form)form, line);
                if (steps || wide + (last ? 0 : MORE) <= room)
                    break;
            }
            if (x > 1 && wide + (last ? 0 : MORE) > room)
                continue;
            canvas_words(pen->canvas, x, y, wide < room ? wide : room,
                         grave ? INK_TROUBLE : INK_NOTICE, line);
            x += wide + GAP;
            told++;
        }
    }
    if (told < concerns.count + concerns.more) {
        (void)snprintf(line, sizeof line, "+%zu more", concerns.count + concerns.more - told);
        (void)canvas_text(pen->canvas, x, y, INK_SOFT, line);
    }
}
