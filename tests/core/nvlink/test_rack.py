"""A rack as one machine: its state in a sentence, and a word about everything in it."""

from dataclasses import replace
from typing import Any

from fleet_runner.core.checks.verdicts import NOT_SOUGHT, Finding, Remedy, Result, Verdict
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.nvlink.domains import domains
from fleet_runner.core.nvlink.rack import Rack, Tray, leak_sentence, rack
from tests.core.nvlink.racks import fleet, whole

DRY = {f"Leak {at}": "OK" for at in range(4)}
WELL = Result("fabric_nvlink", Verdict.PASS, "18 compute trays with 72 GPUs are one NVLink domain")


def sensors(*codes: str, **detectors: str) -> Result:
    """What the detectors of a tray say."""
    found = tuple(Finding(code, "Leak 1", code, Remedy.TRIAGE, code) for code in codes)
    return Result("sensors", Verdict.FAIL if codes else Verdict.PASS, "", found, {"leak_detectors": DRY | detectors})


def swept(code: str, message: str, *devices: str) -> Result:
    """A sweep that found something."""
    finding = Finding(code, "it", message, Remedy.TRIAGE, "f", devices=devices)
    return Result("fabric_nvlink", Verdict.FAIL, message, (finding,))


def stands(sweep: Result | None = WELL, source: Fleet | None = None, **trays: Tray | None) -> Rack:
    """A rack whose trays serve and are dry, but for some: "t3" is a03-tray-3."""
    source = source or fleet(*whole())
    [domain] = domains(source)
    said = {f"a03-tray-{name[1:]}": tray for name, tray in trays.items()}
    every = {name: said.get(name, Tray("production", sensors())) for name in domain.trays}
    return rack(domain, source, {name: tray for name, tray in every.items() if tray is not None}, sweep)


def word(of: Rack, name: str) -> tuple[str, bool]:
    """What is said of one thing in the rack, and whether somebody should look."""
    return next((row.word, row.bad) for row in of.rows if row.name == name)


def test_a_rack_that_is_well_says_so() -> None:
    """All 18 and 9, and its power shelf."""
    found = stands()
    assert found.sentence == "well: 18 compute trays and 9 switch trays are one machine"
    assert [row.kind for row in found.rows].count("compute tray") == 18
    assert not any(row.bad for row in found.rows)
    assert word(found, "a03-tray-1") == ("serves", False)
    assert word(found, "a03-switch-1") == ("its links are up, as the compute trays see them", False)
    assert word(found, "a03-power-1") == ("in the design; nothing asks it", False)


def test_a_leak_comes_first_and_says_the_makers_order() -> None:
    """One tray is powered off; several are what they share."""
    leak = Tray("triage", sensors("leak.detected"))
    one = stands(t7=leak)
    assert one.sentence == (
        "a03-tray-7 leaks: power it off, close its coolant valves, look at the trays below it;"
        " 1 of 18 compute trays is out (a03-tray-7: triage); the others serve"
    )
    assert word(one, "a03-tray-7") == ("out: triage; a leak", True)
    two = stands(t7=leak, t12=leak)
    assert two.sentence.startswith(
        "2 compute trays leak (a03-tray-7, a03-tray-12): power the whole rack off, close its coolant valves, look at"
        " its manifold; 2 of 18 compute trays are out"
    )
    assert leak_sentence(()) == ""


def test_a_doubt_is_no_leak() -> None:
    """Nobody is told to power a tray off for it."""
    found = stands(t7=Tray("production", sensors("leak.suspected")))
    assert found.sentence == "a leak is suspected at a03-tray-7: look"
    assert word(found, "a03-tray-7") == ("serves; a leak is suspected", True)


