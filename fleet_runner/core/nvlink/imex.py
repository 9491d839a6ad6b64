"""IMEX over a whole domain: one configuration on all trays, each tray in it, every instance running and ready.

Only where one IMEX domain is meant to span the trays all the time (NVIDIA's IMEX guide: NVLink domain wide). Where a
scheduler starts it with each job, configurations differ, and instances rest.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from ipaddress import ip_address
from typing import NamedTuple

from fleet_runner.core.checks.parsers.imex import READY, UNAVAILABLE, Member, Status
from fleet_runner.core.checks.parsers.nvlink_trays import Tray, TrayImex
from fleet_runner.core.nvlink.trouble import Trouble, named

CONFIG = "/etc/nvidia-imex/nodes_config.cfg"

RESTART = "restart nvidia-imex there while no work runs (systemctl restart nvidia-imex)"


class Comparison(NamedTuple):
    """What is wrong, and sentences about what is not known of a configuration."""

    troubles: tuple[Trouble, ...]
    unread: tuple[str, ...] = ()


def compare(trays: Mapping[str, Tray], silent: int) -> Comparison:
    """Judge the instances of trays that answered; `silent` is how many of those that belong to them did not."""
    running = {name: tray.imex for name, tray in trays.items() if tray.imex is not None}
    lacking = [name for name, tray in trays.items() if tray.imex is None and not _unread(tray)]
    if not running:
        if lacking and not silent:
            message = f"IMEX is installed on none of {len(lacking)} compute trays, expected on all"
            steps = ("Install nvidia-imex, as the profile asks for it.",)
            return Comparison((Trouble("imex.inactive", "IMEX", message, steps),))
        return Comparison(())
    off = [*lacking, *(name for name, imex in running.items() if not imex.active)]
    known = _Hosts(trays)
    configs = _configs(running, known, len(trays) + silent, silent)
    states = _states(running, known, off, len(trays) + silent)
    return Comparison((*_off(off, running), *configs.troubles, *states, *_versions(running, known)), configs.unread)


class _Hosts:
    """Which tray a host of a configuration is, by the trays' own addresses and names, however they are spelled."""

    def __init__(self, trays: Mapping[str, Tray]) -> None:
        self.trays = {_plain(address): name for name, tray in trays.items() for address in tray.addresses}
        self.trays |= {_plain(name): name for name in trays}
        self.names = frozenset(trays)
        self.told = frozenset(name for name, tray in trays.items() if tray.addresses)
        self.mute = self.names - self.told

    def tray(self, host: str) -> str:
        """Return a tray's name; the host itself where it is none that answered."""
        plain = _plain(host)
        return self.trays.get(plain) or self.trays.get(plain.partition(".")[0]) or plain

    def hidden(self, hosts: Iterable[str]) -> frozenset[str]:
        """Return those of which it is not known whether they are trays that answered: names, that is.

        Where a tray did not tell its addresses, any other address may be its own.
        """
        return frozenset(host for host in hosts if host not in self.names and (self.mute or not _is_address(host)))


def _plain(host: str) -> str:
    """Return an address in its one shortest form; a name in lower case."""
    return str(ip_address(host)) if _is_address(host) else host.lower()


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _unread(tray: Tray) -> bool:
    """Whether it is not known if IMEX is installed there."""
    return any(why.startswith("imex_unit") for why in tray.unread)


def _off(off: list[str], running: Mapping[str, TrayImex]) -> Iterator[Trouble]:
    """One trouble for each tray on which it does not run; one for all where it is gone from most."""
    others = sum(imex.active for imex in running.values())
    if len(off) > 1 and len(off) > others:
        message = (
            f"IMEX runs on {others} of {len(off) + others} compute trays of the domain, expected on all:"
            f" not on {named(off)}"
        )
        steps = (
            "What did these trays get last: an update, a profile? Correct that, and start nvidia-imex on each.",
            f"On one of them: systemctl status nvidia-imex; journalctl -u nvidia-imex ({off[0]}).",
        )
        yield Trouble("imex.inactive", "IMEX", message, steps)
        return
    yield from (_inactive(name, others, installed=name in running) for name in off)


def _inactive(name: str, others: int, *, installed: bool) -> Trouble:
    what = "does not run" if installed else "is not installed"
    return Trouble(
        "imex.inactive",
        name,
        f"IMEX {what} on {name}, and runs on {others} trays of its domain",
        (
            f"On {name}: systemctl status nvidia-imex; journalctl -u nvidia-imex says why it ended.",
            "Correct that, and start it: the other trays connect by themselves.",
        ),
        (name,),
    )


