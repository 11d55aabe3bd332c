"""A newer fact replaces an older one only where both could not hold."""

from __future__ import annotations

import pytest

from memcli.text.contradict import clashes
from memcli.text.outdated import doubt

REPLACED = [
    ("Invoices are kept for ten years", "Invoices are kept for seven years"),
    ("We decided on three retries", "We decided on five retries"),
    ("Answer in German", "Always answer in English"),
    ("Always use tabs in Go", "Never use tabs in Go"),
    ("We support Python 3.9", "We no longer support Python 3.9"),
    ("The staging server lives in Ghent", "The staging server lives in Lille"),
    ("Anna owns billing", "Ben owns billing"),
    ("Use Redis for sessions", "Use Memcached for sessions"),
    ("The archive runs on PostgreSQL 15", "The archive runs on PostgreSQL 16"),
    ("My time zone is Europe/Lisbon", "My time zone is Europe/Berlin"),
    ("The freeze starts on 2026-10-15", "The freeze starts on 2026-10-22"),
    ("Client library must be 2.4 or newer", "Client library must be 2.5 or newer"),
    ("Feature flags are enabled", "Feature flags are disabled"),
    ("The mirror is writable", "The mirror is not writable"),
    ("Prefer composition over inheritance", "Prefer inheritance over composition"),
    ("The importer must not hold more than 64 MB", "The importer must not hold more than 128 MB"),
    ("Tokens live 15 minutes", "Tokens live 30 minutes"),
    ("The team meets on Monday", "The team meets on Tuesday"),
    ("On réessaie les appels", "On ne réessaie pas les appels"),
    ("再試行します", "再試行しません"),
    ("Anna prefers tabs over spaces", "Anna prefers spaces over tabs"),
    ("The budget is 400 euros", "The budget is 600 euros"),
]
BOTH_HOLD = [
    ("Port 8080 is public", "Port 8081 is public"),
    ("Answer Anna in German", "Answer Ben in German"),
    ("Respond in English to Anna", "Respond in English to Ben"),
    ("The Oslo office has 5 desks", "The Lyon office has 3 desks"),
    ("Release 2.1 was cut on Monday", "Release 2.2 was cut on Tuesday"),
    ("We met the board on 2026-01-01", "We met the board on 2026-02-01"),
    ("The meeting with Anna is at 10:00", "The meeting with Ben is at 14:00"),
    ("Never deploy on Friday", "Never deploy on Sunday"),
    ("We support Python 3.11", "We support Python 3.12"),
    ("Our office in Ghent opens at 8", "Our office in Lille opens at 9"),
    ("Use tabs in Makefiles", "Use spaces in Python"),
    ("Anna prefers short answers", "Anna prefers dark themes"),
    ("Anna prefers tabs", "Ben prefers spaces"),
    ("We decided on plan A for the hall", "We decided on plan B for the roof"),
    ("The first run took 5 minutes", "The second run took 7 minutes"),
    ("Lena is in Berlin on Mondays", "Lena is in Ghent on Fridays"),
    ("The sensor in hall 1 reads 20 degrees", "The sensor in hall 2 reads 22 degrees"),
    ("We use Postgres 16 in production", "We use Postgres 17 in staging"),
    ("Do not use mocks in storage tests", "Use mocks in network tests"),
    ("Speak English with customers", "Speak German with suppliers"),
    ("Answer in German", "Answer in short sentences"),
    ("The queue must not grow beyond 10 MB", "The log must not grow beyond 20 MB"),
    ("We run 3 nodes in Ghent", "We run 5 nodes in Lille"),
    ("Never retry a payment", "Retry a download"),
    ("All queues expire", "Some queues expire"),
    ("We deployed version 2.1 on Monday", "We deployed version 2.2 on Monday"),
]


@pytest.mark.parametrize(("old", "new"), REPLACED)
def test_what_can_hold_once_only_is_replaced(old: str, new: str) -> None:
    (clash,) = clashes([old, new])
    assert doubt(clash, old, new) == ""


@pytest.mark.parametrize(("old", "new"), BOTH_HOLD)
def test_what_can_both_hold_is_left_to_a_person(old: str, new: str) -> None:
    assert all(doubt(clash, old, new) for clash in clashes([old, new]))
