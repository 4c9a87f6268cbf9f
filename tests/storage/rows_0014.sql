-- A row for each table of schema 0014 that 0015 changes.

INSERT INTO sources VALUES (1, 'ft', 'FT', 'gb', 'en', 'https://ft.example/', '2026-11-20');
INSERT INTO runs (id, source_id, started_at, counts) VALUES (1, 1, '2026-11-20',
    '{"newscrawl/vitals/read": 7, "newscrawl/vitals/confidence": 900, "newscrawl/found": 7}');
INSERT INTO companies VALUES (1, 'Siemens');
INSERT INTO articles (id, source_id, run_id, url, title, text, authors, day, access, kind,
    method, confidence, content_hash, revision, first_seen_at, last_seen_at)
    VALUES (1, 1, 1, 'https://ft.example/a', 'Siemens wins', 'A text.', '[]', '2026-11-20', 'open',
    'article', 'combined', 1.0, 'x', 1, '2026-11-20 12:00:00+00', '2026-11-20 12:00:00+00');
INSERT INTO clutter VALUES (1, 1, 4);
INSERT INTO daily_totals VALUES ('2026-11-20', 1, 1, 0, 1, 0, 4, 1);
INSERT INTO daily_companies (company_id, day, articles, limited, in_title, in_body, clutter,
    cluttered) VALUES (1, '2026-11-20', 1, 0, 1, 0, 4, 1);
INSERT INTO vitals VALUES (1, '2026-11-20', 1, 0, 7, 7, 0, 0, 0, 7, 0, 0, 3000.0, 0.9, 9000,
    3000);
INSERT INTO findings (id, cause, kind, source_id, note, facts, opened_at, seen_at)
    VALUES (3, 'ft/stale', 'stale', 1, 'nothing new', '{}', '2026-11-20 12:00:00+00', '2026-11-20 12:00:00+00');
INSERT INTO watches VALUES (1, 'Siemens', '', '2026-11-20 12:00:00+00');
INSERT INTO notices VALUES (1, 'spike', 'spike', 'Siemens', '', '2026-11-20', '{}', '2026-11-20 12:00:00+00',
    NULL, '["log"]', '2026-11-20 12:00:00+00');
INSERT INTO frontier (id, source_id, url, fetch_url, hints, discovered_at, state, reason,
    visits, attempts, deaths) VALUES (1, 1, 'https://ft.example/b', 'https://ft.example/b', '{}',
    '2026-11-20 12:00:00+00', 'pending', 'told', 0, 0, 2);
INSERT INTO quarantine VALUES (1, 1, 1, 'pending', 'text_shrank', '', '2026-11-20 12:00:00+00', '2026-11-20 12:00:00+00', NULL, 1,
    NULL, '', 0, '{}', '[]', '{"Siemens": 4}', 'y', NULL);
