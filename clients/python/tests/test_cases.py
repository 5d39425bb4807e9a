"""Plays the recorded cases: python3 -m unittest discover -s tests"""

from __future__ import annotations

import json
import tempfile
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Dict, List, Optional
from urllib.parse import parse_qsl, urlsplit

from bridgework import ApiError, Bridgework, Key, SqliteStore

CASES = sorted((Path(__file__).parents[2] / "cases").glob("*.json"))
PREFIX = "/api/v1/vendors"
UNEXPECTED = {"status": 410, "body": {"errors": "This request was not expected.", "code": "not_expected"}}


class RecordedService:
    """Plays the service: expects these requests, in this order, and no other."""

    def __init__(self) -> None:
        service = self
        self.waiting: List[Dict[str, Any]] = []
        self.faults: List[str] = []
        self.answered_at = 0.0

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                service.answer(self)

            do_POST = do_GET

            def log_message(self, *_: Any) -> None:
                pass

            def version_string(self) -> str:
                return "test"

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}{PREFIX}"

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("content-length") or 0))
        exchange = self.waiting.pop(0) if self.waiting else None
        fault = self.fault_in(exchange, handler, body)
        if fault:
            self.faults.append(fault)
        answer = UNEXPECTED if fault or exchange is None else exchange["answer"]
        self.answered_at = time.monotonic()
        if answer.get("close"):
            handler.close_connection = True
            return
        text = answer["text"] if "text" in answer else json.dumps(answer["body"])
        content = text.encode("utf-8", "surrogatepass")
        own = {"content-type": "application/json", "x-request-id": "00000000-0000-4000-8000-000000000000"}
        headers = {"content-type": "text/html"} if answer.get("foreign") else own
        handler.send_response_only(answer.get("status", 200))
        for name, value in {**headers, **answer.get("headers", {}), "content-length": str(len(content))}.items():
            handler.send_header(name, value)
        handler.end_headers()
        if "cut" in answer:
            handler.close_connection = True
            content = content[: answer["cut"]]
        handler.wfile.write(content)

    def fault_in(
        self, exchange: Optional[Dict[str, Any]], handler: BaseHTTPRequestHandler, body: bytes
    ) -> Optional[str]:
        if exchange is None:
            return f"{handler.command} {handler.path}: no more requests were expected"
        expected = exchange["request"]
        url = urlsplit(handler.path)
        got = {
            "method": handler.command,
            "path": url.path[len(PREFIX) :],
            "query": dict(parse_qsl(url.query)),
            "headers": {name: handler.headers.get(name) for name in expected.get("headers", {})},
            "body": json.loads(body) if body else None,
        }
        wanted = {"method": "GET", "query": {}, "headers": {}, "body": None, **expected}
        if got != wanted:
            return f"{got} instead of {wanted}"
        waited = (time.monotonic() - self.answered_at) * 1000
        return f"{handler.path} came after {waited} ms" if waited < exchange.get("at_least_ms", 0) else None


class Cases(unittest.TestCase):
    maxDiff = None

    def play(self, file: Path) -> None:
        case = json.loads(file.read_bytes())
        service = RecordedService()
        self.addCleanup(service.close)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        store = SqliteStore(Path(folder.name) / "copy.sqlite")
        self.addCleanup(store.close)
        client = self.client_of(service, case)
        for step in case["steps"]:
            if step.get("new_client"):
                client = self.client_of(service, case)
            service.waiting = list(step["exchanges"])
            try:
                got = outcome_of(client, store, step)
            except ApiError as error:
                got = error_of(error, step["expect"].get("error", {}))
            self.assertEqual(service.faults, [])
            self.assertEqual(service.waiting, [], "requests that did not come")
            self.assertEqual(got, step["expect"])

    def client_of(self, service: RecordedService, case: Dict[str, Any]) -> Bridgework:
        attempts = case.get("options", {}).get("attempts", 10)
        client = Bridgework(service.url, "bwc_1", "bws_1", attempts=attempts, delay_max=0.02, timeout=20)
        self.addCleanup(client.close)
        return client


def _add(file: Path) -> None:
    setattr(Cases, f"test_{file.stem.replace('-', '_')}", lambda self: self.play(file))


for _file in CASES:
    _add(_file)


def outcome_of(client: Bridgework, store: SqliteStore, step: Dict[str, Any]) -> Dict[str, Any]:
    """What a step's call gives, in the words of its ``expect``."""
    options = dict(step["with"])
    if step["do"] == "list":
        return walked(client.dataset(options.pop("dataset")).list(**options).pages())
    if step["do"] == "export":
        return walked(client.dataset(options.pop("dataset")).export(**options))
    if step["do"] == "changes":
        page = client.changes.page(**options)
        ids = [row["id"] for row in page.rows]
        return {
            "rows": ids,
            "next": page.next,
            "has_more": page.has_more,
            "is_whole": page.is_whole,
            "epoch": page.epoch,
        }
    if step["do"] == "verify":
        names = ("server_count", "store_count", "read", "missing", "stray", "wrong", "newer", "wrong_rows")
        results = client.verify(store)
        return {"verified": [{"key": str_of(each.key), **{name: getattr(each, name) for name in names}} for each in results]}
    assert step["do"] == "sync"
    return synced(client.sync(store, **options), store, step["expect"])


def walked(pages: Any) -> Dict[str, Any]:
    records, watermarks = [], []
    for page in pages:
        records += page.records
        watermarks.append(page.watermark)
    return {"ids": [record["id"] for record in records], "hidden": hidden_of(records), "watermarks": watermarks}


def synced(report: Any, store: SqliteStore, expected: Dict[str, Any]) -> Dict[str, Any]:
    positions = store.positions()
    copy = {f"{each['locationId']}/{each['dataset']}": list(store.read(Key(each["locationId"], each["dataset"]))) for each in positions}
    lists = {name: [str_of(key) for key in getattr(report, name)] for name in ("revoked", "restored", "lost", "not_granted")}
    records = [record for each in copy.values() for record in each]
    failed = [{"key": str_of(key), "code": error.code} for key, error in report.failed]
    found = {
        "report": {"current": report.current, "records": report.records, **lists, "failed": failed},
        "copy": {name: [record["id"] for record in each] for name, each in copy.items()},
        "hidden": hidden_of(records),
        "positions": {
            f"{each['locationId']}/{each['dataset']}": {
                "watermark": each["watermark"],
                "epoch": each.get("epoch"),
                "after": each["walk"]["after"] if each["walk"] else None,
            }
            for each in positions
        },
    }
    return {**found, "records": records} if "records" in expected else found


def error_of(error: ApiError, expected: Dict[str, Any]) -> Dict[str, Any]:
    """An error as ``expect`` tells it: its text and its help only where that asks for them."""
    facts: Dict[str, Any] = {"status": error.status, "code": error.code, "attempts": error.attempts}
    if "errors" in expected:
        facts["errors"] = error.errors
    if "help" in expected:
        url = urlsplit(error.help_url or "")
        facts["help"] = f"{url.path}#{url.fragment}"
    return {"error": facts}


def hidden_of(records: List[Dict[str, Any]]) -> List[str]:
    return [record["id"] for record in records if record["attributes"]["is_hidden"]]


def str_of(key: Key) -> str:
    return f"{key.location_id}/{key.dataset}"


if __name__ == "__main__":
    unittest.main()
