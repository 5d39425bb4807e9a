"""A mirror in a SQLite file, with the tables and views of the TypeScript client's."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

from .errors import StoreConflictError, TargetError
from .layout import DATASETS, DIRECTORY, MIRROR, clean, items_of, to_json, value_at
from .store import Key, Position, Record, Store, StorePage

SQL: Dict[str, str] = MIRROR["sqlite"]

#: Strict tables, and the operators that views read JSON with.
VERSION_MIN = (3, 38)

#: Larger pages than SQLite's own 4 KB: a record's text and row take less time to write.
SETTINGS = """
  pragma busy_timeout = 20000;
  pragma page_size = 16384;
  pragma cache_size = -32000;
  pragma journal_mode = wal;
  pragma synchronous = normal;"""


class SqliteStore(Store):
    """A copy in a SQLite file that only its owner can open.

    Each dataset has a table with a typed column for each attribute, and a view ``current_<dataset>`` without removed
    records. ``raw_record`` keeps the records as the service sent them. A file of another layout is brought to this one
    when it is opened, as a whole or not at all.
    """

    def __init__(self, file: Union[str, Path]) -> None:
        self._target = str(file)
        if sqlite3.sqlite_version_info < VERSION_MIN:
            version = ".".join(map(str, VERSION_MIN))
            raise TargetError(self._target, f"It needs SQLite {version}. This Python has {sqlite3.sqlite_version}.")
        self._lock = threading.RLock()
        _make_private(Path(file))
        try:
            self._database = sqlite3.connect(str(file), isolation_level=None, check_same_thread=False)
            self._database.executescript(SETTINGS)
            self._writers = {name: _Rows(name) for name in DATASETS}
            self._prepare()
        except sqlite3.Error as error:
            raise TargetError(self._target, f"{error}.") from error

    def positions(self) -> List[Position]:
        with self._lock:
            rows = self._database.execute("select position from sync_position").fetchall()
        return [json.loads(text) for (text,) in rows]

    def apply(self, page: StorePage) -> None:
        dataset, location = page.key.dataset, int(page.key.location_id)
        with self._transaction() as database:
            kept = database.execute(
                "select position from sync_position where dataset = ? and location_id = ?", (dataset, location)
            ).fetchone()
            if (kept[0] if kept else None) != (None if page.previous is None else to_json(page.previous)):
                raise StoreConflictError(*page.key)
            database.executemany(
                "insert into raw_record (dataset, location_id, id, attributes) values (?, ?, ?, ?)"
                " on conflict do update set attributes = excluded.attributes",
                [(dataset, location, int(each["id"]), to_json(each["attributes"])) for each in page.records],
            )
            self._writers[dataset].write(database, location, page.records)
            for stray_id in page.stray_ids:
                row = (dataset, location, int(stray_id))
                database.execute("delete from raw_record where dataset = ? and location_id = ? and id = ?", row)
                self._writers[dataset].remove(database, int(stray_id), location)
            freshness = page.freshness or {}
            database.execute(
                "insert into sync_position (dataset, location_id, position, state, synced_at, checked_at)"
                " values (?, ?, ?, ?, ?, ?)"
                " on conflict do update set position = excluded.position, state = coalesce(excluded.state, state),"
                " synced_at = coalesce(excluded.synced_at, synced_at), checked_at = excluded.checked_at",
                (dataset, location, to_json(page.position), freshness.get("state"), freshness.get("synced_at"), _now()),
            )

    def read(self, key: Key, after: str = "0") -> Iterator[Record]:
        last = int(after)
        while True:
            with self._lock:
                rows = self._database.execute(
                    "select id, attributes from raw_record"
                    " where dataset = ? and location_id = ? and id > ? order by id limit 1000",
                    (key.dataset, int(key.location_id), last),
                ).fetchall()
            if not rows:
                return
            for record_id, attributes in rows:
                yield _record_of(key.dataset, record_id, attributes)
            last = rows[-1][0]

    def check_rows(self, key: Key, repair: bool) -> int:
        location, rows = int(key.location_id), self._writers[key.dataset]
        with self._transaction() as database:
            stray_ids = rows.stray_ids(database, location)
            if repair:
                for stray_id in stray_ids:
                    rows.remove(database, stray_id, None)
        wrong = len(stray_ids)
        for record in self.read(key):
            with self._transaction() as database:
                if rows.match(database, location, record):
                    continue
                wrong += 1
                if repair:
                    rows.write(database, location, [record])
        return wrong

    def save_directory(self, directory: Dict[str, List[Record]]) -> None:
        with self._transaction() as database:
            for name in DIRECTORY:
                columns = MIRROR["tables"][name]["columns"]
                rows = [(int(each["id"]), *_values_of(columns, each["attributes"])) for each in directory[name]]
                database.executemany(_upsert(name, ["id"], columns), rows)
            database.execute("delete from grants")
            database.executemany(
                "insert into grants (location_id, dataset) values (?, ?)",
                [(int(each["id"]), name) for each in directory["locations"] for name in each["attributes"]["datasets_granted"]],
            )

    def forget(self, key: Key) -> None:
        location = int(key.location_id)
        with self._transaction() as database:
            for table in self._writers[key.dataset].names:
                database.execute(f"delete from {table} where location_id = ?", (location,))
            for table in ("raw_record", "sync_position"):
                database.execute(f"delete from {table} where dataset = ? and location_id = ?", (key.dataset, location))
            database.execute(
                "delete from locations where id = ?1"
                " and not exists (select 1 from sync_position where location_id = ?1)",
                (location,),
            )

    def finish(self) -> None:
        with self._lock:
            for statement in SQL["indexes"].split("\n"):
                self._database.execute(statement)
            self._database.execute("pragma optimize")

    def close(self) -> None:
        with self._lock:
            self._database.close()

    def _prepare(self) -> None:
        """Makes the tables and views, or those of another layout anew from the records. In one transaction."""
        with self._transaction() as database:
            _run(database, SQL["record_tables"])
            objects = dict(database.execute("select name, type from sqlite_schema where type in ('table', 'view')"))
            layouts = {name for (name,) in database.execute("select name from layout")}
            has_tables = MIRROR["layout"] in layouts and all(name in objects for name in MIRROR["table_names"])
            has_views = SQL["views_layout"] in layouts and all(name in objects for name in MIRROR["view_names"])
            if has_tables and has_views:
                return
            old = [*MIRROR["view_names"], *([] if has_tables else MIRROR["table_names"])]
            for name in old:
                if name in objects:
                    database.execute(f"drop {objects[name]} {name}")
            if not has_tables:
                _run(database, SQL["tables"])
                for name in DATASETS:
                    self._fill(database, name)
            _run(database, SQL["views"])
            database.execute("delete from layout")
            names = [(MIRROR["layout"],), (SQL["views_layout"],)]
            database.executemany("insert into layout (name) values (?)", names)

    def _fill(self, database: sqlite3.Connection, dataset: str) -> None:
        after = (0, 0)
        while True:
            rows = database.execute(
                "select location_id, id, attributes from raw_record"
                " where dataset = ? and (location_id, id) > (?, ?) order by location_id, id limit 1000",
                (dataset, *after),
            ).fetchall()
            if not rows:
                return
            for location, record_id, attributes in rows:
                self._writers[dataset].write(database, location, [_record_of(dataset, record_id, attributes)])
            after = (rows[-1][0], rows[-1][1])

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            database = self._database
            try:
                database.execute("begin immediate")
                yield database
                database.execute("commit")
            except BaseException as error:
                if database.in_transaction:
                    database.execute("rollback")
                if isinstance(error, sqlite3.Error):
                    raise TargetError(self._target, f"{error}.") from error
                raise


class _Rows:
    """What a dataset's tables have of its records."""

    def __init__(self, dataset: str) -> None:
        table = MIRROR["tables"][dataset]
        self._dataset = dataset
        self._columns: List[Dict[str, Any]] = table["columns"]
        self._lists: List[Dict[str, Any]] = table["lists"]
        self._upsert = _upsert(dataset, ["id", "location_id"], self._columns)
        self.names: List[str] = [dataset, *(each["name"] for each in self._lists)]

    def write(self, database: sqlite3.Connection, location: int, records: Sequence[Record]) -> None:
        database.executemany(self._upsert, [self._row_of(location, record) for record in records])
        for each in self._lists:
            ids = [(int(record["id"]),) for record in records]
            database.executemany(f"delete from {each['name']} where {each['parent']} = ?", ids)
            items = [row for record in records for row in self._items_of(each, location, record)]
            database.executemany(_upsert(each["name"], _item_keys(each), each["columns"]), items)

    def remove(self, database: sqlite3.Connection, record_id: int, location: Optional[int]) -> None:
        """The rows of a record at this location; None: wherever they are."""
        parents = ["id", *(each["parent"] for each in self._lists)]
        for table, parent in zip(self.names, parents):
            where = f"{parent} = ?1 and (?2 is null or location_id = ?2)"
            database.execute(f"delete from {table} where {where}", (record_id, location))

    def match(self, database: sqlite3.Connection, location: int, record: Record) -> bool:
        """Whether the tables have of a record exactly what writing it gives."""
        names = _names(["id", "location_id"], self._columns)
        if not _has(database, self._dataset, names, self._row_of(location, record)):
            return False
        for each in self._lists:
            items = self._items_of(each, location, record)
            counted = database.execute(
                f"select count(*) from {each['name']} where {each['parent']} = ?", (int(record["id"]),)
            ).fetchone()
            item_names = _names(_item_keys(each), each["columns"])
            if counted[0] != len(items) or not all(_has(database, each["name"], item_names, row) for row in items):
                return False
        return True

    def stray_ids(self, database: sqlite3.Connection, location: int) -> List[int]:
        """The ids of rows at a location, or at one that the mirror does not have, that no record gives."""
        parents = ["id", *(each["parent"] for each in self._lists)]
        known = f"select location_id from sync_position where dataset = '{self._dataset}'"
        own = " union ".join(
            f"select {parent} as id from {table} where location_id = ?1"
            f" union select {parent} from {table} where location_id not in ({known})"
            for table, parent in zip(self.names, parents)
        )
        rows = database.execute(
            f"select id from ({own}) as own where not exists (select 1 from raw_record"
            f" where dataset = '{self._dataset}' and location_id = ?1 and raw_record.id = own.id)",
            (location,),
        )
        return [record_id for (record_id,) in rows.fetchall()]

    def _row_of(self, location: int, record: Record) -> Tuple[Any, ...]:
        return (int(record["id"]), location, *_values_of(self._columns, record["attributes"]))

    def _items_of(self, each: Dict[str, Any], location: int, record: Record) -> List[Tuple[Any, ...]]:
        items = items_of(record["attributes"], each["from"])
        record_id = int(record["id"])
        return [(record_id, location, place, *_values_of(each["columns"], item)) for place, item in enumerate(items, 1)]


