"""`vitals doctor`: what is missing, why, and what would mend it: that it is found, that it can be read, and
that what would mend it can be pasted.

VITALS_WRITE_GOLDEN=1 writes the golden text anew, as test_one_shot.py says."""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

import jsonschema
from cast import ordinary
from harness import (FIXTURES, NO_HOME, SANITIZED, SOURCE, VITALS, environment, nvml, reads_json,
                     unpack, vitals)

SCHEMA = json.loads((SOURCE / "docs" / "schema" / "snapshot.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
SCENARIOS = SOURCE / "tests" / "nvml" / "scenarios"
HEADS = {"Problems": "problem", "Notices": "notice", "Good": "good"}
NOTHING = "0000000000000000"
WRITE = os.environ.get("VITALS_WRITE_GOLDEN") == "1"


def parts(text):
    """The severity -> what stands below its heading, as lines."""
    found, head = {}, None
    for line in text.splitlines():
        if line in HEADS:
            head = HEADS[line]
            found[head] = []
        elif line and line[0] == " ":
            found[head].append(line)
    return found


def remedies(lines):
    """The blocks that would mend something, as they would be pasted."""
    blocks, block = [], []
    for line in [*lines, ""]:
        if line.startswith(" " * 6) and not line.startswith(" " * 12):
            block.append(line)
        elif block:
            blocks.append("\n".join(block) + "\n")
            block = []
    return blocks


def commands(text):
    """What a shell would run: its words, line by line."""
    joined = text.replace("\\\n", " ")
    return [shlex.split(line, comments=True) for line in joined.splitlines()
            if shlex.split(line, comments=True)]


class Doctor(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.folder.chmod(0o755)
        unpack(FIXTURES / "gpu" / "doctor" / "machine.tree", self.folder)

    def roots(self):
        return [word for root in ("proc", "sys", "dev")
                for word in (f"--{root}-root", self.folder / root)]

    def ask(self, *arguments, backends="none", **options):
        """The text and the rows, which say the same; the exit code says whether all is well."""
        words = ("doctor", *self.roots(), "--backends", backends, *arguments)
        text = vitals(*words, **options)
        document = vitals(*words, "--json", **options)
        return self.check(text, document)

    def check(self, text, document):
        self.assertEqual((text.stderr, document.stderr), ("", ""))
        snapshot = json.loads(document.stdout)
        VALIDATOR.validate(snapshot)
        rows = snapshot["tables"]["diagnosis"]
        problems = [row for row in rows if row["severity"] == "problem"]
        self.assertEqual(text.returncode, 1 if problems else 0)
        self.assertEqual(document.returncode, text.returncode)
        self.assertLessEqual({row["severity"] for row in rows}, set(HEADS.values()))
        self.check_text(text.stdout, rows)
        return text.stdout, rows

    def check_text(self, text, rows):
        found = parts(text)
        self.assertEqual(list(found), [word for word in HEADS.values() if word in found])
        self.assertNotRegex(text, r"[\x00-\x09\x0b-\x1f\x7f]")
        for line in text.splitlines():
            self.assertLessEqual(len(line), 80, line)
        counts = [sum(row["severity"] == word for row in rows) for word in HEADS.values()]
        self.assertRegex(text.splitlines()[-1], r"^{} problems?, {} notices?, {} good$".format(*counts))
        for severity, lines in found.items():
            self.check_remedies(lines, [row for row in rows if row["severity"] == severity])

    def check_remedies(self, lines, rows):
        pasted = [words for block in remedies(lines) for words in commands(block)]
        meant, before = [], None
        for row in rows:  # what mends several that follow each other stands there once
            if row["remedy"] != before:
                meant += commands(row["remedy"])
            before = row["remedy"]
        self.assertEqual(sorted(pasted), sorted(meant))
        for row in rows:
            result = subprocess.run(["sh", "-n"], input=row["remedy"] + "\n", text=True,
                                    capture_output=True, check=False)
            self.assertEqual((result.returncode, result.stderr), (0, ""), row["remedy"])

    def row(self, rows, subject, severity):
        found = [row for row in rows if (row["subject"], row["severity"]) == (subject, severity)]
        self.assertEqual(len(found), 1, (subject, severity, rows))
        return found[0]


class Machine(Doctor):
    def put(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def status(self, capabilities, rest="NSpid:\t4242\n"):
        self.put("proc/4242/status", "Name:\tvitals\nUid:\t1000\t1000\t1000\t1000\n"
                 "Gid:\t1000\t1000\t1000\t1000\nGroups:\t44 1000 \n"
                 f"CapEff:\t{capabilities}\n{rest}")

    def test_nothing_is_missing(self):
        text, rows = self.ask()
        self.assertEqual({row["severity"] for row in rows}, {"good"})
        self.assertEqual(list(parts(text)), ["good"])
        self.assertTrue(all(row["remedy"] == "" for row in rows))

    def test_hidepid(self):
        self.status(NOTHING)
        self.put("proc/4242/mountinfo", "23 27 0:22 / /proc rw - proc proc rw,gid=26,hidepid=2\n")
        text, rows = self.ask()
        row = self.row(rows, "/proc", "problem")
        self.assertIn("other users' processes are not seen", row["finding"])
        self.assertIn(["sudo", "usermod", "-aG", "$(getent group 26 | cut -d: -f1)", "$USER"],
                      commands(row["remedy"]))
        self.assertLess(text.index("hidepid"), text.index("Notices"))

    def test_a_container(self):
        self.status("00000000a80425fb")
        path = self.folder / "proc/4242/ns/pid"
        path.unlink()
        path.symlink_to("pid:[4026532500]")
        _, rows = self.ask()
        self.assertIn("--pid=host", self.row(rows, "pid namespace", "notice")["remedy"])
        self.assertIn("--cap-add SYS_PTRACE",
                      self.row(rows, "others' processes", "notice")["remedy"])

    def test_windows(self):
        self.put("proc/sys/kernel/osrelease", "5.15.153.1-microsoft-standard-WSL2\n")
        _, rows = self.ask()
        self.assertIn("wsl.exe --update", self.row(rows, "Windows", "notice")["remedy"])

    def test_a_device_without_a_driver(self):
        (self.folder / "sys/bus/pci/devices/0000:17:00.0/driver").unlink()
        _, rows = self.ask()
        row = self.row(rows, "PCI, NVIDIA", "problem")
        self.assertIn(["sudo", "modprobe", "nvidia"], commands(row["remedy"]))

    def test_a_node_that_is_denied(self):
        prefix = ordinary(self)
        (self.folder / "dev/dri/renderD128").chmod(0)
        words = [*prefix, VITALS, "doctor", *map(str, self.roots()), "--backends", "none"]
        run = {"capture_output": True, "text": True, "check": False, "timeout": 30,
               "env": environment(HOME=NO_HOME, XDG_CONFIG_HOME=None)}
        _, rows = self.check(subprocess.run(words, **run),
                             subprocess.run([*words, "--json"], **run))
        row = self.row(rows, "render nodes", "notice")
        self.assertIn("/dev/dri/renderD128: permission denied", row["finding"])
        owned = os.stat(self.folder / "dev/dri/renderD128").st_gid == 0
        self.assertIn("sudo chgrp render" if owned else "stat -c %G /dev/dri/renderD128",
                      row["remedy"])

    def test_a_node_that_is_denied_in_a_container(self):
        prefix = ordinary(self)
        (self.folder / "dev/dri/renderD128").chmod(0)
        path = self.folder / "proc/4242/ns/pid"
        path.unlink()
        path.symlink_to("pid:[4026532500]")
        words = [*prefix, VITALS, "doctor", *map(str, self.roots()), "--backends", "none", "--json"]
        result = subprocess.run(words, capture_output=True, text=True, check=False, timeout=30,
                                env=environment(HOME=NO_HOME, XDG_CONFIG_HOME=None))
        rows = json.loads(result.stdout)["tables"]["diagnosis"]
        self.assertIn("--group-add $(stat -c %g /dev/dri/renderD128)",
                      self.row(rows, "render nodes", "notice")["remedy"])

    def test_the_same_remedy_stands_once(self):
        self.status(NOTHING)
        text, rows = self.ask()
        self.assertEqual(sum("setcap" in row["remedy"] for row in rows), 2)
        self.assertEqual(text.count("sudo setcap"), 1)

    def test_widths(self):
        self.status(NOTHING)
        self.put("proc/4242/mountinfo", "23 27 0:22 / /proc rw - proc proc rw,hidepid=2\n")
        for width in (79, 80, 100, 200):
            text = vitals("doctor", *self.roots(), "--backends", "none", "--width", width).stdout
            self.assertLessEqual(max(map(len, text.splitlines())), width)
        self.assertIn("lower bounds\n", text)

    def test_what_it_looks_like(self):
        """An ordinary user under hidepid, a driver that is missing, a GPU asleep. What installs a driver
        goes by the distribution that runs the test: no option leads elsewhere than /etc."""
        release = pathlib.Path("/etc/os-release")
        if not release.exists() or "\nID=debian\n" not in "\n" + release.read_text():
            self.skipTest("this is no Debian")
        self.status(NOTHING)
        self.put("proc/4242/mountinfo", "23 27 0:22 / /proc rw - proc proc rw,gid=26,hidepid=2\n")
        self.put("proc/4242/limits", "Max open files            64      128     files\n")
        (self.folder / "sys/bus/pci/devices/0000:17:00.0/driver").unlink()
        shutil.rmtree(self.folder / "proc/pressure")
        for address, status in (("0000:03:00.0", "active"), ("0000:04:00.0", "suspended")):
            place = f"sys/bus/pci/devices/{address}"
            self.put(f"{place}/class", "0x030000\n")
            self.put(f"{place}/vendor", "0x1002\n")
            self.put(f"{place}/power/runtime_status", f"{status}\n")
            (self.folder / place / "driver").symlink_to("../../../bus/pci/drivers/amdgpu")
        text, _ = self.ask()
        golden = FIXTURES / "gpu" / "doctor" / "troubled.txt"
        if WRITE:
            golden.write_text(text)
        self.assertEqual(text, golden.read_text())

    def test_colors_only_where_they_are_wanted(self):
        words = ("doctor", *self.roots(), "--backends", "none")
        self.assertNotIn("\x1b", vitals(*words, env={"TERM": "xterm"}).stdout)
        colored = vitals(*words, "--force-color").stdout
        self.assertIn("\x1b[", colored)
        self.assertEqual(re.sub(r"\x1b\[[0-9;]*m", "", colored), vitals(*words).stdout)

    def test_hostile_names(self):
        self.put("proc/sys/kernel/osrelease", "6.1\x1b[2J\n  evil  sudo reboot\n")
        path = self.folder / "sys/bus/pci/devices/0000:17:00.0/driver"
        path.unlink()
        path.symlink_to("drivers/nv\x1b]0;owned\x07\nsudo reboot")
        text, rows = self.ask()
        self.assertNotRegex(text, r"(?m)^ *sudo reboot")
        self.assertTrue(any("\x1b" in row["finding"] for row in rows))

    def test_nothing_is_good_that_could_not_be_read(self):
        """Without /proc and /sys: no line but those that were tried."""
        for name in ("proc", "sys"):
            shutil.rmtree(self.folder / name)
            (self.folder / name).mkdir()
        _, rows = self.ask()
        self.assertIn("cannot be listed", self.row(rows, "/proc", "problem")["finding"])
        good = {row["subject"]: row["finding"] for row in rows if row["severity"] == "good"}
        self.assertLessEqual(set(good), {"nvidia library", "reading processes"}, good)

    def test_no_sys(self):
        shutil.rmtree(self.folder / "sys")
        (self.folder / "sys").mkdir()
        _, rows = self.ask()
        self.assertIn(["sudo", "mount", "-t", "sysfs", "sysfs", "/sys"],
                      commands(self.row(rows, "/sys", "problem")["remedy"]))


class Driver(Doctor):
    def scenario(self, name, variant="r580"):
        library = nvml(variant)
        if not library.exists():
            self.skipTest("this build has no simulated driver")
        path = name if isinstance(name, pathlib.Path) else SCENARIOS / f"{name}.conf"
        return self.ask("--nvml", library, backends="nvidia",
                        env={"VITALS_NVML_SCENARIO": path})

    def test_a_driver_that_does_not_start(self):
        for name, command in (("init-driver-not-loaded", ["sudo", "modprobe", "nvidia"]),
                              ("init-version-mismatch", ["sudo", "reboot"]),
                              ("init-no-permission",
                               ["sudo", "usermod", "-aG", "$(stat -c %G /dev/nvidiactl)",
                                "$USER"])):
            with self.subTest(scenario=name):
                _, rows = self.scenario(name)
                row = self.row(rows, "nvidia driver", "problem")
                self.assertIn(command, commands(row["remedy"]))

    def test_a_driver_that_works(self):
        _, rows = self.scenario("two-healthy")
        self.assertEqual([row for row in rows if row["severity"] == "problem"], [])
        self.assertIn("2 devices", self.row(rows, "nvidia driver", "good")["finding"])

    def test_no_library(self):
        _, rows = self.ask("--nvml", self.folder / "nowhere.so", backends="nvidia")
        self.assertIn("nowhere.so", self.row(rows, "nvidia library", "problem")["finding"])

    @unittest.skipIf(SANITIZED, "a thread that is left in a driver is not freed")
    def test_a_driver_that_hangs(self):
        """It has no row of its own then, and everything else has."""
        library = nvml("r580")
        if not library.exists():
            self.skipTest("this build has no simulated driver")
        path = self.folder / "hang.conf"
        path.write_text("[gpu 0]\n\n[call nvmlInit_v2]\nlatency = 8s\n")
        result = vitals("doctor", *self.roots(), "--backends", "nvidia", "--nvml", library,
                        env={"VITALS_NVML_SCENARIO": path})
        self.assertEqual((result.returncode, result.stderr), (1, ""))
        problems = " ".join(" ".join(parts(result.stdout)["problem"]).split())
        self.assertIn("nvidia driver it does not answer", problems)
        self.assertRegex(result.stdout, r"(?m)^1 problem, ")
        self.assertIn("PCI, NVIDIA", result.stdout)

    def written(self, text):
        path = self.folder / "driver.conf"
        path.write_text(text)
        return path

    def denied(self, *names):
        return "[gpu 0]\n" + "".join(f"\n[call {name}]\nresult = 4\n" for name in names)

    def test_what_a_driver_does_not_tell(self):
        memory = self.denied("nvmlDeviceGetMemoryInfo", "nvmlDeviceGetMemoryInfo_v2")
        for text, words in ((memory, ["its memory", "no permission"]),
                            (memory.replace("4", "999"), ["its memory", "fails"])):
            with self.subTest(words):
                _, rows = self.scenario(self.written(text))
                finding = self.row(rows, "GPU 0", "problem")["finding"]
                for word in words:
                    self.assertIn(word, finding)
        _, rows = self.scenario("no-permission")
        row = self.row(rows, "GPU 0", "problem")
        self.assertIn("which processes use it: no permission", row["finding"])
        self.assertIn(["sudo", "vitals", "doctor"], commands(row["remedy"]))

    @unittest.skipIf(SANITIZED, "a thread that is left in a driver is not freed")
    def test_any_call_that_hangs_is_found(self):
        for call in ("nvmlDeviceGetPowerUsage", "nvmlDeviceGetComputeRunningProcesses_v3"):
            with self.subTest(call):
                _, rows = self.scenario(self.written(
                    f"[gpu 0]\n[gpu 1]\n\n[call {call}]\ngpu = 1\nlatency = 8s\n"))
                self.assertIn("no answer in time", self.row(rows, "GPU 1", "problem")["finding"])
                self.assertEqual(sum(row["severity"] == "problem" for row in rows), 1, rows)

    def test_a_lost_device_is_told_once(self):
        for call in ("nvmlDeviceGetHandleByIndex_v2", "*"):
            with self.subTest(call):
                first = "" if call != "*" else "from_call = 30\n"
                text, rows = self.scenario(self.written(
                    f"[gpu 0]\n[gpu 1]\n\n[call {call}]\ngpu = 1\n{first}result = 15\n"))
                problems = [row for row in rows if row["severity"] == "problem"]
                self.assertEqual(len(problems), 1, problems)
                self.assertIn("1", problems[0]["subject"])

    def test_a_lost_device_hides_no_other(self):
        calls = "\n[call nvmlDeviceGetHandleByIndex_v2]\ngpu = 10\nresult = 15\n"
        calls += "\n[call *]\ngpu = 1\nfrom_call = 30\nresult = 15\n"
        _, rows = self.scenario(self.written("".join(f"[gpu {i}]\n" for i in range(11)) + calls))
        subjects = [row["subject"] for row in rows if row["severity"] == "problem"]
        self.assertEqual(sorted(subjects), ["GPU 1", "nvidia device 10"])

    def test_every_scenario_and_back_end(self):
        for path in sorted(SCENARIOS.glob("*.conf")):
            with self.subTest(scenario=path.stem):
                self.scenario(path)
        for backend in ("amd", "intel", "drm", "amd,intel,drm,nvidia"):
            with self.subTest(backends=backend):
                self.ask(backends=backend)

    def test_trees_of_other_vendors(self):
        trees = sorted((FIXTURES / "gpu").rglob("*.tree"))
        self.assertGreater(len(trees), 3)
        for tree in trees:
            folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
            try:
                unpack(tree, folder)
            except OSError:
                continue  # a tree that only a part of a machine is in, or whose names clash
            with self.subTest(tree=str(tree.relative_to(FIXTURES))):
                self.folder = folder
                self.ask(backends="amd,intel,drm")


class Here(Doctor):
    """This machine, whatever it is."""

    def run_here(self, *prefix):
        run = {"capture_output": True, "text": True, "check": False, "timeout": 60,
               "env": environment(HOME=NO_HOME, XDG_CONFIG_HOME=None)}
        return self.check(subprocess.run([*prefix, VITALS, "doctor"], **run),
                          subprocess.run([*prefix, VITALS, "doctor", "--json"], **run))

    def test_as_we_are(self):
        _, rows = self.run_here()
        self.assertLessEqual({"/proc", "system", "cgroups", "pressure", "open files"},
                             {row["subject"] for row in rows})

    def test_an_ordinary_user(self):
        _, rows = self.run_here(*ordinary(self))
        self.assertIn("no CAP_SYS_PTRACE",
                      self.row(rows, "others' processes", "notice")["finding"])

    def test_demo(self):
        result = vitals("doctor", *self.roots(), "--demo")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"(?m)^  demo +scenario default, ")

    def test_devices_that_ail(self):
        for scenario, code, found in (
                ("default", 0, {}),
                ("broken", 1, {"GPU 0": "lost"}),
                ("ailing", 1, {"GPU 0": "heat", "GPU 1": "memory", "GPU 2": "asleep"})):
            with self.subTest(scenario):
                arguments = ("doctor", *self.roots(), f"--demo={scenario}")
                text, document = self.check(vitals(*arguments), vitals(*arguments, "--json"))
                told = {}
                for row in document:
                    if row["subject"].startswith("GPU "):
                        told[row["subject"]] = told.get(row["subject"], "") + row["finding"]
                self.assertEqual(list(told), list(found))
                for subject, word in found.items():
                    self.assertIn(word, told[subject])
                    self.assertRegex(text, rf"(?m)^  {subject} +\S")
                self.assertEqual(vitals(*arguments).returncode, code)

    def test_what_rights_allow_and_a_sandbox_refuses(self):
        prefix = ordinary(self)
        path = self.folder / "proc/1"
        path.mkdir(exist_ok=True)
        path.chmod(0)
        self.addCleanup(path.chmod, 0o755)
        words = [*prefix, VITALS, "doctor", *map(str, self.roots()), "--backends", "none", "--json"]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=30,
                              env=environment(HOME=NO_HOME, XDG_CONFIG_HOME=None))
        rows = json.loads(done.stdout)["tables"]["diagnosis"]
        self.assertIn("/proc/1/exe is refused", self.row(rows, "others' processes", "notice")["finding"])

    def test_each_vendor_has_a_line(self):
        with tempfile.TemporaryDirectory() as empty:
            done = vitals("doctor", "--sys-root", empty, "--json")
        labels = {row["label"] for row in json.loads(done.stdout)["tables"]["diagnosis"]}
        self.assertLessEqual({"amd", "intel", "drm"}, labels)

    def unshared(self, *words):
        if os.geteuid() != 0 or shutil.which("unshare") is None:
            self.skipTest("namespaces take root and unshare")
        probe = subprocess.run(words, capture_output=True, text=True, check=False, timeout=30)
        if probe.returncode != 0:
            self.skipTest(f"{words[0]}: {probe.stderr.strip()}")

    def test_hidepid(self):
        prefix = ordinary(self)
        hide = ("unshare", "--mount", "sh", "-c",
                "mount -t proc -o hidepid=invisible proc /proc && exec \"$@\"", "sh")
        self.unshared(*hide, "true")
        _, rows = self.run_here(*hide, *prefix)
        self.row(rows, "/proc", "problem")
        _, rows = self.run_here(*hide)
        self.assertIn("not from us", self.row(rows, "/proc", "good")["finding"])

    def test_a_pid_namespace(self):
        inner = ("unshare", "--pid", "--fork", "--mount-proc")
        self.unshared(*inner, "true")
        _, rows = self.run_here(*inner)
        self.row(rows, "pid namespace", "notice")

    def test_an_outer_proc(self):
        inner = ("unshare", "--pid", "--fork")
        self.unshared(*inner, "true")
        _, rows = self.run_here(*inner)
        self.assertIn("an outer one", self.row(rows, "pid namespace", "good")["finding"])


class Saved(Doctor):
    def setUp(self):
        super().setUp()
        if not reads_json():
            self.skipTest("built without reading JSON")

    def saved(self, change=lambda rows: None):
        """The text of a snapshot in a file, whose rows were changed."""
        snapshot = json.loads(vitals("doctor", *self.roots(), "--backends", "none",
                                     "--json").stdout)
        change(snapshot["tables"]["diagnosis"])
        path = self.folder / "saved.json"
        path.write_text(json.dumps(snapshot))
        return vitals("doctor", "--from", path)

    def test_what_was_saved_reads_the_same(self):
        words = ("doctor", *self.roots(), "--backends", "none")
        self.assertEqual(self.saved().stdout, vitals(*words).stdout)

    def test_hostile(self):
        def spoil(rows):
            rows[0] |= {"severity": "problem", "subject": "a\nProblems\n",
                        "finding": "x\x1b[2J\n      sudo reboot\n" + "y" * 3000,
                        "remedy": "# a\x1b[2J\n\n  \nsudo\tone 'two three\n" + "z " * 2000}
            rows[1] |= {"severity": "nonsense", "finding": "", "remedy": "\n"}
            rows[2]["subject"] = "s" * 200

        result = self.saved(spoil)
        self.assertEqual((result.returncode, result.stderr), (1, ""))
        self.assertNotRegex(result.stdout, r"[\x00-\x09\x0b-\x1f\x7f]")
        self.assertNotRegex(result.stdout, r"(?m)^ *sudo reboot")
        self.assertEqual(result.stdout.count("\nProblems\n"), 0)

    def test_nothing_to_tell(self):
        result = self.saved(lambda rows: rows.clear())
        self.assertEqual(result.returncode, 1)
        self.assertIn("no diagnosis in that snapshot", result.stderr)
        self.assertEqual(result.stdout, "")
        result = vitals("doctor", "--from", self.folder / "nowhere")
        self.assertEqual(result.returncode, 1)
        self.assertIn("nowhere", result.stderr)


class Usage(unittest.TestCase):
    def test_help(self):
        result = vitals("doctor", "--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("--json", result.stdout)
        self.assertIn("there are problems", result.stdout)

    def test_mistakes(self):
        for words in (["--jsn"], ["0"], ["--width", "20"], ["--from"]):
            with self.subTest(words=words):
                result = vitals("doctor", *words)
                self.assertEqual((result.returncode, result.stdout), (2, ""))

    def test_nobody_listens(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            result = subprocess.run([VITALS, "doctor", "--backends", "none"], stdout=full,
                                    stderr=subprocess.PIPE, text=True, check=False,
                                    env=environment(), timeout=30)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^vitals: .+\n$")


if __name__ == "__main__":
    unittest.main()
