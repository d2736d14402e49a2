"""What a process has open: every kind of it, also what psutil leaves out."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import unittest

import api
import psutil
import scene
import theirs
from api import Failure


def rows_of(pid):
    return {row["number"]: row for row in api.Context().open(pid).rows("descriptor")}


def theirs_of(pid):
    """psutil's, without the three that it was started with."""
    return [one for one in psutil.Process(pid).open_files() if one.fd > 2]


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, True)

    def path(self, name="file", content=b"0123456789"):
        path = pathlib.Path(self.folder, name)
        path.write_bytes(content)
        return path


class Modes(Folder):
    """Check 13: every way to open a file."""

    MODES = {
        "O_RDONLY": b"r", "O_WRONLY": b"w", "O_RDWR": b"r+", "O_WRONLY | os.O_APPEND": b"a",
        "O_RDWR | os.O_APPEND": b"a+", "O_RDONLY | os.O_APPEND": b"r",
        "O_RDWR | os.O_TRUNC": b"r+", "O_WRONLY | os.O_CREAT": b"w",
        "O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK": b"r",
    }

    def test_modes(self):
        path = self.path()
        pid = scene.one(self, f"""
kept = [os.open(sys.argv[1], flags) for flags in ({', '.join('os.' + m for m in self.MODES)},)]
os.set_inheritable(kept[0], True)
print(*kept, os.getpid(), flush=True); stay()
""", path)
        rows = [row for row in rows_of(pid).values() if row["path"] == os.fsencode(path)]
        self.assertEqual([row["mode"] for row in rows], list(self.MODES.values()))
        self.assertEqual([row["close_on_exec"] for row in rows], [0] + [1] * (len(rows) - 1))
        their = {one.fd: one for one in theirs_of(pid)}
        for row in rows:
            one = their[row["number"]]
            if one.mode.encode() != row["mode"]:
                # psutil calls a descriptor that may only read "a" where it was opened so.
                self.assertEqual(row["flags"] & os.O_ACCMODE, os.O_RDONLY)
            self.assertEqual((one.position, one.flags), (row["position_bytes"], row["flags"]))

    def test_neither_reading_nor_writing(self):
        """Access mode 3: psutil fails with KeyError (defect 6)."""
        path = self.path()
        pid = scene.one(self, "kept = os.open(sys.argv[1], 3); ready(); stay()", path)
        with self.assertRaises(KeyError):
            theirs_of(pid)
        row, = [row for row in rows_of(pid).values() if row["path"] == os.fsencode(path)]
        self.assertEqual((row["mode"], row["type"]), (b"-", b"file"))

    def test_a_path_alone(self):
        path = self.path()
        pid = scene.one(self, "kept = os.open(sys.argv[1], os.O_PATH); ready(); stay()", path)
        row, = [row for row in rows_of(pid).values() if row["path"] == os.fsencode(path)]
        self.assertTrue(row["flags"] & os.O_PATH)
        self.assertEqual(row["mode"], b"-")
        self.assertIn(row.read("position_bytes"), ((0, "have"), (None, "unsupported")))

    def test_position_and_size(self):
        path = self.path(content=b"x" * 1000)
        pid = scene.one(self, "kept = os.open(sys.argv[1], 0); os.lseek(kept, 123, 0); "
                        "ready(); stay()", path)
        row, = [row for row in rows_of(pid).values() if row["path"] == os.fsencode(path)]
        status = os.stat(path)
        self.assertEqual((row["position_bytes"], row["size_bytes"], row["inode"], row["device"]),
                         (123, 1000, status.st_ino,
                          b"%d:%d" % (os.major(status.st_dev), os.minor(status.st_dev))))


