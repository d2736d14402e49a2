"""The examples in README.md and in the docstrings of the package run as they stand there."""

import ast
import contextlib
import importlib.util
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
import unittest.mock

import vitals
import vitals.callbacks

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = pathlib.Path(vitals.__file__).parent
MODULES = ("__init__", "_run", "_record", "_snapshot", "_export", "_process", "callbacks", "compat/gpu_tracker",
           "compat/resource_tracker", *(f"compat/nvitop/{path.stem}" for path in (PACKAGE / "compat/nvitop").glob("*.py")))
NEEDS = {"to_pandas": "pandas", "callbacks.keras": "keras", "callbacks.lightning": "lightning",
         "callbacks.transformers": "transformers", "callbacks.mlflow": "mlflow"}
FOREIGN = {name: unittest.mock.MagicMock(name=name) for name in (
    "model", "TensorBoard", "Trainer", "trainer", "writer", "step")}  # of frameworks
EXPORTER = """#!/bin/sh
echo '{"opened":"mlflow","run_id":"1","url":"http://there/1"}'
cat >/dev/null
echo '{"done":true}'
"""


def work():
    """Longer than two intervals of any example."""
    time.sleep(1.2)


def blocks(docstring):
    """The indented parts of a docstring that are code: those that call something."""
    lines, found, block = textwrap.dedent("    " + docstring).split("\n"), [], []
    for line in [*lines, "end"]:
        if line.startswith("        ") or (block and not line.strip()):
            block.append(line)
            continue
        code = textwrap.dedent("\n".join(block)).strip()
        table = [re.fullmatch(r"\w+: +(.*)", line) for line in code.split("\n")]
        if "(" in code:
            found += [line[1] for line in table] if all(table) else [code]
        block = []
    return found


def docstring_examples():
    """("module: name", code) of each example."""
    for module in MODULES:
        tree = ast.parse((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
                for code in blocks(ast.get_docstring(node, clean=True).replace("\n    ", "\n        ")):
                    yield f"{module}: {getattr(node, 'name', 'module')}", code


class Examples(unittest.TestCase):
    def run_example(self, code):
        """In a folder of its own with a Makefile, beside a process whose pid is put for 1234, with no settings of a
        server and with a program that stands in for the exporter."""
        if any(word in code and importlib.util.find_spec(needed) is None for word, needed in NEEDS.items()):
            self.skipTest("a package is not here")
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        before, environment = os.getcwd(), dict(os.environ)
        try:
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                pathlib.Path("train.py").touch()
                exporter = pathlib.Path(folder, "exporter")
                exporter.write_text(EXPORTER, encoding="ascii")
                exporter.chmod(0o755)
                for name in [name for name in os.environ if name.startswith(("MLFLOW_", "OTEL_"))]:
                    del os.environ[name]
                os.environ.update(HOME=folder, XDG_STATE_HOME=folder, VITALS_TELL=str(exporter))
                pathlib.Path("Makefile").write_text("all:\n\t@true\n", encoding="ascii")
                code = code.replace("1234", str(child.pid)).replace("): ...", "): work()")
                # An endless loop over a sampler ends with its second turn.
                code = re.sub(r"in ((?:vitals\.Sampler|exporter\.sampler)\([^)]*\)):", r"in islice(\1, 2):", code)
                from itertools import islice
                out = io.StringIO()
                with contextlib.redirect_stdout(out):
                    exec(compile(code, "example", "exec"), {
                        **FOREIGN, "vitals": vitals, "train": work, "work": work, "islice": islice, "__name__": "example"})
        finally:
            os.chdir(before)
            os.environ.clear()
            os.environ.update(environment)
            child.kill()
            child.wait()
        return out.getvalue()

    def test_readme(self):
        text = (HERE.parent / "README.md").read_text(encoding="utf-8")
        examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        self.assertTrue(examples)
        for code in examples:
            told = self.run_example(code)
            self.assertIn("CPU", told)

    def test_docstrings(self):
        found = list(docstring_examples())
        self.assertGreaterEqual(len(found), 12, found)
        for name, code in found:
            with self.subTest(name):
                self.run_example(code)


if __name__ == "__main__":
    unittest.main()
