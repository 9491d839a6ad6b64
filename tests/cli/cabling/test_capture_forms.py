"""One fabric in the form of every tool and every maker: as designed, and with two cables crossed."""

import io
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.core.cabling.links import Link, Port, link
from tests.cli.cabling.fabric_forms import ETHERNET, INFINIBAND, Heard
from tests.cli.conftest import Said, Type

LEAVES = [
    link(Port(f"gpu-0{node}", f"mlx5_{rail}"), Port(f"leaf-0{rail + 1}", str(node)))
    for node in (1, 2, 3, 4)
    for rail in (0, 1)
]
SPINES = [link(Port(f"leaf-0{leaf}", "33"), Port("spine-01", str(leaf))) for leaf in (1, 2)]
DESIGN = [*LEAVES, *SPINES]


def crossed(links: list[Link], one: int, other: int) -> list[Link]:
    """Return links of which two have taken each other's far ends."""
    a, b = links[one], links[other]
    swapped = {one: link(a.a, b.b), other: link(b.a, a.b)}
    return [swapped.get(at, each) for at, each in enumerate(links)]


def written(folder: Path, links: Iterable[Link]) -> None:
    rows = "".join(f"{a.device},{a.interface},{b.device},{b.interface}\n" for a, b in links)
    (folder / "cables.csv").write_text(rows, encoding="utf-8")


def checked(typed: Type, *words: str) -> Said:
    return typed("cabling", "check", "--expected", "cables.csv", *words)


@pytest.mark.parametrize("form", INFINIBAND.values(), ids=INFINIBAND)
def test_a_fabric_as_designed_is_so_in_every_form(
    tmp_path: Path, typed: Type, form: Callable[[Iterable[Link]], str]
) -> None:
    """Whatever its file is called."""
    written(tmp_path, DESIGN)
    (tmp_path / "notes").write_text(form(DESIGN), encoding="utf-8")
    assert checked(typed, "--observed", "notes") == Said(0, "10 of 10 designed links are there; no fault\n", "")


@pytest.mark.parametrize("form", INFINIBAND.values(), ids=INFINIBAND)
def test_crossed_and_missing_cables_are_the_same_faults_in_every_form(
    tmp_path: Path, typed: Type, form: Callable[[Iterable[Link]], str]
) -> None:
    written(tmp_path, DESIGN)
    seen = crossed(DESIGN, 0, 2)
    del seen[5]
    (tmp_path / "fabric.txt").write_text(form(seen), encoding="utf-8")
    said = checked(typed, "--observed", "fabric.txt", "--json")
    found = json.loads(said.out)
    assert (said.code, said.err, found["matched"]) == (1, "", 7)
    assert sorted((fault["kind"], _links(fault["expected"])) for fault in found["faults"]) == [
        ("missing", [["gpu-03 mlx5_1", "leaf-02 3"]]),
        ("swap", [["gpu-01 mlx5_0", "leaf-01 1"], ["gpu-02 mlx5_0", "leaf-01 2"]]),
    ]


def _links(told: Any) -> list[list[str]]:
    return sorted([" ".join(port) if isinstance(port, list) else port for port in each] for each in told)


def _nameless(links: Iterable[Link]) -> str:
    """Write UFM's links without the names that tell adapters' own GUIDs."""
    return re.sub(r'"name": "[^"]*"', '"name": ""', INFINIBAND["UFM's JSON"](links))


@pytest.mark.parametrize(
    ("form", "replaced"),
    [
        (INFINIBAND["lst"], True),
        (INFINIBAND["UFM's JSON"], True),
        (INFINIBAND["net_dump"], False),
        (_nameless, False),
    ],
    ids=["lst", "UFM", "net_dump", "UFM without GUIDs"],
)
def test_an_adapter_is_replaced_only_where_a_form_tells_its_own_guid(
    tmp_path: Path, typed: Type, project: Path, form: Callable[[Iterable[Link]], str], replaced: bool
) -> None:
    """The site knows other GUIDs than these."""
    links = [
        link(Port(f"gpu-0{node}", f"ib{rail}"), Port(f"leaf-{rail + 1}", str(node)))
        for node in (1, 2)
        for rail in (0, 1)
    ]
    (tmp_path / "fabric").write_text(form(links), encoding="utf-8")
    site = str(project / "docs" / "examples" / "site")
    said = typed("cabling", "check", "--expected", site, "--observed", "fabric", "--json")
    found = json.loads(said.out)
    assert {fault["kind"] for fault in found["faults"]} == ({"replaced_hca"} if replaced else set())
    assert (found["matched"], said.code) == (4, 1 if replaced else 0)


