"""What a program meets beyond plain values: generations, lists, samples, faults, latency, logs."""

import ctypes
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import pynvml as p

import simulated
from simulated import Simulation

NONE = 0xFFFFFFFF


def raw_list(function, gpu, size, room=16):
    """The list as bytes per entry: (result, count, [pid, memory, ...] of each)."""
    buffer = (ctypes.c_char * (size * room))()
    count = ctypes.c_uint(room)
    result = getattr(p.nvmlLib, function)(gpu, ctypes.byref(count), buffer)
    entries = []
    for i in range(count.value if result == 0 else 0):
        part = bytes(buffer[i * size:(i + 1) * size])
        entries.append((int.from_bytes(part[0:4], "little"), int.from_bytes(part[8:16], "little")))
    return result, count.value, entries


class Generations(unittest.TestCase):
    SINCE = {
        "nvmlDeviceGetComputeRunningProcesses": "r390",
        "nvmlDeviceGetMigMode": "r470",
        "nvmlDeviceGetComputeRunningProcesses_v2": "r470",
        "nvmlDeviceGetFanSpeed_v2": "r470",
        "nvmlDeviceGetComputeRunningProcesses_v3": "r535_54",
        "nvmlDeviceGetConfComputeMemSizeInfo": "r535_54",
        "nvmlDeviceGetMemoryInfo_v2": "r535_54",
        "nvmlDeviceGetRunningProcessDetailList": "r535",
        "nvmlDeviceGetProcessesUtilizationInfo": "r550",
        "nvmlDeviceGetTemperatureV": "r580",
        "nvmlDeviceGetDriverModel_v2": "r580",
    }

    def test_symbols(self):
        for i, variant in enumerate(simulated.VARIANTS):
            library = ctypes.CDLL(os.path.join(simulated.folder(variant), "libnvidia-ml.so.1"))
            for name, since in self.SINCE.items():
                self.assertEqual(hasattr(library, name), i >= simulated.VARIANTS.index(since),
                                 (variant, name))

    def test_only_public_names_are_exported(self):
        path = os.path.join(simulated.folder("r580"), "libnvidia-ml.so.1")
        output = subprocess.run(["nm", "-D", "--defined-only", path], check=True, text=True,
                                stdout=subprocess.PIPE).stdout
        names = [line.split()[-1] for line in output.splitlines()]
        self.assertEqual([n for n in names if not n.startswith(("nvml", "simulated_nvml_"))], [])

    def test_layout_of_each_list(self):
        text = ("[gpu 0]\n[process a]\npid = 11\nmemory = 1MiB\nprotected_memory = 7\n"
                "[process b]\npid = 22\nmemory = N/A\n")
        expected = [(11, 1 << 20), (22, 2**64 - 1)]
        sizes = {"": 16, "_v2": 24, "_v3": 24}
        for variant in simulated.VARIANTS:
            with Simulation(variant, text=text) as simulation:
                gpu = p.nvmlDeviceGetHandleByIndex(0)
                for suffix, size in sizes.items():
                    name = "nvmlDeviceGetComputeRunningProcesses" + suffix
                    if hasattr(simulation.library, name):
                        size = 32 if (variant, suffix) == ("r535_54", "_v3") else size
                        self.assertEqual(raw_list(name, gpu, size), (0, 2, expected),
                                         (variant, name))

    def test_layout_by_scenario(self):
        for layout, size in (("v1", 16), ("v2", 24), ("v3", 24), ("v3_confcompute", 32)):
            text = f"[library]\nprocess_layout = {layout}\n[gpu 0]\n[process a]\npid = 11\n" \
                   "memory = 5\n[process b]\npid = 22\nmemory = 6\n"
            for variant, suffix in (("r390", ""), ("r470", "_v2"), ("r580", "_v3")):
                with Simulation(variant, text=text):
                    answer = raw_list("nvmlDeviceGetComputeRunningProcesses" + suffix,
                                      p.nvmlDeviceGetHandleByIndex(0), size)
                    self.assertEqual(answer, (0, 2, [(11, 5), (22, 6)]), (layout, variant))

    def test_missing(self):
        with Simulation(text="[library]\nmissing = nvmlDeviceGetName, nvmlDeviceGetUUID\n[gpu 0]"):
            gpu = p.nvmlDeviceGetHandleByIndex(0)
            for getter in (p.nvmlDeviceGetName, p.nvmlDeviceGetUUID):
                with self.assertRaises(p.NVMLError_FunctionNotFound):
                    getter(gpu)
            self.assertEqual(p.nvmlDeviceGetPowerUsage(gpu), 312000)


