/* Any bytes as the server's configuration: what is accepted holds only what can be used, each
 * mistake is one line that is safe to print. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "export/server/web_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void check(const struct web_config *config)
{
    require(config->tls == (config->files[WEB_FILE_CERTIFICATE].path != NULL));
    require(config->tls == (config->files[WEB_FILE_KEY].path != NULL));
    require(config->client >= WEB_CLIENT_NONE && config->client <= WEB_CLIENT_VERIFY);
    bool verifies = config->client == WEB_CLIENT_VERIFY ||
                    config->client == WEB_CLIENT_VERIFY_IF_GIVEN;
    require(verifies == (config->files[WEB_FILE_CLIENT_CA].path != NULL));
    require(config->name_count == 0 || verifies);
    for (size_t i = 0; i < config->users.count; i++) {
        require(strlen(config->users.list[i].name) < PASSWORD_USER);
        require(password_hash_fits(config->users.list[i].hash));
    }
    for (size_t i = 0; i < WEB_CONFIG_HEADERS; i++) {
        for (const char *at = config->headers[i].value; at != NULL && *at != '\0'; at++)
            require(*at >= ' ' && *at <= '~');
    }
    require(config->rate_burst >= 1);
    require(config->priorities != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct web_config *config = NULL;
    vitals_error error = {.code = 0};
    char *bytes = malloc(size + 1);
    require(bytes != NULL);
    memcpy(bytes, data, size);
    if (web_config_parse("web.yml", bytes, size, &config, &error) == 0) {
        check(config);
        web_config_free(config);
    } else {
        require(config == NULL && error.code != 0 && error.message[0] != '\0');
        for (const char *at = error.message; *at != '\0'; at++)
            require((unsigned char)*at >= ' ' && *at != 0x7f);
    }
    free(bytes);
    return 0;
}
