"""What a process is called, was started with, and where: bytes that it chose itself."""

import errno
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import api
import psutil
import scene
import theirs
from harness import environment, started

NAMES = {
    "fourteen": b"fourteen-bytes", "fifteen": b"fifteen-bytes-x", "sixteen": b"sixteen-bytes-xx",
    "cut_inside_a_letter": "ééééééééé".encode(), "bracket": b"x) S 1 (y", "only_brackets": b"))((",
    "newline": b"two\nlines", "tab": b"a\tb", "backslash": b"back\\slash\\n",
    "escape": b"\x1b[31mred", "broken": b"\xff\xfe\xfd", "empty": b"", "blank": b"   ",
}


class Names(unittest.TestCase):
    """Checks 5, 18 and 29: the name is what the kernel keeps, whatever stands in it."""

    @classmethod
    def setUpClass(cls):
        cls.cast = scene.Cast()
        cls.addClassCleanup(cls.cast.close)
        for role, words in NAMES.items():
            cls.cast.add(role, f"name({words!r}); ready(); stay()")
        cls.context = api.Context()

    def test_names(self):
        table = self.context.take("process").by("process", "pid")
        for role, words in NAMES.items():
            with self.subTest(role=role):
                pid = self.cast.pids[role]
                row = self.context.open(pid).ask("process").one()
                self.assertEqual(row["name"], words[:15])
                self.assertEqual(table[pid]["name"], words[:15])
                # And what stands behind the name in the same file is right too.
                fields = theirs.stat_fields(pid)
                self.assertEqual((row["parent_pid"], row["threads"]), (os.getpid(), 1))
                self.assertEqual(row["start_seconds"], int(fields[21]) / theirs.TICKS)

    def test_a_long_name_of_letters_beyond_ascii(self):
        """psutil counts characters, not bytes, and so never extends such a name (defect 14). The
        kernel's is cut in the middle of a letter; ours is whole."""
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        program = pathlib.Path(folder, "ééééééééééé")
        shutil.copy("/bin/sleep", program)
        popen = started([program, "600"])
        self.addCleanup(popen.wait)
        self.addCleanup(popen.kill)
        row = self.context.open(popen.pid).ask("process", "process.program_name").one()
        self.assertEqual(row["name"], os.fsencode(program.name)[:15])
        self.assertEqual(row["program_name"], os.fsencode(program.name))
        self.assertNotEqual(psutil.Process(popen.pid).name(), program.name, "psutil counts letters")
        self.assertEqual(row["command_line"].split(b"\0")[0], os.fsencode(program))

    def test_long_names(self):
        """Check 18: where 15 bytes are all that the kernel keeps, the first argument tells the rest,
        also of one that is a zombie or that called itself something else."""
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        for name in ("fourteen-bytes", "fifteen-bytes-x", "sixteen-bytes-xx", "a" * 200):
            with self.subTest(name=name):
                program = pathlib.Path(folder, name)
                shutil.copy("/bin/sleep", program)
                popen = started([program, "600"])
                self.addCleanup(popen.wait)
                self.addCleanup(popen.kill)
                row = self.context.open(popen.pid).ask("process", "process.program_name").one()
                self.assertEqual(row["program_name"].decode(), name)
                self.assertEqual(row["program_name"].decode(), psutil.Process(popen.pid).name())
        for role, words in NAMES.items():  # none of these is what its first argument begins with
            row = self.context.open(self.cast.pids[role]).ask("process.program_name").one()
            self.assertEqual(row["program_name"], words[:15], role)


