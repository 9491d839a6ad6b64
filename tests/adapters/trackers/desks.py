"""Jira, Cloud and Data Center, ServiceNow and a webhook's receiver, as far as tickets go."""

import base64
import hmac
import json
import re
from hashlib import sha256
from typing import Any

from tests.adapters.trackers.remote import Asked, Refusal, Remote, Seen, need

ROWS = dict[str, Any]

STATUSES = {"Open": "new", "In Work": "indeterminate", "Solved": "done"}


class JiraRemote(Remote):
    """The project OPS. A Cloud takes and gives documents and basic authentication, a Data Center texts and a PAT."""

    def __init__(self, *, cloud: bool) -> None:
        super().__init__()
        self.cloud = cloud
        self.issues: list[ROWS] = []
        self.workflow = {"Open": ["In Work", "Solved"], "In Work": ["Solved"], "Solved": ["Open"]}
        self.demands_resolution = False
        self.locked_when_done = True

    def answer(self, asked: Asked) -> tuple[int, Any]:  # noqa: C901, PLR0911  a request each
        """Do what is asked, or refuse it as the real one does."""
        basic = base64.b64encode(f"bot@halls.example:{self.token}".encode()).decode()
        wanted = f"Basic {basic}" if self.cloud else f"Bearer {self.token}"
        if asked.headers.get("authorization") != wanted:
            raise Refusal(401, {"errorMessages": ["You do not have permission"]})
        base = "/rest/api/3" if self.cloud else "/rest/api/2"
        if not asked.path.startswith(base):
            raise Refusal(404)
        match (asked.method, asked.path.removeprefix(base).strip("/").split("/")):
            case ("POST", ["search", "jql"]) if self.cloud:
                return 200, {"issues": self._search(asked), "isLast": True}
            case ("POST", ["search"]) if not self.cloud:
                return 200, {"issues": self._search(asked), "total": 1, "startAt": 0, "maxResults": 10}
            case ("POST", ["issue"]):
                return 201, self._create(asked)
            case ("GET", ["issue", key]):
                row = self._one(key)
                status = {"name": row["status"], "statusCategory": {"key": STATUSES[row["status"]]}}
                return 200, {"key": key, "fields": {"status": status, "labels": row["labels"]}}
            case ("PUT", ["issue", key]):
                return 204, self._edit(self._one(key), asked)
            case ("GET", ["issue", key, "comment"]):
                start, size = int(asked.query["startAt"]), int(asked.query["maxResults"])
                assert asked.query["orderBy"] == "-created"
                notes = [{"body": body} for body in self._one(key)["notes"][::-1]]
                return 200, {"comments": notes[start : start + size], "total": len(notes)}
            case ("POST", ["issue", key, "comment"]):
                self._one(key)["notes"].append(self._text(need(asked, {"body"}, {"body"}, 400)["body"]))
                return 201, {"id": "1"}
            case ("GET", ["issue", key, "transitions"]):
                return 200, {"transitions": self._transitions(self._one(key))}
            case ("POST", ["issue", key, "transitions"]):
                return 204, self._move(self._one(key), asked)
        raise Refusal(404, {"errorMessages": ["dead link"]})

    def _search(self, asked: Asked) -> list[ROWS]:
        body = need(asked, {"jql", "fields", "maxResults", "nextPageToken"}, {"jql"}, 400)
        found = re.search(r'labels = "([^"]+)"', body["jql"])
        assert found is not None
        rows = [row for row in self.issues if found[1] in row["labels"]]
        return [{"key": row["key"], "fields": {"labels": row["labels"]}} for row in self.found(rows)]

    def _create(self, asked: Asked) -> ROWS:
        fields = need(asked, {"fields", "update"}, {"fields"}, 400)["fields"]
        if fields.get("project") != {"key": "OPS"} or fields.get("issuetype") != {"name": "Task"}:
            raise Refusal(400, {"errorMessages": [], "errors": {"issuetype": "The issue type selected is invalid."}})
        key = f"OPS-{len(self.issues) + 1}"
        row = {"key": key, "status": "Open", "notes": [], "given": fields, "made": self.now()}
        self._put(row, fields)
        self.issues.append(row)
        return {"id": "10000", "key": key, "self": f"{self.url}/rest/api/3/issue/10000"}

    def _put(self, row: ROWS, fields: ROWS) -> None:
        if len(fields["summary"]) > 255 or "\n" in fields["summary"]:
            raise Refusal(400, {"errors": {"summary": "The summary is invalid"}})
        if any(" " in label for label in fields["labels"]):
            raise Refusal(400, {"errors": {"labels": "The label contains spaces which is invalid."}})
        row |= {"title": fields["summary"], "text": self._text(fields["description"]), "labels": fields["labels"]}

    def _text(self, body: Any) -> str:
        """The text of a document, or of wiki markup; refused in the other form."""
        if not self.cloud:
            if not isinstance(body, str):
                raise Refusal(400, {"errors": {"description": "Operation value must be a string"}})
            return body
        if not isinstance(body, dict) or body.get("type") != "doc" or body.get("version") != 1:
            raise Refusal(400, {"errors": {"description": "Operation value must be an Atlassian Document"}})
        return "\n".join(text["text"] for block in body["content"] for text in block["content"])

    def _one(self, key: str) -> ROWS:
        row = next((row for row in self.issues if row["key"] == key and not row.get("deleted")), None)
        if row is None:
            raise Refusal(404, {"errorMessages": ["Issue does not exist or you do not have permission to see it."]})
        return row

    def _edit(self, row: ROWS, asked: Asked) -> None:
        if self.locked_when_done and STATUSES[row["status"]] == "done":
            raise Refusal(400, {"errorMessages": ["You do not have permission to edit issues in this status."]})
        self._put(row, need(asked, {"fields", "update"}, {"fields"}, 400)["fields"])

    def _transitions(self, row: ROWS) -> list[ROWS]:
        demanded = {"resolution": {"required": True, "allowedValues": [{"name": "Won't do"}, {"name": "Fixed"}]}}
        return [
            {
                "id": str(10 + list(STATUSES).index(to)),
                "name": f"to {to}",
                "to": {"name": to, "statusCategory": {"key": STATUSES[to]}},
                "fields": demanded if self.demands_resolution and to == "Solved" else {},
            }
            for to in self.workflow[row["status"]]
        ]

    def _move(self, row: ROWS, asked: Asked) -> None:
        body = need(asked, {"transition", "fields", "update"}, {"transition"}, 400)
        chosen = [each for each in self._transitions(row) if each["id"] == body["transition"]["id"]]
        if not chosen or (chosen[0]["fields"] and "resolution" not in body.get("fields", {})):
            raise Refusal(400, {"errorMessages": ["It seems that you have tried to perform an illegal operation."]})
        row["status"] = chosen[0]["to"]["name"]

    def seen(self) -> list[Seen]:
        """Every issue that was ever made."""
        return [
            Seen(row["title"], row["text"], STATUSES[row["status"]] != "done", row["labels"], row["notes"])
            for row in self.issues
        ]


