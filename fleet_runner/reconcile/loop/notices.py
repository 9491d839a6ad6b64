"""What everybody who looks at the fleet should know first: what keeps all of it from going on."""

from typing import TYPE_CHECKING, Literal, NamedTuple

from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.budgets.breaker import refusal
from fleet_runner.core.inventory.switch import resumable
from fleet_runner.reconcile.loop.overdue import unserved_since, words
from fleet_runner.settings import Settings

if TYPE_CHECKING:
    from fleet_runner.adapters.store import Store


class Notice(NamedTuple):
    """A sentence; `kind` says how pressing it is: "bad", "unsure", or "calm" where all is well."""

    words: str
    kind: Literal["bad", "unsure", "calm"]


def notices(settings: Settings, store: "Store", now: float) -> list[Notice]:
    """Return what holds now, the most pressing not first: always in the same order, for whoever looks often."""
    late, tripped, paused = unserved_since(settings, store, now), store.breaker(), store.queue_paused()
    found = [Notice(words(late, now), "unsure")] if late is not None else []
    if tripped is not None:
        found.append(Notice(refusal(tripped), "bad"))
    if slip := unusable_policy(settings):
        found.append(
            Notice(f"{slip} serve continues with the last good one; one that starts decides nothing.", "bad")
        )
    if paused is not None:
        found.append(Notice(resumable(paused), "unsure"))
    for name, switch in store.schedules()[2].items():
        said = f"Schedule {name} is paused by {switch.by}: {switch.reason}. fleet-runner schedules resume {name}"
        found.append(Notice(said, "unsure"))
    if settings.boot_url:
        from fleet_runner.core.boot.heartbeats import signs  # noqa: PLC0415  many fleets boot without

        said, well = signs(store.beats(), now)
        found.append(Notice(said, "calm" if well else "unsure"))
    return found


def unusable_policy(settings: Settings) -> str:
    """Say why the policy file cannot be used; "" where it can."""
    if settings.policy is None:
        return ""
    from fleet_runner.adapters.files import policy  # noqa: PLC0415  many fleets have none

    try:
        policy.rules(settings)
    except SettingsError as error:
        return f"The policy cannot be used: {error}."
    return ""
