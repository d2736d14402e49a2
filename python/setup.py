"""Builds the C libraries and the command with Meson, then the extension module vitals._native on top.

The C source is the folder above this one, or `core` beside this file in a source distribution.
"""

import gzip
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.sdist import sdist

HERE = pathlib.Path(__file__).resolve().parent
CORE = HERE / "core" if (HERE / "core").is_dir() else HERE.parent
SOURCES = ("include", "src", "scripts", "completions", "docs", "examples", "packaging", "tests/meson.build",
           "python/tests/meson.build", "meson.build", "meson_options.txt", "README.md", "CHANGELOG.md", "LICENSE")
OLDEST = "cp39"

# The command, what it starts, and the libraries. A wheel cannot hold symbolic links.
INSTALLED = re.compile(r"(bin/vitals|libexec/vitals/[^/]+|lib/libvitals(-record)?\.so\.\d+|share/vitals/[^/]+)$")

# Types of native.c, for it and for cffi.
TYPES = """
#define VITALS_PYTHON_UNKNOWN -1000
typedef struct vitals_python_plan {
    const vitals_request *request;
    const vitals_metric *metrics;
    size_t count;
} vitals_python_plan;

typedef struct vitals_python_answer {
    vitals_error error;
    vitals_snapshot *answer;
    char *more;
    char bytes[4096];
} vitals_python_answer;
"""

DECLARED = """
static void vitals_python_mark(const char *what, const char *name);
static size_t vitals_python_row(const vitals_row *row, const vitals_metric *metrics, size_t count, char *out,
                                size_t capacity);
static size_t vitals_python_rows(const vitals_snapshot *snapshot, vitals_table table, const vitals_metric *metrics,
                                 size_t count, char *out, size_t capacity);
static int64_t vitals_python_ask(vitals_process *process, const vitals_python_plan *plan, vitals_python_answer *out);
static int64_t vitals_python_ask_once(vitals_context *context, int64_t pid, double start_seconds,
                                      const vitals_python_plan *plan, vitals_python_answer *out);
static int64_t vitals_python_take(vitals_sampler *sampler, vitals_table table, const vitals_metric *metrics, size_t count,
                                  vitals_python_answer *out);
static int64_t vitals_python_table(vitals_context *context, vitals_process *process, const vitals_metric *metrics,
                                   size_t count, vitals_python_answer *out);
static int64_t vitals_python_environment(vitals_process *process, vitals_python_answer *out);
static int vitals_python_nice(vitals_process *process);
static int vitals_python_io_priority(vitals_process *process);
static int64_t vitals_python_limit(vitals_process *process, int resource);
static int64_t vitals_python_cpus(vitals_process *process);
static int vitals_python_folder(vitals_process *process, char *out, size_t capacity);
static int64_t vitals_python_marks(const char *path, uint64_t *marks, size_t capacity);
extern "Python" int vitals_python_write(void *data, const char *bytes, size_t size);
extern "Python" void vitals_python_trace(void *data, const char *line);
extern "Python" int vitals_python_collect(void *data, const vitals_collection *collection);
extern "Python" void vitals_python_around(void *data);
extern "Python" int vitals_python_ended(void *data, vitals_process *process);
void free(void *memory);
"""


def version():
    return re.search(r"version: '([^']+)'", (CORE / "meson.build").read_text())[1]


def interface():
    """The C source and the declarations that cffi reads: both libraries, and what is above."""
    spec = importlib.util.spec_from_loader("cdef", importlib.machinery.SourceFileLoader(
        "cdef", str(CORE / "scripts/cdef")))
    cdef = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(cdef)
    compiler = os.environ.get("CC", "cc").split()
    include = CORE / "include"
    macros = "".join(f"#define {name} {value}\n" for name, value in cdef.constants(include))
    headers = [*cdef.headers(include), "vitals/record.h"]
    source = "".join(f"#include <{name}>\n" for name in [*headers, "vitals/mark.h"]) + TYPES
    source += (HERE / "native.c").read_text(encoding="ascii")
    return source, macros + cdef.declarations(include, compiler, headers) + TYPES + DECLARED


