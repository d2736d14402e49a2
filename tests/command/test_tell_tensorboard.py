"""Files for TensorBoard, read back by the tensorboard package."""

import json
import os
import pathlib
import signal
import struct
import subprocess
import tempfile
import unittest

from harness import BUILD, environment
from tell_program import Tell, snapshots

SERVERS_PYTHON = os.environ.get("VITALS_SERVERS_PYTHON", "")
EXAMPLE = BUILD / "examples/example_exporter"
GIB = 1 << 30
START_NS = 1_750_000_000_000_000_000

# Run by that Python: a folder in, what TensorBoard's own reader makes of it out.
READER = r"""
import json, sys
from tensorboard.backend.event_processing import event_accumulator, plugin_event_accumulator
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
import glob, os
folder = sys.argv[1]
plain = event_accumulator.EventAccumulator(folder, size_guidance={"scalars": 0})
plain.Reload()
rich = plugin_event_accumulator.EventAccumulator(folder, size_guidance={"tensors": 0})
rich.Reload()
texts = {tag: [event.tensor_proto.string_val[0].decode() for event in rich.Tensors(tag)]
         for tag in rich.PluginTagToContent("text")} if "text" in rich.ActivePlugins() else {}
json.dump({
    "plain": {tag: [[e.wall_time, e.step, e.value] for e in plain.Scalars(tag)] for tag in plain.Tags()["scalars"]},
    "scalars": sorted(rich.PluginTagToContent("scalars")) if "scalars" in rich.ActivePlugins() else [],
    "help": {tag: rich.SummaryMetadata(tag).summary_description for tag in rich.Tags()["tensors"]},
    "texts": texts,
    "version": plain.file_version,
}, sys.stdout)
"""


def needs_reader(test):
    return unittest.skipUnless(SERVERS_PYTHON, "no Python with tensorboard (VITALS_SERVERS_PYTHON)")(test)


def usage(number, *values):
    """A line of what a tree used, a second after the one before."""
    return {"usage": {"realtime_ns": str(START_NS + number * 1_000_000_000), "monotonic_ns": str(number + 1),
                      "values": [list(value) for value in values]}}


def value(scope, subject, measure, number):
    return [scope, subject, measure, "have" if number is not None else "denied", number]


