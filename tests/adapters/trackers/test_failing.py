"""Trackers that fail: each in its own sentence, nothing lost, nothing said twice, no other ticket held up."""

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import cast

import pytest

from fleet_runner.adapters.trackers import Access, Issue, transitions
from fleet_runner.adapters.trackers.github import GitHub
from fleet_runner.core.tickets.trackers.configuration import Configured
from fleet_runner.core.tickets.trackers.draft import Draft
from tests.adapters.trackers.bench import FLEET, HASTY, HOUR, Bench, bench
from tests.adapters.trackers.code_hosts import GitHubRemote
from tests.adapters.trackers.desks import JiraRemote, ServiceNowRemote
from tests.adapters.trackers.remote import TOKEN


def test_a_wrong_token_is_said_without_it_and_everything_waits(desk: Bench, tmp_path: Path) -> None:
    """A new one in the file is used at the next visit."""
    desk.see()
    desk.remote.token = "another"
    assert desk.send() == 0
    assert "does not take the token (HTTP 401)" in desk.why()
    assert TOKEN not in desk.why()
    (tmp_path / "token").write_text("another\n")
    assert desk.send() == 0  # not before its pause is over
    assert desk.send(31.0) == 1
    assert desk.why() == ""


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("drop", "cannot be reached"),
        ("503", 'it has trouble (HTTP 503): {"message": "told to fail with 503"}'),
        ("500", "it has trouble (HTTP 500)"),
        ("403", "may not do this (HTTP 403)"),
        ("404", "there is no such project"),
        ("422", "it does not take this (HTTP 422)"),
        ("302", "sends us elsewhere (HTTP 302)"),
        ("odd", "not with JSON"),
    ],
)  # fmt: skip
def test_each_failure_is_one_sentence_and_passes(github: Bench, fault: str, said: str) -> None:
    """After its pause the ticket arrives."""
    github.see()
    github.remote.faults = [fault]
    assert github.send() == 0
    assert said in github.why()
    assert github.why().startswith("desk: ")
    assert github.send(31.0) == 1
    assert github.only().open


def test_retry_after_is_heeded(github: Bench) -> None:
    """For as long as it says, within limits."""
    github.see()
    github.remote.faults = ["429"]
    github.send()
    assert "asks us to wait (HTTP 429)" in github.why()
    assert github.store.tracker("desk").due_at == github.now + 30.0  # it said 7 s, and half a minute is the least


def test_a_burst_of_failures_backs_off_and_is_forgotten(desk: Bench) -> None:
    """Half a minute, one, two, four: then it answers, and the next failure begins anew."""
    desk.see()
    desk.remote.faults = ["503"] * 4
    pauses: list[float] = []
    for _ in range(4):
        desk.send()
        pauses.append(desk.store.tracker("desk").due_at - desk.now)
        desk.now += pauses[-1] + 1.0
    assert pauses == [30.0, 60.0, 120.0, 240.0]
    assert desk.send() == 1
    assert desk.store.tracker("desk").tries == 0


def test_one_ticket_that_is_refused_holds_up_no_other(desk: Bench) -> None:
    """It waits by itself, and says why."""
    first, second = desk.see("a"), desk.see("b")
    desk.remote.faults = ["422"]
    assert desk.send() == 1
    (waiting,) = desk.store.untold("desk")
    assert waiting.ticket == first
    assert "HTTP 422" in waiting.detail
    assert desk.store.ticket_links(second)[0].remote
    assert desk.send(31.0) == 1


def test_a_ticket_that_breaks_its_tracker_comes_last(github: Bench) -> None:
    """A 500 about one text must not keep the others from being told."""
    github.see("a")
    github.see("b")
    github.remote.faults = ["500"]
    assert github.send() == 0
    github.remote.faults = ["", "", "500"]
    assert github.send(31.0) == 1
    assert github.only().title == "gpu-01: b is worn out"


def test_a_slow_answer_is_given_up(github: Bench) -> None:
    """No visit takes longer than its requests may."""
    github.see()
    github.remote.late_seconds, github.limits = 30.0, HASTY
    github.remote.faults = ["late"]
    began = time.monotonic()
    assert github.send() == 0
    assert time.monotonic() - began < github.remote.late_seconds
    assert "does not answer in time" in github.why()


def test_a_lagging_search_makes_no_second_issue(jira: Bench) -> None:
    """Jira's index follows within seconds; so long nothing is made."""
    jira.see()
    jira.remote.lag = 45.0
    jira.remote.faults = ["", "lost"]
    assert jira.send() == 0
    assert jira.send(31.0) == 0
    assert "the tracker is searched for it" in jira.store.untold("desk")[0].detail
    assert jira.send(31.0) == 1
    assert jira.only().open


def test_an_issue_that_is_gone_is_said_and_made_anew_on_a_persons_word(desk: Bench) -> None:
    """It may be hidden from the token alone: to make one each time would flood whom it is not hidden from."""
    if desk.of.kind == "webhook":
        return
    number = desk.see()
    desk.send()
    rows = desk.remote.rows if isinstance(desk.remote, ServiceNowRemote) else vars(desk.remote)["issues"]
    rows[0]["deleted"] = True
    desk.store.note_ticket(number, "Hm.", "ann", desk.now)
    assert desk.send() == 0
    assert "is gone, or hidden from the token" in desk.why()
    assert desk.store.forget_issue(number, "desk")
    assert desk.send() == 1
    assert len(rows) == 2
    assert not desk.store.forget_issue(99, "desk")


