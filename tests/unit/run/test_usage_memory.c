/* How much memory a tree held: bounds that hold whatever happens between two readings. */
#include "usage_world.h"

#include "os/os.h"
#include "run/usage/usage_data.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static struct world world;

static double low_of(const vitals_usage *usage)
{
    return figure_of(usage, "memory_peak_low_bytes", "", NULL);
}

static double high_of(const vitals_usage *usage)
{
    return figure_of(usage, "memory_peak_high_bytes", "", NULL);
}

static struct world_process *add(uint64_t key, uint64_t parent, double resident, double unique,
                                 double proportional)
{
    struct world_process *process = world_add(&world, key, parent, (int64_t)key + 9,
                                              parent != 0 ? (int64_t)parent + 9 : 5);
    process->resident = process->peak = resident;
    process->unique = unique;
    process->proportional = proportional;
    process->walked = world.seconds;
    return process;
}

/* ---- the lower bound ---- */

/* Eight processes that share 200 held 200, and not 1600. */
static void shared_pages_are_held_once(void)
{
    world_init(&world);
    vitals_usage *usage = usage_of_launcher(5);
    for (uint64_t key = 1; key <= 8; key++)
        add(key, key == 1 ? 0 : 1, 200 + (double)key, 1, 25);
    for (int i = 0; i < 3; i++)
        world_tick(&world, usage);
    CHECK_NEAR(low_of(usage), 208, 0);
    CHECK_NEAR(high_of(usage), 8 + 207, 0);
    world_done(&world, usage);
}

/* Each of its own: together they held the sum, once they are known to have stood still. */
static void private_pages_are_held_together(void)
{
    world_init(&world);
    vitals_usage *usage = usage_of_launcher(5);
    for (uint64_t key = 1; key <= 4; key++)
        add(key, key == 1 ? 0 : 1, 50 + (double)key, 50, 50);
    world_tick(&world, usage);
    CHECK_NEAR(low_of(usage), 54, 0);
    world_tick(&world, usage);
    CHECK_NEAR(low_of(usage), 200, 0);
    CHECK(high_of(usage) >= 200);
    world_done(&world, usage);
}

/* One that was read before it forked, its child behind that: the same pages. */
static void pages_that_a_fork_shares_are_held_once(void)
{
    world_init(&world);
    vitals_usage *usage = usage_of_launcher(5);
    struct world_process *parent = add(1, 0, 100, 100, 100);
    world_tick(&world, usage);
    parent->resident = parent->peak = 300; /* it is not walked through again */
    parent->faults = 200;
    world_tick(&world, usage);
    for (uint64_t key = 2; key <= 5; key++) {
        struct world_process *child = add(key, 1, 290, (double)INFINITY, (double)INFINITY);
        world_tick(&world, usage); /* nor the child at once */
        child->unique = 0;
        child->proportional = 290 / (double)key;
        child->walked = world.seconds;
        world_tick(&world, usage);
        CHECK_NEAR(low_of(usage), 300, 0);
        CHECK_NEAR(high_of(usage), 300, 10);
    }
    world_done(&world, usage);
}

/* Peaks of different moments. */
static void peaks_in_turn_are_not_held_together(void)
{
    world_init(&world);
    vitals_usage *usage = usage_of_launcher(5);
    struct world_process *first = add(1, 0, 200, 200, 200), *second = add(2, 1, 10, 10, 10);
    world_tick(&world, usage);
    world_tick(&world, usage);
    CHECK_NEAR(low_of(usage), 210, 0);
    first->resident = 10; /* it has not been walked through since */
    second->resident = second->peak = second->unique = second->proportional = 200;
    second->faults = 50;
    second->walked = world.seconds;
    world_tick(&world, usage);
    world_tick(&world, usage);
    CHECK_NEAR(low_of(usage), 210, 0);
    CHECK_NEAR(figure_of(usage, "memory_peak_sum_bytes", "", NULL), 400, 0);
    world_done(&world, usage);
}

/* A child between vfork and exec: the kernel tells the same pages of both. */
static void borrowed_memory_is_held_once(void)
{
    world_init(&world);
    vitals_usage *usage = usage_of_launcher(5);
    add(1, 0, 200, 200, 200);
    add(2, 1, 200, 200, 200);
    for (int i = 0; i < 3; i++)
        world_tick(&world, usage);
    CHECK_NEAR(low_of(usage), 200, 0);
    world_done(&world, usage);
}

