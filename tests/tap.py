#!/usr/bin/env python3
"""Runs one file of unittest cases and prints its results as TAP, one line per case.

    tap.py FILE.py [CASE]…

With names of cases only these run, as "test_ps.Columns.test_widths"; if the file has not all of them, all its
cases do. The file may import what lies beside it. What a case or a program that it starts prints goes to
stderr, so that it cannot be taken for a result.
"""

import importlib.util
import os
import pathlib
import sys
import unittest


class TapResult(unittest.TestResult):
    def __init__(self, out):
        super().__init__()
        self.out = out
        self.count = 0
        self.broken = set()  # cases with a failed subtest, which unittest then calls a success

    def line(self, verdict, case, note=""):
        self.count += 1
        name = case.id().replace("#", "").replace("\n", " ")
        note = note.replace("\n", " ")
        print(f"{verdict} {self.count} - {name}{note}", file=self.out, flush=True)

    def report(self, case, story):
        self.line("not ok", case)
        # Meson shows what a failed program wrote to stderr, and only that.
        print(f"--- {case.id()}\n{story}", file=sys.stderr, flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        if test not in self.broken:
            self.line("ok", test)

    def addError(self, test, err):
        super().addError(test, err)
        self.report(test, self.errors[-1][1])

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.report(test, self.failures[-1][1])

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.line("ok", test, f" # SKIP {reason}")

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.line("ok", test)

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.report(test, "was expected to fail, and did not")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.broken.add(test)
            stories = self.failures if issubclass(err[0], test.failureException) else self.errors
            self.report(subtest, stories[-1][1])


def cases_of(suite):
    for one in suite:
        yield from cases_of(one) if isinstance(one, unittest.TestSuite) else [one]


def chosen(module, names):
    """A suite of the named cases of a module, or of all."""
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    found = [case for case in cases_of(suite) if case.id() in names]
    return unittest.TestSuite(found) if found and len(found) == len(names) else suite


def main():
    path = pathlib.Path(sys.argv[1]).resolve()
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module

    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        spec.loader.exec_module(module)
    except unittest.SkipTest as skip:
        print(f"1..0 # SKIP {skip}", file=out)
        return 0
    result = TapResult(out)
    chosen(module, sys.argv[2:]).run(result)
    print(f"1..{result.count}", file=out)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
