"""What every scenario of molecule begins with: `python -m tests.scenario.prepare FOLDER TOOLS <scenario.json`.

The scenario is JSON, from its role's `molecule.yml`; each part may be left out:

    prints  {"ibstat": "ibstat/two_rails.txt", "ibstat -l": …}: tools that print a file of tests/evidence; words
            after a tool's name say what it prints for just these
    files   {"list.json": …}: files in the scenario's folder; what is no text becomes JSON
    images  {"bmc.bin": {"BMC": "1.05.03"}}: firmware images, with what they bring
    state   a state of the lifecycle: there is a store, and it knows the node in that state
    bmc     what an emulated BMC shows beside its own, as {URI: body}, or files of tests/evidence with such

The other tools of the node are programs in the folder TOOLS, beside `molecule.yml`; they find the scenario's folder
in $folder and that of the evidence in $evidence. Every call of a tool is written down (`tests.scenario.found.asked`),
and `began` is older than whatever the role does.
"""

import json
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

NODE = "gpu-01"
EVIDENCE = Path(__file__).resolve().parents[1] / "evidence"
SETTINGS = """\
state_dir = "state"
bmc_credentials = "bmc.yml"
"""
LONG = 30.0


def main() -> None:
    """Empty the folder of what an earlier run left, and fill it."""
    folder, tools, scenario = Path(sys.argv[1]), Path(sys.argv[2]), json.load(sys.stdin)
    for name in ("bin", "state"):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir()
    for name in ("asked", "spool.jsonl", "bmc.json", "bmc.jsonl"):
        (folder / name).unlink(missing_ok=True)
    (folder / "fleet.toml").write_text(SETTINGS)
    (folder / "bmc.url").write_text("")
    (folder / "began").write_text(str(time.time()))
    programs = {path.name: f'exec {shlex.quote(str(path))} "$@"' for path in tools.glob("*")}
    for name, body in {**_printing(scenario.get("prints", {})), **programs}.items():
        _tool(folder, name, body)
    for name, value in scenario.get("files", {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(value if isinstance(value, str) else json.dumps(value))
    if "images" in scenario:
        _images(folder / "state" / "firmware", scenario["images"])
    if "state" in scenario:
        _store(folder / "state" / "fleet.db", scenario["state"])
    if "bmc" in scenario:
        _bmc(folder, scenario["bmc"])


def _printing(prints: Mapping[str, str]) -> dict[str, str]:
    """Return a script for each tool: the words that it knows, then what it prints for all others."""
    found: dict[str, str] = {}
    for asked, file in sorted(prints.items(), reverse=True):
        name, _, words = asked.partition(" ")
        if not (EVIDENCE / file).is_file():
            sys.exit(f"{asked}: there is no tests/evidence/{file}")
        shown = f'exec cat "$evidence"/{shlex.quote(file)}'
        found[name] = found.get(name, "") + (f'[ "$*" != {shlex.quote(words)} ] || {shown}\n' if words else shown)
    return found


def _tool(folder: Path, name: str, body: str) -> None:
    path = folder / "bin" / name
    known = f"export evidence={shlex.quote(str(EVIDENCE))} folder={shlex.quote(str(folder))}"
    path.write_text(f'#!/bin/sh\n{known}\necho "{name} $*" >>"$folder"/asked\n{body}\n')
    path.chmod(0o755)


def _images(folder: Path, wanted: Mapping[str, Mapping[str, str]]) -> None:
    from fleet_runner.lab.redfish import images  # noqa: PLC0415  most scenarios need none of what this loads

    folder.mkdir()
    for name, versions in wanted.items():
        images.write(folder / name, versions)


def _store(path: Path, state: str) -> None:
    """Make a store that knows the node, and move it there by the shortest way."""
    from fleet_runner.adapters.store import Store  # noqa: PLC0415  likewise
    from fleet_runner.core.inventory.records import Device  # noqa: PLC0415  likewise
    from fleet_runner.core.lifecycle.actions import Decision, Move  # noqa: PLC0415  likewise

    with Store.create(f"sqlite:///{path}") as store:
        store.register([Device(NODE, "lab", "gpu-server", "lab")], time.time())
        for transition in _way(state):
            (node,) = store.nodes()
            store.apply(node, Decision((Move(transition, "scenario", "it begins there"),), "", 1.0), time.time())


def _way(state: str) -> list[Any]:
    from fleet_runner.core.lifecycle.states import TRANSITIONS, State  # noqa: PLC0415  likewise

    ways: dict[State, list[Any]] = {State.REGISTERED: []}
    for _ in State:
        for (begin, _event), transition in TRANSITIONS.items():
            if begin in ways and transition.to not in ways:
                ways[transition.to] = [*ways[begin], transition]
    return ways[State(state)]


def _bmc(folder: Path, shows: Iterable[Any]) -> None:
    """Start a BMC that outlives this, and wait until it answers."""
    bodies = [json.loads((EVIDENCE / each).read_text()) if isinstance(each, str) else each for each in shows]
    (folder / "bmc.json").write_text(json.dumps({uri: body for each in bodies for uri, body in each.items()}))
    with (folder / "bmc.log").open("w") as log:
        command = [sys.executable, "-m", "tests.scenario.bmc", str(folder)]
        bmc = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    (folder / "bmc.pid").write_text(str(bmc.pid))
    until = time.monotonic() + LONG
    while not (folder / "bmc.url").read_text():
        if bmc.poll() is not None or time.monotonic() > until:
            sys.exit(f"the BMC does not answer: {(folder / 'bmc.log').read_text()}")
        time.sleep(0.05)


if __name__ == "__main__":
    main()
