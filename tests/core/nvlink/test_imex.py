"""IMEX over a whole domain."""

from dataclasses import replace
from typing import Any

import pytest

from fleet_runner.core.checks.parsers.imex import Member, Status
from fleet_runner.core.checks.parsers.nvlink_trays import Tray, TrayImex
from fleet_runner.core.nvlink.imex import compare, differing
from fleet_runner.core.nvlink.trouble import Trouble, named

NAMES = [f"tray-{number}" for number in range(1, 5)]
HOSTS = tuple(f"10.0.0.{number}" for number in range(1, 5))


def said(**words: str) -> Status:
    """What one instance sees: all ready, but for what is said otherwise, by the last number of the address."""
    members = tuple(Member(host, words.get(f"n{host[-1]}", "READY"), "580.95.05") for host in HOSTS)
    return Status("DEGRADED" if words else "UP", members)


def tray(number: int, status: Status | None = None, hosts: tuple[str, ...] | None = HOSTS, **changed: Any) -> Tray:
    """A tray whose IMEX runs."""
    whole = Tray(
        "580.95.05",
        (),
        (HOSTS[number - 1], "fe80::1"),
        TrayImex(active=True, hosts=hosts, status=status or said()),
        (),
    )
    return replace(whole, **changed)


def rack(**changed: Tray) -> dict[str, Tray]:
    """Four trays that are well, but for those that are named."""
    return {name: tray(at) for at, name in enumerate(NAMES, start=1)} | {
        name.replace("_", "-"): each for name, each in changed.items()
    }


def told(trays: dict[str, Tray], silent: int = 0) -> list[tuple[str, str]]:
    """Code and component of each trouble; each message says what to expect, and each has a step."""
    found = list(compare(trays, silent))
    assert all(each.steps and each.message for each in found)
    return [(each.code, each.component) for each in found]


def only(trays: dict[str, Tray], silent: int = 0) -> Trouble:
    """The one trouble."""
    (found,) = compare(trays, silent)
    return found


def test_a_domain_that_is_well_has_no_trouble() -> None:
    """By address, or by names with and without their domain; and what could not be read is no trouble either."""
    assert told(rack()) == []
    named = tuple(f"{name}.example.org" for name in NAMES)
    members = Status("UP", tuple(Member(host, "READY") for host in named))
    assert told({name: tray(at, members, named) for at, name in enumerate(NAMES, start=1)}) == []
    blind = tray(1, imex=TrayImex(active=True, hosts=None, status=None))
    assert told(rack(tray_1=blind)) == []
    assert told(dict.fromkeys(NAMES, blind)) == []


def test_a_tray_that_is_missing_from_the_configuration_is_named_once() -> None:
    """All other files are alike, its own may list it."""
    rest = HOSTS[:3]
    status = Status("UP", said().members[:3])
    others = {name: tray(at, status, rest) for at, name in enumerate(NAMES, start=1)}
    assert told(others | {"tray-4": tray(4, imex=None)}) == [("imex.inactive", "tray-4"), ("imex.missing", "tray-4")]
    found = only(others | {"tray-4": tray(4, status, rest)})
    assert (found.code, found.devices) == ("imex.missing", ("tray-4",))
    assert found.message == (
        "tray-4 is missing from /etc/nvidia-imex/nodes_config.cfg of 4 trays: its GPUs share no memory with theirs"
    )


def test_a_configuration_that_differs_is_named_with_what_it_lacks() -> None:
    """Most are right; without any most it is one trouble of the domain."""
    found = only(rack(tray_2=tray(2, hosts=(*HOSTS[:3], "10.0.0.9"))))
    assert found.message == (
        "/etc/nvidia-imex/nodes_config.cfg of tray-2 differs from that of 3 other trays:"
        " without tray-4 and with 10.0.0.9"
    )
    assert told(rack(tray_2=tray(2, hosts=HOSTS[:3]))) == [("imex.config", "tray-2")]
    torn = {name: tray(at, hosts=HOSTS[:2] if at < 3 else HOSTS[2:]) for at, name in enumerate(NAMES, start=1)}
    assert told(torn) == [("imex.config", "nodes_config.cfg")]


