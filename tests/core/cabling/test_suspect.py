"""When so much is wrong at once that no fault is believed."""

from random import Random

import pytest

from fleet_runner.core.cabling.binding import Bound
from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.judge import hold, judge
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.names import names
from fleet_runner.core.cabling.suspect import FEWEST, FEWEST_TOUCHES, Counts, doubt_of_all, limit, touches_limit
from tests.core.cabling.fabrics import rails
from tests.core.cabling.plugging import NOWHERE, at, judged, seen, without


@pytest.mark.parametrize(
    ("faults", "designed", "share", "suspect"),
    [(10, 100, 0.005, False), (11, 100, 0.005, True), (50, 10_000, 0.005, False), (51, 10_000, 0.005, True)],
)
def test_more_faults_than_the_share_or_ten_are_suspect(
    faults: int, designed: int, share: float, suspect: bool
) -> None:
    said = doubt_of_all(Counts(designed, designed, absent=0, unknown=0, faults=faults), share)
    assert bool(said) == suspect
    assert not suspect or said.startswith(f"{faults} faults at once in {designed} designed links, expected ")


def test_more_unknown_links_than_known_ones_are_suspect() -> None:
    assert doubt_of_all(Counts(5, 5, absent=0, unknown=5, faults=0)) == ""
    assert doubt_of_all(Counts(5, 5, absent=0, unknown=6, faults=0)).startswith("6 observed links are not in")


def test_more_absent_links_than_there_are_is_suspect() -> None:
    """Half of a capture is few dark devices, and one turn of everything is one rotation."""
    assert doubt_of_all(Counts(40, 20, absent=20, unknown=0, faults=1)) == ""
    assert doubt_of_all(Counts(40, 19, absent=21, unknown=0, faults=1)).startswith(
        "21 of 40 designed links are not in"
    )
    assert doubt_of_all(Counts(12, 2, absent=10, unknown=0, faults=1)) == ""


def test_the_limit_grows_with_the_fabric() -> None:
    assert (limit(100), limit(100_000), limit(100, 0.5)) == (FEWEST, 500, 50)


def test_a_capture_of_another_site_is_suspect() -> None:
    """Every name is another's."""
    design = rails(6, 4)
    plugged = [link(*(Port(f"{device}-b", interface) for device, interface in each)) for each in design]
    verdicts = judged(design, (design[0], *plugged))
    assert (verdicts.faults, verdicts.misnamed) == ((), True)
    assert verdicts.suspect.startswith(f"1 of {len(design)} designed links could be matched; the likely reason is")


def test_many_faults_are_all_told_and_none_believed_unless_a_larger_share_may_be_wrong() -> None:
    design = rails(12, 8)
    gone = {
        link(Port(f"gpu-{gpu:02d}", f"ib{gpu % 8}"), Port(f"leaf-{gpu % 8 + 1}", str(gpu))) for gpu in range(1, 13)
    }
    plugged = Bound(dict.fromkeys((each for each in design if each not in gone), ""))
    verdicts = hold(design, plugged, NOWHERE)
    assert len(verdicts.faults) == 12
    assert verdicts.suspect.startswith("12 faults at once in 112 designed links, expected 10 at most:")
    assert hold(design, plugged, NOWHERE, share=0.5).suspect == ""


def clos(servers: int, rails: int = 8, spines: int = 8) -> tuple[Link, ...]:
    """Servers joined to a leaf per rail, and each leaf to each spine, with room for servers that nobody designed."""
    down = [
        link(Port(f"gpu-{server:02d}", f"ib{rail}"), Port(f"leaf-{rail}", str(server)))
        for server in range(1, servers + 1)
        for rail in range(rails)
    ]
    up = [
        link(Port(f"leaf-{rail}", str(100 + spine)), Port(f"spine-{spine}", str(rail)))
        for rail in range(rails)
        for spine in range(spines)
    ]
    return (*down, *up)


def rotated(links: tuple[Link, ...], count: int) -> tuple[Link, ...]:
    """Return what is plugged where each of the first cables took the next one's port."""
    turned = links[:count]
    return (*links[count:], *(link(each.a, turned[index - 1].b) for index, each in enumerate(turned)))


def test_shuffled_cables_are_suspect_however_few_faults_they_are() -> None:
    """As if the cables had been plugged in by another list: a handful of rotations of hundreds of cables each."""
    down, up = clos(64)[:512], clos(64, spines=64)[512:]
    shuffled = [each.b for each in down]
    Random(1).shuffle(shuffled)
    verdicts = judged((*down, *up), (*(link(each.a, far) for each, far in zip(down, shuffled, strict=True)), *up))
    assert len(verdicts.faults) <= FEWEST
    assert verdicts.suspect.startswith(
        f"{len(verdicts.absent)} plugs to move in 1024 designed links, expected 102 at"
    )


@pytest.mark.parametrize(("count", "suspect"), [(FEWEST_TOUCHES, False), (FEWEST_TOUCHES + 1, True)])
def test_a_bundle_that_was_plugged_in_turned_is_believed(count: int, suspect: bool) -> None:
    """One leaf's, and no more."""
    design = clos(24)
    verdicts = judged(design, rotated(design, count))
    assert [fault.touches for fault in verdicts.faults] == [count]
    assert bool(verdicts.suspect) == suspect


def test_the_limit_of_touches_grows_with_the_fabric_and_with_the_faults_that_may_be() -> None:
    assert (touches_limit(100), touches_limit(10_000), touches_limit(1000, 0.5)) == (FEWEST_TOUCHES, 1000, 500)


def test_what_is_down_or_stands_elsewhere_as_a_whole_takes_no_touches() -> None:
    """Ten dark servers of eight rails, and ten that the design does not know."""
    design = clos(30)
    dark = [f"gpu-{number:02d}" for number in range(1, 11)]
    assert judged(design, without(design, *dark)).suspect == ""
    named = {
        link(Port(f"{port.device}-x", port.interface), far) for device in dark for port, far in at(design, device)
    }
    servers = frozenset(f"gpu-{number:02d}" for number in range(1, 31))
    known = names([port for joined in design for port in joined], {}, {}, design)
    plugged = seen((*without(design, *dark), *named), {}, {})
    verdicts = judge(design, plugged, known, Places({}, {}, servers))
    assert sum(fault.touches for fault in verdicts.faults) == 80
    assert verdicts.suspect == ""
