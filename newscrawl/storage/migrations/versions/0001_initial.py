"""All tables of the models, and the full-text index, which differs between the databases: see
newscrawl.storage.text_index.

A new database gets the models of today, with the changes of all later migrations. Those are for
older databases.
"""

from alembic import op

from newscrawl.storage.models import Base

revision = "0001"
down_revision = None

# SQLite merges the segments of its index more rarely than by default: a third less work for each
# article that is stored, a fifth more for a question, of which there are fewer.
_SEARCH = {
    "sqlite": (
        """CREATE VIRTUAL TABLE article_search USING fts5 (
            title, body, content='',
            tokenize="unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
        )""",
        "INSERT INTO article_search (article_search, rank) VALUES ('automerge', 8)",
    ),
    "postgresql": (
        """CREATE TABLE article_search (
            article_id BIGINT NOT NULL,
            minute INTEGER NOT NULL,
            words TSVECTOR NOT NULL,
            CONSTRAINT pk_article_search PRIMARY KEY (article_id),
            CONSTRAINT fk_article_search_article_id_articles
                FOREIGN KEY (article_id) REFERENCES articles (id) ON DELETE CASCADE
        )""",
        "CREATE INDEX ix_article_search_minute_article_id ON article_search (minute, article_id)",
        "CREATE INDEX ix_article_search_words ON article_search USING gin (words)",
    ),
}


def upgrade() -> None:
    connection = op.get_bind()
    Base.metadata.create_all(connection)
    for statement in _SEARCH[connection.dialect.name]:
        op.execute(statement)
