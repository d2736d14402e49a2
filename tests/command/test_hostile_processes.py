"""The command among live processes that choose their names, hide, come and go, or live elsewhere."""

import contextlib
import os
import resource
import subprocess
import time
import unittest

from cast import NOBODY, Cast, as_user, ordinary, unshared
from harness import BUILD, SANITIZED
from hostile import SECONDS, Hostile, execute


# --- Live processes --------------------------------------------------------------------------------

NAMES = (
    b"a) R 1 2 3 4 5", b")", b"((((", b"x\ny", b"\x1b[2J\x1b]0;p\x07", b"\xff\xfe\xc3(",
    "\u202eevil\u2066".encode(), b"", b" ", b"\t\r\x0b\x08", b"\xc2\x9b31m",
    "漢字漢字漢字".encode(),
    b"Uid:\t7\nx", "\u2028\u200f\ufeff".encode(), b"\\x1b\\e", b"\x7f\x01", b"%s%n%d", b"\"],}{",
)
# Arguments cannot hold a NUL, but anything else.
ARGUMENTS = (b"plain", b"", b"\x1b[31m", b"a\nb", b"\xff\xfe", "\u202egnp.exe".encode(), b"\x9b2J",
             b"--\r\x08\x08", b"'\"$(reboot)`", "e\u0301\u200d".encode())

# Writes over its own arguments and into the environment, as setproctitle does: no NUL at their end.
TITLE = """
fields = open('/proc/self/stat', 'rb').read().rpartition(b')')[2].split()
start, end = int(fields[45]), int(fields[46])
text = (b'worker: \\x1b[7m \\xff idle ' * 200)[:end - start + 16]
ctypes.memmove(start, text, len(text))
ready(); stay()
"""

NO_ARGUMENTS = """
path = ctypes.c_char_p(b'/bin/cat')
none = (ctypes.c_char_p * 1)(None)
ready()
libc.execve(path, none, none)
"""


class Live(Hostile):
    @classmethod
    def setUpClass(cls):
        cls.cast = Cast()
        cls.addClassCleanup(cls.cast.close)
        for number, words in enumerate(NAMES):
            cls.cast.add(number, f"name({words!r}); ready(); stay()", *ARGUMENTS)
        cls.cast.add("title", TITLE, *["x" * 50] * 3)
        cls.cast.add("none", NO_ARGUMENTS)
        # More than the kernel's 2 MiB takes a larger stack, of which it grants a quarter.
        limits = ("prlimit", f"--stack={64 << 20}:{resource.getrlimit(resource.RLIMIT_STACK)[1]}")
        with contextlib.suppress(AssertionError, OSError):
            cls.cast.add("long", "ready(); stay()", *["y" * 130000] * 16, prefix=limits)
        cls.pids = [word for pid in cls.cast.pids.values() for word in ("-p", str(pid))]

    def test_all_of_them(self):
        self.check_all()
        self.check("text", "--delay", "100ms")

    def test_the_report_shows_them(self):
        for mode in ("text", "ascii"):
            with self.subTest(mode=mode):
                text = self.check(mode, *self.pids, env={"LINES": "200"})
                for role in (0, 3, 4):
                    self.assertIn(f" {self.cast.pids[role]} ", text)

    def test_the_report_in_the_c_locale(self):
        text = self.check("ascii", *self.pids, env={"LC_ALL": "C"})
        self.assertEqual(text, text.encode("ascii", "replace").decode())

    def test_the_snapshot_holds_what_they_chose(self):
        one, = self.check("json")
        rows = {row["pid"]: row for row in one["tables"]["process"]}
        arguments = [words.decode("utf-8", "replace") for words in ARGUMENTS]
        for number, words in enumerate(NAMES):
            with self.subTest(words=words):
                row = rows[self.cast.pids[number]]
                self.assertEqual(row["name"], words[:15].decode("utf-8", "replace"))
                self.assertEqual(row["command_line"].split("\0")[3:3 + len(arguments)], arguments)
                self.assertEqual((row["state"], row["uid"]), ("sleeping", os.getuid()))

    def test_a_title_without_end(self):
        one, = self.check("json")
        row, = [row for row in one["tables"]["process"] if row["pid"] == self.cast.pids["title"]]
        self.assertTrue(row["command_line"].startswith("worker: \x1b[7m \ufffd idle worker"))

    def test_no_arguments(self):
        """Linux gives one empty argument where there is none, since 5.18."""
        one, = self.check("json")
        row, = [row for row in one["tables"]["process"] if row["pid"] == self.cast.pids["none"]]
        self.assertIn(row["command_line"], ("", "\0", None))

    def test_two_mebibytes_of_arguments(self):
        if "long" not in self.cast.pids:
            self.skipTest("the limits here do not allow 2 MiB of arguments")
        one, = self.check("json")
        row, = [row for row in one["tables"]["process"] if row["pid"] == self.cast.pids["long"]]
        self.assertEqual(row["availability"], {"command_line": "lower_bound"})
        self.assertLessEqual(len(row["command_line"]), 1 << 20)
        self.assertGreater(len(row["command_line"]), 1 << 19)

    def test_a_command_of_hostile_name(self):
        folder = self.folder()
        for number, name in enumerate((b"\x1b[2Jx", b"a\nb", b"\xff\xfe", "\u202ex".encode())):
            with self.subTest(name=name):
                path = os.path.join(os.fsencode(folder), name)
                with open(path, "wb") as file:
                    file.write(b"#!/bin/sh\nexit %d\n" % number)
                os.chmod(path, 0o755)
                result = execute("run", "--", os.fsdecode(path))
                self.assertEqual(result.code, number)
                self.clean(result.err)
                gone = execute("run", "--", os.fsdecode(path + b"-no"))
                self.assertEqual((gone.code, gone.out), (127, b""))
                self.clean(gone.err)
                self.assertIn(b"vitals: ", gone.err)

    def test_hostile_options(self):
        for arguments in (("-u", "\x1b[2Jx"), ("--proc-root", "/\x1b[2J\n"),
                          ("--from", "\x1b]0;\x07"), ("\x1b[2J",), ("--nvml", "/\x1b[2J\udcff\u202e"), ("-p", "\x1b[2J")):
            with self.subTest(arguments=arguments):
                result = execute("-1", *arguments)
                self.assertIn(result.code, (0, 1, 2))
                self.clean(result.out)
                self.clean(result.err)