class ServiceNowRemote(Remote):
    """The incidents of an instance; closed ones stay closed, as its rules usually have it."""

    KNOWN = frozenset({
        "short_description", "description", "correlation_id", "correlation_display", "urgency", "impact", "state",
        "close_code", "close_notes", "work_notes", "assignment_group",
    })  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[ROWS] = []
        self.journal: list[ROWS] = []

    def answer(self, asked: Asked) -> tuple[int, Any]:
        """Do what is asked, or refuse it as the real one does."""
        if asked.headers.get("authorization") != f"Bearer {self.token}":
            raise Refusal(401, {"error": {"message": "User Not Authenticated"}, "status": "failure"})
        match (asked.method, asked.path.strip("/").split("/")):
            case ("GET", ["api", "now", "table", "incident"]):
                found = re.match(r"correlation_id=([^^]+)", asked.query["sysparm_query"])
                assert found is not None
                rows = [row for row in self.rows if row["correlation_id"] == found[1]]
                return 200, {"result": self.found(rows)}
            case ("GET", ["api", "now", "table", "sys_journal_field"]):
                query = asked.query["sysparm_query"]
                found = re.match(r"element_id=([^^]+)\^element=work_notes\^valueLIKE([^^]+)", query)
                assert found is not None
                fit = [row for row in self.journal if row["element_id"] == found[1] and found[2] in row["value"]]
                return 200, {"result": fit[::-1]}
            case ("POST", ["api", "now", "table", "incident"]):
                body = need(asked, set(self.KNOWN), {"short_description"}, 400)
                row = {
                    "sys_id": f"{len(self.rows) + 1:032x}",
                    "number": f"INC{len(self.rows):07}",
                    "state": "1",
                    "made": self.now(),
                }
                self.rows.append(row | body)
                return 201, {"result": self.rows[-1]}
            case ("GET" | "PATCH", ["api", "now", "table", "incident", sys_id]):
                row = next((row for row in self.rows if row["sys_id"] == sys_id and not row.get("deleted")), None)
                if row is None:
                    raise Refusal(404, {"error": {"message": "No Record found"}, "status": "failure"})
                if asked.method == "PATCH":
                    self._change(row, need(asked, set(self.KNOWN), set(), 400))
                return 200, {"result": row}
        raise Refusal(400, {"error": {"message": "Invalid table"}})

    def _change(self, row: ROWS, body: ROWS) -> None:
        if body.get("state") in {"6", "7"} and not (body.get("close_code") and body.get("close_notes")):
            raise Refusal(403, {"error": {"message": "Operation Failed", "detail": "Data Policy Exception"}})
        if "work_notes" in body:
            self.journal.append({"element_id": row["sys_id"], "value": body["work_notes"]})
        kept = {"state": row["state"]} if row["state"] == "7" else {}
        row |= {name: value for name, value in body.items() if name != "work_notes"} | kept

    def seen(self) -> list[Seen]:
        """Every issue that was ever made."""
        return [
            Seen(
                row["short_description"], row["description"], row["state"] not in {"6", "7", "8"}, [],
                [each["value"] for each in self.journal if each["element_id"] == row["sys_id"]],
            )
            for row in self.rows
        ]  # fmt: skip


class Receiver(Remote):
    """Somebody's webhook: verifies the signature, takes each id once, keeps one ticket a key."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.held: dict[str, Seen] = {}

    def answer(self, asked: Asked) -> tuple[int, Any]:
        """Do what is asked, or refuse it as the real one does."""
        sent, moment = asked.headers["webhook-id"], asked.headers["webhook-timestamp"]
        signed = hmac.new(self.token.encode(), f"{sent}.{moment}.".encode() + asked.raw, sha256).digest()
        if asked.headers["webhook-signature"] != f"v1,{base64.b64encode(signed).decode()}":
            raise Refusal(401, {"error": "wrong signature"})
        if sent not in self.ids:
            self.ids.add(sent)
            told = json.loads(asked.raw)
            held = self.held.setdefault(told["key"], Seen("", "", open=True))
            held.title, held.text, held.open = told["title"], told["text"], told["type"] == "ticket.open"
            held.labels = told["labels"]
            held.notes += [told["note"]] if told["note"] else []
        return 204, None

    def seen(self) -> list[Seen]:
        """Every issue that was ever made."""
        return list(self.held.values())
