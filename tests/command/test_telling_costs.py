"""A command that exports nothing pays nothing for it: no library, no file that is looked for, no system
call. A command that does has none of it in the process that watches a job."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from harness import BUILD, SANITIZED, VITALS, environment, vitals

# The libraries that only the exporter is linked with.
EXPORTING = re.compile(r"^lib(microhttpd|curl|gnutls|yaml|crypt|ssl|crypto)[-.]")

# Words in paths of what a server, a client or the program itself would open.
TELLING = re.compile(r"/tell\b|microhttpd|libcurl|gnutls|libssl|libcrypto|libyaml|libcrypt\.|web\.yml")


def needed(program):
    found = subprocess.run(["readelf", "-dW", program], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", found))


class Costs(unittest.TestCase):
    @unittest.skipIf(SANITIZED, "a sanitizer brings libraries of its own")
    @unittest.skipIf(shutil.which("readelf") is None, "no readelf here")
    def test_the_exporter_alone_is_linked_with_what_exporting_needs(self):
        self.assertEqual([name for name in needed(VITALS) if EXPORTING.match(name)], [])
        self.assertIn("libgnutls.so.30", needed(BUILD / "tell"))

    def trace(self, *arguments, **variables):
        """The files that it and its children touched, and the number of system calls."""
        if shutil.which("strace") is None:
            self.skipTest("no strace here")
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder) / "trace"
            done = subprocess.run(["strace", "-f", "-qq", "-e", "trace=file", "-o", place, VITALS, *arguments],
                                  env=environment(**variables), capture_output=True, check=False)
            if not place.exists() or "ptrace" in done.stderr.decode()[:200]:
                self.skipTest("strace may not trace here")
            self.assertEqual(done.returncode, 0, done.stderr)
            return place.read_text(errors="replace").splitlines()

    @unittest.skipIf(SANITIZED, "a sanitizer opens files of its own")
    def test_who_tells_nobody_looks_for_nothing(self):
        for arguments in (("-1", "--demo", "--delay", "0"), ("run", "-q", "--", "true"),
                          ("--json", "--demo")):
            with self.subTest(arguments=arguments):
                lines = self.trace(*arguments, VITALS_TELL="/somewhere/tell")
                self.assertGreater(len(lines), 20)
                self.assertEqual([line for line in lines if TELLING.search(line)], [])

    @unittest.skipIf(SANITIZED, "a sanitizer opens files of its own")
    def test_this_test_sees_it_where_it_is(self):
        lines = self.trace("run", "-q", "--tensorboard", "/proc/nowhere", "--", "true",
                           VITALS_TELL=BUILD / "tell")
        self.assertTrue([line for line in lines if TELLING.search(line)])

    def test_the_process_beside_a_job_has_none_of_it(self):
        """Also where others are told: all of that is in the other program."""
        done = vitals("run", "-q", "--otlp=http://127.0.0.1:9", "--", "sh", "-c", "cat /proc/$PPID/maps",
                      env={"VITALS_TELL": BUILD / "tell"}, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("/libc.so", done.stdout)
        self.assertEqual([line for line in done.stdout.splitlines() if TELLING.search(line)], [])


if __name__ == "__main__":
    unittest.main()
