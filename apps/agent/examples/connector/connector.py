"""A connector in 60 lines: reads a practice's SQLite file and prints its records as lines of JSON.

    bridgework-agent connector-test python3 connector.py practice.sqlite
"""
import json
import sqlite3
import sys

LOCATION = {
    "source_id": "main",
    "name": "Example Dental",
    "time_zone": "America/Chicago",
}


def show(line):
    print(json.dumps(line))


def record(dataset, source_id, attributes):
    show({"dataset": dataset, "location": LOCATION["source_id"], "source_id": source_id, "attributes": attributes})


def complete(dataset, keys):
    """Every key that exists now: what is missing here becomes hidden."""
    show({"dataset": dataset, "location": LOCATION["source_id"], "complete": keys})


def insurance_plans(database):
    keys = []
    for no, name, group_number, carrier in database.execute(
        "select no, name, group_number, carrier from plan order by no"
    ):
        attributes = {
            "plan_name": name or "",
            "group_number": group_number,
            "carrier_name": carrier,
            "is_hidden": False,
            "payer_id": None,
            "employer_name": None,
            "plan_type": None,
            "renewal_month": None,
            "fee_schedule_source_id": None,
        }
        record("insurance_plans", str(no), attributes)
        keys.append(str(no))
    complete("insurance_plans", keys)


def main():
    # Read-only: a connector never writes to the practice's database.
    database = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
    show({"location": LOCATION})
    insurance_plans(database)


main()
