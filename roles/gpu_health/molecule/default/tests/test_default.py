"""What the role left behind: nothing on the node, and one PASS per check and run in the spool."""

from tests.scenario import found

FROM_ITS_TOOL = (
    "gpu_errors",
    "gpu_thermals",
    "gpu_pcie",
    "gpu_clocks",
    "gpu_power",
    "gpu_settings",
    "gpu_retired",
    "gpu_memory_held",
    "gpu_fabric",
)


def test_every_check_passed_in_every_run() -> None:
    """A check that could not read its tool would be UNKNOWN; those that the profile does not ask for are skipped."""
    assert found.verdicts() == dict.fromkeys((*FROM_ITS_TOOL, "xid"), found.PASS)


def test_the_tools_of_the_node_were_read_and_no_more() -> None:
    """Once a run, whatever number of checks needs it."""
    assert found.asked() == sorted(["dmesg --time-format iso", "nvidia-smi -q -x"] * found.RUNS)
