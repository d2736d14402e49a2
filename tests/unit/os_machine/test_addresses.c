/* The table network_address: from lists as the C library gives them, and of this machine. */
#include "check.h"

#include "os/linux/sockets/sockets.h"
#include "os/linux/tables.h"
#include "util/memory.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static struct row_batch batch;

static void want_everything(void)
{
    struct metric_set wanted = {0};
    for (vitals_metric metric = 0; (metric = vitals_metric_next(metric)) != 0;)
        if (vitals_metric_table(metric) == VITALS_TABLE_NETWORK_ADDRESS)
            metric_set_add(&wanted, metric);
    batch_reset(&batch, &wanted);
}

static const char *shown(const struct batch_row *row, vitals_metric metric)
{
    static char texts[8][128];
    static unsigned turn;
    char *out = texts[turn++ % CHECK_COUNT(texts)];
    const struct batch_cell *cell = batch_find(&batch, row, metric);
    if (cell == NULL)
        return "<unset>";
    if (cell->state <= 0)
        snprintf(out, sizeof texts[0], "<%s>", vitals_availability_name(cell->state));
    else if (vitals_metric_type(metric) == VITALS_U64)
        snprintf(out, sizeof texts[0], "%llu", (unsigned long long)cell->as.u64);
    else
        snprintf(out, sizeof texts[0], "%.*s", (int)cell->as.text.size,
                 batch_span(&batch, cell).bytes);
    return out;
}

/* "eth0 inet 10.0.0.5/24 255.255.255.0 [10.0.0.255] []" */
static const char *line_of(const struct batch_row *row)
{
    static char line[1024];
    snprintf(line, sizeof line, "%s %s %s/%s %s [%s] [%s]",
             shown(row, VITALS_NETWORK_ADDRESS_INTERFACE),
             shown(row, VITALS_NETWORK_ADDRESS_FAMILY), shown(row, VITALS_NETWORK_ADDRESS_ADDRESS),
             shown(row, VITALS_NETWORK_ADDRESS_PREFIX_LENGTH),
             shown(row, VITALS_NETWORK_ADDRESS_NETMASK),
             shown(row, VITALS_NETWORK_ADDRESS_BROADCAST), shown(row, VITALS_NETWORK_ADDRESS_PEER));
    return line;
}

/* As long as the C library's: more than sockaddr_ll, for Infiniband. */
union address {
    struct sockaddr any;
    struct sockaddr_in inet;
    struct sockaddr_in6 inet6;
    struct sockaddr_ll link;
    char room[64];
};

static union address address_of(int family, const char *text)
{
    union address address = {.any.sa_family = (sa_family_t)family};
    void *out = family == AF_INET ? (void *)&address.inet.sin_addr
                                  : (void *)&address.inet6.sin6_addr;
    CHECK_INT(inet_pton(family, text, out), 1);
    return address;
}

static union address link_of(unsigned char size)
{
    union address address = {.link = {.sll_family = AF_PACKET, .sll_halen = size}};
    for (size_t i = 0; i < size && i < 24; i++)
        address.room[offsetof(struct sockaddr_ll, sll_addr) + i] = (char)(0xA0 + i);
    return address;
}

static const char *line_for(const char *name, unsigned flags, union address *address,
                            union address *mask, union address *other)
{
    struct ifaddrs item = {.ifa_name = (char *)(uintptr_t)name, .ifa_flags = flags};
    item.ifa_addr = &address->any;
    item.ifa_netmask = mask != NULL ? &mask->any : NULL;
    item.ifa_broadaddr = other != NULL ? &other->any : NULL;
    want_everything();
    addresses_write(&item, &batch);
    return batch.row_count == 1 ? line_of(&batch.rows[0]) : "no row";
}

static void internet_addresses_have_masks(void)
{
    union address own = address_of(AF_INET, "10.0.0.5");
    union address mask = address_of(AF_INET, "255.255.240.0");
    union address other = address_of(AF_INET, "10.0.15.255");
    CHECK_STR(line_for("eth0", IFF_BROADCAST, &own, &mask, &other),
              "eth0 inet 10.0.0.5/20 255.255.240.0 [10.0.15.255] []");
    CHECK_STR(line_for("lo", IFF_LOOPBACK, &own, &mask, &other),
              "lo inet 10.0.0.5/20 255.255.240.0 [] []");
    CHECK_STR(line_for("tun0", IFF_POINTOPOINT, &own, &mask, &other),
              "tun0 inet 10.0.0.5/20 255.255.240.0 [] [10.0.15.255]");
    // Where there is none, the C library gives the address itself.
    CHECK_STR(line_for("eth0", IFF_BROADCAST, &own, &mask, &own),
              "eth0 inet 10.0.0.5/20 255.255.240.0 [] []");
    CHECK_STR(line_for("eth0", IFF_BROADCAST, &own, NULL, NULL),
              "eth0 inet 10.0.0.5/<unsupported> <unsupported> [] []");
    mask = address_of(AF_INET, "0.0.0.0");
    CHECK_STR(line_for("x", 0, &own, &mask, NULL), "x inet 10.0.0.5/0 0.0.0.0 [] []");
}

