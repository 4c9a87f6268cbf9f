"""The names that people write: those that are meant, or the nearest ones."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from newscrawl.storage import QuestionError
from newscrawl.text import did_you_mean, match_name

if TYPE_CHECKING:
    from newscrawl.mentions import Companies


def match_one(text: str, names: Sequence[str], what: str, see: str) -> str:
    """Return the known name in any case; raise QuestionError with the nearest names."""
    name, near = match_name(text, names)
    if name is None:
        advice = did_you_mean(near) if near else f"{see} shows them all"
        raise QuestionError(f"unknown {what} {text!r}: {advice}")
    return name


def company_of(
    text: str, companies: "Companies", stored: Sequence[str], groups: Collection[str] = ()
) -> str:
    """Return the registry's or database's name of a company given by name or alias, or the name of
    one of the groups; raise QuestionError with the nearest names."""
    owners = {name: name for name in (*stored, *groups)}
    for company in companies:
        owners.update(dict.fromkeys((*company.aliases, *company.ambiguous), company.name))
    owners.update({company.name: company.name for company in companies})
    # Names before aliases, where only case distinguishes them.
    names = [*(company.name for company in companies), *stored, *owners]
    return owners[match_one(text, names, "company", "newscrawl companies list")]
