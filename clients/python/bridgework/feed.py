"""What the service said of all that may be read: enough to know of each dataset whether there is anything to ask."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Dict, List, MutableMapping, Optional, Set, Tuple

from .changes import Changes, Row
from .errors import ApiError
from .store import Record, Store

#: Seconds after which all is read again, so that no lost row stays lost.
WHOLE_EVERY = 60 * 60
#: Rows say nothing of how current a location is, which the list of them does.
DIRECTORY_EVERY = 5 * 60


@dataclass
class Feed:
    after: Optional[str] = None
    epoch: Optional[str] = None
    #: The watermark that each dataset's list would give, by location and dataset.
    watermarks: Dict[str, Optional[str]] = field(default_factory=dict)
    updated_at: Dict[str, str] = field(default_factory=dict)
    #: Datasets that the service does not serve in production yet.
    off: Set[str] = field(default_factory=set)
    whole_at: float = field(default_factory=time.monotonic)
    #: The locations as they were listed last, and when; None: they are to be listed.
    directory: Optional[Tuple[List[Record], float]] = None

    def take(self, row: Row) -> None:
        kind, name, attributes = row["type"], row["id"], row["attributes"]
        if kind == "dataset":
            if name not in self.watermarks:
                self.directory = None
            self.watermarks[name] = attributes["next_fetch_modified_since"]
        # Rows may come twice. One of an access that began adds nothing to that of its dataset.
        elif kind == "grant" and attributes["ended_at"] is not None and name in self.watermarks:
            del self.watermarks[name]
            self.directory = None
        elif kind == "location":
            if self.updated_at.get(name) != attributes["updated_at"]:
                self.directory = None
            self.updated_at[name] = attributes["updated_at"]


def read_feed(changes: Changes, feeds: MutableMapping[Store, Feed], store: Store) -> Optional[Feed]:
    """Brings the feed of a copy up to date; None: the service is of an earlier release and tells no changes."""
    feed = feeds.pop(store, None)
    if feed is None or time.monotonic() - feed.whole_at > WHOLE_EVERY:
        feed = Feed()
    is_whole = False
    try:
        for page in changes.pages(after=feed.after):
            # The first page of all that there is, and not one that follows it. A restore begins all again.
            if page.is_whole and (not is_whole or page.epoch != feed.epoch):
                feed = Feed()
            is_whole = page.is_whole
            feed.after, feed.epoch = page.next, page.epoch
            for row in page.rows:
                feed.take(row)
    except ApiError as error:
        if error.status == 404:
            return None
        raise
    if feed.directory and time.monotonic() - feed.directory[1] > DIRECTORY_EVERY:
        feed.directory = None
    # Not before: it may have half of a page.
    feeds[store] = feed
    return feed
