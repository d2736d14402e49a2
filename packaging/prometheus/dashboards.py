#!/usr/bin/env python3
"""Writes the dashboards for Grafana: packaging/prometheus/dashboards/*.json. Change them here, then run it.

A panel is (kind, title, width, unit, queries); a query is an expression, or one and the legend of its series.
INSTANCE in an expression is the choice of machines. Units are Grafana's; a ratio is drawn from 0 to 1.
"""

import json
import pathlib
import sys

FOLDER = pathlib.Path(__file__).parent / "dashboards"
INSTANCE = 'instance=~"$instance"'
WIDTH = 24
HEIGHTS = {"stat": 4, "timeseries": 8, "table": 9}
SOURCE = {"type": "prometheus", "uid": "${datasource}"}

DEVICE = "{{instance}} GPU {{gpu}}"
OF_USER = ("sum by (user) (rate(vitals_workload_gpu_busy_seconds_total{INSTANCE}[$__rate_interval])"
           " * on (instance, workload) group_left (user) vitals_workload_info{INSTANCE})")
CPU_BUSY = ("1 - sum by (instance) (rate(vitals_host_cpu_seconds_total{INSTANCE,mode=~\"idle|iowait\"}[$__rate_interval]))"
            " / sum by (instance) (rate(vitals_host_cpu_seconds_total{INSTANCE}[$__rate_interval]))")
WORKLOAD = 'workload=~"$workload"'

