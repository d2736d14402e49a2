/* From sweeps to the processes of a device: which one is charged, ratios of counters, memory. */
#include "check.h"

#include "gpu/clients.h"
#include "util/memory.h"

static struct sweep_client items[64];
static struct gpu_sweep sweep;
static struct clients clients;
static struct gpu_processes list;
static struct gpu_identity device;
static bool unified;

static void begin(void)
{
    clients_done(&clients);
    memset(items, 0, sizeof items);
    sweep = (struct gpu_sweep){.stamp_ns = NS_PER_SECOND, .state = VITALS_HAVE, .clients = items};
    device = (struct gpu_identity){.parent_slot = -1,
                                   .pci_bus_id = "0000:03:00.0",
                                   .nodes = {{226, 128}, {226, 0}},
                                   .node_count = 2};
    unified = false;
}

/* A client of the device, with what its driver says. In the order of pids, as a sweep is. */
static struct sweep_client *add(int64_t pid, uint64_t start, const char *fdinfo)
{
    struct sweep_client *client = &items[sweep.count++];
    CHECK(sweep_parse((struct span){fdinfo, strlen(fdinfo)}, client));
    client->pid = pid;
    client->start_ticks = start;
    client->is_broker = pid == 1;
    client->major = 226;
    client->minor = 128;
    client->stamp_ns = sweep.stamp_ns;
    return client;
}

static void update(void)
{
    memset(&list, 0, sizeof list);
    clients_update(&clients, &device, unified, &sweep, &list);
}

/* The next sweep, so many milliseconds later. */
static void later(uint64_t ms)
{
    sweep.stamp_ns += ms * NS_PER_MS;
    for (size_t i = 0; i < sweep.count; i++)
        items[i].stamp_ns = sweep.stamp_ns;
}

static void again(uint64_t ms)
{
    later(ms);
    sweep.count = 0;
}

static const struct gpu_process *of(int64_t pid)
{
    for (uint32_t i = 0; i < list.count; i++) {
        if (list.items[i].pid == pid)
            return &list.items[i];
    }
    CHECK_FAIL("no process %lld", (long long)pid);
}

static struct value at(int64_t pid, vitals_metric metric)
{
    return of(pid)->at[metric_number(metric)];
}

static void check_f64(struct value value, double number, vitals_availability state)
{
    CHECK_INT(value.state, state);
    CHECK_NEAR(value.as.f64, number, 1e-9);
}

static void check_u64(struct value value, uint64_t number, vitals_availability state)
{
    CHECK_INT(value.state, state);
    CHECK_UINT(value.as.u64, number);
}

#define RATIO   VITALS_GPU_PROCESS_UTILIZATION_RATIO
#define CHARGED VITALS_GPU_PROCESS_CHARGED_PID
#define MEMORY  VITALS_GPU_PROCESS_MEMORY_USED_BYTES
#define SYSTEM  VITALS_GPU_PROCESS_SYSTEM_MEMORY_BYTES

static void without_a_sweep_nothing_is_known(void)
{
    begin();
    clients_update(&clients, &device, unified, NULL, &list);
    CHECK_INT(list.state, VITALS_NOT_YET);
    CHECK_UINT(list.count, 0);
    sweep.state = VITALS_DENIED;
    update();
    CHECK_INT(list.state, VITALS_DENIED);
    sweep.state = VITALS_HAVE;
    update();
    CHECK_INT(list.state, VITALS_HAVE);
    CHECK_UINT(list.count, 0);
    CHECK_FALSE(list.cut);
}

static void who_may_not_be_seen_makes_the_list_incomplete(void)
{
    begin();
    sweep.denied = 1;
    update();
    CHECK(list.cut);
    sweep.denied = 0;
    sweep.cut = true;
    update();
    CHECK(list.cut);
}

