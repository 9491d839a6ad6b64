"""What the role left behind: nothing but what speaks against the node."""

from tests.scenario import found


def test_a_bmc_of_another_machine_is_told_with_both_serial_numbers() -> None:
    """Each time it is asked, and it is all that is asked of the node's work."""
    assert found.verdicts() == {"machine_identity": found.FAIL}
    for each in found.results()["machine_identity"]:
        assert "its BMC says serial number LAB00000001, the source of truth LAB00000007" in each.message
        assert [finding.component for finding in each.findings] == ["BMC"]
    assert set(found.asked()) == {"nvidia-smi -q -x"}


def test_its_bmc_is_only_read() -> None:
    """It is somebody else's."""
    assert found.events("power", "host_reset", "bios_set") == []
