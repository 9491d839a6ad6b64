"""Titles of the columns of a list of cables: which are the devices and ports of both ends, in whichever language.

A title is what an end is called and what stands there, in either order: "Source Device", "Port (A)", "Gerät A".
NVIDIA's NDT and NetBox are among them; NetBox gives its titles out in the language of its user.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple


def plain(cell: str) -> str:
    """Return a title without case, accents, spaces and marks: "Port (A)" is "porta"."""
    letters = unicodedata.normalize("NFKD", cell.casefold())
    bare = re.sub(r"[\s_./#:()\[\]*-]", "", "".join(each for each in letters if not unicodedata.combining(each)))
    return bare.removeprefix("fields")


def _plain(*words: str) -> tuple[str, ...]:
    return tuple(map(plain, words))


class Ends(NamedTuple):
    """The columns of a device and a port of one end, and of the other's; `listed` by titles of NetBox's list."""

    columns: tuple[int, ...]
    listed: bool


_WHOLE: tuple[tuple[str, str, str, str], ...] = (
    ("sideadevice", "sideaname", "sidebdevice", "sidebname"),
    ("sidea", "terminationa", "sideb", "terminationb"),
)
"""NetBox's: how it takes cables in, and its list of cables before version 3.3."""

_ENDS = (
    (
        _plain("a", "side a", "a side", "end a", "a end", "\N{CYRILLIC CAPITAL LETTER A}"),
        _plain("b", "z", "side b", "side z", "b side", "z side", "end b", "end z", "b end", "z end", "Б"),
    ),
    (("start",), ("end",)),
    (
        _plain("source", "src", "origin", "Quelle", "Quell", "origen", "origine", "源", "源端"),
        _plain("destination", "dest", "dst", "target", "Ziel", "destino", "destinazione", "目的", "目标", "目的端"),
    ),
    (_plain("from", "von", "de", "desde", "da", "van"), _plain("to", "nach", "vers", "à", "hasta", "naar")),
    (_plain("local", "本端"), _plain("remote", "far", "peer", "neighbor", "neighbour", "对端")),
    (_plain("near", "near end"), _plain("far", "far end")),
    (_plain("1", "side 1", "end 1"), _plain("2", "side 2", "end 2")),
)
"""What people call the two ends of a cable, in a title before or after one of the words below."""

_DEVICES = (
    *_plain(
        "device", "device name", "node", "node name", "host", "hostname", "server", "switch", "system", "equipment"
    ),
    *_plain("Gerät", "Geraet", "équipement", "appareil", "dispositivo", "equipo", "equipamento", "apparaat"),
    *_plain("设备", "设备名", "设备名称", "主机", "主机名", "デバイス", "устройство", "пристрій", "urządzenie"),
    *_plain("zařízení", "enhed", "ayg\u0131t", "iekārta", "system name", "server name", "switch name"),
)
_PORTS = (
    *_plain(
        "port",
        "ports",
        "interfaces",
        "port name",
        "interface",
        "interface name",
        "ifname",
        "port number",
        "port id",
        "adapter",
        "hca",
    ),
    *_plain(
        "nic", "device port", "host port", "switch port", "server port", "node port", "Anschluss", "Schnittstelle"
    ),
    *_plain("puerto", "interfaz", "porta", "interfaccia", "poort", "端口", "端口号", "接口", "ポート", "порт"),
)
_TERMINATIONS = _plain(
    *("termination", "Abschlusspunkt", "terminaison", "terminación", "terminazione", "terminação", "beëindiging"),
    *(
        "eindpunt",
        "終端",
        "本端",
        "对端",
        "wypowiedzenie",
        "strona",
        "ukončení",
        "opsigelse",
        "fesih",
        "sonland\u0131rma",
    ),
    *("точка подключения", "кінець", "savienojums"),
)
"""What NetBox calls a port at the end of a cable."""

_ALONE = ("", *_plain("name"))
"""What a device may be called beside the port of its end: "Source", "Source Port"."""

_FUSED = ("", *_plain("end", "endpoint", "connection"))
"""What a device with its port in one cell is called; a letter alone may be a device."""
_BARE_DEVICES = frozenset({*_DEVICES, *_plain("leaf", "spine", "tor", "gpu node", "gpu server", "compute node")})
_BOXES = frozenset(
    {
        *_plain(
            "host",
            "hostname",
            "server",
            "server name",
            "node",
            "node name",
            "switch",
            "switch name",
            "主机",
            "主机名",
        )
    }
    | (_BARE_DEVICES - {*_DEVICES})
)
"""Devices whose title says what they are."""
_BARE_PORTS = frozenset(
    {*_PORTS, *(f"{device}{port}" for device in ("leaf", "spine", "tor") for port in ("port", "interface"))}
)

STATUS = frozenset(_plain("status", "Statut", "estado", "ステータス", "状态", "Stav", "Durum", "Статус", "Statuss"))
LATER = frozenset(
    _plain(
        *("planned", "decommissioning", "geplant", "Außerbetriebnahme", "planifié", "Démantèlement", "planificado"),
        *("Desmantelamiento", "pianificato", "Smantellamento", "planejado", "Em Descomissionamento", "gepland"),
        *("Ontmanteling", "計画中", "廃止", "已规划", "报废", "Planowane", "Wycofywanie z użytku", "Plánované"),
        *("Vyřazení z provozu", "Planlagt", "Nedlæggelse", "Planlanan", "Hizmetten ç\u0131karma", "Заплановано"),
        *("Виведення з експлуатації", "Запланировано", "Вывод из эксплуатации", "Plānots", "Demontē"),
    )
)
"""NetBox's states of a cable that may be there or not."""

