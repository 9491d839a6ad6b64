"""GitHub and GitLab as far as their issues go: shapes as in their API descriptions."""

from datetime import UTC, datetime
from typing import Any

from tests.adapters.trackers.remote import Asked, Refusal, Remote, Seen, need

ROWS = dict[str, Any]


class GitHubRemote(Remote):
    """The issues of acme/halls."""

    def __init__(self) -> None:
        super().__init__()
        self.issues: list[ROWS] = []
        self.comments: dict[int, list[ROWS]] = {}
        self.may_label = True

    def answer(self, asked: Asked) -> tuple[int, Any]:
        """Do what is asked, or refuse it as the real one does."""
        if asked.headers.get("authorization") != f"Bearer {self.token}":
            raise Refusal(401, {"message": "Bad credentials", "status": "401"})
        base = "/repos/acme/halls/issues"
        if not asked.path.startswith(base):
            raise Refusal(404, {"message": "Not Found"})
        match (asked.method, asked.path.removeprefix(base).strip("/").split("/")):
            case ("GET", [""]):
                return 200, self._list(asked)
            case ("POST", [""]):
                return 201, self._create(asked)
            case ("GET", [number]):
                return 200, self._one(number)
            case ("PATCH", [number]):
                return 200, self._edit(number, asked)
            case ("GET", [number, "comments"]):
                size, page = int(asked.query["per_page"]), int(asked.query["page"])
                return 200, self.comments[self._one(number)["number"]][size * (page - 1) : size * page]
            case ("POST", [number, "comments"]):
                body = need(asked, {"body"}, {"body"})
                self.comments[self._one(number)["number"]].append({"id": 1, "body": body["body"]})
                return 201, {"id": 1, "body": body["body"]}
        raise Refusal(404, {"message": "Not Found"})

    def _list(self, asked: Asked) -> list[ROWS]:
        assert asked.query["state"] == "all"
        since = asked.query["since"]
        rows = [row for row in reversed(self.issues) if row["updated_at"] >= since]
        rows = self.found(rows)
        size, page = int(asked.query["per_page"]), int(asked.query["page"])
        return rows[size * (page - 1) : size * page]

    def _create(self, asked: Asked) -> ROWS:
        body = need(asked, {"title", "body", "labels", "assignees", "milestone", "type"}, {"title"})
        if not isinstance(body["title"], str) or len(body["title"]) > 256 or len(body["body"]) > 65_536:
            raise Refusal(422, {"message": "Validation Failed"})
        number = len(self.issues) + 1
        now = datetime.fromtimestamp(self.now(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        row = {
            "number": number,
            "title": body["title"],
            "body": body["body"],
            "state": "open",
            "created_at": now,
            "made": self.now(),
        }
        row |= {"updated_at": now, "html_url": f"https://github.example/acme/halls/issues/{number}"}
        row["labels"] = self._labels(body)
        self.issues.append(row)
        self.comments[number] = []
        return row

    def _labels(self, body: ROWS) -> list[ROWS]:
        if any(len(name) > 50 for name in body.get("labels", [])):
            raise Refusal(422, {"message": "Validation Failed"})
        return [{"name": name} for name in body.get("labels", [])] if self.may_label else []

    def _one(self, number: str) -> ROWS:
        row = next((row for row in self.issues if str(row["number"]) == number), None)
        if row is None:
            raise Refusal(404, {"message": "Not Found"})
        if row.get("deleted"):
            raise Refusal(410, {"message": "This issue was deleted"})
        return row

    def _edit(self, number: str, asked: Asked) -> ROWS:
        body = need(asked, {"title", "body", "labels", "state", "state_reason"}, set())
        row = self._one(number)
        if body.get("state", "open") not in {"open", "closed"}:
            raise Refusal(422, {"message": "Validation Failed"})
        row.update({name: body[name] for name in ("title", "body", "state") if name in body})
        if "labels" in body:
            row["labels"] = self._labels(body)
        return row

    def seen(self) -> list[Seen]:
        """Every issue that was ever made."""
        return [
            Seen(
                row["title"], row["body"], row["state"] == "open", [each["name"] for each in row["labels"]],
                [each["body"] for each in self.comments[row["number"]]],
            )
            for row in self.issues
        ]  # fmt: skip


class GitLabRemote(Remote):
    """The issues of acme/halls."""

    def __init__(self) -> None:
        super().__init__()
        self.issues: list[ROWS] = []
        self.notes: dict[int, list[ROWS]] = {}

    def answer(self, asked: Asked) -> tuple[int, Any]:
        """Do what is asked, or refuse it as the real one does."""
        if asked.headers.get("private-token") != self.token:
            raise Refusal(401, {"message": "401 Unauthorized"})
        base = "/api/v4/projects/acme/halls/issues"
        if not asked.path.startswith(base):
            raise Refusal(404, {"message": "404 Project Not Found"})
        match (asked.method, asked.path.removeprefix(base).strip("/").split("/")):
            case ("GET", [""]):
                assert (asked.query["in"], asked.query["scope"]) == ("description", "all")
                rows = [row for row in self.issues if asked.query["search"] in row["description"]]
                return 200, self.found(rows)
            case ("POST", [""]):
                return 201, self._create(asked)
            case ("GET", [number]):
                return 200, self._one(number)
            case ("PUT", [number]):
                return 200, self._edit(number, asked)
            case ("GET", [number, "notes"]):
                size, page = int(asked.query["per_page"]), int(asked.query["page"])
                return 200, self.notes[self._one(number)["iid"]][::-1][size * (page - 1) : size * page]
            case ("POST", [number, "notes"]):
                body = need(asked, {"body"}, {"body"}, 400)
                self.notes[self._one(number)["iid"]].append({"body": body["body"]})
                return 201, {"body": body["body"]}
        raise Refusal(404, {"error": "404 Not Found"})

    def _create(self, asked: Asked) -> ROWS:
        body = need(asked, {"title", "description", "labels"}, {"title"}, 400)
        if len(body["title"]) > 255:
            raise Refusal(400, {"message": {"title": ["is too long (maximum is 255 characters)"]}})
        number = len(self.issues) + 1
        row = {"iid": number, "id": 900 + number, "title": body["title"], "description": body["description"]}
        row |= {"state": "opened", "made": self.now(), "labels": body["labels"].split(",")}
        row |= {"web_url": f"https://gitlab.example/acme/halls/-/issues/{number}"}
        self.issues.append(row)
        self.notes[number] = []
        return row

    def _one(self, number: str) -> ROWS:
        row = next((row for row in self.issues if str(row["iid"]) == number and not row.get("deleted")), None)
        if row is None:
            raise Refusal(404, {"message": "404 Not found"})
        return row

    def _edit(self, number: str, asked: Asked) -> ROWS:
        body = need(asked, {"title", "description", "labels", "state_event"}, set(), 400)
        row = self._one(number)
        row.update({name: body[name] for name in ("title", "description") if name in body})
        if "labels" in body:
            row["labels"] = body["labels"].split(",")
        if "state_event" in body:
            row["state"] = {"close": "closed", "reopen": "opened"}[body["state_event"]]
        return row

    def seen(self) -> list[Seen]:
        """Every issue that was ever made."""
        return [
            Seen(
                row["title"], row["description"], row["state"] == "opened", row["labels"],
                [each["body"] for each in self.notes[row["iid"]]],
            )
            for row in self.issues
        ]  # fmt: skip
