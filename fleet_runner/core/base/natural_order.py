"""The order people expect of names with numbers in them."""

import re

_DIGITS = re.compile(r"([0-9]+)")

Key = tuple[tuple[str, int, str], ...]


def natural(text: str) -> Key:
    """Return a sort key that puts ib2 before ib10: text and number take turns.

    A number is compared by its length and digits, so that one of any length can be compared.
    """
    pieces = _DIGITS.split(text)
    numbers = [digits.lstrip("0") for digits in [*pieces[1::2], ""]]
    return tuple((word, len(number), number) for word, number in zip(pieces[::2], numbers, strict=True))
