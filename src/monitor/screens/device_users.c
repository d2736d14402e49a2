/* device_users.c: see device_users.h. For a device in parts the users of its parts too. */
#include "monitor/screens/device_users.h"

#include <stdio.h>
#include <string.h>

#include "view/cell_text.h"

enum { TITLES = 2, USERS_MOST = 10000 };

/* ---- identity ---- */

/* True if a row of gpu_process belongs to the device or to a part of it. */
static bool is_of(const struct model *model, const vitals_row *user, uint64_t key)
{
    if (vitals_row_parent(user) == key)
        return true;
    const vitals_row *gpu = vitals_snapshot_find(model->machine.now, VITALS_GPU,
                                                 vitals_row_parent(user));
    return gpu != NULL && vitals_row_parent(gpu) == key;
}

static const vitals_row *next_user(const struct model *model, const vitals_row *gpu,
                                   const vitals_row *previous)
{
    do {
        previous = vitals_snapshot_next(model->machine.now, VITALS_GPU_PROCESS, previous);
    } while (previous != NULL && !is_of(model, previous, vitals_row_key(gpu)));
    return previous;
}

int device_users_rows(const struct model *model, const vitals_row *gpu)
{
    int count = 0;
    for (const vitals_row *user = NULL;
         count < USERS_MOST && (user = next_user(model, gpu, user)) != NULL;)
        count++;
    return TITLES + (count > 0 ? count : 1);
}

static const vitals_row *process_of(const struct model *model, const vitals_row *user)
{
    uint64_t key;
    if (vitals_row_u64(user, VITALS_GPU_PROCESS_PROCESS, &key) <= 0)
        return NULL;
    return vitals_snapshot_find(model->machine.now, VITALS_PROCESS, key);
}

/* ---- the columns: a table ---- */

struct user_line {
    const struct model *model;
    const vitals_row *user, *process; /* NULL: the titles */
    bool ascii, any_held;
};

static void device_words(const struct user_line *line, char *out)
{
    const vitals_row *gpu = vitals_snapshot_find(line->model->machine.now, VITALS_GPU,
                                                 vitals_row_parent(line->user));
    (void)snprintf(out, WORDS, "%.40s", gpu != NULL ? vitals_row_label(gpu) : "?");
}

static void pid_words(const struct user_line *line, char *out)
{
    double pid;
    if (cell_value(line->process, VITALS_PROCESS_PID, &pid) ||
        cell_value(line->user, VITALS_GPU_PROCESS_PID, &pid))
        (void)snprintf(out, WORDS, "%.0f", pid);
    else
        (void)cell_not_available(out);
}

static void type_words(const struct user_line *line, char *out)
{
    (void)cell_text(line->user, VITALS_GPU_PROCESS_TYPE, line->ascii, out, WORDS);
}

static void user_words(const struct user_line *line, char *out)
{
    (void)cell_text(line->process, VITALS_PROCESS_USER, line->ascii, out, WORDS);
    cell_cut(out, 8, "+");
}

static void memory_words(const struct user_line *line, char *out)
{
    (void)cell_bytes(line->user, VITALS_GPU_PROCESS_MEMORY_USED_BYTES, out);
}

static void busy_words(const struct user_line *line, char *out)
{
    (void)cell_percent(line->user, VITALS_GPU_PROCESS_UTILIZATION_RATIO, out);
}

static void bandwidth_words(const struct user_line *line, char *out)
{
    (void)cell_percent(line->user, VITALS_GPU_PROCESS_MEMORY_BUSY_RATIO, out);
}

static void encoder_words(const struct user_line *line, char *out)
{
    (void)cell_percent(line->user, VITALS_GPU_PROCESS_ENCODER_RATIO, out);
}

static void decoder_words(const struct user_line *line, char *out)
{
    (void)cell_percent(line->user, VITALS_GPU_PROCESS_DECODER_RATIO, out);
}

static void held_cell(const struct user_line *line, char *out)
{
    double seconds;
    out[0] = '\0';
    if (model_idle(line->model, line->user, &seconds))
        (void)idle_words(seconds, out);
}

static const struct {
    const char *title;
    int width, least; /* columns of the box from which it is there */
    void (*words)(const struct user_line *line, char *out);
} COLUMNS[] = {
    {"GPU", 5, 50, device_words},   {"PID", 9, 0, pid_words},        {"TYPE", 6, 70, type_words},
    {"USER", 9, 60, user_words},    {"MEMORY", 11, 0, memory_words}, {"SM", 6, 0, busy_words},
    {"BW", 6, 80, bandwidth_words}, {"ENC", 6, 100, encoder_words},  {"DEC", 6, 100, decoder_words},
    {"", 14, 90, held_cell},
};

static void draw_command(struct pen *pen, const struct user_line *line, struct canvas_field *field)
{
    char command[WORDS_COMMAND] = "COMMAND";
    if (line->process != NULL)
        (void)cell_command(line->process, line->ascii, command);
    if (line->user != NULL && line->process == NULL) {
        (void)snprintf(
            command, sizeof command, "%s",
            cell_stranger(vitals_row_availability(line->user, VITALS_GPU_PROCESS_PROCESS)));
        field->style |= STYLE_DIM;
    }
    if (field->columns > 0)
        canvas_field(pen->canvas, field, command);
}

static bool is_held(const struct user_line *line)
{
    double seconds;
    return line->user != NULL && model_idle(line->model, line->user, &seconds);
}

static void draw_line(struct pen *pen, const struct user_line *line, const struct box *box, int y)
{
    int x = box->x;
    ink style = line->user == NULL ? STYLE_BOLD : is_held(line) ? STYLE_YELLOW : STYLE_PLAIN;
    for (size_t i = 0; i < sizeof COLUMNS / sizeof COLUMNS[0]; i++) {
        char text[WORDS];
        if (box->columns < COLUMNS[i].least || (COLUMNS[i].words == held_cell && !line->any_held))
            continue;
        (void)snprintf(text, sizeof text, "%s", COLUMNS[i].title);
        if (line->user != NULL)
            COLUMNS[i].words(line, text);
        struct canvas_field field = {
            .x = x, .y = y, .columns = COLUMNS[i].width, .right = true, .style = style};
        canvas_field(pen->canvas, &field, text);
        x += COLUMNS[i].width;
    }
    struct canvas_field field = {
        .x = x + 2, .y = y, .columns = box->x + box->columns - x - 2, .style = style};
    draw_command(pen, line, &field);
}

void device_users_draw(struct pen *pen, const struct model *model, const vitals_row *gpu,
                       const struct box *box, int first)
{
    struct user_line line = {.model = model, .ascii = pen->look->ascii};
    int at = -first, end = box->rows;
    while (!line.any_held && (line.user = next_user(model, gpu, line.user)) != NULL)
        line.any_held = is_held(&line);
    line.user = NULL;
    if (at >= 0 && at < end)
        (void)canvas_text(pen->canvas, box->x, box->y + at, STYLE_BOLD | STYLE_CYAN, "Processes");
    at++;
    if (at >= 0 && at < end)
        draw_line(pen, &line, box, box->y + at);
    at++;
    while (at < end && (line.user = next_user(model, gpu, line.user)) != NULL) {
        line.process = process_of(model, line.user);
        if (at >= 0)
            draw_line(pen, &line, box, box->y + at);
        at++;
    }
    if (at == TITLES - first && line.user == NULL && at >= 0 && at < end)
        (void)canvas_text(pen->canvas, box->x, box->y + at, STYLE_DIM, "nobody");
}
