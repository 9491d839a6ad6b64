"""Planned cables called connected in a NetBox that others change too, that refuses, leaves out, or is not there."""

import socket
from collections.abc import Collection, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.adapters import netbox
from fleet_runner.adapters.netbox import cable_status
from fleet_runner.adapters.netbox.cable_status import CHUNK, Written
from tests.adapters.netbox.standin import TOKEN, Lists, Row, Standin, serving
from tests.examples import examples

QUICK = netbox.Timeouts(connect_seconds=30, read_seconds=60, retries=2, backoff_seconds=0.01)
STATUSES = ("planned", "connected", "decommissioning")


def cable(number: int, status: str = "planned") -> Row:
    """A cable as NetBox keeps it."""
    return {
        "id": number,
        "status": {"value": status, "label": status.title()},
        "created": "2026-01-01T00:00:00+00:00",
        "last_updated": f"2026-01-01T00:00:00.{number:06d}+00:00",
    }


@pytest.fixture
def standin() -> Iterator[Standin]:
    """A NetBox with three planned cables and a connected one."""
    with serving({"cables": [cable(1), cable(2), cable(3), cable(4, "connected")]}) as serves:
        yield serves


def write(standin: Standin, ids: Collection[int], token: str = TOKEN) -> Written:
    """Write to the stand-in."""
    return netbox.connect_cables(standin.url, token, ids, QUICK)


def statuses(standin: Standin) -> dict[int, str]:
    """What the stand-in has now."""
    return {row["id"]: row["status"]["value"] for row in standin.lists["cables"]}


def set_status(lists: Lists, number: int, status: str) -> None:
    """Somebody changes a cable."""
    row = next(row for row in lists["cables"] if row["id"] == number)
    row["status"] = {"value": status, "label": status.title()}
    row["last_updated"] = "2026-03-01T00:00:00.5+00:00"


def test_what_changed_is_written_in_one_request_and_nothing_else(standin: Standin) -> None:
    written = write(standin, {1, 3, 4})
    assert (written.done, written.warnings) == (2, [])
    assert statuses(standin) == {1: "connected", 2: "planned", 3: "connected", 4: "connected"}
    [body] = standin.changed
    assert [(row["id"], row["status"]) for row in body] == [(1, "connected"), (3, "connected")]
    assert all("sweep" in row["changelog_message"] for row in body)


def test_a_second_time_there_is_nothing_to_write(standin: Standin) -> None:
    write(standin, {1})
    assert write(standin, {1}) == Written()
    assert len(standin.changed) == 1


def test_without_a_change_nobody_is_asked(standin: Standin) -> None:
    assert write(standin, ()) == Written()
    assert standin.asked == []


def test_a_status_that_somebody_else_has_set_stays(standin: Standin) -> None:
    set_status(standin.lists, 1, "decommissioning")
    assert write(standin, {1, 2}).done == 1
    assert statuses(standin)[1] == "decommissioning"


def test_an_edit_between_reading_and_writing_is_not_overwritten(standin: Standin) -> None:
    """The entity tags do not fit any more; what was read again is written without the edited cable."""

    def edit(lists: Lists) -> None:
        standin.meanwhile = lambda lists: lists
        set_status(lists, 1, "decommissioning")

    standin.meanwhile = edit
    written = write(standin, {1, 2})
    assert (written.done, written.warnings) == (1, [])
    assert statuses(standin) == {1: "decommissioning", 2: "connected", 3: "planned", 4: "connected"}


def test_cables_that_are_edited_all_the_time_are_left_for_the_next_sweep(standin: Standin) -> None:
    times = iter(range(100))

    def edit(lists: Lists) -> None:
        lists["cables"][0]["last_updated"] = f"2026-03-01T00:00:{next(times):02d}+00:00"

    standin.meanwhile = edit
    written = write(standin, {1})
    assert written.done == 0
    assert "could not be changed now (HTTP 412); cable statuses are written after the next" in written.warnings[0]
    assert len(standin.asked) == 2 * cable_status.TRIES
    assert standin.changed == []


def test_a_cable_that_netbox_leaves_out_of_its_answer_is_named(standin: Standin) -> None:
    """It was deleted between reading and writing; NetBox answers 200 without it."""
    standin.meanwhile = lambda lists: lists["cables"].pop(0)
    written = write(standin, {1, 2})
    assert written.done == 1
    [warning] = written.warnings
    assert warning.startswith(f"{standin.url}/dcim/cables/1/: not in NetBox's answer to the change")