static void a_ratio_needs_two_sweeps(void)
{
    begin();
    add(7, 60, "drm-driver: i915\ndrm-client-id: 1\ndrm-engine-render: 5000000000 ns\n");
    update();
    CHECK_UINT(list.count, 1);
    CHECK_INT(of(7)->is_ours, VITALS_HAVE);
    CHECK_UINT(of(7)->start_ticks, 60);
    CHECK_UINT(of(7)->uses, GPU_GRAPHICS);
    CHECK_INT(at(7, RATIO).state, VITALS_NOT_YET);
    check_f64(at(7, VITALS_GPU_PROCESS_GRAPHICS_SECONDS), 5, VITALS_HAVE);
    check_f64(at(7, VITALS_GPU_PROCESS_BUSY_SECONDS), 0, VITALS_HAVE);
    CHECK_INT(at(7, MEMORY).state, VITALS_UNSUPPORTED);
    again(500);
    add(7, 60, "drm-driver: i915\ndrm-client-id: 1\ndrm-engine-render: 5250000000 ns\n");
    update();
    check_f64(at(7, RATIO), 0.5, VITALS_HAVE);
    check_f64(at(7, VITALS_GPU_PROCESS_GRAPHICS_SECONDS), 5.25, VITALS_HAVE);
    check_f64(at(7, VITALS_GPU_PROCESS_BUSY_SECONDS), 0.25, VITALS_HAVE);
    CHECK_INT(at(7, VITALS_GPU_PROCESS_COMPUTE_SECONDS).state, VITALS_UNSET);
    update(); // the same sweep once more
    check_f64(at(7, RATIO), 0.5, VITALS_HAVE);
    check_f64(at(7, VITALS_GPU_PROCESS_GRAPHICS_SECONDS), 5.25, VITALS_HAVE);
}

/* Two engines of a kind do twice the work, and the busiest kind is the headline. */
static void a_ratio_is_of_all_engines_of_its_kind(void)
{
    begin();
    for (int i = 0; i < 2; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "drm-driver: i915\ndrm-client-id: 1\ndrm-engine-video: %d000000 ns\n"
                 "drm-engine-capacity-video: 2\ndrm-engine-copy: %d000000 ns\n",
                 i * 800, i * 300);
        again(1000);
        add(7, 60, text);
        update();
    }
    check_f64(at(7, RATIO), 0.4, VITALS_HAVE);
    check_f64(at(7, VITALS_GPU_PROCESS_COPY_SECONDS), 0.3, VITALS_HAVE);
    CHECK_UINT(clients.engine_count, 2);
    CHECK_STR(clients.engines[0].label, "video");
    CHECK_UINT(clients.engines[0].capacity, 2);
    check_f64(clients.engines[0].utilization_ratio, 0.4, VITALS_LOWER_BOUND);
    check_f64(clients.engines[0].busy_seconds, 0.8, VITALS_LOWER_BOUND);
}

/* xe: whatever the clock ran at. */
static void cycles_are_of_their_total(void)
{
    begin();
    add(7, 60,
        "drm-driver: xe\ndrm-client-id: 1\ndrm-cycles-ccs: 1000\n"
        "drm-total-cycles-ccs: 50000\ndrm-engine-capacity-ccs: 4\n");
    update();
    CHECK_INT(at(7, RATIO).state, VITALS_NOT_YET);
    check_f64(at(7, VITALS_GPU_PROCESS_COMPUTE_SECONDS), 0, VITALS_HAVE);
    again(1000);
    add(7, 60,
        "drm-driver: xe\ndrm-client-id: 1\ndrm-cycles-ccs: 3000\n"
        "drm-total-cycles-ccs: 51000\ndrm-engine-capacity-ccs: 4\n");
    update();
    check_f64(at(7, RATIO), 0.5, VITALS_HAVE);
    check_f64(at(7, VITALS_GPU_PROCESS_COMPUTE_SECONDS), 2, VITALS_HAVE); // of four engines
    CHECK_UINT(of(7)->uses, GPU_COMPUTE);
    later(1000); // its total stands still: the device sleeps
    update();
    check_f64(at(7, RATIO), 0, VITALS_HAVE);
}

