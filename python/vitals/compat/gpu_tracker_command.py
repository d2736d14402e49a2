"""gpu_tracker's command over vitals, with its options, outputs and messages:

    python -m vitals.compat.gpu_tracker_command -e "make -j4" --ru=megabytes --tf=run.csv

Beside it: `vitals run --format=gpu-tracker -- make -j4`, whose account has no file and needs no Python.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import pickle
import subprocess as subp
import sys
from typing import Any, NoReturn, Sequence

from vitals.compat.gpu_tracker import STATISTICS, SubTrackingAnalyzer, Tracker, TrackingComparison

log = logging.getLogger("gpu-tracker")

VERSION = "5.0.1"  # of gpu_tracker, whose options these are
FORMATS = ("text", "json", "pickle")

# An option, the argument of Tracker, what makes its value of a word, and the help.
OPTIONS: tuple[tuple[str, str, Any, str], ...] = (
    ("st", "sleep_time", float, "seconds between two samples"),
    ("ru", "ram_unit", str, "bytes, kilobytes, megabytes, gigabytes or terabytes"),
    ("gru", "gpu_ram_unit", str, "the same of GPU memory"),
    ("tu", "time_unit", str, "seconds, minutes, hours or days"),
    ("nec", "n_expected_cores", int, "how many cores are 100 %%; all, by default"),
    ("guuids", "gpu_uuids", lambda word: set(word.split(",")), "UUIDs of the expected GPUs, with commas between them"),
    ("gb", "gpu_brand", str, "nvidia or amd"),
    ("tf", "tracking_file", str, "a file for each sample, .csv or .sqlite"),
)


def _fail(message: str) -> NoReturn:
    log.error(message)
    sys.exit(1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="gpu-tracker", description="What a command and all its descendants use.")
    parser.add_argument("-v", "--version", action="version", version=VERSION)
    parser.add_argument("-e", "--execute", help="the command and its arguments, in one word", required=True)
    for option, name, kind, text in OPTIONS:
        parser.add_argument(f"--{option}", dest=name, type=kind, help=text)
    parser.add_argument("--tconfig", help="a JSON file with arguments of Tracker")
    parser.add_argument("--disable-logs", action="store_true", help="no warnings")
    parser.add_argument("--overwrite", action="store_true", help="overwrite the tracking file")
    _add_output(parser)
    return parser


def _sub_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="gpu-tracker sub-track", description="What code blocks use.")
    actions = parser.add_subparsers(dest="action", required=True)
    combine = actions.add_parser("combine", help="one sub-tracking file of several")
    combine.add_argument("--stf", required=True, help="the file to write")
    combine.add_argument("-p", dest="paths", action="append", required=True, help="a file; a single one is a folder")
    analyze = actions.add_parser("analyze", help="the resources of each code block")
    analyze.add_argument("--tf", required=True, help="the tracking file")
    analyze.add_argument("--stf", required=True, help="the sub-tracking file")
    _add_output(analyze)
    compare = actions.add_parser("compare", help="several analyses beside each other")
    compare.add_argument("-m", dest="sessions", action="append", default=[], metavar="NAME=FILE",
                         help="an analysis in the form pickle, with a name")
    compare.add_argument("--cconfig", help="a JSON file with file_path_map and statistic")
    compare.add_argument("--stat", help=", ".join(STATISTICS))
    _add_output(compare)
    return parser


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", help="a file; otherwise it is printed")
    parser.add_argument("-f", "--format", default="text", help=", ".join(FORMATS))


def _write(result: Any, form: str, path: str | None) -> None:
    if form == "pickle":
        raw = pickle.dumps(result)
        if path is None:
            print(raw)
            return
        with open(path, "wb") as binary:
            binary.write(raw)
        return
    text = json.dumps(result.to_json(), indent=1) if form == "json" else str(result)
    if path is None:
        print(text)
        return
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _read_json(path: str | None) -> dict[str, Any]:
    if path is None:
        return {}
    with open(path, encoding="utf-8") as file:
        return dict(json.load(file))


def _execute(words: Sequence[str]) -> None:
    chosen = _parser().parse_args(words)
    _check_format(chosen.format)
    command = chosen.execute.split()
    if not command:
        _fail("Empty command provided.")
    settings = _read_json(chosen.tconfig)
    settings.update({name: getattr(chosen, name) for _, name, _, _ in OPTIONS if getattr(chosen, name) is not None})
    for name in ("disable_logs", "overwrite"):
        settings[name] = getattr(chosen, name) or bool(settings.get(name))
    try:
        process = subp.Popen(command)
    except FileNotFoundError:
        _fail(f'Command not found: "{command[0]}"')
    except Exception as problem:
        print(problem)
        _fail(f'The following error occurred when starting the command "{command[0]}":')
    try:
        tracker = Tracker(process_id=process.pid, **settings)
    except Exception as problem:
        process.kill()
        process.wait()
        _fail(str(problem))
    with tracker:
        process.wait()
    print(f"Resource tracking complete. Process completed with status code: {process.returncode}")
    _write(tracker, chosen.format, chosen.output)


def _check_format(form: str) -> None:
    if form not in FORMATS:
        _fail(f'"{form}" is not a valid format. Valid values are "json" or "text".')


def _sub_track(words: Sequence[str]) -> None:
    chosen = _sub_parser().parse_args(words)
    if chosen.action == "combine":
        paths = chosen.paths
        if len(paths) == 1:
            paths = sorted(os.path.join(paths[0], name) for name in os.listdir(paths[0]))
        SubTrackingAnalyzer(None, chosen.stf).combine_sub_tracking_files(paths)
        return
    _check_format(chosen.format)
    if chosen.action == "analyze":
        _write(SubTrackingAnalyzer(chosen.tf, chosen.stf).sub_tracking_results(), chosen.format, chosen.output)
        return
    settings = _read_json(chosen.cconfig)
    sessions = dict(settings.get("file_path_map") or {})
    for word in chosen.sessions:
        name, _, path = word.partition("=")
        sessions[name] = path
    if not sessions:
        _fail("A mapping of tracking session name to file path must be provided either through the -m option or a "
              "config file.")
    statistic = chosen.stat or settings.get("statistic") or "mean"
    _write(TrackingComparison(sessions).compare(statistic), chosen.format, chosen.output)


def main() -> None:
    """Runs the command of the arguments of this program."""
    words = sys.argv[1:]
    if words[:1] == ["sub-track"]:
        _sub_track(words[1:])
    else:
        _execute(words)


if __name__ == "__main__":
    main()