class Devices(unittest.TestCase):
    def test_handles(self):
        with Simulation(name="two-healthy"):
            gpu = p.nvmlDeviceGetHandleByIndex(1)
            uuid, serial = p.nvmlDeviceGetUUID(gpu), p.nvmlDeviceGetSerial(gpu)
            for other in (p.nvmlDeviceGetHandleByUUID(uuid),
                          p.nvmlDeviceGetHandleByUUIDV(uuid.encode(), p.NVML_UUID_TYPE_ASCII),
                          p.nvmlDeviceGetHandleBySerial(serial),
                          p.nvmlDeviceGetHandleByPciBusId("0000:18:00.0"),
                          p.nvmlDeviceGetHandleByPciBusId("00000000:18:00.0")):
                self.assertEqual(p.nvmlDeviceGetIndex(other), 1)
            pci = p.nvmlDeviceGetPciInfo(gpu)
            self.assertEqual((pci.busId, pci.busIdLegacy, pci.domain, pci.bus, pci.device),
                             ("00000000:18:00.0", "0000:18:00.0", 0, 0x18, 0))
            with self.assertRaises(p.NVMLError_InvalidArgument):
                p.nvmlDeviceGetHandleByIndex(2)
            with self.assertRaises(p.NVMLError_NotFound):
                p.nvmlDeviceGetHandleByUUID("GPU-none")
            with self.assertRaises(p.NVMLError_InvalidArgument):
                p.nvmlDeviceGetName(None)

    def test_no_gpus(self):
        with Simulation(name="empty"):
            self.assertEqual(p.nvmlDeviceGetCount(), 0)

    def test_default_scenario(self):
        with Simulation():
            self.assertEqual(p.nvmlDeviceGetCount(), 2)

    def test_mig(self):
        with Simulation(name="mig"):
            gpu = p.nvmlDeviceGetHandleByIndex(0)
            self.assertEqual(p.nvmlDeviceGetMigMode(gpu), [1, 1])
            found = []
            for i in range(p.nvmlDeviceGetMaxMigDeviceCount(gpu)):
                try:
                    found.append((i, p.nvmlDeviceGetMigDeviceHandleByIndex(gpu, i)))
                except p.NVMLError_NotFound:
                    pass
            self.assertEqual([i for i, _ in found], [0, 1, 3])
            mig = found[1][1]
            self.assertTrue(p.nvmlDeviceIsMigDeviceHandle(mig).value)
            self.assertEqual((p.nvmlDeviceGetGpuInstanceId(mig),
                              p.nvmlDeviceGetComputeInstanceId(mig)), (9, 0))
            attributes = p.nvmlDeviceGetAttributes(mig)
            self.assertEqual((attributes.multiprocessorCount, attributes.memorySizeMB),
                             (14, 10 * 1024))
            parent = p.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(mig)
            self.assertEqual(p.nvmlDeviceGetUUID(parent), p.nvmlDeviceGetUUID(gpu))
            self.assertEqual(p.nvmlDeviceGetIndex(p.nvmlDeviceGetHandleByUUID(
                p.nvmlDeviceGetUUID(mig))), 1)
            for getter in (p.nvmlDeviceGetPowerUsage, p.nvmlDeviceGetUtilizationRates):
                with self.assertRaises(p.NVMLError_NotSupported):
                    getter(mig)
            with self.assertRaises(p.NVMLError_NotSupported):
                p.nvmlDeviceGetUtilizationRates(gpu)
            lists = [[(e.pid, e.gpuInstanceId) for e in p.nvmlDeviceGetComputeRunningProcesses(h)]
                     for h in (gpu, found[0][1], mig, found[2][1])]
            self.assertEqual(lists, [[(os.getpid(), 2), (4000002, 9)], [(os.getpid(), 2)],
                                     [(4000002, 9)], []])
            with self.assertRaises(p.NVMLError_NotSupported):
                p.nvmlDeviceGetProcessUtilization(gpu, 0)

    def test_memory(self):
        with Simulation(name="two-healthy"):
            gpu = p.nvmlDeviceGetHandleByIndex(0)
            new, old = (p.nvmlDeviceGetMemoryInfo(gpu, v) for v in (p.nvmlMemory_v2, None))
            self.assertEqual(new.used + new.reserved + new.free, new.total)
            self.assertEqual((old.used, old.free), (new.used + new.reserved, new.free))
        for name, error in (("unified-memory", p.NVMLError_NotSupported),):
            with Simulation(name=name):
                with self.assertRaises(error):
                    p.nvmlDeviceGetMemoryInfo(p.nvmlDeviceGetHandleByIndex(0))
        with Simulation(name="memory-unknown"):
            gpu = p.nvmlDeviceGetHandleByIndex(0)
            self.assertEqual(p.nvmlDeviceGetMemoryInfo(gpu).used, 2**64 - 1)
            self.assertIsNone(p.nvmlDeviceGetComputeRunningProcesses(gpu)[0].usedGpuMemory)

    def test_links_and_topology(self):
        with Simulation(text="[gpu 0]\nnvlinks_inactive_mask = 2\n[gpu 1]\n"):
            one, two = (p.nvmlDeviceGetHandleByIndex(i) for i in (0, 1))
            self.assertEqual([p.nvmlDeviceGetNvLinkState(one, i) for i in range(4)], [1, 0, 1, 1])
            with self.assertRaises(p.NVMLError_InvalidArgument):
                p.nvmlDeviceGetNvLinkState(one, 4)
            self.assertEqual(p.nvmlDeviceGetNvLinkVersion(one, 0), 6)
            first, second, every, beyond = (
                v for v in p.nvmlDeviceGetFieldValues(one, [(138, 0), (138, 1), (138, NONE),
                                                            (138, 9)]))
            self.assertEqual((first.value.ullVal, second.value.ullVal, every.value.ullVal),
                             (4000, 4100, 4 * 4200))
            self.assertEqual(beyond.nvmlReturn, p.NVML_ERROR_INVALID_ARGUMENT)
            self.assertEqual(p.nvmlDeviceGetTopologyCommonAncestor(one, two),
                             p.NVML_TOPOLOGY_SYSTEM)
            self.assertEqual(len(p.nvmlDeviceGetTopologyNearestGpus(one, p.NVML_TOPOLOGY_SYSTEM)),
                             1)
            self.assertEqual(len(p.nvmlSystemGetTopologyGpuSet(0)), 2)
            self.assertEqual(list(p.nvmlDeviceGetCpuAffinity(one, 2)), [0xff, 0])

    def test_hostile_names(self):
        with Simulation(name="hostile-names") as simulation:
            name = ctypes.create_string_buffer(96)
            known = []
            for i in range(5):
                gpu = p.nvmlDeviceGetHandleByIndex(i)
                simulation.library.nvmlDeviceGetName(gpu, name, 96)
                known.append(name.value)
            self.assertTrue(known[0].startswith(b"NVIDIA \x1b]0;owned\x07"))
            self.assertEqual(known[1], b"NVIDIA \xff\xfe\xc3(")
            self.assertEqual(known[2], b'NVIDIA, "quoted"\n=SUM(A1)\t{}\\')
            self.assertEqual(known[4], b"")
            self.assertEqual(simulation.library.nvmlDeviceGetName(gpu, name, 0),
                             p.NVML_ERROR_INSUFFICIENT_SIZE)


