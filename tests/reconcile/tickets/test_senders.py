"""Senders beside the work: each tracker in a thread of its own."""

import time
from pathlib import Path

import pytest
from sqlalchemy import make_url, text

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.engine.database import connect
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.actions import Decision, OpenTicket
from fleet_runner.reconcile.tickets import senders
from fleet_runner.settings import Settings
from tests.adapters.store.builders import UrlMaker
from tests.adapters.store.conftest import postgresql, postgresql_urls  # noqa: F401  fixtures
from tests.adapters.trackers.bench import FLEET, NODES
from tests.adapters.trackers.code_hosts import GitHubRemote
from tests.adapters.trackers.remote import TOKEN, serving
from tests.waiting import PATIENCE


def settings(folder: Path, *urls: str) -> Settings:
    """Settings with a tracker at each address."""
    rows = "".join(
        f"  - {{name: t{number}, kind: github, repository: acme/halls, url: '{url}', token_file: token}}\n"
        for number, url in enumerate(urls)
    )
    (folder / "trackers.yml").write_text(f"trackers:\n{rows}")
    (folder / "token").write_text(TOKEN)
    (folder / "token").chmod(0o600)
    return Settings(inventory=folder / "fleet.yml", state_dir=folder)


def stocked(folder: Path, url: str = "") -> Store:
    """A store with one ticket."""
    store = Store.create(url or f"sqlite:///{folder / 'fleet.db'}")
    store.register(NODES, 100.0)
    node = store.node("gpu-01")
    assert node is not None
    seen = OpenTicket("gpu-01/disk", "disks", "gpu-01: worn out", "Replace it.", ("gpu-01",), "TRIAGE")
    store.apply(node, Decision((seen,), "", 0.0), time.time())
    return store


def test_a_tracker_that_hangs_keeps_none_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither another one, nor the end of the program."""
    monkeypatch.setattr(senders, "GRACE", 0.2)
    with serving(GitHubRemote()) as hanging, serving(GitHubRemote()) as well, stocked(tmp_path) as store:
        hanging.faults, hanging.late_seconds = ["late"], 60.0
        known: list[Fleet] = []
        with senders.sending(settings(tmp_path, hanging.url, well.url), store, lambda: (known or [None])[0]):
            monkeypatch.setattr(senders, "PULSE", 0.05)
            known.append(FLEET)  # the first tick has read the source of truth
            until = time.monotonic() + PATIENCE
            while not well.seen() and time.monotonic() < until:
                time.sleep(0.02)
            began = time.monotonic()
        assert time.monotonic() - began < hanging.late_seconds / 2
        assert [issue.title for issue in well.seen()] == ["gpu-01: worn out"]
        assert hanging.seen() == []


def test_what_fails_ends_no_sender(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks again at the next pulse."""
    monkeypatch.setattr(senders, "PULSE", 0.02)
    with serving(GitHubRemote()) as remote, stocked(tmp_path) as store:
        calls: list[int] = []

        def fleet() -> Fleet:
            calls.append(1)
            if len(calls) == 1:
                raise SettingsError("for a moment")
            if len(calls) == 2:
                raise RuntimeError("a slip of ours")
            return FLEET

        with senders.sending(settings(tmp_path, remote.url), store, fleet):
            until = time.monotonic() + PATIENCE
            while not remote.seen() and time.monotonic() < until:
                time.sleep(0.02)
        assert len(remote.seen()) == 1


def test_a_list_that_cannot_be_meant_is_said_before_anything_is_sent(tmp_path: Path) -> None:
    """Serve ends with it."""
    with stocked(tmp_path) as store, pytest.raises(SettingsError, match=r"trackers\.yml:2"):
        senders.senders(settings(tmp_path, "ftp://x"), store)


def test_senders_go_by_the_clock_of_the_database_that_they_share(
    tmp_path: Path,
    postgresql_urls: UrlMaker,  # noqa: F811  a fixture
) -> None:
    """It is an hour ahead here: who has the right to tell a tracker is the same question on each machine."""
    url = postgresql_urls()
    database = connect(url)
    with database.write() as connection:
        ahead = "SELECT pg_catalog.clock_timestamp() + interval '1 hour'"
        connection.execute(text(f"CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $${ahead}$$"))
        connection.execute(text(f"ALTER DATABASE {make_url(url).database} SET search_path = public, pg_catalog"))
    database.close()
    with serving(GitHubRemote()) as remote, stocked(tmp_path, url) as store:
        (sender,) = senders.senders(settings(tmp_path, remote.url), store)
        lasting = time.time() + sender.lease  # by this machine's clock; an hour ago by the database's
        assert store.take_tracker(sender.of.name, "another", lasting - sender.lease, sender.lease) is not None
        assert sender.visit(FLEET) == 1
        (issue,) = remote.seen()
        assert issue.title == "gpu-01: worn out"
        assert store.take_tracker(sender.of.name, "another", sender.now(), sender.lease) is not None
        assert store.take_tracker(sender.of.name, sender.holder, sender.now(), sender.lease) is None
