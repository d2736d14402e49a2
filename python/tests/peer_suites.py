"""Runs the tests that other packages have of themselves against our modules of the same names.

    python tests/peer_suites.py [psutil | gpu_tracker | resource_tracker]…

The tests come from each package's source distribution and are run as they are; in front of them stands
a package of the peer's name whose modules are ours. A case that fails must be named in DIFFERS, with
why: for what it asks of the peer's inside (INTERNAL), for what this machine lacks (MACHINE), or for what
differs on purpose. A case that is named there and passes is printed too. Each suite ends with the share
that passes of the cases that do not look into the peer, which must be AIM; the last line is
"N passed, N failed, N skipped" of all, where a difference counts as skipped. The peer's own tests race
with the kernel here and there (a command line is read while exec goes on): up to RERUN_MOST failed
cases run once more, and one that then passes is printed as unsteady.
"""

import collections
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from typing import NamedTuple

from counted import interpreter

AIM = 0.95
RERUN_MOST = 3  # more cases than these do not fail by chance
INTERNAL = "looks into the peer: it replaces functions inside of it, which are not called here"
MACHINE = "needs what this machine may not have; the peer fails there too"


class Peer(NamedTuple):
    """A package with tests of its own. `shim`: files of the package that stands in front, by name.
    `left_out`: test files of what we do not offer."""

    distribution: str
    version: str
    files: tuple
    shim: dict
    differs: dict
    left_out: dict = {}
    endless: tuple = ()


PEERS = {
    "psutil": Peer(
        "psutil", "7.2.2", ("test_process.py", "test_system.py", "test_misc.py"),
        # The tests take from psutil's own modules what they share with it.
        {"__init__.py": """
import os, sys, sysconfig
import vitals.compat.psutil as ours
sys.modules["psutil"] = ours
ours.__path__ = [os.path.join(sysconfig.get_path("purelib"), "psutil")]
import psutil._common, psutil._pslinux, psutil._psposix
for name in ("_common", "_pslinux", "_psposix"):
    setattr(ours, name, sys.modules["psutil." + name])
ours._psplatform = ours._pslinux
"""},
        {
            "test_children_mocked_ctime": INTERNAL,
            "test_parent_mocked_ctime": INTERNAL,
            "test_cpu_affinity": INTERNAL,
            "test_cpu_percent_numcpus_none": INTERNAL,
            "test_oneshot": INTERNAL,
            "test_oneshot_twice": INTERNAL,
            "test_reused_pid": "sets the start of a process; here an open descriptor says which process it is",
            "test_send_signal_mocked": "replaces os.kill; a signal goes through a pidfd here",
            "test_zombie_process_is_running_w_exc": INTERNAL,
            "test_zombie_process_status_w_exc": INTERNAL,
            "test_pidfd_open_race": INTERNAL,
            "test_wait_signaled": INTERNAL,
            "test_attrs": INTERNAL,
            "test_emulate_access_denied": INTERNAL,
            "test_emulate_nsp": INTERNAL,
            "test_users": MACHINE,
            "test_cpu_count_none": INTERNAL,
            "test_per_cpu_times_2": INTERNAL,
            "test_disk_io_counters_no_disks": INTERNAL,
            "test_net_if_addrs_mac_null_bytes": INTERNAL,
            "test_net_if_stats_enodev": INTERNAL,
            "test_net_io_counters_no_nics": INTERNAL,
            "test_sensors_temperatures_fahreneit": INTERNAL,
            "test_ad_on_process_creation": INTERNAL,
            "test_sanity_version_check": INTERNAL,
            "test_cache_clear_public_apis": INTERNAL,
        },
        endless=("test_pidfd_open_race",)),  # it waits for what a function inside of psutil should have done
    "gpu_tracker": Peer(
        "gpu-tracker", "5.0.1", ("test_tracker.py", "test_sub_tracker.py", "test_cli.py"),
        {"__init__.py": """
import sys
import vitals.compat.gpu_tracker as ours
sys.modules["gpu_tracker"] = ours
ours.__path__ = [__path__[0]]
for name in ("tracker", "sub_tracker"):
    sys.modules[f"gpu_tracker.{name}"] = ours
    setattr(ours, name, ours)
import vitals.compat.gpu_tracker_command as command
sys.modules["gpu_tracker.__main__"] = command
setattr(ours, "__main__", command)
""",
         "_helper_classes.py": """
import subprocess as subp
class _SQLiteDataProxy:
    _DATA_TABLE = "data"
"""},
        {
            "test_tracker": INTERNAL,
            "test_cannot_connect_warnings": INTERNAL,
            "test_main_process_warnings": INTERNAL,
            "test_tracking_process_warnings": INTERNAL,
            "test_resource_usage_file": INTERNAL,
            "test_validate_arguments": "counts calls of nvidia-smi, and takes the GPUs from its text; the messages are "
                                       "checked in test_trackers.py",
            "test_sub_tracker[[]*.sqlite]": "its clock, which is replaced, gives whole numbers; a time is always "
                                            "stored as a real number",
            "test_invalid_file": "a number as pandas 2 read it, 1745449613.532592 for 1745449613.5325919; with pandas 3 "
                                 "gpu_tracker fails too",
        }),
    "resource_tracker": Peer(
        "resource-tracker", "0.5.0", ("test_helpers.py", "test_report.py", "test_server_info.py",
                                      "test_tiny_dataframe.py", "test_tracker.py"),
        {"__init__.py": """
import sys
import vitals.compat.resource_tracker as ours
sys.modules["resource_tracker"] = ours
ours.__path__ = [__path__[0]]
for name in ("helpers", "keeper", "report", "server_info", "tiny_data_frame", "tracker", "tracker_procfs",
             "tracker_psutil"):
    sys.modules[f"resource_tracker.{name}"] = ours
    setattr(ours, name, ours)
"""},
        {
            "test_read_csv_from_http_url": INTERNAL,
            "test_resource_tracker_report": "the page is that of vitals, with other words",
        },
        left_out={
            "test_keeper.py": "asks a service in the network",
            "test_metaflow.py": "a decorator of Metaflow, which is not offered",
            "test_s3_upload.py": "nothing is streamed to Sentinel",
            "test_sentinel_api.py": "nothing is streamed to Sentinel",
            "test_streaming.py": "nothing is streamed to Sentinel",
            "test_tracker_streaming.py": "nothing is streamed to Sentinel",
            "test_tiny_bars.py": "the template engine of its report; ours has none",
        }),
}