def _item_keys(each: Dict[str, Any]) -> List[str]:
    return [each["parent"], "location_id", "position"]


def _names(keys: Sequence[str], columns: Sequence[Dict[str, Any]]) -> List[str]:
    return [*keys, *(f'"{column["name"]}"' for column in columns)]


def _upsert(table: str, keys: Sequence[str], columns: Sequence[Dict[str, Any]]) -> str:
    """Inserts a row, or replaces its columns: the values of the keys first, then those of the columns."""
    names = _names(keys, columns)
    replaced = ", ".join(f"{name} = excluded.{name}" for name in names)
    marks = ", ".join("?" for _ in names)
    return f"insert into {table} ({', '.join(names)}) values ({marks}) on conflict do update set {replaced}"


def _has(database: sqlite3.Connection, table: str, names: Sequence[str], row: Sequence[Any]) -> bool:
    conditions = " and ".join(f"{name} is ?" for name in names)
    return database.execute(f"select 1 from {table} where {conditions}", row).fetchone() is not None


def _values_of(columns: Sequence[Dict[str, Any]], attributes: Any) -> Iterator[Any]:
    for column in columns:
        yield _sqlite_value(column["kind"], value_at(column, attributes))


def _sqlite_value(kind: str, value: Any) -> Any:
    """A value as SQLite keeps it."""
    if value is None:
        return None
    if kind == "id":
        return int(value)
    if kind == "boolean":
        return int(value is True)
    if kind in ("integer", "number", "decimal"):
        return float(value)
    return to_json(value) if kind == "json" else clean(str(value))


def _record_of(dataset: str, record_id: int, attributes: str) -> Record:
    return {"id": str(record_id), "type": DATASETS[dataset]["type"], "attributes": json.loads(attributes)}


def _run(database: sqlite3.Connection, script: str) -> None:
    """Runs statements in the transaction that is open: ``executescript`` would commit it."""
    statement = ""
    for line in script.split("\n"):
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            database.execute(statement)
            statement = ""


def _make_private(file: Path) -> None:
    """SQLite would make it for all to read, and gives its other files the rights of the first one."""
    try:
        # One that is there is not opened: a process that closes a second descriptor loses all its locks on a file.
        if not file.exists():
            os.close(os.open(file, os.O_CREAT | os.O_WRONLY, 0o600))
        for each in (file, *(Path(f"{file}{ending}") for ending in ("-wal", "-shm", "-journal"))):
            if os.name == "posix" and each.exists() and each.stat().st_mode & 0o077:
                each.chmod(0o600)
    except OSError as error:
        text = "Its folder does not exist. Create it, or correct the path." if isinstance(error, FileNotFoundError) else ""
        raise TargetError(str(file), text or f"{error.strerror}.") from error


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
