/* Mounts and their space: what has rows, what is counted, ZFS; then this machine's against statvfs.
 */
#include "host_world.h"

#include "os/linux/machine/mounts.h"

#include <errno.h>
#include <ftw.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* The row by mount point and device. */
static const vitals_row *find(const vitals_snapshot *snapshot, const char *point,
                              const char *device)
{
    vitals_text text;
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_TABLE_FILESYSTEM, row)) != NULL;) {
        if (vitals_row_text(row, VITALS_FILESYSTEM_MOUNT_POINT, &text) <= 0 ||
            text.size != strlen(point) || memcmp(text.bytes, point, text.size) != 0)
            continue;
        if (vitals_row_text(row, VITALS_FILESYSTEM_DEVICE, &text) > 0 &&
            text.size == strlen(device) && memcmp(text.bytes, device, text.size) == 0)
            return row;
    }
    return NULL;
}

static void every_mount_is_what_it_is(void)
{
    static const struct {
        const char *point, *device, *type, *options;
        int read_only, remote, pseudo, counted;
    } expected[] = {
        {"/", "/dev/sda2", "ext4", "rw,relatime,errors=remount-ro", 0, 0, 0, 1},
        {"/mnt/bind", "/dev/sda2", "ext4", "ro,noatime,errors=remount-ro", 0, 0, 0, 0},
        {"/home", "/dev/sdb1", "btrfs", "rw,relatime,space_cache=v2,subvolid=256,subvol=/@home", 0,
         0, 0, 1},
        {"/snap", "/dev/sdb1", "btrfs", "rw,relatime,space_cache=v2,subvolid=257,subvol=/@snap", 0,
         0, 0, 0},
        {"/mnt/my disk\\x", "/dev/sdb 1", "xfs", "ro,dirsync,sync,attr2", 1, 0, 0, 1},
        {"/net/home", "server:/export/home", "nfs4", "rw,relatime,vers=4.2,addr=10.0.0.1", 0, 1, 0,
         0},
        {"/net/share", "//server/share", "cifs", "rw,relatime,vers=3.1.1", 0, 1, 0, 0},
        {"/net/ssh", "user@host:/", "fuse.sshfs", "rw,nosuid,user_id=0", 0, 1, 0, 0},
        {"/merged", "overlay", "overlay", "rw,relatime,lowerdir=/a:/b,upperdir=/c,workdir=/d", 0, 0,
         1, 0},
        {"/tmp", "tmpfs", "tmpfs", "rw,nosuid,nodev,size=1024k,inode64", 0, 0, 1, 0},
        {"/empty source", "", "tmpfs", "rw,size=1k", 0, 0, 1, 0},
        {"/snap/core", "/dev/loop0", "squashfs", "ro,nodev,relatime", 1, 0, 0, 0},
        {"/tank/a", "tank/a", "zfs", "rw,relatime,xattr,noacl", 0, 0, 0, 0},
    };
    vitals_snapshot *snapshot = host_take_fixture("filesystems");
    for (size_t i = 0; i < CHECK_COUNT(expected); i++) {
        CHECK_CASE(expected[i].point);
        const vitals_row *row = find(snapshot, expected[i].point, expected[i].device);
        host_check_text(row, VITALS_FILESYSTEM_TYPE, expected[i].type);
        host_check_text(row, VITALS_FILESYSTEM_OPTIONS, expected[i].options);
        host_check(row, VITALS_FILESYSTEM_READ_ONLY, expected[i].read_only);
        host_check(row, VITALS_FILESYSTEM_REMOTE, expected[i].remote);
        host_check(row, VITALS_FILESYSTEM_PSEUDO, expected[i].pseudo);
        host_check(row, VITALS_FILESYSTEM_COUNTED, expected[i].counted);
        CHECK(host_number(row, VITALS_FILESYSTEM_TOTAL_BYTES) > 0);
    }
    CHECK_CASE("what stores nothing has no row");
    CHECK_NULL(find(snapshot, "/proc", "proc"));
    CHECK_NULL(find(snapshot, "/sys/fs/cgroup", "cgroup2"));
    CHECK_CASE("what is gone says so");
    host_check_state(find(snapshot, "/gone", "/dev/nvme0n1p1"), VITALS_FILESYSTEM_TOTAL_BYTES,
                     VITALS_GONE);
    vitals_snapshot_unref(snapshot);
}

