"""Networks in a setting, with commas."""

from typing import Annotated

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from fleet_runner.core.inventory.bmc_address import networks


def _known(value: str) -> str:
    try:
        networks(value)
    except ValueError as error:
        raise PydanticCustomError("networks", "{why}", {"why": str(error)}) from error
    return value


Networks = Annotated[str, AfterValidator(_known)]
