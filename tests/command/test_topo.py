"""`vitals topo`: the matrix of links, by direct links and by the places of a captured /sys."""

import json
import pathlib
import re
import subprocess
import tempfile
import unittest

from cast import ordinary
from harness import BUILD, NO_HOME, SOURCE, VITALS, environment, nvml, vitals

SYS = BUILD / "tests" / "fixtures" / "gpu" / "topology" / "sys"

# As the fixture has them.
ADDRESSES = ["00000000:1A:00.0", "00000000:1B:00.0", "00000000:1D:00.0", "00000000:40:00.0",
             "00000000:65:00.0", "00000000:98:00.0"]

PATHS = """\
     GPU0 GPU1 GPU2 GPU3 GPU4 GPU5 mlx5_0 eno1
GPU0 X    PIX  PXB  PHB  NODE SYS  PIX    SYS
GPU1 PIX  X    PXB  PHB  NODE SYS  PIX    SYS
GPU2 PXB  PXB  X    PHB  NODE SYS  PXB    SYS
GPU3 PHB  PHB  PHB  X    NODE SYS  PHB    SYS
GPU4 NODE NODE NODE NODE X    SYS  NODE   SYS
GPU5 SYS  SYS  SYS  SYS  SYS  X    SYS    PHB""".splitlines()


class Topology(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.conf = pathlib.Path(folder.name, "scenario.conf")
        self.conf.write_text("\n".join(
            f"[gpu {i}]\nbus_id = {address}\nnvlinks = 0\n"
            for i, address in enumerate(ADDRESSES)), encoding="utf-8")

    def topo(self, *arguments, sys_root=SYS):
        return vitals("topo", "--nvml", nvml("r580"), "--backends", "nvidia", "--sys-root", sys_root,
                      *arguments, env={"VITALS_NVML_SCENARIO": self.conf})

    def test_paths(self):
        done = self.topo()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = done.stdout.splitlines()
        for line, expected in zip(lines, PATHS):
            self.assertEqual(line.split()[:len(expected.split())], expected.split())
        for word in ("PIX", "PXB", "PHB", "NODE", "SYS"):
            self.assertRegex(done.stdout, rf"(?m)^  {word} +\w")
        self.assertRegex(done.stdout, r"(?m)^  GPU5 +00000000:98:00\.0")
        self.assertRegex(done.stdout, r"(?m)^  mlx5_0 +0000:1c:00\.0")

    def test_json(self):
        document = json.loads(self.topo("--json").stdout)
        peers = document["tables"]["gpu_peer"]
        self.assertEqual(len(peers), 6 * 7)
        self.assertEqual({peer["kind"] for peer in peers}, {"gpu", "network"})

    def test_links_stand_before_paths(self):
        text = vitals("topo", "--nvml", nvml("r580"), "--backends", "nvidia").stdout
        self.assertIn("NV4", text)
        self.assertIn("so many NVLinks", text)

    def test_every_word_of_the_matrix_is_explained(self):
        lines = vitals("topo", "--demo").stdout.splitlines()
        end = lines.index("")
        words = {re.sub(r"\d+$", "#", word) for line in lines[1:end] for word in line.split()[1:-2]}
        legend = {line.split()[0] for line in lines[end:] if line}
        self.assertLessEqual({"X", "N/A", "NV#"}, words)
        self.assertLessEqual(words, legend)

    def test_no_sys(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.topo(sys_root=folder)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(done.stdout.splitlines()[1].split()[:3], ["GPU0", "X", "N/A"])

    def test_no_device(self):
        done = vitals("topo", "--backends", "none")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("no GPU", done.stderr)
        done = vitals("topo", "--backends", "none", "--json")
        json.loads(done.stdout)
        self.assertIn("no GPU", done.stderr)

    def test_what_kept_a_source_from_looking_is_told(self):
        path = SOURCE / "tests" / "nvml" / "scenarios" / "init-no-permission.conf"
        for words in ([], ["--json"]):
            done = vitals("topo", "--nvml", nvml("r580"), "--backends", "nvidia", *words,
                          env={"VITALS_NVML_SCENARIO": path})
            self.assertEqual(done.returncode, 0)
            self.assertIn("nvidia: no permission", done.stderr)
            self.assertIn("no GPU was found", done.stderr)

    def test_a_system_that_is_denied(self):
        prefix = ordinary(self)
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder).chmod(0o755)
            sys_root = pathlib.Path(folder, "sys")
            (sys_root / "class" / "drm").mkdir(parents=True)
            (sys_root / "class" / "drm").chmod(0)
            for words in (["topo"], ["select"], ["device"], ["device", "1"]):
                with self.subTest(words):
                    done = subprocess.run(
                        [*prefix, VITALS, *words, "--backends", "drm,intel", "--sys-root", sys_root],
                        capture_output=True, text=True, check=False, timeout=30,
                        env=environment(HOME=NO_HOME, XDG_CONFIG_HOME=None))
                    for name in ("drm", "intel"):
                        self.assertRegex(done.stderr, rf"(?m)^vitals: {name}: .*(denied|permission)")

    def test_takes_no_words(self):
        self.assertEqual(vitals("topo", "0").returncode, 2)


if __name__ == "__main__":
    unittest.main()
