"""fleet-runner report: the section about jobs that were interrupted, in the page, in JSON and in the summary."""

import json
import re
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from fleet_runner.adapters.store import Store
from fleet_runner.cli.reliability import report_jobs
from fleet_runner.cli.reliability.report import html
from fleet_runner.core.jobs.answer import Answer
from fleet_runner.core.jobs.event import Area, Event, Role
from fleet_runner.core.jobs.job import Job
from fleet_runner.core.reliability.interruptions.analyse import JobFigures
from fleet_runner.core.reliability.interruptions.interruption import Assumed
from fleet_runner.core.reliability.report.figures import figures
from fleet_runner.core.reliability.report.rows import Span
from tests import weeks
from tests.adapters.store.builders import UrlMaker
from tests.adapters.store.conftest import postgresql, postgresql_urls  # noqa: F401  fixtures
from tests.cli.conftest import Type
from tests.web.conftest import browser  # noqa: F401  a fixture
from tests.web.hall import HOSTILE
from tests.web.looking import shot

NOW = 1_795_000_000.0
SPAN = Span(NOW - 7 * weeks.DAY, NOW)
Week = tuple[int, JobFigures, Path]
"""How many faults ended jobs in a week, its figures, and its page."""

EMPTY = "No job's end was looked into in this time: <code>fleet-runner job JOBID</code> keeps its answer."


def interrupted(store: Store, now: float) -> int:
    """Keep an answer about each job that a fault of the last week ended, and about two others; return how many.

    The fault is five minutes before the node left production; the check found it a minute before.
    """
    found = store.report_rows(Span(now - 7 * weeks.DAY, now), lambda _: None)
    outs = [each for story in found.stories for each in story.exclusions if each.begins >= now - 7 * weeks.DAY]
    nodes = tuple(f"gpu-{number:02}" for number in range(16))
    job = Job("4710", nodes, now - weeks.HOUR, now, "slurm")
    for number, each in enumerate(outs):
        code = found.codes[each.step.results[0]]
        at = each.begins - 300.0
        origin = Event(at, Area.HARDWARE, Role.CAUSE, code, f"it fell {HOSTILE}", each.step.node, blur=60.0)
        job = Job(f"{4711 + number}", nodes, at - 20 * weeks.HOUR, each.begins, "slurm", state="NODE_FAIL", gpus=128)
        store.keep_answer(Answer(job, Area.HARDWARE, "It fell.", origin=origin, timeline=(origin,)), now, "ann")
    last = replace(job, id="4800", owner=HOSTILE, state="FAILED", nodes=nodes[:1], gpus=0)
    store.keep_answer(Answer(last, Area.UNKNOWN, "Nothing is known."), now, "ann")
    store.keep_answer(Answer(replace(last, id="4801", state="COMPLETED"), Area.UNKNOWN, "It ended well."), now, "ann")
    return len(outs)


def of_week(store: Store, now: float = NOW) -> tuple[int, JobFigures, str]:
    """Return how many faults ended jobs in a week, its figures, and its page."""
    weeks.lived(store, now)
    many = interrupted(store, now)
    span = Span(now - 7 * weeks.DAY, now)
    found = store.report_rows(span, lambda _: None)
    told = report_jobs.job_figures(store, found.stories, span, now, Assumed())
    text = html(figures(found, span, now), figures(found, span.before(), now), now, None, told)
    return many, told, text


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Week:
    """The page of a week in which jobs were interrupted."""
    folder = tmp_path_factory.mktemp("jobs")
    with Store.create(f"sqlite:///{folder / 'fleet.db'}") as store:
        many, told, text = of_week(store)
    (folder / "report.html").write_text(text)
    return many, told, folder / "report.html"


