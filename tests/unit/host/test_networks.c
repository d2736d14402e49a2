/* The table network and its sums: what each interface is, and whose traffic is counted. */
#include "host_world.h"

static void a_host_of_containers_counts_its_hardware(void)
{
    static const struct {
        const char *name, *type;
        int counted;
    } expected[] = {
        {"lo", "loopback", 0},     {"enp1s0", "ethernet", 1}, {"enp2s0", "ethernet", 1},
        {"enp3s0", "ethernet", 1}, {"bond0", "bond", 0},      {"bond0.5", "vlan", 0},
        {"wlp4s0", "wireless", 1}, {"docker0", "bridge", 0},  {"veth1a2b3c4", "veth", 0},
        {"vethffff", "veth", 0},   {"cali123", "veth", 0},    {"mac0", "virtual", 0},
        {"tun0", "tunnel", 0},     {"wg0", "tunnel", 0},      {"dummy0", "virtual", 0},
        {"ifb0", "virtual", 0},
    };
    vitals_snapshot *snapshot = host_take_fixture("docker_host");
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_NETWORK), CHECK_COUNT(expected));
    for (size_t i = 0; i < CHECK_COUNT(expected); i++) {
        CHECK_CASE(expected[i].name);
        const vitals_row *row = host_row(snapshot, VITALS_TABLE_NETWORK, expected[i].name);
        host_check_text(row, VITALS_NETWORK_TYPE, expected[i].type);
        host_check(row, VITALS_NETWORK_COUNTED, expected[i].counted);
    }
    const vitals_row *host = vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL);
    host_check(host, VITALS_HOST_NETWORK_RECEIVED_BYTES, 5000 + 600 + 700 + 40);
    host_check(host, VITALS_HOST_NETWORK_TRANSMITTED_BYTES, 500 + 60 + 70 + 4);
    host_check(host, VITALS_HOST_NETWORK_RECEIVED_PACKETS, 500 + 60 + 70 + 4);
    host_check(host, VITALS_HOST_NETWORK_TRANSMITTED_PACKETS, 50 + 6 + 7);
    vitals_snapshot_unref(snapshot);
}

static void every_column(void)
{
    vitals_snapshot *snapshot = host_take_fixture("docker_host");
    const vitals_row *row = host_row(snapshot, VITALS_TABLE_NETWORK, "enp1s0");
    host_check_text(row, VITALS_NETWORK_NAME, "enp1s0");
    host_check(row, VITALS_NETWORK_RECEIVED_BYTES, 5000);
    host_check(row, VITALS_NETWORK_RECEIVED_PACKETS, 500);
    host_check(row, VITALS_NETWORK_RECEIVE_ERRORS, 1);
    host_check(row, VITALS_NETWORK_RECEIVE_DROPS, 2);
    host_check(row, VITALS_NETWORK_TRANSMITTED_BYTES, 500);
    host_check(row, VITALS_NETWORK_TRANSMITTED_PACKETS, 50);
    host_check(row, VITALS_NETWORK_TRANSMIT_ERRORS, 7);
    host_check(row, VITALS_NETWORK_TRANSMIT_DROPS, 8);
    host_check(row, VITALS_NETWORK_UP, 1);
    host_check_text(row, VITALS_NETWORK_STATE, "up");
    host_check(row, VITALS_NETWORK_MTU_BYTES, 1500);
    host_check(row, VITALS_NETWORK_SPEED_BYTES_PER_SECOND, 125000000);
    host_check_text(row, VITALS_NETWORK_DUPLEX, "full");
    host_check_text(row, VITALS_NETWORK_HARDWARE_ADDRESS, "52:54:00:12:34:56");
    host_check_text(row, VITALS_NETWORK_FLAGS, "up,broadcast,running,multicast");

    row = host_row(snapshot, VITALS_TABLE_NETWORK, "enp2s0"); // up, but no cable
    host_check(row, VITALS_NETWORK_UP, 0);
    host_check_state(row, VITALS_NETWORK_SPEED_BYTES_PER_SECOND, VITALS_UNSUPPORTED);
    host_check_text(row, VITALS_NETWORK_FLAGS, "up,broadcast,multicast");
    row = host_row(snapshot, VITALS_TABLE_NETWORK, "lo");
    host_check(row, VITALS_NETWORK_UP, 1);
    host_check_text(row, VITALS_NETWORK_FLAGS, "up,loopback,running");
    host_check_state(row, VITALS_NETWORK_DUPLEX, VITALS_UNSUPPORTED);
    vitals_snapshot_unref(snapshot);
}

