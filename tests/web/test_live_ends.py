"""A stream ends with the token or the session that it was begun with."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from fleet_runner.core.access.roles import Role
from fleet_runner.web import live
from tests.web.hall import NOW
from tests.web.served import Served


@contextmanager
def told(client: httpx.Client) -> Iterator[Iterator[str]]:
    """Give the lines of a stream that has begun."""
    with client.stream("GET", "/runs/events") as answer:
        assert answer.status_code == 200
        lines = answer.iter_lines()
        assert next(lines).startswith("retry")
        yield lines


def test_whoever_is_logged_out_is_told_no_more(site: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "STILL_SECONDS", 0.0)
    monkeypatch.setattr(live, "HEARTBEAT_SECONDS", 0.2)
    with site.browser_client(Role.VIEWER) as client, told(client) as lines:
        for _ in range(3):
            next(line for line in lines if line.startswith(": still"))
        assert site.store.end_sessions("viewer") == 1
        assert len(list(lines)) < 30  # it ends by itself


def test_whose_token_is_revoked_is_told_no_more(site: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "STILL_SECONDS", 0.0)
    monkeypatch.setattr(live, "HEARTBEAT_SECONDS", 0.2)
    with site.client(Role.TECHNICIAN) as client, told(client) as lines:
        next(line for line in lines if line.startswith(": still"))
        assert site.store.revoke_token("technician", NOW)
        assert len(list(lines)) < 100
