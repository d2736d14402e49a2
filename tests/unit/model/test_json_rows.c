/* Rows are found where they stand, whatever the strings between them hold; a document that has none
 * to take out is left whole; and what is found makes the document again. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "feed/json_rows.h"

static const struct {
    const char *document, *frame; /* NULL: nothing is taken out */
    size_t count;
} CASES[] = {
    {"{\"tables\":{\"gpu\":[{\"a\":1},{\"b\":[{}]}]}}", "{\"tables\":{\"gpu\":[ 0, 1]}}", 2},
    {"{\"tables\":{\"gpu\":[ {} ,\n{}\t],\"cpu\":[{}]},\"x\":[{}]}",
     "{\"tables\":{\"gpu\":[  0 ,\n 1\t],\"cpu\":[ 2]},\"x\":[{}]}", 3},
    {"{\"tables\":{\"gpu\":[{\"a\":\"]}\\\"{[\"}]}}", "{\"tables\":{\"gpu\":[ 0]}}", 1},
    /* no comma: the frame is no JSON, as the document is none */
    {"{\"tables\":{\"gpu\":[{}{}]}}", "{\"tables\":{\"gpu\":[ 0 1]}}", 2},
    {"{\"x\":\"tables\",\"y\":{\"gpu\":[{}]}}", NULL, 0},
    {"{\"x\":{\"tables\":{\"gpu\":[{}]}}}", NULL, 0},
    {"[{\"tables\":{\"gpu\":[{}]}}]", NULL, 0},
    {"{\"\\u0074ables\":{\"gpu\":[{}]}}", NULL, 0},
    {"{\"tables\":{\"gpu\":[]}}", NULL, 0},
    {"{\"tables\":{\"gpu\":{\"a\":{}}}}", NULL, 0},
    {"{\"tables\":[{}]}", NULL, 0},
    /* no object, and so not to be mistaken for the number of one */
    {"{\"tables\":{\"gpu\":[{},0]}}", NULL, 0},
    {"{\"tables\":{\"gpu\":[{},\"x\"]}}", NULL, 0},
    {"{\"tables\":{\"gpu\":[{},[]]}}", NULL, 0},
    /* cut off */
    {"{\"tables\":{\"gpu\":[{\"a\":1", NULL, 0},
    {"{\"tables\":{\"gpu\":[{\"a\\", NULL, 0},
    {"{\"tables", NULL, 0},
    {"}}}", NULL, 0},
    {"", NULL, 0},
};

static void rows_are_found(void)
{
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        struct json_rows rows = {.rows = NULL};
        const char *document = CASES[i].document;
        CHECK_CASE(document);
        CHECK_INT(json_rows_find(document, strlen(document), &rows), CASES[i].frame != NULL);
        CHECK_UINT(rows.count, CASES[i].count);
        if (CASES[i].frame != NULL) {
            CHECK_UINT(rows.frame_size, strlen(CASES[i].frame));
            CHECK(memcmp(rows.frame, CASES[i].frame, rows.frame_size) == 0);
        }
        json_rows_done(&rows);
    }
}

/* However many there are, more digits than a row has bytes included. */
static void many_rows_make_the_document_again(void)
{
    enum { ROWS = 20000 };
    static const char HEAD[] = "{\"tables\":{\"gpu\":[{}", TAIL[] = "]}}";
    static char document[sizeof HEAD + 3 * ROWS + sizeof TAIL];
    struct json_rows rows;
    size_t size = sizeof HEAD - 1;
    memcpy(document, HEAD, size);
    for (size_t i = 1; i < ROWS; i++, size += 3)
        memcpy(document + size, ",{}", 3);
    memcpy(document + size, TAIL, sizeof TAIL);
    size += sizeof TAIL - 1;
    CHECK_INT(json_rows_find(document, size, &rows), 1);
    CHECK_UINT(rows.count, ROWS);
    for (size_t i = 0; i < rows.count; i++) {
        CHECK_UINT(rows.rows[i].size, 2);
        CHECK(memcmp(document + rows.rows[i].at, "{}", 2) == 0);
    }
    const char *last = ", 19999]}}";
    CHECK(memcmp(rows.frame + rows.frame_size - strlen(last), last, strlen(last)) == 0);
    json_rows_done(&rows);
}

static const check_test tests[] = {
    {"rows are found", rows_are_found},
    {"many rows make the document again", many_rows_make_the_document_again},
};

CHECK_TESTS(tests)
