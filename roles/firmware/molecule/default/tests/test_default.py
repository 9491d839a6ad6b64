"""What the role left behind: a BMC with the firmware that its catalogue pins, sent once."""

from fleet_runner.adapters.store import Store
from tests.scenario import found


def test_the_bmc_runs_what_is_pinned() -> None:
    """Without the role it would run what it came with."""
    assert found.shown("/redfish/v1/UpdateService/FirmwareInventory/BMC")["Version"] == "1.05.03"
    assert found.verdicts() == {"firmware_update": found.PASS}


def test_it_was_sent_once_and_is_in_the_store() -> None:
    """The second run found it done."""
    assert len(found.events("accepted")) == 1
    with Store.open(f"sqlite:///{found.FOLDER}/state/fleet.db") as store:
        assert len(store.flashes("gpu-01")) == 1


def test_nothing_else_was_done_to_the_node() -> None:
    """Firmware of the BMC needs no reset of the node."""
    assert found.events("power", "host_reset", "bios_set") == []
