"""Whose a handle is: pids that are given again, threads, zombies, the dead, and numbers that are no pid."""

import errno
import os
import pathlib
import re
import signal
import threading
import time
import unittest

import api
import psutil
import scene
import theirs
from api import Failure
from harness import in_most_of

EVERYTHING = (*api.PROCESS_COLUMNS, *api.OWN_TABLES, "socket")
ATTEMPTS = 20  # to be born within the same clock tick as the one before


def everything_of(process):
    """{call: function} of what a handle can be asked and told; all but free, pid and start."""
    calls = {
        "ask": lambda: process.ask(*EVERYTHING),
        "parent": lambda: process.pids("parent"),
        "ancestors": lambda: process.pids("ancestors"),
        "children": lambda: process.pids("children"),
        "descendants": lambda: process.pids("descendants"),
        "signal 0": lambda: process.signal(0),
        "kill": lambda: process.signal(signal.SIGKILL),
        "nice": lambda: process.set_nice(5),
        "io_priority": lambda: process.set_io_priority("idle"),
        "affinity": lambda: process.set_affinity([min(os.sched_getaffinity(0))]),
        "limit": lambda: process.set_limit("nofile", 50, 50),
    }
    for table in api.OWN_TABLES:
        calls[table] = lambda table=table: process.ask(table)
    return calls


class Gone(unittest.TestCase):
    def assert_gone(self, process):
        self.assertFalse(process.is_running())
        for name, function in everything_of(process).items():
            with self.subTest(call=name):
                with self.assertRaises(Failure) as caught:
                    function()
                self.assertEqual(caught.exception.code, "gone", caught.exception)
                self.assertIn(str(process.pid), caught.exception.message)


class Reused(Gone):
    """Check 2: a pid that somebody else has a moment later (psutil's defect 1)."""

    @classmethod
    def setUpClass(cls):
        try:
            with scene.sleeping_child() as child:
                pid = child
            with scene.sleeping_child(pid):
                pass
        except OSError as error:
            raise unittest.SkipTest(f"no process with a pid of our choice: {error}") from error
        cls.context = api.Context()

    def in_one_tick(self):
        """(old handle, psutil's, the new pid's start) where both began in one clock tick."""
        for _ in range(ATTEMPTS):
            with scene.sleeping_child() as pid:
                process, other = self.context.open(pid), psutil.Process(pid)
                start = theirs.KERNEL["start"](pid)
            context = scene.sleeping_child(pid)
            context.__enter__()
            if theirs.KERNEL["start"](pid) == start:
                self.addCleanup(context.__exit__, None, None, None)
                return process, other, start
            context.__exit__(None, None, None)
        self.skipTest(f"{ATTEMPTS} times the second began in a later tick than the first")

    def test_nothing_reaches_the_next_owner(self):
        process, other, start = self.in_one_tick()
        self.assertTrue(other.is_running(), "psutil takes the new one for the old")
        pid = process.pid
        before = (theirs.read(pid, "limits"), os.sched_getaffinity(pid),
                  os.getpriority(os.PRIO_PROCESS, pid))
        self.assert_gone(process)
        self.assertIn(theirs.stat_fields(pid)[2], "RS", "the innocent lives")
        self.assertEqual(theirs.KERNEL["start"](pid), start)
        self.assertEqual((theirs.read(pid, "limits"), os.sched_getaffinity(pid),
                          os.getpriority(os.PRIO_PROCESS, pid)), before)

    def test_waiting_is_for_the_old_one(self):
        process, _, _ = self.in_one_tick()
        self.assertIsInstance(process.wait(0), api.Exit)
        self.assertIn(theirs.stat_fields(process.pid)[2], "RS", "the innocent lives")

    def test_a_row_of_the_old_one_opens_nobody(self):
        for _ in range(ATTEMPTS):
            with scene.sleeping_child() as pid:
                row = self.context.take("process.pid", "process.start_seconds").by(
                    "process", "pid")[pid]
            with scene.sleeping_child(pid):
                if theirs.KERNEL["start"](pid) / theirs.TICKS == row["start_seconds"]:
                    continue  # a row has no descriptor: its start is all that it knows
                with self.assertRaises(Failure) as caught:
                    self.context.open_row(row)
                self.assertEqual(caught.exception.code, "gone")
                return
            time.sleep(0.011)  # the next tick is what is waited for
        # Always the same tick: wait one out.
        with scene.sleeping_child() as pid:
            row = self.context.take("process.pid", "process.start_seconds").by("process", "pid")[pid]
        time.sleep(0.011)
        with scene.sleeping_child(pid), self.assertRaises(Failure):
            self.context.open_row(row)


