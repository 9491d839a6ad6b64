"""A sender in a process of its own, to be killed: child.py FOLDER URL NOW."""

import sys
from pathlib import Path

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.trackers import opened
from fleet_runner.core.tickets.trackers.configuration import Configured
from fleet_runner.reconcile.tickets.outbox import OutboxSender
from tests.adapters.trackers.bench import FLEET, GIVEN

folder, url, now = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
of = Configured(name="desk", url=url, token_file="token", **GIVEN["github"])
with Store.open(f"sqlite:///{folder / 'fleet.db'}") as store:
    OutboxSender(of, store, folder, opened, lambda: now).visit(FLEET)
