"""fleet-runner signals: who may push, what a person says, and what stands, on a terminal of 80 columns."""

import json
import re
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from fleet_runner.adapters.plays.wakeup import hearing
from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.faults.signal_counters import SignalCount
from fleet_runner.core.inventory.records import Device
from fleet_runner.services.http.admission import PREFIX, digest
from fleet_runner.settings import load
from tests.cli.conftest import Type


@pytest.fixture
def store(typed: Type) -> Iterator[Store]:
    """A store of two nodes."""
    del typed  # it sets the settings
    load().state_dir.mkdir()
    with Store.create(load().store_url) as made:
        made.register([Device(name, "hgx", "gpu-server", "hall") for name in ("gpu-01", "gpu-02")], 1.0)
        yield made


def timeless(text: str) -> str:
    """Return a text on one line, whose ages are all a moment: how fast the machine is does not matter."""
    return re.sub(r"\b\d+ s\b", "0 s", " ".join(text.split()))


def narrow(text: str) -> bool:
    """Whether a text fits."""
    return all(len(line) <= 80 for line in text.splitlines())


def test_a_token_is_printed_once_and_kept_as_its_digest(store: Store, typed: Type) -> None:
    """No other command shows it, and no JSON its digest."""
    said = typed(
        "signals", "token", "add", "vector", "--source", "kernel", "--node", "gpu-0*,cpu-1", "--expires", "30d"
    )
    token = said.out.strip()
    assert token.startswith(PREFIX)
    (kept,) = store.tokens()
    assert kept.digest == digest(token.encode())
    assert (kept.sources, kept.nodes) == (("kernel",), ("gpu-0*", "cpu-1"))
    assert kept.until == pytest.approx(time.time() + 30 * 86_400, abs=60)
    for words in (("signals", "token", "list"), ("signals", "token", "list", "--json"), ("signals", "status")):
        shown = typed(*words)
        assert shown.code == 0
        assert token not in shown.out
        assert kept.digest not in shown.out
    assert "vector: kernel; gpu-0*, cpu-1; until 20" in typed("signals", "token", "list").words
    (row,) = json.loads(typed("signals", "token", "list", "--json").out)
    assert (row["name"], row["ended"]) == ("vector", "")


def test_a_token_is_revoked_once(store: Store, typed: Type) -> None:
    """Its name can then be given anew."""
    assert typed("signals", "token", "add", "vector").code == 0
    again = typed("signals", "token", "add", "vector")
    assert (again.code, "there is one already" in again.err) == (3, True)
    assert typed("signals", "token", "revoke", "vector").code == 0
    assert typed("signals", "token", "revoke", "vector").code == 1
    assert typed("signals", "token", "add", "vector").code == 0
    assert [each.refusal(time.time()) for each in store.tokens()] == ["revoked", ""]
    assert "every source; every node; revoked; made by" in typed("signals", "token", "list").words


@pytest.mark.parametrize("words", [("a b",), ("x" * 65,), ("ok", "--expires", "soon"), ("ok", "--source", "moon")])
def test_a_slip_makes_no_token(store: Store, typed: Type, words: tuple[str, ...]) -> None:
    """It is named."""
    said = typed("signals", "token", "add", *words)
    assert said.code == 2
    assert said.err
    assert store.tokens() == ()


def test_what_a_person_says_raises_an_alarm_and_rings(store: Store, typed: Type) -> None:
    """By the same rules as a listener; taken back, it stands no more."""
    with hearing(load().state_dir) as bell:
        said = typed("signals", "send", "gpu-01", "xid.79", "-c", "GPU 0000:0f:00.0", "-m", "gone")
        assert said.words == "gpu-01: alarm xid.79: POWER_CYCLE at once; fleet-runner explain gpu-01 has more"
        assert bell.wait(0.0)
    (alarm,) = store.alarms("gpu-01")
    assert (alarm.message, alarm.source, alarm.count) == ("gone", "operator", 1)
    over = typed("signals", "send", "gpu-01", "xid.79", "-c", "GPU 0000:0f:00.0", "--ended")
    assert over.words == "gpu-01: no alarm xid.79 is active any more"
    assert store.alarms("gpu-01") == ()
    noted = typed("signals", "send", "gpu-01", "xid.31")
    assert noted.words == "gpu-01: xid.31 is noted, and does not count yet: the rules ask for more"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("gpu-99", "xid.79"), "no node 'gpu-99'"),
        (("gpu-01", "x" * 121), "CODE: expected at most 120"),
        (("gpu-01", " "), "CODE is empty"),
        (("gpu-01", "a\x1b[2J"), "CODE: expected at most 120 characters that can be shown"),
        (("gpu-01", "a", "-m", "x" * 1001), "--message: expected at most 1000"),
        (("gpu-01", "bad code"), "CODE 'bad code': expected FAMILY.KIND without spaces, such as xid.79"),
        (("gpu-01", "79"), "did you mean xid.79?"),
        (("gpu-01", "gpu.remap_faild"), "did you mean gpu.remap_failed?"),
        (("gpu-01", "xid.*"), "expected FAMILY.KIND"),
    ],
)
def test_what_cannot_be_said_is_refused(store: Store, typed: Type, words: tuple[str, ...], why: str) -> None:
    """Nothing of it is kept."""
    said = typed("signals", "send", *words)
    assert said.code == 2
    assert why in " ".join(said.err.split())
    assert store.standing_alarms() == ()


