"""The last good copy of each host's robots.txt, so that a crawl that starts anew still has it."""

import zlib
from collections.abc import Collection
from typing import Any

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from newscrawl.items import RobotsPolicy
from newscrawl.storage import models
from newscrawl.storage.database import Database
from newscrawl.storage.documents import MAX_URL_BYTES

# SQLAlchemy types no statement that is one of two dialects'.
_INSERT: dict[str, Any] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
# Ours: hosts that are asked for in one statement.
_AT_ONCE = 500


def keep_robots_policy(database: Database, policy: RobotsPolicy) -> None:
    """Put the policy in the place of an older one of its host."""
    if len(policy.origin.encode()) > MAX_URL_BYTES:
        return  # no host has such a name
    row = {
        "origin": policy.origin,
        "status": policy.status,
        "rules": zlib.compress(policy.rules),
        "fetched_at": policy.fetched_at,
    }

    def work(session: Session) -> None:
        insert = _INSERT[session.connection().dialect.name](models.RobotsPolicy).values(row)
        new = {name: insert.excluded[name] for name in ("status", "rules", "fetched_at")}
        session.execute(
            insert.on_conflict_do_update(
                index_elements=["origin"],
                set_=new,
                where=models.RobotsPolicy.fetched_at <= insert.excluded.fetched_at,
            )
        )

    database.write(work)


def robots_policy(database: Database, origin: str) -> RobotsPolicy | None:
    """Return what a host's robots.txt said last, None where it was never read."""
    return robots_policies(database, [origin]).get(origin)


def robots_policies(database: Database, origins: Collection[str]) -> dict[str, RobotsPolicy]:
    """Return what the robots.txt of these hosts said last, of those that were ever read."""
    asked = list(dict.fromkeys(origins))
    found: dict[str, RobotsPolicy] = {}
    with database.reading() as session:
        for start in range(0, len(asked), _AT_ONCE):
            chosen = models.RobotsPolicy.origin.in_(asked[start : start + _AT_ONCE])
            for row in session.scalars(select(models.RobotsPolicy).where(chosen)):
                found[row.origin] = RobotsPolicy(
                    origin=row.origin,
                    status=row.status,
                    rules=zlib.decompress(row.rules),
                    fetched_at=row.fetched_at,
                )
    return found
