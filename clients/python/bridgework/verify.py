"""Compares a copy with the service's digests, and repairs it."""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, Tuple

from .errors import ApiError, not_from_bridgework
from .layout import to_json
from .pages import Page
from .slots import INITIAL
from .store import Key, Position, Record, Store, StorePage

if TYPE_CHECKING:
    from .client import Bridgework

#: At most this many records are repaired at once.
REPAIRS_AT_ONCE = 5000


@dataclass
class Verification:
    """One dataset of one location, the service's and the copy's."""

    key: Key
    server_count: int = 0
    store_count: int = 0
    #: Exclusive or of the SHA-256 of each record's JSON, as the service sends it but for members that are null.
    server_digest: str = ""
    store_digest: str = ""
    #: Records that were read from the service: those near to what differs.
    read: int = 0
    #: Not in the copy, though it was there when the copy was last brought up to date.
    missing: int = 0
    #: Not in the service.
    stray: int = 0
    #: In both, and not the same, though the service's is not newer.
    wrong: int = 0
    #: Created or changed at the service after the copy was last brought up to date: no fault, and repaired.
    newer: int = 0
    #: Records whose rows in the tables were not those that the record gives, and rows that no record gives.
    wrong_rows: int = 0

    @property
    def is_equal(self) -> bool:
        """Whether the copy had no fault."""
        return self.missing + self.stray + self.wrong + self.wrong_rows == 0


def verify(
    client: "Bridgework",
    store: Store,
    locations: Optional[Sequence[str]],
    datasets: Optional[Sequence[str]],
    repair: bool,
) -> List[Verification]:
    from .sync import LOCATIONS_AT_ONCE, by_location, granted_keys, in_parallel

    positions = {Key(each["locationId"], each["dataset"]): each for each in store.positions()}
    keys = [
        key
        for key in granted_keys([dict(each) for each in client.locations.list()])
        if (locations is None or key.location_id in locations) and (datasets is None or key.dataset in datasets)
    ]
    results: List[Verification] = []

    def check(keys: List[Key], stop: threading.Event) -> None:
        for key in keys:
            # What has not been walked to its end is not to be compared: the sync goes on with it.
            position = positions.get(key)
            if stop.is_set() or not position or not position["watermark"] or position["walk"]:
                continue
            try:
                results.append(_Check(client, store, key, position, repair).run())
            except ApiError as error:
                # A service that knows no digest takes the word for a record's id: it has not denied anything.
                if not error.is_denied or error.code == "record_unknown":
                    raise

    in_parallel(check, by_location(keys), LOCATIONS_AT_ONCE)
    return results


class _Digest:
    """A digest of records in any order, as the service makes it."""

    def __init__(self) -> None:
        self.count = 0
        self._sum = 0

    def add(self, record: Record) -> None:
        plain = {name: record[name] for name in ("id", "type", "attributes")}
        self.add_sum(1, hashlib.sha256(to_json(_without_nulls(plain)).encode()).hexdigest())

    def add_sum(self, count: int, sha256: str) -> None:
        self.count += count
        self._sum ^= int(sha256, 16)

    @property
    def sha256(self) -> str:
        return f"{self._sum:064x}"


