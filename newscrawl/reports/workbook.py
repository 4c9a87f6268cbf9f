"""A report as an Excel workbook, with tables and charts."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from operator import attrgetter
from typing import Any

from newscrawl.answers import words
from newscrawl.answers.company import CompanyPeriod
from newscrawl.config import SettingError
from newscrawl.reports.document import between_two, caveats, method
from newscrawl.reports.figures import MAX_SOURCES, Report, beside_of
from newscrawl.storage import Database, queries
from newscrawl.storage.queries import ArticleRow, Scope, Snippet
from newscrawl.templating import one_line, plain, spreadsheet_text

MAX_ARTICLES = 10_000  # of a company in a table; ours: as many as a proof lists
MAX_CELL = 2000  # characters; ours: Excel's own limit is 32,767
MAX_HEADING = 200  # characters of a table's column; Excel's limit is 255
_WIDE, _USUAL, _NOTES = 42, 13, 100  # widths of columns, in characters
_FILTER = 3  # characters that the button of a table's heading takes
_STYLE = "Table Style Light 1"
# Text stays text, even if it looks like a formula, URL or number.
_OPTIONS = {
    "in_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
    "default_date_format": "yyyy-mm-dd",
    "remove_timezone": True,
}


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a file: the names of its columns, and its rows."""

    head: Sequence[str]
    rows: Sequence[Sequence[object]]

    @classmethod
    def of_records(cls, records: Iterable[object], *names: str) -> "Table":
        """Return a row for each record, of two or more attributes with these names."""
        return cls(names, [attrgetter(*names)(record) for record in records])

    @classmethod
    def of_articles(
        cls,
        listed: Iterable[tuple[ArticleRow, Sequence[Snippet]]],
        source_names: Mapping[str, str],
        company: str | None = None,
    ) -> "Table":
        """Return articles, each with its sentences; with the `company` that they name, if given."""
        rows = [
            (
                *([company] if company is not None else []),
                article.title,
                source_names.get(article.source) or article.source,
                article.day,
                article.url,
                " … ".join(each.text for each in snippets if each.section == "body"),
                article.language,
                article.access,
                article.in_title + article.in_body,
            )
            for article, snippets in listed
        ]
        head = (
            "headline",
            "source",
            "date",
            "address",
            "sentence",
            "language",
            "access",
            "mentions",
        )
        return cls(head if company is None else ("company", *head), rows)


def article_table(database: Database, companies: Sequence[str], scope: Scope) -> Table:
    """Return the articles that name companies, MAX_ARTICLES of each."""
    names = queries.source_names(database)
    tables = [
        Table.of_articles(
            (
                (article.article, article.snippets)
                for article in queries.company_articles(
                    database, company, scope=scope, limit=MAX_ARTICLES
                )
            ),
            names,
            company,
        )
        for company in companies
    ]
    return Table(tables[0].head, [row for table in tables for row in table.rows])


def workbook(report: Report, articles: Table | None = None) -> bytes:
    """Return the report as an XLSX file, with a sheet of articles if they are given; raise
    SettingError without the library for it."""
    file = BytesIO()
    with _open_book(file) as book:
        book.set_properties({"title": plain(report.title)[:MAX_HEADING], "created": report.made_at})
        book_of = _Report(book, report=report)
        book_of.key_figures()
        book_of.over_time()
        book_of.lists()
        if articles:
            book_of.table("Articles", [name.capitalize() for name in articles.head], articles.rows)
        book_of.notes()
    return file.getvalue()


def table_workbook(tables: Mapping[str, Table]) -> bytes:
    """Return tables as the sheets of an XLSX file; raise SettingError without the library for
    it."""
    file = BytesIO()
    with _open_book(file) as book:
        for name, table in tables.items():
            _Book(book).table(name, table.head, table.rows)
    return file.getvalue()


def _open_book(file: BytesIO) -> Any:
    try:
        import xlsxwriter  # noqa: PLC0415 - an optional dependency
    except ModuleNotFoundError as error:
        raise SettingError(
            "a workbook needs XlsxWriter: pip install 'newscrawl[reports]'"
        ) from error
    return xlsxwriter.Workbook(file, _OPTIONS)


@dataclass
class _Book:
    """Tables in a workbook of XlsxWriter, which has no types."""

    book: Any
    percent: Any = field(init=False)

    def __post_init__(self) -> None:
        self.percent = self.book.add_format({"num_format": "0.0%"})

    def table(
        self,
        name: str,
        headings: Sequence[str],
        rows: Sequence[Sequence[object]],
        *,
        percent: Sequence[str] = (),
    ) -> Any:
        """Add a sheet with a table, which Excel can sort and filter."""
        sheet = self.book.add_worksheet(name)
        columns = [
            {"header": heading, "format": self.percent if heading in percent else None}
            for heading in _distinct(headings)
        ]
        sheet.add_table(
            *(0, 0, max(len(rows), 1), len(headings) - 1),
            {"columns": columns, "name": name.replace(" ", "_"), "style": _STYLE},
        )
        for place, heading in enumerate(headings):
            texts = any(isinstance(row[place], str) for row in rows) and len(heading) > 0
            width = _WIDE if texts else _USUAL
            sheet.set_column(place, place, max(width, min(len(heading) + _FILTER, _WIDE)))
        for number, row in enumerate(rows, start=1):
            for place, value in enumerate(row):
                if isinstance(value, str):
                    sheet.write_string(number, place, _text(value))
                elif value is not None:
                    sheet.write(number, place, value, columns[place]["format"])
        sheet.freeze_panes(1, 0)
        return sheet


