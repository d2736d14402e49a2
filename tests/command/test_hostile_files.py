"""The command over a tree of files that stands for a machine, each file spoiled in every way."""

import os
import random
import unittest

from cast import ordinary
from hostile import FILES, Hostile


def cut_in_half(path):
    path.write_bytes(path.read_bytes()[:path.stat().st_size // 2])


def cut_before_the_end(path):
    path.write_bytes(path.read_bytes()[:-1])


def one_byte(path):
    path.write_bytes(path.read_bytes()[:1])


def nothing(path):
    path.write_bytes(b"")


def no_file(path):
    path.unlink()


def folder_instead(path):
    path.unlink()
    path.mkdir()


def loop(path):
    path.unlink()
    path.symlink_to(path.name)


def dangling(path):
    path.unlink()
    path.symlink_to("nowhere/at/all")


def zeros(path):
    path.unlink()
    path.symlink_to("/dev/zero")


def null(path):
    path.unlink()
    path.symlink_to("/dev/null")


def random_bytes(path):
    path.write_bytes(random.Random(path.name).randbytes(1 << 20))


def itself_in_memory(path):  # EIO
    path.unlink()
    path.symlink_to("/proc/self/mem")


def a_gibibyte(path):
    os.truncate(path, 1 << 30)


def unreadable(path):
    path.chmod(0)


def repeated(path):
    text = path.read_bytes()
    with path.open("ab") as file:
        for _ in range(min(20000, (8 << 20) // (len(text) + 1))):
            file.write(text)


DAMAGES = (cut_in_half, cut_before_the_end, one_byte, nothing, no_file, folder_instead, loop,
           dangling, zeros, null, random_bytes, itself_in_memory, a_gibibyte, repeated)


class Files(Hostile):
    def test_every_file_spoiled(self):
        for damage in DAMAGES:
            world = self.plain()
            for name in FILES:
                damage(world / "proc" / name)
            with self.subTest(damage=damage.__name__):
                found = self.check_all(*self.roots(world))
                self.nothing_missing_is_zero(damage, found)

    def nothing_missing_is_zero(self, damage, found):
        if damage in (cut_before_the_end, repeated, a_gibibyte, cut_in_half):
            return
        one, = found["json"]
        row, = one["tables"]["host"]
        for name in ("memory_total_bytes", "memory_used_bytes", "swap_total_bytes", "load_1m",
                     "cpu_busy_seconds", "disk_read_bytes", "network_received_bytes", "cpus"):
            # Random bytes hold lines with a colon, and so interfaces, of which nothing is known.
            if (damage, name) != (random_bytes, "network_received_bytes"):
                self.assertIsNone(row[name], name)
        for process in one["tables"]["process"]:
            for name in ("uid", "user", "threads", "resident_bytes", "cpu_seconds", "nice"):
                self.assertIsNone(process[name], name)
        self.assertNotIn("root", found["text"].split("Processes:")[1].split("\n", 1)[1])
        self.assertIn("N/A", found["text"])

    def test_unreadable_for_an_ordinary_user(self):
        prefix = ordinary(self)
        world = self.plain()
        for name in FILES:
            unreadable(world / "proc" / name)
        found = self.check_all(*self.roots(world), prefix=prefix)
        one, = found["json"]
        self.assertEqual(one["tables"]["host"][0]["availability"]["memory_total_bytes"], "denied")
        for row in one["tables"]["process"]:
            self.assertEqual(row["availability"]["name"], "denied")
            self.assertEqual(row["availability"]["uid"], "denied")
        self.nothing_missing_is_zero(unreadable, found)

    def test_each_file_spoiled(self):
        for name in FILES:
            if name.startswith(("1/", "2/", "702/")):
                continue  # as those of 700
            for damage in DAMAGES:
                world = self.plain()
                damage(world / "proc" / name)
                with self.subTest(file=name, damage=damage.__name__):
                    self.check("json", *self.roots(world))

    def test_each_file_cut_at_every_byte(self):
        """Of the files with numbers: half a number is none, and never another number."""
        whole, = self.check("json", *self.roots(self.plain()))
        truth = whole["tables"]["host"][0]
        world = self.plain()
        for name in ("meminfo", "loadavg", "net/dev", "diskstats", "stat"):
            path = world / "proc" / name
            text = path.read_bytes()
            for size in range(0, len(text), 7 if name != "loadavg" else 1):
                path.write_bytes(text[:size])
                with self.subTest(file=name, size=size):
                    one, = self.check("json", *self.roots(world))
                    row, = one["tables"]["host"]
                    words = row.get("availability", {})
                    for metric, value in row.items():
                        # What is derived is an estimate or a bound where a part is missing.
                        if metric in ("key", "label", "age_ns", "ages_ns", "uptime_seconds",
                                      "boot_time_seconds", "availability"):
                            continue
                        if words.get(metric, "have") == "have":
                            self.assertEqual(value, truth[metric], metric)
            path.write_bytes(text)


if __name__ == "__main__":
    unittest.main()
