"""The lives of parts, from where they were and what befell them."""

import re
from pathlib import Path

from fleet_runner.core.reliability.lifetimes.fatal import FATAL, SENT_BACK, called, why
from fleet_runner.core.reliability.lifetimes.lives import DAY, LEAST, Life, lives
from fleet_runner.core.reliability.parts.stay import Episode, Stay
from fleet_runner.core.tickets.rma_cases import Case, Replaced

CHECKS = Path(__file__).parents[4] / "fleet_runner" / "core" / "checks" / "catalogue"

START = 1_700_000_000.0


def stay(serial: str, begins: float, ends: float, node: str = "gpu-01", component: str = "GPU 0000:1b:00.0") -> Stay:
    """A GPU in a place, from day to day."""
    return Stay(0, "gpu", serial, node, component, "GPU 3", START + begins * DAY, START + ends * DAY)


def fault(serial: str, day: float, code: str = "xid.79", component: str = "GPU 0000:1b:00.0") -> Episode:
    """A fault of a GPU."""
    return Episode(0, "gpu-01", component, code, "…", "xid", serial, START + day * DAY, START + (day + 1) * DAY)


def told(found: list[Life]) -> list[tuple[str, float, float, str]]:
    """What is told of lives."""
    return [(life.serial, round(life.entry, 6), round(life.exit, 6), life.code) for life in found]


def test_every_fatal_fault_is_one_that_a_check_finds() -> None:
    """A code that nobody tells any more would let all parts live for ever."""
    known = set(re.findall(r'Code\(\s*"([a-z_0-9.]+)"', "".join(each.read_text() for each in CHECKS.glob("*.py"))))
    fatal = {code for codes in FATAL.values() for code in codes if not code.startswith("xid.")}
    assert fatal - known == set()
    assert (called("gpu"), called("cpu")) == ("GPUs", "cpu")
    assert why("gpu", "xid.79") == "fell off the bus"
    assert why("gpu", SENT_BACK) == "replaced in a case at its vendor"


def test_a_part_is_as_old_as_its_node_or_new() -> None:
    """What was there at first came with the node; what came later was new; else nobody knows."""
    seen = [stay("A", 0, 50), stay("B", 40, 60), stay("C", 0, 10, "gpu-02"), stay("", 0, 70, "gpu-03")]
    found = lives(seen, (), (), {"gpu-01": START - 100 * DAY})
    assert told(found) == [("A", 100, 150, ""), ("B", 0, 20, ""), ("C", 0, 10, "")]
    assert [life.aged for life in found] == [True, True, False]
    assert [life.month for life in found] == ["2023-08", "2023-12", "2023-11"]


def test_a_part_grows_older_in_service_only() -> None:
    """Ten days here, a shelf, ten days there, and stays that overlap count once."""
    moved = [stay("A", 0, 10), stay("A", 30, 40, "gpu-02"), stay("A", 35, 45, "gpu-03")]
    assert told(lives(moved, (), (), {"gpu-01": START})) == [("A", 0, 10, ""), ("A", 10, 20, ""), ("A", 20, 25, "")]


def test_the_first_fatal_fault_ends_a_life() -> None:
    """By serial number or by place; what is not fatal, another's, or later, does not."""
    seen = [stay("A", 0, 10), stay("A", 20, 30)]
    born = {"gpu-01": START}
    cases = [Case(1, "gpu-01", "acme", "1", "ann", START + 15 * DAY, (Replaced("SXM1", "A"), Replaced("SXM2", "Z")))]
    assert told(lives(seen, [fault("A", 4), fault("A", 3)], cases, born)) == [("A", 0, 3, "xid.79")]
    assert told(lives(seen, [fault("", 4)], (), born)) == [("A", 0, 4, "xid.79")]
    assert told(lives(seen, [fault("A", 25), fault("A", 2, "gpu.hot")], (), born))[1] == ("A", 10, 15, "xid.79")
    assert told(lives(seen, [fault("", 15), fault("B", 1)], (), born))[1] == ("A", 10, 20, "")
    assert told(lives(seen, (), cases, born)) == [("A", 0, 10, SENT_BACK)]
    assert told(lives(seen, [fault("A", -5)], (), born)) == [("A", 0, round(LEAST, 6), "xid.79")]
    both = [stay("A", 0, 10), stay("B", 10, 20)]
    assert [life.code for life in lives(both, [fault("", 10)], (), born)] == ["", ""]
