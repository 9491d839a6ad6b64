"""Issues of Jira: Cloud by its REST API v3 and documents, Server and Data Center by v2 and wiki markup."""

import json
from base64 import b64encode
from typing import Any

from fleet_runner.adapters.trackers import transitions
from fleet_runner.adapters.trackers.tracker import Issue
from fleet_runner.adapters.trackers.wire import Access, SessionTracker, TrackerSession, pick
from fleet_runner.core.tickets.trackers import draft as telling
from fleet_runner.core.tickets.trackers import inert
from fleet_runner.core.tickets.trackers.backoff import Kind, TrackerError
from fleet_runner.core.tickets.trackers.configuration import Configured
from fleet_runner.core.tickets.trackers.draft import Draft, Update

SUMMARY, TEXT = 250, 30_000
"""Characters that Jira takes: 255 and 32,767."""

PAGE, PAGES = 100, 5
HANDS_OFF = "done"
"""Key of the category of statuses in which an issue is closed; the others are `new` and `indeterminate`."""


class Jira(SessionTracker):
    """One project. With a user the token is an API token of Jira Cloud, without one a personal access token.

    The search answers from an index that follows within seconds; so an issue whose making was not answered is not
    made again before a minute is over.
    """

    settles = 60.0

    def __init__(self, of: Configured, access: Access) -> None:
        self._of = of
        self._cloud = bool(of.user)
        basic = b64encode(f"{of.user}:{access.token}".encode()).decode()
        headers = {"Authorization": f"Basic {basic}" if self._cloud else f"Bearer {access.token}"}
        self._wire = TrackerSession(of.name, of.url, headers, access)
        self._api = "/rest/api/3" if self._cloud else "/rest/api/2"

    def find(self, draft: Draft, since: float) -> Issue | None:
        """Search the label that is an issue's marker, and believe only what carries it."""
        del since
        asked = {
            "jql": f'project = "{self._of.project}" AND labels = "{draft.marker}" ORDER BY created ASC',
            "fields": ["labels"],
            "maxResults": 10,
        }
        found = self._wire.ask("POST", f"{self._api}/search/jql" if self._cloud else f"{self._api}/search", asked)
        for row in pick(found, "issues"):
            if draft.marker in pick(row, "fields", "labels"):
                return self._issue(row)
        return None

    def create(self, draft: Draft, change: int) -> Issue:
        """Open an issue with the configured type and fields."""
        del change
        fields: dict[str, Any] = {
            **self._of.given,
            **self._text(draft),
            "project": {"key": self._of.project},
            "issuetype": {"name": self._of.type},
            "labels": [*draft.labels, draft.marker],
        }
        if str(draft.priority) in self._of.priorities:
            fields["priority"] = {"name": self._of.priorities[str(draft.priority)]}
        return self._issue(self._wire.ask("POST", f"{self._api}/issue", {"fields": fields}))

    def said(self, remote: str, draft: Draft) -> int:
        """Read the notes, the newest first, until one is ours."""
        for page in range(PAGES):
            asked = {"startAt": str(page * PAGE), "maxResults": str(PAGE), "orderBy": "-created"}
            found = self._wire.ask("GET", f"{self._api}/issue/{remote}/comment", params=asked, issue=remote)
            notes = pick(found, "comments")
            newest = telling.newest_said(draft.marker, json.dumps(notes))
            if newest or len(notes) < PAGE:
                return newest
        return 0

    def tell(self, remote: str, update: Update) -> None:
        """Open it before anything is changed, close it after everything is: a closed issue may be locked."""
        draft, path = update.draft, f"{self._api}/issue/{remote}"
        found = self._wire.ask("GET", path, params={"fields": "status,labels"}, issue=remote)
        closed = pick(found, "fields", "status", "statusCategory", "key") == HANDS_OFF
        if draft.open and closed:
            self._move(remote, draft)
        if update.note:
            self._wire.ask("POST", f"{path}/comment", {"body": self._words(update.note, update.mark)}, issue=remote)
        if update.rewritten and (draft.open or not closed):
            labels = telling.relabelled(pick(found, "fields", "labels"), (*draft.labels, draft.marker))
            self._wire.ask("PUT", path, {"fields": self._text(draft) | {"labels": list(labels)}}, issue=remote)
        if not draft.open and not closed:
            self._move(remote, draft)

    def _move(self, remote: str, draft: Draft) -> None:
        """Take an issue along a transition to an open or a closed status."""
        path = f"{self._api}/issue/{remote}/transitions"
        offered = pick(
            self._wire.ask("GET", path, params={"expand": "transitions.fields"}, issue=remote), "transitions"
        )
        wanted = self._of.again if draft.open else self._of.done
        chosen = transitions.choose(offered, wanted, done=not draft.open)
        if chosen is None:
            setting, kind = ("again", "open") if draft.open else ("done", "done")
            expected = f"{wanted!r}" if wanted else f"one to a status of the category {kind!r}"
            text = (
                f"{remote} has no transition to be {kind}: found {transitions.named(offered)}, expected {expected};"
            )
            raise TrackerError(
                Kind.WRONG, f"{self._of.name}: {text} name one in `{setting}`, or add it to the workflow"
            )
        self._wire.ask("POST", path, chosen, issue=remote)

    def _text(self, draft: Draft) -> dict[str, Any]:
        return {
            "summary": inert.line(draft.title, SUMMARY),
            "description": self._words(draft.text, draft.footer),
        }

    def _words(self, text: str, last: str) -> Any:
        shown = inert.cut(text, TEXT)
        return inert.adf(shown, last) if self._cloud else f"{inert.wiki(shown)}\n{inert.wiki(last)}"

    def _issue(self, row: Any) -> Issue:
        key = str(pick(row, "key"))
        return Issue(key, f"{self._of.url}/browse/{key}"[:1000])