static void pools_stand_for_their_datasets(void)
{
    vitals_snapshot *snapshot = host_take_fixture("filesystems");
    const vitals_row *pool = host_row(snapshot, VITALS_TABLE_FILESYSTEM, "tank");
    host_check_text(pool, VITALS_FILESYSTEM_TYPE, "zfs_pool");
    host_check_text(pool, VITALS_FILESYSTEM_MOUNT_POINT, "/tank");
    host_check(pool, VITALS_FILESYSTEM_READ_BYTES, 2600);
    host_check(pool, VITALS_FILESYSTEM_WRITTEN_BYTES, 1500);
    host_check(pool, VITALS_FILESYSTEM_COUNTED, 1);
    host_check_state(pool, VITALS_FILESYSTEM_TOTAL_BYTES, VITALS_LOWER_BOUND);
    // Two datasets, one of them mounted twice, lie on the disk that this tree lies on.
    double used = host_number(find(snapshot, "/tank", "tank"), VITALS_FILESYSTEM_USED_BYTES);
    double slack = used / 50 + 1e8;
    CHECK_NEAR(host_number(pool, VITALS_FILESYSTEM_USED_BYTES), 2 * used, slack);
    CHECK_NEAR(host_number(pool, VITALS_FILESYSTEM_TOTAL_BYTES),
               host_number(pool, VITALS_FILESYSTEM_USED_BYTES) +
                   host_number(pool, VITALS_FILESYSTEM_AVAILABLE_BYTES),
               0);
    const vitals_row *old = host_row(snapshot, VITALS_TABLE_FILESYSTEM, "old"); // not mounted
    host_check_text(old, VITALS_FILESYSTEM_MOUNT_POINT, "");
    host_check(old, VITALS_FILESYSTEM_READ_BYTES, 111);
    host_check(old, VITALS_FILESYSTEM_WRITTEN_BYTES, 222);
    host_check(old, VITALS_FILESYSTEM_COUNTED, 0);
    host_check_state(old, VITALS_FILESYSTEM_TOTAL_BYTES, VITALS_UNSUPPORTED);
    host_check(vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL),
               VITALS_HOST_MEMORY_ZFS_CACHE_BYTES, 4294967296);
    vitals_snapshot_unref(snapshot);
}

static void the_machines_space_is_the_sum_of_what_is_counted(void)
{
    vitals_snapshot *snapshot = host_take_fixture("filesystems");
    double total = 0, available = 0;
    for (const vitals_row *row = NULL;
         (row = vitals_snapshot_next(snapshot, VITALS_TABLE_FILESYSTEM, row)) != NULL;) {
        if (host_number(row, VITALS_FILESYSTEM_COUNTED) == 0 ||
            vitals_row_availability(row, VITALS_FILESYSTEM_TOTAL_BYTES) <= 0)
            continue;
        total += host_number(row, VITALS_FILESYSTEM_TOTAL_BYTES);
        available += host_number(row, VITALS_FILESYSTEM_AVAILABLE_BYTES);
    }
    const vitals_row *host = vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL);
    CHECK(total > 0);
    host_check(host, VITALS_HOST_DISK_SPACE_TOTAL_BYTES, total);
    host_check(host, VITALS_HOST_DISK_SPACE_AVAILABLE_BYTES, available);
    host_check_state(host, VITALS_HOST_DISK_SPACE_TOTAL_BYTES, VITALS_LOWER_BOUND);
    vitals_snapshot_unref(snapshot);
}

static void a_containers_root_is_counted_where_nothing_else_is(void)
{
    vitals_snapshot *snapshot = host_take_fixture("container_root");
    const vitals_row *root = find(snapshot, "/", "overlay");
    host_check(root, VITALS_FILESYSTEM_COUNTED, 1);
    host_check(find(snapshot, "/dev/shm", "shm"), VITALS_FILESYSTEM_COUNTED, 0);
    host_check(vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL),
               VITALS_HOST_DISK_SPACE_TOTAL_BYTES,
               host_number(root, VITALS_FILESYSTEM_TOTAL_BYTES));
    vitals_snapshot_unref(snapshot);
}

