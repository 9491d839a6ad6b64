"""What a scrape tells: to whom, in which form, how much of it at most, and the same from every process."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_open
from prometheus_client.parser import text_string_to_metric_families as read

from fleet_runner.adapters.store import Store
from fleet_runner.core.access.roles import Role
from fleet_runner.core.inventory.records import Device, Fleet
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.states import State
from fleet_runner.reconcile.loop.liveness import Heartbeat
from fleet_runner.reconcile.loop.single_instance import serving
from fleet_runner.web.metrics.scrape import PLACES
from fleet_runner.web.metrics.table import METRICS, shown
from tests.web.hall import HOSTILE, NOW, Hall
from tests.web.metrics.lively import prepared, went_on
from tests.web.served import Served, served

OPEN = "application/openmetrics-text; version=1.0.0"

MINE = ("fleet_web_", "process_")
"""How metrics begin that are of one process alone."""


@pytest.fixture(scope="module")
def lively(hall: Hall, site: Served) -> Iterator[Served]:
    prepared(hall)
    went_on(hall, NOW)
    site.site.pulse = Heartbeat()
    with serving(site.site.settings):
        yield site


def scraped(site: Served, **headers: str) -> str:
    with site.client(Role.VIEWER) as client:
        answer = client.get("/metrics", headers=headers)
        assert answer.status_code == httpx.codes.OK
        return answer.text


def values(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in read(text)
        for sample in family.samples
    }


def value(site: Served, name: str, **labels: str) -> float | None:
    return values(scraped(site)).get((name, tuple(sorted(labels.items()))))


def test_words_of_those_who_may_not_speak_for_a_node_are_counted_apart(lively: Served) -> None:
    """Somebody may be forging them."""
    counted = {
        outcome: value(lively, "fleet_signals_total", source="kernel", outcome=outcome)
        for outcome in ("taken", "refused_another_node", "refused_no_relay")
    }
    assert counted == {"taken": 7, "refused_another_node": 4, "refused_no_relay": 3}


@pytest.mark.parametrize(
    ("role", "status"),
    [(None, 401), (Role.TENANT, 403), (Role.TECHNICIAN, 403), (Role.VIEWER, 200), (Role.OPERATOR, 200)],
)
def test_only_who_may_scrape_does(role: Role | None, status: int, lively: Served) -> None:
    with lively.client(role, "Acme" if role is Role.TENANT else "") as client:
        assert client.get("/metrics").status_code == status


def test_both_forms_say_the_same(lively: Served) -> None:
    plain, opened = scraped(lively), scraped(lively, accept=OPEN)
    assert opened.endswith("# EOF\n")
    names = {family.name for family in read_open(opened)}
    assert names == {family.name.removesuffix("_total") for family in read(plain)}


def test_every_metric_of_the_table_is_told(lively: Served) -> None:
    told = {family.name for family in read_open(scraped(lively, accept=OPEN))}
    assert {name for name in told if name.startswith("fleet_")} == METRICS.keys()
    assert {name for name in told if not name.startswith("fleet_")} <= {
        "process_virtual_memory_bytes", "process_resident_memory_bytes", "process_start_time_seconds",
        "process_cpu_seconds", "process_open_fds", "process_max_fds",
    }  # fmt: skip
    assert len(set(map(shown, METRICS.values()))) == len(METRICS)


def test_the_history_is_counted(lively: Served) -> None:
    assert value(lively, "fleet_transitions_total", **{"from": "reset", "event": "passed", "to": "production"}) == 1
    assert value(lively, "fleet_repair_seconds_count", cause="reset_needed") == 1
    assert value(lively, "fleet_runs_total", stage="cabling", outcome="unknown") == 1
    assert value(lively, "fleet_check_results_total", check="time_sync", verdict="FAIL") == 1
    assert value(lively, "fleet_check_results_total", check="kernel_log", verdict="FAIL") == 2


def test_who_waits_for_a_play_is_counted(lively: Served) -> None:
    assert value(lively, "fleet_queue_line_nodes") == 1


def test_another_process_tells_the_same(lively: Served, hall: Hall, tmp_path: Path) -> None:
    with served(hall.store, hall.fleet, lively.site.settings.state_dir) as other:
        other.site.pulse, other.tokens = lively.site.pulse, lively.tokens
        one, two = values(scraped(lively)), values(scraped(other))
    same = {key for key in one.keys() | two.keys() if not key[0].startswith(MINE) and "moved" not in key[0]}
    clocks = {key for key in same if key[0].startswith(("fleet_schedule_", "fleet_store_bytes"))}
    assert {key: one.get(key) for key in same - clocks} == {key: two.get(key) for key in same - clocks}


def test_nothing_that_somebody_wrote_is_told(lively: Served, hall: Hall) -> None:
    text = scraped(lively)
    assert HOSTILE not in text
    assert "token" not in text
    assert not [name for name in hall.names if name in text]


def test_routes_are_told_by_their_template(lively: Served) -> None:
    with lively.client() as client:
        for number in range(20):
            client.get(f"/nobody/{number}")
            client.request("BREW", "/login")
    found = {dict(labels)["route"] for name, labels in values(scraped(lively)) if name == "fleet_web_requests_total"}
    assert "/metrics" in found
    assert not [route for route in found if "nobody" in route]
    methods = {dict(labels).get("method") for _, labels in values(scraped(lively))}
    assert "BREW" not in methods


def test_an_open_run_is_counted_when_it_ends_and_once(hall: Hall, lively: Served) -> None:
    (run,) = hall.store.open_runs()
    labels = {"stage": "health_passive", "outcome": "passed"}
    before = value(lively, "fleet_runs_total", **labels)
    hall.store.close_run(run, Outcome.PASSED, "well", NOW)
    assert value(lively, "fleet_runs_total", **labels) == (before or 0) + 1
    assert value(lively, "fleet_runs_total", **labels) == (before or 0) + 1


@pytest.fixture
def crowd(tmp_path: Path) -> Iterator[Served]:
    """Two thousand nodes, each of a type and at a site of its own, with names that nobody would choose."""
    devices = {
        f"n{number}": Device(f"n{number}", f"type-{number}-{'x' * 300}", "gpu-server", f'{HOSTILE}\n\\"{number}')
        for number in range(2000)
    }
    fleet = Fleet((), {}, {}, devices, (), "1")
    with Store.create(f"sqlite:///{tmp_path}/crowd.db") as store:
        store.register(devices.values(), NOW - 60)
        with served(store, fleet, tmp_path / "state") as site:
            yield site


def test_a_hostile_hall_makes_no_more_series_than_a_tame_one(crowd: Served) -> None:
    text = scraped(crowd)
    found = {labels: value for (name, labels), value in values(text).items() if name == "fleet_nodes"}
    assert len(found) <= (PLACES + 1) * len(State)
    assert sum(found.values()) == 2000
    assert all(len(word) <= 64 for labels in found for _, word in labels)
    assert text.count("\n") < 4000


def test_without_a_source_of_truth_no_site_is_known(lively: Served, hall: Hall, tmp_path: Path) -> None:
    with served(hall.store, None, tmp_path) as site:
        site.tokens = lively.tokens
        assert value(site, "fleet_source_known") == 0
        assert {dict(labels)["site"] for name, labels in values(scraped(site)) if name == "fleet_nodes"} == {
            "unknown"
        }


def test_a_store_that_is_away_is_said_and_no_half_of_the_metrics(tmp_path: Path) -> None:
    with (
        Store.create(f"sqlite:///{tmp_path}/gone.db") as store,
        served(store, None, tmp_path / "state") as site,
        site.client(Role.VIEWER) as client,
    ):
        assert client.get("/metrics").status_code == httpx.codes.OK
        with store._database.write() as connection:
            connection.exec_driver_sql("ALTER TABLE nodes RENAME TO elsewhere")
        answer = client.get("/metrics")
        assert answer.status_code == httpx.codes.SERVICE_UNAVAILABLE
        assert "fleet_" not in answer.text
