"""The few lines of a long evidence text that a finding is about."""

import re

from fleet_runner.core.base.printable import printable

WORD = re.compile(r"[A-Za-z0-9_:.\-]{2,}")
LONGEST_LINE = 400


def excerpt(text: str, message: str, most: int = 3) -> tuple[str, ...]:
    """Return up to `most` lines of `text`, in their order, that share the most words with `message`.

    A word counts by how rare it is in the text, so that "79" in a kernel log outweighs "GPU" in every line.
    """
    broken = (
        printable(text.replace("\r", "\n")).replace("\\n", "\n").replace("\\r", "\n")
    )  # text inside JSON has its line breaks escaped
    lines = [line.strip()[:LONGEST_LINE] for line in broken.splitlines() if line.strip()]
    wanted = {word.strip(".:-").lower() for word in WORD.findall(message)}
    words = [{word.strip(".:-").lower() for word in WORD.findall(line)} & wanted for line in lines]
    frequency = {word: sum(word in found for found in words) for word in wanted}
    scores = [sum(1.0 / frequency[word] for word in found) for found in words]
    best = sorted((index for index, score in enumerate(scores) if score > 0), key=lambda index: -scores[index])
    return tuple(lines[index] for index in sorted(best[:most]))
