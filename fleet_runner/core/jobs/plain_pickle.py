"""Read a pickle that holds plain values only, without ever calling anything.

Python's own reader may call whatever a pickle names, and a job's dumps are written by its tenant. This one knows the
instructions that build dictionaries, lists, tuples, text, bytes, numbers, truth values and None; another is an error.
"""

import struct
from collections.abc import Callable
from typing import NoReturn

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.base.plural import counted

MOST_BYTES = 64 * 1024 * 1024
"""A dump of 20,000 records with their stacks has about 8 MiB."""

MOST_STEPS = 5_000_000
"""Instructions; each makes at most one value. A dump of 20,000 records has about 1.5 million."""

MOST_OPEN = 32
"""Containers that are being filled at the same time; a dump has 6."""

NEWEST_PROTOCOL = 5


class CutShortError(EvidenceError):
    """The bytes end before the pickle does. `unfinished` are the values of each open container, outermost first."""

    def __init__(self, sentence: str, unfinished: list[list[object]]) -> None:
        super().__init__(sentence)
        self.unfinished = unfinished


def load(raw: bytes) -> object:
    """Return the value that a pickle holds.

    Raises:
        EvidenceError: an instruction that builds more than a plain value, a broken or too large pickle.
        CutShortError: the bytes end too early.
    """
    if len(raw) > MOST_BYTES:
        raise EvidenceError(f"found {len(raw):,} bytes, expected at most {MOST_BYTES:,}")
    return _Machine(raw).run()


