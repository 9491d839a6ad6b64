"""Incidents of ServiceNow, by its Table API. The marker is an incident's `correlation_id`."""

from base64 import b64encode
from typing import Any

from fleet_runner.adapters.trackers.tracker import Issue
from fleet_runner.adapters.trackers.wire import Access, SessionTracker, TrackerSession, pick, texts
from fleet_runner.core.tickets.trackers import draft as telling
from fleet_runner.core.tickets.trackers import inert
from fleet_runner.core.tickets.trackers.backoff import Kind, TrackerError
from fleet_runner.core.tickets.trackers.configuration import Configured
from fleet_runner.core.tickets.trackers.draft import OURS, Draft, Update

SHORT, TEXT, NOTES = 155, 3_900, 3_900
"""Characters that ServiceNow takes: 160 and 4,000."""

SHUT = frozenset({"6", "7", "8"})
"""States of an incident in which nobody works on it: resolved, closed, cancelled."""

FIELDS = "sys_id,number,state,correlation_id"


class ServiceNow(SessionTracker):
    """One table. With a user the token is that user's password, without one an OAuth token."""

    settles = 10.0

    def __init__(self, of: Configured, access: Access) -> None:
        self._of = of
        basic = b64encode(f"{of.user}:{access.token}".encode()).decode()
        headers = {"Authorization": f"Basic {basic}" if of.user else f"Bearer {access.token}"}
        self._wire = TrackerSession(of.name, of.url, headers, access)
        self._table = f"/api/now/table/{of.project}"

    def find(self, draft: Draft, since: float) -> Issue | None:
        """Ask for the marker; a table without that field answers with every row, so only what carries it counts."""
        del since
        asked = {
            "sysparm_query": f"correlation_id={draft.marker}^ORDERBYsys_created_on",
            "sysparm_fields": FIELDS,
            "sysparm_limit": "10",
        }
        rows = pick(self._wire.ask("GET", self._table, params=asked), "result")
        fit = [row for row in rows if str(row.get("correlation_id")) == draft.marker]
        return self._issue(fit[0]) if fit else None

    def create(self, draft: Draft, change: int) -> Issue:
        """Open an incident with the configured fields."""
        del change
        level = str(min(draft.priority, 3))
        row = {
            **self._of.given,
            **self._text(draft),
            "correlation_id": draft.marker,
            "correlation_display": OURS,
            "urgency": level,
            "impact": level,
        }
        return self._issue(pick(self._wire.ask("POST", self._table, row), "result"))

    def said(self, remote: str, draft: Draft) -> int:
        """Read the newest work notes that carry the marker."""
        asked = {
            "sysparm_query": f"element_id={remote}^element=work_notes^valueLIKE{draft.marker}^ORDERBYDESCvalue",
            "sysparm_fields": "value",
            "sysparm_limit": "50",
        }
        found = self._wire.ask("GET", "/api/now/table/sys_journal_field", params=asked, issue=f"incident {remote}")
        return telling.newest_said(draft.marker, "\n".join(texts(pick(found, "result"), "value")))

    def tell(self, remote: str, update: Update) -> None:
        """Change text, note and state in one request, and look whether the state was taken."""
        draft, path, name = update.draft, f"{self._table}/{remote}", f"incident {remote}"
        found = pick(self._wire.ask("GET", path, params={"sysparm_fields": FIELDS}, issue=name), "result")
        is_open = str(pick(found, "state")) not in SHUT
        changed: dict[str, Any] = self._text(draft) if update.rewritten else {}
        if update.note:
            changed["work_notes"] = f"{inert.journal(inert.cut(update.note, NOTES))}\n{update.mark}"
        if draft.open and not is_open:
            changed["state"] = self._of.again
        if not draft.open and is_open:
            because = inert.journal(inert.cut(draft.because, NOTES))
            changed |= {"state": self._of.done, "close_code": self._of.close_code, "close_notes": because}
        if not changed:
            return
        answer = self._wire.ask("PATCH", path, changed, params={"sysparm_fields": FIELDS}, issue=name)
        state = str(pick(answer, "result", "state"))
        if (state not in SHUT) != draft.open:
            wanted, setting = (self._of.again, "again") if draft.open else (self._of.done, "done")
            text = f"{name} stays in state {state!r}, expected {wanted!r}; a rule of the instance keeps it there:"
            raise TrackerError(
                Kind.WRONG, f"{self._of.name}: {text} name another state in `{setting}`, or lift the rule"
            )

    def _text(self, draft: Draft) -> dict[str, Any]:
        labels = " ".join(draft.labels)
        text = inert.journal(inert.cut(draft.text, TEXT - len(draft.footer) - len(labels)))
        return {
            "short_description": inert.line(draft.title, SHORT),
            "description": f"{text}\n\n{labels}\n{inert.journal(draft.footer)}",
        }

    def _issue(self, row: Any) -> Issue:
        remote = str(pick(row, "sys_id"))
        return Issue(remote, f"{self._of.url}/nav_to.do?uri={self._of.project}.do?sys_id={remote}"[:1000])
