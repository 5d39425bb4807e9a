"""A mirror in a schema of PostgreSQL, with the tables and views of the TypeScript client's. Needs psycopg."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, Tuple
from urllib.parse import urlsplit

from .errors import StoreConflictError, TargetError
from .layout import DATASETS, DIRECTORY, MIRROR, to_json
from .store import Key, Position, Record, Store, StorePage

if TYPE_CHECKING:
    import psycopg

SQL: Dict[str, Any] = MIRROR["postgres"]

#: What statements mean, whatever the database and the role set.
SETTINGS = "set local standard_conforming_strings = on; set local array_nulls = on"


class PostgresStore(Store):
    """A copy in PostgreSQL 13 or newer, in a schema of its own (``bridgework``).

    Each dataset has a table with a typed column for each attribute, and a view ``current_<dataset>`` without removed
    records. ``raw_record`` keeps the records as the service sent them. A schema of another layout is brought to this
    one when it is opened, as a whole or not at all.
    """

    def __init__(self, url: str, *, schema: str = "bridgework") -> None:
        try:
            import psycopg
        except ImportError as error:
            raise TargetError(_without_password(url), "It needs the package psycopg: pip install psycopg[binary].") from error
        self._psycopg = psycopg
        self._url = url
        self._target = _without_password(url)
        self._plain_schema = schema
        self._schema = '"' + schema.replace('"', '""') + '"'
        self._lock = threading.RLock()
        self._connection: Optional["psycopg.Connection[Tuple[Any, ...]]"] = None
        self._prepare()

    def positions(self) -> List[Position]:
        with self._transaction():
            return [position for (position,) in self._all("select position from @schema@.sync_position")]

    def apply(self, page: StorePage) -> None:
        location, dataset = page.key
        freshness = page.freshness or {}
        kept = [dataset, location, to_json(page.position), freshness.get("state"), freshness.get("synced_at")]
        with self._transaction():
            # First, so that another writer of the same dataset of the same location waits here.
            if page.previous is None:
                rows = self._all(
                    "insert into @schema@.sync_position (dataset, location_id, position, state, synced_at, checked_at)"
                    " values ($1, $2, $3, $4, $5, now()) on conflict do nothing returning 1",
                    kept,
                )
            else:
                rows = self._all(
                    "update @schema@.sync_position set position = $3, state = coalesce($4, state),"
                    " synced_at = coalesce($5, synced_at), checked_at = now()"
                    " where dataset = $1 and location_id = $2 and position = $6::jsonb returning 1",
                    [*kept, to_json(page.previous)],
                )
            if not rows:
                raise StoreConflictError(location, dataset)
            # A list by page number may repeat a record, and one statement must not write a row twice: the last counts.
            by_id = {record["id"]: record["attributes"] for record in page.records}
            if by_id:
                self._clear_lists(dataset, location, by_id)
                attributes = "[" + ",".join(map(to_json, by_id.values())) + "]"
                self._run(SQL["datasets"][dataset]["write_page"], [location, _array(by_id), attributes])
            if page.stray_ids:
                ids = _array(page.stray_ids)
                self._run(
                    "delete from @schema@.raw_record where dataset = $1 and location_id = $2 and id = any ($3::bigint[])",
                    [dataset, location, ids],
                )
                self._run(
                    f"delete from @schema@.{dataset} where location_id = $1 and id = any ($2::bigint[])", [location, ids]
                )
                self._clear_lists(dataset, location, page.stray_ids)

    def read(self, key: Key, after: str = "0") -> Iterator[Record]:
        last = after
        while True:
            with self._transaction():
                rows = self._all(
                    "select id::text, attributes::text from @schema@.raw_record as record"
                    " where dataset = $1 and location_id = $2 and record.id > $3 order by record.id limit 1000",
                    [key.dataset, key.location_id, last],
                )
            if not rows:
                return
            for record_id, attributes in rows:
                yield {"id": record_id, "type": DATASETS[key.dataset]["type"], "attributes": json.loads(attributes)}
            last = rows[-1][0]

    def check_rows(self, key: Key, repair: bool) -> int:
        dataset, location = key.dataset, key.location_id
        lists = MIRROR["tables"][dataset]["lists"]
        with self._transaction():
            # One at a time: a row that was moved to another location is wrong in both.
            self._run("select pg_advisory_xact_lock(hashtext('bridgework/rows'))")
            self._run(
                "select 1 from @schema@.sync_position where dataset = $1 and location_id = $2 for update",
                [dataset, location],
            )
            ids = [str(record_id) for (record_id,) in self._all(SQL["datasets"][dataset]["differences"], [location])]
            if ids and repair:
                # By id alone, which is unique over all locations: a row may have been moved to another one.
                for table, parent in [(dataset, "id"), *((each["name"], each["parent"]) for each in lists)]:
                    self._run(f"delete from @schema@.{table} where {parent} = any ($1::bigint[])", [_array(ids)])
                rows = self._all(
                    "select id::text, attributes::text from @schema@.raw_record"
                    " where dataset = $1 and location_id = $2 and id = any ($3::bigint[])",
                    [dataset, location, _array(ids)],
                )
                attributes = "[" + ",".join(text for _, text in rows) + "]"
                found = _array(record_id for record_id, _ in rows)
                self._run(SQL["datasets"][dataset]["write_page"], [location, found, attributes])
            return len(ids)

    def save_directory(self, directory: Dict[str, List[Record]]) -> None:
        grants = [
            {"location_id": each["id"], "dataset": dataset}
            for each in directory["locations"]
            for dataset in each["attributes"]["datasets_granted"]
        ]
        with self._transaction():
            for name in DIRECTORY:
                self._run(SQL["directory"][name], [to_json(directory[name])])
            self._run("delete from @schema@.grants")
            self._run(
                "insert into @schema@.grants"
                " select * from json_to_recordset($1::json) as sent (location_id bigint, dataset text)",
                [to_json(grants)],
            )

    def forget(self, key: Key) -> None:
        dataset, location = key.dataset, key.location_id
        tables = [dataset, *(each["name"] for each in MIRROR["tables"][dataset]["lists"])]
        with self._transaction():
            for table in ("raw_record", "sync_position"):
                self._run(f"delete from @schema@.{table} where dataset = $1 and location_id = $2", [dataset, location])
            for table in tables:
                self._run(f"delete from @schema@.{table} where location_id = $1", [location])
            self._run(
                "delete from @schema@.locations where id = $1"
                " and not exists (select from @schema@.sync_position where location_id = $1)",
                [location],
            )

    def finish(self) -> None:
        with self._transaction():
            made = {name for (name,) in self._all("select indexname from pg_indexes where schemaname = $1", [self._plain_schema])}
        missing = [index["sql"] for index in SQL["indexes"] if index["name"] not in made]
        for statement in missing:
            with self._transaction():
                self._run(statement)
        if missing:
            with self._transaction():
                # A quarter of the usual sample, for a quarter of the time.
                self._run("set local default_statistics_target = 25")
                for dataset in DATASETS:
                    self._run(f"analyze @schema@.{dataset}")

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _prepare(self) -> None:
        with self._transaction():
            self._run("select pg_advisory_xact_lock(hashtext('bridgework/client'))")
            self._run("create schema if not exists @schema@")
            for statement in SQL["record_tables"]:
                self._run(statement)
            layouts = {name for (name,) in self._all("select name from @schema@.layout")}
            objects = {
                name
                for (name,) in self._all(
                    "select relname from pg_class where relnamespace = to_regnamespace($1) and relkind in ('r', 'v')",
                    [self._schema],
                )
            }
            views = [statement.replace("@schema@", self._schema) for statement in SQL["views"]]
            views_layout = f"views {hashlib.sha256(','.join(views).encode()).hexdigest()[:16]}"
            has_tables = MIRROR["layout"] in layouts and objects.issuperset(MIRROR["table_names"])
            if has_tables and views_layout in layouts and objects.issuperset(MIRROR["view_names"]):
                return
            # Another sync waits, and stops then: its position is not the one that it knows.
            self._run("lock table @schema@.sync_position in exclusive mode")
            if not has_tables:
                for table in SQL["tables"]:
                    self._make_table(table, table["name"] in objects)
                for dataset in DATASETS:
                    self._fill(dataset)
            self._run("set local search_path to @schema@")
            for statement in SQL["views"]:
                # Replaced and not dropped, so that who may read it, and what others built upon it, stays.
                self._run(re.sub(r"^create view", "create or replace view", statement))
            self._run("reset search_path")
            self._run("delete from @schema@.layout")
            self._run("insert into @schema@.layout (name) values ($1), ($2)", [MIRROR["layout"], views_layout])

    def _make_table(self, table: Dict[str, Any], is_there: bool) -> None:
        if not is_there:
            return self._run(table["create"])
        known = {
            name
            for (name,) in self._all(
                "select column_name from information_schema.columns where table_schema = $1 and table_name = $2",
                [self._plain_schema, table["name"]],
            )
        }
        for column in table["columns"]:
            if column["name"] not in known:
                self._run(column["add"])

    def _fill(self, dataset: str) -> None:
        """Writes every row of a dataset from its records, in slices."""
        for each in MIRROR["tables"][dataset]["lists"]:
            self._run(f"truncate @schema@.{each['name']}")
        begin: Sequence[Any] = (0, 0)
        while True:
            rows = self._all(
                "select location_id, id from (select location_id, id from @schema@.raw_record"
                " where dataset = $1 and (location_id, id) > ($2::bigint, $3::bigint)"
                " order by location_id, id limit 5000) as next order by location_id desc, id desc limit 1",
                [dataset, *begin],
            )
            if not rows:
                return
            for statement in SQL["datasets"][dataset]["fill"]:
                self._run(statement, [*begin, *rows[0]])
            begin = rows[0]

    def _clear_lists(self, dataset: str, location: str, ids: Any) -> None:
        for each in MIRROR["tables"][dataset]["lists"]:
            self._run(
                f"delete from @schema@.{each['name']} where location_id = $1 and {each['parent']} = any ($2::bigint[])",
                [location, _array(ids)],
            )

    def _run(self, statement: str, values: Sequence[Any] = ()) -> None:
        self._execute(statement, values)

    def _all(self, statement: str, values: Sequence[Any] = ()) -> List[Tuple[Any, ...]]:
        return list(self._execute(statement, values).fetchall())

    def _execute(self, statement: str, values: Sequence[Any]) -> Any:
        assert self._connection is not None
        sql = statement.replace("@schema@", self._schema)
        if not values:
            return self._connection.execute(sql.encode())
        return self._connection.execute(_named(sql).encode(), {f"p{place}": value for place, value in enumerate(values, 1)})

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._lock:
            try:
                if self._connection is None or self._connection.closed:
                    # Without prepared statements, so that a pooler may stand between.
                    self._connection = self._psycopg.connect(
                        self._url, autocommit=True, prepare_threshold=None, connect_timeout=30
                    )
                with self._connection.transaction():
                    self._connection.execute(SETTINGS)
                    yield
            except self._psycopg.Error as error:
                raise TargetError(self._target, f"{str(error).strip()}.") from error


@lru_cache(maxsize=None)
def _named(statement: str) -> str:
    """``$1`` as psycopg names it."""
    return re.sub(r"\$(\d+)", r"%(p\1)s", statement.replace("%", "%%"))


def _array(ids: Any) -> str:
    """Ids as an array of PostgreSQL."""
    return "{" + ",".join(str(int(record_id)) for record_id in ids) + "}"


def _without_password(url: str) -> str:
    """For messages, which may end up in logs."""
    parts = urlsplit(url)
    if not parts.hostname:
        return "The URL of the database"
    user = f"{parts.username}@" if parts.username else ""
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{user}{parts.hostname}{port}{parts.path}"
