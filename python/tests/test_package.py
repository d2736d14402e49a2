"""The package from outside: snapshots, processes, runs, recordings, errors, forks and threads."""

import json
import math
import multiprocessing
import os
import pathlib
import pickle
import resource
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

import vitals

DEMO = vitals.Context(demo="default")
SCREEN = ["--demo", "--screen", "80x24"]


def burn(seconds):
    """Uses so much CPU time of this thread."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def used_by_a_worker(seconds):
    with vitals.account() as used:
        burn(seconds)
    return used["cpu_seconds"]


class Snapshots(unittest.TestCase):
    def test_a_row_is_of_the_kernel(self):
        row = vitals.snapshot("host").host[0]
        with open("/proc/meminfo", encoding="ascii") as file:
            total = int(file.readline().split()[1]) * 1024
        self.assertEqual(row.memory_total_bytes, total)
        self.assertEqual(row["memory_total_bytes"], total)
        self.assertIn("iB", row.text("memory_total_bytes"))

    def test_columns_are_the_rows(self):
        table = vitals.snapshot("process.pid", "process.name", "process.resident_bytes").process
        self.assertEqual(table.columns, ["pid", "name", "resident_bytes"])
        for name in table.columns:
            self.assertEqual(table.values(name), [row[name] for row in table])
        self.assertIn(os.getpid(), table.values("pid"))
        self.assertEqual(table.keys(), [row.key for row in table])
        self.assertEqual(table[-1].key, table.keys()[-1])
        with self.assertRaises(IndexError):
            table[len(table)]

    def test_an_array_shares_memory_and_outlives_the_snapshot(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("no numpy here")
        table = vitals.snapshot("process.pid", "process.resident_bytes").process
        values, pids = table.values("resident_bytes"), table.array("pid")
        array, good = table.array("resident_bytes"), table.available("resident_bytes")
        self.assertFalse(array.flags.owndata)
        self.assertFalse(array.flags.writeable)
        del table
        self.assertEqual([int(value) if ok else None for value, ok in zip(array, good)], values)
        self.assertEqual(pids.dtype, numpy.uint64)

    def test_data_frames(self):
        table = vitals.snapshot("gpus", context=DEMO).gpu
        for make in (table.to_pandas, table.to_polars):
            try:
                frame = make()
            except ImportError:
                self.skipTest("no pandas or polars here")
            self.assertEqual(len(frame), len(table))
            self.assertEqual(list(frame["name"]), table.values("name"))

    def test_a_missing_value_is_none_and_says_why(self):
        gpu = vitals.snapshot("gpus", context=DEMO).gpu
        missing = [(row, name) for row in gpu for name in gpu.columns if row[name] is None]
        self.assertTrue(missing)
        for row, name in missing:
            self.assertIn(row.availability(name), ("unsupported", "denied", "gone", "suspended", "failed",
                                                   "not_yet", "timed_out"))
            self.assertNotIn("0", row.text(name))

    def test_demo_gpus_and_choosing_them(self):
        taken = vitals.snapshot("gpus", context=DEMO)
        best = vitals.select_gpus(snapshot=taken, max_count=1)
        self.assertEqual(len(best), 1)
        self.assertEqual(vitals.find_gpu("0", snapshot=taken).label, "0")
        with self.assertRaises(vitals.GoneError):
            vitals.find_gpu("77", snapshot=taken)
        with self.assertRaises(TypeError):
            vitals.select_gpus(snapshot=taken, least_count=1)

    def test_json_and_pickle(self):
        taken = vitals.snapshot("gpus", context=DEMO)
        document = json.loads(taken.json())
        self.assertEqual(vitals.read_json(taken.json()).json(), taken.json())
        self.assertEqual(pickle.loads(pickle.dumps(taken)).json(), taken.json())
        self.assertTrue(document)
        with self.assertRaises(vitals.FormatError):
            vitals.read_json("{")

    def test_what_a_row_tells_of_itself(self):
        child = subprocess.Popen(["sleep", "60"])
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        names = ("pid", "start_seconds", "command_line", "cpu_seconds", "resident_bytes")
        with vitals.Sampler(*(f"process.{name}" for name in names), pids=[os.getpid()]) as sampler:
            older = sampler.take()
            while True:
                newer = sampler.take()
                rows = {row["pid"]: row for row in newer.process}
                if rows[child.pid]["command_line"] is not None:
                    break
                time.sleep(0.01)
        row, again = rows[child.pid], newer.process[newer.process.values("pid").index(child.pid)]
        self.assertEqual((row, hash(row), repr(row)), (again, hash(again), repr(again)))
        self.assertNotEqual(row, rows[os.getpid()])
        self.assertEqual(row.read(*names), [row[name] for name in names])
        self.assertEqual(row.as_dict(), {name: row[name] for name in newer.process.columns})
        self.assertEqual((row.command(), row.table, row.parent_key), ("sleep 60", "process", rows[os.getpid()].key))
        self.assertEqual(repr(row), "<process 'sleep'>")
        self.assertGreaterEqual(row.rate("cpu_seconds", older), 0.0)
        self.assertIsNone(row.rate("cpu_seconds", newer), "a snapshot and itself")
        self.assertGreaterEqual(row.age("resident_bytes"), 0.0)
        self.assertEqual(vitals.Process.of(row), vitals.Process(child.pid))
        self.assertIn("sleep", row._repr_html_())
        self.assertTrue({"resident_bytes", "key"} <= set(dir(row)))

    def test_what_a_snapshot_tells_of_itself(self):
        begin, begin_monotonic = time.time(), time.monotonic()
        with vitals.Sampler("host", "cpu") as sampler:
            first, second = sampler.take(), sampler.take()
        self.assertEqual((first.sequence, second.sequence), (1, 2))
        self.assertTrue(begin - 1 <= first.time <= second.time <= time.time() + 1)
        self.assertTrue(begin_monotonic <= first.monotonic <= second.monotonic <= time.monotonic())
        self.assertEqual(first.hostname, os.uname().nodename)
        self.assertEqual([table.name for table in first], ["host", "cpu"])
        self.assertIn("cpu", dir(first))
        self.assertEqual(repr(first), f"<snapshot of {first.hostname}: host 1, cpu {len(first.cpu)}>")
        self.assertEqual((repr(first["cpu"]), first.cpu.state), (f"<table cpu: {len(first.cpu)} rows>", "have"))
        self.assertIn("<table", first._repr_html_())
        with self.assertRaises(AttributeError):
            first.nothing
        with self.assertRaises(vitals.VitalsError):
            sampler.take()

    def test_the_newest_snapshot_of_a_thread(self):
        sampler = vitals.Sampler("host", interval=0.01)
        self.assertIsNone(sampler.latest())
        with sampler.start():
            while sampler.latest() is None:
                time.sleep(0.01)
            first = sampler.latest().sequence
            while sampler.latest().sequence == first:
                time.sleep(0.01)
            sampler.stop()
            last = sampler.latest().sequence
            time.sleep(0.05)
            self.assertEqual(sampler.latest().sequence, last)

    def test_names_that_are_none(self):
        for what in ("nothing", "process.nothing", "processes.name"):
            with self.assertRaises(ValueError, msg=what):
                vitals.snapshot(what)
        row = vitals.snapshot("host").host[0]
        with self.assertRaises(AttributeError):
            row.nothing
        self.assertIsNone(getattr(row, "a\0", None))
        with self.assertRaises(ValueError):
            row["nothing"]
        with self.assertRaises(ValueError):
            vitals.snapshot("host", rows="some")

    def test_html_escapes(self):
        child = subprocess.Popen([sys.executable, "-c", "print(flush=True); import time; time.sleep(60)", "<script>"],
                                 stdout=subprocess.PIPE)
        try:
            child.stdout.readline()  # until then it may have no arguments yet
            page = vitals.Process(child.pid).ask("command_line")._repr_html_()
        finally:
            child.kill()
            child.communicate()
        self.assertIn("&lt;script&gt;", page)
        self.assertNotIn("<script>", page)

    def test_rates(self):
        with vitals.Sampler("cpu", "process.cpu_seconds", interval=0.1, pids=[os.getpid()]) as sampler:
            history, seen = vitals.History(), []
            for taken in sampler:
                burn(0.05)
                history.add(taken)
                seen.append(history.rates(taken.process, "cpu_seconds"))
                if len(seen) == 5:
                    break
        self.assertEqual(seen[0], [None] * len(seen[0]))
        self.assertTrue(all(rate is not None and 0 <= rate < 1000 for row in seen[1:] for rate in row), seen)

    def test_threads_take_snapshots_at_once(self):
        wrong = []

        def many():
            try:
                for _ in range(20):
                    if vitals.snapshot("process.pid", context=DEMO).process.values("pid") == []:
                        wrong.append("empty")
            except Exception as error:  # noqa: BLE001
                wrong.append(error)
        threads = [threading.Thread(target=many) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


    def test_sampling_does_not_hold_the_gil(self):
        """Python switches threads only where one lets go: what the main thread counts while the other is in the
        library it can count only without the GIL's being held there."""
        interval = sys.getswitchinterval()
        self.addCleanup(sys.setswitchinterval, interval)
        counted, between, taken, done = [0], [], [], threading.Event()
        sampler = vitals.Sampler("processes")

        def take():
            end = time.monotonic() + 60
            while not any(between) and time.monotonic() < end:
                before = counted[0]
                taken.append(sampler.take())  # the only call between: none is freed
                between.append(counted[0] - before)
            done.set()
        thread = threading.Thread(target=take)
        sys.setswitchinterval(1000)
        thread.start()
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.0001)
        thread.join()
        self.assertTrue(any(between), f"{len(between)} snapshots")

    def test_no_thread_is_left_unless_one_is_asked_for(self):
        code = """
import os, time, vitals
def threads():
    end = time.monotonic() + 60  # a thread that has been joined may be listed for a moment more
    while (count := len(os.listdir("/proc/self/task"))) > 1 and time.monotonic() < end:
        time.sleep(0.001)
    return count
vitals.snapshot()
vitals.snapshot("gpus", context=vitals.Context(demo="default"))
vitals.Process().as_dict()
vitals.select_gpus()
print(threads(), end=" ")
with vitals.Sampler("host.memory_free_bytes", "cpu.user_seconds", "process.pid", "process.cpu_seconds") as sampler:
    sampler.take(), sampler.take()
    print(threads(), end=" ")
    sampler.start()
    print(len(os.listdir("/proc/self/task")) > 1, end=" ")
print(threads(), end=" ")
with vitals.Sampler() as sampler:
    sampler.take()
with vitals.account():
    pass
print(threads())
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.stdout, "1 1 True 1 1\n", done.stderr)


class Processes(unittest.TestCase):
    def test_ourselves(self):
        process = vitals.Process()
        self.assertEqual(process.pid, os.getpid())
        self.assertEqual(process["pid"], os.getpid())
        self.assertEqual(process.parent().pid, os.getppid())
        self.assertEqual([one.pid for one in process.ancestors()][0], os.getppid())
        self.assertEqual(process.row("threads").threads, len(os.listdir("/proc/self/task")))
        self.assertIn("PATH", process.ask("environment").environment.values("name"))

    def test_values_in_one_call(self):
        arguments = [sys.executable, "-c", "input()", "x" * 5000]
        with subprocess.Popen(arguments, stdin=subprocess.PIPE) as child:
            process = vitals.Process(child.pid)
            names = ("pid", "nice", "name", "command_line", "start_seconds", "block_delay_seconds")
            values = process.read(*names)
            self.assertEqual(values, process.row(*names).read(*names))
            self.assertEqual(values[0], child.pid)
            self.assertEqual(values[3], "\0".join([*arguments, ""]))
            for wrong in ((), ("pid", "no such metric")):
                with self.assertRaises(vitals.ArgumentError):
                    process.read(*wrong)
            child.communicate(b"\n", timeout=60)
        with self.assertRaises(vitals.GoneError):
            process.read("name")

    def test_one_that_is_none(self):
        with self.assertRaises(ProcessLookupError) as caught:
            vitals.Process(2**22 + 1)
        self.assertEqual(caught.exception.code, "gone")

    def test_without_a_free_descriptor_a_process_is_not_taken_for_dead(self):
        program = """
