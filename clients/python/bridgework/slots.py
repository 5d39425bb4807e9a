"""How many locations may have requests in flight at one time: 5 in full and 25 by delta, or fewer."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import contextmanager
from typing import Dict, Iterator

INITIAL = "initial"
INCREMENTAL = "incremental"


class _Lane:
    def __init__(self, limit: int) -> None:
        if limit < 1:
            raise ValueError(f"A limit of concurrency must be at least 1, not {limit}.")
        self.limit_max = self.limit = limit
        self.in_flight: Counter[str] = Counter()

    def is_free(self, location_id: str) -> bool:
        return location_id in self.in_flight or len(self.in_flight) < self.limit


class SyncSlots:
    """Requests hold a slot, not walks: a program that reads many lists in step does not wait for ever."""

    def __init__(self, initial: int, incremental: int) -> None:
        self._lanes: Dict[str, _Lane] = {INITIAL: _Lane(initial), INCREMENTAL: _Lane(incremental)}
        self._changed = threading.Condition()

    @contextmanager
    def hold(self, sync_type: str, location_id: str) -> Iterator[None]:
        """Waits for a slot of the location. Requests of one location share one."""
        lane = self._lanes[sync_type]
        with self._changed:
            self._changed.wait_for(lambda: lane.is_free(location_id))
            lane.in_flight[location_id] += 1
        try:
            yield
        finally:
            with self._changed:
                lane.in_flight[location_id] -= 1
                if lane.in_flight[location_id] == 0:
                    del lane.in_flight[location_id]
                self._changed.notify_all()

    def learn(self, sync_type: str, limit: int) -> None:
        """Keeps to a lower limit of the service."""
        lane = self._lanes[sync_type]
        with self._changed:
            lane.limit = max(1, min(lane.limit_max, limit))
            self._changed.notify_all()
