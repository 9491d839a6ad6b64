"""Whether the boot path was heard of, in words."""

import pytest

from fleet_runner.core.boot.heartbeats import signs, silence


@pytest.mark.parametrize(
    ("beats", "expected"),
    [
        ({}, ("boot service never heard, DHCP server never heard", False)),
        ({"boot": 992.0, "dhcp": 100.0}, ("boot service heard 8 s ago, DHCP server heard 15 min ago", False)),
        ({"boot": 992.0, "dhcp": 990.0}, ("boot service heard 8 s ago, DHCP server heard 10 s ago", True)),
        ({"boot": 1005.0, "dhcp": 990.0}, ("boot service heard 5 s from now, DHCP server heard 10 s ago", True)),
    ],
)
def test_it_is_said_when_each_part_was_heard(beats: dict[str, float], expected: tuple[str, bool]) -> None:
    assert signs(beats, 1000.0) == expected


@pytest.mark.parametrize(
    ("beats", "expected"),
    [
        ({"dhcp": 999.0}, "no boot service has reported yet; start it (fleet-runner boot serve)"),
        ({"boot": 949.0}, "no boot service has reported for 51 s; start it (fleet-runner boot serve)"),
        ({"boot": 951.0}, ""),
        ({"boot": 1049.0}, ""),
        ({"boot": 1060.0}, "a boot service reported 60 s from now; set both clocks"),
    ],
)
def test_it_is_said_what_to_do_where_no_boot_service_answers(beats: dict[str, float], expected: str) -> None:
    assert silence(beats, 1000.0) == expected
