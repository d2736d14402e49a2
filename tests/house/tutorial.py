"""The ten programs of docs/tutorial.md: each compiles as a user compiles it, without a warning, is short, and prints
what the document says.
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("VITALS_SOURCE", pathlib.Path(__file__).parents[2]))
LIBRARY = pathlib.Path(os.environ.get("VITALS_LIBRARY", SOURCE / "build/libvitals.so"))
PROGRAMS = sorted((SOURCE / "examples/tutorial").glob("*.c*"))
FLAGS = ("-Wall", "-Wextra", "-pedantic", "-Werror", "-I", SOURCE / "include")
DEADLINE = 120


def command(*words, **options):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, timeout=DEADLINE,
                          **options)


class Tutorial(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)

    def printed(self, name, *arguments, code=0):
        """What a program prints, compiled as the tutorial says."""
        source = next(path for path in PROGRAMS if path.stem == name)
        compiler, standard = ("c++", "-std=c++17") if source.suffix == ".cpp" else ("cc", "-std=c11")
        if shutil.which(compiler) is None:
            self.skipTest(f"no {compiler} here")
        program = self.folder / name
        done = command(compiler, standard, *FLAGS, source, "-o", program, LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        done = command(program, *arguments)
        self.assertEqual((done.returncode, done.stderr), (code, ""))
        return done.stdout

    def test_each_is_in_the_document_and_short(self):
        text = (SOURCE / "docs/tutorial.md").read_text()
        self.assertEqual(re.findall(r"<!-- examples/tutorial/(\S+) -->", text), [path.name for path in PROGRAMS])
        self.assertEqual(len(PROGRAMS), 10)
        for path in PROGRAMS:
            self.assertLessEqual(len(path.read_text().splitlines()), 43, path.name)

    def test_each_is_tested(self):
        tested = "".join(name for name in dir(self) if name.startswith("test_"))
        for path in PROGRAMS:
            self.assertIn(f"test_{path.stem}", tested)

    def test_01_snapshot(self):
        self.assertRegex(self.printed("01_snapshot"), r"\Aavailable  [\d.]+[KMGT]iB\nup for     [\d:.a-z ]+\n\Z")

    def test_02_process(self):
        sleeper = subprocess.Popen(["sleep", "1000"])
        try:
            said = self.printed("02_process", sleeper.pid)
        finally:
            sleeper.kill()
            sleeper.wait()
        self.assertRegex(said, r"\Aresident  [\d.]+[KM]iB\ncommand   sleep 1000\n\Z")

    def test_03_top(self):
        busy = subprocess.Popen(["sh", "-c", "while :; do :; done"])
        try:
            said = self.printed("03_top")
        finally:
            busy.kill()
            busy.wait()
        self.assertRegex(said, r"(?m)^ *\d+\.\d %  sh$")

    def test_04_gpus(self):
        said = self.printed("04_gpus", "--demo")
        self.assertRegex(said, r"(?m)^GPU 0     [\d.]+GiB used\n    pid \d+  [\d.]+[MG]iB$")
        self.assertRegex(said, r"(?m)^GPU 1:0 ")

    def test_05_tree(self):
        shell = subprocess.Popen(["sh", "-c", "sleep 1000 & echo up; wait"], stdout=subprocess.PIPE, text=True,
                                 start_new_session=True)
        try:
            shell.stdout.readline()
            said = self.printed("05_tree", shell.pid)
        finally:
            os.killpg(shell.pid, signal.SIGKILL)
            shell.stdout.close()
            shell.wait()
        self.assertRegex(said, rf"\A{shell.pid} sh\n  \d+ (sleep|sh)\n\Z")

    def test_06_wait(self):
        lines = self.printed("06_wait").splitlines()
        self.assertEqual(sorted(lines[:3]), ["exit 0", "exit 1", "exit 2"])
        self.assertEqual(lines[3:], ["0 still run"])

    def test_07_run(self):
        said = self.printed("07_run", "sh", "-c", "exit 3", code=3)
        self.assertRegex(said, r"\Awall_seconds +\d+\.\d{3} seconds  \S")
        self.assertRegex(said, r"(?m)^cpu_seconds +\d+\.\d{3} seconds  \S")

    def test_08_windows(self):
        said = self.printed("08_windows")
        self.assertRegex(said, r"\Aload   \d+\.\d{3} s of CPU in \d+\.\d{3} s\ntrain  \d+\.\d{3} s of CPU in .* s\n\Z")

    def test_09_sampler(self):
        self.assertRegex(self.printed("09_sampler"), r"\A(\d+\.\d\d CPUs busy\n)+\Z")

    def test_10_raii(self):
        self.assertEqual(self.printed("10_raii"), f"{os.cpu_count()} CPUs\n")

    def test_what_is_wrong_is_said(self):
        self.printed("02_process", os.getpid())
        done = command(self.folder / "02_process")
        self.assertEqual((done.returncode, done.stderr), (1, "usage: 02_process PID\n"))


if __name__ == "__main__":
    unittest.main()
