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

import vitals

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = pathlib.Path(vitals.__file__).parent
MODULES = ("__init__", "_run", "_record", "_snapshot", "compat/gpu_tracker", "compat/resource_tracker")
NEEDS = {"to_pandas": "pandas"}


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
        if "(" in code:
            found.append(code)
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
        """In a folder of its own with a Makefile, beside a process whose pid is put for 1234."""
        if any(word in code and importlib.util.find_spec(needed) is None for word, needed in NEEDS.items()):
            self.skipTest("a package is not here")
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        before = os.getcwd()
        try:
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                pathlib.Path("Makefile").write_text("all:\n\t@true\n", encoding="ascii")
                code = code.replace("1234", str(child.pid)).replace("): ...", "): work()")
                # An endless loop over a sampler ends with its second turn.
                code = re.sub(r"in (vitals\.Sampler\([^)]*\)):", r"in islice(\1, 2):", code)
                from itertools import islice
                out = io.StringIO()
                with contextlib.redirect_stdout(out):
                    exec(compile(code, "example", "exec"), {
                        "vitals": vitals, "train": work, "work": work, "islice": islice, "__name__": "example"})
        finally:
            os.chdir(before)
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
        self.assertGreaterEqual(len(found), 8, found)
        for name, code in found:
            with self.subTest(name):
                self.run_example(code)


if __name__ == "__main__":
    unittest.main()
