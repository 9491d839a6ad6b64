"""What may be shown."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.printable import printable


@given(st.text())
def test_no_control_character_is_left(text: str) -> None:
    """Whatever a node says; and everything else stays as it is."""
    shown = printable(text)
    assert not [each for each in shown if unicodedata.category(each) == "Cc" and each not in "\n\t"]
    assert len(shown) == len(text)
    assert printable(shown) == shown


def test_an_escape_sequence_is_words() -> None:
    """It can be read and does nothing."""
    assert printable("a\x1b[31mb\u202ec\td\n") == "a\ufffd[31mb\ufffdc\td\n"


def test_half_a_character_is_none() -> None:
    """JSON may hold it; no store, file or terminal takes it. A whole one beyond the first 65,536 stays."""
    assert printable("a\ud800b\udfff\U0001f600") == "a\ufffdb\ufffd\U0001f600"