# The fleet is drawn from the recording rules of vitals.rules.yml: a few series for each machine.
FLEET = [
    ("stat", "Machines that answer", 4, "", ["sum(up{job=\"vitals\"})"]),
    ("stat", "Machines that do not", 4, "", ["sum(1 - up{job=\"vitals\"})"]),
    ("stat", "GPUs", 4, "", ["sum(instance:vitals_gpus:count)"]),
    ("stat", "GPUs without a process", 4, "", ["sum(instance:vitals_gpus_free:count)"]),
    ("stat", "GPUs busy", 4, "percentunit", [
        "sum(instance:vitals_gpu_busy_ratio:avg * instance:vitals_gpus:count) / sum(instance:vitals_gpus:count)"]),
    ("stat", "Power of all GPUs", 4, "watt", ["sum(instance:vitals_gpu_power_watts:sum)"]),
    ("timeseries", "GPUs in use, by user", 12, "", [("topk(20, user:vitals_gpu_busy_ratio:sum)", "{{user}}")]),
    ("timeseries", "GPUs in use, by workload", 12, "", [
        ("topk(20, workload:vitals_gpu_busy_ratio:sum)", "{{workload}}")]),
    ("table", "Machines with free GPUs", 12, "", ["topk(50, instance:vitals_gpus_free:count > 0)"]),
    ("table", "Machines that do not answer", 12, "", ["topk(50, up{job=\"vitals\"} == 0)"]),
    ("timeseries", "GPUs busy, the busiest machines", 12, "percentunit", [
        ("topk(20, instance:vitals_gpu_busy_ratio:avg)", "{{instance}}")]),
    ("timeseries", "CPUs busy, the busiest machines", 12, "percentunit", [
        ("topk(20, instance:vitals_cpu_busy_ratio:avg)", "{{instance}}")]),
    ("timeseries", "Memory in use, the fullest machines", 12, "percentunit", [
        ("topk(20, instance:vitals_memory_used_ratio:avg)", "{{instance}}")]),
    ("table", "Alerts", 12, "", ["ALERTS{alertstate=\"firing\"}"]),
]
MACHINE = [
    ("stat", "Not sampled for", 6, "s", [
        "time() - min(max by (instance) (vitals_collector_last_success_timestamp_seconds{INSTANCE,collector=\"sampler\"}))"]),
    ("stat", "CPUs", 6, "", ["sum(vitals_host_cpus{INSTANCE})"]),
    ("stat", "Memory", 6, "bytes", ["sum(vitals_host_memory_total_bytes{INSTANCE})"]),
    ("stat", "GPUs", 6, "", ["count(vitals_gpu_info{INSTANCE}) or vector(0)"]),
    ("timeseries", "CPUs busy", 12, "percentunit", [(CPU_BUSY, "{{instance}}")]),
    ("timeseries", "Load, 1 minute", 12, "", [("vitals_host_load1{INSTANCE}", "{{instance}}")]),
    ("timeseries", "Memory available", 12, "bytes", [("vitals_host_memory_available_bytes{INSTANCE}", "{{instance}}")]),
    ("timeseries", "Swap in use", 12, "bytes", [("vitals_host_swap_used_bytes{INSTANCE}", "{{instance}}")]),
    ("timeseries", "Time that tasks waited", 12, "percentunit", [
        ("rate(vitals_host_pressure_waiting_seconds_total{INSTANCE}[$__rate_interval])", "{{instance}} {{resource}}")]),
    ("timeseries", "Network", 12, "Bps", [
        ("sum by (instance) (rate(vitals_host_network_receive_bytes_total{INSTANCE,device!=\"lo\"}[$__rate_interval]))",
         "{{instance}} in"),
        ("sum by (instance) (rate(vitals_host_network_transmit_bytes_total{INSTANCE,device!=\"lo\"}[$__rate_interval]))",
         "{{instance}} out")]),
    ("timeseries", "Disks", 12, "Bps", [
        ("sum by (instance) (rate(vitals_host_disk_read_bytes_total{INSTANCE}[$__rate_interval]))", "{{instance}} read"),
        ("sum by (instance) (rate(vitals_host_disk_written_bytes_total{INSTANCE}[$__rate_interval]))",
         "{{instance}} written")]),
    ("timeseries", "File systems, space left", 12, "percentunit", [
        ("vitals_host_filesystem_avail_bytes{INSTANCE} / vitals_host_filesystem_size_bytes{INSTANCE}",
         "{{instance}} {{mountpoint}}")]),
    ("table", "Sources that cannot be read", 12, "", ["vitals_collector_success{INSTANCE} == 0"]),
    ("timeseries", "The exporter's CPU time", 12, "percentunit", [
        ("rate(process_cpu_seconds_total{INSTANCE,job=\"vitals\"}[$__rate_interval])", "{{instance}}")]),
]
GPU = [
    ("stat", "GPUs", 4, "", ["count(vitals_gpu_info{INSTANCE})"]),
    ("stat", "Busy", 5, "percentunit", ["avg(rate(vitals_gpu_busy_seconds_total{INSTANCE}[$__rate_interval]))"]),
    ("stat", "Memory in use", 5, "percentunit", [
        "sum(vitals_gpu_memory_used_bytes{INSTANCE}) / sum(vitals_gpu_memory_total_bytes{INSTANCE})"]),
    ("stat", "Power", 5, "watt", ["sum(vitals_gpu_power_watts{INSTANCE})"]),
    ("stat", "Throttled now", 5, "", [
        "sum(vitals_gpu_throttle_active{INSTANCE,reason=~\"temperature|current\"}) or vector(0)"]),
    ("timeseries", "Busy", 12, "percentunit", [
        ("rate(vitals_gpu_busy_seconds_total{INSTANCE}[$__rate_interval])", DEVICE)]),
    ("timeseries", "Memory in use", 12, "percentunit", [
        ("vitals_gpu_memory_used_bytes{INSTANCE} / vitals_gpu_memory_total_bytes{INSTANCE}", DEVICE)]),
    ("timeseries", "Power", 12, "watt", [("vitals_gpu_power_watts{INSTANCE}", DEVICE)]),
    ("timeseries", "Energy of the last hour", 12, "joule", [
        ("increase(vitals_gpu_energy_joules_total{INSTANCE}[1h])", DEVICE)]),
    ("timeseries", "Temperature", 12, "celsius", [("vitals_gpu_temperature_celsius{INSTANCE}", DEVICE + " {{sensor}}")]),
    ("timeseries", "Clocks", 12, "hertz", [("vitals_gpu_clock_hertz{INSTANCE}", DEVICE + " {{clock}}")]),
    ("timeseries", "Throttled", 12, "percentunit", [
        ("rate(vitals_gpu_throttle_seconds_total{INSTANCE}[$__rate_interval])", DEVICE + " {{reason}}")]),
    ("timeseries", "Errors", 12, "", [
        ("increase(vitals_gpu_ecc_errors_total{INSTANCE}[$__rate_interval])", DEVICE + " {{severity}}"),
        ("increase(vitals_gpu_xid_errors_total{INSTANCE}[$__rate_interval])", DEVICE + " Xid")]),
    ("timeseries", "Links between devices", 12, "Bps", [
        ("rate(vitals_gpu_interconnect_receive_bytes_total{INSTANCE}[$__rate_interval])", DEVICE + " in"),
        ("rate(vitals_gpu_interconnect_transmit_bytes_total{INSTANCE}[$__rate_interval])", DEVICE + " out")]),
    ("timeseries", "Processes", 12, "", [("vitals_gpu_processes{INSTANCE}", DEVICE + " {{type}}")]),
    ("table", "Workloads on each device", 24, "bytes", ["vitals_workload_gpu_memory_used_bytes{INSTANCE}"]),
]
# Needs vitals serve --processes pid.
PROCESS = [
    ("timeseries", "CPU time, the busiest", 12, "", [
        ("topk(20, sum by (instance, pid) (rate(vitals_process_cpu_seconds_total{INSTANCE}[$__rate_interval]))"
         " * on (instance, pid) group_left (comm, user) vitals_process_info{INSTANCE})", "{{comm}} {{pid}} {{user}}")]),
    ("timeseries", "Resident memory, the largest", 12, "bytes", [
        ("topk(20, vitals_process_resident_memory_bytes{INSTANCE}"
         " * on (instance, pid) group_left (comm, user) vitals_process_info{INSTANCE})", "{{comm}} {{pid}} {{user}}")]),
    ("timeseries", "GPU memory, the largest", 12, "bytes", [
        ("topk(20, vitals_gpu_process_memory_used_bytes{INSTANCE})", DEVICE + " pid {{pid}}")]),
    ("timeseries", "GPU use, the busiest", 12, "percentunit", [
        ("topk(20, vitals_gpu_process_utilization_ratio{INSTANCE})", DEVICE + " pid {{pid}} {{engine}}")]),
    ("timeseries", "Read", 12, "Bps", [
        ("topk(20, rate(vitals_process_read_bytes_total{INSTANCE}[$__rate_interval]))", "{{instance}} pid {{pid}}")]),
    ("timeseries", "Written", 12, "Bps", [
        ("topk(20, rate(vitals_process_written_bytes_total{INSTANCE}[$__rate_interval]))", "{{instance}} pid {{pid}}")]),
    ("timeseries", "Threads", 12, "", [("topk(20, vitals_process_threads{INSTANCE})", "{{instance}} pid {{pid}}")]),
    ("table", "Processes on GPUs", 12, "bytes", [
        "sum by (instance, pid) (vitals_gpu_process_memory_used_bytes{INSTANCE})"
        " * on (instance, pid) group_left (comm, user, workload) vitals_process_info{INSTANCE}"]),
]
JOB = [
    ("table", "What it is", 24, "", ["vitals_workload_info{INSTANCE,WORKLOAD}"]),
    ("timeseries", "GPUs in use", 12, "", [
        ("sum by (workload) (rate(vitals_workload_gpu_busy_seconds_total{INSTANCE,WORKLOAD}[$__rate_interval]))",
         "{{workload}}")]),
    ("timeseries", "GPU memory", 12, "bytes", [
        ("vitals_workload_gpu_memory_used_bytes{INSTANCE,WORKLOAD}", "{{workload}} " + DEVICE)]),
    ("timeseries", "Use of each device", 12, "percentunit", [
        ("rate(vitals_workload_gpu_busy_seconds_total{INSTANCE,WORKLOAD}[$__rate_interval])", "{{workload}} " + DEVICE)]),
    ("timeseries", "CPUs in use", 12, "", [
        ("sum by (workload) (rate(vitals_workload_cpu_seconds_total{INSTANCE,WORKLOAD}[$__rate_interval]))",
         "{{workload}}")]),
    ("timeseries", "Memory", 12, "bytes", [
        ("sum by (workload) (vitals_workload_memory_used_bytes{INSTANCE,WORKLOAD})", "{{workload}}")]),
    ("timeseries", "Processes", 12, "", [
        ("sum by (workload) (vitals_workload_processes{INSTANCE,WORKLOAD})", "{{workload}}")]),
    ("timeseries", "GPUs in use, by user", 12, "", [(f"topk(20, {OF_USER})", "{{user}}")]),
    ("timeseries", "Processes killed for want of memory", 12, "", [
        ("sum by (workload) (increase(vitals_workload_oom_kills_total{INSTANCE,WORKLOAD}[1h]))", "{{workload}}")]),
]
BOARDS = {"fleet": FLEET, "machine": MACHINE, "gpu": GPU, "process": PROCESS, "job": JOB}


