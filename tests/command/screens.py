"""What the tests of the screens share: machines as snapshots, made to measure, and what must hold of
every screen that shows one, whatever stands in it.

A machine is made of rows of tests/fixtures/report/many.json, with frozen clocks: the same words give
the same bytes. No time, no randomness, no text of this machine."""

import copy
import json
import os
import re
import subprocess
import unicodedata

from harness import FIXTURES, VITALS, environment

WRITE = os.environ.get("VITALS_WRITE_GOLDEN") == "1"
TABLES_OF_GPUS = ("gpu_engine", "gpu_sensor", "gpu_clock", "gpu_pool")
SECOND = 1_000_000_000

# Commands by kind, taken in turns. Text of a process may hold anything, but for these tests no
# character that frames are drawn with, and no figure: what looks like one is then the screen's own.
COMMANDS = {
    "plain": ["python train.py", "blender --background scene.blend", "vllm serve mixtral", "sh"],
    "missing": ["python train.py", "sh"],
    "wide": ["日本語の計算 データ", "공부하다 모형", "e\u0301tude\u0301 ve\u0302", "👩\u200d🚀👩\u200d🚀 fly", "ＦＵＬＬ"],
    "hostile": ["\x1b[31mred\x1b]0;title\x07", "new\nline\r\ttab", "\u202eright to left\u2066", "\ufffd\u0085\u009b",
                "a" * 5000, " ", "\u200b\u200c\u2060", "`;$(reboot)%s%n", "🏳️" * 40],
}
USERS = {"plain": ["ana", "ben", "a-long-name-of-a-user"], "missing": ["ana"],
         "wide": ["ゆうざあ", "ana", "é\u0301"], "hostile": ["\x1b[2J", "a\nb", "\u202e", ""]}
for WORDS in (COMMANDS, USERS):
    WORDS["parts"] = WORDS["plain"]  # each device but the last is in two parts
    WORDS["troubled"] = WORDS["plain"]  # each device but the last has a trouble of its own

# What a part of a device is asked and cannot say.
OF_A_WHOLE = ("utilization_ratio", "memory_busy_ratio", "power_watts", "power_limit_watts", "temperature_celsius",
              "fan_ratio", "performance_state", "compute_mode")

# What a row must have to be one; all else can be missing.
NEEDED = {"pid", "index", "process", "state", "message", "name", "vendor", "start_seconds"}


def _missing(row):
    for name, value in list(row.items()):
        if name not in NEEDED | {"key", "parent", "label", "age_ns", "availability", "ages_ns"} and value is not None:
            row[name] = None
            row.setdefault("availability", {})[name] = "unsupported"


def _template():
    line = (FIXTURES / "report" / "many.json").read_text(encoding="utf-8").splitlines()[-1]
    return json.loads(line)


def _host(template, tick):
    """The machine and its CPUs, whose counters grow by what is `busy` of them."""
    for busy, row in enumerate(template["tables"]["host"] + template["tables"]["cpu"]):
        size = row.get("cpus", 1)
        row["busy_seconds" if "index" in row else "cpu_busy_seconds"] += tick * size * (busy + 1) / 4
        row["total_seconds" if "index" in row else "cpu_total_seconds"] += tick * size


def _cpus(template, count, tick):
    """So many CPUs, of which the n-th is busy for n % 101 percent of a tick."""
    model = template["tables"]["cpu"][0]
    template["tables"]["cpu"] = [
        {**model, "key": number + 1, "label": f"cpu{number}", "index": number,
         "busy_seconds": 50 + tick * (number % 101) / 100, "total_seconds": 100 + tick} for number in range(count)]


def _devices(template, count):
    tables = {name: [] for name in ("gpu", *TABLES_OF_GPUS)}
    for number in range(count):
        model = template["tables"]["gpu"][number % 8]
        row = copy.deepcopy(model)
        row.update(key=number + 1, label=str(number), index=number, uuid=f"GPU-demo-{number:04}",
                   utilization_ratio=number / max(count - 1, 1), fan_ratio=number / max(count, 1))
        row["availability"].pop("fan_ratio", None)
        tables["gpu"].append(row)
        for name in TABLES_OF_GPUS:
            for part in template["tables"][name]:
                if part["parent"] == model["key"]:
                    tables[name].append({**part, "key": len(tables[name]) + 1, "parent": number + 1})
    return tables


# What can be wrong with a device that answers, of each in turn: its own values, and how old the rest is.
TROUBLES = (
    ({"throttled_by_power": 1, "utilization_ratio": 1.0}, 0),
    ({"throttled_by_temperature": 1, "throttled_by_power": 1, "temperature_celsius": 91}, 0),
    ({"throttled_by_power": 1, "throttle_reasons": "hw_power_brake_slowdown"}, 0),
    ({"ecc_errors_uncorrected": 12}, 0),
    ({"ecc_errors_uncorrected": 2, "xid_errors": 3, "xid_last": 79}, 0),
    ({"throttled_by_temperature": 1, "xid_errors": 1, "xid_last": 63}, 0),
    ({}, 5), ({"throttled_by_temperature": 1}, 150), ({}, 0))
