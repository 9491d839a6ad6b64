"""fleet-runner report: a page that needs nothing else, whatever is in the store."""

import json
import re
import shutil
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from html import unescape
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.reliability import report
from fleet_runner.cli.reliability.report import html
from fleet_runner.cli.reliability.report_ahead import ahead
from fleet_runner.core.lifecycle.states import Event, State
from fleet_runner.core.reliability.forecasts import Foresight, Kind
from fleet_runner.core.reliability.report.figures import Found, figures
from fleet_runner.core.reliability.report.rows import Fault, Fix, Hold, Span, Step
from fleet_runner.core.reliability.report.stories import BringUp, Exclusion, Story
from tests import weeks
from tests.adapters.store.builders import UrlMaker
from tests.adapters.store.conftest import postgresql, postgresql_urls  # noqa: F401  fixtures
from tests.cli.conftest import Type
from tests.web.conftest import browser  # noqa: F401  a fixture
from tests.web.foreseen import LEMONS, LIFETIMES, LIMITS, WORTH
from tests.web.looking import shot

NOW = 1_795_000_000.0
SPAN = Span(NOW - 7 * weeks.DAY, NOW)


def tomorrow(store: Store) -> None:
    """Have something foreseen, and every analysis made."""
    row = {"metric": "gpu_margin", "part": "gpu", "unit": "celsius", "worse": "low", "parts": 64, "nodes": 8}
    slots = [{"name": f"GPU {each}", "parts": 8, "middle": 30.0, "apart": -1.6 * (each == 3)} for each in range(8)]
    heat = {**row, "middle": 30.0, "low": 28.0, "high": 32.0, "slots": slots, "rows": [], "stand_out": []}
    bodies = {"heat": {"metrics": [heat]}, "lemons": LEMONS, "lifetimes": LIFETIMES, "worth": WORTH, "limits": LIMITS}
    for name, body in bodies.items():
        store.keep_analysis(name, body, NOW, 1.0)
    found = [
        Foresight(kind, f"gpu-{kind}", weeks.HOSTILE, f"It does {weeks.HOSTILE}", "gpu_margin")
        for kind in (Kind.SHIFT, Kind.LEMON)
    ]
    store.foresee(frozenset(Kind), found, NOW)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The page of a lived-in week."""
    folder = tmp_path_factory.mktemp("report")
    with Store.create(f"sqlite:///{folder / 'fleet.db'}") as store:
        weeks.lived(store, NOW)
        weeks.closed(store, NOW - 60.0)
        found = store.report_rows(SPAN, lambda _: None)
        tomorrow(store)
        told = ahead(store)
    text = html(figures(found, SPAN, NOW), figures(found, SPAN.before(), NOW), NOW, told)
    (folder / "report.html").write_text(text)
    yield folder / "report.html"
    shutil.rmtree(folder)


def test_the_page_loads_nothing_and_runs_nothing(page: Path) -> None:
    """And what nodes say in it is text."""
    text = page.read_text()
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert not re.search(r"(?i)\b(?:src|href|action)=|url\(|@import|https?://", text)
    assert "\u202e" not in text
    assert len(text) < 1_000_000
    assert text.index("gpu-lemon") < text.index("gpu-shift")
    assert all(f'<svg class="{kind}"' in text for kind in ("lemons", "survival"))
    assert '<td class="warm1">' in text


def test_a_page_of_ten_thousand_nodes_is_small() -> None:
    """However much went wrong, and however much nodes say: lists are cut, and say so."""
    found = Found()
    for number in range(10_000):
        name = f"gpu-{number:05}"
        out = Step(name, NOW - weeks.DAY, State.PRODUCTION, Event.TRIAGE_NEEDED, State.TRIAGE, results=(number,))
        up = BringUp(name, NOW - 2 * weeks.DAY, 3_600.0 * (number % 99), {State.VERIFY: 60.0})
        found.stories.append(Story(name, (up,), ((up.at, out.at),), (Exclusion(out, out.at, None),)))
        found.codes[number] = f"code.{number % 500}"
        found.faults.append(Fault(name, f"code.{number % 500}", "f", out.at))
        found.fixes.append(Fix(number, f"{name} {weeks.HOSTILE * 200}", "RMA", (name,), out.at, None))
        found.holds.append(Hold(name, out.at, "alice", weeks.HOSTILE * 200, begins=True))
    text = html(figures(found, SPAN, NOW), figures(found, SPAN.before(), NOW), NOW)
    assert len(text.encode()) < 200_000
    assert "The first 20 of 10000." in text


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (1280, True), (390, False), (390, True)])
def test_anybody_can_read_it(page: Path, browser: Browser, width: int, dark: bool) -> None:  # noqa: F811  a fixture
    """Light and dark, wide and narrow; nothing goes wrong on its console."""
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme="dark" if dark else "light", bypass_csp=True
    )
    try:
        seen = context.new_page()
        wrong: list[str] = []
        seen.on("console", lambda message: wrong.append(message.text))
        asked: list[str] = []
        seen.on("request", lambda request: asked.append(request.url))
        seen.goto(page.as_uri())
        shot(seen, f"report-{width}-{'dark' if dark else 'light'}")
        assert seen.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
        found = Axe().run(seen)
        assert not found.violations_count, found.generate_report()
        assert (wrong, asked) == ([], [page.as_uri()])
    finally:
        context.close()


def test_on_paper_it_is_dark_on_white(page: Path, browser: Browser) -> None:  # noqa: F811  a fixture
    """Whatever the screen is."""
    seen = browser.new_page(color_scheme="dark")
    try:
        seen.emulate_media(media="print")
        seen.goto(page.as_uri())
        shot(seen, "report-print")
        colours = (
            "[getComputedStyle(document.documentElement).backgroundColor, getComputedStyle(document.body).color]"
        )
        assert seen.evaluate(colours) == ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]
    finally:
        seen.close()


def test_both_databases_tell_the_same(tmp_path: Path, postgresql_urls: UrlMaker) -> None:  # noqa: F811  a fixture
    """Of the same past."""
    told = []
    for url in (f"sqlite:///{tmp_path / 'fleet.db'}", postgresql_urls()):
        with Store.create(url) as store:
            weeks.lived(store, NOW, 8)
            told.append(figures(store.report_rows(SPAN, lambda _: None), SPAN, NOW))
    assert told[0] == told[1]
    assert told[0].left > 0
    assert {row.code for row in told[0].causes} <= {code for code, _ in weeks.CODES}
    assert told[0].lost[0].cause in {code for code, _ in weeks.CODES}


def test_a_bad_week_before_takes_no_room_from_this_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However much there was of it."""
    monkeypatch.setattr(report, "MOST", 1)
    span = Span(NOW - 3.5 * weeks.DAY, NOW)
    with Store.create(f"sqlite:///{tmp_path / 'fleet.db'}") as store:
        weeks.lived(store, NOW, 30)
        found = store.report_rows(span, lambda _: None)
    assert [span.holds(each.at) for each in found.unread] == [False, True]
    assert {span.holds(each.at) for each in found.faults} == {False, True}


