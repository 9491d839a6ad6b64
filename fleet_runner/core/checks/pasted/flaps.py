"""Losses of carrier in a log that nobody watched: what took several links down is no cable's."""

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fleet_runner.core.cabling.quality import DAY, DAY_FLAPS, HOUR, HOUR_FLAPS
from fleet_runner.core.checks.catalogue.link_flaps import BOOT_SECONDS, Lost, finding, flaps
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.pasted.moments import SINCE_BOOT
from fleet_runner.core.checks.verdicts import Finding

TOGETHER = 10.0
"""Seconds within which links that go down are taken down by one cause."""

SHUTDOWN = 120.0
"""Seconds before a boot in which a node takes its own links down."""

MOST = 2_000
"""Losses of a node that are kept, the newest."""


class CarrierLoss(NamedTuple):
    """A loss at a time that can be read, and where its line is kept."""

    at: float
    interface: str


class Flapping(NamedTuple):
    """An interface that flaps by itself."""

    interface: str
    finding: Finding


class Losses:
    """The losses of one node, as its log is read."""

    def __init__(self) -> None:
        """Begin with none."""
        self._seen: deque[CarrierLoss] = deque(maxlen=MOST)
        self._boots: deque[float] = deque(maxlen=MOST)
        self._undated: dict[str, int] = defaultdict(int)

    def boot(self, at: float | None) -> None:
        """Note that the node booted."""
        if at is not None:
            self._boots.append(at)

    def lost(self, interface: str, at: float | None) -> None:
        """Note a loss."""
        if at is None:
            self._undated[interface] += 1
        else:
            self._seen.append(CarrierLoss(at, interface))

    def told(self, node: str) -> tuple[tuple[Flapping, ...], tuple[str, ...]]:
        """Return the interfaces that flap, and in sentences what cannot be told of others."""
        kept = [loss for loss in sorted(self._seen) if not self._booting(loss.at)]
        alone = [loss for loss in kept if not _in_company(loss, kept)]
        found = tuple(_flapping(alone, node))
        named = {each.interface for each in found}
        shared = sorted({each.interface for each in _flapping(kept, node)} - named)
        cause = "a switch, a driver or a person did that, no cable; look what happened then"
        told = f"{', '.join(shared)} lost carrier at the same moments as other links of {node}: {cause}"
        unsure = [told] if shared else []
        unsure += [
            f"{name} lost its carrier {count} times at unreadable times; dmesg -T or journalctl -k shows when"
            for name, count in sorted(self._undated.items())
            if count >= HOUR_FLAPS
        ]
        return found, tuple(unsure)

    def _booting(self, at: float) -> bool:
        if at < SINCE_BOOT:
            return at < BOOT_SECONDS
        return any(boot - SHUTDOWN <= at <= boot + BOOT_SECONDS for boot in self._boots)


def _in_company(loss: CarrierLoss, kept: Sequence[CarrierLoss]) -> bool:
    return any(abs(each.at - loss.at) <= TOGETHER and each.interface != loss.interface for each in kept)


def _flapping(losses: Sequence[CarrierLoss], node: str) -> Iterator[Flapping]:
    by_name: dict[str, list[float]] = defaultdict(list)
    for loss in losses:
        by_name[loss.interface].append(loss.at)
    for name, times in sorted(by_name.items()):
        lost = Lost(_most(times, HOUR), _most(times, DAY))
        if flaps(lost):
            yield Flapping(name, _finding(name, lost, node))


def _most(times: Sequence[float], span: float) -> int:
    """Return how many of the times, which are in order, lie within one span at most."""
    begin = most = 0
    for end, at in enumerate(times):
        while at - times[begin] > span:
            begin += 1
        most = max(most, end - begin + 1)
    return most


def _finding(name: str, lost: Lost, node: str) -> Finding:
    told = finding(Expected(node), name, lost)
    return Finding(
        told.code, told.component,
        f"{name} lost its carrier {lost.hour} times within an hour and {lost.day} times within a day, expected fewer"
        f" than {HOUR_FLAPS} and {DAY_FLAPS}, boots left out",
        told.remedy, told.fault, told.nodes, told.steps,
    )  # fmt: skip