AGED = ("utilization_ratio", "memory_used_bytes", "memory_busy_ratio", "power_watts", "temperature_celsius")


def _troubles(snapshot):
    """Each device but the last has another one."""
    names = {"throttled_by_power": 0, "throttled_by_temperature": 0, "throttled_by_current": 0, "throttled_otherwise": 0,
             "throttle_reasons": "", "xid_errors": 0, "xid_last": 0}
    snapshot["columns"]["gpu"] += names
    for row, (values, age) in zip(snapshot["tables"]["gpu"], TROUBLES):
        row.update(names | values)
        if age:
            row["availability"] |= dict.fromkeys(AGED, "stale")
            row["ages_ns"] = dict.fromkeys(AGED, age * SECOND)


def _parts(tables):
    """Two parts to each device but the last, and who uses a device uses its first part."""
    whole = tables["gpu"]
    for device in whole[:-1]:
        for number in range(2):
            part = copy.deepcopy(device)
            part.update(dict.fromkeys(OF_A_WHOLE), key=1000 + 2 * device["key"] + number, parent=device["key"],
                        label=f"{device['label']}:{number}", index=number, name="3g.40gb", uuid=f"MIG-{device['key']}-{number}",
                        gpu_instance_id=number + 1, compute_instance_id=0)
            reasons = {name: why for name, why in part["availability"].items() if part.get(name) is None}
            part["availability"] = {**reasons, **dict.fromkeys(OF_A_WHOLE, "unsupported")}
            tables["gpu"] = [*tables["gpu"], part]
    order = {row["key"]: place for place, row in enumerate(whole)}
    tables["gpu"].sort(key=lambda row: (order[row.get("parent") or row["key"]], row["key"]))
    for row in tables["gpu_process"]:
        if order[row["parent"]] < len(whole) - 1:
            row["parent"] = 1000 + 2 * row["parent"]


def _processes(template, devices, count, kind, tick):
    model, user = template["tables"]["process"][0], template["tables"]["gpu_process"][0]
    rows, users = [], []
    for number in range(count):
        row = copy.deepcopy(model)
        command = COMMANDS[kind][number % len(COMMANDS[kind])]
        name = command.split(" ")[0][:15]
        row.update(key=number + 1, pid=number + 1 if number < 3 else 3_999_000 + number, parent_pid=number % 7,
                   start_seconds=10.0 + number, name=name, label=name, user=USERS[kind][number % len(USERS[kind])],
                   uid=number % 3, command_line=command.replace(" ", "\0") + "\0",
                   cpu_seconds=number + tick * (number % 11) / 5, resident_bytes=(number + 1) << (20 + number % 12),
                   threads=1 + number % 200, cgroup="/")
        rows.append(row)
        if devices and number < 4 * devices:
            users.append({**user, "key": len(users) + 1, "parent": number % devices + 1, "label": str(row["pid"]),
                          "pid": row["pid"], "process": row["key"], "memory_used_bytes": (number + 1) << 30,
                          "type": "CGX"[number % 3], "availability": {}})
    return rows, users


