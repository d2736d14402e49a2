"""Prints as JSON what every method of nvitop's API says, for test_nvitop.py to compare two modules of that API.

    python nvitop_values.py MODULE PID      the devices are those of the driver library that the loader finds
"""

import importlib
import inspect
import json
import os
import subprocess
import sys

# What changes something, needs an argument, is about this process, or makes objects of others.
NOT_CALLED = {
    "as_dict", "as_snapshot", "oneshot", "wait", "kill", "terminate", "suspend", "resume", "send_signal", "rlimit",
    "processes", "to_leaf_devices", "mig_devices", "mig_device", "all", "from_indices", "from_cuda_indices",
    "from_cuda_visible_devices", "count", "is_available", "cuda", "handle", "GPU_PROCESS_CLASS", "host", "device",
    "take_snapshots", "failsafe", "host_snapshot", "set_gpu_memory", "set_gpu_utilization", "register", "INSTANCES",
    "INSTANCE_LOCK", "UUID_PATTERN", "SNAPSHOT_KEYS", "parse_cuda_visible_devices", "normalize_cuda_visible_devices",
    "connections", "memory_info_ex", "serialize",
}


def shown(value):
    """The value with its type, as text: of both modules the same if they agree."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return [type(value).__name__, {name: shown(one) for name, one in zip(value._fields, value)}]
    if isinstance(value, dict):
        return {str(key): shown(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(shown, value)]
    if type(value).__module__ not in ("builtins", "datetime"):
        return type(value).__name__ if "Process" in type(value).__name__ else f"{type(value).__name__}:{value}"
    return f"{type(value).__name__}:{value!r}"


def methods(thing, names):
    found = {}
    for name in names:
        if name.startswith("_") or name in NOT_CALLED:
            continue
        try:
            value = getattr(thing, name)
            found[name] = shown(value() if callable(value) else value)
        except Exception as error:  # which one is what is compared
            found[name] = f"{type(error).__name__}: {error}"
    return found


def no_cuda(*_, **__):
    raise subprocess.SubprocessError


def main():
    nvitop = importlib.import_module(sys.argv[1])
    if hasattr(nvitop.device, "subprocess"):  # asks CUDA, which is not here, in two interpreters for each value
        nvitop.device.subprocess.check_output = no_cuda
    else:
        nvitop.cuda_visible._order_of_cuda = lambda order: None
    told = {"module": {}, "devices": {}, "processes": {}}

    def tell(place, name, function):
        try:
            told[place][name] = function()
        except Exception as error:
            told[place][name] = f"{type(error).__name__}: {error}"

    for name in ("driver_version", "cuda_driver_version", "count", "is_available"):
        tell("module", name, lambda name=name: shown(getattr(nvitop.Device, name)()))
    for text in (None, "", "0", "1,0", "0,0", "77", "0,77,1", "GPU-5e4f0000", "MIG-nothing", "+1x"):
        tell("module", f"CUDA_VISIBLE_DEVICES={text}", lambda text=text: shown(
            [nvitop.parse_cuda_visible_devices(text), nvitop.normalize_cuda_visible_devices(text)]))
    for how in ({"index": 77}, {"index": (0, 77)}, {"uuid": "GPU-" + "0" * 8 + "-0000-0000-0000-" + "0" * 12},
                {"bus_id": "00000000:99:00.0"}, {}, {"index": 0, "uuid": "x"}, {"index": (1, 2, 3)}):
        tell("module", f"Device({how})", lambda how=how: shown(nvitop.Device(**how)))
    devices = nvitop.Device.all()
    parts = [part for device in devices for part in device.mig_devices()]
    tell("module", "parts", lambda: shown([part.index for part in parts]))
    for device in [*devices, *parts]:
        told["devices"][repr(device.index)] = methods(device, dir(type(device)))
        tell("devices", f"{device.index} again", lambda device=device: shown(
            [nvitop.Device(uuid=device.uuid()) == device, hash(device) == hash(nvitop.Device(device.index)),
             repr(device)]))
        tell("devices", f"{device.index} snapshot", lambda device=device: {
            name: shown(value) for name, value in dict(device.as_snapshot()).items()})
        with nvitop.GpuProcess.failsafe():
            for pid, process in sorted(device.processes().items()):
                told["processes"][f"{device.index} {pid}"] = methods(process, [
                    *(name for name, _ in inspect.getmembers(nvitop.GpuProcess)), "pid", "ppid", "nice"])
    process = nvitop.HostProcess(int(sys.argv[2]))
    told["host_process"] = methods(process, dir(nvitop.HostProcess))
    told["host_snapshot"] = {name: shown(value) for name, value in dict(process.as_snapshot()).items()}
    told["gone"] = methods(nvitop.HostProcess(4000001), dir(nvitop.HostProcess))
    told["host"] = {name: shown(getattr(nvitop.host, name)()) for name in ("getuser", "hostname", "boot_time")}
    told["host"]["names"] = sorted(name for name in nvitop.host.__all__)
    told["is_ours"] = os.path.dirname(nvitop.__file__)
    print(json.dumps(told))


if __name__ == "__main__":
    main()
