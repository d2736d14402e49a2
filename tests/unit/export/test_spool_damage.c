/* Spool files whose bytes were changed: every whole record is given once, damaged bytes are named
 * and kept, and no file is removed that holds anything a server has not accepted. */
#include "check.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export/mlflow/spool_record.h"

enum { MUTATIONS = 1000, BATCHES = 14, UNITS = BATCHES + 6, ARRIVED = 5 };

static char folder[] = "/tmp/vitals-spool-XXXXXX";
static char path[sizeof folder + 20], aside[sizeof folder + 28];

/* ---- files ---- */

static void write_file(const char *name, const struct buffer *bytes)
{
    FILE *file = fopen(name, "wb");
    CHECK_NOT_NULL(file);
    CHECK_UINT(fwrite(bytes->bytes, 1, bytes->size, file), bytes->size);
    CHECK_INT(fclose(file), 0);
}

static struct buffer read_file(const char *name)
{
    struct buffer bytes = {.bytes = NULL};
    struct stat status;
    FILE *file = fopen(name, "rb");
    CHECK_NOT_NULL(file);
    CHECK_INT(fstat(fileno(file), &status), 0);
    char *place = buffer_reserve(&bytes, (size_t)status.st_size);
    CHECK_NOT_NULL(place);
    CHECK_UINT(fread(place, 1, (size_t)status.st_size, file), (size_t)status.st_size);
    buffer_advance(&bytes, (size_t)status.st_size);
    CHECK_INT(fclose(file), 0);
    return bytes;
}

static bool exists(const char *name)
{
    return access(name, F_OK) == 0;
}

static struct spool *open_spool(const char *name)
{
    struct spool *spool = NULL;
    vitals_error error;
    CHECK_OK(spool_open(name, &spool, &error), error);
    return spool;
}

/* ---- the records of a file ---- */

struct unit {
    size_t from, size; /* in the file */
    enum spool_kind kind;
    struct buffer body;
    bool arrived;
    unsigned given;
};

struct base {
    struct buffer bytes;
    struct unit units[UNITS];
};

/* The bytes of a whole spool with records of its own, as an artifact may hold. */
static void put_other_spool(struct buffer *out)
{
    struct spool *other = NULL;
    CHECK_INT(spool_new(folder, &other, NULL), 0);
    CHECK(spool_append(other, SPOOL_BATCH, "{\"of\":\"another\"}", 16));
    CHECK(spool_append(other, SPOOL_END, "{\"of\":\"another\"}", 16));
    struct buffer bytes = read_file(spool_path(other));
    buffer_append(out, bytes.bytes, bytes.size);
    buffer_done(&bytes);
    spool_close(other, true);
}

static void make_units(struct base *base)
{
    static const char *const OTHERS[] = {"{\"uri\":\"http://there\"}",
                                         "{\"run_id\":\"r\"}",
                                         "{\"status\":\"FINISHED\"}",
                                         "a.html\n<p>\n@ batch 3\n\n",
                                         "b.bin\n",
                                         "c\n\x01\xff\n@@\n"};
    for (int i = 0; i < UNITS; i++) {
        struct unit *unit = &base->units[i];
        int other = i < 2 ? i : i - BATCHES;
        unit->kind = i < 2 + BATCHES && i >= 2 ? SPOOL_BATCH
                     : other < 2               ? (enum spool_kind)other
                     : other == 2              ? SPOOL_END
                                               : SPOOL_ARTIFACT;
        if (unit->kind == SPOOL_BATCH)
            buffer_format(&unit->body, "{\"metrics\":[{\"key\":\"m\",\"step\":%d,\"value\":%d.5}]}",
                          i, i * 7919);
        else
            buffer_string(&unit->body, OTHERS[other]);
        if (other == 4)
            put_other_spool(&unit->body);
        CHECK(!unit->body.failed);
    }
}

