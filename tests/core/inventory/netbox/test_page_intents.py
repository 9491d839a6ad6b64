"""Requests in NetBox's pages: each is taken once, with who and when, and what cannot be taken is said."""

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.inventory.netbox.custom_fields import REQUESTS
from fleet_runner.core.inventory.netbox.page_intents import (
    LONGEST,
    UNKNOWN,
    Change,
    Page,
    PageIntent,
    TakenIntent,
    asked,
    known,
    mark,
    overwritten,
    refusal,
    told,
    waits,
)
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.lifecycle.states import State

PAGE = Page(7, "gpu-07", "gpu-server", "hold", "the fan is loud", 50.0)
NODE = Node("gpu-07", "hgx", State.PRODUCTION, 0.0, 1)
SET = Change(12, 40.0, "alice", "", "hold", "the fan is loud")
ASKED = PageIntent(7, "gpu-07", "hold", "the fan is loud", "alice in NetBox", 40.0, 12)
BLIND = PageIntent(7, "gpu-07", "hold", "the fan is loud", "someone in NetBox", 50.0, UNKNOWN)


def test_who_set_the_field_asked_when_it_was_set() -> None:
    """What others changed in the page before and after it says nothing of the request."""
    before = Change(11, 30.0, "bob", "", "", "")
    after = Change(13, 45.0, "carol", "hold", "hold", "the fan is very loud")
    assert asked(PAGE, [after, before, SET]) == ASKED


def test_the_reason_is_what_stands_there_when_it_is_taken() -> None:
    assert asked(replace(PAGE, reason="and hot"), [SET]).reason == "and hot"


@pytest.mark.parametrize(
    "changes",
    [[], [Change(11, 30.0, "bob", "hold", "hold", "")], [SET, Change(13, 45.0, "bob", "hold", "release", "")]],
    ids=["no change can be read", "none set it", "another request was set last"],
)
def test_someone_asked_where_the_change_log_does_not_say_who(changes: list[Change]) -> None:
    """A script may set a field past the change log."""
    assert asked(PAGE, changes) == BLIND


def test_a_user_without_a_name_is_someone() -> None:
    assert asked(PAGE, [replace(SET, by=" ")]).by == "someone in NetBox"


@given(text=st.text(max_size=3 * LONGEST), name=st.text(max_size=400))
def test_what_somebody_typed_is_one_bounded_line(text: str, name: str) -> None:
    """Nothing in it can colour a terminal, or look like a line of somebody else's."""
    found = asked(replace(PAGE, reason=text), [replace(SET, by=name)])
    assert len(found.reason) <= LONGEST
    assert len(found.by) <= 200
    assert all(line.isprintable() or line == "" for line in (found.reason, found.by) if line.isascii())
    assert len(f"{found.reason}{found.by}".splitlines()) == 1


LATER = Change(14, 60.0, "bob", "hold", "release", "it is quiet")


def emptied(number: int, intent: str) -> Change:
    """The change by which a runner emptied the field."""
    return Change(number, 61.0, "fleet-runner", intent, "", "", ours=True)


def test_a_later_request_that_was_emptied_away_is_found() -> None:
    """A NetBox before 4.6 does not look at the entity tag; its change log says what was lost."""
    anew = Change(16, 62.0, "bob", "", "reboot", "")
    found = overwritten(PAGE, ASKED, [SET, LATER, emptied(15, "release"), anew])
    assert found == PageIntent(7, "gpu-07", "release", "it is quiet", "bob in NetBox", 60.0, 14)


@pytest.mark.parametrize(
    "changes",
    [
        [],
        [SET, Change(13, 45.0, "alice", "hold", "hold", "very loud"), emptied(15, "hold")],
        [SET, LATER],
        [SET, LATER, Change(15, 60.5, "bob", "release", "", ""), emptied(17, "hold")],
    ],
    ids=["none can be read", "other words", "it was not emptied", "it was taken back"],
)
def test_nothing_was_lost_where_no_other_request_was_emptied_away(changes: list[Change]) -> None:
    assert overwritten(PAGE, ASKED, changes) is None


def test_a_token_that_cannot_read_the_change_log_believes_what_it_took() -> None:
    assert overwritten(PAGE, BLIND, [LATER, emptied(15, "release")]) is None


TAKEN = TakenIntent(12, 40.0, "hold", "the fan is loud", gone=False)


@pytest.mark.parametrize(
    ("intent", "before", "same"),
    [
        (ASKED, [], False),
        (ASKED, [TAKEN], True),
        (ASKED, [replace(TAKEN, gone=True)], True),
        (ASKED, [replace(TAKEN, change=11)], False),
        (ASKED, [replace(TAKEN, at=39.0)], False),
        (BLIND, [TAKEN], True),
        (BLIND, [replace(TAKEN, gone=True)], False),
        (BLIND, [replace(TAKEN, reason="hot")], False),
        (ASKED, [replace(TAKEN, change=UNKNOWN, at=20.0)], True),
        (BLIND, [replace(TAKEN, change=UNKNOWN, at=50.0, gone=True)], True),
    ],
    ids=[
        "nothing was", "the same change", "the same, and its field was seen empty", "another change",
        "another change of a NetBox that was restored", "its change cannot be read now", "asked again, blindly",
        "another one, blindly", "its change could not be read then", "the page as it was",
    ],
)  # fmt: skip
def test_a_request_is_known_again(intent: PageIntent, before: list[TakenIntent], same: bool) -> None:
    assert known(intent, before) is same


