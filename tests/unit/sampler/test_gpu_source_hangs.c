/* What a sampler makes of a driver that hangs, at whatever it is asked, and that has nothing to
 * say.
 */
#include "driver_world.h"

struct watching {
    double longest_tick, longest_fresh_age, longest_stale_age;
    int ticks, stale_ticks, fresh_after, others, others_late;
    uint64_t quarantined_most;
    bool host_cache, age_fell;
};

/* Looks at every snapshot for so long, in real time, and takes note of how devices do. */
static struct watching watch_for(uint64_t ns, double others_settle)
{
    struct watching seen = {0};
    uint64_t begun = real_now_ns(), next = begun;
    double last_age = 0;
    while (real_now_ns() < begun + ns) {
        uint64_t tick_begun = real_now_ns();
        vitals_snapshot *snapshot = take();
        double took = (double)(real_now_ns() - tick_begun) / 1e9;
        double since = (double)(tick_begun - begun) / 1e9;
        seen.ticks++;
        seen.longest_tick = took > seen.longest_tick ? took : seen.longest_tick;
        const vitals_row *host = vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL);
        seen.host_cache |= vitals_row_availability(host, VITALS_HOST_UPTIME_SECONDS) !=
                               VITALS_HAVE ||
                           vitals_row_stamp_ns(host) < tick_begun;
        if (state_of(snapshot, 1) == VITALS_STALE) {
            double age = age_of(snapshot, 1);
            seen.stale_ticks++;
            seen.fresh_after = 0;
            seen.age_fell |= age < last_age;
            last_age = age;
            seen.longest_stale_age = age > seen.longest_stale_age ? age : seen.longest_stale_age;
        } else if (state_of(snapshot, 1) == VITALS_HAVE) {
            seen.fresh_after++;
            last_age = 0;
        }
        for (unsigned i = 0; i < DEVICES && since > others_settle; i += 2) {
            double age = age_of(snapshot, i);
            seen.longest_fresh_age = age > seen.longest_fresh_age ? age : seen.longest_fresh_age;
            seen.others++;
            seen.others_late += state_of(snapshot, i) != VITALS_HAVE;
        }
        uint64_t quarantined = source_u64(snapshot, VITALS_SOURCE_QUARANTINED);
        if (quarantined > seen.quarantined_most)
            seen.quarantined_most = quarantined;
        vitals_snapshot_unref(snapshot);
        next += 200 * NS_PER_MS;
        uint64_t now = real_now_ns();
        if (next > now)
            real_sleep_ns(next - now);
    }
    /* On a loaded machine threads may be late without a hang. */
    CHECK(seen.others_late * 5 <= seen.others);
    return seen;
}

static void a_call_of_five_seconds_concerns_its_device_alone(void)
{
    begin(200 * NS_PER_MS, NULL);
    vitals_snapshot_unref(take());
    atomic_store(&driver.hang_device, 1);
    atomic_store(&driver.hang_ns, 5 * NS_PER_SECOND);
    atomic_store(&driver.hang_calls, 1);
    struct watching seen = watch_for(6500 * NS_PER_MS, 2.6);
    CHECK(seen.longest_tick < 3.0); /* the deadline is 0.1 s; the rest is a loaded machine's */
    CHECK_FALSE(seen.host_cache);
    CHECK(seen.stale_ticks >= 10);
    CHECK(seen.longest_stale_age > 4.0);
    CHECK_FALSE(seen.age_fell);
    CHECK_UINT(seen.quarantined_most, 1);
    CHECK(seen.longest_fresh_age < 2.0);
    CHECK(seen.fresh_after >= 3); /* and then it is as any other again */
    vitals_snapshot *snapshot = take();
    CHECK_UINT(source_u64(snapshot, VITALS_SOURCE_QUARANTINED), 0);
    CHECK(source_u64(snapshot, VITALS_SOURCE_TIMEOUTS) >= 10);
    vitals_snapshot_unref(snapshot);
    end();
}

static void who_hangs_again_is_left_alone_for_a_while(void)
{
    begin(100 * NS_PER_MS, NULL);
    vitals_snapshot_unref(take());
    atomic_store(&driver.hang_device, 1);
    atomic_store(&driver.hang_ns, 2200 * NS_PER_MS);
    atomic_store(&driver.hang_calls, 1000);
    struct watching seen = watch_for(7 * NS_PER_SECOND, 2.6);
    CHECK_INT(atomic_load(&driver.calls[1]), 3); /* one in good health, two that hung */
    CHECK(seen.longest_stale_age > 2.0);
    CHECK(seen.longest_fresh_age < 2.0);
    CHECK_INT(seen.fresh_after, 0); /* its last reading is not passed off as of now */
    end();
}

