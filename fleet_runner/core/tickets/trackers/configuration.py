"""The trackers of a fleet, read from plain data: everything that is wrong with it is told at once."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from fleet_runner.core.base import fields, named_list
from fleet_runner.core.base.fields import Problem, Section, Unfit
from fleet_runner.core.base.named_list import like

MOST = 20
"""Trackers of one fleet."""

LEVELS = frozenset({"1", "2", "3", "4"})
"""Priorities, from the most urgent."""

_URL = re.compile(r"https://[A-Za-z0-9._~:/\[\]%-]{1,190}")
_HERE = re.compile(r"http://(?:127\.0\.0\.1|localhost|\[::1\])(?::[0-9]{1,5})?(?:/[A-Za-z0-9_./-]{0,150})?")
_PROJECT = re.compile(r"[A-Z][A-Z0-9_]{0,254}")
_REPOSITORY = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}")
_GROUPS = re.compile(r"[A-Za-z0-9_.-]{1,200}(?:/[A-Za-z0-9_.-]{1,200}){1,20}|[0-9]{1,18}")
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,99}")
_TABLE = re.compile(r"[a-z][a-z0-9_]{0,79}")
_STATE = re.compile(r"-?[0-9]{1,4}")


class TrackerKind(StrEnum):
    """What a tracker is."""

    JIRA = "jira"
    SERVICENOW = "servicenow"
    GITHUB = "github"
    GITLAB = "gitlab"
    WEBHOOK = "webhook"


@dataclass(frozen=True, slots=True)
class Configured:
    """One tracker, as it is configured. The secret is in a file of its own or in a variable, never here.

    `user` is who a token belongs to, where that has to be said: with Jira it makes it a Cloud's. `project` is Jira's
    key, a repository of GitHub, a project of GitLab or a table of ServiceNow. `done` and `again` are the status (the
    transition, the state) by which an issue is closed and opened again; "" leaves it to the tracker's categories.
    `priorities` are a Jira's names of 1 to 4; `given` are more fields that an issue is made with.
    """

    name: str
    kind: TrackerKind
    url: str
    token_file: str = ""
    token_variable: str = ""
    ca_file: str = ""
    user: str = ""
    project: str = ""
    type: str = "Task"
    done: str = ""
    again: str = ""
    close_code: str = ""
    priorities: Mapping[str, str] = field(default_factory=dict[str, str])
    given: Mapping[str, Any] = field(default_factory=dict[str, Any])


def read(raw: object) -> tuple[Configured, ...]:
    """Return the trackers of a fleet, each name once.

    Raises:
        ListError: with everything that is wrong.
    """
    return named_list.read(raw, "trackers", MOST, _one)


def _one(row: Section) -> Configured:
    kind = row.take("kind", fields.one_of(TrackerKind), None, needed=True)
    if kind is None:  # which other fields there may be is not known
        return Configured("", TrackerKind.WEBHOOK, "")
    common: dict[str, Any] = {
        "name": named_list.name(row),
        "kind": kind,
        "token_file": row.take("token_file", fields.text, ""),
        "token_variable": row.take("token_variable", like(_VARIABLE, "the name of a variable"), ""),
        "ca_file": row.take("ca_file", fields.text, ""),
    }
    found = Configured(**common, **_KINDS[kind](row))
    if row.sound and bool(found.token_file) == bool(found.token_variable):
        both = "both token_file and token_variable" if found.token_file else "neither token_file nor token_variable"
        row.problems.append(Problem(row.path, both, "one of the two"))
    row.strangers()
    return found


def _jira(row: Section) -> dict[str, Any]:
    return {
        "url": row.take("url", url, "", needed=True),
        "user": row.take("user", fields.text, ""),
        "project": row.take("project", like(_PROJECT, "a project's key, like OPS"), "", needed=True),
        "type": row.take("type", fields.text, "Task"),
        "done": row.take("done", fields.text, ""),
        "again": row.take("again", fields.text, ""),
        "priorities": row.take("priorities", _priorities, dict[str, str]()),
        "given": row.take("fields", _fields, dict[str, Any]()),
    }


def _servicenow(row: Section) -> dict[str, Any]:
    state = like(_STATE, "the number of a state, as a text like '6'")
    return {
        "url": row.take("url", url, "", needed=True),
        "user": row.take("user", fields.text, ""),
        "project": row.take("table", like(_TABLE, "a table, like incident"), "incident"),
        "done": row.take("done", state, "6"),
        "again": row.take("again", state, "2"),
        "close_code": row.take("close_code", fields.text, "Solution provided"),
        "given": row.take("fields", _fields, dict[str, Any]()),
    }


def _github(row: Section) -> dict[str, Any]:
    return {
        "url": row.take("url", url, "https://api.github.com"),
        "project": row.take("repository", like(_REPOSITORY, "owner/name"), "", needed=True),
    }


def _gitlab(row: Section) -> dict[str, Any]:
    return {
        "url": row.take("url", url, "https://gitlab.com"),
        "project": row.take("project", like(_GROUPS, "group/project, or its number as a text"), "", needed=True),
    }


def _webhook(row: Section) -> dict[str, Any]:
    return {"url": row.take("url", url, "", needed=True)}


_KINDS: dict[TrackerKind, Callable[[Section], dict[str, Any]]] = {
    TrackerKind.JIRA: _jira,
    TrackerKind.SERVICENOW: _servicenow,
    TrackerKind.GITHUB: _github,
    TrackerKind.GITLAB: _gitlab,
    TrackerKind.WEBHOOK: _webhook,
}


def url(value: object) -> str:
    """An address over TLS, or one of this machine, without a user or a query."""
    if not isinstance(value, str) or not (_URL.fullmatch(value) or _HERE.fullmatch(value)):
        raise Unfit("an address like https://tracker.example, without user and query; http on this machine alone")
    return value.rstrip("/")


def _priorities(value: object) -> dict[str, str]:
    found = {str(level): name for level, name in value.items()} if isinstance(value, Mapping) else {"": ""}
    if not found.keys() <= LEVELS or not all(isinstance(name, str) and name for name in found.values()):
        raise Unfit("a mapping of 1 to 4 and the names of priorities")
    return found


def _fields(value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise Unfit("a mapping of fields and their values")
    return dict(value)
