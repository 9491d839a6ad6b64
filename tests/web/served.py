"""Pages and the API over a real socket on loopback, and who asks them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from fleet_runner.adapters.store import Store
from fleet_runner.core.access.roles import Role
from fleet_runner.core.faults.signals.tokens import Token
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.services.http.admission import make
from fleet_runner.settings import Settings
from fleet_runner.web.serving import pages
from fleet_runner.web.site import Site
from tests.waiting import PATIENCE
from tests.web.hall import NOW


@dataclass(slots=True)
class Served:
    """A site that answers at `url`. `tokens` are by the name of their role, tenants' by the tenant's."""

    url: str
    site: Site
    store: Store
    tokens: dict[str, str] = field(default_factory=dict[str, str])

    def token(self, role: Role | str, tenant: str = "") -> str:
        """Return a token of a role, made once."""
        key = tenant or str(role)
        if key not in self.tokens:
            self.tokens[key], digest = make()
            name = f"{role}-{tenant}".rstrip("-").lower()
            self.store.add_token(Token(name, digest, NOW - 60, "tests", scope=str(role), tenant=tenant))
            self.site.admission._read_at = float("-inf")  # else a token is known a moment later
        return self.tokens[key]

    def client(self, role: Role | str | None = Role.OPERATOR, tenant: str = "") -> httpx.Client:
        """Return a client that shows a token of a role as a program does, or none."""
        headers = {"authorization": f"Bearer {self.token(role, tenant)}"} if role else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=PATIENCE)

    @contextmanager
    def browser_client(self, role: Role | str = Role.OPERATOR, tenant: str = "") -> Iterator[httpx.Client]:
        """Give a client that has logged in as a browser does, with a session."""
        with httpx.Client(base_url=self.url, headers={"accept": "text/html"}, timeout=PATIENCE) as client:
            answer = client.post("/login", data={"token": self.token(role, tenant)})
            assert answer.status_code == httpx.codes.SEE_OTHER, answer.text
            yield client


@contextmanager
def served(store: Store, fleet: Fleet | None, folder: Path, **more: object) -> Iterator[Served]:
    """Serve a store's pages for as long as it is open, on a port that is free."""
    given: dict[str, object] = {"web_listen": "127.0.0.1:0", "state_dir": folder, "source": str(folder / "site")}
    settings = Settings(**{**given, **more})  # type: ignore[arg-type]  settings of a test
    here = Site(settings, store, lambda: fleet, clock=lambda: NOW)
    with pages(here, lambda _: None) as url:
        yield Served(url, here, store)