static void make_base(struct base *base)
{
    struct spool *spool = NULL;
    struct buffer body = {.bytes = NULL};
    struct stat status;
    enum spool_kind kind;
    size_t before = SPOOL_MAGIC_SIZE;
    *base = (struct base){.bytes = {.bytes = NULL}};
    make_units(base);
    CHECK_INT(spool_new(folder, &spool, NULL), 0);
    for (int i = 0; i < UNITS; i++) {
        struct unit *unit = &base->units[i];
        CHECK(spool_append(spool, unit->kind, unit->body.bytes, unit->body.size));
        CHECK_INT(stat(spool_path(spool), &status), 0);
        unit->from = before;
        unit->size = (size_t)status.st_size - before;
        before = (size_t)status.st_size;
    }
    for (int i = 0; i < ARRIVED; i++) {
        CHECK(spool_next(spool, &kind, &body));
        CHECK(spool_acknowledge(spool));
        base->units[2 + i].arrived = true;
    }
    buffer_done(&body);
    base->bytes = read_file(spool_path(spool));
    spool_close(spool, true);
}

static void base_done(struct base *base)
{
    for (int i = 0; i < UNITS; i++)
        buffer_done(&base->units[i].body);
    buffer_done(&base->bytes);
}

/* ---- what happens to their bytes ---- */

static uint64_t state;

static size_t below(size_t most) /* a number below it; xorshift */
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return most > 0 ? (size_t)(state % most) : 0;
}

enum change { FLIP, OVERWRITE, INSERT, DELETE, TRUNCATE, DOUBLE, CHANGES };

/* The bytes with some changed; the caller's. */
static struct buffer mutate(const struct buffer *bytes)
{
    struct buffer out = {.bytes = NULL};
    enum change change = (enum change)below(CHANGES);
    size_t at = below(bytes->size), most = below(4) == 0 ? 600 : 8;
    size_t size = 1 + below(most), left = bytes->size - at;
    size = size < left ? size : left;
    buffer_append(&out, bytes->bytes, at);
    if (change == DOUBLE) { /* what stands anywhere */
        size_t from = below(bytes->size);
        buffer_append(&out, bytes->bytes + from,
                      size < bytes->size - from ? size : bytes->size - from);
    }
    for (size_t i = 0; i < size && (change == INSERT || change == OVERWRITE); i++)
        buffer_byte(&out, (char)below(256));
    if (change == FLIP)
        buffer_byte(&out, (char)(bytes->bytes[at] ^ (1 << below(8))));
    at += change == FLIP ? 1 : change == OVERWRITE || change == DELETE ? size : 0;
    if (change != TRUNCATE)
        buffer_append(&out, bytes->bytes + at, bytes->size - at);
    CHECK(!out.failed);
    return out;
}

/* Whether all bytes of a record are there, but for the newline behind them. */
static bool is_whole(const struct base *base, const struct unit *unit, const struct buffer *mutated)
{
    return memmem(mutated->bytes, mutated->size, base->bytes.bytes + unit->from, unit->size - 1) !=
           NULL;
}

/* ---- a server ---- */

static struct unit *find_unit(struct base *base, enum spool_kind kind, const struct buffer *body)
{
    for (int i = 0; i < UNITS; i++) {
        struct unit *unit = &base->units[i];
        if (unit->kind == kind && unit->body.size == body->size &&
            memcmp(unit->body.bytes, body->bytes, body->size) == 0)
            return unit;
    }
    return NULL;
}

/* Takes at most so many records, and refuses one in `refuses`; 0: none. */
static void accept_records(struct base *base, struct spool *spool, size_t most, size_t refuses)
{
    struct buffer body = {.bytes = NULL};
    enum spool_kind kind;
    while (most-- > 0 && spool_next(spool, &kind, &body)) {
        struct unit *unit = find_unit(base, kind, &body);
        if (unit == NULL) {
            spool_leave(spool, true);
        } else if (refuses > 0 && below(refuses) == 0) {
            spool_leave(spool, false);
        } else {
            unit->given++;
            CHECK(spool_acknowledge(spool));
        }
    }
    buffer_done(&body);
}

