/* table_diagnosis.c: the table diagnosis: the parts of the machine that can be read, those that
 * cannot, and why.
 *
 * This file finds our own rights; the rows are in table_diagnosis_rights.c and _devices.c. Thread
 * rule: workers only. */
#include "os/linux/diagnosis/ourselves.h"
#include "os/linux/tables.h"

#include <errno.h>
#include <string.h>

/* ---- the system ---- */

static enum family family_of(struct span word)
{
    static const struct {
        const char *word;
        enum family family;
    } WORDS[] = {{"debian", FAMILY_DEBIAN},
                 {"ubuntu", FAMILY_UBUNTU},
                 {"fedora", FAMILY_FEDORA},
                 {"rhel", FAMILY_FEDORA},
                 {"centos", FAMILY_FEDORA},
                 {"arch", FAMILY_ARCH},
                 {"suse", FAMILY_SUSE},
                 {"opensuse-leap", FAMILY_SUSE},
                 {"opensuse-tumbleweed", FAMILY_SUSE},
                 {"sles", FAMILY_SUSE}};
    for (size_t i = 0; i < ARRAY_COUNT(WORDS); i++)
        if (span_equal(word, WORDS[i].word))
            return WORDS[i].family;
    return FAMILY_OTHER;
}

/* Takes the next word of plain letters; blanks and quotes separate words, anything else ends the
 * text. */
static bool next_plain(struct cursor *at, struct span *word)
{
    while (!cursor_done(at) && (*at->at == '"' || *at->at == '\'' || *at->at == ' '))
        at->at++;
    word->bytes = at->at;
    for (char byte; !cursor_done(at); at->at++) {
        byte = *at->at;
        if (!(byte >= 'a' && byte <= 'z') && !(byte >= '0' && byte <= '9') && byte != '-' &&
            byte != '_' && byte != '.')
            break;
    }
    word->size = (size_t)(at->at - word->bytes);
    return word->size > 0;
}

void ourselves_parse_release(struct span line, void *data)
{
    struct ourselves *out = data;
    struct cursor at = cursor_over(line.bytes, line.size);
    struct span word;
    if (cursor_literal(&at, "ID=")) {
        if (!next_plain(&at, &word) || word.size >= sizeof out->system)
            return;
        memcpy(out->system, word.bytes, word.size);
        out->system[word.size] = '\0';
        if (family_of(word) != FAMILY_OTHER)
            out->family = family_of(word);
    } else if (cursor_literal(&at, "ID_LIKE=")) {
        while (out->family == FAMILY_OTHER && next_plain(&at, &word))
            out->family = family_of(word);
    }
}

int table_diagnosis(const struct os *os, struct row_batch *out)
{
    struct ourselves self = {.os = os, .out = out};
    ourselves_read(&self);
    os_read_kernel(os, self.kernel, sizeof self.kernel);
    if (os->etc >= 0)
        (void)lines_each(os, os->etc, "os-release", ourselves_parse_release, &self);

    /* "5.15.153.1-microsoft-standard-WSL2", "4.4.0-19041-Microsoft": the first version of WSL has
     * no Linux kernel. */
    self.wsl = strcasestr(self.kernel, "microsoft") != NULL || strstr(self.kernel, "WSL") != NULL;
    self.old_wsl = self.wsl && strncmp(self.kernel, "4.4.", 4) == 0;

    self.rights = "# run it with sudo; or let all who run it read everybody's processes:\n"
                  "cd \"$(dirname \"$(command -v vitals)\")\"\n"
                  "sudo setcap cap_sys_ptrace,cap_dac_read_search,cap_perfmon,cap_net_admin+ep "
                  "vitals cap_sys_ptrace,cap_dac_read_search,cap_perfmon,cap_net_admin+ep "
                  "../libexec/vitals/vitals-full";
    if (self.users == PLACE_INNER)
        self.rights = "# rights of a user namespace count in it only: run it outside, as root";
    else if (self.pids == PLACE_INNER && !self.wsl)
        self.rights = "# add to the command that starts this container:\n"
                      "# docker run --cap-add SYS_PTRACE --cap-add DAC_READ_SEARCH --cap-add "
                      "PERFMON --cap-add NET_ADMIN ...";
    else if (self.no_new_privileges)
        self.rights = "# no_new_privs is set here: run it outside of this sandbox";
    diagnose_rights(&self);
    diagnose_devices(&self);
    return out->failed ? -ENOMEM : 0;
}