/* So with brothers whose parent is gone. A page that went private between the two readings, that of
 * a program that ended, leaves their PSS different. */
static void borrowed_memory_of_brothers_is_held_once(void)
{
    world_init(&world);
    vitals_usage *usage = usage_of_launcher(5);
    add(1, 0, 10, 9, 9);
    add(2, 1, 200, 195, 196);
    add(3, 1, 200, 196, 197);
    for (int i = 0; i < 3; i++)
        world_tick(&world, usage);
    CHECK(low_of(usage) <= 210);
    CHECK(low_of(usage) >= 205); /* the first and one of the two */
    world_done(&world, usage);
}

/* What a process had before it was tracked is not of the run, unless it grows above that. */
static void a_peak_from_before_is_none_of_the_run(void)
{
    world_init(&world);
    vitals_usage *usage = usage_of_pid(10);
    struct world_process *root = world_add(&world, 1, 0, 10, 5);
    root->resident = 100;
    root->peak = 5000;
    world_tick(&world, usage);
    world_tick(&world, usage);
    CHECK_NEAR(low_of(usage), 100, 0);
    root->peak = 6000;
    world_tick(&world, usage);
    CHECK_NEAR(low_of(usage), 6000, 0);
    world_done(&world, usage);
}

/* What a program maps of a file the kernel can drop: no limit is passed by it. */
static void pages_of_files_pass_no_limit(void)
{
    world_init(&world);
    vitals_usage *usage = usage_of_launcher(5);
    for (uint64_t key = 1; key <= 2; key++) {
        struct world_process *process = add(key, key == 1 ? 0 : 1, 5000 + (double)key, 60, 2560);
        process->shared = 4940;
        process->shared_memory = 40;
        process->anonymous = 60;
    }
    world_tick(&world, usage);
    world_tick(&world, usage);
    CHECK_NEAR(low_of(usage), 5120, 0);
    CHECK_NEAR(usage_memory_firm(usage), 62, 0);
    usage->shared_is_held = true;
    world_tick(&world, usage);
    CHECK_NEAR(usage_memory_firm(usage), 100, 0);
    world_done(&world, usage);
}

/* Of several that stood still, and of one that is gone. */
static void firm_pages_are_held_together(void)
{
    world_init(&world);
    vitals_usage *usage = usage_of_launcher(5);
    usage->shared_is_held = true;
    for (uint64_t key = 1; key <= 4; key++) {
        struct world_process *process = add(key, key == 1 ? 0 : 1, 120 + (double)key, 100, 110);
        process->shared = 20;
        process->shared_memory = 5; /* and 15 of a file, of which PSS may have all */
    }
    world_tick(&world, usage);
    world_tick(&world, usage);
    CHECK_NEAR(usage_memory_firm(usage), 4 * 95, 0);
    while (world.process_count > 0)
        world_end(&world, world.process_count);
    world_add(&world, 9, 0, 18, 5)->resident = 1;
    world_tick(&world, usage);
    CHECK_NEAR(usage_memory_firm(usage), 4 * 95, 0);
    world_done(&world, usage);
}

/* Where the kernel tells which part of PSS is anonymous, mapped libraries take nothing of it. */
static void the_kernel_tells_firm_pages_of_small_programs(void)
{
    for (int held = 0; held < 2; held++) {
        world_init(&world);
        vitals_usage *usage = usage_of_launcher(5);
        usage->shared_is_held = held;
        for (uint64_t key = 1; key <= 4; key++) {
            struct world_process *process = add(key, key == 1 ? 0 : 1, 120 + (double)key, 40, 60);
            process->shared = 80; /* of which 10 are shared memory, and the rest is of libraries */
            process->shared_memory = 10;
            process->anonymous_share = 40;
            process->shared_memory_share = 5;
        }
        world_tick(&world, usage);
        world_tick(&world, usage);
        CHECK_NEAR(usage_memory_firm(usage), held ? 4 * 45 : 4 * 40, 0);
        world_done(&world, usage);
    }
}

/* ---- whatever happens ---- */

enum { PROCESSES = 6, PAGES = 4096, EVENTS = 12, TICKS = 30 };

/* Processes with the pages that they map. */
static struct model {
    uint64_t random;
    uint64_t next_key;
    unsigned next_page;
    unsigned char maps[PROCESSES][PAGES];
    bool lives[PROCESSES];
    struct world_process told[PROCESSES];
    double most;    /* pages that were held at one moment */
    double firm;    /* of no file: the same */
    double largest; /* process that a tick saw */
    double firmest; /* the same of no file */
} model;

