"""The vendor API, as a program reads it."""

from __future__ import annotations

import threading
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Dict, Generic, Iterable, Iterator, List, Mapping, Optional, Sequence, TypeVar, Union
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from . import records
from .changes import Changes
from .connection import Connection, OnEvent
from .export import export_pages
from .layout import DATASETS
from .pages import Listing, Page, page_of, record_of, segment
from .slots import INCREMENTAL, INITIAL, SyncSlots
from .tokens import FileTokenStore

if TYPE_CHECKING:
    from .feed import Feed
    from .store import Store
    from .sync import SyncReport
    from .verify import Verification

R = TypeVar("R")
Moment = Union[str, datetime]

PAGE_SIZE = 1000
#: As many as a page may hold: in page mode a walk may skip one when a grant ends between two pages.
DIRECTORY_PAGE_SIZE = 5000
VENDOR_API_PATH = "/api/v1/vendors"


class Bridgework:
    """The vendor API. One for each process: threads may use it together, and share its token and its sync slots."""

    def __init__(
        self,
        base_url: str,
        client_id: str,
        client_secret: str,
        *,
        token_store: Optional[FileTokenStore] = None,
        initial: int = 5,
        incremental: int = 25,
        attempts: int = 10,
        delay_max: float = 15.0,
        timeout: float = 60.0,
        on_event: Optional[OnEvent] = None,
    ) -> None:
        """``base_url`` ends with /api/v1/vendors; that path is added when it is left out.

        ``token_store`` shares the token with other processes. ``initial`` and ``incremental``: how many locations may
        have requests in flight. ``timeout``: seconds of one attempt. ``on_event`` gets a name and facts, for logs.
        """
        for name, value in (("client_id", client_id), ("client_secret", client_secret)):
            if not isinstance(value, str) or value == "":
                raise ValueError(f"Bridgework needs {name}.")
        self.base_url = _base_url_of(base_url)
        self.connection = Connection(
            self.base_url,
            client_id,
            client_secret,
            token_store,
            SyncSlots(initial, incremental),
            attempts,
            delay_max,
            timeout,
            on_event or (lambda _event, _facts: None),
        )
        self.locations = Locations(self.connection)
        self.organizations = Organizations(self.connection)
        self.changes = Changes(self.connection)
        self.fee_schedules: Dataset[records.FeeSchedule] = Dataset(self.connection, "fee_schedules")
        self.insurance_plans: Dataset[records.InsurancePlan] = Dataset(self.connection, "insurance_plans")
        self.patients: Dataset[records.Patient] = Dataset(self.connection, "patients")
        self.appointments: Dataset[records.Appointment] = Dataset(self.connection, "appointments")
        self.treatments: Dataset[records.Treatment] = Dataset(self.connection, "treatments")
        self.ledger_transactions: Dataset[records.LedgerTransaction] = Dataset(self.connection, "ledger_transactions")
        self.patient_referrals: Dataset[records.PatientReferral] = Dataset(self.connection, "patient_referrals")
        self._feeds: "WeakKeyDictionary[Store, Feed]" = WeakKeyDictionary()
        self._turns: "WeakKeyDictionary[Store, threading.Lock]" = WeakKeyDictionary()

    def dataset(self, name: str) -> "Dataset[Any]":
        """A dataset by its name in the API."""
        return Dataset(self.connection, name)

    def sync(
        self,
        store: "Store",
        *,
        locations: Optional[Sequence[str]] = None,
        datasets: Optional[Sequence[str]] = None,
        page_size: int = 2000,
    ) -> "SyncReport":
        """Brings a copy up to date, once: first walks, interrupted walks, changes, removals.

        Whatever happens to the process, the next call goes on where the store is. Raises on wrong credentials, when
        the list of locations cannot be read, on a store that fails, and StoreConflictError when another process
        writes to the copy. Every other failure is in the report.
        """
        from .sync import sync

        with self._turn(store):
            return sync(self, self._feeds, store, locations, datasets, page_size)

    def verify(
        self,
        store: "Store",
        *,
        locations: Optional[Sequence[str]] = None,
        datasets: Optional[Sequence[str]] = None,
        repair: bool = True,
    ) -> "List[Verification]":
        """Compares a copy with the service's digests, record by record where they differ, and repairs it."""
        from .verify import verify

        with self._turn(store):
            return verify(self, store, locations, datasets, repair)

    def close(self) -> None:
        """Closes the connections that are open and not used."""
        self.connection.close()

    def __enter__(self) -> "Bridgework":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _turn(self, store: "Store") -> threading.Lock:
        return self._turns.setdefault(store, threading.Lock())


