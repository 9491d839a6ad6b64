"""Many resources by a few patterns: each asked once, and what cannot be read is said."""

from socket import SHUT_RDWR
from typing import Any

import pytest

from fleet_runner.adapters.redfish import bulk
from fleet_runner.adapters.redfish.bulk import chosen, gather
from fleet_runner.adapters.redfish.resources import Resources
from fleet_runner.core.base.errors import BmcError
from fleet_runner.core.checks.reads import READS
from tests.adapters.redfish.replay import replayed, talk
from tests.core.checks.catalogue.bmc_trees import Wire

CHASSIS = "/redfish/v1/Chassis"


def collection(uri: str, *members: str, **more: Any) -> dict[str, dict[str, Any]]:
    """Return a collection of links."""
    return {uri: {"@odata.id": uri, "Members": [{"@odata.id": f"{uri}/{each}"} for each in members], **more}}


def resource(uri: str, *links: str, **more: Any) -> dict[str, dict[str, Any]]:
    """Return a resource with links of the names that they end with."""
    named = {link.rpartition("/")[2]: {"@odata.id": link} for link in links}
    return {uri: {"@odata.id": uri, "@odata.type": "#Any.v1_0_0.Any", "Id": uri.rpartition("/")[2], **named, **more}}


TREE = (
    collection(CHASSIS, "1", "2", "HGX_GPU_1", "gone")
    | resource(f"{CHASSIS}/1", f"{CHASSIS}/1/Thermal", f"{CHASSIS}/1/Sensors")
    | resource(f"{CHASSIS}/2", f"{CHASSIS}/2/Sensors", f"{CHASSIS}/2/Lost")
    | resource(f"{CHASSIS}/HGX_GPU_1", f"{CHASSIS}/HGX_GPU_1/Thermal")
    | resource(f"{CHASSIS}/1/Thermal")
    | collection(f"{CHASSIS}/1/Sensors", "A")
    | collection(f"{CHASSIS}/2/Sensors", "B", "C")
    | resource(f"{CHASSIS}/2/Sensors/B")
    | resource(f"{CHASSIS}/2/Sensors/C")
)


def asked(tree: Any, *patterns: str, **answers: int) -> tuple[list[str], list[str]]:
    """Return the ends of the URIs that were found, with a "?" for each that could not be read, and of those asked."""
    wire: Any = Wire(tree, {f"{CHASSIS}/{start}": status for start, status in answers.items()})
    found = gather(Resources(wire), patterns)
    told = [uri.removeprefix(CHASSIS) + ("" if body else "?") for uri, body in found.items()]
    return sorted(told), [uri.removeprefix(CHASSIS) for uri in wire.asked]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (f"{CHASSIS}/*", ["/1", "/2", "/HGX_GPU_1"]),
        (f"{CHASSIS}/*!HGX_*", ["/1", "/2"]),
        (f"{CHASSIS}/*=2,HGX_GPU_1", ["/2", "/HGX_GPU_1"]),
        (f"{CHASSIS}/*/Thermal", ["/1/Thermal"]),
        (f"{CHASSIS}/*/Sensors!Thermal/*", ["/2/Sensors/B", "/2/Sensors/C"]),
        (f"{CHASSIS}/*/Lost", []),
        (f"{CHASSIS}/1", ["/1"]),
        ("/redfish/v1/Nothing/*", []),
    ],
)
def test_a_pattern_names_what_its_words_say(pattern: str, found: list[str]) -> None:
    """Links that lead nowhere and members that are gone are left out."""
    assert asked(TREE, pattern)[0] == found


def test_each_resource_is_asked_once_whatever_the_patterns_share() -> None:
    """A BMC answers a few requests a second."""
    _, requests = asked(
        TREE, f"{CHASSIS}/*/Thermal", f"{CHASSIS}/*", f"{CHASSIS}/*/Sensors/*", f"{CHASSIS}/*/Thermal"
    )
    assert len(requests) == len(set(requests))


def test_what_answers_with_an_error_is_named_and_keeps_nothing_else_back() -> None:
    """The GPU baseboard while the host is off."""
    assert asked(TREE, f"{CHASSIS}/*", HGX_GPU_1=503)[0] == ["/1", "/2", "/HGX_GPU_1?"]


def test_a_bmc_that_answers_nothing_but_errors_says_which() -> None:
    """Nothing was read: that is no answer."""
    with pytest.raises(BmcError, match="answered 500, expected 200: told so"):
        asked(TREE, f"{CHASSIS}/*", **{"": 500})