/* Sends the file in several goes, of which all but the last are cut short. */
static enum spool_rest send_all(struct base *base)
{
    struct spool *spool;
    for (size_t goes = below(4); goes > 0; goes--) {
        spool = open_spool(path);
        accept_records(base, spool, below(8), 5);
        if (spool_waiting(spool) > 0)
            CHECK_INT(spool_settle(spool), SPOOL_STAYS);
        spool_close(spool, false);
        CHECK(exists(path));
    }
    spool = open_spool(path);
    accept_records(base, spool, SIZE_MAX, 0);
    CHECK_UINT(spool_waiting(spool), 0);
    enum spool_rest rest = spool_settle(spool);
    CHECK_INT(rest == SPOOL_REMOVED, spool_damage(spool).places + spool_damage(spool).missing == 0);
    spool_close(spool, false);
    CHECK(!exists(path));
    CHECK_INT(exists(aside), rest == SPOOL_SET_ASIDE);
    return rest;
}

/* The file that was set aside holds all bytes as they were, but for heads of what has arrived. */
static void check_set_aside(const struct buffer *mutated)
{
    struct spool_record record;
    struct buffer kept = read_file(aside);
    CHECK_UINT(kept.size, mutated->size);
    for (size_t i = 0, head; i<kept.size; i += head> 0 && record.arrived ? head : 1) {
        head = spool_parse(kept.bytes + i, kept.size - i, &record);
        CHECK((head > 0 && record.arrived) || kept.bytes[i] == mutated->bytes[i]);
    }
    buffer_done(&kept);
    CHECK_INT(unlink(aside), 0);
}

struct counts {
    unsigned whole, given, damaged, removed, aside, refused;
};

static void count_units(struct base *base, const struct buffer *mutated, bool removed,
                        struct counts *counts)
{
    bool tail = true; /* nothing behind it is there: a file that ends early shows no loss */
    for (int i = UNITS - 1; i >= 0; i--) {
        struct unit *unit = &base->units[i];
        bool whole = is_whole(base, unit, mutated);
        tail = tail && !whole;
        if (unit->kind <= SPOOL_RUN || unit->arrived) {
            CHECK_UINT(unit->given, 0);
        } else {
            CHECK(unit->given <= 1);
            CHECK(unit->given == 1 || !whole);
            CHECK(unit->given == 1 || tail || !removed);
            counts->whole += whole;
            counts->given += unit->given;
            counts->damaged += unit->given == 0;
        }
        unit->given = 0;
    }
}

static void mutate_and_send(struct base *base, struct counts *counts)
{
    struct spool *spool = NULL;
    struct buffer mutated = mutate(&base->bytes);
    for (size_t more = below(3); more > 0 && mutated.size > 0; more--) {
        struct buffer again = mutate(&mutated);
        buffer_done(&mutated);
        mutated = again;
    }
    write_file(path, &mutated);
    int code = spool_open(path, &spool, NULL);
    spool_close(spool, false);
    enum spool_rest rest = SPOOL_STAYS;
    if (code == 0)
        rest = send_all(base);
    else
        CHECK_INT(code, VITALS_EFORMAT);
    if (rest == SPOOL_SET_ASIDE)
        check_set_aside(&mutated);
    count_units(base, &mutated, rest == SPOOL_REMOVED, counts);
    counts->removed += rest == SPOOL_REMOVED;
    counts->aside += rest == SPOOL_SET_ASIDE;
    counts->refused += code < 0;
    if (code < 0)
        CHECK_INT(unlink(path), 0);
    buffer_done(&mutated);
}

static void begin_random(void)
{
    const char *seed = getenv("VITALS_SEED");
    state = seed != NULL ? strtoull(seed, NULL, 0) : 20261123;
    printf("# VITALS_SEED=%llu\n", (unsigned long long)state);
    state = state * 0x9E3779B97F4A7C15ULL + 1;
}

