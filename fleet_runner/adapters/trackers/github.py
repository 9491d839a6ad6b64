"""Issues of GitHub and of GitHub Enterprise Server, by their REST API of 2022-11-28."""

from datetime import UTC, datetime
from typing import Any

from fleet_runner.adapters.trackers.tracker import Issue
from fleet_runner.adapters.trackers.wire import Access, SessionTracker, TrackerSession, pick, texts
from fleet_runner.core.tickets.trackers import draft as telling
from fleet_runner.core.tickets.trackers import inert
from fleet_runner.core.tickets.trackers.configuration import Configured
from fleet_runner.core.tickets.trackers.draft import Draft, Update

TITLE, BODY = 250, 60_000
"""Characters that GitHub takes: 256 and 65,536."""

PAGE, PAGES = 100, 5
SLACK = 3600.0
"""Seconds that two clocks may differ."""


class GitHub(SessionTracker):
    """One repository. Its list of issues is read from its database, so what was made is found at once."""

    settles = 10.0

    def __init__(self, of: Configured, access: Access) -> None:
        headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {access.token}",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        self._wire = TrackerSession(of.name, of.url, headers, access)
        self._issues = f"/repos/{of.project}/issues"

    def find(self, draft: Draft, since: float) -> Issue | None:
        """Read the issues from the newest to those that were made before `since`."""
        oldest = _moment(since - SLACK)
        asked = {"state": "all", "sort": "created", "direction": "desc", "since": oldest, "per_page": str(PAGE)}
        for page in range(1, PAGES + 1):
            rows = self._wire.ask("GET", self._issues, params=asked | {"page": str(page)})
            for row in rows if isinstance(rows, list) else []:
                if telling.carries(str(row.get("body") or ""), draft.marker):
                    return _issue(row)
            if not isinstance(rows, list) or len(rows) < PAGE or str(pick(rows, -1, "created_at")) < oldest:
                return None
        return None

    def create(self, draft: Draft, change: int) -> Issue:
        """Open an issue with its labels, which GitHub drops where the token may not set them."""
        del change
        return _issue(self._wire.ask("POST", self._issues, _text(draft) | {"labels": list(draft.labels)}))

    def said(self, remote: str, draft: Draft) -> int:
        """Read the notes, oldest first as GitHub gives them, to their end."""
        newest = 0
        for page in range(1, PAGES + 1):
            asked = {"per_page": str(PAGE), "page": str(page)}
            rows = self._wire.ask("GET", f"{self._issues}/{remote}/comments", params=asked, issue=f"issue {remote}")
            newest = max(newest, telling.newest_said(draft.marker, "\n".join(texts(rows, "body"))))
            if not isinstance(rows, list) or len(rows) < PAGE:
                break
        return newest

    def tell(self, remote: str, update: Update) -> None:
        """Add the note, then change text, labels and state in one request, if any of them is another."""
        path, name, draft = f"{self._issues}/{remote}", f"issue {remote}", update.draft
        found = self._wire.ask("GET", path, issue=name)
        if update.note:
            note = f"{inert.markdown(inert.cut(update.note, BODY))}\n\n{update.mark}"
            self._wire.ask("POST", f"{path}/comments", {"body": note}, issue=name)
        changed: dict[str, Any] = {}
        if update.rewritten:
            standing = texts(found.get("labels"), "name")
            changed = _text(draft) | {"labels": list(telling.relabelled(standing, draft.labels))}
        if (pick(found, "state") == "open") != draft.open:
            changed |= {"state": "open"} if draft.open else {"state": "closed", "state_reason": "completed"}
        if changed:
            self._wire.ask("PATCH", path, changed, issue=name)


def _text(draft: Draft) -> dict[str, Any]:
    body = inert.markdown(inert.cut(draft.text, BODY))
    return {"title": inert.line(draft.title, TITLE), "body": f"{body}\n\n{inert.markdown(draft.footer)}"}


def _issue(row: Any) -> Issue:
    return Issue(str(pick(row, "number")), str(pick(row, "html_url"))[:1000])


def _moment(at: float) -> str:
    return datetime.fromtimestamp(max(at, 0.0), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
