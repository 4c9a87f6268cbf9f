"""A person's own file of sources, to which `newscrawl sources add` writes."""

import csv
import io
import os
import tempfile
from pathlib import Path

from newscrawl.sources.registry import (
    COLUMNS,
    OPTIONAL_COLUMNS,
    Source,
    SourceError,
    load_sources,
    write_row,
)


def add_source(file: Path, source: Source) -> None:
    """Append a source to a registry file, which is made where there is none.

    What stood in the file stays as it is, byte for byte. The new file is read as a whole before it
    takes the old one's place at once: whoever reads meanwhile sees the one or the other. Raises
    SourceError where the file as it was, or as it would be, can't be used.
    """
    if file.exists():
        load_sources(file)  # a file that is broken already is named as it is
    try:
        before = file.read_bytes() if file.exists() else b""
        descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    except OSError as error:
        raise SourceError(f"{file}: can't be written: {error.strerror}") from error
    new = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(_extended(before, source))
            stream.flush()
            os.fsync(stream.fileno())
        load_sources(new)
        new.chmod(file.stat().st_mode if file.exists() else 0o644)
        new.replace(file)
    except SourceError as error:
        raise SourceError(str(error).replace(str(new), str(file))) from error
    except OSError as error:
        raise SourceError(f"{file}: can't be written: {error.strerror}") from error
    finally:
        new.unlink(missing_ok=True)


def _extended(before: bytes, source: Source) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    columns = _header(before)
    if not columns:
        columns = [*COLUMNS, *OPTIONAL_COLUMNS]
        writer.writerow(columns)
    elif source.sections and "sections" not in columns:
        return _with_sections(before) + _row(source, [*columns, "sections"])
    gap = b"" if not before or before.endswith(b"\n") else b"\n"
    return before + gap + text.getvalue().encode() + _row(source, columns)


def _row(source: Source, columns: list[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(write_row(source, columns))
    return text.getvalue().encode()


def _header(before: bytes) -> list[str]:
    return next(csv.reader(io.StringIO(before.decode("utf-8-sig"), newline="")), [])


def _with_sections(before: bytes) -> bytes:
    """Return the file with the column that its rows could do without until now."""
    rows = csv.reader(io.StringIO(before.decode("utf-8-sig"), newline=""))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for number, row in enumerate(filter(None, rows)):
        writer.writerow([*row, "" if number else "sections"])
    return text.getvalue().encode()
