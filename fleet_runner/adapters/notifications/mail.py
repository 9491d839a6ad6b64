"""Mail: plain text over a server that proves who it is. A message that is sent again has the same Message-ID."""

import smtplib
import ssl
from contextlib import suppress
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate

from fleet_runner.adapters.files.notifications import Secrets
from fleet_runner.core.tickets.notifications.channel import Channel, Post, Tls
from fleet_runner.core.tickets.notifications.text import Message, text, title
from fleet_runner.core.tickets.trackers.backoff import Kind, TrackerError

SECONDS = 20.0
"""For each word that a server is waited for."""

PERMANENT = 500
"""Answers from here on are no for good."""


def send(of: Channel, secrets: Secrets, message: Message) -> None:
    """Send a mail to all that the channel names."""
    post = of.post
    if post is None:
        raise TrackerError(Kind.REFUSED, f"{of.name}: no mail server is named")
    where = f"{of.name}: the mail server {post.host}"
    try:
        _sent(post, secrets, message)
    except ssl.SSLCertVerificationError:
        raise TrackerError(Kind.REFUSED, f"{where} shows no certificate to trust; name its CA in ca_file") from None
    except smtplib.SMTPAuthenticationError as error:
        raise TrackerError(Kind.REFUSED, f"{where} does not take user and password ({error.smtp_code})") from None
    except smtplib.SMTPNotSupportedError:
        raise TrackerError(
            Kind.REFUSED, f"{where} offers no STARTTLS, or no login; look at tls, port and user"
        ) from None
    except smtplib.SMTPResponseException as error:
        kind = Kind.REFUSED if error.smtp_code >= PERMANENT else Kind.BUSY
        raise TrackerError(kind, f"{where} does not take the mail ({error.smtp_code})") from None
    except smtplib.SMTPRecipientsRefused as error:
        raise TrackerError(Kind.REFUSED, f"{where} refuses all of {len(error.recipients)} recipients") from None
    except UnicodeError:
        why = f"{where} cannot be given user and password, or reached under its name: a sign in them is not ASCII"
        raise TrackerError(Kind.REFUSED, why) from None
    except (smtplib.SMTPException, OSError) as error:
        text_ = f"{where} cannot be reached, or hung up ({type(error).__name__}); check host, port and network"
        raise TrackerError(Kind.DOWN, text_) from None


def written(post: Post, message: Message) -> EmailMessage:
    """Return a message as mail. Its words were made one line each before: none of them begins another header."""
    mail = EmailMessage(policy=SMTP)
    mail["Subject"] = f"fleet-runner: {title(message)}"
    mail["From"] = post.sender
    mail["To"] = ", ".join(post.to)
    mail["Date"] = formatdate(message.lines.last_at or None)
    mail["Message-ID"] = f"<{message.key}@{post.sender.rpartition('@')[2]}>"
    mail["Auto-Submitted"] = "auto-generated"
    mail["X-Auto-Response-Suppress"] = "All"
    mail.set_content(text(message), cte="quoted-printable")
    return mail


def _sent(post: Post, secrets: Secrets, message: Message) -> None:
    """Send a mail. What was taken is taken, however a server answers the goodbye."""
    server = _opened(post, secrets)
    try:
        server.send_message(written(post, message))
        with suppress(smtplib.SMTPException, OSError):
            server.quit()
    finally:
        server.close()


def _opened(post: Post, secrets: Secrets) -> smtplib.SMTP:
    """Connect, and prove who the server is before it is told anything."""
    context = ssl.create_default_context(cafile=secrets.verify if isinstance(secrets.verify, str) else None)
    if post.tls is Tls.TLS:
        server: smtplib.SMTP = smtplib.SMTP_SSL(post.host, post.port, timeout=SECONDS, context=context)
    else:
        server = smtplib.SMTP(post.host, post.port, timeout=SECONDS)
    try:
        if post.tls is Tls.STARTTLS:
            server.starttls(context=context)
        if post.user:
            server.login(post.user, secrets.password)
    except BaseException:
        server.close()
        raise
    return server
