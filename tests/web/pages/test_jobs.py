"""The pages of jobs: the newest of them, and the evidence of one."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Browser
from sqlalchemy import update

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.schema.jobs import job_answers
from fleet_runner.core.access.roles import Role
from fleet_runner.core.jobs.event import Area, Event
from fleet_runner.core.jobs.event import Role as Part
from tests.core.jobs.made import ENDED, answer, fallen
from tests.web.hall import HOSTILE, NOW, Hall, made
from tests.web.looking import DESKTOP, PHONE, accessible, fits, opened, shot
from tests.web.served import Served, served

NUMBER = "team-a/pretrain"


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    """A hall in which jobs died."""
    path = tmp_path_factory.mktemp("hall") / "fleet.db"
    with Store.create(f"sqlite:///{path}") as store:
        found = made(store, 4)
        origin = fallen(node=found.names[0], blur=200.0, line=f"NVRM: Xid {HOSTILE}")
        symptom = Event(ENDED, Area.UNKNOWN, Part.SYMPTOM, "job.nccl", f"it waits {HOSTILE}", rank=7)
        whole = replace(
            answer(origin, id=NUMBER, nodes=found.names, owner=f"ann {HOSTILE}"),
            timeline=(origin, symptom, fallen(at=None)),
            todo=(f"resubmit without it {HOSTILE}",),
        )
        store.keep_answer(whole, NOW - 60, "ann")
        store.keep_answer(answer(id="4712", ended=ENDED + 9), NOW - 50, "bob")
        yield found


def test_jobs_are_listed_and_the_address_says_which(site: Served) -> None:
    with site.client(Role.VIEWER) as client:
        text = client.get("/jobs").text
        assert text.index("4712") < text.index(NUMBER)
        assert f'href="/jobs/{NUMBER}"' in text
        for query, first, second in (
            ("area=hardware", True, False),
            ("area=unknown", False, True),
            (f"node={site.store.nodes()[0].name}", True, False),
            ("area=nonsense", True, True),
        ):
            text = client.get(f"/jobs?{query}").text
            assert (NUMBER in text, "4712" in text) == (first, second), query
        assert "No such job is kept." in client.get("/jobs?node=gpu-x").text
        for path in ("/jobs", f"/jobs/{NUMBER}"):
            text = client.get(path).text
            assert "<script>alert" not in text
            assert "\u202e" not in text
    with site.client(Role.TENANT, "Acme") as client:
        assert client.get("/jobs").status_code == client.get("/jobs/4712").status_code == 403


def test_a_job_shows_its_evidence_in_the_order_of_time(site: Served, browser: Browser) -> None:
    for size, dark in ((DESKTOP, False), (PHONE, True)):
        with opened(browser, site, Role.VIEWER, size=size, dark=dark) as page:
            page.goto(f"{site.url}/jobs")
            accessible(page)
            fits(page)
            shot(page, f"jobs-{size[0]}")
            page.get_by_role("link", name=NUMBER).click()
            assert page.locator("svg.evidence:not(.key) .cause").count() == 1
            assert page.locator("svg.evidence:not(.key) .symptom").count() == 1
            assert page.locator("svg.evidence .blur").count() == 1
            assert page.locator("tbody tr").count() == 3
            assert page.get_by_text("not told").count() == 1
            accessible(page)
            fits(page)
            shot(page, f"job-{size[0]}")


def test_a_job_of_which_little_is_known_says_so(site: Served) -> None:
    with site.client(Role.VIEWER) as client:
        assert "No event is known of it." in client.get("/jobs/4712").text
        missing = client.get("/jobs/none")
        assert missing.status_code == 404
        assert "fleet-runner job none" in missing.text


def test_a_job_that_another_version_kept_is_shown_as_far_as_it_is_read(site: Served) -> None:
    events = [{"at": NOW, "role": 4, "rank": "x"}, {"at": NOW * 1_000}, {"at": -1e18}, {"at": "soon"}]
    odd = {"timeline": [3, *events], "job": 7, "todo": "x", "done": [None]}
    with site.store._database.write() as connection:
        connection.execute(update(job_answers).where(job_answers.c.job == "4712").values(body=odd))
    with site.client(Role.VIEWER) as client:
        found = client.get("/jobs/4712")
        assert (found.status_code, found.text.count("not told")) == (200, 3)


def test_a_job_of_many_events_with_long_words_stays_a_page_that_loads(site: Served) -> None:
    long = f"{HOSTILE} " + "x" * 4_000
    events = tuple(
        fallen(ENDED - at, node=f"gpu-{at % 40:05}", message=long, line=long, source=long, component=long)
        for at in range(3_000)
    )
    whole = replace(answer(events[0], id="n" * 400, nodes=tuple(f"n{at}" for at in range(2_000))), timeline=events)
    site.store.keep_answer(whole, NOW - 40, "ann")
    with site.client(Role.VIEWER) as client:
        page = client.get("/jobs/" + "n" * 400)
        assert page.status_code == 200
        assert len(page.content) < 500_000
        assert "more events" in page.text


def test_without_jobs_the_page_says_when_one_comes(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("empty")
    with (
        Store.create(f"sqlite:///{folder / 'fleet.db'}") as store,
        served(store, None, folder) as found,
        found.client(Role.VIEWER) as client,
    ):
        assert "once somebody asks why one ended" in client.get("/jobs").text


def test_a_jobs_number_is_found_like_a_nodes_name(site: Served) -> None:
    with site.client(Role.VIEWER) as client:
        for asked in (NUMBER, " 4712 "):
            answer = client.get("/find", params={"q": asked})
            assert (answer.status_code, answer.headers.get("location")) == (303, f"/jobs/{asked.strip()}")
        assert client.get("/find", params={"q": "4713"}).status_code == 200
