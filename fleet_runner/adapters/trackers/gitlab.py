"""Issues of GitLab, by its REST API, version 4."""

from typing import Any
from urllib.parse import quote

from fleet_runner.adapters.trackers.tracker import Issue
from fleet_runner.adapters.trackers.wire import Access, SessionTracker, TrackerSession, pick, texts
from fleet_runner.core.tickets.trackers import draft as telling
from fleet_runner.core.tickets.trackers import inert
from fleet_runner.core.tickets.trackers.configuration import Configured
from fleet_runner.core.tickets.trackers.draft import Draft, Update

TITLE, BODY = 250, 500_000
"""Characters that GitLab takes: 255 and 1,048,576."""

PAGE, PAGES = 100, 5


class GitLab(SessionTracker):
    """One project. Its search in descriptions is answered from its database."""

    settles = 10.0

    def __init__(self, of: Configured, access: Access) -> None:
        self._wire = TrackerSession(of.name, of.url, {"PRIVATE-TOKEN": access.token}, access)
        self._issues = f"/api/v4/projects/{quote(of.project, safe='')}/issues"

    def find(self, draft: Draft, since: float) -> Issue | None:
        """Search the marker in descriptions, and believe only what carries it."""
        del since
        asked = {"search": draft.marker, "in": "description", "state": "all", "scope": "all", "per_page": str(PAGE)}
        rows = self._wire.ask("GET", self._issues, params=asked)
        for row in rows if isinstance(rows, list) else []:
            if telling.carries(str(row.get("description") or ""), draft.marker):
                return _issue(row)
        return None

    def create(self, draft: Draft, change: int) -> Issue:
        """Open an issue with its labels."""
        del change
        return _issue(self._wire.ask("POST", self._issues, _text(draft) | {"labels": ",".join(draft.labels)}))

    def said(self, remote: str, draft: Draft) -> int:
        """Read the notes, the newest first, until one is ours."""
        for page in range(1, PAGES + 1):
            asked = {"per_page": str(PAGE), "page": str(page), "order_by": "created_at", "sort": "desc"}
            rows = self._wire.ask("GET", f"{self._issues}/{remote}/notes", params=asked, issue=f"issue {remote}")
            newest = telling.newest_said(draft.marker, "\n".join(texts(rows, "body")))
            if newest or not isinstance(rows, list) or len(rows) < PAGE:
                return newest
        return 0

    def tell(self, remote: str, update: Update) -> None:
        """Add the note, then change text, labels and state in one request, if any of them is another."""
        path, name, draft = f"{self._issues}/{remote}", f"issue {remote}", update.draft
        found = self._wire.ask("GET", path, issue=name)
        if update.note:
            note = f"{inert.markdown(inert.cut(update.note, BODY))}\n\n{update.mark}"
            self._wire.ask("POST", f"{path}/notes", {"body": note}, issue=name)
        changed: dict[str, Any] = {}
        if update.rewritten:
            standing = [str(label) for label in found.get("labels") or []]
            changed = _text(draft) | {"labels": ",".join(telling.relabelled(standing, draft.labels))}
        if (pick(found, "state") == "opened") != draft.open:
            changed["state_event"] = "reopen" if draft.open else "close"
        if changed:
            self._wire.ask("PUT", path, changed, issue=name)


def _text(draft: Draft) -> dict[str, Any]:
    body = inert.markdown(inert.cut(draft.text, BODY))
    return {"title": inert.line(draft.title, TITLE), "description": f"{body}\n\n{inert.markdown(draft.footer)}"}


def _issue(row: Any) -> Issue:
    return Issue(str(pick(row, "iid")), str(pick(row, "web_url"))[:1000])
