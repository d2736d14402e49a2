"""Runs psutil's own tests of processes and of the system against vitals.compat.psutil.

    python tests/psutil_suite.py

The tests come from psutil's source distribution. What fails must stand in DIFFERS, with why; what
stands there and passes is told too. Ends with "N passed, N failed, N skipped", where a difference
counts as skipped.
"""

import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

VERSION = "7.2.2"
FILES = ("test_process.py", "test_system.py", "test_misc.py")

INTERNAL = "replaces functions inside of psutil, which are not called here"
MACHINE = "needs what this machine may not have; psutil fails there too"
DIFFERS = {
    "test_children_mocked_ctime": INTERNAL,
    "test_parent_mocked_ctime": INTERNAL,
    "test_cpu_affinity": INTERNAL,
    "test_cpu_percent_numcpus_none": INTERNAL,
    "test_oneshot": INTERNAL,
    "test_oneshot_twice": INTERNAL,
    "test_reused_pid": "sets the start of a process; here an open descriptor says which process it is",
    "test_send_signal_mocked": "replaces os.kill; a signal goes through a pidfd here",
    "test_weird_environ": "an entry without '=' is told, with an empty value",
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
    "test__all__": "imports of ours are no names of psutil's",
    "test_ad_on_process_creation": INTERNAL,
    "test_sanity_version_check": INTERNAL,
    "test_cache_clear_public_apis": INTERNAL,
}

# It waits for what a function inside of psutil should have done.
ENDLESS = ("test_pidfd_open_race",)

# The tests import psutil, and of its own modules what they share with it.
SHIM = """
import os, sys, sysconfig
import vitals.compat.psutil as ours
sys.modules["psutil"] = ours
ours.__path__ = [os.path.join(sysconfig.get_path("purelib"), "psutil")]
import psutil._common, psutil._pslinux, psutil._psposix
for name in ("_common", "_pslinux", "_psposix"):
    setattr(ours, name, sys.modules["psutil." + name])
ours._psplatform = ours._pslinux
"""


def fetch(folder):
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                    "--no-build-isolation", "--no-binary", ":all:", "--dest", folder, f"psutil=={VERSION}"], check=True)
    archive = next(pathlib.Path(folder).glob("psutil-*.tar.gz"))
    with tarfile.open(archive) as source:
        members = [one for one in source.getmembers() if re.match(r"psutil-[^/]+/tests/[^/]+$", one.name)]
        source.extractall(folder, members)
    next(pathlib.Path(folder).glob("psutil-*/tests")).rename(pathlib.Path(folder, "tests"))
    pathlib.Path(folder, "psutil").mkdir()
    pathlib.Path(folder, "psutil/__init__.py").write_text(SHIM, encoding="utf-8")


def main():
    with tempfile.TemporaryDirectory() as folder:
        fetch(folder)
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-rA", "--tb=short", "-p", "no:cacheprovider",
             "-k", " and ".join(f"not {name}" for name in ENDLESS), *(f"tests/{name}" for name in FILES)],
            cwd=folder, env={**os.environ, "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}, capture_output=True,
            text=True, timeout=300, check=False, stdin=subprocess.DEVNULL)
    verdicts = {"PASSED": set(), "FAILED": set(), "SKIPPED": set(), "ERROR": set()}
    for verdict, name in re.findall(r"^(PASSED|FAILED|ERROR) \S+?::\S*?(test\w+)", done.stdout, re.MULTILINE):
        verdicts[verdict].add(name)
    for verdict, name in re.findall(r"^SUB(FAILED)\b.* \S+?::\S*?(test\w+)", done.stdout, re.MULTILINE):
        verdicts[verdict].add(name)
    bad = verdicts["FAILED"] | verdicts["ERROR"] | set(ENDLESS)
    good = verdicts["PASSED"] - bad
    wrong = bad - set(DIFFERS)
    if not good:
        print(done.stdout[-3000:], done.stderr[-3000:], sep="\n")
    for name in sorted(bad & set(DIFFERS)):
        print(f"differs: {name}: {DIFFERS[name]}")
    for name in sorted(set(DIFFERS) & good):
        print(f"passes although it is listed: {name}")
    for name in sorted(wrong):
        reason = re.search(rf"_ \S*{name}\b.*?^(E   .*?)$", done.stdout, re.MULTILINE | re.DOTALL)
        print(f"failed: {name}: {reason[1].strip() if reason else ''}")
    print(f"{len(good)} passed, {len(wrong) or (0 if good else 1)} failed, {len(bad & set(DIFFERS))} skipped")
    return 1 if wrong or not good else 0


if __name__ == "__main__":
    sys.exit(main())
