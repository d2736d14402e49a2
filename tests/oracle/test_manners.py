"""How the library behaves inside someone else's process: its threads, what may be freed and when, what it says of a
/proc that is none, and the file system of a path."""

import os
import pathlib
import re
import signal
import tempfile
import threading
import time
import unittest

import psutil

import api
from api import ffi, lib

HEADERS = api.SOURCE / "include/vitals"
SETS = {
    "VITALS_SET_MACHINE": {"vitals-machine"},
    "VITALS_SET_FILESYSTEMS": {"vitals-mounts"},
    "VITALS_SET_SENSORS": {"vitals-sensors"},
    "VITALS_SET_PROCESSES": {"vitals-files"},
    "VITALS_SET_GPUS": {"vitals-gpu"},
    "VITALS_SET_SOURCES": set(),
}
NEVER_BLOCKED = {signal.SIGKILL, signal.SIGSTOP}
# A thread's own fault raises these: blocked, the kernel would end the process without its handler.
FAULTS = {signal.SIGILL, signal.SIGTRAP, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV, signal.SIGSYS}


def threads():
    """{name: signals that it blocks} of the threads of the library in this process."""
    found = {}
    for task in pathlib.Path("/proc/self/task").iterdir():
        try:
            name, status = (task / "comm").read_text().strip(), (task / "status").read_text()
        except OSError:
            continue  # it has ended
        if name.startswith("vitals-"):
            mask = int(re.search(r"SigBlk:\s*(\w+)", status)[1], 16)
            found[name] = {number for number in range(1, 32) if mask >> (number - 1) & 1}
    return found


class Threads(unittest.TestCase):
    def documented(self):
        text = (HEADERS / "sampler.h").read_text()
        return set(re.findall(r"^ \*     (vitals-\w+)  ", text, re.MULTILINE))

    def test_each_set_starts_those_that_the_header_lists(self):
        listed = self.documented()
        self.assertGreaterEqual(len(listed), 10)
        for name, expected in SETS.items():
            with self.subTest(name):
                sampler = api.Context(backends="demo").sampler(sets=getattr(lib, name))
                snapshot = sampler.take()
                found = threads()
                self.assertTrue(snapshot)
                self.assertGreaterEqual(set(found), expected)
                self.assertLessEqual(set(found), listed)
                del snapshot, sampler

    def test_they_block_all_signals_but_those_of_faults(self):
        sampler = api.Context(backends="demo").sampler(sets=lib.VITALS_SET_EVERYTHING)
        api.call(lib.vitals_sampler_start, sampler.pointer)
        # A thread that begins has blocked all of them for a moment.
        expected, until = set(range(1, 32)) - NEVER_BLOCKED - FAULTS, time.monotonic() + 60
        while any(blocked != expected for blocked in threads().values()) and time.monotonic() < until:
            time.sleep(0.01)
        found = threads()
        self.assertIn("vitals-tick", found)
        for name, blocked in found.items():
            with self.subTest(name):
                self.assertEqual(blocked, expected)
        lib.vitals_sampler_stop(sampler.pointer)


class Lives(unittest.TestCase):
    def test_every_free_accepts_null(self):
        functions = re.findall(r"\bvoid (vitals_\w+_(?:free|close|unref))\((?!void\))[^,;]*\);", api.DECLARATIONS)
        self.assertGreater(len(functions), 10)
        for name in functions:
            with self.subTest(name):
                getattr(lib, name)(ffi.NULL)

    def test_every_free_says_so(self):
        for header in HEADERS.rglob("*.h"):
            for comment, declarations in re.findall(r"/\*((?:(?!\*/).)*)\*/\n((?:VITALS_API[^;]*;\n)+)",
                                                    header.read_text(), re.DOTALL):
                if name := re.search(r"\b(vitals_\w+_(?:free|close|unref))\(", declarations):
                    with self.subTest(name[1]):
                        self.assertRegex(comment, r"[Aa]ccepts[\s*]+NULL")

    def test_a_context_may_be_freed_first(self):
        error = ffi.new("vitals_error *")
        options = ffi.new("vitals_options *")
        lib.vitals_options_init(options, ffi.sizeof("vitals_options"))
        backends = ffi.new("char[]", b"demo")
        options.backends = backends
        context, request = ffi.new("vitals_context **"), ffi.new("vitals_request **")
        self.assertEqual(lib.vitals_context_new(options, context, error), 0)
        self.assertEqual(lib.vitals_request_new(lib.VITALS_SET_EVERYTHING, request, error), 0)
        sampler, process = ffi.new("vitals_sampler **"), ffi.new("vitals_process **")
        self.assertEqual(lib.vitals_sampler_new(context[0], request[0], sampler, error), 0)
        self.assertEqual(lib.vitals_process_open(context[0], os.getpid(), process, error), 0)
        lib.vitals_context_free(context[0])
        for _ in range(2):
            snapshot = ffi.new("vitals_snapshot **")
            self.assertEqual(lib.vitals_sampler_take(sampler[0], snapshot, error), 0)
            self.assertGreater(lib.vitals_snapshot_count(snapshot[0], lib.VITALS_TABLE_PROCESS), 1)
            lib.vitals_snapshot_unref(snapshot[0])
        snapshot = ffi.new("vitals_snapshot **")
        self.assertEqual(lib.vitals_process_ask(process[0], request[0], snapshot, error), 0)
        lib.vitals_snapshot_unref(snapshot[0])
        lib.vitals_sampler_free(sampler[0])
        lib.vitals_process_close(process[0])
        lib.vitals_request_free(request[0])