/* amdgpu before 5.19 gives percentages: of the kernel's own window, at once. */
static void percentages_are_ratios_at_once(void)
{
    begin();
    static const char OLD[] = "pdev: 0000:03:00.0\npasid: 5\nvram mem: 4 kB\ngfx0: 25.50%\n";
    add(7, 60, OLD);
    update();
    check_f64(at(7, RATIO), 0.255, VITALS_HAVE);
    check_u64(at(7, MEMORY), 4096, VITALS_HAVE);
    again(2000);
    add(7, 60, OLD);
    update();
    check_f64(at(7, RATIO), 0.255, VITALS_HAVE);
    check_f64(at(7, VITALS_GPU_PROCESS_BUSY_SECONDS), 0.51, VITALS_HAVE);
}

static void a_counter_that_goes_backwards_has_not_moved(void)
{
    static const int BUSY[] = {1000, 400, 900, 1100};
    static const double RATIOS[] = {0, 0, 0, 0.1};
    begin();
    for (size_t i = 0; i < CHECK_COUNT(BUSY); i++) {
        char text[128];
        snprintf(text, sizeof text,
                 "drm-driver: i915\ndrm-client-id: 1\ndrm-engine-render: %d000000 ns\n", BUSY[i]);
        again(1000);
        add(7, 60, text);
        update();
        if (i > 0)
            check_f64(at(7, RATIO), RATIOS[i], VITALS_HAVE);
    }
    check_f64(at(7, VITALS_GPU_PROCESS_GRAPHICS_SECONDS), 1.1, VITALS_HAVE);
}

static void more_than_the_whole_is_an_estimate_of_the_whole(void)
{
    begin();
    add(7, 60, "drm-driver: i915\ndrm-client-id: 1\ndrm-engine-render: 0 ns\n");
    update();
    again(1000);
    add(7, 60, "drm-driver: i915\ndrm-client-id: 1\ndrm-engine-render: 1500000000 ns\n");
    update();
    check_f64(at(7, RATIO), 1, VITALS_ESTIMATE);
    check_f64(clients.engines[0].utilization_ratio, 1, VITALS_LOWER_BOUND);
}

/* An engine that has done nothing is left out by amdgpu, and a counter that is left out for once is
 * not counted from 0 again. */
static void an_engine_that_is_left_out_did_nothing(void)
{
    begin();
    add(7, 60, "drm-driver: amdgpu\ndrm-client-id: 1\n");
    add(8, 60, "drm-driver: amdgpu\ndrm-client-id: 2\ndrm-engine-gfx: 1000000 ns\n");
    update();
    CHECK_INT(at(7, RATIO).state, VITALS_NOT_YET);
    again(1000);
    add(7, 60, "drm-driver: amdgpu\ndrm-client-id: 1\ndrm-engine-gfx: 500000000 ns\n");
    add(8, 60, "drm-driver: amdgpu\ndrm-client-id: 2\n");
    update();
    check_f64(at(7, RATIO), 0.5, VITALS_HAVE);
    check_f64(at(8, RATIO), 0, VITALS_HAVE);
    again(1000);
    add(8, 60, "drm-driver: amdgpu\ndrm-client-id: 2\ndrm-engine-gfx: 2000000 ns\n");
    update();
    check_f64(at(8, RATIO), 0.001, VITALS_HAVE);
}

/* nouveau tells of memory alone, panthor of no time unless that is switched on. */
static void where_nobody_tells_of_time_there_is_no_ratio(void)
{
    begin();
    for (int i = 0; i < 2; i++) {
        again(1000);
        add(7, 60,
            "drm-driver: panthor\ndrm-client-id: 1\ndrm-maxfreq-panthor: 1000000000 Hz\n"
            "drm-resident-memory: 8 KiB\n");
        update();
    }
    CHECK_INT(at(7, RATIO).state, VITALS_UNSET);
    CHECK_INT(at(7, VITALS_GPU_PROCESS_BUSY_SECONDS).state, VITALS_UNSET);
    CHECK_INT(at(7, MEMORY).state, VITALS_UNSUPPORTED); // it is not the device's own
    check_u64(at(7, SYSTEM), 8192, VITALS_HAVE);
    unified = true;
    again(1000);
    add(7, 60, "drm-driver: panthor\ndrm-client-id: 1\ndrm-resident-memory: 8 KiB\n");
    update();
    check_u64(at(7, MEMORY), 8192, VITALS_ESTIMATE);
}

/* ---- the charged process ---- */

