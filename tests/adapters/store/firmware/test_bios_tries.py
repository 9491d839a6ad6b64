"""BIOS settings that a BMC took: known again after a crash, by whoever holds the node's lease."""

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.firmware.bios_steps import Try
from tests.adapters.store.flashing import DRIVER, leased

TRY = Try({"SRIOVEnable": "Enabled", "MaxPayload": 512, "QuietBoot": False}, 100.0, 1, 100.5)


def test_the_newest_try_of_a_stay_is_known_again_and_told(stocked: Store) -> None:
    leased(stocked)
    assert stocked.bios_try("gpu-01", 0.0) is None
    stocked.note_bios("gpu-01", TRY, (DRIVER, "jane"), now=110.0)
    assert stocked.bios_try("gpu-01", 100.0) == TRY
    assert stocked.bios_try("gpu-01", 100.1) is None  # of an earlier stay
    assert stocked.bios_try("gpu-02", 0.0) is None
    later = Try({"MaxPayload": 256}, 120.0, 2, 120.0)
    stocked.note_bios("gpu-01", later, (DRIVER, "jane"), now=120.0)
    assert stocked.bios_try("gpu-01", 0.0) == later
    assert [(entry.kind, entry.by) for entry in stocked.history("gpu-01")] == [("firmware", "jane")] * 2
    assert [
        entry.sentence.removeprefix("BIOS settings wait for a reset ") for entry in stocked.history("gpu-01")
    ] == [
        "of the host, number 1: SRIOVEnable 'Enabled', MaxPayload 512, QuietBoot False.",
        "of the host, number 2: MaxPayload 256.",
    ]


def test_a_try_is_written_by_the_holder_of_the_lease_alone(stocked: Store) -> None:
    leased(stocked, holder="another")
    with pytest.raises(ConflictError, match="does not hold the lease"):
        stocked.note_bios("gpu-01", TRY, (DRIVER, "jane"), now=110.0)
    assert stocked.bios_try("gpu-01", 0.0) is None
