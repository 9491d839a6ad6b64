"""An emulated BMC of a scenario: `python -m tests.scenario.bmc FOLDER`, until SIGTERM.

It writes its address into `bmc.url`, and each thing that happens to it into `bmc.jsonl`.
"""

import json
import secrets
import signal
import sys
from dataclasses import replace
from pathlib import Path

import yaml

from fleet_runner.lab.redfish import Durations, Emulator, Event, load
from fleet_runner.lab.redfish.trees import OUR_OWN

LIFE_SECONDS = 900
"""A run that was killed leaves it behind; it does not stay for ever."""

PACE = replace(Durations.quick(), boot=0.2)
SIGNALS = {signal.SIGINT, signal.SIGTERM}


def main() -> None:
    """Serve; what is not told here is shown as the emulator's own tree has it."""
    folder = Path(sys.argv[1])
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    signal.alarm(LIFE_SECONDS)
    credentials = {"username": "admin", "password": secrets.token_urlsafe(18)}
    (folder / "bmc.yml").touch(mode=0o600)
    (folder / "bmc.yml").write_text(yaml.safe_dump(credentials))
    changes = json.loads((folder / "bmc.json").read_text())

    def hear(event: Event) -> None:
        if event.kind not in {"request", "login", "logout"}:
            with (folder / "bmc.jsonl").open("a") as log:
                log.write(json.dumps({"kind": event.kind, **event.details}, default=str) + "\n")

    with Emulator(load(OUR_OWN), credentials=credentials, pace=PACE, changes=changes, on=hear) as bmc:
        (folder / "bmc.url").write_text(bmc.url)
        signal.sigwait(SIGNALS)


if __name__ == "__main__":
    main()
