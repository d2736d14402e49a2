"""scripts/setup on machines that this one is not: nothing installed, no sudo, no apt.

A folder of our own is the whole PATH: real tools for text, and stand-ins for apt-get, sudo and id
that write down how they were called. Nothing is installed.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("VITALS_SOURCE", pathlib.Path(__file__).parents[2]))

TOOLS = ("sh", "dirname", "grep", "sed", "awk", "env", "cat", "ls", "rm", "touch", "chmod", "true", "mkdir",
         "sha256sum")

# The first name is as long as Debian's longest: no column may cut it or run into the next.
LONG = "hammer" + "-and-its-handle" * 4 + "-dev"
PACKAGES = f"""\
# comment

{LONG}  command:hammer  required  drives nails
saw          command:saw      required  cuts boards
glue-dev     command:glue     optional  gluing, glue --hot
"""

# Installing brings the programs that the probes look for.
APT_GOOD = """
case "$*" in *--simulate*) ;; *install*) for tool in hammer saw glue; do
    touch "$BIN/$tool"; chmod +x "$BIN/$tool"; done ;; esac
"""
# Knows no package before its lists are updated.
APT_WITHOUT_LISTS = """
case "$*" in *update*) touch "$BIN/updated"; exit 0 ;; esac
[ -e "$BIN/updated" ] || exit 100
""" + APT_GOOD
# Knows the packages, in versions that the mirror no longer has.
APT_OLD_LISTS = """
case "$*" in *update*) touch "$BIN/updated"; exit 0 ;; *--simulate*) exit 0 ;; esac
[ -e "$BIN/updated" ] || exit 100
""" + APT_GOOD
APT_USELESS = "exit 0"
SUDO_GOOD = """[ "$1" = -n ] && shift; exec "$@" """
SUDO_REFUSES = "exit 1"
# The system's Python: everything is importable, venv makes a folder with an interpreter in it.
PYTHON = """
case "$*" in "-m venv "*) mkdir -p "$3/bin"; cp "$BIN/pip-python" "$3/bin/python" ;; esac
"""


class Setup(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.bin = self.root / "bin"
        self.bin.mkdir()
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        (self.root / "scripts").mkdir()
        shutil.copy(SOURCE / "scripts/setup", self.root / "scripts/setup")
        (self.root / "scripts/packages-build").write_text(PACKAGES)

    def add(self, name, body="exit 0"):
        path = self.bin / name
        path.write_text(f'#!/bin/sh\necho "{name} $*" >>"$BIN/calls"\n{body}\n')
        path.chmod(0o755)

    def machine(self, user="root", **programs):
        self.add("id", f'[ "$1" = -u ] && echo {0 if user == "root" else 1000} || echo {user}')
        for name, body in programs.items():
            self.add(name.replace("_", "-"), body)

    def run_setup(self, *arguments):
        result = subprocess.run(
            [self.root / "scripts/setup", *(arguments or ("build",))],
            env={"PATH": str(self.bin), "BIN": str(self.bin)},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )
        self.assertEqual(result.stdout, "")
        calls = self.bin / "calls"
        lines = calls.read_text().splitlines() if calls.exists() else []
        return result, [line for line in lines if line.startswith(("apt-get", "sudo"))]

    def assert_list(self, result):
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr, LONG + r" +drives nails\n +saw +cuts boards\n +glue-dev +gluing")
        self.assertIn("run make again", result.stderr)

    def assert_goes_on(self, result):
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = result.stderr.splitlines()
        self.assertEqual(lines[-2], "vitals: building without: gluing, glue --hot (glue-dev)")
        self.assertIn("make clean, then make run", lines[-1])

    def test_asks_nobody_where_everything_is_there(self):
        self.machine(apt_get="exit 99", hammer="", saw="", glue="")
        result, calls = self.run_setup()
        self.assertEqual((result.returncode, result.stderr, calls), (0, "", []))

    def test_installs_only_what_is_missing(self):
        self.machine(apt_get=APT_GOOD, saw="")
        result, calls = self.run_setup()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([call for call in calls if "simulate" not in call],
                         [f"apt-get -q install -y --no-install-recommends {LONG} glue-dev"])

    def test_fetches_package_lists_first_where_there_are_none(self):
        self.machine(apt_get=APT_WITHOUT_LISTS)
        result, calls = self.run_setup()
        self.assertEqual(result.returncode, 0, result.stderr)
        words = [call.split()[1:3] for call in calls]
        self.assertEqual(words, [["install", "--simulate"], ["-q", "update"], ["-q", "install"]])

    def test_fetches_old_package_lists_again(self):
        self.machine(apt_get=APT_OLD_LISTS)
        result, calls = self.run_setup()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([call.split()[2] for call in calls], ["--simulate", "install", "update", "install"])

    def test_says_what_it_installs_before_it_calls_sudo(self):
        self.machine(user="ann", apt_get=APT_GOOD, sudo='echo "sudo is called" >&2\n' + SUDO_GOOD)
        result, _ = self.run_setup()
        said, _, _ = result.stderr.partition("sudo is called")
        self.assertRegex(said, r"missing:\n +" + LONG)
        self.assertIn("installing them with: sudo -n apt-get install", said)

    def test_calls_sudo_without_a_prompt_where_there_is_no_terminal(self):
        self.machine(user="ann", apt_get=APT_GOOD, sudo=SUDO_GOOD)
        result, calls = self.run_setup()
        self.assertEqual(result.returncode, 0, result.stderr)
        sudos = [call for call in calls if call.startswith("sudo")]
        self.assertTrue(sudos and all(call.startswith("sudo -n ") for call in sudos), calls)

    def test_says_what_is_missing_without_sudo(self):
        self.machine(user="ann", apt_get=APT_GOOD)
        result, calls = self.run_setup()
        self.assert_list(result)
        self.assertIn('user "ann" may not install packages, and there is no sudo', result.stderr)
        self.assertIn(f"apt-get update && apt-get install {LONG} saw glue-dev", result.stderr)
        self.assertEqual(calls, [])

    def test_says_what_is_missing_where_sudo_refuses(self):
        self.machine(user="ann", apt_get=APT_GOOD, sudo=SUDO_REFUSES)
        result, calls = self.run_setup()
        self.assert_list(result)
        self.assertIn('sudo does not let user "ann" install packages', result.stderr)
        self.assertFalse([call for call in calls if call.startswith("apt-get")])

    def test_says_what_is_missing_without_apt(self):
        self.machine()
        result, _ = self.run_setup()
        self.assert_list(result)
        self.assertIn("there is no apt-get", result.stderr)
        # Advice that this machine cannot follow.
        self.assertNotIn("apt-get install", result.stderr)

    def test_a_build_goes_on_without_optional_packages(self):
        for programs in ({}, {"sudo": SUDO_REFUSES, "apt_get": APT_GOOD}, {"apt_get": APT_GOOD}):
            with self.subTest(programs=list(programs)):
                self.setUp()
                self.machine(user="ann", hammer="", saw="", **programs)
                result, _ = self.run_setup()
                self.assert_goes_on(result)

    def test_tests_need_every_package(self):
        self.machine(user="ann", hammer="", saw="")
        (self.root / "scripts/packages-test").write_text("")
        result, _ = self.run_setup("test")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr, r"glue-dev +gluing")

    def test_an_environment_that_pip_could_not_fill_is_not_taken_for_made(self):
        (self.bin / "cp").symlink_to(shutil.which("cp"))
        self.add("pip-python", '[ -e "$BIN/network" ] || { echo "no network" >&2; exit 1; }')
        self.machine(hammer="", saw="", glue="", python3=PYTHON)
        for name in ("packages-test", "requirements-test.txt"):
            (self.root / "scripts" / name).write_text("")
        # scripts/setup prefers /usr/bin/python3, which is real here.
        setup = self.root / "scripts/setup"
        setup.write_text(setup.read_text().replace("/usr/bin/python3", "/nowhere/python3"))

        result, _ = self.run_setup("test")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("build/venv could not be filled", result.stderr)
        self.assertFalse((self.root / "build/venv/stamp").exists())

        (self.bin / "network").touch()
        result, _ = self.run_setup("test")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.root / "build/venv/stamp").exists())

    def test_notices_an_installation_that_did_not_help(self):
        self.machine(apt_get=APT_USELESS)
        result, _ = self.run_setup()
        self.assertEqual(result.returncode, 1)
        self.assertIn("apt-get did not install them", result.stderr)

    def test_a_build_goes_on_where_a_mirror_is_out_of_reach(self):
        self.machine(hammer="", saw="", apt_get="echo 'no network' >&2; exit 100")
        result, _ = self.run_setup()
        self.assert_goes_on(result)

    def test_says_what_is_missing_where_a_mirror_is_out_of_reach(self):
        self.machine(apt_get="exit 100")
        result, _ = self.run_setup()
        self.assert_list(result)

    def test_explains_its_use(self):
        self.machine()
        for arguments in (("everything",), ("",)):
            result, _ = self.run_setup(*arguments)
            self.assertEqual(result.returncode, 2)
            self.assertIn("usage", result.stderr)


class Lists(unittest.TestCase):
    def test_every_line_has_a_probe_a_need_and_a_reason(self):
        probes = ("command:", "pkg:", "header:", "file:", "python:", "clang:")
        for path in sorted((SOURCE / "scripts").glob("packages-*")):
            for line in path.read_text().splitlines():
                if line and not line.startswith("#"):
                    with self.subTest(list=path.name, line=line):
                        package, probe, need, reason = line.split(None, 3)
                        self.assertRegex(package, r"^[a-z0-9][a-z0-9.+-]+$")
                        self.assertTrue(probe.startswith(probes))
                        self.assertIn(need, ("required", "optional"))
                        self.assertTrue(reason)

    def test_every_requirement_is_pinned(self):
        for path in sorted((SOURCE / "scripts").glob("requirements-*.txt")):
            for line in path.read_text().splitlines():
                if line and not line.startswith("#"):
                    self.assertRegex(line, r"^[\w.-]+==(\d+!)?[\w.]+$")


if __name__ == "__main__":
    unittest.main()
