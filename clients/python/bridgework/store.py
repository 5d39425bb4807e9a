"""What a sync needs of a store."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, NamedTuple, Optional

Record = Dict[str, Any]

#: How far the copy of one dataset of one location is, as mirrors of both clients keep it: ``locationId``, ``dataset``,
#: ``watermark``, ``epoch`` and ``walk``, a walk that has not ended.
Position = Dict[str, Any]


class Key(NamedTuple):
    """One dataset of one location."""

    location_id: str
    dataset: str


@dataclass
class StorePage:
    """Records to write, together with the position after them."""

    key: Key
    #: In ascending order of id.
    records: List[Record]
    #: The position that the store must have when the page comes; None: none.
    previous: Optional[Position]
    position: Position
    #: Records to take out, because the service does not have them.
    stray_ids: List[str] = field(default_factory=list)
    #: How current the service's copy was when it sent the page.
    freshness: Optional[Dict[str, Any]] = None


class Store:
    """Where a copy is kept. Threads may call it together."""

    def positions(self) -> List[Position]:
        """Every position that is kept."""
        raise NotImplementedError

    def apply(self, page: StorePage) -> None:
        """Inserts or replaces the page's records and keeps its position: both or neither.

        Neither, and StoreConflictError, when the position that is kept is not ``previous``.
        """
        raise NotImplementedError

    def read(self, key: Key, after: str = "0") -> Iterator[Record]:
        """What is kept of one dataset of one location, in ascending order of id (as a number)."""
        raise NotImplementedError

    def save_directory(self, directory: Dict[str, List[Record]]) -> None:
        """Keeps ``locations`` and ``organizations``. What is no longer in it stays; grants that are not end."""

    def check_rows(self, key: Key, repair: bool) -> int:
        """Compares the rows for queries with those that records give. Returns how many records differ."""
        return 0

    def forget(self, key: Key) -> None:
        """Takes out all records of one dataset of one location, and its position."""
        raise NotImplementedError

    def finish(self) -> None:
        """Called when a sync has ended: the time for indexes."""

    def close(self) -> None:
        """Closes the store."""
