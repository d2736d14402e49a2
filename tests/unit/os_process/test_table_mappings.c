/* The tables mapping and mapped_file: of a child that maps what it is told, whose sums the kernel
 * gives too, and of trees that lie. */
#include "table_world.h"

#include "os/linux/process/process_tables.h"

#include <sys/mman.h>
#include <sys/sysmacros.h>

enum { PAGE = 4096, PIECE = 16 * PAGE };

/* ---- a child with known mappings ---- */

static struct tree files;

static const char *file_path(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", files.path, name);
    return path;
}

/* Maps a new file of one piece at the place; it may be removed then. */
static void map_file(char *at, const char *name, bool removed)
{
    int file = open(file_path(name), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
    if (file < 0 || ftruncate(file, 2 * PIECE) != 0 ||
        mmap(at, PIECE, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, PAGE) != at)
        _exit(1);
    close(file);
    if (removed)
        unlink(file_path(name));
}

static const struct {
    const char *name;
    const char *path;
    bool removed;
} FILES[] = {
    {"with some blanks", "with some blanks", false},
    {"two\nlines", "two\nlines", false},
    {"called so (deleted)", "called so (deleted)", false},
    {"removed", "removed", true},
    {"z", "z", true}, // and the next is called as it reads now
    {"z (deleted)", "z (deleted)", false},
    {"\xff\x1b[2J", "\xff\x1b[2J", false},
};

enum { FILE_COUNT = CHECK_COUNT(FILES), PIECES = 2 * FILE_COUNT + 8 };

/* Where piece number n lies: every second one, so that none is merged. */
static char *piece(char *base, size_t number)
{
    return base + 2 * number * PIECE;
}

static char *base_of_child;

/* Half of an anonymous piece touched, shared memory, a memfd, the files. */
static void map_everything(char *base)
{
    munmap(base, PIECES * PIECE);
    char *anonymous = mmap(piece(base, FILE_COUNT), PIECE, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    memset(anonymous, 1, PIECE / 2);
    char *shared = mmap(piece(base, FILE_COUNT + 1), PIECE, PROT_READ | PROT_WRITE | PROT_EXEC,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    shared[0] = 1;
    int memory = (int)syscall(SYS_memfd_create, "mine", 0);
    if (memory < 0 || ftruncate(memory, PIECE) != 0 ||
        mmap(piece(base, FILE_COUNT + 2), PIECE, PROT_READ, MAP_SHARED | MAP_FIXED, memory, 0) ==
            MAP_FAILED)
        _exit(1);
    for (size_t i = 0; i < FILE_COUNT; i++)
        map_file(piece(base, i), FILES[i].name, FILES[i].removed);
}

/* It stands still when this returns. */
static pid_t child_with_mappings(void)
{
    int told[2];
    CHECK_INT(pipe(told), 0);
    char *base = mmap(NULL, PIECES * PIECE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(base != MAP_FAILED);
    base_of_child = base;
    pid_t pid = child_fork();
    if (pid == 0) {
        map_everything(base);
        if (write(told[1], "y", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    munmap(base, PIECES * PIECE);
    close(told[1]);
    char byte;
    CHECK_INT(read(told[0], &byte, 1), 1);
    close(told[0]);
    return pid;
}

static uint64_t key_of(size_t number)
{
    return ((uint64_t)(uintptr_t)piece(base_of_child, number) >> 12) + 1;
}

static void every_mapping_has_a_row(void)
{
    files = tree_new();
    pid_t pid = child_with_mappings();
    struct asked asked;
    ask(&asked, NULL, pid, VITALS_TABLE_MAPPING);
    child_end(pid);
    check_asked(&asked);
    CHECK_INT(asked_state(&asked), VITALS_HAVE);
    for (size_t i = 0; i < FILE_COUNT; i++) {
        CHECK_CASE(FILES[i].name);
        const struct batch_row *row = need_row(&asked, key_of(i));
        check_text(&asked, row, VITALS_MAPPING_PATH, file_path(FILES[i].path));
        CHECK_UINT(u64_of(&asked, row, VITALS_MAPPING_DELETED), FILES[i].removed);
        CHECK_UINT(u64_of(&asked, row, VITALS_MAPPING_SIZE_BYTES), PIECE);
        CHECK_UINT(u64_of(&asked, row, VITALS_MAPPING_OFFSET_BYTES), PAGE);
        check_text(&asked, row, VITALS_MAPPING_PERMISSIONS, "r--p");
        CHECK_UINT(u64_of(&asked, row, VITALS_MAPPING_RESIDENT_BYTES), 0);
    }
    const struct batch_row *row = need_row(&asked, key_of(FILE_COUNT));
    char addresses[64];
    snprintf(addresses, sizeof addresses, "%08llx-%08llx",
             (unsigned long long)(uintptr_t)piece(base_of_child, FILE_COUNT),
             (unsigned long long)(uintptr_t)piece(base_of_child, FILE_COUNT) + PIECE);
    check_text(&asked, row, VITALS_MAPPING_ADDRESSES, addresses);
    check_text(&asked, row, VITALS_MAPPING_PATH, "[anon]");
    check_text(&asked, row, VITALS_MAPPING_PERMISSIONS, "rw-p");
    CHECK_UINT(u64_of(&asked, row, VITALS_MAPPING_INODE), 0);
    check_text(&asked, row, VITALS_MAPPING_DEVICE, "0:0");
    CHECK(u64_of(&asked, row, VITALS_MAPPING_RESIDENT_BYTES) >= PIECE / 2);
    CHECK_UINT(u64_of(&asked, row, VITALS_MAPPING_PRIVATE_DIRTY_BYTES),
               u64_of(&asked, row, VITALS_MAPPING_RESIDENT_BYTES)); // it touched them itself
    CHECK_UINT(u64_of(&asked, row, VITALS_MAPPING_ANONYMOUS_BYTES),
               u64_of(&asked, row, VITALS_MAPPING_RESIDENT_BYTES));
    row = need_row(&asked, key_of(FILE_COUNT + 1));
    check_text(&asked, row, VITALS_MAPPING_PATH, "/dev/zero"); // the kernel's name of it
    check_text(&asked, row, VITALS_MAPPING_PERMISSIONS, "rwxs");
    CHECK_UINT(u64_of(&asked, row, VITALS_MAPPING_DELETED), 0);
    row = need_row(&asked, key_of(FILE_COUNT + 2));
    check_text(&asked, row, VITALS_MAPPING_PATH, "/memfd:mine");
    CHECK_UINT(u64_of(&asked, row, VITALS_MAPPING_DELETED), 0);
    CHECK_NOT_NULL(find_label(&asked, "[stack]"));
    asked_done(&asked);
    tree_free(&files);
}

static void the_file_is_named_by_device_and_inode(void)
{
    files = tree_new();
    pid_t pid = child_with_mappings();
    struct stat status;
    CHECK_INT(stat(file_path("with some blanks"), &status), 0);
    struct asked asked;
    ask(&asked, NULL, pid, VITALS_TABLE_MAPPING);
    child_end(pid);
    const struct batch_row *row = need_row(&asked, key_of(0));
    uint64_t inode = u64_of(&asked, row, VITALS_MAPPING_INODE);
    char device[64];
    snprintf(device, sizeof device, "%u:%u", major(status.st_dev), minor(status.st_dev));
    bool same = inode == status.st_ino;
    if (same)
        check_text(&asked, row, VITALS_MAPPING_DEVICE, device);
    asked_done(&asked);
    tree_free(&files);
    if (!same)
        CHECK_SKIP("this file system shows other inodes in maps (overlay)");
}

/* "Rss:" and its like of smaps_rollup; 0 where there is none. */
static uint64_t rolled_up(pid_t pid, const char *label)
{
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    unsigned long long kilobytes = 0;
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, label, strlen(label)) == 0)
            kilobytes = strtoull(line + strlen(label), NULL, 10);
    fclose(file);
    return kilobytes * 1024;
}

static uint64_t sum_of(const struct asked *asked, vitals_metric metric)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < asked->batch.row_count; i++)
        sum += u64_of(asked, &asked->batch.rows[i], metric);
    return sum;
}

/* Whether a page is private or shared with the forking parent changes when we write to ours: only
 * the sum is constant. */
static uint64_t sum_of_shares(const struct asked *asked)
{
    return sum_of(asked, VITALS_MAPPING_PRIVATE_CLEAN_BYTES) +
           sum_of(asked, VITALS_MAPPING_PRIVATE_DIRTY_BYTES) +
           sum_of(asked, VITALS_MAPPING_SHARED_CLEAN_BYTES) +
           sum_of(asked, VITALS_MAPPING_SHARED_DIRTY_BYTES);
}

static void the_sums_are_those_of_the_kernel(void)
{
    static const struct {
        const char *label;
        vitals_metric mapping, file;
    } SUMS[] = {
        {"Rss:", VITALS_MAPPING_RESIDENT_BYTES, VITALS_MAPPED_FILE_RESIDENT_BYTES},
        {"Anonymous:", VITALS_MAPPING_ANONYMOUS_BYTES, VITALS_MAPPED_FILE_ANONYMOUS_BYTES},
        {"Locked:", VITALS_MAPPING_LOCKED_BYTES, VITALS_MAPPED_FILE_LOCKED_BYTES},
    };
    files = tree_new();
    pid_t pid = child_with_mappings();
    struct asked mappings, grouped;
    uint64_t sums[CHECK_COUNT(SUMS)], before;
    /* A child that has said that it is ready may still touch a page: until it stands still. */
    for (int turn = 0;; turn++) {
        before = rolled_up(pid, "Rss:");
        ask(&mappings, NULL, pid, VITALS_TABLE_MAPPING);
        ask(&grouped, NULL, pid, VITALS_TABLE_MAPPED_FILE);
        for (size_t i = 0; i < CHECK_COUNT(SUMS); i++)
            sums[i] = rolled_up(pid, SUMS[i].label);
        if (before == sums[0] || turn == 100)
            break;
        asked_done(&mappings);
        asked_done(&grouped);
    }
    child_end(pid);
    check_asked(&mappings);
    check_asked(&grouped);
    tree_free(&files);
    for (size_t i = 0; i < CHECK_COUNT(SUMS) && sums[0] != 0; i++) {
        CHECK_CASE(SUMS[i].label);
        CHECK_UINT(sum_of(&mappings, SUMS[i].mapping), sums[i]);
        CHECK_UINT(sum_of(&grouped, SUMS[i].file), sums[i]);
    }
    CHECK_UINT(sum_of(&grouped, VITALS_MAPPED_FILE_MAPPINGS), mappings.batch.row_count);
    CHECK_UINT(sum_of(&grouped, VITALS_MAPPED_FILE_SIZE_BYTES),
               sum_of(&mappings, VITALS_MAPPING_SIZE_BYTES));
    CHECK_UINT(sum_of_shares(&mappings), sum_of(&mappings, VITALS_MAPPING_RESIDENT_BYTES));
    CHECK(sum_of(&mappings, VITALS_MAPPING_PSS_BYTES) > 0);
    asked_done(&mappings);
    asked_done(&grouped);
    if (sums[0] == 0)
        CHECK_SKIP("no smaps_rollup to compare with");
}

/* ---- trees ---- */

static const char MAPS[] =
    "00400000-00402000 r-xp 00001000 08:01 77                         /bin/a b\n"
    "00600000-00601000 rw-p 00000000 00:00 0 \n"
    "00700000-00701000 rw-p 00000000 00:00 0                          [anon:jit (deleted)]\n";

static const char SMAPS[] =
    "00400000-00402000 r-xp 00001000 08:01 77                         /bin/a b\n"
    "Size:                  8 kB\n"
    "Rss:                   4 kB\n"
    "Rss:                  99 kB\n" // only the first counts
    "Pss:\n"
    "ProtectionKey:         0\n"
    "SomethingNew:   nonsense\n"
    "VmFlags: rd ex mr mw me\n"
    "00600000-00601000 rw-p 00000000 00:00 0 \n"
    "Rss:                   12 kB\n"
    "Pss:                   12 kB\n"
    "00600000-00611000 rw-p 00000000 00:00 0 \n" // it has grown
    "Rss:                   99 kB\n"
    "00600800-00601000 rw-p 00000000 00:00 0 \n" // no page begins there
    "00700000-00701000 rw-p 00000000 fd:ff 9                          /bin/a b\n"
    "Rss:                   2 kB\n"
    "Swap:                  1 kB"; // may have been cut

static void lines_that_are_none_are_passed_over(void)
{
    struct tree tree = tree_new();
    tree_text(&tree, 5, "smaps", SMAPS);
    struct asked asked;
    ask(&asked, tree.path, 5, VITALS_TABLE_MAPPING);
    check_asked(&asked);
    CHECK_UINT(asked.batch.row_count, 3);
    const struct batch_row *row = need_row(&asked, 0x401);
    check_text(&asked, row, VITALS_MAPPING_PATH, "/bin/a b");
    check_text(&asked, row, VITALS_MAPPING_DEVICE, "8:1");
    CHECK_UINT(u64_of(&asked, row, VITALS_MAPPING_INODE), 77);
    CHECK_UINT(u64_of(&asked, row, VITALS_MAPPING_OFFSET_BYTES), 4096);
    CHECK_UINT(u64_of(&asked, row, VITALS_MAPPING_RESIDENT_BYTES), 4096);
    CHECK_INT(state_of(&asked, row, VITALS_MAPPING_PSS_BYTES), VITALS_UNSET);
    row = need_row(&asked, 0x601);
    CHECK_UINT(u64_of(&asked, row, VITALS_MAPPING_RESIDENT_BYTES), 12 * 1024);
    CHECK_UINT(u64_of(&asked, row, VITALS_MAPPING_SIZE_BYTES), 4096);
    row = need_row(&asked, 0x701);
    check_text(&asked, row, VITALS_MAPPING_DEVICE, "253:255");
    CHECK_INT(state_of(&asked, row, VITALS_MAPPING_SWAP_BYTES), VITALS_UNSET);
    asked_done(&asked);
    tree_free(&tree);
}

static void sums_that_lack_a_part_say_so(void)
{
    struct tree tree = tree_new();
    tree_text(&tree, 5, "smaps", SMAPS);
    struct asked asked;
    ask(&asked, tree.path, 5, VITALS_TABLE_MAPPED_FILE);
    check_asked(&asked);
    CHECK_UINT(asked.batch.row_count, 2);
    const struct batch_row *file = need_row(&asked, 1);
    check_text(&asked, file, VITALS_MAPPED_FILE_PATH, "/bin/a b");
    CHECK_UINT(u64_of(&asked, file, VITALS_MAPPED_FILE_MAPPINGS), 2);
    CHECK_UINT(u64_of(&asked, file, VITALS_MAPPED_FILE_SIZE_BYTES), 3 * PAGE);
    CHECK_UINT(u64_of(&asked, file, VITALS_MAPPED_FILE_RESIDENT_BYTES), 6 * 1024);
    CHECK_INT(state_of(&asked, file, VITALS_MAPPED_FILE_RESIDENT_BYTES), VITALS_HAVE);
    CHECK_INT(state_of(&asked, file, VITALS_MAPPED_FILE_PSS_BYTES), VITALS_UNSET);
    const struct batch_row *anonymous = need_label(&asked, "[anon]");
    CHECK_UINT(anonymous->key, 2);
    CHECK_UINT(u64_of(&asked, anonymous, VITALS_MAPPED_FILE_PSS_BYTES), 12 * 1024);
    asked_done(&asked);
    tree_text(&tree, 6, "smaps",
              "1000-2000 r--p 0 08:01 7 /a\nPss: 1 kB\n2000-3000 r--p 0 08:01 7 /a\nRss: 1 kB\n");
    ask(&asked, tree.path, 6, VITALS_TABLE_MAPPED_FILE);
    CHECK_INT(state_of(&asked, need_row(&asked, 1), VITALS_MAPPED_FILE_PSS_BYTES),
              VITALS_LOWER_BOUND);
    asked_done(&asked);
    tree_free(&tree);
}

/* smaps makes its process wait: it stays closed where maps says all. */
static void smaps_is_read_only_for_what_maps_cannot_tell(void)
{
    struct tree tree = tree_new();
    tree_text(&tree, 5, "maps", MAPS);
    tree_text(&tree, 5, "smaps", SMAPS);
    struct asked asked;
    ask_one(&asked, tree.path, 5, VITALS_MAPPING_SIZE_BYTES);
    check_asked(&asked);
    CHECK_NOT_NULL(find_label(&asked, "[anon:jit (deleted)]")); // in maps alone
    CHECK_UINT(u64_of(&asked, need_row(&asked, 0x401), VITALS_MAPPING_SIZE_BYTES), 2 * PAGE);
    asked_done(&asked);
    ask_one(&asked, tree.path, 5, VITALS_MAPPED_FILE_MAPPINGS);
    check_asked(&asked);
    CHECK_UINT(asked.batch.row_count, 3);
    asked_done(&asked);
    tree_remove(&tree, 5);
    tree_text(&tree, 5, "maps", MAPS); // a kernel without smaps
    ask(&asked, tree.path, 5, VITALS_TABLE_MAPPING);
    check_asked(&asked);
    CHECK_UINT(asked.batch.row_count, 3);
    CHECK_INT(state_of(&asked, need_row(&asked, 0x401), VITALS_MAPPING_RESIDENT_BYTES),
              VITALS_UNSET);
    asked_done(&asked);
    tree_remove(&tree, 5);
    ask(&asked, tree.path, 5, VITALS_TABLE_MAPPING);
    CHECK_INT(asked.result, -ENOENT);
    asked_done(&asked);
    tree_free(&tree);
}

/* Longer than what is held of the file, and lines that meet its end at every place. */
static void lines_of_every_length_are_found(void)
{
    enum { LONG = 200000, LINES = 3000 };
    struct buffer text = {0};
    uint64_t start = 0x1000;
    for (int i = 0; i < LINES; i++, start += 0x2000) {
        buffer_format(&text, "%llx-%llx r--p 0 08:01 7 /", (unsigned long long)start,
                      (unsigned long long)start + 0x1000);
        for (int left = i == LINES / 2 ? LONG : i * 7 % 101; left > 0; left--)
            buffer_byte(&text, 'p');
        buffer_string(&text, "\nRss: 1 kB\n");
    }
    CHECK_FALSE(text.failed);
    struct tree tree = tree_new();
    tree_put(&tree, 5, "smaps", text.bytes, text.size);
    buffer_done(&text);
    struct asked asked;
    ask(&asked, tree.path, 5, VITALS_TABLE_MAPPING);
    check_asked(&asked);
    CHECK_UINT(asked.batch.row_count, LINES - 1); // one path is no path
    for (size_t i = 0; i < asked.batch.row_count; i++)
        CHECK(u64_of(&asked, &asked.batch.rows[i], VITALS_MAPPING_RESIDENT_BYTES) == 1024);
    asked_done(&asked);
    tree_free(&tree);
}

static void what_was_cut_is_told(void)
{
    enum { LINES = (1 << 18) + 1 };
    struct buffer text = {0};
    for (unsigned long long i = 1; i <= LINES; i++)
        buffer_format(&text, "%llx000-%llx800 r--p 0 0:0 0\n", i, i);
    struct tree tree = tree_new();
    tree_put(&tree, 5, "maps", text.bytes, text.size);
    struct asked asked;
    ask_one(&asked, tree.path, 5, VITALS_MAPPING_DELETED);
    check_asked(&asked);
    CHECK_UINT(asked.batch.row_count, LINES - 1);
    CHECK_INT(asked_state(&asked), VITALS_LOWER_BOUND);
    asked_done(&asked);
    buffer_reset(&text);
    for (unsigned long long i = 1; i <= (1 << 16) + 1; i++)
        buffer_format(&text, "%llx000-%llx800 r--p 0 8:1 7 /%llu\n", i, i, i);
    tree_put(&tree, 5, "maps", text.bytes, text.size);
    buffer_done(&text);
    ask_one(&asked, tree.path, 5, VITALS_MAPPED_FILE_MAPPINGS);
    check_asked(&asked);
    CHECK_UINT(asked.batch.row_count, 1 << 16);
    CHECK_INT(asked_state(&asked), VITALS_LOWER_BOUND);
    asked_done(&asked);
    tree_free(&tree);
}

static void a_header_is_one_only_as_the_kernel_writes_it(void)
{
    static const struct {
        const char *line;
        const char *path; /* NULL: it is none */
    } CASES[] = {
        {"1000-2000 r--p 0 08:01 7 /a  b ", "/a  b "},
        {"1000-2000 r--p 0 08:01 7", ""},
        {"ffffffffff600000-ffffffffff601000 --xp 0 00:00 0 [vsyscall]", "[vsyscall]"},
        {"2000-1000 r--p 0 08:01 7 /a", NULL},
        {"1000 2000 r--p 0 08:01 7 /a", NULL},
        {"1000-2000 r--p 0 0801 7 /a", NULL},
        {"1000-2000 r--p 0 08:01 seven /a", NULL},
        {"1000-2000 r--p 0 08:01 7/a", NULL},
        {"1000-2000", NULL},
        {"1000-2000 r--p", NULL},
        {"Rss: 4 kB", NULL},
        {"Anonymous: 4 kB", NULL},
        {"-", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < CHECK_COUNT(CASES); i++) {
        CHECK_CASE(CASES[i].line);
        struct linux_mapping mapping;
        struct span line = {CASES[i].line, strlen(CASES[i].line)};
        CHECK_INT(linux_parse_mapping(line, &mapping), CASES[i].path != NULL);
        if (CASES[i].path != NULL)
            CHECK_BYTES(mapping.path.bytes, mapping.path.size, CASES[i].path,
                        strlen(CASES[i].path));
    }
}

/* ---- permission, and processes without any ---- */

static void others_are_denied(void)
{
    CHECK_INT(asked_by_another_user(getpid(), VITALS_TABLE_MAPPING), -EACCES);
    CHECK_INT(asked_by_another_user(getpid(), VITALS_TABLE_MAPPED_FILE), -EACCES);
}

static void a_zombie_has_no_memory(void)
{
    pid_t pid = child_zombie();
    struct asked asked;
    static const vitals_table TABLES[] = {VITALS_TABLE_MAPPING, VITALS_TABLE_MAPPED_FILE,
                                          VITALS_TABLE_ENVIRONMENT};
    for (size_t i = 0; i < CHECK_COUNT(TABLES); i++) {
        ask(&asked, NULL, pid, TABLES[i]);
        CHECK_UINT(asked.batch.row_count, 0);
        CHECK_INT(os_availability(asked.result), VITALS_GONE); // as all that it no longer has
        asked_done(&asked);
    }
    waitpid(pid, NULL, 0);
    ask(&asked, NULL, pid, VITALS_TABLE_MAPPING);
    CHECK_INT(os_availability(asked.result), VITALS_GONE);
    asked_done(&asked);
}

static void a_kernel_thread_has_no_memory(void)
{
    check_kernel_thread(VITALS_TABLE_MAPPING);
}

static void another_thread_speaks_where_the_first_has_ended(void)
{
    check_without_first_thread(VITALS_TABLE_MAPPING);
}

static void a_file_that_was_replaced_has_a_row_beside_the_new_one(void)
{
    struct tree tree = tree_new();
    tree_text(&tree, 5, "smaps",
              "1000-2000 r--p 0 08:01 7 /lib/c (deleted)\nPss: 1 kB\n"
              "3000-4000 r--p 0 08:01 8 /lib/c\nPss: 2 kB\n"
              "5000-7000 r--p 0 08:01 7 /lib/c (deleted)\nPss: 4 kB\n");
    struct asked asked;
    ask(&asked, tree.path, 5, VITALS_TABLE_MAPPED_FILE);
    check_asked(&asked);
    CHECK_UINT(asked.batch.row_count, 2);
    const struct batch_row *now = need_row(&asked, 1), *before = need_row(&asked, 2);
    check_text(&asked, now, VITALS_MAPPED_FILE_PATH, "/lib/c");
    check_text(&asked, before, VITALS_MAPPED_FILE_PATH, "/lib/c");
    CHECK_UINT(u64_of(&asked, now, VITALS_MAPPED_FILE_DELETED), 0);
    CHECK_UINT(u64_of(&asked, before, VITALS_MAPPED_FILE_DELETED), 1);
    CHECK_UINT(u64_of(&asked, now, VITALS_MAPPED_FILE_PSS_BYTES), 2 * 1024);
    CHECK_UINT(u64_of(&asked, before, VITALS_MAPPED_FILE_PSS_BYTES), 5 * 1024);
    // In a tree of files there is no process to ask: the text alone says so.
    CHECK_INT(state_of(&asked, before, VITALS_MAPPED_FILE_DELETED), VITALS_ESTIMATE);
    CHECK_INT(state_of(&asked, now, VITALS_MAPPED_FILE_DELETED), VITALS_HAVE);
    asked_done(&asked);
    tree_free(&tree);
}

/* ---- whose memory goes away while it is read ---- */

/* A child with tens of thousands of mappings, which begins another program when a byte comes. */
static pid_t child_about_to_change(int *tell)
{
    enum { HOLES = 15000 };
    int ends[2], ready[2];
    CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
    CHECK_INT(pipe2(ready, O_CLOEXEC), 0);
    pid_t pid = child_fork();
    if (pid == 0) {
        char byte = 'y', *area = mmap(NULL, (size_t)HOLES * 2 * PAGE, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (size_t i = 0; area != MAP_FAILED && i < HOLES; i++)
            mprotect(area + i * 2 * PAGE, PAGE, PROT_READ);
        if (write(ready[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
            _exit(1);
        execl("/bin/sleep", "sleep", "1000", (char *)NULL);
        _exit(127);
    }
    char byte;
    CHECK_INT(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    close(ends[0]);
    *tell = ends[1];
    return pid;
}

static void check_sums_are_no_more_than_they_say(const struct asked *asked)
{
    for (size_t i = 0; i < asked->batch.row_count; i++)
        CHECK_INT(state_of(asked, &asked->batch.rows[i], VITALS_MAPPED_FILE_MAPPINGS),
                  asked_state(asked));
}

/* Addresses ascend, and the stack lies above all that a program maps: without it, the end is
 * missing, and no table may then say that it is whole. The memory of the next program is there
 * before the kernel knows its stack (execve installs it in exec_mmap, load_elf_binary sets
 * start_stack afterwards): a table of that moment has nothing of this program either. */
static void what_ends_early_says_so(void)
{
    char own[4096];
    ssize_t size = readlink("/proc/self/exe", own, sizeof own - 1);
    CHECK(size > 0);
    own[size] = '\0';
    struct asked of_us;
    ask(&of_us, NULL, getpid(), VITALS_TABLE_MAPPING);
    CHECK_NOT_NULL(find_label(&of_us, own));
    asked_done(&of_us);
    for (int i = 0; i < 12; i++) {
        vitals_table entity = i % 2 != 0 ? VITALS_TABLE_MAPPED_FILE : VITALS_TABLE_MAPPING;
        int tell;
        pid_t pid = child_about_to_change(&tell);
        struct asked asked;
        CHECK_INT(write(tell, "y", 1), 1);
        ask(&asked, NULL, pid, entity);
        close(tell);
        child_end(pid);
        bool whole = asked.result == 0 && asked_state(&asked) == VITALS_HAVE;
        CHECK(!whole || find_label(&asked, "[stack]") != NULL || find_label(&asked, own) == NULL);
        CHECK(asked.result != 0 || asked.batch.row_count != 0);
        if (entity == VITALS_TABLE_MAPPED_FILE && asked.result == 0)
            check_sums_are_no_more_than_they_say(&asked);
        asked_done(&asked);
    }
}

static void memory_that_runs_out_is_told(void)
{
    struct tree tree = tree_new();
    tree_text(&tree, 5, "smaps",
              "1000-2000 r--p 0 08:01 7 /a\\012b\nRss: 1 kB\n2000-3000 r--p 0 08:01 7 /c\n");
    check_memory(tree.path, 5, VITALS_TABLE_MAPPING);
    check_memory(tree.path, 5, VITALS_TABLE_MAPPED_FILE);
    tree_free(&tree);
}

static const check_test tests[] = {
    {"every mapping has a row", every_mapping_has_a_row},
    {"the file is named by device and inode", the_file_is_named_by_device_and_inode},
    {"the sums are those of the kernel", the_sums_are_those_of_the_kernel},
    {"lines that are none are passed over", lines_that_are_none_are_passed_over},
    {"sums that lack a part say so", sums_that_lack_a_part_say_so},
    {"smaps is read only for what maps cannot tell", smaps_is_read_only_for_what_maps_cannot_tell},
    {"lines of every length are found", lines_of_every_length_are_found},
    {"what was cut is told", what_was_cut_is_told},
    {"a header is one only as the kernel writes it", a_header_is_one_only_as_the_kernel_writes_it},
    {"others are denied", others_are_denied},
    {"a zombie has no memory", a_zombie_has_no_memory},
    {"a kernel thread has no memory", a_kernel_thread_has_no_memory},
    {"another thread speaks where the first has ended",
     another_thread_speaks_where_the_first_has_ended},
    {"a file that was replaced has a row beside the new one",
     a_file_that_was_replaced_has_a_row_beside_the_new_one},
    {"what ends early says so", what_ends_early_says_so},
    {"memory that runs out is told", memory_that_runs_out_is_told},
};

CHECK_TESTS(tests)