class BuildNative(build_ext):
    """Meson first: the extension is linked against what it installs below vitals/_prefix."""

    def run(self):
        build = pathlib.Path(os.environ.get("VITALS_MESON_BUILD") or HERE / "build/meson")  # also for an editable install: the second one is quick
        stage = build / "stage"
        meson = [sys.executable, "-m", "mesonbuild.mesonmain"]
        if not (build / "build.ninja").exists():
            subprocess.run([*meson, "setup", str(build), str(CORE), "--prefix=/vitals", "--libdir=lib",
                            "--buildtype=release", "-Dtests=disabled", "-Dbenches=disabled", "-Dfuzz=disabled",
                            "-Dexamples=disabled", "-Db_lto=false",
                            *os.environ.get("VITALS_MESON_OPTIONS", "").split()], check=True)
        subprocess.run([*meson, "compile", "-C", str(build)], check=True)
        shutil.rmtree(stage, ignore_errors=True)
        subprocess.run([*meson, "install", "-C", str(build), "--no-rebuild", "--quiet", "--strip",
                        "--destdir", str(stage)], check=True)
        package = HERE if self.inplace else pathlib.Path(self.build_lib).resolve()
        prefix = package / "vitals/_prefix"
        shutil.rmtree(prefix, ignore_errors=True)
        for path in sorted((stage / "vitals").rglob("*")):
            name = path.relative_to(stage / "vitals").as_posix()
            if INSTALLED.match(name) and path.is_file():
                (prefix / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, prefix / name)
        self.prefix = prefix
        super().run()

    def build_extension(self, extension):
        import cffi
        source = HERE / "build/_native.c"
        ffi = cffi.FFI()
        code, declared = interface()
        ffi.cdef(declared)
        ffi.set_source("vitals._native", code)
        ffi.emit_c_code(str(source))
        extension.sources = [os.path.relpath(source)]  # no folder of this machine in the object
        extension.include_dirs = [str(CORE / "include")]
        extension.extra_link_args = ["-Wl,-rpath,$ORIGIN/_prefix/lib", *(
            str(library) for library in sorted((self.prefix / "lib").glob("*.so.*")))]
        super().build_extension(extension)


class StableWheel(bdist_wheel):
    """One wheel for all versions of Python: the extension keeps to the stable ABI."""

    def finalize_options(self):
        super().finalize_options()
        self.py_limited_api = OLDEST


class WholeSource(sdist):
    """A source distribution has the C source in `core`."""

    def make_release_tree(self, base, files):
        super().make_release_tree(base, files)
        target = pathlib.Path(base) / "core"
        for name in SOURCES:
            if (CORE / name).is_dir():
                shutil.copytree(CORE / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(CORE / name, target / name)

    def make_archive(self, base_name, format, root_dir=None, base_dir=None, owner=None, group=None):
        """With SOURCE_DATE_EPOCH the same revision gives the same bytes."""
        if format != "gztar" or "SOURCE_DATE_EPOCH" not in os.environ:
            return super().make_archive(base_name, format, root_dir, base_dir, owner, group)
        date = int(os.environ["SOURCE_DATE_EPOCH"])

        def plain(entry):
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            entry.mtime = date
            entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
            return entry

        path = f"{base_name}.tar.gz"
        with open(path, "wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=date) as packed, \
                tarfile.open(fileobj=packed, mode="w") as archive:
            archive.add(base_dir, filter=plain)
        return path


setup(
    version=version(),
    ext_modules=[Extension("vitals._native", [], py_limited_api=True)],
    cmdclass={"build_ext": BuildNative, "bdist_wheel": StableWheel, "sdist": WholeSource},
)