def test_an_answer_with_the_old_status_is_not_taken_for_success(
    standin: Standin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.adapters.netbox.standin._choice", lambda _: {"value": "planned"})
    written = write(standin, {1, 2})
    assert written.done == 0
    [warning] = written.warnings
    assert "cables/1/ and 1 more: NetBox accepted the change and did not make it" in warning


def test_one_refused_cable_does_not_hold_up_the_others(standin: Standin) -> None:
    standin.lists["cables"][1]["custom"] = "missing"
    written = write(standin, {1, 2, 3})
    assert written.done == 2
    [warning] = written.warnings
    assert f"{standin.url}/dcim/cables/2/: NetBox refuses the change (HTTP 400" in warning
    assert "The field owner is missing" in warning


def test_many_cables_are_written_in_parts(standin: Standin) -> None:
    standin.lists["cables"] = [cable(number) for number in range(1, 2 * CHUNK + 2)]
    assert write(standin, range(1, 2 * CHUNK + 2)).done == 2 * CHUNK + 1
    assert [len(body) for body in standin.changed] == [CHUNK, CHUNK, 1]


def test_what_takes_too_long_goes_on_at_the_next_sweep(standin: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cable_status, "SECONDS", -1.0)
    written = write(standin, {1})
    assert written.done == 0
    assert "1 cable statuses are not written within" in written.warnings[0]
    assert standin.asked == []


def test_a_busy_netbox_is_tried_again(standin: Standin) -> None:
    standin.before.extend([(503, "text/plain", b"")])
    assert write(standin, {1}).done == 1
    standin.change = lambda answer: (standin.before.append((502, "text/plain", b"")), answer)[1]
    written = write(standin, {2})
    assert written.done == 0
    assert "HTTP 502" in written.warnings[0]


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (403, "this token may not change anything in dcim/cables (HTTP 403); give the token's user the permission"),
        (401, "this token may not change anything"),
        (0, "cannot be reached for dcim/cables"),
    ],
)
def test_why_nothing_can_be_written_is_a_warning(standin: Standin, status: int, said: str) -> None:
    standin.change = lambda answer: (standin.before.extend([(status, "text/plain", b"")]), answer)[1]
    written = write(standin, {1})
    assert written.done == 0
    assert said in written.warnings[0]
    assert TOKEN not in str(written)
    assert statuses(standin)[1] == "planned"


def test_an_answer_that_is_no_list_is_a_warning(standin: Standin) -> None:
    standin.change = lambda answer: (standin.before.append((200, "application/json", b"7")), answer)[1]
    assert "is not a list of NetBox 4" in write(standin, {1}).warnings[0]


def test_a_wrong_token_or_address_is_a_warning_without_the_token(standin: Standin) -> None:
    for token in ("another-token", "", "a b"):
        written = write(standin, {1}, token)
        assert len(written.warnings) == 1
        assert "another-token" not in written.warnings[0]
    assert "not the address of a NetBox" in netbox.connect_cables("ftp://x", TOKEN, {1}).warnings[0]


def test_nobody_there_is_a_warning() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    assert "cannot be reached" in netbox.connect_cables(url, TOKEN, {1}, QUICK).warnings[0]


def test_a_netbox_in_another_time_zone_has_the_same_tags(standin: Standin) -> None:
    """NetBox shows times in its own zone, and makes tags from them in UTC."""

    def zoned(answer: Row) -> Row:
        for row in answer["results"]:
            row["last_updated"] = row["last_updated"].replace("T00:", "T05:30:", 1).replace(":00:00.", ":00.", 1)
            row["last_updated"] = row["last_updated"].replace("+00:00", "+05:30")
        return answer

    standin.change = zoned
    assert write(standin, {1}).done == 1


@given(
    before=st.dictionaries(st.integers(1, 200), st.sampled_from(STATUSES), max_size=120),
    ids=st.sets(st.integers(1, 200), max_size=120),
    refused=st.sets(st.integers(1, 200), max_size=3),
)
@settings(max_examples=examples(40), deadline=None)
def test_only_what_was_planned_is_changed(before: dict[int, str], ids: set[int], refused: set[int]) -> None:
    custom = {number: {"custom": "missing"} for number in refused}
    rows = [cable(number, status) | custom.get(number, {}) for number, status in before.items()]
    with serving({"cables": rows}) as standin:
        written = write(standin, ids)
        after = statuses(standin)
    due = {number for number in ids if before.get(number) == "planned"}
    assert after == before | dict.fromkeys(due - refused, "connected")
    assert written.done == len(due - refused)
    assert len(written.warnings) == len(due & refused)
