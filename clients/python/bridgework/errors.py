"""The errors of this package."""

from __future__ import annotations

import json
import re
from typing import Any, Dict, Mapping, Optional
from urllib.parse import urljoin


class ApiError(Exception):
    """The service refused, or could not be reached. The one error of requests.

    ``status`` is 0 without an answer. ``code`` is the service's, or one of this package: ``connection_failed``,
    ``timeout``, ``certificate_untrusted``, ``answer_invalid`` and ``epoch_changed`` (the service was restored while a
    list was read).
    """

    def __init__(
        self,
        status: int,
        code: str,
        errors: str,
        request_id: Optional[str] = None,
        attempts: int = 1,
        help_url: Optional[str] = None,
    ) -> None:
        super().__init__(f"{errors} ({f'{status} {code}' if status else code})")
        self.status = status
        self.code = code
        #: The service's text for people.
        self.errors = errors
        #: Give it when you ask for help.
        self.request_id = request_id
        #: How often the request was tried.
        self.attempts = attempts
        #: The page of the service that explains the code.
        self.help_url = help_url

    @property
    def is_denied(self) -> bool:
        """Whether the service refused for good: the grant ended, or there is no such thing."""
        return self.status in (403, 404) and self.code != "answer_invalid"


class StoreConflictError(Exception):
    """Another sync writes to the same copy. What it wrote stands; the next call goes on from there."""

    def __init__(self, location_id: str, dataset: str) -> None:
        super().__init__(
            f"Another sync writes to this copy: it has gone on with {dataset} of location {location_id}. "
            "One at a time is enough."
        )


class TargetError(Exception):
    """A mirror cannot be used: its message names it, says what happened and what to do."""

    def __init__(self, target: str, text: str) -> None:
        super().__init__(f"{target}: {text}")


def parse_object(text: bytes) -> Optional[Dict[str, Any]]:
    """The JSON object of a text, or None."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def refusal_of(status: int, headers: Mapping[str, str], body: bytes, attempts: int, base_url: str) -> ApiError:
    """The error of a refusal. What is not the service's own JSON becomes ``answer_invalid``."""
    refusal = parse_object(body)
    request_id = headers.get("x-request-id")
    if refusal is None or not isinstance(refusal.get("errors"), str):
        kind = headers.get("content-type") or "no content type"
        errors = (
            f"The answer of {base_url} (status {status}, {kind}) is not from Bridgework. Check that the base URL ends "
            "with /api/v1/vendors. If it does, a proxy or the sign-in page of a network has answered."
        )
        return ApiError(status, "answer_invalid", errors, request_id, attempts)
    code = refusal.get("code")
    if not isinstance(code, str):
        # The 429 of sync slots has exactly the members of the specification, so no code.
        code = "sync_slots_exceeded" if status == 429 else "answer_invalid"
    link = re.search(r'<([^>]*)>; rel="help"', headers.get("link") or "")
    help_url = urljoin(base_url, link.group(1)) if link else None
    return ApiError(status, code, refusal["errors"], request_id, attempts, help_url)


def not_from_bridgework(what: str, request_id: Optional[str]) -> ApiError:
    """The error of an answer with status 200 that is not what was asked for."""
    return ApiError(200, "answer_invalid", f"The answer is not {what} of Bridgework. Check the base URL.", request_id)
