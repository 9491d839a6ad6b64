"""What the role left behind: nothing on the node, and in the spool that its parts are the designed ones."""

from tests.scenario import found

CHECKS = ("parts_gpu", "parts_hca", "parts_cpu", "parts_dimm")


def test_parts_were_held_against_the_bill_of_materials() -> None:
    """Each by its serial number, where the source of truth has it."""
    assert found.verdicts() == dict.fromkeys(CHECKS, found.PASS)


def test_each_tool_was_asked_once_a_run() -> None:
    """Whatever number of checks needs it."""
    calls = ["dmesg --time-format iso", "ibstat", "ibstat -l", "nvidia-smi -q -x", "lscpu -J"]
    calls.append("dmidecode -t 16,17,127")
    assert found.asked() == sorted(calls * found.RUNS)
