"""`vitals select` seen from outside: which devices it prints, with what exit code, what a job is given,
and that a lock lives and dies with the job."""

import json
import os
import pathlib
import select
import signal
import stat
import subprocess
import tempfile
import time
import unittest

from cast import kernel_thread
from harness import (BUILD, FIXTURES, NOBODY, SANITIZED, VITALS, environment, nvml, unpack, vitals,
                     wait_until)

UUIDS = [f"GPU-5e4f0000-{i:04x}-4a10-8000-000000000000" for i in range(8)]

# Eight GPUs: used GiB of 80 and utilization of each.
USED = [70, 10, 20, 0, 40, 60, 0, 30]
BUSY = [99, 0, 50, 3, 10, 20, 0, 0]

# A program that says which devices it sees, and stays until its input ends.
SHOW = "echo $CUDA_VISIBLE_DEVICES; exec cat >/dev/null"


def scenario(folder, used=USED, busy=BUSY, extra=""):
    """Writes a scenario of the simulated driver; gives its path."""
    text = []
    for i, (memory, load) in enumerate(zip(used, busy)):
        text.append(f"[gpu {i}]\nuuid = {UUIDS[i]}\nmemory_total_bytes = 80GiB\n"
                    f"memory_used_bytes = {memory}GiB\nmemory_reserved_bytes = 0\n"
                    f"utilization_gpu_percent = {load}\n"
                    f"utilization_memory_percent = {load // 2}\n")
    path = pathlib.Path(folder, "scenario.conf")
    path.write_text("\n".join(text) + extra, encoding="utf-8")
    return path


