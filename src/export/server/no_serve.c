/* no_serve.c: the publisher `serve` in a build without libmicrohttpd: fails with the reason. */
#include "export/publisher.h"
#include "feed/built_without.h"
#include "record/sample.h"
#include "util/base.h"

static int refuse(const json_t *config UNUSED, const json_t *export_config UNUSED,
                  void **data UNUSED, vitals_error *error)
{
    return record_fail(VITALS_EUNSUPPORTED, "serve", error, BUILT_WITHOUT_SERVER);
}

const struct publisher publisher_serve = {.name = "serve", .open = refuse};
