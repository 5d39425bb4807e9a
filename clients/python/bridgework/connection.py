"""Requests: with a token, within the limits, repeated when that is safe."""

from __future__ import annotations

import email.utils
import http.client
import json
import queue
import random
import socket
import ssl
import time
import urllib.request
import zlib
from base64 import b64encode
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, Mapping, Optional, Tuple
from urllib.parse import quote, unquote, urlencode, urlsplit

from .errors import ApiError, not_from_bridgework, parse_object, refusal_of
from .slots import SyncSlots
from .tokens import AccessTokens, FileTokenStore, token_key
from .version import __version__

#: The same read may be asked again after these: it was not executed, or could not be for the moment.
TRANSIENT = (429, 500, 502, 503, 504)

#: What a connection may fail with. A body that is no gzip was damaged on its way.
BROKEN = (OSError, http.client.HTTPException, zlib.error)

Slot = Tuple[str, str]
#: What happens, by name: ``request``, ``retry``, ``token``. No secret, token, query or record is among it.
OnEvent = Callable[[str, Dict[str, Any]], None]


@dataclass
class Answer:
    body: Dict[str, Any]
    request_id: Optional[str]


class Response:
    """An answer whose body has not been read. Its time limit holds for all of it."""

    def __init__(self, raw: http.client.HTTPResponse, sock: Optional[socket.socket], deadline: float) -> None:
        self.status = raw.status
        self.headers: Mapping[str, str] = {name.lower(): value for name, value in raw.getheaders()}
        self._raw = raw
        self._sock = sock
        self._deadline = deadline

    @property
    def is_foreign(self) -> bool:
        """Whether it lacks all that Bridgework puts into each: a wrong address, or a network's sign-in page."""
        return "x-request-id" not in self.headers and "json" not in self.headers.get("content-type", "").lower()

    def chunks(self) -> Iterator[bytes]:
        """The body as it comes. Raises one of BROKEN when it was cut."""
        gzip = zlib.decompressobj(31) if self.headers.get("content-encoding") == "gzip" else None
        cut: Optional[http.client.IncompleteRead] = None
        while cut is None:
            left = self._deadline - time.monotonic()
            if left <= 0:
                raise socket.timeout("no whole answer in time")
            if self._sock is not None:
                self._sock.settimeout(left)
            try:
                chunk = self._raw.read(16384)
            except http.client.IncompleteRead as error:
                cut, chunk = error, error.partial
            if not chunk:
                break
            if gzip is not None:
                chunk = gzip.decompress(chunk)
            if chunk:
                yield chunk
        # http.client does not tell the end of a body of known length from the end of a connection.
        if cut is not None or self._raw.length or (gzip is not None and not gzip.eof):
            raise cut or http.client.IncompleteRead(b"")

    def read(self) -> bytes:
        return b"".join(self.chunks())


