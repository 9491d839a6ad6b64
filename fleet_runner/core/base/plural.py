"""Numbers with their nouns: "1 node", "2 nodes"."""


def counted(number: int | str, one: str, many: str = "") -> str:
    """Return a number, or the text of one, and its noun; `many` is for nouns that more than an s makes many."""
    text = number if isinstance(number, str) else f"{number:,}"
    return f"{text} {one if text == '1' else many or f'{one}s'}"