class Kinds(Folder):
    """Check 13, the rest, and psutil's defect 6: what it drops is here."""

    def one_of(self, text, *arguments):
        """Rows of what the text opened as `kept`, in order."""
        pid = scene.one(self, text + "\nkept = kept if isinstance(kept, (list, tuple)) else [kept]\n"
                        "print(*[k if isinstance(k, int) else k.fileno() for k in kept], "
                        "os.getpid(), flush=True); stay()", *arguments)
        self.pid = pid
        rows = rows_of(pid)
        before = {0, 1, 2}
        return [row for number, row in sorted(rows.items()) if number not in before]

    def test_deleted(self):
        path = self.path()
        row, = self.one_of("kept = os.open(sys.argv[1], os.O_RDWR); os.unlink(sys.argv[1])", path)
        self.assertEqual((row["type"], row["path"], row["deleted"], row["size_bytes"]),
                         (b"file", os.fsencode(path), 1, 10))
        self.assertEqual(theirs_of(self.pid), [], "psutil leaves it out")

    def test_deleted_beside_one_that_is_called_so(self):
        """psutil takes "z (deleted)" for an unlinked "z"."""
        path, other = self.path("z"), self.path("z (deleted)", b"other")
        row, = self.one_of("kept = os.open(sys.argv[1], 0); os.unlink(sys.argv[1])", path)
        self.assertEqual((row["path"], row["deleted"], row["size_bytes"]),
                         (os.fsencode(path), 1, 10))
        self.assertEqual([one.path for one in theirs_of(self.pid)], [str(other)])
        row, = self.one_of("kept = os.open(sys.argv[1], 0)", other)
        self.assertEqual((row["path"], row["deleted"]), (os.fsencode(other), 0))

    def test_temporary(self):
        row, = self.one_of("kept = os.open(sys.argv[1], os.O_TMPFILE | os.O_RDWR, 0o600); "
                           "os.write(kept, b'abc')", self.folder)
        self.assertEqual((row["type"], row["deleted"], row["size_bytes"], row["position_bytes"]),
                         (b"file", 1, 3, 3))

    def test_memfd(self):
        row, = self.one_of("kept = os.memfd_create('mine'); os.write(kept, b'abcd')")
        self.assertEqual((row["type"], row["size_bytes"]), (b"memfd", 4))
        self.assertIn(b"mine", row["path"])
        self.assertEqual(theirs_of(self.pid), [], "psutil leaves it out")

    def test_folders_devices_pipes(self):
        rows = self.one_of("kept = [os.open(sys.argv[1], 0), os.open('/dev/null', 2), *os.pipe()]",
                           self.folder)
        self.assertEqual([row["type"] for row in rows],
                         [b"directory", b"character_device", b"pipe", b"pipe"])
        self.assertEqual([row["mode"] for row in rows], [b"r", b"r+", b"r", b"w"])
        self.assertEqual(rows[0]["path"], os.fsencode(self.folder))
        self.assertEqual(rows[2]["inode"], rows[3]["inode"])
        self.assertEqual(rows[2]["path"], b"pipe:[%d]" % rows[2]["inode"])

    def test_kernel_objects(self):
        rows = self.one_of("""
import select, socket
kept = [select.epoll(), socket.socket(), libc.eventfd(0, 0), libc.timerfd_create(1, 0),
        libc.inotify_init(), os.pidfd_open(os.getpid()),
        os.open('/proc/self/ns/net', 0)]
mask = (ctypes.c_uint64 * 16)()
kept.append(libc.signalfd(-1, mask, 0))
""")
        self.assertEqual(sorted(row["type"] for row in rows),
                         sorted([b"eventpoll", b"socket", b"eventfd", b"timerfd", b"inotify",
                                 b"pidfd", b"namespace", b"signalfd"]))

    def test_another_mount_namespace(self):
        """A file that is only there (psutil: missing, or the wrong one)."""
        words = scene.place_or_skip(self, "mount_namespace")
        pid = scene.one(self, "open('/mnt/inside', 'w').write('abc'); "
                        "kept = open('/mnt/inside'); ready(); stay()", prefix=words)
        self.assertFalse(os.path.exists("/mnt/inside"))
        row, = [row for row in rows_of(pid).values() if row["path"] == b"/mnt/inside"]
        self.assertEqual((row["type"], row["deleted"], row["size_bytes"]), (b"file", 0, 3))
        self.assertEqual(theirs_of(pid), [])

    def test_any_bytes(self):
        names = [b"\xff\xfe", b"two words", b"new\nline", b"esc\x1b[2J", "é".encode()]
        paths = [os.path.join(os.fsencode(self.folder), name) for name in names]
        for path in paths:
            with open(path, "wb"):
                pass
        pid = scene.one(self, "kept = [os.open(os.fsencode(p), 0) for p in sys.argv[1:]]\n"
                        "ready(); stay()", *paths)
        ours = {row["path"] for number, row in rows_of(pid).items()
                if row["type"] == b"file" and number > 2}
        self.assertEqual(ours, set(paths))
        self.assertEqual({os.fsencode(one.path) for one in theirs_of(pid)},
                         set(paths))

    def test_a_path_longer_than_path_max(self):
        """Check 15: readlink cuts or refuses it; psutil skips it. We have the row, and say."""
        pid = scene.one(self, """
os.chdir(sys.argv[1])
for _ in range(25):
    os.mkdir('d' * 200); os.chdir('d' * 200)
kept = os.open('deep', os.O_CREAT | os.O_RDWR)
ready(); stay()
""", self.folder)
        rows = rows_of(pid)
        row = rows[max(rows)]
        self.assertEqual(row["inode"] is not None, True)
        value, state = row.read("path")
        self.assertTrue(value is None or state in ("lower_bound", "have"), (value, state))
        self.assertEqual(row["type"], b"file")


