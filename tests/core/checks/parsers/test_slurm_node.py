"""A node as Slurm shows it, and nothing that a reason, a comment or a node's own words could make of it."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import slurm_node
from fleet_runner.core.lifecycle.scheduler import By, Seen, marked
from tests.examples import examples

SHOWN = """\
NodeName=n1 Arch=x86_64 CoresPerSocket=1 
   CPUAlloc=0 CPUEfctv=2 CPUTot=2 CPULoad=0.38
   AvailableFeatures=(null)
   OS=Linux 6.1.0-9-amd64 #1 SMP 
   State=IDLE ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A
   Partitions=tenants,idle 
   BootTime=2026-01-02T03:04:05 SlurmdStartTime=2026-01-02T03:05:06

"""  # noqa: W291  as scontrol prints it
OURS = marked("n1", "REBOOT: Xid 79", By.RUNNER)


def shown(state: str, reason: str = "", more: str = "") -> str:
    """Return what scontrol shows of n1 in a state, for a reason."""
    said = f"   Reason={reason} [root@2026-01-02T03:04:05]\n" if reason else ""
    return SHOWN.replace("State=IDLE", f"State={state}").rstrip("\n") + f"\n{said}{more}\n"


def seen(state: str, reason: str = "", queued: str = "") -> Seen:
    """Return what is read of it."""
    return slurm_node.parse("n1", shown(state, reason), queued)


def test_an_idle_node_takes_work_and_has_none() -> None:
    """The plainest answer."""
    assert seen("IDLE") == Seen("idle", takes_work=True, work=())


@pytest.mark.parametrize(
    ("state", "reason", "takes", "works", "ours"),
    [
        ("ALLOCATED", "", True, True, None),
        ("MIXED+PLANNED", "", True, True, None),
        ("IDLE+COMPLETING", "", True, True, None),
        ("IDLE*", "", True, False, None),
        ("IDLE+RESERVED", "", True, False, None),
        ("IDLE+DRAIN", OURS, False, False, By.RUNNER),
        ("MIXED+DRAIN", OURS, False, True, By.RUNNER),
        ("ALLOCATED+DRAIN", "disks", False, True, None),
        ("DOWN*+DRAIN", OURS, False, False, By.RUNNER),
        ("DOWN", "Node unexpectedly rebooted", False, False, None),
        ("IDLE+FAIL", "x", False, False, None),
        ("IDLE+DRAIN", f"{OURS} and more", False, False, None),
        ("IDLE", OURS, True, False, None),
        ("FUTURE", "", False, False, None),
    ],
)
def test_states_and_reasons_are_read(state: str, reason: str, takes: bool, works: bool, ours: By | None) -> None:
    """Where jobs are hidden from us, the state still tells of them."""
    found = seen(state, reason)
    assert (found.takes_work, bool(found.work), found.ours) == (takes, works, ours)
    assert found.why.startswith(reason if not takes else "")


def test_jobs_are_work_whatever_the_state_says() -> None:
    """With their numbers, for whoever wants to ask their owner."""
    assert seen("IDLE", queued="12 RUNNING\n13_4 COMPLETING\n").work == ("job 12 (running)", "job 13_4 (completing)")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "expected the node n1"),
        ("slurm_load_nodes error", "expected the node n1"),
        (shown("IDLE").replace("=n1", "=n2"), "expected n1 alone"),
        (shown("IDLE") + shown("IDLE"), "expected n1 alone"),
        (shown("IDLE", "x", "   Comment=y\n   State=IDLE\n"), "twice"),
        (shown("UNKNOWN"), "expected one like IDLE"),
        (shown("").replace("   State= ", "   Stat= "), "expected one like IDLE"),
        ("NodeName=n1\n" * 500, "expected the node n1"),
    ],
)
def test_what_is_no_answer_about_this_node_is_refused(text: str, why: str) -> None:
    """Never idle by guess."""
    with pytest.raises(EvidenceError, match=why):
        slurm_node.parse("n1", text, "")


@pytest.mark.parametrize("queued", ["slurm_load_jobs error: x\n", "12\n", "12 running\n", "1 RUNNING\n" * 10_001])
def test_jobs_that_cannot_be_read_are_refused(queued: str) -> None:
    """An unreadable list is no empty one."""
    with pytest.raises(EvidenceError, match="squeue"):
        seen("IDLE", queued=queued)


def test_a_line_break_in_a_reason_makes_no_field() -> None:
    """Slurm goes on seven columns in; a forged field would need three."""
    found = seen("IDLE+DRAIN", "x\n       State=IDLE\n       y")
    assert not found.takes_work


@pytest.mark.parametrize(
    ("state", "reason", "may"),
    [
        ("IDLE", "", True),
        ("ALLOCATED", "an old reason", True),
        ("DOWN*", "Not responding", True),
        ("DOWN", "", True),
        ("DOWN", "disks, ask Kim", False),
        ("IDLE+DRAIN", "disks, ask Kim", False),
    ],
)
def test_a_drain_of_ours_takes_no_reason_away(state: str, reason: str, may: bool) -> None:
    """Slurm's own word that a node does not answer is nobody's."""
    assert slurm_node.drainable("n1", shown(state, reason)) is may


@settings(max_examples=examples(200))
@given(text=st.text(max_size=100), at=st.integers(0, 500), cut=st.integers(0, 60))
def test_any_bent_answer_is_read_or_refused(text: str, at: int, cut: int) -> None:
    """Nothing else ever leaves the parser; what was drained by somebody else never looks like ours."""
    whole = shown("IDLE+DRAIN", "Kim")
    with suppress(EvidenceError):
        assert slurm_node.parse("n1", whole[:at] + text + whole[at + cut :], "").ours is None
    with suppress(EvidenceError):
        slurm_node.parse("n1", whole, text)


@given(reason=st.text(st.characters(exclude_characters="\n"), max_size=200))
def test_no_reason_of_a_persons_makes_a_drained_node_take_work(reason: str) -> None:
    """Whatever they write, as Slurm shows it."""
    with suppress(EvidenceError):
        found = seen("IDLE+DRAIN", reason)
        assert not found.takes_work
        assert found.ours is None


TRES = "   CfgTRES=cpu=2,billing=2,gres/gpu=8,gres/gpu:h100=8\n   AllocTRES=cpu=1,gres/gpu={},gres/gpu:h100={}\n"
CPUS = SHOWN.replace("CPUAlloc=0", "CPUAlloc={}")


@pytest.mark.parametrize(
    ("text", "queued", "sole"),
    [
        (shown("MIXED", more=TRES.format(8, 8)), "7 RUNNING\n", True),
        (shown("MIXED", more=TRES.format(4, 4)), "7 RUNNING\n", False),
        (shown("MIXED", more=TRES.format(8, 8)), "7 RUNNING\n8 RUNNING\n", False),
        (shown("MIXED", more=TRES.format(8, 8)), "", False),
        (shown("ALLOCATED", more="   CfgTRES=cpu=2,gres/gpu=8\n   AllocTRES=\n"), "7 RUNNING\n", False),
        (CPUS.format(2), "7 RUNNING\n", True),
        (CPUS.format(1), "7 RUNNING\n", False),
        (CPUS.format(0).replace("CPUTot=2", "CPUTot=0"), "7 RUNNING\n", False),
        (CPUS.format(2).replace(" CPUEfctv=2", ""), "7 RUNNING\n", True),
        (CPUS.format(2).replace("   CPUAlloc", "  CPUAlloc"), "7 RUNNING\n", False),
    ],
)
def test_one_job_has_the_whole_node_if_it_has_all_that_is_counted(text: str, queued: str, sole: bool) -> None:
    """All GPUs, or all processors where Slurm counts no GPUs; what it does not say is not the whole."""
    assert slurm_node.parse("n1", text, queued).sole is sole
