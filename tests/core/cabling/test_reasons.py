"""Why a plan is the one to follow, in sentences that hold for every fault."""

import pytest
from hypothesis import given, settings

from fleet_runner.core.cabling.binding import Bound
from fleet_runner.core.cabling.explain import Fault, Kind
from fleet_runner.core.cabling.judge import hold
from fleet_runner.core.cabling.kinds import KINDS, ordered, said, table
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.plan import Add, Record, Reseat, Restore
from fleet_runner.core.cabling.reasons import done_when, why
from tests.core.cabling.fabrics import Story, places, rails, stories
from tests.examples import examples

E = rails(4, 2)
HERE = places(E)
A, B = E[0], E[2]


def fault_of(*links: Link) -> Fault:
    (fault,) = hold(E, Bound(dict.fromkeys(links, "4x NDR")), HERE).faults
    return fault


def without(*gone: Link) -> list[Link]:
    return [each for each in E if each not in gone]


@settings(max_examples=examples(60), deadline=None)
@given(stories())
def test_every_fault_says_why_and_what_proves_it_gone(story: Story) -> None:
    """No plan takes more touches than it says that any must."""
    here = places(story.designed)
    for fault in hold(story.designed, Bound(dict.fromkeys(story.observed, "4x NDR")), here).faults:
        sentences = why(fault, here)
        assert sentences[0] == KINDS[fault.kind].told_by
        assert all(sentence.endswith(".") for sentence in (*sentences, done_when(fault)))
        for each in {*fault.expected, *fault.observed}:
            assert f"{each.a} to {each.b}" in done_when(fault) or "more" in done_when(fault)


def test_two_swapped_cables_could_be_exchanged_at_either_end() -> None:
    fault = fault_of(*without(A, B), link(A.a, B.b), link(B.a, A.b))
    _, counted, choice = why(fault, HERE)
    assert counted == (
        "2 designed links against 2 plugged ones: no plan takes fewer than 2 touches, this one takes 2."
    )
    assert choice == "1 other plan takes as few; this one stays in 1 rack and at 1 device, at the switches."
    assert done_when(fault) == (
        "Done when a sweep sees gpu-01 ib0 to leaf-1 1, gpu-02 ib0 to leaf-1 2 and no longer sees "
        "gpu-01 ib0 to leaf-1 2, gpu-02 ib0 to leaf-1 1."
    )


def test_two_rails_of_a_server_are_exchanged_where_the_fewest_racks_are() -> None:
    fault = fault_of(*without(A, E[1]), link(A.a, E[1].b), link(E[1].a, A.b))
    assert why(fault, HERE)[2].endswith("this one stays in 1 rack and at 1 device, with the fewest servers touched.")


def test_a_missing_cable_has_one_plan() -> None:
    fault = fault_of(*without(A))
    assert why(fault, HERE)[1:] == (
        "1 designed link against 0 plugged ones: no plan takes fewer than 1 touch, this one takes 1.",
        "There is no other plan with as few.",
    )


@pytest.mark.parametrize(
    ("kind", "action", "done"),
    [
        (
            Kind.DEGRADED,
            Reseat(A, "1x NDR"),
            "Done when a sweep sees gpu-01 ib0 to leaf-1 1 at its expected rate.",
        ),
        (
            Kind.REPLACED_HCA,
            Record("gpu-01", "ib0", "", "1"),
            "Done when the source of truth has the GUID that is seen.",
        ),
        (
            Kind.EXCHANGED,
            Record("gpu-01", "", "", "1"),
            "Done when a sweep sees each device under its own name.",
        ),
        (Kind.DARK, Restore("gpu-01", (A,)), "Done when a sweep sees gpu-01 ib0 to leaf-1 1."),
    ],
)
def test_what_no_cable_is_moved_for_has_no_count_of_touches(
    kind: Kind, action: Reseat | Record | Restore, done: str
) -> None:
    observed = () if kind is Kind.DARK else (A,)
    fault = Fault(kind, "k", "m", (), (action,), tuple(A), (A,), observed)
    assert why(fault, HERE) == (KINDS[kind].told_by,)
    assert done_when(fault) == done


def test_a_sentence_names_some_of_many_links() -> None:
    many = tuple(link(Port("leaf-1", f"{number}"), Port("spine-1", f"{number}")) for number in range(20))
    fault = Fault(Kind.CARRIER, "k", "m", (), tuple(map(Add, many)), (), many, ())
    assert done_when(fault).endswith(" and 12 more.")


def test_whole_devices_come_before_single_cables() -> None:
    """Among themselves by their keys, so that a list stays as it is."""
    kinds = (Kind.SWAP, Kind.DARK, Kind.MISSING, Kind.EXCHANGED, Kind.DARK)
    faults = [Fault(kind, f"{9 - key}", "m", (), (), ()) for key, kind in enumerate(kinds)]
    assert [fault.key for fault in ordered(faults)] == ["6", "5", "8", "7", "9"]


def test_every_kind_has_its_words() -> None:
    """In the documents, too."""
    assert set(KINDS) == set(Kind)
    assert said(Kind.REPLACED_HCA) == "replaced HCA"
    assert len(table().splitlines()) == 2 + len(Kind)
