"""What somebody without rights is told of a process, as JSON: stranger.py PID."""

import json
import sys

import api

COLUMNS = ("executable", "working_directory", "root_directory", "read_bytes", "written_bytes",
           "pss_bytes", "uss_bytes", "uid", "name", "state", "command_line", "cgroup", "oom_score",
           "resident_bytes", "descriptors")
TABLES = ("descriptor", "mapping", "environment", "limit", "thread")


def told(function):
    try:
        function()
    except api.Failure as failure:
        return {"code": failure.code, "message": failure.message}
    return {"code": "done", "message": ""}


def main():
    pid = int(sys.argv[1])
    process = api.Context().open(pid)
    snapshot = process.ask(*(f"process.{name}" for name in COLUMNS), *TABLES)
    row = snapshot.one()
    calls = {
        "signal": lambda: process.signal(0), "kill": lambda: process.signal(9),
        "nice": lambda: process.set_nice(1), "limit": lambda: process.set_limit("nofile", 9, 9),
        "affinity": lambda: process.set_affinity([0]),
        "io_priority": lambda: process.set_io_priority("idle"),
    }
    json.dump({
        "pid": str(pid),
        "calls": {name: told(function) for name, function in calls.items()},
        "read": {"uid": row["uid"], "descriptors": row["descriptors"]},
        "denied": [name for name in COLUMNS if row.state(name) == "denied"],
        "states": {table: snapshot.state(table) for table in TABLES},
    }, sys.stdout)


if __name__ == "__main__":
    main()