static void what_is_remote_is_never_in_the_sums(void)
{
    vitals_snapshot *snapshot = host_take_fixture("diskless");
    const vitals_row *root = host_row(snapshot, VITALS_TABLE_FILESYSTEM, "/");
    host_check(root, VITALS_FILESYSTEM_REMOTE, 1);
    host_check(root, VITALS_FILESYSTEM_COUNTED, 0);
    CHECK(host_number(root, VITALS_FILESYSTEM_TOTAL_BYTES) > 0);
    host_check_state(vitals_snapshot_next(snapshot, VITALS_TABLE_HOST, NULL),
                     VITALS_HOST_DISK_SPACE_TOTAL_BYTES, VITALS_UNSUPPORTED);
    vitals_snapshot_unref(snapshot);
}

/* This machine: the root as statvfs has it. */
static void the_root_is_what_statvfs_says(void)
{
    struct statvfs before, after;
    struct metric_set wanted = host_table(VITALS_TABLE_FILESYSTEM), part;
    vitals_context world = {0};
    vitals_options options;
    vitals_error error;
    struct host host;
    struct row_batch batch = {0};
    vitals_options_init(&options, sizeof options);
    CHECK_OK(os_open(&world.os, &options, &error), error);
    host_init(&host);
    CHECK(host_cache_part(HOST_CACHE_FILESYSTEMS, &wanted, &part));
    CHECK_INT(statvfs("/", &before), 0);
    host_cache_read(&world, HOST_CACHE_FILESYSTEMS, &part, NULL, &batch);
    CHECK_INT(statvfs("/", &after), 0);
    CHECK_INT(host_cache_take(&host, HOST_CACHE_FILESYSTEMS, &batch, 1), 0);
    vitals_snapshot *snapshot = host_snapshot(&host, &wanted, 1);
    const vitals_row *root = host_row(snapshot, VITALS_TABLE_FILESYSTEM, "/");
    double unit = (double)before.f_frsize;
    host_check(root, VITALS_FILESYSTEM_TOTAL_BYTES, (double)before.f_blocks * unit);
    host_check(root, VITALS_FILESYSTEM_INODES, (double)before.f_files);
    // Others write meanwhile.
    CHECK_NEAR(host_number(root, VITALS_FILESYSTEM_FREE_BYTES), (double)after.f_bfree * unit, 3e9);
    CHECK_NEAR(host_number(root, VITALS_FILESYSTEM_USED_BYTES) +
                   host_number(root, VITALS_FILESYSTEM_FREE_BYTES),
               (double)before.f_blocks * unit, 0);
    vitals_snapshot_unref(snapshot);
    batch_done(&batch);
    host_done(&host);
    os_close(&world.os);
}

static void what_zfs_tells_of_itself(void)
{
    uint64_t read = 7, written = 7;
    static const char whole[] = "x\nnread nwritten reads\n5 6 7\n";
    CHECK(zfs_parse_io(whole, sizeof whole - 1, &read, &written));
    CHECK_UINT(read, 5);
    CHECK_UINT(written, 6);
    CHECK_FALSE(zfs_parse_io("nread nwritten\n5\n", 17, &read, &written));
    CHECK_FALSE(zfs_parse_io("", 0, &read, &written));
    CHECK_FALSE(zfs_parse_objset("nread 4 9\n", 10, &read, &written));
}

