"""What the role left behind: nothing on the node, and one PASS per check and run in the spool."""

from tests.scenario import found

CHECKS = ("gpu_usage", "parts_gpu", "gpu_errors", "gpu_thermals", "xid", "link_flaps")
HOST = ("kernel_log", "file_systems", "processes")


def test_every_check_for_which_the_profile_has_a_limit_passed() -> None:
    """A check that could not read its tool would be UNKNOWN."""
    assert found.verdicts() == dict.fromkeys(CHECKS + HOST, found.PASS)


def test_seven_checks_cost_three_reads() -> None:
    """In one round trip; a check of which the profile says nothing reads nothing."""
    calls = ["dmesg --time-format iso", "nvidia-smi -q -x", "uptime -s"]
    assert found.asked() == sorted(calls * found.RUNS)
