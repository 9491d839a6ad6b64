"""Other names of devices in what a fabric says."""

import pytest

from fleet_runner.core.cabling.aliases import called
from fleet_runner.core.checks.parsers.discovery import FabricLink, FabricPort

DEVICES = {"S1234": "gpu-01", "sw 7": "leaf-1", "gpu-01": "gpu-02"}


@pytest.mark.parametrize(
    ("said", "called_now"),
    [
        ("S1234 mlx5_0", "gpu-01 mlx5_0"),
        ("S1234", "gpu-01"),
        ("sw 7", "leaf-1"),
        ("MF0;sw 7:MQM9700/U1", "MF0;leaf-1:MQM9700/U1"),
        ("MF0;S12345:MQM9700/U1", "MF0;S12345:MQM9700/U1"),
        ("gpu-01 mlx5_0", "gpu-02 mlx5_0"),
        ("S12345 mlx5_0", "S12345 mlx5_0"),
        ("", ""),
    ],
)
def test_a_device_is_called_as_the_design_calls_it(said: str, called_now: str) -> None:
    """Whatever follows its name; a longer name is another device."""
    end = FabricPort(said, 1, "CA", "1" * 16)
    other = FabricPort("spine-1", 2, "SW", "2" * 16)
    (found,) = called([FabricLink(end, other, 4, "NDR")], DEVICES)
    assert found == FabricLink(end._replace(name=called_now), other, 4, "NDR")


def test_without_other_names_nothing_is_touched() -> None:
    links = [FabricLink(FabricPort("a", 1, "CA", ""), FabricPort("b", 1, "SW", ""), 4, "NDR")]
    assert called(links, {}) is links
