"""What the journal says reaches each channel: by one process, at least once, under one key, whatever fails."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from fleet_runner.adapters import notifications
from fleet_runner.adapters.files.notifications import Secrets
from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.actions import Decision, Move, OpenTicket, SetCondition
from fleet_runner.core.lifecycle.runs import Held
from fleet_runner.core.lifecycle.states import TRANSITIONS, Condition, Event, State
from fleet_runner.core.tickets.notifications.channel import Channel, ChannelKind, Filters
from fleet_runner.core.tickets.notifications.lines import NewsKind
from fleet_runner.core.tickets.notifications.quiet_hours import EVERY, quiet, window
from fleet_runner.core.tickets.notifications.text import Message
from fleet_runner.reconcile.tickets import notifications as notifying
from fleet_runner.reconcile.tickets.notifications import Notifier
from fleet_runner.settings import Settings
from tests.adapters.notifications.receiver import Receiver, receiving
from tests.adapters.store.builders import UrlMaker
from tests.adapters.store.conftest import postgresql, postgresql_urls  # noqa: F401  fixtures
from tests.adapters.trackers.bench import FLEET, NODES
from tests.waiting import PATIENCE

BEGAN = 1_795_000_000.0


class Killed(BaseException):
    """The process ends here."""


@dataclass(slots=True)
class Desk:
    """A store, a receiver and a channel that is told, on a clock of its own."""

    store: Store
    remote: Receiver
    of: Channel
    now: float = BEGAN
    fleet: Fleet | None = FLEET
    notifier: Notifier = field(init=False)

    def __post_init__(self) -> None:
        self.of = replace(self.of, url=self.remote.url)
        self.notifier = self.another()
        self.notifier.visit()  # it begins now

    def another(self, sent: notifications.Sent = notifications.send) -> Notifier:
        """A notifier of another process."""
        return Notifier(
            self.of, self.store, Path(), "https://fleet.example", lambda: self.now, lambda: self.fleet, sent
        )

    def hold(self, reason: str, name: str = "gpu-01") -> None:
        """Have a line written."""
        node = self.store.node(name)
        assert node is not None
        held = SetCondition(Condition.HELD, Held(self.now, reason, "alice"))
        self.store.apply(node, Decision((held,), "", 0.0), self.now)

    def ticket(self, title: str, remedy: Remedy = Remedy.TRIAGE) -> None:
        """Have a ticket opened."""
        node = self.store.node("gpu-01")
        assert node is not None
        seen = OpenTicket(title, "disks", title, "Do it.", ("gpu-01",), remedy.value)
        self.store.apply(node, Decision((seen,), "", 0.0), self.now)

    def later(self, seconds: float = 60.0, by: Notifier | None = None) -> int:
        """Look again after a while."""
        self.now += seconds
        return (by or self.notifier).visit()


OF = Channel("hook", ChannelKind.WEBHOOK, group_seconds=60.0)
Desks = Callable[..., Desk]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desks]:
    """Make a desk with a channel."""
    with Store.create(f"sqlite:///{tmp_path / 'fleet.db'}") as store, receiving() as remote:
        store.register(NODES, BEGAN - 10.0)
        yield lambda of=OF, **more: Desk(store, remote, replace(of, **more))


def test_a_new_channel_begins_at_now_and_then_hears_everything_once(desk: Desks) -> None:
    """Many lines in one message, with links."""
    made = desk()
    assert made.later(3600.0) == 0
    for at in range(5):
        made.hold(f"reason {at}")
    assert made.later(59.0) == 0
    assert made.later(1.0) == 1
    assert made.later(3600.0) == made.later(3600.0) == 0
    (said,) = made.remote.bodies()
    assert (said["total"], said["counts"]) == (5, {"held": 5})
    assert said["items"][0]["url"] == "https://fleet.example/nodes/gpu-01"


def test_what_concerns_nobody_is_passed_over_and_filters_hold(desk: Desks) -> None:
    """A ticket's remedy is known; a node's site comes from the source of truth."""
    mine = Filters(frozenset({NewsKind.TICKET_OPENED}), frozenset({"hall-1"}), remedies=frozenset({Remedy.RMA}))
    made = desk(filters=mine, group_seconds=0.0)
    made.hold("not asked for")
    made.ticket("worn out", Remedy.TRIAGE)
    assert made.later() == 0
    standing = made.store.channel("hook")
    assert standing is not None
    assert standing.told == made.store.newest_line(0)
    made.fleet = None  # whether the next line is of hall-1 is not known yet
    made.ticket("broken", Remedy.RMA)
    assert made.later() == 0
    made.fleet = FLEET
    assert made.later() == 1
    assert [item["sentence"] for item in made.remote.bodies()[0]["items"]] == ["Ticket 2: broken"]


def test_killed_between_sending_and_writing_it_down_the_same_lines_go_out_under_the_same_key(desk: Desks) -> None:
    """Though others were written meanwhile: those come with the next message."""
    made = desk()
    made.hold("first")

    def killed(of: Channel, secrets: Secrets, message: Message) -> None:
        notifications.send(of, secrets, message)
        raise Killed

    with pytest.raises(Killed):
        made.later(by=made.another(killed))
    made.hold("second")
    assert made.later(200.0) == 1
    assert made.later(200.0) == 1
    first, again, second = made.remote.bodies()
    assert first == again
    assert made.remote.keys()[0] == made.remote.keys()[1] != made.remote.keys()[2]
    assert [item["sentence"] for item in second["items"]] == ["Held: second"]


@pytest.mark.parametrize("fault", ["lost", "500", "reset"])
def test_an_answer_that_is_lost_repeats_the_message_and_then_tells_the_backlog(desk: Desks, fault: str) -> None:
    """With how much waited, and since when."""
    made = desk()
    made.hold("first")
    made.remote.faults = [fault, "500", "500"]
    assert made.later() == 0
    away = made.now
    made.now += 1.0
    for at in range(30):
        made.hold(f"meanwhile {at}")
    assert [made.later(300.0) for _ in range(4)] == [0, 0, 1, 1]
    *before, backlog = made.remote.bodies()
    assert [each["total"] for each in before] == [1] * (2 if fault == "lost" else 1)
    assert len(set(made.remote.keys()[:-1])) == 1
    assert (backlog["total"], backlog["rest"], backlog["away_since"]) == (30, 10, away)
    assert "30 lines while this could not be delivered, since" in backlog["summary"]
    made.hold("later")
    assert made.later() == 1
    assert made.remote.bodies()[-1]["away_since"] is None


def test_one_that_refuses_gets_all_of_it_in_one_message_and_is_asked_ever_less_often(desk: Desks) -> None:
    """The store says why it was told nothing, without its address."""
    made = desk()
    made.hold("first")
    made.remote.faults = ["404", "429", "302"]
    assert made.later() == 0
    standing = made.store.channel("hook")
    assert standing is not None
    assert (standing.asked, standing.tries, standing.due_at) == (0, 1, made.now + 30.0)
    assert "no such receiver" in standing.detail
    assert "s3cret" not in standing.detail
    assert made.later(29.0) == 0
    assert made.remote.asked == 1
    made.hold("second")
    assert made.later(1.0) == 0
    standing = made.store.channel("hook")
    assert standing is not None
    assert standing.due_at == made.now + 77.0
    assert made.later(77.0) == 0
    assert made.later(3600.0) == 1
    (said,) = made.remote.bodies()
    assert said["total"] == 2
    standing = made.store.channel("hook")
    assert standing is not None
    assert (standing.tries, standing.detail, standing.away_at) == (0, "", None)


def test_a_secret_that_is_gone_puts_off_and_loses_nothing(desk: Desks, tmp_path: Path) -> None:
    """Until it is there."""
    made = desk(secret_file=str(tmp_path / "secret"))
    made.hold("first")
    assert made.later() == 0
    (tmp_path / "secret").write_text("made-up")
    (tmp_path / "secret").chmod(0o600)
    assert made.later(30.0) == 1


def test_of_several_processes_one_tells(desk: Desks) -> None:
    """And another takes over from where it is; whoever was too slow writes nothing."""
    made = desk()
    made.hold("first")
    others = [made.another() for _ in range(3)]

    def slow(of: Channel, secrets: Secrets, message: Message) -> None:
        assert [each.visit() for each in others] == [0, 0, 0]
        notifications.send(of, secrets, message)

    assert made.later(by=made.another(slow)) == 1
    assert [each.visit() for each in others] == [0, 0, 0]
    made.hold("second")

    def frozen(of: Channel, secrets: Secrets, message: Message) -> None:
        del of, secrets, message
        made.now += 600.0  # its right to tell has run out
        assert others[0].visit() == 1

    assert made.later(by=made.another(frozen)) == 0
    assert [each["total"] for each in made.remote.bodies()] == [1, 1]
    assert made.later(600.0) == 0


def test_more_than_an_hour_may_have_waits_and_is_counted(desk: Desks) -> None:
    """Nothing is left out."""
    made = desk(group_seconds=0.0, most_per_hour=2)
    made.now = BEGAN - BEGAN % 3600.0
    for at in range(40):
        made.hold(f"reason {at}")
        made.later(10.0)
    assert len(made.remote.log) == 2
    assert made.later(3600.0) == 1
    *_, last = made.remote.bodies()
    assert (last["total"], last["rest"]) == (38, 18)
    assert sum(each["total"] for each in made.remote.bodies()) == 40


def test_in_quiet_hours_only_what_is_urgent_is_told_and_all_else_at_their_end(desk: Desks) -> None:
    """Over the night in which clocks are set back, which is an hour longer."""
    hours = quiet("Europe/Berlin", {EVERY: (window("22:00-07:00"),)})
    urgent = Filters(frozenset({NewsKind.MOVED}), states=frozenset({State.PROVISION}))
    made = desk(quiet=hours, urgent=urgent, group_seconds=0.0)
    made.now = datetime(2026, 10, 24, 22, 0, tzinfo=ZoneInfo("Europe/Berlin")).timestamp()
    made.hold("calm")
    assert made.later() == 0
    for name in ("gpu-02", "gpu-03"):
        node = made.store.node(name)
        assert node is not None
        start = Move(TRANSITIONS[State.REGISTERED, Event.START], "runner")
        made.store.apply(node, Decision((start,), "", 0.0), made.now)
        assert made.later() == 1
        made.hold(f"calm, too, after {name}")
    made.notifier = made.another()  # a new process knows what the last one told
    assert made.later(9.5 * 3600) == 0  # 06:30: nine and a half hours of ten
    assert made.later(1800.0) == 1
    assert [(each["urgent"], each["total"]) for each in made.remote.bodies()] == [(True, 1), (True, 1), (False, 3)]
    assert made.later(3600.0) == 0


def test_a_great_backlog_is_read_in_pieces(desk: Desks, monkeypatch: pytest.MonkeyPatch) -> None:
    """And told whole, however far one visit reads."""
    monkeypatch.setattr(notifying, "PAGE", 3)
    monkeypatch.setattr(notifying, "PAGES", 2)
    made = desk(group_seconds=0.0)
    for at in range(20):
        made.hold(f"reason {at}")
    while made.later():
        pass
    assert sum(each["total"] for each in made.remote.bodies()) == 20


def test_two_that_share_a_postgresql_send_once(tmp_path: Path, postgresql_urls: UrlMaker) -> None:  # noqa: F811  a fixture
    """Each line, whoever sends."""
    del tmp_path
    with Store.create(postgresql_urls()) as store, receiving() as remote:
        store.register(NODES, BEGAN - 10.0)
        made = Desk(store, remote, replace(OF, group_seconds=0.0))
        another = made.another()
        for at in range(6):
            made.hold(f"reason {at}")
            assert made.later(by=another if at % 2 else made.notifier) == 1
            assert another.visit() == made.notifier.visit() == 0
    assert [each["total"] for each in remote.bodies()] == [1] * 6


def test_serve_tells_channels_beside_the_work_and_one_that_hangs_keeps_none_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither another one, nor the end of the program."""
    monkeypatch.setattr(notifying, "PULSE", 0.02)
    monkeypatch.setattr(notifying, "GRACE", 0.2)
    url = f"sqlite:///{tmp_path / 'fleet.db'}"
    with receiving() as hanging, receiving() as well, Store.create(url) as store:
        hanging.faults, hanging.hang_seconds = ["hang"] * 9, 60.0
        rows = "".join(
            f"  - {{name: c{at}, kind: webhook, url: '{remote.url}', group_seconds: 0}}\n"
            for at, remote in enumerate((hanging, well))
        )
        (tmp_path / "notifications.yml").write_text(f"channels:\n{rows}")
        settings = Settings(inventory=tmp_path / "fleet.yml", state_dir=tmp_path)
        store.register(NODES, time.time())
        made = Desk(store, well, Channel("other", ChannelKind.WEBHOOK), now=time.time())
        with notifying.notifying(settings, store, lambda: FLEET):
            until = time.monotonic() + PATIENCE
            while not all(store.channel(name) for name in ("c0", "c1")) and time.monotonic() < until:
                time.sleep(0.02)
            made.now = time.time()
            made.hold("first")
            while not (well.log and hanging.asked) and time.monotonic() < until:
                time.sleep(0.02)
            began = time.monotonic()
        assert time.monotonic() - began < hanging.hang_seconds / 2
        assert [each["total"] for each in well.bodies()] == [1]
        assert hanging.log == []