def test_a_week_is_written_as_a_whole_and_never_over_another_file(typed: Type, tmp_path: Path) -> None:
    """But with --force."""
    (tmp_path / "state").mkdir()
    with Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}") as store:
        weeks.lived(store, time.time() - 7 * weeks.DAY, 6)
    since = f"{datetime.fromtimestamp(time.time() - 14 * weeks.DAY, UTC):%Y-%m-%d}"
    said = typed("report", "--since", since, "--output", "r.html")
    assert (said.code, said.out.splitlines()[-1]) == (0, "written to r.html")
    text = (tmp_path / "r.html").read_text()
    assert (tmp_path / "r.html").stat().st_mode & 0o077 == 0
    again = typed("report", "--since", since, "--output", "r.html")
    assert (again.code, "r.html: the file exists already" in again.err) == (2, True)
    assert (tmp_path / "r.html").read_text() == text
    assert typed("report", "--since", since, "--output", "r.html", "--force").code == 0
    missing = typed("report", "--since", since, "--output", "none/r.html")
    assert (missing.code, "nothing was written" in missing.err) == (2, True)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["r.html", "state"]
    figures_ = json.loads(typed("report", "--since", since, "--json").out)
    assert figures_["tickets"]["opened"] == len(figures_["tickets"]["open"])
    assert figures_["left_production"] >= 1
    up = figures_["bring_up"]
    assert {each["state"] for each in up["states"]} == {"provision", "onboard", "verify", "firmware", "burn_in"}
    assert up["critical"]["seconds"] == max(each["seconds"] for each in up["ways"] if each["done"])
    assert up["shorter"][0]["seconds"] == max(each["seconds"] for each in up["shorter"])
    assert sum(each["nodes"] for each in up["waiting_now"]) >= 1
    assert all(each["sentence"] in unescape((tmp_path / "r.html").read_text()) for each in up["shorter"])


def test_an_empty_store_has_a_page_too(typed: Type, tmp_path: Path) -> None:
    """Of the last whole week; it says that there is not enough data."""
    (tmp_path / "state").mkdir()
    Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}").close()
    said = typed("report")
    assert said.code == 0
    (found,) = tmp_path.glob("report-*-W*.html")
    assert "not enough data" in found.read_text()
    assert "Nothing was analysed yet" in found.read_text()
    told = json.loads(typed("report", "--json").out)
    assert (told["availability"], told["ahead"]) == (None, {"foreseen": [], "analyses": {}})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--week", "46"], "expected a week such as 2026-W46"),
        (["--week", "2026-W99"], "expected a week such as"),
        (["--week", "2026-W46", "--since", "2026-11-09"], "give one of the two"),
        (["--until", "2026-11-09"], "say from which day on"),
        (["--since", "yesterday"], "expected a day such as"),
        (["--since", "2199-01-01"], "has not begun"),
        (["--since", "2020-01-10", "--until", "2020-01-03"], "ends before it begins"),
        (["--since", "1990-01-10"], "expected at most 400 d"),
    ],
)
def test_a_span_that_cannot_be_meant_is_refused(typed: Type, words: list[str], said: str) -> None:
    """Before anything is read."""
    found = typed("report", *words)
    assert (found.code, said in " ".join(found.err.split())) == (2, True), found.err
