"""Brings a copy up to date: first walks where there is none, walks that broke off, changes and removals."""

from __future__ import annotations

import queue
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Dict, Generator, List, MutableMapping, NamedTuple, Optional, Sequence, Set, Tuple

from .errors import ApiError
from .export import export_pages
from .feed import Feed, read_feed
from .layout import DATASETS
from .pages import Listing, Page, require_epoch
from .store import Key, Position, Record, Store, StorePage

if TYPE_CHECKING:
    from .client import Bridgework

#: At most this many ids are taken out of a copy at once.
STRAYS_AT_ONCE = 5000
#: As many as may be read in full at one time; a location's datasets are read one after the other.
LOCATIONS_AT_ONCE = 5


class Failure(NamedTuple):
    key: Key
    error: ApiError


@dataclass
class SyncReport:
    """What one call of ``sync`` did."""

    #: Datasets of locations whose copy is now as current as the service's was when it was asked.
    current: int = 0
    #: Records that were written.
    records: int = 0
    #: No longer readable: the practice ended the grant. What was copied stays.
    revoked: List[Key] = field(default_factory=list)
    #: Read again as a whole, because the service was restored from a backup.
    restored: List[Key] = field(default_factory=list)
    #: Taken out of the copy: of locations that the service lost when it was restored.
    lost: List[Key] = field(default_factory=list)
    #: Asked for, and never granted, or not switched on in production yet.
    not_granted: List[Key] = field(default_factory=list)
    #: Not readable for the moment; the next call goes on where they are.
    failed: List[Failure] = field(default_factory=list)


def sync(
    client: "Bridgework",
    feeds: MutableMapping[Store, Feed],
    store: Store,
    locations: Optional[Sequence[str]],
    datasets: Optional[Sequence[str]],
    page_size: int,
) -> SyncReport:
    return _Sync(client, feeds, store, locations, datasets, page_size).run()


