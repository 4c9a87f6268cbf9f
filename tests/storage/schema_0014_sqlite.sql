-- Schema 0014 on SQLite, the last one before the first release, as its migrations made it.

CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL,
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE companies (
    id INTEGER NOT NULL,
    name TEXT NOT NULL,
    CONSTRAINT pk_companies PRIMARY KEY (id),
    CONSTRAINT uq_companies_name UNIQUE (name)
);
CREATE TABLE sources (
    id INTEGER NOT NULL,
    slug TEXT NOT NULL,
    name TEXT NOT NULL,
    country TEXT NOT NULL,
    language TEXT NOT NULL,
    home TEXT NOT NULL,
    registered_at DATETIME NOT NULL,
    CONSTRAINT pk_sources PRIMARY KEY (id),
    CONSTRAINT uq_sources_slug UNIQUE (slug)
);
CREATE TABLE coverage (
    source_id INTEGER NOT NULL,
    day DATE NOT NULL,
    state TEXT NOT NULL,
    found INTEGER NOT NULL,
    stored INTEGER NOT NULL,
    note TEXT NOT NULL,
    recorded_at DATETIME NOT NULL,
    CONSTRAINT pk_coverage PRIMARY KEY (source_id, day),
    CONSTRAINT fk_coverage_source_id_sources FOREIGN KEY(source_id) REFERENCES sources (id)
);
CREATE INDEX ix_coverage_day ON coverage (day);
CREATE TABLE runs (
    id INTEGER NOT NULL,
    source_id INTEGER NOT NULL,
    started_at DATETIME NOT NULL,
    finished_at DATETIME,
    reason TEXT,
    counts JSON,
    CONSTRAINT pk_runs PRIMARY KEY (id),
    CONSTRAINT fk_runs_source_id_sources FOREIGN KEY(source_id) REFERENCES sources (id)
);
CREATE INDEX ix_runs_source_id ON runs (source_id);
CREATE TABLE articles (
    id INTEGER NOT NULL,
    source_id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    url TEXT NOT NULL,
    title TEXT,
    text TEXT NOT NULL,
    authors JSON NOT NULL,
    published_at DATETIME,
    modified_at DATETIME,
    day DATE NOT NULL,
    language TEXT,
    section TEXT,
    site_name TEXT,
    image TEXT,
    paywalled BOOLEAN,
    access TEXT NOT NULL,
    kind TEXT NOT NULL,
    method TEXT NOT NULL,
    confidence DOUBLE NOT NULL,
    content_hash TEXT NOT NULL,
    fingerprint TEXT,
    revision INTEGER NOT NULL,
    first_seen_at DATETIME NOT NULL,
    last_seen_at DATETIME NOT NULL,
    revised_at DATETIME,
    CONSTRAINT pk_articles PRIMARY KEY (id),
    CONSTRAINT fk_articles_run_id_runs FOREIGN KEY(run_id) REFERENCES runs (id),
    CONSTRAINT fk_articles_source_id_sources FOREIGN KEY(source_id) REFERENCES sources (id),
    CONSTRAINT uq_articles_url UNIQUE (url)
);
CREATE INDEX ix_articles_day ON articles (day);
CREATE INDEX ix_articles_run_id ON articles (run_id);
CREATE INDEX ix_articles_source_id_day ON articles (source_id, day);
CREATE INDEX ix_articles_source_id_fingerprint ON articles (source_id, fingerprint);
CREATE TABLE article_urls (
    url TEXT NOT NULL,
    article_id INTEGER NOT NULL,
    CONSTRAINT pk_article_urls PRIMARY KEY (url),
    CONSTRAINT fk_article_urls_article_id_articles FOREIGN KEY(article_id) REFERENCES articles (id) ON DELETE CASCADE
);
CREATE INDEX ix_article_urls_article_id ON article_urls (article_id);
CREATE TABLE mentions (
    id INTEGER NOT NULL,
    article_id INTEGER NOT NULL,
    company_id INTEGER NOT NULL,
    section TEXT NOT NULL,
    start_offset INTEGER NOT NULL,
    end_offset INTEGER NOT NULL,
    surface TEXT NOT NULL,
    rule TEXT NOT NULL,
    CONSTRAINT pk_mentions PRIMARY KEY (id),
    CONSTRAINT fk_mentions_article_id_articles FOREIGN KEY(article_id) REFERENCES articles (id) ON DELETE CASCADE,
    CONSTRAINT fk_mentions_company_id_companies FOREIGN KEY(company_id) REFERENCES companies (id)
);
CREATE INDEX ix_mentions_article_id ON mentions (article_id);
CREATE INDEX ix_mentions_company_id_article_id ON mentions (company_id, article_id);
CREATE TABLE revisions (
    id INTEGER NOT NULL,
    article_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    title TEXT,
    text TEXT NOT NULL,
    access TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    seen_at DATETIME NOT NULL,
    replaced_at DATETIME NOT NULL,
    CONSTRAINT pk_revisions PRIMARY KEY (id),
    CONSTRAINT fk_revisions_article_id_articles FOREIGN KEY(article_id) REFERENCES articles (id) ON DELETE CASCADE,
    CONSTRAINT uq_revisions_article_id_number UNIQUE (article_id, number)
);
CREATE TABLE listings (
    id INTEGER NOT NULL,
    source_id INTEGER NOT NULL,
    parent_id INTEGER,
    url TEXT NOT NULL,
    etag TEXT,
    last_modified TEXT,
    body_hash TEXT,
    cutoff DATETIME,
    offered INTEGER NOT NULL,
    newest_at DATETIME,
    checked_at DATETIME,
    changed_at DATETIME,
    quiet INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    interval_seconds DOUBLE,
    next_poll_at DATETIME,
    CONSTRAINT pk_listings PRIMARY KEY (id),
    CONSTRAINT fk_listings_parent_id_listings FOREIGN KEY(parent_id) REFERENCES listings (id) ON DELETE CASCADE,
    CONSTRAINT fk_listings_source_id_sources FOREIGN KEY(source_id) REFERENCES sources (id),
    CONSTRAINT uq_listings_source_id_url UNIQUE (source_id, url)
);
CREATE INDEX ix_listings_parent_id ON listings (parent_id);
CREATE TABLE frontier (
    id INTEGER NOT NULL,
    source_id INTEGER NOT NULL,
    listing_id INTEGER,
    url TEXT NOT NULL,
    fetch_url TEXT NOT NULL,
    hints JSON NOT NULL,
    moment DATETIME,
    discovered_at DATETIME NOT NULL,
    state TEXT NOT NULL,
    reason TEXT,
    due_at DATETIME,
    run_id INTEGER,
    visits INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    visited_at DATETIME,
    etag TEXT,
    last_modified TEXT,
    CONSTRAINT pk_frontier PRIMARY KEY (id),
    CONSTRAINT fk_frontier_listing_id_listings FOREIGN KEY(listing_id) REFERENCES listings (id) ON DELETE SET NULL,
    CONSTRAINT fk_frontier_source_id_sources FOREIGN KEY(source_id) REFERENCES sources (id),
    CONSTRAINT uq_frontier_url UNIQUE (url)
);
CREATE INDEX ix_frontier_due ON frontier (source_id, due_at) WHERE due_at IS NOT NULL;
CREATE TABLE polls (
    source_id INTEGER NOT NULL,
    polled_at DATETIME NOT NULL,
    interval_seconds DOUBLE NOT NULL,
    next_poll_at DATETIME NOT NULL,
    CONSTRAINT pk_polls PRIMARY KEY (source_id),
    CONSTRAINT fk_polls_source_id_sources FOREIGN KEY(source_id) REFERENCES sources (id)
);
CREATE INDEX ix_polls_next_poll_at ON polls (next_poll_at);
CREATE TABLE counted_articles (
    minute INTEGER NOT NULL,
    article_id INTEGER NOT NULL,
    source_id INTEGER NOT NULL,
    language TEXT NOT NULL,
    section TEXT NOT NULL,
    limited INTEGER NOT NULL,
    in_title INTEGER NOT NULL,
    in_body INTEGER NOT NULL,
    story_id INTEGER NOT NULL,
    CONSTRAINT pk_counted_articles PRIMARY KEY (minute, article_id),
    CONSTRAINT fk_counted_articles_article_id_articles FOREIGN KEY(article_id) REFERENCES articles (id) ON DELETE CASCADE
)
 WITHOUT ROWID;