def machine(devices, processes, kind="plain", ticks=2, cpus=None):
    """A file of snapshots, a second apart, as bytes; with so many CPUs."""
    template, lines = _template(), []
    for tick in range(ticks):
        snapshot = copy.deepcopy(template)
        for name in ("monotonic_ns", "realtime_ns", "boottime_ns"):
            snapshot[name] = str(int(snapshot[name]) // SECOND * SECOND + tick * SECOND)
        snapshot["time"] = f"2026-11-20T17:03:{tick % 60:02}.000000000Z"
        snapshot["sequence"] = tick + 1
        tables = snapshot["tables"]
        _host(snapshot, tick)
        if cpus is not None:
            _cpus(snapshot, cpus, tick)
        tables.update(_devices(template, devices))
        tables["process"], tables["gpu_process"] = _processes(template, devices, processes, kind, tick)
        if kind == "parts":
            _parts(tables)
        if kind == "troubled":
            _troubles(snapshot)
        if kind == "missing":
            for name, rows in tables.items():
                if name != "source":
                    for row in rows:
                        _missing(row)
        lines.append(json.dumps(snapshot))
    return ("\n".join(lines) + "\n").encode()


def picture(path, width, height, name="main", arguments=(), **changes):
    """A screen as `--screen` prints it: the finished process, of bytes."""
    command = [VITALS, "--screen", f"{width}x{height}:{name}", "--from", str(path), *arguments]
    return subprocess.run(
        command, env=environment(TZ="UTC", HOME="/nonexistent", LC_ALL="C.UTF-8", **changes),
        stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)


def names():
    """Every screen that can be printed, as the program itself lists them."""
    text = subprocess.run([VITALS, "--demo", "--screen", "80x24:none of these"], env=environment(),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False).stderr
    return re.search(r"there are ([^\n]*)", text).group(1).split(", ")


# ---- what must hold ------------------------------------------------------------------------------------

def cells(line):
    """The line column by column; the second half of a wide character is empty."""
    result = []
    for character in line:
        if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me"):
            if result:
                result[-1] += character
        elif unicodedata.east_asian_width(character) in "WF":
            result += [character, ""]
        else:
            result.append(character)
    return result


# up, right, down, left
ARMS = {"│": "ud", "─": "lr", "═": "lr", "┌": "rd", "╒": "rd", "┐": "ld", "╕": "ld", "└": "ur", "╘": "ur",
        "┘": "ul", "╛": "ul", "├": "urd", "╞": "urd", "┤": "uld", "╡": "uld", "┬": "rdl", "╤": "rdl", "┴": "url",
        "╧": "url", "┼": "urdl", "╪": "urdl"}


def open_frames(grid, width):
    """Where a line of a frame leads nowhere. What the screen's own edges cut is no fault; a rule
    may end at a title, a mark of time (`30s├`) hangs on nothing."""
    faults = []
    for y, row in enumerate(grid):
        for x, cell in enumerate(row):
            arms = ARMS.get(cell, "")
            if not arms or (x > 0 and cell == "├" and row[x - 1].isalnum()):
                continue
            below = grid[y + 1][x] if y + 1 < len(grid) and x < len(grid[y + 1]) else " "
            above = grid[y - 1][x] if y > 0 and x < len(grid[y - 1]) else " "
            right = row[x + 1] if x + 1 < len(row) else " "
            left = row[x - 1] if x > 0 else " "
            if "d" in arms and y + 2 < len(grid) and "u" not in ARMS.get(below, ""):
                faults.append((y, x, cell, "below", below))
            if "u" in arms and y > 0 and "d" not in ARMS.get(above, ""):
                faults.append((y, x, cell, "above", above))
            if cell in "┌╒└╘├╞┬╤┴╧┼╪" and x + 1 < width and "l" not in ARMS.get(right, ""):
                faults.append((y, x, cell, "right", right))
            if cell in "┐╕┘╛┤╡┬╤┴╧┼╪" and x > 0 and "r" not in ARMS.get(left, ""):
                faults.append((y, x, cell, "left", left))
    return faults


# A value that lost a part of itself: "53.", "12Gi", "N/", "5 /", "3:", and two that became one.
CUT = re.compile(r"""(?<![\w.])\d+\.(?![\d.])        # 53.
                   | \d(?:\.\d+)?[KMGT]i(?!B)        # 12Gi
                   | \bN/(?!A) | (?<![\w/])/A\b      # N/
                   | \d%\w | iB\w | \d[CW]\d         # 5%7
                   | \d:(?=[ ]*(?:│|[|]?$))          # 3:""", re.VERBOSE)


def cut_values(line):
    return [match.group(0) for match in CUT.finditer(line)]


# A tree has branches; a dialog lies over frames and values of what is below it.
FRAMELESS, OVERLAID = ("tree", "signal"), ("signal",)


def faults(done, width, height, ascii_only=False, name="main"):
    """What is wrong with a screen, as a list of words; empty: nothing."""
    if (done.returncode, done.stderr) != (0, b""):
        return [f"exit {done.returncode}: {done.stderr.decode(errors='replace')}"]
    text = done.stdout.decode()  # raises where it is no UTF-8
    found = []
    if not text.endswith("\n") or text.count("\n") != height:
        found.append(f"{text.count(chr(10))} lines of {height}")
    if ascii_only and not text.isascii():
        found.append("not ASCII: " + "".join(sorted({c for c in text if ord(c) > 127})))
    bad = {c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")}
    if bad:
        found.append(f"control characters: {sorted(map(hex, map(ord, bad)))}")
    grid = [cells(line) for line in text.split("\n")[:-1]]
    for y, row in enumerate(grid):
        if len(row) > width:
            found.append(f"line {y} has {len(row)} columns of {width}")
    for y, line in enumerate(text.split("\n")):
        for value in cut_values(line) if name not in OVERLAID else ():
            found.append(f"line {y}: {value!r} is cut: {line}")
    if name not in FRAMELESS and not ascii_only:
        found += [f"open frame: {fault}" for fault in open_frames(grid, width)]
    return found


def compare(case, path, texts):
    """Each text with the one below its title; or all of them are written."""
    if WRITE:
        path.write_text("".join(f"{title}\n{text}" for title, text in texts.items()), encoding="utf-8")
    stored, title = {}, None
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.startswith("==== "):
            title = line.rstrip("\n")
            stored[title] = ""
        else:
            stored[title] += line
    case.assertEqual(list(stored), list(texts), "cases that are stored")
    for title, text in texts.items():
        with case.subTest(title):
            case.assertEqual(text, stored[title])
