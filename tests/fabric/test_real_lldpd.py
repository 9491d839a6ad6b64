"""Real neighbours over LLDP, from both ends and from one."""

import json
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.core.cabling import ethernet
from fleet_runner.core.cabling.explain import Kind, Places
from fleet_runner.core.cabling.judge import Verdicts
from fleet_runner.core.cabling.lanes import shared
from fleet_runner.core.cabling.links import Port, link
from fleet_runner.core.cabling.names import names
from fleet_runner.core.checks.parsers import lldp
from tests.fabric.command import run
from tests.fabric.lldpd import End, Hall, hall

SERVERS = ("gpu-1", "gpu-2")
SWITCH = "leaf-1"
DESIGNED: tuple[tuple[End, End], ...] = (
    (("gpu-1", "eth0"), (SWITCH, "swp1")),
    (("gpu-2", "eth0"), (SWITCH, "swp2")),
)
SWAPPED: tuple[tuple[End, End], ...] = (
    (("gpu-1", "eth0"), (SWITCH, "swp2")),
    (("gpu-2", "eth0"), (SWITCH, "swp1")),
)
ALL = {"gpu-1": [SWITCH], "gpu-2": [SWITCH], SWITCH: list(SERVERS)}


def judged(there: Hall, devices: tuple[str, ...], form: str) -> Verdicts:
    links = tuple(link(Port(*a), Port(*b)) for a, b in DESIGNED)
    known = names([port for each in links for port in each], {}, {})
    captures = {device: lldp.parse(there.capture(device, form)) for device in devices}
    return ethernet.judge(links, captures, known, Places({}, {}, frozenset(SERVERS)))


def checked(there: Hall, folder: Path, devices: tuple[str, ...], form: str) -> tuple[int, dict[str, Any]]:
    """Return what the command says of the devices' captures, in a folder as a person gathers them."""
    (folder / "lldp").mkdir()
    rows = "".join(",".join((*a, *b)) + "\n" for a, b in DESIGNED)
    (folder / "cables.csv").write_text(rows, encoding="utf-8")
    for device in devices:
        (folder / "lldp" / f"{device}.json").write_text(there.capture(device, form), encoding="utf-8")
    answer = run(folder, ["cabling", "check", "--expected", "cables.csv", "--observed", "lldp", "--json"])
    assert answer.err == ""
    return answer.code, json.loads(answer.out)


@pytest.mark.parametrize("form", [pytest.param("json", marks=pytest.mark.nightly), "json0"])
def test_two_servers_and_a_switch_tell_of_a_swap(tmp_path: Path, form: str) -> None:
    with hall((*SERVERS, SWITCH)) as there:
        there.plug(DESIGNED)
        there.settle(ALL)
        for devices in ((*SERVERS, SWITCH), SERVERS, (SWITCH,)):
            assert (judged(there, devices, form).faults, judged(there, devices, form).matched) == ((), 2)
        there.unplug(((SWITCH, "swp1"), (SWITCH, "swp2")))
        there.settle({device: [] for device in ALL})
        assert len(judged(there, (*SERVERS, SWITCH), form).silent) == 2
        there.plug(SWAPPED)
        there.settle(ALL)
        code, answer = checked(there, tmp_path, (*SERVERS, SWITCH), form)
        told = [judged(there, devices, form) for devices in ((*SERVERS, SWITCH), SERVERS, (SWITCH,))]
    (fault,) = told[0].faults
    assert fault.kind is Kind.SWAP
    assert all(each.faults == (fault,) for each in told)
    assert (code, [each["key"] for each in answer["faults"]]) == (1, [fault.key])


def test_one_end_that_is_silent_leaves_its_link_unknown() -> None:
    with hall(("gpu-1", SWITCH)) as there:
        there.plug(DESIGNED[:1])
        there.settle({"gpu-1": [SWITCH], SWITCH: ["gpu-1"]})
        verdicts = judged(there, (SWITCH,), "json0")
    assert (verdicts.faults, verdicts.matched) == ((), 1)
    assert [each.a.device for each in verdicts.silent] == ["gpu-2"]