import errno, os, resource, subprocess, vitals.compat.psutil as psutil
with subprocess.Popen(["sleep", "60"]) as child:
    psutil.process_iter.cache_clear()
    found = {process.pid: process for process in psutil.process_iter()}[child.pid]
    resource.setrlimit(resource.RLIMIT_NOFILE, (50, 50))
    files = []
    while True:
        try:
            files.append(os.open("/dev/null", os.O_RDONLY))
        except OSError:
            break
    for ask in (found.is_running, found.name, found.parent, lambda: psutil.wait_procs([found], 0),
                lambda: found.wait(0)):
        try:
            print("got", ask())
        except psutil.Error as error:
            print("wrong", repr(error))
        except OSError as error:
            print(errno.errorcode[error.errno])
    for file in files:
        os.close(file)
    print(found.is_running(), psutil.wait_procs([found], 0)[0], found.name())
    child.kill()
"""
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.stdout, "EMFILE\n" * 5 + "True [] sleep\n", done.stderr)

    def test_children_signals_and_waiting(self):
        child = subprocess.Popen(["sleep", "60"])
        process = vitals.Process(child.pid)
        self.assertIn(process, vitals.Process().children())
        with self.assertRaises(TimeoutError):
            process.wait(0)
        process.signal(15)
        self.assertEqual(process.wait(10, reap=False), -15)
        self.assertEqual(child.wait(10), -15)  # its status is still there for whatever started it
        self.assertFalse(process.is_running())
        with self.assertRaises(vitals.GoneError):
            process["name"]

    def test_several(self):
        short, long = subprocess.Popen(["sleep", "0.1"]), subprocess.Popen(["sleep", "60"])
        told = []
        try:
            ended, alive = vitals.wait_several(map(vitals.Process, (short.pid, long.pid)), 2, told.append)
        finally:
            long.kill()
            long.wait()
            short.wait()
        self.assertEqual([one.pid for one in ended], [short.pid])
        self.assertEqual([one.pid for one in alive], [long.pid])
        self.assertEqual(told, ended)

    def test_changing(self):
        child = subprocess.Popen(["sleep", "60"])
        try:
            process = vitals.Process(child.pid)
            process.set_nice(7)
            process.set_io_priority("idle")
            process.set_limit("core", 0, 0)
            process.set_limit("nofile", 100, 200)
            self.assertEqual(resource.prlimit(child.pid, resource.RLIMIT_NOFILE), (100, 200))
            self.assertEqual(resource.prlimit(child.pid, resource.RLIMIT_CORE), (0, 0))
            with self.assertRaises(ValueError):
                process.set_affinity([-1])
            process.set_affinity([min(os.sched_getaffinity(0))])
            row = process.row("nice", "io_class")
            self.assertEqual((row.nice, row.io_class), (7, "idle"))
            self.assertEqual(os.sched_getaffinity(child.pid), {min(os.sched_getaffinity(0))})
            with self.assertRaises(ValueError):
                process.set_io_priority("often")
        finally:
            child.kill()
            child.wait()


class Runs(unittest.TestCase):
    WORK = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"

    def test_a_command(self):
        account = vitals.run([sys.executable, "-c", self.WORK + "\nraise SystemExit(3)"], interval=0.1)
        self.assertEqual(account.exit_code, 3)
        figure = account.figure("cpu_seconds")
        self.assertGreaterEqual(figure.value, 0.29)
        self.assertLess(figure.value, 3)
        self.assertTrue(figure.source)
        self.assertEqual(figure.unit, "seconds")
        self.assertIn("finished in", str(account))
        self.assertEqual(json.loads(account.json())["exit_code"], 3)
        self.assertEqual(str(pickle.loads(pickle.dumps(account))), str(account))
        with self.assertRaises(KeyError):
            account["no_such_figure"]

    def test_what_a_command_cannot_do(self):
        with self.assertRaises(subprocess.CalledProcessError) as caught:
            vitals.run(["/no/such/program"], check=True)
        self.assertEqual(caught.exception.account.exit_code, 127)
        with self.assertRaises(ValueError):
            vitals.run("ls -l")
        with self.assertRaises(ValueError):
            vitals.run([])

    def test_a_timeout_kills_the_tree(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "pid")
            with self.assertRaises(subprocess.TimeoutExpired) as caught:
                vitals.run(["sh", "-c", f"sleep 300 & echo $! >{path}; wait"], timeout=1)
            self.assertEqual(caught.exception.account.exit_code, 137)
            try:
                vitals.Process(int(path.read_text())).wait(10)  # a zombie, until its new parent reaps it
            except vitals.GoneError:
                pass

    def test_a_block(self):
        with vitals.account() as used:
            burn(0.3)
            middle = used["cpu_seconds"]
        self.assertGreaterEqual(used["cpu_seconds"], 0.28)
        self.assertLess(used["cpu_seconds"], 3)
        self.assertLessEqual(middle, used["cpu_seconds"] + 0.02)
        self.assertIn("CPU", str(used))
        self.assertNotIn("VITALS_MARKS", os.environ)

    def test_a_recording_with_phases(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "run.db")

            @vitals.phase
            def twice():
                burn(0.15)
            with vitals.record(path, interval=0.05, snapshots=True):
                twice()
                with vitals.phase("inner <&>"):
                    twice()
            recording = vitals.Recording(path)
            names = [span.name.rpartition(".")[2] for span in recording.spans]
            self.assertEqual(sorted(names), ["inner <&>", "twice", "twice"])
            self.assertTrue(all(span.end > span.begin for span in recording.spans))
            series = recording.find("cpu_seconds")
            self.assertEqual(len(series.values), len(recording.seconds))
            known = [value for value in series.values if not math.isnan(value)]
            self.assertEqual(known, sorted(known))
            self.assertIn("inner <&>", str(recording))
            self.assertGreaterEqual(len(list(vitals.replay(path))), 1)
            self.assertIn("<html", recording.report("html", title="a <run>").lower())
            self.assertGreaterEqual(recording.account["cpu_seconds"], 0.28)
            inner, twice_ = sorted(recording.phases, key=lambda phase: phase.calls)
            self.assertEqual((inner.name, inner.calls, inner.open_calls, twice_.calls), ("inner <&>", 1, 0, 2))
            self.assertGreaterEqual(twice_.seconds["total"], 0.3)
            self.assertEqual(twice_.seconds["count"], 2)
            used = inner.measures["cpu_seconds", ""]["growth"]
            self.assertIsNotNone(used)
            self.assertLessEqual(used, recording.account["cpu_seconds"] + 0.02)
            self.assertGreaterEqual(inner.samples, 1)
            self.assertIsNone(vitals.Recording(path).phases[0].measures["processes", ""]["growth"], "a gauge")

    def test_phases_of_a_command(self):
        """It has the file of marks in its environment, and ours is as before."""
        code = "import vitals, time\nwith vitals.phase('asleep'):\n    time.sleep(0.3)\n"
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "run.db")
            account = vitals.run([sys.executable, "-c", code], record=path, interval=0.05, env=dict(os.environ))
            self.assertEqual(account.exit_code, 0)
            phase, = vitals.Recording(path).phases
        self.assertEqual((phase.name, phase.calls), ("asleep", 1))
        self.assertGreaterEqual(phase.seconds["min"], 0.3)
        self.assertNotIn("VITALS_MARKS", os.environ)

    def test_a_phase_without_a_run_does_nothing(self):
        with vitals.phase("alone"):
            pass


class Psutil(unittest.TestCase):
    """What psutil's own tests (peer_suites.py) do not ask: what is read, and how often."""

    def test_a_list_reads_new_processes_only(self):
        from vitals.compat import psutil
        list(psutil.process_iter())
        read, of_some = [], psutil._of_some
        child = subprocess.Popen(["sleep", "60"])
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)

        def counted(pids, *names):
            read.extend(pids)
            return of_some(pids, *names)

        def with_another_inode():
            alive = psutil._alive[1]
            (mark,) = [mark for mark in alive if mark >> 32 == child.pid]
            alive[mark ^ 1] = alive.pop(mark)
            psutil._alive = b"", alive
        with unittest.mock.patch.object(psutil, "_of_some", counted):
            found = {process.pid: process for process in psutil.process_iter()}
        self.assertIn(child.pid, read)
        self.assertNotIn(os.getpid(), read)
        self.assertEqual(found[child.pid], psutil.Process(child.pid))
        # Another process with the pid of one that is known: its folder has another inode.
        before = found[child.pid]
        before._start -= 1
        with_another_inode()
        found = {process.pid: process for process in psutil.process_iter()}
        self.assertIsNot(found[child.pid], before)
        self.assertEqual(found[child.pid], psutil.Process(child.pid))
        # The same process; the kernel made its folder in /proc anew; opened, and where many are new by a snapshot.
        for few in (psutil._FEW, 0):
            with_another_inode()
            with unittest.mock.patch.object(psutil, "_FEW", few):
                again = {process.pid: process for process in psutil.process_iter()}
            self.assertIs(again[child.pid], found[child.pid])
        child.kill()
        child.wait()
        self.assertNotIn(child.pid, [process.pid for process in psutil.process_iter()])
        self.assertNotIn(child.pid, psutil._pmap)

    def test_the_machine_is_read_again_without_a_thread_and_after_a_fork(self):
        code = """
import os, sys
from vitals.compat import psutil
def all_of_it():
    return [psutil.cpu_times(), psutil.cpu_times(percpu=True), psutil.virtual_memory(), psutil.swap_memory(),
            psutil.cpu_stats(), psutil.getloadavg(), psutil.disk_io_counters(), psutil.net_io_counters(),
            psutil.boot_time(), psutil.cpu_count(), psutil.cpu_count(logical=False)]
first = all_of_it()
files = len(os.listdir("/proc/self/fd"))
end = os.times().elapsed + 0.3
while os.times().elapsed < end: all_of_it()
now = all_of_it()
assert sum(now[0]) > sum(first[0]), (first[0], now[0])
assert sum(map(sum, now[1])) > sum(map(sum, first[1]))
assert len(os.listdir("/proc/self/fd")) == files, os.listdir("/proc/self/fd")
assert os.listdir("/proc/self/task") == [str(os.getpid())]
child = os.fork()
if child == 0:
    os._exit(0 if sum(all_of_it()[0]) >= sum(now[0]) else 1)
assert os.waitpid(child, 0)[1] == 0
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_several_attributes_are_those_one_by_one(self):
        from vitals.compat import psutil
        child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(child.communicate)
        child.stdin.write(b"there\n")
        child.stdin.flush()
        child.stdout.readline()
        process = psutil.Process(child.pid)
        names = ["pid", "ppid", "name", "status", "nice", "num_threads", "memory_info"]
        while process.status() != "sleeping":
            time.sleep(0.01)
        told = process.as_dict(names)
        self.assertEqual(list(told), names)
        self.assertEqual(told, {name: process.pid if name == "pid" else getattr(process, name)() for name in names})
        (listed,) = [one.info for one in psutil.process_iter(names) if one.pid == child.pid]
        self.assertEqual(told, listed)

        class Renamed(psutil.Process):
            def name(self):
                return "another"
        self.assertEqual(Renamed(child.pid).as_dict(["name", "ppid"])["name"], "another")


    def test_three_thousand_objects_with_a_thousand_descriptors(self):
        program = """
