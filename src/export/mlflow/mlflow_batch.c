/* mlflow_batch.c: see mlflow.h. */
#include "export/mlflow/mlflow.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *begin;
    unsigned most;
} PARTS[] = {
    [MLFLOW_METRICS] = {"{\"metrics\":[", 1000},
    [MLFLOW_PARAMS] = {"{\"params\":[", 100},
    [MLFLOW_TAGS] = {"{\"tags\":[", 100},
};

/* ---- keys and values ---- */

void mlflow_key(struct buffer *out, const char *key)
{
    enum { DIGITS = 9, ROOM = MLFLOW_KEY_MOST - DIGITS };
    static const char PLAIN[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-. ";
    char cut[ROOM + 1];
    size_t size = strlen(key), before = out->size;
    size_t kept = size <= MLFLOW_KEY_MOST ? size : ROOM;
    for (const char *from = key, *end = key + kept; from < end;) {
        const char *slash = memchr(from, '/', (size_t)(end - from));
        size_t length = (size_t)((slash != NULL ? slash : end) - from);
        if (length > 0 && out->size > before)
            buffer_byte(out, '/');
        if (length <= 2 && strspn(from, ".") >= length && length > 0)
            buffer_byte(out, '_'); /* "." and ".." are not allowed as a part */
        for (size_t i = 0; i < length; i++)
            buffer_byte(out, strchr(PLAIN, from[i]) != NULL ? from[i] : '_');
        from += length + 1;
    }
    if (out->failed)
        return;
    if (size > 0 && out->size - before == size && memcmp(out->bytes + before, key, size) == 0)
        return;
    size_t length = out->size - before < ROOM ? out->size - before : ROOM;
    if (length > 0)
        memcpy(cut, out->bytes + before, length);
    out->size = before;
    buffer_append(out, cut, length);

    uint32_t hash = 2166136261U; /* FNV-1a */
    for (const char *at = key; *at != '\0'; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619U;
    buffer_format(out, "-%08x", hash);
}

void mlflow_pair(struct buffer *out, const char *key, vitals_text value, size_t most)
{
    if (value.size > most) { /* cut at the begin of a UTF-8 character */
        while (most > 0 && ((unsigned char)value.bytes[most] & 0xc0) == 0x80)
            most--;
        value.size = most;
    }
    buffer_string(out, "{\"key\":\"");
    mlflow_key(out, key);
    buffer_string(out, "\",\"value\":\"");
    text_safe(out, value, VITALS_TEXT_JSON);
    buffer_string(out, "\"}");
}

/* ---- requests ---- */

/* Makes room for one more entry of this kind. */
static void begin(struct mlflow_batch *batch, enum mlflow_part part)
{
    if (batch->count > 0 && (batch->part != part || batch->count >= PARTS[part].most ||
                             batch->text.size >= MLFLOW_BODY_MOST))
        mlflow_batch_flush(batch);
    batch->part = part;
    buffer_string(&batch->text, batch->count++ == 0 ? PARTS[part].begin : ",");
}

void mlflow_batch_metric(struct mlflow_batch *batch, const char *key, double value, uint64_t ms,
                         uint64_t step)
{
    if (!isfinite(value))
        return;
    begin(batch, MLFLOW_METRICS);
    buffer_string(&batch->text, "{\"key\":\"");
    mlflow_key(&batch->text, key);
    buffer_string(&batch->text, "\",\"value\":");
    text_number(&batch->text, value);
    buffer_format(&batch->text, ",\"timestamp\":%llu,\"step\":%llu}", (unsigned long long)ms,
                  (unsigned long long)step);
}

void mlflow_batch_tag(struct mlflow_batch *batch, const char *key, vitals_text value)
{
    begin(batch, MLFLOW_TAGS);
    mlflow_pair(&batch->text, key, value, MLFLOW_TAG_MOST);
}

void mlflow_batch_setting(struct mlflow_batch *batch, const char *key, vitals_text value)
{
    if (value.size == 0)
        return;
    begin(batch, batch->tags_only ? MLFLOW_TAGS : MLFLOW_PARAMS);
    mlflow_pair(&batch->text, key, value, batch->tags_only ? MLFLOW_TAG_MOST : MLFLOW_PARAM_MOST);
}

void mlflow_batch_limit(struct mlflow_batch *batch, const char *key, double limit)
{
    struct buffer text = {.bytes = NULL};
    if (limit > 0)
        text_number(&text, limit);
    mlflow_batch_setting(batch, key, (vitals_text){text.bytes, text.size});
    buffer_done(&text);
}

void mlflow_batch_flush(struct mlflow_batch *batch)
{
    if (batch->count > 0) {
        buffer_string(&batch->text, "]}");
        if (!batch->text.failed)
            batch->emit(batch->data, &batch->text);
    }
    buffer_reset(&batch->text);
    batch->count = 0;
}

void mlflow_batch_done(struct mlflow_batch *batch)
{
    buffer_done(&batch->text);
    batch->count = 0;
}
