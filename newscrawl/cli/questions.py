"""newscrawl ask: all questions that are answered by a list of rows.

A question's options follow from its parameters and its columns from its rows
(`newscrawl.storage.queries.questions`).
"""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from inspect import Parameter, Signature, cleandoc
from typing import TYPE_CHECKING, Annotated, Any, get_origin

import typer
from typer.core import TyperCommand

from newscrawl import answers
from newscrawl.cli.arguments import (
    SHARED,
    Command,
    CommandGroup,
    QueryContext,
    company_names_of,
    complete_company,
    declared,
    takes_companies,
    takes_query,
)
from newscrawl.cli.output import exit_without, show

if TYPE_CHECKING:
    from newscrawl.storage.queries import Question

# The options of parameters, by their names; others take what their annotation says.
_OPTIONS: dict[str, Any] = {
    "company": SHARED["company"],
    "limit": SHARED["limit"],
    "companies": Annotated[
        list[str],
        typer.Option(
            "--company",
            "-c",
            help="Two or more companies, groups or saved queries.",
            metavar="NAME",
            autocompletion=complete_company,
        ),
    ],
    "offset": Annotated[int, typer.Option(min=0, help="Leave out the first rows.")],
    "least": Annotated[int, typer.Option(min=1, help="Minimum number of articles.")],
    "stories": Annotated[bool, typer.Option("--stories", help="Also count stories.")],
    "undone": Annotated[bool, typer.Option("--undone", help="Those that were undone.")],
    "every_kind": Annotated[
        bool, typer.Option("--all-kinds", help="Also pages that are not articles.")
    ],
}
# Examples of parameters that must be given.
_EXAMPLES = {
    "company": " -c Siemens",
    "companies": " -c Siemens -c Bosch",
    "query": " '\"interest rates\" bank*'",
    "url": " https://www.ft.com/content/1",
    "story": " --story 7",
}
# The values of parameters that are not options, by their names.
_FILLED_IN: dict[str, Callable[[QueryContext], object]] = {
    "database": lambda request: request.database,
    "scope": lambda request: request.scope,
    "registered_companies": lambda request: [company.name for company in request.registry or ()],
    "versions": lambda request: request.versions,
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
    cls=Questions, help="Ask any question, each as a table or for programs.", no_args_is_help=True
)


# Typer makes no group of an application without a callback.
@app.callback()
def _group() -> None:
    pass


def _questions() -> "dict[str, Question]":
    """Return the questions that are answered by a list of rows, by the names of their commands."""
    from newscrawl.storage.queries import QUESTIONS

    return {
        name.replace("_", "-"): question
        for name, question in QUESTIONS.items()
        if get_origin(question.answer) is list and is_dataclass(question.row)
    }


def _typer_command(question: "Question") -> TyperCommand:
    name = question.name.replace("_", "-")
    single = typer.Typer(add_completion=False)
    required = [each.name for each in question.parameters.values() if each.default is each.empty]
    example = "".join(_EXAMPLES.get(parameter, "") for parameter in required)
    single.command(name, cls=Command, epilog=f"Example: newscrawl ask {name}{example}")(
        declared(_command(question))
    )
    command = typer.main.get_command(single)
    assert isinstance(command, TyperCommand)  # noqa: S101 - one command alone makes no group
    return command


def _command(question: "Question") -> Callable[..., None]:
    """Return a function with the signature from which Typer makes the command."""

    def ask(request: QueryContext, /, **values: Any) -> None:
        _answer(question, request, values)

    parameters = [Parameter("request", Parameter.KEYWORD_ONLY, annotation=QueryContext)]
    for name, parameter in question.parameters.items():
        if name not in question.filled_in:
            shown = parameter.replace(
                name="company" if name == "companies" else name,
                annotation=_OPTIONS.get(name, parameter.annotation),
                kind=Parameter.KEYWORD_ONLY,
            )
            option = name not in _OPTIONS and parameter.annotation is int
            if option and parameter.default is Parameter.empty:
                shown = shown.replace(annotation=Annotated[int, typer.Option()])
            parameters.append(shown)
    vars(ask)["__signature__"] = Signature(parameters)
    ask.__name__ = question.name
    sentence = cleandoc(question.ask.__doc__ or "").partition("\n\n")[0]
    for word, typed in (("every_kind", "--all-kinds"), ("each", "--each"), ("undone", "--undone")):
        sentence = sentence.replace(f"`{word}`", typed)
    sentence = sentence.replace("the scope's", "the chosen")
    sentence = sentence.replace("Return ", "List ", 1).replace("`", "").replace("\n", " ")
    sentence = sentence.replace("of the scope", "of the period and sources chosen")
    ask.__doc__ = f"{sentence}\n\nThe exit code is 1 if the answer is empty."
    if "scope" not in question.parameters:
        return takes_query(ask, scope=False)
    if _is_about_companies(question):
        return takes_companies(ask, always_read="registered_companies" in question.filled_in)
    return takes_query(ask)


def _is_about_companies(question: "Question") -> bool:
    """Return whether a question names companies in its parameters or its rows, so that it can be
    asked with their subsidiaries."""
    names = {*question.parameters, *(field.name for field in fields(question.row))}
    return not names.isdisjoint({"company", "companies", "registered_companies"})


def _answer(question: "Question", request: QueryContext, values: dict[str, Any]) -> None:
    """Write the rows of the answer, with their completeness below a table."""
    company = values.pop("company", None)
    names = company_names_of([company] if isinstance(company, str) else company or [], request)
    if "companies" in question.parameters:
        values["companies"] = names
    elif "company" in question.parameters:
        values["company"] = names[0] if names else None
    values |= {name: _FILLED_IN[name](request) for name in question.filled_in}
    limit = values.get("limit")
    if limit is not None:  # one more says whether there are further ones
        values["limit"] = limit + 1
    rows = question.ask(**values)
    note, nothing = "", "None."
    if "scope" in question.parameters:
        reading = request.reading(values.get("company"))
        note = answers.words.coverage(reading)
        note += request.note if _is_about_companies(question) else ""
        nothing = "No coverage." if reading.completeness.level == "none" else nothing
    show(rows, question.row, request.output_format, note=note, limit=limit)
    exit_without(rows, nothing)
