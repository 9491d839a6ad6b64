"""What a sweep of the simulated hall measures: each part has a level of its own, and some go bad slowly."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.lab import plan
from fleet_runner.lab.past.hall import Spot, gpu_serial

WARM_ROW, WARM_FROM, WARMER = "c", 40, 0.11
"""The row that grows warmer: from which day on, and by how many Celsius a day."""

WORN, WORN_GPU, WORN_FROM, WORN_UNTIL = "sim-a06", 3, 34, 72
"""The GPU whose memory wears out: from its first remapped row to its exchange, in days."""

FLAPPING_ROW, FLAPPING_PORT, FLAPS_FROM, FLAPS_UNTIL = "b", "mlx5_2/1", 50, 62
"""The row, and the port of its servers, whose links flap until a technician works on their leaf."""

LIMIT = 87.0
"""The temperature at which a GPU slows down, in Celsius."""

ADDRESSES = tuple(f"0000:{bus.lower()}:00.0" for bus in plan.GPU_BUSES)


@dataclass(slots=True)
class Machine:
    """A server's parts: how warm each GPU is, what its ports have counted, and how often a GPU was exchanged."""

    spot: Spot
    random: Random
    warm: list[float] = field(default_factory=list[float])
    inlet: float = 22.0
    symbols: list[int] = field(default_factory=lambda: [0] * plan.RAILS)
    downs: list[int] = field(default_factory=lambda: [0] * plan.RAILS)
    exchanged: list[int] = field(default_factory=lambda: [0] * plan.GPUS)
    seen: list[int] = field(default_factory=list[int])

    def __post_init__(self) -> None:
        """Draw what each part is like."""
        self.warm = [self.random.gauss(61, 2.2) for _ in range(plan.GPUS)]
        self.inlet = self.random.gauss(22.5, 0.5)

    def sweep(self, day: int) -> Iterator[Result]:
        """Yield what a sweep of a day finds."""
        warmer = WARMER * max(0, day - WARM_FROM) if self.spot.row == WARM_ROW else 0.0
        core = [round(level + warmer + self.random.gauss(0, 0.7), 1) for level in self.warm]
        yield _passed(
            "gpu_thermals",
            "every GPU is far enough from its limit",
            {
                "core_celsius": _by_gpu(core),
                "margin_celsius": _by_gpu([round(LIMIT - each, 1) for each in core]),
                "memory_margin_celsius": _by_gpu([round(LIMIT - each - 4, 1) for each in core]),
            },
        )
        inlet = round(self.inlet + warmer + self.random.gauss(0, 0.3), 1)
        yield _passed("sensors", "the sensors are within their thresholds", {"celsius": {"Inlet Temp": inlet}})
        yield self._memory(day)
        yield self._ports(day)
        if self.exchanged != self.seen:
            self.seen = list(self.exchanged)
            yield self._parts()

    def _memory(self, day: int) -> Result:
        rows = {each: {"retired": 0, "corrected": 0, "uncorrected": 0} for each in ADDRESSES}
        rows[ADDRESSES[WORN_GPU]]["corrected"] = worn(self.spot.name, day)
        return _passed("gpu_retired", "the memory of 8 GPUs has spares left in every bank", {"gpus": rows})

    def _ports(self, day: int) -> Result:
        flaps = self.spot.row == FLAPPING_ROW and FLAPS_FROM <= day < FLAPS_UNTIL
        for rail in range(plan.RAILS):
            port = f"mlx5_{rail}/1" == FLAPPING_PORT
            self.symbols[rail] += self.random.randrange(12) + (400 if flaps and port else 0)
            self.downs[rail] += self.random.randrange(1, 5) if flaps and port else 0
        counts = {
            f"mlx5_{rail}/1": {"symbol_error": self.symbols[rail], "link_downed": self.downs[rail]}
            for rail in range(plan.RAILS)
        }
        return _passed("ib_ports", "8 ports are up at 400 Gb/s", {"counts": counts})

    def _parts(self) -> Result:
        serials = [gpu_serial(self.spot.number, slot, times) for slot, times in enumerate(self.exchanged)]
        parts = {
            f"GPU {address}": {"serial": serial, "slot": f"GPU {slot}"}
            for slot, (address, serial) in enumerate(zip(ADDRESSES, serials, strict=True))
        }
        return _passed("parts_gpu", "8 of 8 GPUs are present", {"gpus": plan.GPUS, "parts": parts})


def worn(name: str, day: int) -> int:
    """Return how many memory rows of a server's worn GPU are remapped on a day."""
    return max(0, day - WORN_FROM) // 2 if name == WORN and day < WORN_UNTIL else 0


def _by_gpu(values: list[float]) -> dict[str, float]:
    return dict(zip(ADDRESSES, values, strict=True))


def _passed(check: str, message: str, observed: dict[str, Any]) -> Result:
    return Result(check, Verdict.PASS, message, observed=observed)
