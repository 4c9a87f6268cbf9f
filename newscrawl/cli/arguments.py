"""Options that several commands share, and functions that evaluate them."""

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import UTC, date, datetime
from functools import partial
from inspect import Parameter, Signature, cleandoc, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.models import OptionInfo, ParameterInfo

from newscrawl import answers, config, storage
from newscrawl.answers.names import company_of, match_one
from newscrawl.storage.scope import FILTERS, NO_CATALOG, read_day, read_scope

if TYPE_CHECKING:
    from newscrawl.answers.coverage import Reading
    from newscrawl.cluster import Workers
    from newscrawl.items import SourceCatalog, Versions
    from newscrawl.mentions import Companies
    from newscrawl.sources import Source
    from newscrawl.storage import Database
    from newscrawl.storage.queries import Scope
    from newscrawl.training.corpus import Corpus


class InputError(ValueError):
    """A wrong argument or option: one line that says what to write instead."""


class _PlainHelp:
    """The help shows words for values and none for switches, where Typer shows Python's types."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters with what the help shows as their values."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for each in parameters:
            if isinstance(each, TyperOption) and each.metavar is None:
                each.metavar = _VALUES_IN_HELP.get(each.type_descriptor.annotation)
        return parameters


_VALUES_IN_HELP: dict[object, str] = {
    bool: "",
    int: "N",
    float: "N",
    str: "TEXT",
    list[str]: "NAME",
}


class Command(_PlainHelp, TyperCommand):
    """A command of the command line, which refuses options that would replace one another."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; raise InputError if an option of one value is repeated."""
        times_by_option = Counter(self.make_parser(ctx).parse_args(list(args))[2])
        for option, times in times_by_option.items():
            if times < 2 or ctx.resilient_parsing:
                continue
            repeated: Any = option  # an argument can't be
            if not (repeated.multiple or repeated.is_flag or repeated.count):
                raise InputError(
                    f"{option.opts[0]} takes one value, and is given {times} times: run the "
                    f"command once for each (see {ctx.command_path} --help)"
                )
        return super().parse_args(ctx, args)


class CommandGroup(_PlainHelp, TyperGroup):
    """A group of commands."""


# Why a revision is quarantined (newscrawl.storage.quarantine), in words.
REASONS = {
    "no_article": "no longer an article",
    "text_shrank": "most of the text is gone",
    "text_replaced": "another text",
    "headline_lost": "the headline is gone",
    "layout_changed": "the site's pages have changed",
}


def complete_company(incomplete: str) -> list[str]:
    """Complete a company, group or saved query, for the shell."""
    names: set[str] = set()
    try:
        with open_for_reading(None) as database:
            names |= set(storage.queries.company_names(database))
    except storage.StorageError:
        pass  # before the first crawl, those of the registry are offered
    registry = companies_from(None)
    names |= {company.name for company in registry} | registry.structure.groups.keys()
    return _beginning(names, incomplete)


def complete_source(incomplete: str) -> list[str]:
    """Complete the slug of a source, for the shell."""
    return _beginning(sources_by_slug(), incomplete)


def complete_group(incomplete: str) -> list[str]:
    """Complete a group of sources, for the shell."""
    return _beginning(source_catalog().groups, incomplete)


def _beginning(names: Iterable[str], begun: str) -> list[str]:
    """Return the names that begin with the text in any case, their beginnings written like the
    text: the shell drops all others."""
    fitting = (name for name in names if name.lower().startswith(begun.lower()))
    return [begun + name[len(begun) :] for name in sorted(fitting)[:_MAX_OFFERED]]


_MAX_OFFERED = 200  # ours: names that a shell is offered

Format = Literal["table", "csv", "json"]
ExportFormat = Literal["table", "csv", "json", "jsonl", "parquet"]


def _filter_option(name: str) -> Any:
    """Return the option of a filter, as its field of a scope declares it."""
    declared = FILTERS[name]
    switch = f"--{name.replace('_', '-')}"
    if declared.kind is bool:
        return typer.Option(switch, help=declared.help)
    completion = {"source": complete_source, "group": complete_group}.get(name)
    return typer.Option(
        switch, help=declared.help, metavar=declared.metavar, autocompletion=completion
    )


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _keyword(name: str, annotation: object, default: object) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


