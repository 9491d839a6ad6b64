"""NVLink domains take turns in a rollout."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.firmware.domain_turns import due, waits
from fleet_runner.core.firmware.rollout import Rollout, RolloutStatus, in_order
from fleet_runner.core.firmware.turns import Member, RolloutStep

DOMAINS = {f"{rack}-{number}": rack for rack in ("a03", "a04", "a05") for number in (1, 2, 3)}
NODES = [*DOMAINS, "alone-1"]


def names(*members: Member, away: frozenset[str] = frozenset()) -> list[str]:
    """Which members may be asked."""
    return [each.node for each in due(in_order(members), members, DOMAINS, away)]


def rows(**turns: RolloutStep) -> list[Member]:
    """All members waiting, but for those that are named ("a03_1"); one of each rack stands in the first wave."""
    told = {name.replace("_", "-"): turn for name, turn in turns.items()}
    return [Member(node, 0 if node.endswith("1") else 1, told.get(node, RolloutStep.WAITING)) for node in NODES]


def test_the_first_domain_goes_first_and_as_a_whole() -> None:
    """Whatever the waves say; a node of no domain waits for none."""
    assert names(*rows()) == ["a03-1", "alone-1", "a03-2", "a03-3"]


def test_a_domain_that_was_begun_is_finished() -> None:
    """While a tray of it is out, and after that."""
    assert names(*rows(a04_1=RolloutStep.ASKED)) == ["alone-1", "a04-2", "a04-3"]
    assert names(*rows(a04_1=RolloutStep.DONE, a04_2=RolloutStep.FAILED)) == ["alone-1", "a04-3"]
    done = dict.fromkeys(("a04_1", "a04_2", "a04_3"), RolloutStep.DONE)
    assert names(*rows(**done)) == ["a03-1", "alone-1", "a03-2", "a03-3"]


def test_a_domain_of_which_only_trays_are_left_whose_turn_cannot_come_holds_no_other() -> None:
    """They are asked when they are back, before the next domain is begun; while a tray is out its domain goes on."""
    begun = {"a03_1": RolloutStep.DONE, "a03_2": RolloutStep.DONE}
    away = frozenset({"a03-3"})
    assert names(*rows(**begun)) == ["alone-1", "a03-3"]
    assert names(*rows(**begun), away=away) == ["a04-1", "alone-1", "a04-2", "a04-3"]
    assert names(*rows(**begun, a04_1=RolloutStep.DONE)) == ["alone-1", "a03-3"]
    assert names(*rows(a03_1=RolloutStep.ASKED), away=frozenset({"a03-2"})) == ["alone-1", "a03-2", "a03-3"]


def test_no_tray_of_a_domain_that_is_not_whole_is_asked() -> None:
    """The next domain goes on, unless one of its trays is out; nodes of no domain are asked as ever."""

    def told(*members: Member, ill: frozenset[str]) -> list[str]:
        return [each.node for each in due(in_order(members), members, DOMAINS, ill=ill)]

    assert told(*rows(), ill=frozenset({"a03"})) == ["a04-1", "alone-1", "a04-2", "a04-3"]
    assert told(*rows(a03_1=RolloutStep.ASKED), ill=frozenset({"a03"})) == ["alone-1"]
    assert told(*rows(), ill=frozenset(DOMAINS.values())) == ["alone-1"]


@given(st.dictionaries(st.sampled_from([node.replace("-", "_") for node in NODES]), st.sampled_from(RolloutStep)))
def test_never_are_trays_of_two_domains_asked(turns: dict[str, RolloutStep]) -> None:
    """Unless trays of two are out already, as somebody joined them meanwhile; and no rollout stands still."""
    members = rows(**turns)
    asked = names(*members)
    out = {DOMAINS[each.node] for each in members if each.turn is RolloutStep.ASKED and each.node in DOMAINS}
    inside = {DOMAINS[node] for node in asked if node in DOMAINS}
    assert inside <= out if out else len(inside) <= 1
    if not out:
        assert bool(asked) == any(each.turn is RolloutStep.WAITING for each in members)


ROLLOUT = Rollout(3, "gb200-tray", "ann", 0.0, "BMC 1.2", 1, 3, 0.2, detail="paused by ann: lunch")
ONE = "rollout 3 updates one NVLink domain at a time, now"


def said(*members: Member, ill: dict[str, str] | None = None, standing: str = "running") -> dict[str, str]:
    """What waiting trays wait for."""
    return waits(replace(ROLLOUT, standing=RolloutStatus(standing)), members, DOMAINS, ill or {})


def test_a_waiting_tray_says_which_domain_goes_first_how_far_it_is_and_why() -> None:
    """Its own, or another one; a node of no domain waits for none, and who is out says so itself."""
    first = said(*rows())
    assert first["a04-1"] == f"{ONE} a03: it is first in the order (3 waiting)"
    assert first["a03-2"] == f"{first['a04-1']}; this tray follows"
    assert set(first) == set(DOMAINS)
    begun = said(*rows(a04_1=RolloutStep.DONE))
    assert begun["a03-1"] == f"{ONE} a04: it was begun (1 done, 2 waiting)"
    out = said(*rows(a04_1=RolloutStep.DONE, a04_2=RolloutStep.ASKED, a05_1=RolloutStep.SKIPPED))
    assert out["a03-1"] == f"{ONE} a04: a tray of it is out (1 done, 1 out, 1 waiting)"
    assert "a04-2" not in out


def test_a_tray_of_a_domain_that_is_not_whole_says_so() -> None:
    """Whether it was begun or not; the others name the domain that goes on, and none where none does."""
    leak = {"a03": "a03-1 leaks"}
    told = said(*rows(), ill=leak)
    assert told["a03-2"] == "rollout 3 begins its NVLink domain once that is whole: a03-1 leaks"
    assert told["a05-1"] == f"{ONE} a04: it is first in the order (3 waiting)"
    out = said(*rows(a03_1=RolloutStep.ASKED), ill=leak)
    assert out["a03-2"] == "rollout 3 asks no further tray of its NVLink domain until that is whole: a03-1 leaks"
    assert out["a04-1"] == f"{ONE} a03: a tray of it is out (1 out, 2 waiting)"


def test_a_rollout_that_asks_nobody_now_says_that_it_is_paused_or_nothing() -> None:
    """Who waits in one that was stopped waits for nothing."""
    assert said(*rows(), standing="paused") == dict.fromkeys(DOMAINS, "rollout 3 is paused by ann: lunch")
    assert said(*rows(), standing="stopped") == {}