class Connection:
    """Sends requests, repeats what is safe to repeat, and turns all else into an ApiError."""

    def __init__(
        self,
        base_url: str,
        client_id: str,
        client_secret: str,
        token_store: Optional[FileTokenStore],
        slots: SyncSlots,
        attempts: int,
        delay_max: float,
        timeout: float,
        on_event: OnEvent,
    ) -> None:
        self.base_url = base_url
        self.slots = slots
        self.attempts = attempts
        self.delay_max = delay_max
        self._timeout = timeout
        self.on_event = on_event
        self._pair = {"client_id": client_id, "client_secret": client_secret}
        self._address = _Address(base_url, timeout)
        key = token_key(base_url, client_id, client_secret)
        self.tokens = AccessTokens(key, token_store, self._request_token)

    def get(
        self,
        path: str,
        query: Optional[Mapping[str, str]] = None,
        slot: Optional[Slot] = None,
        headers: Optional[Mapping[str, str]] = None,
        wait: int = 0,
    ) -> Answer:
        """One answer of JSON. ``wait``: seconds that the service may wait, which come on top of the time limit.

        A request that waits is not repeated after 429: others of the company wait, and its caller asks in another way.
        """
        request = Request(self, path, query, slot, headers, wait)
        while True:
            try:
                with request.send() as response:
                    text = response.read()
            except BROKEN as error:
                request.broken(error)
                continue
            body = request.judge(response, text)
            if body is not None:
                return Answer(body, response.headers.get("x-request-id"))

    def close(self) -> None:
        """Closes the connections that are open and not used."""
        self._address.close()

    def _request_token(self) -> str:
        body = json.dumps(self._pair).encode()
        request = Request(self, "/auth/token", headers={"Content-Type": "application/json"}, body=body)
        while True:
            try:
                with request.send() as response:
                    text = response.read()
            except BROKEN as error:
                request.broken(error)
                continue
            answer = request.judge(response, text)
            if answer is None:
                continue
            if not isinstance(answer.get("token"), str):
                raise not_from_bridgework("a token", response.headers.get("x-request-id"))
            self.on_event("token", {})
            return str(answer["token"])

    @contextmanager
    def exchange(
        self, method: str, path: str, headers: Mapping[str, str], body: Optional[bytes], wait: int
    ) -> Iterator[Response]:
        """One request, and its response while it is read."""
        deadline = time.monotonic() + self._timeout + wait
        own = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": f"bridgework-python/{__version__}"}
        while True:
            connection, is_reused = self._address.take()
            try:
                try:
                    if connection.sock is not None:
                        connection.sock.settimeout(max(0.001, deadline - time.monotonic()))
                    target = self._address.target_of(path)
                    connection.request(method, target, body, {**own, **self._address.headers, **headers})
                    sock = connection.sock
                    if sock is not None:
                        sock.settimeout(max(0.001, deadline - time.monotonic()))
                    raw = connection.getresponse()
                except socket.timeout:
                    raise
                except (OSError, http.client.HTTPException):
                    if not is_reused:
                        raise
                    # The service has closed it meanwhile, which says nothing of the request.
                    connection.close()
                    continue
                # A redirect is an answer like others: the token would go where it points.
                yield Response(raw, sock, deadline)
            except BaseException:
                connection.close()
                raise
            if raw.isclosed() and not raw.will_close:
                self._address.give_back(connection)
            else:
                connection.close()
            return

    def learn(self, refusal: Mapping[str, Any]) -> Optional[str]:
        """Keeps to the limit that a 429 names, and gives the kind of request that it was."""
        sync_type, limit = refusal.get("sync_type"), refusal.get("max_concurrent_locations")
        if sync_type not in ("initial", "incremental"):
            return None
        if isinstance(limit, int):
            self.slots.learn(sync_type, limit)
        return str(sync_type)


class Request:
    """A request, its attempts, and what to do after each."""

    def __init__(
        self,
        connection: Connection,
        path: str,
        query: Optional[Mapping[str, str]] = None,
        slot: Optional[Slot] = None,
        headers: Optional[Mapping[str, str]] = None,
        wait: int = 0,
        body: Optional[bytes] = None,
    ) -> None:
        self._connection = connection
        self._path = path
        self._url = path + (f"?{urlencode(query, quote_via=quote)}" if query else "")
        self._slot = slot
        self._headers = headers or {}
        self._wait = wait
        self._body = body
        self._token = ""
        self._is_renewed = False
        self.attempt = 0

    @contextmanager
    def send(self) -> Iterator[Response]:
        """One more attempt: its response while it is read, in the slot."""
        connection, headers, held = self._connection, dict(self._headers), ExitStack()
        self.attempt += 1
        if self._body is None:
            # Before the slot is taken: others need not wait while a token comes.
            self._token = connection.tokens.get()
            headers["Authorization"] = f"Bearer {self._token}"
        connection.on_event("request", {"path": self._path, "attempt": self.attempt})
        with held:
            if self._slot:
                held.enter_context(connection.slots.hold(*self._slot))
            method = "GET" if self._body is None else "POST"
            with connection.exchange(method, self._url, headers, self._body, self._wait) as response:
                yield response

    def broken(self, error: BaseException) -> None:
        """After a connection that broke: waits for the next attempt, or raises the error of the last one."""
        if isinstance(error, ssl.SSLCertVerificationError):
            raise _untrusted(self._connection.base_url, error, self.attempt) from error
        is_late = isinstance(error, socket.timeout)
        code = "timeout" if is_late else "connection_failed"
        if self.attempt < self._connection.attempts:
            return self._pause(code)
        what = "gave no whole answer in time" if is_late else "could not be reached, or the connection broke"
        tries = "" if self.attempt == 1 else f" ({self.attempt} attempts)"
        errors = f"{self._connection.base_url} {what}{tries}."
        raise ApiError(0, code, errors, attempts=self.attempt) from error

    def judge(self, response: Response, text: bytes) -> Optional[Dict[str, Any]]:
        """The object of an answer with status 200; None: try again. Raises the error of a refusal."""
        status, headers = response.status, response.headers
        body = parse_object(text)
        is_last = self.attempt >= self._connection.attempts
        if status == 200:
            if body is not None:
                return body
            # Cut on its way, unless someone else has answered.
            if is_last or response.is_foreign:
                raise refusal_of(status, headers, text, self.attempt, self._connection.base_url)
            self._pause("answer_invalid")
            return None
        if status == 401 and self._body is None and not self._is_renewed:
            self._is_renewed = True
            self._connection.tokens.refuse(self._token)
            return None
        learned = self._connection.learn(body or {}) if status == 429 else None
        if learned and self._slot:
            # A delta from before a grant is answered in full, and counts as initial from now on.
            self._slot = (learned, self._slot[1])
        is_final = (
            status not in TRANSIENT
            or (status == 429 and self._wait > 0)
            or (status == 500 and response.is_foreign)
            # It ends with an act of the service's operator, and not by itself.
            or (body or {}).get("code") == "restore_unmarked"
        )
        if is_final or is_last:
            raise refusal_of(status, headers, text, self.attempt, self._connection.base_url)
        self._pause(str(status), headers)
        return None

    def _pause(self, because: str, headers: Optional[Mapping[str, str]] = None) -> None:
        """Longer each time, with jitter, and at least what the service asked for."""
        ceiling = min(self._connection.delay_max, 0.2 * 2 ** (self.attempt - 1))
        jitter = random.random() * ceiling
        asked = None if headers is None else _retry_after(headers)
        delay = ceiling / 4 + jitter if asked is None else min(asked, 600.0) + jitter
        told = {"path": self._path, "attempt": self.attempt, "delay": delay, "because": because}
        self._connection.on_event("retry", told)
        time.sleep(delay)


