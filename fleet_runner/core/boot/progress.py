"""How far a network boot has come, how long its next milestone may take, and what tells whose fault a stop is."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

from fleet_runner.core.boot.boots import Boot, BootEvent, Milestone
from fleet_runner.core.lifecycle.states import MINUTE


class Awaited(NamedTuple):
    """One row of the table of milestones: what it means, the longest it may take after the one before, and why."""

    meaning: str
    seconds: float
    why: str


AWAITED: dict[Milestone, Awaited] = {
    Milestone.DHCP: Awaited("A DHCP server leased it an address.", 15 * MINUTE,
                            "A GPU server trains its memory for minutes before it looks at its network."),
    Milestone.SCRIPT: Awaited("It was given its iPXE script.", 2 * MINUTE,
                              "iPXE is some hundred kilobytes over TFTP or HTTP, and asks for an address anew."),
    Milestone.KERNEL: Awaited("It asked for its kernel.", 1 * MINUTE,
                              "The script's next line."),
    Milestone.CLOUD_INIT: Awaited("Its cloud-init asked for its seed.", 8 * MINUTE,
                                  "The image comes over the network, is unpacked and starts."),
    Milestone.PHONE_HOME: Awaited("Its cloud-init reported that it is done.", 8 * MINUTE,
                                  "Includes the time for what the node sets up."),
    Milestone.SSH: Awaited("It answers ssh.", 2 * MINUTE,
                           "cloud-init is done, so sshd has started."),
}  # fmt: skip
"""Together they take less than the deadline of the stage; a role can give others (`network_boot_limits`)."""

LIMITS: Mapping[Milestone, float] = MappingProxyType({milestone: row.seconds for milestone, row in AWAITED.items()})

ORDER = tuple(Milestone)

HEARD_SECONDS = MappingProxyType({"boot": 50.0, "dhcp": 900.0})
"""For how long a part of the boot path counts as alive after it was heard. A boot service says so three times a
minute, and its silence must show within the shortest limit of a milestone; a DHCP server is heard when it leases,
and a timer beside it says every five minutes that it runs."""

STARTED = "boot-started"
"""What is heard of a boot service that begins to serve, or goes on after it could not for a while."""

LATELY = 3600.0
"""Seconds within which another node that came past a milestone shows that the boot path is well."""

RESET_SKEW = 2.0
"""Seconds by which a BMC that counts whole ones may put a reset before the arming that it came after."""

MANY = 2
"""Other nodes that wait at the same milestone as long: it is not each of them by itself."""


@dataclass(frozen=True, slots=True)
class Progress:
    """What is known about one boot at a moment: all that its verdict is drawn from.

    `now` is by the clock that its furthest milestone was told by, or that it was armed by where it came to none: so
    many seconds after that as it has waited. `refused` are refusals since it was armed; `beats` when each part of
    the boot path was last heard. `stuck` are other nodes that wait at the same place, `passed` one that came past it
    lately, and `again` is whether the node's boot before this one stopped there too. `power` is what the BMC says,
    `ssh` why the last try to reach the node failed; both empty where nobody asked.
    """

    boot: Boot
    now: float
    limits: Mapping[Milestone, float] = field(default_factory=lambda: LIMITS)
    refused: tuple[BootEvent, ...] = ()
    beats: Mapping[str, float] = field(default_factory=dict[str, float])
    stuck: tuple[str, ...] = ()
    passed: str = ""
    again: bool = False
    power: str = ""
    ssh: str = ""


def last(boot: Boot) -> Milestone | None:
    """Return the furthest milestone of a boot; None where it was only armed."""
    return max(boot.reached, key=ORDER.index, default=None)


def missing(boot: Boot) -> Milestone | None:
    """Return the milestone that comes next; None after the last."""
    came = last(boot)
    following = ORDER[0 if came is None else ORDER.index(came) + 1 :]
    return following[0] if following else None


def since(boot: Boot) -> float:
    """Return when it came to its furthest milestone, or was armed."""
    came = last(boot)
    return boot.armed_at if came is None else boot.reached[came]


def allowed(progress: Progress) -> float:
    """Return how many seconds the next milestone may take; where no DHCP server tells of leases, the next two."""
    following = missing(progress.boot)
    if following is None:
        return math.inf
    untold = following is Milestone.DHCP and not leases_told(progress)
    return progress.limits[following] + (progress.limits[Milestone.SCRIPT] if untold else 0.0)


def overdue(progress: Progress) -> bool:
    """Whether the next milestone has had its time."""
    return progress.now - since(progress.boot) >= allowed(progress)


def heard(progress: Progress, who: str) -> bool:
    """Whether a part of the boot path ("boot", "dhcp") was heard lately; what is to come was not heard."""
    return abs(progress.now - progress.beats.get(who, 0.0)) < HEARD_SECONDS[who]


def leases_told(progress: Progress) -> bool:
    """Whether a DHCP server is known to have been there for this boot, so that its lease would have been told."""
    return heard(progress, "dhcp") and progress.beats["dhcp"] >= progress.boot.armed_at


def under_way(progress: Progress) -> bool:
    """Whether a boot may still come to its end by itself: it is open, has its data or may have it, and is in time."""
    boot = progress.boot
    return boot.closed_at is None and not _expired(boot, progress.now) and not overdue(progress)


def stands(progress: Progress, reset: float | None) -> bool:
    """Whether a node needs no other boot: it has come up by this one, or is on its way.

    `reset` (epoch seconds) is when its BMC last reset it, where that is known. A boot that was armed and never
    brought the node to life, because the play ended in between, does not count.
    """
    boot = progress.boot
    if Milestone.PHONE_HOME in boot.reached:
        return True
    alive = bool(boot.reached) or (reset is not None and reset >= boot.armed_at - RESET_SKEW)
    return alive and under_way(progress)


def beside(
    progress: Progress, others: Sequence[Boot], events: Iterable[BootEvent], before: Boot | None = None
) -> Progress:
    """Return a progress with what other boots say about the place where its boot waits.

    `others` are open boots of any node, `events` lines of any node; those of the boot's own node say nothing.
    `before` is the boot that its node made before this one.
    """
    boot = progress.boot
    following = missing(boot)
    if following is None:
        return progress
    further = ORDER[ORDER.index(following) :]
    lately = progress.now - LATELY
    elsewhere = [each for each in others if each.node != boot.node]
    past = [event.node for event in events if event.kind in further and event.at > lately and event.node != boot.node]
    past += [each.node for each in elsewhere if any(each.reached.get(step, 0.0) > lately for step in further)]
    longest = progress.now - progress.limits[following] / 2
    waiting = [
        each.node
        for each in elsewhere
        if missing(each) is following and lately < since(each) <= longest and not _expired(each, progress.now)
    ]
    again = before is not None and missing(before) is following
    return replace(progress, stuck=tuple(sorted(waiting)), passed=past[-1] if past else "", again=again)


def timeline(boot: Boot) -> str:
    """Return how far a boot came and when: "dhcp after 12 s, script after 14 s"; empty where nothing was seen."""
    came = [f"{step} after {boot.reached[step] - boot.armed_at:.0f} s" for step in ORDER if step in boot.reached]
    return ", ".join(came)


def _expired(boot: Boot, now: float) -> bool:
    return boot.claimed_at is None and now >= boot.expires_at
