"""Which links a finding is about."""

from dataclasses import replace

from fleet_runner.core.cabling.links import Port, link
from fleet_runner.core.cabling.topology.wrong import untold, wrong
from fleet_runner.core.checks.verdicts import UNSURE, Finding, Remedy, Result, Verdict

LINKS = tuple(link(Port(f"gpu-{number}", "ib0"), Port("leaf-1", f"p{number}")) for number in range(1, 14))


def finding(code: str, component: str, message: str = "", *devices: str) -> Finding:
    return Finding(f"cabling.{code}", component, message, Remedy.RECABLE, code, (), (), devices)


def test_a_finding_is_about_the_ports_that_it_names() -> None:
    one = finding(
        "missing", "gpu-1 ib0, leaf-1 p1", "Designed and not there: gpu-1 ib0 to leaf-1 p1.", "gpu-1", "leaf-1"
    )
    assert wrong(LINKS, [one]) == {LINKS[0]: (one,)}


def test_also_by_those_that_its_message_alone_names() -> None:
    swap = finding("swap", "gpu-2 ib0", "observed gpu-2 ib0 to leaf-1 p12, x.", "gpu-2", "gpu-12", "leaf-1")
    assert wrong(LINKS, [swap]).keys() == {LINKS[1], LINKS[11]}


def test_or_about_every_link_of_a_device() -> None:
    dark = finding("dark", "leaf-1 p1", "It is dark.", "leaf-1")
    assert len(wrong(LINKS, [dark, dark])) == 13
    assert wrong(LINKS, [dark, dark])[LINKS[0]] == (dark, dark)


def test_what_names_nothing_is_about_nothing() -> None:
    assert wrong(LINKS, [finding("missing", "", "", "nobody"), finding("missing", "x", "y", "leaf-1")]) == {}
    assert wrong(LINKS, [finding("missing", "leaf-1 p1", "", "gpu-9")]) == {}


def test_what_a_sweep_could_not_tell_is_not_as_designed() -> None:
    fine = Result("fabric_cabling", Verdict.PASS, "x")
    assert untold(LINKS, fine) == frozenset()
    odd = replace(fine, observed={UNSURE: ["gpu-3", ["gpu-5", "leaf-1"], ["gpu-6", "gpu-7"]]})
    assert untold(LINKS, odd) == {LINKS[2], LINKS[4]}


def test_one_that_says_nothing_or_is_not_believed_tells_nothing() -> None:
    for result in (
        None,
        Result("fabric_cabling", Verdict.UNKNOWN, "no answer"),
        Result("fabric_cabling", Verdict.FAIL, "x", (finding("suspect", "x"),)),
    ):
        assert untold(LINKS, result) == frozenset(LINKS)