static void two_devices_may_hang_at_once(void)
{
    begin(100 * NS_PER_MS, NULL);
    vitals_snapshot_unref(take());
    atomic_store(&driver.hang_ns, 7 * NS_PER_SECOND);
    atomic_store(&driver.hang_calls, 2);
    atomic_store(&driver.hang_device, 0);
    uint64_t until = real_now_ns() + 2 * NS_PER_SECOND;
    while (atomic_load(&driver.hang_calls) == 2 && real_now_ns() < until)
        vitals_snapshot_unref(take());
    atomic_store(&driver.hang_device, 1);
    uint64_t quarantined = 0;
    until = real_now_ns() + 6 * NS_PER_SECOND;
    while (quarantined < 2 && real_now_ns() < until) {
        vitals_snapshot *snapshot = take();
        quarantined = source_u64(snapshot, VITALS_SOURCE_QUARANTINED);
        vitals_snapshot_unref(snapshot);
        real_sleep_ns(50 * NS_PER_MS);
    }
    CHECK_UINT(quarantined, 2);
    vitals_snapshot_unref(take());
    vitals_snapshot *snapshot = take();
    CHECK_INT(state_of(snapshot, 2), VITALS_HAVE);
    CHECK(age_of(snapshot, 2) < 2.0);
    vitals_snapshot_unref(snapshot);
    end();
}

/* Of the driver's own: there are rows of the machine too. */
static const vitals_row *diagnosis_of(const vitals_snapshot *snapshot, const char *subject)
{
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_TABLE_DIAGNOSIS, row)) != NULL;) {
        if (strcmp(vitals_row_label(row), subject) == 0)
            return row;
    }
    return NULL;
}

/* What a driver that says nothing has: a row, and a table that is not whole. */
static void check_silence(const vitals_snapshot *snapshot, const char *finding)
{
    vitals_text text;
    const vitals_row *row = diagnosis_of(snapshot, "driver driver");
    CHECK_NOT_NULL(row);
    CHECK_NULL(diagnosis_of(snapshot, "driver"));
    CHECK_INT(vitals_row_text(row, VITALS_DIAGNOSIS_FINDING, &text), VITALS_HAVE);
    CHECK_CONTAINS(text.bytes, finding);
    CHECK_INT(vitals_snapshot_state(snapshot, VITALS_TABLE_DIAGNOSIS), VITALS_LOWER_BOUND);
}

/* Another thread lists and reads the devices meanwhile, and nothing waits for the diagnosis. */
static void a_diagnosis_that_hangs_concerns_nobody_else(void)
{
    begin_with(100 * NS_PER_MS, NULL, VITALS_DIAGNOSIS_FINDING);
    atomic_store(&driver.diagnosis_ns, 7 * NS_PER_SECOND);
    uint64_t begun = real_now_ns();
    vitals_snapshot *late = take();
    check_silence(late, "answer");
    vitals_snapshot_unref(late);
    struct watching seen = watch_for(3 * NS_PER_SECOND, 1.0);
    CHECK(seen.longest_tick < 3.0); /* it hangs for seven */
    CHECK(seen.longest_fresh_age < 2.0);
    CHECK_UINT(seen.quarantined_most, 1);
    CHECK(seen.fresh_after >= 3); /* the second too */
    late = take();
    check_silence(late, "hangs");
    vitals_snapshot_unref(late);
    int calls = atomic_load(&driver.calls[0]);
    CHECK_INT(atomic_load(&driver.diagnoses), 1);
    bool told = false;
    while (!told && real_now_ns() < begun + 12 * NS_PER_SECOND) {
        vitals_snapshot *snapshot = take();
        told = diagnosis_of(snapshot, "driver") != NULL;
        CHECK(told != (diagnosis_of(snapshot, "driver driver") != NULL));
        vitals_snapshot_unref(snapshot);
        real_sleep_ns(50 * NS_PER_MS);
    }
    CHECK(told);
    CHECK(real_now_ns() - begun > 6 * NS_PER_SECOND);
    CHECK(atomic_load(&driver.calls[0]) > calls);
    CHECK_INT(atomic_load(&driver.opened), 1);
    end();
}

static void a_driver_that_does_not_load_delays_one_tick_only(void)
{
    begin(100 * NS_PER_MS, NULL);
    atomic_store(&driver.scan_ns, 6 * NS_PER_SECOND);
    uint64_t begun = real_now_ns();
    vitals_snapshot *snapshot = take(); /* more patience than usual: most drivers load in time */
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_GPU), 0);
    CHECK(real_now_ns() - begun < 3 * NS_PER_SECOND);
    vitals_text message;
    CHECK_INT(vitals_row_text(source_row(snapshot), VITALS_SOURCE_MESSAGE, &message), VITALS_HAVE);
    CHECK_CONTAINS(message.bytes, "not answered");
    vitals_snapshot_unref(snapshot);
    begun = real_now_ns();
    vitals_snapshot_unref(take());
    CHECK(real_now_ns() - begun < 2 * NS_PER_SECOND);
    uint64_t until = begun + 12 * NS_PER_SECOND;
    size_t count = 0;
    while (count < DEVICES && real_now_ns() < until) { /* they come one by one */
        real_sleep_ns(50 * NS_PER_MS);
        snapshot = take();
        count = vitals_snapshot_count(snapshot, VITALS_TABLE_GPU);
        vitals_snapshot_unref(snapshot);
    }
    CHECK_UINT(count, DEVICES);
    end();
}

