/* doctor_paint.c: see doctor_paint.h. Text from outside is made safe here, line by line, so that no
 * finding can write a command. */
#include "command/devices/doctor_paint.h"

#include <stdio.h>
#include <string.h>

#include "view/paint.h"

enum { SUBJECT_MOST = 28, INDENT = 2, GAP = 2, REMEDY_INDENT = 6, LEAST = 24, LINE = 2048 };

static const struct {
    const char *title, *one, *many;
    enum color color;
} KINDS[FINDING_KINDS] = {
    [FINDING_PROBLEM] = {"Problems", "problem", "problems", COLOR_RED},
    [FINDING_NOTICE] = {"Notices", "notice", "notices", COLOR_YELLOW},
    [FINDING_GOOD] = {"Good", "good", "good", COLOR_GREEN},
};

struct doctor {
    const struct settings *settings;
    struct paint *paint;
    size_t width, subject; /* columns: of all, and of the subjects */
};

static void make_safe(const struct doctor *doctor, vitals_text text, char out[static LINE])
{
    (void)vitals_text_format(
        text, doctor->settings->look.ascii ? VITALS_TEXT_ASCII : VITALS_TEXT_TERMINAL, out, LINE);
}

/* How many bytes fit, whole characters. A part of a text may begin with a mark that combined with
 * what stood before: alone it is measured as its escape, which is longer. */
static size_t fitting(const char *text, size_t columns)
{
    size_t size = strlen(text), fits = paint_fitting(text, columns, NULL);
    if (fits >= size)
        return size;
    while (fits > 0 && ((unsigned char)text[fits] & 0xc0) == 0x80)
        fits--;
    return fits;
}

size_t doctor_break(const char *line, size_t columns)
{
    size_t fits = fitting(line, columns), place = 0;
    char quote = '\0';
    if (line[fits] == '\0')
        return fits;
    fits = fitting(line, columns > 2 ? columns - 2 : 1); // room for the backslash
    for (size_t i = 0; line[i] != '\0' && (i <= fits || place == 0); i++) {
        bool is_word = i == 0 || line[i - 1] == ' ';
        if (quote == '\0' && is_word && line[i] == '#')
            break;
        if (quote == '\0' && (line[i] == '"' || line[i] == '\''))
            quote = line[i];
        else if (line[i] == quote)
            quote = '\0';
        else if (quote == '\0' && line[i] == ' ' && i > 0 && line[i + 1] != '#')
            place = i;
    }
    return place > 0 ? place : strlen(line);
}

static void put_command(const struct doctor *doctor, const char *line)
{
    size_t indent = REMEDY_INDENT;
    for (const char *at = line; *at != '\0';) {
        size_t columns = doctor->width > indent + LEAST ? doctor->width - indent : LEAST;
        size_t size = doctor_break(at, columns);
        paint_repeat(doctor->paint, COLOR_PLAIN, " ", indent);

        char part[LINE];
        snprintf(part, sizeof part, "%.*s", (int)size, at);
        paint_text(doctor->paint, COLOR_BOLD, part);

        at += size;
        at += strspn(at, " ");
        if (*at != '\0')
            paint_text(doctor->paint, COLOR_BOLD, " \\");
        paint_end(doctor->paint);
        indent = REMEDY_INDENT + 4;
    }
}

static const struct finding *next_of(const struct findings *findings, enum finding_kind kind,
                                     const struct finding *after)
{
    const struct finding *at = after != NULL ? after + 1 : findings->items;
    while (at < findings->items + findings->count && at->kind != kind)
        at++;
    return at < findings->items + findings->count ? at : NULL;
}

/* If several findings that follow each other share a remedy, it stands below the last of them. */
static void put_kind(const struct doctor *doctor, const struct findings *findings,
                     enum finding_kind kind)
{
    const struct finding *next, *finding = next_of(findings, kind, NULL);
    if (finding == NULL)
        return;
    paint_text(doctor->paint, KINDS[kind].color, KINDS[kind].title);
    paint_end(doctor->paint);
    for (; finding != NULL; finding = next) {
        next = next_of(findings, kind, finding);

        char text[LINE];
        size_t indent = INDENT + doctor->subject + GAP;
        make_safe(doctor, finding->subject, text);
        paint_repeat(doctor->paint, COLOR_PLAIN, " ", INDENT);
        if (paint_columns(text) <= doctor->subject) {
            paint_cell(doctor->paint, COLOR_BOLD, ALIGN_LEFT, doctor->subject, text);
            paint_repeat(doctor->paint, COLOR_PLAIN, " ", GAP);
        } else {
            paint_text(doctor->paint, COLOR_BOLD, text);
            paint_end(doctor->paint);
            paint_repeat(doctor->paint, COLOR_PLAIN, " ", indent);
        }
        make_safe(doctor, finding->text, text);
        paint_paragraph(doctor->paint, COLOR_PLAIN, indent, doctor->width, text);

        vitals_text remedy = finding->remedy;
        bool same = next != NULL && remedy.size == next->remedy.size &&
                    (remedy.size == 0 ||
                     memcmp(remedy.bytes, next->remedy.bytes, remedy.size) == 0);
        for (size_t at = 0; at < remedy.size && !same;) {
            const char *from = remedy.bytes + at;
            const char *end = memchr(from, '\n', remedy.size - at);
            size_t size = end != NULL ? (size_t)(end - from) : remedy.size - at;
            at += size + 1;
            make_safe(doctor, (vitals_text){from, size}, text);
            if (text[0] == '#') {
                paint_repeat(doctor->paint, COLOR_PLAIN, " ", REMEDY_INDENT);
                paint_wrapped(doctor->paint, COLOR_DIM, REMEDY_INDENT, doctor->width, "# ",
                              text + 1 + strspn(text + 1, " "));
                paint_end(doctor->paint);
            } else {
                put_command(doctor, text);
            }
        }
    }
    paint_end(doctor->paint);
}

void doctor_paint(const struct findings *findings, const struct settings *settings,
                  struct output *output)
{
    struct paint paint;
    struct doctor doctor = {.settings = settings, .paint = &paint, .width = settings->look.width};
    paint_init(&paint, settings->look.color, output_write, output);

    doctor.subject = 0;
    char text[LINE];
    for (size_t i = 0; i < findings->count; i++) {
        make_safe(&doctor, findings->items[i].subject, text);
        size_t columns = paint_columns(text);
        if (columns > doctor.subject && columns <= SUBJECT_MOST)
            doctor.subject = columns;
    }

    for (int kind = 0; kind < FINDING_KINDS; kind++)
        put_kind(&doctor, findings, (enum finding_kind)kind);

    char line[128];
    int size = 0;
    for (int kind = 0; kind < FINDING_KINDS; kind++)
        size += snprintf(line + size, sizeof line - (size_t)size, "%s%zu %s", kind > 0 ? ", " : "",
                         findings->of_kind[kind],
                         findings->of_kind[kind] == 1 ? KINDS[kind].one : KINDS[kind].many);
    if (findings->cut)
        snprintf(line + size, sizeof line - (size_t)size, "; there are more");
    paint_text(doctor.paint, COLOR_PLAIN, line);
    paint_end(doctor.paint);

    (void)paint_done(&paint);
}