static void a_client_counts_once_whoever_holds_it(void)
{
    static const char TEXT[] = "drm-driver: i915\ndrm-client-id: 5\ndrm-engine-render: 1000 ns\n"
                               "drm-resident-local0: 1 MiB\n";
    begin();
    add(1, 1, TEXT);
    add(300, 20, TEXT)->is_broker = true; // systemd-logind
    add(700, 90, TEXT);
    add(900, 80, TEXT); // began before 700: it passed its descriptor on
    add(900, 80, TEXT); // duplicated
    update();
    CHECK_UINT(list.count, 4);
    check_u64(at(900, CHARGED), 900, VITALS_HAVE);
    check_u64(at(900, MEMORY), 1 << 20, VITALS_HAVE);
    static const int64_t SHARERS[] = {1, 300, 700};
    for (size_t i = 0; i < CHECK_COUNT(SHARERS); i++) {
        check_u64(at(SHARERS[i], CHARGED), 900, VITALS_HAVE);
        CHECK_INT(at(SHARERS[i], MEMORY).state, VITALS_UNSUPPORTED);
        CHECK_INT(at(SHARERS[i], RATIO).state, VITALS_UNSET);
        CHECK_UINT(of(SHARERS[i])->uses, 0);
    }
    check_u64(clients.memory_bytes, 1 << 20, VITALS_LOWER_BOUND);
}

static void where_a_broker_alone_holds_it_the_broker_is_charged(void)
{
    begin();
    add(1, 1, "drm-driver: i915\ndrm-client-id: 5\ndrm-resident-local0: 1 MiB\n");
    update();
    check_u64(at(1, CHARGED), 1, VITALS_HAVE);
    check_u64(at(1, MEMORY), 1 << 20, VITALS_HAVE);
}

/* The charged process ends; the other one keeps the client, and is not charged for the time before.
 */
static void an_heir_is_charged_from_then_on(void)
{
    begin();
    add(7, 60, "drm-driver: i915\ndrm-client-id: 5\ndrm-engine-render: 9000000000 ns\n");
    add(8, 70, "drm-driver: i915\ndrm-client-id: 5\ndrm-engine-render: 9000000000 ns\n");
    update();
    again(1000);
    add(8, 70, "drm-driver: i915\ndrm-client-id: 5\ndrm-engine-render: 9250000000 ns\n");
    update();
    CHECK_UINT(list.count, 1);
    check_u64(at(8, CHARGED), 8, VITALS_HAVE);
    check_f64(at(8, RATIO), 0.25, VITALS_HAVE);
    check_f64(at(8, VITALS_GPU_PROCESS_GRAPHICS_SECONDS), 0.25, VITALS_HAVE);
}

/* Ids may be given again: what another client did is not held against it. */
static void an_id_that_is_given_again_begins_anew(void)
{
    begin();
    add(7, 60, "drm-driver: i915\ndrm-client-id: 5\ndrm-engine-render: 9000000000 ns\n");
    update();
    again(1000);
    add(8, 70, "drm-driver: i915\ndrm-client-id: 5\ndrm-engine-render: 1000000000 ns\n");
    update();
    CHECK_INT(at(8, RATIO).state, VITALS_NOT_YET);
    check_f64(at(8, VITALS_GPU_PROCESS_GRAPHICS_SECONDS), 1, VITALS_HAVE);
    again(1000);
    add(8, 70, "drm-driver: i915\ndrm-client-id: 5\ndrm-engine-render: 1500000000 ns\n");
    update();
    check_f64(at(8, RATIO), 0.5, VITALS_HAVE);
}

/* One process with a client of its own and one that is another's. */
static void who_has_figures_of_his_own_is_charged_for_them(void)
{
    begin();
    add(7, 60, "drm-driver: i915\ndrm-client-id: 5\ndrm-resident-local0: 1 MiB\n");
    add(8, 70, "drm-driver: i915\ndrm-client-id: 5\ndrm-resident-local0: 1 MiB\n");
    add(8, 70, "drm-driver: i915\ndrm-client-id: 6\ndrm-resident-local0: 2 MiB\n");
    add(8, 70, "drm-driver: i915\ndrm-client-id: 4\ndrm-resident-local0: 4 MiB\n");
    update();
    check_u64(at(8, CHARGED), 8, VITALS_HAVE);
    check_u64(at(8, MEMORY), 6 << 20, VITALS_HAVE);
    check_u64(at(7, MEMORY), 1 << 20, VITALS_HAVE);
}

