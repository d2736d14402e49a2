"""nvidia-ml-py is the oracle: every struct has its size there, every getter reads its own field."""

import ctypes
import json
import os
import subprocess
import sys
import unittest

import pynvml as p

import simulated
from simulated import Simulation

# getter -> key of the scenario, for getters of one number
NUMBERS = {
    "nvmlDeviceGetMinorNumber": "minor_number",
    "nvmlDeviceGetBrand": "brand",
    "nvmlDeviceGetBoardId": "board_id",
    "nvmlDeviceGetMultiGpuBoard": "multi_gpu_board",
    "nvmlDeviceGetVirtualizationMode": "virtualization_mode",
    "nvmlDeviceGetArchitecture": "architecture",
    "nvmlDeviceGetModuleId": "module_id",
    "nvmlDeviceGetIrqNum": "irq",
    "nvmlDeviceGetBusType": "bus_type",
    "nvmlDeviceGetPowerSource": "power_source",
    "nvmlDeviceGetNumGpuCores": "cores",
    "nvmlDeviceGetNumaNodeId": "numa_node",
    "nvmlDeviceGetMemoryBusWidth": "memory_bus_width_bits",
    "nvmlDeviceGetCurrentClocksThrottleReasons": "clocks_event_reasons",
    "nvmlDeviceGetCurrentClocksEventReasons": "clocks_event_reasons",
    "nvmlDeviceGetSupportedClocksThrottleReasons": "clocks_event_reasons_supported",
    "nvmlDeviceGetSupportedClocksEventReasons": "clocks_event_reasons_supported",
    "nvmlDeviceGetMarginTemperature": "temperature_margin_celsius",
    "nvmlDeviceGetFanSpeed": "fan_0_percent",
    "nvmlDeviceGetFanSpeedRPM": "fan_rpm",
    "nvmlDeviceGetNumFans": "fans",
    "nvmlDeviceGetPowerUsage": "power_usage_milliwatts",
    "nvmlDeviceGetPowerManagementMode": "power_management",
    "nvmlDeviceGetPowerManagementLimit": "power_limit_milliwatts",
    "nvmlDeviceGetPowerManagementDefaultLimit": "power_limit_default_milliwatts",
    "nvmlDeviceGetEnforcedPowerLimit": "power_limit_enforced_milliwatts",
    "nvmlDeviceGetTotalEnergyConsumption": "energy_millijoules",
    "nvmlDeviceGetPerformanceState": "performance_state",
    "nvmlDeviceGetPowerState": "performance_state",
    "nvmlDeviceGetPersistenceMode": "persistence_mode",
    "nvmlDeviceGetDisplayMode": "display_mode",
    "nvmlDeviceGetDisplayActive": "display_active",
    "nvmlDeviceGetComputeMode": "compute_mode",
    "nvmlDeviceGetRetiredPagesPendingStatus": "retired_pages_pending",
    "nvmlDeviceGetMaxMigDeviceCount": "mig_max_devices",
    "nvmlDeviceGetAccountingMode": "accounting_mode",
    "nvmlDeviceGetAccountingBufferSize": "accounting_buffer_size",
    "nvmlDeviceGetCurrPcieLinkGeneration": "pcie_generation",
    "nvmlDeviceGetMaxPcieLinkGeneration": "pcie_generation_max",
    "nvmlDeviceGetGpuMaxPcieLinkGeneration": "pcie_generation_gpu_max",
    "nvmlDeviceGetCurrPcieLinkWidth": "pcie_width",
    "nvmlDeviceGetMaxPcieLinkWidth": "pcie_width_max",
    "nvmlDeviceGetPcieSpeed": "pcie_speed_mbps",
    "nvmlDeviceGetPcieLinkMaxSpeed": "pcie_speed_max",
    "nvmlDeviceGetPcieReplayCounter": "pcie_replays",
    "nvmlDeviceGetSupportedEventTypes": "supported_events",
}

