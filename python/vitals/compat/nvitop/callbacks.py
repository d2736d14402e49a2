"""nvitop's callbacks of 0.5 and of its examples: callbacks.keras, .lightning, .pytorch_lightning, .tensorboard.

    from vitals.compat.nvitop.callbacks.keras import GpuStatsLogger

They are those of vitals.callbacks, under nvitop's names and with the order of its arguments.
"""

from __future__ import annotations

import sys
import types

from vitals import callbacks
from vitals.callbacks import add_scalar_dict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable

__all__ = ["add_scalar_dict", "keras", "lightning", "pytorch_lightning", "tensorboard"]


def _logger(make: Callable[..., Any], framework: str) -> Callable[..., Any]:
    def GpuStatsLogger(memory_utilization: bool = True, gpu_utilization: bool = True, intra_step_time: bool = False,
                       inter_step_time: bool = False, fan_speed: bool = False, temperature: bool = False,
                       gpus: Iterable[int] | None = None, **options: Any) -> Any:
        return make(memory_utilization=memory_utilization, gpu_utilization=gpu_utilization,
                    intra_step_time=intra_step_time, inter_step_time=inter_step_time, fan_speed=fan_speed,
                    temperature=temperature, gpus=gpus, **options)
    GpuStatsLogger.__doc__ = f"A callback for {framework} that logs what the GPUs do at each step."
    return GpuStatsLogger


def _module(name: str, **names: Any) -> types.ModuleType:
    made = types.ModuleType(f"{__name__}.{name}")
    made.__dict__.update(names, __all__=sorted(names))
    sys.modules[made.__name__] = made
    return made


keras = _module("keras", GpuStatsLogger=_logger(callbacks.keras, "Keras"))
lightning = _module("lightning", GpuStatsLogger=_logger(callbacks.lightning, "Lightning"))
pytorch_lightning = _module("pytorch_lightning", GpuStatsLogger=lightning.GpuStatsLogger)
tensorboard = _module("tensorboard", add_scalar_dict=add_scalar_dict)