CREATE INDEX ix_counted_articles_article_id ON counted_articles (article_id);
CREATE INDEX ix_counted_articles_story_id ON counted_articles (story_id);
CREATE TABLE appearances (
    company_id INTEGER NOT NULL,
    minute INTEGER NOT NULL,
    article_id INTEGER NOT NULL,
    source_id INTEGER NOT NULL,
    language TEXT NOT NULL,
    section TEXT NOT NULL,
    limited INTEGER NOT NULL,
    in_title INTEGER NOT NULL,
    in_body INTEGER NOT NULL,
    story_id INTEGER NOT NULL,
    CONSTRAINT pk_appearances PRIMARY KEY (company_id, minute, article_id),
    CONSTRAINT fk_appearances_article_id_articles FOREIGN KEY(article_id) REFERENCES articles (id) ON DELETE CASCADE
)
 WITHOUT ROWID;
CREATE INDEX ix_appearances_article_id ON appearances (article_id);
CREATE TABLE clutter (
    article_id INTEGER NOT NULL,
    company_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    CONSTRAINT pk_clutter PRIMARY KEY (article_id, company_id),
    CONSTRAINT fk_clutter_article_id_articles FOREIGN KEY(article_id) REFERENCES articles (id) ON DELETE CASCADE
)
 WITHOUT ROWID;