static void link_local_addresses_have_scopes(void)
{
    union address own = address_of(AF_INET6, "fe80::1");
    union address mask = address_of(AF_INET6, "ffff:ffff:ffff:ffff::");
    own.inet6.sin6_scope_id = if_nametoindex("lo");
    CHECK_STR(line_for("lo", 0, &own, &mask, NULL),
              "lo inet6 fe80::1%lo/64 ffff:ffff:ffff:ffff:: [] []");
    own.inet6.sin6_scope_id = 2000000000; // an interface that has just left
    CHECK_STR(line_for("gone", 0, &own, &mask, NULL),
              "gone inet6 fe80::1%2000000000/64 ffff:ffff:ffff:ffff:: [] []");
    mask = address_of(AF_INET6, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
    own = address_of(AF_INET6, "::1");
    CHECK_STR(line_for("lo", 0, &own, &mask, NULL),
              "lo inet6 ::1/128 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff [] []");
}

static void hardware_addresses_have_any_length(void)
{
    union address six = link_of(6), none = link_of(0), twenty = link_of(20), liar = link_of(255);
    CHECK_STR(line_for("eth0", IFF_BROADCAST, &six, NULL, &six),
              "eth0 link a0:a1:a2:a3:a4:a5/<unsupported> <unsupported> [] []");
    CHECK_STR(line_for("tun0", 0, &none, NULL, NULL),
              "tun0 link /<unsupported> <unsupported> [] []");
    CHECK_STR(line_for("ib0", 0, &twenty, NULL, NULL),
              "ib0 link a0:a1:a2:a3:a4:a5:a6:a7:a8:a9:aa:ab:ac:ad:ae:af:b0:b1:b2:b3/<unsupported> "
              "<unsupported> [] []");
    CHECK_CONTAINS(line_for("x", 0, &liar, NULL, NULL), ":b7/"); // 24 bytes are kept, not more
}

static void what_is_no_address_is_passed_over(void)
{
    union address strange = {.any.sa_family = AF_UNIX};
    struct ifaddrs without = {.ifa_name = (char *)(uintptr_t) "tun9"};
    struct ifaddrs first = {.ifa_next = &without, .ifa_addr = &strange.any};
    first.ifa_name = without.ifa_name;
    want_everything();
    addresses_write(&first, &batch);
    addresses_write(NULL, &batch);
    CHECK_UINT(batch.row_count, 0);
}

static struct os open_os(void)
{
    vitals_options options;
    vitals_options_init(&options, sizeof options);
    struct os os;
    vitals_error error;
    CHECK_OK(os_open(&os, &options, &error), error);
    return os;
}

static void this_machine_has_its_loopback(void)
{
    struct os os = open_os();
    want_everything();
    int result = os_read_table(&os, VITALS_TABLE_NETWORK_ADDRESS, &batch);
    bool found = false;
    for (size_t i = 0; i < batch.row_count; i++)
        found |= strcmp(line_of(&batch.rows[i]), "lo inet 127.0.0.1/8 255.0.0.0 [] []") == 0;
    os.live = false; // another machine's /proc: these are not its addresses
    want_everything();
    int elsewhere = os_read_table(&os, VITALS_TABLE_NETWORK_ADDRESS, &batch);
    os_close(&os);
    CHECK_INT(elsewhere, -ENOTSUP);
    CHECK_INT(result, 0);
    if (!found)
        CHECK_SKIP("the loopback interface is down here");
}

static void the_nth_allocation_may_fail(void)
{
    struct os os = open_os();
    int result = -ENOMEM;
    for (uint64_t nth = 1; result == -ENOMEM; nth++) {
        batch_done(&batch);
        int64_t live = memory_live();
        want_everything();
        memory_fail_at(nth);
        result = os_read_table(&os, VITALS_TABLE_NETWORK_ADDRESS, &batch);
        memory_fail_at(0);
        CHECK(result == -ENOMEM || result == 0);
        batch_done(&batch);
        CHECK_INT(memory_live(), live);
        CHECK(nth < 200);
    }
    os_close(&os);
}

static const check_test tests[] = {
    {"internet addresses have masks", internet_addresses_have_masks},
    {"link-local addresses have scopes", link_local_addresses_have_scopes},
    {"hardware addresses have any length", hardware_addresses_have_any_length},
    {"what is no address is passed over", what_is_no_address_is_passed_over},
    {"this machine has its loopback", this_machine_has_its_loopback},
    {"the nth allocation may fail", the_nth_allocation_may_fail},
};
CHECK_TESTS(tests)