static unsigned chance(unsigned below)
{
    model.random = model.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(model.random >> 33) % below;
}

static unsigned mappers(unsigned page)
{
    unsigned count = 0;
    for (unsigned i = 0; i < PROCESSES; i++)
        count += model.lives[i] && model.maps[i][page];
    return count;
}

static bool is_of_file(unsigned page)
{
    return page % 3 == 0;
}

static void count_pages(void)
{
    double held = 0, firm = 0;
    for (unsigned page = 0; page < model.next_page; page++) {
        held += mappers(page) > 0;
        firm += mappers(page) > 0 && !is_of_file(page);
    }
    model.most = fmax(model.most, held);
    model.firm = fmax(model.firm, firm);
}

static void walk(unsigned at)
{
    struct world_process *told = &model.told[at];
    told->unique = told->proportional = told->anonymous_share = 0;
    for (unsigned page = 0; page < model.next_page; page++) {
        if (!model.maps[at][page])
            continue;
        told->unique += mappers(page) == 1;
        told->proportional += 1000.0 / mappers(page); /* of a thousand bytes each */
        told->anonymous_share += is_of_file(page) ? 0 : 1000.0 / mappers(page);
    }
    told->unique *= 1000;
    told->walked = world.seconds;
}

static void touch(unsigned at, unsigned page)
{
    model.told[at].faults += !model.maps[at][page];
    model.maps[at][page] = 1;
}

static void be_born(unsigned at, unsigned of)
{
    memcpy(model.maps[at], model.maps[of], sizeof model.maps[at]);
    if (at == of)
        memset(model.maps[at], 0, sizeof model.maps[at]);
    uint64_t key = ++model.next_key;
    model.told[at] = (struct world_process){.key = key,
                                            .parent = at == of ? 0 : model.told[of].key,
                                            .pid = (int64_t)key + 9,
                                            .parent_pid = at == of ? 5 : model.told[of].pid,
                                            .start = 3600 + world.seconds,
                                            .peak = (double)NAN,
                                            .anonymous = (double)NAN,
                                            .unique = (double)NAN,
                                            .proportional = (double)NAN,
                                            .threads = 1};
    model.lives[at] = true;
}

/* Grows, shares, writes to what is shared, gives back, forks, ends, or is walked through. */
static void happen(void)
{
    unsigned at = chance(PROCESSES), other = chance(PROCESSES), what = chance(10);
    unsigned page = model.next_page > 0 ? chance(model.next_page) : 0;
    world.seconds += 0.01;
    if (!model.lives[at]) {
        if (what == 0)
            be_born(at, model.lives[other] ? other : at);
        return;
    }
    if (what < 2 && model.next_page + 8 < PAGES) {
        for (unsigned i = 1 + chance(8); i > 0; i--)
            touch(at, model.next_page++);
    } else if (what == 2 && model.lives[other] && model.maps[other][page]) {
        touch(at, page);
    } else if (what == 3 && model.maps[at][page] && model.next_page < PAGES) {
        model.maps[at][page] = 0;
        touch(at, model.next_page++);
    } else if (what == 4) {
        for (unsigned i = page; i < page + 5 && i < PAGES; i++)
            model.maps[at][i] = 0;
    } else if (what == 5 && chance(4) == 0) {
        model.lives[at] = false;
    } else if (what >= 7) {
        walk(at);
    }
}

static void tick(vitals_usage *usage)
{
    world.process_count = 0;
    for (unsigned at = 0; at < PROCESSES; at++) {
        if (!model.lives[at])
            continue;
        struct world_process *told = &model.told[at];
        told->resident = told->shared = 0;
        for (unsigned page = 0; page < model.next_page; page++) {
            told->resident += model.maps[at][page] ? 1000 : 0;
            told->shared += model.maps[at][page] && is_of_file(page) ? 1000 : 0;
        }
        model.largest = fmax(model.largest, told->resident);
        model.firmest = fmax(model.firmest, told->resident - told->shared);
        world.processes[world.process_count++] = *told;
    }
    world_tick(&world, usage);
}

