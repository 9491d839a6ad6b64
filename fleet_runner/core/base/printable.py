"""Text from a node, made safe to show: nothing in it may colour, move or mislead a terminal or a page.

Halves of characters (surrogates), which JSON may hold and no text can be written with, are marked like those.
"""

_UNSAFE = [
    *range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x2028, 0x2029,
    *range(0xD800, 0xE000),
]  # fmt: skip
_MARKED = {code: "\ufffd" for code in _UNSAFE if chr(code) not in "\n\t"}


def printable(text: str) -> str:
    """Return text with every control character and direction override marked; line breaks and tabs stay."""
    return text.translate(_MARKED)
