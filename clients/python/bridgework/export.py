"""Every record of a dataset in one response, as pages. What was cut is gone on with."""

from __future__ import annotations

import json
from typing import Any, Iterator, List, Optional

from .connection import BROKEN, Connection, Request, Response
from .pages import Page, require_epoch
from .slots import INITIAL


def export_pages(
    connection: Connection, path: str, location_id: str, after: Optional[str], page_size: int
) -> Iterator[Page[Any]]:
    """The pages of a whole dataset by cursor. ``path`` is that of its list. The slot is held while they are read."""
    epoch: Optional[str] = None

    def begin() -> Request:
        query = None if after is None else {"after": after}
        return Request(connection, f"{path}/export", query, (INITIAL, location_id))

    request = begin()
    while True:
        came_after = after
        try:
            with request.send() as response:
                if response.status != 200 or response.is_foreign:
                    text = response.read()
                else:
                    for page in _pages_in(response, page_size, is_first=after is None):
                        epoch = require_epoch(epoch, page)
                        after = page.next
                        yield page
                    if after is None:
                        return
                    # Ended by the service, or cut: there are more.
                    request = begin()
                    continue
        except BROKEN as error:
            if after == came_after:
                request.broken(error)
            else:
                request = begin()
            continue
        request.judge(response, text)


def _pages_in(response: Response, page_size: int, is_first: bool) -> Iterator[Page[Any]]:
    """Makes pages of lines as they come. Of a response that is cut the whole lines are a page, and then it is an error."""
    headers = response.headers
    # Of the first response alone: later ones go on with its walk.
    watermark = headers.get("x-next-fetch-modified-since") if is_first else None
    lines: List[bytes] = []

    def page_of(following: Optional[str], freshness: Any = None) -> Page[Any]:
        nonlocal watermark
        first, watermark = watermark, None
        return Page(
            # As one list: one call of the parser.
            records=json.loads(b"[" + b",".join(lines) + b"]"),
            total=int(headers.get("x-total") or 0),
            page_size=page_size,
            next=following,
            watermark=first,
            granted_at=None,
            restored_at=None,
            epoch=headers.get("x-epoch"),
            freshness=freshness,
            request_id=headers.get("x-request-id"),
        )

    def last_id() -> str:
        return str(json.loads(lines[-1])["id"])

    rest = b""
    try:
        for chunk in response.chunks():
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                if line.startswith(b'{"meta":'):
                    meta = json.loads(line)["meta"]
                    yield page_of(str(meta["next_after"]) if meta.get("has_more") else None, meta.get("freshness"))
                    return
                if len(lines) == page_size:
                    # Whether more follows is known with this line, the first of the next page.
                    yield page_of(last_id())
                    lines.clear()
                lines.append(line)
        # Without its last line.
        raise ConnectionError("the export was cut")
    except BROKEN:
        if lines:
            yield page_of(last_id())
        raise
