"""Columns of `vitals ps` that ps(1) has: both asked about the same processes in one run."""

import csv
import ctypes
import io
import os
import shutil
import signal
import subprocess
import unittest

import scene
from harness import environment, vitals

PS = shutil.which("ps")
LIBC = ctypes.CDLL(None, use_errno=True)

ODD = """
import os, signal, sys
signal.signal(signal.SIGUSR1, lambda *_: None)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2, signal.SIGRTMIN + 3])
os.kill(os.getpid(), signal.SIGUSR2)
if os.geteuid() == 0:
    os.setgroups([0, 1, 4242])
    libc.setfsgid(1)
ready(); stay()
"""


def theirs(pid, *names):
    """One process's columns by ps(1), which cuts none of what stands last."""
    values = []
    for name in names:
        done = subprocess.run([PS, "-ww", "-p", str(pid), "-o", f"{name}:400="], check=True,
                              capture_output=True, text=True, env=environment(LC_ALL="C"))
        values.append(done.stdout.strip())
    return values


def ours(pid, *names):
    result = vitals("ps", "--csv", "-p", str(pid), "-o", ",".join(["pid", *names]))
    assert result.returncode == 0, result.stderr
    return next(csv.reader(io.StringIO(result.stdout.split("\n", 1)[1])))[1:]


def names_of_mask(mask):
    """A mask of /proc/PID/status in our words."""
    if mask == 2**64 - 1:
        return "all"
    words = []
    for number in range(1, 65):
        if not mask >> (number - 1) & 1:
            continue
        first, last = signal.SIGRTMIN, signal.SIGRTMAX
        if first <= number <= last:
            words.append("RTMIN" if number == first else "RTMAX" if number == last
                         else f"RTMIN+{number - first}")
        elif number in (32, 33):
            words.append(str(number))
        else:
            name = signal.Signals(number).name.removeprefix("SIG")
            words.append({"IO": "POLL", "CLD": "CHLD"}.get(name, name))
    return ",".join(words)


@unittest.skipUnless(PS, "there is no ps(1)")
class Columns(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cast = scene.Cast()
        cls.addClassCleanup(cls.cast.close)
        cls.cast.add("odd", ODD)
        cls.cast.add("plain", "ready(); stay()")
        cls.pids = [cls.cast.pids["odd"], cls.cast.pids["plain"], os.getpid()]

    def test_signals(self):
        for pid in self.pids[:2]:  # we ourselves block all signals while we start a program (vfork)
            columns = ("blocked", "ignored", "caught", "pending")
            self.assertEqual(ours(pid, *columns),
                             [names_of_mask(int(mask, 16)) for mask in theirs(pid, *columns)])
        blocked, ignored, caught, pending = ours(self.cast.pids["odd"], "blocked", "ignored",
                                                 "caught", "pending")
        self.assertEqual(blocked, "USR2,RTMIN+3")
        self.assertIn("HUP", ignored.split(","))
        self.assertIn("USR1", caught.split(","))
        self.assertEqual(pending, "USR2")

    def test_columns_that_are_the_same(self):
        columns = ("lwp", "tid", "spid", "tpgid", "suser", "sgroup", "svuid", "svgid", "fuid",
                   "fgid", "fuser", "fgroup", "f", "slice", "tgid", "pgid", "sid", "nlwp")
        for pid in self.pids:
            for name in columns:
                with self.subTest(column=name, pid=pid):
                    mine, its = ours(pid, name)[0], theirs(pid, name)[0]
                    if name == "tpgid":  # a field of CSV is the metric's: empty for none
                        mine = mine or "-1"
                    if name == "slice" and its == "-":
                        self.skipTest("this ps knows no systemd")
                    self.assertEqual(mine, its)

    def test_groups(self):
        for pid in self.pids:
            for name in ("supgid", "supgrp"):
                its = theirs(pid, name)[0]
                self.assertEqual(ours(pid, name)[0], "" if its == "-" else its)
        if os.geteuid() == 0:
            self.assertEqual(ours(self.cast.pids["odd"], "supgid"), ["0,1,4242"])
            self.assertEqual(ours(self.cast.pids["odd"], "fgid"), ["1"])

    def test_sizes(self):
        pid, page = self.cast.pids["plain"], os.sysconf("SC_PAGE_SIZE")
        self.assertEqual(int(ours(pid, "sz")[0]), int(theirs(pid, "sz")[0]) * page)
        self.assertEqual(int(ours(pid, "size")[0]), int(theirs(pid, "size")[0]) * 1024)
        for name in ("rchars", "wchars", "rops", "wops", "rbytes", "wbytes", "wcbytes"):
            with self.subTest(column=name):
                self.assertEqual(ours(pid, name), theirs(pid, name))

    def test_locked_pages(self):
        """STAT has L where memory is locked."""
        code = ("libc.mmap.restype = __import__('ctypes').c_void_p\n"
                "import mmap, ctypes\n"
                "area = mmap.mmap(-1, 4096)\n"
                "held = ctypes.c_char.from_buffer(area)\n"
                "done = libc.mlock(ctypes.c_void_p(ctypes.addressof(held)), 4096)\n"
                "ready(); stay()\n")
        pid = scene.one(self, code)
        if "VmLck:\t       0 kB" in open(f"/proc/{pid}/status").read():
            self.skipTest("no memory may be locked here")
        self.assertIn("L", theirs(pid, "stat")[0])
        self.assertEqual(ours(pid, "stat"), theirs(pid, "stat"))

    def test_every_name_that_people_use(self):
        names = ("tid lwp spid f flags sz size c tpgid label context slice suser sgroup supgid "
                 "supgrp fuid fgid fsuid fsgid fuser fgroup blocked caught ignored pending sigmask "
                 "rbytes wbytes rchars wchars rops wops class lastcpu").split()
        ours(os.getpid(), *names)
        label, = theirs(os.getpid(), "label")
        self.assertEqual(ours(os.getpid(), "label")[0], "" if label == "-" else label)


if __name__ == "__main__":
    unittest.main()
