"""vitals.compat.nvitop: its values and words, its devices on demo devices, and, method by method, beside nvitop itself
on the simulated driver library."""

import contextlib
import copy
import datetime
import importlib.util
import io
import json
import math
import multiprocessing
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

import vitals
import vitals.compat.nvitop as nvitop
from counted import interpreter
from vitals.compat.nvitop import NA, GpuProcess, HostProcess, Snapshot, host, libnvml, readings

DEMO = vitals.Context(demo="default")


class Values(unittest.TestCase):
    def test_what_is_not_available(self):
        self.assertIs(nvitop.NaType(), NA)
        self.assertIs(nvitop.NotApplicable, NA)
        self.assertEqual((NA, bool(NA), int(NA), round(NA), f"{NA:>5}"), ("N/A", False, 0, 0, "  N/A"))
        self.assertIs(float(NA), math.nan)
        for value in (NA + 1, 1 + NA, NA - 1.5, 2 * NA, NA / 1024, 1 // NA, 7 % NA, NA + NA, -NA, abs(NA), round(NA, 1),
                      *divmod(NA, 5), *divmod(5, NA)):
            self.assertTrue(isinstance(value, float) and math.isnan(value), value)
        self.assertEqual((NA + "!", "!" + NA, f"{NA:.1f}"), ("N/A!", "!N/A", "nan"))
        self.assertTrue(NA > 1e300 and NA >= 1e300 and not NA < 1 and not NA <= 1)
        self.assertEqual(sorted([NA, 3, 1]), [1, 3, NA])
        self.assertIs(pickle.loads(pickle.dumps(NA)), NA)
        self.assertIs(copy.deepcopy(NA), NA)
        for wrong in (lambda: NA - "x", lambda: "x" - NA, lambda: NA * "x"):
            self.assertRaises(TypeError, wrong)
        for wrong in (lambda: NA / 0, lambda: NA // 0.0, lambda: divmod(NA, 0)):
            self.assertRaises(ZeroDivisionError, wrong)

    def test_sizes(self):
        kib, mib, gib, tib = 2**10, 2**20, 2**30, 2**40
        for size, words in ((0, "0B"), (1023, "1023B"), (1024, "1KiB"), (mib - 1, "1024KiB"), (mib, "1.00MiB"),
                            (100 * mib - 1, "100.00MiB"), (100 * mib, "100.0MiB"), (1000 * mib, "1000MiB"),
                            (20 * gib - 1, "20480MiB"), (20 * gib, "20.00GiB"), (100 * gib, "100.0GiB"),
                            (1000 * gib, "0.98TiB"), (100 * tib, "100.0TiB"), (1000 * tib, "0.98PiB"),
                            (10**20, "88817.8PiB"), (1.5 * kib, "2KiB"), (NA, "N/A"), (math.nan, "N/A")):
            self.assertEqual(nvitop.bytes2human(size), words, size)
        self.assertEqual(nvitop.bytes2human(512, min_unit=nvitop.MiB), "0.00MiB")
        for words, size in (("200", 200), ("500B", 500), ("10k", 10000), ("10ki", 10240), ("1MiB", mib), (7, 7),
                            (" + 1.5 gib ".replace("5 g", "5g"), 3 * gib // 2)):
            self.assertEqual(nvitop.human2bytes(words), size, words)
        for wrong in ("", "x", "1e3", "-1", "1 kiib", -1):
            self.assertRaises(ValueError, nvitop.human2bytes, wrong)

    def test_words(self):
        for seconds, words in ((0, "0:00"), (65, "1:05"), (3600, "1:00:00"), (93599, "25:59:59"),
                               (345599, "95:59:59"), (345600, "4.0 days"), (NA, "N/A")):
            self.assertEqual(nvitop.timedelta2human(seconds), words)
        self.assertEqual(nvitop.timedelta2human(datetime.timedelta(days=1.5), round=True), "1.5 days")
        self.assertEqual([nvitop.utilization2string(one) for one in (5, 5.25, NA)], ["5%", "5.2%", "N/A"])
        self.assertEqual([nvitop.boolify(word) for word in ("Yes", "enabled", "off", "0", "", "maybe")],
                         [True, True, False, False, False, True])
        self.assertFalse(nvitop.boolify("maybe", default=0))
        for line, words in ((["a", "b c", ""], 'a "b c" ""'), (["it's"], "it's"), (["a", 'say "x"'], "a 'say \"x\"'"),
                            (["a", "$x", "a\nb", "'$"], "a '$x' \"a\\nb\" \"'\\$\""), (["worker 3"], "worker 3")):
            self.assertEqual(nvitop.command_join(line), words)

    def test_colors(self):
        before = dict(os.environ)
        try:
            nvitop.set_color(True)
            self.assertEqual(nvitop.colored("x", "red", "on_white", ["bold"]), "\033[1m\033[107m\033[31mx\033[0m")
            nvitop.set_color(False)
            self.assertEqual(nvitop.colored("x", "red"), "x")
        finally:
            os.environ.clear()
            os.environ.update(before)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            nvitop.termcolor.cprint("x", "green", force_color=True)
        self.assertEqual(out.getvalue(), "\033[32mx\033[0m\n")

    def test_a_cache_forgets(self):
        now, calls = [0.0], []

        @nvitop.ttl_cache(maxsize=2, ttl=10, timer=lambda: now[0])
        def square(number):
            calls.append(number)
            return number * number
        self.assertEqual([square(3), square(3), square(4), square(5), square(3)], [9, 9, 16, 25, 9])
        self.assertEqual(calls, [3, 4, 5, 3])
        self.assertEqual(tuple(square.cache_info()), (1, 4, 2, 2))
        now[0] = 11
        square(3)
        self.assertEqual(calls[4:], [3])
        square.cache_clear()
        self.assertEqual(square.cache_info().currsize, 0)
        self.assertRaises(TypeError, nvitop.ttl_cache, "x")
        self.assertRaises(ValueError, nvitop.ttl_cache, 1, ttl=-1)

    def test_errors(self):
        error = nvitop.NVMLError(15)
        self.assertIsInstance(error, libnvml.NVMLError_GpuIsLost)
        self.assertEqual((str(error), error.value), ("GPU is lost", libnvml.NVML_ERROR_GPU_IS_LOST))
        self.assertIs(libnvml.nvmlExceptionClass(6), libnvml.NVMLError_NotFound)
        self.assertEqual(libnvml.NVMLError_NotFound().value, 6)
        self.assertRaises(ValueError, libnvml.nvmlExceptionClass, 7777)
        self.assertTrue(nvitop.nvmlCheckReturn(1) and not nvitop.nvmlCheckReturn(NA) and
                        not nvitop.nvmlCheckReturn("x", int))
        self.assertIs(nvitop.libcuda.cudaExceptionClass(100), nvitop.libcuda.CUDAError_NoDevice)
        self.assertIsInstance(nvitop.libcudart.cudaError(35), nvitop.libcudart.cudaError_InsufficientDriver)
        for library in (nvitop.libcuda._library, nvitop.libcudart._library):  # as on a machine without a driver
            for name, value in (("_files", lambda: []), ("_opened", None)):
                nothing = unittest.mock.patch.object(library, name, value)
                nothing.start()
                self.addCleanup(nothing.stop)
        self.assertFalse(nvitop.libcuda.is_available() or nvitop.libcudart.is_available())
        self.assertRaises(nvitop.libcuda.CUDAError, nvitop.libcuda.cuInit)
        self.assertIs(nvitop.Device.cuda_runtime_version(), NA)

    def test_a_snapshot(self):
        class Thing:
            def __init__(self):
                self.asked = 0

            def more(self):
                self.asked += 1
                return self.asked
        thing = Thing()
        snapshot = Snapshot(thing, a=1, b=2)
        self.assertEqual(dict(snapshot), {"a": 1, "b": 2})
        self.assertEqual((snapshot["a"], {**snapshot}["b"], [*snapshot]), (1, 2, ["a", "b"]))
        self.assertEqual((snapshot.more, snapshot.more, thing.asked), (1, 1, 1))
        snapshot.a = 5
        self.assertEqual(snapshot["a"], 5)
        self.assertRaises(AttributeError, setattr, snapshot, "real", 1)
        self.assertRaises(AttributeError, lambda: snapshot.nothing)
        self.assertRaises(KeyError, lambda: snapshot["nothing"])
        self.assertTrue(repr(Snapshot(3, x=1)).startswith("intSnapshot(\n    real=3,\n    x=1,\n)"))
        self.assertLess(abs(snapshot.timestamp - time.time()), 60)

    def test_every_public_name(self):
        self.assertEqual(len(nvitop.__all__), len(set(nvitop.__all__)))
        for name in nvitop.__all__:
            self.assertTrue(hasattr(nvitop, name), name)
        import vitals.compat.nvitop.api.device as device
        self.assertIs(device.Device, nvitop.Device)

    def test_callbacks_have_their_older_names(self):
        from vitals.compat.nvitop.callbacks.keras import GpuStatsLogger as keras
        from vitals.compat.nvitop.callbacks.lightning import GpuStatsLogger as lightning
        from vitals.compat.nvitop.callbacks.pytorch_lightning import GpuStatsLogger as older
        from vitals.compat.nvitop.callbacks.tensorboard import add_scalar_dict
        told = []

        class Writer:
            def add_scalar(self, *what):
                told.append(what)
        add_scalar_dict(Writer(), "gpu", {"a": 1.0}, 7)
        self.assertEqual(told, [("gpu/a", 1.0, 7, None)])
        self.assertIs(lightning, older)
        for make, modules in ((keras, ("keras",)), (lightning, ("lightning", "pytorch_lightning"))):
            if not any(importlib.util.find_spec(name) for name in modules):
                self.assertRaises(ImportError, make)  # of the framework, which is loaded now

    def test_without_nvidia_ml_py(self):
        text = ("import sys; sys.modules['pynvml'] = None\nimport vitals, vitals.compat.nvitop as nvitop\n"
                "nvitop.readings.use(vitals.Context(demo='default'))\ndevice = nvitop.Device(0)\n"
                "print(device.max_mig_device_count(), hasattr(device, 'no_such_thing'), len(dict(device.as_snapshot())))\n"
                "try: device.handle\nexcept ModuleNotFoundError: print('no handle')\n")
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, f"0 False {len(nvitop.Device.SNAPSHOT_KEYS) + 2}\nno handle\n", done.stderr)

    def test_import_is_light(self):
        done = subprocess.run([sys.executable, "-c", "import sys, vitals.compat.nvitop; print(sorted({'numpy', 'psutil', "
                               "'pynvml', 'ctypes', 'multiprocessing', 'logging'} & set(sys.modules)))"],
                              capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "[]\n")


class Demo(unittest.TestCase):
    """Device 0 is whole, device 1 is divided."""

    def setUp(self):
        readings.use(DEMO)
        self.addCleanup(readings.use, None)
        os.environ.pop("CUDA_VISIBLE_DEVICES", None)

    def test_which_there_are(self):
        devices = nvitop.Device.all()
        self.assertEqual([device.index for device in devices], list(range(nvitop.Device.count())))
        first = devices[0]
        self.assertIsInstance(first, nvitop.PhysicalDevice)
        self.assertEqual(nvitop.Device(uuid=first.uuid()), first)
        self.assertEqual(nvitop.Device(bus_id=first.bus_id()), first)
        self.assertEqual(pickle.loads(pickle.dumps(first)), first)
        self.assertEqual(hash(nvitop.Device(0)), hash(first))
        self.assertNotEqual(devices[1], first)
        part = devices[1].mig_devices()[0]
        self.assertIsInstance(part, nvitop.MigDevice)
        self.assertEqual((part.index, part.physical_index, part.mig_index, part.parent), ((1, 0), 1, 0, devices[1]))
        self.assertIn(" MIG ", part.name())
        self.assertEqual(devices[1].to_leaf_devices(), devices[1].mig_devices())
        self.assertTrue(part.is_leaf_device() and first.is_leaf_device() and not devices[1].is_leaf_device())
        for wrong, error in ((77, libnvml.NVMLError_InvalidArgument), ((0, 1, 2), TypeError), ("x", TypeError),
                             (1.5, TypeError), ((1, 6), libnvml.NVMLError_NotFound)):
            self.assertRaises(error, nvitop.Device, wrong)
        self.assertRaises(TypeError, nvitop.Device)
        self.assertRaises(libnvml.NVMLError_NotFound, nvitop.Device, uuid="GPU-77777777")

    def test_a_snapshot_is_of_one_moment(self):
        device = nvitop.Device(0)
        snapshot = device.as_snapshot()
        self.assertEqual(set(snapshot), {*nvitop.Device.SNAPSHOT_KEYS, "index", "physical_index"})
        used = snapshot.memory_used
        time.sleep(0.3)
        self.assertEqual((snapshot.memory_info.used, snapshot.memory_used_human), (used, nvitop.bytes2human(used)))
        self.assertEqual(snapshot.memory_percent, round(100 * used / snapshot.memory_total, 1))
        self.assertEqual(pickle.loads(pickle.dumps(snapshot)).memory_used, used)
        with device.oneshot():
            self.assertEqual(device.power_usage(), device.power_draw())
            self.assertEqual(device.memory_used(), device.memory_info().used)

    def test_the_keys_of_a_snapshot_may_be_changed(self):
        class Own(nvitop.PhysicalDevice):
            SNAPSHOT_KEYS = ["name", "uuid"]
        device = Own(0)
        self.assertEqual(list(device.as_snapshot())[2:], ["name", "uuid"])
        Own.SNAPSHOT_KEYS = ["name", "bus_id"]
        self.assertEqual(list(device.as_snapshot())[2:], ["name", "bus_id"])

    def test_units(self):
        row = vitals.snapshot("gpus", context=DEMO).gpu[0]
        device = nvitop.Device(0)
        self.assertEqual(device.memory_total(), row.memory_total_bytes)
        self.assertEqual(device.power_limit(), round(row.power_limit_set_watts * 1000))
        self.assertTrue(0 <= device.gpu_utilization() <= 100)
        self.assertTrue(10 <= device.temperature() <= 110)
        self.assertTrue(100 <= device.sm_clock() <= 5000)
        self.assertRegex(device.power_status(), r"^\d+W / \d+W$")
        self.assertRegex(device.driver_version(), r"^\d+\.\d+")
        self.assertEqual(len(device.cuda_compute_capability()), 2)

    def test_snapshots_of_all(self):
        devices, processes = nvitop.take_snapshots()
        indices = [device.index for device in devices]
        self.assertEqual(indices[:2], [0, 1])
        self.assertIn((1, 0), indices)
        self.assertTrue(processes)
        for process in processes:
            self.assertIn(process.type, ("C", "G", "C+G", NA))
            self.assertTrue(process.device.is_leaf_device())
        self.assertEqual(nvitop.take_snapshots(gpu_processes=False).gpu_processes, [])
        some = nvitop.take_snapshots(gpu_processes=processes[0].real)
        self.assertEqual([one.real for one in some.devices], [processes[0].device])
        self.assertEqual(nvitop.take_snapshots(nvitop.Device(0)).devices[0].real, nvitop.Device(0))

    def test_choosing(self):
        devices = nvitop.Device.all()
        whole = [device.index for device in devices if device.is_leaf_device()]
        self.assertEqual(sorted(nvitop.select_devices(sort=False, min_count=1)), whole)
        best = nvitop.select_devices(max_count=1, format="device", min_count=1)
        self.assertIn(best[0].index, whole)
        self.assertEqual(nvitop.select_devices(min_free_memory="1000GiB"), [])
        part = nvitop.select_devices(devices[1:2])  # of MIG devices one, as a uuid
        self.assertEqual(len(part), 1)
        self.assertIn(part[0], [device.uuid() for device in devices[1].mig_devices()])
        self.assertEqual(nvitop.Device(uuid=part[0]).index,
                         nvitop.select_devices(devices[1:2], force_index=True)[0])
        self.assertEqual(nvitop.select_devices(max_count=0), [])
        self.assertEqual(nvitop.select_devices(devices[:1], min_total_memory=devices[0].memory_total() + 1), [])
        self.assertEqual(nvitop.select_devices(devices[:1], min_total_memory=devices[0].memory_total() + 1,
                                               tolerance=5), [0])
        self.assertRaises(AssertionError, nvitop.select_devices, format="names")

    def test_cuda(self):
        os.environ["CUDA_VISIBLE_DEVICES"] = "0"
        os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
        self.addCleanup(os.environ.pop, "CUDA_VISIBLE_DEVICES")
        self.addCleanup(os.environ.pop, "CUDA_DEVICE_ORDER")
        seen = nvitop.parse_cuda_visible_devices()
        devices = nvitop.CudaDevice.all()
        self.assertEqual([device.index for device in devices], seen)
        self.assertEqual([device.cuda_index for device in devices], list(range(len(seen))))
        self.assertEqual(nvitop.Device.cuda(0), devices[0])
        self.assertEqual(nvitop.CudaDevice(nvml_index=seen[0]), devices[0])
        self.assertEqual(nvitop.Device(seen[0]).cuda_index, 0)
        self.assertEqual(devices[0].as_snapshot()["cuda_index"], 0)
        self.assertEqual(nvitop.normalize_cuda_visible_devices(), ",".join(device.uuid() for device in devices))
        for text in ("", "0,0", "77"):
            self.assertEqual(nvitop.parse_cuda_visible_devices(text), [])
        self.assertRaises(RuntimeError, nvitop.CudaDevice, 77)
        self.assertRaises(RuntimeError, nvitop.Device.from_cuda_indices, [0, 77])
        self.assertIsInstance(nvitop.CudaDevice(nvml_index=0), nvitop.CudaDevice)
        os.environ["CUDA_VISIBLE_DEVICES"] = "1"
        part = nvitop.CudaDevice(0)
        self.assertIsInstance(part, nvitop.CudaMigDevice)
        self.assertEqual((part.index, part.cuda_index, part.mig_index), ((1, 0), 0, 0))

    def test_collector(self):
        collector = nvitop.ResourceMetricCollector(root_pids={1}, interval=0.05)
        self.assertRaises(RuntimeError, collector.collect)
        with collector("train"):
            self.assertRaises(RuntimeError, collector.start, "train")
            time.sleep(0.2)
            with collector("batch"):
                inner = collector.collect()
            outer = collector.collect()
            self.assertRaises(RuntimeError, collector.stop, "batch")
            collector.clear()
        self.assertTrue(all(key.startswith("train/batch/") for key in inner), inner)
        self.assertGreater(outer["train/duration (s)"], inner["train/batch/duration (s)"])
        for name in ("mean", "min", "max", "last"):
            self.assertIn(f"train/gpu:0/gpu_utilization (%)/{name}", outer)
            self.assertIn(f"train/host/cpu_percent (%)/{name}", outer)
        low, mean, high = (outer[f"train/gpu:0/memory_used (MiB)/{name}"] for name in ("min", "mean", "max"))
        self.assertTrue(low <= mean * (1 + 1e-9) and mean <= high * (1 + 1e-9), (low, mean, high))
        self.assertEqual(outer["train/gpu:0/memory_total (MiB)/last"], nvitop.Device(0).memory_total() / 2**20)
        self.assertRaises(ValueError, nvitop.ResourceMetricCollector, interval=0)

    def test_a_collector_keeps_no_descriptors_of_children_that_have_ended(self):
        collector = nvitop.ResourceMetricCollector()
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(20):
            with subprocess.Popen(["sleep", "60"]) as child:
                self.assertTrue(collector._is_ours(HostProcess(child.pid)))
                child.kill()
        self.assertTrue(collector._is_ours(HostProcess()))
        self.assertLess(len(os.listdir("/proc/self/fd")), before + 10)

    def test_a_collector_goes_on_after_an_error(self):
        collector = nvitop.ResourceMetricCollector(interval=0.01)
        again, fails = threading.Event(), iter((libnvml.NVMLError(15), host.AccessDenied(1), vitals.DeniedError("no")))

        def take():
            error = next(fails, None)
            if error is not None:
                raise error
            again.set()
        with unittest.mock.patch.object(collector, "take_snapshots", take), collector("train"):
            self.assertTrue(again.wait(60))

    def test_the_order_of_what_is_not_known(self):
        from vitals.compat.nvitop import select
        values = {"loosen_constraints": 0, "memory_used": NA, "gpu_utilization": NA, "memory_utilization": 5}
        devices = [Snapshot(number, physical_index=number, memory_free=free, **values)
                   for number, free in enumerate((2, NA, 3, NA, 1))]
        self.assertEqual([device.real for device in sorted(devices, key=select._order)], [3, 1, 2, 0, 4])
        self.assertEqual(select._order(devices[1])[1:4], ((False, 0.0),) * 3)

    def test_memory_that_is_not_known_is_not_counted_as_free(self):
        from vitals.compat.nvitop import select
        users = [unittest.mock.Mock(**{"gpu_memory.return_value": size, "username.return_value": "ann"})
                 for size in (10, NA, 20)]
        real = unittest.mock.Mock(**{"processes.return_value": dict(enumerate(users))})
        device = unittest.mock.Mock(real=real, memory_free=100, memory_used=50)
        select._count_as_free([device], {"ann"})
        self.assertEqual((device.memory_free, device.memory_used), (130, 20))

    def test_means(self):
        statistic = nvitop.collector._Statistic(10.0)
        for value, at in ((4.0, 11.0), (8.0, 13.0), (math.nan, 14.0), (2.0, 15.0)):
            statistic.add(value, at)
        values = statistic.values()
        # 4 for one second, 6 for two, 5 for two; the mean ends at the last value because one was missing.
        self.assertAlmostEqual(values["mean"], (4 * 1 + 6 * 2 + 5 * 2) / 5)
        self.assertEqual((values["min"], values["max"], values["last"]), (2.0, 8.0, 2.0))

    def test_collecting_in_the_background(self):
        told, ended = [], []
        thread = nvitop.collect_in_background(lambda metrics: told.append(metrics) or len(told) < 3, interval=0.01,
                                              on_stop=ended.append)
        thread.join(30)
        self.assertEqual((len(told), len(ended)), (3, 1))
        self.assertTrue(all("metrics-daemon/gpu:0/temperature (C)/mean" in one for one in told))

    def test_after_a_fork(self):
        device = nvitop.Device(0)
        used = device.memory_total()
        with multiprocessing.get_context("fork").Pool(1) as pool:
            self.assertEqual(pool.apply(device.as_snapshot).memory_total, used)
        self.assertEqual(device.memory_total(), used)


class Processes(unittest.TestCase):
    def setUp(self):
        readings.use(DEMO)
        self.addCleanup(readings.use, None)
        self.child = subprocess.Popen(["sleep", "60"])
        self.addCleanup(self.child.wait)
        self.addCleanup(self.child.kill)
        line = pathlib.Path("/proc", str(self.child.pid), "cmdline")
        while not line.read_bytes():  # Popen returns before its arguments are there
            time.sleep(0.01)

    def test_there_is_one_object_of_a_process(self):
        process = HostProcess(self.child.pid)
        self.assertIs(HostProcess(self.child.pid), process)
        self.assertIs(copy.deepcopy(process), process)
        self.assertIs(pickle.loads(pickle.dumps(process)), process)
        self.assertIn(process, HostProcess().children())
        self.assertEqual(process.parent(), HostProcess())
        self.assertIsInstance(process, host.Process)
        self.assertRegex(repr(process), r"^HostProcess\(pid=\d+, name='sleep', status='(sleeping|disk-sleep|running)', started=")
        self.assertEqual((process.command(), process.rss_memory() > 0), ("sleep 60", True))

    def test_everything_of_one_moment(self):
        process = HostProcess(self.child.pid)
        snapshot = process.as_snapshot()
        self.assertTrue(snapshot.memory_maps)
        self.child.kill()
        self.child.wait()
        self.assertEqual((snapshot.name, snapshot.cmdline, snapshot.command), ("sleep", ["sleep", "60"], "sleep 60"))
        self.assertGreater(snapshot.memory_info.rss, 0)
        self.assertTrue(snapshot.environ and snapshot.threads and snapshot.running_time_human)
        self.assertEqual(snapshot.ppid, os.getpid())
        self.assertRaises(host.NoSuchProcess, process.as_snapshot)
        self.assertRaises(host.NoSuchProcess, process.name)
        self.assertFalse(process.is_running())
        mine = HostProcess().as_snapshot(["pid", "name"])
        self.assertEqual(mine.pid, os.getpid())

    def test_on_a_device(self):
        device = nvitop.Device(0)
        process = GpuProcess(self.child.pid, device, gpu_memory=2**30, type="CG")
        self.assertIs(GpuProcess(self.child.pid, device), process)
        self.assertIsInstance(process, HostProcess)
        self.assertEqual((process.type, process.gpu_memory_human(), process.gpu_sm_utilization()),
                         ("C+G", "1024MiB", NA))
        self.assertEqual(process.gpu_memory_percent(), round(100 * 2**30 / device.memory_total(), 1))
        self.assertEqual(process.name(), "sleep")
        self.assertEqual(process.nice(), os.getpriority(os.PRIO_PROCESS, self.child.pid))  # of the host's process
        snapshot = process.as_snapshot()
        self.assertEqual((snapshot.host.name, snapshot.gpu_memory, snapshot.device), ("sleep", 2**30, device))
        self.assertIs(process.update_gpu_status(), NA)
        self.child.kill()
        self.child.wait()
        self.assertRaises(host.NoSuchProcess, process.cpu_percent)
        with GpuProcess.failsafe():
            self.assertEqual((process.cpu_percent(), process.is_running(), process.status(), process.cmdline()),
                             (NA, False, "terminated", ["No Such Process"]))
        self.assertEqual(GpuProcess.take_snapshots([process], failsafe=True)[0].username, NA)
        self.assertIsNot(GpuProcess(self.child.pid, device), process)

    def test_one_that_may_not_be_looked_at(self):
        """As under hidepid, where opening the process of another user is denied."""
        device = nvitop.Device(0)
        opened = vitals.Process

        def denied(pid=None, **named):
            if pid == self.child.pid:
                raise vitals.DeniedError("hidden")
            return opened(pid, **named)
        with unittest.mock.patch.object(vitals, "Process", denied):
            self.assertRaises(host.AccessDenied, host.Process, self.child.pid)
            process = GpuProcess(self.child.pid, device, gpu_memory=2**20)
            self.assertRaises(host.AccessDenied, process.name)
            snapshot = GpuProcess.take_snapshots([process], failsafe=True)[0]
            self.assertEqual((snapshot.username, snapshot.cmdline, snapshot.is_running, snapshot.gpu_memory),
                             (NA, ["No Permissions"], True, 2**20))
        self.assertEqual(HostProcess(self.child.pid).name(), "sleep")

    def test_a_fork_while_another_thread_makes_a_process(self):
        held, done = threading.Event(), threading.Event()

        def hold():
            with HostProcess.INSTANCE_LOCK, GpuProcess.INSTANCE_LOCK, libnvml._lock, nvitop.libcuda._library._lock:
                held.set()
                done.wait()
        thread = threading.Thread(target=hold)
        thread.start()
        held.wait()
        child = os.fork()
        if child == 0:
            locks = (HostProcess.INSTANCE_LOCK, GpuProcess.INSTANCE_LOCK, libnvml._lock,
                     nvitop.libcuda._library._lock)
            os._exit(0 if all(lock.acquire(timeout=1) for lock in locks) else 1)
        done.set()
        thread.join()
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    def test_of_the_host(self):
        self.assertEqual(host.ppid_map()[self.child.pid], os.getpid())
        self.assertIn(self.child.pid, host.reverse_ppid_map()[os.getpid()])
        self.assertGreater(host.uptime(), 0)
        self.assertEqual(len(host.load_average()), 3)
        self.assertEqual(host.virtual_memory().total, host._psutil.virtual_memory().total)
        self.assertTrue(0 <= host.memory_percent() <= 100 and 0 <= host.swap_percent() <= 100)
        self.assertTrue(host.hostname() and host.getuser())


def run_program(text, **variables):
    """What a program prints that has these variables beside ours; its lines are counted too."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "program.py")
        path.write_text(text, encoding="utf-8")
        done = subprocess.run([*interpreter(), str(path)], env={**os.environ, **variables}, capture_output=True,
                              text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout


class Libraries(unittest.TestCase):
    """CUDA's and NVIDIA's own libraries, for programs that call these through nvitop."""

    BUILD = pathlib.Path(os.environ.get("VITALS_BUILD", ""), "tests")
    UUIDS = ("5e4f0000000a4a108000000000000000", "5e4f0000000b4a108000000000000001")

    def test_the_driver_library_of_cuda(self):
        program = """
import os, vitals.compat.nvitop as nvitop
cuda = nvitop.libcuda
def tell(function, *arguments):
    try:
        print(function(*arguments), flush=True)
    except cuda.CUDAError as error:
        print(type(error).__name__, error, flush=True)
tell(cuda.cuInit)
tell(cuda.is_available)
tell(cuda.cuDeviceGetCount)
tell(lambda: cuda.cuDeviceGetUuid(cuda.cuDeviceGet(1)))
tell(cuda.cuDeviceGetName, 0)
child = os.fork()
if child == 0:
    tell(lambda: cuda._started)
    os._exit(0)
os.waitpid(child, 0)
"""
        folder = {"LD_LIBRARY_PATH": str(self.BUILD / "cuda"), "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
        self.assertEqual(run_program(program, SIMULATED_CUDA=",".join(self.UUIDS), **folder).splitlines(), [
            "None", "True", "2", "5e4f0000-000b-4a10-8000-000000000001",
            "CUDAError_NotFound CUDA_ERROR_NOT_FOUND. Code: CUDA_ERROR_NOT_FOUND (500).", "False"])
        lines = run_program(program, SIMULATED_CUDA="lost", **folder).splitlines()
        self.assertEqual(lines[2:4], ["1", "CUDAError_InvalidDevice CUDA_ERROR_INVALID_DEVICE. "
                                           "Code: CUDA_ERROR_INVALID_DEVICE (101)."])
        lines = run_program(program, SIMULATED_CUDA="error 999", **folder).splitlines()
        self.assertEqual(lines[:2], ["CUDAError_Unknown CUDA_ERROR_UNKNOWN. Code: CUDA_ERROR_UNKNOWN (999).", "False"])

    def test_the_runtime_library_of_cuda(self):
        class Word:
            def __call__(self, error):
                return f"the error {error}".encode()

        class Runtime:
            cudaGetErrorName = cudaGetErrorString = Word()
            cudaGetLastError = cudaPeekAtLastError = staticmethod(lambda: 2)

            @staticmethod
            def cudaGetDeviceCount(out):
                out._obj.value = 3
                return 0

            @staticmethod
            def cudaRuntimeGetVersion(out):
                out._obj.value = 12080
                return 0

            @staticmethod
            def cudaDeviceGetPCIBusId(out, size, device):
                out.value = f"0000:{device:02x}:00.0"[:size].encode()
                return 0

            @staticmethod
            def cudaDeviceGetByPCIBusId(out, name):
                return 101
        runtime = nvitop.libcudart
        with unittest.mock.patch.object(runtime._library, "_opened", Runtime()):
            self.assertEqual((runtime.cudaGetDeviceCount(), runtime.is_available(), runtime.cudaRuntimeGetVersion(),
                              runtime.cudaDeviceGetPCIBusId(10), runtime.cudaGetLastError(), runtime.cudaGetErrorName(7)),
                             (3, True, "12.8", "0000:0a:00.0", 2, "the error 7"))
            self.assertEqual(nvitop.Device.cudart_version(), "12.8")
            with self.assertRaises(runtime.cudaError_InvalidDevice) as caught:
                runtime.cudaDeviceGetByPCIBusId("0000:ff:00.0")
            self.assertEqual(str(caught.exception), "The error 101. Code: cudaErrorInvalidDevice (101).")
            self.assertRaises(runtime.cudaError_SymbolNotFound, runtime.cudaDriverGetVersion)

    def test_nvml_is_that_of_nvitop(self):
        program = """
import MODULE as nvitop
library = nvitop.libnvml
def tell(function, *arguments, **named):
    try:
        value = function(*arguments, **named)
        print(value if isinstance(value, (int, str, list, tuple, type(None))) else type(value).__name__)
    except Exception as error:
        print(type(error).__name__, error)
tell(library.nvmlShutdown)
tell(library.nvmlQuery, "nvmlDeviceGetCount")
with library:
    handle = library.nvmlQuery("nvmlDeviceGetHandleByIndex", 0)
    tell(lambda: library.nvmlDeviceGetMemoryInfo(handle).total)
    tell(library.nvmlQuery, "nvmlDeviceGetName", handle)
    tell(library.nvmlQuery, library.nvmlDeviceGetUUID, handle)
    tell(library.nvmlQuery, "nvmlDeviceGetHandleByIndex", 77)
    tell(library.nvmlQuery, "nvmlDeviceGetHandleByIndex", 77, default=-1)
    tell(library.nvmlQuery, "nvmlDeviceGetHandleByIndex", 77, ignore_errors=False)
    tell(library.nvmlQuery, "nvmlNoSuchFunction", default="none")
    tell(library.nvmlQuery, "nvmlNoSuchFunction", ignore_errors=False)
    tell(library.nvmlDeviceGetHandleByIndex, 77)
    tell(lambda: [value for value, _ in library.nvmlQueryFieldValues(handle, [library.NVML_FI_DEV_MEMORY_TEMP])])
tell(lambda: hasattr(library, "nvmlNoSuchFunction"))
device = nvitop.Device(0)
tell(lambda: library.nvmlDeviceGetName(device.handle))
tell(lambda: device.minor_number())
tell(lambda: hasattr(device, "no_such_thing"))
"""
        where = {"LD_LIBRARY_PATH": str(self.BUILD / "nvml/r580"),
                 "VITALS_NVML_SCENARIO": str(SCENARIOS / "two-healthy.conf")}
        theirs, ours = (run_program(program.replace("MODULE", module), **where).splitlines()
                        for module in ("nvitop", "vitals.compat.nvitop"))
        self.assertEqual(ours, theirs)
        self.assertEqual(len(ours), 16)
        self.assertIn("2", ours)


class SlowDriver(unittest.TestCase):
    """A driver that needs longer to list its devices than the library waits."""

    SLOW = "".join(f"[gpu {number}]\n" for number in range(8)) + "[call nvmlDeviceGetHandleByIndex_v2]\n"

    def said(self, how, program):
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
            file.write(self.SLOW + how)
            file.flush()
            return run_program("import os, vitals.compat.nvitop as nvitop\n" + program, VITALS_NVML_SCENARIO=file.name,
                               LD_LIBRARY_PATH=os.path.join(os.environ["VITALS_BUILD"], "tests/nvml/r580"))

    def test_all_devices_are_listed(self):
        self.assertEqual(self.said("latency = 700ms\n", "devices = nvitop.Device.all()\nprint(len(devices), "
                                   "all(isinstance(one.memory_total(), int) for one in devices))"), "8 True\n")

    def test_a_partial_list_is_an_error(self):
        self.assertEqual(self.said("gpu = 2\nlatency = 60s\n", """
nvitop.readings.LIST_SECONDS = 0.5
for ask in (nvitop.Device.all, nvitop.Device.count, lambda: nvitop.Device(0), nvitop.parse_cuda_visible_devices):
    try:
        print(ask(), flush=True)
    except nvitop.NVMLError as error:
        print(error, flush=True)
os._exit(0)  # a call into the driver does not end
"""), "Timeout\n" * 4)


# --- Beside nvitop ----------------------------------------------------------------------------------

HERE = pathlib.Path(__file__).resolve().parent
SCENARIOS = HERE.parents[1] / "tests/nvml/scenarios"
VARIANTS = ("r390", "r470", "r535_54", "r535", "r550", "r580")

# Where ours is something else, by the place of the value, and why. Nothing else may differ.
DIFFERS = (
    (r"/module/CUDA_VISIBLE_DEVICES=\+1x", "nvitop takes the sign for a letter; CUDA reads a number up to a letter"),
    (r"/module/CUDA_VISIBLE_DEVICES=GPU-5e4f0000", "nvitop expands a short UUID by CUDA alone, which is not here"),
    (r"/module/(parts|CUDA_VISIBLE_DEVICES=(None|1,0|0))|/cuda_index$",
     "of whole devices and MIG devices CUDA sees the whole ones; nvitop's guess without CUDA is the first MIG device"),
    (r"/mig[^/]*/(devices|processes)/\(\d, 3\)", "nvitop ends its search for MIG devices at the first number without one"),
    (r"/devices/\(\d, \d\)( snapshot)?/(bus_id|cuda_compute_capability)", "of a MIG device that of its device"),
    (r"/devices/\(\d, \d\)( snapshot)?/(gpu_percent|gpu_utilization|utilization_rates)",
     "of MIG devices from Hopper on, by the driver's counters"),
    (r"(/mig[^/]*/processes/\d|/processes/\(\d, \d\)) \d+/gpu_(sm|memory|encoder|decoder)_utilization$",
     "on MIG devices the driver does not tell: nvitop says 0 there, ours is N/A"),
    (r"/cuda_version$", "a name of nvitop 0.5"),
    (r"/gone/(children|parents)$", "another message of the same error"),
    (r"lost-half-way/devices/1", "the identity of a lost device stays known, and its BAR1 memory is not"),
    (r"(empty|init-.*)/module/cuda_driver_version", "the C library tells it of a device only"),
    (r"init-unknown/module/", "nvitop makes a Device of any index and uuid where the driver fails with Unknown Error"),
    (r"(r390/two-healthy|unified-memory)/module/Device\(\{'index': \(0, 77\)\}\)$",
     "NVMLError_NotSupported wherever there can be no MIG device"),
)
NOT_IN_PSUTIL = {"heap_info", "heap_trim", "RLIMIT_LOCKS"}  # of vitals.compat.psutil
# What two readings say differently because time passes, or by who asks.
PASSES = re.compile(r"elapsed|running_time|nvlink_\w*throughput|memory_full_info|memory_maps|/is_ours|"
                    r"(unified-memory|not-available)/devices/0.*/memory_|num_ctx_switches|/host/names|host_process/parents$")


def flat(value, place=""):
    if isinstance(value, dict):
        for name, one in value.items():
            yield from flat(one, f"{place}/{name}")
    else:
        yield place, value


def constant(scenario, pid, other):
    """Its text with values that do not change, and processes of these pids."""
    text = (SCENARIOS / f"{scenario}.conf").read_text(encoding="utf-8")
    return re.sub(r"(= *\d+)\.\.\d+", r"\1", text).replace("pid = self", f"pid = {pid}").replace(
        "pid = 1\n", f"pid = {other}\n")


class BesideNvitop(unittest.TestCase):
    """Every method of both, in processes of their own, on the same driver library."""

    @classmethod
    def setUpClass(cls):
        cls.child, cls.other = (subprocess.Popen(["sleep", "600"]) for _ in range(2))

    @classmethod
    def tearDownClass(cls):
        for child in (cls.child, cls.other):
            child.kill()
            child.wait()

    def said(self, module, variant, scenario):
        folder = pathlib.Path(os.environ["VITALS_BUILD"], "tests/nvml", variant)
        self.assertTrue((folder / "libnvidia-ml.so.1").exists(), folder)
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
            file.write(constant(scenario, self.child.pid, self.other.pid))
            file.flush()
            done = subprocess.run([*interpreter(), str(HERE / "nvitop_values.py"), module, str(self.child.pid)],
                                  env={**os.environ, "LD_LIBRARY_PATH": str(folder), "VITALS_NVML_SCENARIO": file.name},
                                  capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return dict(flat(json.loads(done.stdout), f"{variant}/{scenario}"))

    def agree(self, variant, scenario):
        theirs, ours = (self.said(module, variant, scenario) for module in ("nvitop", "vitals.compat.nvitop"))
        self.assertNotEqual(theirs[f"{variant}/{scenario}/is_ours"], ours[f"{variant}/{scenario}/is_ours"])
        names = f"{variant}/{scenario}/host/names"
        self.assertEqual(set(theirs[names]) - set(ours[names]), NOT_IN_PSUTIL)
        wrong, same, known = [], 0, set()
        for place in {**theirs, **ours}:
            if place in theirs and place in ours and PASSES.search(place):
                continue
            if theirs.get(place) == ours.get(place):
                same += 1
            elif reasons := {pattern for pattern, _ in DIFFERS if re.search(pattern, place)}:
                known.add(place)
                self.found |= reasons
            else:
                wrong.append(f"{place}: theirs {theirs.get(place)}, ours {ours.get(place)}")
        print(f"# {variant} {scenario}: {same} same, {len(known)} differ for a known reason, {len(wrong)} differ")
        self.assertEqual(wrong, [])
        self.assertGreater(same, 150)

    def test_every_method(self):
        self.found = set()
        for variant, scenario in (
                *((variant, "two-healthy") for variant in VARIANTS),
                *(("r580", scenario) for scenario in (
                    "mig", "mig-hopper", "not-available", "unified-memory", "lost-half-way", "no-permission",
                    "empty", "init-driver-not-loaded", "init-no-permission", "init-unknown", "init-version-mismatch",
                    "init-library-not-found"))):
            with self.subTest(f"{variant} {scenario}"):
                self.agree(variant, scenario)
        self.assertEqual([why for pattern, why in DIFFERS if pattern not in self.found], [], "no value differs so")


if __name__ == "__main__":
    unittest.main()