/* A macvlan has no type of its own in /sys, but stands on something: a veth does not. */
static void a_container_counts_what_leads_out(void)
{
    static const struct {
        const char *name, *type;
        int counted;
    } expected[] = {
        {"lo", "loopback", 0},  {"eth0", "veth", 1}, {"eth0.5", "vlan", 0},
        {"mac0", "virtual", 0}, {"net1", "veth", 1}, // its parent is not seen
    };
    vitals_snapshot *snapshot = host_take_fixture("container_vlan");
    for (size_t i = 0; i < CHECK_COUNT(expected); i++) {
        CHECK_CASE(expected[i].name);
        const vitals_row *row = host_row(snapshot, VITALS_TABLE_NETWORK, expected[i].name);
        host_check_text(row, VITALS_NETWORK_TYPE, expected[i].type);
        host_check(row, VITALS_NETWORK_COUNTED, expected[i].counted);
    }
    vitals_snapshot_unref(snapshot);
}

/* What is counted in other places, and what the sums are of every kernel's list. */
static void sums(void)
{
    static const struct {
        const char *fixture;
        int state;
        double received, transmitted;
    } expected[] = {
        {"container_veth", VITALS_HAVE, 300, 30},   // all there is
        {"container_vlan", VITALS_HAVE, 700, 70},   // the veth, and a macvlan of another's
        {"container_bridge", VITALS_HAVE, 300, 30}, // its port, not the bridge as well
        {"container_tunnel", VITALS_HAVE, 300, 30}, // likewise
        {"accelerated", VITALS_HAVE, 3000, 300},    // not once more for the part
        {"modern", VITALS_HAVE, 5000500, 600060},
        {"old_kernel", VITALS_HAVE, 4000000000, 3000000000},
        {"tight_lines", VITALS_HAVE, 1, 9},
        {"cut", VITALS_LOWER_BOUND, 500, 900},
        {"hostile", VITALS_LOWER_BOUND, 1001, 2002}, // aliases stand on others
        {"four_times", VITALS_UNSUPPORTED, 0, 0},
        {"empty", VITALS_UNSUPPORTED, 0, 0},
        {"only_loopback", VITALS_HAVE, 0, 0}, // nothing could carry any
    };
    for (size_t i = 0; i < CHECK_COUNT(expected); i++) {
        CHECK_CASE(expected[i].fixture);
        vitals_snapshot *snapshot = host_take_fixture(expected[i].fixture);
        const vitals_row *host = vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL);
        host_check_state(host, VITALS_HOST_NETWORK_TRANSMITTED_BYTES, expected[i].state);
        if (expected[i].state > 0) {
            host_check(host, VITALS_HOST_NETWORK_TRANSMITTED_BYTES, expected[i].transmitted);
            if (strcmp(expected[i].fixture, "cut") != 0)
                host_check(host, VITALS_HOST_NETWORK_RECEIVED_BYTES, expected[i].received);
        }
        vitals_snapshot_unref(snapshot);
    }
}

static const check_test tests[] = {
    {"a host of containers counts its hardware", a_host_of_containers_counts_its_hardware},
    {"every column", every_column},
    {"a container counts what leads out", a_container_counts_what_leads_out},
    {"sums", sums},
};
CHECK_TESTS(tests)
