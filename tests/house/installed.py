"""What `meson install --strip` puts into a folder: every kind of file, whole and usable, and nothing else."""

import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("VITALS_SOURCE", pathlib.Path(__file__).parents[2]))
BUILD = pathlib.Path(os.environ.get("VITALS_BUILD", SOURCE / "build"))
DEADLINE = 120

# All that may be there; what begins with "?" needs not.
KINDS = (
    r"bin/vitals",
    r"LIB/libvitals\.a",
    r"LIB/libvitals\.so",
    r"LIB/libvitals\.so\.\d+",
    r"LIB/libvitals\.so\.\d+\.\d+\.\d+",
    r"LIB/pkgconfig/vitals\.pc",
    r"?LIB/libvitals-record\.a",
    r"LIB/libvitals-record\.so",
    r"LIB/libvitals-record\.so\.\d+",
    r"LIB/libvitals-record\.so\.\d+\.\d+\.\d+",
    r"LIB/pkgconfig/vitals-record\.pc",
    r"?libexec/vitals/tell",
    r"?libexec/vitals/scope",
    r"?libexec/vitals/vitals-full",
    r"include/vitals/\w+\.h",
    r"include/vitals/sys/\w+\.h",
    r"include/vitals/record/\w+\.h",
    r"share/man/man1/vitals\.1",
    r"share/vitals/vitals\.cdef",
    r"share/man/man3/vitals\w*\.3",
    r"share/bash-completion/completions/vitals",
    r"share/zsh/site-functions/_vitals",
    r"share/fish/vendor_completions\.d/vitals\.fish",
    r"share/doc/vitals/(README\.md|CHANGELOG\.md|LICENSE)",
    r"share/doc/vitals/docs/[\w-]+\.(md|svg)",
    r"share/doc/vitals/docs/schema/\w+\.json",
    r"share/doc/vitals/examples/(\w+\.c|phases\.sh|Makefile)",
    r"share/doc/vitals/examples/tutorial/\w+\.c(pp)?",
)

PROGRAM = """
#include <stdio.h>
#include <vitals/vitals.h>
int main(void) { return puts(vitals_version_text()) < 0; }
"""


RECORD_PROGRAM = """
#include <stdio.h>
#include <vitals/record.h>
int main(void)
{
    vitals_snapshot *snapshot;
    int code = vitals_snapshot_read_json("{", 1, &snapshot, NULL);
    return puts(vitals_code_name((vitals_code)code)) < 0;
}
"""


def run(*words, **options):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          check=False, timeout=DEADLINE, **options)


