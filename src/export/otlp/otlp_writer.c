/* otlp_writer.c: see otlp_writer.h. */
#include "export/otlp/otlp_writer.h"

#include <math.h>
#include <string.h>

/* No point, with all of its attributes in JSON, is larger: each byte of the store takes six at
 * most there. */
enum { POINT_MAX = 6 * OTLP_STORE + OTLP_ATTRIBUTES * 256, TEXT_MAX = 128 };

/* ---- attributes ---- */

void otlp_attribute_text(struct otlp_attributes *attributes, const char *key, const char *text)
{
    if (attributes->count < OTLP_ATTRIBUTES && text != NULL && text[0] != '\0')
        attributes->list[attributes->count++] = (struct otlp_attribute){.key = key, .text = text};
}

void otlp_attribute_safe(struct otlp_attributes *attributes, const char *key, vitals_text text)
{
    size_t room = sizeof attributes->store - attributes->used;
    char *place = attributes->store + attributes->used;
    if (text.size == 0 || room <= TEXT_MAX)
        return;
    (void)vitals_text_format(text, VITALS_TEXT_TERMINAL, place, TEXT_MAX + 1);
    attributes->used += strlen(place) + 1;
    otlp_attribute_text(attributes, key, place);
}

void otlp_attribute_number(struct otlp_attributes *attributes, const char *key, int64_t number)
{
    if (attributes->count < OTLP_ATTRIBUTES)
        attributes->list[attributes->count++] = (struct otlp_attribute){.key = key,
                                                                        .number = number};
}

/* ---- documents ---- */

static void end_metric(struct otlp_writer *writer)
{
    if (writer->points > 0)
        writer->form->close_metric(writer);
    writer->points = 0;
}

static void end_document(struct otlp_writer *writer)
{
    end_metric(writer);
    if (writer->metrics == 0)
        return;
    writer->form->close(writer);
    if (writer->text.failed)
        writer->failed = true;
    else
        writer->give(writer->data, &writer->text);
    writer->metrics = 0;
    if (writer->text.failed)
        text_done(&writer->text);
    text_reset(&writer->text);
}

void otlp_writer_metric(struct otlp_writer *writer, const struct otlp_metric *metric)
{
    end_metric(writer);
    writer->metric = *metric;
}

void otlp_writer_point(struct otlp_writer *writer, const struct otlp_point *point)
{
    if (!point->whole && !isfinite(point->value))
        return;
    if (writer->metrics > 0 && writer->text.size + POINT_MAX > writer->most)
        end_document(writer);
    if (writer->metrics == 0)
        writer->form->open(writer);
    if (writer->points == 0) {
        writer->metrics++;
        writer->form->open_metric(writer);
    }
    writer->form->point(writer, point);
    writer->points++;
}

void otlp_writer_end(struct otlp_writer *writer)
{
    end_document(writer);
    text_done(&writer->text);
}
