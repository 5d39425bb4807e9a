"""What changed of all that may be read, in one request."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional

from .connection import Connection
from .errors import ApiError, not_from_bridgework

Row = Dict[str, Any]

WAIT_SECONDS_MAX = 25
#: Seconds between two requests that do not wait.
PAUSE = 5.0


@dataclass
class ChangesPage:
    """Rows that say what is true now of datasets, grants, locations, the agreement and keys."""

    rows: List[Row]
    #: There are more rows now, after ``next``.
    has_more: bool
    #: Pass it as ``after``. It does not expire.
    next: str
    #: All that there is, on all pages: what has no row is not granted.
    is_whole: bool
    epoch: Optional[str]
    request_id: Optional[str]
    #: Of ``follow``: the rows that say something else than they said before.
    news: List[Row]


class Changes:
    """Tells which datasets to ask."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def page(self, *, after: Optional[str] = None, page_size: int = 5000, wait_seconds: int = 0) -> ChangesPage:
        """One page. With ``after`` and ``wait_seconds`` (25 at most) the answer waits for a change."""
        query = {"items": str(page_size)}
        if after is not None:
            query["after"] = after
        if wait_seconds > 0:
            query["wait"] = str(wait_seconds)
        answer = self._connection.get("/changes", query, wait=wait_seconds)
        rows, meta = answer.body.get("data"), answer.body.get("meta") or {}
        if not isinstance(rows, list) or not isinstance(meta.get("next_after"), str):
            raise not_from_bridgework("a list of changes", answer.request_id)
        return ChangesPage(
            rows,
            meta.get("has_more") is True,
            meta["next_after"],
            meta.get("is_whole") is True,
            meta.get("epoch"),
            answer.request_id,
            rows,
        )

    def pages(self, *, after: Optional[str] = None, page_size: int = 5000) -> Iterator[ChangesPage]:
        """The pages that there are now."""
        while True:
            page = self.page(after=after, page_size=page_size)
            yield page
            after = page.next
            if not page.has_more:
                return

    def follow(self, *, after: Optional[str] = None) -> Iterator[ChangesPage]:
        """Page after page, for ever: first all that there is, then what changes, within a second.

        A page without a change comes after 25 seconds.
        """
        said: Dict[str, str] = {}
        walked: Optional[str] = None
        while True:
            wait = 0 if after is None else WAIT_SECONDS_MAX
            try:
                page = self.page(after=after, wait_seconds=wait)
            except ApiError as error:
                if error.status != 429:
                    raise
                # Others of the company wait already: this one asks now and then.
                time.sleep(PAUSE)
                page = self.page(after=after)
            after = page.next
            if page.is_whole and walked != page.epoch:
                said.clear()
            walked = page.epoch if page.is_whole and page.has_more else None
            page.news = [row for row in page.rows if _is_news(said, row)]
            yield page


def _is_news(said: Dict[str, str], row: Row) -> bool:
    name, attributes = f"{row['type']} {row['id']}", row["attributes"]
    text = _saying_of(attributes)
    is_news = said.get(name) != text
    said[name] = text
    if row["type"] == "dataset":
        # The row of its access, which may come after, and says nothing more.
        grant = {name: attributes.get(name) for name in ("location_id", "dataset", "granted_at")}
        said[f"grant {row['id']}"] = _saying_of({**grant, "ended_at": None})
    return is_news


def _saying_of(attributes: Dict[str, Any]) -> str:
    """What a row says, without freshness, which changes with the clock."""
    return json.dumps({name: value for name, value in attributes.items() if name != "freshness"}, sort_keys=True)
