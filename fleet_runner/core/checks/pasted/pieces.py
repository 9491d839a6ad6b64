"""Where in a text one report begins and ends: people paste several, with prompts and words of their own between."""

import json
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

MOST_OBJECTS = 64
"""JSON objects of one text that are looked at."""

_OBJECT = re.compile(r"^[^\n{\"]{0,80}(\{)\s{0,200}\"", re.MULTILINE)
_PROMPT = re.compile(r"^(?:[\w.-]{1,64}@[\w.-]{1,64}[:~ ][^\n$#]{0,80}[$#]|\$) \S[^\n]{0,200}$", re.MULTILINE)


def objects(text: str) -> Iterator[tuple[dict[str, Any], int, int]]:
    """Yield the JSON objects that begin on lines of a text, and where each begins and ends.

    What begins like one and is cut ends them: an object within it may say half of what it should.
    """
    at, found = 0, 0
    while found < MOST_OBJECTS and (begun := _OBJECT.search(text, at)) is not None:
        start, found = begun.start(1), found + 1
        try:
            value, at = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            return
        yield value, start, at


def those(text: str, belongs: Callable[[dict[str, Any]], bool], mark: re.Pattern[str]) -> list[str]:
    """Return the JSON objects of a kind; what begins like one and is cut comes as it stands, to be refused."""
    found: list[str] = []
    rest, at = "", 0
    for each, start, end in objects(text):
        rest, at = rest + text[at:start], end
        if belongs(each):
            found.append(json.dumps(each, indent=1))
    rest += text[at:]
    begun = mark.search(rest)
    return found if begun is None else [*found, rest[max(rest.rfind("{", 0, begun.end()), 0) :]]


def between(text: str, begin: re.Pattern[str], end: str) -> list[str]:
    """Return what reaches from a beginning to the next end, the end included; a last one may lack its own."""
    starts = [found.start() for found in begin.finditer(text)]
    pieces: list[str] = []
    for start, limit in pairwise([*starts, len(text)]):
        stop = text.find(end, start, limit) if end else -1
        pieces.append(text[start : stop + len(end)] if stop >= 0 else text[start:limit])
    return pieces


def until_prompt(text: str, begin: re.Pattern[str]) -> list[str]:
    """Return what reaches from each beginning to the next prompt with a command, or to the next beginning."""
    return [_PROMPT.split(piece, maxsplit=1)[0] for piece in between(text, begin, "")]
