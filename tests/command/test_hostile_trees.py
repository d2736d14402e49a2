"""The command over trees of files that stand for machines: worlds that cannot be, and old ones. Each
file spoiled in every way is in test_hostile_files.py."""

import contextlib
import json
import os
import shutil
import stat
import threading
import unittest

from cast import ordinary
from harness import FIXTURES
from hostile import MODES, PLAIN, SECONDS, WORLDS, Hostile, execute


class Trees(Hostile):
    def test_the_plain_world(self):
        """What is right before it is spoiled: the rest would prove nothing otherwise."""
        world = self.plain()
        found = self.check_all(*self.roots(world))
        one, = found["json"]
        host, = one["tables"]["host"]
        catalogue = json.loads(execute("metrics", "--json").out)["tables"]
        beside = {metric["name"] for metric in catalogue[0]["metrics"] if metric["price"] == "worker"}
        self.assertEqual(host.get("availability", {}).keys() - beside, {"cpus_usable"})
        self.assertEqual((host["memory_used_bytes"], host["network_received_bytes"],
                          host["disk_read_bytes"]),
                         (4_000_000 << 10, 7_000_000, 200_000 * 512))
        self.assertEqual([row["pid"] for row in one["tables"]["process"]], [1, 2, 700, 702])
        self.assertIn("node17", found["text"])

    def test_a_stat_that_ends_in_a_cpu_s_line(self):
        world = self.plain()
        path = world / "proc" / "stat"
        text = path.read_bytes()
        path.write_bytes(text[:text.index(b"cpu1") + 10])
        one, = self.check("json", *self.roots(world))
        row, = one["tables"]["host"]
        self.assertIn(row.get("availability", {}).get("cpus", "have"), ("lower_bound", "failed"))

    def test_folders_that_cannot_be_entered(self):
        prefix = ordinary(self)
        world = self.plain()
        for name in ("700", "net", "sys"):
            (world / "proc" / name).chmod(0)
        one, = self.check_all(*self.roots(world), prefix=prefix)["json"]
        row, = [row for row in one["tables"]["process"] if row["pid"] == 700]
        self.assertEqual(row["availability"]["state"], "denied")

    def test_a_root_that_cannot_be_listed(self):
        """Whether that is no process or no answer, it is said and not a crash."""
        prefix = ordinary(self)
        world = self.plain()
        (world / "proc").chmod(0o111)
        one, = self.check_all(*self.roots(world), prefix=prefix)["json"]
        row, = one["tables"]["host"]
        self.assertEqual(row["memory_total_bytes"], 16_000_000 << 10)
        self.assertNotEqual(row["processes"], 0)

    def test_every_tree_of_the_fixtures(self):
        trees = {path.parent for path in FIXTURES.rglob("meminfo")}
        trees |= {path.parent.parent for path in FIXTURES.glob("proc/*/*/stat")}
        trees |= {path for path in FIXTURES.glob("host/*/proc")}
        trees.add(WORLDS / "nonsense" / "proc")
        self.assertGreater(len(trees), 20)
        for tree in sorted(trees):
            for mode in ("json", "ascii"):
                with self.subTest(tree=str(tree.relative_to(FIXTURES)), mode=mode):
                    self.check(mode, "--proc-root", tree, "--sys-root", tree.parent / "sys",
                               "--backends", "none")

    def test_nonsense_is_no_number(self):
        world = WORLDS / "nonsense"
        one, = self.check_all(*self.roots(world))["json"]
        row, = one["tables"]["host"]
        for name in ("memory_total_bytes", "load_1m", "cpu_user_seconds", "context_switches"):
            self.assertIsNone(row[name], name)
        for process in one["tables"]["process"]:
            for name in ("uid", "user", "threads", "resident_bytes", "cpu_user_seconds"):
                self.assertIsNone(process[name], (process["pid"], name))

    def test_an_old_kernel(self):
        """41 fields in stat: no CPU number, and everything else."""
        world = self.folder()
        shutil.copytree(FIXTURES / "host" / "old_kernel" / "proc", world / "proc")
        shutil.copytree(FIXTURES / "proc" / "linux-2.4" / "5", world / "proc" / "5")
        one, = self.check_all(*self.roots(world))["json"]
        row, = one["tables"]["process"]
        self.assertEqual((row["pid"], row["cgroup"]), (5, None))
        self.assertNotIn(None, (row["name"], row["state"], row["uid"], row["start_seconds"]))

    def test_41_fields(self):
        world = self.plain()
        path = world / "proc" / "700" / "stat"
        path.write_bytes(b" ".join(path.read_bytes().split()[:38]) + b"\n")
        one, = self.check("json", *self.roots(world))
        row, = [row for row in one["tables"]["process"] if row["pid"] == 700]
        self.assertIsNone(row["cpu"])
        self.assertEqual((row["threads"], row["nice"]), (12, -5))

    def test_folders_that_are_no_processes(self):
        world = self.plain()
        for name in ("99999999999999999999999999", "4294967296", "18446744073709551617", "0", "01",
                     "-1", "+5", "1x", " 7", "2147483648"):
            shutil.copytree(PLAIN / "700", world / "proc" / name)
        shutil.copytree(PLAIN / "700", world / "proc" / "2147483647")
        (world / "proc" / "77").write_text("a file and no folder")
        one, = self.check_all(*self.roots(world))["json"]
        pids = [row["pid"] for row in one["tables"]["process"]]
        self.assertEqual([pid for pid in pids if pid != 77], [1, 2, 700, 702, 2147483647])

    def test_a_stat_that_tells_of_another_process(self):
        world = self.plain()
        shutil.copy(PLAIN / "1" / "stat", world / "proc" / "700" / "stat")
        one, = self.check_all(*self.roots(world))["json"]
        self.assertEqual([row["pid"] for row in one["tables"]["process"]], [1, 2, 700, 702])

    def test_parents_in_a_circle(self):
        world = self.plain()
        for pid, parent in (("1", b"702"), ("700", b"700"), ("702", b"1")):
            path = world / "proc" / pid / "stat"
            words = path.read_bytes().rpartition(b") ")
            fields = words[2].split()
            fields[1] = parent
            path.write_bytes(words[0] + words[1] + b" ".join(fields) + b"\n")
        self.check_all(*self.roots(world))

    def test_no_meminfo(self):
        world = self.plain()
        (world / "proc" / "meminfo").unlink()
        found = self.check_all(*self.roots(world))
        one, = found["json"]
        row, = one["tables"]["host"]
        elsewhere = {"swap_in_bytes", "swap_out_bytes"}  # of vmstat
        self.assertEqual({row[name] for name in row if name.startswith(("memory_", "swap_"))
                          and name not in elsewhere}, {None})
        self.assertRegex(found["text"], r"MEM: .*N/A")
        self.assertRegex(found["text"], r"SWP: .*N/A")
        # Of no total there is no share.
        line, = [line for line in found["text"].splitlines() if " 700 " in line]
        self.assertIn("N/A", line)

    def test_nothing_in_proc(self):
        found = self.check_all("--proc-root", self.folder(), "--backends", "none")
        one, = found["json"]
        self.assertEqual((one["host"]["name"], one["tables"]["process"]), ("", []))
        self.assertIsNone(one["tables"]["host"][0]["memory_total_bytes"])

    def test_no_proc(self):
        folder = self.folder()
        (folder / "file").write_text("")
        for place in (folder / "nowhere", folder / "file", ""):
            for mode in ("text", "ascii", "json"):
                with self.subTest(place=place, mode=mode):
                    result = execute(*MODES[mode], "--proc-root", place)
                    self.assertIn(result.code, (1, 2) if place == "" else (1,))
                    self.assertEqual(result.out, b"")
                    self.assertRegex(self.clean(result.err), r"^vitals: .+\n$")
        result = execute("run", "--proc-root", folder / "nowhere", "--", "/bin/true")
        self.assertEqual(result.code, 125)
        self.assertIn(b"nowhere", result.err)

    def test_no_sys_and_no_dev(self):
        folder = self.folder()
        self.check_all("--sys-root", folder / "nowhere", "--dev-root", folder / "nowhere")
        self.check_all("--sys-root", folder, "--dev-root", folder)

    def test_files_that_vanish(self):
        """A process's folder comes and goes as fast as renames do, in pieces too."""
        world = self.plain()
        proc, done = world / "proc", threading.Event()

        def shuffle():
            while not done.is_set():
                for name in ("700", "700/stat", "702/status", "2", "meminfo", "700/cmdline"):
                    with contextlib.suppress(OSError):
                        (proc / name).rename(world / "away")
                        (world / "away").rename(proc / name)

        thread = threading.Thread(target=shuffle)
        thread.start()
        try:
            found = self.check("json", *self.roots(world), "--interval", "0.02", "--count", "50",
                               seconds=SECONDS + 2)
            for mode in ("text", "ascii", "run"):
                self.check(mode, *self.roots(world))
        finally:
            done.set()
            thread.join()
        self.assertEqual(len(found), 50)
        for one in found:
            self.assertIn(1, [row["pid"] for row in one["tables"]["process"]])

    def test_a_thousand_folders(self):
        world = self.plain()
        for pid in range(1000, 2000):
            folder = world / "proc" / str(pid)
            folder.mkdir()
            (folder / "stat").write_bytes((PLAIN / "1" / "stat").read_bytes())
        for limit in (64, 256):
            one, = self.check("json", *self.roots(world), prefix=("prlimit", f"--nofile={limit}"))
            self.assertEqual(len(one["tables"]["process"]), 1004)

    def fifo(self, name, modes=("json", "text")):
        world = self.plain()
        path = world / "proc" / name
        path.unlink()
        os.mkfifo(path)
        for mode in modes:
            self.check(mode, *self.roots(world))

    def test_a_fifo_beside_the_tick(self):
        for name in ("700/cmdline", "700/status", "700/cgroup"):
            with self.subTest(file=name):
                self.fifo(name, modes=("json",))

    def test_a_fifo_as_a_file_of_the_machine(self):
        self.fifo("meminfo", modes=("json",))

    def test_a_fifo_as_a_file_of_a_process(self):
        self.fifo("700/stat", modes=("json",))

    def test_a_fifo_as_the_host_s_name(self):
        self.fifo("sys/kernel/hostname", modes=("json",))

    def test_devices_without_a_driver(self):
        if os.geteuid() != 0:
            self.skipTest("mknod takes root")
        for name in ("meminfo", "700/stat", "700/cmdline", "stat"):
            world = self.plain()
            path = world / "proc" / name
            path.unlink()
            try:
                os.mknod(path, 0o644 | stat.S_IFCHR, os.makedev(508, 508))
            except PermissionError as error:
                self.skipTest(f"mknod: {error}")
            with self.subTest(file=name):
                self.check_all(*self.roots(world))


if __name__ == "__main__":
    unittest.main()
