"""What tables are made of: column types that hold on both databases what nodes and people send, and their names."""

import json
from typing import Any

from sqlalchemy import BigInteger, Dialect, Integer, MetaData, Text
from sqlalchemy.types import TypeDecorator

metadata = MetaData(
    naming_convention={"pk": "pk_%(table_name)s", "fk": "fk_%(table_name)s_%(column_0_name)s"},
)

Id = BigInteger().with_variant(Integer(), "sqlite")  # 10,000 swept nodes outgrow 32 bits within months


def storable(text: str) -> str:
    """Replace what PostgreSQL cannot hold in text: NUL and halves of surrogate pairs."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()


def _words(value: str | None) -> str | None:
    return None if value is None else storable(value)


_json = json.JSONEncoder(separators=(",", ":")).encode


class Words(TypeDecorator[str]):
    """Text from anywhere."""

    impl = Text
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Any:
        """Return what makes a value storable on its way in; at once, for many are written."""
        del dialect
        return _words


class Json(TypeDecorator[Any]):
    """Plain JSON as ASCII text: one code path, and PostgreSQL's own type refuses NaN and NUL."""

    impl = Text
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Any:
        """Return what writes it; at once, for much is written."""
        del dialect
        return _json

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """Read it."""
        del dialect
        return None if value is None else json.loads(value)