static void no_bound_is_above_what_was_held(void)
{
    unsigned together = 0, firm_together = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        vitals_availability state;
        world_init(&world);
        memset(&model, 0, sizeof model);
        model.random = seed;
        vitals_usage *usage = usage_of_launcher(5);
        be_born(0, 0);
        for (int i = 0; i < TICKS; i++) {
            for (unsigned events = chance(4) == 0 ? 0 : chance(EVENTS); events > 0; events--) {
                happen();
                count_pages();
            }
            for (unsigned at = 0; at < PROCESSES && i % 5 == 4; at++) {
                world.seconds += 0.001;
                walk(at);
            }
            tick(usage);
        }
        double low = figure_of(usage, "memory_peak_low_bytes", "", &state);
        double firm = usage_memory_firm(usage);
        together += low > model.largest;
        firm_together += firm > model.firmest;
        CHECK_INT(state, VITALS_LOWER_BOUND);
        if (low > model.most * 1000)
            CHECK_FAIL("seed %u: %f was at least held, of %f", (unsigned)seed, low,
                       model.most * 1000);
        if (firm > model.firm * 1000)
            CHECK_FAIL("seed %u: %f were of no file, of %f", (unsigned)seed, firm,
                       model.firm * 1000);
        world_done(&world, usage);
    }
    CHECK(together > 100); /* else nothing was tried */
    CHECK(firm_together > 100);
}

/* ---- readings of different moments ---- */

/* Resident pages were read of stat while statm could not be read: none of what is shared is its
 * own. */
static void pages_of_which_shared_ones_are_not_known_are_not_its_own(void)
{
    world_init(&world);
    vitals_usage *usage = usage_of_launcher(5);
    for (uint64_t key = 1; key <= 4; key++)
        add(key, key == 1 ? 0 : 1, 200, 10, 57)->shared = 190;
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "memory_both_bytes"), 230, 0);
    for (uint64_t key = 2; key <= 4; key++)
        world_find(&world, key)->shared = (double)INFINITY;
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "memory_both_bytes"), 230, 0);
    for (uint64_t key = 2; key <= 4; key++)
        world_find(&world, key)->shared = 190;
    world_tick(&world, usage);
    CHECK_NEAR(high_of(usage), 230, 0);
    world_done(&world, usage);
}

/* Private pages are counted up to a second before or after the resident size is read. */
static void what_grew_meanwhile_is_not_shared(void)
{
    world_init(&world);
    vitals_availability state;
    vitals_usage *usage = usage_of_launcher(5);
    struct world_process *root = add(1, 0, 100, 90, 95);
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "memory_shared_bytes"), 10, 0);
    /* Grown by 1000 since, and walked through half-way. */
    root->resident = 1100;
    root->unique = 590;
    root->walked = world.seconds - 0.5;
    world_tick(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "memory_shared_bytes", &state), 0, 0);
    CHECK_INT(state, VITALS_ESTIMATE);
    /* And shrunk. */
    root->resident = 200;
    root->unique = 300;
    root->walked = world.seconds - 0.5;
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "memory_shared_bytes"), 0, 0);
    /* Not walked through again. */
    root->resident = 5000;
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "memory_shared_bytes"), 0, 0);
    /* Just after the resident size was read, but told of with the next. */
    root->resident = 9000;
    root->unique = 4980;
    root->walked = world.seconds - 0.95;
    world_tick(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "memory_shared_bytes", &state), 20, 0);
    CHECK_INT(state, VITALS_ESTIMATE); /* in so short a time it may grow by GiB */
    /* It stood still all the while. */
    root->unique = 8970;
    root->walked = world.seconds - 0.5;
    world_tick(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "memory_shared_bytes", &state), 30, 0);
    CHECK_INT(state, VITALS_HAVE);
    /* One that gave back as many pages as it faulted in did not. */
    root->faults = 1;
    root->unique = 8975;
    root->walked = world.seconds - 0.5;
    world_tick(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "memory_shared_bytes", &state), 25, 0);
    CHECK_INT(state, VITALS_ESTIMATE);
    CHECK_NEAR(figure_of(usage, "memory_shared_peak_bytes", "", NULL), 30, 0);
    world_done(&world, usage);
}

/* A child between vfork and exec has the pages of its parent: it shares none with it. */
static void what_has_the_map_of_another_shares_nothing(void)
{
    world_init(&world);
    vitals_availability state;
    vitals_usage *usage = usage_of_launcher(5);
    add(1, 0, 100, 90, 95);
    add(2, 1, 103, 60, 62);
    world_tick(&world, usage);
    for (size_t i = 0; i < world.process_count; i++)
        world.processes[i].walked = world.seconds - 0.5;
    usage_member_of(usage, 2)->memory.twin = true;
    world_tick(&world, usage);
    CHECK_NEAR(newest(usage, VITALS_SCOPE_TREE, "memory_shared_bytes", &state), 10, 0);
    CHECK_INT(state, VITALS_HAVE);
    world_done(&world, usage);
}

