"""The cabling commands over sweeps: one made now, the newest, a ticket's, and what changed between two of them."""

import csv
import io
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from functools import partial
from hashlib import sha256
from pathlib import Path
from shutil import copytree

import pytest

from fleet_runner.adapters.source import read
from fleet_runner.adapters.store import Store
from fleet_runner.cli.cabling import sweep
from fleet_runner.cli.cabling.text import note
from fleet_runner.core.cabling.fabrics import fabrics
from fleet_runner.core.cabling.links import link
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory.records import nodes
from fleet_runner.core.lifecycle.actions import Answer, Decision, OpenRun, OpenTicket
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.spool import Ended, Evidence, Judged, PlayEnd, Progress
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.single_instance import serving as serves_here
from fleet_runner.settings import load
from tests.cli.conftest import Type
from tests.core.cabling.discoveries import by_port
from tests.core.cabling.fabrics import rails

ONE, TWO = "infiniband.hall-1.leaf-1", "infiniband.hall-1.leaf-2"
FIRST, SECOND = ([each for each in rails(2, 2)[:4] if each.b.device == leaf] for leaf in ("leaf-1", "leaf-2"))
HEALTHY = by_port(FIRST)
SWAPPED = by_port([link(FIRST[0].a, FIRST[1].b), link(FIRST[1].a, FIRST[0].b)])


@pytest.fixture
def store(tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch, typed: Type) -> Iterator[Store]:
    """The documents' small site, whose two leaves are a fabric each, registered in a store."""
    copytree(project / "docs" / "examples" / "site", tmp_path / "site")
    devices = tmp_path / "site" / "devices.yml"
    devices.write_text(re.sub(r', wwn: "[0-9a-f:]+"', "", devices.read_text(encoding="utf-8")), encoding="utf-8")
    monkeypatch.setenv("FLEET_TICK_SECONDS", "0.05")
    settings = load()
    settings.state_dir.mkdir()
    fleet = read(settings)
    with Store.create(settings.store_url) as made:
        made.register([*nodes(fleet), *(fabric.record for fabric in fabrics(fleet))], time.time())
        yield made


def swept(
    store: Store,
    fabric: str,
    text: str | None,
    *,
    intents: tuple[int, ...] = (),
    pause: Callable[[], None] | None = None,
    more: str = "",
) -> int:
    """Sweep a fabric as the runner does; without a text nobody could read it. `more` is a second read's."""
    node = store.node(fabric)
    assert node is not None
    now = time.time()
    batch = f"{fabric}-{now}"
    answers = (Answer(intent, accepted=True, sentence="fabric starts.") for intent in intents)
    (run,) = store.apply(node, Decision((OpenRun(Stage.FABRIC, "why", batch=batch), *answers), "", now + 99), now)
    store.ingest(batch, 0, 1, [Progress(fabric, now, 1, 2, "The fabric is as designed")])
    if pause is not None:
        pause()
    if text is None:
        result = Result("fabric_cabling", Verdict.UNKNOWN, "gpu-01 did not answer")
        lines: list[Evidence | Judged | Ended] = [Judged(fabric, now, result)]
    else:
        digest = sha256(text.encode()).hexdigest()
        observed = {"designed": 2, "matched": 2 if text == HEALTHY else 0, "suspect": ""}
        other = sha256(more.encode()).hexdigest()
        result = Result("fabric_cabling", Verdict.PASS, "as seen", (), observed, ("0" * 64, digest, other))
        told = [Evidence(fabric, now, "ibnetdiscover", digest, text)]
        told += [Evidence(fabric, now, "iblinkinfo", other, more)] if more else []
        lines = [*told, Judged(fabric, now, result)]
    store.ingest(batch, 1, 2, [*lines, Ended(fabric, now, PlayEnd.OK)])
    store.close_run(run, Outcome.PASSED if text is not None else Outcome.UNKNOWN, "gpu-01 did not answer", now)
    return run.id