class Selected(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.locks = pathlib.Path(self.folder, "locks")
        self.locks.mkdir()
        self.conf = scenario(self.folder)

    def arguments(self, *arguments):
        return ["select", "--nvml", nvml("r580"), "--backends", "nvidia", "--lock-folder",
                self.locks, *arguments]

    def environment(self, **changes):
        return {"VITALS_NVML_SCENARIO": self.conf, **changes}

    def run_it(self, *arguments, **changes):
        return vitals(*self.arguments(*arguments), env=self.environment(**changes))

    def start(self, *arguments, **changes):
        """Runs it until its input is closed."""
        process = subprocess.Popen(
            [VITALS, *map(str, self.arguments(*arguments))],
            env=environment(**self.environment(**changes)), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()


class Choice(Selected):
    CASES = [
        # arguments, what is printed, exit code
        ([], "6,3,1,2,7,4,5,0", 0),
        (["-n", "1"], "6", 0),
        (["-n", "2"], "6,3", 0),
        (["-C", "3"], "6,3,1", 0),
        (["-S"], "0,1,2,3,4,5,6,7", 0),
        (["-S", "-C", "2"], "0,1", 0),
        (["-f", "60GiB", "--tol", "0"], "6,3,1,2", 0),
        (["-f", "55GiB", "--tol", "10"], "6,3,1,2,7", 0),  # 50 is 55 less a tenth
        (["-t", "80GiB", "-G", "0", "--tol", "0"], "6,1,7", 0),
        (["-G", "0", "--tol", "10"], "6,1,7,3,4", 0),  # within ten points, behind the others
        # Limits are strict unless a tolerance is given.
        (["-G", "0"], "6,1,7", 0),
        (["-G", "5"], "6,3,1,7", 0),
        (["-M", "4"], "6,3,1,7", 0),
        (["-f", "75GiB"], "6,3", 0),
        (["-t", "85GiB", "-n", "1"], "", 3),
        (["-t", "85GiB", "-n", "1", "--tol", "10"], "6", 0),
        (["-M", "1", "--tolerance", "0"], "6,3,1,7", 0),
        (["-t", "81GiB", "--tol", "0"], "", 3),
        (["-n", "9"], "", 3),
        (["-s", ";"], "6;3;1;2;7;4;5;0", 0),
        (["--newline", "-n", "2"], "6\n3", 0),
        (["-O", "uuid", "-n", "1"], UUIDS[6], 0),
        (["-c", "0", "-f", "81GiB", "--tol", "0"], "", 0),
    ]

    def test_what_is_printed(self):
        for arguments, expected, code in self.CASES:
            with self.subTest(arguments):
                done = self.run_it(*arguments)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertEqual(done.stdout, expected + "\n" if code == 0 else "")

    def test_null_ends_each(self):
        self.assertEqual(self.run_it("-0", "-n", "2").stdout, "6\x003\x00")

    def test_who_reads_stdout_is_told_the_variable(self):
        done = self.run_it("-n", "2", "--newline")
        self.assertEqual(done.stderr, 'CUDA_VISIBLE_DEVICES="6,3"\n')

    def test_fewer_than_asked(self):
        done = self.run_it("-n", "3", "-f", "75GiB", "--tol", "0")
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("2 of 3", done.stderr)

    def test_no_device_at_all(self):
        done = vitals("select", "--backends", "none")
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("no GPU", done.stderr)
        done = vitals("select", "--backends", "none", "-c", "0")
        self.assertEqual((done.returncode, done.stdout), (0, "\n"))

    def test_nothing_is_known(self):
        done = vitals("select", "--demo=broken", "--lock-folder", self.locks)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("0 of 1", done.stderr)
        self.assertIn("there are 4 that cannot be judged", done.stderr)
        self.assertNotIn("--wait", done.stderr)

    def test_a_limit_on_what_is_not_told(self):
        self.conf.write_text("[gpu 0]\nmemory_total_bytes = 80GiB\nmemory_used_bytes = 0\n"
                             "utilization_gpu_percent = N/A\nutilization_memory_percent = N/A\n")
        self.assertEqual(self.run_it().returncode, 0)
        done = self.run_it("-M", "5")
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("there is 1 that cannot be judged", done.stderr)

    def test_a_lost_one_is_not_worth_waiting_for(self):
        self.conf.write_text("[gpu 0]\n[gpu 1]\n\n[call nvmlDeviceGetHandleByIndex_v2]\ngpu = 1\n"
                             "result = 15\n")
        done = self.run_it("-n", "2")
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("1 of 2", done.stderr)
        self.assertIn("there is 1 that cannot be judged", done.stderr)
        self.assertNotIn("variable", done.stderr)
        self.assertNotIn("--wait", done.stderr)

    def test_busy_ones_are_worth_waiting_for(self):
        done = self.run_it("-n", "8", "-G", "0", "--tol", "0")
        self.assertEqual(done.returncode, 3)
        self.assertNotIn("judged", done.stderr)
        self.assertIn("--wait waits for more", done.stderr)

    def test_devices_that_no_variable_names(self):
        for name in ("msm", "panthor", "v3d"):
            root = pathlib.Path(self.folder, name)
            root.mkdir()
            unpack(FIXTURES / "gpu" / "drm" / f"{name}.tree", root)
            roots = [word for part in ("proc", "sys", "dev")
                     for word in (f"--{part}-root", root / part)]
            for words, code in (([], 3), (["--wait", "--timeout", "0.1"], 124)):
                with self.subTest(name, words=words):
                    done = vitals("select", *roots, "--backends", "drm", "--lock-folder", self.locks,
                                  *words)
                    self.assertEqual((done.returncode, done.stdout), (code, ""))
                    self.assertIn("there is 1 that no variable hands to a program", done.stderr)
                    self.assertNotIn("--wait", done.stderr)

    def test_intel_devices_whose_memory_nobody_tells(self):
        """Of the first reading: used memory comes of the processes, the load of two readings."""
        for name in ("i915-igpu", "i915-old", "xe-a380", "xe-functions"):
            with self.subTest(name):
                root = pathlib.Path(self.folder, name)
                root.mkdir()
                unpack(FIXTURES / "gpu" / "intel" / f"{name}.tree", root)
                roots = [word for part in ("proc", "sys", "dev")
                         for word in (f"--{part}-root", root / part)]
                done = vitals("select", *roots, "--backends", "intel", "--lock-folder", self.locks)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout.strip(), "0")

    def test_memory_of_processes_is_of_the_first_reading(self):
        root = pathlib.Path(self.folder, "clients")
        root.mkdir()
        unpack(FIXTURES / "gpu" / "intel" / "i915-igpu.tree", root)
        process = root / "proc" / "42"
        (process / "fd").mkdir(parents=True)
        (process / "fdinfo").mkdir()
        (process / "fd" / "5").symlink_to("/dev/dri/renderD128")
        (process / "fdinfo" / "5").write_text(
            "drm-driver:\ti915\ndrm-client-id:\t7\ndrm-pdev:\t0000:00:02.0\n"
            "drm-total-system0:\t65536 KiB\ndrm-resident-system0:\t65536 KiB\n")
        (process / "stat").write_text("42 (x) S 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 50 4096"
                                      + " 0" * 15 + " 17 0 0 0 0 0 0 0 0 0 0 0 0\n")
        roots = [word for part in ("proc", "sys", "dev") for word in (f"--{part}-root", root / part)]
        done = vitals("--json", "--delay", "0", *roots, "--backends", "intel")
        self.assertEqual(done.returncode, 0, done.stderr)
        device, = json.loads(done.stdout)["tables"]["gpu"]
        self.assertIn("67108864", str(device["memory_used_bytes"]))


    def test_load_that_is_only_counted_is_of_a_second_reading(self):
        root = pathlib.Path(self.folder, "counted")
        root.mkdir()
        unpack(FIXTURES / "gpu" / "drm" / "v3d.tree", root)
        roots = [word for part in ("proc", "sys", "dev") for word in (f"--{part}-root", root / part)]
        for delay, known in (("0", False), ("20ms", True)):
            with self.subTest(delay=delay):
                done = vitals("--json", "--delay", delay, *roots, "--backends", "drm")
                self.assertEqual(done.returncode, 0, done.stderr)
                device, = json.loads(done.stdout)["tables"]["gpu"]
                self.assertEqual(device["utilization_ratio"] is not None, known, device)
                self.assertEqual(device["availability"]["utilization_ratio"] == "not_yet", not known)

    @unittest.skipIf(SANITIZED, "a thread that is left in a driver is not freed")
    def test_nothing_is_chosen_from_a_partial_list(self):
        self.conf.write_text("[gpu 0]\n[gpu 1]\n[gpu 2]\n\n"
                             "[call nvmlDeviceGetHandleByIndex_v2]\ngpu = 2\nlatency = 8s\n")
        done = self.run_it("--device-wait", "3")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("2 of 3 devices listed", done.stderr)

    @unittest.skipIf(SANITIZED, "a thread that is left in a driver is not freed")
    def test_a_driver_that_hangs_is_blamed(self):
        self.conf.write_text("[gpu 0]\n\n[call nvmlInit_v2]\nlatency = 60s\n")
        done = self.run_it("--device-wait", "3")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("nvidia: the driver has not answered", done.stderr)
        self.assertNotIn("there is no GPU", done.stderr)

    def test_the_list_that_was_given_is_blamed(self):
        done = self.run_it("--inherit=99", CUDA_VISIBLE_DEVICES="0")
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn('--inherit ends before "99"', done.stderr)
        self.assertNotIn("CUDA_VISIBLE_DEVICES", done.stderr)
        self.assertIn("CUDA_VISIBLE_DEVICES", self.run_it("-i", CUDA_VISIBLE_DEVICES="99").stderr)

    def test_usage(self):
        for arguments, message in [
            (["-f", "lots"], "lots"), (["-O", "name"], "name"), (["-C", "1", "-c", "2"], "--max-count"),
            (["-n", "2", "-C", "3"], "cannot be used together"), (["--timeout", "1"], "--wait"),
            (["--lock"], "--lock"), (["-G", "101"], "101"), (["-n", "129"], "129"),
            (["-C", "0", "-c", "1"], "--max-count 0"), (["--tol", "-1"], "-1"), (["--newline", "--null"], "cannot be used together"),
        ]:
            with self.subTest(arguments):
                done = self.run_it(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn(message, done.stderr)

    def test_inherit(self):
        for visible, arguments, expected in [
            ("5,0", ["-i"], "5,0"),
            ("5,0", ["-i", "-n", "1", "-G", "50", "--tol", "0"], "5"),
            ("7", ["--inherit=0,5"], "5,0"),
            ("7", ["-i0,5", "-S"], "0,5"),
            ("7", ["--inherit=0"], "0"),
            ("7", ["-i1"], "1"),
            (UUIDS[2][:17] + "," + UUIDS[4], ["-i"], "2,4"),
            (None, ["-i", "-n", "1"], "6"),
        ]:
            with self.subTest(f"{visible} {arguments}"):
                done = self.run_it(*arguments, CUDA_VISIBLE_DEVICES=visible)
                self.assertEqual((done.returncode, done.stdout), (0, expected + "\n"), done.stderr)
        # As in CUDA, what stands before the first word that names none is used.
        for visible, word, found in [("1,x,2", '"x"', "1"), ("8", '"8"', ""), ("1,1", '"1"', ""),
                                     ("GPU-5", '"GPU-5"', "")]:
            with self.subTest(visible):
                done = self.run_it("-i", CUDA_VISIBLE_DEVICES=visible)
                self.assertEqual((done.returncode, done.stdout.strip()), (0 if found else 3, found))
                self.assertIn(word, done.stderr)
        self.assertEqual(self.run_it("-i", CUDA_VISIBLE_DEVICES="").returncode, 3)

    def test_inherit_takes_the_words_that_follow(self):
        """As nvisel does, and several words as all lists of ours. What is no list is the command."""
        show = ["sh", "-c", "echo $CUDA_VISIBLE_DEVICES"]
        for arguments, expected in [
            (["-i", "2,5"], "2,5"),
            (["-i", "2", "5"], "2,5"),
            (["--inherit", "2,5", "-n", "1"], "2"),
            (["-i", "5"], "5"),
            (["-i", " 2, 5"], "2,5"),
            (["-i", "2", "-i", "5"], "5"),
            (["-i", f"{UUIDS[2]},{UUIDS[5][:17]}"], "2,5"),
            (["-i", UUIDS[5]], "5"),
            (["-i", "2,5", *show], UUIDS[2]),
            (["-i", "2", "5", "--", *show], UUIDS[2]),
            (["-i", *show], UUIDS[7]),
            (["-i", "--", *show], UUIDS[7]),
        ]:
            with self.subTest(arguments):
                done = self.run_it(*arguments, CUDA_VISIBLE_DEVICES="7")
                self.assertEqual((done.returncode, done.stdout), (0, expected + "\n"), done.stderr)
        for arguments, code, said in [
            (["-i", "99"], 3, '--inherit ends before "99"'),
            (["-i", ""], 3, "0 of 1"),
            (["-i", "-1"], 2, "unknown option -1"),
            (["-i", "7z-no-such-program"], 127, "command not found"),
            (["-i", "--", "5-no-such-program"], 127, "command not found"),
        ]:
            with self.subTest(arguments):
                done = self.run_it(*arguments, CUDA_VISIBLE_DEVICES="7")
                self.assertEqual((done.returncode, done.stdout), (code, ""))
                self.assertIn(said, done.stderr)

    def test_none(self):
        """-n 0 and -C 0 are an empty list, as in nvisel: nothing is looked for and nothing is missing."""
        self.conf.write_text("[gpu 0]\n\n[call nvmlInit_v2]\nlatency = 600s\n")
        for arguments in (["-n", "0"], ["-C", "0"], ["-C", "0", "-c", "0"], ["-n", "0", "-f", "90GiB"],
                          ["-n", "0", "--wait"]):
            with self.subTest(arguments):
                done = self.run_it(*arguments)
                self.assertEqual((done.returncode, done.stdout, done.stderr),
                                 (0, "\n", 'CUDA_VISIBLE_DEVICES=""\n'))
        done = self.run_it("-n", "0", "--lock", "--", "sh", "-c", "echo none:${CUDA_VISIBLE_DEVICES-unset}:",
                           CUDA_VISIBLE_DEVICES="3")
        self.assertEqual((done.returncode, done.stdout), (0, "none::\n"), done.stderr)

    def test_accounts(self):
        kernel_thread(self)  # in a pid namespace of its own, a pid that a driver names proves nothing
        me = os.getpid()
        self.conf = scenario(self.folder, [70, 30], [0, 0],
                             f"\n[process me]\ngpu = 0\npid = {me}\nkind = C\nmemory = 60GiB\n")
        free = ["-f", "60GiB", "--tol", "0", "-n", "1"]
        self.assertEqual(self.run_it(*free).returncode, 3)
        self.assertEqual(self.run_it(*free, "--account-as-free").stdout, "0\n")
        self.assertEqual(self.run_it(*free, "--account-as-free", str(os.getuid())).stdout, "0\n")
        self.assertEqual(self.run_it(*free, "--account-as-free", "nobody-at-all").returncode, 3)

    def test_models_that_differ_may_be_counted_otherwise_by_cuda(self):
        self.conf = scenario(self.folder, [0, 0], [0, 0], "name = Another\n")
        self.assertIn("CUDA_DEVICE_ORDER=PCI_BUS_ID", self.run_it().stderr)
        self.assertNotIn("ORDER", self.run_it("-O", "uuid").stderr)
        self.assertNotIn("ORDER", self.run_it(CUDA_DEVICE_ORDER="PCI_BUS_ID").stderr)


class OrderOfCuda(Selected):
    """Two models: which comes first only CUDA knows. A simulated one is asked, in a process of its own."""

    def setUp(self):
        super().setUp()
        self.conf = scenario(self.folder, [0, 0], [0, 0], "name = Another\n")

    def ask(self, told, *arguments, **changes):
        return self.run_it(*arguments, CUDA_VISIBLE_DEVICES="0", LD_LIBRARY_PATH=BUILD / "tests" / "cuda",
                           SIMULATED_CUDA=told, **changes)

    def test_numbers_count_as_cuda_counts(self):
        told = ",".join(uuid[4:].replace("-", "") for uuid in (UUIDS[1], UUIDS[0]))
        self.assertEqual(self.ask(told, "-i", "-O", "uuid").stdout, UUIDS[1] + "\n")
        self.assertEqual(self.ask(told, "--inherit=1", "-O", "uuid").stdout, UUIDS[0] + "\n")
        done = self.ask(told, "-i", "-O", "uuid", CUDA_DEVICE_ORDER="PCI_BUS_ID")
        self.assertEqual((done.stdout, done.returncode), (UUIDS[0] + "\n", 0))

    def test_where_cuda_cannot_be_asked_it_is_told(self):
        for told in ("error 999", "", "lost"):
            with self.subTest(told):
                done = self.ask(told, "-i", "-O", "uuid")
                self.assertEqual((done.stdout, done.returncode), (UUIDS[0] + "\n", 0))
                self.assertIn("PCI addresses", done.stderr)

    def test_cuda_that_hangs_is_not_waited_for_nor_left_behind(self):
        marker = f"vitals-hang-{os.getpid()}"
        begun = time.monotonic()
        done = self.ask("hang", "-i", "-O", "uuid", VITALS_TEST_MARKER=marker)
        self.assertEqual((done.stdout, done.returncode), (UUIDS[0] + "\n", 0))
        self.assertIn("PCI addresses", done.stderr)
        self.assertGreater(time.monotonic() - begun, 9)

        def left():
            for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
                try:
                    if marker.encode() in path.read_bytes():
                        return True
                except OSError:
                    pass  # it ended, or is somebody else's
            return False
        wait_until(lambda: not left(), "the end of the process that asks CUDA", 20)

    def test_uuids_need_no_order(self):
        done = self.ask("error 999", "--inherit=" + UUIDS[1], "-O", "uuid")
        self.assertEqual(done.stdout, UUIDS[1] + "\n")
        self.assertNotIn("PCI addresses", done.stderr)


class Job(Selected):
    def test_the_command_sees_its_devices_alone(self):
        done = self.run_it("-n", "2", "--", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES; exit 7",
                           CUDA_VISIBLE_DEVICES="0,1,2")
        self.assertEqual(done.stdout, f"{UUIDS[6]},{UUIDS[3]}\n")
        self.assertEqual((done.returncode, done.stderr), (7, ""))

    def test_one_device_unless_more_are_asked_for(self):
        done = self.run_it("sh", "-c", "echo $CUDA_VISIBLE_DEVICES")
        self.assertEqual(done.stdout, UUIDS[6] + "\n")

    def test_of_amd_and_intel_by_number(self):
        program = 'echo "$ROCR_VISIBLE_DEVICES/$ZE_AFFINITY_MASK/$CUDA_VISIBLE_DEVICES"'
        done = vitals("select", "--demo=idle", "-t", "150GiB", "--lock-folder", self.locks, "--", "sh",
                      "-c", program, env={"CUDA_VISIBLE_DEVICES": "3", "ROCR_VISIBLE_DEVICES": "7"})
        self.assertEqual(done.stdout, "0//\n", done.stderr)

    def test_what_cannot_be_run(self):
        done = self.run_it("--", "/no/such/program")
        self.assertEqual(done.returncode, 127)
        for name, why in (("/no/such/program", "no such file"), ("no-such-program", "command not found")):
            ours, runs = self.run_it("--", name), vitals("run", "--", name)
            self.assertIn(f"vitals: {name}: {why}", ours.stderr)
            self.assertEqual((ours.returncode, ours.stderr), (runs.returncode, runs.stderr.splitlines(True)[0]))
        self.assertEqual(self.run_it("--", "/").returncode, 126)
        done = self.run_it("-n", "8", "-G", "0", "--tol", "0", "--", "touch",
                           pathlib.Path(self.folder, "ran"))
        self.assertEqual(done.returncode, 3)
        self.assertFalse(pathlib.Path(self.folder, "ran").exists())

    def test_the_job_gets_its_limits_and_no_descriptor_but_the_lock(self):
        program = "ls /proc/self/fd | wc -l; ulimit -Sn"
        plain = subprocess.run(["sh", "-c", program], capture_output=True, text=True, check=True)
        self.assertEqual(self.run_it("--", "sh", "-c", program).stdout, plain.stdout)
        locked = self.run_it("--lock", "--", "sh", "-c", program).stdout.split()
        self.assertEqual(int(locked[0]), int(plain.stdout.split()[0]) + 1)


class Locks(Selected):
    def test_a_locked_device_is_left_out_until_its_job_ends(self):
        job = self.start("--lock", "--", "sh", "-c", SHOW)
        self.assertEqual(job.stdout.readline(), UUIDS[6] + "\n")
        self.assertEqual(self.run_it("-n", "1").stdout, "3\n")
        second = self.run_it("--lock", "--", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES")
        self.assertEqual(second.stdout, UUIDS[3] + "\n")
        job.stdin.close()
        self.assertEqual(job.wait(), 0)
        self.assertEqual(self.run_it("-n", "1").stdout, "6\n")

    def test_all_are_locked(self):
        self.conf = scenario(self.folder, [0], [0])
        job = self.start("--lock", "--", "sh", "-c", SHOW)
        job.stdout.readline()
        done = self.run_it()
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("--lock", done.stderr)

    def test_the_lock_outlives_kill_9_as_long_as_the_job_has_it(self):
        # The program that vitals became is killed; its child still holds the lock.
        self.conf = scenario(self.folder, [0], [0])
        job = self.start("--lock", "--", "sh", "-c",
                         "exec 3<&0; (echo child; exec cat <&3 >/dev/null) & echo $!; wait")
        lines = {job.stdout.readline().strip(), job.stdout.readline().strip()}
        child = int((lines - {"child"}).pop())
        os.kill(job.pid, signal.SIGKILL)
        self.assertEqual(job.wait(), -signal.SIGKILL)
        self.assertEqual(self.run_it().returncode, 3)
        os.kill(child, signal.SIGKILL)
        self.assertEqual(self.run_it("--wait", "--timeout", "20s", "--interval", "20ms").stdout, "0\n")

    def test_the_lock_goes_through_vitals_run(self):
        # Its launcher is killed; the job, which it started, lives on and holds the lock.
        self.conf = scenario(self.folder, [0], [0])
        job = self.start("--lock", "--", VITALS, "run", "--", "sh", "-c",
                         "echo $$; exec cat >/dev/null")
        child = int(job.stdout.readline())
        os.kill(job.pid, signal.SIGKILL)
        self.assertEqual(job.wait(), -signal.SIGKILL)
        self.assertEqual(self.run_it().returncode, 3)
        os.kill(child, signal.SIGKILL)
        self.assertEqual(self.run_it("--wait", "--timeout", "20s", "--interval", "20ms").stdout, "0\n")

    def test_two_waiting_jobs_do_not_take_the_same(self):
        self.conf = scenario(self.folder, [0, 0], [0, 0])
        first = [self.start("--lock", "--", "sh", "-c", SHOW) for _ in range(2)]
        seen = sorted(job.stdout.readline().strip() for job in first)
        self.assertEqual(seen, UUIDS[:2])
        waiting = [self.start("--wait", "--interval", "20ms", "--lock", "--", "sh", "-c", SHOW)
                   for _ in range(2)]
        ready, _, _ = select.select([job.stdout for job in waiting], [], [], 0.3)
        self.assertEqual(ready, [])
        for job in first:
            job.stdin.close()
            self.assertEqual(job.wait(), 0)
        seen = sorted(job.stdout.readline().strip() for job in waiting)
        self.assertEqual(seen, UUIDS[:2])

    def test_many_at_once_share_nothing(self):
        # Eight devices and twelve jobs that do not wait: eight have one each, four none.
        jobs = [self.start("--lock", "--", "sh", "-c", SHOW) for _ in range(12)]
        lines = [job.stdout.readline().strip() for job in jobs]
        self.assertEqual(sorted(line for line in lines if line), sorted(UUIDS))
        self.assertEqual(sorted(lines)[:4], [""] * 4)

    def test_all_or_none_of_several(self):
        self.conf = scenario(self.folder, [0, 0, 0], [0, 0, 0])
        job = self.start("-n", "2", "--lock", "--", "sh", "-c", SHOW)
        job.stdout.readline()
        done = self.run_it("-n", "2", "--lock", "--", "true")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(self.run_it().stdout, "0\n")  # and it let go of that one

    def test_waiting_in_vain(self):
        begun = time.monotonic()
        done = self.run_it("-n", "8", "-G", "0", "--tol", "0", "--wait", "--timeout", "200ms",
                           "--interval", "50ms")
        self.assertEqual((done.returncode, done.stdout), (124, ""))
        self.assertGreaterEqual(time.monotonic() - begun, 0.2)

    def test_more_than_there_are_end_at_once(self):
        done = self.run_it("-n", "9", "--wait")
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("there are 8 in this machine", done.stderr)
        self.assertEqual(self.run_it("--backends", "none", "--wait").returncode, 3)

    def test_waiting_until_devices_are_free(self):
        # The simulated driver grows by 10 GiB an answer.
        self.conf.write_text(f"[gpu 0]\nuuid = {UUIDS[0]}\nmemory_total_bytes = 80GiB\n"
                             "memory_reserved_bytes = 0\nmemory_used_bytes = 0\n"
                             "memory_free_bytes = 10737418240+10737418240\n", encoding="utf-8")
        self.assertEqual(self.run_it("-f", "45GiB", "--tol", "0").returncode, 3)
        done = self.run_it("-f", "45GiB", "--tol", "0", "--wait", "--timeout", "20s", "--interval",
                           "10ms")
        self.assertEqual((done.returncode, done.stdout), (0, "0\n"), done.stderr)


class HostileFolder(Selected):
    """Somebody else may have put anything where locks are."""

    def name(self, i=6):
        return self.locks / f"vitals-{UUIDS[i]}.lock"

    def lock(self):
        return self.run_it("--lock", "--", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES")

    def test_a_link_is_not_followed(self):
        victim = pathlib.Path(self.folder, "victim")
        self.name().symlink_to(victim)
        done = self.lock()
        self.assertEqual(done.stdout, UUIDS[3] + "\n")
        self.assertIn("a link", done.stderr)
        self.assertFalse(victim.exists())

    def test_a_second_name_is_no_lock(self):
        victim = pathlib.Path(self.folder, "victim")
        victim.write_text("precious", encoding="utf-8")
        victim.chmod(0o600)
        os.link(victim, self.name())
        done = self.lock()
        self.assertEqual(done.stdout, UUIDS[3] + "\n")
        self.assertEqual(stat.S_IMODE(victim.stat().st_mode), 0o600)
        self.assertEqual(victim.read_text(encoding="utf-8"), "precious")

    def test_nor_is_a_pipe_or_a_folder(self):
        os.mkfifo(self.name())
        self.name(3).mkdir()
        done = self.lock()
        self.assertEqual(done.stdout, UUIDS[1] + "\n")

    def test_who_does_not_lock_goes_on(self):
        os.mkfifo(self.name())
        self.assertEqual(self.run_it("-n", "1").stdout, "6\n")

    def test_the_file_is_for_all_users_and_stays_empty(self):
        previous = os.umask(0o077)
        try:
            self.lock()
        finally:
            os.umask(previous)
        self.assertEqual(stat.S_IMODE(self.name().stat().st_mode), 0o666)
        self.assertEqual(self.name().stat().st_size, 0)

    def test_no_folder(self):
        self.locks = pathlib.Path(self.folder, "nowhere")
        done = self.lock()
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("nowhere", done.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "takes root to become somebody else")
    def test_another_user_honors_the_lock(self):
        os.chmod(self.folder, 0o755)
        os.chmod(self.locks, 0o1777)
        job = self.start("--lock", "--", "sh", "-c", SHOW)
        job.stdout.readline()
        done = vitals(*self.arguments("--lock", "--", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES"),
                      env=self.environment(), user=NOBODY, group=NOBODY, extra_groups=[])
        self.assertEqual(done.stdout, UUIDS[3] + "\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