# getter -> keys, for getters of several numbers in a list or tuple
TUPLES = {
    "nvmlDeviceGetCudaComputeCapability": ["compute_capability_major", "compute_capability_minor"],
    "nvmlDeviceGetGspFirmwareMode": ["gsp_firmware_mode", "gsp_firmware_mode"],
    "nvmlDeviceGetEncoderUtilization": ["utilization_encoder_percent", "utilization_period_us"],
    "nvmlDeviceGetDecoderUtilization": ["utilization_decoder_percent", "utilization_period_us"],
    "nvmlDeviceGetJpgUtilization": ["utilization_jpeg_percent", "utilization_period_us"],
    "nvmlDeviceGetOfaUtilization": ["utilization_ofa_percent", "utilization_period_us"],
    "nvmlDeviceGetEncoderStats": ["encoder_sessions", "encoder_fps", "encoder_latency_us"],
    "nvmlDeviceGetAutoBoostedClocksEnabled": ["auto_boost", "auto_boost"],
    "nvmlDeviceGetMinMaxFanSpeed": ["fan_min_percent", "fan_max_percent"],
    "nvmlDeviceGetPowerManagementLimitConstraints": ["power_limit_min_milliwatts",
                                                     "power_limit_max_milliwatts"],
    "nvmlDeviceGetDriverModel_v1": ["driver_model", "driver_model_pending"],
    "nvmlDeviceGetDriverModel_v2": ["driver_model", "driver_model_pending"],
    "nvmlDeviceGetGpuOperationMode": ["gpu_operation_mode", "gpu_operation_mode"],
    "nvmlDeviceGetEccMode": ["ecc_mode", "ecc_mode_pending"],
    "nvmlDeviceGetDefaultEccMode": ["ecc_mode"],
    "nvmlDeviceGetMigMode": ["mig_mode", "mig_mode_pending"],
    "nvmlDeviceGetRemappedRows": ["remapped_rows_correctable", "remapped_rows_uncorrectable",
                                  "remapped_rows_pending", "remapped_rows_failed"],
}

# getter -> keys, for getters that take an index
CHOICES = {
    "nvmlDeviceGetClockInfo": [f"clock_{c}_mhz" for c in ("graphics", "sm", "memory", "video")],
    "nvmlDeviceGetMaxClockInfo": [f"clock_max_{c}_mhz"
                                  for c in ("graphics", "sm", "memory", "video")],
    "nvmlDeviceGetMaxCustomerBoostClock": [f"clock_max_{c}_mhz"
                                           for c in ("graphics", "sm", "memory", "video")],
    "nvmlDeviceGetApplicationsClock": [f"clock_application_{c}_mhz"
                                       for c in ("graphics", "sm", "memory", "video")],
    "nvmlDeviceGetDefaultApplicationsClock": [f"clock_application_{c}_mhz"
                                              for c in ("graphics", "sm", "memory", "video")],
    "nvmlDeviceGetTemperature": ["temperature_gpu_celsius"],
    "nvmlDeviceGetTemperatureV": ["temperature_gpu_celsius"],
    "nvmlDeviceGetTemperatureThreshold": [f"temperature_{t}_celsius" for t in (
        "shutdown", "slowdown", "memory_max", "gpu_max", "acoustic_min", "acoustic_current",
        "acoustic_max", "gps")],
    "nvmlDeviceGetFanSpeed_v2": [f"fan_{i}_percent" for i in range(4)],
    "nvmlDeviceGetTargetFanSpeed": [f"fan_{i}_percent" for i in range(4)],
    "nvmlDeviceGetPcieThroughput": ["pcie_tx_kib_per_second", "pcie_rx_kib_per_second"],
}

