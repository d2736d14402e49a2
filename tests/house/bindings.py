"""The public headers, preprocessed, are plain enough for a binding generator.

With VITALS_BINDINGS defined no attribute is left, so that cffi reads them without help; and what it
read calls the built library. The same is installed as share/vitals/vitals.cdef.
"""

import os
import pathlib
import re
import runpy
import unittest

try:
    import cffi
except ImportError as missing:
    raise unittest.SkipTest("cffi is not installed; `make test` installs it") from missing

SOURCE = pathlib.Path(os.environ.get("VITALS_SOURCE", pathlib.Path(__file__).parents[2]))
LIBRARY = os.environ.get("VITALS_LIBRARY", str(SOURCE / "build/libvitals.so"))

BUILD = pathlib.Path(os.environ.get("VITALS_BUILD", SOURCE / "build"))
CDEF = runpy.run_path(str(SOURCE / "scripts/cdef"))


def promised():
    """The functions that the library's headers declare."""
    text = "".join((SOURCE / "include" / header).read_text() for header in CDEF["headers"](SOURCE / "include"))
    return re.findall(r"\bVITALS_API\b[^;{(]*?\b(vitals_\w+)\s*\(", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL))


class Bindings(unittest.TestCase):
    def test_cffi_reads_every_declaration(self):
        headers = [path.relative_to(SOURCE / "include").as_posix()
                   for path in sorted((SOURCE / "include/vitals").rglob("*.h"))]
        for header in headers:
            with self.subTest(header=header):
                text = CDEF["declarations"](SOURCE / "include", names=[header])
                self.assertNotIn("__attribute__", text)
                cffi.FFI().cdef(text)

    def opened(self):
        """The installed file, and the library, as a program in Python has them."""
        ffi = cffi.FFI()
        ffi.cdef((BUILD / "vitals.cdef").read_text(encoding="ascii"))
        return ffi, ffi.dlopen(LIBRARY)

    def test_the_built_file_is_of_these_headers(self):
        self.assertEqual((BUILD / "vitals.cdef").read_text(), CDEF["cdef"](SOURCE / "include"))

    def test_it_has_every_function_and_no_word_of_the_c_library(self):
        text = (BUILD / "vitals.cdef").read_text()
        found = {name for name in re.findall(r"\b(vitals_\w+)\(", text) if not name.endswith("_fn")}
        self.assertEqual(found, set(promised()))
        self.assertNotRegex(text, r"__attribute__|__extension__|\b_IO|\b__\w|size_t;")

    def test_what_macros_say(self):
        _, library = self.opened()
        self.assertEqual((library.VITALS_FOREVER, library.VITALS_UNLIMITED), (2**64 - 1, 2**64 - 1))
        version = f"{library.VITALS_VERSION_MAJOR}.{library.VITALS_VERSION_MINOR}.{library.VITALS_VERSION_PATCH}"
        ffi = self.opened()[0]
        self.assertEqual(ffi.string(library.vitals_version_text()).decode(), version)
        self.assertGreaterEqual(library.VITALS_SCHEMA, 1)

    def test_a_snapshot_of_the_demo(self):
        ffi, library = self.opened()
        error, options = ffi.new("vitals_error *"), ffi.new("vitals_options *")
        context, snapshot = ffi.new("vitals_context **"), ffi.new("vitals_snapshot **")
        library.vitals_options_init(options, ffi.sizeof("vitals_options"))
        demo = ffi.new("char[]", b"demo")
        options.backends = demo
        self.assertEqual(library.vitals_context_new(options, context, error), library.VITALS_OK)
        context = ffi.gc(context[0], library.vitals_context_free)
        self.assertEqual(library.vitals_snapshot_take(context, library.VITALS_SET_GPUS, snapshot, error), 0)
        snapshot = ffi.gc(snapshot[0], library.vitals_snapshot_unref)
        value, text, row, names = ffi.new("uint64_t *"), ffi.new("vitals_text *"), ffi.NULL, []
        while (row := library.vitals_snapshot_next(snapshot, library.VITALS_TABLE_GPU, row)) != ffi.NULL:
            state = library.vitals_row_u64(row, library.VITALS_GPU_MEMORY_USED_BYTES, value)
            self.assertEqual(state, library.VITALS_HAVE)
            self.assertGreater(value[0], 1 << 30)
            if library.vitals_row_text(row, library.VITALS_GPU_NAME, text) > 0:
                names.append(ffi.unpack(text.bytes, text.size).decode())
        self.assertTrue(any("H100" in name for name in names) and any("MI300X" in name for name in names), names)

    def test_an_error_is_a_message(self):
        ffi, library = self.opened()
        error, request = ffi.new("vitals_error *"), ffi.new("vitals_request **")
        self.assertEqual(library.vitals_request_new(1, request, error), library.VITALS_EARGUMENT)
        self.assertIn("set", ffi.string(error.message).decode())


if __name__ == "__main__":
    unittest.main()
