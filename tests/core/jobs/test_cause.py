"""What a job's death began with: by order, by what each event can be, and never by a guess."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.jobs import complaints
from fleet_runner.core.jobs.answer import Answer
from fleet_runner.core.jobs.cause import LEAD, SLACK, Reach, decide
from fleet_runner.core.jobs.event import Area, Event, Role
from fleet_runner.core.jobs.job import Job
from fleet_runner.core.jobs.sentences import where

BEGUN = 1_790_000_000.0
ENDED = BEGUN + 36_000
NODES = tuple(f"gpu-{number:02}" for number in range(8))
JOB = Job("4711", NODES, BEGUN, ENDED, "slurm", state="FAILED", exit_code="1:0", ranks=dict(enumerate(NODES)))

WAITED = Event(ENDED - 600, Area.UNKNOWN, Role.SYMPTOM, complaints.TIMEOUT, "rank 0 waited 600 s", "gpu-00", 0)
FELL_OFF = Event(
    ENDED - 610, Area.HARDWARE, Role.CAUSE, "xid.79", "GPU fell off the bus", "gpu-03", component="GPU 0000:9b:00.0"
)
BUG = Event(ENDED - 605, Area.SOFTWARE, Role.CAUSE, complaints.EXCEPTION, "it ended with KeyError", "gpu-05", 5)


def test_hardware_before_the_first_symptom_is_the_cause() -> None:
    """The node is named, and left out of the next start."""
    answer = decide(JOB, (WAITED, FELL_OFF), Reach(done=("ticket 12 is open",)))
    assert (answer.area, answer.origin, answer.symptom) == (Area.HARDWARE, FELL_OFF, WAITED)
    assert answer.sentence == "Hardware: it began at gpu-03, GPU 0000:9b:00.0: GPU fell off the bus."
    assert answer.exclude == ("gpu-03",)
    assert answer.todo == ("resubmit without gpu-03",)
    assert answer.timeline == (FELL_OFF, WAITED)
    assert answer.done == ("ticket 12 is open",)


@pytest.mark.parametrize(
    ("at", "blamed"),
    [
        (WAITED.at or 0.0, True),
        (ENDED - 600 + SLACK, True),
        (ENDED - 600 + SLACK + 2, False),
        (ENDED - 600 - LEAD, True),
        (ENDED - 601 - LEAD, False),
        (BEGUN - 1, False),
    ],
)
def test_a_fault_counts_near_the_first_symptom(at: float, *, blamed: bool) -> None:
    """Hours before it the job went on; long after it the job was dead already."""
    answer = decide(JOB, (WAITED, replace(FELL_OFF, at=at)))
    assert (answer.origin is not None) is blamed
    assert (answer.exclude == ("gpu-03",)) is blamed


def test_a_fault_that_the_job_survived_is_told() -> None:
    """It is said that it was seen, and is not taken as the cause."""
    answer = decide(JOB, (WAITED, replace(FELL_OFF, at=BEGUN + 5), replace(FELL_OFF, at=BEGUN + 9)))
    assert answer.unsure == ("2 faults came earlier and the job went on, so they are not taken as its cause",)
    assert (
        "1 fault came earlier and the job went on, so it is"
        in decide(JOB, (WAITED, replace(FELL_OFF, at=BEGUN))).unsure[0]
    )


def test_a_fault_before_the_last_step_was_survived() -> None:
    """Whoever makes a step two minutes after a link went down was not stopped by it."""
    early = replace(FELL_OFF, at=ENDED - 900)
    assert decide(JOB, (WAITED, early), Reach(progress=ENDED - 800)).origin == early
    assert decide(JOB, (WAITED, early), Reach(progress=ENDED - 700)).origin is None
    assert decide(JOB, (WAITED, early, BUG), Reach(progress=ENDED - 607)).origin == BUG
    assert decide(JOB, (WAITED, FELL_OFF), Reach(progress=ENDED + 5000)).origin is None


def test_without_a_symptom_the_jobs_end_counts() -> None:
    """Watchdogs wait long before they end a job, so an hour is looked back."""
    end = Event(ENDED, Area.UNKNOWN, Role.SYMPTOM, "job.failed", "it ended with exit code 1")
    assert decide(JOB, (replace(FELL_OFF, at=ENDED - 3000), end)).origin is not None
    assert decide(JOB, (replace(FELL_OFF, at=ENDED - 4000),)).origin is None
    running = replace(JOB, ended=None)
    assert decide(running, (FELL_OFF,)).origin == FELL_OFF
    assert decide(running, ()).sentence == "Not known: nothing was found that ended it."


def test_a_program_that_failed_first_is_the_cause() -> None:
    """A GPU that fails after it, on another node, is a further cause and no more."""
    later = replace(FELL_OFF, at=ENDED - 590)
    answer = decide(JOB, (WAITED, later, BUG))
    assert (answer.area, answer.origin, answer.others) == (Area.SOFTWARE, BUG, (later,))
    assert answer.sentence.endswith("Beside it: 1 further cause.")
    assert answer.exclude == ("gpu-03",)
    assert answer.todo == ("nothing was found against the nodes: mend the program or its settings, then resubmit",)


def test_at_the_same_moment_the_machine_explains_the_program() -> None:
    """A program fails because of its GPU; on another node the two have nothing to do with each other."""
    same = replace(FELL_OFF, at=BUG.at, node="gpu-05")
    assert decide(JOB, (BUG, same)).origin == same
    assert decide(JOB, (BUG, replace(same, node="gpu-03"))).origin == BUG
    nowhere = replace(BUG, node="", rank=None)
    assert decide(JOB, (nowhere, replace(same, node="gpu-03"))).area is Area.HARDWARE


def test_what_a_sweep_found_has_a_span() -> None:
    """It may have come first, and explains words that leave it open; not a program's own mistake."""
    found = replace(FELL_OFF, at=ENDED + 900, blur=3600.0, node="gpu-05")
    assert decide(JOB, (WAITED, found)).origin == found
    assert decide(JOB, (BUG, WAITED, found)).origin == BUG
    crash = replace(BUG, code="job.gpu_program")
    assert decide(JOB, (crash, WAITED, found)).origin == found
    assert decide(JOB, (WAITED, replace(found, at=ENDED + 90_000))).origin is None