# getter -> (arguments, {member: key}), for getters of a struct
STRUCTS = {
    "nvmlDeviceGetUtilizationRates": ([], {"gpu": "utilization_gpu_percent",
                                           "memory": "utilization_memory_percent"}),
    "nvmlDeviceGetBAR1MemoryInfo": ([], {"bar1Total": "bar1_total_bytes",
                                         "bar1Used": "bar1_used_bytes"}),
    "nvmlDeviceGetMemoryInfo": ([p.nvmlMemory_v2], {
        "total": "memory_total_bytes", "used": "memory_used_bytes", "free": "memory_free_bytes",
        "reserved": "memory_reserved_bytes"}),
    "nvmlDeviceGetConfComputeMemSizeInfo": ([], {
        "protectedMemSizeKib": "protected_memory_kib",
        "unprotectedMemSizeKib": "unprotected_memory_kib"}),
    "nvmlDeviceGetRowRemapperHistogram": ([], {
        m: "row_remapper_banks_" + m for m in ("max", "high", "partial", "low", "none")}),
    "nvmlDeviceGetAttributes_v2": ([], {
        "multiprocessorCount": "multiprocessors", "sharedCopyEngineCount": "copy_engines",
        "sharedDecoderCount": "decoders", "sharedEncoderCount": "encoders",
        "sharedJpegCount": "jpeg_engines", "sharedOfaCount": "ofa_engines",
        "gpuInstanceSliceCount": "gpu_slices", "computeInstanceSliceCount": "compute_slices"}),
    "nvmlDeviceGetPciInfo": ([], {"pciDeviceId": "pci_device_id",
                                  "pciSubSystemId": "pci_subsystem_id"}),
    "nvmlDeviceGetViolationStatus": ([1], {"violationTime": "violation_thermal_ns"}),
}

TEXTS = {
    "nvmlDeviceGetName": "name",
    "nvmlDeviceGetUUID": "uuid",
    "nvmlDeviceGetSerial": "serial",
    "nvmlDeviceGetVbiosVersion": "vbios_version",
    "nvmlDeviceGetBoardPartNumber": "board_part_number",
    "nvmlDeviceGetInforomImageVersion": "inforom_image_version",
    "nvmlDeviceGetGspFirmwareVersion": "gsp_firmware_version",
}

# number of a field value -> key, where the two are the same number
FIELD_VALUES = {
    1: "ecc_mode", 2: "ecc_mode_pending", 3: "ecc_corrected_volatile",
    4: "ecc_uncorrected_volatile", 5: "ecc_corrected_aggregate", 6: "ecc_uncorrected_aggregate",
    29: "retired_pages_single_bit", 30: "retired_pages_double_bit", 31: "retired_pages_pending",
    74: "violation_power_ns", 75: "violation_thermal_ns", 76: "violation_sync_boost_ns",
    77: "violation_board_limit_ns", 78: "violation_low_utilization_ns",
    79: "violation_reliability_ns", 82: "temperature_memory_celsius", 83: "energy_millijoules",
    90: "nvlink_speed_mbps", 91: "nvlinks", 94: "pcie_replays", 142: "remapped_rows_correctable",
    143: "remapped_rows_uncorrectable", 144: "remapped_rows_pending",
    145: "remapped_rows_failed", 185: "power_usage_milliwatts", 186: "power_instant_milliwatts",
    187: "power_limit_min_milliwatts", 188: "power_limit_max_milliwatts",
    189: "power_limit_default_milliwatts", 190: "power_limit_enforced_milliwatts",
    191: "energy_millijoules", 192: "power_limit_milliwatts", 193: "temperature_shutdown_celsius",
    194: "temperature_slowdown_celsius", 195: "temperature_memory_max_celsius",
    196: "temperature_gpu_max_celsius", 197: "pcie_tx_bytes", 198: "pcie_rx_bytes",
    230: "recovery_action",
}


def all_getters():
    """(name, call of a handle) of every getter of the tables above."""
    for name in list(NUMBERS) + list(TUPLES) + list(TEXTS):
        yield name, getattr(p, name)
    for name, keys in CHOICES.items():
        for i in range(len(keys)):
            yield f"{name} {i}", lambda h, name=name, i=i: getattr(p, name)(h, i)
    for name, (arguments, _) in STRUCTS.items():
        yield name, lambda h, name=name, a=tuple(arguments): getattr(p, name)(h, *a)


