"""Arguments and options that several commands have."""

from typing import Annotated

import typer

NodeName = Annotated[
    str, typer.Argument(help="the node's name, as the source of truth has it, or a fabric's", metavar="NODE")
]
Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]