import os, resource, signal, subprocess, vitals.compat.psutil as psutil
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))
children = [subprocess.Popen(["sleep", "600"]) for _ in range(20)]
try:
    objects = [psutil.Process(child.pid) for child in children for _ in range(150)]
    print(len(objects), len(os.listdir("/proc/self/fd")) < 700)
    for ask in (psutil.Process.is_running, psutil.Process.name, psutil.Process.nice, psutil.Process.cwd,
                lambda one: one.memory_info().rss > 0, psutil.Process.ppid):
        assert [ask(one) for one in objects] == [ask(psutil.Process(one.pid)) for one in objects], ask
    gone, alive = psutil.wait_procs(objects, 0)
    print(len(gone), len(alive), len(os.listdir("/proc/self/fd")) < 1000)
    children[3].kill()
    children[3].wait()
    dead = [one for one in objects if one.pid == children[3].pid]
    print([one.is_running() for one in dead].count(True), len(dead))
    lent = next(one for one in dead if one._held is None)
    for method in (lent.name, lent.nice, lent.memory_info, lent.kill):
        try:
            print("got", method())
        except psutil.NoSuchProcess:
            print("gone")
    # Another process that began in the same clock tick and has the pid.
    other = next(one for one in objects if one._held is None and one.pid != children[3].pid)
    other._inode += 1
    del other._lent
    psutil._lent_handles.clear()
    print(other.is_running())
    for one in objects[::150]:
        if one.is_running():
            one.kill()
    gone, alive = psutil.wait_procs(objects, 60, lambda one: None)
    print(len(gone), len(alive), {one.returncode for one in gone} <= {-signal.SIGKILL, None})
