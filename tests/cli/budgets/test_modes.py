"""Commands about how far automation may go."""

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet_runner.adapters import sitefiles
from fleet_runner.adapters.store import Store
from fleet_runner.core.budgets.modes import Mode, Scope, Setting
from fleet_runner.core.inventory.records import nodes
from fleet_runner.settings import load
from tests.cli.conftest import Type


@pytest.fixture
def store(typed: Type, project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The example's nodes, of which nobody said anything."""
    del typed  # it sets the folder
    site = project / "docs" / "examples" / "site"
    monkeypatch.setenv("FLEET_SOURCE", str(site))
    with Store.create(load().store_url) as made:
        made.register(nodes(sitefiles.load(site)), 1000.0)
        made.set_mode(Setting(Scope.FLEET, "", None, None, 1.0, "tests"))
        yield made


@pytest.mark.usefixtures("store")
def test_where_nobody_said_anything_it_observes(typed: Type) -> None:
    said = typed("mode")
    assert said.words.startswith("Mode: observe everywhere.")
    assert typed("status").words.startswith("Mode: observe everywhere.")
    assert json.loads(typed("status", "--json").out)["mode"] == "Mode: observe everywhere."
    told = json.loads(typed("mode", "--json").out)
    assert told["settings"] == []
    assert {mode for kinds in told["nodes"].values() for mode in kinds.values()} == {"observe"}


def test_a_mode_is_tried_set_shown_and_forgotten(store: Store, typed: Type) -> None:
    """A dry run keeps nothing."""
    before = store.modes()
    words = ("mode", "act", "--node", "gpu-01", "--for", "reboot", "--for", "reset", "-r", "canary", "--by", "ann")
    tried = typed(*words, "--dry-run").words
    assert "reset: act at 1 node, gpu-01" in tried
    assert tried.endswith("dry run: nothing was changed")
    assert store.modes() == before
    kept = typed(*words).words
    assert kept.endswith(
        "kept: Mode: act for reboot at node gpu-01, act for reset at node gpu-01, observe everywhere else."
    )
    shown = typed("mode").words
    assert "ann: canary" in shown
    assert typed("mode", "forget", "--node", "gpu-01", "-r", "over").code == 1  # nothing was said of everything there
    assert typed("mode", "forget", "--node", "gpu-01", "--for", "reboot", "-r", "over").code == 0
    assert typed("mode").words.startswith("Mode: act for reset at node gpu-01, observe everywhere else.")
    assert typed("mode", "advise", "--fleet", "-r", "all of it").code == 0
    assert store.modes()[-1].mode is Mode.ADVISE


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--reason", "x"), "no place is given"),
        (("--fleet", "--reason", " "), "--reason is empty"),
        (("--node", "gpu-99", "--reason", "x"), "the source of truth has no node 'gpu-99' with nodes; it has gpu-0"),
        (("--rack", "A1", "--reason", "x"), "the source of truth has no rack 'A1' with nodes; it has "),
        (
            ("--tenant", "nobody", "--reason", "x"),
            "no tenant 'nobody' with nodes; it has none",
        ),
    ],
)
def test_a_slip_of_the_keys_is_no_mode_of_nothing(
    store: Store, typed: Type, words: tuple[str, ...], why: str
) -> None:
    before = store.modes()
    refused = typed("mode", "act", *words)
    assert refused.code == 2
    assert why in refused.err
    assert store.modes() == before


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        ((), 2, "no node is named; name nodes, or --rack, --site or --all"),
        (("gpu-99",), 2, "no node 'gpu-99' in the store"),
        (("--rack", "nowhere/A1"), 2, "no registered node is in rack 'nowhere/A1'"),
        (("gpu-01", "--wait", "0"), 4, "gpu-01: not answered yet: does fleet-runner serve run?"),
        (("--all", "--dry-run", "--wait", "0"), 4, "0 nodes would be adopted; 0 left as they are"),
    ],
)
def test_adopt_says_what_it_lacks(typed: Type, words: tuple[str, ...], code: int, why: str) -> None:
    said = typed("adopt", *words)
    assert said.code == code
    assert why in said.out + said.err


@pytest.mark.usefixtures("store")
def test_provision_asks_before_it_boots_anew_what_may_run(typed: Type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    said = typed("provision", "gpu-01")
    assert said.code == 1
    assert "Boot gpu-01 over the network? Running work ends, and its data is lost" in said.out + said.err
