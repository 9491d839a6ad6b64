"""What nvidia-smi's XML says of the power of a GPU, and of the module that it shares with a CPU."""

import xml.etree.ElementTree as ET
from dataclasses import dataclass

from fleet_runner.core.checks.parsers.smi_fields import figure


@dataclass(frozen=True, slots=True)
class Power:
    """Watts; None where the tool gives no value. `limit` is the one in force, `default` the GPU's own."""

    draw_watts: float | None
    limit_watts: float | None
    default_watts: float | None
    module_draw_watts: float | None
    module_limit_watts: float | None


def read(element: ET.Element) -> Power:
    """Read a GPU's power by its names before and since R535; what is no number is not told."""
    gpu, module = "gpu_power_readings/", "module_power_readings/"
    draws = ("power_draw", "average_power_draw", "instant_power_draw")
    return Power(
        draw_watts=figure(element, *(gpu + name for name in draws), "power_readings/power_draw"),
        limit_watts=figure(
            element, gpu + "current_power_limit", "power_readings/enforced_power_limit", "power_readings/power_limit"
        ),
        default_watts=figure(element, gpu + "default_power_limit", "power_readings/default_power_limit"),
        module_draw_watts=figure(element, *(module + name for name in draws)),
        module_limit_watts=figure(element, module + "current_power_limit"),
    )