class Movement(unittest.TestCase):
    def test_values_move(self):
        with Simulation(text="[gpu 0]\npower_usage_milliwatts = 100..200\n"
                             "energy_millijoules = 5000+7\ntemperature_gpu_celsius = -3\n") as s:
            gpu = p.nvmlDeviceGetHandleByIndex(0)
            walk = [p.nvmlDeviceGetPowerUsage(gpu) for _ in range(22)]
            self.assertEqual(walk, list(range(100, 200, 10)) + list(range(200, 100, -10)) +
                             [100, 110])
            self.assertEqual([p.nvmlDeviceGetTotalEnergyConsumption(gpu) for _ in range(3)],
                             [5000, 5007, 5014])
            self.assertEqual(p.nvmlDeviceGetTemperatureV(gpu, 0), -3)
            s.set("gpu 0", "energy_millijoules", "1")
            self.assertEqual(p.nvmlDeviceGetTotalEnergyConsumption(gpu), 1)
            s.set("gpu 0", "energy_millijoules", "N/A")
            with self.assertRaises(p.NVMLError_NotSupported):
                p.nvmlDeviceGetTotalEnergyConsumption(gpu)
            s.set("gpu 0", "energy_millijoules", "10+1000000000/s")
            first = p.nvmlDeviceGetTotalEnergyConsumption(gpu)
            self.assertGreater(p.nvmlDeviceGetTotalEnergyConsumption(gpu), first)
            s.set("gpu 0", "field_297", "42")
            self.assertEqual(p.nvmlDeviceGetFieldValues(gpu, [297])[0].value.ullVal, 42)

    def test_samples(self):
        with Simulation(text="[gpu 0]\n"):
            gpu = p.nvmlDeviceGetHandleByIndex(0)
            kind, samples = p.nvmlDeviceGetSamples(gpu, p.NVML_TOTAL_POWER_SAMPLES, 0)
            self.assertEqual((kind, len(samples)), (p.NVML_VALUE_TYPE_UNSIGNED_INT, 10))
            self.assertEqual(samples[-1].sampleValue.uiVal, 312000)
            with self.assertRaises(p.NVMLError_NotFound):
                p.nvmlDeviceGetSamples(gpu, p.NVML_TOTAL_POWER_SAMPLES, 2**63)


