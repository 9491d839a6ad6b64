"""Commands about how much automation may do at a time."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from fleet_runner.adapters import sitefiles
from fleet_runner.adapters.store import Store
from fleet_runner.core.budgets.circuit_breaker import Disruption, Want
from fleet_runner.core.budgets.circuit_breaker_limits import Limits
from fleet_runner.core.inventory.records import nodes
from fleet_runner.settings import load
from tests.cli.conftest import Type


@pytest.fixture
def store(typed: Type, project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The example's nodes."""
    del typed  # it sets the folder
    site = project / "docs" / "examples" / "site"
    monkeypatch.setenv("FLEET_SOURCE", str(site))
    with Store.create(load().store_url) as made:
        made.register(nodes(sitefiles.load(site)), 1000.0)
        yield made


def trip(store: Store, at: float) -> None:
    """Have two nodes want out where one is the most."""
    for name in ("gpu-01", "gpu-02"):
        asked = Disruption(anew=True, may_try=True)
        store.ask_breaker(Want(name, at, ("xid.79",)), asked, Limits(least=1), at)


@pytest.mark.usefixtures("store")
def test_status_says_that_the_policy_cannot_be_used(
    typed: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it cannot, a runner that starts decides nothing: whoever looks must see why."""
    policy = tmp_path / "policy.yml"
    policy.write_text("observ: true\n")
    monkeypatch.setenv("FLEET_POLICY_FILE", str(policy))
    assert "The policy cannot be used: " in typed("status").words
    assert "observ" in json.loads(typed("status", "--json").out)["policy"]
    policy.write_text("observe: true\n")
    assert "cannot be used" not in typed("status").words
    assert json.loads(typed("status", "--json").out)["policy"] == ""


def test_a_breaker_is_shown_in_status_and_reset_by_name(store: Store, typed: Type) -> None:
    """Open or closed, with the reason; a reset needs one, too."""
    assert typed("breaker", "show").words.startswith("closed: automation takes nodes out")
    assert typed("breaker", "reset", "--reason", "nothing").code == 1
    trip(store, time.time())
    assert "2 of 0 nodes were about to leave service" in typed("breaker", "show").words
    assert "the circuit breaker is open since" in typed("status").words
    assert json.loads(typed("breaker", "show", "--json").out)["pause"] == 1800
    assert json.loads(typed("status", "--json").out)["breaker"]["trial"] == ""
    assert typed("breaker", "reset", "--reason", " ").code == 2
    assert typed("breaker", "reset", "--reason", "the driver was rolled back", "--by", "ann").code == 0
    assert "closed" in typed("breaker", "show").words
    (ticket,) = store.tickets(open_only=False)
    assert ticket.closed_because == "ann reset the circuit breaker: the driver was rolled back"


def test_a_trial_is_named(store: Store, typed: Type) -> None:
    """With what opened it."""
    trip(store, 1000.0)
    store.ask_breaker(Want("gpu-02", 9000.0, ()), Disruption(anew=False, may_try=True), Limits(), 9000.0)
    shown = typed("breaker", "show").words
    assert "half open since 1970-01-01 00:16 UTC: gpu-02 is tried first" in shown
    assert "it opened: 2 of 0 nodes" in shown


@pytest.mark.usefixtures("store")
def test_budgets_are_shown_with_what_is_out(typed: Type) -> None:
    """Racks of which nothing is out only on demand."""
    engine = create_engine(load().store_url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE nodes SET state = 'production' WHERE name = 'gpu-01'"))
        connection.execute(text("UPDATE nodes SET state = 'reboot', since = 9e8 WHERE name = 'gpu-02'"))
    engine.dispose()
    shown = typed("budget").out
    assert "fleet" in shown
    assert "gpu-02 (reboot)" in shown
    assert len(typed("budget", "--all").out.splitlines()) >= len(shown.splitlines())
    rows = json.loads(typed("budget", "--json").out)
    assert (rows[0]["scope"], rows[0]["most"], rows[0]["total"]) == ("fleet", 1, 2)
    assert [out["node"] for out in rows[0]["out"]] == ["gpu-02"]