def test_what_the_store_knows_is_counted(week: Week) -> None:
    """Detected by a check, out of service, and back, from the journal."""
    many, told, _ = week
    assert many > 10
    assert (told.answers, told.interruptions, told.infrastructure, told.planned) == (many + 2, many + 1, many, 1)
    detected, left, back = told.times
    assert (detected.known, left.known, left.all) == (many, many, many)
    assert detected.median == pytest.approx(270.0)
    assert left.median == pytest.approx(330.0)
    assert 0 < back.known < many, "some wait for hands"
    assert told.lost.gpu_seconds == pytest.approx(many * 128 * (330.0 + 1_800.0))
    assert told.rate is not None
    assert told.rate.events == many


def test_both_databases_tell_the_same(week: Week, postgresql_urls: UrlMaker) -> None:  # noqa: F811  a fixture
    with Store.create(postgresql_urls()) as store:
        assert of_week(store)[1] == week[1]


def test_the_page_has_the_section_and_what_jobs_say_is_text(week: Week) -> None:
    text = week[2].read_text()
    assert '<h2 id="jobs">Jobs that were interrupted</h2>' in text
    assert "<script" not in text
    assert '<td class="k">GPU</td>' in text
    assert "unplanned maintenance of hosts" in text
    assert "a checkpoint every 60 min" in text
    assert EMPTY not in text


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (600, False), (600, True), (390, False)])
def test_anybody_can_read_it(week: Week, browser: Browser, width: int, dark: bool) -> None:  # noqa: F811  a fixture
    """Wide and narrow: the tables scroll by themselves, the page does not."""
    scheme = "dark" if dark else "light"
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, bypass_csp=True)  # type: ignore[arg-type]  # one of two words
    try:
        seen = context.new_page()
        seen.goto(week[2].as_uri())
        seen.locator("#jobs").scroll_into_view_if_needed()
        shot(seen, f"report-jobs-{width}-{scheme}")
        assert seen.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
        found = Axe().run(seen)
        assert not found.violations_count, found.generate_report()
    finally:
        context.close()


def test_the_command_says_it_in_each_form(typed: Type, tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    now = time.time() - weeks.DAY
    with Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}") as store:
        weeks.lived(store, now)
        many = interrupted(store, now)
    since = f"{datetime.fromtimestamp(now - 8 * weeks.DAY, UTC):%Y-%m-%d}"
    said = typed("report", "--since", since, "--output", "r.html")
    assert said.code == 0
    assert f"{many + 1} interruptions of jobs: {many} by hardware, 1 by a cause that is not known;" in said.words
    told = json.loads(typed("report", "--since", since, "--json").out)["jobs"]
    assert (told["interruptions"], told["infrastructure"]) == (many + 1, many)
    assert told["sentences"][0].startswith(f"{many + 1} interruptions of jobs")
    other = json.loads(typed("report", "--since", since, "--json", "--checkpoint-minutes", "10").out)["jobs"]
    assert other["lost_gpu_hours"] < told["lost_gpu_hours"]
    assert other["assumed"] == {"checkpoint": 600.0, "restart": 300.0}


def test_a_week_without_answers_says_how_one_is_kept(typed: Type, tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}").close()
    assert "`fleet-runner job JOBID` keeps its answer" in typed("report", "--output", "r.html").words
    assert EMPTY in (tmp_path / "r.html").read_text()
    told = json.loads(typed("report", "--json").out)["jobs"]
    assert (told["answers"], told["sentences"]) == (0, [re.sub("</?code>", "`", EMPTY)])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--checkpoint-minutes", "0"), "--checkpoint-minutes 0: expected more than 0"),
        (("--checkpoint-minutes", "10081"), "at most 10080"),
        (("--restart-minutes", "-1"), "--restart-minutes -1: expected 0 to 10080"),
        (("--restart-minutes", "nan"), "expected 0 to 10080"),
    ],
)
def test_minutes_that_cannot_be_are_refused(typed: Type, words: tuple[str, ...], said: str) -> None:
    found = typed("report", *words)
    assert (found.code, said in " ".join(found.err.split())) == (2, True), found.err
