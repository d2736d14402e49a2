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

TOOLS = ("sh", "dirname", "grep", "sed", "awk", "env", "cat", "ls", "rm", "touch", "chmod", "true")

PACKAGES = """\
# comment

hammer-dev   command:hammer   drives nails
saw          command:saw      cuts boards
"""

# Installing brings the program that the probe looks for.
APT_GOOD = """
case $1 in install) for tool in hammer saw; do touch "$BIN/$tool"; chmod +x "$BIN/$tool"; done ;; esac
"""
# Knows no package before its lists are updated.
APT_STALE = """
if [ "$1" = update ]; then touch "$BIN/updated"; exit 0; fi
[ -e "$BIN/updated" ] || exit 100
""" + APT_GOOD
APT_USELESS = "exit 0"
SUDO_GOOD = """[ "$1" = -n ] && shift; exec "$@" """
SUDO_REFUSES = "exit 1"


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
        self.assertRegex(result.stderr, r"hammer-dev +drives nails\n +saw +cuts boards\n")
        self.assertIn("apt-get install hammer-dev saw", result.stderr)

    def test_asks_nobody_where_everything_is_there(self):
        self.machine(apt_get="exit 99", hammer="", saw="")
        result, calls = self.run_setup()
        self.assertEqual((result.returncode, result.stderr, calls), (0, "", []))

    def test_installs_only_what_is_missing(self):
        self.machine(apt_get=APT_GOOD, saw="")
        result, calls = self.run_setup()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(calls), 1, calls)
        self.assertRegex(calls[0], r"^apt-get install .* hammer-dev$")

    def test_updates_stale_lists_once(self):
        self.machine(apt_get=APT_STALE)
        result, calls = self.run_setup()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([call.split()[1] for call in calls], ["install", "update", "install"])

    def test_uses_sudo_without_asking_where_nobody_can_type(self):
        self.machine(user="ann", apt_get=APT_GOOD, sudo=SUDO_GOOD)
        result, calls = self.run_setup()
        self.assertEqual(result.returncode, 0, result.stderr)
        sudos = [call for call in calls if call.startswith("sudo")]
        self.assertTrue(all(call.startswith("sudo -n ") for call in sudos), calls)

    def test_says_what_is_missing_without_sudo(self):
        # A user may be called "nobody", and the message must not deny what it means.
        self.machine(user="nobody", apt_get=APT_GOOD)
        result, calls = self.run_setup()
        self.assert_list(result)
        self.assertIn('user "nobody" may not install it', result.stderr)
        self.assertEqual(calls, [])

    def test_says_what_is_missing_where_sudo_refuses(self):
        self.machine(user="ann", apt_get=APT_GOOD, sudo=SUDO_REFUSES)
        result, calls = self.run_setup()
        self.assert_list(result)
        self.assertIn('sudo does not let user "ann" install it', result.stderr)
        self.assertFalse([call for call in calls if call.startswith("apt-get")])

    def test_says_what_is_missing_without_apt(self):
        self.machine()
        result, _ = self.run_setup()
        self.assert_list(result)
        self.assertIn("no apt-get", result.stderr)

    def test_notices_an_installation_that_did_not_help(self):
        self.machine(apt_get=APT_USELESS)
        result, _ = self.run_setup()
        self.assertEqual(result.returncode, 1)
        self.assertIn("still not found", result.stderr)

    def test_explains_its_use(self):
        self.machine()
        for arguments in (("everything",), ("",)):
            result, _ = self.run_setup(*arguments)
            self.assertEqual(result.returncode, 2)
            self.assertIn("usage", result.stderr)


class Lists(unittest.TestCase):
    def test_every_line_has_a_probe_and_a_reason(self):
        probes = ("command:", "pkg:", "header:", "python:", "clang:")
        for path in sorted((SOURCE / "scripts").glob("packages-*")):
            for line in path.read_text().splitlines():
                if line and not line.startswith("#"):
                    with self.subTest(list=path.name, line=line):
                        _, probe, reason = line.split(None, 2)
                        self.assertTrue(probe.startswith(probes))
                        self.assertTrue(reason)

    def test_every_requirement_is_pinned(self):
        for path in sorted((SOURCE / "scripts").glob("requirements-*.txt")):
            for line in path.read_text().splitlines():
                if line and not line.startswith("#"):
                    self.assertRegex(line, r"^[\w.-]+==[\w.]+$")


if __name__ == "__main__":
    unittest.main()