class _Address:
    """Where the service is, the proxy on the way to it, and the connections that are kept open."""

    def __init__(self, base_url: str, timeout: float) -> None:
        url = urlsplit(base_url)
        self._is_https = url.scheme == "https"
        self._host = url.hostname or ""
        self._port = url.port
        self._path = url.path
        self._timeout = timeout
        self._idle: "queue.LifoQueue[http.client.HTTPConnection]" = queue.LifoQueue(maxsize=25)
        proxy = urllib.request.getproxies().get(url.scheme)
        self._proxy = urlsplit(proxy) if proxy and not urllib.request.proxy_bypass(self._host) else None
        self.headers: Dict[str, str] = {}
        if self._proxy and not self._is_https:
            self.headers = {"Host": url.netloc, **self._proxy_headers()}
        self._origin = f"{url.scheme}://{url.netloc}"

    def take(self) -> Tuple[http.client.HTTPConnection, bool]:
        """A connection, and whether it was used before."""
        try:
            return self._idle.get_nowait(), True
        except queue.Empty:
            return self._new(), False

    def give_back(self, connection: http.client.HTTPConnection) -> None:
        try:
            self._idle.put_nowait(connection)
        except queue.Full:
            connection.close()

    def target_of(self, path: str) -> str:
        return (self._origin if self._proxy and not self._is_https else "") + self._path + path

    def close(self) -> None:
        while not self._idle.empty():
            self._idle.get_nowait().close()

    def _new(self) -> http.client.HTTPConnection:
        host, port = (self._proxy.hostname or "", self._proxy.port) if self._proxy else (self._host, self._port)
        if not self._is_https:
            return http.client.HTTPConnection(host, port, timeout=self._timeout)
        context = ssl.create_default_context()
        connection = http.client.HTTPSConnection(host, port, timeout=self._timeout, context=context)
        if self._proxy:
            connection.set_tunnel(self._host, self._port or 443, self._proxy_headers())
        return connection

    def _proxy_headers(self) -> Dict[str, str]:
        if self._proxy is None or self._proxy.username is None:
            return {}
        pair = f"{unquote(self._proxy.username)}:{unquote(self._proxy.password or '')}"
        return {"Proxy-Authorization": f"Basic {b64encode(pair.encode()).decode()}"}


def _retry_after(headers: Mapping[str, str]) -> Optional[float]:
    """RFC 9110: seconds, or a date, by the clock of the server that answered. None when neither is given."""
    text = headers.get("retry-after", "")
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        at = email.utils.parsedate_to_datetime(text).timestamp()
        date = headers.get("date")
        now = email.utils.parsedate_to_datetime(date).timestamp() if date else time.time()
    except (TypeError, ValueError):
        return None
    return max(0.0, at - now)


def _untrusted(base_url: str, error: ssl.SSLCertVerificationError, attempts: int) -> ApiError:
    errors = (
        f"This computer does not trust the certificate of {base_url} ({error.verify_message}). If a filter of your "
        "network looks into encrypted connections, name its authority in SSL_CERT_FILE."
    )
    return ApiError(0, "certificate_untrusted", errors, attempts=attempts)
