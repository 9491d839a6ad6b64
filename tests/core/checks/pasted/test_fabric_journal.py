"""Fabric Manager's messages as the journal has them."""

import json

import pytest

from fleet_runner.core.checks.pasted import fabric_journal
from fleet_runner.core.checks.pasted.told import Group
from tests.core.checks.pasted.pasting import asking, read

HEAD = "Nov 05 13:55:{:02} gpu-07 "
START = f"{HEAD}systemd[1]: Starting NVIDIA fabric manager service..."
VERSIONS = (
    f"{HEAD}nv-fabricmanager[4711]: fabric manager NVIDIA GPU driver interface version 550.127.05 don't match with"
    " driver version 550.120. Please update with matching NVIDIA driver package."
)
FAILED = f"{HEAD}systemd[1]: Failed to start NVIDIA fabric manager service."
STARTED = f"{HEAD}systemd[1]: Started nvidia-fabricmanager.service - NVIDIA fabric manager service."
NOTHING = (
    f"{HEAD}nvidia-fabricmanager-start.sh[47]: request to query NVSwitch device information from NVSwitch driver"
    " failed with error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]"
)
FATAL = (
    f"{HEAD}nv-fabricmanager[4711]: [Nov 05 2025 13:55:26] [ERROR] [tid 9] detected NVSwitch fatal error 12028 on x"
)


def log(*said: str) -> str:
    """Return lines, a second apart."""
    return "".join(f"{line.format(number)}\n" for number, line in enumerate(said))


def as_json(text: str) -> str:
    """Return lines as `journalctl -o json` writes them, which cuts the name of a program."""
    rows = []
    for line in text.splitlines():
        head, _, message = line.partition("]: ")
        who, _, pid = head.rpartition(" ")[2].partition("[")
        rows.append({"_HOSTNAME": "gpu-07", "_COMM": who[:15], "_PID": pid, "MESSAGE": message,
                     "__REALTIME_TIMESTAMP": "1762350926000000", "_TRANSPORT": "journal"})  # fmt: skip
    return "".join(f"{json.dumps(row)}\n" for row in rows)


@pytest.mark.parametrize("form", [str, as_json])
@pytest.mark.parametrize(
    ("text", "told"),
    [
        (log(START, VERSIONS, FAILED), {"fabric_manager.version": "REBOOT"}),
        (log(START, FAILED, START, FAILED), {"fabric_manager.down": "RESTART"}),
        (log(START, FATAL), {"fabric_manager.nvswitch_fatal": "RESET"}),
        (log(START, VERSIONS, FAILED, STARTED), {}),
        (log(START, NOTHING, FAILED), {}),
    ],
)
def test_one_cause_is_told_once(form: type[str], text: str, told: dict[str, str]) -> None:
    """That it did not start is told where nothing says why; a later start ends what was said before."""
    found = read(form(text))
    assert not found.useless
    assert asking(found) == told
    assert {each.node for each in found.told} <= {"gpu-07"}


def test_a_machine_without_nvswitches_is_not_called_faulty() -> None:
    """In either form; nobody can tell from here whether it should have some."""
    own = "[Nov 05 2025 13:55:26] [ERROR] [tid 9] failed with error [NV_WARN_NOTHING_TO_DO]\n"
    for text in (log(START, NOTHING, FAILED), own):
        found = read(text)
        assert found.told == ()
        assert "found no NVSwitch: the node has none, and needs no Fabric Manager" in found.unsure[0]


def test_what_was_said_before_a_start_is_over_and_shown_with_its_times() -> None:
    (told,) = read(log(FATAL, FATAL, FAILED, STARTED)).told
    assert (told.group, told.count, told.first, told.last) == (Group.OVER, 2, "Nov 05 13:55:00", "Nov 05 13:55:01")
    assert told.over == fabric_journal.STARTED


def test_words_that_are_no_errors_are_none() -> None:
    """Without a level only what is known is an error; with one, any error is recorded, and other lines are not."""
    head = f"{HEAD}nv-fabricmanager[4711]: "
    level = "[Nov 05 2025 13:55:26] [{}] [tid 9] "
    plain = log(f"{head}Connected to 1 node.", f"{head}{level}something".replace("{}", "INFO"),
                f"{HEAD}sshd[1]: fabric error", f"{HEAD}systemd[1]: Reloading the fabric.")  # fmt: skip
    assert read(plain).told == ()
    (told,) = read(log(f"{head}{level}something else".replace("{}", "ERROR"))).told
    assert (told.finding.code, told.group) == ("fabric_manager.log_error", Group.RECORDED)


def test_hostile_names_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fabric_journal, "MOST_NODES", 1)
    text = log(FATAL, FATAL.replace("gpu-07", "gpu-08"))
    assert {each.node for each in read(text).told} == {"gpu-07"}
