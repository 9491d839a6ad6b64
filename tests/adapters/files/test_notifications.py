"""The file of channels, and the secrets that it names."""

from pathlib import Path

import pytest

from fleet_runner.adapters.files import notifications
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.tickets.notifications.channel import Channel, ChannelKind
from fleet_runner.settings import Settings

GOOD = """\
channels:
  - name: ops
    kind: slack
    url_file: ops.url
"""
OF = Channel("ops", ChannelKind.SLACK, url_file="ops.url")


def given(folder: Path, text: str) -> Settings:
    """Settings with a file of channels beside the inventory."""
    (folder / "notifications.yml").write_text(text)
    return Settings(inventory=folder / "fleet.yml")


def secret(path: Path, text: str, mode: int = 0o600) -> None:
    """A file with a secret."""
    path.write_text(text)
    path.chmod(mode)


def test_without_a_file_nobody_is_notified(tmp_path: Path) -> None:
    """Nor with an empty one."""
    assert notifications.channels(Settings(inventory=tmp_path / "fleet.yml")) == ()
    assert notifications.channels(given(tmp_path, "")) == ()


def test_the_file_beside_the_inventory_is_read_or_the_one_that_is_named(tmp_path: Path) -> None:
    """As with trackers."""
    (found,) = notifications.channels(given(tmp_path, GOOD))
    assert found == OF
    named = Settings(
        notifications_file=tmp_path / "notifications.yml", inventory=tmp_path / "elsewhere" / "fleet.yml"
    )
    assert notifications.channels(named) == (OF,)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            GOOD.replace("slack", "pigeon"),
            "notifications.yml:3: channels[0].kind: found 'pigeon', expected one of web",
        ),
        (GOOD + "    what: [mooved]\n", "notifications.yml:5: channels[0].what[0]: found 'mooved', expected one of"),
        (GOOD + "    kind: mail\n", "notifications.yml:5: channels[0].kind: found again, expected once"),
        ("channels: [", "notifications.yml:1: this is no YAML"),
        (
            GOOD + "    wat: 1\n    wot: 2\n",
            "notifications.yml:5: channels[0].wat: found the key 'wat', expected 'what'; and",
        ),
    ],
)
def test_a_slip_is_told_by_file_and_line(tmp_path: Path, text: str, said: str) -> None:
    """With what was found and what was expected."""
    with pytest.raises(SettingsError, match="yml") as raised:
        notifications.channels(given(tmp_path, text))
    assert said in str(raised.value)


def test_the_example_of_the_documents_can_be_used_as_it_is(tmp_path: Path, project: Path) -> None:
    """Each kind once."""
    found = notifications.read(project / "docs" / "examples" / "notifications.yml")
    assert {each.kind for each in found} == set(ChannelKind)
    page = (project / "docs" / "notifications.md").read_text(encoding="utf-8")
    shown = notifications.channels(given(tmp_path, page.split("```yaml\n")[1].split("```")[0]))
    assert {each.kind for each in shown} == set(ChannelKind)


def test_a_secret_address_is_read_from_a_file_of_its_owners_alone(tmp_path: Path) -> None:
    """Its end of line is not part of it, and it is shown nowhere."""
    secret(tmp_path / "ops.url", "https://hooks.example/services/made-up\n")
    found = notifications.secrets(OF, tmp_path)
    assert (found.url, found.verify) == ("https://hooks.example/services/made-up", True)
    assert "made-up" not in repr(found)


@pytest.mark.parametrize(
    ("text", "mode", "said"),
    [
        ("https://hooks.example/made-up", 0o644, "can be read by others"),
        ("", 0o600, "expected an address like"),
        ("made-up", 0o600, "it holds no address like"),
        ("https://hooks.example/made-up\nhttps://two.example/", 0o600, "found more than one line"),
    ],
)
def test_a_secret_that_cannot_be_one_is_refused_without_being_shown(
    tmp_path: Path, text: str, mode: int, said: str
) -> None:
    """By the channel's name and the file's."""
    secret(tmp_path / "ops.url", text, mode)
    with pytest.raises(SettingsError, match="channel ops: ") as raised:
        notifications.secrets(OF, tmp_path)
    assert said in str(raised.value)
    assert "made-up" not in str(raised.value)


def test_an_authority_that_is_no_file_is_refused(tmp_path: Path) -> None:
    """Before anything is sent to whom it should prove."""
    of = Channel("hook", ChannelKind.WEBHOOK, url="https://hooks.example/", ca_file="ca.pem")
    with pytest.raises(SettingsError, match="is no file; expected the CA's certificate"):
        notifications.secrets(of, tmp_path)
    (tmp_path / "ca.pem").write_text("…")
    assert notifications.secrets(of, tmp_path).verify == str(tmp_path / "ca.pem")
