"""Find the companies that count under a name on each day, by the owners of a registry."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise

from newscrawl.items import CompanyStructure

_ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Tenure:
    """The UTC days, both included, on which a company counts under a name; None is open."""

    company: str
    first: date | None = None
    last: date | None = None

    def covers(self, day: date) -> bool:
        return (self.first or day) <= day <= (self.last or day)


@dataclass(frozen=True, slots=True)
class Ownership:
    """The owners of a company in a period, the company itself first, the uppermost owner last."""

    chain: tuple[str, ...]
    first: date | None
    last: date | None


def ownerships(
    structure: CompanyStructure, company: str, since: date | None, until: date | None
) -> Iterator[Ownership]:
    """Yield the owners of a company from `since` to `until`, the earliest period first."""
    starts = {
        day
        for day in _changes(structure, company)
        if (since is None or day > since) and (until is None or day <= until)
    }
    firsts = [since, *sorted(starts)]
    for first, after in pairwise([*firsts, None]):
        last = until if after is None else after - _ONE_DAY
        chain = _owners_on(structure, company, first or (after and after - _ONE_DAY) or until)
        yield Ownership(chain, first, last)


def tenures(
    structure: CompanyStructure, names: Iterable[str], since: date | None, until: date | None
) -> list[Tenure]:
    """Return when the companies, and those that belong to them, count between two days."""
    owners = dict.fromkeys(names)
    tenures_of_all = []
    for company in _family(structure, owners):
        periods: list[Tenure] = []
        for ownership in ownerships(structure, company, since, until):
            if owners.keys().isdisjoint(ownership.chain):
                continue
            if periods and periods[-1].last and ownership.first == periods[-1].last + _ONE_DAY:
                periods[-1] = Tenure(company, periods[-1].first, ownership.last)
            else:
                periods.append(Tenure(company, ownership.first, ownership.last))
        tenures_of_all += periods
    return tenures_of_all


def _family(structure: CompanyStructure, names: Iterable[str]) -> list[str]:
    """Return the companies, and all that belong to them on any day."""
    owned: dict[str, list[str]] = {}
    for company, owner in structure.parents.items():
        owned.setdefault(owner, []).append(company)
    family = dict.fromkeys(names)
    waiting = list(family)
    while waiting:
        more = [company for company in owned.get(waiting.pop(), ()) if company not in family]
        family |= dict.fromkeys(more)
        waiting += more
    return list(family)


def _changes(structure: CompanyStructure, company: str) -> Iterator[date]:
    """Yield the days on which an owner of a company, or an owner's owner, may change."""
    companies = {company}
    while owner := structure.parents.get(company):
        since, until = structure.owned.get(company, (None, None))
        if since:
            yield since
        if until:
            yield until + _ONE_DAY
        if owner in companies:
            return
        companies.add(company := owner)


def _owners_on(structure: CompanyStructure, company: str, day: date | None) -> tuple[str, ...]:
    """Return the company and its owners of a day, the uppermost last; None is any day."""
    chain = [company]
    while owner := structure.parents.get(company):
        since, until = structure.owned.get(company, (None, None))
        if owner in chain or (day and ((since and day < since) or (until and day > until))):
            break
        chain.append(company := owner)
    return tuple(chain)
