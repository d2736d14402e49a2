"""What a device sends and receives: over PCIe, and over NVLink."""

from __future__ import annotations

import time

from vitals.compat.nvitop import readings
from vitals.compat.nvitop.utils import NA, bytes2human

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, NamedTuple

    from vitals.compat.nvitop.readings import Reading
    from vitals.compat.nvitop.utils import Int, NaType
else:
    from vitals.compat.nvitop.named_tuple import NamedTuple

_FRESH_SECONDS = 2.0  # what is slow is read in the background: so old it may be, else it is waited for
_PATIENCE_SECONDS = 0.5


class ThroughputInfo(NamedTuple):
    """In KiB/s."""

    tx: Int
    rx: Int

    @property
    def transmit(self) -> Int:
        return self.tx

    @property
    def receive(self) -> Int:
        return self.rx


def scaled(value: Any, factor: float) -> Int:
    return NA if value is None else round(value * factor)


def _rate_in_words(kib: Int) -> str | NaType:
    return f"{bytes2human(kib * 1024)}/s" if isinstance(kib, int) else NA


class Links:
    """Methods of Device."""

    _nvml_index: Any
    _lost: bool
    _fixed: dict[str, Reading] | None
    _kept: dict[str, Any]
    _links: Reading | None = None

    def _take(self, group: str) -> Reading:
        raise NotImplementedError

    def _fresh_pcie(self) -> Reading:
        if self._fixed is not None and "pcie" in self._fixed:
            return self._fixed["pcie"]
        reading = readings.group("pcie").recent(_FRESH_SECONDS / 2)
        end = time.monotonic() + _PATIENCE_SECONDS
        while not readings.is_fresh(reading, self._nvml_index, "gpu.pcie_transmitted_bytes_per_second",
                                    _FRESH_SECONDS) and time.monotonic() < end:
            time.sleep(0.005)
            reading = readings.group("pcie").take()
        if self._fixed is not None:
            self._fixed["pcie"] = reading
        return reading

    def pcie_throughput(self) -> ThroughputInfo:
        """Over 20 ms, of a moment that is at most two seconds ago."""
        reading, index = self._fresh_pcie(), self._nvml_index
        return ThroughputInfo(*(scaled(reading.value(index, f"gpu.pcie_{way}_bytes_per_second"), 1 / 1024)
                                for way in ("transmitted", "received")))

    def pcie_tx_throughput(self) -> Int:
        """In KiB/s."""
        return self.pcie_throughput().tx

    def pcie_rx_throughput(self) -> Int:
        return self.pcie_throughput().rx

    def pcie_tx_throughput_human(self) -> str | NaType:
        return _rate_in_words(self.pcie_tx_throughput())

    def pcie_rx_throughput_human(self) -> str | NaType:
        return _rate_in_words(self.pcie_rx_throughput())

    def nvlink_link_count(self) -> int:
        if "links" not in self._kept:
            self._kept["links"] = len(self._take("links").children(self._nvml_index, "gpu_link"))
        return self._kept["links"]  # type: ignore[no-any-return]

    def nvlink_throughput(self, interval: float | None = None) -> list[ThroughputInfo]:
        """Of each link in KiB/s: over `interval` seconds, or since the last call (20 ms at the first)."""
        if interval is not None and not interval >= 0.0:
            raise ValueError(f"`interval` must be a non-negative number, got {interval!r}.")
        if self._lost or not self.nvlink_link_count():
            return []
        if interval or self._links is None:
            self._links = readings.take("links")
            time.sleep(interval or 0.02)
        older, self._links = self._links, readings.take("links")
        links = self._links.children(self._nvml_index, "gpu_link")
        ways = ("gpu_link.transmitted_bytes", "gpu_link.received_bytes")
        return [ThroughputInfo(*(scaled(readings.rate(link, older, way), 1 / 1024) for way in ways))
                for _, link in sorted(links.items(), key=lambda item: readings.number_in(item[0]))]

    def _over_links(self, interval: float | None, made: Callable[[list[int]], int]) -> ThroughputInfo:
        links = self.nvlink_throughput(interval)
        ways = ([one.tx for one in links], [one.rx for one in links])
        known = [[value for value in way if isinstance(value, int)] for way in ways]
        return ThroughputInfo(*(made(values) if values else NA for values in known))

    def nvlink_total_throughput(self, interval: float | None = None) -> ThroughputInfo:
        return self._over_links(interval, sum)

    def nvlink_mean_throughput(self, interval: float | None = None) -> ThroughputInfo:
        return self._over_links(interval, lambda values: round(sum(values) / len(values)))

    def nvlink_tx_throughput(self, interval: float | None = None) -> list[Int]:
        return [one.tx for one in self.nvlink_throughput(interval)]

    def nvlink_mean_tx_throughput(self, interval: float | None = None) -> Int:
        return self.nvlink_mean_throughput(interval).tx

    def nvlink_total_tx_throughput(self, interval: float | None = None) -> Int:
        return self.nvlink_total_throughput(interval).tx

    def nvlink_rx_throughput(self, interval: float | None = None) -> list[Int]:
        return [one.rx for one in self.nvlink_throughput(interval)]

    def nvlink_mean_rx_throughput(self, interval: float | None = None) -> Int:
        return self.nvlink_mean_throughput(interval).rx

    def nvlink_total_rx_throughput(self, interval: float | None = None) -> Int:
        return self.nvlink_total_throughput(interval).rx

    def nvlink_tx_throughput_human(self, interval: float | None = None) -> list[str | NaType]:
        return [_rate_in_words(value) for value in self.nvlink_tx_throughput(interval)]

    def nvlink_mean_tx_throughput_human(self, interval: float | None = None) -> str | NaType:
        return _rate_in_words(self.nvlink_mean_tx_throughput(interval))

    def nvlink_total_tx_throughput_human(self, interval: float | None = None) -> str | NaType:
        return _rate_in_words(self.nvlink_total_tx_throughput(interval))

    def nvlink_rx_throughput_human(self, interval: float | None = None) -> list[str | NaType]:
        return [_rate_in_words(value) for value in self.nvlink_rx_throughput(interval)]

    def nvlink_mean_rx_throughput_human(self, interval: float | None = None) -> str | NaType:
        return _rate_in_words(self.nvlink_mean_rx_throughput(interval))

    def nvlink_total_rx_throughput_human(self, interval: float | None = None) -> str | NaType:
        return _rate_in_words(self.nvlink_total_rx_throughput(interval))
