"""A lab's fleet with the product on it, whose pages answer on loopback; and who opens them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import yaml

from fleet_runner.adapters.store import Store
from fleet_runner.core.access.roles import Role
from fleet_runner.core.faults.signals.tokens import Token
from fleet_runner.lab import ports
from fleet_runner.lab.down import down
from fleet_runner.lab.up import up
from fleet_runner.services.http.admission import make
from tests.e2e.conftest import Fleet
from tests.waiting import until

TENANT = "Acme"

NOBODY = """\
channels:
  - name: nobody
    kind: webhook
    url: http://127.0.0.1:9/
    group_seconds: 1
"""
"""A channel whose receiver is away."""


@dataclass(slots=True)
class LabSite:
    """Where a lab's pages answer; to whoever opens them it is what `tests.web.served.Served` is.

    Signals are taken at `signals`.
    """

    url: str
    signals: str
    fleet: Fleet
    tokens: dict[str, str] = field(default_factory=dict[str, str])

    def token(self, role: Role | str, tenant: str = "") -> str:
        """Return the token of a role."""
        del tenant
        return self.tokens[str(role)]

    def push(self, **signal: str) -> None:
        """Push a signal."""
        headers = {"authorization": f"Bearer {self.token(Role.INGEST)}"}
        answer = httpx.post(f"{self.signals}/signals", json=signal, headers=headers, timeout=30.0)
        assert answer.is_success, answer.text


@contextmanager
def lab_fleet(folder: Path, servers: int) -> Iterator[LabSite]:
    """Have a lab's servers, off and as delivered, and `fleet-runner serve` with pages, for as long as it is open.

    The last of them is a tenant's; somebody who is told of what happens is away.
    """
    lab = up(folder / "lab", servers, boot_seconds=1.0, boot_service=True)
    fleet = Fleet(lab)
    at, signals = (f"127.0.0.1:{port}" for port in ports.choose(2))
    with lab.settings.open("a", encoding="utf-8") as settings:
        settings.write(f'web_listen = "{at}"\nsignals_listen = "{signals}"\nnotifications_file = "told.yml"\n')
    (lab.root / "told.yml").write_text(NOBODY)
    _rent(lab.root / "site" / "devices.yml", lab.nodes()[-1])
    site = LabSite(f"http://{at}", f"http://{signals}", fleet)
    try:
        with Store.create(f"sqlite:///{lab.root / 'state' / 'fleet.db'}") as store:
            for role in Role:
                site.tokens[role], digest = make()
                tenant = TENANT if role is Role.TENANT else ""
                store.add_token(Token(role, digest, store.clock() - 60, "tests", scope=role, tenant=tenant))
        fleet.serve()
        until(lambda: _answers(site), "pages that answer", 60.0)
        yield site
    finally:
        for process in fleet.serving:
            process.terminate()
            process.wait(60)
        down(lab)


def _rent(devices: Path, name: str) -> None:
    """Give a device of the source of truth a tenant."""
    found = yaml.safe_load(devices.read_text())
    (mine,) = (each for each in found["devices"] if each["name"] == name)
    mine["tenant"] = TENANT
    devices.write_text(yaml.safe_dump(found))


def _answers(site: LabSite) -> bool:
    try:
        return httpx.get(f"{site.url}/login", timeout=5.0).is_success
    except httpx.TransportError:
        return False
