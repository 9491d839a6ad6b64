"""Which part is behind NVLinks that are down."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.nvlink.lost_links import Lost, Part, lost
from fleet_runner.core.nvlink.switch_trays import COMMON, explained

EVERY = frozenset(range(18))
NONE: frozenset[int] = frozenset()
TRAYS = [f"tray-{number}" for number in range(1, 19)]
LINKS = st.frozensets(st.integers(0, 17), max_size=3)


def down(**changed: tuple[frozenset[int], ...]) -> dict[str, tuple[frozenset[int], ...]]:
    """A rack of 18 trays with four GPUs each, all links up but those that are named."""
    return dict.fromkeys(TRAYS, (NONE,) * 4) | {name.replace("_", "-"): links for name, links in changed.items()}


def both(*links: int) -> tuple[frozenset[int], ...]:
    """The same links at all four GPUs."""
    return (frozenset(links),) * 4


@given(st.dictionaries(st.sampled_from(TRAYS), st.lists(LINKS, min_size=4, max_size=4)), st.integers(1, 18))
def test_every_lost_link_is_explained_once(down: dict[str, list[frozenset[int]]], expected: int) -> None:
    """And none that is up."""
    told: dict[tuple[str, int], list[int]] = {}
    for each in lost(down, EVERY, expected):
        for tray in each.trays:
            for at, links in enumerate(each.links):
                told.setdefault((tray, at), []).extend(links)
    for tray, gpus in down.items():
        for at, links in enumerate(gpus):
            assert sorted(told.get((tray, at), [])) == sorted(links)


@given(st.lists(st.frozensets(st.integers(0, 17), min_size=2, max_size=2), min_size=4, max_size=4))
def test_a_lost_switch_tray_is_one_part_whichever_links_lead_to_it(links: list[frozenset[int]]) -> None:
    """They may differ from place to place, and are the same in every tray."""
    assert lost(dict.fromkeys(TRAYS, links), EVERY, 18) == (Lost(Part.SWITCH_TRAY, tuple(TRAYS), tuple(links)),)


@pytest.mark.parametrize(
    ("seen", "parts"),
    [
        ({}, []),
        ({"tray_7": both(4, 5)}, [Part.CONNECTOR]),
        ({"tray_7": (frozenset({4}), NONE, NONE, NONE)}, [Part.PORT]),
        ({"tray_7": both(*range(18))}, [Part.TRAY]),
        ({"tray_7": both(4, 5), "tray_8": both(4, 5)}, [Part.SWITCH_PORTS]),
        ({name.replace("-", "_"): both(*range(18)) for name in TRAYS}, [Part.DOMAIN]),
        (
            {name.replace("-", "_"): both(4, 5) for name in TRAYS}
            | {"tray_7": (frozenset({4, 5, 9}), *both(4, 5)[1:])},
            [Part.SWITCH_TRAY, Part.PORT],
        ),
    ],
)
def test_each_pattern_has_its_part(seen: dict[str, tuple[frozenset[int], ...]], parts: list[Part]) -> None:
    """A switch tray that is lost hides no fault of a single tray."""
    assert [each.part for each in lost(down(**seen), EVERY, 18)] == parts


@pytest.mark.parametrize("count", [2, 9, 17])
def test_several_trays_without_any_link_have_one_cause(count: int) -> None:
    """None of them is blamed; nor where the last one lost a switch tray only, or nothing is known of others."""
    whole = {name: both(*range(18)) for name in TRAYS[:count]}
    found = lost(down() | whole, EVERY, 18)
    assert found == (Lost(Part.TRAYS, tuple(TRAYS[:count]), both(*range(18))),)
    assert [each.part for each in lost(dict.fromkeys(TRAYS[:2], both(*range(18))), EVERY, 18)] == [Part.TRAYS]
    beside = dict.fromkeys(TRAYS, both(4, 5)) | whole
    assert [each.part for each in lost(beside, EVERY, 18)] == [Part.SWITCH_TRAY, Part.TRAYS]
    assert Part.TRAYS in COMMON
    (trouble,) = explained(found, {})
    assert (trouble.alone, trouble.devices) == (False, ())


def test_what_a_few_trays_show_is_no_lost_switch_tray() -> None:
    """Two of 18 answered: their connectors, or the ports that they share."""
    few = dict.fromkeys(TRAYS[:2], both(4, 5))
    assert [each.part for each in lost(few, EVERY, 18)] == [Part.SWITCH_PORTS]
    assert [each.part for each in lost({"tray-1": both(4, 5)}, EVERY, 1)] == [Part.CONNECTOR]


def test_a_tray_that_lost_a_gpu_is_passed_over() -> None:
    """Nobody can say which of its places is empty; nor is anything known where nobody answered."""
    seen = dict.fromkeys(TRAYS[1:], both(4, 5)) | {"tray-1": both(1)[:3]}
    (found,) = lost(seen, EVERY, 18)
    assert (found.part, len(found.trays)) == (Part.SWITCH_TRAY, 17)
    assert lost({}, EVERY, 18) == ()