class _Sync:
    def __init__(
        self,
        client: "Bridgework",
        feeds: MutableMapping[Store, Feed],
        store: Store,
        locations: Optional[Sequence[str]],
        datasets: Optional[Sequence[str]],
        page_size: int,
    ) -> None:
        for name in datasets or ():
            client.dataset(name)
        self.client = client
        self.feeds = feeds
        self.store = store
        self.locations = locations
        self.datasets = datasets
        self.page_size = page_size
        self.report = SyncReport()
        self.positions: Dict[Key, Position] = {_key_of(position): position for position in store.positions()}
        self.feed: Optional[Feed] = None
        # For the report alone: each location has one thread.
        self.lock = threading.Lock()

    def run(self) -> SyncReport:
        self.feed = read_feed(self.client.changes, self.feeds, self.store)
        directory, epoch = self._directory()
        granted = granted_keys(directory)
        self._take_leave(set(granted), epoch)
        for location_id in self.locations or ():
            # Asked for as a whole, a location may lack some datasets; none at all is not what was asked for.
            is_known = any(key.location_id == location_id for key in [*granted, *self.positions])
            for dataset in self.datasets or ([] if is_known else DATASETS):
                key = Key(location_id, dataset)
                if key not in granted and key not in self.positions:
                    self._mark_revoked(key)
        lists = by_location(key for key in granted if self._is_wanted(key))
        # What is read for the first time comes first: it takes longest.
        lists.sort(key=lambda keys: all((self.positions.get(key) or {}).get("watermark") for key in keys))
        in_parallel(self._walk_location, lists, LOCATIONS_AT_ONCE)
        self.store.finish()
        return self.report

    def _directory(self) -> Tuple[List[Record], Optional[str]]:
        """The locations that may be read, as they are, or were while the service told of no change of them."""
        if self.feed and self.feed.directory:
            return self.feed.directory[0], self.feed.epoch
        locations, epoch = _listed(self.client.locations.list())
        organizations, _ = _listed(self.client.organizations.list())
        self.store.save_directory({"locations": locations, "organizations": organizations})
        if self.feed:
            self.feed.directory = (locations, time.monotonic())
        return locations, epoch

    def _is_wanted(self, key: Key) -> bool:
        return (self.locations is None or key.location_id in self.locations) and (
            self.datasets is None or key.dataset in self.datasets
        )

    def _mark_revoked(self, key: Key) -> None:
        with self.lock:
            (self.report.revoked if key in self.positions else self.report.not_granted).append(key)

    def _take_leave(self, granted: Set[Key], epoch: Optional[str]) -> None:
        """Reports what may not be read any more, and takes out what the service lost when it was restored."""
        left = by_location(key for key in self.positions if self._is_wanted(key) and key not in granted)
        for keys in left:
            positions = [self.positions[key] for key in keys]
            is_of_other_epoch = any(
                _is_of_another(epoch, (each["walk"] or {}).get("epoch") or each.get("epoch")) for each in positions
            )
            is_lost = is_of_other_epoch and self._is_unknown(keys[0].location_id)
            for key in keys:
                if is_lost:
                    self.store.forget(key)
                    del self.positions[key]
                    self.report.lost.append(key)
                else:
                    self._mark_revoked(key)

    def _is_unknown(self, location_id: str) -> bool:
        """Whether the service knows no location of that id: one that is not granted, it knows."""
        try:
            self.client.locations.get(location_id)
            return False
        except ApiError as error:
            return error.code == "location_unknown"

    def _walk_location(self, keys: List[Key], stop: threading.Event) -> None:
        for key in keys:
            if stop.is_set():
                return
            is_asked_for = self.datasets is not None or key in self.positions
            # Not served in production yet, as the service said before.
            if self.feed and str_of(key) in self.feed.off:
                if is_asked_for:
                    self._mark_revoked(key)
                continue
            try:
                self._walk(key, stop)
            except ApiError as error:
                # Wrong credentials end everything; a dataset that cannot be read now keeps no other from being read.
                if error.status == 401:
                    raise
                if error.code == "preview_off" and self.feed:
                    self.feed.off.add(str_of(key))
                # Not available in production yet: an error only for callers that asked for it.
                if error.code == "preview_off" and not is_asked_for:
                    continue
                if error.is_denied:
                    self._mark_revoked(key)
                else:
                    with self.lock:
                        self.report.failed.append(Failure(key, error))

    def _is_told(self, key: Key) -> bool:
        """Whether the service has said that there is nothing to ask."""
        position = self.positions.get(key)
        if not self.feed or position is None or position["walk"] or position["watermark"] is None:
            return False
        is_same_epoch = position.get("epoch") == self.feed.epoch
        return is_same_epoch and self.feed.watermarks.get(str_of(key)) == position["watermark"]

    def _walk(self, key: Key, stop: threading.Event) -> None:
        if self._is_told(key):
            with self.lock:
                self.report.current += 1
            return
        kept = self.positions.get(key)
        anew: Position = {"locationId": key.location_id, "dataset": key.dataset, "watermark": None, "walk": None}
        is_ended = self._walk_from_or_anew(key, kept or anew, anew, stop)
        # A walk that an earlier call began lacks what changed since then.
        if is_ended and kept and kept["walk"] and not self._is_told(key):
            is_ended = self._walk_from_or_anew(key, self.positions[key], anew, stop)
        if not is_ended:
            return
        # What changed since it was told of came with the walk.
        if self.feed:
            self.feed.watermarks[str_of(key)] = self.positions[key]["watermark"]
        with self.lock:
            self.report.current += 1

    def _walk_from_or_anew(self, key: Key, begin: Position, anew: Position, stop: threading.Event) -> bool:
        try:
            return self._walk_from(key, begin, stop)
        except ApiError as error:
            if error.code != "epoch_changed":
                raise
            return self._walk_from(key, anew, stop, is_anew=True)

    def _walk_from(self, key: Key, begin: Position, stop: threading.Event, is_anew: bool = False) -> bool:
        """Whether it ended. ``is_anew``: of everything, in the place of a walk or a delta of another epoch."""
        position = begin
        strays: Optional[_StrayFinder] = None
        pages = self._pages(key, begin)
        try:
            for page in pages:
                going, watermark = position["walk"], position["watermark"]
                since = going["since"] if going else watermark
                stray_after = _strays_after(position, page, since, is_anew)
                following = _position_after(position, page, since, self._size_of(begin), stray_after)
                is_news = (
                    following["watermark"] != watermark
                    or following.get("epoch") != position.get("epoch")
                    or following["walk"]
                    or going
                )
                if page.records or is_news:
                    if stray_after is not None and strays is None:
                        strays = _StrayFinder(self.store, key, stray_after)
                        if not going:
                            with self.lock:
                                self.report.restored.append(key)
                    previous = self.positions.get(key)
                    stray_ids = self._strays_with(strays, page, previous) if strays else []
                    written = StorePage(key, page.records, previous, following, stray_ids, page.freshness)
                    self.store.apply(written)
                position = self.positions[key] = following
                with self.lock:
                    self.report.records += len(page.records)
                if stop.is_set() and position["walk"]:
                    return False
        finally:
            # It may hold a slot.
            pages.close()
        return True

    def _pages(self, key: Key, begin: Position) -> "Generator[Page[Any], None, None]":
        """The pages that go on from a position. A first walk is an export, where the dataset has one."""
        walk, watermark = begin["walk"], begin["watermark"]
        since = walk["since"] if walk else watermark
        after = walk["after"] if walk else None
        size = self._size_of(begin)
        dataset = self.client.dataset(key.dataset)
        if since is None and dataset.is_by_cursor:
            yield from export_pages(self.client.connection, dataset.path(key.location_id), key.location_id, after, size)
            return
        # Its epoch is compared with the position's, which knows that of the pages before.
        page: Optional[Page[Any]] = None
        while True:
            page = dataset.fetch(key.location_id, after, page, since, begin.get("epoch"), size)
            yield page
            after = page.next
            if after is None:
                return

    def _size_of(self, begin: Position) -> int:
        """A walk by page number means another page when pages have another size."""
        size: int = begin["walk"]["pageSize"] if begin["walk"] else self.page_size
        return size

    def _strays_with(self, strays: "_StrayFinder", page: Page[Record], previous: Optional[Position]) -> List[str]:
        """The ids that leave the copy with this page. Takes those out now that would be many for one page."""
        named = {record["id"] for record in page.records}
        last_id = None if page.next is None else (page.records[-1]["id"] if page.records else "0")
        while True:
            ids = strays.up_to(last_id, named)
            if len(ids) < STRAYS_AT_ONCE or previous is None:
                return ids
            self.store.apply(StorePage(_key_of(previous), [], previous, previous, ids))


