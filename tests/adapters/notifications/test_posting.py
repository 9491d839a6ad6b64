"""Webhook and chat, to a real receiver: what it gets, and what comes of each way in which it fails."""

import hmac
import json
from hashlib import sha256

import pytest

from fleet_runner.adapters.files.notifications import Secrets
from fleet_runner.adapters.notifications import posting, send
from fleet_runner.adapters.notifications.posting import OutgoingMessage
from fleet_runner.adapters.trackers.wire import Limits
from fleet_runner.core.tickets.notifications.channel import Channel, ChannelKind
from fleet_runner.core.tickets.notifications.grouping import Collected, collect
from fleet_runner.core.tickets.notifications.lines import Line, NewsKind
from fleet_runner.core.tickets.notifications.text import Message
from fleet_runner.core.tickets.trackers.backoff import Kind, TrackerError
from tests.adapters.notifications.receiver import receiving

MESSAGE = Message(
    "key.1-1", "hook", collect(Collected(), [Line(1, 1000.0, NewsKind.MOVED, "gpu-01", "<!here> moved")])
)
HOOK, SLACK = Channel("hook", ChannelKind.WEBHOOK), Channel("hook", ChannelKind.SLACK)


def test_a_webhook_is_signed_over_time_and_body_and_has_its_key_and_token() -> None:
    """A receiver can tell who sent it, and that it had it before."""
    with receiving() as remote:
        send(HOOK, Secrets(remote.url, "made-up-token", b"made-up-secret"), MESSAGE)
        ((headers, body),) = remote.log
    signed = hmac.new(b"made-up-secret", headers["x-fleet-timestamp"].encode() + b"." + body, sha256).hexdigest()
    assert headers["x-fleet-signature"] == f"sha256={signed}"
    assert headers["authorization"] == "Bearer made-up-token"
    assert headers["idempotency-key"] == json.loads(body)["key"] == "key.1-1"
    assert json.loads(body)["items"][0]["nodes"] == ["gpu-01"]


def test_a_chat_gets_text_and_blocks_and_its_plain_ok_is_taken() -> None:
    """Nobody is called by what a node says."""
    with receiving() as remote:
        send(SLACK, Secrets(remote.url), MESSAGE)
        (said,) = remote.bodies()
    assert said["text"].startswith("gpu-01: &lt;!here&gt; moved")
    assert {block["type"] for block in said["blocks"]} == {"section"}


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("500", Kind.DOWN), ("408", Kind.DOWN), ("429", Kind.BUSY), ("302", Kind.REFUSED), ("403", Kind.REFUSED),
        ("404", Kind.REFUSED), ("400", Kind.REFUSED), ("reset", Kind.DOWN), ("lost", Kind.DOWN),
    ],
)  # fmt: skip
def test_each_failure_is_a_sentence_that_shows_no_address(fault: str, kind: Kind) -> None:
    """And a redirect is not followed."""
    with receiving() as remote:
        remote.faults = [fault]
        with pytest.raises(TrackerError) as raised:
            send(SLACK, Secrets(remote.url), MESSAGE)
        assert remote.asked == 1
    assert raised.value.kind is kind
    assert "s3cret" not in str(raised.value)
    assert str(raised.value).startswith("hook: 127.0.0.1")
    assert raised.value.after == (77.0 if fault == "429" else None)


def test_one_that_hangs_is_given_up() -> None:
    """After as long as it is told."""
    with receiving() as remote:
        remote.faults = ["hang"]
        with pytest.raises(TrackerError, match="does not answer in time"):
            posting.post("hook", Secrets(remote.url), OutgoingMessage(b"{}", {}, Limits(0.3, 0.3, 1.0)))


def test_nobody_there_is_a_sentence_too() -> None:
    """With what to look at."""
    with receiving() as remote:
        gone = remote.url
    with pytest.raises(TrackerError, match="cannot be reached") as raised:
        send(HOOK, Secrets(gone), MESSAGE)
    assert "s3cret" not in str(raised.value)


def test_a_token_of_any_signs_reaches_its_receiver() -> None:
    """As the bytes that are in its file."""
    with receiving() as remote:
        send(HOOK, Secrets(remote.url, "t€ken"), MESSAGE)
    ((headers, _),) = remote.log
    assert headers["authorization"].encode("latin-1") == "Bearer t€ken".encode()
