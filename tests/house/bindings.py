"""The public headers, preprocessed, are plain enough for a binding generator.

With VITALS_BINDINGS defined no attribute is left, so that cffi reads them without help; and what it
read calls the built library.
"""

import os
import pathlib
import subprocess
import tempfile
import unittest

try:
    import cffi
except ImportError as missing:
    raise unittest.SkipTest("cffi is not installed; `make test` installs it") from missing

SOURCE = pathlib.Path(os.environ.get("VITALS_SOURCE", pathlib.Path(__file__).parents[2]))
LIBRARY = os.environ.get("VITALS_LIBRARY", str(SOURCE / "build/libvitals.so"))

# cffi knows the types of these itself, and stumbles over what glibc puts around them.
STANDARD = {
    "stdint.h": "",
    "stddef.h": "",
    "stdbool.h": "#define bool _Bool\n",
}


def declarations(header="vitals/vitals.h"):
    """What is left of a public header when the preprocessor is done."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in STANDARD.items():
            (pathlib.Path(folder) / name).write_text(text)
        return subprocess.run(
            ["cc", "-E", "-P", "-std=c11", "-D", "VITALS_BINDINGS", "-nostdinc", "-I", folder,
             "-I", SOURCE / "include", "-x", "c", "-"],
            input=f"#include <{header}>\n", capture_output=True, text=True, check=True,
        ).stdout


class Bindings(unittest.TestCase):
    def test_cffi_reads_every_declaration(self):
        headers = [path.relative_to(SOURCE / "include").as_posix()
                   for path in sorted((SOURCE / "include/vitals").rglob("*.h"))]
        for header in headers:
            with self.subTest(header=header):
                text = declarations(header)
                self.assertNotIn("__attribute__", text)
                cffi.FFI().cdef(text)

    def test_what_it_read_calls_the_library(self):
        ffi = cffi.FFI()
        ffi.cdef(declarations())
        library = ffi.dlopen(LIBRARY)
        version = ffi.string(library.vitals_version_text()).decode()
        self.assertRegex(version, r"^\d+\.\d+\.\d+")


if __name__ == "__main__":
    unittest.main()
