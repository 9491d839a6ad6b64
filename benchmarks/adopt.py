"""How long it takes from an empty folder to a fleet that was adopted, and what that costs.

`python benchmarks/adopt.py [NODES] [--servers N]`: first a lab of N servers that run (32), with real Ansible over the
lab's ssh and its BMCs; then NODES stand-ins (2,000) that answer a survey as those do, through a stand-in for
`ansible-playbook`, for what the runner, the store and the command cost by themselves. For each it serves from a store
that does not exist yet, tries `adopt --all --dry-run`, then `adopt --all`, and prints the wall-clock seconds and the
CPU seconds of all processes. It fails where a node was not adopted, or anything was done to a machine.
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from fleet_runner.adapters.plays import processes
from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.lifecycle.states import State
from fleet_runner.lab import hardware
from fleet_runner.lab.down import down
from fleet_runner.lab.folder import Lab
from fleet_runner.lab.up import up
from tests.chaos.ansible_playbook import LAB, SEED
from tests.chaos.fates import fate, fates
from tests.chaos.herd import ROOT, environment
from tests.chaos.machine import Machine
from tests.chaos.site import Site

PATIENCE = 3600.0


def row(what: str, took: float, cpu: str = "") -> None:
    """Print a line of the table."""
    print(f"{what:<34}{took:>10.1f} s{cpu}", flush=True)


def cpu_seconds() -> float:
    """Return what ended processes of this one have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def command(python: Path, variables: Mapping[str, str], *words: str) -> str:
    """Run one command of the product to its end."""
    argv = [str(python), "-m", "fleet_runner.cli", *words]
    done = subprocess.run(  # noqa: S603  our own command
        argv, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(words)}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


@contextmanager
def serving(python: Path, variables: Mapping[str, str], state: Path) -> Iterator[None]:
    """Serve meanwhile, and end as an operator would; then end the plays, which outlive the runner."""
    with (state.parent / "adopt.log").open("ab") as told:
        process = subprocess.Popen(  # noqa: S603  our own command
            [str(python), "-m", "fleet_runner.cli", "serve"],
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            stdout=told,
            stderr=told,
            start_new_session=True,
        )
    try:
        yield
    finally:
        process.terminate()
        process.wait(120)
        for batch in state.glob("batches/*"):
            processes.end(batch.name, grace=0.0)


def is_surveyed(store: str, nodes: int) -> bool:
    """Whether every node is known and was looked at."""
    try:
        with Store.open(store) as opened:
            known = opened.nodes()
            return len(known) == nodes and not opened.open_runs() and all(opened.runs(each.name) for each in known)
    except FleetError:
        return False  # it is being made


def adopted(what: str, python: Path, variables: Mapping[str, str], state: Path, nodes: int) -> None:
    """Take a fleet from no store at all to production, and print what each step took."""
    began, before = time.monotonic(), cpu_seconds()
    print(what, flush=True)
    with serving(python, variables, state):
        store = f"sqlite:///{state / 'fleet.db'}"
        while not is_surveyed(store, nodes):
            if time.monotonic() - began > PATIENCE:
                sys.exit(f"not every node was surveyed within {PATIENCE:.0f} s")
            time.sleep(2.0)
        surveyed = time.monotonic()
        row("  registered and surveyed", surveyed - began)
        command(python, variables, "adopt", "--all", "--dry-run")
        tried = time.monotonic()
        row("  adopt --all --dry-run", tried - surveyed)
        command(python, variables, "adopt", "--all")
        row("  adopt --all", time.monotonic() - tried)
    used = cpu_seconds() - before
    row("  in all", time.monotonic() - began, f", {used:.0f} CPU s, {1000 * used / nodes:.0f} ms a node")
    with Store.open(store) as opened:
        left = [
            (each.name, each.state.value, each.waiting)
            for each in opened.nodes()
            if each.state is not State.PRODUCTION
        ]
        if left or len(opened.nodes()) != nodes:
            sys.exit(f"not adopted: {left[:5]}")


def lab(folder: Path, servers: int) -> None:
    """Adopt a lab's servers, which run."""
    made = up(folder / "lab", servers, boot_seconds=0.5)
    try:
        for name in made.nodes():
            with hardware.changing(made, name) as state:
                state["provisioned"] = True
            hardware.power(made, name, "On")
        while not all(hardware.up(made, name) for name in made.nodes()):
            time.sleep(0.1)
        before = len(made.log.read_text("utf-8").splitlines())
        _empty(made)
        settings = {"FLEET_CONFIG": str(made.settings), "FLEET_PASSIVE_SCHEDULE": "every 1h"}
        adopted(f"{servers} lab servers, real plays", Path(sys.executable), settings, made.root / "state", servers)
        events = map(json.loads, made.log.read_text("utf-8").splitlines()[before:])
        done = [each for each in events if each["event"] in {"power", "boot"}]
        if done:
            sys.exit(f"something was done to a machine: {done[:3]}")
    finally:
        down(made)


def _empty(made: Lab) -> None:
    """Have the store be one that does not exist yet."""
    for path in (made.root / "state").glob("fleet.db*"):
        path.unlink()


def stand_ins(folder: Path, nodes: int) -> None:
    """Adopt machines that a stand-in for `ansible-playbook` answers for."""
    python, of = environment(folder / "env"), fates(1, healthy=True)
    site = Site(folder / "stand-ins", nodes, batch=100, passive=86_400.0)
    site.write()
    for name in site.names():
        Machine(name, fate(of, name), site.machines / f"{name}.jsonl").log("power on")
    state = site.state_dir("runner")
    state.mkdir(mode=0o700)
    path = f"{python.parent.parent / 'hook'}:{ROOT}"
    variables = {LAB: str(site.root), SEED: of, "PYTHONPATH": path, "FLEET_CONFIG": str(site.settings("runner"))}
    adopted(f"{nodes:,} stand-ins", python, variables, state, nodes)


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nodes", nargs="?", type=int, default=2000)
    parser.add_argument("--servers", type=int, default=32)
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that what was started is ended
    with tempfile.TemporaryDirectory(prefix="fleet-bench-") as folder:
        if given.servers:
            lab(Path(folder), given.servers)
        if given.nodes:
            stand_ins(Path(folder), given.nodes)


if __name__ == "__main__":
    main()
