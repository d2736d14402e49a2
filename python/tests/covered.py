"""How much of the package its tests run: the lines of each module that none runs, and the share of all.

    make test TESTS=python
    build/venv-python/bin/python python/tests/covered.py [BUILD]

Fails where the share is below the floor in python/pyproject.toml. --clear forgets what was counted.
"""

import pathlib
import sys

import coverage

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    arguments = [word for word in sys.argv[1:] if word != "--clear"]
    folder = pathlib.Path(arguments[0] if arguments else ROOT / "build").resolve() / "python/coverage"
    counted = sorted(folder.glob("lines.*"))
    if "--clear" in sys.argv:
        for path in counted:
            path.unlink()
        return 0
    if not counted:
        sys.exit(f"{folder}: nothing is counted: make test TESTS=python comes first")
    found = coverage.Coverage(data_file=str(folder / "all"), config_file=str(ROOT / "python/pyproject.toml"))
    found.combine(map(str, counted), keep=True)
    share, floor = found.report(show_missing=True), found.get_option("report:fail_under")
    print(f"{share:.1f} % of the package's lines run; the floor is {floor:g} %")
    return int(share < floor)


if __name__ == "__main__":
    sys.exit(main())
