"""Pages of lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, Generic, Iterator, List, Optional, TypeVar
from urllib.parse import quote

from .connection import Answer
from .errors import ApiError, not_from_bridgework

Item = TypeVar("Item")


@dataclass
class Page(Generic[Item]):
    """One page of a list."""

    records: List[Item]
    #: Records that match, on all pages.
    total: int
    page_size: int
    #: Where the next page begins: pass it as ``after``. None on the last one.
    next: Optional[str]
    #: On a walk's first page: pass it as ``modified_since`` to begin the next delta. Keep it as text.
    watermark: Optional[str]
    #: Set when a delta returned the whole dataset, because the practice granted it later.
    granted_at: Optional[str]
    #: Set when a delta returned the whole dataset, because the service was restored from a backup.
    restored_at: Optional[str]
    #: Names the time since the service was made or last restored. Keep it with the watermark.
    epoch: Optional[str]
    #: ``synced_at`` and ``state``: how current the service's copy is.
    freshness: Optional[Dict[str, Any]]
    request_id: Optional[str]


class Listing(Generic[Item]):
    """Records one by one, or page by page with ``pages()``. Each loop begins anew, and asks as it goes."""

    def __init__(self, first: Optional[str], fetch: Callable[[Optional[str], Optional[Page[Item]]], Page[Item]]) -> None:
        self._first = first
        self._fetch = fetch

    def __iter__(self) -> Iterator[Item]:
        for page in self.pages():
            yield from page.records

    def pages(self) -> Iterator[Page[Item]]:
        position = self._first
        page: Optional[Page[Item]] = None
        epoch: Optional[str] = None
        while True:
            page = self._fetch(position, page)
            epoch = require_epoch(epoch, page)
            yield page
            position = page.next
            if position is None:
                return


def require_epoch(known: Optional[str], page: Page[Any]) -> Optional[str]:
    """The epoch of a walk with this page. Raises ApiError ``epoch_changed`` when earlier pages are of another one."""
    if known is None or page.epoch is None or page.epoch == known:
        return page.epoch or known
    errors = "The service was restored from a backup while this was read. Begin again, without `after`."
    raise ApiError(200, "epoch_changed", errors, page.request_id)


def page_of(answer: Answer) -> Page[Any]:
    """Reads the envelope of a list. The records are the service's, as they are."""
    data, pagy, meta = (answer.body.get(name) for name in ("data", "pagy", "meta"))
    if not isinstance(data, list) or not isinstance(pagy, dict) or not isinstance(meta, dict):
        raise not_from_bridgework("a list", answer.request_id)
    following = meta.get("next_after")
    if following is None:
        following = meta.get("next_page")
    return Page(
        records=data,
        total=int(pagy.get("total", 0)),
        page_size=int(pagy.get("items", 0)),
        next=None if following is None else str(following),
        watermark=meta.get("next_fetch_modified_since"),
        granted_at=meta.get("granted_at"),
        restored_at=meta.get("restored_at"),
        epoch=meta.get("epoch"),
        freshness=meta.get("freshness"),
        request_id=answer.request_id,
    )


def record_of(answer: Answer) -> Any:
    """The record of a single answer."""
    data = answer.body.get("data")
    if not isinstance(data, dict):
        raise not_from_bridgework("a record", answer.request_id)
    return data


def segment(text: str) -> str:
    """A part of a path: ``..`` in a URL would be another path."""
    if not isinstance(text, str) or text in ("", ".", ".."):
        raise ValueError(f"{text!r} is not an id.")
    return quote(text, safe="")