/* Lines as no kernel writes them. */
static void broken_lines_of_mountinfo(void)
{
    static const char *const lines[] = {
        "",
        "1",
        "1 2 3:4 / /x rw",
        "1 2 3:4 / /x rw - ",
        "1 2 3:4 / /x rw shared:1 ext4 /dev/x rw",
        "1 2 3 / /x rw - ext4 /dev/x rw",
        "1 2 3:4 / x rw - ext4 /dev/x rw",
    };
    static struct mount mount;
    for (size_t i = 0; i < CHECK_COUNT(lines); i++) {
        CHECK_CASE(lines[i]);
        CHECK_FALSE(mount_parse((struct span){lines[i], strlen(lines[i])}, &mount));
    }
    CHECK_CASE("longer than a path can be");
    static char line[20000];
    int size = snprintf(line, sizeof line, "1 2 3:4 / /%05000d rw - ext4 /dev/x rw", 0);
    CHECK(mount_parse((struct span){line, (size_t)size}, &mount));
    CHECK(mount.point.cut);
    CHECK_UINT(strlen(mount.point.bytes), mount.point.size);
    CHECK_FALSE(mount.options_cut);
    CHECK_CASE("more options than there is room for");
    size = snprintf(line, sizeof line, "1 2 3:4 / /x rw,a - ext4 /dev/x rw,b=%08200d,c", 0);
    CHECK(mount_parse((struct span){line, (size_t)size}, &mount));
    CHECK(mount.options_cut);
    CHECK_BYTES(mount.options, mount.options_size, "rw,a",
                4); /* not c, as if nothing were missing */
    CHECK_CASE("an escape that is none");
    const char *odd = "1 2 3:4 / /a\\09\\400\\1 rw - ext4 /dev/x rw";
    CHECK(mount_parse((struct span){odd, strlen(odd)}, &mount));
    CHECK_STR(mount.point.bytes, "/a\\09\\400\\1");
}