class Processes(unittest.TestCase):
    TEXT = ("[library]\nsample_period = 0\n[gpu 0]\n"
            "[process busy]\npid = 11\nmemory = 1GiB\nsm = 30\nmem = 5\nenc = 1\ndec = 2\n"
            "jpeg = 3\nofa = 4\nname = /usr/bin/busy\n"
            "[process quiet]\npid = 22\nmemory = 2GiB\nsm = 0\n"
            "[process both]\npid = 33\nkind = C+G\nmemory = 3GiB\nmem = 9\n"
            "[process server]\npid = 44\nkind = M\nmemory = 4GiB\n"
            "[process gone]\npid = 55\nrunning = no\nmemory = 5GiB\nmax_memory = 6GiB\n"
            "time_ms = 1234\nstart_us = 99\nsm = 80\n")

    def test_kinds(self):
        with Simulation(text=self.TEXT):
            gpu = p.nvmlDeviceGetHandleByIndex(0)
            for getter, pids in ((p.nvmlDeviceGetComputeRunningProcesses, [11, 22, 33]),
                                 (p.nvmlDeviceGetGraphicsRunningProcesses, [33]),
                                 (p.nvmlDeviceGetMPSComputeRunningProcesses, [44])):
                found = getter(gpu)
                self.assertEqual([e.pid for e in found], pids)
                self.assertEqual((found[0].gpuInstanceId, found[0].computeInstanceId),
                                 (NONE, NONE))
            detail = p.nvmlDeviceGetRunningProcessDetailList(gpu, p.nvmlProcessDetailList_v1, 0)
            self.assertEqual([(e.pid, e.usedGpuMemory >> 30) for e in detail],
                             [(11, 1), (22, 2), (33, 3)])
            self.assertEqual(p.nvmlSystemGetProcessName(11), "/usr/bin/busy")
            self.assertIn("python", p.nvmlSystemGetProcessName(os.getpid()))
            with self.assertRaises(p.NVMLError_NotFound):
                p.nvmlSystemGetProcessName(4194305)

    def test_too_little_room(self):
        with Simulation(text=self.TEXT):
            gpu = p.nvmlDeviceGetHandleByIndex(0)
            self.assertEqual(raw_list("nvmlDeviceGetComputeRunningProcesses_v3", gpu, 24, 2),
                             (p.NVML_ERROR_INSUFFICIENT_SIZE, 3, []))

    def test_utilization(self):
        with Simulation(text=self.TEXT):
            gpu = p.nvmlDeviceGetHandleByIndex(0)
            samples = p.nvmlDeviceGetProcessUtilization(gpu, 0)
            self.assertEqual([(s.pid, s.smUtil, s.memUtil, s.encUtil, s.decUtil) for s in samples],
                             [(11, 30, 5, 1, 2), (33, 0, 9, 0, 0)])
            self.assertLess(abs(samples[0].timeStamp / 1e6 - time.time()), 60)
            samples = p.nvmlDeviceGetProcessesUtilizationInfo(gpu, 0)
            self.assertEqual([(s.pid, s.smUtil, s.jpgUtil, s.ofaUtil) for s in samples],
                             [(11, 30, 3, 4), (33, 0, 0, 0)])
            for getter in (p.nvmlDeviceGetProcessUtilization,
                           p.nvmlDeviceGetProcessesUtilizationInfo):
                with self.assertRaises(p.NVMLError_NotFound):
                    getter(gpu, 2**63)

    def test_newer_samples_only(self):
        """A sample period of a day: what has been seen once is not given again."""
        with Simulation(text=self.TEXT.replace("sample_period = 0", "sample_period = 86400s")):
            gpu = p.nvmlDeviceGetHandleByIndex(0)
            seen = p.nvmlDeviceGetProcessUtilization(gpu, 0)[0].timeStamp
            self.assertEqual(seen % 86400000000, 0)
            with self.assertRaises(p.NVMLError_NotFound):
                p.nvmlDeviceGetProcessUtilization(gpu, seen)
            self.assertEqual(len(p.nvmlDeviceGetProcessUtilization(gpu, seen - 1)), 2)

    def test_garbage(self):
        with Simulation(name="garbage-samples"):
            gpu = p.nvmlDeviceGetHandleByIndex(0)
            samples = p.nvmlDeviceGetProcessUtilization(gpu, 0)
            self.assertEqual(len(samples), 98)
            self.assertEqual((samples[0].pid, samples[0].smUtil), (os.getpid(), 35))
            self.assertTrue(all(s.pid != os.getpid() for s in samples[1:]))
            self.assertTrue(any(s.smUtil > 100 for s in samples))

    def test_accounting(self):
        with Simulation(text=self.TEXT):
            gpu = p.nvmlDeviceGetHandleByIndex(0)
            self.assertEqual(p.nvmlDeviceGetAccountingPids(gpu), [11, 22, 33, 44, 55])
            gone = p.nvmlDeviceGetAccountingStats(gpu, 55)
            self.assertEqual((gone.isRunning, gone.time, gone.startTime, gone.maxMemoryUsage >> 30,
                              gone.gpuUtilization), (0, 1234, 99, 6, 80))
            self.assertEqual(p.nvmlDeviceGetAccountingStats(gpu, 11).isRunning, 1)

    def test_process_ends(self):
        with Simulation(text=self.TEXT) as s:
            gpu = p.nvmlDeviceGetHandleByIndex(0)
            s.set("process busy", "running", "no")
            self.assertEqual([e.pid for e in p.nvmlDeviceGetComputeRunningProcesses(gpu)],
                             [22, 33])
            s.set("process new", "pid", "66")
            self.assertEqual([e.pid for e in p.nvmlDeviceGetComputeRunningProcesses(gpu)],
                             [22, 33, 66])

    def test_pid_from_the_environment(self):
        os.environ["SIMULATED_PID"] = "777"
        with Simulation(text="[gpu 0]\n[process a]\npid = env:SIMULATED_PID\n"):
            gpu = p.nvmlDeviceGetHandleByIndex(0)
            self.assertEqual(p.nvmlDeviceGetComputeRunningProcesses(gpu)[0].pid, 777)