/* One of three hangs as it is listed: the two before it are read in the first tick, by a thread of
 * their own, and all three once it answers. */
static void a_listing_that_hangs_hides_none_that_it_has_listed(void)
{
    begin(100 * NS_PER_MS, NULL);
    atomic_store(&driver.third_ns, 3500 * NS_PER_MS);
    vitals_snapshot *snapshot = take();
    CHECK_UINT(vitals_snapshot_count(snapshot, VITALS_TABLE_GPU), 2);
    CHECK_INT(state_of(snapshot, 0), VITALS_HAVE);
    CHECK_INT(state_of(snapshot, 1), VITALS_HAVE);
    vitals_text message;
    CHECK_INT(vitals_row_text(source_row(snapshot), VITALS_SOURCE_MESSAGE, &message), VITALS_HAVE);
    CHECK_CONTAINS(message.bytes, "did not answer");
    CHECK_UINT(source_u64(snapshot, VITALS_SOURCE_QUARANTINED), 1);
    vitals_snapshot_unref(snapshot);
    int calls = atomic_load(&driver.calls[0]);
    size_t count = 2;
    uint64_t until = real_now_ns() + 6 * NS_PER_SECOND;
    while (count == 2 && real_now_ns() < until) {
        real_sleep_ns(50 * NS_PER_MS);
        snapshot = take();
        count = vitals_snapshot_count(snapshot, VITALS_TABLE_GPU);
        vitals_snapshot_unref(snapshot);
    }
    CHECK_UINT(count, DEVICES);
    CHECK(atomic_load(&driver.calls[0]) > calls);
    CHECK_INT(atomic_load(&driver.scans), 1);
    end();
}

static void partitions_are_not_counted_as_devices(void)
{
    begin(100 * NS_PER_MS, NULL);
    atomic_store(&driver.third_ns, 3500 * NS_PER_MS);
    atomic_store(&driver.divided, true);
    atomic_store(&driver.expected, 2);
    vitals_snapshot *snapshot = take();
    vitals_text message;
    CHECK_INT(vitals_row_text(source_row(snapshot), VITALS_SOURCE_MESSAGE, &message), VITALS_HAVE);
    CHECK_CONTAINS(message.bytes, "1 of 2 devices listed");
    vitals_snapshot_unref(snapshot);
    end();
}

static void freeing_does_not_wait_for_a_driver_that_hangs(void)
{
    begin(100 * NS_PER_MS, NULL);
    CHECK_OK(vitals_sampler_start(sampler, &error), error);
    uint64_t until = real_now_ns() + 5 * NS_PER_SECOND;
    while (atomic_load(&driver.calls[2]) == 0 && real_now_ns() < until)
        real_sleep_ns(NS_PER_MS);
    atomic_store(&driver.hang_device, 1);
    atomic_store(&driver.hang_ns, 3 * NS_PER_SECOND);
    atomic_store(&driver.hang_calls, 1);
    while (atomic_load(&driver.hang_calls) == 1 && real_now_ns() < until)
        real_sleep_ns(NS_PER_MS);
    uint64_t begun = real_now_ns();
    vitals_sampler_free(sampler);
    vitals_context_free(context);
    CHECK(real_now_ns() - begun <
          2 * NS_PER_SECOND);                  /* 0.1 s for the tick, 0.1 s for the workers */
    CHECK_INT(atomic_load(&driver.closed), 0); /* a library with a thread inside stays open */
    check_nothing_left();
    CHECK_INT(atomic_load(&driver.closed), 1);
}

static const check_test tests[] = {
    {"partitions are not counted as devices", partitions_are_not_counted_as_devices},
    {"a listing that hangs hides none that it has listed",
     a_listing_that_hangs_hides_none_that_it_has_listed},
    {"a call of five seconds concerns its device alone",
     a_call_of_five_seconds_concerns_its_device_alone},
    {"who hangs again is left alone for a while", who_hangs_again_is_left_alone_for_a_while},
    {"two devices may hang at once", two_devices_may_hang_at_once},
    {"a diagnosis that hangs concerns nobody else", a_diagnosis_that_hangs_concerns_nobody_else},
    {"a driver that does not load delays one tick only",
     a_driver_that_does_not_load_delays_one_tick_only},
    {"freeing does not wait for a driver that hangs",
     freeing_does_not_wait_for_a_driver_that_hangs},
};
CHECK_TESTS(tests)