/* What a client had done stays with its process when it is closed. */
static void a_counter_of_a_process_never_goes_backwards(void)
{
    begin();
    add(7, 60, "drm-driver: i915\ndrm-client-id: 1\ndrm-engine-render: 3000000000 ns\n");
    add(7, 60, "drm-driver: i915\ndrm-client-id: 2\ndrm-engine-render: 1000000000 ns\n");
    update();
    check_f64(at(7, VITALS_GPU_PROCESS_GRAPHICS_SECONDS), 4, VITALS_HAVE);
    again(1000);
    add(7, 60, "drm-driver: i915\ndrm-client-id: 2\ndrm-engine-render: 1500000000 ns\n");
    add(7, 60, "drm-driver: i915\ndrm-client-id: 3\ndrm-engine-render: 100000000 ns\n");
    update();
    check_f64(at(7, VITALS_GPU_PROCESS_GRAPHICS_SECONDS), 4.6, VITALS_HAVE);
    check_f64(at(7, RATIO), 0.5, VITALS_LOWER_BOUND); // the new one's share is not known yet
    again(1000);
    add(7, 61, "drm-driver: i915\ndrm-client-id: 9\ndrm-engine-render: 0 ns\n"); // another process
    update();
    check_f64(at(7, VITALS_GPU_PROCESS_GRAPHICS_SECONDS), 0, VITALS_HAVE);
    CHECK_INT(at(7, RATIO).state, VITALS_NOT_YET);
}

/* Descriptors that no id tells apart: the one that tells most stands for all. */
static void without_ids_figures_are_estimates(void)
{
    begin();
    for (int i = 0; i < 2; i++) {
        again(1000);
        add(7, 60, "drm-driver: x\ndrm-resident-vram: 1 MiB\n");
        add(7, 60, "drm-driver: x\ndrm-resident-vram: 5 MiB\n");
        add(8, 60, "drm-driver: x\ndrm-resident-vram: 2 MiB\n");
        update();
    }
    check_u64(at(7, MEMORY), 5 << 20, VITALS_ESTIMATE);
    check_u64(at(8, MEMORY), 2 << 20, VITALS_HAVE);
}

/* ---- whose device ---- */

static void a_client_of_another_device_is_not_ours(void)
{
    begin();
    add(7, 60, "drm-driver: xe\ndrm-client-id: 1\ndrm-pdev: 0000:04:00.0\n")->minor = 129;
    add(8, 60, "drm-driver: xe\ndrm-client-id: 1\ndrm-pdev: 0000:03:00.0\n")->minor = 129;
    add(9, 60, "drm-driver: xe\ndrm-client-id: 2\n")->minor = 129;
    add(10, 60, "drm-driver: xe\ndrm-client-id: 3\n")->minor = 0;
    add(11, 60, "drm-driver: ivpu\ndrm-client-id: 4\n")->major = 261;
    update();
    CHECK_UINT(list.count, 2);
    CHECK_INT(list.items[0].pid, 8); // by its address, whatever the node
    CHECK_INT(list.items[1].pid, 10);
}

/* The partitions of a device have its address. */
static void a_partition_goes_by_its_node_alone(void)
{
    begin();
    device.shares_address = true;
    add(7, 60, "drm-driver: amdgpu\ndrm-client-id: 1\ndrm-pdev: 0000:03:00.0\n")->minor = 129;
    add(8, 60, "drm-driver: amdgpu\ndrm-client-id: 2\ndrm-pdev: 0000:03:00.0\n");
    update();
    CHECK_UINT(list.count, 1);
    CHECK_INT(list.items[0].pid, 8);
}

/* A virtual function is a partition too, and has an address of its own. */
static void a_function_goes_by_its_address(void)
{
    begin();
    device.parent_slot = 0;
    add(7, 60, "drm-driver: xe\ndrm-client-id: 1\ndrm-pdev: 0000:03:00.0\n")->minor = 129;
    update();
    CHECK_UINT(list.count, 1);
    CHECK_INT(list.items[0].pid, 7);
}