class Faults(unittest.TestCase):
    def test_init_results(self):
        for name, code in (("no-permission", 4), ("driver-not-loaded", 9),
                           ("library-not-found", 12), ("version-mismatch", 18), ("unknown", 999)):
            with self.assertRaises(p.NVMLError) as caught:
                with Simulation(name="init-" + name):
                    pass
            self.assertEqual(caught.exception.value, code)

    def test_init_succeeds_in_the_end(self):
        simulation = Simulation(name="init-late")
        for _ in range(2):
            with self.assertRaises(p.NVMLError_DriverNotLoaded):
                simulation.__enter__()
        with simulation:
            self.assertEqual(p.nvmlDeviceGetCount(), 1)

    def test_before_init(self):
        with Simulation():
            gpu = p.nvmlDeviceGetHandleByIndex(0)
        with self.assertRaises(p.NVMLError_Uninitialized):
            p.nvmlDeviceGetPowerUsage(gpu)
        with self.assertRaises(p.NVMLError_Uninitialized):
            p.nvmlShutdown()

    def test_lost_half_way(self):
        with Simulation(name="lost-half-way"):
            gpus = [p.nvmlDeviceGetHandleByIndex(i) for i in (0, 1)]
            for _ in range(28):
                p.nvmlDeviceGetPowerUsage(gpus[1])
            for getter in (p.nvmlDeviceGetPowerUsage, p.nvmlDeviceGetName,
                           p.nvmlDeviceGetComputeRunningProcesses):
                with self.assertRaises(p.NVMLError_GpuIsLost):
                    getter(gpus[1])
            with self.assertRaises(p.NVMLError_GpuIsLost):
                p.nvmlDeviceGetHandleByIndex(1)
            self.assertEqual(p.nvmlDeviceGetPowerUsage(gpus[0]), 312000)
            self.assertEqual(p.nvmlDeviceGetCount(), 2)

    def test_until_call(self):
        with Simulation(text="[gpu 0]\n[call nvmlDeviceGetPowerUsage]\nfrom_call = 2\n"
                             "until_call = 3\nresult = 999\n"):
            gpu, results = p.nvmlDeviceGetHandleByIndex(0), []
            for _ in range(4):
                try:
                    results.append(p.nvmlDeviceGetPowerUsage(gpu))
                except p.NVMLError as error:
                    results.append(error.value)
            self.assertEqual(results, [312000, 999, 999, 312000])

    def test_no_permission(self):
        with Simulation(name="no-permission"):
            gpu = p.nvmlDeviceGetHandleByIndex(0)
            with self.assertRaises(p.NVMLError_NoPermission):
                p.nvmlDeviceGetComputeRunningProcesses(gpu)
            with self.assertRaises(p.NVMLError_NoPermission):
                p.nvmlDeviceGetProcessUtilization(gpu, 0)
            self.assertEqual(p.nvmlDeviceGetPowerUsage(gpu), 312000)

    def test_one_hung_call_hangs_nobody_else(self):
        with Simulation(name="hanging") as simulation:
            one, two = (p.nvmlDeviceGetHandleByIndex(i) for i in (0, 1))
            simulation.set("call nvmlDeviceGetPowerUsage", "latency", "1s")
            hung = threading.Thread(target=p.nvmlDeviceGetPowerUsage, args=(two,))
            hung.start()
            while simulation.calls("nvmlDeviceGetPowerUsage") == 0:
                time.sleep(0.001)
            self.assertEqual(p.nvmlDeviceGetPowerUsage(one), 312000)
            self.assertEqual(p.nvmlDeviceGetTemperatureV(two, 0), 41)
            self.assertTrue(hung.is_alive())
            hung.join()

    def test_many_threads(self):
        with Simulation(name="eight") as simulation:
            gpus = [p.nvmlDeviceGetHandleByIndex(i) for i in range(8)]
            before = simulation.calls("nvmlDeviceGetUtilizationRates")

            def poll(gpu):
                for _ in range(200):
                    self.assertLessEqual(p.nvmlDeviceGetUtilizationRates(gpu).gpu, 100)
                    self.assertEqual(len(p.nvmlDeviceGetComputeRunningProcesses(gpu)), 3)

            threads = [threading.Thread(target=poll, args=(gpu,)) for gpu in gpus]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(simulation.calls("nvmlDeviceGetUtilizationRates") - before, 1600)

    def test_log(self):
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log")
            with Simulation(name="mig", log=log):
                gpu = p.nvmlDeviceGetHandleByIndex(0)
                mig = p.nvmlDeviceGetMigDeviceHandleByIndex(gpu, 1)
                p.nvmlDeviceGetName(mig)
                with self.assertRaises(p.NVMLError):
                    p.nvmlDeviceGetUtilizationRates(gpu)
            with open(log, encoding="ascii") as file:
                lines = file.read().splitlines()
            self.assertEqual(lines, ["nvmlInitWithFlags - 0", "nvmlDeviceGetHandleByIndex_v2 0 0",
                                     "nvmlDeviceGetMigDeviceHandleByIndex 0 0",
                                     "nvmlDeviceGetName 0:1 0",
                                     "nvmlDeviceGetUtilizationRates 0 3", "nvmlShutdown - 0"])