def choice(name, query):
    return {"name": name, "type": "query", "datasource": SOURCE, "query": query, "includeAll": True, "multi": True,
            "allValue": ".*", "current": {"text": "All", "value": "$__all"}, "refresh": 2}


def variables(name):
    found = [{"name": "datasource", "type": "datasource", "query": "prometheus", "current": {}}]
    if name != "fleet":
        found.append(choice("instance", "label_values(vitals_build_info, instance)"))
    if name == "job":
        found.append(choice("workload", "label_values(vitals_workload_info{" + INSTANCE + "}, workload)"))
    return found


def target(number, query, kind):
    expr, legend = query if isinstance(query, tuple) else (query, "")
    expr = expr.replace("INSTANCE", INSTANCE).replace("WORKLOAD", WORKLOAD)
    found = {"refId": chr(ord("A") + number), "expr": expr, "datasource": SOURCE}
    if kind == "table":
        return {**found, "format": "table", "instant": True}
    return {**found, "legendFormat": legend}


def panel(number, place, entry):
    kind, title, width, unit, queries = entry
    defaults = {"unit": unit} if unit else {}
    if unit == "percentunit":
        defaults |= {"min": 0, "max": 1}
    found = {"id": number, "title": title, "type": kind, "datasource": SOURCE,
             "gridPos": {"x": place[0], "y": place[1], "w": width, "h": HEIGHTS[kind]},
             "fieldConfig": {"defaults": defaults, "overrides": []},
             "targets": [target(at, query, kind) for at, query in enumerate(queries)]}
    if kind == "stat":
        found["options"] = {"reduceOptions": {"calcs": ["lastNotNull"]}, "colorMode": "value"}
    if kind == "timeseries":
        found["options"] = {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}}
    return found


