"""The report of now: what it must look like, from snapshots in files, so that nothing moves.

The golden texts are the specification. After a change that is meant to be seen:

    VITALS_WRITE_GOLDEN=1 VITALS=build/vitals VITALS_SOURCE=. python3 tests/command/test_one_shot.py

and read the difference before it is committed. New inputs are made with `vitals --json --count 2`.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

VITALS = os.environ.get("VITALS", "vitals")
BUILD = pathlib.Path(os.environ.get("VITALS_BUILD", "build"))
SOURCE = pathlib.Path(os.environ.get("VITALS_SOURCE", pathlib.Path(__file__).parents[2]))
FOLDER = SOURCE / "tests" / "fixtures" / "report"
WRITE = os.environ.get("VITALS_WRITE_GOLDEN") == "1"

# input, columns, further arguments
CASES = [
    ("devices", 40, []),
    ("devices", 79, []),
    ("devices", 80, []),
    ("devices", 99, []),
    ("devices", 100, []),
    ("devices", 122, []),
    ("devices", 123, []),
    ("devices", 160, []),
    ("devices", 250, []),
    ("devices", 100, ["--ascii"]),
    ("devices", 123, ["--ascii"]),
    ("devices", 100, ["--force-color"]),
    ("devices", 100, ["-o", "1"]),
    ("devices", 100, ["-C"]),
    ("devices", 100, ["-g"]),
    ("devices", 100, ["-p", "4242", "4246"]),
    ("devices", 100, ["-u", "nobody"]),
    ("partitions", 79, []),
    ("partitions", 123, []),
    ("many", 160, []),
    ("work", 79, []),
    ("work", 109, []),
    ("work", 110, ["--ascii"]),
    ("work", 132, []),
    ("work", 132, ["-u", "cho"]),
    ("broken", 100, []),
    ("broken", 123, ["--force-color"]),
    ("host", 79, []),
    ("host", 100, []),
    ("host", 140, ["--ascii"]),
    ("hostile", 100, []),
    ("hostile", 100, ["--ascii"]),
    ("once", 100, []),
]


def report(name, columns, arguments, unicode=True, **variables):
    environment = {
        "PATH": os.environ["PATH"],
        "COLUMNS": str(columns),
        "TZ": "UTC",
        "HOME": "/proc/no-home",
        "LC_ALL": "C.UTF-8" if unicode else "C",
        **variables,
    }
    command = [VITALS, "-1", "--from", str(FOLDER / f"{name}.json"), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, timeout=30)


def plain(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


class Golden(unittest.TestCase):
    maxDiff = None

    def test_looks_as_it_must(self):
        for name, columns, arguments in CASES:
            label = "-".join([name, str(columns), *(word.strip("-") for word in arguments)])
            with self.subTest(label):
                done = report(name, columns, arguments)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stderr, b"")
                golden = FOLDER / "golden" / f"{label}.txt"
                if WRITE:
                    golden.parent.mkdir(exist_ok=True)
                    golden.write_bytes(done.stdout)
                self.assertEqual(done.stdout.decode(), golden.read_text())


class Shape(unittest.TestCase):
    def widths(self, part):
        return {len(line) for line in part.splitlines() if line and line[0] in "│├╞╘[╒"}

    def test_every_line_of_a_box_is_as_wide_as_the_box(self):
        # `devices` holds no wide characters, so a character is a column. Below 100 columns the device
        # table has its own width, the rest what there is.
        for columns in [79, 80, 99, *range(100, 161, 3), 250]:
            with self.subTest(columns):
                text = report("devices", columns, []).stdout.decode()
                devices, rest = text[text.index("╞") :].split("╛\n", 1)
                devices = self.widths(devices + "╛")
                rest = self.widths(rest)
                self.assertEqual(len(devices), 1, sorted(devices))
                self.assertEqual(len(rest), 1, sorted(rest))
                self.assertLessEqual(max(rest), columns)
                self.assertEqual(devices, {79} if columns < 100 else rest)

    def test_ascii_is_ascii(self):
        for name in ["devices", "hostile", "host", "partitions"]:
            for done in [report(name, 123, ["-U"]), report(name, 123, [], unicode=False)]:
                self.assertTrue(done.stdout.isascii(), name)

    def test_nothing_raw_reaches_the_terminal(self):
        for arguments in [[], ["--ascii"]]:
            text = report("hostile", 200, arguments).stdout
            controls = {byte for byte in text if (byte < 0x20 and byte != 0x0A) or byte == 0x7F}
            self.assertEqual(controls, set())
            self.assertNotRegex(text.decode(), "[\u0080-\u009f\u202a-\u202e\u2066-\u2069\u200b\ufeff]")

    def test_color_says_nothing_that_the_text_does_not(self):
        for name in ["devices", "broken", "host"]:
            colored = report(name, 123, ["--force-color"]).stdout.decode()
            self.assertIn("\x1b[", colored)
            self.assertEqual(plain(colored), report(name, 123, []).stdout.decode())

    def test_a_missing_device_is_told_and_the_rest_is_shown(self):
        done = report("devices", 100, ["-o", "0", "77"])
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"77", done.stderr)
        self.assertIn("H100", done.stdout.decode())

    def test_where_no_device_is_visible_the_reason_is_told(self):
        for visible in ("", "77", "-1", "GPU-nobody"):
            with self.subTest(visible):
                done = report("devices", 100, ["-ov"], CUDA_VISIBLE_DEVICES=visible)
                self.assertEqual(done.returncode, 0)
                self.assertIn("No GPU is visible (CUDA_VISIBLE_DEVICES).", done.stdout.decode())
                self.assertNotIn("H100", done.stdout.decode())
        done = report("devices", 100, ["-o", "77"], CUDA_VISIBLE_DEVICES="")
        self.assertIn("No GPU was chosen.", done.stdout.decode())

    def test_what_is_not_known_is_never_zero(self):
        # `broken` holds a device that is lost, which it says, and others that tell nothing.
        lines = report("broken", 79, []).stdout.decode().splitlines()
        for number, word in ((0, "lost"), (1, "N/A / N/A")):
            first = next(i for i, line in enumerate(lines) if line.startswith(f"│   {number} "))
            after = lines[first + 1]
            self.assertIn(f" {word} │", after)
            self.assertIn("N/A / N/A │", after)
            self.assertNotRegex(after, r"\b0(%|W|C|MiB|B)\b")

    def test_why_a_device_is_silent(self):
        for scenario, number, word in (("broken", 0, "lost"), ("ailing", 2, "asleep"), ("hang", 1, "no answer")):
            with self.subTest(scenario):
                text = subprocess.run([VITALS, "-1", f"--demo={scenario}", "--delay", "0"], timeout=60,
                                      env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "COLUMNS": "80",
                                           "HOME": "/proc/no-home"}, capture_output=True).stdout.decode()
                lines = text.splitlines()
                first = next(i for i, line in enumerate(lines) if line.startswith(f"│   {number} "))
                self.assertRegex(lines[first + 1], rf" {word} │")

    def test_how_busy_a_mig_device_is(self):
        """Below its device's utilization, and where it is not known BAR1 as before."""
        library = BUILD / "tests" / "nvml" / "r580" / "libnvidia-ml.so.1"
        if not library.exists():
            self.skipTest("this build has no simulated driver")
        for scenario, cells in (("mig-hopper", {"0:0": "     80% BAR1     N/A ",
                                                "0:1": "      0% BAR1     N/A "}),
                                ("mig", {"0:0": " BAR1: "})):
            path = SOURCE / "tests" / "nvml" / "scenarios" / f"{scenario}.conf"
            for width in ("79", "100", "130"):
                with self.subTest(scenario, width=width):
                    text = subprocess.run(
                        [VITALS, "-1", "--backends", "nvidia", "--nvml", library, "--width", width],
                        env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": "/proc/no-home",
                             "VITALS_NVML_SCENARIO": str(path)}, timeout=60,
                        capture_output=True).stdout.decode()
                    rows = {line.split()[1]: line.split("│")[3] for line in text.splitlines()
                            if "GI/CI" in line}
                    for label, cell in cells.items():
                        self.assertTrue(rows[label].startswith(cell), rows)

    def test_a_user_that_is_none(self):
        environment = {"PATH": os.environ["PATH"], "HOME": "/proc/no-home"}
        done = subprocess.run([VITALS, "-1", "-u", "nobody-is-called-so"], env=environment,
                              capture_output=True, timeout=30)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b'"nobody-is-called-so"', done.stderr)
        done = subprocess.run([VITALS, "-1", "--demo", "-u", "4000000001"], env=environment,
                              capture_output=True, timeout=30)
        self.assertEqual((done.returncode, done.stderr), (0, b""))  # a number may be a user's that has no name
        self.assertEqual(report("devices", 100, ["-u", "nobody-is-called-so"]).returncode, 0)

    def test_a_backslash_in_our_own_name(self):
        # Names of a Windows domain, as winbind gives them: before an n it reads as an escape.
        enter = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
        with tempfile.TemporaryDirectory() as folder:
            users = pathlib.Path(folder) / "passwd"
            users.write_text("CORP\\nina:x:0:0::/:/bin/sh\n")
            inside = [*enter, "sh", "-c", 'mount --bind "$0" /etc/passwd && exec "$@"', str(users)]
            if shutil.which("unshare") is None or \
                    subprocess.run([*inside, "true"], capture_output=True, check=False).returncode != 0:
                self.skipTest("a mount namespace is not permitted here")
            done = subprocess.run([*inside, VITALS, "-1", "-u", "--backends", "none", "--width", "100"],
                                  capture_output=True, timeout=60, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("No processes found", done.stdout)
        self.assertRegex(done.stdout, r"CORP\\\\nina@")

    def test_no_rate_without_a_second_reading(self):
        text = report("once", 100, []).stdout.decode()
        self.assertRegex(text, r"CPU: +N/A")


if __name__ == "__main__":
    unittest.main()
