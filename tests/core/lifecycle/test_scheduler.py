"""The mark by which our drains are known, and names that are one node's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle import scheduler
from fleet_runner.core.lifecycle.scheduler import By, lifted, mark, marked, name, names

WORDS = st.text(max_size=400)


@given(reason=WORDS, by=st.sampled_from(By))
def test_what_we_mark_is_ours_in_one_bounded_printable_line(reason: str, by: By) -> None:
    """Whatever a node's log put into the reason."""
    text = marked("n1", reason, by)
    assert mark("n1", text) is by
    assert text.isascii()
    assert text.isprintable()
    assert '"' not in text
    assert len(text) < scheduler.MOST_REASON + 60


@given(reason=WORDS, by=st.sampled_from(By), more=st.text(min_size=1, max_size=5), at=st.integers(0, 300))
def test_a_change_anywhere_makes_it_somebody_elses(reason: str, by: By, more: str, at: int) -> None:
    """A person adds a word, or takes one away."""
    text = marked("n1", reason, by)
    at = min(at, len(text))
    assert mark("n1", text[:at] + more + text[at:]) is None
    assert mark("n1", text[:at] + text[at + 1 :]) is (None if at < len(text) else by)


@given(reason=WORDS)
def test_a_reason_that_was_copied_to_another_node_is_not_ours(reason: str) -> None:
    """Nor is a sum over anything else."""
    assert mark("n2", marked("n1", reason, By.RUNNER)) is None


@given(text=WORDS)
def test_any_other_text_is_nobodys_of_ours(text: str) -> None:
    """Also one that has a sum, but no mark before it."""
    assert mark("n1", text) is None
    assert mark("n1", f"{text} ({scheduler._sum('n1', text)})") in {None, *By}


def test_a_reason_reads_well() -> None:
    """It stands in a list that people read."""
    assert marked("n1", "REBOOT: Xid 79 on\n gpu-03", By.RUNNER).startswith(
        "fleet-runner: REBOOT: Xid 79 on gpu-03 ("
    )
    assert marked("n1", "", By.PERSON).startswith("fleet-runner, by hand: no reason was given (")
    assert mark("n1", f"x ({scheduler._sum('n1', 'x')})") is None


def test_a_persons_drain_will_do_for_the_runner_and_not_the_other_way() -> None:
    """Or the runner would give back what a person keeps."""
    held = [(ours, by) for ours in (None, *By) for by in By if scheduler.holds(ours, by)]
    assert held == [(By.RUNNER, By.RUNNER), (By.PERSON, By.RUNNER), (By.PERSON, By.PERSON)]


def test_the_runner_undoes_its_own_and_a_person_all_of_ours() -> None:
    """Nobody undoes what is not ours."""
    assert lifted(By.RUNNER) == {By.RUNNER}
    assert lifted(By.PERSON) == set(By)


@pytest.mark.parametrize("good", ["n1", "gpu-03", "GPU_03.rack", "a" * 253])
def test_a_name_is_taken(good: str) -> None:
    """As schedulers have them."""
    assert name(good) == good


@pytest.mark.parametrize(
    "bad", ["", "all", "ALL", "-n1", "n[1-3]", "n1,n2", "n 1", "n1\n", "n1/../x", "é", "a" * 300]
)
def test_a_name_of_several_or_of_none_is_refused(bad: str) -> None:
    """Slurm reads most of these as a list of nodes."""
    with pytest.raises(EvidenceError, match="scheduler_node"):
        name(bad)


def test_what_runs_is_named_and_the_rest_counted() -> None:
    """A node may hold a hundred pods."""
    assert scheduler.listed(("a", "b")) == "a, b"
    assert scheduler.listed(("a", "b", "c", "d", "e")) == "a, b, c and 2 more"


def test_nodes_are_found_by_the_names_that_the_scheduler_has_for_them() -> None:
    told = {"gpu-01": "slurm-01", "gpu-02": "", "gpu-03": "gpu-03"}
    contexts = {node: {"scheduler_node": theirs} for node, theirs in told.items()} | {"gpu-04": {}}
    devices = [Device(node, "dgx", "gpu-node", "lab", context=context) for node, context in contexts.items()]
    assert names(devices) == {"slurm-01": "gpu-01"}