/* ---- memory ---- */

static void each_kind_of_memory_is_told_apart(void)
{
    begin();
    add(7, 60,
        "drm-driver: amdgpu\ndrm-client-id: 1\ndrm-memory-vram: 3 MiB\ndrm-total-vram: 9 MiB\n"
        "drm-shared-vram: 1 MiB\ndrm-resident-gtt: 5 MiB\ndrm-resident-cpu: 7 MiB\n"
        "drm-resident-doorbell: 8 KiB\ndrm-resident-vram1: 1 MiB\n");
    add(8, 60, "drm-driver: amdgpu\ndrm-client-id: 2\ndrm-total-vram: 9 MiB\n");
    update();
    check_u64(at(7, MEMORY), 4 << 20, VITALS_HAVE);
    check_u64(at(7, VITALS_GPU_PROCESS_SHARED_MEMORY_BYTES), 1 << 20, VITALS_HAVE);
    check_u64(at(7, SYSTEM), 5 << 20, VITALS_HAVE);
    check_u64(at(8, MEMORY), 9 << 20, VITALS_ESTIMATE); // reserved; what is resident is not told
    CHECK_INT(at(8, SYSTEM).state, VITALS_UNSET);
    check_u64(clients.memory_bytes, 13 << 20, VITALS_LOWER_BOUND);
    check_u64(clients.system_memory_bytes, 5 << 20, VITALS_LOWER_BOUND);
}

static void absurd_figures_do_not_wrap(void)
{
    begin();
    add(7, 60,
        "drm-driver: x\ndrm-client-id: 1\ndrm-resident-vram0: 18446744073709551615\n"
        "drm-resident-vram1: 18446744073709551615\ndrm-engine-gfx: 18446744073709551615 ns\n");
    update();
    check_u64(at(7, MEMORY), UINT64_MAX, VITALS_HAVE);
    later(1);
    update();
    check_f64(at(7, RATIO), 0, VITALS_HAVE);
}

static void names_mean_the_same_for_all_drivers(void)
{
    CHECK_INT(client_engine("enc_1"), ENGINE_ENCODER);
    CHECK_INT(client_engine("video-enhance"), ENGINE_VIDEO_ENHANCE);
    CHECK_INT(client_engine("gfx0"), ENGINE_GRAPHICS);
    CHECK_INT(client_engine("gfx_"), ENGINE_OTHER);
    CHECK_INT(client_engine("gpu"), ENGINE_OTHER);
    CHECK_INT(client_engine(""), ENGINE_OTHER);
    CHECK_INT(client_region("stolen-system0"), REGION_SYSTEM);
    CHECK_INT(client_region("vram12"), REGION_DEVICE);
    CHECK_INT(client_region("vram-visible"), REGION_OTHER);
    CHECK_STR(engine_label(ENGINE_JPEG), "jpeg");
    CHECK_NULL(engine_label(ENGINE_OTHER));
}

/* ---- many, and none ---- */

static void more_processes_than_there_is_room_for_are_cut(void)
{
    enum { MANY = GPU_PROCESSES_MAX + 10 };
    begin();
    struct sweep_client *many = calloc(MANY, sizeof *many);
    for (uint32_t i = 0; i < MANY; i++) {
        many[i] = (struct sweep_client){.pid = 100 + i, .major = 226, .minor = 128, .id = MANY - i};
        many[i].has_id = true;
        many[i].start_ticks = i;
    }
    sweep.clients = many;
    sweep.count = MANY;
    update();
    CHECK_UINT(list.count, GPU_PROCESSES_MAX);
    CHECK(list.cut);
    CHECK_INT(list.items[0].pid, 100);
    CHECK_INT(list.items[GPU_PROCESSES_MAX - 1].pid, 100 + GPU_PROCESSES_MAX - 1);
    sweep.clients = items;
    free(many);
}