def test_a_detector_that_says_nothing_is_not_called_dry() -> None:
    """Nor is a tray of which no detector is known."""
    found = stands(t1=Tray("production", sensors(**{"Leak 1": "unknown"})), t2=Tray("production"))
    assert word(found, "a03-tray-1") == ("serves; 1 of 4 leak detectors not known (Leak 1)", False)
    assert word(found, "a03-tray-2") == ("serves; no leak detector is known", False)
    odd = Tray("production", Result("sensors", Verdict.PASS, "", observed={"leak_detectors": 3}))
    assert word(stands(t1=odd), "a03-tray-1") == ("serves; no leak detector is known", False)


def test_a_leak_stands_while_its_ticket_is_open() -> None:
    """Its BMC is off by its own policy, or its detector is mute: nobody is told that the rack is well."""
    mute = Result("sensors", Verdict.UNKNOWN, "", observed={NOT_SOUGHT: ["leak.detected"]})
    wet = stands(t7=Tray("production", mute, frozenset({"leak.detected"})))
    assert wet.sentence == f"{leak_sentence(['a03-tray-7'])}; whether it is dry is not known of a03-tray-7"
    assert word(wet, "a03-tray-7") == ("serves; a leak; no leak detector is known", True)
    doubted = stands(t7=Tray("production", sensors(), frozenset({"leak.suspected", "fan.failed"})))
    assert doubted.sentence == "a leak is suspected at a03-tray-7: look"
    assert stands(t7=Tray("production", mute)).sentence == "whether it is dry is not known of a03-tray-7"


def test_what_a_sweep_found_stands_at_the_part() -> None:
    """A lost switch tray, and a tray in the wrong partition."""
    lost = stands(swept("nvlink.switch_tray", "the switch tray a03-switch-3 is lost", "a03-switch-3"))
    assert lost.sentence == "the switch tray a03-switch-3 is lost"
    assert word(lost, "a03-switch-3") == ("lost", True)
    assert not word(lost, "a03-switch-4")[1]
    stray = stands(swept("nvlink.partition", "a03-tray-5 lies in clique 9", "a03-tray-5"))
    assert word(stray, "a03-tray-5") == ("serves; in another partition than designed", True)
    assert word(stands(swept("other.code", "it", "a03-tray-5")), "a03-tray-5") == ("serves", False)


def test_what_nobody_looked_at_is_unknown() -> None:
    """A sweep without an answer, none at all, and a tray that the store does not know."""
    never = stands(None)
    assert never.sentence == "whether its trays are one machine is unknown: it was not swept yet"
    assert word(never, "a03-switch-1") == ("not known", True)
    mute = stands(Result("fabric_nvlink", Verdict.UNKNOWN, "no compute tray could be read"))
    assert mute.sentence == "unknown: no compute tray could be read"
    gone = stands(t4=None)
    assert word(gone, "a03-tray-4") == ("not known to the store", True)
    assert gone.sentence == "1 of 18 compute trays is not known to the store"


def test_a_rack_whose_trays_are_all_out_serves_nobody() -> None:
    """No other tray is said to serve."""
    out: dict[str, Any] = {f"t{at}": Tray("reboot", sensors()) for at in range(1, 19)}
    assert stands(**out).sentence == (
        "18 of 18 compute trays are out (a03-tray-1: reboot, a03-tray-2: reboot, a03-tray-3: reboot, a03-tray-4:"
        " reboot and 14 more)"
    )


def test_rows_stand_as_in_the_rack() -> None:
    """From the top down; what has no place in it comes last."""
    plain = fleet(*whole())
    units = {"a03-tray-1": 10.0, "a03-switch-1": 20.0, "a03-power-1": 40.0}
    devices = {name: replace(each, position=units.get(name)) for name, each in plain.devices.items()}
    rows = stands(source=replace(plain, devices=devices)).rows
    assert [(row.unit, row.name) for row in rows[:4]] == [
        ("U40", "a03-power-1"), ("U20", "a03-switch-1"), ("U10", "a03-tray-1"), ("", "a03-switch-2"),
    ]  # fmt: skip
