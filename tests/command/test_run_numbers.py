"""Numbers that are what they say: nothing is exact that another figure contradicts, nothing of the
machine stands still because it was not read, and a table written for another program's readers tells
of its own rows."""

import csv
import os
import subprocess
import unittest

from harness import VITALS, environment, vitals
from runs import Account, RunCase, ordinary_user, program

TRIES = 3


def figures_of(document, subject):
    return {one["name"]: one for one in document["figures"] if one.get("subject") == subject}


class Processes(RunCase):
    def check_counts(self, account, born):
        exact = account["processes"]["availability"] == "have"
        self.assertGreaterEqual(account.value("processes"), account.value("processes_seen"))
        self.assertLessEqual(account.value("processes"), born)
        if exact:
            self.assertEqual(account.value("processes"), born)
        return exact

    def test_who_dies_together_with_the_command_is_counted(self):
        busy = "while :; do :; done"
        for _ in range(TRIES):
            done, account = self.run_it(["timeout", "0.4", "sh", "-c",
                                         f"sh -c '{busy}' & sh -c '{busy}' & wait"])
            self.assertEqual(done.returncode, 124, done.stderr)
            self.check_counts(account, 4)

    def test_children_that_nobody_waited_for_are_counted(self):
        command = program("""
            children = []
            for i in range(6):
                pid = os.fork()
                if pid == 0:
                    time.sleep(60)
                children.append(pid)
            time.sleep(0.1)
            for pid in children:
                os.kill(pid, signal.SIGKILL)
            """)
        for _ in range(TRIES):
            done, account = self.run_it(command)
            self.assertEqual(done.returncode, 0, done.stderr)
            exact = self.check_counts(account, 7)
            if "taskstats" in account.document["attributes"].get("rungs", ""):
                # Nothing was lost: a record that came by way of the parent is no loss.
                self.assertTrue(exact, account["processes"])

    def test_bytes_of_a_short_program_are_counted_at_its_end(self):
        done, account = self.run_it(["dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "count=300", "status=none"])
        self.assertEqual(done.returncode, 0, done.stderr)
        if "taskstats" not in account.document["attributes"].get("rungs", ""):
            self.skipTest("the kernel's records of ends are not for this user")
        for name in ("call_read_bytes", "call_written_bytes"):
            self.assertEqual(account[name]["availability"], "lower_bound", account[name])
            self.assertGreaterEqual(account.value(name), (300 << 20) - 1024)
            self.assertLess(account.value(name), 310 << 20)

    def test_births_are_counted_without_any_rights(self):
        become = ordinary_user()
        self.folder.chmod(0o777)
        done = subprocess.run(
            [*become, VITALS, "run", "--backends", "", "--json", str(self.json), "--rungs", "connector", "--",
             *program("""
                import subprocess
                time.sleep(2)  # the launcher looks once a second
                for i in range(30):
                    subprocess.run(["true"])
                """)], env=environment(), capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        account = Account(self.json)
        if "connector" not in account.document["attributes"]["rungs"]:
            self.skipTest("this kernel tells an ordinary user of no births")
        processes = account["processes"]
        self.assertEqual(processes["availability"], "lower_bound")
        self.assertLessEqual(processes["value"], 31)
        if "lost" in processes["source"]:
            self.skipTest("too much was born beside it")
        self.assertEqual(processes["value"], 31)
        self.assertIn("process connector", processes["source"])

    def test_children_that_nobody_waits_for_are_never_called_all(self):
        # They come and go before anybody listens, without a trace in their parent.
        _, account = self.run_it(program("""
            import signal
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            for i in range(20):
                if os.fork() == 0:
                    os._exit(0)
            time.sleep(0.2)
            """), "--rungs", "connector")
        self.assertEqual(account["processes"]["availability"], "lower_bound")
        self.assertLessEqual(account["processes"]["value"], 21)

    def test_a_command_that_is_over_at_once_is_not_listened_for(self):
        _, account = self.run_it(["true"], "--rungs", "connector")
        self.assertEqual(account.value("processes"), 1)

    def test_threads_are_no_processes(self):
        threads = 20
        done, account = self.run_it(program("""
            import threading
            all = [threading.Thread(target=time.sleep, args=(0.3,)) for _ in range(int(sys.argv[1]))]
            [one.start() for one in all]
            [one.join() for one in all]
            """, threads))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(account.value("processes_peak"), 1)
        if "tasks_peak" in account:
            self.assertEqual(account.value("tasks_peak"), threads + 1)

    def test_the_least_memory_is_no_more_than_was_held(self):
        # ru_maxrss of the small child is that of the large one which forked it, and until its exec
        # their pages are the same.
        # Without a cgroup, which counts the memory itself, as root and as an ordinary user.
        size = 64 << 20
        become = ordinary_user()
        for before in ([], become) if become else ([],):
            self.folder.chmod(0o777)
            account_path = self.folder / ("of_another.json" if before else "account.json")
            done = subprocess.run(
                [*before, VITALS, "run", "--backends", "", "--rungs", "wait4", "--json", account_path,
                 "--", *program("""
                    block = bytearray(int(sys.argv[1]))
                    for i in range(3):
                        if os.fork() == 0:
                            os.execvp("true", ["true"])
                        os.wait()
                    peak = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
                    say(int(peak[0].split()[1]) << 10)
                    """, size)],
                env=environment(HOME="/nonexistent"), capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            account, held = Account(account_path), int(done.stdout)
            with self.subTest(become=before):
                self.assertNotIn("memory_peak_bytes", account)
                low, high = (account[f"memory_peak_{end}_bytes"] for end in ("low", "high"))
                self.assertEqual(low["availability"], "lower_bound")
                self.assertGreater(held, size)
                self.assertGreater(low["value"], size)
                # The kernel's counters of resident pages lag by some pages for each CPU.
                self.assertLessEqual(low["value"], held + (4 << 20))
                self.assertEqual(high["availability"], "estimate")
                self.assertGreaterEqual(high["value"], low["value"])
                self.assertLess(high["value"], held + (16 << 20))


class Machine(RunCase):
    def test_what_the_machine_did_until_the_end_is_in_it(self):
        bytes_written = 8 << 20
        done, account = self.run_it(program("""
            file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
            time.sleep(0.2)
            os.write(file, bytes(int(sys.argv[2])))
            os.fsync(file)
            """, self.folder / "written", bytes_written), "--interval", "50ms")
        self.assertEqual(done.returncode, 0, done.stderr)
        machine = figures_of(account.document, "system")
        written = machine["disk_written_bytes"]
        self.assertNotEqual(written["availability"], "have")  # it began behind the command
        # Both since the first sample, and each in steps of a tick of the kernel's clock.
        self.assertGreater(machine["cpu_seconds"]["value"], 0)
        if account["disk_written_bytes"]["value"] < bytes_written or written["value"] == 0:
            self.skipTest(f"{self.folder} is on no disk of this machine's own")
        self.assertGreaterEqual(written["value"], bytes_written)

    def rows(self, form, *options, seconds=1.2, interval="200ms"):
        path = self.folder / f"{form}.csv"
        done = vitals("run", "--backends", "", "--record", path, "--interval", interval, "--format", form,
                      *options, "--overwrite", "--", "timeout", str(seconds), "sh", "-c", "while :; do :; done", timeout=60)
        self.assertEqual(done.returncode, 124, done.stderr)
        return path.read_text()

    def test_each_row_of_another_programs_table_tells_of_the_machine(self):
        for form, prefix in (("resource-tracker-system", ""), ("resource-tracker-combined", "system_")):
            rows = list(csv.DictReader(self.rows(form).splitlines()))
            self.assertGreaterEqual(len(rows), 3)
            for row in rows[:-1]:  # the last is as short as it came out
                spent = float(row[prefix + "utime"]) + float(row[prefix + "stime"])
                self.assertGreater(spent, 0, (form, row))
                self.assertGreater(float(row[prefix + "cpu_usage"]), 0, (form, row))
                self.assertGreater(int(row[prefix + "processes"]), 0)
            usage = {row[prefix + "cpu_usage"] for row in rows[:-1]}
            self.assertGreater(len(usage), 1, f"{form}: {usage} stands still")

    def test_each_row_of_gpu_trackers_table_tells_of_the_machine(self):
        lines = self.rows("gpu-tracker").splitlines()
        rows = list(csv.DictReader(lines[2:]))
        self.assertGreaterEqual(len(rows), 3)
        for row in rows[1:]:  # a mean needs a reading before it
            self.assertGreater(float(row["cpu_system_sum_utilization_percent"]), 0, row)

    def test_gpu_trackers_static_data_say_of_how_many_cores_its_shares_are(self):
        for options, expected in ((("--expected-cores", "3"), 3), ((), len(os.sched_getaffinity(0)))):
            lines = self.rows("gpu-tracker", *options).splitlines()
            (static,) = csv.DictReader(lines[:2])
            self.assertEqual(int(static["n_expected_cores"]), expected)
            self.assertEqual(int(static["system_core_count"]), os.cpu_count())
            for row in list(csv.DictReader(lines[2:]))[1:]:
                self.assertAlmostEqual(float(row["cpu_combined_sum_utilization_percent"]) / expected,
                                       float(row["cpu_combined_hardware_utilization_percent"]), places=6)


if __name__ == "__main__":
    unittest.main()
