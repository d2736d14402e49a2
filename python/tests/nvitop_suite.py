"""Runs the examples of nvitop's docstrings and README with vitals.compat.nvitop, and with nvitop beside it.

    VITALS_BUILD=build python tests/nvitop_suite.py     with nvitop, nvidia-ml-py and the simulated driver library

The examples come from nvitop's source distribution; in each the import is replaced, and where it stands for a process,
a device or a logger of the reader's, that. An example passes if it says what is written below it (arithmetic of NA,
sizes), or else what nvitop says: the same error, or a value of the same kind, which is the same one unless it passes
with time. What differs must stand in DIFFERS, with why. Ends with "N passed, N failed, N skipped".
"""

import ast
import contextlib
import doctest
import importlib
import io
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import types

from counted import interpreter

VERSION = "1.7.2"
FILES = tuple(f"nvitop/api/{name}.py" for name in ("utils", "device", "process", "collector", "libnvml")) + (
    "nvitop/select.py", "README.md")
EXACT = ("nvitop/api/utils.py",)  # what is written below these is what they say, on every machine
DIFFERS = {
    "devices=Device(0), root_pids={1}": "nvitop's README gives one device, which nvitop 1.7.2 refuses and we take",
}

# Ten devices, as the examples have, and a process on two of them.
SCENARIO = "".join(f"[gpu {number}]\n" for number in range(10)) + """
[process one]
gpu = 1
pid = {pid}
memory = 1031MiB
[process two]
gpu = 9
pid = {pid}
memory = 8341MiB
"""

REPLACED = (
    (r"GPU-(xxxxxx|01234567-89ab-cdef-0123-456789abcdef)", "GPU-5e4f0000-0002-4a10-8000-000000000000"), (r"\b(12345|23266)\b", "{pid}"),
    (r"\b10000\b(?=, device)", "4000001"), (r"(normalize_cuda_visible_devices)\n", r"\1,\n"),
)


# --- In a process of its own: one of the two modules --------------------------------------------------

def blocks(path, text):
    """The examples of a file: (place, [(source, what is written below it)]), in the order of the file."""
    if path.endswith(".py"):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
                examples = doctest.DocTestParser().get_examples(ast.get_docstring(node))
                if examples:
                    yield getattr(node, "name", path), [(one.source, one.want) for one in examples]
        return
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", text, re.DOTALL)):
        if ">>>" in block:
            yield f"block {number}", [(one.source, one.want) for one in doctest.DocTestParser().get_examples(block)]
        elif "In [" in block:
            cells = re.findall(r"^In \[\d+\]: (.*?\n(?: +\.\.\.: ?.*\n)*)", block, re.MULTILINE)
            yield f"block {number}", [(re.sub(r"^ +\.\.\.: ?", "", cell, flags=re.MULTILINE), "") for cell in cells]
        else:
            yield f"block {number}", [(block, "")]


class Logger:
    """What the reader of an example has."""

    def __init__(self):
        self.told = []

    def log(self, *metrics, **_):
        self.told.append(metrics)

    add_scalar = log

    def is_closed(self):
        return len(self.told) > 0

    def close(self):
        pass


def stand_ins():
    """Modules of others, as far as the examples use them."""
    for name in ("torch", "torch.nn", "torch.nn.functional", "torch.utils", "torch.utils.tensorboard", "cupy"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["torch"].nn = sys.modules["torch.nn"]
    sys.modules["torch.utils.tensorboard"].SummaryWriter = Logger
    sys.modules["cupy"].zeros = lambda shape: None


def shown(value):
    """Its kind and, where it does not pass with time, what it is."""
    passes = type(value).__name__ in ("svmem", "sswap", "pmem", "SnapshotResult", "ThroughputInfo") or (
        isinstance(value, tuple) and any(isinstance(one, float) for one in value))
    if isinstance(value, (str, int, type(None), tuple)) and not passes:
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, (list, dict)):
        return f"{type(value).__name__} of {len(value)}"
    return type(value).__name__


def run_one(source, want, names, exact):
    """What it said: "error NAME", or its value; of an exact one also whether that is what is written below."""
    out = io.StringIO()
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    value = None
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(tree, "example", "exec"), names)
            if last is not None:
                value = eval(compile(ast.Expression(last.value), "example", "eval"), names)
    except Exception as error:
        told = f"error {type(error).__name__}"
        return told, "Traceback" in want and type(error).__name__ in want
    else:
        told = shown(value)
        got = out.getvalue() + ("" if value is None else f"{value!r}\n")
        good = doctest.OutputChecker().check_output(want, got, doctest.ELLIPSIS)
    return told, good if exact else None


