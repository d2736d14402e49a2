/* html_out.c: markup as it comes, with text from outside escaped; see html.h. */
#include "report/html.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "feed/text.h"

enum { PART = 512, ESCAPE = 10 };

static void put(struct html *html, const char *bytes, size_t size)
{
    if (html->failed == 0 && size > 0)
        html->failed = html->write(html->data, bytes, size);
}

void html_raw(struct html *html, const char *markup)
{
    put(html, markup, strlen(markup));
}

void html_format(struct html *html, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    html_raw(html, text);
}

static void put_escaped(struct html *html, const char *text)
{
    static const struct {
        char byte;
        const char *markup;
    } SHARP[] = {
        {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"},
    };
    while (*text != '\0') {
        size_t plain = strcspn(text, "&<>\"'");
        put(html, text, plain);
        text += plain;
        for (size_t i = 0; *text != '\0' && i < sizeof SHARP / sizeof SHARP[0]; i++) {
            if (SHARP[i].byte == *text)
                html_raw(html, SHARP[i].markup);
        }
        text += *text != '\0';
    }
}

void html_text(struct html *html, vitals_text text)
{
    char safe[PART * ESCAPE];
    while (text.size > 0) {
        vitals_text part = {text.bytes, text_part(text, PART)};
        (void)vitals_text_format(part, VITALS_TEXT_TERMINAL, safe, sizeof safe);
        put_escaped(html, safe);
        text.bytes += part.size;
        text.size -= part.size;
    }
}

void html_string(struct html *html, const char *string)
{
    html_text(html, vitals_text_of(string));
}

void html_figure(struct html *html, const char *words, const char *how)
{
    if (how[0] == '\0') {
        put_escaped(html, words);
        return;
    }
    html_raw(html, "<span class=\"how\" tabindex=\"0\" data-how=\"");
    put_escaped(html, how);
    html_raw(html, "\">");
    put_escaped(html, words);
    html_raw(html, "</span>");
}

void html_quality(struct html *html, vitals_availability state)
{
    const char *class = state == VITALS_HAVE      ? "exact"
                        : state == VITALS_SAMPLED ? "sampled"
                        : state > 0               ? "bound"
                                                  : "none";
    html_format(html, "<span class=\"q q-%s\">%s</span>", class, words_quality(state));
}
