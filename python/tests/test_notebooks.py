"""The notebooks in examples/ run from the first cell to the last, and are kept without what they print.

Each checks by assertions of its own that what it shows is there. The one for MLflow runs in the Python that has it
(VITALS_SERVERS_PYTHON), with the kernel and this package behind its own packages.
"""

import json
import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

import nbclient
import nbformat
from jupyter_client.manager import AsyncKernelManager

import vitals

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "examples"
CELL_SECONDS = 240  # a kernel imports for long where others have the CPUs
PACKAGES = [str(pathlib.Path(module.__file__).parents[1]) for module in (vitals, nbclient)]
KERNEL = f"import sys; sys.path += {PACKAGES!r}; from ipykernel.kernelapp import launch_new_instance; launch_new_instance()"


class Manager(AsyncKernelManager):
    """A kernel of an interpreter of our choice, which needs no kernel that is installed."""

    interpreter = sys.executable

    def format_kernel_cmd(self, extra_arguments=None):
        return [self.interpreter, "-c", KERNEL, "-f", self.connection_file]


class OfServers(Manager):
    interpreter = os.environ.get("VITALS_SERVERS_PYTHON", "")


class Notebooks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """How kernels are reached stays out of the user's home."""
        held = tempfile.TemporaryDirectory(prefix="vitals-jupyter-")
        cls.addClassCleanup(held.cleanup)
        changed = unittest.mock.patch.dict(os.environ, JUPYTER_RUNTIME_DIR=held.name)
        changed.start()
        cls.addClassCleanup(changed.stop)

    def execute(self, name, manager=Manager):
        """The notebook with what its cells print."""
        notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
        with tempfile.TemporaryDirectory(prefix="vitals-notebook-") as folder:
            settings = {"HOME": folder, "IPYTHONDIR": folder, "JUPYTER_DATA_DIR": folder, "XDG_STATE_HOME": folder,
                        "TMPDIR": folder, "DO_NOT_TRACK": "true", "MLFLOW_DISABLE_TELEMETRY": "true"}
            kept = {key: value for key, value in os.environ.items() if not key.startswith(("MLFLOW_", "OTEL_"))}
            nbclient.NotebookClient(
                notebook, timeout=CELL_SECONDS, kernel_manager_class=manager, resources={"metadata": {"path": folder}},
                startup_timeout=CELL_SECONDS).execute(env={**kept, **settings})
        return notebook

    def text_of(self, notebook):
        parts = []
        for cell in notebook.cells:
            for output in cell.get("outputs", ()):
                parts += [output.get("text", ""), *(str(text) for text in output.get("data", {}).values())]
        return "\n".join(parts)

    def test_they_are_kept_without_output(self):
        paths = sorted(FOLDER.glob("*.ipynb"))
        self.assertGreaterEqual(len(paths), 10)
        for path in paths:
            with self.subTest(path.name):
                nbformat.validate(nbformat.read(path, as_version=4))
                for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
                    if cell["cell_type"] == "code":
                        self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None))
                self.assertIn(f"test_{path.stem}", dir(self), "each has a test")

    def test_callbacks(self):
        self.assertIn("utilization.gpu (%)", self.text_of(self.execute("callbacks")))

    def test_cell(self):
        text = self.text_of(self.execute("cell"))
        self.assertIn("<b>CPU</b>", text)
        self.assertIn("<svg", text)
        self.assertIn(str(sum(range(5_000_000)) + 50_000_000), text)

    def test_child(self):
        self.assertIn("killed", self.text_of(self.execute("child")))

    def test_compare(self):
        self.assertIn("cpu_seconds", self.text_of(self.execute("compare")))

    def test_frames(self):
        self.assertIn("CPUs are busy", self.text_of(self.execute("frames")))

    def test_gpu(self):
        self.assertIn("GiB", self.text_of(self.execute("gpu")))

    @unittest.skipUnless(os.path.exists(OfServers.interpreter), "no Python with mlflow (VITALS_SERVERS_PYTHON)")
    def test_mlflow(self):
        self.assertIn("system/gpu_0_utilization_percentage", self.text_of(self.execute("mlflow", OfServers)))

    def test_nvitop(self):
        self.assertIn("gpu_utilization", self.text_of(self.execute("nvitop")))

    def test_replay(self):
        self.assertIn("values in", self.text_of(self.execute("replay")))

    def test_training(self):
        text = self.text_of(self.execute("training"))
        self.assertIn("10 calls", text)


if __name__ == "__main__":
    unittest.main()
