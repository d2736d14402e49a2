/* Any text as an address: of MLflow, of OTLP, to listen at. No login of it is ever shown, and what
 * is accepted is accepted again. The part behind a NUL is a second address, compared with the
 * first. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "export/address.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void check_line(const char *text)
{
    for (; *text != '\0'; text++)
        require((unsigned char)*text >= ' ' && (unsigned char)*text != 0x7f);
}

static void check_error(int code, const vitals_error *error)
{
    require(code <= 0);
    if (code < 0)
        require(error->message[0] != '\0');
    if (code < 0)
        check_line(error->message);
}

static void check_one(const char *address)
{
    vitals_error error = {.message = ""};
    char shown[200], tiny[4];
    address_show(address, shown, sizeof shown);
    require(strlen(shown) < sizeof shown);
    check_line(shown);
    address_show(address, tiny, sizeof tiny);
    require(strlen(tiny) < sizeof tiny);
    const char *behind = address_behind_login(address);
    require(behind >= address && behind <= address + strlen(address));
    check_error(address_check_mlflow(address, &error), &error);
    check_error(address_check_listen(address, &error), &error);
    check_line(address_hint(address));
    if (address_is_web(address))
        require(address_is_same(address, address));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *first = malloc(size + 2);
    require(first != NULL);
    memcpy(first, data, size);
    first[size] = first[size + 1] = '\0';
    const char *second = first + strlen(first) + 1;
    check_one(first);
    if (second < first + size) {
        check_one(second);
        require(address_is_same(first, second) == address_is_same(second, first));
    }
    free(first);
    return 0;
}
