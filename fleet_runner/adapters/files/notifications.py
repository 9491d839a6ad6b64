"""The channels of a fleet, from their file: who is notified of what, and what is wrong with it, by line."""

from dataclasses import dataclass
from pathlib import Path

from fleet_runner.adapters.files import secret as secret_file
from fleet_runner.adapters.files import yaml_places
from fleet_runner.adapters.files.yaml_places import Unreadable, line_at
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.base.fields import Unfit
from fleet_runner.core.base.named_list import ListError, told
from fleet_runner.core.tickets.notifications import configuration
from fleet_runner.core.tickets.notifications.channel import Channel
from fleet_runner.core.tickets.trackers.configuration import url
from fleet_runner.settings import Settings

NAME = "notifications.yml"
"""The file's name beside the inventory, where the settings name none."""


@dataclass(frozen=True, slots=True)
class Secrets:
    """What a channel's files hold. `verify` is a file to verify certificates with, or whom this machine trusts."""

    url: str = ""
    token: str = ""
    secret: bytes = b""
    password: str = ""
    verify: str | bool = True

    def __repr__(self) -> str:
        """Say nothing of what is in it."""
        return "Secrets(…)"


def file(settings: Settings) -> Path | None:
    """Return the file in use: the one that the settings name, else the one beside the inventory, if any."""
    if settings.notifications_file is not None:
        return settings.notifications_file
    beside = settings.inventory_file.parent / NAME
    return beside if beside.is_file() else None


def channels(settings: Settings) -> tuple[Channel, ...]:
    """Return who is notified; nobody where there is no file.

    Raises:
        SettingsError: with the first line that cannot be meant.
    """
    path = file(settings)
    return read(path) if path is not None else ()


def read(path: Path) -> tuple[Channel, ...]:
    """Return the channels of a file; SettingsError with the first line that cannot be meant."""
    found, slips = check(path)
    if slips:
        more = f"; and {len(slips) - 1} more" if slips[1:] else ""
        raise SettingsError(f"{slips[0]}{more}; correct it: fleet-runner notifications check")
    return found


def check(path: Path) -> tuple[tuple[Channel, ...], tuple[str, ...]]:
    """Return a file's channels, or everything that is wrong with it, the lines from above to below."""
    try:
        root, content = yaml_places.load(path)
    except Unreadable as error:
        return (), (f"{path}:{error.line}: {error}",)
    if root is None:
        return (), ()
    if slips := tuple(yaml_places.twice(root, "")):  # which of the two was meant, nobody knows
        return (), tuple(f"{path}:{line}: {text}" for line, text in slips)
    try:
        return configuration.read(content), ()
    except ListError as error:
        wrong = sorted((line_at(root, each.path), told(each)) for each in error.problems)
        return (), tuple(f"{path}:{line}: {text}" for line, text in wrong)


def secrets(of: Channel, beside: Path) -> Secrets:
    """Read a channel's secrets; relative files are beside the list of channels. SettingsError if unusable."""
    try:
        return Secrets(
            url=_address(of, beside),
            token=_text(of.token_file, beside, "a token"),
            secret=_text(of.secret_file, beside, "a secret to sign with").encode(),
            password=_text(of.post.password_file if of.post else "", beside, "a password"),
            verify=_authority(of, beside),
        )
    except SettingsError as error:
        raise SettingsError(f"channel {of.name}: {error}") from None


def _address(of: Channel, beside: Path) -> str:
    if not of.url_file:
        return of.url
    found = _text(of.url_file, beside, "an address like https://hooks.example/…")
    try:
        return url(found)
    except Unfit:
        text = "it holds no address like https://hooks.example/…, without user and query, in one line"
        raise SettingsError(f"{of.url_file}: {text}") from None


def _text(name: str, beside: Path, what: str) -> str:
    if not name:
        return ""
    found = secret_file.text(beside / Path(name).expanduser(), f"{what} of mode 0600")
    if not found.isprintable():
        raise SettingsError(f"{name}: found more than one line, expected {what} in one")
    return found


def _authority(of: Channel, beside: Path) -> str | bool:
    if not of.ca_file:
        return True
    path = beside / Path(of.ca_file).expanduser()
    if not path.is_file():
        raise SettingsError(f"ca_file {path} is no file; expected the CA's certificate, PEM")
    return str(path)
