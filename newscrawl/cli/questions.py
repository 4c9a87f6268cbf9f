"""newscrawl ask: all questions without a command of their own.

A question's options follow from its parameters and its columns from its rows
(`newscrawl.storage.queries.questions`).
"""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from inspect import Parameter, Signature, cleandoc
from typing import TYPE_CHECKING, Annotated, Any, get_origin

import typer
from typer.core import TyperCommand

from newscrawl import answers, storage
from newscrawl.cli.arguments import (
    Command,
    CommandGroup,
    CompanyOption,
    LimitOption,
    QueryContext,
    company_names_of,
    takes_companies,
    takes_scope,
)
from newscrawl.cli.output import show, write_note

if TYPE_CHECKING:
    from newscrawl.storage.queries import Question

# Questions of other commands: mentions, articles, search, revisions, corrections, sources coverage
# and status.
_OTHER_COMMANDS = frozenset(
    {
        "articles",
        "co_mentions",
        "company_articles",
        "company_ranking",
        "corrections",
        "coverage",
        "history",
        "mention_counts",
        "quarantined",
        "search",
        "share_of_voice",
        "source_health",
    }
)
# The options of parameters, by their names; others take what their annotation says.
_OPTIONS = {
    "company": CompanyOption,
    "limit": LimitOption,
    "offset": Annotated[int, typer.Option(min=0, help="Leave out the first rows.")],
    "least": Annotated[int, typer.Option(min=1, help="Minimum number of articles.")],
}
# The values of parameters that are not options, by their names.
_FILLED_IN: dict[str, Callable[[QueryContext], object]] = {
    "database": lambda query: query.database,
    "scope": lambda query: query.scope,
    "registered_companies": lambda query: [company.name for company in query.registry or ()],
    "versions": lambda query: query.versions,
}


class Questions(CommandGroup):
    """The commands of `newscrawl ask`, made when they are needed: importing all questions would
    delay every other command."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - click calls it so
        """Return the names of the commands."""
        return sorted(_questions())

    def get_command(
        self,
        ctx: Any,  # noqa: ARG002 - click calls it so
        cmd_name: str,
    ) -> TyperCommand | None:
        """Return the command of a question; None if there is none."""
        question = _questions().get(cmd_name)
        return None if question is None else _typer_command(question)


app = typer.Typer(
    cls=Questions,
    help="Ask further questions, each as a table or for programs.",
    no_args_is_help=True,
)


# Typer makes no group of an application without a callback.
@app.callback()
def _group() -> None:
    pass


def _questions() -> "dict[str, Question]":
    from newscrawl.storage.queries import QUESTIONS

    return {
        name.replace("_", "-"): question
        for name, question in QUESTIONS.items()
        if name not in _OTHER_COMMANDS
        and get_origin(question.answer) is list
        and is_dataclass(question.row)
        and "scope" in question.parameters
    }


def _typer_command(question: "Question") -> TyperCommand:
    name = question.name.replace("_", "-")
    single = typer.Typer(add_completion=False)
    company = question.parameters.get("company")
    given = " -c Siemens" if company and company.default is Parameter.empty else ""
    single.command(name, cls=Command, epilog=f"Example: newscrawl ask {name}{given}")(
        _command(question)
    )
    made = typer.main.get_command(single)
    assert isinstance(made, TyperCommand)  # noqa: S101 - one command alone makes no group
    return made


def _command(question: "Question") -> Callable[..., None]:
    """Return a function with the signature from which Typer makes the command."""

    def ask(query: QueryContext, **values: Any) -> None:
        _answer(question, query, values)

    parameters = [Parameter("query", Parameter.KEYWORD_ONLY, annotation=QueryContext)]
    for name, parameter in question.parameters.items():
        if name not in question.filled_in:
            annotation = _OPTIONS.get(name, parameter.annotation)
            parameters.append(parameter.replace(annotation=annotation, kind=Parameter.KEYWORD_ONLY))
    vars(ask)["__signature__"] = Signature(parameters)
    ask.__name__ = question.name
    ask.__doc__ = f"{_sentence(question)}\n\nThe exit code is 1 if the answer is empty."
    if _is_about_companies(question):
        return takes_companies(ask, always_read="registered_companies" in question.filled_in)
    return takes_scope(ask)


def _is_about_companies(question: "Question") -> bool:
    """Return whether a question names companies in its parameters or its rows, so that it can be
    asked with their subsidiaries."""
    named = {*question.parameters, *(field.name for field in fields(question.row))}
    return not named.isdisjoint({"company", "companies", "registered_companies"})


def _sentence(question: "Question") -> str:
    """Return the first paragraph of the question's docstring as a command's help."""
    first = cleandoc(question.ask.__doc__ or "").partition("\n\n")[0]
    plain = first.replace("Return ", "List ", 1).replace("`", "").replace("\n", " ")
    return plain.replace("of the scope", "of the period and sources chosen")


def _answer(question: "Question", query: QueryContext, values: dict[str, Any]) -> None:
    values |= {name: _FILLED_IN[name](query) for name in question.filled_in}
    if values.get("company") is not None:
        (values["company"],) = company_names_of([values["company"]], query)
    rows = question.ask(**values)
    completeness = storage.queries.completeness(
        query.database, company=values.get("company"), scope=query.scope
    )
    note = query.note if _is_about_companies(question) else ""
    show(rows, question.row, query.output_format, note=answers.words.coverage(completeness) + note)
    if not rows:
        write_note("No coverage." if completeness.level == "none" else "None.")
        raise typer.Exit(1)
