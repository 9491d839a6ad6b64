"""What a stage costs through the runner, beside plain `ansible-playbook` over the same nodes and playbook.

`python benchmarks/runner.py [NODES...] [--runners 1 2] [--seconds S]`: real `fleet-runner serve` processes, one on
SQLite and as many as told on a PostgreSQL of the benchmark's own, take so many lab nodes through `health_passive`,
which somebody requested all at once, and then ten nodes one after the other. Plain Ansible runs beside it: all nodes
in one command with the same forks and configuration, and commands for one node each.

The nodes are those of the lab: their tools run on this machine, and count on both sides. Counted is CPU time: of
serve, of the parent that forks plays, of supervisors and all they start; PostgreSQL's is told by itself. It prints
how far it is, and leaves out what has not begun after S seconds (480).
"""

import argparse
import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from sqlalchemy import Engine, create_engine, text

from fleet_runner.adapters import sitefiles
from fleet_runner.adapters.plays import fork_server, processes
from fleet_runner.adapters.store import Store
from fleet_runner.core.inventory.records import nodes
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.lab import hardware
from fleet_runner.lab.down import down
from fleet_runner.lab.folder import Lab, write_json
from fleet_runner.lab.up import up
from fleet_runner.settings import PROJECT_DIR, Settings
from tests import postgres

STAGE = Stage.HEALTH_PASSIVE
SERVERS = 8
ALONE = 10
FORKS = 8
PATIENCE = 900.0
TICKS = os.sysconf("SC_CLK_TCK")
BIN = Path(sys.executable).parent


def say(words: str) -> None:
    """Say how far it is."""
    print(f"{time.strftime('%H:%M:%S')} {words}", file=sys.stderr, flush=True)


def name(number: int) -> str:
    """Return a node's name."""
    return f"node-{number:04}"


def copies(lab: Lab, count: int) -> Path:
    """Write a site of so many nodes, each of which is one of the lab's servers under another address."""
    folder = lab.root / f"site-{count}"
    folder.mkdir()
    for file in lab.site.glob("*.yml"):
        (folder / file.name).write_text(file.read_text())
    (folder / "cables.yml").write_text("cables: []\n")
    servers = [
        each for each in yaml.safe_load((lab.site / "devices.yml").read_text())["devices"] if "primary_ip" in each
    ]
    servers = [each for each in servers if each["name"] in lab.nodes()]
    addresses: dict[str, str] = json.loads((lab.root / "addresses.json").read_text())
    made: list[dict[str, Any]] = []
    for number in range(1, count + 1):
        server = servers[number % len(servers)]
        address = f"127.30.{number // 250}.{number % 250 + 1}"
        addresses[address] = str(server["name"])
        own = {"name": name(number), "serial": f"BENCH-{number:05}", "primary_ip": f"{address}/16"}
        made.append({key: server[key] for key in ("device_type", "role", "site", "config_context")} | own)
    (folder / "devices.yml").write_text(yaml.safe_dump({"devices": made}))
    write_json(lab.root / "addresses.json", addresses)
    return folder