def run_all(module, folder, pid):
    stand_ins()
    if module == "nvitop":  # it asks CUDA, which is not here, in two interpreters for each value
        import nvitop.api.device

        def no_cuda(*_, **__):
            raise subprocess.SubprocessError
        nvitop.api.device.subprocess.check_output = no_cuda
    sleep = time.sleep
    time.sleep = lambda seconds: sleep(min(seconds, 0.01))  # an example takes an hour
    results = []
    for path in FILES:
        text = pathlib.Path(folder, path).read_text(encoding="utf-8")
        for place, examples in blocks(path, text):
            os.environ.pop("CUDA_VISIBLE_DEVICES", None)
            api = importlib.import_module(module)
            names = {"__name__": "example", **{name: getattr(api, name) for name in api.__all__}}
            names.update(logger=Logger(), num_epoch=1, train_dataset=[1, 2], validation_dataset=[1], net=None,
                         train=lambda *_: {"loss": 1.0}, validate=lambda *_: {"loss": 1.0},
                         device=names["Device"](0), nvidia1=names["Device"](1), cuda0=names["Device"].cuda(0), os=os,
                         all_devices=names["Device"].all(), on_collect=lambda _: False, on_stop=lambda _: None,
                         collector=names["ResourceMetricCollector"](), math=math)
            names["Union"] = {(int, names["NaType"]): object}
            for source, want in examples:
                for pattern, instead in REPLACED:
                    source = re.sub(pattern, instead.replace("{pid}", str(pid)), source)
                made = re.sub(r"\b(from|import) nvitop\b", rf"\1 {module}", source)
                made = made.replace(f"import {module}\n", f"import {module} as nvitop\n").replace("logger = ...", "")
                if re.search(r"nvitop\S* import (cli|tui)|import nvitop\S*\.(cli|tui)", source):
                    continue  # the monitor's own code, which is no interface
                told, good = run_one(made, want, names, path in EXACT)
                results.append((f"{path}, {place}: {' '.join(source.split())[:100]}", told, good))
    print(json.dumps(results))


# --- Both, side by side -------------------------------------------------------------------------------

def fetch(folder):
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                    "--no-build-isolation", "--no-binary", ":all:", "--dest", folder, f"nvitop=={VERSION}"], check=True)
    with tarfile.open(next(pathlib.Path(folder).glob("nvitop-*.tar.gz"))) as source:
        source.extractall(folder, [one for one in source.getmembers() if one.name.partition("/")[2] in FILES])
    return str(next(pathlib.Path(folder).glob("nvitop-*/README.md")).parent)


def run(module, source):
    with subprocess.Popen(["sleep", "600"]) as child, tempfile.NamedTemporaryFile("w", suffix=".conf") as scenario:
        scenario.write(SCENARIO.replace("{pid}", str(child.pid)))
        scenario.flush()
        try:
            done = subprocess.run(
                [*interpreter(), os.path.abspath(__file__), source, str(child.pid)], cwd=source,  # an example writes a file
                env={**os.environ, "MODULE": module, "VITALS_NVML_SCENARIO": scenario.name, "NO_COLOR": "1",
                     "LD_LIBRARY_PATH": os.path.join(os.environ["VITALS_BUILD"], "tests/nvml/r580")},
                capture_output=True, text=True, timeout=300, check=False, stdin=subprocess.DEVNULL)
        finally:
            child.kill()
    if done.returncode != 0:
        sys.exit(done.stderr[-3000:])
    found = json.loads(done.stdout.strip().splitlines()[-1])
    return [(name, re.sub(rf"\b{child.pid}\b", "PID", told), good) for name, told, good in found]


def main():
    if len(sys.argv) == 3:
        run_all(os.environ["MODULE"], sys.argv[1], int(sys.argv[2]))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        source = fetch(folder)
        theirs, ours = run("nvitop", source), run("vitals.compat.nvitop", source)
    passed, failed, skipped = 0, 0, 0
    for (name, expected, _), (_, told, good) in zip(theirs, ours):
        name = name.replace("PID", "{pid}")
        reason = next((why for words, why in DIFFERS.items() if words in name), None)
        if good or (good is None and told == expected and not told.startswith("error")):
            passed += 1
        elif told == expected and told.startswith("error"):
            skipped += 1
            print(f"of both: {name}: {told}")
        elif reason is not None:
            skipped += 1
            print(f"differs: {name}: {reason}")
        else:
            failed += 1
            print(f"failed: {name}: theirs {expected}, ours {told}")
    failed += len(theirs) != len(ours) or not passed
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