@pytest.mark.parametrize("form", ["json", "json0"])
def test_pfc_that_a_switch_announces_by_dcbx_is_heard_by_its_server(form: str) -> None:
    """As octets: lldpd does not know what they mean. Priority 3 of eight, and not willing to take another's over."""
    octets = ("oui", "00,80,c2", "subtype", "11", "oui-info", "08,08")
    with hall(("gpu-1", SWITCH)) as there:
        there.plug(DESIGNED[:1])
        there.say(SWITCH, *octets)
        there.settle({"gpu-1": [SWITCH], SWITCH: ["gpu-1"]})
        there.until(lambda: "unknown-tlv" in there.capture("gpu-1", form), "the TLV was not heard")
        assert lldp.announced_pfc(there.capture("gpu-1", form)) == {"eth0": frozenset({3})}
        assert lldp.announced_pfc(there.capture(SWITCH, form)) == {}


SPLIT: tuple[tuple[End, End], ...] = tuple(
    ((f"gpu-{n}", "eth0"), (SWITCH, f"swp{1 + n // 2}s{n % 2}")) for n in range(8)
)
"""Four ports that are broken out to two servers each."""


def test_two_broken_out_cables_in_each_others_port_are_one_fault() -> None:
    """Whether all speak, or the switch alone, or the servers alone; the design names the ports, not their lanes."""
    servers = tuple(one[0] for one, _ in SPLIT)
    design = tuple(link(Port(*one), Port(SWITCH, other[1][:4])) for one, other in SPLIT)
    known = names([port for each in design for port in each], {}, {})
    places = Places({}, {}, frozenset(servers), lanes=shared(design))
    heard = {server: [SWITCH] for server in servers} | {SWITCH: list(servers)}

    def told(there: Hall, *devices: str) -> Verdicts:
        captures = {device: lldp.parse(there.capture(device, "json0")) for device in devices}
        return ethernet.judge(design, captures, known, places)

    with hall((*servers, SWITCH)) as there:
        there.plug(SPLIT)
        there.call_ports_by_name(SWITCH)
        there.settle(heard)
        there.until(lambda: told(there, *servers).matched == 8, "the switch does not yet call its ports by name")
        assert [told(there, *each).matched for each in ((*servers, SWITCH), (SWITCH,))] == [8, 8]
        there.unplug(other for _, other in SPLIT[:4])
        there.settle({server: [] for server in servers[:4]} | {SWITCH: list(servers[4:])})
        there.plug((one, SPLIT[(at + 2) % 4][1]) for at, (one, _) in enumerate(SPLIT[:4]))
        there.settle(heard)
        there.until(lambda: told(there, *servers).matched == 4, "the switch does not yet call its ports by name")
        faults = [told(there, *each).faults for each in ((*servers, SWITCH), (SWITCH,), servers)]
    assert [len(each) for each in faults] == [1, 1, 1]
    assert {(each[0].kind, each[0].key, each[0].steps) for each in faults} == {
        (Kind.SWAP, faults[0][0].key, faults[0][0].steps)
    }
    assert faults[0][0].steps[0].startswith("Unplug leaf-1 port swp1 and leaf-1 port swp2")


HOSTILE = {
    "a name as long as a frame can carry": "x" * 511,
    "control characters": "\x1b[2J\x1b[1;31mgpu-2\r\n\x07\x9b",
    "what looks like JSON": '"}]}, "swp1": [{"name": "gpu-2"',
    "somebody else's name": "gpu-2",
}
"""What a stranger at a port of its own calls itself; it always tells gpu-2's chassis, and gpu-2's port."""


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_neighbour_moves_nobodys_cable(name: str) -> None:
    """At a port that is in no design: the cables of others are as right as before.

    In json0, which nodes and switches are asked for. In json lldpctl writes a name as a key, and as it is: with a
    quote in it that is no JSON any more.
    """
    with hall((*SERVERS, SWITCH)) as there, there.silent("stranger"):
        there.plug((*DESIGNED, (("stranger", "eth0"), (SWITCH, "swp3"))))
        there.settle(ALL)
        address = json.loads(there.capture("gpu-2", "json0"))["lldp"][0]["interface"][0]["chassis"][0]["id"][0][
            "value"
        ]
        there.announce(("stranger", "eth0"), address, "eth0", name)
        there.until(lambda: '"swp3"' in there.capture(SWITCH, "json0"), "the stranger was not heard")
        for devices in ((*SERVERS, SWITCH), (SWITCH,)):
            verdicts = judged(there, devices, "json0")
            assert verdicts.faults == ()
            assert verdicts.matched + len(verdicts.doubts) == 2
