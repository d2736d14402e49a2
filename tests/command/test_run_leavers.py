"""`vitals run` that counts with a cgroup: who has left it is found by what only he can have, and pages
that somebody else was charged for show nobody.
"""

import os

from harness import environment
from runs import RunCase, program

# Once a second is memory looked at in detail.
SEEN_SECONDS = 2.5


class Leavers(RunCase):
    def counted(self, text):
        """The account of a run whose cgroup counts memory."""
        done, account = self.run_it(program(text), env=environment(HOME="/nonexistent"))
        self.assertEqual(done.returncode, 0, done.stderr)
        if "cgroup" not in account.document["attributes"]["rungs"] or "memory_peak_bytes" not in account:
            self.skipTest("no cgroup counts memory here")
        return account

    def test_a_file_that_was_in_the_cache_shows_nobody(self):
        path = self.folder / "file"
        path.write_bytes(os.urandom(1 << 20) * 100)
        self.assertEqual(len(path.read_bytes()), 100 << 20)  # ours, not the command's
        account = self.counted(f"""
            import mmap
            file = open({str(path)!r}, "rb")
            block = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
            sum(block[at] for at in range(0, len(block), 4096))
            time.sleep({SEEN_SECONDS})
            """)
        if account.get("memory_private_peak_bytes", {}).get("value") is None:
            self.skipTest("no details of memory are told here")
        peak = account["memory_peak_bytes"]
        if peak["value"] > 100 << 20 and peak["availability"] == "have":
            self.skipTest("the command was charged for the file")
        # Less was charged than was resident, and yet no process is said to have left.
        self.assertEqual(peak["availability"], "lower_bound", peak)
        self.assertGreaterEqual(peak["value"], 100 << 20)
        self.assertIn("resident memory of one process; its cgroup was charged less", peak["source"])

    def test_who_left_is_found(self):
        if os.geteuid() != 0:
            self.skipTest("only root leaves a cgroup")
        account = self.counted(f"""
            for line in open("/proc/self/cgroup"):
                number, controllers, path = line.strip().split(":", 2)
                for place in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup"):
                    top = os.path.join(place + os.path.dirname(path), "cgroup.procs")
                    if (controllers == "memory") == place.endswith("memory") and os.access(top, os.W_OK):
                        try:
                            with open(top, "w") as file:
                                file.write(str(os.getpid()))
                        except OSError:
                            pass
            block = bytearray(os.urandom(1 << 20)) * 150
            time.sleep({SEEN_SECONDS})
            """)
        peak = account["memory_peak_bytes"]
        if peak["value"] > 150 << 20 and peak["availability"] == "have":
            self.skipTest("it could not leave")
        self.assertEqual(peak["availability"], "lower_bound", peak)
        self.assertGreater(peak["value"], 150 << 20)
        self.assertIn("left the cgroup", peak["source"])
