"""Making the past of a demo: the hall, its 90 days, and what the nightly analysis says of them."""

import os
import subprocess
import sys
from random import Random

from fleet_runner.adapters import sitefiles
from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.engine.database import connect
from fleet_runner.adapters.store.lifecycle import nodes
from fleet_runner.core.lifecycle.states import State
from fleet_runner.lab.folder import Lab, LabError
from fleet_runner.lab.past import hall
from fleet_runner.lab.past.campaigns import Campaigns
from fleet_runner.lab.past.jobs import Jobs
from fleet_runner.lab.past.lives import DAY, Lives
from fleet_runner.lab.past.measures import Machine
from fleet_runner.lab.past.pen import Pen

DAYS = 90
SEED = 29
LONGEST = 300.0
"""Seconds that the analysis may take."""

ASKED_AFTER = 600.0
"""Seconds after a job's end at which somebody asks why."""


def make(lab: Lab, now: float) -> None:
    """Put the simulated hall into a lab's source of truth and its store, with 90 days that end now.

    Each page says that it is simulated.
    """
    hall.put(lab)
    with lab.settings.open("a", encoding="utf-8") as settings:
        settings.write(f'notice = "{hall.NOTICE}"\n')
    url = f"sqlite:///{lab.root / 'state' / 'fleet.db'}"
    try:
        written(lab, url, now)
    except BaseException:  # Ctrl-C too: a hall without its past would be taken for servers to bring up
        hall.take_away(lab)
        raise
    done = subprocess.run(
        [sys.executable, "-m", "fleet_runner.cli", "trends", "run"],
        env={**os.environ, "FLEET_CONFIG": str(lab.settings)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )
    if done.returncode:
        raise LabError(f"the simulated history could not be analysed: {done.stdout}{done.stderr}")


def written(lab: Lab, url: str, now: float) -> None:
    """Write the past of the hall into a store, always the same but for its dates."""
    fleet = sitefiles.load(lab.site)
    names = [spot.name for spot in hall.spots()]
    first = (now // DAY - DAYS) * DAY
    database = connect(url)
    try:
        with database.write() as connection:
            nodes.register(connection, [fleet.devices[name] for name in names], first)
            pen = Pen(connection, Random(SEED), first, now, dict.fromkeys(names, State.REGISTERED))
            jobs = Jobs(pen)
            machines = {spot.name: Machine(spot, Random(f"{SEED} {spot.name}")) for spot in hall.spots()}
            lives = Lives(pen, machines, jobs, first)
            lives.begin()
            Campaigns(lives).begin()
            pen.play()
            lives.end()
        with Store(database) as store:
            for answer in jobs.answers:
                store.keep_answer(answer, (answer.job.ended or now) + ASKED_AFTER, "simulated user")
    finally:
        database.close()