@dataclass
class _Report(_Book):
    """The sheets of a report."""

    report: Report = field(kw_only=True)

    def key_figures(self) -> None:
        """Add the sheet of key figures, with the shares of voice."""
        report = self.report
        shares = {share.company: share.share for share in report.shares}
        headings = (
            *("Company", "Articles", "Articles before", "Change of share", "More than chance?"),
            *("p", "Articles read", "Read before", "Stories", "In headlines", "In the body"),
            "Share",
        )
        rows = [
            (
                company.company,
                company.hits.articles,
                company.change.before,
                company.change.growth,
                words.verdict_text(company.change),
                company.change.chance,
                report.reading.completeness.read,
                report.reading.completeness_before.read,
                company.stories,
                company.hits.in_title,
                company.hits.in_body,
                shares.get(company.company),
            )
            for company in report.companies
        ]
        sheet = self.table("Key figures", headings, rows, percent=("Change of share", "Share"))
        if shares:
            chart = self.book.add_chart({"type": "bar"})
            self._series(chart, "Key figures", 11, len(rows))
            chart.set_title({"name": "Share of voice"})
            chart.set_legend({"none": True})
            sheet.insert_chart(len(rows) + 3, 0, chart, {"x_scale": 1.2})

    def over_time(self) -> None:
        """Add the sheet of the series, with a chart; gaps are empty."""
        report = self.report
        chart_rows, names = report.chart.rows, report.names
        left_out = any(row.days_left_out for row in chart_rows)
        headings = (report.by.capitalize(), *names, *(["Days left out"] if left_out else []))
        rows = [
            (row.first, *row.numbers, *([row.days_left_out] if left_out else []))
            for row in chart_rows
        ]
        sheet = self.table("Over time", headings, rows)
        chart = self.book.add_chart({"type": "line" if len(report.companies) > 1 else "column"})
        for column in range(1, len(names) + 1):
            self._series(chart, "Over time", column, len(rows))
        chart.set_title({"name": f"Articles by {report.by}"})
        chart.set_x_axis({"date_axis": True, "num_format": "d mmm"})
        chart.show_blanks_as("gap")
        if len(report.companies) == 1:
            chart.set_legend({"none": True})
        sheet.insert_chart(1, len(headings) + 1, chart, {"x_scale": 1.6, "y_scale": 1.2})

    def lists(self) -> None:
        """Add the sheets of stories, sources and companies named together."""
        companies = self.report.companies
        self.table(
            "Stories",
            ("Company", "Headline", "Articles", "Sources", "First day", "Excerpt", "Address"),
            [row for company in companies for row in _stories(self.report, company)],
        )
        self.table(
            "Sources",
            ("Company", "Source", "Articles", "Articles read", "Share"),
            [
                (
                    company.company,
                    self.report.source_name(each.key),
                    each.hits and each.hits.articles,
                    each.completeness.read,
                    each.share,
                )
                for company in companies
                for each in company.sources[:MAX_SOURCES]
            ],
            percent=("Share",),
        )
        self.table(
            "Named together",
            ("Company", "Named together with", "Kind", "Articles", "Stories"),
            [
                (company.company, each.company, each.kind, each.articles, each.stories)
                for company in companies
                for each in beside_of(company)
            ],
        )

    def notes(self) -> None:
        """Add the sheets on coverage and on method."""
        report = self.report
        wrapped = self.book.add_format({"text_wrap": True, "valign": "top"})
        gaps: list[tuple[str, int, int | None, str]] = [
            (report.source_name(each.source), each.missed, each.days, each.reasons)
            for each in report.unread
        ]
        gaps = gaps or [("(none)", 0, None, words.coverage(report.reading))]
        sheet = self.table(
            "Coverage",
            (
                "Source not read every day",
                "Days not read",
                "Days of the source",
                "Which, and why",
            ),
            gaps,
        )
        sheet.set_column(3, 3, _NOTES)
        for row, (*_, reasons) in enumerate(gaps, start=1):
            sheet.write_string(row, 3, _text(reasons), wrapped)
        notes = self.book.add_worksheet("Notes")
        notes.set_column(0, 0, _NOTES)
        period = words.period_text(report.reading)
        texts = [f"{report.title}, {period}", words.coverage(report.reading)]
        texts += [*between_two(report), *caveats(report), *method(report)]
        for row, text in enumerate(texts):
            notes.write_string(row, 0, _text(text), wrapped)

    @staticmethod
    def _series(chart: Any, sheet: str, column: int, rows: int) -> None:
        chart.add_series(
            {
                "name": [sheet, 0, column],
                "categories": [sheet, 1, 0, rows, 0],
                "values": [sheet, 1, column, rows, column],
            }
        )


def _stories(report: Report, company: CompanyPeriod) -> Iterator[tuple[object, ...]]:
    for story in company.top_stories:
        article = report.excerpts.get((company.company, story.url))
        snippets = article.snippets if article else ()
        excerpt = next((each.text for each in snippets if each.section == "body"), "")
        head = (company.company, story.title or story.url, story.articles, story.sources)
        yield (*head, story.first_day, excerpt, story.url)


def _text(text: str) -> str:
    return spreadsheet_text(plain(text))[:MAX_CELL]


def _distinct(headings: Sequence[str]) -> list[str]:
    """Return headings that a table can have: not empty, and different, whatever their case."""
    uses: Counter[str] = Counter()
    names = []
    for heading in headings:
        text = _text(one_line(heading))[:MAX_HEADING] or "?"
        uses[text.casefold()] += 1
        number = uses[text.casefold()]
        names.append(text if number == 1 else f"{text} ({number})")
    return names