class Layouts(unittest.TestCase):
    def test_sizes(self):
        with Simulation() as simulation:
            checked = 0
            for name in dir(p):
                size = simulation.library.simulated_nvml_sizeof(name.encode())
                if size:
                    self.assertEqual(size, ctypes.sizeof(getattr(p, name)), name)
                    checked += name != "c_nvmlProcessInfo_t"
            with open(os.path.join(simulated.HERE, "simulated_nvml.h"), encoding="utf-8") as file:
                text = file.read()
            listed = text[text.index("#define STRUCTS"):].count("    STRUCT(")
            self.assertEqual(checked, listed)

    def test_version_constants(self):
        """The tags that nvidia-ml-py sends are those that the library compares with."""
        with Simulation():
            gpu = p.nvmlDeviceGetHandleByIndex(0)
            for wrong in (0, p.nvmlMemory_v2 + 1, 0x01000028):
                with self.assertRaises(p.NVMLError_ArgumentVersionMismatch if wrong else
                                       p.NVMLError):
                    memory = p.c_nvmlMemory_v2_t(version=wrong)
                    p._nvmlCheckReturn(
                        p.nvmlLib.nvmlDeviceGetMemoryInfo_v2(gpu, ctypes.byref(memory)))
            info = p.nvmlPciInfoExt_v1_t(version=p.nvmlPciInfoExt_v1)
            p.nvmlDeviceGetPciInfoExt(gpu, ctypes.byref(info))
            self.assertEqual(info.busId, "00000000:17:00.0")
            self.assertEqual(p.nvmlSystemGetDriverBranch().branch, "r580")


class Values(unittest.TestCase):
    """A GPU every number of which is different, so that no getter can read its neighbour."""

    @classmethod
    def setUpClass(cls):
        rows, _ = simulated.field_rows()
        cls.known = {}
        lines = ["[gpu 0]"]
        for i, (key, kind, _) in enumerate(rows):
            if key in ("uuid", "bus_id", "garbage_samples"):
                continue
            cls.known[key] = 1000 + i if kind == "NUMBER" else f"text {i}"
            lines.append(f"{key} = {cls.known[key]}")
        cls.simulation = Simulation(text="\n".join(lines))
        cls.simulation.__enter__()
        cls.gpu = p.nvmlDeviceGetHandleByIndex(0)
        cls.known["uuid"] = "GPU-5e4f0000-0000-4a10-8000-000000000000"

    @classmethod
    def tearDownClass(cls):
        cls.simulation.__exit__()

    def test_numbers(self):
        for name, key in NUMBERS.items():
            self.assertEqual(getattr(p, name)(self.gpu), self.known[key], name)

    def test_tuples(self):
        for name, keys in TUPLES.items():
            self.assertEqual(list(getattr(p, name)(self.gpu)), [self.known[k] for k in keys], name)

    def test_choices(self):
        for name, keys in CHOICES.items():
            for i, key in enumerate(keys):
                self.assertEqual(getattr(p, name)(self.gpu, i), self.known[key], (name, i))
            with self.assertRaises(p.NVMLError_InvalidArgument):
                getattr(p, name)(self.gpu, len(keys))

    def test_structs(self):
        for name, (arguments, members) in STRUCTS.items():
            answer = getattr(p, name)(self.gpu, *arguments)
            for member, key in members.items():
                self.assertEqual(getattr(answer, member), self.known[key], (name, member))

    def test_texts(self):
        for name, key in TEXTS.items():
            answer = getattr(p, name)(self.gpu)
            answer = answer.decode() if isinstance(answer, bytes) else answer
            self.assertEqual(answer, self.known[key], name)

    def test_field_values(self):
        kinds = {1: "uiVal", 3: "ullVal", 5: "siVal"}
        numbers = sorted(FIELD_VALUES)
        for number, value in zip(numbers, p.nvmlDeviceGetFieldValues(self.gpu, numbers)):
            self.assertEqual(value.nvmlReturn, p.NVML_SUCCESS, number)
            self.assertEqual(getattr(value.value, kinds[value.valueType]),
                             self.known[FIELD_VALUES[number]], number)

    def test_errors_of_memory(self):
        for t, type_ in enumerate(("corrected", "uncorrected")):
            for c, counter in enumerate(("volatile", "aggregate")):
                known = self.known[f"ecc_{type_}_{counter}"]
                self.assertEqual(p.nvmlDeviceGetTotalEccErrors(self.gpu, t, c), known)
                detail = p.nvmlDeviceGetDetailedEccErrors(self.gpu, t, c)
                self.assertEqual([detail.l1Cache, detail.deviceMemory], [0, known])
                self.assertEqual(p.nvmlDeviceGetMemoryErrorCounter(self.gpu, t, c, 2), known)
        self.assertEqual(len(p.nvmlDeviceGetRetiredPages_v2(self.gpu, 1)),
                         self.known["retired_pages_double_bit"])

    def test_every_field_is_read(self):
        """No row of fields.def without a getter in these tables."""
        used = set(NUMBERS.values()) | set(TEXTS.values()) | set(FIELD_VALUES.values())
        for keys in list(TUPLES.values()) + list(CHOICES.values()):
            used |= set(keys)
        for _, members in STRUCTS.values():
            used |= set(members.values())
        elsewhere = {"bus_id", "gi", "ci", "cpu_affinity_mask", "cpu_affinity_words", "garbage_samples", "nvlink_tx_kib",
                     "nvlink_rx_kib", "nvlink_errors", "nvlink_version", "nvlinks_inactive_mask",
                     "nvlink_remote_kind", "nvlink_remote_bus_id", "xids", "xid",
                     "gpm_supported", "gpm_graphics_percent", "gpm_sm_active_percent",
                     "gpm_sm_occupancy_percent", "gpm_tensor_percent",
                     "gpm_memory_bandwidth_percent"}
        keys = {key for key, _, _ in simulated.field_rows()[0]}
        self.assertEqual(keys - used - elsewhere, set())