def test_alarms_are_listed_with_what_follows(store: Store, typed: Type) -> None:
    """All of them with --all, also what has cleared; one node's with --node."""
    assert typed("signals", "list").words == "no alarm stands"
    for words in (("gpu-01", "xid.79"), ("gpu-02", "xid.48"), ("gpu-02", "xid.31"), ("gpu-01", "fan.noisy")):
        typed("signals", "send", *words, "-m", f"about {words[1]}")
    typed("signals", "send", "gpu-01", "fan.noisy", "--ended")
    said = typed("signals", "list")
    assert narrow(said.out)
    assert "gpu-01 xid.79, once, first 0 s ago: POWER_CYCLE at once about xid.79 (operator)" in timeless(said.out)
    assert "xid.31" not in said.out
    assert "gpu-01" not in typed("signals", "list", "--node", "gpu-02").out
    every = timeless(typed("signals", "list", "--all").out)
    assert "xid.31, once, first 0 s ago: does not count yet" in every
    assert "fan.noisy, once, first 0 s ago: cleared 0 s ago, its sender ended it" in every
    assert [each["code"] for each in json.loads(typed("signals", "list", "--json").out)] == ["xid.79", "xid.48"]
    assert typed("signals", "list", "--node", "gpu-99").code == 2


def test_status_says_who_listens_and_what_became_of_what_was_heard(store: Store, typed: Type) -> None:
    """A listener that was not heard of for a while is gone."""
    assert "no listener runs; set signals_listen" in typed("signals", "status").words
    now = time.time()
    rows = [
        SignalCount("listener", "https://10.0.0.1:8490", 1, now, "3 waiting, 1500 bytes"),
        SignalCount("kernel", "taken", 12_345, now, "from 10.0.0.5"),
        SignalCount("alert", "refused: wrong token", 2, now - 7200, "from 10.0.0.6"),
    ]
    store.count_heard({(each.source, each.what): each for each in rows}, {})
    said = typed("signals", "status")
    assert narrow(said.out)
    assert "https://10.0.0.1:8490: heard 0 s ago, 3 waiting, 1500 bytes" in timeless(said.out)
    assert "kernel taken 12,345 0 s from 10.0.0.5" in timeless(said.out)
    assert "alert refused: wrong token 2 2 h from 10.0.0.6" in said.words
    found = json.loads(typed("signals", "status", "--json").out)
    assert (len(found["listeners"]), len(found["heard"]), found["alarms"]) == (1, 2, 0)
    late = replace(rows[0], last_at=now - 60)
    store.count_heard({("listener", late.what): late}, {})
    assert "no listener runs" in typed("signals", "status").words


def test_a_listener_is_not_begun_where_its_settings_cannot_be_meant(
    typed: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tokens are not sent in the clear beyond this machine unless told to."""
    assert "signals_listen' is empty" in typed("signals", "serve").err
    for given, why in (
        ({"SIGNALS_LISTEN": "0.0.0.0:0"}, "tokens would come in the clear"),
        ({"SIGNALS_LISTEN": "here"}, "expected address:port"),
        ({"SIGNALS_LISTEN": "127.0.0.1:0", "SIGNALS_CERTIFICATE": "a.pem"}, "set the missing one"),
        ({"SIGNALS_LISTEN": "127.0.0.1:0", "SIGNALS_SYSLOG": "x"}, "'signals_syslog': found 'x'"),
        ({"SIGNALS_LISTEN": "127.0.0.1:0", "SIGNALS_SYSLOG_FROM": "x"}, "expected networks"),
    ):
        with monkeypatch.context() as patch:
            for name, value in given.items():
                patch.setenv(f"FLEET_{name}", value)
            said = typed("signals", "serve")
        assert said.code == 2
        assert why in " ".join(said.err.split())
