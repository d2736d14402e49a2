"""What the tests of the simulated driver library share: choosing a variant and a scenario.

VITALS_BUILD names the build folder. A missing package or library is a failure, never a skip.
"""

import ctypes
import os
import re
import tempfile

import pynvml

HERE = os.path.dirname(os.path.abspath(__file__))
VARIANTS = ["r390", "r470", "r535_54", "r535", "r550", "r580"]


def folder(variant):
    path = os.path.join(os.environ["VITALS_BUILD"], "tests", "nvml", variant)
    if not os.path.exists(os.path.join(path, "libnvidia-ml.so.1")):
        raise FileNotFoundError(f"{path}: no libnvidia-ml.so.1; build it, and set VITALS_BUILD")
    return path


def scenario(name):
    return os.path.join(HERE, "scenarios", name + ".conf")


def scenario_names():
    return sorted(n[:-5] for n in os.listdir(os.path.join(HERE, "scenarios")) if n.endswith(".conf"))


def field_rows():
    """(key, kind, default) of every row of fields.def, and how many of them are identity."""
    with open(os.path.join(HERE, "fields.def"), encoding="utf-8") as file:
        text = file.read()
    rows = re.findall(r'^FIELD\(\w+, "(\w+)", (\w+), "(.*)"\)$', text, re.M)
    identity = len(re.findall(r"^FIELD\(", text[: text.index("\nFIELD_END_OF_IDENTITY")], re.M))
    return rows, identity


class Simulation:
    """The library of a variant under pynvml, with a scenario by name or by text, while in `with`."""

    def __init__(self, variant="r580", name=None, text=None, log=None):
        self.library = ctypes.CDLL(os.path.join(folder(variant), "libnvidia-ml.so.1"))
        self.library.simulated_nvml_calls.restype = ctypes.c_uint64
        self.library.nvmlErrorString.restype = ctypes.c_char_p
        self.file = None
        self.environment = {"VITALS_NVML_SCENARIO": scenario(name) if name else "",
                            "VITALS_NVML_LOG": log or ""}
        if text is not None:
            self.file = tempfile.NamedTemporaryFile("w", suffix=".conf")
            self.file.write(text)
            self.file.flush()
            self.environment["VITALS_NVML_SCENARIO"] = self.file.name

    def __enter__(self):
        os.environ.update(self.environment)
        pynvml.nvmlLib = self.library
        pynvml._nvmlGetFunctionPointer_cache.clear()
        pynvml.nvmlInit()
        return self

    def __exit__(self, *_):
        try:
            pynvml.nvmlShutdown()
        finally:
            if self.file:
                self.file.close()

    def calls(self, name=None):
        return self.library.simulated_nvml_calls(name.encode() if name else None)

    def set(self, section, key, value):
        result = self.library.simulated_nvml_set(section.encode(), key.encode(), value.encode())
        if result != 0:
            raise ValueError(f"[{section}] {key} = {value}")
