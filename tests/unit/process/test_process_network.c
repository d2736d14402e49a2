/* What went through the network namespace of a process: /proc/PID/net/dev where that is not ours.
 */
#include "gpu_tree.h"

#include "model/row_batch.h"
#include "util/memory.h"

#define HEAD                                                                                   \
    "Inter-|   Receive                                                |  Transmit\n"           \
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs " \
    "drop fifo colls carrier compressed\n"
#define LO "    lo: 900 9 0 0 0 0 0 0 900 9 0 0 0 0 0 0\n"

struct machine {
    struct gpu_tree tree;
    struct os os;
    struct row_batch batch;
};

static void begin(struct machine *machine, const char *theirs)
{
    *machine = (struct machine){.tree = gpu_tree_empty()};
    gpu_tree_text(&machine->tree, "sys/x", "");
    gpu_tree_text(&machine->tree, "proc/10/stat",
                  "10 (p) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 100 1000 1 "
                  "18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0\n");
    gpu_tree_link(&machine->tree, "proc/self/ns/net", "net:[4026531840]");
    gpu_tree_link(&machine->tree, "proc/10/ns/net", theirs);
    gpu_tree_open(&machine->tree, &machine->os);
}

static void end(struct machine *machine)
{
    batch_done(&machine->batch);
    gpu_tree_close(&machine->os);
    gpu_tree_free(&machine->tree);
}

static void check_told(struct machine *machine, int state, uint64_t received, uint64_t sent)
{
    struct metric_set wanted = {0};
    metric_set_add(&wanted, VITALS_PROCESS_NETWORK_RECEIVED_BYTES);
    metric_set_add(&wanted, VITALS_PROCESS_NETWORK_TRANSMITTED_BYTES);
    batch_reset(&machine->batch, &wanted);
    CHECK_NOT_NULL(batch_add_row(&machine->batch, VITALS_TABLE_PROCESS, 1, (struct span){"p", 1}));
    (void)os_process_metrics(&machine->os, 10, &machine->batch);
    const struct batch_row *row = &machine->batch.rows[0];
    const struct batch_cell *in = batch_find(&machine->batch, row,
                                             VITALS_PROCESS_NETWORK_RECEIVED_BYTES);
    const struct batch_cell *out = batch_find(&machine->batch, row,
                                              VITALS_PROCESS_NETWORK_TRANSMITTED_BYTES);
    CHECK_NOT_NULL(in);
    CHECK_NOT_NULL(out);
    CHECK_INT(in->state, state);
    CHECK_INT(out->state, state);
    if (state > 0) {
        CHECK_INT((long long)in->as.u64, (long long)received);
        CHECK_INT((long long)out->as.u64, (long long)sent);
    }
}

static void interfaces_are_summed_and_loopback_is_not(void)
{
    struct machine machine;
    begin(&machine, "net:[4026532000]");
    gpu_tree_text(&machine.tree, "proc/10/net/dev",
                  HEAD LO "  eth0: 1000 3 0 0 0 0 0 0 70 2 0 0 0 0 0 0\n"
                          "  eth1:  500 3 0 0 0 0 0 0  7 2 0 0 0 0 0 0\n");
    check_told(&machine, VITALS_HAVE, 1500, 77);
    gpu_tree_text(&machine.tree, "proc/10/net/dev", HEAD LO);
    check_told(&machine, VITALS_HAVE, 0, 0);
    end(&machine);
}

static void ours_is_told_elsewhere(void)
{
    struct machine machine;
    begin(&machine, "net:[4026531840]");
    gpu_tree_text(&machine.tree, "proc/10/net/dev", HEAD LO);
    check_told(&machine, VITALS_UNSUPPORTED, 0, 0);
    end(&machine);
}

static void what_no_kernel_would_give(void)
{
    static const struct {
        const char *label, *text;
        int state;
        uint64_t received, sent;
    } CASES[] = {
        {"nothing", "", VITALS_FAILED, 0, 0},
        {"no numbers", HEAD "eth0: x y z\n", VITALS_FAILED, 0, 0},
        {"a line that is cut", HEAD "eth0: 1 2 3 4 5 6 7 8 9\neth1: 5 6", VITALS_LOWER_BOUND, 1, 9},
        {"more than there can be",
         HEAD "eth0: 18446744073709551615 0 0 0 0 0 0 0 18446744073709551615 0 0 0 0 0 0 0\n"
              "eth1: 18446744073709551615 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0\n",
         VITALS_HAVE, UINT64_MAX, UINT64_MAX},
    };
    struct machine machine;
    begin(&machine, "net:[4026532000]");
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].label);
        gpu_tree_text(&machine.tree, "proc/10/net/dev", CASES[i].text);
        check_told(&machine, CASES[i].state, CASES[i].received, CASES[i].sent);
    }
    end(&machine);
    begin(&machine, "nothing:[x]");
    check_told(&machine, VITALS_FAILED, 0, 0);
    end(&machine);
    begin(&machine, "net:[4026532000]"); /* a kernel without networks */
    check_told(&machine, VITALS_UNSUPPORTED, 0, 0);
    end(&machine);
}

static void nothing_is_left_behind(void)
{
    struct machine machine;
    int64_t before = memory_live();
    begin(&machine, "net:[4026532000]");
    gpu_tree_text(&machine.tree, "proc/10/net/dev", HEAD LO);
    check_told(&machine, VITALS_HAVE, 0, 0);
    end(&machine);
    CHECK_INT(memory_live(), before);
}

static const struct check_test tests[] = {
    {"interfaces are summed and loopback is not", interfaces_are_summed_and_loopback_is_not},
    {"ours is told elsewhere", ours_is_told_elsewhere},
    {"what no kernel would give", what_no_kernel_would_give},
    {"nothing is left behind", nothing_is_left_behind},
};
CHECK_TESTS(tests)
