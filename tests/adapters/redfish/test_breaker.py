"""Wrong passwords: however many processes have one, a BMC hears it once."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.adapters.redfish import credential_breaker as module
from fleet_runner.adapters.redfish import opened
from fleet_runner.adapters.redfish.credential_breaker import FIRST_PAUSE, MOST_PAUSE, Breaker
from fleet_runner.core.base.errors import BmcError
from fleet_runner.settings import Settings
from tests.adapters.redfish.replay import PASSWORD, QUICK, USER, Replay, replayed, small
from tests.examples import UNHURRIED, examples

REFUSED = r"refused the BMC credentials \(401\); do not retry"
ASK = """
import sys
from fleet_runner.adapters.redfish import opened
from fleet_runner.core.base.errors import BmcError
from fleet_runner.settings import Settings
sys.stdin.readline()
try:
    with opened(Settings.model_validate_json(sys.argv[1]), sys.argv[2]) as bmc:
        print(len(bmc.read("/redfish/v1/Systems/*")))
except BmcError as error:
    print(error)
"""


@pytest.fixture
def server() -> Iterator[Replay]:
    """A small BMC."""
    with replayed(small()) as made:
        yield made


def configured(folder: Path, password: str = "wrong secret", username: str = USER) -> Settings:  # noqa: S107  invented
    """Return settings whose credentials are these, with their state in the folder."""
    file = folder / "bmc.yml"
    file.write_text(json.dumps({"username": username, "password": password}))
    file.chmod(0o600)
    return Settings(state_dir=folder / "state", bmc_credentials=file)


def logins(server: Replay) -> int:
    """Return how many passwords were sent."""
    return len(
        [1 for verb, uri, _, headers in server.asked if uri.endswith("/Sessions") or "Authorization" in headers]
    )


def asks(folder: Path, server: Replay, password: str = "wrong secret") -> None:  # noqa: S107  invented
    """Ask a BMC as another process would: with nothing in memory."""
    with opened(configured(folder, password), server.url, QUICK) as bmc:
        bmc.read("/redfish/v1/Systems/*")


def kept(folder: Path) -> Path:
    """Return the one file with refusals."""
    [file] = (folder / "state" / "bmc").glob("*.json")
    return file


def let_pass(folder: Path, seconds: float) -> None:
    """Let so much time go by for the refusals."""
    held: Any = json.loads(kept(folder).read_text())
    for each in held["refused"]:
        each["at"] -= seconds
        each["until"] -= seconds
    kept(folder).write_text(json.dumps(held))


def test_of_many_processes_that_start_at_once_with_a_wrong_password_one_asks(tmp_path: Path, server: Replay) -> None:
    told = configured(tmp_path).model_dump_json()
    command = [sys.executable, "-c", ASK, told, server.url]
    started = [subprocess.Popen(command, stdin=-1, stdout=-1, text=True) for _ in range(6)]
    try:
        for each in started:
            assert each.stdin
            each.stdin.write("go\n")
            each.stdin.flush()
        answers = [each.communicate(timeout=240)[0] for each in started]
    finally:
        for each in started:
            each.kill()
            each.communicate()
    assert all("refused the BMC credentials (401); do not retry" in answer for answer in answers), answers
    assert logins(server) == 1


def test_a_refusal_is_known_to_whoever_comes_later_and_holds_no_password(tmp_path: Path, server: Replay) -> None:
    for _ in range(3):
        with pytest.raises(BmcError, match=REFUSED):
            asks(tmp_path, server)
    assert logins(server) == 1
    text = kept(tmp_path).read_text()
    assert "wrong secret" not in text
    assert USER not in text
    assert kept(tmp_path).stat().st_mode & 0o077 == 0
    assert kept(tmp_path).parent.stat().st_mode & 0o077 == 0


def test_other_credentials_are_tried_at_once_and_do_not_free_the_wrong_ones(tmp_path: Path, server: Replay) -> None:
    with pytest.raises(BmcError, match=REFUSED):
        asks(tmp_path, server)
    asks(tmp_path, server, PASSWORD)
    with pytest.raises(BmcError, match=REFUSED):
        asks(tmp_path, server)
    with pytest.raises(BmcError, match=REFUSED):
        asks(tmp_path, server, "another wrong one")
    assert logins(server) == 3
    assert len(json.loads(kept(tmp_path).read_text())["refused"]) == 2


def test_a_person_who_removes_the_file_has_them_tried_once_more(tmp_path: Path, server: Replay) -> None:
    with pytest.raises(BmcError, match=REFUSED) as caught:
        asks(tmp_path, server)
    assert f"remove {kept(tmp_path)} to have them tried before" in str(caught.value)
    kept(tmp_path).unlink()
    with pytest.raises(BmcError, match=REFUSED):
        asks(tmp_path, server)
    assert logins(server) == 2


def test_after_a_pause_they_are_tried_once_and_each_pause_is_longer(tmp_path: Path, server: Replay) -> None:
    pauses = []
    for number in range(1, 10):
        for _ in range(2):
            with pytest.raises(BmcError, match=REFUSED):
                asks(tmp_path, server)
        assert logins(server) == number
        [refusal] = json.loads(kept(tmp_path).read_text())["refused"]
        assert refusal["times"] == number
        pauses.append(refusal["until"] - refusal["at"])
        let_pass(tmp_path, pauses[-1])
    assert pauses[0] == pytest.approx(FIRST_PAUSE)
    assert pauses == sorted(pauses)
    assert pauses[-1] == pytest.approx(MOST_PAUSE)


def test_credentials_that_turn_out_right_are_right_again(tmp_path: Path, server: Replay) -> None:
    """A BMC that has just started refuses for a while."""
    server.statuses["POST", "/redfish/v1/SessionService/Sessions"] = [401]
    with pytest.raises(BmcError, match=REFUSED):
        asks(tmp_path, server, PASSWORD)
    let_pass(tmp_path, FIRST_PAUSE)
    asks(tmp_path, server, PASSWORD)
    assert not list((tmp_path / "state" / "bmc").glob("*.json"))
    asks(tmp_path, server, PASSWORD)


def test_who_dies_in_the_middle_of_a_trial_has_had_it(tmp_path: Path) -> None:
    one = Breaker(tmp_path, "https://bmc", ("fleet", "wrong"))
    with one.trial(1.0) as trial:
        trial.refused()
    held = json.loads(one.file.read_text())
    held["refused"][0]["until"] = time.time() - 1
    one.file.write_text(json.dumps(held))
    with pytest.raises(KeyboardInterrupt), one.trial(1.0):
        raise KeyboardInterrupt
    with pytest.raises(BmcError, match=REFUSED), one.trial(1.0):
        pass


def test_one_who_waits_for_another_s_trial_does_not_wait_for_ever(tmp_path: Path) -> None:
    one = Breaker(tmp_path, "https://bmc", ("fleet", "right"))
    with one.trial(1.0), pytest.raises(BmcError, match="another process has been logging in"), one.trial(0.05):
        pass
    with one.trial(0.0):
        pass


def test_a_basic_login_that_is_refused_is_known_too(tmp_path: Path, server: Replay) -> None:
    server.sessions = False
    server.statuses["GET", "/redfish/v1/Systems"] = [401]
    for _ in range(2):
        with pytest.raises(BmcError, match=REFUSED):
            asks(tmp_path, server)
    assert len([1 for *_, headers in server.asked if "Authorization" in headers]) == 1


def test_a_basic_password_that_was_right_and_is_no_longer_is_known_too(tmp_path: Path, server: Replay) -> None:
    server.sessions = False
    with opened(configured(tmp_path, PASSWORD), server.url, QUICK) as bmc:
        bmc.read("/redfish/v1/Systems/*")
        server.statuses["GET", "/redfish/v1/Systems"] = [401]
        with pytest.raises(BmcError, match=REFUSED):
            bmc.read("/redfish/v1/Systems/*")
        with pytest.raises(BmcError, match=REFUSED):
            bmc.read("/redfish/v1/Systems/*")
    assert kept(tmp_path).exists()


def test_a_session_that_was_just_opened_and_is_refused_says_nothing_of_the_password(
    tmp_path: Path, server: Replay
) -> None:
    with opened(configured(tmp_path, PASSWORD), server.url, QUICK) as bmc:
        server.statuses["GET", "/redfish/v1/Systems"] = [401, 401]
        with pytest.raises(BmcError, match="answered 401 to a session that was just opened"):
            bmc.read("/redfish/v1/Systems/*")
        assert bmc.read("/redfish/v1/Systems/*")
    assert not list((tmp_path / "state" / "bmc").glob("*.json"))


def test_a_client_that_is_kept_open_tries_again_when_it_may(tmp_path: Path, server: Replay) -> None:
    """An update that takes hours must not be lost because its BMC refused once while it started."""
    with opened(configured(tmp_path, PASSWORD), server.url, QUICK) as bmc:
        server.statuses["POST", "/redfish/v1/SessionService/Sessions"] = [401]
        for _ in range(2):
            with pytest.raises(BmcError, match=REFUSED):
                bmc.read("/redfish/v1/Systems/*")
        assert logins(server) == 1
        let_pass(tmp_path, FIRST_PAUSE)
        assert bmc.read("/redfish/v1/Systems/*")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"refused": 7}', '{"refused": [{"salt": 1}]}'])
def test_a_file_that_is_not_ours_keeps_nobody_out(tmp_path: Path, text: str) -> None:
    one = Breaker(tmp_path, "https://bmc", ("fleet", "right"))
    one.file.write_text(text)
    with one.trial(1.0) as trial:
        trial.refused()
    with pytest.raises(BmcError, match=REFUSED), one.trial(1.0):
        pass


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "bmc").write_text("in the way")
    one = Breaker(tmp_path / "bmc", "https://bmc", ("fleet", "right"))
    with pytest.raises(BmcError, match=r"was not asked: .*bmc, where refused credentials are noted"), one.trial(1.0):
        pass


def test_a_clock_that_was_set_back_keeps_nobody_out_for_years(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = Breaker(tmp_path, "https://bmc", ("fleet", "wrong"))
    with one.trial(1.0) as trial:
        trial.refused()
    now = time.time()
    monkeypatch.setattr(module.time, "time", lambda: now - 365 * 86_400)
    with one.trial(1.0):
        pass


@settings(max_examples=examples(20), suppress_health_check=UNHURRIED)
@given(tries=st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), st.floats(0, 30_000)), max_size=12))
def test_whoever_tries_whatever_no_password_is_heard_twice_within_its_pause(
    tmp_path_factory: pytest.TempPathFactory, tries: list[tuple[str, float]]
) -> None:
    folder = tmp_path_factory.mktemp("breaker")
    heard: dict[str, list[float]] = {}
    clock = [time.time()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module.time, "time", lambda: clock[0])
        patch.setattr(module.hashlib, "scrypt", lambda secret, **_: secret)  # its slowness is not what is tested
        for password, later in tries:
            clock[0] += later
            try:
                with Breaker(folder, "https://bmc", ("fleet", password)).trial(1.0) as trial:
                    heard.setdefault(password, []).append(clock[0])
                    trial.refused()
            except BmcError:
                assert clock[0] - heard[password][-1] < MOST_PAUSE
    for times in heard.values():
        gaps = [after - before for before, after in pairwise(times)]
        assert all(gap >= FIRST_PAUSE * 2 ** min(number, 6) - 1 for number, gap in enumerate(gaps))