class _Machine:
    """A stack, the containers below it that are being filled, and the values that were numbered for a second use."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.at = 0
        self.stack: list[object] = []
        self.below: list[list[object]] = []
        self.memo: dict[int, object] = {}

    def run(self) -> object:
        for _ in range(MOST_STEPS):
            (code,) = self.take(1)
            if code == _STOP:
                return self.end()
            instruction = _INSTRUCTIONS.get(code)
            if instruction is None:
                self.wrong(f"the instruction 0x{code:02x}, which builds more than plain values or is none")
            instruction(self)
        raise EvidenceError(f"found more than {MOST_STEPS:,} instructions; expected the dump of one rank")

    def end(self) -> object:
        if self.below or len(self.stack) != 1:
            self.wrong("an end with unfinished values")
        if self.at < len(self.raw):
            self.wrong(f"{counted(len(self.raw) - self.at, 'byte')} behind the end")
        return self.stack[0]

    def wrong(self, found: str) -> NoReturn:
        raise EvidenceError(f"byte {self.at:,} of the pickle: found {found}")

    def take(self, count: int) -> bytes:
        taken = self.raw[self.at : self.at + count]
        if len(taken) < count:
            raise CutShortError(f"the pickle ends at byte {len(self.raw):,}, unfinished", [*self.below, self.stack])
        self.at += count
        return taken

    def number(self, size: int, *, signed: bool = False) -> int:
        return int.from_bytes(self.take(size), "little", signed=signed)

    def pop(self) -> object:
        if not self.stack:
            self.wrong("an instruction without its value")
        return self.stack.pop()

    def popped(self, count: int) -> list[object]:
        return [self.pop() for _ in range(count)][::-1]

    def marked(self) -> list[object]:
        """Return what was put down since the last mark."""
        if not self.below:
            self.wrong("an instruction without its mark")
        values, self.stack = self.stack, self.below.pop()
        return values

    def append(self, values: list[object]) -> None:
        target = self.stack[-1] if self.stack else None
        if not isinstance(target, list):
            self.wrong("values for a list that is none")
        target.extend(values)

    def set_items(self, values: list[object]) -> None:
        target = self.stack[-1] if self.stack else None
        if not isinstance(target, dict) or len(values) % 2:
            self.wrong("keys and values for a dictionary that is none, or a key without a value")
        for key, value in zip(values[::2], values[1::2], strict=True):
            if not isinstance(key, str):
                self.wrong("a key that is not text")
            target[key] = value


def _push(make: Callable[[_Machine], object]) -> Callable[[_Machine], None]:
    """Return the instruction that puts down what is made."""

    def instruction(machine: _Machine) -> None:
        value = make(machine)  # which may end a container, and go back to the stack below
        machine.stack.append(value)

    return instruction


def _protocol(machine: _Machine) -> None:
    if (found := machine.number(1)) > NEWEST_PROTOCOL:
        machine.wrong(f"protocol {found}, expected at most {NEWEST_PROTOCOL}")


def _frame(machine: _Machine) -> None:
    machine.take(8)  # how many bytes follow, for readers of streams


def _mark(machine: _Machine) -> None:
    if len(machine.below) >= MOST_OPEN:
        machine.wrong(f"more than {MOST_OPEN} containers in each other")
    machine.below.append(machine.stack)
    machine.stack = []


def _long(machine: _Machine) -> int:
    if (size := machine.number(1)) > 16:  # noqa: PLR2004  bytes: twice what any number of a dump needs
        machine.wrong(f"a number of {size} bytes")
    return machine.number(size, signed=True)


def _float(machine: _Machine) -> float:
    (value,) = struct.unpack(">d", machine.take(8))
    return float(value)


def _text(size: int) -> Callable[[_Machine], str]:
    """Return how a text is read whose length has so many bytes; half characters are marked."""
    return lambda machine: machine.take(machine.number(size)).decode("utf-8", "replace")


def _bytes(size: int) -> Callable[[_Machine], bytes]:
    return lambda machine: machine.take(machine.number(size))


def _put(size: int) -> Callable[[_Machine], None]:
    """Return the instruction that numbers the last value."""

    def instruction(machine: _Machine) -> None:
        number = machine.number(size) if size else len(machine.memo)
        machine.memo[number] = machine.pop()
        machine.stack.append(machine.memo[number])

    return instruction


def _get(size: int) -> Callable[[_Machine], object]:
    def value(machine: _Machine) -> object:
        number = machine.number(size)
        if number not in machine.memo:
            machine.wrong(f"a reference to value {number}, which there is not")
        return machine.memo[number]

    return value


_STOP = ord(".")

_INSTRUCTIONS: dict[int, Callable[[_Machine], None]] = {
    0x80: _protocol,
    0x95: _frame,
    ord("("): _mark,
    ord("N"): _push(lambda _: None),
    0x88: _push(lambda _: True),
    0x89: _push(lambda _: False),
    ord("K"): _push(lambda machine: machine.number(1)),
    ord("M"): _push(lambda machine: machine.number(2)),
    ord("J"): _push(lambda machine: machine.number(4, signed=True)),
    0x8A: _push(_long),
    ord("G"): _push(_float),
    0x8C: _push(_text(1)),
    ord("X"): _push(_text(4)),
    ord("C"): _push(_bytes(1)),
    ord("B"): _push(_bytes(4)),
    ord("]"): _push(lambda _: []),
    ord("}"): _push(lambda _: {}),
    ord(")"): _push(lambda _: ()),
    0x85: _push(lambda machine: tuple(machine.popped(1))),
    0x86: _push(lambda machine: tuple(machine.popped(2))),
    0x87: _push(lambda machine: tuple(machine.popped(3))),
    ord("t"): _push(lambda machine: tuple(machine.marked())),
    ord("a"): lambda machine: machine.append(machine.popped(1)),
    ord("e"): lambda machine: machine.append(machine.marked()),
    ord("s"): lambda machine: machine.set_items(machine.popped(2)),
    ord("u"): lambda machine: machine.set_items(machine.marked()),
    ord("q"): _put(1),
    ord("r"): _put(4),
    0x94: _put(0),
    ord("h"): _push(_get(1)),
    ord("j"): _push(_get(4)),
}
"""The instructions that are known, by their byte, as Python's `pickletools` describes them."""