def test_an_xid_of_applications_under_two_jobs_makes_the_gpu_suspect() -> None:
    """On many GPUs, or for the first time, it is the program's."""
    xid = Event(ENDED - 605, Area.SOFTWARE, Role.CAUSE, "xid.31", "MMU fault", "gpu-02", component="GPU 1")
    before = replace(xid, at=BEGUN - 90_000)
    assert decide(JOB, (xid,)).area is Area.SOFTWARE
    answer = decide(JOB, (before, xid))
    assert answer.area is Area.UNKNOWN
    assert "the same GPU did so under an earlier job" in answer.sentence
    assert answer.todo[0] == "test gpu-02, GPU 1 before it is used again: fleet-runner run gpu-02 burn_in"
    assert answer.exclude == ()
    assert decide(JOB, (before, xid, replace(xid, node="gpu-03"))).area is Area.SOFTWARE


def test_a_lost_connection_names_nobody() -> None:
    """Who ended first is where to look."""
    peer = Event(ENDED - 3, Area.UNKNOWN, Role.SYMPTOM, complaints.PEER, "lost a connection", "gpu-01", 1)
    killed = Event(ENDED - 2, Area.UNKNOWN, Role.SYMPTOM, complaints.KILLED, "SIGKILL", "", 4)
    answer = decide(JOB, (peer, killed))
    assert (answer.area, answer.exclude) == (Area.UNKNOWN, ())
    assert answer.sentence == "Not known: no cause was found. Look at rank 4 on gpu-04 first."
    assert answer.todo == (
        "look at rank 4 on gpu-04: its output, its stack, its node's kernel log",
        "nothing that ends a job was found on any of 8 nodes",
    )
    assert decide(JOB, (peer,)).look_at == ()


def test_a_node_that_the_scheduler_lost_is_named_and_not_condemned() -> None:
    """It may have been the network, the daemon or the node."""
    answer = decide(replace(JOB, state="NODE_FAIL", failed_node="gpu-06"), ())
    assert (answer.area, answer.look_at, answer.exclude) == (Area.UNKNOWN, ("gpu-06",), ("gpu-06",))


def test_ranks_that_held_others_up_are_looked_at_first() -> None:
    """With their node where it is known."""
    late = replace(WAITED, code=complaints.BEHIND, rank=37, node="", message="rank 37 never joined")
    assert decide(JOB, (WAITED, late)).look_at == ("rank 37",)


def test_links_and_file_systems() -> None:
    """Each says what to do; a switch is no node of the job, so none is left out for it."""
    link = Event(
        ENDED - 610, Area.FABRIC, Role.CAUSE, "fabric.link_down", "link went down", "leaf-01", component="port 3"
    )
    assert decide(JOB, (link, WAITED)).todo == ("resubmit once the part is repaired",)
    disk = replace(link, area=Area.STORAGE, node="", component="", code="storage.hung")
    answer = decide(JOB, (disk, WAITED))
    assert answer.todo == ("ask who runs the file system; resubmit once it answers",)
    assert where(disk, JOB) == "the job"


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ("COMPLETED", "It ended well."),
        ("TIMEOUT", "Not known: it reached its time limit, and nothing is known that went wrong before."),
        ("CANCELLED by 1000", "Not known: it was cancelled, and nothing is known that went wrong before."),
        ("FAILED", "Not known: nothing was found that ended it."),
    ],
)
def test_ends_of_which_nothing_is_known(state: str, sentence: str) -> None:
    """A time limit, a person, a code: what is asked for next is what would tell."""
    answer = decide(replace(JOB, state=state), ())
    assert (answer.area, answer.sentence) == (Area.UNKNOWN, sentence)
    assert bool(answer.todo) is (state != "COMPLETED")