CREATE TABLE mention_changes (
    article_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    company_id INTEGER NOT NULL,
    difference INTEGER NOT NULL,
    CONSTRAINT pk_mention_changes PRIMARY KEY (article_id, number, company_id),
    CONSTRAINT fk_mention_changes_article_id_articles FOREIGN KEY(article_id) REFERENCES articles (id) ON DELETE CASCADE
)
 WITHOUT ROWID;
CREATE TABLE daily_totals (
    day DATE NOT NULL,
    read INTEGER NOT NULL,
    articles INTEGER NOT NULL,
    limited INTEGER NOT NULL,
    in_title INTEGER NOT NULL,
    in_body INTEGER NOT NULL,
    clutter INTEGER NOT NULL,
    cluttered INTEGER NOT NULL,
    CONSTRAINT pk_daily_totals PRIMARY KEY (day)
);
CREATE TABLE daily_sources (
    source_id INTEGER NOT NULL,
    day DATE NOT NULL,
    language TEXT NOT NULL,
    read INTEGER NOT NULL,
    articles INTEGER NOT NULL,
    limited INTEGER NOT NULL,
    in_title INTEGER NOT NULL,
    in_body INTEGER NOT NULL,
    clutter INTEGER NOT NULL,
    cluttered INTEGER NOT NULL,
    CONSTRAINT pk_daily_sources PRIMARY KEY (source_id, day, language)
)
 WITHOUT ROWID;
CREATE TABLE daily_companies (
    company_id INTEGER NOT NULL,
    day DATE NOT NULL,
    articles INTEGER NOT NULL,
    limited INTEGER NOT NULL,
    in_title INTEGER NOT NULL,
    in_body INTEGER NOT NULL,
    clutter INTEGER NOT NULL,
    cluttered INTEGER NOT NULL,
    CONSTRAINT pk_daily_companies PRIMARY KEY (company_id, day)
)
 WITHOUT ROWID;
CREATE INDEX ix_daily_companies_day ON daily_companies (day);
CREATE TABLE daily_company_sources (
    company_id INTEGER NOT NULL,
    source_id INTEGER NOT NULL,
    day DATE NOT NULL,
    language TEXT NOT NULL,
    articles INTEGER NOT NULL,
    limited INTEGER NOT NULL,
    in_title INTEGER NOT NULL,
    in_body INTEGER NOT NULL,
    clutter INTEGER NOT NULL,
    cluttered INTEGER NOT NULL,
    CONSTRAINT pk_daily_company_sources PRIMARY KEY (company_id, source_id, day, language)
)
 WITHOUT ROWID;