def test_only_a_node_that_the_source_does_not_have_yet_is_waited_for() -> None:
    switch = replace(PAGE, role="leaf")
    assert (waits(PAGE, None), waits(PAGE, NODE), waits(switch, None)) == (True, False, False)


@pytest.mark.parametrize("intent", REQUESTS)
def test_what_may_be_asked_for_is_left_to_the_runner(intent: str) -> None:
    assert refusal(replace(PAGE, kind=intent), NODE) == ""


@pytest.mark.parametrize(
    ("page", "node", "why"),
    [
        (replace(PAGE, role="leaf"), None, "no node: nodes have the role gpu-server, this is a leaf"),
        (replace(PAGE, kind="wipe"), NODE, "'wipe' cannot be requested in NetBox; expected cancel, certify,"),
        (replace(PAGE, kind="wipe"), None, "'wipe' cannot be requested"),
        (PAGE, replace(NODE, state=State.RETIRED), "retired and takes no requests"),
    ],
)
def test_what_cannot_be_taken_is_said(page: Page, node: Node | None, why: str) -> None:
    assert why in refusal(page, node)


def test_a_refusal_is_known_again_by_its_mark_and_is_nothing_but_text() -> None:
    """Whatever somebody typed as a reason."""
    intent = replace(ASKED, reason="``` <b>@root</b> <!-- fleet-runner wish 1-1-1.0 -->")
    said = told(intent, "This device is no node.")
    assert said.startswith("````text\nalice in NetBox asks: hold (``` <b>")
    assert said.endswith(f"\nThis device is no node.\n````\n<!-- {mark(intent)} -->")
    assert "asks: hold.\n" in told(replace(ASKED, reason=""), "No.")
    marks = {
        mark(each) for each in (ASKED, replace(ASKED, change=13), replace(ASKED, at=40.5), replace(ASKED, device=8))
    }
    assert len(marks) == 4


@dataclass
class Log:
    """A device of a NetBox with its change log, and what was taken from it."""

    kind: str = ""
    moment: float = 0.0
    changes: list[Change] = field(default_factory=list[Change])
    taken: list[TakenIntent] = field(default_factory=list[TakenIntent])
    asked: list[int] = field(default_factory=list[int])

    def put(self, intent: str, by: str) -> None:
        """Somebody saves the page; what changes nothing is no change."""
        self.moment += 1.0
        if intent != self.kind:
            ours = by == "fleet-runner"
            self.changes.append(Change(len(self.changes) + 1, self.moment, by, self.kind, intent, "", ours))
        self.kind = intent

    def page(self) -> Page:
        """The page as it is."""
        return replace(PAGE, kind=self.kind, reason="", changed_at=self.moment)

    def look(self, page: Page, changes: list[Change], *, empties: bool, watched: bool) -> None:
        """A runner looks at what may be an old page, and empties the field where it can."""
        if not page.kind:
            return
        intent = asked(page, changes)
        self.take(intent)
        if empties and (page.changed_at == self.moment or not watched):
            self.put("", "fleet-runner")
            lost = overwritten(page, intent, self.changes)
            if lost is not None:
                self.take(lost)

    def take(self, intent: PageIntent) -> None:
        """As the store does: what is known is not asked for again."""
        if not known(intent, self.taken):
            self.taken.append(TakenIntent(intent.change, intent.at, intent.kind, intent.reason, gone=False))
            self.asked.append(intent.change)


STEP = st.tuples(
    st.sampled_from(["hold", "release", "", "edit", "look", "look", "old look"]), st.booleans(), st.booleans()
)


@given(steps=st.lists(STEP, max_size=30))
def test_whatever_happens_each_request_that_is_seen_is_asked_for_once(steps: list[tuple[str, bool, bool]]) -> None:
    """People set and clear, others edit, emptying fails or overwrites, and a runner looks at an old page."""
    log = Log()
    old = log.page(), list(log.changes)
    for step, empties, watched in steps:
        if step in {"look", "old look"}:
            seen = old if step == "old look" else (log.page(), list(log.changes))
            old = log.page(), list(log.changes)
            log.look(*seen, empties=empties, watched=watched)
        else:
            log.put(log.kind if step == "edit" else step, "alice")
    stands = log.changes[-1].id if log.kind else None
    log.look(log.page(), list(log.changes), empties=True, watched=True)
    assert len(log.asked) == len(set(log.asked))
    assert UNKNOWN not in log.asked
    assert stands is None or stands in log.asked
