/* jansson.c: jansson's functions under their own names, each of which opens that library at the
 * first call (library.h): no start of a command pays for it, and who reads JSON includes
 * <jansson.h> as ever. A function that the command calls stands in the list; one that does not is a
 * link error.
 *
 * They are hidden, so that jansson's own calls stay its own. Without the library nothing is made
 * and nothing is read: what comes of it is what comes of no memory, and json_load… says why. Thread
 * rule: any thread. */
#if VITALS_WITH_JANSSON
#include <jansson.h>

#include <stddef.h>
#include <stdio.h>

#include "feed/library.h"

/* What it gives, its name, what it takes, and that again without types. */
#define JANSSON_FUNCTIONS(FUNCTION)                                                             \
    FUNCTION(json_t *, json_array, (void), ())                                                  \
    FUNCTION(int, json_array_append_new, (json_t * array, json_t * value), (array, value))      \
    FUNCTION(json_t *, json_array_get, (const json_t *array, size_t place), (array, place))     \
    FUNCTION(size_t, json_array_size, (const json_t *array), (array))                           \
    FUNCTION(json_t *, json_deep_copy, (const json_t *value), (value))                          \
    FUNCTION(char *, json_dumps, (const json_t *value, size_t flags), (value, flags))           \
    FUNCTION(json_t *, json_false, (void), ())                                                  \
    FUNCTION(json_t *, json_integer, (json_int_t value), (value))                               \
    FUNCTION(json_int_t, json_integer_value, (const json_t *value), (value))                    \
    FUNCTION(double, json_number_value, (const json_t *value), (value))                         \
    FUNCTION(json_t *, json_object, (void), ())                                                 \
    FUNCTION(int, json_object_del, (json_t * object, const char *key), (object, key))           \
    FUNCTION(json_t *, json_object_get, (const json_t *object, const char *key), (object, key)) \
    FUNCTION(void *, json_object_iter, (json_t * object), (object))                             \
    FUNCTION(const char *, json_object_iter_key, (void *at), (at))                              \
    FUNCTION(void *, json_object_iter_next, (json_t * object, void *at), (object, at))          \
    FUNCTION(json_t *, json_object_iter_value, (void *at), (at))                                \
    FUNCTION(void *, json_object_key_to_iter, (const char *key), (key))                         \
    FUNCTION(int, json_object_set_new, (json_t * object, const char *key, json_t *value),       \
             (object, key, value))                                                              \
    FUNCTION(double, json_real_value, (const json_t *value), (value))                           \
    FUNCTION(json_t *, json_string, (const char *text), (text))                                 \
    FUNCTION(size_t, json_string_length, (const json_t *value), (value))                        \
    FUNCTION(const char *, json_string_value, (const json_t *value), (value))                   \
    FUNCTION(json_t *, json_stringn, (const char *text, size_t size), (text, size))             \
    FUNCTION(json_t *, json_true, (void), ())

#define HIDDEN __attribute__((visibility("hidden")))

static struct {
#define MEMBER(result, name, parameters, arguments) result(*name) parameters;
    JANSSON_FUNCTIONS(MEMBER)
#undef MEMBER
    void (*json_delete)(json_t *value);
    json_t *(*json_loadb)(const char *bytes, size_t size, size_t flags, json_error_t *error);
    json_t *(*json_loads)(const char *text, size_t flags, json_error_t *error);
} jansson;

static const char *missing(void)
{
#define SYMBOL(result, name, parameters, arguments) {#name, offsetof(__typeof__(jansson), name)},
    static const struct library_symbol SYMBOLS[] = {
        JANSSON_FUNCTIONS(SYMBOL) //
        {"json_delete", offsetof(__typeof__(jansson), json_delete)},
        {"json_loadb", offsetof(__typeof__(jansson), json_loadb)},
        {"json_loads", offsetof(__typeof__(jansson), json_loads)},
    };
#undef SYMBOL
    static struct library library = {.file = "libjansson.so.4",
                                     .table = &jansson,
                                     .symbols = SYMBOLS,
                                     .count = sizeof(SYMBOLS) / sizeof(SYMBOLS[0])};
    return library_missing(&library);
}

/* Of no library all give 0 or NULL. */
#define DEFINE(result, name, parameters, arguments)                    \
    HIDDEN result name parameters                                      \
    {                                                                  \
        return missing() == NULL ? jansson.name arguments : (result)0; \
    }
JANSSON_FUNCTIONS(DEFINE)
#undef DEFINE

HIDDEN void json_delete(json_t *value)
{
    if (missing() == NULL)
        jansson.json_delete(value);
}

static json_t *cannot(json_error_t *error, const char *why)
{
    if (error != NULL) {
        *error = (json_error_t){.line = -1, .column = -1};
        (void)snprintf(error->text, sizeof(error->text), "%s", why);
    }
    return NULL;
}

HIDDEN json_t *json_loadb(const char *bytes, size_t size, size_t flags, json_error_t *error)
{
    const char *why = missing();
    return why == NULL ? jansson.json_loadb(bytes, size, flags, error) : cannot(error, why);
}

HIDDEN json_t *json_loads(const char *text, size_t flags, json_error_t *error)
{
    const char *why = missing();
    return why == NULL ? jansson.json_loads(text, flags, error) : cannot(error, why);
}
#else
typedef int jansson_is_left_out;
#endif
