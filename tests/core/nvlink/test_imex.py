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
    found = compare(trays, silent).troubles
    assert all(each.steps and each.message for each in found)
    return [(each.code, each.component) for each in found]


def only(trays: dict[str, Tray], silent: int = 0) -> Trouble:
    """The one trouble."""
    (found,) = compare(trays, silent).troubles
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
        "IMEX is not installed on tray-1, and runs on 3 trays of its domain"
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


def configured(hosts: tuple[str, ...], *, silent: int = 0, **changed: Tray) -> tuple[list[str], tuple[str, ...]]:
    """The components that are blamed, and what is not known, where all trays have a file with these hosts."""
    status = Status("UP", tuple(Member(host, "READY") for host in hosts))
    trays = {name: tray(at, status, hosts) for at, name in enumerate(NAMES, start=1)}
    found = compare(trays | {name.replace("_", "-"): each for name, each in changed.items()}, silent)
    return [each.component for each in found.troubles], found.unread


def test_other_names_of_trays_accuse_none() -> None:
    """Nobody knows whose they are: all of them, one of them, in all files or in one."""
    words = "names imex-1, imex-2, imex-3, imex-4, expected addresses of the trays"
    blamed, (unread,) = configured(("imex-1", "imex-2", "imex-3", "imex-4"))
    assert blamed == []
    assert words in unread
    assert configured(("10.9.0.1", "10.9.0.2"))[0] == []  # addresses of another network that nobody told
    blamed, (unread,) = configured((*HOSTS[:3], "imex-4"))
    assert (blamed, "names imex-4, expected" in unread) == ([], True)
    blamed, (unread,) = configured(HOSTS, tray_2=tray(2, hosts=("imex-1", *HOSTS[1:])))
    assert (blamed, "names imex-1, expected" in unread) == ([], True)
    half = ("imex-1", "imex-2", *HOSTS[2:])
    assert configured(HOSTS, tray_2=tray(2, hosts=half), tray_3=tray(3, hosts=half))[0] == []
    assert configured((*HOSTS, "imex-5")) == (["nodes_config.cfg"], ())  # all trays are in it, and one more


def test_an_address_is_the_same_however_it_is_spelled() -> None:
    """IPv6 has many forms, a name capitals; and the files of a domain may differ in that."""
    own = tuple(f"2001:db8::{number}" for number in range(1, 5))
    spelled = tuple(f"2001:0DB8:0:0::{number}" for number in range(1, 5))
    status = Status("UP", tuple(Member(host, "READY") for host in spelled))
    trays = {name: tray(at, status, spelled, addresses=(own[at - 1],)) for at, name in enumerate(NAMES, start=1)}
    assert compare(trays, 0) == ((), ())
    capital = tuple(name.upper() for name in NAMES)
    assert compare(trays | {"tray-1": tray(1, status, capital, addresses=own[:1])}, 0) == ((), ())


def test_addresses_of_a_tray_that_did_not_tell_its_own_accuse_none() -> None:
    """One of them is its own; which one, nobody knows."""
    mute = tray(4, addresses=())
    assert configured(HOSTS, tray_4=mute) == ([], ())
    blamed, unread = configured(HOSTS, tray_1=tray(1, hosts=(*HOSTS[:3], "tray-4")), tray_4=mute)
    assert (blamed, len(unread)) == ([], 1)


def test_what_half_of_a_domain_says_blames_no_single_tray() -> None:
    """Three of 18 trays were read: who of them is wrong is not theirs to say."""
    three = {name: tray(at, said(), HOSTS) for at, name in enumerate(NAMES[:3], start=1)}
    assert told(three | {"tray-3": tray(3, hosts=HOSTS[:3])}, silent=15) == [("imex.config", "nodes_config.cfg")]
    cut_off = said(n2="UNAVAILABLE", n3="UNAVAILABLE", n4="UNAVAILABLE")
    deaf = TrayImex(active=True, hosts=HOSTS, status=None)
    blind = {name: tray(at, imex=deaf) for at, name in enumerate(NAMES, start=1)}
    assert told(blind | {"tray-1": tray(1, cut_off)}) == []


def test_what_most_trays_show_is_one_trouble() -> None:
    """It has one cause: IMEX off, not reached, not ready, missing from the one file."""
    off = TrayImex(active=False, hosts=HOSTS, status=None)
    found = only({name: tray(at, imex=off) for at, name in enumerate(NAMES, start=1)})
    assert (found.code, found.component) == ("imex.inactive", "IMEX")
    assert found.message.startswith("IMEX runs on 0 of 4 compute trays of the domain, expected on all: not on tray-1")
    gone = said(n1="UNAVAILABLE", n2="UNAVAILABLE", n3="UNAVAILABLE", n4="UNAVAILABLE")
    assert told({name: tray(at, gone) for at, name in enumerate(NAMES, start=1)}) == [("imex.not_ready", "IMEX")]
    waits = said(n1="WAITING", n2="WAITING", n3="WAITING")
    assert told({name: tray(at, waits) for at, name in enumerate(NAMES, start=1)}) == [("imex.not_ready", "IMEX")]
    assert configured(HOSTS[:2]) == (["nodes_config.cfg"], ())


def test_instances_of_another_version_are_named() -> None:
    """By their own word."""
    other = Status("UP", tuple(Member(member.host, member.status, "575.1") for member in said().members))
    assert only(rack(tray_2=tray(2, other))).message == (
        "IMEX of tray-2 is 575.1, expected 580.95.05 as on 3 trays of its domain"
    )


def test_names_are_counted_where_there_are_many() -> None:
    assert named(["a", "b", "c"], 2) == "a, b and 1 more"
    assert named(("a",)) == "a"
