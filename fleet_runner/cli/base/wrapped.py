"""Sentences that are longer than a line: wrapped to the terminal's width, with a hanging indent."""

from rich.text import Text

from fleet_runner.cli.base.session import console
from fleet_runner.core.base.printable import printable

NARROWEST = 20
"""Columns that a sentence has at the least, however narrow the terminal says that it is."""


def say(told: str | Text, style: str = "", *, first: str = "", rest: str = "  ") -> None:
    """Print a sentence: `first` before its first line, `rest` before those that follow."""
    text = told if isinstance(told, Text) else Text(printable(told), style)
    width = max(NARROWEST, console.width - max(len(first), len(rest)))
    for at, line in enumerate(text.wrap(console, width)):
        line.rstrip()
        console.print(Text(rest if at else first).append(line), soft_wrap=True)