static void a_process_is_put_where_it_belongs(void)
{
    memset(&list, 0, sizeof list);
    static const int64_t PIDS[] = {50, 10, 30, 10, 70, 50};
    for (size_t i = 0; i < CHECK_COUNT(PIDS); i++)
        gpu_processes_put(&list, PIDS[i])->uses++;
    CHECK_UINT(list.count, 4);
    CHECK_INT(list.items[0].pid, 10);
    CHECK_UINT(list.items[0].uses, 2);
    CHECK_INT(list.items[1].pid, 30);
    CHECK_INT(list.items[2].pid, 50);
    CHECK_INT(list.items[3].pid, 70);
}

static void a_steady_update_asks_for_no_memory(void)
{
    begin();
    for (int i = 0; i < 20; i++) {
        char text[128];
        snprintf(text, sizeof text, "drm-driver: i915\ndrm-client-id: %d\n", i);
        add(100 + i, 60, text);
    }
    update();
    later(1000);
    update();
    uint64_t asked = memory_asked();
    for (int i = 0; i < 5; i++) {
        later(1000);
        update();
    }
    CHECK_UINT(memory_asked() - asked, 0);
}

static void without_memory_the_list_has_failed(void)
{
    begin();
    int64_t live = memory_live();
    add(7, 60, "drm-driver: i915\ndrm-client-id: 1\ndrm-engine-render: 5 ns\n");
    bool failed = true;
    for (uint64_t nth = 1; failed; nth++) {
        CHECK(nth < 100);
        clients_done(&clients);
        memory_fail_at(nth);
        update();
        memory_fail_at(0);
        failed = list.state == VITALS_FAILED;
        CHECK(failed || list.state == VITALS_HAVE);
        CHECK_UINT(list.count, failed ? 0 : 1);
        update(); // and then it goes on
        CHECK_INT(list.state, VITALS_HAVE);
        CHECK_UINT(list.count, 1);
    }
    clients_done(&clients);
    CHECK_INT(memory_live(), live);
}

static const check_test tests[] = {
    {"without a sweep nothing is known", without_a_sweep_nothing_is_known},
    {"who may not be seen makes the list incomplete",
     who_may_not_be_seen_makes_the_list_incomplete},
    {"a ratio needs two sweeps", a_ratio_needs_two_sweeps},
    {"a ratio is of all engines of its kind", a_ratio_is_of_all_engines_of_its_kind},
    {"cycles are of their total", cycles_are_of_their_total},
    {"percentages are ratios at once", percentages_are_ratios_at_once},
    {"a counter that goes backwards has not moved", a_counter_that_goes_backwards_has_not_moved},
    {"more than the whole is an estimate of the whole",
     more_than_the_whole_is_an_estimate_of_the_whole},
    {"an engine that is left out did nothing", an_engine_that_is_left_out_did_nothing},
    {"where nobody tells of time there is no ratio", where_nobody_tells_of_time_there_is_no_ratio},
    {"a client counts once, whoever holds it", a_client_counts_once_whoever_holds_it},
    {"where a broker alone holds it the broker is charged",
     where_a_broker_alone_holds_it_the_broker_is_charged},
    {"an heir is charged from then on", an_heir_is_charged_from_then_on},
    {"an id that is given again begins anew", an_id_that_is_given_again_begins_anew},
    {"who has figures of his own is charged for them",
     who_has_figures_of_his_own_is_charged_for_them},
    {"a counter of a process never goes backwards", a_counter_of_a_process_never_goes_backwards},
    {"without ids figures are estimates", without_ids_figures_are_estimates},
    {"a client of another device is not ours", a_client_of_another_device_is_not_ours},
    {"a partition goes by its node alone", a_partition_goes_by_its_node_alone},
    {"a function goes by its address", a_function_goes_by_its_address},
    {"each kind of memory is told apart", each_kind_of_memory_is_told_apart},
    {"absurd figures do not wrap", absurd_figures_do_not_wrap},
    {"names mean the same for all drivers", names_mean_the_same_for_all_drivers},
    {"more processes than there is room for are cut",
     more_processes_than_there_is_room_for_are_cut},
    {"a process is put where it belongs", a_process_is_put_where_it_belongs},
    {"a steady update asks for no memory", a_steady_update_asks_for_no_memory},
    {"without memory the list has failed", without_memory_the_list_has_failed},
};

CHECK_TESTS(tests)