def test_a_stranger_in_the_configuration_is_told_only_when_all_trays_answered() -> None:
    """Until then it may be the address of one that did not."""
    strange = {name: tray(at, hosts=(*HOSTS, "10.9.9.9")) for at, name in enumerate(NAMES, start=1)}
    assert "10.9.9.9, which is no tray of the domain" in only(strange).message
    assert told(strange, silent=1) == []


def test_who_is_reached_by_nobody_is_named_and_who_waits_for_it_is_not() -> None:
    """One tray is behind three that wait."""
    waits = said(n4="UNAVAILABLE", n1="WAITING_FOR_PEERS", n2="WAITING_FOR_PEERS", n3="WAITING_FOR_PEERS")
    found = only(rack(**{f"tray_{at}": tray(at, waits) for at in (1, 2, 3)}, tray_4=tray(4, waits)))
    assert (found.code, found.component) == ("imex.not_ready", "tray-4")
    assert "is reached by none of 4 trays (UNAVAILABLE), expected READY" in found.message
    out = {name: tray(at, waits) for at, name in enumerate(NAMES[:3], start=1)}
    assert told(out, silent=1) == []  # it is out for repair, or did not answer
    off = tray(4, imex=TrayImex(active=False, hosts=HOSTS, status=None))
    assert told({**{name: tray(at, waits) for at, name in enumerate(NAMES[:3], start=1)}, "tray-4": off}) == [
        ("imex.inactive", "tray-4")
    ]


def test_an_instance_that_is_not_ready_by_its_own_word_is_named() -> None:
    """With what it says; what others say of it counts only where nobody reaches it."""
    found = only(rack(tray_2=tray(2, said(n2="WAITING_FOR_RECOVERY"))))
    assert found.message == "IMEX on tray-2 is WAITING_FOR_RECOVERY, expected READY (the domain is DEGRADED)"
    assert told(rack(tray_2=tray(2, said(n3="UNAVAILABLE")))) == []


def test_a_domain_without_imex_is_one_trouble() -> None:
    """Where a tray did not answer, or did not tell, nobody knows."""
    none = {name: tray(at, imex=None) for at, name in enumerate(NAMES, start=1)}
    assert only(none).message == "IMEX is installed on none of 4 compute trays, expected on all"
    assert told(none, silent=1) == []
    assert told(rack(tray_1=tray(1, imex=None, unread=("imex_unit: it was not read",)))) == []
    assert only(rack(tray_1=tray(1, imex=None))).message == (
        "IMEX is not installed on tray-1, and is there on 3 trays of its domain"
    )


@pytest.mark.parametrize(
    ("versions", "components"),
    [
        ({}, []),
        ({"a": "1", "b": "1"}, []),
        ({"a": "1", "b": "1", "c": "2"}, ["c"]),
        ({"a": "1", "b": "2"}, ["IMEX"]),
    ],
)
def test_versions_of_a_domain_are_one(versions: dict[str, str], components: list[str]) -> None:
    """Who differs from most is named; without any most, the domain."""
    assert [each.component for each in differing(versions, "imex.version", "IMEX")] == components


def test_instances_of_another_version_are_named() -> None:
    """By their own word."""
    other = Status("UP", tuple(Member(member.host, member.status, "575.1") for member in said().members))
    assert only(rack(tray_2=tray(2, other))).message == (
        "IMEX of tray-2 is 575.1, expected 580.95.05 as on 3 trays of its domain"
    )


def test_names_are_counted_where_there_are_many() -> None:
    assert named(["a", "b", "c"], 2) == "a, b and 1 more"
    assert named(("a",)) == "a"
