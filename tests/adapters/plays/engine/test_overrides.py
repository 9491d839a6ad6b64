"""Playbooks and roles of the fleet's own go before those of the project, in a play of any start."""

import json
from pathlib import Path

from fleet_runner.adapters.plays import batch_folder, engine
from fleet_runner.adapters.plays.engine import BatchState
from tests.adapters.plays.engine.conftest import B1, B2, EITHER, Site

ROLES = [{"hosts": "nodes", "gather_facts": False, "roles": ["thing", "other"]}]


def role(place: Path, name: str, says: Path, word: str) -> None:
    """Write a role that says a word."""
    tasks = place / "roles" / name / "tasks"
    tasks.mkdir(parents=True)
    (tasks / "main.yml").write_text(json.dumps([{"ansible.builtin.shell": f"echo {word} >> {says}"}]))


def play(place: Path, plays: object) -> None:
    """Write the playbook of verify."""
    (place / "playbooks").mkdir(exist_ok=True, parents=True)
    (place / "playbooks" / "verify.yml").write_text(json.dumps(plays))


@EITHER
def test_what_the_fleet_has_of_its_own_counts_as_soon_as_it_is_there(site: Site) -> None:
    own, witness = site.folder / "own", site.folder / "witness"
    for name in ("thing", "other"):
        role(site.project, name, witness, f"project:{name}")
    play(site.project, ROLES)
    role(own, "thing", witness, "own:thing")
    engine.launch(site.settings, site.batch(B1))
    assert site.wait_for(B1, BatchState.ENDED).rc == 0
    assert site.witness() == ["own:thing", "project:other"]
    play(own, [{**ROLES[0], "roles": ["other"]}])
    engine.launch(site.settings, site.batch(B2))
    assert site.wait_for(B2, BatchState.ENDED).rc == 0
    assert site.witness()[2:] == ["project:other"]
    logs = [site.file(batch, batch_folder.LOG).read_text() for batch in (B1, B2)]
    assert not [log for log in logs if "not forked" in log or "WARNING" in log], logs
