"""Nodes' states in their pages: written where they differ, whatever NetBox does, and never over a person's."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.core.inventory.netbox.mirror.fields import moment
from fleet_runner.core.lifecycle.states import Event
from fleet_runner.reconcile.inventory.netbox_mirror.fields import AGAIN, LOOK
from tests.netbox.mirroring import NAMES, Told, told
from tests.netbox.standin import Standin


@pytest.fixture
def mirror(standin: Standin, tmp_path: Path) -> Iterator[Told]:
    """Three registered nodes, whose pages say nothing yet."""
    with told(standin, tmp_path) as made:
        yield made


def states(mirror: Told) -> list[str | None]:
    """What the pages say."""
    return [mirror.page(name)["fleet_state"] for name in NAMES]


def test_what_differs_is_written_in_one_request_and_then_nothing(mirror: Told) -> None:
    mirror.edit("gpu-01", fleet_wish="hold")
    assert mirror.turn() == 3
    assert states(mirror) == ["registered"] * 3
    assert mirror.page("gpu-01")["fleet_since"] == moment(mirror.now - 10)
    assert mirror.page("gpu-01")["fleet_wish"] == "hold", "other fields stay"
    asked = len(mirror.standin.requests)
    assert mirror.turn() == 0
    assert len(mirror.standin.requests) == asked
    mirror.move("gpu-02", Event.START)
    assert mirror.turn() >= 1
    assert states(mirror) == ["registered", "provision", "registered"]
    patches = [each for each in mirror.standin.changes if each.method == "PATCH"]
    assert [len(each.body) for each in patches] == [3, 1]
    assert all(row["changelog_message"] for each in patches for row in each.body)


def test_a_person_s_value_stays_is_told_once_and_is_written_over_once_it_is_emptied(mirror: Told) -> None:
    mirror.turn()
    mirror.edit("gpu-01", fleet_state="retired")
    mirror.move("gpu-01", Event.START)
    for _ in range(3):
        mirror.turn(AGAIN + 1)
    assert mirror.page("gpu-01")["fleet_state"] == "retired"
    said = [text for text in mirror.entries("gpu-01") if "fleet-runner did not write" in text]
    [sentence] = said
    assert sentence.startswith("In its page in NetBox fleet_state is 'retired', which fleet-runner did not write")
    assert "Empty the field there, or say fleet-runner netbox sync --over gpu-01, then it is written" in sentence
    mirror.edit("gpu-01", fleet_state=None)
    mirror.turn(AGAIN + 1)
    assert mirror.page("gpu-01")["fleet_state"] == "provision"
    assert mirror.store.unwritten_fields(mirror.standin.url) == ()


def test_a_value_that_somebody_changes_later_is_found_within_the_hour(mirror: Told) -> None:
    mirror.turn()
    mirror.edit("gpu-03", fleet_since="2001-01-01T00:00:00Z")
    mirror.turn(LOOK - 100)
    assert mirror.entries("gpu-03") == []
    mirror.turn(200)
    assert len(mirror.entries("gpu-03")) == 1


def test_an_edit_between_reading_and_writing_is_seen_and_kept(mirror: Told) -> None:
    """NetBox says so (412), and all are read again: the others are written."""
    mirror.once(lambda: mirror.edit("gpu-02", fleet_state="debug"))
    mirror.turn()
    assert states(mirror) == ["registered", "debug", "registered"]
    assert [each.node for each in mirror.store.unwritten_fields(mirror.standin.url)] == ["gpu-02"]


def test_a_netbox_that_is_away_for_long_is_told_when_it_is_back(mirror: Told) -> None:
    """Only the last state: nothing is queued that is not true any more."""
    mirror.standin.fail(times=500, status=503)
    for event in (Event.START, Event.PASSED, Event.CERTIFIED):
        assert mirror.turn() == 0
        mirror.move("gpu-01", event)
    asked = len(mirror.standin.requests)
    assert mirror.turn(1.0) == 0
    assert len(mirror.standin.requests) == asked, "it is left alone for a while"
    assert "503" in mirror.standing("fields")
    mirror.standin.faults.clear()
    mirror.turn(4000)
    assert states(mirror) == ["verify", "registered", "registered"]
    assert mirror.standing("fields") == ""


@pytest.mark.parametrize("fault", [{"lost": True}, {"cut": True}, {"status": 504, "body": b"<h1>"}])
def test_an_answer_that_is_lost_makes_no_conflict(mirror: Told, fault: dict[str, Any]) -> None:
    """The node moves on before the next try: what stands there is known for ours."""
    mirror.standin.fail("PATCH", **fault)
    mirror.turn()
    for name in NAMES:
        mirror.move(name, Event.START)
    mirror.turn(4000)
    assert states(mirror) == ["provision"] * 3
    assert all(not each.conflict for each in mirror.store.mirrored_fields(mirror.standin.url))


def test_a_device_that_is_renamed_or_deleted_keeps_no_other_back(mirror: Told) -> None:
    number = mirror.standin.row("dcim/devices", name="gpu-01")["id"]
    mirror.standin.edit("dcim/devices", number, name="gpu-old")
    mirror.turn()
    assert [mirror.page(name)["fleet_state"] for name in NAMES[1:]] == ["registered"] * 2
    [left] = mirror.store.unwritten_fields(mirror.standin.url)
    assert left.detail == "NetBox has no device gpu-01 that this token may see: deleted or renamed there"
    mirror.standin.edit("dcim/devices", number, name="gpu-01")
    mirror.turn(4000)
    assert states(mirror) == ["registered"] * 3


def test_a_retired_node_whose_device_is_deleted_is_no_trouble(mirror: Told) -> None:
    """That is how nodes end: nobody has to hear of it for ever."""
    mirror.turn()
    mirror.move("gpu-01", Event.RETIRE)
    mirror.standin.remove("dcim/devices", mirror.standin.row("dcim/devices", name="gpu-01")["id"])
    for _ in range(3):
        mirror.turn(LOOK + 1)
    assert mirror.store.unwritten_fields(mirror.standin.url) == ()
    assert mirror.store.untold_lines(mirror.standin.url) == ()


def test_a_program_that_writes_there_again_and_again_is_told_of_once(mirror: Told) -> None:
    mirror.turn()
    for second in range(10, 15):
        mirror.edit("gpu-01", fleet_since=f"2025-01-01T00:00:{second}Z")
        mirror.turn(LOOK + 1)
    mirror.turn()
    assert len(mirror.entries("gpu-01")) == 1
    [now] = [each.conflict for each in mirror.store.unwritten_fields(mirror.standin.url)]
    assert now == "fleet_since is '2025-01-01T00:00:14Z'"


def test_a_device_at_which_netbox_fails_keeps_no_other_back(mirror: Told) -> None:
    """Be it that each change of it is an error there, or that a program changes it all the time."""
    mirror.breaks("PATCH", "gpu-01")
    for _ in range(6):
        mirror.turn(61.0)
    assert states(mirror) == [None, "registered", "registered"]
    assert "HTTP 500" in mirror.standing("fields")
    assert [each.node for each in mirror.store.unwritten_fields(mirror.standin.url) if each.detail] == ["gpu-01"]


def test_a_device_that_is_deleted_while_it_is_written_is_said(mirror: Told) -> None:
    number = mirror.standin.row("dcim/devices", name="gpu-03")["id"]
    mirror.once(lambda: mirror.standin.remove("dcim/devices", number))
    assert mirror.turn() == 2
    [left] = mirror.store.unwritten_fields(mirror.standin.url)
    assert left.node == "gpu-03"
    assert "deleted" in left.detail


def test_two_devices_of_one_name_are_said(mirror: Told) -> None:
    number = mirror.standin.row("dcim/devices", name="gpu-02")["id"]
    mirror.standin.spoil("dcim/devices", number, name="gpu-01")
    mirror.turn()
    [left, _] = mirror.store.unwritten_fields(mirror.standin.url)
    assert left.detail == "NetBox has 2 devices gpu-01; give each a name of its own"


def test_a_custom_field_that_is_missing_names_the_command_that_makes_it(mirror: Told) -> None:
    [row] = mirror.standin.rows("extras/custom-fields", name="fleet_since")
    mirror.standin.remove("extras/custom-fields", row["id"])
    mirror.turn()
    assert "no custom field fleet_since; run fleet-runner netbox init" in mirror.standing("fields")


def test_a_value_that_netbox_refuses_keeps_no_other_node_back(mirror: Told) -> None:
    """An older NetBox that netbox init has not seen lately."""
    [row] = mirror.standin.rows("extras/custom-field-choice-sets", name="fleet_state")
    mirror.standin.edit("extras/custom-field-choice-sets", row["id"], extra_choices=[["registered", "registered"]])
    mirror.move("gpu-02", Event.START)
    mirror.turn()
    assert states(mirror) == ["registered", None, "registered"]
    [left] = mirror.store.unwritten_fields(mirror.standin.url)
    assert "NetBox refuses the change (HTTP 400" in left.detail


def test_a_permission_that_is_missing_is_named(mirror: Told) -> None:
    mirror.token = mirror.standin.token_of("reader", {"dcim.device": ("view",)})
    mirror.turn()
    assert "dcim.change_device" in mirror.standing("fields")
    assert states(mirror) == [None] * 3


def test_a_field_that_netbox_drops_is_not_taken_for_written(mirror: Told) -> None:
    """As it does with what it does not know."""

    def dropped(answer: Any) -> Any:
        if not isinstance(answer, list):
            return answer
        return [row | {"custom_fields": dict.fromkeys(row["custom_fields"])} for row in answer]

    mirror.standin.change = dropped
    mirror.turn()
    assert {each.detail for each in mirror.store.unwritten_fields(mirror.standin.url)} == {
        "NetBox accepted the change and did not make it; check its log"
    }


def test_an_answer_of_another_shape_is_trouble_and_no_traceback(mirror: Told) -> None:
    mirror.standin.change = lambda _: {"count": 1, "next": None, "results": [{"id": 1, "name": "gpu-01"}]}
    mirror.turn()
    assert "another shape" in mirror.standing("fields")