class Dataset(Generic[R]):
    """One dataset of all locations."""

    def __init__(self, connection: Connection, name: str) -> None:
        if name not in DATASETS:
            raise ValueError(f"There is no dataset {name!r}. Datasets: {', '.join(DATASETS)}.")
        self._connection = connection
        self.name = name
        self.type: str = DATASETS[name]["type"]
        self.is_by_cursor: bool = DATASETS[name]["pagination"] == "cursor"

    def list(
        self,
        location_id: str,
        *,
        modified_since: Optional[Moment] = None,
        epoch: Optional[str] = None,
        fields: Optional[Iterable[str]] = None,
        patient_id: Optional[str] = None,
        starts_from: Optional[Moment] = None,
        starts_to: Optional[Moment] = None,
        page_size: int = PAGE_SIZE,
        after: Optional[str] = None,
    ) -> Listing[R]:
        """Every record that matches, removed ones (``is_hidden``) included, in ascending order of id.

        ``modified_since``: only what changed since; the ``watermark`` of an earlier walk's first page. ``epoch``: that
        of the same page. ``fields``: the attributes to return. ``after``: begins after the page with this ``next``.
        """
        filters: Dict[str, str] = {}
        if patient_id is not None:
            filters["q[patient_id]"] = patient_id
        if starts_from is not None:
            filters["q[starts_from]"] = _text_of(starts_from)
        if starts_to is not None:
            filters["q[starts_to]"] = _text_of(starts_to)
        if fields is not None:
            filters[f"fields[{self.type}]"] = ",".join(fields)
        since = None if modified_since is None else _text_of(modified_since)

        def fetch(position: Optional[str], previous: Optional[Page[Any]]) -> Page[Any]:
            return self.fetch(location_id, position, previous, since, epoch, page_size, filters)

        return Listing(after, fetch)

    def export(
        self, location_id: str, *, page_size: int = PAGE_SIZE, after: Optional[str] = None
    ) -> Iterator[Page[R]]:
        """The pages of every record, from one response where the service has exports of the dataset."""
        if not self.is_by_cursor:
            return self.list(location_id, page_size=page_size, after=after).pages()
        return export_pages(self._connection, self.path(location_id), location_id, after, page_size)

    def first(self, location_id: str, **options: Any) -> Optional[R]:
        """The first record that matches, or None. Takes the options of ``list``."""
        options["page_size"] = 1
        return next(iter(self.list(location_id, **options)), None)

    def get(self, location_id: str, record_id: str) -> R:
        """One record, with what its list leaves out. Raises ApiError ``record_unknown``."""
        record: R = record_of(self._connection.get(f"{self.path(location_id)}/{segment(record_id)}"))
        return record

    def path(self, location_id: str) -> str:
        return f"/locations/{segment(location_id)}/{self.name}"

    def fetch(
        self,
        location_id: str,
        position: Optional[str],
        previous: Optional[Page[Any]],
        since: Optional[str],
        epoch: Optional[str],
        page_size: int,
        filters: Mapping[str, str] = {},
    ) -> Page[Any]:
        """One page, in a sync slot of its location."""
        query = {"items": str(page_size)}
        if position is not None:
            query["after" if self.is_by_cursor else "page"] = position
        if since is not None:
            query["q[fetch_modified_since]"] = since
        query.update(filters)
        is_whole = since is None or (previous is not None and bool(previous.granted_at or previous.restored_at))
        slot = (INITIAL if is_whole else INCREMENTAL, location_id)
        headers = {"X-Epoch": epoch} if epoch is not None and since is not None else None
        return page_of(self._connection.get(self.path(location_id), query, slot, headers))


class Locations:
    """The locations that this key pair may read."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(
        self,
        *,
        organization_id: Optional[str] = None,
        with_attribution_script: bool = False,
        page_size: int = DIRECTORY_PAGE_SIZE,
    ) -> Listing[records.Location]:
        filters: Dict[str, str] = {}
        if organization_id is not None:
            filters["organization_id"] = organization_id
        if with_attribution_script:
            filters["with_attribution_script_install"] = "true"
        return _directory(self._connection, "/locations", filters, page_size)

    def get(self, location_id: str) -> records.Location:
        location: records.Location = record_of(self._connection.get(f"/locations/{segment(location_id)}"))
        return location

    def sync_status(self, location_id: str) -> "List[Dict[str, Any]]":
        """How current each dataset is. Costs no sync slot."""
        status: "List[Dict[str, Any]]" = self._connection.get(f"/locations/{segment(location_id)}/sync_status").body["data"]
        return status


class Organizations:
    """The owners of the locations that this key pair may read."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(self, *, page_size: int = PAGE_SIZE) -> Listing[records.Organization]:
        return _directory(self._connection, "/organizations", {}, page_size)

    def get(self, organization_id: str) -> records.Organization:
        path = f"/organizations/{segment(organization_id)}"
        organization: records.Organization = record_of(self._connection.get(path))
        return organization


def _directory(connection: Connection, path: str, filters: Mapping[str, str], page_size: int) -> Listing[Any]:
    def fetch(position: Optional[str], _previous: Optional[Page[Any]]) -> Page[Any]:
        query = {**filters, "items": str(page_size)}
        if position is not None:
            query["page"] = position
        return page_of(connection.get(path, query))

    return Listing(None, fetch)


def _text_of(moment: Moment) -> str:
    if isinstance(moment, str):
        return moment
    if moment.tzinfo is None:
        raise ValueError("A datetime needs a time zone. Of a watermark, pass the text.")
    return moment.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")


def _base_url_of(text: str) -> str:
    url = urlsplit(text)
    if url.scheme not in ("http", "https") or not url.hostname:
        raise ValueError(f"base_url is not a URL, like https://api.example.com{VENDOR_API_PATH}: {text}")
    if url.username is not None or url.query or url.fragment:
        raise ValueError("base_url must not contain credentials, a query or a fragment.")
    path = url.path.rstrip("/")
    return f"{url.scheme}://{url.netloc}{path or VENDOR_API_PATH}"
