"""A flash in a few words."""

from fleet_runner.core.firmware.flash import Phase
from fleet_runner.core.firmware.flash_text import short, since, what
from tests.core.firmware.bmc_model import a_flash


def test_a_flash_says_what_it_brings_and_since_when() -> None:
    flash = a_flash(id=12, component="BIOS", before={"BIOS": "2.0"}, targets={"BIOS": "2.1"}, phase=Phase.SENT)
    begun = since(flash)
    assert short(flash, begun + 200.0) == "flash 12, BIOS 2.0 → 2.1, is sent since 3 min"


def test_several_entries_are_counted() -> None:
    flash = a_flash(component="PSU", before={"PSU1": "1", "PSU2": "1"}, targets={"PSU1": "2", "PSU2": "2"})
    assert what(flash) == "PSU (2 entries) 1 → 2"


def test_a_phase_without_a_moment_began_when_the_flash_was_intended() -> None:
    flash = a_flash(phase=Phase.UPDATED, updated_at=None)
    assert since(flash) == flash.intended_at