@dataclass(frozen=True, slots=True)
class _Shared:
    """The options that several commands share, by the names of their parameters; a command's own
    docstring may replace switches, value and help.

    --allow-private: Fetch from private addresses too.
    --cluster ADDRESS: Work on a Dask cluster: its scheduler (tcp://HOST:8786), or local:N.
    --companies FILE: A companies file of your own, added to the bundled companies.
    --company, -c NAME: Only this company, by name or alias, this group of your file, or this saved
        query.
    --corpus DIR: Folder of labelled pages.
    --database URL: URL of the database; else sqlite:///newscrawl.sqlite in this folder.
    --dry-run: Only show what would change; write nothing.
    export_format --format, -f: A table to read; or csv, json, jsonl (a line for each row) or
        parquet for programs.
    form --format, -f: A table to read, or csv or json for programs.
    langs --lang CODE: Only this language; may be repeated.
    --limit, -n: Maximum number of rows.
    output_format --format, -f: A table to read, or csv or json for programs.
    sets --set NAME: Only this set; may be repeated.
    --sources FILE: Your own sources file, added to the bundled one; else sources.csv in this
        folder.
    --workers: Processes; else one for each core.
    """

    allow_private: bool
    archive: Annotated[Path | None, typer.Option(envvar="NEWSCRAWL_ARCHIVE")]
    cluster: str | None
    companies: Annotated[Path | None, typer.Option(envvar="NEWSCRAWL_COMPANIES")]
    company: str | None
    corpus: Annotated[Path | None, typer.Option(envvar="NEWSCRAWL_CORPUS")]
    database: Annotated[str | None, typer.Option(envvar="NEWSCRAWL_DATABASE_URL")]
    dry_run: bool
    export_format: ExportFormat
    form: Format
    langs: list[str] | None
    limit: Annotated[int, typer.Option(min=1)]
    output_format: Format
    sets: list[str] | None
    since: Annotated[str | None, _filter_option("since")]
    source: Annotated[str | None, _filter_option("source")]
    sources: Annotated[Path | None, typer.Option(envvar="NEWSCRAWL_SOURCES")]
    until: Annotated[str | None, _filter_option("until")]
    workers: Annotated[int | None, typer.Option(min=1, show_default=False)]


_COMPLETED = {
    **dict.fromkeys(("beside", "company", "names", "other"), complete_company),
    **dict.fromkeys(("slug", "source"), complete_source),
}
# A line of a docstring that declares a parameter: its name, unless its switch says it, its
# switches, what stands for its value, and its help, which indented lines continue.
_DECLARATION = re.compile(
    r"^(?:([a-z]\w*)(?=[ :]) ?)?((?:-[\w/-]+(?:, )?)*) ?(\S*): (.+(?:\n    .+)*)", re.MULTILINE
)


def _declared_in(
    described: Sequence[object], parameters: Mapping[str, Parameter], shared: Mapping[str, Any]
) -> tuple[str, dict[str, Parameter]]:
    """Return the prose of the first docstring, and the parameters with the annotations from which
    Typer makes options and arguments."""
    texts: dict[str, tuple[list[str], str, str]] = {}

    def read(line: re.Match[str]) -> str:
        name, switches = line[1], line[2].split(", ") if line[2] else []
        long = next((switch for switch in switches if switch.startswith("--")), "")
        name = name or long[2:].partition("/")[0].replace("-", "_")
        if name not in parameters:
            return line[0]
        texts[name] = switches, line[3], " ".join(line[4].split())
        return ""

    prose = [_DECLARATION.sub(read, cleandoc(each.__doc__ or "")).strip() for each in described]
    shown = {}
    for name, parameter in parameters.items():
        annotation: Any = parameter.annotation
        if get_args(shared.get(name))[:1] == (annotation,):  # else it only has the same name
            annotation = shared[name]
        if name in texts:
            switches, metavar, text = texts[name]
            is_annotated = get_origin(annotation) is Annotated
            kind, *infos = get_args(annotation) if is_annotated else [annotation]
            is_option = switches or parameter.default is not Parameter.empty
            info = copy(next((info for info in infos if isinstance(info, ParameterInfo)), None))
            info = info or (typer.Option() if is_option else typer.Argument())
            info.help, info.metavar = text, metavar or info.metavar
            info.autocompletion = info.autocompletion or _COMPLETED.get(name)
            if isinstance(info, OptionInfo) and switches:
                info.default, *info.param_decls = switches
            annotation = Annotated[kind, info]
        shown[name] = parameter.replace(annotation=annotation)
    return prose[0], shown


def _fields_of(options: Any) -> dict[str, Parameter]:
    """Return a parameter for each field of a dataclass."""
    return {each.name: _keyword(each.name, each.type, each.default) for each in fields(options)}


if sys.flags.optimize > 1:
    raise SystemExit("newscrawl: Python's -OO removes the docstrings that declare options: use -O")
SHARED: Final = {
    name: parameter.annotation
    for name, parameter in _declared_in([_Shared], _fields_of(_Shared), {})[1].items()
}


