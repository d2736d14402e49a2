"""The program `scope`, and a run that it counts, before a manager that this test plays: the bus and
systemd in one, as far as StartTransientUnit needs them (the D-Bus specification, Message Protocol)."""

import json
import os
import pathlib
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest

from harness import VITALS, environment, vitals

SCOPE = pathlib.Path(VITALS).parent / "scope"
HELLO, START = "Hello", "StartTransientUnit"


class Reader:
    """A message's bytes, little endian, as its signature says."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def align(self, size):
        self.at += -self.at % size

    def number(self, form):
        size = struct.calcsize(form)
        self.align(size)
        value, = struct.unpack_from("<" + form, self.data, self.at)
        self.at += size
        return value

    def string(self, form="I"):
        size = self.number(form)
        text = self.data[self.at:self.at + size].decode()
        self.at += size + 1
        return text

    def array(self, alignment, read):
        size = self.number("I")
        self.align(alignment)
        end, values = self.at + size, []
        while self.at < end:
            values.append(read())
        return values

    def variant(self):
        form = self.string("B")
        if form == "au":
            return self.array(4, lambda: self.number("I"))
        return {"b": lambda: bool(self.number("I")), "t": lambda: self.number("Q"),
                "u": lambda: self.number("I"), "g": lambda: self.string("B")}.get(form, self.string)()

    def property(self):
        self.align(8)
        return self.string(), self.variant()

    def field(self):
        self.align(8)
        return self.number("B"), self.variant()


def reply(serial, to, kind, text):
    """A method's return with one string, or an object's path."""
    body = struct.pack("<I", len(text)) + text.encode() + b"\0"
    fields = struct.pack("<BB1sxI", 5, 1, b"u", to) + struct.pack("<BB1sxB1sx", 8, 1, b"g", 1, kind)
    head = struct.pack("<cBBBIII", b"l", 2, 1, 1, len(body), serial, len(fields)) + fields
    return head + bytes(-len(head) % 8) + body


class Manager(threading.Thread):
    """Takes one connection at a time and answers Hello and StartTransientUnit, whose arguments it
    hands to `start`. With answers=False it is silent."""

    def __init__(self, path, start=lambda name, properties: None, answers=True):
        super().__init__(daemon=True)
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(str(path))
        self.server.listen()
        self.begin, self.answers = start, answers
        self.calls, self.errors = [], []

    def run(self):
        while True:
            try:
                connection = self.server.accept()[0]
            except OSError:
                return
            with connection:
                try:
                    self.serve(connection)
                except Exception as error:  # pylint: disable=broad-except
                    self.errors.append(error)

    def serve(self, connection):
        stream = connection.makefile("rb")
        while (line := stream.readline()) and line != b"BEGIN\r\n":
            word = line.lstrip(b"\0").split()[0]
            answer = {b"AUTH": b"DATA\r\n", b"DATA": b"OK " + b"1" * 32 + b"\r\n",
                      b"NEGOTIATE_UNIX_FD": b"AGREE_UNIX_FD\r\n"}[word]
            connection.sendall(answer)
        serial = 0
        while head := stream.read(16):
            _, _, _, _, size, number, fields = struct.unpack("<cBBBIII", head)
            rest = stream.read(fields + -fields % 8 + size)
            header = Reader(head + rest, 12)
            member = dict(header.array(8, header.field))[3]
            header.align(8)
            if not self.answers:
                continue
            serial += 1
            if member == HELLO:
                connection.sendall(reply(serial, number, b"s", ":1.7"))
            elif member == START:
                name, mode = header.string(), header.string()
                properties = dict(header.array(8, header.property))
                self.calls.append((name, mode, properties))
                self.begin(name, properties)
                connection.sendall(reply(serial, number, b"o", "/org/freedesktop/systemd1/job/7"))


def mount():
    """Where version 2 of cgroups is, if we may make one there; else None."""
    if os.geteuid() == 0:
        for line in pathlib.Path("/proc/self/mounts").read_text().splitlines():
            if line.split()[2] == "cgroup2":
                return pathlib.Path(line.split()[1])
    return None


@unittest.skipUnless(SCOPE.exists(), "built without libsystemd")
class Scope(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "systemd").mkdir()
        self.path = self.folder / "bus"
        self.environment = {"XDG_RUNTIME_DIR": str(self.folder),
                            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={self.path}"}

    def manager(self, **how):
        manager = Manager(self.path, **how)
        manager.start()
        self.addCleanup(manager.server.close)
        return manager

    def ask(self, *arguments):
        return subprocess.run([SCOPE, *arguments], env=environment(**self.environment), timeout=60,
                              capture_output=True, check=False)

    def test_it_says_which_processes_and_how_much_they_may_use(self):
        manager = self.manager()
        done = self.ask("vitals-7.scope", "1048576", "99", "4000000", "5")
        self.assertEqual((done.returncode, done.stdout, done.stderr, manager.errors), (0, b"", b"", []))
        on = {"Delegate", "CPUAccounting", "MemoryAccounting", "TasksAccounting", "IOAccounting"}
        self.assertEqual(manager.calls, [("vitals-7.scope", "fail", {
            "PIDs": [4000000, 5], "MemoryMax": 1048576, "TasksMax": 99, **dict.fromkeys(on, True)})])

    def test_no_limit_is_none(self):
        manager = self.manager()
        self.assertEqual(self.ask("vitals-7.scope", "0", "0", "5").returncode, 0)
        self.assertEqual({"MemoryMax", "TasksMax"} & set(manager.calls[0][2]), set())

    def test_it_does_not_wait_for_a_manager_that_hangs(self):
        self.manager(answers=False)
        begin = time.monotonic()
        self.assertNotEqual(self.ask("vitals-7.scope", "0", "0", "5").returncode, 0)
        self.assertLess(time.monotonic() - begin, 30)

    def test_without_a_bus_it_fails(self):
        self.assertNotEqual(self.ask("vitals-7.scope", "0", "0", "5").returncode, 0)

    def run_true(self):
        path = self.folder / "account.json"
        done = vitals("run", "-q", "--json", path, "--rungs", "systemd", "--", "true",
                      env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(path.read_text())["attributes"]["rungs"]

    def test_a_run_without_an_answer_is_counted_by_others(self):
        self.manager(answers=False)
        methods = self.run_true().split()
        self.assertIn("wait4", methods)
        self.assertNotIn("systemd", methods)

    def test_a_run_asks_for_its_command(self):
        groups = mount()
        if groups is None:
            self.skipTest("no cgroup can be made")

        def make(name, properties):
            group = groups / name
            group.mkdir()
            self.addCleanup(lambda: group.exists() and group.rmdir())
            for pid in properties["PIDs"]:
                (group / "cgroup.procs").write_text(str(pid))

        manager = self.manager(start=make)
        methods = self.run_true().split()
        self.assertEqual(len(manager.calls), 1, manager.errors)
        name, _, properties = manager.calls[0]
        self.assertEqual(name, f"vitals-{properties['PIDs'][0]}.scope")
        self.assertIn("wait4", methods)  # on a busy machine systemd may be too late, and is not named


if __name__ == "__main__":
    unittest.main()
