/* unprivileged.c: see unprivileged.h. */
#include "export/server/unprivileged.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "export/environment.h"
#include "export/reply.h"
#include "record/sample.h"

/* The overflow uid, "nobody". The name is not looked up, because that could wait for a name
 * server. */
enum { NOBODY = 65534 };

/* Publishers that write files, possibly to folders of root. */
static const char *const WRITERS[] = {"textfile", "mlflow", "tensorboard"};

static int drop(vitals_error *error)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || setgroups(0, NULL) != 0 ||
        setresgid(NOBODY, NOBODY, NOBODY) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0)
        return record_fail_errno(errno, "giving up root's rights", error);
    return 0;
}

/* Returns the first file of the configuration that can no longer be read, or NULL. */
static const char *out_of_reach(const struct web_config *config)
{
    for (size_t i = 0; config != NULL && i < WEB_CONFIG_FILES; i++) {
        if (config->files[i].path != NULL &&
            faccessat(AT_FDCWD, config->files[i].path, R_OK, AT_EACCESS) != 0)
            return config->files[i].path;
    }
    return NULL;
}

/* Returns whether another publisher opens files later. */
static bool others_need_root(const json_t *hello)
{
    bool need = environment_get("OTEL_EXPORTER_OTLP_CLIENT_KEY") != NULL ||
                environment_get("OTEL_EXPORTER_OTLP_METRICS_CLIENT_KEY") != NULL;
    need &= json_object_get(hello, "otlp") != NULL;
    for (size_t i = 0; i < sizeof WRITERS / sizeof WRITERS[0]; i++)
        need |= json_object_get(hello, WRITERS[i]) != NULL;
    return need;
}

int unprivileged_become(const json_t *hello, const struct web_config *config, vitals_error *error)
{
    if (geteuid() != 0 || others_need_root(hello))
        return 0;
    int code = drop(error);
    const char *path = code == 0 ? out_of_reach(config) : NULL;
    if (path != NULL)
        reply_say("only root can read %s: when it changes, restart the server to take it", path);
    return code;
}