def serving(
    store_url: str,
    seen: Mapping[str, str | None],
    *,
    begin: Callable[[], None] = lambda: None,
    pause: Callable[[], None] | None = None,
) -> threading.Thread:
    """Answer the requests about fabrics as `serve` does, in the background."""

    def run() -> None:
        begin()
        left = dict(seen)
        with Store.open(store_url) as store:
            while left:
                for fabric in tuple(left):
                    if intents := store.intents(fabric):
                        swept(
                            store, fabric, left.pop(fabric), intents=tuple(each.id for each in intents), pause=pause
                        )
                time.sleep(0.02)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the work to whoever serves, however slow this machine is; say everything at once."""
    monkeypatch.setattr(sweep, "PATIENCE", 1e9)
    monkeypatch.setattr(sweep, "QUIET", 0.0)


class Told:
    """What the command has said of its progress, for a runner that waits until something was said."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._words = ""
        self._more = threading.Condition()
        monkeypatch.setattr(sweep, "note", self._hear)

    def _hear(self, words: str) -> None:
        note(words)
        with self._more:
            self._words += words
            self._more.notify_all()

    def wait_for(self, words: str) -> None:
        """Return once the command has said these words."""
        with self._more:
            assert self._more.wait_for(lambda: words in self._words, timeout=60)


