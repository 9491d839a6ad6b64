"""A place whose end kills plays is left: they are waited for, and what is left is ended in order."""

from typing import TYPE_CHECKING

from fleet_runner.adapters.plays import engine
from fleet_runner.adapters.plays.engine import BatchState
from fleet_runner.reconcile.loop.shutdown import leave

if TYPE_CHECKING:
    from tests.adapters.plays.engine.conftest import Site


def test_where_nothing_runs_nothing_is_waited_for(site: "Site") -> None:
    """Not even the folder is there."""
    went_on: list[None] = []
    assert leave(site.settings, 60.0, lambda: went_on.append(None)) == (0, 0)
    assert went_on == []


def test_a_play_that_ends_in_time_is_not_asked_to(site: "Site") -> None:
    """It ends as it would have; its rc is Ansible's own."""
    site.play("say began", "until_ go", "say ended")
    engine.launch(site.settings, site.batch("b-1"))
    site.wait_for_witness("began")
    assert leave(site.settings, 120.0, (site.folder / "go").touch) == (0, 0)
    assert site.look("b-1").rc == 0
    assert site.witness() == ["began", "ended"]


def test_a_play_that_goes_on_is_ended_in_order(site: "Site") -> None:
    """Its supervisor says so, and nothing of it lives."""
    site.play("say began", "until_ never", "say ended")
    engine.launch(site.settings, site.batch("b-1"))
    site.wait_for_witness("began")
    assert leave(site.settings, 0.5, lambda: None) == (1, 0)
    look = site.look("b-1")
    assert (look.state, look.rc) == (BatchState.ENDED, 143)
    assert site.witness() == ["began"]