/* Every device is mounted twice. Returns how many rows are counted; *state: of the table. */
static size_t count_devices(const char *root, unsigned devices, int *state)
{
    char path[PATH_MAX];
    static const char *const FOLDERS[] = {"proc", "proc/self", "sys", "etc"};
    struct metric_set wanted = {0};
    vitals_context world;
    struct row_batch batch = {0};
    for (size_t i = 0; i < CHECK_COUNT(FOLDERS); i++) {
        snprintf(path, sizeof path, "%s/%s", root, FOLDERS[i]);
        CHECK(mkdir(path, 0755) == 0 || errno == EEXIST);
    }
    snprintf(path, sizeof path, "%s/proc/self/mountinfo", root);
    FILE *stream = fopen(path, "w");
    CHECK_NOT_NULL(stream);
    for (unsigned i = 0; i < 2 * devices; i++) {
        unsigned device = i % devices;
        fprintf(stream, "%u 1 8:%u / /mnt/%u rw - ext4 /dev/disk%u rw\n", i + 2, device, i, device);
    }
    fclose(stream);
    host_world_open(&world, root);
    metric_set_add(&wanted, VITALS_FILESYSTEM_COUNTED);
    batch_reset(&batch, &wanted);
    CHECK_INT(os_read_table(&world.os, VITALS_TABLE_FILESYSTEM, &batch), 0);
    CHECK_UINT(batch.row_count, 2 * devices);
    size_t counted = 0;
    for (size_t i = 0; i < batch.row_count; i++) {
        const struct batch_cell *cell = batch_find(&batch, &batch.rows[i],
                                                   VITALS_FILESYSTEM_COUNTED);
        counted += cell != NULL && cell->as.u64 == 1;
    }
    *state = batch.states[VITALS_TABLE_FILESYSTEM];
    batch_done(&batch);
    os_close(&world.os);
    return counted;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static void a_device_is_counted_once_among_thousands(void)
{
    char root[] = "/tmp/vitals-mounts-XXXXXX";
    int state;
    CHECK_NOT_NULL(mkdtemp(root));
    CHECK_UINT(count_devices(root, 3000, &state), 3000);
    CHECK_INT(state, VITALS_HAVE);
    CHECK_CASE("more than can be remembered: too few are counted, and it is said");
    size_t counted = count_devices(root, 40000, &state);
    CHECK(counted > 30000 && counted < 40000);
    CHECK_INT(state, VITALS_LOWER_BOUND);
    nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *stream = fopen(path, "w");
    CHECK_NOT_NULL(stream);
    fputs(text, stream);
    fclose(stream);
}

/* By /proc/self/fdinfo, of whatever number its descriptor is. */
static void a_path_has_the_row_of_its_mount(void)
{
    static const char *const FOLDERS[] = {"proc", "proc/self", "proc/self/fdinfo", "sys"};
    enum { DESCRIPTORS = 64 };
    vitals_context world;
    struct metric_set wanted = {0};
    struct row_batch batch = {0};
    char root[] = "/tmp/vitals-mount-of-XXXXXX", path[256];
    CHECK_NOT_NULL(mkdtemp(root));
    for (size_t i = 0; i < CHECK_COUNT(FOLDERS); i++) {
        snprintf(path, sizeof path, "%s/%s", root, FOLDERS[i]);
        CHECK_INT(mkdir(path, 0755), 0);
    }
    for (int i = 0; i < DESCRIPTORS; i++) {
        snprintf(path, sizeof path, "proc/self/fdinfo/%d", i);
        write_file(root, path, "pos:\t0\nflags:\t012000000\nmnt_id:\t31\nino:\t2\n");
    }
    write_file(root, "proc/self/mountinfo",
               "30 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
               "31 30 8:2 / /home rw - xfs /dev/sda2 rw\n");
    host_world_open(&world, root);
    world.os.live = true;
    metric_set_add(&wanted, VITALS_FILESYSTEM_MOUNT_POINT);
    metric_set_add(&wanted, VITALS_FILESYSTEM_TOTAL_BYTES);
    batch_reset(&batch, &wanted);
    CHECK_INT(os_read_filesystem_of(&world.os, root, &batch), 0);
    CHECK_UINT(batch.row_count, 1);
    const struct batch_cell *cell = batch_find(&batch, &batch.rows[0],
                                               VITALS_FILESYSTEM_MOUNT_POINT);
    CHECK_NOT_NULL(cell);
    CHECK(span_equal(batch_span(&batch, cell), "/home"));
    CHECK_NOT_NULL(batch_find(&batch, &batch.rows[0], VITALS_FILESYSTEM_TOTAL_BYTES));

    CHECK_CASE("its mount is known, and the list of them cannot be read");
    snprintf(path, sizeof path, "%s/proc/self/mountinfo", root);
    CHECK_INT(remove(path), 0);
    batch_reset(&batch, &wanted);
    CHECK_INT(os_read_filesystem_of(&world.os, root, &batch), -ENOENT);

    CHECK_CASE("no such path");
    CHECK_INT(os_read_filesystem_of(&world.os, path, &batch), -ENOENT);
    batch_done(&batch);
    os_close(&world.os);
    nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Lines beyond what is read at once: an overlay of thousands of layers has a row, whose options are
 * cut; one whose place in the tree is too long has none, and the table says so. */
static void a_long_line_is_read_or_missed(void)
{
    static const char *const FOLDERS[] = {"proc", "proc/self", "proc/self/fdinfo", "sys", "etc"};
    enum { LONG = 100000, DESCRIPTORS = 64 };
    static char text[2 * LONG];
    vitals_context world;
    struct metric_set wanted = {0};
    struct row_batch batch = {0};
    char root[] = "/tmp/vitals-mount-long-XXXXXX", path[256];
    CHECK_NOT_NULL(mkdtemp(root));
    for (size_t i = 0; i < CHECK_COUNT(FOLDERS); i++) {
        snprintf(path, sizeof path, "%s/%s", root, FOLDERS[i]);
        CHECK_INT(mkdir(path, 0755), 0);
    }
    host_world_open(&world, root);
    world.os.live = true;
    metric_set_add(&wanted, VITALS_MOUNT_MOUNT_POINT);
    metric_set_add(&wanted, VITALS_MOUNT_DEVICE);
    metric_set_add(&wanted, VITALS_MOUNT_OPTIONS);
    metric_set_add(&wanted, VITALS_FILESYSTEM_MOUNT_POINT);
    metric_set_add(&wanted, VITALS_FILESYSTEM_OPTIONS);
    metric_set_add(&wanted, VITALS_FILESYSTEM_TYPE);

    CHECK_CASE("its options are long");
    snprintf(text, sizeof text,
             "30 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
             "31 30 0:55 / /merged rw - overlay layers rw,lowerdir=%0*d,upperdir=/u\n"
             "32 30 8:2 / /home rw - xfs /dev/sda2 rw\n",
             LONG, 0);
    write_file(root, "proc/self/mountinfo", text);
    batch_reset(&batch, &wanted);
    CHECK_INT(os_read_table(&world.os, VITALS_TABLE_MOUNT, &batch), 0);
    CHECK_UINT(batch.row_count, 3);
    CHECK_INT(batch.states[VITALS_TABLE_MOUNT], VITALS_HAVE);
    const struct batch_cell *cell = batch_find(&batch, &batch.rows[1], VITALS_MOUNT_MOUNT_POINT);
    CHECK(span_equal(batch_span(&batch, cell), "/merged"));
    cell = batch_find(&batch, &batch.rows[1], VITALS_MOUNT_OPTIONS);
    CHECK_INT(cell->state, VITALS_LOWER_BOUND);
    CHECK(span_equal(batch_span(&batch, cell), "rw"));
    cell = batch_find(&batch, &batch.rows[2], VITALS_MOUNT_MOUNT_POINT);
    CHECK(span_equal(batch_span(&batch, cell), "/home"));
    for (int i = 0; i < DESCRIPTORS; i++) {
        snprintf(path, sizeof path, "proc/self/fdinfo/%d", i);
        write_file(root, path, "pos:\t0\nflags:\t012000000\nmnt_id:\t31\nino:\t2\n");
    }
    batch_reset(&batch, &wanted);
    CHECK_INT(os_read_filesystem_of(&world.os, root, &batch), 0);
    CHECK_UINT(batch.row_count, 1);
    cell = batch_find(&batch, &batch.rows[0], VITALS_FILESYSTEM_MOUNT_POINT);
    CHECK(span_equal(batch_span(&batch, cell), "/merged"));

    CHECK_CASE("its root is longer than what is read at once");
    snprintf(text, sizeof text,
             "30 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
             "31 30 0:55 /%0*d /merged rw - overlay layers rw\n",
             LONG, 0);
    write_file(root, "proc/self/mountinfo", text);
    batch_reset(&batch, &wanted);
    CHECK_INT(os_read_table(&world.os, VITALS_TABLE_MOUNT, &batch), 0);
    CHECK_UINT(batch.row_count, 1);
    CHECK_INT(batch.states[VITALS_TABLE_MOUNT], VITALS_LOWER_BOUND);
    batch_reset(&batch, &wanted);
    CHECK_INT(os_read_filesystem_of(&world.os, root, &batch), 0);
    CHECK_UINT(batch.row_count, 1);
    cell = batch_find(&batch, &batch.rows[0], VITALS_FILESYSTEM_MOUNT_POINT);
    CHECK_INT(cell->state, VITALS_FAILED);
    cell = batch_find(&batch, &batch.rows[0], VITALS_FILESYSTEM_TYPE);
    CHECK_INT(cell->state, VITALS_FAILED);
    batch_done(&batch);
    os_close(&world.os);
    nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static const check_test tests[] = {
    {"a long line is read or missed", a_long_line_is_read_or_missed},
    {"a path has the row of its mount", a_path_has_the_row_of_its_mount},
    {"every mount is what it is", every_mount_is_what_it_is},
    {"pools stand for their datasets", pools_stand_for_their_datasets},
    {"the machine's space is the sum of what is counted",
     the_machines_space_is_the_sum_of_what_is_counted},
    {"a container's root is counted where nothing else is",
     a_containers_root_is_counted_where_nothing_else_is},
    {"what is remote is never in the sums", what_is_remote_is_never_in_the_sums},
    {"the root is what statvfs says", the_root_is_what_statvfs_says},
    {"what ZFS tells of itself", what_zfs_tells_of_itself},
    {"a device is counted once among thousands", a_device_is_counted_once_among_thousands},
    {"broken lines of mountinfo", broken_lines_of_mountinfo},
};
CHECK_TESTS(tests)