def test_a_list_that_cannot_be_meant_is_said_before_anything_is_sent(tmp_path: Path) -> None:
    """Serve ends with it."""
    (tmp_path / "notifications.yml").write_text("channels:\n  - {name: x, kind: pigeon}\n")
    settings = Settings(inventory=tmp_path / "fleet.yml", state_dir=tmp_path)
    with (
        Store.create(f"sqlite:///{tmp_path / 'fleet.db'}") as store,
        pytest.raises(SettingsError, match=r"notifications\.yml:2: channels\[0\]\.kind: found 'pigeon'"),
    ):
        notifying.notifiers(settings, store, lambda: None)


def test_a_clock_that_was_set_back_keeps_no_channel_waiting(desk: Desks) -> None:
    """Neither for the next try, nor for the right of a process that was killed."""
    made = desk(group_seconds=0.0)
    made.now += 1e8
    made.hold("first")
    made.remote.faults.append("500")
    assert made.later(0.0) == 0
    assert made.store.take_channel("hook", "killed", made.now, notifying.LEASE)
    made.now -= 1e8
    assert made.later() == 1
    assert [each["total"] for each in made.remote.bodies()] == [1]


def test_however_many_hang_the_end_waits_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them have the same seconds."""
    monkeypatch.setattr(notifying, "PULSE", 0.02)
    monkeypatch.setattr(notifying, "GRACE", 2.0)
    with Store.create(f"sqlite:///{tmp_path / 'fleet.db'}") as store, receiving() as remote:
        many = 8
        remote.faults, remote.hang_seconds = ["hang"] * many, 60.0
        rows = "".join(
            f"  - {{name: c{at}, kind: webhook, url: '{remote.url}', group_seconds: 0}}\n" for at in range(many)
        )
        (tmp_path / "notifications.yml").write_text(f"channels:\n{rows}")
        settings = Settings(inventory=tmp_path / "fleet.yml", state_dir=tmp_path)
        store.register(NODES, time.time())
        with notifying.notifying(settings, store, lambda: FLEET):
            until = time.monotonic() + PATIENCE
            while not all(store.channel(f"c{at}") for at in range(many)) and time.monotonic() < until:
                time.sleep(0.02)
            Desk(store, remote, Channel("other", ChannelKind.WEBHOOK), now=time.time()).hold("first")
            while remote.asked < many and time.monotonic() < until:
                time.sleep(0.02)
            assert remote.asked == many
            began = time.monotonic()
        assert time.monotonic() - began < many * notifying.GRACE
