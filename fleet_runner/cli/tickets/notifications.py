"""fleet-runner notifications: who is notified of what, whether that works, and what waits."""

import time
from pathlib import Path
from typing import Annotated

import typer

from fleet_runner import settings
from fleet_runner.adapters.files import notifications as notification_file
from fleet_runner.cli.base.session import Exit, age, console, opened, plain, print_json
from fleet_runner.core.base.errors import FleetError, SettingsError
from fleet_runner.core.tickets.notifications.channel import Channel
from fleet_runner.core.tickets.notifications.grouping import ChannelPosition, Collected

app = typer.Typer(no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]
NOBODY = "no notifications: there is no notifications.yml beside the inventory, and notifications_file names none"


@app.callback()
def notifications() -> None:
    """See who is notified of what, and try it."""


@app.command()
def check(
    file: Annotated[Path | None, typer.Argument(help="default: the one in use", metavar="FILE")] = None,
) -> None:
    """Check the channels and their secret files: one line for each error. Exit code 1 if there is any."""
    path = file or notification_file.file(settings.load())
    if path is None:
        raise FleetError(f"{NOBODY}; name one: fleet-runner notifications check FILE")
    found, slips = notification_file.check(path)
    slips = (*slips, *(said for each in found if (said := _unusable(each, path.parent))))
    for slip in slips:
        _say(slip)
    if slips:
        raise typer.Exit(Exit.NO)
    _say(f"{path}: nothing is wrong; {len(found)} {'channel' if len(found) == 1 else 'channels'}")


@app.command()
def test(name: Annotated[str, typer.Argument(metavar="CHANNEL", help="as the file names it")]) -> None:
    """Send a test message to a channel, also in quiet hours. Exit code 1 if it is not accepted."""
    from fleet_runner.adapters import notifications  # noqa: PLC0415  other commands need none of it
    from fleet_runner.core.tickets.notifications.text import Message  # noqa: PLC0415  likewise
    from fleet_runner.core.tickets.trackers.backoff import TrackerError  # noqa: PLC0415  likewise

    used = settings.load()
    path, found = notification_file.file(used), notification_file.channels(used)
    of = next((each for each in found if each.name == name), None)
    if of is None or path is None:
        known = ", ".join(each.name for each in found) or "none"
        raise FleetError(f"no channel {name!r}; there is {known}" if path else NOBODY)
    key = f"fleet-runner.{name}.test.{time.time():.0f}"
    message = Message(key, name, Collected(), used.web_url.rstrip("/"))
    try:
        notifications.send(of, notification_file.secrets(of, path.parent), message)
    except TrackerError as error:
        _say(str(error))
        raise typer.Exit(Exit.NO) from None
    _say(f"{name}: the message was accepted")


@app.command()
def status(*, json: Json = False) -> None:
    """Show when each channel was last notified, and what blocks it."""
    with opened() as (used, store):
        found = notification_file.channels(used)
        known = {each.name: store.channel(each.name) for each in found}
        now = store.clock()
    if json:
        print_json([{"kind": each.kind.value, **_row(each, known[each.name])} for each in found])
        return
    for each in found:
        _say(f"{each.name} ({each.kind.value}): {_words(known[each.name], now)}")
    if not found:
        _say(NOBODY)


def _unusable(of: Channel, beside: Path) -> str:
    try:
        notification_file.secrets(of, beside)
    except SettingsError as error:
        return str(error)
    return ""


def _row(of: Channel, standing: ChannelPosition | None) -> dict[str, object]:
    return {"name": of.name, "begun": standing is not None, **(plain(standing) if standing is not None else {})}


def _words(standing: ChannelPosition | None, now: float) -> str:
    if standing is None:
        return "not begun; serve notifies it of events from its start on"
    last = f"notified {age(now - standing.told_at)} ago" if standing.told_at is not None else "nothing was sent yet"
    if standing.away_at is None or not standing.detail:
        return last
    again = max(0.0, standing.due_at - now)
    since = f"not reached for {age(now - standing.away_at)}, tried {standing.tries} times, again in {age(again)}"
    return f"{last}; {since}: {standing.detail}"


def _say(words: str) -> None:
    console.print(words, markup=False, soft_wrap=True)