static void no_whole_record_is_lost_and_none_is_given_twice(void)
{
    struct base base;
    struct counts counts = {0};
    begin_random();
    make_base(&base);
    for (int i = 0; i < MUTATIONS; i++)
        mutate_and_send(&base, &counts);
    printf("# %d files: of %u whole records and %u damaged ones %u were sent once, 0 twice; %u "
           "files removed, %u set aside, %u not recognized\n",
           MUTATIONS, counts.whole, counts.damaged, counts.given, counts.removed, counts.aside,
           counts.refused);
    CHECK(counts.whole > MUTATIONS);
    base_done(&base);
}

/* ---- one by one ---- */

static void one_damaged_byte_costs_its_record_and_is_named(void)
{
    struct base base;
    make_base(&base);
    const struct unit *unit = &base.units[2 + ARRIVED];
    base.bytes.bytes[unit->from + unit->size - 4] ^= 1;
    write_file(path, &base.bytes);
    struct spool *spool = open_spool(path);
    struct spool_damage damage = spool_damage(spool);
    CHECK_UINT(damage.places, 1);
    CHECK_UINT(damage.first[0].at, unit->from);
    CHECK_UINT(damage.first[0].size, unit->size);
    CHECK_UINT(damage.bytes, unit->size);
    CHECK_UINT(damage.missing, 0); /* it is told once */
    CHECK(!damage.first[0].incomplete);
    CHECK_UINT(spool_waiting(spool), UNITS - 2 - ARRIVED - 1);
    CHECK(spool_has_end(spool));
    accept_records(&base, spool, SIZE_MAX, 0);
    CHECK_INT(spool_settle(spool), SPOOL_SET_ASIDE);
    CHECK_STR(spool_path(spool), aside);
    spool_close(spool, false);
    /* It is sent again without harm. */
    spool = open_spool(aside);
    CHECK_UINT(spool_waiting(spool), 0);
    CHECK_INT(spool_settle(spool), SPOOL_SET_ASIDE);
    spool_close(spool, false);
    check_set_aside(&base.bytes);
    base_done(&base);
}

/* Its case says whether it has arrived; half of a word says nothing. */
static void a_letter_of_a_kind_makes_no_record_arrive_or_wait(void)
{
    for (int i = 0; i < 2; i++) {
        struct base base;
        make_base(&base);
        const struct unit *unit = &base.units[i == 0 ? 2 : 2 + ARRIVED];
        char *word = strchr(base.bytes.bytes + unit->from, ' ') + 1;
        *word = (char)(*word ^ 0x20);
        write_file(path, &base.bytes);
        struct spool *spool = open_spool(path);
        struct spool_damage damage = spool_damage(spool);
        CHECK_UINT(damage.places, 1);
        CHECK_UINT(damage.first[0].at, unit->from);
        CHECK_UINT(damage.first[0].size, unit->size);
        CHECK_UINT(spool_waiting(spool), UNITS - 2 - ARRIVED - (i == 1));
        spool_close(spool, true);
        base_done(&base);
    }
}

static void a_record_that_was_not_finished_is_called_so(void)
{
    struct base base;
    make_base(&base);
    const struct unit *last = &base.units[UNITS - 1];
    for (size_t cut = 1; cut < last->size; cut++) {
        struct buffer bytes = {.bytes = NULL};
        buffer_append(&bytes, base.bytes.bytes, last->from + last->size - cut);
        write_file(path, &bytes);
        struct spool *spool = open_spool(path);
        struct spool_damage damage = spool_damage(spool);
        CHECK_UINT(damage.places, cut > 1); /* the newline behind it proves nothing */
        CHECK_UINT(damage.missing, 0);
        CHECK_INT(damage.first[0].incomplete, cut > 1);
        CHECK_UINT(damage.bytes, cut > 1 ? last->size - cut : 0);
        CHECK_UINT(spool_waiting(spool), UNITS - 2 - ARRIVED - (cut > 1));
        spool_close(spool, true);
        buffer_done(&bytes);
    }
    base_done(&base);
}