def fetch(name, peer, folder):
    """Puts the peer's tests into folder/tests, and what stands in for the peer beside them."""
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                    "--no-binary", peer.distribution, "--dest", folder, f"{peer.distribution}=={peer.version}"],
                   check=True)
    archive = next(folder.glob("*.tar.gz"))
    with tarfile.open(archive) as source:
        source.extractall(folder / "source")
    root = next((folder / "source").iterdir())
    shutil.move(root / "tests", folder / "tests")
    (folder / name).mkdir()
    for file, text in peer.shim.items():
        (folder / name / file).write_text(text, encoding="utf-8")
    if name == "resource_tracker":  # a load for the tests, which measures nothing
        shutil.copy(root / "src/resource_tracker/dummy_workloads.py", folder / name)


def reason_of(name, differs):
    """Why a case may differ, or None."""
    short = name.rpartition("::")[2]
    for pattern, why in differs.items():
        if short == pattern or short.partition("[")[0] == pattern or fnmatch.fnmatchcase(short, pattern):
            return why
    return None


def run_cases(peer, folder, cases):
    """(what pytest printed, the names of the cases by verdict) of files or cases below tests/."""
    done = subprocess.run(
        [*interpreter(), "-m", "pytest", "-q", "-rA", "--tb=short", "-p", "no:cacheprovider",
         "-k", " and ".join(f"not {name}" for name in peer.endless), *(f"tests/{name}" for name in cases)],
        cwd=folder, env={**os.environ, "PYTHONPATH": f"{folder}:{folder / 'tests'}", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True, text=True, timeout=600, check=False, stdin=subprocess.DEVNULL)
    verdicts = {"PASSED": set(), "FAILED": set(), "ERROR": set()}
    for verdict, name in re.findall(r"^(PASSED|FAILED|ERROR) tests/(\S+?::.*?)(?: - .*)?$", done.stdout, re.MULTILINE):
        verdicts[verdict].add(name)
    for name in re.findall(r"^SUBFAILED\S* tests/(\S+?::.*?)(?: - .*)?$", done.stdout, re.MULTILINE):
        verdicts["FAILED"].add(re.sub(r"^(?:\[.*?\] |\(.*?\) )+", "", name))
    return done.stdout + done.stderr, verdicts


def run_peer(name):
    """(passed, failed, skipped) of a peer's suite."""
    peer = PEERS[name]
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        fetch(name, peer, folder)
        absent = {file: len(re.findall(r"^\s*def test_", (folder / "tests" / file).read_text(), re.MULTILINE))
                  for file in peer.left_out}
        said, verdicts = run_cases(peer, folder, peer.files)
        odd = [case for case in sorted(verdicts["FAILED"] | verdicts["ERROR"])
               if reason_of(case, peer.differs) is None]
        again = run_cases(peer, folder, odd)[1] if 0 < len(odd) <= RERUN_MOST else verdicts
    for case in sorted(set(odd) & again["PASSED"] - again["FAILED"] - again["ERROR"]):
        print(f"unsteady: {name}: {case}: failed, and passed when it ran again")
        verdicts["FAILED"].discard(case)
        verdicts["ERROR"].discard(case)
        verdicts["PASSED"].add(case)
    bad = verdicts["FAILED"] | verdicts["ERROR"] | set(peer.endless)
    good = verdicts["PASSED"] - bad
    differing = {case: reason_of(case, peer.differs) for case in bad}
    wrong = sorted(case for case, why in differing.items() if why is None)
    if not good:
        print(said[-3000:])
    for (function, why), count in sorted(collections.Counter(
            (case.partition("[")[0], why) for case, why in differing.items() if why is not None).items()):
        print(f"differs: {name}: {function}{f', {count} cases' if count > 1 else ''}: {why}")
    for case in sorted(good):
        if reason_of(case, peer.differs) is not None:
            print(f"passes although it is listed: {name}: {case}")
    for file, count in absent.items():
        print(f"left out: {name}: {file}, {count} tests: {peer.left_out[file]}")
    for case in wrong:
        short = re.escape(case.rpartition("::")[2])
        found = re.search(rf"_ \S*{short} _.*?^(E   .*?)$", said, re.MULTILINE | re.DOTALL)
        print(f"failed: {name}: {case}: {found[1][4:].strip() if found else ''}")
    outside = len(good) + sum(why != INTERNAL for why in differing.values())
    share = len(good) / outside if outside else 0.0
    print(f"{name} {peer.version}: {len(good)} pass, {len(bad)} differ; of the {outside} that do not look into it "
          f"{100 * share:.1f} % pass")
    missed = int(share < AIM)
    return len(good), len(wrong) + missed, len(bad) - len(wrong) + sum(absent.values())


def main():
    names = sys.argv[1:] or list(PEERS)
    totals = [sum(column) for column in zip(*map(run_peer, names))]
    print("{} passed, {} failed, {} skipped".format(*totals))
    return 1 if totals[1] else 0


if __name__ == "__main__":
    sys.exit(main())