TYPES = frozenset(_plain("type", "cable type", "side a type", "side b type", "Typ", "tipo", "タイプ", "类型", "Тип"))


def ends(titles: Sequence[str]) -> Ends | None:
    """Return the columns of both ends, by plain titles; None where these do not name both."""
    for names in _WHOLE:
        if all(name in titles for name in names):
            return Ends(tuple(titles.index(name) for name in names), listed="terminationa" in names)
    for pair in _ENDS:
        for devices, ports in ((_DEVICES, _PORTS), (_DEVICES, _TERMINATIONS), (_ALONE, _PORTS)):
            found = [_at(titles, names, words) for names in pair for words in (devices, ports)]
            columns = tuple(at for at in found if at is not None)
            if len(set(columns)) == len(found):
                return Ends(columns, listed=ports is _TERMINATIONS)
    return _in_turn(titles) or _of_several(titles)


def _of_several(titles: Sequence[str]) -> Ends | None:
    """Return the first two of three ends or more, each a device and its port ("Host 1", "NIC 1")."""
    kinds = [(at, kind) for at, title in enumerate(titles) if (kind := end_kind(title))]
    if len(kinds) < _OF_THREE or len(kinds) % 2 or any(kind != _TURN[at % 2] for at, (_, kind) in enumerate(kinds)):
        return None
    return Ends(tuple(at for at, _ in kinds[:4]), listed=False)


_OF_THREE = 6
"""Titles of three ends."""

_TURN = ("device", "port")
_MARKED = tuple(
    re.compile(form, re.ASCII) for form in (r"(\D+)[1-8]", r"(\D+?)[a-h][1-8]?", r"(?:end|side)?[c-h3-8](\D+)")
)
"""A title with what tells its end from others behind it or before it: "devicec", "host2", "portb2", "endcdevice"."""


def others(titles: Sequence[str], known: Sequence[int], *, split: bool) -> list[tuple[int, int]]:
    """Return the columns of a device and its port that name a third end of a cable and more.

    Each device is followed by its port, as the two ends that are `known`. Unless the row says that its cable is
    `split`, it is one only where its title is of a series with theirs ("Device C"), or they are two of what it is not
    ("Switch" beside "Host 1" and "Host 2"): "Host" and "Interface" behind two devices may be those of a BMC.
    """
    kinds = ["" if at in known else end_kind(title) for at, title in enumerate(titles)]
    found = [(at, at + 1) for at, kind in enumerate(kinds[:-1]) if kind == "device" and kinds[at + 1] == "port"]
    return [pair for pair in found if split or _of_series(titles, pair[0], known)]


def _of_series(titles: Sequence[str], at: int, known: Sequence[int]) -> bool:
    ends = [titles[known[0]], titles[known[2]]]
    word, words = _word(titles[at]), {*map(_word, ends)}
    if marked(titles[at]):
        return bool(words & {word, ""})
    if word in words:  # "Device", "Device.1", "Device.2", and not a further "Device" behind them
        return titles[at] in ends or at < min(known)
    return len(words) == 1 and words <= _BOXES


def marked(title: str) -> bool:
    """Return whether a title has what tells its end from others of its series: "host2" is marked, "host" is not."""
    return _word(title) not in {title, ""}


def end_kind(title: str) -> str:
    """Return whether a title names a device or a port, of whichever end."""
    return _kind(_word(title))


def _word(title: str) -> str:
    """Return the device or the port that a title names, without the mark of its end; "" where it names neither."""
    words = (title, *(found[1] for form in _MARKED if (found := form.fullmatch(title))))
    return next((word for word in words if _kind(word)), "")


def fused(titles: Sequence[str]) -> tuple[int, int] | None:
    """Return the columns of both ends where one cell has the device and the port of each; None where none has."""
    for pair in _ENDS:
        near, far = (_at([title if len(title) > 1 else "" for title in titles], names, _FUSED) for names in pair)
        if near is not None and far is not None:
            return near, far
    return None


def _at(titles: Sequence[str], names: Iterable[str], words: Iterable[str]) -> int | None:
    """Return the column whose title is what an end is called, and one of the words."""
    wanted = (title for word in words for end in names for title in (f"{end}{word}", f"{word}{end}"))
    return next((titles.index(title) for title in wanted if title in titles), None)


def _in_turn(titles: Sequence[str]) -> Ends | None:
    """Return the columns of titles that say device, port, device, port, in this order, and nothing of the ends.

    A program may put a number behind what occurs twice: "Device", "Port", "Device.1", "Port.1".
    """
    kinds = [_kind(title) for title in titles]
    named = [at for at, kind in enumerate(kinds) if kind]
    if [kinds[at] for at in named] == ["device", "port"] * 2:
        return Ends(tuple(named), listed=False)
    twice = [
        title[:-1] if title[-1:] in {"1", "2"} and title[:-1] in titles[:at] else title
        for at, title in enumerate(titles)
    ]
    return _in_turn(twice) if twice != list(titles) else None


def _kind(title: str) -> str:
    return "device" if title in _BARE_DEVICES else "port" if title in _BARE_PORTS else ""