def test_members_that_come_whole_are_not_asked_again() -> None:
    """Some collections show more than links."""
    tree = TREE | {CHASSIS: {"@odata.id": CHASSIS, "Members": [TREE[f"{CHASSIS}/2"]]}}
    assert asked(tree, f"{CHASSIS}/*") == (["/2"], [""])


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("offered", [True, False])
def test_the_last_members_of_a_queue_are_read_or_all_where_they_come_at_once(whole: bool, offered: bool) -> None:
    """An iDRAC keeps hundreds of jobs."""
    features = {"ProtocolFeaturesSupported": {"ExpandQuery": {"NoLinks": offered}}}
    names = [f"{CHASSIS}/{at}" for at in range(1, 5)]
    members = [resource(uri)[uri] if whole else {"@odata.id": uri} for uri in names]
    tree = {"/redfish/v1": features, f"{CHASSIS}?$expand=.": {"@odata.id": CHASSIS, "Members": members}}
    tree |= collection(CHASSIS, "1", "2", "3", "4")
    for uri in names:
        tree |= resource(uri)
    found, reads = asked(tree, f"{CHASSIS}/*-2")
    assert found == (["/1", "/2", "/3", "/4"] if whole and offered else ["/3", "/4"])
    assert [each for each in reads if each in ("/1", "/2")] == []
    assert [each for each in reads if each in ("/3", "/4")] == ([] if whole and offered else ["/3", "/4"])


def test_the_pages_of_a_log_are_put_together() -> None:
    """Up to a limit, beyond which it keeps the link to what was not read."""
    pages = {
        f"{CHASSIS}?page={n}": {"@odata.id": CHASSIS, "Members": [{"@odata.id": f"{CHASSIS}/{n}"}]}
        | ({"Members@odata.nextLink": f"{CHASSIS}?page={n + 1}"} if n < last else {})
        for last in (30,)
        for n in range(1, last + 1)
    }
    wire: Any = Wire(pages | {CHASSIS: pages[f"{CHASSIS}?page=1"]})
    (body,) = gather(Resources(wire), [CHASSIS]).values()
    assert body is not None
    assert len(body["Members"]) == bulk.MOST_PAGES
    assert body["Members@odata.nextLink"] == f"{CHASSIS}?page={bulk.MOST_PAGES + 1}"
    short: Any = Wire({**pages, CHASSIS: pages[f"{CHASSIS}?page=28"]})
    (body,) = gather(Resources(short), [CHASSIS]).values()
    assert body is not None
    assert (len(body["Members"]), body["Members@odata.nextLink"]) == (3, None)


def test_pages_that_go_round_or_nowhere_end() -> None:
    """A BMC's mistakes keep nobody busy for ever."""
    for following in (CHASSIS, f"{CHASSIS}?gone"):
        round_about: Any = Wire({CHASSIS: TREE[CHASSIS] | {"Members@odata.nextLink": following}})
        (body,) = gather(Resources(round_about), [CHASSIS]).values()
        assert body is not None
        assert len(body["Members"]) == len(TREE[CHASSIS]["Members"])


def test_more_resources_than_may_be_asked_for_are_an_error() -> None:
    """A hostile BMC, or one of another size than any we know."""
    names = [str(each) for each in range(bulk.MOST_RESOURCES + 1)]
    tree = collection(CHASSIS, *names)
    with pytest.raises(BmcError, match=f"more than {bulk.MOST_RESOURCES} resources"):
        asked(tree, f"{CHASSIS}/*")


@pytest.mark.parametrize(("word", "wanted"), [("*", True), ("*=SEL,Log1", True), ("*=SE", False), ("*!S*", False)])
def test_a_star_may_choose(word: str, wanted: bool) -> None:
    """By names, or by a pattern of those left out."""
    assert chosen("SEL", word) is wanted


def test_a_link_inside_a_property_is_found() -> None:
    """As for a read of one pattern."""
    inner = {"@Redfish.Settings": {"SettingsObject": {"@odata.id": f"{CHASSIS}/1/Thermal"}}}
    assert asked(TREE | resource(f"{CHASSIS}/2", **inner), f"{CHASSIS}/*=2/@Redfish.Settings:SettingsObject")[0] == [
        "/1/Thermal"
    ]


def test_over_the_wire_a_busy_resource_is_tried_again_and_then_told() -> None:
    """Through the client, with its session."""
    with replayed(TREE) as server, talk(server) as bmc:
        server.statuses["GET", f"{CHASSIS}/HGX_GPU_1"] = [503] * 9
        server.statuses["GET", f"{CHASSIS}/1"] = [503]
        found = bmc.gather([f"{CHASSIS}/*"])
    assert {uri: body is not None for uri, body in found.items()} == {
        f"{CHASSIS}/1": True, f"{CHASSIS}/2": True, f"{CHASSIS}/HGX_GPU_1": False,
    }  # fmt: skip


def test_a_bmc_that_hangs_up_is_not_asked_for_the_rest() -> None:
    """Each request would take its time."""
    with replayed(TREE) as server, talk(server) as bmc:
        server.broken[f"{CHASSIS}/1"] = lambda handler: handler.connection.shutdown(SHUT_RDWR)
        with pytest.raises(BmcError):
            bmc.gather([f"{CHASSIS}/*"])


def test_every_read_of_many_resources_begins_with_a_collection() -> None:
    """A word before the first star is a part of a URI."""
    for read in READS.values():
        for pattern in read.argv if read.kind.value == "redfish" else ():
            assert pattern.startswith(("/redfish/v1/Chassis/*", "/redfish/v1/Systems/*", "/redfish/v1/Managers/*"))
