"""The audit log is read from its newest end, by name; it goes with time. Sessions are listed, and end by name."""

from dataclasses import replace
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.access.roles import AuditLine, Role, Session, Who
from fleet_runner.core.faults.signals.tokens import Token
from fleet_runner.core.schedules.retention import DAY
from fleet_runner.reconcile.schedules.retention import pruned
from fleet_runner.settings import load

LINE = AuditLine(10_000 * DAY, "alice", "operator", "192.0.2.7", "POST", "/nodes/gpu-01/requests", 303, "hold")
ALICE = Session("a" * 64, Who("alice", Role.OPERATOR), 1.0, 100.0)


def test_lines_are_read_newest_first_by_name_and_by_page(store: Store) -> None:
    store.note_asked([LINE, replace(LINE, name="bob"), replace(LINE, detail="release")], {})
    store.note_asked([], {})
    every = store.asked()
    assert [(each.name, each.detail) for each in every] == [("alice", "release"), ("bob", "hold"), ("alice", "hold")]
    assert every[-1] == replace(LINE, id=every[-1].id)
    assert store.asked("bob") == (every[1],)
    assert store.asked("alice", before=every[0].id) == (every[2],)
    assert store.asked(limit=1) == (every[0],)


def test_lines_go_after_their_own_time(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    late = LINE.at + 30 * DAY
    store.note_asked([LINE, LINE, replace(LINE, at=late)], {})
    assert pruned(load(state_dir=tmp_path, keep_audit_days=0.0), store, late).asked == 0
    assert pruned(load(state_dir=tmp_path, keep_audit_days=29.0), store, late).asked == 2
    assert [each.at for each in store.asked()] == [late]


def test_sessions_end_with_time_with_their_token_and_by_name(store: Store) -> None:
    token = store.add_token(Token("bob", "b" * 64, 1.0, "ann", scope="viewer", until=50.0))
    bob = Session("b" * 64, Who("bob", Role.VIEWER), 2.0, 100.0, token)
    for each in (ALICE, bob, replace(ALICE, digest="c" * 64, made_at=3.0)):
        store.begin_session(each)
    assert [each.digest[0] for each in store.sessions(10.0)] == ["a", "b", "c"]
    assert [each.digest[0] for each in store.sessions(60.0)] == ["a", "c"], "bob's token has ended"
    assert store.end_sessions("alice") == 2
    assert store.sessions(10.0) == (bob,)
    store.revoke_token("bob", 11.0)
    assert store.sessions(12.0) == ()
    assert store.session(bob.digest, 12.0) is None
