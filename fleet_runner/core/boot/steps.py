"""The steps of a boot: each is taken once, and what a boot is after it."""

from dataclasses import replace
from typing import Any

from fleet_runner.core.boot.boots import Boot, Claim, Leased, Milestone, PhonedHome, Proved, Reached

Step = Reached | Leased | Proved | Claim | PhonedHome
"""What is told of one boot and happens to it once."""


LEASE = "lease "
"""How the kind of a further lease begins; its address follows, as each of them is told once."""


def kind(step: Step) -> str:
    """Return what a step is called in the lines of what happened (BootEvent)."""
    match step:
        case Reached():
            return step.milestone.value
        case Leased():
            return f"{LEASE}{step.source}"
        case PhonedHome():
            return Milestone.PHONE_HOME.value
        case Claim():
            return "claimed"
        case Proved():  # pragma: no branch  the union ends here
            return "proved"


def after(boot: Boot, step: Step) -> Boot:
    """Return a boot after a step that it had not taken."""
    match step:
        case Reached():
            leased = boot.leased | {step.source} if step.milestone is Milestone.DHCP else boot.leased
            return _at(boot, step.milestone, step, leased=leased)
        case Leased():
            return replace(boot, leased=boot.leased | {step.source})
        case PhonedHome():
            return _at(boot, Milestone.PHONE_HOME, step, host_keys=step.host_keys)
        case Claim():
            return replace(boot, claimed_at=step.at, claimed_by=step.source)
        case Proved():  # pragma: no branch  the union ends here
            return replace(boot, proved_by=step.source)


def _at(boot: Boot, milestone: Milestone, step: Reached | PhonedHome, **more: Any) -> Boot:
    reached, sources = {**boot.reached, milestone: step.at}, {**boot.sources, milestone: step.source}
    return replace(boot, reached=reached, sources=sources, **more)  # once: it takes longer than all else here