def _configs(running: Mapping[str, TrayImex], known: _Hosts, whole: int, silent: int) -> Comparison:
    """Compare the configurations with each other, and the one that most trays have with the trays.

    `whole` is how many trays the domain has: where not more than half of them have one file, no tray is blamed for
    another one. A name that is no tray's may be another name of any tray: what it hides is not known.
    """
    configs = {name: frozenset(map(known.tray, imex.hosts)) for name, imex in running.items() if imex.hosts}
    counted = Counter(configs.values())
    if not counted:
        return Comparison(())
    usual, count = counted.most_common(1)[0]
    others = [hosts for hosts in counted if hosts != usual]
    hidden = frozenset[str]().union(*(known.hidden(hosts ^ usual) for hosts in others))
    if others and count * 2 <= whole:
        return _unclear(hidden) if hidden else Comparison((_torn(configs.values()),))
    strange, missing = usual - known.names, sorted(known.told - usual)
    if missing and (strange == usual or known.hidden(strange)):
        return _unclear(strange)
    troubles = [
        _differing(name, hosts, usual, count)
        for name, hosts in configs.items()
        if hosts != usual and not known.hidden(hosts ^ usual)
    ]
    troubles += _missing(missing, count)
    if strange and not silent and not known.mute - usual:
        message = f"{CONFIG} of {count} trays names {named(sorted(strange))}, which is no tray of the domain"
        steps = (f"Remove it from the file of every tray, and {RESTART} on all of them.",)
        troubles.append(Trouble("imex.config", "nodes_config.cfg", message, steps))
    return Comparison(tuple(troubles), _unclear(hidden).unread if hidden else ())


def _unclear(hosts: Iterable[str]) -> Comparison:
    why = (
        f"{CONFIG} names {named(sorted(hosts))}, expected addresses of the trays (hostname -I) or their names: it is"
        " not known which trays these are"
    )
    return Comparison((), (why,))


def _torn(configs: Collection[frozenset[str]]) -> Trouble:
    message = f"{len(configs)} trays have {len(set(configs))} different {CONFIG}, expected one"
    steps = (f"Write one {CONFIG} with the addresses of all trays, copy it to each tray, and {RESTART}.",)
    return Trouble("imex.config", "nodes_config.cfg", message, steps)


def _differing(name: str, hosts: frozenset[str], usual: frozenset[str], count: int) -> Trouble:
    lacks, adds = sorted(usual - hosts), sorted(hosts - usual)
    told = [f"without {named(lacks)}"] if lacks else []
    told += [f"with {named(adds)}"] if adds else []
    return Trouble(
        "imex.config",
        name,
        f"{CONFIG} of {name} differs from that of {count} other trays: {' and '.join(told)}",
        (f"Copy the file of another tray to {name}, and {RESTART}.",),
        (name,),
    )


def _missing(names: list[str], count: int) -> Iterator[Trouble]:
    """One trouble, however many are missing: it is one file."""
    if not names:
        return
    steps = (f"Add the address of {named(names)} to the file of every tray, and {RESTART} on all of them.",)
    if len(names) == 1:
        message = f"{names[0]} is missing from {CONFIG} of {count} trays: its GPUs share no memory with theirs"
        yield Trouble("imex.missing", names[0], message, steps, (names[0],))
    else:
        message = (
            f"{len(names)} trays are missing from {CONFIG} of {count} trays ({named(names)}): their GPUs share no"
            " memory with those of the others"
        )
        yield Trouble("imex.missing", "nodes_config.cfg", message, steps)


def _states(running: Mapping[str, TrayImex], known: _Hosts, off: list[str], whole: int) -> Iterator[Trouble]:
    """Find instances that are not ready; those that only wait for one that is not there are well.

    Of a host that is no tray that answered nothing is said: its tray may be out for repair, or just silent. Nor is
    anything said of one at the word of less than half of the `whole` domain: it may be they who are cut off.
    """
    told = {name: imex.status for name, imex in running.items() if imex.status is not None}
    seen: dict[str, list[str]] = {}
    for status in told.values():
        for host, word in {known.tray(member.host): member.status for member in status.members}.items():
            seen.setdefault(host, []).append(word)
    gone = [name for name, words in seen.items() if set(words) == {UNAVAILABLE}]
    lost = sorted(name for name in set(gone) & running.keys() - set(off) if len(seen[name]) * 2 > whole)
    if len(lost) * 2 > len(running) and len(lost) > 1:
        message = f"IMEX on {len(lost)} of {len(running)} trays is reached by none (UNAVAILABLE), expected READY"
        step = "Is port 50000 open between the trays, on the network of the addresses in their files?"
        yield Trouble("imex.not_ready", "IMEX", f"{message}: {named(lost)}", (step,))
        return
    for name in lost:
        message = f"IMEX on {name} is reached by none of {len(seen[name])} trays (UNAVAILABLE), expected READY"
        steps = (
            f"Is {name} up, and does its nvidia-imex run? Is port 50000 open between the trays?",
            f"If it runs and is not reached, {RESTART}.",
        )
        yield Trouble("imex.not_ready", name, message, steps, (name,))
    if not gone and not off:
        yield from _waiting(told, known)


def _waiting(told: Mapping[str, Status], known: _Hosts) -> Iterator[Trouble]:
    """Find instances that are not ready by their own word; one trouble where most are not."""
    words = {name: own.status for name, status in told.items() if (own := _own(status.members, name, known))}
    waiting = {name: word for name, word in words.items() if word != READY}
    if len(waiting) * 2 > len(words) and len(waiting) > 1:
        message = f"IMEX on {len(waiting)} of {len(words)} trays is not READY: {named(sorted(set(waiting.values())))}"
        step = f"Look at /var/log/nvidia-imex.log of one of them, such as {min(waiting)}: they wait for the same."
        yield Trouble("imex.not_ready", "IMEX", message, (step,))
        return
    for name, word in waiting.items():
        message = f"IMEX on {name} is {word}, expected READY (the domain is {told[name].state})"
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