class Folder(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name) / "runs" / "first"

    def write(self, *lines):
        with Tell(patience_seconds=30, tensorboard={"folder": str(self.folder)}) as tell:
            for line in lines:
                tell.write(line)
            heard, stderr = tell.end()
        self.assertEqual(stderr, "")
        return heard

    def read(self):
        done = subprocess.run([SERVERS_PYTHON, "-c", READER, str(self.folder)], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return json.loads(done.stdout)


@needs_reader
class ReadBack(Folder):
    def test_values_steps_and_times_are_what_was_sent(self):
        self.write(*(usage(n, value("tree", "", "cpu_cores", n + 0.25),
                           value("tree", "", "memory_resident_bytes", n * GIB),
                           value("system", "", "cpu_ratio", n / 8),
                           value("gpu", "GPU-x", "device_utilization_ratio", 0.5)) for n in range(5)))
        found = self.read()
        self.assertEqual(found["version"], 2.0)
        for tag, wanted in (("vitals/cpu_cores", lambda n: n + 0.25), ("vitals/memory_resident_GiB", lambda n: n),
                            ("system/cpu_percent", lambda n: n * 12.5), ("gpu_GPU-x/utilization_percent", lambda n: 50)):
            self.assertEqual(found["plain"][tag],
                             [[START_NS / 1e9 + n, n, wanted(n)] for n in range(5)], tag)
        self.assertEqual(found["scalars"], sorted(found["plain"]))
        self.assertIn("CPUs in use", found["help"]["vitals/cpu_cores"])

    @unittest.skipUnless(EXAMPLE.exists(), "built without examples")
    def test_a_program_exports_a_run_by_the_library(self):
        result = subprocess.run([EXAMPLE, self.folder, "sh", "-c", "sleep 1.2; exit 3"],
                                env=environment(VITALS_TELL=BUILD / "tell"), capture_output=True, text=True, timeout=60)
        self.assertEqual((result.returncode, result.stderr), (3, ""))
        found = self.read()
        points = found["plain"]["vitals/memory_resident_GiB"]
        self.assertGreaterEqual(len(points), 2)
        self.assertEqual([step for _, step, _ in points], list(range(len(points))))
        self.assertTrue(all(value > 0 for _, _, value in points), points)
        self.assertIn("wall", found["texts"]["account/text_summary"][0] if "account/text_summary" in found["texts"]
                      else str(found["texts"]))

    def test_what_is_missing_has_no_point(self):
        self.write(usage(0, value("tree", "", "cpu_cores", 1)), usage(1, value("tree", "", "cpu_cores", None)),
                   usage(2, value("tree", "", "cpu_cores", 3)))
        self.assertEqual([point[1:] for point in self.read()["plain"]["vitals/cpu_cores"]], [[0, 1], [2, 3]])

    def test_what_was_not_read_anew_has_no_point(self):
        again = ["gpu", "GPU-x", "device_utilization_ratio", "stale", 0.25]
        self.write(usage(0, value("gpu", "GPU-x", "device_utilization_ratio", 0.25)), usage(1, again), usage(2, again),
                   usage(3, value("gpu", "GPU-x", "device_utilization_ratio", 0.75)))
        self.assertEqual([point[1:] for point in self.read()["plain"]["gpu_GPU-x/utilization_percent"]],
                         [[0, 25], [3, 75]])

    def test_devices_have_the_number_of_their_snapshot(self):
        line = snapshots("--demo", "--count", "1", "--interval", "1")[0]
        gpus = {gpu["label"]: gpu["uuid"] for gpu in json.loads(line)["tables"]["gpu"]}
        self.assertIn("1:0", gpus)
        self.write(line, usage(0, *(value("gpu", uuid, "gpu_memory_bytes", GIB) for uuid in gpus.values())))
        self.assertEqual({tag for tag in self.read()["plain"] if tag.startswith("gpu_")},
                         {f"gpu_{label.replace(':', '_')}/gpu_memory_GiB" for label in gpus})

    def test_the_account_is_a_text(self):
        hostile = "a|b\n<script>`x`*y*\x1b[2J"
        self.write(usage(0, value("tree", "", "cpu_cores", 1)),
                   {"account": {"schema": 1, "exit_code": 3, "signal": 0, "figures": [
                       {"name": "cpu_seconds", "value": 12.5, "unit": "seconds", "availability": "have", "source": hostile},
                       {"name": "energy_joules", "value": None, "unit": "joules", "availability": "denied", "source": ""}]},
                    "status": {"state": "exited", "code": 3}})
        (text,) = self.read()["texts"]["account"]
        self.assertIn("Exit code 3", text)
        self.assertIn("12.5", text)
        self.assertIn(r"cpu\_seconds", text)
        self.assertNotIn("\x1b", text)
        self.assertNotIn(" <script>", text)
        rows = [line for line in text.splitlines() if line.startswith("|")]
        self.assertEqual(len(rows), 4)
        unescaped = [line.replace(r"\|", "").count("|") for line in rows]
        self.assertEqual(set(unescaped), {7})

    def test_it_reads_after_a_kill_at_any_time(self):
        with Tell(patience_seconds=30, tensorboard={"folder": str(self.folder)}) as tell:
            path = pathlib.Path(tell.hear("opened", "path")["path"])
            for n in range(50):
                tell.write(usage(n, value("tree", "", "cpu_cores", n)))
            while path.stat().st_size < 400:
                pass
            tell.process.send_signal(signal.SIGKILL)
            tell.process.wait()
        points = self.read()["plain"]["vitals/cpu_cores"]
        self.assertEqual([point[1:] for point in points], [[n, n] for n in range(len(points))])
        # What is cut off in the middle of a record loses that record alone.
        whole = path.read_bytes()
        path.write_bytes(whole[:-3])
        self.assertEqual(len(self.read()["plain"]["vitals/cpu_cores"]), len(points) - 1)

    def test_hostile_subjects(self):
        subject = "../x y\n\x1b[2J\"é" + "z" * 300
        self.write(usage(0, value("gpu", subject, "gpu_memory_bytes", GIB)))
        (tag,) = [tag for tag in self.read()["plain"] if tag.startswith("gpu_")]
        self.assertRegex(tag, r"^gpu_[A-Za-z0-9_.-]+/gpu_memory_GiB$")


class Framing(Folder):
    def test_records_are_framed_and_summed(self):
        """The framing by its definition: length, masked CRC-32C, bytes, masked CRC-32C."""
        def crc(data):
            rest = 0xFFFFFFFF
            for byte in data:
                rest ^= byte
                for _ in range(8):
                    rest = rest >> 1 ^ (0x82F63B78 if rest & 1 else 0)
            rest ^= 0xFFFFFFFF
            return ((rest >> 15 | rest << 17) + 0xA282EAD8) & 0xFFFFFFFF

        self.write(usage(0, value("tree", "", "cpu_cores", 1)), usage(1, value("tree", "", "cpu_cores", 2)))
        (path,) = self.folder.iterdir()
        self.assertRegex(path.name, r"^events\.out\.tfevents\.\d{10}\.")
        data, count = path.read_bytes(), 0
        while data:
            size, head = struct.unpack("<QI", data[:12])
            body, (tail,) = data[12:12 + size], struct.unpack("<I", data[12 + size:16 + size])
            self.assertEqual([head, tail], [crc(data[:8]), crc(body)])
            self.assertEqual(b"brain.Event:2" in body, count == 0)
            data, count = data[16 + size:], count + 1
        self.assertEqual(count, 3)

    def test_two_in_one_folder_write_two_files(self):
        self.write(usage(0))
        self.write(usage(0))
        self.assertEqual(len(list(self.folder.iterdir())), 2)

    def test_where_nothing_can_be_written_it_is_one_line(self):
        for folder in ("/proc/none", "/dev/null/x", ""):
            with Tell(patience_seconds=30, tensorboard={"folder": folder}) as tell:
                tell.write(usage(0, value("tree", "", "cpu_cores", 1)))
                heard, stderr = tell.end()
            failed = [line for line in heard if line.get("failed") == "tensorboard"]
            self.assertEqual(len(failed), 1, heard)
            self.assertIn(folder, failed[0]["message"])
            self.assertEqual(stderr, "")


if __name__ == "__main__":
    unittest.main()