class Spoofed(unittest.TestCase):
    """Check 6: lines of status that a name pretends to be (psutil's defects 2 and 3)."""

    def process(self, name):
        pid = scene.one(self, f"name({name!r}); ready(); stay()")
        return psutil.Process(pid), api.Context().open(pid).ask(*api.PROCESS_COLUMNS).one(), pid

    def test_uid(self):
        their, row, pid = self.process(b"Uid:\t7\t8\t9")
        truth = (os.stat(f"/proc/{pid}").st_uid,) * 3
        self.assertEqual(tuple(row[name] for name in ("uid", "effective_uid", "saved_uid")), truth)
        self.assertEqual(row["user"].decode(), "root" if truth[0] == 0 else row["user"].decode())
        self.assertEqual(tuple(their.uids()), (7, 8, 9), "psutil believes the name")

    def test_gid(self):
        their, row, _ = self.process(b"Gid:\t7\t8\t9")
        self.assertEqual(tuple(row[name] for name in ("gid", "effective_gid", "saved_gid")),
                         (os.getgid(),) * 3)
        self.assertEqual(tuple(their.gids()), (7, 8, 9), "psutil believes the name")

    def test_threads(self):
        their, row, _ = self.process(b"\nThreads:\t77")
        self.assertEqual(row["threads"], 1)
        self.assertEqual(their.num_threads(), 77, "psutil believes the name")

    def test_other_lines(self):
        inherited = dict(line.split(":\t") for line in open("/proc/self/status") if ":\t" in line)
        no_new, seccomp = (int(inherited[line]) for line in ("NoNewPrivs", "Seccomp"))
        for name, column, truth in ((b"\nVmHWM: 9 kB", "resident_peak_bytes", None),
                                    (b"\nNoNewPrivs: %d" % (not no_new), "no_new_privileges", no_new),
                                    (b"\nSeccomp:\t%d" % (0 if seccomp else 2), "seccomp",
                                     (b"disabled", b"strict", b"filter")[seccomp]),
                                    (b"\nNSpid:\t5", "namespace_pid", None),
                                    (b"\nTracerPid:\t1", "tracer_pid", 0)):
            with self.subTest(column=column):
                _, row, pid = self.process(name)
                if column == "resident_peak_bytes":
                    self.assertGreater(row[column], 1 << 20)
                elif column == "namespace_pid":
                    self.assertEqual(row[column], pid)
                else:
                    self.assertEqual(row[column], truth)

    def test_allowed_cpus(self):
        _, row, pid = self.process(b"\nCpus_allowed")
        self.assertEqual(theirs.cpu_list(row["cpus_allowed_list"].decode()) & os.sched_getaffinity(0),
                         os.sched_getaffinity(pid))
        self.assertEqual(row["cpus_allowed"],
                         len(theirs.cpu_list(row["cpus_allowed_list"].decode())))


class Arguments(unittest.TestCase):
    """Check 16: the arguments as they were given, each ended by NUL; nothing is guessed."""

    def command(self, pid):
        return api.Context().open(pid).get("command_line")

    def test_one_argument_with_blanks(self):
        """psutil splits it at the blanks (defect 9)."""
        popen = started(["/tmp/my prog x"], executable="/bin/cat", stdin=subprocess.PIPE)
        self.addCleanup(popen.communicate)
        self.assertEqual(self.command(popen.pid), b"/tmp/my prog x\0")
        self.assertEqual(psutil.Process(popen.pid).cmdline(), ["/tmp/my", "prog", "x"])

    def test_empty_arguments(self):
        pid = scene.one(self, "ready(); stay()", "", "b c", "--x=é", "a\nb", "")
        command = self.command(pid)
        self.assertEqual(command, theirs.read(pid, "cmdline"))
        self.assertEqual(command.split(b"\0")[-6:], [b"", b"b c", "--x=é".encode(), b"a\nb", b"", b""])

    def test_a_title(self):
        """setproctitle: one text over arguments and environment, without a NUL at its end."""
        pid = scene.one(self, """
fields = open('/proc/self/stat').read().rpartition(')')[2].split()
start, end = int(fields[45]), int(fields[46])  # arg_start, arg_end
ctypes.memset(start, ord('t'), end - start)
ctypes.memmove(start, b'my title: ', 10)
ready(); stay()
""")
        command = self.command(pid)
        self.assertTrue(command.startswith(b"my title: ttt"), command[:40])
        self.assertEqual(command, theirs.read(pid, "cmdline"))

    def test_two_megabytes(self):
        """Read to its end, or cut at the cap that the catalogue tells of, and then it says so."""
        words = [f"{n:05}" + "x" * 2000 for n in range(900)]
        process = api.Context().open(scene.one(self, "ready(); stay()", *words))
        whole = theirs.read(process.pid, "cmdline")
        self.assertGreater(len(whole), 1_800_000)
        command, state = process.ask("process.command_line").one().read("command_line")
        self.assertIn(state, ("have", "lower_bound"))
        if state == "have":
            self.assertEqual(command, whole)
        else:
            self.assertTrue(whole.startswith(command))
            self.assertGreater(len(command), 4096)

    def test_against_ps(self):
        pid = scene.one(self, "ready(); stay()", "one", "two words")
        told = subprocess.run(["ps", "-ww", "-o", "args=", "-p", str(pid)], capture_output=True,
                              check=True, env=environment(LC_ALL="C.UTF-8")).stdout
        # ps joins with blanks, and shows what would break its line otherwise.
        words = self.command(pid).split(b"\0")
        self.assertTrue(told.endswith(b"one two words\n"), told[-60:])
        self.assertEqual(words[-3:-1], [b"one", b"two words"])

    def test_kernel_threads_have_none(self):
        """And no file of theirs is named: the kernel says that there is none, or not to us."""
        first = scene.kernel_thread(self)
        context = api.Context()
        for pid in context.open(first).pids("children")[:10]:
            row = context.open(pid).ask("process", "process.executable",
                                        "process.working_directory").one()
            self.assertEqual(row["command_line"], b"")
            with self.assertRaises(OSError) as refused:
                os.readlink(f"/proc/{pid}/exe")
            denied = refused.exception.errno == errno.EACCES
            self.assertEqual(row.read("executable"), (None, "denied") if denied else (b"", "have"))
            self.assertEqual(psutil.Process(pid).cmdline(), [])


