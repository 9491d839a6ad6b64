"""IMEX over a whole domain: one configuration on all trays, each tray in it, every instance running and ready.

Only where one IMEX domain is meant to span the trays all the time (NVIDIA's IMEX guide: NVLink domain wide). Where a
scheduler starts it with each job, configurations differ, and instances rest.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from fleet_runner.core.checks.parsers.imex import READY, UNAVAILABLE, Member
from fleet_runner.core.checks.parsers.nvlink_trays import Tray, TrayImex
from fleet_runner.core.nvlink.trouble import Trouble, named

CONFIG = "/etc/nvidia-imex/nodes_config.cfg"

RESTART = "restart nvidia-imex there while no work runs (systemctl restart nvidia-imex)"


def compare(trays: Mapping[str, Tray], silent: int) -> Iterator[Trouble]:
    """Judge the instances of trays that answered; `silent` is how many of those that belong to them did not."""
    running = {name: tray.imex for name, tray in trays.items() if tray.imex is not None}
    lacking = [name for name, tray in trays.items() if tray.imex is None and not _unread(tray)]
    if not running:
        if lacking and not silent:
            message = f"IMEX is installed on none of {len(lacking)} compute trays, expected on all"
            yield Trouble("imex.inactive", "IMEX", message, ("Install nvidia-imex, as the profile asks for it.",))
        return
    off = [*lacking, *(name for name, imex in running.items() if not imex.active)]
    yield from (_inactive(name, len(running), installed=name in running) for name in off)
    known = _Hosts(trays)
    yield from _configs({name: imex.hosts for name, imex in running.items() if imex.hosts}, known, silent)
    yield from _states(running, known, off)
    yield from _versions(running, known)


class _Hosts:
    """Which tray a host of a configuration is, by the trays' own addresses and names."""

    def __init__(self, trays: Mapping[str, Tray]) -> None:
        self.trays = {address: name for name, tray in trays.items() for address in tray.addresses}
        self.trays |= {name: name for name in trays}
        self.told = frozenset(name for name, tray in trays.items() if tray.addresses)

    def tray(self, host: str) -> str:
        """Return a tray's name; the host itself where it is none that answered."""
        return self.trays.get(host) or self.trays.get(host.partition(".")[0]) or host


def _unread(tray: Tray) -> bool:
    """Whether it is not known if IMEX is installed there."""
    return any(why.startswith("imex_unit") for why in tray.unread)


def _inactive(name: str, others: int, *, installed: bool) -> Trouble:
    what = "does not run" if installed else "is not installed"
    return Trouble(
        "imex.inactive",
        name,
        f"IMEX {what} on {name}, and is there on {others} trays of its domain",
        (
            f"On {name}: systemctl status nvidia-imex; journalctl -u nvidia-imex says why it ended.",
            "Correct that, and start it: the other trays connect by themselves.",
        ),
        (name,),
    )


def _configs(configs: Mapping[str, tuple[str, ...]], known: _Hosts, silent: int) -> Iterator[Trouble]:
    """Find trays whose configuration is not that of the others, and trays that are in nobody's."""
    counted = Counter(frozenset(hosts) for hosts in configs.values())
    if not counted:
        return
    usual, count = counted.most_common(1)[0]
    if count * 2 <= counted.total() and len(counted) > 1:
        message = f"{counted.total()} trays have {len(counted)} different {CONFIG}, expected one"
        steps = (f"Write one {CONFIG} with the addresses of all trays, copy it to each tray, and {RESTART}.",)
        yield Trouble("imex.config", "nodes_config.cfg", message, steps)
        return
    for name, hosts in configs.items():
        lacks, adds = usual - set(hosts), set(hosts) - usual
        if lacks or adds:
            told = [f"without {named(sorted(map(known.tray, lacks)))}"] if lacks else []
            told += [f"with {named(sorted(map(known.tray, adds)))}"] if adds else []
            yield Trouble(
                "imex.config",
                name,
                f"{CONFIG} of {name} differs from that of {count} other trays: {' and '.join(told)}",
                (f"Copy the file of another tray to {name}, and {RESTART}.",),
                (name,),
            )
    inside = set(map(known.tray, usual))
    for name in sorted(known.told - inside):
        message = f"{name} is missing from {CONFIG} of {count} trays: its GPUs share no memory with theirs"
        steps = (f"Add the address of {name} to the file of every tray, and {RESTART} on all of them.",)
        yield Trouble("imex.missing", name, message, steps, (name,))
    strange = sorted(inside - set(known.trays.values()))
    if strange and not silent:
        message = f"{CONFIG} of {count} trays names {named(strange)}, which is no tray of the domain"
        steps = (f"Remove it from the file of every tray, and {RESTART} on all of them.",)
        yield Trouble("imex.config", "nodes_config.cfg", message, steps)


def _states(running: Mapping[str, TrayImex], known: _Hosts, off: list[str]) -> Iterator[Trouble]:
    """Find instances that are not ready; those that only wait for one that is not there are well.

    Of a host that is no tray that answered nothing is said: its tray may be out for repair, or just silent.
    """
    told = {name: imex.status for name, imex in running.items() if imex.status is not None}
    seen: dict[str, set[str]] = {}
    for status in told.values():
        for member in status.members:
            seen.setdefault(known.tray(member.host), set()).add(member.status)
    gone = [name for name, words in seen.items() if words == {UNAVAILABLE}]
    for name in sorted(set(gone) & running.keys() - set(off)):
        message = f"IMEX on {name} is reached by none of {len(told)} trays (UNAVAILABLE), expected READY"
        steps = (
            f"Is {name} up, and does its nvidia-imex run? Is port 50000 open between the trays?",
            f"If it runs and is not reached, {RESTART}.",
        )
        yield Trouble("imex.not_ready", name, message, steps, (name,))
    if gone or off:
        return
    for name, status in told.items():
        own = _own(status.members, name, known)
        if own is not None and own.status != READY:
            message = f"IMEX on {name} is {own.status}, expected READY (the domain is {status.state})"
            step = f"Look at /var/log/nvidia-imex.log of {name}; then {RESTART}."
            yield Trouble("imex.not_ready", name, message, (step,), (name,))


def _own(members: tuple[Member, ...], name: str, known: _Hosts) -> Member | None:
    return next((each for each in members if known.tray(each.host) == name), None)


def _versions(running: Mapping[str, TrayImex], known: _Hosts) -> Iterator[Trouble]:
    """Find instances of another version than most: they do not talk to each other."""
    found: dict[str, str] = {}
    for name, imex in running.items():
        own = _own(imex.status.members, name, known) if imex.status is not None else None
        if own is not None and own.version:
            found[name] = own.version
    yield from differing(found, "imex.version", "IMEX")


def differing(versions: Mapping[str, str], code: str, what: str) -> Iterator[Trouble]:
    """Find trays with another version than most; one trouble where no version has most."""
    counted = Counter(versions.values())
    if len(counted) < 2:  # noqa: PLR2004  two are needed to differ
        return
    usual, count = counted.most_common(1)[0]
    told = "; ".join(f"{each} on {times}" for each, times in sorted(counted.items()))
    if count * 2 <= counted.total():
        message = (
            f"{what} has {len(counted)} versions on {counted.total()} trays of a domain ({told:.200}), expected one"
        )
        yield Trouble(code, what, message, (f"Install one version of {what} on all trays, one tray at a time.",))
        return
    for name, version in versions.items():
        if version != usual:
            message = f"{what} of {name} is {version}, expected {usual} as on {count} trays of its domain"
            yield Trouble(
                code, name, message, (f"Install {what} {usual} on {name} once no work runs there.",), (name,)
            )
