"""Deaths with a known cause, told by the store and Slurm's accounts: `fleet-runner job 4711`, as an operator asks."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.lab.job_deaths import AREAS, Cause, Death, death
from fleet_runner.lab.stored_deaths import put, sacct
from tests.cli.conftest import Type

Stocked = Callable[..., Death]

OWN_WORD = {Cause.GPU_OOM, Cause.BUG, Cause.SIZES, Cause.SEGFAULT, Cause.HANG, Cause.NOTHING}
"""What nothing but the job's own output can tell: the nodes were well."""


@pytest.fixture
def stocked(tmp_path: Path, typed: Type, monkeypatch: pytest.MonkeyPatch) -> Stocked:
    """Return who draws a death, and has the store of the fleet and Slurm's accounts know of it."""
    del typed  # it sets the folder
    (tmp_path / "state").mkdir()
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("FLEET_SCHEDULER", "slurm")

    def draw(cause: Cause, seed: int, *, pushed: bool = True) -> Death:
        made = death(seed, cause)
        with Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}") as store:
            put(store, made, pushed=pushed)
        script = tmp_path / "bin" / "sacct"
        script.write_text(f"#!/bin/sh\ncat <<'END'\n{sacct(made)}END\n")
        script.chmod(0o755)
        (tmp_path / "slurm-4711.out").write_text(made.files["slurm-4711.out"])
        return made

    return draw


def told(typed: Type, *words: str) -> dict[str, object]:
    """Return what is told of the job."""
    said = typed("job", "4711", "--json", *words)
    assert said.err == ""
    found = json.loads(said.out)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("cause", list(Cause))
def test_the_store_alone_tells_what_a_node_did(typed: Type, stocked: Stocked, cause: Cause) -> None:
    """By logs that are pushed; what only the program knows is not known, and held against nobody."""
    made = stocked(cause, 21)
    found = told(typed)
    assert found["area"] == ("unknown" if cause in OWN_WORD else AREAS[cause])
    machine = AREAS[cause] in {"hardware", "fabric"}
    assert found["exclude"] == ([made.node] if machine else [])


@pytest.mark.parametrize("cause", [Cause.GPU, Cause.MEMORY, Cause.MACHINE, Cause.OOM, Cause.KERNEL_BUG, Cause.TWO])
def test_sweeps_alone_tell_what_lasts_in_a_log(typed: Type, stocked: Stocked, cause: Cause) -> None:
    """Of a fleet whose nodes push nothing; a machine that stopped is known by its next start."""
    made = stocked(cause, 22, pushed=False)
    found = told(typed)
    assert found["area"] == AREAS[cause]
    assert found["exclude"] == ([made.node] if AREAS[cause] == "hardware" else [])


@pytest.mark.parametrize("cause", [Cause.GPU, Cause.BUG, Cause.SIZES, Cause.SEGFAULT])
def test_the_jobs_output_beside_the_store_tells_the_rest(typed: Type, stocked: Stocked, cause: Cause) -> None:
    """Its clock may be of another zone; Slurm's accounts tell the job's end."""
    stocked(cause, 23)
    assert told(typed, "--log", "slurm-4711.out")["area"] == AREAS[cause]