# --- Namespaces ------------------------------------------------------------------------------------

class Namespaces(Hostile):
    def hidepid(self, level):
        ordinary(self)
        user, _ = as_user(NOBODY.pw_uid, NOBODY.pw_gid)
        outer = unshared(self, "--mount", "--propagation", "private")
        script = f"mount -t proc -o hidepid={level} proc /proc && exec \"$@\""
        prefix = (*outer, "sh", "-c", script, "sh", *user)
        if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("/proc cannot be mounted anew here")
        return self.check_all(prefix=prefix)

    def whole_host(self, one):
        row, = one["tables"]["host"]
        for name in ("memory_total_bytes", "load_1m", "cpu_busy_seconds", "uptime_seconds"):
            self.assertIsNotNone(row[name], name)

    def test_hidepid_1_denies(self):
        one, = self.hidepid(1)["json"]
        self.whole_host(one)
        rows = {row["pid"]: row for row in one["tables"]["process"]}
        self.assertIn(1, rows)
        self.assertEqual(rows[1]["availability"]["name"], "denied")
        self.assertEqual(rows[1]["availability"]["uid"], "denied")
        known = [row for row in rows.values() if row["name"] is not None]
        self.assertEqual({row["uid"] for row in known}, {NOBODY.pw_uid})
        self.assertIn("vitals", [row["name"] for row in known])

    def test_hidepid_2_hides(self):
        found = self.hidepid(2)
        one, = found["json"]
        self.whole_host(one)
        rows = one["tables"]["process"]
        # Of others that run as nobody one may end while it is read.
        left = [row for row in rows if row.get("availability", {}).get("uid") != "gone"]
        self.assertEqual({row["uid"] for row in left}, {NOBODY.pw_uid})
        self.assertIn("vitals", [row["name"] for row in left])
        self.assertNotIn("No processes", found["text"])

    def test_a_pid_namespace(self):
        one, = self.check_all(prefix=unshared(self, "--pid", "--fork", "--mount-proc"))["json"]
        self.assertEqual([row["pid"] for row in one["tables"]["process"]], [1])
        self.assertEqual(one["tables"]["process"][0]["name"], "vitals")
        self.assertNotEqual(one["host"]["pid_namespace"], os.stat("/proc/self/ns/pid").st_ino)

    def test_a_pid_namespace_with_the_proc_of_another(self):
        """As a container with the host's /proc: no clock of ours is theirs, and it says so."""
        found = self.check_all(prefix=unshared(self, "--pid", "--fork"))
        one, = found["json"]
        rows = {row["pid"]: row for row in one["tables"]["process"]}
        self.assertIn(os.getpid(), rows)
        row = rows[os.getpid()]
        self.assertEqual(row["availability"]["cpu_seconds"], "estimate")
        self.assertLess(abs(row["cpu_seconds"] - time.process_time()), 1.0)

    def test_a_network_namespace_without_interfaces(self):
        one, = self.check_all(prefix=unshared(self, "--net"))["json"]
        row, = one["tables"]["host"]
        # There is a list of interfaces, and what it sums up to is nothing.
        self.assertEqual((row["network_received_bytes"], row["network_transmitted_bytes"]), (0, 0))

    def test_no_proc_is_mounted(self):
        if SANITIZED:
            self.skipTest("LeakSanitizer needs /proc")
        prefix = (*unshared(self, "--mount", "--propagation", "private"), "sh", "-c",
                  "mount -t tmpfs none /proc && exec \"$@\"", "sh")
        # The loader finds our library by /proc/self/exe.
        self.check_all(prefix=prefix, env={"LD_LIBRARY_PATH": BUILD.resolve()})


# --- Processes that come and go --------------------------------------------------------------------

STORM = """
done = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), done.set()), daemon=True).start()
ready()
alive = []
for _ in range(100000):
    if done.is_set(): break
    alive.append(os.fork())
    if alive[-1] == 0: os._exit(0)
    if len(alive) > 20: os.waitpid(alive.pop(0), 0)
os._exit(0)
"""


class Storm(Hostile):
    def test_thirty_snapshots(self):
        cast = Cast()
        self.addCleanup(cast.close)
        cast.add("storm", STORM)
        found = self.check("json", "--interval", "0.03", "--count", "30", seconds=SECONDS + 10)
        for mode in ("text", "ascii", "run"):
            self.check(mode)
        self.assertEqual(len(found), 30)
        whose, seen = {}, set()
        for one in found:
            for row in one["tables"]["process"]:
                # A key means one process for ever.
                if row["start_seconds"] is not None:
                    who = (row["pid"], row["start_seconds"])
                    self.assertEqual(whose.setdefault(row["key"], who), who)
                    seen.add(who)
                # One that is gone has no values of the next with its pid.
                self.assertTrue(row["name"] is None or row["state"] is not None)
        self.assertGreater(len(seen), len(found[0]["tables"]["process"]))
        forks = [one["tables"]["host"][0]["forks"] for one in found]
        self.assertEqual(forks, sorted(forks))
        self.assertGreater(forks[-1] - forks[0], 50)


if __name__ == "__main__":
    unittest.main()