class NoProc(unittest.TestCase):
    def test_a_folder_without_processes_is_no_table_of_none(self):
        with tempfile.TemporaryDirectory() as folder:
            context = api.Context(proc_root=folder)
            snapshot = context.sampler(sets=lib.VITALS_SET_PROCESSES | lib.VITALS_SET_MACHINE).take()
            self.assertEqual((snapshot.state("process"), snapshot.rows("process")), ("failed", []))
            self.assertEqual(snapshot.one("host").state("processes"), "failed")


class Paths(unittest.TestCase):
    def of(self, path):
        return api.Snapshot(api.take_out("vitals_snapshot", lib.vitals_filesystem_of, api.Context().pointer,
                                         os.fsencode(path))).one("filesystem")

    def mount_of(self, path):
        """What the kernel says of the mount that an open file lies on."""
        opened = os.open(path, os.O_PATH)
        try:
            number = re.search(r"mnt_id:\s*(\d+)", pathlib.Path(f"/proc/self/fdinfo/{opened}").read_text())[1]
        finally:
            os.close(opened)
        for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
            words = line.split(" ")
            if words[0] == number:
                return words[4], words[words.index("-") + 1]
        return None

    def test_any_path(self):
        with tempfile.TemporaryDirectory() as folder:
            link = os.path.join(folder, "link")
            os.symlink("/proc/self", link)
            for path in ("/", "/tmp", "/proc", "/sys", "/dev/null", "/dev/shm", folder, link, ".", __file__):
                if not os.path.exists(path):
                    continue
                with self.subTest(path):
                    found, space = self.of(path), os.statvfs(path)
                    self.assertEqual(found["total_bytes"], space.f_blocks * space.f_frsize)
                    if mount := self.mount_of(path):
                        self.assertEqual((os.fsdecode(found["mount_point"]), found["type"].decode()), mount)
                        self.assertRegex(found["options"], rb"\Ar[wo]")

    def test_the_space_is_psutils(self):
        for _ in range(20):  # others write meanwhile
            theirs, ours, again = psutil.disk_usage("/tmp"), self.of("/tmp"), psutil.disk_usage("/tmp")
            if theirs == again:
                break
        self.assertEqual((ours["total_bytes"], ours["used_bytes"], ours["available_bytes"]),
                         (theirs.total, theirs.used, theirs.free))

    def test_what_is_not_there(self):
        with self.assertRaises(api.Failure) as caught:
            self.of("/no/such/path")
        self.assertEqual(caught.exception.code, "gone")
        self.assertIn("/no/such/path", caught.exception.message)


class Signals(unittest.TestCase):
    def test_a_sampler_changes_no_handler(self):
        def caught():
            status = pathlib.Path(f"/proc/self/task/{threading.get_native_id()}/status").read_text()
            return re.findall(r"Sig(?:Blk|Ign|Cgt):\s*(\w+)", status)
        before = caught()
        sampler = api.Context(backends="demo").sampler(sets=lib.VITALS_SET_EVERYTHING)
        self.assertTrue(sampler.take())
        self.assertEqual(caught(), before)


if __name__ == "__main__":
    unittest.main()
