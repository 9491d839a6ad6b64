"""What the role left behind: nothing at the BMC, and in the spool that what it looks after is well."""

from tests.scenario import found

CHECKS = ("power_supplies", "power_redundancy", "sensors", "sel", "chassis_health")


def test_power_sensors_logs_and_parts_were_held_against_the_design() -> None:
    """Without their BMC they would be UNKNOWN."""
    assert found.verdicts() == dict.fromkeys(CHECKS, found.PASS)


def test_the_bmc_was_only_read() -> None:
    """Nothing was switched and nothing sent."""
    assert found.events() == []
