/* device_users.c: see device_sheet.h. For a device in parts the users of its parts too. */
#include <stdio.h>

#include "feed/rows.h"
#include "monitor/screens/device_sheet.h"
#include "monitor/screens/pane.h"
#include "util/base.h"
#include "view/cell_text.h"

enum { TITLES = 2, USERS_MOST = 10000 };

/* The next row of gpu_process that belongs to the device or to a part of it. */
static const vitals_row *next_user(const struct model *model, const vitals_row *gpu,
                                   const vitals_row *user)
{
    const vitals_snapshot *now = model->machine.now;
    while ((user = vitals_snapshot_next(now, VITALS_TABLE_GPU_PROCESS, user)) != NULL) {
        uint64_t parent = vitals_row_parent(user), key = vitals_row_key(gpu);
        const vitals_row *part = vitals_snapshot_find(now, VITALS_TABLE_GPU, parent);
        if (parent == key || vitals_row_parent(part) == key)
            break;
    }
    return user;
}

int device_users_rows(const struct model *model, const vitals_row *gpu)
{
    int count = 0;
    for (const vitals_row *user = NULL;
         count < USERS_MOST && (user = next_user(model, gpu, user)) != NULL;)
        count++;
    return TITLES + (count > 0 ? count : 1);
}

struct user_line {
    const struct model *model;
    const vitals_row *user, *process; /* NULL: the titles */
    bool ascii, any_held;
};

static const struct user_column {
    const char *title;
    int width, least;     /* columns of the box from which it is there */
    vitals_metric metric; /* 0: how long its memory has been held */
} COLUMNS[] = {
    {"GPU", 5, 50, VITALS_GPU_NAME},
    {"PID", 9, 0, VITALS_GPU_PROCESS_PID},
    {"TYPE", 6, 70, VITALS_GPU_PROCESS_TYPE},
    {"USER", 9, 60, VITALS_PROCESS_USER},
    {"MEMORY", 11, 0, VITALS_GPU_PROCESS_MEMORY_USED_BYTES},
    {"SM", 6, 0, VITALS_GPU_PROCESS_UTILIZATION_RATIO},
    {"BW", 6, 80, VITALS_GPU_PROCESS_MEMORY_BUSY_RATIO},
    {"ENC", 6, 100, VITALS_GPU_PROCESS_ENCODER_RATIO},
    {"DEC", 6, 100, VITALS_GPU_PROCESS_DECODER_RATIO},
    {"", 14, 90, 0},
};

static void user_words(const struct user_line *line, vitals_metric metric, char out[static WORDS])
{
    double number;
    const vitals_row *gpu;
    out[0] = '\0';
    switch (metric) {
    case 0:
        if (model_idle(line->model, line->user, &number))
            (void)idle_words(number, out);
        break;
    case VITALS_GPU_NAME:
        gpu = vitals_snapshot_find(line->model->machine.now, VITALS_TABLE_GPU,
                                   vitals_row_parent(line->user));
        (void)snprintf(out, WORDS, "%.40s", gpu != NULL ? vitals_row_label(gpu) : "?");
        break;
    case VITALS_GPU_PROCESS_PID:
        if (cell_value(line->process, VITALS_PROCESS_PID, &number) ||
            cell_value(line->user, metric, &number))
            (void)snprintf(out, WORDS, "%.0f", number);
        else
            (void)cell_not_available(out);
        break;
    case VITALS_GPU_PROCESS_TYPE:
        (void)cell_text(line->user, metric, line->ascii, out, WORDS);
        break;
    case VITALS_PROCESS_USER:
        cell_cut(cell_text(line->process, metric, line->ascii, out, WORDS), 8, "+");
        break;
    case VITALS_GPU_PROCESS_MEMORY_USED_BYTES: (void)cell_bytes(line->user, metric, out); break;
    default: (void)cell_percent(line->user, metric, out);
    }
}

static bool is_held(const struct user_line *line)
{
    double seconds;
    return model_idle(line->model, line->user, &seconds);
}

static void draw_line(struct pen *pen, const struct user_line *line, const struct box *box, int y)
{
    struct canvas_field field = {.x = box->x, .y = y, .right = true};
    field.style = line->user == NULL ? INK_SOFT : is_held(line) ? INK_NOTICE : STYLE_PLAIN;
    for (size_t i = 0; i < ARRAY_COUNT(COLUMNS); i++) {
        char text[WORDS];
        if (box->columns < COLUMNS[i].least || (COLUMNS[i].metric == 0 && !line->any_held))
            continue;
        if (line->user != NULL)
            user_words(line, COLUMNS[i].metric, text);
        field.columns = COLUMNS[i].width;
        canvas_field(pen->canvas, &field, line->user != NULL ? text : COLUMNS[i].title);
        field.x += COLUMNS[i].width;
    }

    char buffer[WORDS_COMMAND];
    field.x += 2;
    field.columns = box->x + box->columns - field.x;
    field.right = false;
    if (field.columns <= 0)
        return;
    if (line->process != NULL) {
        (void)cell_command(line->process, line->ascii, buffer);
        pane_program(pen, &field, buffer);
        return;
    }
    field.style = INK_SOFT;
    canvas_field(pen->canvas, &field,
                 line->user == NULL ? "COMMAND"
                                    : cell_stranger(vitals_row_availability(
                                          line->user, VITALS_GPU_PROCESS_PROCESS)));
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
        (void)canvas_text(pen->canvas, box->x, box->y + at, INK_TITLE, "Processes");
    at++;
    if (at >= 0 && at < end)
        draw_line(pen, &line, box, box->y + at);
    at++;
    while (at < end && (line.user = next_user(model, gpu, line.user)) != NULL) {
        line.process = row_process(line.user);
        if (at >= 0)
            draw_line(pen, &line, box, box->y + at);
        at++;
    }
    if (at == TITLES - first && line.user == NULL && at >= 0 && at < end)
        (void)canvas_text(pen->canvas, box->x, box->y + at, INK_SOFT, "no process");
}