class Dead(Gone):
    """Check 4: every call after the end, and none of anybody else's data."""

    def test_every_call_after_the_end(self):
        context = api.Context()
        with scene.sleeping_child() as pid:
            process = context.open(pid)
            process.ask(*EVERYTHING)  # whatever it keeps open, it keeps now
        self.assert_gone(process)
        self.assertEqual(process.pid, pid)

    def test_dying_while_it_is_asked(self):
        """Whole answers or none: a process that ends half-way is gone."""
        context = api.Context()
        answers = {"whole": 0, "gone": 0}
        while min(answers.values()) < 5 and sum(answers.values()) < 3000:
            with scene.sleeping_child() as pid:
                process = context.open(pid)
                threading.Thread(target=os.kill, args=(pid, signal.SIGKILL)).start()
                reaper = threading.Thread(target=lambda pid=pid: os.waitpid(pid, 0))
                reaper.start()
                try:
                    while True:
                        row = process.ask(*EVERYTHING).one()
                        self.assertEqual(row["pid"], pid)
                        self.assertEqual(row["parent_pid"], os.getpid())
                        answers["whole"] += 1
                except Failure as failure:
                    self.assertEqual(failure.code, "gone")
                    answers["gone"] += 1
                reaper.join()
        self.assertGreaterEqual(min(answers.values()), 5, answers)

    def test_a_new_program_is_the_same_process(self):
        """What was kept open across execve shows the new program, not the old memory (§6.5)."""
        popen, pid = scene.program(
            self, "ready(); sys.stdin.readline(); os.dup2(os.open('/dev/null', 0), 2); "
            "os.environ.clear(); os.environ['NEW'] = 'yes'; "
            "os.execv('/bin/sleep', ['sleep', '600'])")
        self.addCleanup(popen.kill)
        process = api.Context().open(pid)
        old = process.ask(*EVERYTHING)
        popen.stdin.write(b"\n")
        popen.stdin.flush()
        scene.until(lambda: theirs.read(pid, "cmdline") == b"sleep\x00600\x00", "the new program")
        new = process.ask(*EVERYTHING)
        row = new.one()
        self.assertEqual((row["name"], row["command_line"]), (b"sleep", b"sleep\x00600\x00"))
        self.assertEqual(row["start_seconds"], old.one()["start_seconds"])
        scene.until(lambda: theirs.read(pid, "environ") != b"", "its memory")
        self.assertEqual([(e["name"], e["value"]) for e in process.rows("environment")],
                         theirs.environment_entries(theirs.read(pid, "environ")))
        self.assertGreater(row["pss_bytes"], 0)
        self.assertNotEqual(row["executable"], old.one()["executable"])