static void records_that_are_not_there_are_counted(void)
{
    struct base base;
    struct buffer bytes = {.bytes = NULL};
    make_base(&base);
    size_t from = base.units[8].from, to = base.units[10].from;
    buffer_append(&bytes, base.bytes.bytes, from);
    buffer_append(&bytes, base.bytes.bytes + to, base.bytes.size - to);
    write_file(path, &bytes);
    struct spool *spool = open_spool(path);
    CHECK_UINT(spool_damage(spool).places, 0);
    CHECK_UINT(spool_damage(spool).missing, 2);
    accept_records(&base, spool, SIZE_MAX, 0);
    CHECK_INT(spool_settle(spool), SPOOL_SET_ASIDE);
    spool_close(spool, true);
    buffer_done(&bytes);
    base_done(&base);
}

/* Up to nine times another name is found; then the file stays, and it is known why. */
static void what_was_set_aside_before_is_not_overwritten(void)
{
    struct base base;
    struct spool *spool;
    const struct buffer other = {.bytes = (char[]){"mine"}, .size = 4};
    char names[10][sizeof aside + 2];
    make_base(&base);
    base.bytes.bytes[base.units[9].from + 1] ^= 1;
    for (int i = 0; i < 10; i++) {
        (void)snprintf(names[i], sizeof names[i], i > 0 ? "%s.%d" : "%s", aside, i);
        write_file(path, &base.bytes);
        spool = open_spool(path);
        accept_records(&base, spool, SIZE_MAX, 0);
        CHECK_INT(spool_settle(spool), SPOOL_SET_ASIDE);
        CHECK_STR(spool_path(spool), names[i]);
        spool_close(spool, false);
        spool = open_spool(names[i]); /* again: it keeps that name */
        CHECK_INT(spool_settle(spool), SPOOL_SET_ASIDE);
        CHECK_STR(spool_path(spool), names[i]);
        spool_close(spool, false);
        write_file(names[i], &other);
    }
    write_file(path, &base.bytes);
    spool = open_spool(path);
    accept_records(&base, spool, SIZE_MAX, 0);
    CHECK_INT(spool_settle(spool), SPOOL_STAYS);
    CHECK_STR(spool_path(spool), path);
    CHECK_INT(spool_trouble(spool), EEXIST);
    spool_close(spool, true);
    for (int i = 0; i < 10; i++) {
        struct buffer kept = read_file(names[i]);
        CHECK_UINT(kept.size, other.size);
        CHECK_INT(memcmp(kept.bytes, other.bytes, other.size), 0);
        CHECK_INT(unlink(names[i]), 0);
        buffer_done(&kept);
    }
    base_done(&base);
}

static void remove_folder(void)
{
    (void)rmdir(folder);
}

static void a_folder_of_its_own(void)
{
    CHECK_NOT_NULL(mkdtemp(folder));
    CHECK_INT(atexit(remove_folder), 0);
    (void)snprintf(path, sizeof path, "%s/a.spool", folder);
    (void)snprintf(aside, sizeof aside, "%s.damaged", path);
}

static const check_test tests[] = {
    {"a folder of its own", a_folder_of_its_own},
    {"no whole record is lost and none is given twice",
     no_whole_record_is_lost_and_none_is_given_twice},
    {"one damaged byte costs its record and is named",
     one_damaged_byte_costs_its_record_and_is_named},
    {"a letter of a kind makes no record arrive or wait",
     a_letter_of_a_kind_makes_no_record_arrive_or_wait},
    {"a record that was not finished is called so", a_record_that_was_not_finished_is_called_so},
    {"records that are not there are counted", records_that_are_not_there_are_counted},
    {"what was set aside before is not overwritten", what_was_set_aside_before_is_not_overwritten},
};
CHECK_TESTS(tests)
