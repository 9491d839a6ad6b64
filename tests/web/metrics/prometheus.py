"""A real Prometheus on loopback that scrapes a served hall, and its HTTP API."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from fleet_runner.lab import ports
from tests.waiting import until
from tests.web.served import Served

RULES = Path(__file__).resolve().parents[3] / "packaging" / "prometheus" / "fleet-runner.rules.yml"

CONFIG = """\
global: {{scrape_interval: 2s, evaluation_interval: 2s}}
rule_files: ["{rules}"]
scrape_configs:
  - job_name: fleet-runner
    authorization: {{credentials_file: token}}
    static_configs: [{{targets: ["{target}"]}}]
"""


def tool(name: str) -> str:
    """Return where a tool of Debian's package is."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed; scripts/debian-packages names it")
    return found


@dataclass(slots=True)
class Prometheus:
    """One that runs, at `url`."""

    url: str

    def ask(self, query: str) -> list[dict[str, Any]]:
        """Return what a query finds now; it must be a query that Prometheus takes."""
        answer = httpx.get(f"{self.url}/api/v1/query", params={"query": query}, timeout=30.0).json()
        assert answer["status"] == "success", (query, answer)
        found: list[dict[str, Any]] = answer["data"]["result"]
        return found

    def value(self, query: str) -> float:
        """Return the one number that a query finds, or NaN."""
        found = self.ask(query)
        return float(found[0]["value"][1]) if found else float("nan")

    def wait(self, what: str, query: str, right: Callable[[float], bool]) -> None:
        """Wait until a query's number is right."""
        until(lambda: right(self.value(query)), f"{what}: {query}")


@contextmanager
def scraping(site: Served, role: str, folder: Path) -> Iterator[Prometheus]:
    """Have a Prometheus scrape a site again and again for as long as it is open."""
    target = site.url.removeprefix("http://")
    (folder / "token").write_text(site.token(role))
    (folder / "prometheus.yml").write_text(CONFIG.format(rules=RULES, target=target))
    at = f"127.0.0.1:{ports.choose(1)[0]}"
    command = [
        tool("prometheus"), f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={at}", "--log.level=warn",
    ]  # fmt: skip
    with (folder / "log").open("w") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            found = Prometheus(f"http://{at}")
            until(lambda: _ready(found), "a Prometheus that is ready")
            yield found
        finally:
            process.terminate()
            process.wait(30)


def _ready(found: Prometheus) -> bool:
    try:
        return httpx.get(f"{found.url}/-/ready", timeout=5.0).is_success
    except httpx.TransportError:
        return False
