"""Mail, to a real server with STARTTLS."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from email import message_from_bytes
from email.message import Message as Mail
from email.policy import default
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

from fleet_runner.adapters.files.notifications import Secrets
from fleet_runner.adapters.notifications import mail, send
from fleet_runner.core.tickets.notifications.channel import Channel, ChannelKind, Post, Tls
from fleet_runner.core.tickets.notifications.grouping import Collected, collect
from fleet_runner.core.tickets.notifications.lines import Line, NewsKind
from fleet_runner.core.tickets.notifications.text import Message
from fleet_runner.core.tickets.trackers.backoff import Kind, TrackerError
from fleet_runner.lab import ports
from tests.services.boot.sites import certificate

LINE = Line(
    1, 1_795_000_000.0, NewsKind.ALARM_RAISED, "gpu-01", "It said:\r\nBcc: victim@example.org\r\n\r\nhello \u202e ü"
)
MESSAGE = Message("fleet-runner.post.all.1-1", "post", collect(Collected(), [LINE]), "https://fleet.example")


class Box:
    """Keeps each mail; answers `no` where it is set, and `bye` to the goodbye."""

    def __init__(self) -> None:
        self.mails: list[tuple[list[str], bytes]] = []
        self.no = ""
        self.bye = "221 Bye"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802  the library's name
        """Take a mail."""
        del server, session
        if self.no:
            return self.no
        self.mails.append((list(envelope.rcpt_tos), bytes(envelope.content)))
        return "250 OK"

    async def handle_QUIT(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802  as above
        """End a conversation."""
        del server, session, envelope
        return self.bye


def _login(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
    del server, session, envelope, mechanism
    right = isinstance(data, LoginPassword) and (data.login, data.password) == (b"bot", b"made-up")
    return AuthResult(success=right, handled=False)


@contextmanager
def serving(folder: Path, **more: Any) -> Iterator[tuple[Box, Post, Path]]:
    """A server on loopback that wants TLS and a login; whom it delivers for, and its certificate."""
    pair = certificate(folder, "127.0.0.1")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair, pair.with_suffix(".key"))
    box = Box()
    given: dict[str, Any] = {"tls_context": context, "require_starttls": True, "authenticator": _login}
    server = Controller(
        box, hostname="127.0.0.1", port=ports.choose(1)[0], **{**given, "auth_required": True, **more}
    )
    server.start()
    try:
        to = ("ops@example.org", "night@example.org")
        yield box, Post("127.0.0.1", server.port, Tls.STARTTLS, "fleet@example.org", to, "bot", "pw"), pair
    finally:
        server.stop()


def of(post: Post) -> Channel:
    """A channel by mail."""
    return Channel("post", ChannelKind.MAIL, post=post)


def read(raw: bytes) -> Mail:
    """A mail as a program reads it."""
    return message_from_bytes(raw, policy=default)


def test_a_mail_goes_over_tls_to_all_with_headers_that_nothing_can_add_to(tmp_path: Path) -> None:
    """Sent again, it has the same Message-ID."""
    with serving(tmp_path) as (box, post, pair):
        for _ in range(2):
            send(of(post), Secrets(password="made-up", verify=str(pair)), MESSAGE)
    (to, raw), (_, again) = box.mails
    found = read(raw)
    assert to == ["ops@example.org", "night@example.org"]
    assert set(found.keys()) == {
        "Subject", "From", "To", "Date", "Message-ID", "Auto-Submitted", "X-Auto-Response-Suppress", "MIME-Version",
        "Content-Type", "Content-Transfer-Encoding",
    }  # fmt: skip
    assert found["Auto-Submitted"] == "auto-generated"
    assert found["Message-ID"] == read(again)["Message-ID"] == "<fleet-runner.post.all.1-1@example.org>"
    assert str(found["Subject"]).startswith("fleet-runner: gpu-01: It said:")
    body = found.get_payload(decode=True)
    assert isinstance(body, bytes)
    assert b"\xc3\xbc" in body
    assert b"\nBcc" not in raw
    assert b"https://fleet.example/nodes/gpu-01" in body


def test_a_server_that_nobody_signed_hears_neither_password_nor_mail(tmp_path: Path) -> None:
    """The sentence says where its CA is named."""
    with serving(tmp_path) as (box, post, _), pytest.raises(TrackerError, match="ca_file") as raised:
        send(of(post), Secrets(password="made-up"), MESSAGE)
    assert raised.value.kind is Kind.REFUSED
    assert box.mails == []


def test_a_server_without_starttls_is_told_nothing(tmp_path: Path) -> None:
    """A password is never sent in the clear."""
    bare = {"tls_context": None, "require_starttls": False, "auth_required": False}
    with serving(tmp_path, **bare) as (box, post, pair):
        with pytest.raises(TrackerError, match="STARTTLS"):
            send(of(post), Secrets(password="made-up", verify=str(pair)), MESSAGE)
        assert box.mails == []
        send(of(replace(post, tls=Tls.NONE, user="")), Secrets(), MESSAGE)
        assert len(box.mails) == 1


def test_what_a_server_refuses_is_told_apart_from_what_it_puts_off(tmp_path: Path) -> None:
    """No password of ours is in a sentence."""
    with serving(tmp_path) as (box, post, pair):
        good = Secrets(password="made-up", verify=str(pair))
        with pytest.raises(TrackerError, match="user and password") as raised:
            send(of(post), Secrets(password="wr0ng", verify=str(pair)), MESSAGE)
        assert "wr0ng" not in str(raised.value)
        for answer, kind in (("451 later", Kind.BUSY), ("554 no", Kind.REFUSED)):
            box.no = answer
            with pytest.raises(TrackerError, match=answer[:3]) as raised:
                send(of(post), good, MESSAGE)
            assert raised.value.kind is kind
    with pytest.raises(TrackerError, match="cannot be reached") as raised:
        send(of(post), good, MESSAGE)
    assert raised.value.kind is Kind.DOWN


def test_the_greeting_of_a_server_is_waited_for_only_so_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that listens and says nothing."""
    monkeypatch.setattr(mail, "SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        post = Post("127.0.0.1", deaf.getsockname()[1], Tls.STARTTLS, "a@example.org", ("b@example.org",))
        with pytest.raises(TrackerError, match="cannot be reached, or hung up"):
            send(of(post), Secrets(), MESSAGE)
    del tmp_path


def test_what_was_taken_is_taken_however_the_server_says_goodbye(tmp_path: Path) -> None:
    """Else it would be sent again, and again."""
    with serving(tmp_path) as (box, post, pair):
        box.bye = "421 I am tired"
        send(of(post), Secrets(password="made-up", verify=str(pair)), MESSAGE)
        assert len(box.mails) == 1


def test_a_password_that_cannot_be_sent_is_said_and_not_shown(tmp_path: Path) -> None:
    """Mail servers take ASCII alone."""
    with serving(tmp_path) as (_, post, pair), pytest.raises(TrackerError, match="not ASCII") as raised:
        send(of(post), Secrets(password="s€cret", verify=str(pair)), MESSAGE)
    assert raised.value.kind is Kind.REFUSED
    assert "cret" not in str(raised.value)
