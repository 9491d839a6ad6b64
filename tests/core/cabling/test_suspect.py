"""When so much is wrong at once that no fault is believed."""

import pytest

from fleet_runner.core.cabling.judge import hold
from fleet_runner.core.cabling.links import Port, link
from fleet_runner.core.cabling.names import Bound
from fleet_runner.core.cabling.suspect import FEWEST, Tally, doubt_of_all, limit
from tests.core.cabling.fabrics import rails
from tests.core.cabling.plugging import NOWHERE, judged


@pytest.mark.parametrize(
    ("faults", "designed", "share", "suspect"),
    [(10, 100, 0.005, False), (11, 100, 0.005, True), (50, 10_000, 0.005, False), (51, 10_000, 0.005, True)],
)
def test_more_faults_than_the_share_or_ten_are_suspect(
    faults: int, designed: int, share: float, suspect: bool
) -> None:
    said = doubt_of_all(Tally(designed, designed, absent=0, unknown=0, faults=faults), share)
    assert bool(said) == suspect
    assert not suspect or said.startswith(f"{faults} faults at once in {designed} designed links, expected ")


def test_more_unknown_links_than_known_ones_are_suspect() -> None:
    assert doubt_of_all(Tally(5, 5, absent=0, unknown=5, faults=0)) == ""
    assert doubt_of_all(Tally(5, 5, absent=0, unknown=6, faults=0)).startswith("6 links that are seen are not in")


def test_more_absent_links_than_there_are_is_suspect() -> None:
    """Half of a capture is few dark devices, and one turn of everything is one rotation."""
    assert doubt_of_all(Tally(40, 20, absent=20, unknown=0, faults=1)) == ""
    assert doubt_of_all(Tally(40, 19, absent=21, unknown=0, faults=1)).startswith(
        "21 of 40 designed links are not in"
    )
    assert doubt_of_all(Tally(12, 2, absent=10, unknown=0, faults=1)) == ""


def test_the_limit_grows_with_the_fabric() -> None:
    assert (limit(100), limit(100_000), limit(100, 0.5)) == (FEWEST, 500, 50)


def test_a_capture_of_another_site_is_suspect() -> None:
    """Every name is another's."""
    design = rails(6, 4)
    plugged = [link(*(Port(f"{device}-b", interface) for device, interface in each)) for each in design]
    verdicts = judged(design, (design[0], *plugged))
    assert verdicts.suspect.startswith(f"{len(design)} links that are seen are not in the design, 1 are;")


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