class Zombie(unittest.TestCase):
    """Check 3: of a zombie, what the kernel still has; of the rest, that it is gone."""

    GONE = ("command_line", "executable", "working_directory", "root_directory", "pss_bytes",
            "uss_bytes")

    def setUp(self):
        self.pid = scene.one(self, scene.ZOMBIE)
        self.process = api.Context().open(self.pid)
        self.snapshot = self.process.ask(*EVERYTHING)
        self.row = self.snapshot.one()

    def test_lives_still(self):
        self.assertTrue(self.process.is_running())
        self.assertEqual(self.row["state"], b"zombie")
        self.assertEqual(self.row["uid"], os.getuid())
        self.assertEqual(self.row["name"], theirs.stat_fields(self.pid)[1])
        self.assertIsNotNone(self.row["cpu_seconds"])
        self.assertEqual(self.row["parent_pid"], int(theirs.stat_fields(self.pid)[3]))

    def test_what_is_gone(self):
        for column in self.GONE:
            with self.subTest(column=column):
                self.assertEqual(self.row.read(column), (None, "gone"))
        # Of descriptors and mappings it has none, says the kernel; of its environment nothing.
        for table, states in (("descriptor", ("have", "gone")), ("mapping", ("have", "gone")),
                              ("mapped_file", ("have", "gone")), ("environment", ("gone",))):
            with self.subTest(table=table):
                self.assertEqual(self.snapshot.rows(table), [])
                self.assertIn(self.snapshot.state(table), states)

    def test_nothing_is_unset(self):
        self.row.all()
        for table in (*api.OWN_TABLES, "socket"):
            for row in self.snapshot.rows(table):
                row.all()

    def test_ended_for_who_waits(self):
        self.assertEqual(self.process.wait(0)[:3], (1, 3, 0))


def thread_group(number):
    """The process of a thread or process; None: it has ended."""
    try:
        status = pathlib.Path(f"/proc/{number}/status").read_text()
    except OSError:
        return None
    return int(re.search(r"^Tgid:\s*(\d+)", status, re.MULTILINE)[1])


class Pids(unittest.TestCase):
    """Check 12: the list, opening, and psutil agree on every number; threads are none of them."""

    def test_range(self):
        in_most_of(5, self.check_range)

    def check_range(self):
        """Who comes and goes between two lists is on none of them."""
        context = api.Context()
        before = set(psutil.pids())
        opened, refused = set(), {}
        for pid in range(1, 3001):
            try:
                opened.add(context.open(pid).pid)
            except Failure as failure:
                refused[pid] = failure
        listed = set(context.take("process.pid").by("process", "pid"))
        after = set(psutil.pids())
        small = {pid for pid in before & after if pid <= 3000}
        self.assertLessEqual(small, opened)
        self.assertLessEqual(before & after, listed)
        # A process that came and went meanwhile is on no list; a thread would be there still.
        self.assertEqual([pid for pid in opened - (before | after | listed) if thread_group(pid) not in (pid, None)], [])
        self.assertEqual({failure.code for failure in refused.values()} - {"gone"}, set())

    def test_a_thread_is_no_process(self):
        pid = scene.one(self, scene.THREADS)
        tids = [int(tid) for tid in os.listdir(f"/proc/{pid}/task") if int(tid) != pid]
        context = api.Context()
        listed = context.take("process.pid").by("process", "pid")
        self.assertEqual(len(tids), 5)
        for tid in tids:
            self.assertNotIn(tid, listed)
            # psutil makes a Process of it.
            self.assertEqual(psutil.Process(tid).pid, tid)
            with self.assertRaises(Failure) as caught:
                context.open(tid)
            self.assertEqual(caught.exception.code, "gone")
            self.assertIn("thread", caught.exception.message)


