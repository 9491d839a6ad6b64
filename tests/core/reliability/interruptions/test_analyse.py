"""All figures of a span, and what is said of them."""

from dataclasses import replace

from fleet_runner.core.jobs.event import Area
from fleet_runner.core.jobs.kept import KeptAnswer
from fleet_runner.core.reliability.interruptions import words
from fleet_runner.core.reliability.interruptions.analyse import Given, JobFigures, analyse
from fleet_runner.core.reliability.interruptions.interruption import Assumed, interruption
from fleet_runner.core.reliability.report.rows import Span
from fleet_runner.core.reliability.report.stories import Story
from tests.core.reliability.interruptions.made import BEGUN, DAY, ENDED, fallen, out, told

SPAN = Span(BEGUN - 50 * DAY, BEGUN + 50 * DAY)


def figures(*answers: KeptAnswer, served: float = 100 * DAY, later: tuple[KeptAnswer, ...] = ()) -> JobFigures:
    """Count answers in a span in which two nodes served, one of which was out for a while."""
    stories = [
        replace(out(ENDED, ENDED + 60.0), served=((SPAN.since, SPAN.since + served),)),
        Story("gpu-02", served=((SPAN.since, SPAN.since + served),)),
        Story("gpu-03"),
    ]
    seen = {each: ENDED for answer in answers if (each := interruption(answer)) is not None}
    return analyse(Given(answers, later, seen, stories, SPAN, SPAN.until), Assumed())


def test_without_answers_it_says_how_one_is_kept() -> None:
    found = figures()
    assert found == JobFigures(Assumed())
    assert words.summary(found) == (
        "No job's end was looked into in this time: `fleet-runner job JOBID` keeps its answer."
    )


def test_answers_about_jobs_that_ended_well_are_no_interruptions() -> None:
    found = figures(told(None, state="COMPLETED"))
    assert (found.interruptions, found.planned, found.ettr) == (0, 1, 1.0)
    assert words.summary(found) == "1 job was looked into, and none of them was interrupted."
    assert words.sentences(found)[0].startswith("1 answer is about jobs that run, ended well, or as somebody asked.")
    assert words.sentences(found)[1] == "Infrastructure interrupted no job in 200 node days in production."
    assert words.cause_rows(found)[0].between == "–"  # noqa: RUF001  a dash
    (row,) = words.size_rows(found)
    assert (row.nodes, row.jobs, row.interruptions, row.ettr) == ("2", "1", "0", "100.0 %")
    assert row.between.startswith("more than ")


def test_all_of_it_is_counted_and_said() -> None:
    again = told(None, begun=ENDED + 600.0, ended=ENDED + 86_400.0)
    small = told(fallen(code="fs.server", area=Area.STORAGE, node=""), id="4712", nodes=("gpu-02",), gpus=0)
    large = told(fallen(None, area=Area.SOFTWARE), id="4713", nodes=tuple(f"gpu-{n}" for n in range(7)))
    found = figures(told(), small, large, again)
    assert (found.answers, found.interruptions, found.infrastructure, found.planned) == (4, 4, 3, 0)
    assert found.rate is not None
    assert (found.rate.events, found.node_days) == (3, 200.0)
    assert [(size.least, size.most, size.jobs, size.interruptions) for size in found.sizes] == [
        (1, 1, 1, 1),
        (2, 7, 2, 2),
    ]
    assert 0.99 < (found.goodput or 0.0) < 1
    assert words.summary(found).startswith(
        "4 interruptions of jobs: 1 by hardware, 1 by storage, 1 by software, 1 by a cause that is not known; "
    )
    said = " ".join(words.sentences(found))
    assert "Jobs that nobody asked about" in said
    assert "infrastructure interrupted a job 15 times in 1,000 node days (" in said
    assert "(ETTR)" in said
    assert "(goodput)" in said
    rows = {row.name: row for row in words.cause_rows(found)}
    assert rows["GPU"].between.startswith("200 d (")
    assert rows["software"].between == "–"  # noqa: RUF001  a dash
    assert rows["unplanned maintenance of hosts"].interruptions == "–"  # noqa: RUF001  a dash
    assert [row[3] for row in words.time_rows(found)] == ["1 of 1", "1 of 1", "1 of 1"]
    assert [row.name for row in words.lost_rows(found)][-2:] == ["together", "waiting for the next run"]
    assert [row.nodes for row in words.size_rows(found)] == ["1", "2 to 7"]
    assert "a checkpoint every 60 min" in words.assumptions(found)


def test_a_run_that_ended_after_the_span_tells_when_a_job_ran_again() -> None:
    again = told(None, begun=ENDED + 600.0, ended=SPAN.until + 1.0)
    assert figures(told()).lost.runs_again == 0
    assert figures(told(), later=(again,)).lost.runs_again == 1


def test_where_too_little_was_observed_no_rate_is_told() -> None:
    found = figures(told(), served=DAY)
    assert (found.rate, found.families) == (None, ())
    assert words.sentences(found)[1].startswith("No rate is given: not enough service observed yet")
    (row,) = words.size_rows(found)
    assert (row.expected, row.expected_ettr) == ("–", "–")  # noqa: RUF001  dashes
    nowhere = figures(told(), served=0.0)
    assert (nowhere.goodput, len(words.sentences(nowhere))) == (None, 3)


def test_a_job_that_ran_for_no_time_has_no_ratio() -> None:
    found = figures(told(begun=ENDED))
    (size,) = found.sizes
    assert (size.ettr, size.between, found.ettr) == (None, None, None)
    (row,) = words.size_rows(found)
    assert len(words.sentences(found)) == 3
    assert (row.ettr, row.between) == ("–", "–")  # noqa: RUF001  dashes


def test_a_time_of_which_nothing_is_known_is_a_dash() -> None:
    assert words.time_rows(figures(told(fallen(None))))[0][1:] == ("–", "–", "0 of 0")  # noqa: RUF001  dashes


def test_times_that_are_not_known_have_no_wait() -> None:
    assert len(words.lost_rows(figures(told()))) == 4
