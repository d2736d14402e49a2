/* recorded.h: any bytes as a recording, through one of its readers: whatever they are, what comes
 * of them is whole, or there is one line that says why not. */
#ifndef FUZZ_RECORDED_H
#define FUZZ_RECORDED_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/recording_data.h"

static void require(int condition)
{
    if (!condition)
        abort();
}

static void require_line(const char *text)
{
    for (; *text != '\0'; text++)
        require((unsigned char)*text >= ' ');
}

static void require_series(const struct recording *recording)
{
    size_t count;
    const struct series *series = recording_series(recording, &count);
    for (size_t i = 0; i < count; i++) {
        require(series[i].count == recording->rows);
        require_line(series[i].name);
        require_line(series[i].subject);
        for (size_t row = 0; row < series[i].count; row++)
            require(!isinf(series[i].values[row]) && isfinite(series[i].seconds[row]));
    }
    const struct recorded_phase *phases = recording_phases(recording, &count);
    for (size_t i = 0; i < count; i++)
        require_line(phases[i].name);
}

static void require_account(const struct recording *recording)
{
    const vitals_account *account = recording_account(recording);
    for (const vitals_figure *figure = NULL;
         (figure = vitals_account_next(account, figure)) != NULL;) {
        double value;
        require(vitals_figure_name(figure)[0] != '\0');
        if (vitals_figure_value(figure, &value) > 0)
            require(isfinite(value));
    }
}

static inline int read_bytes(const uint8_t *data, size_t size,
                             int (*read)(struct recording *, FILE *, vitals_error *))
{
    static struct recording empty;
    vitals_error error = {.message = ""};
    if (size == 0)
        return 0;
    struct recording *recording = malloc(sizeof *recording);
    require(recording != NULL);
    *recording = empty;
    recording->path = strdup("input");
    require(vitals_account_new(&recording->account, &error) == 0);
    FILE *file = fmemopen((void *)(uintptr_t)data, size, "rb");
    require(file != NULL);
    if (read(recording, file, &error) == 0) {
        require(recording->format != NULL && recording_finish(recording, &error) == 0);
        require_series(recording);
        require_account(recording);
    } else {
        require(error.code < 0 && error.message[0] != '\0');
        require_line(error.message);
    }
    (void)fclose(file);
    recording_close(recording);
    return 0;
}

#endif
