"""nvitop-exporter's dashboard: what its panels ask for, asked of the real Prometheus that has scraped
`vitals serve --compat nvitop-exporter`.

No registry has the dashboard itself, so here stands which names it reads and by which labels, as its
public text of nvitop 1.7 has it.
"""

import pathlib
import tempfile
import unittest

from exposed import PROMETHEUS, await_prometheus, free_port, start_prometheus, start_server
from harness import SOURCE, VITALS, nvml, reads_json

# By the name of a host alone.
OF_HOSTS = ("host_cpu_percent_Percentage host_load_average_1m_Percentage host_load_average_5m_Percentage "
            "host_load_average_15m_Percentage host_virtual_memory_percent_Percentage host_virtual_memory_used_MiB "
            "host_virtual_memory_total_MiB host_swap_memory_used_MiB gpu_utilization_Percentage "
            "gpu_memory_percent_Percentage gpu_memory_used_MiB gpu_memory_total_MiB gpu_pcie_rx_throughput_MiBps "
            "gpu_pcie_tx_throughput_MiBps gpu_nvlink_total_rx_throughput_MiBps gpu_nvlink_total_tx_throughput_MiBps "
            "gpu_power_usage_W gpu_temperature_C").split()
# And of a user.
OF_USERS = ("process_cpu_percent_Percentage process_rss_memory_MiB process_gpu_memory_MiB "
            "process_gpu_sm_utilization_Percentage process_gpu_memory_utilization_Percentage "
            "process_gpu_encoder_utilization_Percentage process_gpu_decoder_utilization_Percentage "
            "process_running_time_Second process_info_info").split()
# As rates, summed over the machine.
RATES = ("host_net_io_rx_data_MiB host_net_io_tx_data_MiB host_disk_io_read_data_MiB "
         "host_disk_io_write_data_MiB").split()
# What its tables group by and show.
COUNTS = {"process_gpu_memory_MiB": ("hostname", "index", "uuid", "pid", "username"),
          "process_info_info": ("hostname", "pid", "username", "status", "command"),
          "gpu_utilization_Percentage": ("hostname", "index")}


@unittest.skipUnless(PROMETHEUS, "no prometheus")
@unittest.skipUnless(reads_json(), "built without JSON")
class Dashboard(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        target = free_port()
        config = ("scrape_configs: [{job_name: nvitop, scrape_interval: 1s, "
                  f"static_configs: [{{targets: ['127.0.0.1:{target}']}}]}}]\n")
        scenario = SOURCE / "tests" / "nvml" / "scenarios" / "two-healthy.conf"
        start_server(cls.addClassCleanup,
                     [VITALS, "serve", "--nvml", nvml("r580"), "--backends", "nvidia", "--compat", "nvitop-exporter",
                      "--listen", f"127.0.0.1:{target}"], VITALS_NVML_SCENARIO=scenario)
        cls.port = start_prometheus(cls.addClassCleanup, folder.name, config)

    def ask(self, query):
        return await_prometheus(self.port, query)

    def test_what_it_shows_of_machines_and_devices(self):
        for name in OF_HOSTS:
            with self.subTest(name):
                self.ask(f'{name}{{hostname=~".+"}}')

    def test_what_it_shows_of_processes(self):
        for name in OF_USERS:
            with self.subTest(name):
                self.ask(f'{name}{{hostname=~".+", username=~".+"}}')

    def test_rates(self):
        for name in RATES:
            with self.subTest(name):
                if "disk" in name and not any(True for _ in pathlib.Path("/sys/block").iterdir()):
                    self.skipTest("no disk")
                self.ask(f'sum by (hostname) (rate({name}{{hostname=~".+"}}[1m]))')

    def test_what_it_groups_by(self):
        for name, labels in COUNTS.items():
            for one in self.ask(f"count by ({', '.join(labels)}) ({name})"):
                with self.subTest(name):
                    self.assertEqual(sorted(one["metric"]), sorted(labels))


if __name__ == "__main__":
    unittest.main()
