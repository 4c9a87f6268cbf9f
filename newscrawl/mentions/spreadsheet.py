"""Lists of companies as people have them: spreadsheets (.xlsx), tables of text with any usual
separator and charset, and plain lists with a name on each line."""

import codecs
import csv
import re
from collections.abc import Iterator
from importlib.resources import files
from io import BytesIO
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile

# Endings of files that are tables; others are TOML.
SUFFIXES = frozenset({".csv", ".tsv", ".txt", ".xlsx"})
# What people call the column of names, in the languages of the vocabulary. Our own selection.
_NAME_COLUMNS = frozenset(
    files(__package__).joinpath("name_columns.txt").read_text(encoding="utf-8").splitlines()
)
# Rows above the header that may be a title, bytes of a whole worksheet, and its first cells. Ours.
_TITLE_ROWS = 5
_LARGEST_SHEET = 64 * 2**20
_SEPARATORS = ("\t", ";", ",")
_CELL = re.compile("([A-Z]+)")
_OLD_EXCEL = b"\xd0\xcf\x11\xe0"


class NotATableError(ValueError):
    """Content that is no table: what is wrong, what to do, and the line."""

    def __init__(self, fault: str, advice: str, line: int | None = None) -> None:
        super().__init__(fault)
        self.fault, self.advice, self.line = fault, advice, line


def table_rows(content: bytes) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield each line's number and its cells by column; the column of names is "name", whatever it
    is called. Raise NotATableError."""
    lines = [(number, cells) for number, cells in _cells(content) if any(cells)]
    place = next(
        (place for place, (_, cells) in enumerate(lines[:_TITLE_ROWS]) if _name_column(cells) >= 0),
        None,
    )
    if place is None:
        if any(sum(map(bool, cells)) > 1 for _, cells in lines):
            raise NotATableError('the header has no column "name"', "name the columns in line 1", 1)
        keys, rows = ["name"], [(number, [max(cells, key=len)]) for number, cells in lines]
    else:
        header, rows = lines[place][1], lines[place + 1 :]
        keys = [cell.lower() for cell in header]
        keys[_name_column(header)] = "name"
    seen_rows = set()
    for number, cells in rows:
        row = tuple(zip(keys, cells, strict=False))
        if row not in seen_rows:
            seen_rows.add(row)
            yield number, dict(row)


def _name_column(cells: list[str]) -> int:
    """Return the number of the column of names, -1 if none is called so."""
    folded = [" ".join(cell.lower().strip(":*# ").split()) for cell in cells]
    columns = [number for number, cell in enumerate(folded) if cell in _NAME_COLUMNS]
    return folded.index("name") if "name" in folded else next(iter(columns), -1)


def _cells(content: bytes) -> Iterator[tuple[int, list[str]]]:
    if content.startswith(b"PK"):
        yield from _cells_of_workbook(content)
        return
    if content.startswith(_OLD_EXCEL):
        raise NotATableError("a file of an old Excel", "save it as .xlsx or as CSV")
    text = _decoded(content)
    first = text.partition("\n")[0]
    separator = max(_SEPARATORS, key=first.count)
    if not first.count(separator):
        for number, line in enumerate(text.splitlines(), 1):
            yield number, [_unquoted(line.strip(), number)]
        return
    reader = csv.reader(text.splitlines(keepends=True), delimiter=separator, strict=True)
    try:
        for cells in reader:
            yield reader.line_num, [cell.strip() for cell in cells]
    except csv.Error as error:
        raise NotATableError(f"not CSV: {error}", "correct this line", reader.line_num) from None


def _unquoted(line: str, number: int) -> str:
    """Return a line of a plain list, in which commas and quotation marks are parts of names."""
    if line.startswith('"') and line.count('"') % 2:
        raise NotATableError("not CSV: an open quotation mark", "correct this line", number)
    inner = line[1:-1].replace('""', "")
    return line[1:-1].replace('""', '"') if line == f'"{line[1:-1]}"' and '"' not in inner else line


def _decoded(content: bytes) -> str:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", "replace")
    if b"\0" in content[:4]:
        return content.decode("utf-16-be" if content[0] == 0 else "utf-16-le", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        # What Excel writes in Western Europe and America.
        return content.decode("windows-1252", "replace")


def _cells_of_workbook(content: bytes) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of the first worksheet."""
    try:
        with ZipFile(BytesIO(content)) as book:
            names = sorted(
                (name for name in book.namelist() if name.startswith("xl/worksheets/sheet")),
                key=lambda name: (len(name), name),
            )
            shared = (
                [_text_of(item) for item in _part(book, "xl/sharedStrings.xml")]
                if "xl/sharedStrings.xml" in book.namelist()
                else []
            )
            sheet = _part(book, names[0])
            for number, row in enumerate(sheet.iterfind(".//{*}sheetData/{*}row"), 1):
                cells: dict[int, str] = {}
                for cell in row.iterfind("{*}c"):
                    column = _CELL.match(cell.get("r", ""))
                    place = len(cells)
                    if column:
                        digits = [ord(letter) - ord("A") + 1 for letter in reversed(column[1])]
                        place = sum(digit * 26**power for power, digit in enumerate(digits)) - 1
                    text = _text_of(cell)
                    cells[place] = shared[int(text)] if cell.get("t") == "s" else text
                last = min(max(cells, default=-1), 255)
                yield number, [cells.get(place, "").strip() for place in range(last + 1)]
    except (BadZipFile, KeyError, IndexError, ValueError, ElementTree.ParseError):
        raise NotATableError("not a workbook of Excel", "save it as .xlsx or as CSV") from None


def _part(book: ZipFile, name: str) -> ElementTree.Element:
    if book.getinfo(name).file_size > _LARGEST_SHEET:
        raise NotATableError("larger than 64 MiB", "split it into several files")
    # Expat limits entities by itself.
    return ElementTree.fromstring(book.read(name))  # noqa: S314


def _text_of(element: ElementTree.Element) -> str:
    """Return the text of a cell or a shared string, without phonetic guides."""
    parts = [*element.iterfind("{*}v"), *element.iterfind("{*}t"), *element.iterfind("{*}r/{*}t")]
    return "".join(part.text or "" for part in [*parts, *element.iterfind("{*}is//{*}t")])
