"""The demo's past: it is what the product would have written, always the same, and nothing of it goes on."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from fleet_runner.adapters import sitefiles
from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.engine.database import connect
from fleet_runner.adapters.store.schema.core import results
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.jobs.event import Area
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.states import TRANSITIONS, Condition, Stage, State
from fleet_runner.core.reliability.report import weeks
from fleet_runner.core.reliability.report.figures import figures
from fleet_runner.core.reliability.trends.metrics import METRICS
from fleet_runner.lab import plan, site
from fleet_runner.lab.folder import Lab
from fleet_runner.lab.past import hall, make, measures
from fleet_runner.lab.past.campaigns import LAST_SERVER, Campaigns
from fleet_runner.lab.past.lives import LEMON

NOW = 1_795_000_000.0
DAY = 86_400.0


class Past(NamedTuple):
    """A lab with a past, and its store."""

    lab: Lab
    store: Store


def written(folder: Path) -> Past:
    """Write the past into a lab that nobody has brought up."""
    lab = Lab(folder)
    (lab.root / "state").mkdir(parents=True)
    site.write_site(lab, 8, {plan.server(number): 9_000 + number for number in range(1, 9)})
    hall.put(lab)
    url = f"sqlite:///{lab.root / 'state' / 'fleet.db'}"
    Store.create(url).close()
    make.written(lab, url, NOW)
    return Past(lab, Store.open(url))


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Past]:
    """Give one for all tests here: it is only read."""
    found = written(tmp_path_factory.mktemp("past"))
    yield found
    found.store.close()


def moves(store: Store, name: str) -> list[tuple[float, str, str, str, str]]:
    """Return the transitions of a node, oldest first."""
    found = store.history(name, limit=10_000, kind="transition")
    return [(each.at, str(each.state), str(each.event), str(each.to), each.sentence) for each in found]


def test_every_way_is_one_of_the_table_and_ends_where_its_node_is(past: Past) -> None:
    nodes = past.store.nodes()
    assert [node.name for node in nodes] == [spot.name for spot in hall.spots()]
    for node in nodes:
        here, at = State.REGISTERED, NOW - (make.DAYS + 1) * DAY
        for entry in past.store.history(node.name, limit=10_000, kind="transition"):
            assert entry.state is here
            assert entry.event is not None
            row = TRANSITIONS[here, entry.event]
            assert (entry.to, entry.sentence.startswith(row.sentence)) == (row.to, True)
            assert at <= entry.at <= NOW
            here, at = row.to, entry.at
        assert (node.state, node.since) == (here, at)


def test_nothing_of_it_goes_on_and_everybody_is_held(past: Past) -> None:
    assert past.store.open_runs() == ()
    assert past.store.due(NOW + 1) == ()
    assert Counter(node.state for node in past.store.nodes()) == {State.PRODUCTION: 47, State.RMA: 1}
    for node in past.store.nodes():
        assert node.conditions.keys() == {Condition.HELD}
        assert node.conditions[Condition.HELD].reason.startswith("Simulated")
        assert "Simulated" in node.waiting


def test_tickets_were_closed_for_a_reason_but_for_the_one_that_is_not_repaired(past: Past) -> None:
    tickets = past.store.tickets(open_only=False)
    opened = [each for each in tickets if each.closed_at is None]
    assert [each.nodes for each in opened] == [(LAST_SERVER,)]
    closed = [each for each in tickets if each.closed_at is not None]
    assert len(closed) > 20
    for each in closed:
        assert each.closed_because
        assert each.closed_at is not None
        assert each.opened_at <= each.last_seen_at <= each.closed_at <= NOW
        assert each.title.startswith(hall.PREFIX)
        assert "simulated" in each.body
    assert all(hall.PREFIX in each.fault for each in tickets)


def test_what_was_found_is_what_those_checks_find(past: Past) -> None:
    database = connect(f"sqlite:///{past.lab.root / 'state' / 'fleet.db'}")
    with database.read() as connection:
        rows = connection.execute(results.select()).all()
    database.close()
    failed = [finding for row in rows for finding in row.findings]
    assert len(failed) > 100
    for row in rows:
        names = {code.code for code in CHECKS[row.check].codes}
        for finding in row.findings:
            assert finding["code"] in names or f"{finding['code'].partition('.')[0]}.*" in names
    told = {metric.check for metric in METRICS}
    assert {"gpu_thermals", "sensors", "gpu_retired", "ib_ports"} <= told & {row.check for row in rows}


def test_it_tells_of_a_lemon_a_worn_gpu_and_jobs_of_two_kinds(past: Past) -> None:
    falls = {
        node.name: sum(state == "production" for _, state, *_ in moves(past.store, node.name))
        for node in past.store.nodes()
    }
    assert max(falls, key=lambda name: falls[name]) == LEMON
    (case,) = [each for each in past.store.cases(measures.WORN) if each.parts[0].slot == f"GPU {measures.WORN_GPU}"]
    assert case.ended_at is not None
    assert case.parts[0].came != case.parts[0].out
    areas = Counter(each.area for each in past.store.answers(0.0, NOW))
    assert areas[Area.HARDWARE] > 10
    assert areas[Area.FABRIC]
    assert areas[Area.SOFTWARE]


def test_it_is_always_the_same(past: Past, tmp_path: Path) -> None:
    again = written(tmp_path)
    with again.store:
        for node in past.store.nodes():
            assert moves(again.store, node.name) == moves(past.store, node.name)


def test_a_run_of_each_stage_is_there_and_every_run_has_an_end(past: Past) -> None:
    every = [run for node in past.store.nodes() for run in past.store.runs(node.name, limit=10_000)]
    assert {run.stage for run in every} >= {
        Stage.PROVISION, Stage.VERIFY, Stage.FIRMWARE, Stage.BURN_IN, Stage.RESET, Stage.REBOOT, Stage.HEALTH_PASSIVE,
    }  # fmt: skip
    assert all(run.ended_at is not None and run.opened_at <= run.ended_at <= NOW for run in every)
    assert {run.outcome for run in every} == {Outcome.PASSED, Outcome.FAILED, Outcome.WORKING}


def test_the_source_of_truth_can_do_without_the_hall_and_have_it_back(past: Past) -> None:
    def servers() -> set[str]:
        return {
            device.name for device in sitefiles.load(past.lab.site).devices.values() if device.role == "gpu-server"
        }

    both = servers()
    hall.take_away(past.lab)
    assert servers() == {plan.server(number) for number in range(1, 9)}
    hall.put_back(past.lab)
    assert servers() == both
    assert len(both) == 8 + len(hall.spots())
    hall.put_back(past.lab)
    assert servers() == both
    assert yaml.safe_load((past.lab.site / "sites" / hall.FILE).read_text()) == {"sites": [{"name": "simulated"}]}


def test_a_past_that_is_not_written_to_its_end_leaves_no_hall(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = Lab(tmp_path)
    (lab.root / "state").mkdir()
    site.write_site(lab, 8, {plan.server(number): 9_000 + number for number in range(1, 9)})
    lab.settings.touch()
    url = f"sqlite:///{lab.root / 'state' / 'fleet.db'}"
    Store.create(url).close()

    def pressed(_: Campaigns) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Campaigns, "begin", pressed)
    with pytest.raises(KeyboardInterrupt):
        make.make(lab, NOW)
    assert not any(name.startswith(hall.PREFIX) for name in sitefiles.load(lab.site).devices)
    with Store.open(url) as store:
        assert store.nodes() == ()


def test_weeks_beside_each_other_say_what_each_weeks_report_says(past: Past) -> None:
    spans = weeks.spans(NOW, 4)
    found = past.store.reports_rows(spans, NOW, lambda _: None)
    told = [figures(each, span, NOW) for each, span in zip(found, spans, strict=True)]
    body = weeks.analyse(found, told).to_json()
    for span, mine, row in zip(spans, told, body["weeks"], strict=True):
        alone = figures(past.store.report_rows(span, lambda _: None), span, NOW)
        assert mine == alone
        assert row["causes"] == [
            {"cause": each.code, "faults": each.faults, "nodes": each.nodes} for each in alone.causes
        ]
        assert (row["availability"], row["lost_seconds"]) == (alone.availability, alone.lost_seconds)
        assert row["brought_up"] == len(alone.bring_ups)
    assert sum(each["times"] + each["still"] for each in body["repairs"]) == sum(each.left for each in told) > 20