class Environment(unittest.TestCase):
    """Check 17, and psutil's defect 8: no entry is lost."""

    EDIT = """
fields = open('/proc/self/stat').read().rpartition(')')[2].split()
start, end = int(fields[47]), int(fields[48])  # env_start, env_end
{}
ready(); stay()
"""

    def block(self, edit):
        pid = scene.one(self, self.EDIT.format(edit))
        ours = [(row["name"], row["value"])
                for row in api.Context().open(pid).rows("environment")]
        self.assertEqual(ours, theirs.environment_entries(theirs.read(pid, "environ")))
        return pid, ours

    def test_as_given(self):
        pid, ours = self.block("")
        self.assertEqual({os.fsdecode(k): os.fsdecode(v) for k, v in ours},
                         psutil.Process(pid).environ())

    def test_the_last_entry_without_its_end(self):
        pid, ours = self.block("ctypes.memset(end - 1, ord('!'), 1)")
        self.assertTrue((ours[-1][1] or ours[-1][0]).endswith(b"!"))
        self.assertNotIn(os.fsdecode(ours[-1][0]), psutil.Process(pid).environ(), "psutil drops it")

    def test_an_empty_entry(self):
        """psutil stops there."""
        pid, ours = self.block("ctypes.memset(start, 0, 2)")
        self.assertGreater(len(ours), 2)
        self.assertEqual(psutil.Process(pid).environ(), {})

    def test_no_equals_sign(self):
        pid, ours = self.block("""
size = ctypes.string_at(start, end - start).index(b'\\0')
ctypes.memset(start, ord('n'), size)""")
        self.assertIsNone(ours[0][1])
        self.assertEqual(set(ours[0][0]), {ord("n")})

    def test_kernel_thread(self):
        """psutil says that there is no such process, of one that is there (defect 8)."""
        thread = scene.kernel_thread(self)
        denied = not os.access(f"/proc/{thread}/environ", os.R_OK)
        with self.assertRaises(psutil.AccessDenied if denied else psutil.NoSuchProcess):
            psutil.Process(thread).environ()
        snapshot = api.Context().open(thread).ask("environment")
        self.assertEqual(snapshot.rows("environment"), [])
        self.assertIn(snapshot.state("environment"), ("have", "unsupported", "denied"))


class Paths(unittest.TestCase):
    """Check 34: paths of any bytes, and files that are there no more."""

    def setUp(self):
        self.folder = tempfile.mkdtemp().encode()
        self.addCleanup(shutil.rmtree, self.folder, True)

    def program(self, name):
        path = os.path.join(self.folder, name)
        shutil.copy(b"/bin/sleep", path)
        os.mkdir(os.path.join(self.folder, b"d-" + name))
        popen = started([path, "600"], cwd=os.path.join(self.folder, b"d-" + name))
        self.addCleanup(popen.wait)
        self.addCleanup(popen.kill)
        return popen.pid, path

    def answer(self, pid):
        return api.Context().open(pid).ask(*api.PROCESS_COLUMNS, "mapping").one()

    def test_any_bytes(self):
        for name in (b"caf\xc3\xa9", b"f\xff\xfe", b"two words", b"new\nline", b"esc\x1b[2J"):
            with self.subTest(name=name):
                pid, path = self.program(name)
                snapshot = api.Context().open(pid).ask(*api.PROCESS_COLUMNS, "mapping")
                row = snapshot.one()
                self.assertEqual(row["executable"], path)
                self.assertEqual(os.fsencode(psutil.Process(pid).exe()), path)
                self.assertEqual(row["working_directory"],
                                 os.path.join(self.folder, b"d-" + name))
                self.assertEqual(row["name"], name[:15])
                self.assertIn(path, {one["path"] for one in snapshot.rows("mapping")})

    def test_deleted(self):
        pid, path = self.program(b"short-lived")
        os.unlink(path)
        os.rmdir(os.path.join(self.folder, b"d-short-lived"))
        row = self.answer(pid)
        self.assertEqual((row["executable"], row["executable_deleted"]), (path, 1))
        self.assertTrue(row["working_directory"].startswith(
            os.path.join(self.folder, b"d-short-lived")))

    def test_a_name_that_ends_in_deleted(self):
        """Where the literal file is there, it is that one."""
        pid, path = self.program(b"x (deleted)")
        row = self.answer(pid)
        self.assertEqual((row["executable"], row["executable_deleted"]), (path, 0))
        self.assertEqual(os.fsencode(psutil.Process(pid).exe()), path)

    def test_deleted_beside_one_that_is_called_so(self):
        """psutil takes the sibling for it (§1, open_files; exe likewise)."""
        pid, path = self.program(b"z")
        shutil.copy(path, path + b" (deleted)")
        os.unlink(path)
        row = self.answer(pid)
        self.assertEqual((row["executable"], row["executable_deleted"]), (path, 1))


if __name__ == "__main__":
    unittest.main()