class BadInput(unittest.TestCase):
    """A code and a message that says which; never another process's data."""

    def refused(self, code, *words, call):
        with self.assertRaises(Failure) as caught:
            call()
        self.assertEqual(caught.exception.code, code, caught.exception)
        for word in words:
            self.assertIn(str(word), caught.exception.message)

    def test_pids(self):
        context = api.Context()
        free = next(pid for pid in range(30000, 2, -1) if not os.path.exists(f"/proc/{pid}"))
        maximum = int(pathlib.Path("/proc/sys/kernel/pid_max").read_text())
        table = [("argument", 0), ("argument", -1), ("argument", -(2**31)), ("argument", -(2**63)),
                 ("gone", free), ("gone", maximum + 1), ("gone", 2**31 - 1), ("gone", 2**31),
                 ("gone", 2**32 + os.getpid()), ("gone", 2**63 - 1)]
        for code, pid in table:
            with self.subTest(pid=pid):
                self.refused(code, pid, call=lambda pid=pid: context.open(pid))

    def test_questions(self):
        process = api.Context().open(os.getpid())
        self.refused("argument", call=lambda: process.ask("gpu"))
        self.refused("argument", call=process.ask)
        error = api.ffi.new("vitals_error *")
        out = api.ffi.new("vitals_snapshot **")
        for relation in (0, 5, 99, 2**31):
            code = api.lib.vitals_process_relatives(process.pointer, relation, api.ffi.NULL, out,
                                                    error)
            self.assertEqual(code, api.lib.VITALS_EARGUMENT)
        self.assertEqual(out[0], api.ffi.NULL)

    def test_values(self):
        pid = scene.one(self, "ready(); stay()")
        process = api.Context().open(pid)
        for number in (-1, 65, 1000, 2**31 - 1):
            self.refused("argument", call=lambda number=number: process.signal(number))
        for nice in (-21, 20, 2**31 - 1, -(2**31)):
            self.refused("argument", call=lambda nice=nice: process.set_nice(nice))
        for io_class, level in (("idle", 1), ("none", 1), ("best_effort", 8), ("best_effort", -1),
                                ("realtime", 8)):
            self.refused("argument", call=lambda c=io_class, n=level: process.set_io_priority(c, n))
        self.refused("argument", 4095, call=lambda: process.set_affinity([0, 4095]))
        self.refused("argument", "nofiles",
                     call=lambda: process.set_limit("nofiles", 10, 10))
        self.refused("argument", call=lambda: process.set_limit("nofile", 11, 10))
        self.refused("argument", call=lambda: process.set_limit("", 10, 10))
        # And nothing was changed.
        self.assertEqual(os.getpriority(os.PRIO_PROCESS, pid), os.getpriority(os.PRIO_PROCESS, 0))
        self.assertEqual(os.sched_getaffinity(pid), os.sched_getaffinity(0))
        self.assertEqual(theirs.limits(pid), theirs.limits("self"))

    def test_no_permission(self):
        """As nobody on a process of root: what is world-readable comes, the rest says denied."""
        words = scene.place_or_skip(self, "nobody")
        found = scene.run_there(words, "stranger.py", scene.one(self, scene.FILES))
        for call, told in found["calls"].items():
            with self.subTest(call=call):
                self.assertEqual(told["code"], "denied", told)
                self.assertIn(found["pid"], told["message"])
        self.assertEqual(found["read"]["uid"], 0)
        self.assertEqual(set(found["denied"]),
                         {"executable", "working_directory", "root_directory", "read_bytes",
                          "written_bytes", "pss_bytes", "uss_bytes"})
        self.assertEqual(found["states"], {"descriptor": "denied", "mapping": "denied",
                                           "environment": "denied", "limit": "have",
                                           "thread": "have"})

    def test_a_hidden_process_is_denied(self):
        """hidepid=2: /proc has nothing of it, and psutil says that it is gone; the kernel knows it."""
        words = scene.place_or_skip(self, "hidepid_2")
        code = ("import api\ntry: api.Context().open(1)\n"
                "except api.Failure as failure: print(failure.code)")
        self.assertEqual(scene.python_there(words, "-c", code).strip(), "denied")

    def test_no_such_proc(self):
        with self.assertRaises(Failure) as caught:
            api.Context(proc_root="/no/such/folder")
        self.assertEqual(caught.exception.code, "gone")
        self.assertEqual(caught.exception.detail, errno.ENOENT)


if __name__ == "__main__":
    unittest.main()
