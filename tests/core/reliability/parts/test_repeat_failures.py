"""Places and parts that fail again."""

import json
from dataclasses import replace

from fleet_runner.core.reliability.forecasts import Foresight, Kind
from fleet_runner.core.reliability.parts.failures import DAY
from fleet_runner.core.reliability.parts.rates import YEAR, Rate
from fleet_runner.core.reliability.parts.repeat_failures import Given, Parts, analyse
from fleet_runner.core.reliability.parts.stay import Episode, Stay
from fleet_runner.core.tickets.rma_cases import Case, Replaced

NOW = 1_000 * DAY
SINCE = NOW - 400 * DAY


def stay(number: int, serial: str, node: str, begins: float = 0.0, ends: float = 400.0) -> Stay:
    """Return a GPU's stay in slot 3, in days since the beginning."""
    return Stay(number, "gpu", serial, node, "0000:1b", "GPU 3", SINCE + begins * DAY, SINCE + ends * DAY)


def fault(serial: str, node: str, day: float, code: str = "xid.79") -> Episode:
    """Return a fault of what is in slot 3."""
    at = SINCE + day * DAY
    return Episode(int(day), node, "0000:1b", code, "f", "gpu", serial, at, at)


CROWD = [stay(100 + at, f"C{at}", f"c{at}") for at in range(200)]
SLOT = [stay(1, "A", "n1", 0, 340), stay(2, "B", "n1", 341, 370), stay(3, "C", "n1", 371, 400)]
SLOT_FAULTS = [fault("A", "n1", 339), fault("B", "n1", 369), fault("C", "n1", 390, "xid.48")]
PART = [stay(5, "P", "n5", 0, 340), stay(6, "P", "n6", 350, 400)]
PART_FAULTS = [fault("P", "n5", 339), fault("P", "n6", 380)]


def found(stays: list[Stay], faults: list[Episode], *cases: Case) -> Parts:
    """Return what is found among a crowd that never fails."""
    types = {each.node: "hgx" for each in (*CROWD, *stays)}
    return analyse(Given(SINCE, NOW, [*CROWD, *stays], faults, cases, types))


def test_the_third_gpu_to_fail_in_a_slot_is_the_slots_fault() -> None:
    """It is said with its evidence, line by line; two are not enough."""
    (told,) = found(SLOT, SLOT_FAULTS).foresights()
    assert (told.kind, told.node, told.component, told.serial) == (Kind.SLOT, "n1", "0000:1b", "")
    assert told.sentence.startswith("3 different parts failed in GPU 3 (0000:1b) of n1 since 1972-07-28")
    assert "look at the board" in told.sentence
    assert [line["sentence"][12:] for line in told.numbers["lines"]] == [
        "gpu A failed with xid.79", "gpu B failed with xid.79", "gpu C failed with xid.48",
    ]  # fmt: skip
    assert Foresight.from_json(json.loads(json.dumps(told.to_json()))).key == told.key
    assert not found(SLOT, SLOT_FAULTS[:2]).slots


def test_the_same_gpu_that_fails_in_two_nodes_is_the_gpu() -> None:
    """Wherever it is now; where it is in none, nothing is foreseen of a node."""
    told = found(PART, PART_FAULTS)
    (foreseen,) = told.foresights()
    assert (foreseen.kind, foreseen.node, foreseen.serial) == (Kind.PART, "n6", "P")
    assert "gpu P failed in 2 nodes (n5 GPU 3, n6 GPU 3)" in foreseen.sentence
    assert told.moved == {"gpu": 1}
    shelved = found([PART[0], replace(PART[1], last_at=SINCE + 381 * DAY, slot="")], PART_FAULTS)
    assert shelved.foresights() == ()
    assert "it is in none of the nodes now" in shelved.parts[0].sentence
    assert "n6 0000:1b" in shelved.parts[0].sentence


def test_a_bad_slot_does_not_condemn_the_part_that_passed_through_it() -> None:
    """Its failure there is the slot's."""
    went = [*SLOT, stay(8, "A", "n8", 342, 400)]
    told = found(went, [*SLOT_FAULTS, fault("A", "n8", 395)])
    assert ([each.stay.node for each in told.slots], told.parts) == (["n1"], ())


def test_parts_of_a_fleet_in_which_all_fail_often_are_not_blamed() -> None:
    """Then the rate is the fleet's, and chance explains it."""
    often = [fault(each.serial, each.node, day) for each in CROWD for day in range(5, 400, 10)]
    assert not found(PART, [*PART_FAULTS, *often]).parts


def test_what_was_mended_or_is_long_past_is_no_longer_suspected() -> None:
    """A node that went back as a whole begins anew, one that lost a part does not."""
    whole = Case(1, "n1", "V", "7", "ann", SINCE, (), SINCE + 395 * DAY)
    other = replace(whole, parts=(Replaced("GPU 3", "A"),))
    assert not found(SLOT, SLOT_FAULTS, whole, replace(whole, ended_at=None)).slots
    assert found(SLOT, SLOT_FAULTS, other).slots
    long_ago = [stay(5, "P", "n5", 0, 100), stay(6, "P", "n6", 101, 400)]
    assert not found(long_ago, [fault("P", "n5", 99), fault("P", "n6", 150)]).parts


def test_too_few_peers_and_no_serial_numbers_are_silence() -> None:
    """One node alone, nobody's serial number, one number for two parts: each is counted, none is guessed."""
    alone = analyse(Given(SINCE, NOW, SLOT, SLOT_FAULTS))
    assert (alone.slots, len(alone.rates)) == ((), 1)
    untold = [replace(each, serial="") for each in SLOT]
    twins = [stay(20, "T", "n7"), stay(21, "T", "n8")]
    told = found([*untold, *twins], [replace(each, serial="") for each in SLOT_FAULTS])
    assert told.silences == {
        "failures of parts whose serial number is not known": 3,
        "serial numbers that were reported in two places at once": 1,
    }  # fmt: skip
    nothing = analyse(Given(SINCE, NOW, ())).to_json()
    assert nothing["sentences"][1].startswith("Not enough data")
    never = analyse(
        Given(SINCE, NOW, [stay(at, f"Z{at}", f"z{at}", 5, 5) for at in range(20)], [fault("Z1", "z1", 5)])
    )
    assert (never.rates, never.slots) == ((), ())


def test_the_body_is_plain_and_says_its_rates() -> None:
    """JSON, with what a reader needs beside each number."""
    body = json.loads(json.dumps(found([*SLOT, *PART], [*SLOT_FAULTS, *PART_FAULTS]).to_json()))
    assert body["sentences"][0].startswith(
        "5 failures of parts in 400 days; 1 part in more than one node. 1 place and"
    )
    assert [each["device_type"] for each in body["rates"]] == ["hgx"]
    assert (body["slots"][0]["failures"], body["parts"][0]["serial"], body["left_out"]) == (3, "P", 0)
    assert Rate("gpu", "", 9, 1, 2.0).to_json()["sentence"] == (
        "gpu of every device type: 1 failure in 2.0 years of parts, 0.75 a year"
    )
    young = Rate("gpu", "", 9, 0, 0.0004).to_json()
    assert (
        young["sentence"] == "gpu of every device type: 0 failures; not enough service observed yet (3.51 part-hours)"
    )
    assert young["per_part_year"] is None
    assert YEAR > 365 * DAY