def spent(pid: int) -> float:
    """Return the CPU seconds of a process and of those it has waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICKS


def postmaster(server: postgres.Postgres | None) -> int:
    """Return the process id of a PostgreSQL, 0 where there is none."""
    return int((server.home / "data" / "postmaster.pid").read_text().split()[0]) if server else 0


def children(pid: int) -> list[int]:
    """Return the processes that a process has started and that live."""
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for each in lists for child in each.read_text().split()]


def carries(pid: int) -> bool:
    """Tell if there is something below a runner beside the parent of plays."""
    return alive(pid) > 1


def alive(pid: int) -> int:
    """Return how many processes came from one and live; one that has ended may wait to be waited for."""
    found = 0
    for child in children(pid):
        with contextlib.suppress(OSError):
            found += Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
            found += alive(child)
    return found


def below(pid: int) -> float:
    """Return the CPU seconds of a process and of all that came from it and was not lost; of none for 0."""
    with contextlib.suppress(OSError):
        return spent(pid) + sum(below(child) for child in children(pid))
    return 0.0


@dataclass
class Runners:
    """Serving processes on one store."""

    store: Store
    engine: Engine
    settings: list[Settings]
    processes: list["subprocess.Popen[bytes]"] = field(default_factory=list["subprocess.Popen[bytes]"])

    def start(self, config: Path) -> None:
        """Start them and wait until they have their parents of plays."""
        for each in self.settings:
            own = {"FLEET_CONFIG": str(config), "FLEET_STATE_DIR": str(each.state_dir)}
            own |= {"FLEET_RUNNER_NAME": each.runner_name, "FLEET_DATABASE_URL": each.database_url}
            with (each.state_dir / "serve.log").open("wb") as log:
                command = [BIN / "fleet-runner", "serve"]
                own = os.environ | own
                started = subprocess.Popen(command, env=own, stdout=log, stderr=subprocess.STDOUT)  # noqa: S603  ours
                self.processes.append(started)
        self.until(
            lambda: all(fork_server.answers(fork_server.folder(each)) for each in self.settings),
            "plays have a parent",
        )

    def intent(self, names: Sequence[str]) -> float:
        """Request for the stage on nodes, wait until it has ended on all of them, and return how long that took."""
        before, began = ended(self.engine), time.monotonic()
        for each in names:
            self.store.leave_intent(each, IntentKind.RUN, "bench", detail=STAGE.value, now=time.time())
        self.until(lambda: ended(self.engine) >= before + len(names), f"{STAGE} ends on {len(names)} nodes")
        took = time.monotonic() - began
        self.until(lambda: not any(carries(each.pid) for each in self.processes), "supervisors end")
        return took

    def cpu(self) -> float:
        """Return the CPU seconds of the runners and all that they have started."""
        return sum(below(each.pid) for each in self.processes)

    def until(self, true: Any, what: str) -> None:
        """Wait for something, or end the benchmark with what serve said."""
        limit = time.monotonic() + PATIENCE
        while not true():
            gone = [each for each in self.processes if each.poll() is not None]
            if gone or time.monotonic() > limit:
                logs = "\n".join((each.state_dir / "serve.log").read_text()[-3000:] for each in self.settings)
                sys.exit(f"waited in vain until {what}:\n{logs}")
            time.sleep(0.2)

    def stop(self) -> None:
        """End them, and what they carry."""
        for each in self.processes:
            each.terminate()
        for each in self.processes:
            each.wait()
        for batches in (each.batches_dir for each in self.settings):
            for left in batches.iterdir() if batches.is_dir() else ():
                processes.end(left.name, grace=1.0)


def rest(store: Store, engine: Engine, site: Path) -> None:
    """Have every node of a site be where nothing is due until somebody requests for it."""
    store.register(nodes(sitefiles.load(site)), time.time())
    still = text("UPDATE nodes SET state = 'onboard', since = :now, wake_at = 1e12")
    with engine.begin() as connection:
        connection.execute(still, {"now": time.time()})


def ended(engine: Engine) -> int:
    """Return how many runs have ended; one that has not passed ends the benchmark."""
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT outcome, detail FROM runs WHERE ended_at IS NOT NULL")).all()
    if odd := [row for row in rows if row.outcome != "passed"]:
        sys.exit(f"a run has not passed: {odd[0]}")
    return len(rows)


def plain(config: Path, settings: Settings, names: Sequence[str]) -> tuple[float, float]:
    """Return the CPU and wall-clock seconds of ansible-playbook over nodes."""
    with tempfile.TemporaryDirectory() as folder:
        own = {"FLEET_CONFIG": str(config), "FLEET_STATE_DIR": str(settings.state_dir), "FLEET_SPOOL": f"{folder}/s"}
        own |= {"ANSIBLE_CONFIG": str(PROJECT_DIR / "ansible.cfg"), "LC_ALL": "C.UTF-8"}
        extra = Path(folder) / "extra.json"
        runs = {node: {"run": number, "fence": 1, "since": 0.0} for number, node in enumerate(names)}
        extra.write_text(json.dumps({"fleet_runs": runs}))
        words = ["--inventory", PROJECT_DIR / "inventory" / "fleet.yml", "--limit", ",".join(names)]
        words += ["--forks", str(FORKS), "--extra-vars", f"@{extra}", PROJECT_DIR / "playbooks" / f"{STAGE}.yml"]
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        answer = subprocess.run(  # noqa: S603  ours
            [BIN / "ansible-playbook", *words],
            env=os.environ | own,
            cwd=PROJECT_DIR,
            capture_output=True,
            check=False,
        )
        took, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        if answer.returncode:
            said = (answer.stdout + answer.stderr).decode()[-3000:]
            sys.exit(f"ansible-playbook ended with {answer.returncode}:\n{said}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, took


@dataclass(frozen=True, slots=True)
class Cost:
    """What nodes cost, each: CPU seconds of the runner and of the database, and nodes a second by the clock."""

    cpu: float
    database: float
    rate: float

    def __str__(self) -> str:
        database = f" + {self.database:.3f} of PostgreSQL" if self.database else ""
        return f"{self.cpu:.3f} s CPU a node{database}, {self.rate:.2f} nodes/s"


def through(config: Path, folder: Path, count: int, given: tuple[int, postgres.Postgres | None]) -> tuple[Cost, Cost]:
    """Take nodes through the stage, all at once and then some one by one; return what each of them cost."""
    number, server = given
    url = server.url if server else f"sqlite:///{folder / 'fleet.db'}"
    settings: list[Settings] = []
    for at in range(number):
        (folder / f"state-{at}").mkdir(parents=True)
        settings.append(Settings(state_dir=folder / f"state-{at}", runner_name=f"bench-{at}", database_url=url))
    engine = create_engine(url)
    pid = postmaster(server)
    with Store.create(url) as store:
        rest(store, engine, config.with_name(f"site-{count}"))
        runners = Runners(store, engine, settings)
        try:
            runners.start(config)
            costs: list[Cost] = []
            rounds = (
                [[name(each + 1) for each in range(count)]],
                [[name(each % count + 1)] for each in range(ALONE)],
            )
            for chosen in rounds:
                cpu, database = runners.cpu(), below(pid)
                took = sum(runners.intent(each) for each in chosen)
                total = sum(map(len, chosen))
                costs.append(Cost((runners.cpu() - cpu) / total, (below(pid) - database) / total, total / took))
        finally:
            runners.stop()
            engine.dispose()
    return costs[0], costs[1]


def measured(lab: Lab, count: int, runners: Sequence[int]) -> Iterator[str]:
    """Yield a line for each way to take so many nodes through the stage."""
    site = copies(lab, count)
    config = lab.root / f"fleet-{count}.toml"
    config.write_text(f'source = "{site}"\nforks = {FORKS}\ntick_seconds = 1\n')
    settings = Settings(state_dir=lab.root / f"plain-{count}")
    say(f"{count} nodes, plain ansible-playbook")
    cpu, took = plain(config, settings, [name(each + 1) for each in range(count)])
    ones = [plain(config, settings, [name(each % count + 1)]) for each in range(ALONE // 2)]
    base = Cost(cpu / count, 0.0, count / took)
    one = Cost(sum(each[0] for each in ones) / len(ones), 0.0, len(ones) / sum(each[1] for each in ones))
    yield f"{count:5} nodes  ansible-playbook     {base}"
    yield f"    1 node   ansible-playbook     {one}"
    with contextlib.ExitStack() as stack:
        data = stack.enter_context(postgres.template())
        for number, kind in [(1, "SQLite"), *((number, "PostgreSQL") for number in runners)]:
            say(f"{count} nodes, {number} runner(s), {kind}")
            folder = lab.root / f"{count}-{number}-{kind}"
            with contextlib.ExitStack() as inner:
                server = inner.enter_context(postgres.running(data)) if kind == "PostgreSQL" else None
                together, alone = through(config, folder, count, (number, server))
            label = f"{number} runner{'s' if number > 1 else ''}, {kind}"
            yield f"{count:5} nodes  {label:20} {together}; {together.cpu / base.cpu:.2f} times"
            yield f"    1 node   {label:20} {alone}; {alone.cpu / one.cpu:.2f} times"


def main(arguments: list[str]) -> int:
    """Print a line for each measurement as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nodes", type=int, nargs="*", default=[10, 100, 1000])
    parser.add_argument("--runners", type=int, nargs="*", default=[1, 2], help="runners on PostgreSQL")
    parser.add_argument("--seconds", type=float, default=480.0, help="what has not begun by then is left out")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what was started is ended then, too
    limit = time.monotonic() + options.seconds
    print(f"load {os.getloadavg()[0]:.1f}, {FORKS} forks, {STAGE}; one node: {ALONE} of them one after the other")
    with tempfile.TemporaryDirectory(prefix="fleet-bench-") as folder:
        lab = up(Path(folder) / "lab", SERVERS, 0.0)
        try:
            for node in lab.nodes():
                with hardware.changing(lab, node) as state:
                    state["provisioned"] = True  # it boots from its image
                hardware.power(lab, node, "On")
            for count in options.nodes:
                for line in measured(lab, count, options.runners):
                    print(line, flush=True)
                    if time.monotonic() > limit:
                        print(f"{options.seconds:.0f} s are over; what follows is left out")
                        return 0
        finally:
            down(lab, delete=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