class Lsof(Folder):
    """Check 14: lsof as a third source."""

    def test_against_lsof(self):
        if shutil.which("lsof") is None:
            self.skipTest("no lsof")
        pid = scene.one(self, scene.FILES)
        told = subprocess.run(["lsof", "-n", "-P", "-w", "-F", "ftn", "-a", "-p", str(pid)],
                              capture_output=True, check=True).stdout
        their, number = {}, None
        for line in told.splitlines():
            if line[:1] == b"f":
                number = int(line[1:]) if line[1:].isdigit() else None
            elif number is not None:
                their.setdefault(number, {})[line[:1]] = line[1:]
        ours = rows_of(pid)
        self.assertEqual(set(ours), set(their))
        kinds = {b"REG": (b"file", b"memfd"), b"FIFO": (b"pipe",), b"DIR": (b"directory",),
                 b"CHR": (b"character_device",), b"a_inode": (b"eventpoll",), b"unix": (b"socket",)}
        for number, row in ours.items():
            self.assertIn(row["type"], kinds[their[number][b"t"]])
            if row["type"] in (b"file", b"directory", b"character_device"):
                self.assertEqual(row["path"], their[number][b"n"].removesuffix(b" (deleted)"))


class Races(Folder):
    """Check 15: descriptors that come and go while they are read."""

    def test_opening_and_closing(self):
        path = self.path()
        pid = scene.one(self, """
def churn():
    while True:
        descriptor = os.open(sys.argv[1], 0); os.close(descriptor)
for _ in range(3): threading.Thread(target=churn, daemon=True).start()
ready(); stay()
""", path)
        process = api.Context().open(pid)
        for _ in range(300):
            snapshot = process.ask("descriptor", "process.descriptors")
            rows = snapshot.rows("descriptor")
            numbers = [row["number"] for row in rows]
            self.assertEqual(numbers, sorted(set(numbers)))
            self.assertLessEqual({0, 1}, set(numbers))
            for row in rows:
                for column, (value, state) in row.all().items():
                    self.assertTrue(value is not None or state in
                                    ("gone", "unsupported"), (column, state))

    def test_many(self):
        pid = scene.one(self, """
import resource
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4000), hard))
kept = [os.open('/dev/null', 0) for _ in range(2500)]
print(len(kept), os.getpid(), flush=True); stay()
""")
        process = api.Context().open(pid)
        self.assertEqual(process.get("descriptors"), psutil.Process(pid).num_fds())
        rows = process.rows("descriptor")
        self.assertEqual(len(rows), process.get("descriptors"))

    def test_an_ordinary_user_may_count_them(self):
        """How many there are the kernel tells everybody (Linux 6.2), which they are it does not."""
        words = scene.place_or_skip(self, "nobody")
        pid = scene.one(self, scene.FILES)
        found = scene.run_there(words, "stranger.py", pid)
        self.assertEqual(found["states"]["descriptor"], "denied")
        self.assertIn(found["read"]["descriptors"], (psutil.Process(pid).num_fds(), None))


class Io(unittest.TestCase):
    """Check 32: known reads and writes are counted exactly."""

    def test_known_calls(self):
        popen, pid = scene.program(self, """
import tempfile
file = tempfile.TemporaryFile(buffering=0)
ready()
for line in iter(lambda: os.read(0, 1), b''):
    for _ in range(7): os.pwrite(file.fileno(), b'x' * 1000, 0)
    for _ in range(5): os.pread(file.fileno(), 100, 0)
    os.write(1, b'.')
stay()
""")
        columns = ("read_calls", "write_calls", "call_read_bytes", "call_written_bytes")
        process = api.Context().open(pid)

        def counts():
            row = process.ask(*(f"process.{name}" for name in columns)).one()
            return [row[name] for name in columns]

        # Its reading of our byte is one more, and its answer is one more.
        def turn():
            popen.stdin.write(b"x")
            popen.stdin.flush()
            self.assertEqual(popen.stdout.read(1), b".")
            scene.until(lambda: theirs.read(pid, "wchan") is not None and
                        theirs.stat_fields(pid)[2] == "S", "its sleep")

        turn()
        before = counts()
        turn()
        grown = [b - a for a, b in zip(before, counts())]
        self.assertEqual(grown, [5 + 1, 7 + 1, 500 + 1, 7000 + 1])
        io = psutil.Process(pid).io_counters()
        self.assertEqual(counts(), [io.read_count, io.write_count, io.read_chars, io.write_chars])


class Handles(unittest.TestCase):
    def test_threads_do_not_share_a_handle_s_failure(self):
        """Two handles in two threads; one of the dead, one of the living."""
        context, errors = api.Context(), []
        with scene.sleeping_child() as pid:
            dead = context.open(pid)
        alive = context.open(os.getpid())

        def ask(process, code):
            try:
                for _ in range(200):
                    try:
                        process.ask("descriptor")
                        errors.append(code is not None)
                    except Failure as failure:
                        errors.append(failure.code != code)
            except BaseException as error:  # noqa: BLE001
                errors.append(error)

        threads = [threading.Thread(target=ask, args=pair) for pair in
                   ((dead, "gone"), (alive, None))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([error for error in errors if error], [])
        self.assertEqual(len(errors), 400)


if __name__ == "__main__":
    unittest.main()
