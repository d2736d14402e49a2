"""Memory: what a process holds, by every source that there is, and where psutil stops."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import api
import psutil
import scene
import theirs
from harness import in_most_of, in_one_of

PAGE = os.sysconf("SC_PAGE_SIZE")
MEMORY = tuple(f"process.{name}" for name in (
    "resident_bytes", "virtual_bytes", "shared_bytes", "text_bytes", "data_bytes", "pss_bytes",
    "uss_bytes", "swap_pss_bytes", "swapped_bytes", "resident_peak_bytes", "virtual_peak_bytes",
    "resident_anon_bytes", "resident_file_bytes", "resident_shmem_bytes", "locked_bytes",
    "thp_bytes"))


class Sizes(unittest.TestCase):
    """Check 26."""

    def test_against_ps(self):
        pid = scene.one(self, scene.MEMORY)
        process = api.Context().open(pid)

        def compare():
            told = subprocess.run(["ps", "-o", "rss=,vsz=", "-p", str(pid)], capture_output=True,
                                  check=True, text=True).stdout.split()
            row = process.ask(*MEMORY).one()
            self.assertEqual([row["resident_bytes"], row["virtual_bytes"]],
                             [int(word) * 1024 for word in told])

        in_most_of(8, compare)

    def test_resident_is_the_sum_of_its_kinds(self):
        row = api.Context().open(scene.one(self, scene.MEMORY)).ask(*MEMORY).one()
        kinds = [row[f"resident_{kind}_bytes"] for kind in ("anon", "file", "shmem")]
        # statm is exact; status reads counters that may lag by a batch for each CPU.
        self.assertAlmostEqual(sum(kinds), row["resident_bytes"],
                               delta=64 * PAGE * (os.cpu_count() or 1))
        # Three shared mappings of which 4 MiB each were written, and 3 MiB of a private one.
        self.assertGreaterEqual(kinds[2], 12 << 20)
        self.assertGreaterEqual(kinds[0], 3 << 20)
        self.assertGreaterEqual(row["uss_bytes"], 15 << 20)
        self.assertLessEqual(row["uss_bytes"], row["pss_bytes"])
        self.assertLessEqual(row["pss_bytes"], row["resident_bytes"])

    def test_growth(self):
        popen, pid = scene.program(self, """
import mmap
ready()
sys.stdin.readline()
kept = mmap.mmap(-1, 32 << 20); kept.write(b'x' * (32 << 20))
print('done', flush=True)
sys.stdin.readline()
kept.close()
print('done', flush=True)
stay()
""")
        process = api.Context().open(pid)
        before = process.ask(*MEMORY).one()
        sizes = []
        for _ in range(2):
            popen.stdin.write(b"\n")
            popen.stdin.flush()
            popen.stdout.readline()
            sizes.append(process.ask(*MEMORY).one())
        for column in ("resident_bytes", "uss_bytes", "pss_bytes", "virtual_bytes"):
            grown = sizes[0][column] - before[column]
            self.assertAlmostEqual(grown, 32 << 20, delta=2 << 20, msg=column)
            self.assertAlmostEqual(sizes[1][column], before[column], delta=2 << 20, msg=column)
        self.assertGreaterEqual(sizes[1]["resident_peak_bytes"], sizes[0]["resident_bytes"])

    def test_shared_by_two(self):
        """Two that map the same pages have half of them each, by the kernel's count."""
        popen, _ = scene.program(self, """
import mmap
kept = mmap.mmap(-1, 32 << 20); kept.write(b'x' * (32 << 20))
child = os.fork()
if child == 0:
    sum(kept[::4096])
    libc.prctl(1, 9); ready()
    while True: signal.pause()
stay()
""")
        row = api.Context().open(popen.pid).ask(*MEMORY).one()
        self.assertGreaterEqual(row["resident_bytes"] - row["pss_bytes"], 15 << 20)
        self.assertLess(row["uss_bytes"], 32 << 20)

    def test_kernel_threads_have_none(self):
        """psutil says 0; we say that there is none, or 0, and never an error (§1)."""
        thread = scene.kernel_thread(self)
        row = api.Context().open(thread).ask(*MEMORY).one()
        self.assertEqual(psutil.Process(thread).memory_full_info().uss, 0)
        self.assertEqual((row["resident_bytes"], row["virtual_bytes"]), (0, 0))
        for column in ("pss_bytes", "uss_bytes"):
            self.assertIn(row.read(column), ((0, "have"), (None, "unsupported")))


def smaps_sums(pid):
    """{key: bytes} of all mappings together."""
    sums = {}
    for key, kib in re.findall(rb"^(\w+):\s+(\d+) kB$", theirs.read(pid, "smaps"), re.MULTILINE):
        sums[key.decode()] = sums.get(key.decode(), 0) + int(kib) * 1024
    return sums


