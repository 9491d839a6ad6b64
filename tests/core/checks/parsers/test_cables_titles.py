"""Which columns of a list of cables are its two ends, by titles as people and programs write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.parsers.cables_titles import ends, fused, plain

WORDS = ["a", "b", "source", "destination", "device", "port", "rack", "termination", "1", "2", "", "Gerät", "端口"]


def columns(titles: str) -> tuple[int, ...] | None:
    found = ends(list(map(plain, titles.split(","))))
    return found.columns if found else None


@given(st.lists(st.lists(st.sampled_from(WORDS)).map(" ".join)))
def test_each_end_has_columns_of_its_own(titles: list[str]) -> None:
    told = list(map(plain, titles))
    found, pair = ends(told), fused(told)
    assert found is None or len(set(found.columns)) == 4
    assert pair is None or len(set(pair)) == 2


@pytest.mark.parametrize(
    "titles",
    [
        "Source,Source Port,Destination,Destination Port",
        "Source Device Name,Source Device Port,Target Device Name,Target Device Port",
        "A-Side Device,A-Side Port,Z-End Device,Z-End Port",
        "A-End Hostname,A-End Port ID,B-End Hostname,B-End Port ID",
        "FROM: Equipment,FROM: Port #,TO: Equipment,TO: Port #",
        "Device (A),Port (A),Device (B),Port (B)",
        "Device 1,Port 1,Device 2,Port 2",
        "Switch,Switch Port,Server,Server Port",
        "Leaf,Leaf Port,Host,HCA",
        "Device,Port,Device,Port",
        "Device,Port,Device.1,Port.1",
        "Von Gerät,Von Port,Nach Gerät,Nach Port",
        "Quelle Geraet,Quelle Anschluss,Ziel Geraet,Ziel Anschluss",
        "Équipement A,Port A,Équipement B,Port B",
        "Dispositivo origen,Puerto origen,Dispositivo destino,Puerto destino",
        "本端设备,本端端口,对端设备,对端端口",
    ],
)
def test_people_call_the_ends_of_a_cable_by_many_names(titles: str) -> None:
    """Other columns stand among them, in any order."""
    assert columns(titles) == (0, 1, 2, 3)
    assert columns(f"Cable ID,{titles},Rack A,Länge (m)") == (1, 2, 3, 4)


@pytest.mark.parametrize(
    "titles",
    [
        "Gerät A,Abschlusspunkt A,Gerät B,Abschlusspunkt B",
        "Appareil A,Terminaison A,Appareil B,Terminaison B",
        "デバイス A,終端 A,デバイス B,終端 B",
        "设备A,本端A,设备B,对端B",
        "Устройство A,Точка подключения A,Устройство Б,Точка подключения Б",
        "Side A,Termination A,Side B,Termination B",
    ],
)
def test_netbox_lists_its_cables_in_the_language_of_its_user(titles: str) -> None:
    found = ends(list(map(plain, titles.split(","))))
    assert found is not None
    assert found.listed
    assert found.columns == (0, 1, 2, 3)


@pytest.mark.parametrize(
    "titles",
    [
        "Source,Destination",
        "Device,Port",
        "Source Device,Source Rack,Destination Device,Destination Rack",
        "Hostname,NIC,Port,Switch,Port",
        "Device,Device,Port,Port",
        "Source Port,Destination Port",
        "Termination A,Termination B",
    ],
)
def test_titles_that_leave_an_end_open_name_none(titles: str) -> None:
    assert columns(titles) is None


@pytest.mark.parametrize("titles", ["Source,Destination", "A End,B End", "From,To", "Endpoint A,Endpoint B"])
def test_both_ends_may_have_one_cell_each(titles: str) -> None:
    assert fused(list(map(plain, titles.split(",")))) == (0, 1)
    assert fused([plain("Source Port"), plain("Destination Port")]) is None
