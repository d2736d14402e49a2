/* Any bytes as the file of a list of machines, and up to their first NUL as the list itself: there
 * are never more machines than the limit, each has an address that a client takes, whose name shows
 * no login, and a mistake is one line that is safe to print. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "export/address.h"
#include "fleet/host_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void check(int code, const vitals_error *error, struct host_list *list)
{
    require(list->count <= HOSTS_MOST);
    if (code < 0)
        require(error->message[0] != '\0');
    for (const char *at = code < 0 ? error->message : ""; *at != '\0'; at++)
        require((unsigned char)*at >= ' ' && (unsigned char)*at < 0x7f);
    for (size_t i = 0; code == 0 && i < list->count; i++) {
        require(address_is_web(list->items[i].url));
        require(strpbrk(list->items[i].name, "@/ \r\n") == NULL && list->items[i].name[0] != '-');
        require(strstr(list->items[i].url, list->items[i].name) != NULL);
    }
    host_list_done(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct host_list list = {.items = NULL};
    vitals_error error = {.message = ""};
    char *words = malloc(size + 1);
    require(words != NULL);
    memcpy(words, data, size);
    words[size] = '\0';
    check(host_list_parse_file("hosts", words, size, 9847, &list, &error), &error, &list);
    if (memchr(words, '@', size) == NULL) /* no other file is read */
        check(host_list_parse(words, 9847, &list, &error), &error, &list);
    free(words);
    return 0;
}