class Maps(unittest.TestCase):
    """Checks 27 and 28."""

    COLUMNS = {"size_bytes": "Size", "resident_bytes": "Rss", "pss_bytes": "Pss",
               "shared_clean_bytes": "Shared_Clean", "shared_dirty_bytes": "Shared_Dirty",
               "private_clean_bytes": "Private_Clean", "private_dirty_bytes": "Private_Dirty",
               "referenced_bytes": "Referenced", "anonymous_bytes": "Anonymous",
               "swap_bytes": "Swap", "thp_bytes": "AnonHugePages", "locked_bytes": "Locked"}

    def sums(self, rows):
        return {name: sum(row[name] for row in rows) for name in self.COLUMNS}

    def at_rest(self, process):
        """The kernel's sums and ours, read while the kernel's stayed as they were: the share of what
        others map too moves as they come and go."""
        for _ in range(100):
            truth = smaps_sums(process.pid)
            snapshot = process.ask("mapping", "mapped_file", *MEMORY)
            if smaps_sums(process.pid) == truth:
                break
        return truth, snapshot

    def test_sums(self):
        process = api.Context().open(scene.one(self, scene.MEMORY))
        # what others share of it moves between the reads; equal to the byte by accident it never is
        in_one_of(16, lambda: self.check_sums(process))

    def check_sums(self, process):
        truth, snapshot = self.at_rest(process)
        ours = self.sums(snapshot.rows("mapping"))
        self.assertEqual(ours, {name: truth[key] for name, key in self.COLUMNS.items()})
        self.assertEqual(self.sums(snapshot.rows("mapped_file")), ours)
        # Each mapping's share is cut to whole KiB, the roll-up's only once.
        row, slack = snapshot.one(), 1024 * len(snapshot.rows("mapping"))
        self.assertAlmostEqual(ours["pss_bytes"], row["pss_bytes"], delta=slack)
        self.assertEqual(ours["private_clean_bytes"] + ours["private_dirty_bytes"],
                         row["uss_bytes"])
        self.assertEqual(sum(one["mappings"] for one in snapshot.rows("mapped_file")),
                         len(snapshot.rows("mapping")))

    def test_paths(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        paths = {name: os.path.join(folder, name)
                 for name in ("two words", "new\nline", "x (deleted)", "gone", "back\\slash",
                              " blank at its ends ")}
        for path in paths.values():
            pathlib.Path(path).write_bytes(b"x" * 2 * PAGE)
        pid = scene.one(self, """
import mmap
kept = []
for path in sys.argv[1:]:
    with open(path, 'r+b') as file: kept.append(mmap.mmap(file.fileno(), 0))
os.unlink(sys.argv[-1])
ready(); stay()
""", *[path for name, path in paths.items() if name != "gone"], paths["gone"])
        rows = {row["path"]: row for row in api.Context().open(pid).rows("mapping")}
        for name, path in paths.items():
            with self.subTest(name=name):
                row = rows[os.fsencode(path)]
                self.assertEqual(row["deleted"], int(name == "gone"))
                self.assertEqual(row["size_bytes"], 2 * PAGE)
                self.assertEqual(row["permissions"], b"rw-s")
                if name != "gone":
                    self.assertEqual(row["inode"], os.stat(path).st_ino)

    def test_against_pmap(self):
        if shutil.which("pmap") is None:
            self.skipTest("no pmap")
        pid = scene.one(self, scene.MEMORY)
        process, differ = api.Context().open(pid), None
        for _ in range(8):
            told = subprocess.run(["pmap", "-X", str(pid)], capture_output=True, text=True,
                                  check=True).stdout.splitlines()
            names = told[1].split()[5:-1]
            total = dict(zip(names, map(int, told[-1].split()[:len(names)])))
            ours = self.sums(process.rows("mapping"))
            compared = [key for key in self.COLUMNS.values() if key in total]
            differ = {key: (ours[name], total[key] * 1024) for name, key in self.COLUMNS.items()
                      # pmap shares libraries with it, and so takes a part of its share.
                      if key in total and key != "Pss" and ours[name] != total[key] * 1024}
            if not differ:
                break
        self.assertEqual(differ, {})
        self.assertGreater(len(compared), 5)

    def test_a_kernel_thread_maps_nothing(self):
        thread = scene.kernel_thread(self)
        self.assertEqual(api.Context().open(thread).rows("mapping"), [])
        self.assertEqual(psutil.Process(thread).memory_maps(), [])

    def test_many_mappings(self):
        """More than fit one buffer, each once and in order."""
        pid = scene.one(self, """
import mmap
kept = [mmap.mmap(-1, 4096 * 3, flags=34) for _ in range(1500)]
for one in kept:
    middle = ctypes.addressof(ctypes.c_char.from_buffer(one)) + 4096
    libc.mprotect(ctypes.c_void_p(middle), 4096, 1)
ready(); stay()
""")
        rows = api.Context().open(pid).rows("mapping")
        truth = [line.split(b" ")[0] for line in theirs.read(pid, "maps").splitlines()]
        self.assertGreater(len(truth), 2000)
        self.assertEqual([row["addresses"] for row in rows], truth)


class NotOnATick(unittest.TestCase):
    def test_nobody_reads_maps_unasked(self):
        """The plain set of processes opens no file that walks a process's memory."""
        if shutil.which("strace") is None:
            self.skipTest("no strace")
        with tempfile.NamedTemporaryFile("r") as log:
            result = subprocess.run(
                ["strace", "-f", "-e", "trace=openat", "-o", log.name, os.environ["VITALS"],
                 "--json", "--backends", "none"], stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE, check=False, text=True)
            if result.returncode != 0:
                self.skipTest(f"strace may not trace here: {result.stderr.strip()}")
            opened = set(re.findall(r"\d+/(\w+)\"", log.read()))
        self.assertIn("stat", opened)
        self.assertEqual(opened & {"smaps", "smaps_rollup", "maps", "pagemap", "numa_maps"}, set())


if __name__ == "__main__":
    unittest.main()
