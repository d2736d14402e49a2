"""`vitals info`: everything about a process, for a person and as JSON; and what it says where it cannot."""

import contextlib
import json
import os
import pathlib
import re
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import jsonschema
from cast import Cast, ordinary
from harness import BUILD, NO_HOME, SANITIZED, SOURCE, VITALS, environment, started, vitals

SCHEMA = json.loads((SOURCE / "docs" / "schema" / "snapshot.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
TABLES = ("Threads", "Open files", "Sockets", "Limits")


def catalogue(table):
    document = json.loads(vitals("metrics", "--json").stdout)
    found = next(one for one in document["tables"] if one["name"] == table)
    return [metric["name"] for metric in found["metrics"]]


def sections(text):
    """Title -> lines."""
    found, title = {}, None
    for line in text.splitlines():
        if line and not line.startswith(" "):
            title = line
            found[title] = []
        elif line:
            found[title].append(line)
    return found


class Person(unittest.TestCase):
    def test_tells_what_the_process_knows_of_itself(self):
        with tempfile.NamedTemporaryFile() as file, socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            result = vitals("info", os.getpid())
            port = str(listener.getsockname()[1])
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        found = sections(result.stdout)
        text = result.stdout
        self.assertRegex(text, rf"(?m)^{os.getpid()}  .*python")
        self.assertRegex(text, rf"(?m)^  parent pid +{os.getppid()}$")
        self.assertRegex(text, rf"(?m)^  working directory +{re.escape(os.getcwd())}$")
        self.assertRegex(text, rf"(?m)^  executable +{re.escape(os.path.realpath(sys.executable))}$")
        self.assertTrue(any(file.name in line for line in found["Open files"]))
        self.assertTrue(any(port in line and "listen" in line for line in found["Sockets"]))
        nofile = next(line for line in found["Limits"] if "nofile" in line).split()
        self.assertEqual(int(nofile[1]), resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        for title in TABLES:
            self.assertIn(title, found)

    def test_bytes_are_short_and_exact(self):
        line = re.search(r"(?m)^  resident +(.*)$", vitals("info", os.getpid()).stdout)[1]
        short, exact = line.split()[:2]
        self.assertRegex(short, r"^[0-9.]+[KMG]$")
        self.assertEqual(int(exact) % 4096, 0)

    def test_what_is_missing_says_why(self):
        text = vitals("info", os.getpid()).stdout
        self.assertIn("N/A", text)
        for line in text.splitlines():
            if "N/A" in line:
                self.assertRegex(line, r"^  N/A +[^:]+: \w+")

    def test_descriptors_of_which_nothing_is_known_are_one_line(self):
        done = vitals("info", "--json", 1)
        rows = json.loads(done.stdout)["tables"].get("descriptor", [])
        if not rows or any(row["type"] is not None for row in rows):
            self.skipTest("what process 1 has open can be read, or not even counted")
        lines = sections(vitals("info", 1).stdout)["Open files"]
        self.assertEqual(len(lines), 1)
        self.assertRegex(lines[0], rf"^  \d+, of which nothing is known: \w")

    def test_the_environment_only_for_who_asks(self):
        child = started(["sleep", "600"], env={"PATH": os.environ["PATH"], "VITALS_SECRET": "a\nb"})
        try:
            self.assertNotIn("VITALS_SECRET", vitals("info", child.pid).stdout)
            self.assertNotIn("VITALS_SECRET", vitals("info", "--json", child.pid).stdout)
            text = vitals("info", "--environment", child.pid).stdout
            self.assertRegex(text, r"VITALS_SECRET +a\\nb")
            self.assertIn("VITALS_SECRET", vitals("info", "--json", "-e", child.pid).stdout)
        finally:
            child.kill()
            child.wait()

    def test_every_metric_has_its_place(self):
        """One that a section forgot stands under More, where it should not stay."""
        self.assertNotIn("More", sections(vitals("info", os.getpid()).stdout))

    def test_several_and_one_that_is_not_there(self):
        child = subprocess.Popen(["true"])
        child.wait()
        result = vitals("info", os.getpid(), child.pid, os.getppid())
        self.assertEqual(result.returncode, 1)
        self.assertEqual(re.findall(r"(?m)^(\d+)  ", result.stdout),
                         [str(os.getpid()), str(os.getppid())])
        self.assertIn(f"no process has the pid {child.pid}", result.stderr)

    def test_a_kernel_thread_and_a_zombie(self):
        zombie = subprocess.Popen(["true"])
        os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
        try:
            result = vitals("info", zombie.pid)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("[true] <defunct>", result.stdout.splitlines()[0])
        finally:
            zombie.wait()
        if "kthreadd" in vitals("ps", "-p", 2, "-o", "comm=").stdout:
            result = vitals("info", 2)
            self.assertEqual((result.returncode, result.stdout.splitlines()[0]),
                             (0, "2  [kthreadd]"))

    def test_a_terminal_gets_no_line_that_is_too_wide(self):
        if shutil.which("script") is None:
            self.skipTest("no script(1)")
        child = started([b"x" * 700, b"600"], executable="/bin/sleep")
        try:
            for width in (79, 200):
                done = subprocess.run(
                    ["script", "-qec", f"stty cols {width}; {VITALS} info {child.pid}", "/dev/null"],
                    capture_output=True, timeout=60, check=False, stdin=subprocess.DEVNULL,
                    env=environment(TERM="xterm", LC_ALL="C.UTF-8"))
                text = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout.decode())
                self.assertIn("Limits", text)
                for line in text.splitlines():
                    if "N/A" not in line and "  (" not in line:
                        self.assertLessEqual(len(line), width, line)
        finally:
            child.kill()
            child.wait()

    def test_a_hostile_name_stays_in_its_line(self):
        child = started([b"a\n\nLimits\n\x1b[31m\xff", b"600"], executable="/bin/sleep")
        try:
            for more in ((), ("--ascii",), ("--force-color",)):
                text = vitals("info", child.pid, *more, errors="strict",
                              env={"LC_ALL": "C.UTF-8"}).stdout
                plain = re.sub(r"\x1b\[[0-9]*m", "", text)
                self.assertNotRegex(plain, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")
                self.assertEqual(plain.count("\nLimits\n"), 1)
        finally:
            child.kill()
            child.wait()


class Json(unittest.TestCase):
    def test_holds_everything(self):
        text = vitals("info", "--json", os.getpid()).stdout
        self.assertEqual(text.count("\n"), 1)
        document = json.loads(text)
        VALIDATOR.validate(document)
        self.assertEqual(document["columns"]["process"], sorted_as_catalogue())
        self.assertEqual(len(document["tables"]["process"]), 1)
        for table in ("thread", "descriptor", "socket", "limit", "mapping", "mapped_file"):
            self.assertIn(table, document["tables"])
        self.assertEqual(document["tables"]["process"][0]["pid"], os.getpid())
        threads = {row["tid"] for row in document["tables"]["thread"]}
        self.assertIn(os.getpid(), threads)

    def test_a_line_for_each(self):
        text = vitals("info", "--json", os.getpid(), os.getppid()).stdout
        pids = [json.loads(line)["tables"]["process"][0]["pid"] for line in text.splitlines()]
        self.assertEqual(pids, [os.getpid(), os.getppid()])


class Waiting(unittest.TestCase):
    """A process that holds the lock of its memory, by held_memory.c."""

    def test_shows_what_it_can_and_says_that_it_waits(self):
        if SANITIZED:
            self.skipTest("a sanitizer wants to be loaded first")
        pid = os.getpid()
        with tempfile.TemporaryDirectory() as folder:
            pipe = pathlib.Path(folder) / "held"
            os.mkfifo(pipe)
            asked = subprocess.Popen(
                [VITALS, "info", str(pid)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True,
                env=environment(HELD_MEMORY=pipe,
                                LD_PRELOAD=(BUILD / "tests/command/held_memory.so").resolve()))
            try:
                self.assertEqual(asked.stderr.readline(),
                                 f"vitals: reading the memory of process {pid} takes long; "
                                 "waiting (Ctrl-C ends)\n")
                first = os.read(asked.stdout.fileno(), 1 << 20).decode()
                threading.Thread(target=self.release, args=(pipe, asked)).start()
                second = asked.communicate(timeout=30)[0]
            finally:
                asked.kill()
                asked.communicate()
        self.assertEqual(asked.returncode, 0)
        for part in (first, second):
            self.assertRegex(part, rf"(?m)^  parent pid +{os.getppid()}$")
        self.assertRegex(first, r"(?m)^  N/A +command line,.*: not read yet$")
        self.assertRegex(second, r"(?m)^  command line +\S*python")

    def release(self, pipe, asked):
        """Whoever waits for it, once or again."""
        while asked.poll() is None:
            with contextlib.suppress(OSError):
                os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
            time.sleep(0.001)


def sorted_as_catalogue():
    document = json.loads(vitals("metrics", "--json").stdout)
    table = next(one for one in document["tables"] if one["name"] == "process")
    return [m["name"] for m in sorted(table["metrics"], key=lambda metric: metric["number"])]


class Mistakes(unittest.TestCase):
    def test_words_that_are_no_pid(self):
        for word in ("python", "0", "-7", "", "12.5", "0x10", "4194305", "99999999999999999999"):
            result = vitals("info", word)
            self.assertEqual((result.returncode, result.stdout), (2, ""), word)
            self.assertIn(f'"{word}" is not a pid; give a whole number from 1 to 4194304',
                          result.stderr)

    def test_an_interval_is_not_for_it(self):
        for command in ("info", "kill"):
            result = vitals(command, "--interval", "2", os.getpid())
            self.assertEqual((result.returncode, result.stdout), (2, ""), command)
            self.assertIn(f"--interval does not go with vitals {command}", result.stderr)

    def test_no_word(self):
        result = vitals("info")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("info: no pid", result.stderr)

    def test_a_thread_is_told_with_its_process(self):
        cast = Cast()
        self.addCleanup(cast.close)
        cast.add("threads", """
threading.Thread(target=threading.Event().wait, daemon=True).start()
tid = next(int(t) for t in os.listdir("/proc/self/task") if int(t) != os.getpid())
print(tid, os.getpid(), flush=True)
stay()
""")
        pid = cast.pids["threads"]
        tid = next(int(word) for word in os.listdir(f"/proc/{pid}/task") if int(word) != pid)
        for command in ("info", "ps", "kill"):
            result = vitals(command, tid)
            self.assertEqual((result.returncode, result.stderr.count("\n") >= 1), (1, True), command)
            self.assertIn(str(tid), result.stderr)
            self.assertIn(str(pid), result.stderr, command)

    def test_an_ordinary_user_sees_what_he_may(self):
        words = ordinary(self)
        done = subprocess.run([*words, VITALS, "info", str(os.getpid())], capture_output=True,
                              text=True, check=False, timeout=60,
                              env=environment(HOME=NO_HOME))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"(?m)^  N/A +executable, .*: no permission$")
        self.assertRegex(done.stdout, rf"(?m)^  parent pid +{os.getppid()}$")


if __name__ == "__main__":
    unittest.main()
