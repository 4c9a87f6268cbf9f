"""The exceptions of storage. Each message is one line that says what to do, with passwords
masked."""


class StorageError(Exception):
    """The database can't be reached, has another schema, or refused a write."""


class UnstorableDocument(StorageError):  # noqa: N818 - named for what it is, as a drop reason reads
    """This document can't be stored; the database works, and the next document may be stored."""


class RevisionError(Exception):
    """A revision that can't be applied, discarded or restored; the database works."""


class CorrectionError(Exception):
    """A correction of a mention that can't be made or undone as asked; the database is fine."""


class QuestionError(StorageError):
    """A question with an invalid time zone, range or search text."""