def declared(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return the command with the options and arguments that its docstring declares, else those of
    SHARED. The parameter `store` gets the opened database of --database, one that is a dataclass
    the options that are its fields, which its own docstring declares."""
    parameters: dict[str, Parameter] = {}
    groups: dict[str, Any] = {}
    for name, parameter in signature(command).parameters.items():
        if is_dataclass(parameter.annotation):
            groups[name] = parameter.annotation
            parameters |= _fields_of(groups[name])
        else:
            parameters[name] = parameter
    takes_store = bool(parameters.pop("store", None))
    if takes_store:
        parameters["database"] = _keyword("database", SHARED["database"], None)

    def run(**values: Any) -> Any:
        for name, group in groups.items():
            values[name] = group(**{each.name: values.pop(each.name) for each in fields(group)})
        if not takes_store:
            return command(**values)
        with open_for_reading(values.pop("database")) as store:
            return command(store=store, **values)

    prose, shown = _declared_in([command, *groups.values()], parameters, SHARED)
    _set_parameters(run, command, shown.values())
    run.__doc__ = prose
    return run


@contextmanager
def open_workers(number: int | None, cluster: str | None) -> "Iterator[Workers]":
    """Yield local processes or a cluster, of which a line for each worker is printed at the end."""
    from newscrawl.cluster import Cluster

    if number and cluster:
        raise InputError("give --workers or --cluster, not both")
    if not cluster:
        yield number or cores()
        return
    with Cluster(cluster) as opened:
        text = f"{opened.threads():,} workers at {cluster}, dashboard: {opened.dashboard}"
        typer.echo(text, err=True)
        try:
            yield opened
        finally:
            for line in opened.report():
                typer.echo(line, err=True)


@dataclass(frozen=True, slots=True)
class QueryContext:
    """The arguments of every question: an open database, a scope and an output format; and the
    registered companies if one is named or their owners matter."""

    database: "Database"
    scope: "Scope"
    output_format: ExportFormat
    registry: "Companies | None" = None
    companies: Path | None = None

    @property
    def source_names(self) -> dict[str, str]:
        """Return the names of the sources for tables, by slug."""

        return storage.queries.source_names(self.database)

    @property
    def versions(self) -> "Versions":
        """Return the versions in use: the program, the companies, the models of extraction."""
        from newscrawl.reading import versions_of

        return versions_of(companies_file(self.companies))

    def reading(self, company: str | None = None) -> "Reading":
        """Return what a reader must know of the numbers of the scope, or of a company in it."""
        return answers.coverage.reading(self.database, self.scope, company)

    @property
    def note(self) -> str:
        """Return which companies count together, as a note under a table."""
        if self.scope.subsidiaries:
            return " Companies with their subsidiaries."
        return " Subsidiaries count for themselves, and with --subsidiaries for their owners."


_NAMING_COMPANIES = ("company", "names", "beside")  # parameters


def takes_query(
    command: Callable[..., None],
    *,
    scope: bool = True,
    companies: bool = False,
    always_read: bool = False,
) -> Callable[..., None]:
    """Return the command with --database and, if it has none of its own, --format in place of its
    first parameter; with the options of a `scope`, and with --companies and --subsidiaries.

    The registry is read if the command always needs it, an option names a company, or the user has
    a companies file, which may have groups.
    """
    from newscrawl.storage.queries import Scope

    _, *parameters = signature(command).parameters.values()
    has_format = any(parameter.name == "output_format" for parameter in parameters)
    if companies:
        owners_option = Annotated[bool, _filter_option("subsidiaries")]
        parameters.append(_keyword("companies", SHARED["companies"], None))
        parameters.append(_keyword("subsidiaries", owners_option, default=False))
    filters = [name for name in FILTERS if scope and name != "subsidiaries"]
    parameters += [
        _keyword(name, Annotated[str | None, _filter_option(name)], None) for name in filters
    ]
    if not has_format:
        parameters.append(_keyword("output_format", SHARED["export_format"], "table"))
    parameters.append(_keyword("database", SHARED["database"], None))

    def run(**values: Any) -> None:
        chosen = {name: values.pop(name) for name in filters}
        form: ExportFormat = "table" if has_format else values.pop("output_format")
        path = values.pop("companies") if companies else None
        owners = companies and values.pop("subsidiaries")
        with open_for_reading(values.pop("database")) as database:
            limits = scope_of(database, **chosen) if scope else Scope()
            query = QueryContext(database, limits, form)
            names_company = any(values.get(name) is not None for name in _NAMING_COMPANIES)
            if companies and (
                always_read or names_company or owners or companies_file(path) is not None
            ):
                registry = companies_from(path)
                limited = replace(query.scope, structure=registry.structure, subsidiaries=owners)
                query = replace(query, scope=limited, registry=registry, companies=path)
            command(query, **values)

    return _set_parameters(run, command, parameters)


takes_companies: Final = partial(takes_query, companies=True)


def _set_parameters(
    run: Callable[..., None], command: Callable[..., None], parameters: Iterable[Parameter]
) -> Callable[..., None]:
    """Give `run` the name and help of the command and these parameters, which Typer reads."""
    keywords = [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in parameters]
    vars(run)["__signature__"] = Signature(keywords)
    run.__annotations__ = {keyword.name: keyword.annotation for keyword in keywords}
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run


def refuse_options(context: typer.Context, names: Sequence[str], reason: str) -> None:
    """Raise InputError, with the reason, if one of the options was given.

    `names` are those of the command's parameters that have no meaning with the others given.
    """
    options = {parameter.name: parameter.opts[0] for parameter in context.command.params}
    for name in names:
        source = context.get_parameter_source(name)
        if source and source.name == "COMMANDLINE":
            raise InputError(f"{options[name]} {reason}: leave it out")


def parse_day(text: str, *, option: str, today: date | None = None) -> date:
    """Return a date; 7d is the first of the seven days that end today."""
    return read_day(option, text.strip(), today or datetime.now(UTC).date())


def scope_of(database: "Database", **filters: str | None) -> "Scope":
    """Return the scope of the options; its source and country must be in the database."""
    from newscrawl.storage.scope_conditions import validate_in

    for name, text in filters.items():
        if text is not None and not text.strip():
            raise InputError(f"--{name} {text!r}: give a value, or leave the option out")
    catalog = source_catalog() if filters.get("group") else NO_CATALOG
    return validate_in(
        database, read_scope(filters, prefix="--", now=datetime.now(UTC), catalog=catalog)
    )


def name_of_user(name_option: str | None, what: str) -> str:
    """Return the name given, or the user's; raise InputError with a question if there is none."""
    if name := name_option or config.user_name():
        return name
    raise InputError(f"who {what}? give --who NAME")


def company_names_of(texts: Sequence[str], query: QueryContext) -> list[str]:
    """Return the names, in the registry or the database, of companies given by name or alias, and
    of groups."""
    if query.registry is None:
        return []
    stored = storage.queries.company_names(query.database)
    groups = query.scope.structure.groups
    return [company_of(name, query.registry, stored, groups) for name in texts]


def own_sources_file(path: Path | None) -> Path | None:
    """Return the sources file of the option, the settings or this folder; None without one."""
    from newscrawl.sources import own_file

    return own_file(path or config.NEWSCRAWL_SOURCES)


def sources_by_slug(path: Path | None = None) -> "dict[str, Source]":
    """Return the bundled sources and those of `own_sources_file`, which replace equal slugs."""
    from newscrawl.sources.registry import load_registry

    return {source.slug: source for source in load_registry(own_sources_file(path))}


def chosen_sources(slugs: Sequence[str] | None, registry: "Mapping[str, Source]") -> "list[Source]":
    """Return the sources of an option, or all but deprecated ones without it."""
    chosen = [
        match_one(slug, list(registry), "source", "newscrawl sources list") for slug in slugs or ()
    ]
    if not chosen:
        return [source for source in registry.values() if source.status == "active"]
    return [registry[slug] for slug in dict.fromkeys(chosen)]


def own_sources(path: Path | None) -> "tuple[Source, ...]":
    """Return the sources in the user's own file, in its order; none if there is no file."""
    from newscrawl.sources import load_sources

    file = own_sources_file(path)
    return load_sources(file) if file else ()


def source_catalog() -> "SourceCatalog":
    """Return the groups of the registered sources."""
    from newscrawl.sources.registry import catalog_of

    return catalog_of(sources_by_slug().values())


def own_urls(path: Path | None) -> list[str]:
    """Return all URLs in the user's own sources file, whose hosts may be private ones."""
    return [url for source in own_sources(path) for url in source.urls]


def open_for_reading(url: str | None) -> "Database":
    """Return the database of the option, the environment or the settings, which must exist."""
    return storage.open_database(url or config.NEWSCRAWL_DATABASE_URL, create=False)


def companies_from(path: Path | None) -> "Companies":
    """Return the bundled companies and those of the option's or the environment's file."""
    from newscrawl.mentions import load_companies

    return load_companies(companies_file(path))


def companies_file(path: Path | None) -> Path | None:
    """Return the companies file of the option or the environment; None for the bundled ones."""
    file = path or config.NEWSCRAWL_COMPANIES
    return Path(file) if file else None


def corpus_from(folder: Path | None) -> "Corpus":
    """Return the corpus of the option or the environment; raise InputError if there is none."""
    from newscrawl.training.corpus import load_corpus

    if folder is None:
        raise InputError("which labelled pages? give --corpus DIR or set NEWSCRAWL_CORPUS")
    return load_corpus(folder)