class Scenarios(unittest.TestCase):
    """Each in a process of its own, for its standard error and for a fresh library."""

    PROGRAM = ("import pynvml as p\ntry:\n p.nvmlInit(); print('ok', p.nvmlDeviceGetCount())\n"
               "except p.NVMLError as e:\n print('error', e.value)\n")

    def run_with(self, path):
        environment = dict(os.environ, LD_LIBRARY_PATH=simulated.folder("r580"),
                           VITALS_NVML_SCENARIO=path)
        done = subprocess.run([sys.executable, "-c", self.PROGRAM], env=environment, check=True,
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return done.stdout.strip(), done.stderr.strip()

    def test_every_scenario_is_read(self):
        for name in simulated.scenario_names():
            output, errors = self.run_with(simulated.scenario(name))
            self.assertEqual(errors, "", name)
            self.assertEqual(output.startswith("error"), name.startswith("init-"), (name, output))
            with open(simulated.scenario(name), encoding="utf-8") as file:
                self.assertTrue(file.readline().startswith("# "), name)

    def test_malformed(self):
        for text, line, words in (
                ("[gpu 0]\nname = x\nnmae = y\n", 3, "nmae"),
                ("[gpu 0]\npower_usage_milliwatts = lots\n", 2, "START+STEP"),
                ("[gpu 0]\npower_usage_milliwatts = 9..3\n", 2, "LOW..HIGH"),
                ("[gpu 0]\nname = \\q\n", 2, "escapes"),
                ("[gpu 1]\n", 1, "counts up from 0"),
                ("[mig 0:0]\n", 1, "a GPU given before"),
                ("[gpus]\n", 1, "library, gpu N"),
                ("name = x\n", 1, "before the first section"),
                ("[library]\nprocess_layout = v9\n", 2, "v3_confcompute"),
                ("[library]\ndriver = 1\n", 2, "driver_version"),
                ("[gpu 0]\n[process a]\npid = env:NOT_SET_AT_ALL\n", 3, "env:NAME"),
                ("[gpu 0]\n[process a]\nkind = X\n", 3, "MPS"),
                ("[call nvmlInit]\nlatency = 5\n", 2, "20ms"),
                ("[call power]\n", 1, "a function's name"),
                ("what\n", 1, "key = value")):
            with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
                file.write(text)
                file.flush()
                output, errors = self.run_with(file.name)
            self.assertEqual(output, "error 999", text)
            self.assertIn(f"{file.name}:{line}: ", errors)
            self.assertIn(words, errors)
            self.assertEqual(len(errors.splitlines()), 1, errors)

    def test_no_such_file(self):
        output, errors = self.run_with("/no/such.conf")
        self.assertEqual(output, "error 999")
        self.assertIn("/no/such.conf", errors)


class Events(unittest.TestCase):
    def test_xids_are_told_to_each_set(self):
        with Simulation(text="[gpu 0]\nxids = 4\n[gpu 1]\n") as simulation:
            gpu = p.nvmlDeviceGetHandleByIndex(0)
            self.assertTrue(p.nvmlDeviceGetSupportedEventTypes(gpu) & p.nvmlEventTypeXidCriticalError)
            sets = [p.nvmlEventSetCreate(), p.nvmlEventSetCreate()]
            for events in sets:
                p.nvmlDeviceRegisterEvents(gpu, p.nvmlEventTypeXidCriticalError, events)
                with self.assertRaises(p.NVMLError_Timeout):
                    p.nvmlEventSetWait_v2(events, 0)
            simulation.set("gpu 0", "xids", "6")
            simulation.set("gpu 0", "xid", "48")
            for events in sets:
                for _ in range(2):
                    event = p.nvmlEventSetWait_v2(events, 0)
                    self.assertEqual((event.eventType, event.eventData, event.gpuInstanceId),
                                     (p.nvmlEventTypeXidCriticalError, 48, NONE))
                with self.assertRaises(p.NVMLError_Timeout):
                    p.nvmlEventSetWait_v2(events, 0)
            self.assertEqual(simulation.library.simulated_nvml_live(), 2)
            for events in sets:
                p.nvmlEventSetFree(events)
            self.assertEqual(simulation.library.simulated_nvml_live(), 0)
            with self.assertRaises(p.NVMLError_InvalidArgument):
                p.nvmlEventSetFree(sets[0])


class Monitor(unittest.TestCase):
    def metrics(self, first, second, numbers):
        request = p.c_nvmlGpmMetricsGet_t(version=p.NVML_GPM_METRICS_GET_VERSION,
                                          numMetrics=len(numbers), sample1=first, sample2=second)
        for i, number in enumerate(numbers):
            request.metrics[i].metricId = number
        p.nvmlGpmMetricsGet(request)
        return [(request.metrics[i].nvmlReturn, request.metrics[i].value)
                for i in range(len(numbers))]

    def test_a_figure_stands_between_two_samples(self):
        numbers = [p.NVML_GPM_METRIC_SM_UTIL, p.NVML_GPM_METRIC_SM_OCCUPANCY,
                   p.NVML_GPM_METRIC_ANY_TENSOR_UTIL, p.NVML_GPM_METRIC_DRAM_BW_UTIL,
                   p.NVML_GPM_METRIC_GRAPHICS_UTIL, 470]
        with Simulation(text="[gpu 0]\nmig_mode = 1\n[mig 0:0]\ngi = 3\n"
                             "gpm_sm_active_percent = 9\n[gpu 1]\ngpm_supported = 0\n"):
            gpu = p.nvmlDeviceGetHandleByIndex(0)
            self.assertEqual(p.nvmlGpmQueryDeviceSupport(gpu).isSupportedDevice, 1)
            first, second = p.nvmlGpmSampleAlloc(), p.nvmlGpmSampleAlloc()
            p.nvmlGpmSampleGet(gpu, first)
            with self.assertRaises(p.NVMLError_InvalidArgument):
                self.metrics(first, second, numbers)
            p.nvmlGpmSampleGet(gpu, second)
            self.assertEqual(self.metrics(first, second, numbers),
                             [(0, 38), (0, 21), (0, 12), (0, 33), (0, 45), (3, 0)])
            p.nvmlGpmMigSampleGet(gpu, 3, first)
            p.nvmlGpmMigSampleGet(gpu, 3, second)
            self.assertEqual(self.metrics(first, second, numbers[:2]), [(0, 9), (3, 0)])
            with self.assertRaises(p.NVMLError_InvalidArgument):
                p.nvmlGpmMigSampleGet(gpu, 4, first)
            other = p.nvmlDeviceGetHandleByIndex(1)
            self.assertEqual(p.nvmlGpmQueryDeviceSupport(other).isSupportedDevice, 0)
            with self.assertRaises(p.NVMLError_NotSupported):
                p.nvmlGpmSampleGet(other, first)
            p.nvmlGpmSampleFree(first)
            p.nvmlGpmSampleFree(second)


class Links(unittest.TestCase):
    def test_the_other_end(self):
        with Simulation(text="[gpu 0]\nnvlinks = 2\nnvlink_remote_kind = 0\n"
                             "nvlink_remote_bus_id = 00000000:18:00.0\n"):
            gpu = p.nvmlDeviceGetHandleByIndex(0)
            self.assertEqual(p.nvmlDeviceGetNvLinkRemoteDeviceType(gpu, 1),
                             p.NVML_NVLINK_DEVICE_TYPE_GPU)
            self.assertEqual(p.nvmlDeviceGetNvLinkRemotePciInfo(gpu, 1).busId, "00000000:18:00.0")
            with self.assertRaises(p.NVMLError_InvalidArgument):
                p.nvmlDeviceGetNvLinkRemoteDeviceType(gpu, 2)


if __name__ == "__main__":
    unittest.main()
