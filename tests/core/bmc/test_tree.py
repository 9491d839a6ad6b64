"""What is read of a BMC: by patterns, each resource once, and never beyond the BMC itself."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.bmc import tree as reading
from fleet_runner.core.bmc.tree import FIRMWARE, MOST_PAGES, ROOT, Part, Tree, chosen, own, shown
from tests.core.bmc.trees import CHASSIS, LOG, SYSTEM, captured, changed, collection, surveyed
from tests.core.bmc.trees import FIRMWARE as INVENTORY

NESTED = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8) | st.sampled_from([ROOT, f"{ROOT}/Systems", "/x"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["@odata.id", "Members", reading.NEXT, "Drives", "Power", "Id"]), inner)
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(sorted(captured())), st.dictionaries(st.text(max_size=6), NESTED)))
def test_any_answers_are_followed_to_an_end_and_nothing_is_asked_twice(wrong: dict[str, Any]) -> None:
    _, asked = surveyed({**captured(), **wrong})
    keys = [uri.rstrip("/") for uri in asked]
    assert len(keys) == len(set(keys))
    assert all(uri.startswith("/redfish/") for uri in keys)


def test_all_that_a_captured_bmc_has_is_found_and_each_resource_asked_for_once() -> None:
    tree, asked = surveyed(captured())
    left = set(captured()) - set(tree.bodies) - {f"{ROOT}/UpdateService", f"{CHASSIS}/PCIeDevices/NIC1"}
    assert not left - {f"{ROOT}/Managers/1/LogServices"}
    assert len(asked) == len(set(asked))


def test_a_collection_that_names_itself_as_its_next_page_ends() -> None:
    bodies = changed(INVENTORY, **{reading.NEXT: INVENTORY})
    tree, _ = surveyed(bodies)
    assert len(tree.of(FIRMWARE)) == 15 - len([uri for uri in tree.absent if uri.startswith(INVENTORY)])


def test_pages_are_followed_and_joined_up_to_a_limit() -> None:
    pages = {
        f"{LOG}{f'?$skip={page}' if page else ''}": {
            "@odata.type": "#LogEntryCollection.LogEntryCollection",
            "Members": [{"Id": str(page)}, "no entry"],
            reading.NEXT: f"{LOG}?$skip={page + 1}",
        }
        for page in range(MOST_PAGES + 5)
    }
    tree, _ = surveyed({**captured(), **pages})
    whole = tree.whole(LOG, tree.bodies[LOG])
    assert [row["Id"] for row in whole["Members"]] == [str(page) for page in range(MOST_PAGES)]
    assert whole[reading.NEXT] == f"{LOG}?$skip={MOST_PAGES}"


def test_a_page_that_is_not_there_ends_the_collection() -> None:
    tree, asked = surveyed(changed(LOG, **{reading.NEXT: f"{LOG}?$skip=9"}))
    assert f"{LOG}?$skip=9" in asked
    assert tree.whole(LOG, tree.bodies[LOG])["Members"] == captured()[LOG]["Members"]


def test_members_that_a_collection_shows_whole_are_not_asked_for() -> None:
    one = {"@odata.id": f"{INVENTORY}/X", "@odata.type": "#SoftwareInventory.v1_0_0.SoftwareInventory", "Id": "X"}
    _, asked = surveyed(changed(INVENTORY, Members=[one]))
    assert f"{INVENTORY}/X" not in asked
    tree = Tree(changed(INVENTORY, Members=[one]))
    assert tree.of(FIRMWARE) == {f"{INVENTORY}/X": one}


def test_what_was_lost_or_missed_is_not_asked_for_again() -> None:
    tree = Tree()
    tree.lose(f"{ROOT}/Systems/", "slow")
    tree.miss(f"{ROOT}/Managers")
    assert tree.wanted(reading.MACHINE) == [f"{ROOT}/Chassis"]
    assert (tree.unread, tree.absent) == ({f"{ROOT}/Systems": "slow"}, [f"{ROOT}/Managers"])


def test_what_a_file_has_as_null_could_not_be_read() -> None:
    tree = Tree({f"{ROOT}/Systems": None})
    assert tree.unread == {f"{ROOT}/Systems": "it could not be read when this file was saved"}


def test_links_are_taken_by_name_unless_another_one_is_there_and_from_lists() -> None:
    bodies = {
        "/redfish/v1/A": {"B": {"@odata.id": "/redfish/v1/B"}, "C": {"@odata.id": "/redfish/v1/C"},
                          "D": [{"@odata.id": "/redfish/v1/D/1/#x"}, {"@odata.id": "/redfish/v1/D/2"}, 3]},
        "/redfish/v1/B": {},
        "/redfish/v1/C": {},
        **collection("/redfish/v1/L", "x"),
        "/redfish/v1/L/x": {"B": {"@odata.id": "/redfish/v1/B"}},
    }  # fmt: skip
    tree = Tree({**bodies, **{f"/redfish/v1/M/{name}": bodies["/redfish/v1/A"] for name in "1"},
                 **collection("/redfish/v1/M", "1")})  # fmt: skip
    assert list(tree.at("/redfish/v1/M/*/B")) == ["/redfish/v1/B"]
    assert list(tree.at("/redfish/v1/M/*/B!C")) == []
    assert list(tree.at("/redfish/v1/L/*/B!C")) == ["/redfish/v1/B"]
    assert tree.wanted(Part("", ("/redfish/v1/M/*/D[]",))) == ["/redfish/v1/D/1/", "/redfish/v1/D/2"]


@pytest.mark.parametrize(
    ("link", "leads"),
    [
        ({"@odata.id": "/redfish/v1/Systems/1/#/x"}, "/redfish/v1/Systems/1/"),
        ({"@odata.id": "https://elsewhere.example/redfish/v1"}, ""),
        ({"@odata.id": "/redfish//elsewhere"}, ""),
        ({"@odata.id": "/redfish/v1/../../etc"}, ""),
        ({"@odata.id": "/redfish/v1/a b"}, ""),
        ({"@odata.id": "/redfish/v1/\n"}, ""),
        ({"@odata.id": 5}, ""),
        ("/redfish/v1", ""),
    ],
)
def test_only_links_within_the_bmc_are_followed(link: object, leads: str) -> None:
    assert own(link) == leads


def test_members_are_chosen_by_their_names() -> None:
    assert [chosen("SEL", word) for word in ("*", "*=SEL,Log", "*!S*", "*~S*", "*~G*", "*=Log")] == [
        True, True, False, True, False, False,
    ]  # fmt: skip


def test_a_uri_is_shown_short_and_safe() -> None:
    assert shown(f"{SYSTEM}\x1b") == "Systems/1\ufffd"


def test_what_is_nested_without_end_or_too_much_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    deep: dict[str, Any] = {}
    for _ in range(900):
        deep = {"Oem": [deep]}
    tree = Tree({SYSTEM: deep, CHASSIS: {"Name": "x"}})
    assert list(tree.bodies) == [CHASSIS]
    assert tree.unread == {SYSTEM: "it is nested too deep, or the BMC sent too much in all"}
    monkeypatch.setattr(reading, "MOST_CHARACTERS", 100)
    small = Tree()
    small.learn(SYSTEM, {"Name": "x" * 50})
    small.learn(CHASSIS, {"Name": "x" * 50})
    assert (list(small.bodies), list(small.unread)) == ([SYSTEM], [CHASSIS])