def panels(board):
    x, y, tallest, found = 0, 0, 0, []
    for number, entry in enumerate(board, 1):
        width, height = entry[2], HEIGHTS[entry[0]]
        if x + width > WIDTH:
            x, y, tallest = 0, y + tallest, 0
        found.append(panel(number, (x, y), entry))
        x, tallest = x + width, max(tallest, height)
    return found


def text(name):
    """One panel a line, so that a change of one shows as one."""
    head = {"title": f"vitals: {name}", "uid": f"vitals-{name}", "tags": ["vitals"], "timezone": "browser",
            "schemaVersion": 39, "version": 1, "editable": True, "refresh": "30s",
            "time": {"from": "now-6h", "to": "now"}, "templating": {"list": variables(name)},
            "links": [{"type": "dashboards", "title": "vitals", "tags": ["vitals"], "keepTime": True,
                       "includeVars": True, "asDropdown": True}]}
    rows = ",\n".join(json.dumps(entry) for entry in panels(BOARDS[name]))
    return json.dumps(head)[:-1] + ', "panels": [\n' + rows + "\n]}\n"


def main():
    FOLDER.mkdir(exist_ok=True)
    for name in BOARDS:
        (FOLDER / f"{name}.json").write_text(text(name))


if __name__ == "__main__":
    sys.exit(main())