class _StrayFinder:
    """Finds what a copy has and a walk of everything does not name: reads the copy along with the walk."""

    def __init__(self, store: Store, key: Key, after: str) -> None:
        # Up to there an earlier process has compared.
        self._copy = store.read(key, after)
        self._waiting: Optional[Record] = None

    def up_to(self, last_id: Optional[str], named: Set[str]) -> List[str]:
        """Of what the copy has after the last answer and up to this id (None: to the end), those not named."""
        strays: List[str] = []
        while len(strays) < STRAYS_AT_ONCE:
            self._waiting = self._waiting or next(self._copy, None)
            if self._waiting is None or (last_id is not None and int(self._waiting["id"]) > int(last_id)):
                break
            if self._waiting["id"] not in named:
                strays.append(self._waiting["id"])
            self._waiting = None
        return strays


def in_parallel(
    work: Callable[[Any, threading.Event], None], items: Sequence[Any], at_once: int
) -> None:
    """Works on items, at most so many at once. The first error stops the others, and is raised when all have stopped."""
    waiting: "queue.SimpleQueue[Any]" = queue.SimpleQueue()
    for item in items:
        waiting.put(item)
    stop = threading.Event()
    errors: List[BaseException] = []

    def worker() -> None:
        while not stop.is_set():
            try:
                item = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                work(item, stop)
            except BaseException as error:
                errors.append(error)
                stop.set()

    # Ctrl-C ends the process without waiting for them: a store is whole at any moment.
    threads = [threading.Thread(target=worker, daemon=True) for _ in range(min(at_once, len(items)))]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        stop.set()
    if errors:
        raise errors[0]


def granted_keys(locations: Sequence[Record]) -> List[Key]:
    """What may be read now, in the order in which what others refer to comes first."""
    return [
        Key(location["id"], dataset)
        for location in locations
        for dataset in DATASETS
        if dataset in location["attributes"]["datasets_granted"]
    ]


def by_location(keys: Any) -> List[List[Key]]:
    """The keys of each location, together."""
    lists: Dict[str, List[Key]] = {}
    for key in keys:
        lists.setdefault(key.location_id, []).append(key)
    return list(lists.values())


def str_of(key: Key) -> str:
    """The id of a dataset's row in /changes."""
    return f"{key.location_id}/{key.dataset}"


def _key_of(position: Position) -> Key:
    return Key(position["locationId"], position["dataset"])


def _listed(listing: Listing[Any]) -> Tuple[List[Record], Optional[str]]:
    items: List[Record] = []
    epoch: Optional[str] = None
    for page in listing.pages():
        items.extend(page.records)
        epoch = page.epoch
    return items, epoch


def _is_of_another(epoch: Optional[str], known: Optional[str]) -> bool:
    """Whether both are known, and not the same."""
    return epoch is not None and known is not None and known != epoch


def _strays_after(position: Position, page: Page[Record], since: Optional[str], is_anew: bool) -> Optional[str]:
    """After which id the copy is to be compared with this page, because it is of another epoch; None: not at all.

    Raises ApiError ``epoch_changed`` when the page does not go on with what the copy has, and does not replace it.
    """
    walk = position["walk"]
    if walk:
        require_epoch(walk.get("epoch"), page)
        stray_after: Optional[str] = walk.get("strayAfter")
        return stray_after
    is_whole = since is None or page.granted_at is not None or page.restored_at is not None
    if not is_whole:
        require_epoch(position.get("epoch"), page)
    is_replaced = is_anew or page.restored_at is not None or _is_of_another(page.epoch, position.get("epoch"))
    return "0" if is_replaced else None


def _position_after(
    position: Position, page: Page[Record], since: Optional[str], page_size: int, stray_after: Optional[str]
) -> Position:
    walk = position["walk"]
    first = walk["watermark"] if walk else page.watermark
    if first is None:
        raise RuntimeError("The first page of a walk came without a watermark.")
    same = {"locationId": position["locationId"], "dataset": position["dataset"]}
    if page.next is None:
        return {**same, "watermark": first, "epoch": page.epoch, "walk": None}
    last_id = page.records[-1]["id"] if page.records else stray_after
    return {
        **same,
        "watermark": position["watermark"],
        "epoch": position.get("epoch"),
        "walk": {
            "since": since,
            "after": page.next,
            "watermark": first,
            "pageSize": page_size,
            "epoch": page.epoch,
            "strayAfter": None if stray_after is None else last_id,
        },
    }
