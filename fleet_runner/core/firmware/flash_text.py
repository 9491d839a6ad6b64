"""A flash in a few words: what it brings, and how far it is."""

from collections.abc import Mapping

from fleet_runner.core.base.durations import age
from fleet_runner.core.firmware.flash import Flash, Phase
from fleet_runner.core.firmware.progress_text import versions


def short(flash: Flash, now: float) -> str:
    """Return "flash 12, BIOS 2.0 → 2.1, is sent since 3 min"."""
    return f"flash {flash.id}, {what(flash)}, is {flash.phase} since {age(now - since(flash))}"


def what(flash: Flash) -> str:
    """Return "BIOS 2.0 → 2.1", with how many entries it changes where they are several."""
    many = f" ({len(flash.targets)} entries)" if len(flash.targets) > 1 else ""
    return f"{flash.component}{many} {versions(flash.before, flash.targets)}"


def since(flash: Flash) -> float:
    """Return when a flash came into its phase."""
    moments: Mapping[Phase, float | None] = {
        Phase.INTENDED: flash.intended_at,
        Phase.SENT: flash.sent_at,
        Phase.UPDATED: flash.updated_at,
        Phase.ACTIVATING: flash.activated_at,
    }
    return moments[flash.phase] or flash.intended_at