def test_a_check_without_a_capture_sweeps_every_fabric_now(
    store: Store, typed: Type, patient: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And judges what each of them said; progress goes to standard error."""
    told = Told(monkeypatch)
    seen = {ONE: SWAPPED, TWO: by_port(SECOND)}
    asked = partial(told.wait_for, f"{ONE}: asked for a sweep, waiting for the runner")
    runner = serving(load().store_url, seen, begin=asked, pause=partial(told.wait_for, f"{ONE}: run 1 sweeps it"))
    said = typed("cabling", "check")
    runner.join()
    assert said.code == 1
    assert f"{ONE}, swept in run " in said.words
    assert "fault 1: swap Two cables are swapped: expected gpu-01 ib0 to leaf-1 1" in said.words
    assert "0 of 2 designed links are there; 1 fault to put right" in said.words
    assert said.words.endswith("2 of 2 designed links are there; no fault")
    assert f"{ONE}: run 1 sweeps it, 1 of 2 tasks: The fabric is as designed" in " ".join(said.err.split())


def test_one_fabric_is_swept_alone(store: Store, typed: Type, patient: None) -> None:
    """Nothing is asked of the other."""
    runner = serving(load().store_url, {ONE: HEALTHY})
    said = typed("cabling", "check", "--fabric", ONE, "--json")
    runner.join()
    assert said.code == 0
    assert json.loads(said.out)["matched"] == 2
    assert store.runs(TWO) == ()
    assert store.intents(TWO) == ()


def test_both_fabrics_in_one_json_go_by_their_names(store: Store, typed: Type, patient: None) -> None:
    runner = serving(load().store_url, {ONE: HEALTHY, TWO: by_port(SECOND)})
    said = typed("cabling", "check", "--json")
    runner.join()
    assert {name: found["matched"] for name, found in json.loads(said.out).items()} == {ONE: 2, TWO: 2}


def test_in_one_csv_each_row_names_its_fabric(store: Store, typed: Type, patient: None) -> None:
    """Faults are numbered through: a row says which fault it belongs to; a swap begins with an empty port."""
    runner = serving(load().store_url, {ONE: SWAPPED, TWO: by_port(SECOND[1:])})
    said = typed("cabling", "check", "--csv")
    runner.join()
    rows = list(csv.DictReader(io.StringIO(said.out, newline="")))
    assert [(row["fabric"], row["fault"], row["kind"]) for row in rows] == [
        (ONE, "1", "swap"), (ONE, "1", "swap"), (ONE, "1", "swap"), (TWO, "2", "missing"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("serves", "why"),
    [
        (False, "no runner serves, so this command ticks until the sweep has ended"),
        (True, "a process of this machine has not come to it in 0 s, so this command ticks, too, where it may"),
    ],
    ids=["nobody", "somebody slow"],
)
def test_where_nobody_answers_the_command_ticks(
    store: Store, typed: Type, monkeypatch: pytest.MonkeyPatch, *, serves: bool, why: str
) -> None:
    """Until its sweep has ended; it says of nobody who serves that they do not."""
    ticked = []

    def tick(world: TickContext) -> None:
        ticked.append(world)
        if intents := store.intents(ONE):
            swept(store, ONE, HEALTHY, intents=tuple(each.id for each in intents))

    monkeypatch.setattr("fleet_runner.reconcile.loop.control_loop.tick", tick)
    with serves_here(load()) if serves else nullcontext():
        said = typed("cabling", "check", "--fabric", ONE)
    assert (said.code, said.words) == (0, f"{ONE}, swept in run 1: 2 of 2 designed links are there; no fault")
    assert why in " ".join(said.err.split())
    assert ticked


def test_a_neighbour_that_hung_in_a_sweep_is_unknown_to_a_later_explanation(store: Store, typed: Type) -> None:
    near, far = FIRST[0].b, FIRST[1]
    row = f'0x00000000000000aa "{near.device}" 2 {near.interface}[  ] ==( 4X 106.25 Gbps Active/  LinkUp)==>'
    there = f'0x00000000000000bb 3 1[  ] "{far.a.device} {far.a.interface}" ( )'
    back = f'0x00000000000000bb "{far.a.device} {far.a.interface}" 3 1[  ] ==( 4X 106.25 Gbps Active/  LinkUp)==>'
    hanging = f'{row}  "Port not available"\n' + "".join(
        [
            f"{row.replace(f' {near.interface}[', f' {far.b.interface}[')}  {there}\n",
            f'{back}  0x00000000000000aa 2 {far.b.interface}[  ] "{far.b.device}" ( )\n',
        ]
    )
    swept(store, ONE, by_port(FIRST[1:]), more=hanging)
    said = typed("cabling", "explain", near.device)
    assert said.code == 3
    assert f"no data about {FIRST[0].a} to {FIRST[0].b}" in " ".join(f"{said.out} {said.err}".split())
    swept(store, ONE, by_port(FIRST[1:]))
    assert "missing" in typed("cabling", "explain", near.device).out


def test_a_sweep_that_nobody_makes_is_still_requested_for(store: Store, typed: Type, patient: None) -> None:
    """Exit code 4."""
    said = typed("cabling", "check", "--fabric", ONE, "--wait", "0")
    assert (said.code, said.out) == (4, "")
    assert "fleet-runner cabling sweeps shows its result" in " ".join(said.err.split())
    (intent,) = store.intents(ONE)
    assert intent.detail == "fabric"


def test_interrupting_the_wait_says_that_the_sweep_goes_on(
    store: Store, typed: Type, patient: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("fleet_runner.cli.cabling.sweep.time.sleep", interrupt)
    said = typed("cabling", "check", "--fabric", ONE)
    assert said.code == 130
    assert "interrupted: the sweep goes on" in said.err
    assert len(store.intents(ONE)) == 1


def test_a_refused_sweep_is_no(store: Store, typed: Type, patient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Store, "answer", lambda *_: (False, "The fabric is retired."))
    said = typed("cabling", "check", "--fabric", ONE)
    assert said.code == 1
    assert f"{ONE}: The fabric is retired." in said.err


def test_a_sweep_that_saw_nothing_is_trouble(store: Store, typed: Type, patient: None) -> None:
    """It says why nothing could be read."""
    runner = serving(load().store_url, {ONE: None})
    said = typed("cabling", "check", "--fabric", ONE)
    runner.join()
    assert (said.code, said.out) == (3, "")
    assert "the sweep saw nothing: gpu-01 did not answer" in " ".join(said.err.split())


def test_a_fabric_that_the_store_does_not_know_is_registered_first(
    store: Store, typed: Type, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FLEET_STATE_DIR", str(tmp_path / "other"))
    (tmp_path / "other").mkdir()
    said = typed("cabling", "check")
    assert said.code == 2
    assert f"no fabric '{ONE}' in the store yet; fleet-runner tick" in " ".join(said.err.split())


def test_a_site_without_infiniband_has_nothing_to_sweep(store: Store, typed: Type, tmp_path: Path) -> None:
    (tmp_path / "site" / "cables.yml").write_text("---\n[]\n", encoding="utf-8")
    said = typed("cabling", "check")
    assert said.code == 2
    assert "the source of truth has no fabric that can be swept" in " ".join(said.err.split())


def test_sweeps_are_listed_so_that_two_can_be_compared(store: Store, typed: Type) -> None:
    """What changed between two runs, with the design's names."""
    assert typed("cabling", "sweeps").words.startswith("no sweep yet;")
    before, lost, after = swept(store, ONE, HEALTHY), swept(store, ONE, None), swept(store, ONE, SWAPPED)
    listed = typed("cabling", "sweeps").out.splitlines()
    assert listed[0].split() == ["RUN", "WHEN", "FABRIC", "LINKS", "FAULTS", "ENDED"]
    assert [line.split()[0] for line in listed[1:]] == [f"{before}", f"{lost}", f"{after}"]
    assert listed[2].split()[-3:] == ["-", "0", "unknown"]
    assert all(len(line) <= 80 for line in listed)
    assert [row["run"] for row in json.loads(typed("cabling", "sweeps", ONE, "--limit", "1", "--json").out)] == [
        after
    ]
    said = typed("cabling", "diff", f"{before}", f"{after}")
    assert said.code == 1
    assert f"run {before} ({ONE}, " in said.words
    assert "moved the cable at gpu-01 ib0: from leaf-1 1 to leaf-1 2" in said.words
    Path("now.txt").write_text(HEALTHY, encoding="utf-8")
    assert typed("cabling", "diff", f"{before}", "now.txt").code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("diff", "99", "98"), "there is no run 99; fleet-runner cabling sweeps lists"),
        (("diff", "1", "1"), "run 1 (fabric of infiniband.hall-1.leaf-1) holds no whole fabric"),
        (("sweeps", "gpu-99"), "no node 'gpu-99' in the store"),
        (("explain", "99"), "there is no ticket 99; fleet-runner tickets --all lists them"),
        (("explain",), "no sweep is stored; fleet-runner cabling check sweeps it now"),
        (("explain", "--fabric", "x"), "no fabric 'x' in the design"),
    ],
)
def test_what_is_not_there_is_one_line_with_the_next_step(
    store: Store, typed: Type, words: tuple[str, ...], said: str
) -> None:
    swept(store, ONE, None)
    answer = typed("cabling", *words)
    assert answer.code == 2
    assert said in " ".join(answer.err.split())


