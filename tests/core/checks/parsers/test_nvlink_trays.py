"""What the compute trays of an NVLink domain say, as a sweep keeps it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.evidence import ReadEnd, Reading
from fleet_runner.core.checks.parsers.imex import Member
from fleet_runner.core.checks.parsers.nvlink_trays import KEY, READS, Tray, TrayGpu, TrayImex, parse, silent, told
from tests.core.checks.catalogue.judging import text_of
from tests.fleets import JSON

UNIT = "LoadState=loaded\nActiveState=active\nSubState=running\n"
TEXTS = {
    "nvidia_smi": text_of("nvidia_smi/h100_one.xml"),
    "nvlink_status": text_of("nvlink/status.txt"),
    "addresses": "10.20.0.11 fe80::1 \n",
    "imex_unit": UNIT,
    "imex_nodes": json.dumps({"/etc/nvidia-imex/nodes_config.cfg": text_of("imex/nodes_config.cfg")}),
    "imex_status": text_of("imex/up.json"),
}
FIRST = TrayGpu("0000:1b:00.0", "Completed", "Success", "", "", (0, 1, 2, 3), (), dead=False)


def readings(**changed: str | Reading | None) -> dict[str, Reading]:
    """What is read on a healthy tray, with changes; None is not read at all."""
    found: dict[str, Reading] = {}
    for name, text in (TEXTS | changed).items():
        if text is not None:
            found[name] = text if isinstance(text, Reading) else Reading(name, ReadEnd.OK, text)
    return found


def read(**changed: str | Reading | None) -> Tray:
    """A tray, written and parsed."""
    return parse(json.dumps({KEY: {"t": told(readings(**changed))}}))["t"]


@given(st.dictionaries(st.sampled_from(READS), st.text(max_size=100)))
def test_whatever_a_tray_prints_can_be_kept(texts: dict[str, str]) -> None:
    """Nothing is raised, and what it keeps can be read; without GPUs there is a reason."""
    tray = read(**texts)
    assert tray.gpus or tray.unread


@given(JSON)
def test_whatever_is_kept_is_a_tray_or_refused(raw: Any) -> None:
    """A sweep that was cut or made up is UNKNOWN, never an error of ours."""
    for text in (json.dumps({KEY: {"t": raw}}), json.dumps({KEY: raw}), json.dumps(raw)):
        try:
            parse(text)
        except EvidenceError:
            continue


def test_a_tray_says_its_gpus_links_addresses_and_imex() -> None:
    tray = read()
    assert tray.gpus[0]._replace(cluster="", clique="") == FIRST
    assert (len(tray.gpus), tray.addresses, tray.unread) == (1, ("10.20.0.11", "fe80::1"), ())
    assert tray.imex is not None
    assert (tray.imex.active, len(tray.imex.hosts or ())) == (True, 4)
    assert tray.imex.status is not None
    assert tray.imex.status.members[0] == Member("10.20.0.11", "READY", "580.95.05")


def test_imex_that_is_not_there_is_no_trouble() -> None:
    """Nor is one that rests: its status is not asked for."""
    assert read(imex_unit=UNIT.replace("=loaded", "=not-found")).imex is None
    rests = read(imex_unit=UNIT.replace("=active", "=inactive"), imex_status=None, imex_nodes="{}")
    assert (rests.imex, rests.unread) == (TrayImex(active=False, hosts=(), status=None), ())


def test_what_could_not_be_read_is_said() -> None:
    """A tool that hung, failed or printed something else; its neighbours count."""
    late = Reading("nvidia_smi", ReadEnd.TIMEOUT)
    failed = Reading("imex_status", ReadEnd.OK, rc=1, error="cannot connect")
    tray = read(nvidia_smi=late, imex_status=failed, imex_nodes='{"a": "two of them"}', addresses=None)
    assert tray.gpus == ()
    assert tray.unread == (
        "nvidia_smi: it ended with timeout",
        "addresses: it was not read",
        "imex_nodes: nodes_config.cfg: found 'two of them', expected one address in each line",
        "imex_status: cannot connect",
    )
    assert tray.imex == TrayImex(active=True, hosts=None, status=None)
    assert "imex_nodes: nodes_config.cfg cannot be read" in read(imex_nodes='{"a": null}').unread


def test_links_that_are_not_told_are_none() -> None:
    """MIG is on, or the tool does not list the GPU."""
    assert read(nvlink_status=text_of("nvlink/status_mig.txt")).gpus[0].down is None
    assert read(nvlink_status="nonsense").gpus[0].up is None
    assert read(nvlink_status=text_of("nvlink/status_dead.txt")).gpus[0].dead


def test_a_tray_that_does_not_answer_has_its_reason() -> None:
    tray = parse(json.dumps({KEY: {"t": silent("it does not answer")}}))["t"]
    assert (tray.gpus, tray.imex, tray.unread) == ((), None, ("it does not answer",))


@pytest.mark.parametrize(
    "tray",
    [
        {"unread": []},
        {"unread": [3]},
        {"unread": "x"},
        {"unread": ["x"], "gpus": [["a"]]},
        {"unread": ["x"], "gpus": [["a", "b", "c", "d", "e", [True], [], False]]},
        {"unread": ["x"], "imex": {"active": True, "hosts": None, "status": ["UP"]}},
    ],
)
def test_what_is_no_tray_is_refused(tray: dict[str, Any]) -> None:
    """One without GPUs and without a reason least of all: it would look like good news."""
    with pytest.raises(EvidenceError, match="the sweep: t: found"):
        parse(json.dumps({KEY: {"t": tray}}))
