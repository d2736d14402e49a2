"""A program that unloads the library while a driver hangs goes on: the thread that is left in the driver comes back
into code that is still there.
"""

import ctypes
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest

import simulated

SOURCE = pathlib.Path(os.environ.get("VITALS_SOURCE", pathlib.Path(__file__).parents[2]))
LIST = (SOURCE / "docs/abi/libvitals.symbols").read_text()
SANITIZED = bool(os.environ.get("VITALS_SANITIZED"))


def number(pattern):
    return int(re.search(pattern, LIST)[1])


def threads():
    return len(os.listdir("/proc/self/task"))


def unload(library, driver):
    """What the program does: a snapshot that waits for the driver in vain, everything freed, the library closed."""
    vitals = ctypes.CDLL(library)
    size = number(r"struct vitals_options: (\d+)")
    options = ctypes.create_string_buffer(size)
    vitals.vitals_options_init(options, ctypes.c_size_t(size))
    texts = {"nvml_path": ctypes.c_char_p(driver.encode()), "backends": ctypes.c_char_p(b"nvidia")}
    for name, text in texts.items():
        at = number(rf"member vitals_options\.{name}: at (\d+)")
        options[at:at + 8] = bytes(text)
    context, snapshot = ctypes.c_void_p(), ctypes.c_void_p()
    assert vitals.vitals_context_new(options, ctypes.byref(context), None) == 0
    sets = number(r"constant VITALS_SET_GPUS: (\d+)")
    assert vitals.vitals_snapshot_take(context, sets, ctypes.byref(snapshot), None) == 0
    vitals.vitals_snapshot_unref(snapshot)
    vitals.vitals_context_free(context)
    left = threads() - 1
    dlclose = ctypes.CDLL(None).dlclose
    dlclose.argtypes = [ctypes.c_void_p]
    assert dlclose(vitals._handle) == 0
    deadline = time.monotonic() + 120
    while threads() > 1 and time.monotonic() < deadline:
        time.sleep(0.05)
    print(f"{left} left, {threads() - 1} at the end", flush=True)
    os._exit(0)  # ctypes would close the library once more


class Unload(unittest.TestCase):
    @unittest.skipIf(SANITIZED, "a sanitizer must be loaded before the program")
    def test_a_thread_in_a_driver_that_hangs_comes_back(self):
        driver = os.path.join(simulated.folder("r580"), "libnvidia-ml.so.1")
        done = subprocess.run([sys.executable, __file__, os.environ["VITALS_LIBRARY"], driver], text=True,
                              capture_output=True, check=False, timeout=170,
                              env={**os.environ, "VITALS_NVML_SCENARIO": simulated.scenario("hanging")})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"\A[1-9]\d* left, 0 at the end\n\Z")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        unload(*sys.argv[1:])
    unittest.main()