WIRE = [link(Port(f"gpu-0{node}", "eth0"), Port("tor-01", f"Ethernet{node}")) for node in (1, 2, 3)]
UPLINK = link(Port("spine-01", "Ethernet7"), Port("tor-01", "Ethernet49"))
ETHERNETS = [*WIRE, UPLINK]


def heard(links: Iterable[Link]) -> dict[str, Heard]:
    """Return what each device hears; servers tell the address of a port, and its name as a description."""
    told: dict[str, Heard] = {}
    for each in links:
        for near, far in (each, each[::-1]):
            server = far.device.startswith("gpu")
            port = f"02:00:00:00:00:{far.device[-2:]}" if server else far.interface
            told.setdefault(near.device, []).append((near.interface, far.device, port, far.interface))
    return told


def captured(folder: Path, links: Iterable[Link], form: Callable[[Heard], str]) -> None:
    """Write the switches' captures in a form; servers have lldpctl."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for device, told in heard(links).items():
        text = (ETHERNET["lldpctl"] if device.startswith("gpu") else form)(told)
        (folder / f"{device}.txt").write_text(text, encoding="utf-8")


FORMS = pytest.mark.parametrize("form", ETHERNET.values(), ids=ETHERNET)


@FORMS
def test_ethernet_as_designed_is_so_in_every_makers_form(
    tmp_path: Path, typed: Type, form: Callable[[Heard], str]
) -> None:
    written(tmp_path, ETHERNETS)
    captured(tmp_path / "lldp", ETHERNETS, form)
    expected = Said(0, "4 of 4 designed links are there; no fault\n", "")
    assert checked(typed, "--observed", "lldp") == expected
    (tmp_path / "lldp" / "gpu-01.txt").unlink()
    assert checked(typed, "--observed", "lldp") == expected
    one = checked(typed, "--observed", "lldp/tor-01.txt")
    assert one == expected


@FORMS
@pytest.mark.parametrize("alone", [False, True], ids=["all", "the switch alone"])
def test_crossed_ethernet_cables_are_one_fault_in_every_makers_form(
    tmp_path: Path, typed: Type, form: Callable[[Heard], str], alone: bool
) -> None:
    written(tmp_path, ETHERNETS)
    captured(tmp_path / "lldp", crossed(ETHERNETS, 0, 1), form)
    said = checked(typed, "--observed", "lldp/tor-01.txt" if alone else "lldp", "--json")
    found = json.loads(said.out)
    assert (said.code, said.err, found["matched"], found["silent"]) == (1, "", 2, [])
    assert [(fault["kind"], _links(fault["expected"])) for fault in found["faults"]] == [
        ("swap", [["gpu-01 eth0", "tor-01 Ethernet1"], ["gpu-02 eth0", "tor-01 Ethernet2"]])
    ]


@pytest.mark.parametrize("form", [ETHERNET[name] for name in ("lldpctl", "Junos", "NX-OS", "SONiC")])
def test_a_server_and_its_adapters_own_agent_answer_at_one_port(
    tmp_path: Path, typed: Type, form: Callable[[Heard], str]
) -> None:
    """Of several systems the designed one counts."""
    written(tmp_path, WIRE)
    told = heard(WIRE)["tor-01"]
    told.append((told[0][0], "bluefield-01", "p0", "p0"))
    (tmp_path / "tor-01").write_text(form(told), encoding="utf-8")
    assert checked(typed, "--observed", "tor-01").out == "3 of 3 designed links are there; no fault\n"


@FORMS
def test_a_prompt_says_which_device_a_file_is_of(
    tmp_path: Path, typed: Type, form: Callable[[Heard], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then a file may have any name, and standard input will do; one that is named after another device will not."""
    written(tmp_path, WIRE)
    text = f"tor-01#show lldp neighbors detail | json\n{form(heard(WIRE)['tor-01'])}\ntor-01#\n"
    (tmp_path / "terminal.log").write_text(text, encoding="utf-8")
    expected = "3 of 3 designed links are there; no fault\n"
    assert checked(typed, "--observed", "terminal.log") == Said(0, expected, "")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert checked(typed, "--observed", "-") == Said(0, expected, "")
    (tmp_path / "terminal.log").rename(tmp_path / "gpu-02.txt")
    refused = checked(typed, "--observed", "gpu-02.txt")
    assert refused.code == 2
    assert "gpu-02.txt is named after gpu-02, and its capture says that it is of tor-01" in " ".join(
        refused.err.split()
    )


@FORMS
def test_diff_compares_two_captures_of_a_switch(tmp_path: Path, typed: Type, form: Callable[[Heard], str]) -> None:
    captured(tmp_path / "before", ETHERNETS, form)
    captured(tmp_path / "after", crossed(ETHERNETS, 0, 1), form)
    said = typed("cabling", "diff", "before", "after")
    assert said.code == 1
    assert said.out.count("\nmoved ") == 2
