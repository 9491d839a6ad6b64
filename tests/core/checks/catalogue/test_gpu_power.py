"""What GPUs may draw, as nvidia-smi tells."""

from typing import Any

import pytest

from fleet_runner.core.checks.verdicts import Remedy, Verdict
from tests.core.checks.catalogue.judging import remedies
from tests.core.checks.catalogue.looking import GPU, asked, seen

POWER = "<current_power_limit>700.00 W"


@pytest.mark.parametrize(
    ("swaps", "values", "found"),
    [
        ([(POWER, "<current_power_limit>500.00 W")], {}, {"gpu.power_limit": Remedy.REBOOT}),
        ([(POWER, "<current_power_limit>500.00 W")], {"limit_watts": None}, {"gpu.power_limit": Remedy.REBOOT}),
        ([(POWER, "<current_power_limit>500.00 W")], {"limit_watts": 500}, {}),
        ([], {"limit_watts": 750}, {"gpu.power_limit": Remedy.REBOOT, "gpu.power_default": Remedy.TRIAGE}),
        ([("<default_power_limit>700.00 W", "<default_power_limit>N/A")], {"limit_watts": None}, {}),
        (
            [("<current_power_limit>N/A", "<current_power_limit>2500.00 W")],
            {"module_watts": 2900},
            {"gpu.module_limit": Remedy.REBOOT},
        ),
        ([("<current_power_limit>N/A", "<current_power_limit>2900.00 W")], {"module_watts": 2900}, {}),
        (
            [("gpu_power_readings", "power_readings"), ("average_power", "power"), ("current_power", "power")],
            {},
            {},
        ),
    ],
)
def test_a_gpu_may_draw_what_the_profile_says_or_what_it_was_made_for(
    swaps: list[tuple[str, str]], values: dict[str, Any], found: dict[str, Remedy]
) -> None:
    """By the names of new drivers and of old ones."""
    result = seen("gpu_power", *swaps, expected=asked("gpu_power", **values))
    assert remedies(result) == found
    assert result.verdict is (Verdict.FAIL if found else Verdict.PASS)


def test_a_power_that_cannot_be_read_is_unknown() -> None:
    """A sensor that fails is no limit that was lowered."""
    swaps = ((POWER, "<current_power_limit>ERR!"), ("<average_power_draw>68.57 W", "<average_power_draw>[N/A]"))
    result = seen("gpu_power", *swaps, expected=asked("gpu_power", module_watts=1))
    assert result.verdict is Verdict.UNKNOWN
    assert result.message == f"{GPU} does not report its power limit, power draw, module's power limit"
