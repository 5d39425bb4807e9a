"""Access tokens: one for six hours, shared by threads and, through a file, by processes."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, Optional, TypedDict, Union

from .errors import parse_object

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

#: A token is renewed this long before its end, or a tenth of its life when that is shorter.
RENEW_BEFORE_MS = 5 * 60 * 1000


class StoredToken(TypedDict):
    """A token, and when it came and ends, in milliseconds of this machine's clock."""

    token: str
    receivedAtMs: float
    expiresAtMs: float


class FileTokenStore:
    """Keeps tokens in a file that only its owner may read (0600), so that short processes share one.

    The service gives 10 tokens a minute to an address. The file is that of the ``bridgework`` command. One that others
    may read is not trusted, and is written anew.
    """

    def __init__(self, file: Union[str, Path, None] = None) -> None:
        self._file = Path(file) if file is not None else config_folder() / "tokens.json"

    def read(self, key: str) -> Optional[StoredToken]:
        token = self._tokens().get(key)
        return token if _is_stored_token(token) else None

    def write(self, key: str, token: StoredToken) -> None:
        now = _now_ms()
        kept = {name: each for name, each in self._tokens().items() if _is_stored_token(each)}
        kept = {name: each for name, each in kept.items() if each["expiresAtMs"] > now}
        write_private(self._file, json.dumps({"version": 1, "tokens": {**kept, key: token}}))

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Makes processes that start together send one token request."""
        if fcntl is None:
            yield
            return
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # The operating system frees it when the process dies.
        handle = os.open(f"{self._file}.flock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def _tokens(self) -> Dict[str, Any]:
        try:
            if os.name == "posix" and self._file.stat().st_mode & 0o077:
                return {}
            tokens = (parse_object(self._file.read_bytes()) or {}).get("tokens")
        except FileNotFoundError:
            return {}
        return tokens if isinstance(tokens, dict) else {}


class AccessTokens:
    """Gives a token that is good for a while, and requests one at most once for all that ask."""

    def __init__(self, key: str, store: Optional[FileTokenStore], request: Callable[[], str]) -> None:
        self._key = key
        self._store = store
        self._request = request
        self._current: Optional[StoredToken] = None
        self._refused: Optional[str] = None
        self._lock = threading.Lock()

    def get(self) -> str:
        with self._lock:
            current = self._current
            if not self._is_fresh(current):
                current = self._bring()
            assert current is not None
            return current["token"]

    def refuse(self, token: str) -> None:
        """Forgets a token that the service refused."""
        with self._lock:
            if self._current is None or self._current["token"] == token:
                self._refused = token

    def _bring(self) -> StoredToken:
        if self._store is None:
            return self._requested(self._current)
        try:
            # A full disk or a read-only folder costs a token request, and stops no read.
            with self._store.alone():
                stored = self._store.read(self._key)
                if stored is not None and self._is_fresh(stored):
                    self._current = stored
                    return stored
                fresh = self._requested(stored or self._current)
                self._store.write(self._key, fresh)
                return fresh
        except OSError:
            # Requested, and not written; or not yet requested.
            current = self._current
            return current if current is not None and self._is_fresh(current) else self._requested(current)

    def _requested(self, old: Optional[StoredToken]) -> StoredToken:
        try:
            self._current = _stored(self._request())
            return self._current
        except Exception:
            # It is early: what we have is still good.
            if old and old["token"] != self._refused and _now_ms() < old["expiresAtMs"] - 10_000:
                return old
            raise

    def _is_fresh(self, token: Optional[StoredToken]) -> bool:
        if token is None or token["token"] == self._refused:
            return False
        now = _now_ms()
        margin = min(RENEW_BEFORE_MS, (token["expiresAtMs"] - token["receivedAtMs"]) / 10)
        # A clock that was set back makes a token of the future, which is not to be kept for hours on end.
        return now < token["expiresAtMs"] - margin and token["receivedAtMs"] <= now + 60_000


def token_key(base_url: str, client_id: str, client_secret: str) -> str:
    """Names a service and a key pair in the store, and reveals neither."""
    text = json.dumps([base_url, client_id, client_secret], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def config_folder() -> Path:
    """Where the ``bridgework`` commands keep the key pair and tokens."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "bridgework"


def write_private(file: Path, text: str) -> None:
    """Writes a file that only its owner may read, whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Made with 0600.
    handle, fresh = tempfile.mkstemp(prefix=f"{file.name}.", dir=file.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
        os.replace(fresh, file)
    except BaseException:
        os.unlink(fresh)
        raise


def _stored(token: str) -> StoredToken:
    """The token's life is counted from now on our own clock: the two clocks need not agree."""
    parts = token.split(".")
    payload: Dict[str, Any] = {}
    if len(parts) > 1:
        try:
            payload = parse_object(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))) or {}
        except ValueError:
            pass
    issued, ends = payload.get("iat"), payload.get("exp")
    known = isinstance(issued, (int, float)) and isinstance(ends, (int, float))
    life_ms = (ends - issued) * 1000 if known else 6 * 60 * 60 * 1000  # type: ignore[operator]
    now = _now_ms()
    return {"token": token, "receivedAtMs": now, "expiresAtMs": now + life_ms}


def _is_stored_token(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("token"), str):
        return False
    return all(isinstance(value.get(name), (int, float)) for name in ("receivedAtMs", "expiresAtMs"))


def _now_ms() -> float:
    return round(time.time() * 1000)
