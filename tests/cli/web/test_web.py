"""fleet-runner web token and session: made once, put in the place of another, ended; never shown again."""

import json
import re
import time
from pathlib import Path

from fleet_runner.adapters.store import Store
from fleet_runner.core.access.roles import Role, Session, Who
from fleet_runner.services.http.admission import digest
from tests.cli.conftest import Type

TOKEN = re.compile(r"frs_[A-Za-z0-9_-]{43}")


def store(tmp_path: Path) -> Store:
    """Open the store that the commands write."""
    return Store.open(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}")


def test_a_token_is_shown_once_and_kept_as_its_digest(typed: Type, tmp_path: Path) -> None:
    made = typed("web", "token", "add", "alice", "--role", "operator").out.strip()
    assert TOKEN.fullmatch(made)
    listed = typed("web", "token", "list")
    assert "alice: operator; without end; made by" in listed.words
    assert made not in listed.out
    assert digest(made.encode()) not in typed("web", "token", "list", "--json").out
    with store(tmp_path) as found:
        assert found.tokens()[0].digest == digest(made.encode())


def test_what_is_wrong_with_a_token_is_said(typed: Type) -> None:
    for words, said in (
        (("a b", "--role", "viewer"), "not a valid token name"),
        (("push", "--role", "ingest"), "signals token add"),
        (("acme", "--role", "tenant"), "--role tenant --tenant NAME"),
        (("bob", "--role", "viewer", "--tenant", "Acme"), "--role tenant --tenant NAME"),
        (("bob", "--role", "viewer", "--expires", "soon"), "soon"),
    ):
        answer = typed("web", "token", "add", *words)
        assert (answer.code, answer.out) == (2, "")
        assert said in " ".join(answer.err.split())
    assert typed("web", "token", "add", "bob", "--role", "viewer").code == 0
    again = typed("web", "token", "add", "bob", "--role", "viewer")
    assert again.code != 0
    assert "there is one already; `fleet-runner web token revoke bob` ends it" in " ".join(again.err.split())


def test_a_token_takes_the_place_of_another_which_goes_on_for_a_while(typed: Type, tmp_path: Path) -> None:
    old = typed("web", "token", "add", "acme", "--role", "tenant", "--tenant", "Acme", "--expires", "30d").out.strip()
    rotated = typed("web", "token", "rotate", "acme", "--overlap", "2h")
    new = rotated.out.strip()
    assert TOKEN.fullmatch(new)
    assert new != old
    assert "the old token of acme is valid until" in " ".join(rotated.err.split())
    now = time.time()
    with store(tmp_path) as found:
        first, second = found.tokens()
    assert [first.digest, second.digest] == [digest(old.encode()), digest(new.encode())]
    assert (second.scope, second.tenant, second.used_at) == ("tenant", "Acme", None)
    assert 7_100 < (first.until or 0) - now <= 7_200
    assert 29.9 < ((second.until or 0) - now) / 86_400 <= 30
    at_once = json.loads(typed("web", "token", "rotate", "acme", "--overlap", "0s", "--json").out)
    with store(tmp_path) as found:
        assert [bool(each.refusal(time.time())) for each in found.tokens()] == [True, True, False]
        assert found.tokens()[-1].digest == digest(at_once["token"].encode())


def test_only_what_is_good_is_rotated(typed: Type) -> None:
    typed("web", "token", "add", "alice", "--role", "operator")
    typed("signals", "token", "add", "vector")
    assert "pushes signals" in " ".join(typed("web", "token", "rotate", "vector").err.split())
    assert json.loads(typed("web", "token", "revoke", "alice", "--json").out) == {"name": "alice", "revoked": True}
    for name in ("alice", "nobody"):
        answer = typed("web", "token", "rotate", name)
        assert (answer.code, answer.out) == (2, "")
        assert "is valid" in " ".join(answer.err.split())
        assert typed("web", "token", "revoke", name).code == 1


def test_who_has_logged_in_is_listed_and_logged_out(typed: Type, tmp_path: Path) -> None:
    typed("web", "token", "add", "alice", "--role", "operator")
    assert typed("web", "session", "list").words == "nobody has logged in"
    now = time.time()
    with store(tmp_path) as found:
        found.begin_session(Session("a" * 64, Who("alice", Role.OPERATOR), now, now + 60.0, 1))
        found.begin_session(Session("b" * 64, Who("acme", Role.TENANT, "Acme"), now, now + 60.0))
    assert "acme: tenant of Acme; logged in with OpenID Connect" in typed("web", "session", "list").words
    listed = typed("web", "session", "list", "--json")
    assert [(each["name"], each["with_token"]) for each in json.loads(listed.out)] == [
        ("alice", True),
        ("acme", False),
    ]
    assert "a" * 64 not in listed.out
    assert typed("web", "session", "end", "alice").words == "alice: 1 sessions ended"
    assert typed("web", "session", "end", "alice").code == 1
    assert [each["name"] for each in json.loads(typed("web", "session", "list", "--json").out)] == ["acme"]
