"""What storage raises. Each message is one line that says what to do, with passwords masked."""


class StorageError(Exception):
    """The database can't be reached, is of another schema, or refused a write."""


class UnstorableDocument(StorageError):  # noqa: N818 - named for what it is, as a drop reason reads
    """This one document can't be stored; the database is fine and the next one may be."""


class RevisionError(Exception):
    """A revision that can't be applied, discarded or restored as asked; the database is fine."""


class CorrectionError(Exception):
    """A correction of a mention that can't be made or undone as asked; the database is fine."""


class QuestionError(StorageError):
    """A question that can't be meant: a time zone, a range or a search text that is none."""