/* A process that has ended since its row was read: others may have shared its map. */
static void memory_of_what_has_ended_is_not_held_beside_that_of_others(void)
{
    world_init(&world);
    struct os os;
    vitals_options options;
    vitals_error error;
    vitals_options_init(&options, sizeof options);
    CHECK_OK(os_open(&os, &options, &error), error);
    if (os_compare_maps(&os, getpid(), getpid()) != 0)
        CHECK_SKIP("kcmp is refused here");
    int ends[2];
    CHECK_INT(pipe(ends), 0);
    pid_t ending = fork();
    if (ending == 0) {
        char byte;
        close(ends[1]);
        _exit((int)read(ends[0], &byte, 1));
    }
    pid_t other = fork();
    if (other == 0) {
        close(ends[1]);
        pause();
        _exit(0);
    }
    vitals_usage *usage = usage_of_pid(getpid());
    usage->os = &os;
    world_add(&world, 1, 0, getpid(), 5)->resident = 10;
    world_find(&world, 1)->unique = 10;
    struct world_process *process = world_add(&world, 2, 1, ending, getpid());
    process->resident = 20;
    process->unique = (double)INFINITY;
    world_tick(&world, usage);
    process->resident = 200;
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "memory_both_bytes"), 210, 0);
    close(ends[1]);
    siginfo_t how;
    CHECK_INT(waitid(P_PID, (id_t)ending, &how, WEXITED | WNOWAIT), 0);
    process = world_add(&world, 3, 1, other, getpid());
    process->resident = 200;
    process->unique = (double)INFINITY;
    world_tick(&world, usage);
    CHECK_NEAR(tree(usage, "memory_both_bytes"), 210, 0);
    CHECK_INT(waitpid(ending, NULL, 0), ending);
    CHECK_INT(kill(other, SIGKILL), 0);
    CHECK_INT(waitpid(other, NULL, 0), other);
    close(ends[0]);
    world_done(&world, usage);
    os_close(&os);
}

/* A zombie holds nothing: its peak is not known, and the account says why in a user's words. */
static void a_process_that_had_ended_has_no_peak(void)
{
    vitals_account *account = NULL;
    vitals_error error;
    double value;
    world_init(&world);
    vitals_usage *usage = usage_of_launcher(5);
    add(1, 0, 0, 0, 0);
    world_tick(&world, usage);
    CHECK_OK(vitals_usage_account(usage, &account, &error), error);
    const vitals_figure *peak = vitals_account_find(account, "memory_peak_low_bytes", "");
    CHECK(peak != NULL);
    CHECK_INT(vitals_figure_value(peak, &value), VITALS_NOT_YET);
    CHECK_STR(vitals_figure_source(peak), "no sample saw it running");
    vitals_account_free(account);
    world_done(&world, usage);
}

static const check_test tests[] = {
    {"a process that had ended has no peak", a_process_that_had_ended_has_no_peak},
    {"shared pages are held once", shared_pages_are_held_once},
    {"private pages are held together", private_pages_are_held_together},
    {"pages that a fork shares are held once", pages_that_a_fork_shares_are_held_once},
    {"peaks in turn are not held together", peaks_in_turn_are_not_held_together},
    {"borrowed memory is held once", borrowed_memory_is_held_once},
    {"borrowed memory of brothers is held once", borrowed_memory_of_brothers_is_held_once},
    {"a peak from before is none of the run", a_peak_from_before_is_none_of_the_run},
    {"pages of files pass no limit", pages_of_files_pass_no_limit},
    {"firm pages are held together", firm_pages_are_held_together},
    {"the kernel tells firm pages of small programs",
     the_kernel_tells_firm_pages_of_small_programs},
    {"no bound is above what was held", no_bound_is_above_what_was_held},
    {"pages of which shared ones are not known are not its own",
     pages_of_which_shared_ones_are_not_known_are_not_its_own},
    {"what grew meanwhile is not shared", what_grew_meanwhile_is_not_shared},
    {"what has the map of another shares nothing", what_has_the_map_of_another_shares_nothing},
    {"memory of what has ended is not held beside that of others",
     memory_of_what_has_ended_is_not_held_beside_that_of_others},
};

CHECK_TESTS(tests)