def test_a_workflow_without_a_way_to_done_is_said_with_what_it_offers(jira: Bench) -> None:
    """Once there is one, the issue is closed."""
    remote = cast("JiraRemote", jira.remote)
    number = jira.see()
    jira.send()
    remote.workflow["Open"] = ["In Work"]
    jira.prove(number)
    assert jira.send() == 0
    assert "has no transition to be done: found 'to In Work' to 'In Work'" in jira.why()
    assert "name one in `done`" in jira.why()
    remote.workflow["Open"] = ["In Work", "Solved"]
    remote.demands_resolution = True
    assert jira.send(31.0) == 1
    assert not jira.only().open
    assert sum("Closed:" in note for note in jira.only().notes) == 1


def test_a_transition_is_chosen_by_name_or_by_category() -> None:
    """One that demands fields that nobody knows comes last."""
    offered = [
        {"id": 1, "name": "Cancel", "to": {"name": "Cancelled", "statusCategory": {"key": "done"}},
         "fields": {"why": {"required": True}}},
        {"id": 2, "name": "Finish", "to": {"name": "Done", "statusCategory": {"key": "done"}},
         "fields": {"resolution": {"required": True, "allowedValues": [{"name": "Nope"}, {"name": "Done"}]}}},
        {"id": 3, "name": "Park", "to": {"name": "Parked", "statusCategory": {"key": "new"}}},
    ]  # fmt: skip
    assert transitions.choose(offered, "", done=True) == {
        "transition": {"id": "2"}, "fields": {"resolution": {"name": "Done"}},
    }  # fmt: skip
    assert transitions.choose(offered, "cancelled", done=True) == {"transition": {"id": "1"}}
    assert transitions.choose(offered, "", done=False) == {"transition": {"id": "3"}}
    assert transitions.choose(offered, "Nowhere", done=True) is None


def test_a_servicenow_that_keeps_an_incident_closed_is_said(template: Path, tmp_path: Path) -> None:
    """Its rules close resolved incidents for good after a week."""
    shutil.copy(template, tmp_path / "fleet.db")
    with bench("servicenow", f"sqlite:///{tmp_path / 'fleet.db'}", tmp_path) as desk:
        number = desk.see()
        desk.send()
        desk.prove(number)
        desk.send()
        cast("ServiceNowRemote", desk.remote).rows[0]["state"] = "7"
        desk.now += 60.0
        desk.see()
        assert desk.send() == 0
        assert "stays in state '7', expected '2'" in desk.why()
        assert desk.store.forget_issue(number, "desk")
        assert desk.send() == 1
        assert [issue.open for issue in desk.remote.seen()] == [False, True]


def test_labels_that_github_drops_keep_nothing_from_being_found(github: Bench) -> None:
    """It drops them where the token may not set them, without a word."""
    cast("GitHubRemote", github.remote).may_label = False
    github.see()
    github.remote.faults = ["", "lost"]
    github.send()
    github.settle()
    assert github.only().labels == []


def test_only_one_process_tells_a_tracker(github: Bench, tmp_path: Path) -> None:
    """Another one waits until it is done, or its right is over."""
    github.see()
    other = github.another(tmp_path)
    assert github.store.take_tracker("desk", other.holder, github.now, 180.0) is not None
    assert github.send() == 0
    assert github.send(181.0) == 1
    assert other.visit(FLEET) == 0


def test_whoever_was_overtaken_asks_for_no_issue(github: Bench, tmp_path: Path) -> None:
    """A process that slept through its right, after it had looked for an issue, must not make a second one."""
    number = github.see()
    github.sender.opened = lambda of, access: Sleeper(of, access, github, tmp_path)
    assert github.send() == 0
    assert github.remote.seen() == []
    github.sender = github.another(tmp_path)
    assert github.send(181.0) == 1
    assert github.store.ticket_links(number)[0].remote == "1"


class Sleeper(GitHub):
    """A session that finds nothing, and so late that another process has taken over."""

    def __init__(self, of: Configured, access: Access, bench: Bench, folder: Path) -> None:
        super().__init__(of, access)
        self.bench, self.folder = bench, folder

    def find(self, draft: Draft, since: float) -> Issue | None:
        """Look, and sleep."""
        found = super().find(draft, since)
        self.bench.now += 181.0
        other = self.bench.another(self.folder)
        assert self.bench.store.take_tracker("desk", other.holder, self.bench.now, 180.0) is not None
        return found


def test_a_sender_that_is_killed_after_the_issue_was_made_makes_no_second(github: Bench, tmp_path: Path) -> None:
    """That is kill -9 between the answer and its being written down; the next process finds the issue."""
    number = github.see()
    github.remote.faults = ["", "late"]  # made, and the answer hangs
    github.remote.late_seconds = 30.0
    program = Path(__file__).with_name("child.py")
    child = subprocess.Popen(
        [sys.executable, str(program), str(tmp_path), github.remote.url, str(github.now)],
        cwd=Path(__file__).parents[3],
    )
    try:
        until = time.monotonic() + 60.0
        while not github.remote.seen() and time.monotonic() < until:
            time.sleep(0.02)
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert len(github.remote.seen()) == 1
    (link,) = github.store.ticket_links(number)
    assert (link.remote, link.asked_at) == ("", github.now)
    assert github.send() == 0  # the dead one's right is not over yet
    assert github.send(HOUR) == 1
    assert github.only().open
    assert github.store.ticket_links(number)[0].remote == "1"
