"""``python -m bridgework``: a mirror of everything that may be read."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Dict, List, NoReturn, Optional

from . import ApiError, Bridgework, FileTokenStore, Key, PostgresStore, SqliteStore, Store, StoreConflictError, TargetError
from .layout import DATASETS
from .tokens import config_folder
from .version import __version__

DONE, FAILED, USAGE, CREDENTIALS, DENIED, PARTLY, UNREACHABLE, INTERRUPTED = 0, 1, 2, 3, 4, 5, 6, 130


class _Usage(Exception):
    pass


class _NoCredentials(Exception):
    pass


def main(args: Optional[List[str]] = None) -> int:
    """Runs the command. Returns its exit code, one of those of the ``bridgework`` command."""
    options = _parser().parse_args(args)
    try:
        with _client(options) as client:
            store = _store(options)
            try:
                code: int = options.run(options, client, store)
                return code
            finally:
                store.close()
    except _Usage as error:
        return _fail(str(error), USAGE)
    except _NoCredentials as error:
        return _fail(str(error), CREDENTIALS)
    except ApiError as error:
        return _fail(str(error), _code_of(error))
    except (TargetError, StoreConflictError, OSError) as error:
        return _fail(str(error), FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bridgework", description="A copy of everything that may be read.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(metavar="command", required=True)
    mirror = commands.add_parser("mirror", help="keep a copy of everything that may be read")
    mirror.set_defaults(run=_mirror)
    pace = mirror.add_mutually_exclusive_group()
    pace.add_argument("--watch", action="store_true", help="go on for ever, and update the copy when something changed")
    pace.add_argument("--every", metavar="period", type=_period, help="go on for ever, with this pause: 30s, 5m, 1h")
    mirror.add_argument("--verify", action="store_true", help="afterwards compare and repair every record")
    verify = commands.add_parser("verify", help="compare a copy with the service, and repair it")
    verify.set_defaults(run=_verify)
    for command in (mirror, verify):
        command.add_argument("--to", metavar="place", help="sqlite:<file> or postgres://…; or set BRIDGEWORK_MIRROR_TO")
        command.add_argument("--file", metavar="file", help="JSON with base_url, client_id and client_secret")
        command.add_argument("--location", action="append", metavar="id", help="only this location; may be repeated")
        command.add_argument("--dataset", action="append", choices=list(DATASETS), help="only this dataset; may be repeated")
        command.add_argument("--json", action="store_true", help="print results as lines of JSON on stdout")
    return parser


def _client(options: argparse.Namespace) -> Bridgework:
    """The key pair of --file, of the environment, or of ``bridgework login``; their parts are not mixed."""
    names = ("BRIDGEWORK_BASE_URL", "BRIDGEWORK_CLIENT_ID", "BRIDGEWORK_CLIENT_SECRET")
    base_url, client_id, client_secret = (os.environ.get(name, "") for name in names)
    if options.file or not (client_id or client_secret):
        file = Path(options.file) if options.file else config_folder() / "credentials.json"
        try:
            kept = json.loads(file.read_bytes())
            base_url, client_id, client_secret = (kept[name] for name in ("base_url", "client_id", "client_secret"))
        except FileNotFoundError as error:
            text = f"{file} does not exist." if options.file else f"Set {', '.join(names)}, or name a file with --file."
            raise _NoCredentials(f"There is no key pair. {text}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise _NoCredentials(f"base_url, client_id or client_secret is missing in {file}.") from error
    elif not (base_url and client_id and client_secret):
        raise _NoCredentials(f"Set all of {', '.join(names)}.")
    try:
        return Bridgework(base_url, client_id, client_secret, token_store=FileTokenStore())
    except ValueError as error:
        raise _Usage(str(error)) from error


def _store(options: argparse.Namespace) -> Store:
    place = options.to or os.environ.get("BRIDGEWORK_MIRROR_TO") or ""
    if place.startswith("sqlite:") and place != "sqlite:":
        return SqliteStore(place[len("sqlite:") :])
    if place.startswith(("postgres://", "postgresql://")):
        return PostgresStore(place)
    raise _Usage("Name the place of the copy: --to sqlite:copy.sqlite or --to postgres://…")


def _mirror(options: argparse.Namespace, client: Bridgework, store: Store) -> int:
    changes = client.changes.follow() if options.watch else None
    code = DONE
    while True:
        begun_at = time.monotonic()
        try:
            # After a failure the next round comes with the next answer, which takes 25 seconds at most.
            while changes is not None and not next(changes).news and code == DONE:
                pass
            code = _round(options, client, store)
            if options.verify:
                code = max(code, _verify(options, client, store))
        except (ApiError, StoreConflictError) as error:
            # A bad hour of the network ends no mirror that goes on for ever, nor does another mirror.
            may_pass = not isinstance(error, ApiError) or error.status != 401
            if not (options.watch or options.every) or not may_pass:
                raise
            _say(f"{_now()} {error}")
            code = PARTLY
            if changes is not None:
                # A generator that has raised is over.
                changes = client.changes.follow()
                time.sleep(5)
        if options.every:
            time.sleep(max(0.0, options.every - (time.monotonic() - begun_at)))
        elif changes is None:
            return code


def _round(options: argparse.Namespace, client: Bridgework, store: Store) -> int:
    begun_at = time.monotonic()
    report = client.sync(store, locations=options.location, datasets=options.dataset)
    seconds = time.monotonic() - begun_at
    if options.json:
        lists = {name: getattr(report, name) for name in ("revoked", "restored", "lost", "not_granted")}
        failed = [
            {**key._asdict(), "status": error.status, "code": error.code, "errors": error.errors, "request_id": error.request_id}
            for key, error in report.failed
        ]
        facts: Dict[str, Any] = {"at": _now(), "current": report.current, "records": report.records, "seconds": round(seconds, 3)}
        facts.update({name: [key._asdict() for key in keys] for name, keys in lists.items()}, failed=failed)
        print(json.dumps(facts), flush=True)
    else:
        rate = round(report.records / seconds)
        _say(f"{_now()} {report.current} datasets are current; {report.records:,} records written in {seconds:.1f} s ({rate:,}/s)")
        for key in report.revoked:
            _say(f"Location {key.location_id}: {key.dataset} is no longer granted. The copy stays as it was.")
        if report.restored:
            _say(f"The service was restored from a backup: {len(report.restored)} datasets were read again.")
        for location_id in sorted({key.location_id for key in report.lost}):
            _say(f"Location {location_id} was taken out: the service was restored from a backup and does not know it any more.")
        for key in report.not_granted:
            _say(f"Location {key.location_id}: {key.dataset} was not granted.")
        for key, error in report.failed:
            _say(f"Location {key.location_id}: {key.dataset}: {error}")
    if report.current == 0 and not report.failed:
        _say("Your company has no access to any of it. Ask the practice for access.")
        return DENIED
    return PARTLY if report.failed or report.not_granted else DONE


def _verify(options: argparse.Namespace, client: Bridgework, store: Store) -> int:
    results = client.verify(store, locations=options.location, datasets=options.dataset)
    for result in results:
        if options.json:
            facts = {**vars(result), **result.key._asdict()}
            del facts["key"]
            print(json.dumps({"verified": facts}), flush=True)
        elif not result.is_equal:
            counts = f"{result.missing} records missing, {result.wrong} wrong, {result.stray} too many"
            _say(f"{_name_of(result.key)}: {counts}; {result.wrong_rows} rows of tables wrong; repaired.")
    if results and all(result.is_equal for result in results) and not options.json:
        _say(f"{len(results)} datasets equal the service, record by record.")
    return DONE


def _name_of(key: Key) -> str:
    return f"Location {key.location_id}: {key.dataset}"


def _period(text: str) -> float:
    found = re.fullmatch(r"(\d{1,5})([smh])", text)
    seconds = int(found.group(1)) * {"s": 1, "m": 60, "h": 3600}[found.group(2)] if found else 0
    if seconds < 10:
        raise argparse.ArgumentTypeError("use 10s or more, like 30s, 5m or 1h")
    return float(seconds)


def _code_of(error: ApiError) -> int:
    if error.status == 401:
        return CREDENTIALS
    if error.is_denied:
        return DENIED
    return UNREACHABLE if error.status == 0 or error.status >= 500 or error.status == 429 else FAILED


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _fail(text: str, code: int) -> int:
    _say(text)
    return code


def run() -> NoReturn:
    """The process's own end: threads that still read are not waited for."""
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    run()