finally:
    for child in children:
        child.kill()
"""
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.stdout.splitlines(), [
            "3000 True", "0 20 True", "0 150", *["gone"] * 4, "False", "20 0 True"], done.stderr)

    def test_one_file_is_read_once(self):
        from vitals.compat import psutil
        child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
        self.addCleanup(child.communicate)
        process = psutil.Process(child.pid)

        def reads():
            with open("/proc/self/io", encoding="ascii") as file:
                return int(next(line for line in file if line.startswith("syscr")).split()[1])
        times = 50
        for method, most in ((process.io_counters, 1), (process.memory_info, 1), (process.cmdline, 1), (process.uids, 1),
                             (lambda: process.as_dict(["io_counters", "ppid"]), 2),
                             (process.cwd, 0), (process.nice, 0), (process.cpu_affinity, 0), (process.is_running, 0)):
            method()
            before = reads()
            for _ in range(times):
                method()
            self.assertLess(reads() - before, (most + 0.9) * times, method)

    def test_what_is_read_directly_is_what_an_answer_has(self):
        child = subprocess.Popen(["sleep", "600"])
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        process = vitals.Process(child.pid)
        while process["state"] != "sleeping" or process["executable"] == os.path.realpath(sys.executable):
            time.sleep(0.01)
        names = ("uid", "gid", "resident_bytes", "virtual_bytes", "read_bytes", "written_bytes", "read_calls",
                 "command_line", "working_directory", "executable", "io_class", "io_level", "oom_score_adjust")
        row = process.row(*names)
        values, states = process.read_available(names)
        self.assertEqual(values, [row[name] for name in names])
        self.assertEqual([state > 127 for state in states], [value is None for value in values])
        self.assertEqual([process[name] for name in names], values)
        self.assertEqual(process.read(*names, "name"), [*values, "sleep"])
        long = subprocess.Popen(["sleep", *["600"] * 3000])
        self.addCleanup(long.wait)
        self.addCleanup(long.kill)
        while not str(vitals.Process(long.pid)["command_line"]).startswith("sleep"):
            time.sleep(0.01)
        self.assertEqual(vitals.Process(long.pid)["command_line"], "sleep\0" + "600\0" * 3000)

    def test_tables_that_are_read_directly(self):
        """Without a snapshot, and without a thread that is left."""
        names = ("mount_point", "device", "type", "options")
        rows = vitals.snapshot("mount").mount.rows(*names)
        self.assertEqual(sorted(map(str, vitals.read_rows("mount", *names))), sorted(map(str, rows)))
        self.assertIn(["lo"], vitals.read_rows("network", "name"))
        self.assertEqual(os.listdir("/proc/self/task"), [str(os.getpid())])
        for wrong in (("mount", "none"), ("none", "type"), ("process", "name"), ("host", "cpu_user_seconds"), ("mount",)):
            with self.assertRaises(vitals.ArgumentError, msg=wrong):
                vitals.read_rows(*wrong)
        with self.assertRaises(vitals.UnsupportedError):
            vitals.read_rows("gpu", "name")

    def test_tables_of_a_process_that_are_read_directly(self):
        given = {"PATH": os.environ["PATH"], "LONG": "long " * 10000, "EMPTY": "", "Ä": "\udcff"}
        child = subprocess.Popen(["sleep", "600"], env=given)
        self.addCleanup(child.kill)
        process = vitals.Process(child.pid)
        while process["state"] != "sleeping" or process["executable"] == os.path.realpath(sys.executable):
            time.sleep(0.01)
        self.assertEqual(process.environment(), given)
        for table, names in (("environment", ("name", "value")), ("thread", ("tid", "name", "cpu_user_seconds")),
                             ("limit", ("name", "soft", "hard_unlimited")), ("mapping", ("path", "resident_bytes"))):
            self.assertEqual(process.read_rows(table, *names), process.ask(table)[table].rows(*names), table)
        with self.assertRaises(vitals.ArgumentError):
            process.read_rows("mount", "type")
        child.kill()
        while process["state"] != "zombie":
            time.sleep(0.01)
        self.assertEqual([row[0] for row in process.read_rows("thread", "tid")], [child.pid])
        for ask in (process.environment, lambda: process.read_rows("environment", "name")):
            self.assertRaises(vitals.GoneError, ask)
        child.wait()
        for ask in (process.environment, lambda: process.read_rows("thread", "tid")):
            self.assertRaises(vitals.GoneError, ask)

    def test_what_the_kernel_says_of_a_pid(self):
        """By one call that proves the process behind it; of a zombie and of a reaped process as ever."""
        from vitals.compat import psutil
        child = subprocess.Popen(["sleep", "600"], cwd="/", preexec_fn=lambda: os.nice(3))
        self.addCleanup(child.kill)
        process = psutil.Process(child.pid)
        (found,) = [one for one in psutil.process_iter() if one.pid == child.pid]
        process.cpu_affinity([min(os.sched_getaffinity(0))])
        process.ionice(psutil.IOPRIO_CLASS_BE, 5)
        process.rlimit(psutil.RLIMIT_NOFILE, (99, 100))
        process.rlimit(psutil.RLIMIT_CORE, (0, psutil.RLIM_INFINITY) if os.geteuid() == 0 else (0, 0))
        nice = min(os.nice(0) + 3, 19)  # the tests may be run by nice(1)
        for one in (process, found):
            self.assertEqual((one.nice(), one.cwd(), one.cpu_affinity()), (nice, "/", [min(os.sched_getaffinity(0))]))
            self.assertEqual(one.ionice(), (psutil.IOPRIO_CLASS_BE, 5))
            self.assertEqual(one.rlimit(psutil.RLIMIT_NOFILE), (99, 100))
            self.assertEqual(one.rlimit(psutil.RLIMIT_CORE)[0], 0)
            with one.oneshot():
                self.assertEqual((one.nice(), one.cwd()), (3, "/"))
        child.kill()
        while process.status() != "zombie":
            time.sleep(0.01)
        self.assertEqual(process.nice(), 3)
        self.assertRaises(psutil.ZombieProcess, process.cwd)
        self.assertRaises(psutil.ZombieProcess, process.environ)
        child.wait()
        for ask in (process.nice, process.ionice, process.cwd, process.cpu_affinity, process.environ, process.threads,
                    process.open_files, process.net_connections, lambda: process.rlimit(psutil.RLIMIT_NOFILE)):
            with self.assertRaises(psutil.NoSuchProcess, msg=ask) as raised:
                ask()
            self.assertNotIsInstance(raised.exception, psutil.ZombieProcess)

    def test_the_machine_is_as_psutil_has_it(self):
        try:
            import psutil as theirs
        except ImportError:
            self.skipTest("psutil is not installed")
        from vitals.compat import psutil as ours

        def plain(value):
            if isinstance(value, dict):
                return {name: plain(one) for name, one in value.items()}
            return [tuple(one) for one in value] if isinstance(value, list) else value
        for ask in (lambda one: one.net_if_addrs(), lambda one: one.cpu_count(),
                    lambda one: {name: stats[0:1] + stats[3:] for name, stats in one.net_if_stats().items()},
                    lambda one: [part[1:3] for part in one.disk_partitions(all=True)]):
            self.assertEqual(plain(ask(ours)), plain(ask(theirs)))

    def test_rows_of_a_table_at_once(self):
        taken = vitals.snapshot("process.pid", "process.name", "process.working_directory")
        names = ("pid", "name", "working_directory")
        self.assertEqual(taken.process.rows(*names), [[row[name] for name in names] for row in taken.process])
        with vitals.Sampler("network.name", "network.received_bytes") as sampler:
            rows = sampler.take_rows("network", "name", "received_bytes")
            self.assertEqual([name for name, _ in rows], sampler.take().network.values("name"))
        with vitals.Sampler("process.pid", "process.command_line", "process.name") as sampler:
            self.assertIn([os.getpid()], [row[:1] for row in sampler.take_rows("process", "pid", "command_line", "name")])


class ManyProcesses(unittest.TestCase):
    def test_after_fork(self):
        sampler = vitals.Sampler("cpu")
        sampler.take()
        child = os.fork()
        if child == 0:
            try:
                sampler.take()
            except vitals.VitalsError:
                count = len(vitals.snapshot("cpu").cpu)
                del sampler
                os._exit(0 if count else 2)
            os._exit(1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertTrue(sampler.take())

    def test_multiprocessing(self):
        for method in ("fork", "spawn"):
            with self.subTest(method), multiprocessing.get_context(method).Pool(2) as pool:
                for seconds in pool.map(used_by_a_worker, [0.1, 0.1]):
                    self.assertGreaterEqual(seconds, 0.09)
                    self.assertLess(seconds, 3)


class Command(unittest.TestCase):
    def test_python_m_vitals(self):
        done = subprocess.run([sys.executable, "-m", "vitals", "run", "--", "sh", "-c", "exit 5"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("exit 5", done.stderr)

    def test_commands_of_nvitop(self):
        """nvitop, nvisel and nvitop-exporter: with the options of each, by the command of the package."""
        for module, arguments, told in (("", ["-1", "--demo"], "GPU"), ("", SCREEN, "GPU Fan Temp Perf"), (".nvisel", ["--demo", "--format", "index"], "0"),
                                        (".exporter", ["--help"], "serve")):
            done = subprocess.run([sys.executable, "-m", f"vitals.compat.nvitop{module}", *arguments],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, (module, done.stderr))
            self.assertIn(told, done.stdout)
        usual = subprocess.run([sys.executable, "-m", "vitals", *SCREEN], capture_output=True, text=True, check=True)
        self.assertNotIn("GPU Fan Temp Perf", usual.stdout, "the screen of vitals is another one")

    def imported(self, code):
        """The modules that a program imports, less those that the interpreter has at its start."""
        done = subprocess.run(
            [sys.executable, "-c", f"import sys; before = set(sys.modules); {code}; "
             "print(*sorted(set(sys.modules) - before))"], capture_output=True, text=True, check=True)
        return set(done.stdout.split())

    def test_import_is_light(self):
        """By what is imported: times are those of the machine."""
        self.assertLessEqual(self.imported("import vitals"), {"vitals", "__future__"})
        heavy = {"typing", "re", "enum", "numpy", "pandas", "psutil", "asyncio", "multiprocessing",
                 "importlib.metadata", "subprocess", "threading", "socket", "logging", "datetime", "json", "ctypes"}
        snapshot = self.imported("import vitals; vitals.snapshot")
        self.assertEqual(snapshot & heavy, set())
        self.assertLessEqual(len(snapshot), 9, snapshot)
        process = self.imported("import vitals; vitals.Process")
        self.assertEqual(process & heavy, set())
        later = {"subprocess", "datetime", "logging", "json", "ctypes", "multiprocessing", "asyncio",
                 "importlib.metadata", "curses", "psutil", "pynvml", "numpy", "typing", "re", "enum", "socket", "signal"}
        self.assertEqual(self.imported("import vitals.compat.psutil") & later, set())
        self.assertEqual(self.imported("import vitals.compat.nvitop") & later, set())

    def test_every_public_name(self):
        for name in vitals.__all__:
            self.assertTrue(hasattr(vitals, name), name)


if __name__ == "__main__":
    unittest.main()