def test_nodes_of_which_nothing_was_heard_are_told() -> None:
    """Nothing found is not the same as not looked."""
    answer = decide(JOB, (), Reach(NODES, None, ("Slurm does not tell GPUs",)))
    assert answer.unsure == (
        "Slurm does not tell GPUs",
        f"nothing was heard of {', '.join(NODES[:5])} and 3 more in the job's time: what happened there is not known",
    )
    assert decide(JOB, (), Reach(NODES[:1])).unsure[0].startswith("nothing was heard of gpu-00 in")
    assert answer.todo == ("give the job's own output and its flight recorder dumps: --log FILE...",)


def test_events_without_a_time_keep_their_order() -> None:
    """And it is said."""
    first, second = (replace(BUG, at=None, rank=rank) for rank in (1, 2))
    answer = decide(JOB, (first, second))
    assert answer.origin == first
    assert answer.unsure == ("some of the output tells no time: the order is that of its lines",)
    assert decide(JOB, (first, FELL_OFF)).origin == FELL_OFF
    assert decide(replace(JOB, ended=None), (first,)).origin == first
    untimed = replace(WAITED, at=None)
    assert decide(JOB, (untimed,)).symptom == untimed


def test_an_answer_as_json_has_all_of_it() -> None:
    """Whatever reads it needs nothing else."""
    raw = decide(JOB, (WAITED, FELL_OFF)).to_json()
    assert raw["job"]["id"] == "4711"
    assert raw["origin"]["code"] == "xid.79"
    assert raw["symptom"]["role"] == "symptom"
    assert decide(JOB, ()).to_json()["origin"] is None
    assert JOB.label == "job 4711"
    assert replace(JOB, id="").label == "the work on 8 nodes"


noise = st.builds(
    Event,
    st.floats(BEGUN - 90_000, ENDED + 90_000),
    st.sampled_from(Area),
    st.just(Role.CONTEXT),
    st.sampled_from(["gpu.throttled", "xid.63", "link.flap"]),
    st.just("seen"),
    st.sampled_from(NODES),
)
symptoms = st.builds(
    Event,
    st.floats(ENDED - 900, ENDED),
    st.sampled_from([Area.UNKNOWN, Area.FABRIC]),
    st.just(Role.SYMPTOM),
    st.sampled_from([complaints.PEER, complaints.TIMEOUT, complaints.KILLED, complaints.NODE_LOST]),
    st.just("seen"),
    st.sampled_from(NODES),
)
old = st.builds(
    lambda at, node: replace(FELL_OFF, at=at, node=node),
    st.floats(BEGUN - 90_000, ENDED - 4600),
    st.sampled_from(NODES),
)


def machine(answer: Answer) -> bool:
    """Return whether an answer holds something against a machine."""
    return answer.area in {Area.HARDWARE, Area.FABRIC} or bool(answer.exclude)


@given(st.lists(noise, max_size=8), st.lists(symptoms, max_size=8), st.lists(old, max_size=3), st.booleans())
def test_no_hardware_is_blamed_without_its_own_word(
    around: list[Event], followed: list[Event], before: list[Event], bug: bool
) -> None:
    """Whatever else was seen: symptoms, context, faults that the job survived."""
    answer = decide(JOB, (*around, *followed, *before, *((BUG,) if bug else ())))
    assert not machine(answer)
    assert (answer.origin == BUG) is bug or min(each.at or 0.0 for each in followed) < ENDED - 605 - SLACK


def test_symptoms_that_the_job_survived_do_not_hide_its_cause() -> None:
    """A connection that was lost five hours earlier, and an hour or more without any symptom after it."""
    early = replace(WAITED, at=ENDED - 18_000)
    assert decide(JOB, (early, FELL_OFF)).origin == FELL_OFF
    assert decide(JOB, (early, WAITED, FELL_OFF)).origin == FELL_OFF
    assert decide(JOB, (replace(WAITED, at=ENDED - 2000), WAITED, FELL_OFF)).origin is None


@given(st.lists(noise, max_size=8), st.lists(symptoms, max_size=8), st.lists(old, max_size=3))
def test_hardware_is_found_among_noise(around: list[Event], followed: list[Event], before: list[Event]) -> None:
    """The fault came first, and the symptoms followed within the time in which they are looked for."""
    cause = replace(FELL_OFF, at=ENDED - 905)
    answer = decide(JOB, (*around, *followed, *before, cause))
    if all((each.at or 0.0) - LEAD <= ENDED - 905 for each in followed):
        assert answer.origin == cause
        assert answer.exclude == ("gpu-03",)