class Defaults(unittest.TestCase):
    def test_default_values(self):
        """A GPU of which the scenario says nothing answers with the defaults of fields.def."""
        rows, _ = simulated.field_rows()
        with Simulation(text="[gpu 0]"):
            gpu = p.nvmlDeviceGetHandleByIndex(0)
            defaults = {key: int(default, 0) for key, _, default in rows
                        if default[:1].isdigit() and default.replace("x", "").isalnum()
                        and "iB" not in default and "." not in default}
            for name, key in NUMBERS.items():
                if key in defaults:
                    self.assertEqual(getattr(p, name)(gpu), defaults[key], name)


class Missing(unittest.TestCase):
    def each(self, text, error):
        with Simulation(text=text):
            gpu = p.nvmlDeviceGetHandleByIndex(0)
            skipped = {"name", "uuid", "serial"}
            for name, getter in all_getters():
                if TEXTS.get(name) in skipped or name == "nvmlDeviceGetPciInfo" or \
                        NUMBERS.get(name) == "minor_number":
                    continue
                with self.assertRaises(error, msg=name):
                    getter(gpu)

    def test_not_available(self):
        self.each("[gpu 0]\neverything = N/A\n", p.NVMLError_NotSupported)

    def test_lost(self):
        self.each("[gpu 0]\neverything = error:15\n", p.NVMLError_GpuIsLost)

    def test_field_values(self):
        with Simulation(name="not-available"):
            gpu = p.nvmlDeviceGetHandleByIndex(0)
            for value in p.nvmlDeviceGetFieldValues(gpu, sorted(FIELD_VALUES) + [9999]):
                self.assertEqual(value.nvmlReturn, p.NVML_ERROR_NOT_SUPPORTED)


class ByName(unittest.TestCase):
    def test_loaded_by_its_name(self):
        """The way programs do it: dlopen("libnvidia-ml.so.1") and the library's path."""
        program = ("import json, pynvml as p; p.nvmlInit(); print(json.dumps([p.nvmlSystemGet"
                   "DriverVersion(), p.nvmlDeviceGetCount(), [p.nvmlDeviceGetName(p.nvmlDevice"
                   "GetHandleByIndex(i)) for i in range(p.nvmlDeviceGetCount())]]))")
        for variant in simulated.VARIANTS:
            environment = dict(os.environ, LD_LIBRARY_PATH=simulated.folder(variant),
                               VITALS_NVML_SCENARIO=simulated.scenario("two-healthy"))
            output = subprocess.run([sys.executable, "-c", program], env=environment, check=True,
                                    stdout=subprocess.PIPE).stdout
            version, count, names = json.loads(output)
            self.assertTrue(version.startswith(variant[1:4]), version)
            self.assertEqual((count, names),
                             (2, ["NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-40GB"]))


if __name__ == "__main__":
    unittest.main()