CREATE TABLE stories (
    id INTEGER NOT NULL,
    founded_on DATE NOT NULL,
    CONSTRAINT pk_stories PRIMARY KEY (id)
);
CREATE TABLE sketches (
    article_id INTEGER NOT NULL,
    story_id INTEGER NOT NULL,
    week INTEGER NOT NULL,
    shingles INTEGER NOT NULL,
    smallest BLOB NOT NULL,
    CONSTRAINT pk_sketches PRIMARY KEY (article_id),
    CONSTRAINT fk_sketches_article_id_articles FOREIGN KEY(article_id) REFERENCES articles (id) ON DELETE CASCADE
);
CREATE TABLE sketch_values (
    week INTEGER NOT NULL,
    value INTEGER NOT NULL,
    article_id INTEGER NOT NULL,
    CONSTRAINT pk_sketch_values PRIMARY KEY (week, value, article_id)
)
 WITHOUT ROWID;
CREATE VIRTUAL TABLE article_search USING fts5 (title, body, content='', tokenize="unicode61 remove_diacritics 0 categories 'L* N* M* Co'");
CREATE TABLE leases (
    source_id INTEGER NOT NULL,
    holder TEXT,
    taken_at DATETIME,
    expires_at DATETIME,
    queued_until DATETIME,
    failures INTEGER NOT NULL,
    retry_at DATETIME,
    ended_at DATETIME,
    code INTEGER,
    note TEXT NOT NULL,
    CONSTRAINT pk_leases PRIMARY KEY (source_id),
    CONSTRAINT fk_leases_source_id_sources FOREIGN KEY(source_id) REFERENCES sources (id)
);
CREATE TABLE workers (
    name TEXT NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    slots INTEGER NOT NULL,
    version TEXT NOT NULL,
    started_at DATETIME NOT NULL,
    seen_at DATETIME NOT NULL,
    stopped_at DATETIME,
    CONSTRAINT pk_workers PRIMARY KEY (name)
);
CREATE TABLE vitals (
    source_id INTEGER NOT NULL,
    day DATE NOT NULL,
    runs INTEGER NOT NULL,
    failed_runs INTEGER NOT NULL,
    new INTEGER NOT NULL,
    fetched INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    dropped INTEGER NOT NULL,
    read INTEGER NOT NULL,
    undated INTEGER NOT NULL,
    untitled INTEGER NOT NULL,
    characters DOUBLE,
    confidence DOUBLE,
    page_characters BIGINT NOT NULL,
    text_characters BIGINT NOT NULL,
    CONSTRAINT pk_vitals PRIMARY KEY (source_id, day),
    CONSTRAINT fk_vitals_source_id_sources FOREIGN KEY(source_id) REFERENCES sources (id)
);
CREATE INDEX ix_vitals_day ON vitals (day);
CREATE TABLE findings (
    id INTEGER NOT NULL,
    cause TEXT NOT NULL,
    kind TEXT NOT NULL,
    source_id INTEGER,
    note TEXT NOT NULL,
    facts JSON NOT NULL,
    opened_at DATETIME NOT NULL,
    seen_at DATETIME NOT NULL,
    recovered_at DATETIME,
    told_at DATETIME,
    recovery_told_at DATETIME,
    CONSTRAINT pk_findings PRIMARY KEY (id),
    CONSTRAINT fk_findings_source_id_sources FOREIGN KEY(source_id) REFERENCES sources (id)
);
CREATE INDEX ix_findings_opened_at ON findings (opened_at);
CREATE INDEX ix_findings_source_id ON findings (source_id);
CREATE UNIQUE INDEX uq_findings_open_cause ON findings (cause) WHERE recovered_at IS NULL;
CREATE TABLE source_health (
    source_id INTEGER NOT NULL,
    checked_at DATETIME NOT NULL,
    state TEXT NOT NULL,
    note TEXT NOT NULL,
    listings INTEGER NOT NULL,
    working INTEGER NOT NULL,
    newest_at DATETIME,
    moved_to TEXT,
    last_ok DATETIME,
    CONSTRAINT pk_source_health PRIMARY KEY (source_id),
    CONSTRAINT fk_source_health_source_id_sources FOREIGN KEY(source_id) REFERENCES sources (id)
);
CREATE TABLE progress (
    task TEXT NOT NULL,
    position BIGINT NOT NULL,
    counts JSON NOT NULL,
    started_at DATETIME NOT NULL,
    updated_at DATETIME NOT NULL,
    finished_at DATETIME,
    CONSTRAINT pk_progress PRIMARY KEY (task)
);
CREATE INDEX ix_runs_started_at ON runs (started_at);
CREATE TABLE watches (
    id INTEGER NOT NULL,
    company TEXT NOT NULL,
    other TEXT NOT NULL,
    added_at DATETIME NOT NULL,
    CONSTRAINT pk_watches PRIMARY KEY (id),
    CONSTRAINT uq_watches_company_other UNIQUE (company, other)
);
CREATE TABLE notices (
    id INTEGER NOT NULL,
    cause TEXT NOT NULL,
    kind TEXT NOT NULL,
    company TEXT NOT NULL,
    other TEXT NOT NULL,
    day DATE NOT NULL,
    facts JSON NOT NULL,
    noticed_at DATETIME NOT NULL,
    claimed_until DATETIME,
    told JSON NOT NULL,
    told_at DATETIME,
    CONSTRAINT pk_notices PRIMARY KEY (id),
    CONSTRAINT uq_notices_cause UNIQUE (cause)
);
CREATE INDEX ix_notices_noticed_at ON notices (noticed_at);
CREATE TABLE template_memories (
    source_id INTEGER NOT NULL,
    pages INTEGER NOT NULL,
    seen JSON NOT NULL,
    updated_at DATETIME NOT NULL,
    CONSTRAINT pk_template_memories PRIMARY KEY (source_id),
    CONSTRAINT fk_template_memories_source_id_sources FOREIGN KEY(source_id) REFERENCES sources (id)
);
CREATE INDEX ix_coverage_day_state ON coverage (day, state);
DROP INDEX ix_coverage_day;
ALTER TABLE frontier ADD COLUMN deaths INTEGER DEFAULT '0' NOT NULL;
ALTER TABLE frontier ADD COLUMN named_at DATETIME;
CREATE INDEX ix_frontier_listing_id ON frontier (listing_id) WHERE listing_id IS NOT NULL;
INSERT INTO article_search (article_search, rank) VALUES ('automerge', 8);
CREATE TABLE robots_policies (
    origin TEXT NOT NULL,
    status INTEGER NOT NULL,
    rules BLOB NOT NULL,
    fetched_at DATETIME NOT NULL,
    CONSTRAINT pk_robots_policies PRIMARY KEY (origin)
);
CREATE INDEX ix_robots_policies_fetched_at ON robots_policies (fetched_at);
ALTER TABLE revisions ADD COLUMN facts JSON;
CREATE TABLE quarantine (
    id INTEGER NOT NULL,
    article_id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL,
    note TEXT NOT NULL,
    first_seen_at DATETIME NOT NULL,
    seen_at DATETIME NOT NULL,
    closed_at DATETIME,
    times INTEGER NOT NULL,
    title TEXT,
    text TEXT NOT NULL,
    characters INTEGER NOT NULL,
    facts JSON NOT NULL,
    mentions JSON NOT NULL,
    clutter JSON NOT NULL,
    content_hash TEXT NOT NULL,
    fingerprint TEXT,
    CONSTRAINT pk_quarantine PRIMARY KEY (id),
    CONSTRAINT fk_quarantine_article_id_articles FOREIGN KEY(article_id) REFERENCES articles (id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX uq_quarantine_pending ON quarantine (article_id) WHERE state = 'pending';
CREATE INDEX ix_quarantine_article_id_content_hash ON quarantine (article_id, content_hash);
INSERT INTO alembic_version (version_num) VALUES ('0014');
