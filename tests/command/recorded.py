"""Recordings with known content, written as the files that vitals itself writes: our CSV with its
account beside it. What a test says of them can be calculated by hand."""

import json
import math

MEASURED = "sampled", "every 1 s"


def figure(name, value, unit="", availability="have", source="wait4", subject="", label=""):
    result = {"name": name, "value": value, "unit": unit, "availability": availability,
              "source": source}
    if subject:
        result["subject"] = subject
    if label:
        result["label"] = label
    return result


def account(figures, exit_code=0, signal=0, **attributes):
    return {"schema": 1, "vitals": "0.1.0", "exit_code": exit_code, "signal": signal,
            "attributes": {"state": "complete", "exit": str(exit_code), **attributes},
            "figures": figures}


GPUS = [("GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", "GPU 0"),
        ("GPU-6fa5f1f0-4711-11ee-be56-0242ac120002", "GPU 1")]

GIB = 2.0 ** 30


def training(**attributes):
    """The account of a training run on two GPUs."""
    figures = [
        figure("wall_seconds", 4320, "seconds", source="CLOCK_MONOTONIC"),
        figure("cpu_seconds", 13262.4, "seconds", source="cgroup v2 cpu.stat"),
        figure("cpu_user_seconds", 12801.5, "seconds", source="cgroup v2 cpu.stat"),
        figure("cpu_system_seconds", 460.9, "seconds", source="cgroup v2 cpu.stat"),
        figure("cpu_cores", 3.07, "cores", source="CPU time over the time in which it was used"),
        figure("cpu_peak_cores", 7.4, "cores", "sampled", "/proc, every 1 s"),
        figure("memory_peak_bytes", 41.2 * GIB, "bytes",
               source="cgroup v2 memory.peak, page cache and kernel memory included"),
        figure("memory_resident_peak_bytes", 38.4 * GIB, "bytes", "sampled", "/proc, every 1 s"),
        figure("disk_read_bytes", 182e9, "bytes", source="cgroup v2 io.stat"),
        figure("disk_written_bytes", 3.1e9, "bytes", source="cgroup v2 io.stat"),
        figure("processes", 214, source="fork records"),
        figure("processes_seen", 183, availability="sampled", source="/proc, every 1 s"),
        figure("io_pressure_seconds", 312, "seconds", source="cgroup v2 io.pressure"),
        figure("gpu_energy_joules", 2.5e6, "joules", "estimate",
               "the devices' energy, shared by busy time"),
        figure("package_energy_joules", None, "joules", "denied",
               "/sys/class/powercap is for root alone", "system"),
    ]
    for i, (uuid, label) in enumerate(GPUS):
        figures += [
            figure("gpu_memory_peak_bytes", (71.8 - 9 * i) * GIB, "bytes", "sampled",
                   "driver, every 1 s", uuid, label),
            figure("gpu_busy_ratio", 0.83 - 0.2 * i, "ratio", "sampled", "driver, every 1 s", uuid,
                   label),
            figure("device_energy_joules", 1.4e6 - 2e5 * i, "joules", "have",
                   "the device's own counter", uuid, label),
        ]
    values = {"command": "python train.py --model large --batch 64", "host": "node07",
              "user": "ana", "working_directory": "/home/ana/train", "expected_cores": "16",
              "system_cores": "16", "started_ns": "1763798400000000000",
              "rungs": "cgroup2 perf wait4 sampling",
              "missing": "energy of the CPUs: no permission (vitals doctor)"}
    return account(figures, **(values | attributes))


def write(path, columns, rows, marks=(), made=None):
    """rows: (second, values); marks: (second, "begin" or "end", name, thread)."""
    lines = [(second, "", values) for second, values in rows]
    lines += [(second, f"{what} 100/{thread} {name}", [None] * len(columns))
              for second, what, name, thread in marks]
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join(["time", "mark", *columns]) + "\n")
        for second, mark, values in sorted(lines, key=lambda line: (line[0], line[1])):
            cells = ["" if value is None else repr(value) for value in values]
            quoted = '"' + mark.replace('"', '""') + '"' if set(mark) & set(',"\n') else mark
            file.write(",".join([f"{second:.6f}", quoted, *cells]) + "\n")
    if made is not None:
        with open(f"{path}.json", "w", encoding="utf-8") as file:
            json.dump(made, file)


START = 1763798400.0


def write_training(path, count=721, step=6.0, name="python train.py", **attributes):
    """The training run as a recording: charts of everything, nested phases, a gap."""
    gpus = [uuid for uuid, _ in GPUS]
    columns = ["cpu_seconds", "cpu_cores", "system.cpu_cores", "memory_resident_bytes",
               "memory_pss_bytes", "system.memory_used_bytes", "disk_read_bytes",
               "disk_written_bytes", "system.network_received_bytes",
               "system.network_transmitted_bytes", "processes", "threads"]
    for uuid in gpus:
        columns += [f"{uuid}.device_utilization_ratio", f"{uuid}.gpu_memory_bytes",
                    f"{uuid}.device_power_watts"]
    rows, cpu, read, written, received, sent = [], 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(count):
        part = i / count
        busy = 0.0 if part < 0.12 else 0.83 + 0.12 * math.sin(i / 9)
        if 0.5 < part < 0.56:
            busy = 0.08
        cores = 6.9 if part < 0.12 else 2.4 + 0.8 * math.sin(i / 5) ** 2
        cpu += cores * step
        read += (4e8 if part < 0.12 else 1.2e7) * step
        written += (2.5e8 if 0.5 < part < 0.56 else 2e5) * step
        received += 2e6 * step * (1 + math.sin(i / 30))
        sent += 6e5 * step
        memory = GIB * min(38.4, 2 + part * 300)
        row = [cpu, cores, cores + 0.9, memory, memory * 0.94, memory + 21 * GIB, read, written,
               received, sent, 183.0 if part < 0.12 else 17.0, 260.0 if part < 0.12 else 90.0]
        for j in range(len(gpus)):
            row += [max(0.0, min(1.0, busy - 0.2 * j * (busy > 0.1))),
                    GIB * min(71.8 - 9 * j, part * 700), 95 + 580 * busy - 60 * j]
        if 0.3 < part < 0.31:
            row = [None] * len(row)
        rows.append((START + i * step, row))
    end = count * step
    marks = [(START + 1, "begin", "load data", 1), (START + 0.12 * end, "end", "load data", 1)]
    for epoch in range(4):
        begin = START + (0.12 + 0.21 * epoch) * end
        marks += [(begin + 1, "begin", "epoch", 1), (begin + 0.2 * end, "end", "epoch", 1),
                  (begin + 0.15 * end, "begin", "evaluate", 1),
                  (begin + 0.19 * end, "end", "evaluate", 1)]
    made = training(**attributes)
    made["attributes"]["command"] = name
    write(path, columns, rows, marks, made)
