"""What gpu-burn prints: a progress line now and then, and its summary at the end."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from fleet_runner.core.base.errors import EvidenceError

_TESTED = re.compile(r"^Tested (\d{1,3}) GPUs?:[ \t\r]*$", re.MULTILINE)
_GPU = re.compile(r"^[ \t]*GPU (\d{1,3}): (OK|FAULTY)[ \t\r]*$", re.MULTILINE)
_DEVICE = re.compile(r"\bInitialized device (\d{1,3}) with\b")
_PERCENT = re.compile(r"(\d{1,3}(?:\.\d{1,3})?)%[ \t]*")
_RATE = re.compile(r"(-?\d{1,15}) +\((\d{1,12})(?:\.\d{1,6})? Gflop/s\)(?: {1,2}(\(DIED!\)))?", re.IGNORECASE)
_ERRORS = re.compile(r"[ \t]*(-?\d{1,18}) *(\((?:WARNING|DIED)!\))?[ \t]*")
_CELSIUS = re.compile(r"[ \t]*(?:(\d{1,3}) C|--)[ \t]*")
_BETWEEN = re.compile(r"(?: |(?<=\)))[-/] ")  # a count with a note has no space behind it
_WHY = re.compile(r"^(?:Couldn't init a GPU test|Failure during compute): [^\r\n]{1,160}", re.MULTILINE)

RECENT = 200
"""Progress lines over which a speed is taken: one for each message of a GPU, so some 25 of each of eight."""


class Progress(NamedTuple):
    """One progress line. `celsius` is None for a GPU whose temperature it does not tell; `died` ones stopped."""

    percent: float | None
    gflops: tuple[int, ...]
    errors: tuple[int, ...]
    celsius: tuple[int | None, ...]
    died: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Burn:
    """gpu-burn's answer. `faulty[n]` is its verdict on the n-th GPU, `numbers[n]` the number that CUDA gives it.

    `gflops[n]` is its usual speed of late, 0 where never measured; `errors[n]` the most that one line counted while
    the GPU worked: what the tool prints of one that died is whatever lay in its memory.
    `gflops`, `errors`, `celsius` and `died` are empty where the output holds no progress line.
    """

    faulty: tuple[bool, ...]
    gflops: tuple[int, ...] = ()
    errors: tuple[int, ...] = ()
    celsius: tuple[int | None, ...] = ()
    died: tuple[bool, ...] = ()
    numbers: tuple[int, ...] = ()


def parse(output: str) -> Burn:
    """Read a finished gpu-burn; EvidenceError unless its summary names each GPU that it says it tested."""
    heads = list(_TESTED.finditer(output))
    if not heads:
        why = _WHY.search(output)
        said = f"; its output: {why[0]}" if why is not None else ""
        raise EvidenceError(f"gpu-burn's output has no summary ('Tested N GPUs:'), so it did not end by itself{said}")
    head = heads[-1]
    rows = {int(number): word == "FAULTY" for number, word in _GPU.findall(output[head.end() :])}
    count = int(head[1])
    if sorted(rows) != list(range(count)) or not count:
        raise EvidenceError(f"gpu-burn's summary says {count} GPUs but names {len(rows)}; was its output cut short?")
    faulty = tuple(rows[number] for number in range(count))
    numbers = _numbers(output, count)
    lines = [line for line in _lines(output) if len(line.errors) == count][-RECENT:]
    if not lines:
        return Burn(faulty, numbers=numbers)
    warm = lines[len(lines) // 2 :]  # the first ones may be from before clocks and memory were up
    return Burn(
        faulty,
        gflops=tuple(_usual([line.gflops[nth] for line in warm]) for nth in range(count)),
        errors=tuple(_worst([line.errors[nth] for line in lines if not line.died[nth]]) for nth in range(count)),
        celsius=lines[-1].celsius,
        died=lines[-1].died,
        numbers=numbers,
    )


def progress(output: str) -> Progress | None:
    """Return the last whole progress line of a run that may still go on."""
    found = (_progress(line) for line in reversed(re.split(r"[\r\n]", output)))
    return next((line for line in found if line is not None), None)


def _lines(output: str) -> Iterator[Progress]:
    for line in re.split(r"[\r\n]", output):
        found = _progress(line)
        if found is not None:
            yield found


def _progress(line: str) -> Progress | None:
    """Read a progress line; None for any other, and for one that was cut at either end."""
    begin, begun, rest = line.partition("proc'd:")
    done, _, rest = rest.partition("errors:")
    told, ended, warmth = rest.partition("temps:")
    if not begun or not ended:
        return None
    rates = _RATE.findall(done)
    errors = [_ERRORS.fullmatch(word) for word in _BETWEEN.split(told)]
    warm = [_CELSIUS.fullmatch(word) for word in _BETWEEN.split(warmth)]
    if not rates or len(rates) != len(errors) or None in errors:
        return None
    percent = _PERCENT.fullmatch(begin.strip() + " ")
    celsius = tuple(int(word[1]) if word is not None and word[1] else None for word in warm)
    return Progress(
        percent=float(percent[1]) if percent is not None else None,
        gflops=tuple(int(rate) for _, rate, _ in rates),
        errors=tuple(int(word[1]) for word in errors if word is not None),
        celsius=celsius if len(celsius) == len(rates) else (None,) * len(rates),
        died=tuple(
            calcs == "-1" or "DIED" in died + (word[2] or "")
            for (calcs, _, died), word in zip(rates, errors, strict=True)
            if word is not None
        ),
    )


def _numbers(output: str, count: int) -> tuple[int, ...]:
    """Return the GPUs' numbers: in order, but for the one that "-i 3" chose; its row says 0 all the same."""
    devices = {int(number) for number in _DEVICE.findall(output)}
    return tuple(devices) if count == len(devices) == 1 else tuple(range(count))


def _worst(errors: list[int]) -> int:
    """Return the count that is furthest from none: those of a long run overflow."""
    return max(errors, key=abs, default=0)


def _usual(rates: list[int]) -> int:
    return round(median([rate for rate in rates if rate] or [0]))