def have(*programs):
    """Skips a test for want of one of them."""
    missing = [program for program in programs if shutil.which(program) is None]
    return unittest.skipIf(missing, f"no {' '.join(missing)} here")


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if shutil.which("meson") is None:
            raise unittest.SkipTest("no meson here")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.root = pathlib.Path(cls.folder.name)
        result = run("meson", "install", "-C", BUILD, "--no-rebuild", "--strip", "--destdir", cls.root)
        assert result.returncode == 0, result.stdout + result.stderr
        cls.prefix = next(cls.root.rglob("bin/vitals")).parents[1]
        cls.library = next(cls.root.rglob("libvitals.a")).parent
        cls.man = cls.prefix / "share/man"

    def package(self, *options, name="vitals"):
        """What pkg-config says of what is installed there."""
        environment = {**os.environ, "PKG_CONFIG_SYSROOT_DIR": str(self.root),
                       "PKG_CONFIG_LIBDIR": str(self.library / "pkgconfig")}
        result = run("pkg-config", *options, name, env=environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.split()

    def test_every_kind_and_nothing_else(self):
        library = re.escape(str(self.library.relative_to(self.prefix)))
        found = [str(path.relative_to(self.prefix)) for path in self.prefix.rglob("*")
                 if path.is_symlink() or not path.is_dir()]
        rest = set(found)
        for kind in KINDS:
            pattern = re.compile(kind.lstrip("?").replace("LIB", library))
            matching = {path for path in found if pattern.fullmatch(path)}
            self.assertTrue(matching or kind.startswith("?"), kind)
            rest -= matching
        self.assertEqual(rest, set())
        outside = [path for path in self.root.rglob("*")
                   if path.is_file() and not path.is_relative_to(self.prefix)
                   and "systemd" not in str(path) and "sysusers" not in str(path)]
        self.assertEqual(outside, [])

    def test_what_is_read_stays_as_it_is(self):
        for installed, origin in (("share/man/man1/vitals.1", SOURCE / "docs/vitals.1"),
                                  ("share/bash-completion/completions/vitals",
                                   BUILD / "completions/vitals"),
                                  ("share/zsh/site-functions/_vitals",
                                   BUILD / "completions/_vitals"),
                                  ("share/fish/vendor_completions.d/vitals.fish",
                                   BUILD / "completions/vitals.fish"),
                                  ("share/doc/vitals/README.md", SOURCE / "README.md")):
            self.assertEqual((self.prefix / installed).read_bytes(), origin.read_bytes())
        for folder, origin, ending in (("include/vitals", "include/vitals", "*.h"),
                                       ("share/doc/vitals/docs", "docs", "*.md"),
                                       ("share/doc/vitals/examples", "examples", "*.c")):
            names = [path.name for path in (SOURCE / origin).glob(ending)]
            self.assertEqual(sorted(path.name for path in (self.prefix / folder).glob(ending)),
                             sorted(names))

    @have("pkg-config")
    def test_pkg_config_knows_the_declarations_for_cffi(self):
        path, = self.package("--variable=cdef")
        self.assertEqual(pathlib.Path(path).read_bytes(), (BUILD / "vitals.cdef").read_bytes())

    def test_links_between_documents(self):
        folder = self.prefix / "share/doc/vitals"
        for page in (folder / "README.md", *(folder / "docs").glob("*.md")):
            for target in re.findall(r"\]\((?!https?:)([^)#\s]+)", page.read_text()):
                path = (page.parent / target).resolve()
                # What only the source has is told by its name alone.
                if path.is_relative_to(folder / "docs") and "verified" not in target:
                    self.assertTrue(path.exists(), f"{page.name}: {target}")

    @have("readelf")
    def test_stripped(self):
        for path in (self.prefix / "bin/vitals", self.library / "libvitals.so"):
            self.assertNotIn(".debug_info", run("readelf", "-SW", path).stdout)
        self.assertEqual(run(self.prefix / "bin/vitals", "--version").returncode, 0)

    @have("readelf")
    def test_hardened(self):
        """Of all programs and libraries: RELRO and BIND_NOW, no executable stack; what is compiled of ours
        checks its stack, the sizes of its buffers and where it is jumped to."""
        options = {option["name"]: option["value"] for option in
                   json.loads((BUILD / "meson-info/intro-buildoptions.json").read_text())}
        # What a function calls to check; the compiler sets the mark of CET at the head of each.
        wanted = {b"__stack_chk_fail"}
        if options["optimization"] not in ("0", "plain"):
            wanted |= {b"__snprintf_chk"}
        files = [self.prefix / "bin/vitals", self.library / "libvitals.so", self.library / "libvitals-record.so",
                 *(self.prefix / "libexec/vitals").glob("*")]
        self.assertGreaterEqual(len(files), 3)
        for path in files:
            with self.subTest(path=path.name):
                told = run("readelf", "-Wld", path).stdout
                self.assertIn("GNU_RELRO", told)
                self.assertRegex(told, r"BIND_NOW|Flags:.* NOW")
                self.assertRegex(told, r"GNU_STACK\s.*\sRW\s")
                self.assertRegex(run("readelf", "-Wh", path).stdout, r"Type:\s+DYN ")
                code = path.read_bytes()
                if path.name != "scope":  # which has no array of its own
                    self.assertEqual({name for name in wanted if name not in code}, set())
                if platform.machine() == "x86_64":
                    self.assertGreater(code.count(b"\xf3\x0f\x1e\xfa"), 0 if path.name == "scope" else 100)

    @have("cc", "pkg-config")
    def test_a_program_of_each_library(self):
        source = self.root / "program.c"
        source.write_text(PROGRAM)
        for name, libraries in (("shared", self.package("--libs")),
                                ("static", [self.library / "libvitals.a", "-lm", "-ldl", "-pthread"])):
            with self.subTest(name):
                program = self.root / name
                result = run("cc", "-std=c11", "-Wall", "-Werror", source, *self.package("--cflags"),
                             *libraries, "-o", program)
                self.assertEqual(result.returncode, 0, result.stderr)
                said = run(program, env={**os.environ, "LD_LIBRARY_PATH": str(self.library)})
                self.assertRegex(said.stdout, r"^\d+\.\d+\.\d+\n$", said.stderr)
                program.unlink()
        source.unlink()

    @have("cc", "pkg-config")
    def test_a_program_of_the_second_library(self):
        source, program = self.root / "program.c", self.root / "program"
        source.write_text(RECORD_PROGRAM)
        archive = self.library / "libvitals-record.a"
        ways = {"shared": self.package("--libs", name="vitals-record")}
        if archive.exists():
            others = [word for word in self.package("--static", "--libs", name="vitals-record")
                      if word.startswith("-l") and "vitals" not in word]
            ways["static"] = [archive, self.library / "libvitals.a", *others, "-lm", "-ldl", "-pthread"]
        for name, libraries in ways.items():
            with self.subTest(name):
                result = run("cc", "-std=c11", "-Wall", "-Werror", source,
                             *self.package("--cflags", name="vitals-record"), *libraries, "-o", program)
                self.assertEqual(result.returncode, 0, result.stderr)
                said = run(program, env={**os.environ, "LD_LIBRARY_PATH": str(self.library)})
                self.assertEqual((said.returncode, said.stdout, said.stderr), (0, "format\n", ""))
                program.unlink()
        source.unlink()

    @have("cc", "objcopy", "ar", "readelf")
    def test_a_stripped_archive(self):
        """That of -Dstrip=true: a linker still takes it, and hidden names are local."""
        objects, archive = BUILD / "libvitals_objects.a", self.root / "stripped.a"
        if not objects.exists():
            self.skipTest("this build has no archive of objects")
        result = run(SOURCE / "scripts/archive", objects, archive, "--strip-debug", "objcopy", "ar",
                     "cc")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn(".debug_info", run("readelf", "-SW", archive).stdout)
        source, program = self.root / "program.c", self.root / "program"
        source.write_text(PROGRAM)
        result = run("cc", source, "-I", self.prefix / "include", archive, "-lm", "-ldl", "-pthread",
                     "-o", program)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(run(program).stdout, r"^\d+\.\d+\.\d+\n$")
        for path in (source, program, archive):
            path.unlink()

    @have("cc", "c++", "make", "pkg-config")
    def test_examples(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(self.prefix / "share/doc/vitals/examples", folder, dirs_exist_ok=True)
            environment = {**os.environ, "PKG_CONFIG_SYSROOT_DIR": str(self.root),
                           "PKG_CONFIG_LIBDIR": str(self.library / "pkgconfig")}
            for name in ("MAKEFLAGS", "MFLAGS"):
                environment.pop(name, None)
            result = run("make", "-C", folder, "CFLAGS=-Werror -Wall", env=environment)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            self.assertTrue((pathlib.Path(folder) / "account").exists())
            said = run(f"{folder}/record", f"{folder}/run.db", "true",
                       env={**environment, "LD_LIBRARY_PATH": str(self.library)})
            self.assertEqual((said.returncode, said.stderr), (0, ""))
            self.assertIn("CPU", said.stdout)
            self.assertTrue((pathlib.Path(folder) / "tutorial/10_raii").exists())


class Manuals(unittest.TestCase):
    """Section 3, as it was built."""

    FOLDER = BUILD / "docs"

    def pages(self):
        return sorted(self.FOLDER.glob("*.3"))

    def headers(self):
        return sorted(path for path in (SOURCE / "include/vitals").rglob("*.h") if path.name != "export.h")

    def page_of(self, header):
        if header.name == "vitals.h":
            return "vitals"
        return f"vitals_{'sys_' * (header.parent.name == 'sys')}{header.stem}"

    def types(self, header):
        """Structs, enums and types of functions that a header defines."""
        return set(re.findall(r"(?m)^(?:typedef (?:struct|enum)|enum(?= \w+ \{)) (vitals_\w+)", header)) | \
            set(re.findall(r"(?m)^typedef [^;(]*\b(vitals_\w+_fn)\(", header))

    def test_every_function_and_type_has_a_page(self):
        wanted = set()
        for header in self.headers():
            wanted.add(self.page_of(header))
            wanted |= set(re.findall(r"VITALS_API\b[^;(]*?\b(vitals_\w+)\(", header.read_text()))
            wanted |= self.types(header.read_text())
        self.assertGreater(len(wanted), 150)
        self.assertEqual({page.stem for page in self.pages()}, wanted)

    def test_links_lead_to_pages(self):
        for page in self.pages():
            text = page.read_text(encoding="ascii")
            if text.startswith(".so "):
                target = self.FOLDER / text.removeprefix(".so man3/").strip()
                self.assertRegex(target.read_text().replace("\\-", "-"), rf"\b{page.stem}\b")
            else:
                for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "SEE ALSO"):
                    self.assertIn(f".SH {heading}\n", text)
                self.assertNotRegex(text, r"VITALS_(API|CHECKED|NONNULL)|__cplusplus|extern .C.")

    def sections(self, name):
        """Of a page: its sections' text by their titles."""
        text = (self.FOLDER / f"{name}.3").read_text(encoding="ascii").replace("\\-", "-")
        return dict(re.findall(r"^\.SH ([A-Z ]+)\n(.*?)(?=^\.SH |\Z)", text, re.MULTILINE | re.DOTALL))

    def test_a_page_has_what_a_programmer_looks_for(self):
        """Of each function that may fail, its errors; of each, what it does and what it returns."""
        for header in self.headers():
            text = header.read_text()
            for kind, name, arguments in re.findall(
                    r"VITALS_API\s+(?:VITALS_CHECKED\s+)?([^;(]*?)\b(vitals_\w+)\(([^;]*);", text):
                page = (self.FOLDER / f"{name}.3").read_text()
                if page.startswith(".so "):
                    name = re.search(r"man3/(\w+)\.3", page)[1]
                sections = self.sections(name)
                with self.subTest(name):
                    for title in ("NAME", "LIBRARY", "SYNOPSIS", "DESCRIPTION", "SEE ALSO"):
                        self.assertTrue(sections[title].strip())
                    included = header.relative_to(SOURCE / "include").as_posix()
                    self.assertIn(f"#include <{included}>", sections["SYNOPSIS"])
                    self.assertIn(self.page_of(header), sections["SEE ALSO"])
                    if kind.strip() != "void":
                        self.check_sentences(sections["RETURN VALUE"])
                    self.check_sentences(sections["THREADS"])
                    if "vitals_error *error" in arguments and kind.strip() == "int":
                        self.assertIn("vitals_error(3)", sections["RETURN VALUE"])
                        self.assertRegex(sections["ERRORS"], r"VITALS_E|vitals_\w+")
                    if kind.strip() == "vitals_availability" and "*out" in arguments:
                        self.assertIn("above zero", sections["RETURN VALUE"])

    def check_sentences(self, text):
        """None is cut, at a stop within a name or a parenthesis, and none is code."""
        for line in re.sub(r"\\(?:\(\w\w|\[u\w+\])", "_", text).splitlines():
            self.assertRegex(line, r"\A[A-Z0-9-].*[.:]\Z")
            self.assertEqual(line.count("("), line.count(")"), line)
            self.assertNotRegex(line, r"&\w")

    def test_no_page_says_nothing(self):
        """Each stands for itself: it is found by a word, not by its place in a header."""
        for page in self.pages():
            if page.read_text().startswith(".so "):
                continue
            with self.subTest(page.stem):
                sections = self.sections(page.stem)
                summary = " ".join(sections["NAME"].split()).partition(" - ")[2]
                self.assertGreaterEqual(len(summary.split()), 3, summary)
                self.assertNotRegex(summary, r'(?i)^(the same|likewise|accepts|one at a time|as|[-\d"].*)\b')
                self.assertGreaterEqual(len(sections["DESCRIPTION"].split()), 5)

    def test_pages_of_functions(self):
        sections = self.sections("vitals_row_u64")
        for name in ("vitals_row_i64", "vitals_row_f64", "vitals_row_text"):
            self.assertIn(name, sections["NAME"])
            self.assertIn(f" {name}(const vitals_row *row,", sections["SYNOPSIS"])
        self.assertIn("may be read from any thread", " ".join(sections["THREADS"].split()))
        self.assertIn("vitals_snapshot_take(context, VITALS_SET_MACHINE", sections["EXAMPLES"])
        # A stop within a word ends no sentence; what is found or not is told as such.
        self.assertIn("\"nvidia.com/gpu\"; NULL where", self.sections("vitals_advice_gpu_resource")["RETURN VALUE"])
        self.assertEqual(self.sections("vitals_account_find")["RETURN VALUE"],
                         "A borrowed pointer; NULL if there is none.\n")
        self.assertIn("defaults of vitals_wait", self.sections("vitals_wait_init")["NAME"])
        sections = self.sections("vitals_process_wait")
        self.assertRegex(sections["ERRORS"], r"VITALS_EUNSUPPORTED\nA kernel without pidfd, or a process of")
        self.assertIn("One system call for each look", sections["COST"])
        self.assertIn("One thread at a time per handle", sections["THREADS"])
        # Errors of another function are listed, and no sentence speaks of the list that is gone.
        errors = self.sections("vitals_run_recorder_open")["ERRORS"]
        for code in ("EARGUMENT", "EGONE", "EDENIED", "ESYSTEM", "EMEMORY", "EUNSUPPORTED"):
            self.assertIn(f"VITALS_{code}\n", errors)
        for page in self.pages():
            text = page.read_text()
            if not text.startswith(".so "):
                self.assertNotRegex(self.sections(page.stem).get("ERRORS", ""), r"(?i)\b(those|as) of vitals_", page)
                self.assertNotRegex(text, r"(?m)^(All come|Each message|Neither)\b", page)
        # An error that a comment lists without a word has the sentence of error.h.
        self.assertIn("VITALS_EMEMORY\nOut of memory.", self.sections("vitals_request_set_rows")["ERRORS"])

    def test_vitals_3_lists_headers_and_functions(self):
        listed = re.findall(r"\b(vitals_\w+)(?: \(3\)|\(3\))", self.sections("vitals")["HEADERS"])
        types = set().union(*(self.types(header.read_text())
                              for header in (SOURCE / "include/vitals").rglob("*.h")))
        functions = {name for header in (SOURCE / "include/vitals").rglob("*.h")
                     for name in re.findall(r"VITALS_API\b[^;(]*?\b(vitals_\w+)\(", header.read_text())}
        headers = {self.page_of(path) for path in self.headers()}
        self.assertEqual(sorted(listed), sorted(page.stem for page in self.pages() if page.stem != "vitals"
                                                and page.stem not in types - functions - headers))

    def test_section_1_names_section_3_and_back(self):
        self.assertIn(".BR vitals (3)", (SOURCE / "docs/vitals.1").read_text())
        self.assertIn(".BR vitals (1)", (self.FOLDER / "vitals.3").read_text())

    def whole_pages(self):
        return [SOURCE / "docs/vitals.1",
                *(page for page in self.pages() if not page.read_text().startswith(".so "))]

    @have("groff")
    def test_groff_warns_of_nothing(self):
        for page in self.whole_pages():
            self.assertEqual(run("groff", "-man", "-ww", "-Tutf8", page).stderr, "", page)

    @have("mandoc")
    def test_mandoc_warns_of_nothing(self):
        for page in self.whole_pages()[1:]:
            said = run("mandoc", "-T", "lint", "-W", "warning", page).stdout
            # Pages have no date, so that each build of a version gives the same bytes.
            said = [line for line in said.splitlines() if "missing date" not in line]
            self.assertEqual(said, [], page)

    @have("groff")
    def test_text_stands_as_in_the_header(self):
        shown = run("groff", "-man", "-Tutf8", "-P-cbou", self.FOLDER / "vitals_text.3").stdout
        for text in ("\\n \\t \\r \\e    the controls that people know", "C:\\Users and \\d+ look as",
                     "$'\\n' and $'\\xHH'", "#include <vitals/text.h>"):
            self.assertIn(text, shown)
        shown = run("groff", "-man", "-Tutf8", "-P-cbou", self.FOLDER / "vitals_mark.3").stdout
        self.assertIn('echo "begin epoch 1" >> "$VITALS_MARKS"', shown)

    @have("man")
    def test_man_finds_a_function(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(self.FOLDER, f"{folder}/man3",
                            ignore=shutil.ignore_patterns("*[!3]"))
            said = run("man", "-M", folder, "-P", "cat", "3", "vitals_snapshot_take")
            if "minimized" in said.stdout + said.stderr:
                self.skipTest("man is a stub here")
            self.assertIn("vitals_snapshot_take(vitals_context *context", said.stdout, said.stderr)


if __name__ == "__main__":
    unittest.main()
