"""Where a part was, and what befell it there: a part has its history, and so has the place that held it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stay:
    """A part in a place, from when it was first seen there until it was last seen.

    `kind` is the kind of part as the source of truth names it ("gpu", "hca", "nvme", "dimm", "psu", "optic",
    "cable"); `component` is the place as findings name it ("GPU 0000:1b:00.0"), `slot` as people do ("GPU 3"), ""
    where nobody told. `serial` is "" where it is not known: then the stay is the place's alone. Another serial in the
    same place begins another stay, and so no history of one part is mixed with another's. Times in epoch seconds.
    """

    id: int
    kind: str
    serial: str
    node: str
    component: str
    slot: str = ""
    first_at: float = 0.0
    last_at: float = 0.0


@dataclass(frozen=True, slots=True)
class Episode:
    """One fault of one component, from its first sight to its last without a day of silence between them.

    `check` is the check that found it, "" of a pushed signal; `serial` is that of the part that was there then, ""
    where it is not known. `seen` is how often it was told.
    """

    id: int
    node: str
    component: str
    code: str
    fault: str
    check: str
    serial: str
    first_at: float
    last_at: float
    seen: int = 1