def test_explain_before_any_sweep_says_how_to_make_one(store: Store, typed: Type) -> None:
    said = typed("cabling", "explain")
    assert said.code == 2
    assert "no sweep of a fabric is stored" in said.err


def ticket(store: Store, fault: str, check: str = "fabric_cabling") -> int:
    node = store.node(ONE)
    assert node is not None
    now = time.time()
    opened = OpenTicket(fault, check, "swapped", "1. Swap them.", (ONE,), "RECABLE")
    store.apply(node, Decision((opened,), "", now + 99), now)
    return max(each.id for each in store.tickets())


def test_explain_takes_a_ticket_and_says_who_is_not_sent(store: Store, typed: Type) -> None:
    """The newest sweep that saw the fabric counts, not a later one that saw nothing."""
    run = swept(store, ONE, SWAPPED)
    swept(store, ONE, None)
    (found,) = json.loads(typed("cabling", "explain", "--json").out)
    number = ticket(store, found["fault"]["key"])
    said = typed("cabling", "explain", f"{number}")
    assert said.code == 0
    assert f"Seen in run {run}," in said.words
    assert f"ticket #{number}, seen once" in said.words
    assert "no ticket is opened while gpu-01 is in registered" in said.words
    assert "leaf-1 port 1 (hall-1 rack N01 U1" in said.words
    assert json.loads(typed("cabling", "explain", f"{number}", "--json").out)[0]["ticket"]["id"] == number
    swept(store, ONE, HEALTHY)
    assert "no fault at" in typed("cabling", "explain", f"{number}").words


def test_explain_knows_what_is_not_its_business(store: Store, typed: Type) -> None:
    """A ticket about a GPU, and a device that nobody designed."""
    swept(store, ONE, HEALTHY)
    number = ticket(store, "gpu-01/xid.79/GPU 3", "xid")
    answer = typed("cabling", "explain", f"{number}")
    assert answer.code == 2
    assert f"ticket {number} is not about cabling: swapped" in answer.err
    answer = typed("cabling", "explain", "gpu-99", "ib0")
    assert answer.code == 2
    assert "no device 'gpu-99 ib0' in the design" in " ".join(answer.err.split())
    assert typed("cabling", "explain", "gpu-02").words.startswith("no fault at gpu-02 in run 1,")