class _Check:
    def __init__(self, client: "Bridgework", store: Store, key: Key, position: Position, repair: bool) -> None:
        self._client = client
        self._dataset = client.dataset(key.dataset)
        self._store = store
        self._key = key
        self._position = position
        self._repair = repair
        self._found = Verification(key)
        self._different: Dict[str, str] = {}
        self._records: List[Record] = []
        self._stray_ids: List[str] = []
        self._local = store.read(key)
        self._waiting = next(self._local, None)

    def run(self) -> Verification:
        found, server, copy = self._found, _Digest(), _Digest()
        after_id, records_before, range_records = "0", 0, 0
        for range_after, last_id, records, sha256 in self._ranges():
            kept = list(self._take_up_to(last_id))
            own = _Digest()
            for record in kept:
                own.add(record)
            copy.add_sum(own.count, own.sha256)
            server.add_sum(records, sha256)
            range_records = range_records or records
            if (own.sha256, own.count) != (sha256, records):
                self._compare(kept, range_after, last_id, records_before, range_records)
            after_id = last_id
            records_before += records
        rest = list(self._take_up_to(None))
        for record in rest:
            copy.add(record)
        if rest:
            self._compare(rest, after_id, None, records_before, range_records)
        # Asked for after the records were read, so it has every one of them that came after the copy's watermark.
        if self._different:
            since = self._position["watermark"]
            for record in self._dataset.list(self._key.location_id, modified_since=since):
                if self._different.pop(record["id"], None):
                    found.newer += 1
        found.missing = sum(kind == "missing" for kind in self._different.values())
        found.wrong = sum(kind == "wrong" for kind in self._different.values())
        self._mend()
        # Last: what was repaired has its rows.
        found.wrong_rows = self._store.check_rows(self._key, self._repair)
        found.server_count, found.store_count = server.count, copy.count
        found.server_digest, found.store_digest = server.sha256, copy.sha256
        return found

    def _ranges(self) -> Iterator[Tuple[str, str, int, str]]:
        """The service's digest: after which id, up to which, how many records, and their digest."""
        path = f"{self._dataset.path(self._key.location_id)}/digest"
        after: Optional[str] = "0"
        while after is not None:
            slot = (INITIAL, self._key.location_id)
            answer = self._client.connection.get(path, {"after": after}, slot)
            data = answer.body.get("data")
            if not isinstance(data, list):
                raise not_from_bridgework("a digest", answer.request_id)
            for each in data:
                facts = each["attributes"]
                yield str(facts["after_id"]), str(facts["last_id"]), int(facts["records"]), str(facts["sha256"])
            after = answer.body["meta"]["next_after"]

    def _take_up_to(self, last_id: Optional[str]) -> Iterator[Record]:
        """The copy's records up to this id; None: all that are left."""
        while self._waiting is not None and (last_id is None or int(self._waiting["id"]) <= int(last_id)):
            yield self._waiting
            self._waiting = next(self._local, None)

    def _compare(
        self, kept: List[Record], after_id: str, last_id: Optional[str], records_before: int, range_records: int
    ) -> None:
        left = {record["id"]: record for record in kept}
        for record in self._records_in(after_id, last_id, records_before, range_records):
            self._found.read += 1
            stored = left.pop(record["id"], None)
            if stored is not None and _canonical(stored) == _canonical(record):
                continue
            self._records.append(record)
            self._different[record["id"]] = "missing" if stored is None else "wrong"
        # The service was asked after the copy was read, and it never loses a record: what is left was never its own.
        self._found.stray += len(left)
        self._stray_ids.extend(left)
        if len(self._records) + len(self._stray_ids) >= REPAIRS_AT_ONCE:
            self._mend()

    def _records_in(
        self, after_id: str, last_id: Optional[str], records_before: int, range_records: int
    ) -> Iterator[Record]:
        """The service's records after one id and up to another, or to the end.

        Where a list has pages by number, the range's page is counted out: no record is ever taken away.
        """
        size = range_records or 1000
        following: Optional[str] = after_id if self._dataset.is_by_cursor else str(records_before // size + 1)
        page: Optional[Page[Any]] = None
        last = int(after_id)
        while following is not None:
            page = self._dataset.fetch(self._key.location_id, following, page, None, None, size)
            for record in page.records:
                record_id = int(record["id"])
                if last_id is not None and record_id > int(last_id):
                    return
                if record_id > last:
                    yield record
                last = max(last, record_id)
            following = None if last_id is not None and last == int(last_id) else page.next

    def _mend(self) -> None:
        if self._repair and (self._records or self._stray_ids):
            same = self._position
            self._store.apply(StorePage(self._key, self._records, same, same, self._stray_ids))
        self._records, self._stray_ids = [], []


def _without_nulls(value: Any) -> Any:
    """Members that are null are left out of a digest. In a list null stays."""
    if isinstance(value, dict):
        return {name: _without_nulls(member) for name, member in value.items() if member is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _canonical(value: Any) -> str:
    """The same text for the same record: stores need not keep the order of members, nor those that are null."""
    return json.dumps(_without_nulls(value), sort_keys=True)
