"""Copies a dental practice's data from Bridgework into your own database and keeps it current."""

from .changes import ChangesPage
from .client import Bridgework
from .errors import ApiError, StoreConflictError, TargetError
from .pages import Listing, Page
from .postgres import PostgresStore
from .sqlite import SqliteStore
from .store import Key, Position, Record, Store, StorePage
from .sync import Failure, SyncReport
from .tokens import FileTokenStore
from .verify import Verification
from .version import __version__

__all__ = [
    "ApiError",
    "Bridgework",
    "ChangesPage",
    "Failure",
    "FileTokenStore",
    "Key",
    "Listing",
    "Page",
    "Position",
    "PostgresStore",
    "Record",
    "SqliteStore",
    "Store",
    "StoreConflictError",
    "StorePage",
    "SyncReport",
    "TargetError",
    "Verification",
    "__version__",
]
