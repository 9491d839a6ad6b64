"""A real Prometheus scrapes a hall: each query of each dashboard finds something, each alert can be asked for."""

import json
import math
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_runner.core.access.roles import Role
from fleet_runner.reconcile.loop.liveness import Heartbeat
from fleet_runner.reconcile.loop.single_instance import serving
from tests.waiting import until
from tests.web.hall import NOW, Hall
from tests.web.metrics.lively import prepared, went_on
from tests.web.metrics.prometheus import RULES, Prometheus, scraping, tool
from tests.web.served import Served

DASHBOARDS = sorted((RULES.parents[1] / "grafana" / "dashboards").glob("*.json"))

TESTS = Path(__file__).with_name("rules.yml")

VARIABLES = {"$__rate_interval": "1h", "$__range": "1h", "$site": ".*", "$device_type": ".*"}
"""However long this takes on a busy computer, all that happened is within an hour."""


@pytest.fixture(scope="module")
def prometheus(hall: Hall, site: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """One that has scraped a hall before and after things happened there, beside a runner's loop."""
    prepared(hall)
    site.site.pulse = Heartbeat()
    with serving(site.site.settings), scraping(site, Role.VIEWER, tmp_path_factory.mktemp("prometheus")) as found:
        found.wait("two scrapes", "count_over_time(fleet_counted[1h])", lambda value: value >= 2)
        with site.client() as client:
            client.get("/no/such/page")
        went_on(hall, NOW)
        found.wait(
            "what happened is seen",
            'fleet_transitions_total{event="overdue",from="provision"}',
            lambda value: value >= 1,
        )
        found.wait("it is seen twice", "count_over_time(fleet_counted[1h])", lambda value: value >= 4)
        yield found


def panels(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text())["panels"]
    return found


def filled(query: str) -> str:
    for name, value in VARIABLES.items():
        query = query.replace(name, value)
    assert "$" not in query, query
    return query


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_every_panel_has_something_to_show(path: Path, prometheus: Prometheus) -> None:
    for panel in panels(path):
        for target in panel["targets"]:
            until(partial(shows, prometheus, target["expr"]), f"{panel['title']}: {target['expr']}")


def shows(prometheus: Prometheus, query: str) -> bool:
    """Whether a query finds a number; where a scrape took longer than two seconds, the next one brings it."""
    return any(math.isfinite(float(row["value"][1])) for row in prometheus.ask(filled(query)))


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_a_dashboard_is_what_grafana_loads(path: Path) -> None:
    found = json.loads(path.read_text())
    assert found["uid"] == path.stem
    assert found["schemaVersion"] >= 39
    assert [each["name"] for each in found["templating"]["list"] if each["type"] == "datasource"] == ["datasource"]
    assert len({panel["id"] for panel in found["panels"]}) == len(found["panels"])
    for panel in found["panels"]:
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        assert panel["title"]
        assert panel["description"]
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24
        beside = [other["gridPos"] for other in found["panels"] if other is not panel]
        assert not any(overlap(at, other) for other in beside), panel["title"]


def overlap(one: dict[str, int], two: dict[str, int]) -> bool:
    apart = one["x"] + one["w"] <= two["x"] or two["x"] + two["w"] <= one["x"]
    return not apart and not (one["y"] + one["h"] <= two["y"] or two["y"] + two["h"] <= one["y"])


def test_every_alert_can_be_asked_for_and_is_known_to_prometheus(prometheus: Prometheus) -> None:
    rules = yaml.safe_load(RULES.read_text())["groups"][0]["rules"]
    for rule in rules:
        prometheus.ask(rule["expr"])
        assert rule["labels"]["severity"] in {"warning", "critical"}
        assert rule["annotations"]["summary"]
    assert 'alertname="FleetNotTold"' not in str(prometheus.ask("ALERTS"))  # one try is no trouble


def test_every_metric_that_a_query_names_is_told(prometheus: Prometheus) -> None:
    """An alert whose metric is misspelt would never fire, and nobody would know."""
    from_rules = [rule["expr"] for rule in yaml.safe_load(RULES.read_text())["groups"][0]["rules"]]
    words = {word for query in from_rules for word in query.replace("(", " ").replace("{", " ").split()}
    named = {word.strip(")") for word in words if word.startswith("fleet_")}
    assert named

    def untold() -> set[str]:
        told = {row["metric"]["__name__"] for row in prometheus.ask('{job="fleet-runner"}')}
        return {name.partition("[")[0] for name in named} - told

    until(lambda: not untold(), lambda: str(untold()))


def test_promtool_finds_nothing_wrong(site: Served, hall: Hall) -> None:
    with site.client(Role.VIEWER) as client:
        text = client.get("/metrics").text
    done = subprocess.run(
        [tool("promtool"), "check", "metrics"], input=text, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    for command in (["check", "rules", "--lint=all", str(RULES)], ["test", "rules", str(TESTS)]):
        done = subprocess.run([tool("promtool"), *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
