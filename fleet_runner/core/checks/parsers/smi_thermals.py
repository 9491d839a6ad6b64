"""What nvidia-smi's XML says of a GPU's temperatures."""

import xml.etree.ElementTree as ET
from dataclasses import dataclass

from fleet_runner.core.checks.parsers.smi_fields import number, words


@dataclass(frozen=True, slots=True)
class Thermals:
    """Degrees Celsius. `margin` is what is left to the limit at which the GPU slows down, however it is told."""

    core_celsius: float | None
    margin_celsius: float | None
    memory_margin_celsius: float | None
    slowed: bool | None


def read(element: ET.Element) -> Thermals:
    """Read a GPU's temperatures; EvidenceError for one that is none."""
    core = number(element, "temperature/gpu_temp")
    margin = number(element, "temperature/gpu_temp_tlimit")
    if margin is None:
        # Before Ada there is no margin to T.Limit: the distance to the slowdown threshold stands for it.
        margin = _less(number(element, "temperature/gpu_temp_slow_threshold"), core)
    memory = number(element, "temperature/memory_temp")
    reasons = (
        "clocks_event_reasons/clocks_event_reason_hw_thermal_slowdown",
        "clocks_throttle_reasons/clocks_throttle_reason_hw_thermal_slowdown",
    )
    told = [value for value in (words(element, path) for path in reasons) if value in {"Active", "Not Active"}]
    return Thermals(
        core_celsius=core,
        margin_celsius=margin,
        memory_margin_celsius=_less(number(element, "temperature/gpu_temp_max_mem_threshold"), memory),
        slowed="Active" in told if told else None,
    )


def _less(limit: float | None, value: float | None) -> float | None:
    return None if limit is None or value is None else limit - value
