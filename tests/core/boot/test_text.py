"""A network boot in words."""

from dataclasses import replace

import pytest

from fleet_runner.core.boot.boots import Boot, Identity, Milestone
from fleet_runner.core.boot.text import words

ARMED = Boot(12, "gpu-01", None, 1_000.0, 2_800.0, Identity())
UP = replace(ARMED, reached=dict.fromkeys(Milestone, 1_010.0))

EXPIRED = ", but has expired: it gets no boot data any more"


@pytest.mark.parametrize(
    ("boot", "now", "said"),
    [
        (ARMED, 1_040.0, "boot 12, armed 40 s ago: nothing was seen of it yet; waits for dhcp"),
        (
            replace(ARMED, reached={Milestone.DHCP: 1_012.0}, refused=2),
            1_040.0,
            "boot 12, armed 40 s ago: dhcp after 12 s; 2 refused; waits for script",
        ),
        (
            ARMED,
            2_900.0,
            "boot 12, armed 32 min ago: nothing was seen of it yet; waits for dhcp" + EXPIRED,
        ),
        (
            replace(ARMED, closed_at=1_030.0, closed_because="the run ended"),
            1_040.0,
            "boot 12, armed 40 s ago: nothing was seen of it yet; closed: the run ended",
        ),
    ],
)
def test_a_boot_says_how_far_it_is(boot: Boot, now: float, said: str) -> None:
    assert words(boot, now) == said


def test_a_node_that_is_up_waits_for_nothing() -> None:
    assert words(UP, 1_100.0).endswith("ssh after 10 s; it is up")
